import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.normal import gdp_delta
from hedgerow.mechanisms.zcdp import gaussian_variance, zcdp_delta, zcdp_rho

PAIRS = [(0.0005, 0.1), (0.02, 0.1), (0.02, 1.0), (0.3, 1.0), (0.3, 6.0), (2.0, 1.0), (2.0, 6.0)]


@pytest.mark.parametrize(("rho", "epsilon"), PAIRS)
def test_delta_is_the_least_over_orders(rho, epsilon):
    less = np.exp(np.linspace(-15, math.log(4 * (epsilon + 1) / rho), 400_001))
    logs = less * ((1 + less) * rho - epsilon - np.log1p(1 / less)) - np.log1p(less)
    assert zcdp_delta(Fraction(rho), epsilon) == pytest.approx(min(1.0, math.exp(logs.min())), rel=1e-6)


@pytest.mark.parametrize(("rho", "epsilon"), PAIRS)
def test_delta_covers_the_gaussian_that_is_rho_zcdp(rho, epsilon):
    """The continuous Gaussian with ``mu**2 / 2 = rho`` needs less, and not much less."""
    mu = Fraction(math.sqrt(2 * rho))
    exact = float(gdp_delta(mu, epsilon))
    delta = zcdp_delta(mu**2 / 2, epsilon)
    assert exact < delta < 8 * exact + 1e-300


@pytest.mark.parametrize(("rho", "epsilon"), PAIRS)
def test_delta_is_that_of_opendp(rho, epsilon):
    opendp = pytest.importorskip("opendp.prelude")
    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T=int)), opendp.l2_distance(T=float)
    measurement = opendp.m.make_gaussian(*space, scale=1.0)
    curve = opendp.c.make_zCDP_to_approxDP(measurement).map(math.sqrt(2 * rho))
    theirs = curve.delta(epsilon)
    assert zcdp_delta(Fraction(rho), epsilon) == pytest.approx(theirs, rel=1e-4, abs=1e-300)


@pytest.mark.parametrize(("rho", "epsilon"), PAIRS)
def test_delta_is_not_above_that_of_dp_accounting(rho, epsilon):
    accountant = pytest.importorskip("dp_accounting.rdp.rdp_privacy_accountant")
    orders = 1 + np.exp(np.linspace(-8, math.log(4 * (epsilon + 1) / rho), 3000))
    theirs, _ = accountant.compute_delta(orders, rho * orders, epsilon)
    assert zcdp_delta(Fraction(rho), epsilon) <= theirs * (1 + 1e-4)
    assert theirs <= zcdp_delta(Fraction(rho), epsilon) * (1 + 1e-3)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
def test_rho_is_the_largest_that_is_allowed(epsilon, delta):
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_delta(rho, epsilon) <= delta < zcdp_delta(rho * (1 + Fraction(1, 10**7)), epsilon)


def test_noise_is_what_rho_allows():
    assert gaussian_variance(16, 1.0, 1e-6) == 16 / (2 * zcdp_rho(1.0, 1e-6))
    assert gaussian_variance(16, math.inf, 1e-6) == 0


def test_the_ends():
    assert zcdp_delta(Fraction(0), 1.0) == 0 and zcdp_delta(Fraction(1), math.inf) == 0
    assert zcdp_delta(Fraction(10**6), 0.001) == 1.0
    assert zcdp_rho(1e6, 1e-6) == zcdp_rho(400.0, 1e-6)
    for call in (
        lambda: zcdp_delta(Fraction(-1), 1.0),
        lambda: zcdp_delta(Fraction(1), -1.0),
        lambda: zcdp_rho(1.0, 0.0),
        lambda: zcdp_rho(1.0, 1.0),
        lambda: gaussian_variance(0, 1.0, 1e-6),
    ):
        with pytest.raises(HedgerowError):
            call()
