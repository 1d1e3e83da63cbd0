"""That every threshold is exact is shown in test_samplers.py; here are the function as a whole, and its law."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import kernels
from hedgerow.discrete_gaussian import WIDEST, discrete_gaussian, gaussian_weights
from hedgerow.errors import HedgerowError
from hedgerow.randomness import SeededRandomness


@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(1), Fraction(57, 4), Fraction(2856, 10)])
def test_draws_have_the_law(variance, same_law):
    """Chi-square with a false-alarm rate of 1e-7 a case."""
    drawn = discrete_gaussian(variance, 60_000, SeededRandomness(1))
    weights = gaussian_weights(variance)
    reach = len(weights) // 2
    whole = sum(weights)
    same_law(drawn.tolist(), {k - reach: weight / whole for k, weight in enumerate(weights)})


@pytest.mark.parametrize("variance", [Fraction(1, 7), Fraction(3), Fraction(2856, 10)])
def test_the_law_is_that_of_the_paper(variance):
    weights = gaussian_weights(variance)
    reach = len(weights) // 2
    assert weights == weights[::-1] and weights[reach] == 1 << 128
    for k in (0, 1, 2, reach // 3, reach // 2):
        assert weights[reach + k] / 2**128 == pytest.approx(math.exp(-k * k / (2 * variance)), rel=1e-12)


def test_draws_are_the_same_with_and_without_kernels():
    compiled = discrete_gaussian(Fraction(286), 40_000, SeededRandomness(2))
    with kernels.reference():
        assert np.array_equal(discrete_gaussian(Fraction(286), 40_000, SeededRandomness(2)), compiled)
    assert compiled.dtype == np.int64


def test_widths_at_the_ends():
    assert not discrete_gaussian(Fraction(0), 10, SeededRandomness(0)).any()
    assert not discrete_gaussian(Fraction(1, 10**6), 1000, SeededRandomness(0)).any()
    assert discrete_gaussian(Fraction(1), 0, SeededRandomness(0)).size == 0
    for wrong in (Fraction(-1), Fraction(WIDEST) + 1):
        with pytest.raises(HedgerowError, match="'variance' must be in 0"):
            discrete_gaussian(wrong, 1, SeededRandomness(0))


def test_wide_noise_has_its_width():
    """A standard deviation of 2**12: the mean of squares of 20,000 draws is within 8 of its deviations (1e-14)."""
    drawn = discrete_gaussian(Fraction(1 << 24), 20_000, SeededRandomness(3)).astype(float)
    assert abs((drawn**2).mean() / (1 << 24) - 1) < 8 * math.sqrt(2 / 20_000)
    assert abs(drawn.mean()) < 8 * (1 << 12) / math.sqrt(20_000)


@pytest.mark.parametrize("variance", [Fraction(1, 2), Fraction(4), Fraction(2856, 10)])
@pytest.mark.parametrize("shift", [1, 3])
def test_it_is_zcdp_and_not_with_less_noise(variance, shift):
    """The divergence of whole order between noise and shifted noise is exactly ``order shift**2 / 2 sigma**2``."""
    for order in (2, 3, 5):
        rho = shift**2 / (2 * variance)
        assert divergence(variance, shift, order) == pytest.approx(float(order * rho), rel=1e-12)
        assert divergence(variance * Fraction(99, 100), shift, order) > order * rho * 1.009


def divergence(variance, shift, order):
    """The Renyi divergence between the law, shifted, and the law."""
    weights = gaussian_weights(variance, bits=1400)  # so many that what is left out is nothing, times the ratio too
    logs = np.array([math.log(weight) for weight in weights if weight])
    whole = np.logaddexp.reduce(logs)
    shifted = logs[:-shift] - whole
    plain = logs[shift:] - whole
    return float(np.logaddexp.reduce(order * shifted + (1 - order) * plain)) / (order - 1)
