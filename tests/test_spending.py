"""Every estimator books before it spends, once a fit, and exactly what it then claims."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge

import hedgerow.baselines
from hedgerow import BudgetError, Guarantee, HedgerowError, Ledger, LocalTask, RPWithPrior
from hedgerow.spending import Booking, book
from hedgerow.tasks.tree.tuning import PAPER
from tests.conformance.stopping import Stopped, Stopping

RNG = np.random.default_rng(0)
X, X_PUBLIC = RNG.random((60, 2)), RNG.random((40, 2))
Y, Y_PUBLIC = X[:, 0], X_PUBLIC[:, 0]
PUBLIC = {"X_public": X_PUBLIC, "y_public": Y_PUBLIC}
BOUNDS = {"label_bounds": (0, 1), "feature_bounds": (0, 1)}
CLASSES = {"classes": [0, 1], "feature_bounds": (0, 1)}
FOREST, TREES = {"n_estimators": 2, "max_depth": 1}, {"n_estimators": 2, "max_depth": "auto"}
LOCAL = Guarantee(9, 1e-2, protects="record", trust="local", neighbours="replace")
PARTLY = replace(LOCAL, protects="private features and label")
LABEL = replace(LOCAL, protects="label", neighbours="label")
CENTRAL = replace(LOCAL, trust="central", neighbours="add/remove")
WHOLE = replace(CENTRAL, neighbours="replace")

# name: the limit of its ledger, options, more arguments of fit
PLAIN = {
    "LPDTRegressor": (LOCAL, BOUNDS, {}),
    "AssistedForestRegressor": (LOCAL, {"label_bounds": (0, 1), "public_model": Ridge(), "pilot": 0.5}, PUBLIC),
    "KRRRegressor": (PARTLY, BOUNDS, {"private": [True, False]}),
    "DeconvolutionRegressor": (LOCAL, BOUNDS, {}),
    "DPExtraTreesRegressor": (CENTRAL, BOUNDS | FOREST, {}),
    "LabelTreeRegressor": (LABEL, BOUNDS, {}),
}
# What makes the cost of a fit less plain than its epsilon.
VARIANTS = {
    "LPDTRegressor, public": (LOCAL, {"label_bounds": (0, 1)}, PUBLIC),
    "AssistedForestRegressor, alone": (LOCAL, BOUNDS, {}),
    "DiPriMeForestRegressor, paper": (CENTRAL, BOUNDS | TREES | {"accounting": "paper"}, {}),
    "DiPriMeForestRegressor, paper, leaf": (CENTRAL, BOUNDS | {"accounting": "paper", "max_depth": 0}, {}),
    "DiPriMeForestRegressor, paper, random": (
        CENTRAL, BOUNDS | TREES | {"accounting": "paper", "selection": "random", "partition": False}, {},
    ),
    "DiPriMeForestRegressor, replace": (WHOLE, BOUNDS | TREES | {"neighbours": "replace", "partition": False}, {}),
    "DiPriMeForestRegressor, bounds": (CENTRAL, BOUNDS | TREES | {"feature_bounds": "private"}, {}),
    "DPExtraTreesClassifier, replace": (WHOLE, CLASSES | TREES | {"neighbours": "replace"}, {}),
    "PrivateAnovaRegressor, pure": (CENTRAL, BOUNDS | {"delta": 0.0}, {}),
    "PrivateAnovaRegressor, replace": (WHOLE, BOUNDS | {"neighbours": "replace"}, {}),
    "LabelPrivateRegressor, curator": (
        replace(LABEL, trust="central"),
        {"regressor": LinearRegression(), "mechanism": RPWithPrior(0.7, label_bounds=(0, 1), trust="central")}, {},
    ),
}  # fmt: skip
CASES = PLAIN | VARIANTS
every = pytest.mark.parametrize("case", CASES)


def labels(name):
    return np.arange(60) % 2 if "Classifier" in name else Y


def make(case, **options):
    name = case.split(",")[0]
    limit, settings, extra = CASES[case]
    estimator = getattr(hedgerow, name)(**settings, **options)
    return (lambda: estimator.fit(X, labels(name), **extra)), limit


@every
def test_each_fit_is_booked_once_at_what_it_claims(case):
    limit = CASES[case][0]
    with Ledger(None, limit=limit) as ledger:
        fit, _ = make(case, ledger=ledger)
        model = fit()
        (entry,) = ledger.entries()
        for name in ("epsilon", "delta", "protects", "trust", "neighbours", "simulation"):
            assert getattr(entry.guarantee, name) == getattr(model.guarantee_, name)
        assert entry.charged.epsilon == pytest.approx(model.guarantee_.epsilon, rel=1e-12, abs=1e-6)
        assert not entry.guarantee.simulation


@every
def test_it_is_booked_before_the_first_draw_and_stays_so(case):
    with Ledger(None, limit=CASES[case][0]) as ledger:
        fit, _ = make(case, ledger=ledger, random_state=Stopping())
        for n in (1, 2):  # new noise is another release: no key of the first try makes it free
            with pytest.raises(Stopped):
                fit()
            assert len({entry.key for entry in ledger.entries()}) == len(ledger.entries()) == n


@every
def test_without_budget_nothing_is_drawn(case):
    with Ledger(None, limit=replace(CASES[case][0], epsilon=0.5)) as ledger:
        fit, _ = make(case, ledger=ledger, random_state=Stopping())
        with pytest.raises(BudgetError, match="are left"):
            fit()
        assert ledger.entries() == []


@pytest.mark.parametrize("name", ["LPDTRegressor", "DPExtraTreesRegressor", "LabelTreeRegressor"])
def test_seeds_need_a_rehearsal(name):
    limit = CASES[name][0]
    with Ledger(None, limit=limit) as ledger, pytest.raises(BudgetError, match="seeded"):
        make(name, ledger=ledger, random_state=0)[0]()
    with Ledger(None, limit=replace(limit, simulation=True)) as ledger:
        make(name, ledger=ledger, random_state=0)[0]()
        assert [entry.guarantee.simulation for entry in ledger.entries()] == [True]


@pytest.mark.parametrize("name", ["MedianForestRegressor", "MedianForestClassifier"])
def test_no_ledger_covers_a_forest_without_noise(name):
    options = CLASSES if "Classifier" in name else BOUNDS
    with Ledger(None, limit=CENTRAL) as ledger, pytest.raises(BudgetError, match="infinite"):
        getattr(hedgerow, name)(**options, ledger=ledger).fit(X, labels(name))


def test_clones_share_a_ledger_and_a_path_will_do(tmp_path):
    path = tmp_path / "budget.ledger"
    ledger = Ledger(path, limit=LOCAL)
    for given in (ledger, path, str(path)):
        model = clone(hedgerow.LPDTRegressor(**BOUNDS, ledger=given))
        assert model.get_params()["ledger"] == given
        model.fit(X, Y)
    assert len(ledger.entries()) == 3
    with Ledger(None, limit=LOCAL) as memory:
        clone(hedgerow.LPDTRegressor(**BOUNDS, ledger=memory)).fit(X, Y)
        assert len(memory.entries()) == 1
    with pytest.raises(HedgerowError, match="'ledger' parameter"):
        hedgerow.LPDTRegressor(**BOUNDS, ledger=2.0).fit(X, Y)


def test_wrong_settings_cost_nothing():
    with Ledger(None, limit=LOCAL) as ledger:
        for options in ({"rule": "catr"}, {"response": "loud"}):
            with pytest.raises(HedgerowError):
                hedgerow.LPDTRegressor(**BOUNDS, **options, ledger=ledger).fit(X, Y)
        assert ledger.entries() == []


def test_one_task_is_booked_once_and_another_again():
    tasks = [LocalTask.design(None, None, epsilon=e, features=2, **{**PAPER, **BOUNDS}) for e in (1.0, 1.0, 2.0)]
    with Ledger(None, limit=LOCAL) as ledger:
        for task in tasks:  # the first two ask the same, and were answered once
            book(ledger, task.guarantee, purpose="survey", key=task.id)
        assert [entry.charged.epsilon for entry in ledger.entries()] == [1.0, 2.0]
        assert book(None, tasks[0].guarantee, purpose="survey") is None


@pytest.mark.parametrize("change", [{"epsilon": 1.1}, {"delta": 1e-9}, {"trust": "central"}, {"simulation": True}])
def test_a_claim_that_is_not_what_was_booked_is_an_error(change):
    booking = Booking(None, LOCAL, purpose="a fit")
    booking.check(replace(LOCAL, notes=("a remark",)))
    with pytest.raises(HedgerowError, match=next(iter(change))):
        booking.check(replace(LOCAL, **change))
