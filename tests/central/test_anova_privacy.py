"""The sums of a fit: exact, with the sensitivity that is paid for; whole fits stay within their claim."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_sampled
from hedgerow.central.anova import descent, recipe
from hedgerow.central.anova.accounting import GaussianPurse, LaplacePurse, open_purse
from hedgerow.central.anova.basis import choose
from hedgerow.central.anova.design import GRID, FeatureMap, Rows
from hedgerow.central.anova.quantiles import Quantiles, estimate
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.errors import BudgetError
from hedgerow.mechanisms.normal import gdp_mu
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c", "kind"], categories={"kind": ["u", "v", "w"]})


def records(n, seed=0):
    rng = np.random.default_rng(seed)
    Z = np.column_stack([rng.random((n, 3)), rng.integers(0, 3, n)])
    Z[:: max(1, n // 7)] = [0, 1, 0, 2]  # corners
    return Z, rng.random((n, 1)) - 0.5


def feature_map(most=math.inf, scale=None):
    options = {"frequency": 8, "pair_complexity": 9.0, "least": 0.0, "most": 300, "missing": True}
    basis = choose(SPACE, [3.0, 1.0, 0.2, 1.0], pair_weight=0.5, **options)
    flat = Quantiles(np.linspace(0, 1, 5), np.array([4.0, 1.0, 0.0, 2.0]))
    return FeatureMap(SPACE, {0: flat, 1: flat, 2: flat}, basis, scale or 0.8 * basis.root_mean_square(), most)


@pytest.mark.parametrize("most", [math.inf, 2.5])
@pytest.mark.parametrize("scale", [None, 0.05])
def test_vectors_are_whole_and_bounded_in_integers(most, scale):
    mapped = feature_map(most, scale)
    Z, _ = records(2000)
    Z[5, :2] = np.nan
    vectors = mapped.vectors(mapped.codes(Z)).astype(np.int64)
    assert (vectors == mapped.vectors(mapped.codes(Z))).all()
    assert max(sum(int(v) ** 2 for v in row) for row in vectors) <= GRID**2
    if most < math.inf:
        assert max(sum(abs(int(v)) for v in row) for row in vectors) <= mapped.l1_bound
    else:  # the budget is used: some record is as long as allowed, but for rounding
        assert (vectors**2).sum(axis=1).max() > 0.98 * GRID**2


def test_vectors_that_break_the_bound_are_dropped():
    mapped = feature_map()
    assert (mapped._enforce(np.array([[GRID, 1.0], [GRID, 0.0]])) == [[0, 0], [GRID, 0]]).all()


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("order", [1, 2])
def test_one_record_more_changes_the_sum_by_its_own_term_exactly(outputs, order):
    mapped = feature_map(2.5 if order == 1 else math.inf)
    Z, _ = records(301)
    rng = np.random.default_rng(1)
    targets = np.rint((rng.random((301, outputs)) - 0.5) * descent.UNIT)
    at = np.rint(rng.normal(0, 3, (len(mapped.basis), outputs)) * (1 << 24))
    codes = mapped.codes(Z)

    def total(rows):
        return descent._gradient(Rows(mapped, codes[rows]), targets[rows], at, 0.1, 5000, order)

    whole = total(np.arange(301))
    bound = 5000 * (GRID if order == 2 else mapped.l1_bound)
    for out in (0, 17, 300):
        rest = np.delete(np.arange(301), out)
        change = whole - total(rng.permutation(rest))
        assert (change == total(np.array([out]))).all()
        values = [int(v) for v in change.ravel()]
        assert sum(v * v for v in values) <= bound**2 if order == 2 else sum(map(abs, values)) <= bound


def test_residual_levels_are_bounded_in_integers():
    rng = np.random.default_rng(0)
    residuals = rng.normal(0, 1, (5000, 4)) * 10.0 ** rng.integers(-3, 6, (5000, 1))
    for order in (1, 2):
        q = descent.quantised(residuals, 1.0, 4099, order).astype(np.int64)
        assert (np.abs(q) ** order).sum(axis=1).max() <= 4099**order
    q = descent.quantised(np.array([[np.nextafter(1, 2)], [-1e300]]), 1.0, 4099, 2)
    assert q.ravel().tolist() == [4099, -4099]


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
    fit_anova(SPACE, Z, y, purse, Options(True, False, 0.5), SeededRandomness(0))
    whole = (gdp_mu(1.0, 1e-5) ** 2 if delta else Fraction(1)) / ((4 if delta else 2) if neighbours == "replace" else 1)
    assert purse.total == whole
    assert 0.92 * whole < purse.spent <= whole  # a level of quantiles without heavy bins is saved


def test_composition_agrees_with_dp_accounting():
    accounting = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant

    purse, paid = open_purse(1.0, 1e-5, "add/remove"), []
    charge = purse.charge
    purse.charge = lambda cost: (paid.append(cost), charge(cost))
    fit_anova(SPACE, *records(3000), purse, Options(True, False, 0.5), SeededRandomness(0))
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
        fit_anova(SPACE, *records(3000), purse, Options(True, False, 0.5), SeededRandomness(3))
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
    quantiles, size = estimate(SPACE, Z, purse, Fraction(1, 2), 3, SeededRandomness(0))
    assert size == 500 and set(quantiles) == {0, 1, 2} and len(seen) >= 2
    assert all(r.cost <= Fraction(1, 6) for r in seen)
    assert quantiles[1].mass.sum() == pytest.approx(500) and quantiles[1].mass[-1] >= 99
    nothing = FeatureSpace.from_bounds(None, ["k"], categories={"k": ["u", "v"]})
    assert estimate(nothing, np.zeros((70, 1)), Spy(Fraction(1)), Fraction(1, 10), 3, SeededRandomness(0))[1] == 70


ONE = FeatureSpace.from_bounds((0, 1), ["a"])


def tiny_fit(value, n, randomness):
    """Run tiny whole fits without and with an adversarial record, and return what they say where it is."""
    Z, y = np.array([[0.2], [1.0]]), np.array([[-0.2], [30.0]])  # a label far out of range, not even clipped
    out = []
    for _ in range(n):
        purse = open_purse(1.0, 1e-3, "add/remove")
        fitted = fit_anova(ONE, Z[: 1 + value], y[: 1 + value], purse, Options(True, False, 0.5), randomness)
        phi = fitted.feature_map.vectors(fitted.feature_map.codes(Z[1:]))
        out.append(float((phi @ fitted.theta)[0, 0]) / GRID)
    return np.array(out)


@pytest.fixture
def few_rounds(monkeypatch):
    monkeypatch.setattr(recipe, "_FEWEST", 4)
    monkeypatch.setattr(recipe, "_MOST", 4)


def test_whole_fits_stay_within_the_claim(few_rounds):
    result = audit_sampled(tiny_fit, 0, 1, epsilon=1.0, delta=1e-3, n=400, randomness=1)
    assert result.verdict == "holds"  # false alarm 1e-6, seeded


def test_a_forgotten_clip_is_caught_in_whole_fits(few_rounds, monkeypatch):
    def unclipped(residuals, clip, levels, order):
        return np.rint(residuals * levels / clip)

    monkeypatch.setattr(descent, "quantised", unclipped)
    result = audit_sampled(tiny_fit, 0, 1, epsilon=1.0, delta=1e-3, n=400, randomness=1)
    assert result.verdict == "VIOLATED"
