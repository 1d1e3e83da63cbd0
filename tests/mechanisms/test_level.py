"""Every randomiser of a label level: moments are those of the law, codes stay in range, pickles bring it back."""

import pickle

import numpy as np
import pytest

from hedgerow.audit import auditables
from hedgerow.errors import FormatError
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.randomness import SeededRandomness

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
    assert LevelMechanism.from_json(mechanism.to_json()) == mechanism


def test_laplace_noise_is_discrete_laplace():
    noise = LaplaceNoise(1.0, 6)
    assert (noise.variance, noise.reach) == (noise.noise.variance, noise.noise.reach)
    assert noise.law(2) == noise.noise.law(2) and noise.code_range == (-noise.reach, 6 + noise.reach)


def test_budgets_in_json():
    noise = LaplaceNoise(float("inf"), 6)
    assert LevelMechanism.from_dict(noise.to_dict()) == noise
    for bad in (True, "1", None):
        with pytest.raises(FormatError, match="'epsilon'"):
            LevelMechanism.from_dict({**noise.to_dict(), "epsilon": bad})


def test_weights_are_hexadecimal_text():
    data = {"kind": "matrix", "epsilon": 1.0, "weights": [["ff", "1"]], "outputs": [0, 1]}
    for bad in ([[1, 2]], ["ff"], None):
        with pytest.raises(FormatError, match="weights"):
            LevelMechanism.from_dict({**data, "weights": bad})
