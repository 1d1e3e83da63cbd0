"""Laws of the samplers against closed forms, SciPy and OpenDP: false-alarm rate 1e-7 a test, and seeded."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, binomial, discrete_laplace, dyadic_exp, geometric

HALF = ONE // 2


@pytest.mark.parametrize("x", [Fraction(3), Fraction(1, 2), Fraction(1, 30), Fraction(1, 47), Fraction(1, 300)])
def test_geometric_law(x, same_law):
    m = dyadic_exp(x)
    r = m / ONE
    top = math.ceil(60 / x)
    law = {k: (1 - r) * r**k for k in range(top)}
    same_law(geometric(m, 100_000, SeededRandomness(1)).tolist(), law)


@pytest.mark.parametrize("x", [Fraction(3), Fraction(1, 2), Fraction(1, 30), Fraction(1, 47), Fraction(1, 300)])
def test_discrete_laplace_law(x, same_law):
    m = dyadic_exp(x)
    r = m / ONE
    top = math.ceil(60 / x)
    law = {k: (1 - r) / (1 + r) * r ** abs(k) for k in range(-top, top + 1)}
    same_law(discrete_laplace(m, 100_000, SeededRandomness(2)).tolist(), law)


def ks_distance(values, cdf):
    """The Kolmogorov-Smirnov statistic times sqrt(n); above 2.9 once in 1e7 under the law (2 exp(-2 d**2))."""
    values = np.sort(values)
    n = len(values)
    last = np.searchsorted(values, values, side="right")  # ties: compare at the end of each run
    return math.sqrt(n) * np.abs(last / n - cdf(values)).max()


@pytest.mark.parametrize("scale", [10**3, 10**6, 10**9, 10**12, 10**15])
def test_wide_noise_against_the_continuous_law(scale):
    m = dyadic_exp(Fraction(1, scale))
    values = discrete_laplace(m, 50_000, SeededRandomness(3))
    # P(X <= k) of the discrete law; 1 - r is exact in integers, a float r near 1 is not.
    rate = -math.log1p(-(ONE - m) / ONE)
    upper = lambda k: np.exp(-rate * k) / (1 + math.exp(-rate))  # noqa: E731
    assert ks_distance(values, lambda k: np.where(k >= 0, 1 - upper(k + 1.0), upper(-k.astype(float)))) < 2.9
    assert ks_distance(geometric(m, 50_000, SeededRandomness(4)), lambda k: -np.expm1(-rate * (k + 1.0))) < 2.9


def test_low_digits_of_wide_noise_are_uniform(same_law):
    values = discrete_laplace(dyadic_exp(Fraction(1, 10**12)), 60_000, SeededRandomness(6))
    same_law((values % 1024).tolist(), dict.fromkeys(range(1024), 1 / 1024))


@pytest.mark.parametrize("draw", [geometric, discrete_laplace])
def test_extreme_ratios(draw):
    source = SeededRandomness(0)
    assert not draw(0, 100, source).any()
    assert not draw(1, 100, source).any()
    wide = draw(ONE - (1 << 14), 1000, source)
    assert np.abs(wide).max() < 2**56 and np.abs(wide).mean() > 2**49
    for wrong in (-1, ONE - (1 << 14) + 1, ONE):
        with pytest.raises(HedgerowError, match="'numerator'"):
            draw(wrong, 1, source)
    assert draw(HALF, 0, source).shape == (0,)


@pytest.mark.parametrize("n", [1, 2, 3, 13, 64, 100])
@pytest.mark.parametrize("p", [0.5, 0.03, 0.999])
def test_binomial_law(n, p, same_law):
    numerator = int(p * ONE)
    law = {k: math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}
    same_law(binomial(np.full(30_000, n), numerator, SeededRandomness(7)).tolist(), law)


@pytest.mark.parametrize("n", [1000, 123_457, 9_999_999])
def test_binomial_moments(n):
    p, size = 0.27, 20_000
    values = binomial(np.full(size, n), int(p * ONE), SeededRandomness(8))
    variance = n * p * (1 - p)
    # 5.4 standard errors: 1e-7 each. Var(s**2) is 2 variance**2 / size, nearly.
    assert abs(values.mean() - n * p) < 5.4 * math.sqrt(variance / size)
    assert abs(values.var() - variance) < 5.4 * variance * math.sqrt(2 / size)


def test_binomial_of_mixed_counts_and_shapes():
    trials = np.array([[0, 1, 7], [1000, 5, 0]])
    out = binomial(trials, HALF, SeededRandomness(0))
    assert out.shape == trials.shape and (out <= trials).all() and (out >= 0).all()
    assert (binomial(trials, 0, SeededRandomness(0)) == 0).all()
    assert (binomial(trials, ONE, SeededRandomness(0)) == trials).all()
    assert binomial(np.array([], dtype=int), HALF, SeededRandomness(0)).shape == (0,)


@pytest.mark.parametrize("n", [1, 15, 16, 255, 300])
def test_binomial_law_of_many_entries(n, same_law):
    # Many entries may take another path (tables for whole digits of n) than few: the law is the same.
    p, size = 0.3, 1 << 17
    law = {k: math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}
    same_law(binomial(np.full(size, n), int(p * ONE), SeededRandomness(9)).tolist(), law)
    mixed = binomial(np.arange(size) % 5000, int(p * ONE), SeededRandomness(9)).reshape(-1)
    trials = np.arange(size) % 5000
    deviation = (mixed - trials * p) / np.sqrt(np.maximum(trials, 1) * p * (1 - p))
    # 5.4 standard errors: 1e-7.
    assert abs(deviation.sum()) < 5.4 * math.sqrt((trials > 0).sum())
    assert abs((deviation**2)[trials > 0].mean() - 1) < 5.4 * math.sqrt(2.1 / size)


def test_binomial_rare_and_nearly_sure():
    trials = np.full(1000, 1 << 20)
    assert binomial(trials, 1, SeededRandomness(0)).sum() == 0
    assert (binomial(trials, ONE - 1, SeededRandomness(0)) == trials).all()


# --- against others ---


def two_sample(one, two):
    """P-value of a chi-square test that two integer samples have one law (cells below 20 merged into ends)."""
    from scipy.stats import chi2_contingency

    edges = np.unique(np.quantile(np.concatenate([one, two]), np.linspace(0, 1, 21)))
    cells = [np.bincount(np.searchsorted(edges, s), minlength=edges.size + 1) for s in (one, two)]
    table = np.array(cells)
    return chi2_contingency(table[:, table.sum(axis=0) > 20]).pvalue


@pytest.mark.parametrize("scale", [0.5, 5.0, 300.0])
def test_discrete_laplace_agrees_with_scipy(scale):
    from scipy.stats import dlaplace

    m = dyadic_exp(Fraction(1 / scale))
    theirs = dlaplace(1 / scale).rvs(50_000, random_state=1)
    assert two_sample(discrete_laplace(m, 50_000, SeededRandomness(1)), theirs) > 1e-7


@pytest.mark.parametrize("scale", [0.7, 40.0])
def test_discrete_laplace_agrees_with_opendp(scale):
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    # OpenDP cannot be seeded: this test alone is not reproducible; it fails once in 1e7.
    theirs = np.array(dp.m.make_laplace(*space, scale=scale)([0] * 5000))
    m = dyadic_exp(Fraction(1 / scale))
    assert two_sample(discrete_laplace(m, 5000, SeededRandomness(1)), theirs) > 1e-7
