"""The estimators: guarantees, inputs, explanations, JSON; nothing private in what is released."""

import copy
import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import AnovaModel, PrivateAnovaClassifier, PrivateAnovaRegressor
from hedgerow.classes import OBSERVED
from hedgerow.errors import BoundsError, FormatError, HedgerowError

RNG = np.random.default_rng(0)
X = RNG.random((3000, 3))
Y = np.sin(4 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + RNG.normal(0, 0.1, 3000)
REG = {"label_bounds": (-1, 3), "feature_bounds": (0, 1), "random_state": 0}
CLS = {"feature_bounds": (0, 1), "random_state": 0}


@pytest.mark.parametrize(
    "estimator",
    [
        PrivateAnovaRegressor(label_bounds=(-300, 300), feature_bounds=(-10, 10), random_state=0),
        PrivateAnovaRegressor(delta=0, label_bounds=(-300, 300), feature_bounds=(-10, 10), random_state=0),
        PrivateAnovaClassifier(classes="observed", feature_bounds=(-10, 10), random_state=0),
        PrivateAnovaClassifier(
            delta=0, missing="indicator", classes="observed", feature_bounds=(-10, 10), random_state=0
        ),
    ],
    ids=["regressor", "pure regressor", "classifier", "pure classifier with missing values"],
)
def test_check_estimator(estimator):
    check_estimator(estimator, on_skip=None)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("neighbours", ["add/remove", "replace"])
def test_guarantee_says_what_was_asked_for(delta, neighbours):
    model = PrivateAnovaRegressor(2.0, delta=delta, neighbours=neighbours, **REG).fit(X, Y)
    claim = model.guarantee_
    assert (claim.epsilon, claim.delta, claim.neighbours) == (2.0, delta, neighbours)
    assert (claim.trust, claim.protects, claim.simulation) == ("central", "record", True)
    assert "public" in str(claim) and model.score(X, Y) > (0.8 if delta else 0.3)


def test_no_noise_at_infinite_epsilon():
    model = PrivateAnovaRegressor(math.inf, **REG).fit(X, Y)
    assert math.isinf(model.guarantee_.epsilon) and model.score(X, Y) > 0.96 and model.model_.size == 3000


def test_secure_randomness_is_the_default_and_no_simulation():
    model = PrivateAnovaRegressor(1.0, label_bounds=(-1, 3), feature_bounds=(0, 1)).fit(X[:300], Y[:300])
    assert not model.guarantee_.simulation and clone(model).fit(X[:300], Y[:300]).model_ != model.model_


def test_same_seed_same_model_in_any_order_of_records():
    """Sums are exact: shuffling the records changes nothing at all."""
    one = PrivateAnovaRegressor(1.0, **REG).fit(X, Y)
    order = RNG.permutation(3000)
    assert clone(one).fit(X[order], Y[order]).model_ == one.model_
    assert pickle.loads(pickle.dumps(one)).model_ == one.model_


def test_what_is_required_is_named():
    with pytest.raises(BoundsError, match="label_bounds"):
        PrivateAnovaRegressor(feature_bounds=(0, 1)).fit(X, Y)
    with pytest.raises(BoundsError, match="feature_bounds"):
        PrivateAnovaRegressor(label_bounds=(0, 4)).fit(X, Y)
    for name, value in [("neighbours", "all"), ("delta", 1.5), ("delta", -1), ("missing", "drop"), ("epsilon", 0)]:
        with pytest.raises(HedgerowError, match=name):
            PrivateAnovaRegressor(**REG | {name: value}).fit(X, Y)


def test_additive_model_is_exactly_the_sum_of_its_curves():
    model = PrivateAnovaRegressor(5.0, interactions=False, **REG).fit(X, Y)
    assert model.explain().additive and not model.explain().surfaces
    a, b = X[:50], X[50:100]
    mixed = a.copy()
    mixed[:, 0] = b[:, 0]
    back = b.copy()
    back[:, 0] = a[:, 0]
    raw = lambda Z: sum(model.explain_local(Z).values())[:, 0]  # noqa: E731
    assert np.allclose(raw(a) + raw(b), raw(mixed) + raw(back), atol=1e-12)  # swapping a feature keeps the sum


def test_local_terms_sum_to_the_prediction():
    model = PrivateAnovaRegressor(5.0, **REG).fit(X, Y)
    terms = model.explain_local(X[:100])
    assert np.allclose(np.clip(sum(terms.values()), -1, 3)[:, 0], model.predict(X[:100]), atol=1e-12)
    assert "x1 x x2" in terms and "x0" in terms


def test_curves_surfaces_and_importances():
    model = PrivateAnovaRegressor(5.0, **REG).fit(X, Y)
    parts = model.explain()
    curve = parts.curves["x0"]
    truth = np.sin(4 * curve.x)
    assert np.corrcoef(curve.y[:, 0], truth)[0, 1] > 0.98 and (curve.noise > 0).all()
    assert parts.surfaces["x1", "x2"].y.shape == (17, 17, 1)
    size = {k: v[0] for k, v in parts.importances.items()}
    assert size["x0",] > size["x1", "x2"] > size["x0", "x1"]
    assert model.feature_importances_.sum() == pytest.approx(1) and "x1 x x2" in str(parts)


def with_function(data, function):
    """Return the JSON of a model with another first function."""
    data = copy.deepcopy(data)
    data["feature_map"]["basis"]["functions"][0] = [function]
    return data


def test_json_round_trip_and_refusals():
    model = PrivateAnovaRegressor(1.0, delta=1e-5, **REG).fit(X, Y)
    again = AnovaModel.from_json(model.model_.to_json())
    assert again == model.model_ and hash(again) == hash(model.model_)
    assert (again.predict(X)[:, 0] == model.predict(X)).all()
    data = json.loads(model.model_.to_json())
    broken = [
        {**data, "version": 1},
        {**data, "n": 3000},
        {**data, "theta": data["theta"][1:]},
        with_function(data, [9, "cosine", 1]),
        with_function(data, [0, "sine", 1]),
        with_function(data, [0, "category", 1]),
        with_function(data, [0, "cosine", 10**6]),
        {**data, "missing": 1},
        {k: v for k, v in data.items() if k != "low"},
    ]
    for item in broken:
        with pytest.raises(FormatError):
            AnovaModel.from_json(json.dumps(item))
    with pytest.raises(FormatError):
        AnovaModel.from_json("[")


def test_nothing_but_private_outputs_is_kept():
    model = PrivateAnovaRegressor(1.0, **REG).fit(X, Y)
    assert {k for k in vars(model) if k.endswith("_")} == {"guarantee_", "model_", "n_features_in_"}
    assert model.model_.size != 3000


def test_data_frames_and_categories():
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] < 0.5, "a", "b")})
    label = np.where(frame["kind"] == "a", 1.0, 2.0) + 0.5 * frame["x"]
    with pytest.raises(BoundsError, match="categories"):
        PrivateAnovaRegressor(1.0, **REG).fit(frame, label)
    model = PrivateAnovaRegressor(2.0, categories={"kind": ["a", "b", "c"]}, **REG).fit(frame, label)
    assert model.score(frame, label) > 0.9
    assert model.predict(pl.DataFrame(frame.to_dict("list"))).tolist() == model.predict(frame).tolist()
    nothing_numeric = PrivateAnovaRegressor(
        2.0, categories={"kind": ["a", "b"]}, label_bounds=(0, 3), random_state=0
    ).fit(frame[["kind"]], label)
    assert nothing_numeric.score(frame[["kind"]], label) > 0.7


