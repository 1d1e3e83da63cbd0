"""Every randomiser of a label level: moments are those of the law, codes stay in range, pickles bring it back."""

import pickle

import numpy as np
import pytest

from hedgerow.audit import auditables
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism, budget_from_json, budget_to_json, stored_pmf
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.labels.task import _KINDS

KINDS = [entry for entry in auditables() if isinstance(entry.build(1.0), LevelMechanism)]
kinds = pytest.mark.parametrize("entry", KINDS, ids=lambda e: e.name)


@kinds
def test_moments_are_those_of_the_law(entry):
    mechanism = entry.build(0.9)
    mean, variance = mechanism.moments()
    for level in {0, 1, mechanism.n_steps // 2, mechanism.n_steps}:
        law = mechanism.law(level)
        p = np.array([w / law.total for w in law.weights])
        o = mechanism.positions(np.array(law.outputs))
        assert mean[level] == pytest.approx(p @ o, abs=1e-9)
        assert variance[level] == pytest.approx(p @ (o - p @ o) ** 2, rel=1e-9)


@kinds
def test_codes_are_in_range(entry):
    mechanism = entry.build(1.2)
    low, high = mechanism.code_range
    codes = mechanism.randomize(np.arange(20_000) % mechanism.n_inputs, SeededRandomness(0))
    assert codes.min() >= low and codes.max() <= high


@kinds
def test_pickles_and_tasks_bring_it_back(entry):
    mechanism = entry.build(1.2)
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert _KINDS[mechanism.kind] is type(mechanism)


def test_laplace_noise_is_discrete_laplace():
    noise = LaplaceNoise(1.0, 6)
    assert (noise.variance, noise.reach) == (noise.noise.variance, noise.noise.reach)
    assert noise.law(2) == noise.noise.law(2) and noise.code_range == (-noise.reach, 6 + noise.reach)


def test_budgets_in_json():
    assert [budget_from_json(budget_to_json(e)) for e in (0.5, float("inf"))] == [0.5, float("inf")]
    for bad in (True, "1", None):
        with pytest.raises(FormatError, match="'epsilon'"):
            budget_from_json(bad)


def test_weights_are_hexadecimal_text():
    assert stored_pmf(["ff", "1"]) == (255, 1)
    for bad in ([1, 2], "ff", None):
        with pytest.raises(HedgerowError, match="hexadecimal"):
            stored_pmf(bad)
