"""Discrete Gaussian noise: its delta is that of its very weights."""

import math
from fractions import Fraction

import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.gaussian import GaussianNoise, exact_delta


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_delta_is_exact_tight_and_fails_with_a_tenth_too_little_noise(epsilon, delta):
    noise = GaussianNoise(epsilon, 4, delta)
    measured = exact_delta(noise.weights, 4, epsilon)
    assert measured <= Fraction(delta)
    assert float(measured) == pytest.approx(delta, rel=1e-4)
    weak = GaussianNoise(epsilon, 4, 0.999, sigma=0.9 * noise.sigma)
    assert exact_delta(weak.weights, 4, epsilon) > Fraction(delta)
    with pytest.raises(HedgerowError, match="sigma"):
        GaussianNoise(epsilon, 4, delta, sigma=0.9 * noise.sigma)


def test_it_is_near_the_analytic_calibration_of_the_continuous_one():
    # Balle and Wang (2018): delta = Phi(D/2s - e s/D) - e^e Phi(-D/2s - e s/D); also for epsilon > 1.
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    for epsilon in (0.5, 1.0, 4.0):
        noise = GaussianNoise(epsilon, 64, 1e-4)
        s = noise.sigma / 64
        delta = phi(1 / (2 * s) - epsilon * s) - math.exp(epsilon) * phi(-1 / (2 * s) - epsilon * s)
        assert delta == pytest.approx(1e-4, rel=0.05)


def test_bad_delta_is_named():
    for delta in (0.0, 1.0, -0.1):
        with pytest.raises(HedgerowError, match="'delta' parameter"):
            GaussianNoise(1.0, 8, delta)


def test_delta_of_any_number_of_steps_is_known_at_once():
    """A task may claim 1e308 steps; inputs that far apart have no output in common."""
    weights = GaussianNoise(1.0, 2, 0.1).weights
    assert exact_delta(weights, len(weights) - 1, 1.0) < exact_delta(weights, 10**308, 1.0) == 1