def test_missing_values_have_a_say_of_their_own():
    gaps = X.copy()
    gaps[::3, 0] = np.nan
    label = np.where(np.isnan(gaps[:, 0]), 2.5, gaps[:, 0])
    middle = PrivateAnovaRegressor(2.0, **REG).fit(gaps, label)  # as if each were in the middle of its range
    assert (middle.predict(gaps) == middle.predict(np.where(np.isnan(gaps), 0.5, gaps))).all()
    model = PrivateAnovaRegressor(2.0, missing="indicator", **REG).fit(gaps, label)
    assert model.score(gaps, label) > 0.9
    frame = pd.DataFrame({"x": X[:, 1], "kind": np.where(X[:, 0] < 0.5, "a", None)})
    label = np.where(X[:, 0] < 0.5, 0.0, 2.0)
    model = PrivateAnovaRegressor(2.0, missing="indicator", categories={"kind": ["a"]}, **REG).fit(frame, label)
    assert model.score(frame, label) > 0.9
    assert (AnovaModel.from_json(model.model_.to_json()).predict(frame)[:, 0] == model.predict(frame)).all()


def test_several_outputs_share_the_budget():
    both = np.column_stack([Y, 10 * X[:, 0]])
    model = PrivateAnovaRegressor(2.0, **REG | {"label_bounds": [(-1, 3), (0, 10)]}).fit(X, both)
    assert model.predict(X).shape == (3000, 2) and model.score(X, both) > 0.8
    with pytest.raises(BoundsError, match="label_bounds"):
        PrivateAnovaRegressor(**REG | {"label_bounds": [(0, 1)] * 3}).fit(X, both)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_and_probabilities(n_classes, delta):
    labels = np.array(["low", "mid", "top"])[np.minimum((X[:, 0] * n_classes).astype(int), n_classes - 1)]
    model = PrivateAnovaClassifier(4.0, delta=delta, classes=sorted(set(labels)), **CLS).fit(X, labels)
    proba = model.predict_proba(X)
    assert proba.shape == (3000, n_classes) and proba.min() >= 0 and np.allclose(proba.sum(axis=1), 1)
    assert model.score(X, labels) > (0.85 if delta else 0.5)
    assert model.model_.classes == tuple(sorted(set(labels)))


def test_classes_are_public_or_the_guarantee_says_so():
    labels = X[:, 0] > 0.5
    with pytest.raises(BoundsError, match="'classes' is required"):
        PrivateAnovaClassifier(**CLS).fit(X, labels)
    assert OBSERVED in PrivateAnovaClassifier(classes="observed", **CLS).fit(X, labels).model_.guarantee.notes
    listed = PrivateAnovaClassifier(classes=[False, True], **CLS).fit(X, np.zeros(3000, dtype=bool))
    assert "list of classes is public" in str(listed.guarantee_) and not listed.predict(X).any()
    assert not PrivateAnovaClassifier(classes=[0, 1], **CLS).fit(X, np.full(3000, 2)).predict(X).any()


def test_progress_and_early_stop():
    seen = []
    model = PrivateAnovaRegressor(1.0, callback=lambda t: bool(seen.append(t)) or t >= 80, **REG).fit(X[:200], Y[:200])
    assert seen == list(range(81)) and np.isfinite(model.predict(X)).all()


def test_many_features_stay_within_the_caps():
    wide = np.random.default_rng(1).random((400, 200))
    model = PrivateAnovaRegressor(20.0, **REG).fit(wide, 2 * wide[:, 7])
    assert len(model.model_.feature_map.basis) <= 801 and model.feature_importances_.argmax() == 7


def test_tiny_data_and_constant_features_are_treated_alike():
    for n in (1, 2, 5):  # the last column is clipped to 2
        model = PrivateAnovaRegressor(1.0, **REG | {"feature_bounds": [[0, 0, 2], [1, 1, 3]]}).fit(X[:n], Y[:n])
        assert np.isfinite(model.predict(X)).all()
