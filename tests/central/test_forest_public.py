"""Forests beside a public model: better than either where there is something to learn, and paid for."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from hedgerow import DiPriMeForestClassifier, DiPriMeForestRegressor, PublicModel
from hedgerow.central.public import NOT_PROTECTED
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.export import formula_of
from hedgerow.export.program import program_of
from hedgerow.export.runtime import evaluate
from hedgerow.tasks.registry import read_model

RNG = np.random.default_rng(0)
X = RNG.random((9000, 3))
Y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + RNG.normal(0, 0.1, 9000)
TEST = RNG.random((1000, 3))
TRUE = np.sin(6 * TEST[:, 0]) + TEST[:, 1] * TEST[:, 2]
PUBLIC = {"X_public": X[:300], "y_public": Y[:300]}
REG = {"label_bounds": (-2, 3), "public_model": Ridge(), "random_state": 0}


@pytest.fixture(scope="module")
def fitted():
    return DiPriMeForestRegressor(1.0, **REG).fit(X[300:], Y[300:], **PUBLIC)


def error(model):
    return float(np.mean((model.predict(TEST) - TRUE) ** 2))


def test_it_is_better_than_the_public_model_and_than_no_public_model(fitted):
    alone = DiPriMeForestRegressor(1.0, label_bounds=(-2, 3), feature_bounds=(0, 1), random_state=0)
    assert error(fitted) < error(alone.fit(X[300:], Y[300:]))
    assert error(fitted) < 0.5 * error(PublicModel(Ridge()).fit(*PUBLIC.values()))


def test_noise_alone_leaves_the_public_model_alone():
    model = DiPriMeForestRegressor(1.0, **REG).fit(X[300:400], Y[300:400], **PUBLIC)
    assert model.model_.public.share < 0.2


@pytest.mark.parametrize("neighbours", ["add/remove", "replace"])
def test_the_claim_is_what_was_asked_for(neighbours):
    model = DiPriMeForestRegressor(2.0, neighbours=neighbours, **REG).fit(X[300:2000], Y[300:2000], **PUBLIC)
    claim = model.guarantee_
    assert claim.epsilon <= 2.0 and claim.epsilon == pytest.approx(2.0) and claim.neighbours == neighbours
    assert NOT_PROTECTED in claim.notes


def test_files_formula_words_and_seeds(fitted):
    again = read_model(fitted.model_.to_json())
    assert again == fitted.model_ and (again.predict(TEST) == fitted.predict(TEST)).all()
    assert np.allclose(np.ravel(evaluate(program_of(formula_of(fitted)), TEST)), fitted.predict(TEST), atol=1e-9)
    assert "public model" in str(fitted.summary()) and fitted.feature_importances_.shape == (3,)
    assert clone(fitted).fit(X[300:], Y[300:], **PUBLIC).model_ == fitted.model_
    low, high = fitted.predict_interval(TEST)
    assert (low <= fitted.predict(TEST)).all() and (fitted.predict(TEST) <= high).all()
    assert [part.name for part in fitted.model_.anatomy().parts] == ["public model", "forest"]


def test_files_that_do_not_fit_are_refused(fitted):
    data = json.loads(fitted.model_.to_json())
    hostile = [{"public": None}, {"radius": 0.0}, {"radius": -1.0}, {"public": {**data["public"], "share": 2.0}}]
    hostile += [{"public": {**data["public"], "models": []}}, {"low": "x"}, {"low": 5.0}]
    for change in hostile:
        with pytest.raises(FormatError):
            type(fitted.model_).from_dict({**data, **change})


@pytest.mark.parametrize("k", [2, 3])
def test_classes(k):
    cuts = [0, 0.7][: k - 1]
    y = np.digitize(Y, cuts)
    options = {"classes": list(range(k)), "public_model": Ridge(), "random_state": 0}
    model = DiPriMeForestClassifier(1.0, **options).fit(X[300:], y[300:], X[:300], y[:300])
    line = DiPriMeForestClassifier(1e-3, **options).fit(X[300:], y[300:], X[:300], y[:300])
    true = np.digitize(TRUE, cuts)
    assert model.score(TEST, true) > line.score(TEST, true)
    assert np.allclose(model.predict_proba(TEST).sum(axis=1), 1)
    assert read_model(model.model_.to_json()) == model.model_
    model.model_.anatomy()


def test_what_does_not_go_together_is_refused():
    for options in ({"accounting": "paper"}, {"feature_bounds": "private"}):
        with pytest.raises(HedgerowError, match="public model"):
            DiPriMeForestRegressor(1.0, **REG, **options).fit(X, Y, **PUBLIC)
    with pytest.raises(HedgerowError, match="X_public"):
        DiPriMeForestRegressor(1.0, **REG).fit(X, Y)
