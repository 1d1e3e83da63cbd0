"""Exactness of the samplers.

A sampler that compares bits with thresholds is exact if every dyadic cell ``[u, u+1) / 2**bits`` on which it
stops lies between the two thresholds that bound its answer. That is checked below in rational arithmetic, for
all 65,536 first words and for prefixes forced onto the thresholds themselves. Statistical tests of
the laws are in test_samplers_laws.py.
"""

import math
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np
import pytest

from hedgerow import discrete_gaussian, samplers
from hedgerow.errors import HedgerowError
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, binomial, discrete_laplace, dyadic_exp, exp_at_least, exp_bounds, geometric


def series_exp(x, terms=400):
    """Rational bounds of e**x from its Taylor series, for 0 <= x <= 20."""
    total, term = Fraction(1), Fraction(1)
    for k in range(1, terms):
        term = term * x / k
        total += term
    return total, total + 2 * term  # what is left is below a geometric series of ratio 1/2


# --- e**x ---


@pytest.mark.parametrize("x", [Fraction(1), Fraction(1, 3), Fraction(1, 10**9), Fraction(7, 2), Fraction(19)])
@pytest.mark.parametrize("bits", [64, 192, 400])
def test_exp_bounds_enclose_the_series(x, bits):
    low, high = exp_bounds(x, bits)
    below, above = series_exp(x)
    assert low <= below and above <= high
    assert (high - low) / low < Fraction(1, 2**bits)
    inverse_low, inverse_high = exp_bounds(-x, bits)
    assert inverse_low <= 1 / above and 1 / below <= inverse_high


def test_exp_at_least_decides_close_calls():
    below, above = series_exp(Fraction(1))
    tiny = Fraction(1, 10**150)  # needs more than the first 192 bits
    assert exp_at_least(below - tiny, Fraction(1))
    assert not exp_at_least(above + tiny, Fraction(1))
    assert exp_at_least(1 / (above + tiny), Fraction(-1))
    assert not exp_at_least(1 / (below - tiny), Fraction(-1))


@pytest.mark.parametrize(
    ("ratio", "x", "expected"),
    [
        (1, 0, True),
        (1, 1, True),
        (1, -1, False),
        (2, 0, False),
        (Fraction(1, 2), 0, True),
        (0, -5, True),
        (2**1000, 10**300, True),
        (2**100, 69, False),
        (2**100, 70, True),
        (Fraction(1, 2**100), -70, False),
        (Fraction(1, 2**100), -69, True),
    ],
)
def test_exp_at_least_at_special_points(ratio, x, expected):
    assert exp_at_least(Fraction(ratio), Fraction(x)) is expected


@pytest.mark.parametrize(
    "x", [Fraction(1, 1000), Fraction(1, 7), Fraction(1), Fraction(44), Fraction(45), Fraction(10**6)]
)
def test_dyadic_exp_rounds_up(x):
    m = dyadic_exp(x)
    assert not exp_at_least(Fraction(m, ONE), -x) or Fraction(m, ONE) == 1  # m / 2**64 > e**-x ...
    assert exp_at_least(Fraction(m - 1, ONE), -x)  # ... and m is the smallest such


def test_dyadic_exp_at_the_ends():
    assert dyadic_exp(Fraction(0)) == ONE
    assert dyadic_exp(Fraction(1, 10**30)) == ONE
    assert dyadic_exp(Fraction(10**300)) == 1
    with pytest.raises(HedgerowError, match="negative"):
        dyadic_exp(Fraction(-1))


# --- LazyCdf: exact thresholds of every law that uses it ---


UNIT = 1 << 2048  # thresholds to 2048 bits: far more than the 320 that a test ever draws


