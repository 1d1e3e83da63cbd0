"""The largest eigenvalue: a record moves it by at most one, and steps by it are stable."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.central.anova.accounting import GaussianPurse, LaplacePurse
from hedgerow.central.anova.basis import choose
from hedgerow.central.anova.coded import CodedRows, Table
from hedgerow.central.anova.curvature import curvature, curvature_release, shortened
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.products import FULL, NORM, SCALE, Products
from hedgerow.central.anova.pull import energies
from hedgerow.central.anova.quantiles import Quantiles
from hedgerow.central.anova.recipe import rounds_of
from hedgerow.central.anova.rows import MOMENT, MOMENTS, Rows
from hedgerow.kernels import reference
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c"])
FLAT = Quantiles(np.linspace(0, 1, 5), np.ones(4))
OPTIONS = {"frequency": 8, "pair_complexity": 9.0, "least": 0.0, "most": 300, "missing": False}


def feature_map(scale=0.8, heaviest=1.0):
    basis = choose(SPACE, [heaviest, 1.0, 1.0], pair_weight=0.5, **OPTIONS)
    return FeatureMap(SPACE, dict.fromkeys(range(3), FLAT), basis, scale * basis.root_mean_square())


def coded(Z):
    Z = np.asarray(Z, dtype=float)
    return Table(Z, np.zeros((len(Z), 1))).coded(SPACE, dict.fromkeys(range(3), FLAT))


class Asked:
    """A release that adds nothing and remembers what it was given."""

    def __init__(self, weight):
        self.weight = weight
        self.deviation = 0.0

    def noisy(self, sums, randomness):
        (self.given,) = sums.tolist()
        return sums


def given(rows, mapped, weight):
    asked = Asked(weight)
    curvature(rows, energies(mapped), asked, 1.0, SeededRandomness(0))
    return asked.given


@pytest.mark.parametrize("scale", [0.8, 0.05])
@pytest.mark.parametrize("weight", [256, 511])
@pytest.mark.parametrize("heaviest", [1.0, 4.0])
def test_a_record_moves_it_by_its_weight_at_most(heaviest, weight, scale):
    rng = np.random.default_rng(0)
    mapped = feature_map(scale, heaviest)
    own = Products.of(mapped)
    corner = np.zeros((1, 3))
    alone = given(Rows(own, coded(corner)), mapped, weight)
    assert given(Rows(own, coded(corner[:0])), mapped, weight) == 0
    assert alone <= weight
    if (
        scale < 0.8 and heaviest == 1
    ):  # records are shortened: their vectors are as long as allowed, but for functions left out
        assert alone > 0.85 * weight
    many = [np.repeat(corner, 50, axis=0), rng.random((200, 3)), np.repeat(rng.random((2, 3)), 20, axis=0)]
    for Z in many:
        whole = given(Rows(own, coded(Z)), mapped, weight)
        for out in range(0, len(Z), 7):
            less = given(Rows(own, coded(np.delete(Z, out, axis=0))), mapped, weight)
            assert 0 <= whole - less <= weight


def test_vectors_are_bounded_for_every_code_and_the_bound_is_whole():
    """Tables at their ends: records as long as can be; the bound is the floor of the square, in Python's integers."""
    own = Products.of(feature_map(0.1))
    rng = np.random.default_rng(1)
    ends = np.where(rng.random(own.tables.shape) < 0.5, FULL, -FULL).astype(np.int8)
    worst = Products(own.columns, ends, own.derived, own.factors, own.units, None)
    codes = np.stack([rng.permutation(256) for _ in range(3)]).astype(np.uint8)
    chosen = np.arange(min(len(own), MOMENTS))
    longest = 0
    for i in range(256):
        rows = CodedRows(np.ascontiguousarray(codes[:, i : i + 1]), np.zeros((1, 1), dtype=np.int32))
        longest = max(longest, int(np.trace(Rows(worst, rows).moments(chosen))))
    assert MOMENT == NORM**2 >> (2 * SCALE) and 0.5 * MOMENT < longest <= MOMENT


