"""The normal distribution function, and Gaussian differential privacy solved with it."""

from fractions import Fraction

import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.normal import gdp_delta, gdp_mu, normal_cdf


@pytest.mark.parametrize("x", [-12, -5, -1, Fraction(-1, 7), 0, Fraction(1, 3), 2, 9])
def test_normal_distribution_function_agrees_with_scipy(x):
    from scipy.special import ndtr

    assert float(normal_cdf(Fraction(x), 60)) == pytest.approx(float(ndtr(float(x))), rel=1e-13)


def test_mu_is_the_largest_that_fits_and_never_too_large():
    for epsilon in (0.01, 0.5, 1.0, 2.0, 10.0, 50.0):
        for delta in (1e-9, 1e-5, 0.1):
            mu = gdp_mu(epsilon, delta)
            assert gdp_delta(mu, epsilon) <= Fraction(delta) < gdp_delta(mu * (1 + Fraction(1, 10**12)), epsilon)
    assert gdp_mu(1e6, 1e-5) == gdp_mu(400.0, 1e-5)  # smaller than need be: true
    with pytest.raises(HedgerowError, match="delta"):
        gdp_mu(1.0, 1e-40)


def test_mu_agrees_with_dp_accounting():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    for epsilon in (1.0, 10.0):
        mu = float(gdp_mu(epsilon, 1e-5))
        peer = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4)
        assert peer.get_epsilon_for_delta(1e-5) == pytest.approx(epsilon, abs=2e-4)
