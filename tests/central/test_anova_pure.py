"""Fits with pure epsilon: choices priced by what a record can move, plans by their noise, and nothing left unspent."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import PrivateAnovaClassifier, PrivateAnovaRegressor
from hedgerow.central.anova import pick as picking
from hedgerow.central.anova.accounting import LaplacePurse
from hedgerow.central.anova.coded import Table
from hedgerow.central.anova.descent import Steps, noise_variance, remains
from hedgerow.central.anova.pick import MOVES, pick, scores
from hedgerow.central.anova.pure import draw_pure
from hedgerow.central.anova.pure_plan import PURE_RULES, Situation, make_plan, responses
from hedgerow.central.anova.quantiles import count, count_deviation, estimate_known
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.mechanisms.selection import PermuteAndFlip
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c", "kind"], categories={"kind": ["u", "v"]})


def flat(space, purse=None):
    finest = Table(np.zeros((0, len(space))), np.zeros((0, 1))).counts(space)[1]
    return estimate_known(space, finest, 100.0, purse or LaplacePurse(Fraction(1)), Fraction(0), 2, SeededRandomness(0))


def wide(d):
    return FeatureSpace.from_bounds((0, 1), [f"x{j}" for j in range(d)])


def situation(space, **changes):
    known = {"size": 2000.0, "epsilon": 1.0, "share": 0.7, "clip": 0.4, "outputs": 1}
    return Situation(space, flat(space), False, True, **{**known, **changes})


@pytest.mark.parametrize("outputs", [1, 3])
def test_a_record_moves_no_cost_by_more_than_is_paid_for(outputs):
    """Costs with a record more, and what all records may add to each, differ by 0 to MOVES: exactly, in whole numbers.

    Extreme records reach both ends, so that half the price is a fault that is seen here.
    """
    rng = np.random.default_rng(0)
    quantiles = flat(SPACE)
    mean = np.zeros(outputs)
    Z = np.column_stack([rng.random((40, 3)), rng.integers(0, 2, 40)])
    y = rng.normal(0, 3, (40, outputs))
    base = scores(SPACE, quantiles, Table(Z, y).coded(SPACE, quantiles), mean, 0.5)
    rises = []
    for corner in ([1, 0, 0.5, 1], [0, 1, 0, 0], [1, 1, 1, 1], [0.5, 0.5, 0.5, 0]):
        for label in (-30.0, 0.0, 30.0):
            more = Table(np.vstack([Z, [corner]]), np.vstack([y, np.full((1, outputs), label)]))
            now = scores(SPACE, quantiles, more.coded(SPACE, quantiles), mean, 0.5)
            rises.append(MOVES // 2 - (now - base))
    assert np.min(rises) >= 0 and np.max(rises) <= MOVES
    assert outputs > 1 or np.max(rises) - np.min(rises) > 0.97 * MOVES  # were MOVES half as large, this would break it


def test_the_law_of_a_choice_is_within_its_price_for_neighbours():
    """Exact laws of one choice, without and with a record that pulls two features apart as far as it can."""
    space = wide(2)
    quantiles = flat(space)
    Z = np.array([[1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    y = np.array([[1.0], [-1.0], [-1.0]])
    epsilon = Fraction(1)
    found = []
    for n in (1, 2, 3):
        rows = Table(Z[:n], y[:n]).coded(space, quantiles)
        cost = -scores(space, quantiles, rows, np.zeros(1), 0.5)
        scale = 10**4  # laws of large costs are long lists: in coarser units, rounding adds two to a difference
        coarse = PermuteAndFlip(epsilon, MOVES // scale + 2)
        found.append(coarse.law([int(c) // scale for c in cost]))
    both = [[float(law.probability(j)) for j in (0, 1)] for law in found]
    losses = np.abs(np.diff(np.log(both), axis=0))
    assert 0.97 < losses.max() <= 1.0


def test_choices_are_charged_before_they_are_drawn_and_never_repeat():
    purse = LaplacePurse(Fraction(3))
    chosen = pick(np.zeros(6, dtype=np.int64), 5, Fraction(1, 4), purse, SeededRandomness(0))
    assert purse.spent == Fraction(3, 4) and len(set(chosen)) == 5


def test_each_choice_pays_a_kth_of_the_share(monkeypatch):
    seen = []

    class Spy(PermuteAndFlip):
        def choose(self, costs, valid=None, randomness=None):
            seen.append((self.epsilon, self.sensitivity))
            return super().choose(costs, valid, randomness)

    monkeypatch.setattr(picking, "PermuteAndFlip", Spy)
    pick(np.arange(4), 2, Fraction(1, 2), LaplacePurse(Fraction(1)), SeededRandomness(0))
    assert seen == [(Fraction(1, 4), 2 * 129 * 127**2)] * 2


def test_nothing_but_releases_and_choices_depends_on_records(monkeypatch):
    """With sums left out of releases and scores out of choices, a fit of many records is the fit of none."""
    from hedgerow.central.anova import pure
    from hedgerow.central.anova.accounting import Release

    noisy = Release.noisy
    choose = PermuteAndFlip.choose
    chosen = []

    def blind(release, sums, source):
        records = 5000 * release.weight if sums.size == 1 and release.norm == release.weight else 0
        return noisy(release, np.full_like(sums, records), source)

    def guess(self, costs, valid=None, randomness=None):
        chosen.append(costs.size)
        return choose(self, np.zeros_like(costs), valid, randomness)

    monkeypatch.setattr(Release, "noisy", blind)
    monkeypatch.setattr(PermuteAndFlip, "choose", guess)
    space = wide(30)
    rng = np.random.default_rng(0)
    Z = rng.random((500, 30))
    found = []
    for n in (0, 1, 500):
        purse = LaplacePurse(Fraction(1))
        fitted = fit_anova(space, Table(Z[:n], Z[:n, :1] - 0.5), purse, Options(True, False, 0.5), SeededRandomness(4))
        found.append((fitted.theta.tolist(), fitted.size, fitted.feature_map.basis, purse.spent))
    assert chosen and pure.pick is pick
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize(("n", "epsilon"), [(20, 0.1), (300, 1.0), (4000, 10.0)])
@pytest.mark.parametrize("d", [2, 40])
def test_a_fit_spends_what_it_has_and_no_more(n, epsilon, d):
    rng = np.random.default_rng(0)
    Z = rng.random((n, d))
    purse = LaplacePurse(Fraction(epsilon))
    fit_anova(wide(d), Table(Z, Z[:, :1] - 0.5), purse, Options(True, False, 0.5), SeededRandomness(0))
    assert 0.99 < purse.spent / Fraction(epsilon) <= 1


def test_plans_of_many_descents_are_those_of_one():
    energy = np.array([1.0, 0.2, 0.003])
    for rounds, rate, momentum in ((1, 0.5, 0.0), (8, 1.0, 0.6), (24, 0.3, 0.0)):
        steps = Steps(rounds, rate, momentum, Fraction(1), Fraction(0), 50.0)
        gain, left = responses(rounds, np.full(3, rate), np.full(3, momentum), energy)
        assert gain / 50.0**2 == pytest.approx(noise_variance(steps, [1.0] * rounds, energy))
        assert left == pytest.approx(remains(steps, energy, rounds))


def test_more_signal_is_worth_more_functions_and_rounds_and_none_is_worth_the_mean_only():
    space = wide(8)
    plans = [make_plan(situation(space, epsilon=epsilon), PURE_RULES) for epsilon in (0.001, 0.1, 1.0, 100.0)]
    assert plans[0].capacity is None
    errors = [plan.error for plan in plans]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.2 * errors[0]
    assert plans[1].rounds < plans[2].rounds < plans[3].rounds
    assert plans[3].capacity.pairs > 0
    additive = make_plan(replace(situation(space, epsilon=100.0), interactions=False), PURE_RULES)
    assert additive.capacity.pairs == 0


def test_features_are_chosen_where_there_are_many_and_never_without_noise():
    many = situation(wide(60))
    assert make_plan(many, PURE_RULES).picked is not None
    assert make_plan(situation(wide(2)), PURE_RULES).picked is None
    assert make_plan(replace(many, epsilon=1e9, noiseless=True), PURE_RULES).picked is None


def test_one_feature_of_many_is_found():
    """One of 60 features carries the label: a fit of all has little of it, a choice finds it (seeded)."""
    rng = np.random.default_rng(0)
    X = rng.random((3000, 60))
    y = (X[:, 17] > 0.5) * 0.8 + 0.1
    model = PrivateAnovaRegressor(1.0, delta=0.0, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=0).fit(X, y)
    assert np.argmax(model.feature_importances_) == 17
    assert np.mean((model.predict(X) - y) ** 2) < 0.5 * np.var(y)


def test_few_records_are_counted_twice_and_flat_features_cost_nothing():
    space = wide(3)
    rng = np.random.default_rng(0)
    spent = []
    for n in (50, 5000):
        table = Table(rng.random((n, 3)), np.zeros((n, 1)))
        purse = LaplacePurse(Fraction(1))
        quantiles, size = draw_pure(space, *table.counts(space), purse, SeededRandomness(0))
        spent.append(purse.spent)
        assert abs(size - n) < 200
        assert (n == 5000) == any(np.ptp(q.mass) > 0 for q in quantiles.values())
    assert spent[0] == Fraction(19, 100)  # two counts, no quantiles
    assert spent[1] in (Fraction(9, 100), Fraction(14, 100))  # one count, and one or two levels


def test_quantiles_are_priced_by_the_number_of_features(monkeypatch):
    """Noise of one level of d features is d times as wide as that of one."""
    seen = []
    release = LaplacePurse.release

    def spy(purse, share, norm, least):
        seen.append(norm)
        return release(purse, share, norm, least)

    monkeypatch.setattr(LaplacePurse, "release", spy)
    table = Table(np.random.default_rng(0).random((300, 7)), np.zeros((300, 1)))
    finest = table.counts(wide(7))[1]
    estimate_known(wide(7), finest, 300.0, LaplacePurse(Fraction(1)), Fraction(1, 10), 2, SeededRandomness(0))
    assert seen == [7]


def test_the_doubt_in_a_count_is_its_deviation():
    """400 noisy numbers: their deviation is known to 5.6 % (Laplace noise), six of which are 34 % (2e-9)."""
    source = SeededRandomness(0)
    sizes = [count(5000, LaplacePurse(Fraction(1)), Fraction(1, 25), source) for _ in range(400)]
    assert np.std(sizes) == pytest.approx(count_deviation(LaplacePurse(Fraction(1)), Fraction(1, 25)), rel=0.34)


def test_noise_alone_leaves_quantiles_nearly_flat_and_a_heavy_bin_stays():
    space = wide(1)
    rng = np.random.default_rng(0)
    noisy, heavy = [], []
    for Z, out in ((rng.random((2000, 1)), noisy), (np.full((2000, 1), 0.1), heavy)):
        for seed in range(10):
            purse = LaplacePurse(Fraction(1, 2))
            finest = Table(Z, Z).counts(space)[1]
            found = estimate_known(space, finest, 2000.0, purse, Fraction(1, 10), 1, SeededRandomness(seed))
            out.append(np.abs(np.cumsum(found[0].mass) / 2000 - np.arange(1, 33) / 32).max())
    assert np.mean(noisy) < 0.08  # without shrinking it is .15
    assert np.mean(heavy) > 0.7


@pytest.mark.parametrize("interactions", [True, False])
def test_a_model_of_the_mean_only_is_a_model(interactions):
    X = np.random.default_rng(0).random((30, 3))
    options = {"delta": 0.0, "feature_bounds": (0, 1), "random_state": 0, "interactions": interactions}
    model = PrivateAnovaRegressor(0.01, label_bounds=(0, 1), **options).fit(X, X[:, 0])
    assert len(model.model_.feature_map.basis) == 1 and np.ptp(model.predict(X)) == 0
    assert model.explain() is not None and model.model_.summary() is not None
    assert model.feature_importances_.shape == (3,)
    again = type(model.model_).from_json(model.model_.to_json())
    assert np.array_equal(again.predict(X), model.model_.predict(X))
    low, high = model.predict_noise_interval(X) if hasattr(model, "predict_noise_interval") else (0, 1)
    assert np.all(np.asarray(low) <= np.asarray(high))
    classes = PrivateAnovaClassifier(0.01, classes=["a", "b", "c"], **options).fit(X, np.array(["a"] * 30))
    assert classes.predict_proba(X).shape == (30, 3)
