"""Candidate responses (5), (8), (16), (17): exact laws, samplers, and holders with different candidates."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.candidates import CandidateBits, CandidateKary
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import bernoulli

CANDIDATES = [(True,) * 4, (True, True, False), (False, True, True, False, False)]
responses = pytest.mark.parametrize("response", [CandidateBits, CandidateKary])


@responses
@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_every_set_of_candidates_holds_exactly_and_not_with_less_noise(response, candidates, epsilon):
    inputs = [(own, candidates) for own in np.flatnonzero(candidates).tolist()]
    right = audit_exact(response(epsilon), inputs=inputs)
    assert right.holds and right.measured == pytest.approx(epsilon, rel=1e-9)
    assert not audit_exact(response(1.1 * epsilon), epsilon=epsilon, inputs=inputs).holds


@responses
def test_law_is_unbiased(response):
    """E[(support - q)/(p - q)] is the indicator of the own cell, exactly."""
    candidates, own = (True, False, True, True), 2
    mechanism = response(1.5)
    p, q = mechanism.among(3).p, mechanism.among(3).q
    law = mechanism.law((own, candidates))
    for cell in (0, 2, 3):
        hit = Fraction(sum(w for o, w in zip(law.outputs, law.weights, strict=True) if cell in o), law.total)
        assert (hit - q) / (p - q) == (cell == own)


@responses
def test_single_candidate_is_certain_and_free(response):
    assert response(1.0).law((2, (False, False, True))).outputs == ((2,),)
    rows = np.array([[False, False, True]] * 3)
    assert (response(1.0).support(np.full(3, 2), rows, SeededRandomness(0)) == rows).all()
    assert response(1.0).probabilities(1) == (1.0, 0.0)


@responses
def test_holders_with_different_candidates_do_not_disturb_each_other(response, same_law, probabilities):
    """Half of the holders have two candidates, half three; chi-square at 1e-7 for each half."""
    mechanism, rows = response(1.0), [(True, False, True, False), (True, True, True, False)]
    own, candidates = np.zeros(40_000, dtype=np.int64), np.tile(rows, (20_000, 1))
    support = mechanism.support(own, candidates, SeededRandomness(1))
    for half, row in enumerate(rows):
        same_law(mechanism.outcomes(support[half::2]), probabilities(mechanism.law((0, row))))


def test_own_cell_outside_candidates_is_refused_and_not_told():
    with pytest.raises(HedgerowError, match=r"the own cell must be one of the candidates \[0\]"):
        CandidateKary(1.0).law((1, (True, False)))


def test_the_named_cell_is_the_drawn_one_of_the_others_row_by_row():
    """The same draws, with each row searched on its own: many rows, many numbers of candidates."""
    rng = np.random.default_rng(2)
    table = rng.random((500, 70)) < rng.random((500, 1))
    own = rng.integers(0, 70, 500)
    table[np.arange(500), own] = True
    response = CandidateKary(1.0)
    named = response.named(own, table, SeededRandomness(3))
    source = SeededRandomness(3)
    expected = own.copy()
    sizes = table.sum(axis=1)
    for k in sorted(set(sizes.tolist()) - {1}):
        rows = np.flatnonzero(sizes == k)
        rows = rows[~bernoulli(response.among(k).truth, rows.size, source)]
        for row, place in zip(rows, source.integers(k - 1, rows.size), strict=True):
            expected[row] = [cell for cell in np.flatnonzero(table[row]) if cell != own[row]][place]
    assert (named == expected).all() and (named != own).any()
