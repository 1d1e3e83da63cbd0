"""The rounded Gaussian: its law, its sampler in integers, its price."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import find
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.rounded_gaussian import (
    RoundedGaussian,
    _decide,
    _resolve,
    rounded_gaussian,
    rounded_weights,
)
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import exp_bounds


@pytest.mark.parametrize("bits", [0, 1, 3])
def test_sampler_has_its_law(bits, same_law):
    # False alarm 1e-7 a call, seeded.
    reach = 9 << bits
    weights = rounded_weights(bits, reach)
    law = {k - reach: w / sum(weights) for k, w in enumerate(weights)}
    draws = rounded_gaussian(bits, 200_000, SeededRandomness(bits))
    same_law(np.clip(draws, -reach, reach).tolist(), law)


def test_too_little_noise_fails_the_test_of_the_law(same_law):
    weights = rounded_weights(3, 72)
    law = {k - 72: w / sum(weights) for k, w in enumerate(weights)}
    weak = np.rint(0.9 * rounded_gaussian(3, 200_000, SeededRandomness(0))).astype(int)
    with pytest.raises(AssertionError):
        same_law(np.clip(weak, -72, 72).tolist(), law)


def test_wide_noise_is_as_wide_as_claimed():
    # 2e5 squares: standard error of the variance sqrt(2/2e5) = .0032; six of them, false alarm 2e-9.
    for bits in (20, 40, 56):
        z = rounded_gaussian(bits, 200_000, SeededRandomness(bits)) / 2.0**bits
        assert abs(z.var() - 1) < 0.019 and abs(z.mean()) < 0.0135


def test_what_integers_decide_is_right():
    """Kept and dropped pairs are on the right side of the exact curve, over the whole cell that the bits leave."""
    source = SeededRandomness(5)
    k = source.integers(6, 400).astype(np.uint64)
    x, v = source.uint64(400), source.uint64(400).copy()
    for i in range(0, 400, 2):  # half of them hit the curve itself
        u = Fraction(int(x[i]), 2**64)
        v[i] = min(2**64 - 1, int(exp_bounds(-u * (2 * int(k[i]) + u) / 2)[0] * 2**64))
    keep, unsure = _decide(k, x, v)
    assert unsure[::2].all() and not unsure[1::2].any()
    for i in np.flatnonzero(~unsure):
        u, w = Fraction(int(x[i]), 2**64), Fraction(int(v[i]), 2**64)
        low, high = exp_bounds(-u * (2 * int(k[i]) + u) / 2)
        assert (w < low) if keep[i] else (w > high)


def test_more_bits_are_drawn_until_a_pair_is_decided():
    source = SeededRandomness(9)
    place = int(exp_bounds(Fraction(-1, 8))[0] * 2**63)
    outcomes = [{_resolve(0, 1 << 63, v, source) for _ in range(400)} for v in (place - 2, place, place + 2)]
    assert outcomes == [{True}, {True, False}, {False}]  # on the curve to 63 bits: the rest decides


def test_samples_catch_ten_per_cent_less_noise():
    """A false alarm once in 1e6, by the audit's alpha."""

    def weak(bits, n, randomness):
        return np.rint(0.9 * rounded_gaussian(bits, n, randomness)).astype(np.int64)

    entry = find("rounded Gaussian")
    assert entry.sampled(1.0, n=400_000, randomness=1).verdict == "holds"
    assert entry.sampled(1.0, RoundedGaussian(1.0, sampler=weak), n=400_000, randomness=1).verdict == "VIOLATED"


def test_bits_are_checked():
    with pytest.raises(HedgerowError, match="bits"):
        rounded_gaussian(60, 3, SeededRandomness(0))
