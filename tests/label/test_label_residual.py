"""Label privacy on top of a public model."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from hedgerow import LabelPrivateRegressor, LaplaceMechanism, Ledger, PublicModel
from hedgerow.errors import BudgetError, HedgerowError
from hedgerow.label import residual


def make(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 3))
    return X, 3 * X[:, 0] + 2 * (X[:, 1] > 0.6) + 0.3 * rng.normal(size=n)


@pytest.fixture(scope="module")
def base():
    return PublicModel(Ridge(), random_state=0).fit(*make(300, 0))


@pytest.mark.parametrize("regressor", [None, DecisionTreeRegressor(max_leaf_nodes=4, min_samples_leaf=500)])
def test_gain_over_the_public_model(base, regressor):
    X_test, y_test = make(3000, 2)
    model = LabelPrivateRegressor(regressor, epsilon=1.0, label_bounds=(-2, 7), public_model=base, random_state=0)
    model.fit(*make(15_000, 1))
    error, public = (np.mean((f(X_test) - y_test) ** 2) for f in (model.predict, base.predict))
    assert error < 0.5 * public
    assert model.guarantee_.epsilon == 1.0 and model.guarantee_.protects == "label" and model.guarantee_.simulation


def test_no_evidence_leaves_the_public_model_alone():
    """A public model that is right: at most one percent worse in every one of five runs."""
    rng = np.random.default_rng(0)
    X = rng.random((4000, 3))
    y = 3 * X[:, 0] + rng.normal(size=4000)
    base = PublicModel(Ridge(), random_state=0).fit(X[:500], y[:500])
    public = np.mean((base.predict(X[2000:]) - y[2000:]) ** 2)
    for seed in range(5):
        model = LabelPrivateRegressor(epsilon=0.5, label_bounds=(-4, 7), public_model=base, random_state=seed)
        model.fit(X[500:2000], y[500:2000])
        assert np.mean((model.predict(X[2000:]) - y[2000:]) ** 2) < 1.01 * public


def test_few_holders_hardly_move_a_public_model_that_is_right():
    """300 holders at epsilon 0.5, forty draws of the noise: at most four move it, by two percent on average."""
    rng = np.random.default_rng(1)
    X = rng.random((2800, 3))
    y = 3 * X[:, 0] + rng.normal(size=2800)
    base = PublicModel(Ridge(), random_state=0).fit(X[:500], y[:500])
    public, errors = np.mean((base.predict(X[800:]) - y[800:]) ** 2), []
    tree = DecisionTreeRegressor(max_leaf_nodes=4, min_samples_leaf=50, random_state=0)
    for seed in range(40):
        model = LabelPrivateRegressor(tree, epsilon=0.5, label_bounds=(-4, 7), public_model=base, random_state=seed)
        errors.append(np.mean((model.fit(X[500:800], y[500:800]).predict(X[800:]) - y[800:]) ** 2) / public)
    assert np.mean(errors) < 1.02 and sum(e == 1 for e in errors) >= 36


def test_clear_signal_passes_nearly_whole(base, monkeypatch):
    X, y = make(15_000, 1)
    X_test = make(1000, 2)[0]
    tree, corrections = DecisionTreeRegressor(max_leaf_nodes=4, min_samples_leaf=500), []
    for _ in range(2):
        model = LabelPrivateRegressor(tree, epsilon=4.0, label_bounds=(-2, 7), public_model=base, random_state=0)
        model.fit(X, y)
        corrections.append(np.std(model.predict(X_test) - base.predict(X_test)))
        monkeypatch.setattr(residual, "safe_scale", lambda *given: 1.0)
    assert 0.97 * corrections[1] < corrections[0] < 1.0001 * corrections[1]


def test_many_reports_get_a_forest_and_shrunk_boosting_as_well():
    few, many = ([type(m).__name__ for m in residual.learners_for(n, 5.0)] for n in (10_000, 10_001))
    assert many == [*few, "ExtraTreesRegressor", *["HistGradientBoostingRegressor"] * 2]
    assert [m.l2_regularization for m in residual.learners_for(30_000, 5.0)[-2:]] == [1000, 10_000]


def test_any_fitted_model_with_residuals_serves(base):
    class Mine:
        residuals_ = np.array([-1.0, 0.5, 1.0])

        def predict(self, X):
            return np.zeros(len(X))

    X, y = make(2000, 1)
    model = LabelPrivateRegressor(Ridge(), epsilon=4.0, label_bounds=(-2, 7), public_model=Mine(), random_state=0).fit(
        X, y
    )
    assert np.isfinite(model.predict(X)).all() and model.predict(X).max() <= 7


def test_spends_are_booked_before_they_happen(base):
    ledger = Ledger(None, limit=0.5)
    with pytest.raises(BudgetError):
        LabelPrivateRegressor(epsilon=1.0, label_bounds=(-2, 7), public_model=base, ledger=ledger).fit(*make(50, 1))


def test_few_reports_are_not_learnt_from(base):
    model = LabelPrivateRegressor(epsilon=1.0, label_bounds=(-9, 9), public_model=base, random_state=0).fit(
        *make(20, 1)
    )
    assert np.allclose(model.predict(make(9, 3)[0]), base.predict(make(9, 3)[0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"public_model": Ridge()}, "'X_public' and 'y_public' are required with public_model="),
        ({"label_bounds": None}, "label_bounds"),
        ({"mechanism": "laplace"}, "'mechanism' parameter of LabelPrivateRegressor must be"),
        ({"mechanism": LaplaceMechanism(1.0, label_bounds=(-2, 7))}, "mechanism='auto'"),
        ({"epsilon": -1.0}, "epsilon"),
    ],
)
def test_what_cannot_work_is_refused(base, options, message):
    model = LabelPrivateRegressor(**{"epsilon": 1.0, "label_bounds": (-2, 7), "public_model": base, **options})
    with pytest.raises(HedgerowError, match=message):
        model.fit(*make(50, 1))