def powers(numerator, exponent, count):
    """The powers 1 .. count of ``(numerator / 2**64) ** exponent``, over UNIT."""
    base = UNIT
    for _ in range(exponent):
        base = base * numerator >> 64
    out = [base]
    while len(out) < count:
        out.append(out[-1] * base // UNIT)
    return out


def geometric_thresholds(numerator, exponent, truncated):
    values = [UNIT - p for p in powers(numerator, exponent, 256)]
    whole = values.pop() if truncated else UNIT
    return [Fraction(v * UNIT // whole, UNIT) for v in values]


def laplace_thresholds(numerator):
    tails = [Fraction(p * ONE // (ONE + numerator), UNIT) for p in powers(numerator, 1, 256)]
    return tails[::-1] + [1 - t for t in tails]


def binomial_thresholds(n, numerator):
    pmf = [math.comb(n, k) * numerator**k * (ONE - numerator) ** (n - k) for k in range(n + 1)]
    return [Fraction(sum(pmf[: k + 1]), ONE**n) for k in range(n)]


def gaussian_cdf(variance, shift):
    """The law of the discrete Gaussian, counted from ``-shift``."""

    def bounds(bits):
        offset, lows, highs = discrete_gaussian._thresholds(variance, bits)
        return offset + shift, lows, highs

    return samplers.LazyCdf(bounds)


def gaussian_thresholds(variance, shift):
    weights = [sum(exp_bounds(-Fraction(k * k) / (2 * variance), 700)) for k in range(shift + 1)]
    cums = list(accumulate([*weights[:0:-1], *weights]))
    return [Fraction((cum / cums[-1]) * UNIT // 1, UNIT) for cum in cums[:-1]]


HALF, NARROW, WIDER, WIDE = (
    ONE // 2,
    dyadic_exp(Fraction(1, 5)),
    dyadic_exp(Fraction(1, 46)),
    dyadic_exp(Fraction(1, 900)),
)
CASES = {
    "geometric, narrow": (samplers._geometric_cdf, geometric_thresholds, (NARROW, 1, False)),
    "geometric, tiny": (samplers._geometric_cdf, geometric_thresholds, (3, 1, False)),
    "geometric, low digit": (samplers._geometric_cdf, geometric_thresholds, (WIDE, 1, True)),
    "geometric, second digit": (samplers._geometric_cdf, geometric_thresholds, (ONE - 2**40, 256, True)),
    "laplace, narrow": (samplers._laplace_cdf, laplace_thresholds, (NARROW,)),
    "laplace, wider": (samplers._laplace_cdf, laplace_thresholds, (WIDER,)),
    "binomial": (samplers._binomial_cdf, binomial_thresholds, (16, ONE // 3)),
    "binomial, one trial": (samplers._binomial_cdf, binomial_thresholds, (1, 12345678901234567)),
    "binomial, rare": (samplers._binomial_cdf, binomial_thresholds, (64, 5)),
    "binomial, nearly all": (samplers._binomial_cdf, binomial_thresholds, (64, ONE - 5)),
    "Gaussian": (gaussian_cdf, gaussian_thresholds, (Fraction(57, 4), 120)),
    "Gaussian, narrow": (gaussian_cdf, gaussian_thresholds, (Fraction(1, 3), 30)),
}


@pytest.fixture(params=CASES)
def case(request):
    make, thresholds, arguments = CASES[request.param]
    # Not from the cache: a new one has no table yet.
    return getattr(make, "__wrapped__", make)(*arguments), known(thresholds, arguments)


@cache
def known(thresholds, arguments):
    return thresholds(*arguments)


def assert_exact(answer, prefix, bits, thresholds):
    """The whole cell of the prefix must lie where exactly ``answer`` thresholds are at or below."""
    assert answer == 0 or thresholds[answer - 1] <= Fraction(prefix, 1 << bits)
    assert answer == len(thresholds) or Fraction(prefix + 1, 1 << bits) <= thresholds[answer]


def test_all_first_words_are_decided_exactly_or_left_open(case):
    cdf, thresholds = case
    words = np.arange(1 << 16)
    answers = cdf._count(words.astype(np.uint16))
    up = np.array([math.ceil(c * (1 << 16)) for c in thresholds])
    down = np.array([math.floor(c * (1 << 16)) for c in thresholds])
    offset = cdf._offset
    sure = np.searchsorted(up, words, side="right")  # thresholds at or below the start of the cell
    possible = np.searchsorted(down, words, side="right")  # thresholds before its end
    decided = answers >= 0
    assert (answers[decided] + offset == sure[decided]).all()
    assert (sure == possible)[decided].all(), "a first word was decided that a threshold cuts"
    # Not required for exactness, but for speed: only cells at a threshold (or next to one) may be left open.
    assert (~decided).sum() <= 2 * len(set(down.tolist())) + 2


def test_table_is_the_same_function(case):
    cdf, _ = case
    assert cdf._table is None
    without = cdf._count(np.arange(1 << 16).astype(np.uint16))
    cdf.sample((1 << 14) + 1, SeededRandomness(0))
    assert cdf._table is not None
    assert np.array_equal(cdf._table, without)


def test_table_path_equals_table_free_path_on_the_same_bytes(case):
    cdf, _ = case
    slow = cdf.sample(5000, SeededRandomness(1))
    assert cdf._table is None
    cdf.sample(1 << 15, SeededRandomness(2))
    assert np.array_equal(cdf.sample(5000, SeededRandomness(1)), slow)


def forced(cdf, script, prefix, words):
    """Draw one value from the bits ``prefix`` (64) and ``words`` (64 each); return it and the bits used."""
    first, second = prefix >> 48, ((prefix << 16) & (ONE - 1)) | 0xBEEF  # the last 16 bits are not used
    source = script(first.to_bytes(2, "little"), second.to_bytes(8, "little"), *(w.to_bytes(8, "big") for w in words))
    value = int(cdf.sample(1, source)[0])
    unused = len(source.left)
    used = 16 if unused == 8 + 8 * len(words) else 64 + 8 * (8 * len(words) - unused)
    return value, used


def test_prefixes_on_the_thresholds_are_resolved_exactly(case, script):
    cdf, thresholds = case
    deepest = 0
    for c in thresholds[:3] + thresholds[3:-3:41] + thresholds[-3:]:
        whole = math.floor(c * (1 << 256))
        for shift in (0, 64, 128, 192):  # leave the threshold's own bits after 256 - shift of them
            for step in (-1, 0, 1):
                bits = (whole >> shift << shift) + (step << shift)
                bits = min(max(bits, 0), (1 << 256) - 1)
                words = [(bits >> s) & (ONE - 1) for s in (128, 64, 0)] + [0x123456789ABCDEF0]
                value, used = forced(cdf, script, bits >> 192, words)
                full = (bits << 64) | words[-1]
                assert_exact(value, full >> (320 - used), used, thresholds)
                deepest = max(deepest, used)
    assert deepest >= 256, "the deep path was never taken"


@pytest.mark.parametrize("prefix", [0, 1, ONE - 2, ONE - 1])
@pytest.mark.parametrize("word", [0, 1, ONE // 2, ONE - 1])
def test_ends_of_the_unit_interval(case, script, prefix, word):
    # All ones or all zeros in 64 bits must not decide a tail that is rarer than 2**-64.
    cdf, thresholds = case
    words = [word, ONE // 3, ONE // 3]
    value, used = forced(cdf, script, prefix, words)
    full = sum(w << s for w, s in zip([prefix, *words], (192, 128, 64, 0), strict=True))
    assert_exact(value, full >> (256 - used), used, thresholds)


def test_laplace_beyond_the_table_needs_its_true_rarity(script):
    # P(|X| >= 256) = e**-256 or so: 64 equal bits (2**-64) are not enough to get there.
    source = script(b"\xff" * 10, b"\x80" + b"\x00" * 7)
    assert abs(int(discrete_laplace(dyadic_exp(Fraction(1)), 1, source)[0])) < 60


# --- whole samplers, byte by byte ---


@pytest.mark.parametrize(("prefix", "side"), [(0, -1), (0xFFFF, 1)])
def test_laplace_goes_on_beyond_its_table(script, prefix, side):
    # The widest noise that has a table: a 16-bit prefix at either end lies beyond the table for certain, and the rest
    # must be drawn, as a geometric. Noise that ended here would tell levels apart that are far enough from it.
    numerator = math.floor(ONE * 2 ** (-8.001 / 256))
    more = (0x8000).to_bytes(2, "little") + bytes(8)
    extra = geometric(numerator, 1, script(more))[0]
    drawn = discrete_laplace(numerator, 1, script(prefix.to_bytes(2, "little") + more))[0]
    assert extra > 0 and drawn == side * (256 + extra)


@pytest.mark.parametrize("numerator", [0, 1, ONE // 2, ONE // 3, (200 << 56) + 7, ONE - 1, ONE])
def test_bernoulli_on_all_first_bytes(numerator, script):
    head, tail = numerator >> 56, numerator & ((1 << 56) - 1)
    ones = 0
    for byte in range(256):
        if numerator in (0, ONE) or byte != head:
            source = script(b"" if numerator in (0, ONE) else bytes([byte]))
            ones += int(samplers.bernoulli(numerator, 1, source)[0]) << 56
            continue
        for word, expected in ((tail, False), (tail - 1, True)):  # 56 further bits against the tail
            if word >= 0:
                source = script(bytes([byte]), ((word << 8) | 0x55).to_bytes(8, "little"))
                assert bool(samplers.bernoulli(numerator, 1, source)[0]) is expected
        ones += tail
    assert ones == numerator


@pytest.mark.parametrize("x", [Fraction(1, 100), Fraction(1), Fraction(5, 2)])
def test_bernoulli_exp(x, same_law):
    p = math.exp(-x)
    same_law(samplers.bernoulli_exp(x, 100_000, SeededRandomness(5)).tolist(), {True: p, False: 1 - p})


def test_bernoulli_exp_at_the_ends():
    assert samplers.bernoulli_exp(Fraction(0), 5, SeededRandomness(0)).all()
    assert not samplers.bernoulli_exp(Fraction(200), 1000, SeededRandomness(0)).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: samplers.bernoulli(-1, 1, s),
        lambda s: samplers.bernoulli(ONE + 1, 1, s),
        lambda s: samplers.bernoulli_exp(Fraction(-1), 1, s),
        lambda s: binomial(np.array([-1]), HALF, s),
        lambda s: binomial(np.array([1]), ONE + 1, s),
    ],
)
def test_bad_arguments_are_named(call):
    with pytest.raises(HedgerowError, match="must"):
        call(SeededRandomness(0))


def test_the_check_of_exactness_fails_where_it_should():
    assert_exact(1, 1, 2, [Fraction(1, 4), Fraction(1, 2)])
    with pytest.raises(AssertionError):
        assert_exact(1, 0, 1, [Fraction(1, 4), Fraction(1, 2)])
