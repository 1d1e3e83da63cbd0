"""Exact audits of the baselines' and the validation's mechanisms, each shown to fail at 10 % too little noise."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_sampled, runner
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.cell_laplace import CellLaplace, split
from hedgerow.mechanisms.one_bit import OneBit
from hedgerow.mechanisms.record_laplace import RecordLaplace, equal_share
from hedgerow.randomness import SeededRandomness

BUILD = {
    "cells": lambda e: CellLaplace(e, n_cells=2, n_steps=2),
    "cells, uneven": lambda e: CellLaplace(e, n_cells=2, n_steps=4, cell_share=0.3),
    "record": lambda e: RecordLaplace(e, (1, 2, 3)),
    "bit": lambda e: OneBit(e, 8),
}


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("name", list(BUILD))
def test_claims_hold_and_are_tight(name, epsilon):
    result = audit_exact(BUILD[name](epsilon))
    assert result.holds
    assert result.measured > epsilon * (1 - 1e-9), "the budget should be used up"


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("name", list(BUILD))
def test_audit_fails_at_ten_percent_too_little_noise(name, epsilon):
    assert not audit_exact(BUILD[name](epsilon / 0.9), epsilon=epsilon).holds


def test_forgetting_the_second_cell_would_be_noticed():
    """Noise for L1 sensitivity 1 instead of 2 on the indicator: what a careless reading of D.1 gives."""
    honest = CellLaplace(1.0, 2, 2)
    careless = CellLaplace(1.0, 2, 2)
    object.__setattr__(careless, "cell_ratio", int(honest.cell_ratio * (honest.cell_ratio / 2**64)))
    assert not audit_exact(careless, epsilon=1.0).holds


def test_forgetting_the_label_would_be_noticed():
    """The budget divided over d instead of d + 1 numbers."""
    assert not audit_exact(RecordLaplace(3.0 * 3 / 2, (1, 1, 1)), epsilon=3.0).holds


@pytest.mark.parametrize("name", list(BUILD))
def test_samplers_have_their_law(name, same_law):
    mechanism = BUILD[name](2.0)
    for value in (0, mechanism.n_inputs - 1):
        law = mechanism.law(value)
        chances = {o: Fraction(w, law.total) for o, w in zip(law.outputs, law.weights, strict=True)}
        sent = mechanism.randomize(np.full(20_000, value), SeededRandomness(value))
        if sent.ndim > 1:
            ends = list(zip(*law.outputs, strict=True))
            low, high = [min(e) for e in ends], [max(e) for e in ends]
            sent = [tuple(row) for row in np.clip(sent, low, high).tolist()]
        else:
            sent = sent.tolist()
        same_law(sent, chances)


def test_sampled_audit_of_a_bit():
    """False alarms below 1e-6 by the auditor's own bound."""
    assert audit_sampled(runner(OneBit(1.0, 8)), 0, 8, epsilon=1.0, randomness=1).holds
    assert not audit_sampled(runner(OneBit(1.1, 8)), 0, 8, epsilon=1.0, randomness=1).holds


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 1.0, 7.3])
def test_shares_never_exceed_the_whole(epsilon):
    for share in (0.1, 0.3, 0.5, 0.9):
        assert sum(map(Fraction, split(epsilon, share))) <= Fraction(epsilon)
    for parts in (1, 3, 7, 106):
        assert Fraction(equal_share(epsilon, parts)) * parts <= Fraction(epsilon)
        assert math.isclose(equal_share(epsilon, parts) * parts, epsilon)


def test_infinite_epsilon_adds_nothing():
    cells = CellLaplace(math.inf, 2, 2).randomize(np.array([5]), SeededRandomness(0))
    assert cells.tolist() == [[0, 1, 0, 1]]
    assert RecordLaplace(math.inf, (3, 3)).randomize(np.array([7]), SeededRandomness(0)).tolist() == [[1, 3]]
    assert OneBit(math.inf, 4).randomize(np.array([0, 4]), SeededRandomness(0)).tolist() == [0, 1]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: CellLaplace(1.0, 2, 3), "n_steps"),
        (lambda: CellLaplace(1.0, 2, 2, 1.0), "cell_share"),
        (lambda: CellLaplace(1e-12, 2, 2), "epsilon"),
        (lambda: CellLaplace(0.0, 2, 2), "epsilon"),
        (lambda: RecordLaplace(1.0, ()), "n_steps"),
        (lambda: OneBit(-1.0), "epsilon"),
    ],
)
def test_wrong_parameters_are_named(make, name):
    with pytest.raises(HedgerowError, match=name):
        make()
