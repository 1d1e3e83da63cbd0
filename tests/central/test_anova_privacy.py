"""The sums of a fit: exact, with the sensitivity that is paid for; whole fits stay within their claim."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from hedgerow import PrivateAnovaRegressor
from hedgerow.audit import audit_sampled
from hedgerow.central.anova import recipe, rows
from hedgerow.central.anova.accounting import GaussianPurse, LaplacePurse, open_purse
from hedgerow.central.anova.coded import Table
from hedgerow.central.anova.design import GRID
from hedgerow.central.anova.pure import draw_pure
from hedgerow.central.anova.quantiles import estimate
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.errors import BudgetError
from hedgerow.kernels import reference
from hedgerow.mechanisms.normal import gdp_mu
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c", "kind"], categories={"kind": ["u", "v", "w"]})


def records(n, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.random((n, 3)), rng.integers(0, 3, n)])
    Z[:: max(1, n // 7)] = [0, 1, 0, 2]  # corners
    return Z, rng.random((n, 1)) - 0.5


def test_prices_are_exact_and_a_purse_cannot_be_overspent():
    purse = GaussianPurse(gdp_mu(1.0, 1e-5) ** 2)
    for share, norm, least in [(Fraction(1, 3), 7, 256), (Fraction(1, 1000), GRID**2, 4096)]:
        release = purse.release(share, norm, least)
        assert release.weight >= least
        assert 0.999 * share * purse.total < release.cost <= share * purse.total or least < 4096
        assert release.cost == Fraction(release.weight**2 * norm, 4**release.bits)
    tight = LaplacePurse(Fraction(1)).release(Fraction(1), 1, 1)
    tight.noisy(np.zeros(1, dtype=np.int64), SeededRandomness(0))
    with pytest.raises(BudgetError, match="overspend"):
        tight.noisy(np.zeros(1, dtype=np.int64), SeededRandomness(0))


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("neighbours", ["add/remove", "replace"])
@pytest.mark.parametrize("n", [3, 9000])
def test_a_whole_fit_spends_what_it_has_and_no_more(delta, neighbours, n):
    purse = open_purse(1.0, delta, neighbours)
    Z, y = records(n)
    fit_anova(SPACE, Table(Z, y), purse, Options(True, False, 0.5), SeededRandomness(0))
    whole = (gdp_mu(1.0, 1e-5) ** 2 if delta else Fraction(1)) / ((4 if delta else 2) if neighbours == "replace" else 1)
    assert purse.total == whole
    assert 0.98 * whole < purse.spent <= whole  # what a level of quantiles saves goes to the descents


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_a_summary_says_whether_the_number_of_records_has_noise(delta):
    said = {}
    for neighbours in ("add/remove", "replace"):
        model = PrivateAnovaRegressor(
            1.0, delta=delta, label_bounds=(0, 1), feature_bounds=(0, 1), neighbours=neighbours, random_state=0
        )
        said[neighbours] = " ".join(str(model.fit(np.zeros((321, 1)), np.zeros(321)).summary()).split())
    assert "about 321 (their number is public)" in said["replace"] and "noisy count" not in said["replace"]
    assert "the number of records is told exactly" in said["replace"]
    assert "number of records" not in said["add/remove"]
    assert "about 321" not in said["add/remove"] and "(a noisy count)" in said["add/remove"]


@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_the_number_of_records_is_paid_for_unless_neighbours_have_as_many(delta):
    """A record replaced leaves their number as it is; with one more or less it is a secret that noise covers."""
    kinds = FeatureSpace.from_bounds(None, ["k"], categories={"k": ["u", "v"]})
    table = Table(np.zeros((700, 1)), np.zeros((700, 1)))
    n, finest = table.counts(kinds)
    told = {}
    for neighbours in ("add/remove", "replace"):
        purse = open_purse(1.0, delta, neighbours)
        part = purse.divided(Fraction(1, 2))[0]  # what is public stays so in a part of the budget
        if delta:
            size = estimate(kinds, n, finest, part, Fraction(1, 10), 3, SeededRandomness(0))[1]
        else:
            size = draw_pure(kinds, n, finest, part, SeededRandomness(0))[1]
        told[neighbours] = size, part.spent
    assert told["replace"] == (700.0, 0)
    assert told["add/remove"][0] != 700.0 and told["add/remove"][1] > 0
    Z, y = records(600)
    own = draw_pure if delta == 0 else partial(estimate, share=Fraction(1, 10), levels=3)
    with_numbers = own(
        SPACE, *Table(Z, y).counts(SPACE), open_purse(1.0, delta, "replace"), randomness=SeededRandomness(0)
    )
    assert with_numbers[1] == 600.0


def test_composition_agrees_with_dp_accounting():
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    purse, paid = open_purse(1.0, 1e-5, "add/remove"), []
    charge = purse.charge
    purse.charge = lambda cost: (paid.append(cost), charge(cost))
    fit_anova(SPACE, Table(*records(3000)), purse, Options(True, False, 0.5), SeededRandomness(0))
    accountant = PLDAccountant(accounting.NeighboringRelation.ADD_OR_REMOVE_ONE)
    for cost in set(paid):
        event = accounting.GaussianDpEvent(1 / math.sqrt(cost))
        accountant.compose(accounting.SelfComposedDpEvent(event, paid.count(cost)))
    assert len(paid) > 100 and accountant.get_epsilon(1e-5) == pytest.approx(1.0, abs=0.05)


def test_the_noise_of_a_fit_is_as_wide_as_paid_for():
    """Squares of all the noise in a fit, in units of what was paid for: chi-square, six deviations (2e-9)."""

    def ratio(factor):
        purse, seen = open_purse(1.0, 1e-5, "add/remove"), []
        draw = purse.noise

        def noise(release, n, randomness):
            out = np.rint(factor * draw(release, n, randomness)).astype(np.int64)
            seen.append((out / math.sqrt(release.weight**2 * release.norm or 4**release.bits)).ravel())
            return out

        purse.noise = noise
        fit_anova(SPACE, Table(*records(3000)), purse, Options(True, False, 0.5), SeededRandomness(3))
        squares = np.concatenate(seen) ** 2
        return (squares.mean() - 1) / math.sqrt(2 / squares.size)

    assert abs(ratio(1.0)) < 6
    assert ratio(0.9) < -6  # the planted fault is caught


def test_histograms_count_each_record_once_a_feature():
    Z, _ = records(500)
    Z[::9, 0] = np.nan
    Z[::5, 1] = 1.0  # an atom at the upper end, which is refined
    seen = []

    class Spy(GaussianPurse):
        def noise(self, release, n, randomness):
            seen.append(release)
            return np.zeros(n, dtype=np.int64)

    purse = Spy(Fraction(1))
    quantiles, size = estimate(SPACE, *Table(Z, Z).counts(SPACE), purse, Fraction(1, 2), 3, SeededRandomness(0))
    assert size == 500 and set(quantiles) == {0, 1, 2} and len(seen) >= 2
    assert all(r.cost <= Fraction(1, 6) for r in seen)
    assert quantiles[1].mass.sum() == pytest.approx(500) and quantiles[1].mass[-1] >= 99
    nothing = FeatureSpace.from_bounds(None, ["k"], categories={"k": ["u", "v"]})
    table = Table(np.zeros((70, 1)), np.zeros((70, 1)))
    assert estimate(nothing, *table.counts(nothing), Spy(Fraction(1)), Fraction(1, 10), 3, SeededRandomness(0))[1] == 70


ONE = FeatureSpace.from_bounds((0, 1), ["a"])


def tiny_fit(value, n, randomness):
    """Run tiny whole fits without and with an adversarial record, and return what they say where it is."""
    Z, y = np.array([[0.2], [1.0]]), np.array([[-0.2], [30.0]])  # a label far out of range, not even clipped
    out = []
    for _ in range(n):
        purse = open_purse(1.0, 1e-3, "add/remove")
        fitted = fit_anova(ONE, Table(Z[: 1 + value], y[: 1 + value]), purse, Options(True, False, 0.5), randomness)
        phi = fitted.feature_map.vectors(fitted.feature_map.codes(Z[1:]))
        out.append(float((phi @ fitted.theta)[0, 0]) / GRID)
    return np.array(out)


@pytest.fixture
def few_rounds(monkeypatch):
    monkeypatch.setattr(recipe, "_FEWEST", 4)
    monkeypatch.setattr(recipe, "_MOST", 4)


def test_whole_fits_stay_within_the_claim(few_rounds):
    result = audit_sampled(tiny_fit, 0, 1, epsilon=1.0, delta=1e-3, n=150, randomness=1)
    assert result.verdict == "holds"  # false alarm 1e-6, seeded


def test_a_forgotten_clip_is_caught_in_whole_fits(few_rounds, monkeypatch):
    def unclipped(residuals, scales, clip):
        return np.rint(residuals * scales * clip.gain)

    monkeypatch.setattr(rows, "quantised", unclipped)
    with reference():
        result = audit_sampled(tiny_fit, 0, 1, epsilon=1.0, delta=1e-3, n=150, randomness=1)
    assert result.verdict == "VIOLATED"
