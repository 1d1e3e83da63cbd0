"""LabelPrivateRegressor: any regressor, one guarantee."""

import math
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from threadpoolctl import threadpool_limits

from hedgerow.errors import BudgetError, HedgerowError, RepeatedFitWarning
from hedgerow.guarantee import Guarantee
from hedgerow.label import LabelPrivateRegressor, LaplaceMechanism, RPWithPrior, RROnBins
from hedgerow.label.boosting import boosting_for
from hedgerow.label.regressor import measure_averaging
from hedgerow.ledger import Ledger

rng = np.random.default_rng(0)
X = rng.random((3000, 4))
Y = 10 * X[:, 0]


@pytest.mark.parametrize(
    "learner",
    [
        LinearRegression(),
        GradientBoostingRegressor(n_estimators=20),
        make_pipeline(StandardScaler(), Ridge()),
        MLPRegressor(hidden_layer_sizes=(16,), max_iter=150, random_state=0),
    ],
    ids=["linear", "boosting", "pipeline", "mlp"],
)
def test_any_regressor_learns(learner):
    model = LabelPrivateRegressor(learner, RPWithPrior(4.0, label_bounds=(0, 10)), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the network stops early
        model.fit(X, Y)
    assert model.score(X, Y) > 0.6
    assert model.guarantee_.epsilon == 4.0 and model.guarantee_.simulation


def test_gradient_boosting_is_the_default():
    with threadpool_limits(1):  # threads that wait for a busy core would take minutes
        model = LabelPrivateRegressor(epsilon=8.0, label_bounds=(0, 10), random_state=0).fit(X[:600], Y[:600])
        assert isinstance(model.regressor_, HistGradientBoostingRegressor) and model.score(X, Y) > 0.5


def test_boosting_does_not_chase_the_noise_of_a_small_budget():
    mechanism = RPWithPrior(1.0, label_bounds=(0, 10))
    with threadpool_limits(1):
        scores = [
            LabelPrivateRegressor(regressor, mechanism, random_state=1).fit(X, Y).score(X, Y)
            for regressor in (None, HistGradientBoostingRegressor(early_stopping=False))
        ]
    assert scores[0] > scores[1] + 0.2  # 0.35 to 0.48 apart over six seeds
    assert boosting_for(1000, math.inf).max_leaf_nodes == 31
    for n in (1, 10, 10_000_000):
        for epsilon in (1e-6, 1.0, 1e6):
            assert 8 <= boosting_for(n, epsilon).max_leaf_nodes <= 31


def test_the_features_alone_decide_the_averaging():
    linear = measure_averaging(LinearRegression(), X, (0, 10))
    trees = measure_averaging(GradientBoostingRegressor(n_estimators=50), X, (0, 10))
    assert trees < linear <= len(X)
    one = LabelPrivateRegressor(LinearRegression(), RPWithPrior(1.0, label_bounds=(0, 10)), random_state=0)
    assert one._averaging(X, len(X), {}) == linear


def test_auto_works_and_needs_bounds():
    model = LabelPrivateRegressor(LinearRegression(), epsilon=2.0, label_bounds=(0, 10), random_state=1).fit(X, Y)
    assert model.guarantee_.epsilon == 2.0 and model.score(X, Y) > 0.5
    with pytest.raises(ValueError, match="label_bounds"):
        LabelPrivateRegressor(LinearRegression()).fit(X, Y)


def test_weights_reach_the_regressor():
    weight = np.where(np.arange(len(X)) < 1500, 1e-9, 1.0)
    y = np.where(np.arange(len(X)) < 1500, 0.0, 10.0)
    model = LabelPrivateRegressor(LinearRegression(), LaplaceMechanism(8.0, label_bounds=(0, 10)), random_state=0)
    assert model.fit(X, y, sample_weight=weight).predict(X).mean() > 9
    shaped = LabelPrivateRegressor(LinearRegression(), RROnBins(8.0, label_bounds=(0, 10)), random_state=0)
    assert shaped.fit(X, y, sample_weight=weight).predict(X).mean() > 8


def test_several_outputs_split_the_budget():
    both = np.column_stack([Y, -X[:, 1]])
    model = LabelPrivateRegressor(
        LinearRegression(), RPWithPrior(6.0, label_bounds=(0, 10)), label_bounds=[(0, 10), (-1, 0)], random_state=0
    ).fit(X, both)
    assert model.predict(X).shape == both.shape and model.score(X, both) > 0.5
    assert model.guarantee_.epsilon == 6.0 and any("2 outputs" in note for note in model.guarantee_.notes)
    assert [r.guarantee.epsilon for r in model.releases_] == [3.0, 3.0]


def test_shrinkage_helps_at_a_small_budget_and_inverse_removes_bias():
    def error(debias, epsilon):
        mechanism = RPWithPrior(epsilon, label_bounds=(0, 10))
        model = LabelPrivateRegressor(LinearRegression(), mechanism, debias=debias, random_state=3).fit(X, Y)
        return np.mean((model.predict(X) - Y) ** 2)

    assert error("shrink", 2.0) < error("none", 2.0)
    assert error("shrink", 0.05) < error("inverse", 0.05)


def test_prior_and_labels_are_booked_as_one(tmp_path):
    limit = Guarantee(1.0, protects="label", trust="central", neighbours="label")
    ledger = Ledger(tmp_path / "ledger.db", limit=limit)
    mechanism = RPWithPrior(0.8, label_bounds=(0, 10), trust="central")
    model = LabelPrivateRegressor(LinearRegression(), mechanism, ledger=ledger)
    model.fit(X, Y)
    assert [(entry.purpose, entry.guarantee.epsilon) for entry in ledger.entries()] == [("LabelPrivateRegressor", 0.8)]
    with pytest.raises(BudgetError):
        clone(model).fit(X, Y)


def test_disjoint_holders_are_booked_once(tmp_path):
    limit = Guarantee(1.0, protects="label", trust="local", neighbours="label")
    ledger = Ledger(tmp_path / "ledger.db", limit=limit)
    mechanism = RPWithPrior(0.8, label_bounds=(0, 10))
    LabelPrivateRegressor(LinearRegression(), mechanism, ledger=ledger).fit(X, Y)
    assert [(entry.purpose, entry.guarantee.epsilon) for entry in ledger.entries()] == [("LabelPrivateRegressor", 0.8)]


def test_by_default_the_label_is_for_nobody():
    for options in ({"mechanism": RPWithPrior(1.0, label_bounds=(0, 10))}, {"epsilon": 1.0, "label_bounds": (0, 10)}):
        model = LabelPrivateRegressor(LinearRegression(), random_state=0, **options).fit(X, Y)
        assert model.guarantee_.trust == "local" and model.guarantee_.epsilon == 1.0
        assert "the curator included" in str(model.guarantee_)
    both = np.column_stack([Y, Y])
    curator = LabelPrivateRegressor(Ridge(), RPWithPrior(1.0, label_bounds=(0, 10), trust="central"), random_state=0)
    assert curator.fit(X, both).guarantee_.trust == "central"


def test_infinite_epsilon_is_the_regressor_itself():
    model = LabelPrivateRegressor(
        LinearRegression(), RPWithPrior(math.inf, label_bounds=(0, 10)), random_state=0, debias="none"
    ).fit(X, Y)
    assert np.abs(model.predict(X) - LinearRegression().fit(X, Y).predict(X)).max() < 0.01
    assert model.guarantee_.epsilon == math.inf


def test_predictions_are_clipped_and_cross_validated():
    model = LabelPrivateRegressor(LinearRegression(), LaplaceMechanism(0.05, label_bounds=(0, 10)), random_state=0)
    assert model.fit(X, Y).predict(100 * X - 50).min() >= 0
    model.set_params(mechanism=LaplaceMechanism(8.0, label_bounds=(0, 10)))
    with pytest.warns(RepeatedFitWarning, match="LabelPrivateRegressor"):
        scores = cross_val_score(model, X, Y, cv=3)
    assert scores.min() > 0.5


def test_bad_arguments_are_named():
    with pytest.raises(HedgerowError, match="'debias' parameter"):
        LabelPrivateRegressor(debias="magic").fit(X, Y)
    with pytest.raises(HedgerowError, match="'mechanism' parameter"):
        LabelPrivateRegressor(mechanism="laplace").fit(X, Y)
    with pytest.raises(HedgerowError, match="'averaging'"):
        LabelPrivateRegressor(Ridge(), label_bounds=(0, 1), averaging="lots").fit(X, Y)


def test_scikit_learn_conventions():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LabelPrivateRegressor(Ridge(), LaplaceMechanism(1.0, label_bounds=(-300, 300)), random_state=0)
        check_estimator(model)