def test_it_is_the_eigenvalue_of_the_model_s_vectors():
    mapped = feature_map()
    Z = np.random.default_rng(2).random((2000, 3))
    Z[:, 1] = Z[:, 0]
    phi = mapped.vectors(mapped.codes(Z)) / (1 << 14)
    exact = np.linalg.eigvalsh(phi.T @ phi / len(Z))[-1]
    release = curvature_release(GaussianPurse(None), Fraction(1, 100), 1e6)
    for path in (Rows(Products.of(mapped), coded(Z)), _reference(mapped, Z)):
        found = curvature(path, energies(mapped), release, 2000.0, SeededRandomness(0))
        assert found == pytest.approx(exact, rel=0.02) and found < 0.95


def test_it_is_that_of_steps_with_their_factors():
    """A heavy feature alone would hold all steps short; with its own steps shorter, those of all may be longer."""
    mapped = feature_map(heaviest=4.0)
    energy = energies(mapped)
    Z = np.random.default_rng(4).random((2000, 3))
    phi = mapped.vectors(mapped.codes(Z)) / (1 << 14)
    factors = shortened(energy)
    assert factors.min() < 0.2 and factors.max() == 1.0 and (factors * energy <= energy[0] * (1 + 1e-12)).all()
    exact = np.linalg.eigvalsh(phi.T @ phi / len(Z) * np.sqrt(np.outer(factors, factors)))[-1]
    release = curvature_release(GaussianPurse(None), Fraction(1, 100), 1e6)
    found = curvature(Rows(Products.of(mapped), coded(Z)), energy, release, 2000.0, SeededRandomness(0))
    assert found == pytest.approx(exact, rel=0.05)
    assert found < 0.5 * np.linalg.eigvalsh(phi.T @ phi / len(Z))[-1]


def _reference(mapped, Z):
    with reference():
        return Rows(Products.of(mapped), coded(Z))


def test_noise_is_paid_for_and_counted_against_the_step():
    mapped = feature_map()
    Z = np.repeat(np.random.default_rng(3).random((2000, 1)), 3, axis=1)
    rows = Rows(Products.of(mapped), coded(Z))
    purse = GaussianPurse(Fraction(1, 4))
    release = curvature_release(purse, Fraction(1, 100), 1e6)
    source = SeededRandomness(1)
    exact = curvature(rows, energies(mapped), Asked(256), 2000.0, source)
    found = np.array([curvature(rows, energies(mapped), release, 2000.0, source) for _ in range(25)])
    assert float(purse.spent) == pytest.approx(25 * 0.25 / 100, rel=0.01) and purse.spent <= Fraction(25, 400)
    wide = release.deviation / release.weight / 2000  # 20 records: mean of 25 is within 6 of its deviations
    assert abs(found.mean() - exact - 3 * wide) < 6 * wide / math.sqrt(25)


def test_it_is_not_asked_for_by_few_records_or_where_noise_would_drown_it():
    share = Fraction(1, 100)
    assert curvature_release(GaussianPurse(Fraction(1, 10**6)), share, 50_000.0) is None
    assert curvature_release(GaussianPurse(Fraction(1, 4)), share, 9_999.0) is None
    assert curvature_release(GaussianPurse(Fraction(1, 4)), share, 10_001.0) is not None
    assert curvature_release(LaplacePurse(Fraction(1)), share, 1e6) is None
    # Where the solver's rounding is not bounded by the proof: too many records, too many levels.
    assert curvature_release(GaussianPurse(Fraction(1, 4)), share, 2.0**27 + 1) is None
    assert curvature_release(GaussianPurse(Fraction(10**9)), share, 1e6) is None


def test_longer_steps_are_fewer_and_reach_as_far():
    plain = rounds_of(8000.0, 1e5, Fraction(1), Fraction(0))
    long = rounds_of(8000.0, 1e5, Fraction(1), Fraction(0), 0.095)
    assert long.rate == pytest.approx(10.0) and plain.rate == 1.0
    assert long.rounds == math.ceil(2 * math.sqrt(800)) and plain.rounds == int(2.5 * math.sqrt(8000))
    for steps in (plain, long):
        assert 0.75 * steps.rounds * steps.rate / (1 - steps.momentum) == pytest.approx(8000.0)
    assert rounds_of(8000.0, 1e5, Fraction(1), Fraction(0), 2.0).rate == 1.0
