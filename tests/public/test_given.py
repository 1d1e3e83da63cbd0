"""What ``public_model=`` may be, and what becomes of it."""

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostRegressor
from sklearn.linear_model import Ridge
from sklearn.utils.validation import check_is_fitted

from hedgerow import AssistedForestRegressor, HedgerowError, HistOfTreeRegressor, LabelPrivateRegressor, PublicModel
from hedgerow.public.given import fit_public_model

RNG = np.random.default_rng(0)
X = RNG.random((120, 2))
Y = X[:, 0] + RNG.normal(0, 0.1, 120)
ESTIMATORS = {
    "AssistedForestRegressor": AssistedForestRegressor(4.0, label_bounds=(-1, 2), n_trees=1, random_state=0),
    "HistOfTreeRegressor": HistOfTreeRegressor(4.0, label_bounds=(-1, 2), max_depth=1, random_state=0),
    "LabelPrivateRegressor": LabelPrivateRegressor(epsilon=4.0, label_bounds=(-1, 2), random_state=0),
}
every = pytest.mark.parametrize("name", ESTIMATORS)


def given(public_model, X_public=X, y_public=Y):
    return fit_public_model(public_model, X_public, y_public, random_state=0)


def test_a_fitted_public_model_is_used_as_it_is():
    model = PublicModel(Ridge(), random_state=1).fit(X, Y)
    assert given(model, None, None) is model


def test_other_regressors_are_fitted_again_for_honest_errors():
    fitted = Ridge().fit(X, 100 * Y)
    model = given(fitted)
    assert np.abs(model.residuals_).max() < 1
    assert given(PublicModel(Ridge(), random_state=1)).regressor.alpha == 1.0


def test_the_callers_model_is_left_as_it_was():
    unfitted = PublicModel(Ridge())
    given(unfitted)
    assert not hasattr(unfitted, "residuals_")


def test_a_regressor_without_a_portable_form_is_distilled(small_models):
    model = given(AdaBoostRegressor(n_estimators=5, random_state=0))
    assert model.compact and model.portable_.n_bytes <= 200_000
    check_is_fitted(model)


@pytest.mark.parametrize("wrong", ["best", 3, object()])
def test_anything_else_is_refused(wrong):
    with pytest.raises(HedgerowError, match="The 'public_model' parameter must be"):
        given(wrong)


@every
def test_estimators_fit_it_on_public_rows(name):
    estimator = ESTIMATORS[name].set_params(public_model=Ridge())
    model = estimator.fit(X, Y, X_public=X, y_public=Y)
    assert np.mean((model.predict(X) - Y) ** 2) < np.var(Y)


@every
def test_a_regressor_needs_public_rows_and_public_rows_a_model(name):
    with pytest.raises(HedgerowError, match="'X_public' and 'y_public' are required"):
        ESTIMATORS[name].set_params(public_model=Ridge()).fit(X, Y)
    with pytest.raises(HedgerowError, match="pass public_model='auto', or leave 'X_public' out"):
        ESTIMATORS[name].set_params(public_model=None).fit(X, Y, X_public=X, y_public=Y)
