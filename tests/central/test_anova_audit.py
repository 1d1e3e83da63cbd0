"""Whole fits, audited by all that they release, with a record that pushes as hard as it can in every round.

A fit of no records at all releases pure noise; a fit of one record releases noise and its own terms ``D_t``. Release t
was charged ``a_t**2``, so if what is charged is true, ``z_t = <release, D_t> / (|D_t| width_t)`` is standard normal
without the record, and has mean at most ``a_t`` with it. Hence ``W = sum a_t z_t / m``, with ``m**2 = sum a_t**2`` the
whole charge (here the same in all fits), is N(0, 1) without it and at most N(m, 1) with it. The auditor asks how far
apart the two are in truth: ``d = E W / k``, with k the deviation of all noise. With probability at least 1 - 1e-7,
both ``k < K`` (chi-square) and ``mean W < E W + x k / sqrt(n)`` (normal), hence ``d > mean W / K - x / sqrt(n)``, and
this bound must not exceed m. A large epsilon makes a small n enough; noise and clips follow the same code at any.
"""

import math

import numpy as np
import pytest
from scipy.stats import chi2, norm

from hedgerow.central.anova import accounting, recipe, rows
from hedgerow.central.anova.accounting import Release, open_purse
from hedgerow.central.anova.coded import Table
from hedgerow.central.anova.products import SCALE, Products
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.kernels import reference
from hedgerow.mechanisms.normal import gdp_mu
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

ONE = FeatureSpace.from_bounds((0, 1), ["a"])
RECORD = (np.array([[1.0]]), np.array([[30.0]]))  # in a corner, with a label that every clip cuts
ALARM = 1e-7
EPSILON = 400.0


@pytest.fixture
def few_rounds(monkeypatch):
    monkeypatch.setattr(recipe, "_FEWEST", 6)
    monkeypatch.setattr(recipe, "_MOST", 6)


class Auditor:
    """Sees what a fit releases, and knows what the record would add to each release."""

    def __init__(self, monkeypatch):
        noisy = Release.noisy

        def spy(release, sums, randomness):
            # Without records all sums are zero, whatever was released before: the same law, by leaving the record out.
            out = noisy(release, sums if self.present else np.zeros_like(sums), randomness)
            length = math.sqrt(float((sums.astype(np.float64) ** 2).sum()))
            push = float((out.astype(np.float64) * sums).sum()) / (length * 2.0**release.bits) if length else 0.0
            self.seen.append((float(release.cost), push))
            self.squares += float(((out / 2.0**release.bits) ** 2).sum())
            self.entries += out.size
            return out

        monkeypatch.setattr(Release, "noisy", spy)

    def fit(self, present, epsilon, randomness):
        """Return the prices and pushes of one fit."""
        self.present, self.seen, self.squares, self.entries = present, [], 0.0, 0
        purse = open_purse(epsilon, 1e-5, "add/remove")
        fit_anova(ONE, Table(*RECORD), purse, Options(True, False, 0.5), randomness)
        return np.array(self.seen).T

    def bounds(self, n, epsilon=EPSILON):
        """Return m, which was charged, and the lower bound of d from n fits without and n with the record."""
        source, squares, entries, total, charged = SeededRandomness(7), 0.0, 0, 0.0, set()
        for _ in range(n):
            self.fit(False, epsilon, source)
            squares, entries = squares + self.squares, entries + self.entries
            price, z = self.fit(True, epsilon, source)
            charged.add(round(math.sqrt(price.sum()), 9))
            total += float(np.sqrt(price) @ z) / math.sqrt(price.sum())
        (most,) = charged
        noise = math.sqrt(squares / chi2.ppf(ALARM / 2, entries))
        return most, total / n / noise - norm.isf(ALARM / 2) / math.sqrt(n)


def test_whole_fits_are_as_private_as_they_claim_and_hardly_more(few_rounds, monkeypatch):
    charged, least = Auditor(monkeypatch).bounds(40)
    assert 0.9 * charged < least <= charged < float(gdp_mu(EPSILON, 1e-5))


def test_ten_per_cent_less_noise_is_caught_in_whole_fits(few_rounds, monkeypatch):
    draw = accounting.rounded_gaussian

    def weak(bits, n, randomness):
        return np.rint(0.9 * draw(bits, n, randomness)).astype(np.int64)

    monkeypatch.setattr(accounting, "rounded_gaussian", weak)
    charged, least = Auditor(monkeypatch).bounds(40)
    assert least > charged


def test_a_forgotten_residual_clip_is_caught_in_whole_fits(few_rounds, monkeypatch):
    monkeypatch.setattr(rows, "quantised", lambda r, scales, clip: np.rint(r * scales * clip.gain))
    with reference():
        charged, least = Auditor(monkeypatch).bounds(10)
    assert least > 2 * charged


def test_a_forgotten_norm_clip_is_caught_in_whole_fits(few_rounds, monkeypatch):
    monkeypatch.setattr(Products, "scales", lambda self, values: np.full(values.shape[1], 1 << SCALE))
    with reference():
        charged, least = Auditor(monkeypatch).bounds(25)
    assert least > charged


@pytest.mark.parametrize("delta", [1e-5, 0.0])
def test_nothing_but_the_releases_depends_on_records(few_rounds, monkeypatch, delta):
    """With the sums left out of every release, a fit of many records is the fit of none, to the last bit."""
    noisy = Release.noisy
    monkeypatch.setattr(Release, "noisy", lambda release, sums, source: noisy(release, np.zeros_like(sums), source))
    space = FeatureSpace.from_bounds((0, 1), ["a", "b", "kind"], categories={"kind": ["u", "v", "w"]})
    rng = np.random.default_rng(0)
    Z = np.column_stack([rng.random((500, 2)), rng.integers(0, 3, 500)])
    y, found = rng.random((500, 1)), []
    for n in (0, 1, 500):
        purse = open_purse(20.0, delta, "add/remove")
        fitted = fit_anova(space, Table(Z[:n], y[:n] - 0.5), purse, Options(True, False, 0.5), SeededRandomness(4))
        mapped = fitted.feature_map
        masses = [q.mass.tolist() for q in mapped.quantiles.values()]
        found.append((fitted.theta.tolist(), fitted.size, mapped.scale, mapped.basis, masses, purse.spent))
    assert found[0] == found[1] == found[2]
