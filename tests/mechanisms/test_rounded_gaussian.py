"""The rounded Gaussian: its law, its sampler in integers, its price."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import find
from hedgerow.errors import HedgerowError
from hedgerow.kernels import native, reference
from hedgerow.mechanisms.rounded_gaussian import (
    RoundedGaussian,
    _decide,
    _resolve,
    _tables,
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


@pytest.mark.skipif(getattr(native(), "gaussian", None) is None, reason="the compiled kernel is not there")
@pytest.mark.parametrize("bits", [0, 1, 30, 56])
def test_compiled_draws_are_those_of_the_reference(bits):
    """As many bytes are drawn, and every pair is kept, rounded and signed alike."""
    compiled = SeededRandomness(bits)
    plain = SeededRandomness(bits)
    found = rounded_gaussian(bits, 20_000, compiled)
    with reference():
        wanted = rounded_gaussian(bits, 20_000, plain)
    assert (found == wanted).all() and compiled.place == plain.place


@pytest.mark.skipif(getattr(native(), "gaussian", None) is None, reason="the compiled kernel is not there")
def test_the_compiled_kernel_decides_what_the_reference_does():
    """Near the curve, on both sides of where bits leave it open; and where they do it says so."""
    source = SeededRandomness(6)
    n = 4000
    k = source.integers(6, n)
    x = source.uint64(n)
    near = source.integers(4096, n) - 2048  # of 2**-31: as wide as what is left open, twice
    v = np.empty(n, dtype=np.uint64)
    for i in range(n):
        u = Fraction(int(x[i]), 2**64)
        place = int(exp_bounds(-u * (2 * int(k[i]) + u) / 2)[0] * 2**31) + int(near[i])
        v[i] = min(max(place, 0), 2**31 - 1) << 33
    keep, unsure = _decide(k.astype(np.uint64), x, v)
    out = np.empty(1, dtype=np.int64)
    ends = [(k[i : i + 1].astype(np.int32), x[i : i + 1], v[i : i + 1], _tables(), 3, out) for i in range(n)]
    found = [native().gaussian(*one) for one in ends]
    assert found == np.where(unsure, -1, keep).tolist() and {-1, 0, 1} == set(found)
    with pytest.raises(ValueError, match="out"):
        native().gaussian(np.zeros(2, dtype=np.int32), x, v, _tables(), 3, out)
    with pytest.raises(ValueError, match="bits"):
        native().gaussian(np.zeros(1, dtype=np.int32), x, v, _tables(), 57, out)


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
