"""The forests as scikit-learn estimators: guarantees, inputs, JSON, and nothing private in what is released."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import hedgerow
from hedgerow import DiPriMeForestClassifier, DiPriMeForestRegressor, ForestModel, Model
from hedgerow.classes import OBSERVED
from hedgerow.errors import BoundsError, FormatError, HedgerowError

REGRESSORS = [
    "DiPriMeForestRegressor",
    "DPExtraTreesRegressor",
    "DPRandomForestRegressor",
]
CLASSIFIERS = [
    "DiPriMeForestClassifier",
    "DPExtraTreesClassifier",
    "DPRandomForestClassifier",
    "DPDecisionForestClassifier",
]
RNG = np.random.default_rng(0)
X = RNG.random((3000, 3))
Y = np.where(X[:, 0] < 0.5, 1.0, 3.0) + RNG.normal(0, 0.1, 3000)
REG = {"label_bounds": (0, 4), "feature_bounds": (0, 1), "random_state": 0}
CLS = {"feature_bounds": (0, 1), "random_state": 0}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")  # "is non deterministic"
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_pass_check_estimator(name):
    kind = getattr(hedgerow, name)
    check_estimator(
        kind(label_bounds=(-300, 300), feature_bounds=(-10, 10), n_estimators=2, max_depth=2, random_state=0)
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_pass_check_estimator(name):
    kind = getattr(hedgerow, name)
    small = {"n_estimators": 2, "max_depth": 2, "random_state": 0}
    check_estimator(kind(classes="observed", feature_bounds=(-10, 10), **small))


@pytest.mark.parametrize("name", ["MedianForestRegressor", "MedianForestClassifier"])
def test_median_forest_is_accurate_and_says_that_it_is_not_private(name):
    regress = name.endswith("Regressor")
    options = {"label_bounds": (0, 4)} if regress else {"classes": [False, True]}
    forest = getattr(hedgerow, name)(feature_bounds=(0, 1), n_estimators=2, random_state=0, **options)
    forest.fit(X, Y if regress else Y > 2)
    assert forest.score(X, Y if regress else Y > 2) > 0.95
    assert math.isinf(forest.guarantee_.epsilon)


@pytest.mark.parametrize("selection", ["permute_and_flip", "exponential", "random"])
@pytest.mark.parametrize("epsilon", [0.1, 0.7, 3.0])
def test_strict_accounting_states_epsilon_exactly(selection, epsilon):
    forest = DiPriMeForestRegressor(epsilon, selection=selection, **REG).fit(X, Y)
    claim = forest.guarantee_
    assert (claim.epsilon, claim.delta, claim.neighbours) == (epsilon, 0.0, "add/remove")
    assert (claim.trust, claim.protects, claim.simulation) == ("central", "record", True)
    assert "public" in str(claim) and "coin" in str(claim)


def test_papers_accounting_states_its_true_cost():
    wide = np.hstack([X, X])
    forest = DiPriMeForestRegressor(10.0, accounting="paper", max_depth=3, **REG).fit(wide, Y)
    assert forest.guarantee_.epsilon == 20.0  # K = 5, rho = 1/2
    assert "the paper calls this epsilon = 10" in str(forest.guarantee_)
    base = DiPriMeForestRegressor(10.0, accounting="paper", selection="random", max_depth=3, **REG).fit(wide, Y)
    assert base.guarantee_.epsilon == 10.0


def test_replace_costs_epsilon_with_half_the_budget():
    forest = DiPriMeForestRegressor(1.0, neighbours="replace", **REG).fit(X, Y)
    assert forest.guarantee_.epsilon == 1.0 and forest.guarantee_.neighbours == "replace"
    assert "number of records" not in str(forest.guarantee_)  # noisy counts only: it is not told


def test_trees_that_share_records_share_the_budget():
    forest = DiPriMeForestRegressor(2.0, partition=False, n_estimators=4, **REG).fit(X, Y)
    assert forest.guarantee_.epsilon == 2.0 and forest.score(X, Y) > 0.8


def test_delta_composes_by_privacy_loss_distributions():
    pytest.importorskip("dp_accounting")
    from fractions import Fraction

    from hedgerow.central.accounting import composed_epsilon, tree_epsilon

    each = tree_epsilon(Fraction(1), 1e-5, 20, 2, 0.5)
    assert Fraction(1, 20) <= each < 1
    assert composed_epsilon(each, 1e-5, 20, 2, 0.5) <= 1.0
    forest = DiPriMeForestRegressor(1.0, partition=False, delta=1e-5, n_estimators=5, max_depth=2, **REG).fit(X, Y)
    assert (forest.guarantee_.epsilon, forest.guarantee_.delta) == (1.0, 1e-5)
    with pytest.raises(HedgerowError, match="partition=False"):
        DiPriMeForestRegressor(delta=1e-5, **REG).fit(X, Y)


def test_what_is_required_is_named():
    with pytest.raises(BoundsError, match="label_bounds"):
        DiPriMeForestRegressor(feature_bounds=(0, 1)).fit(X, Y)
    with pytest.raises(BoundsError, match="feature_bounds"):
        DiPriMeForestRegressor(label_bounds=(0, 4)).fit(X, Y)
    for name, value in [("selection", "best"), ("accounting", "loose"), ("neighbours", "all"), ("split_share", 1.5)]:
        with pytest.raises(HedgerowError, match=name):
            DiPriMeForestRegressor(**REG | {name: value}).fit(X, Y)


def test_private_bounds_cost_a_share_and_cover_the_data():
    data = np.hstack([1000 * X, -0.01 * X])
    forest = DiPriMeForestRegressor(5.0, label_bounds=(0, 4), feature_bounds="private", random_state=0).fit(data, Y)
    space = forest.model_.space
    assert forest.guarantee_.epsilon == 5.0 and "bought" in str(forest.guarantee_)
    assert (space.low[:3] <= 125).all() and (space.high[:3] == 1024).all()
    assert (space.low[3:] == -(2.0**-6)).all() and (abs(space.high[3:]) < 0.01).all()
    assert forest.score(data, Y) > 0.8


def test_json_round_trip_and_refusals():
    forest = DiPriMeForestRegressor(1.0, **REG).fit(X, Y)
    again = ForestModel.from_json(forest.model_.to_json())
    assert again == forest.model_ and hash(again) == hash(forest.model_)
    assert (again.values(X)[:, 0] == forest.predict(X)).all()
    data = json.loads(forest.model_.to_json())
    own = {**data["stages"][0][0]["partition"], "space": data["space"]}
    for broken in (
        {**data, "version": 9},
        {**data, "n": 3000},
        {**data, "stages": [[]]},
        {**data, "stages": [[1]]},
        {**data, "stages": [[{**data["stages"][0][0], "partition": own}]]},
        {k: v for k, v in data.items() if k != "low"},
    ):
        with pytest.raises(FormatError):
            ForestModel.from_json(json.dumps(broken))
    with pytest.raises(FormatError):
        ForestModel.from_json("[")


def test_nothing_but_private_outputs_is_kept():
    """The fitted object holds no count, order or range of the data: only what its JSON holds, and public facts."""
    forest = DiPriMeForestRegressor(1.0, **REG).fit(X, Y)
    kept = {k for k in vars(forest) if k.endswith("_")}
    assert kept == {"guarantee_", "model_", "depth_", "n_features_in_"}
    sizes = {len(t.weights) for t in forest.model_.trees}
    assert all(size <= 2**forest.depth_ for size in sizes)
    assert str(len(X)) not in forest.model_.to_json().replace(".", " ").split()


def test_same_seed_same_forest_whatever_the_number_of_jobs():
    one = DiPriMeForestRegressor(1.0, n_estimators=2, **REG).fit(X, Y)
    two = clone(one).set_params(n_jobs=2).fit(X, Y)
    assert one.model_ == two.model_
    assert pickle.loads(pickle.dumps(one)).model_ == one.model_


def test_secure_randomness_is_the_default_and_no_simulation():
    forest = DiPriMeForestRegressor(1.0, label_bounds=(0, 4), feature_bounds=(0, 1)).fit(X, Y)
    again = clone(forest).fit(X, Y)
    assert not forest.guarantee_.simulation
    assert forest.model_ != again.model_


def test_data_frames_and_categories():
    frame = pd.DataFrame({"x": X[:, 0], "kind": np.where(X[:, 1] < 0.5, "a", "b")})
    label = np.where(frame["kind"] == "a", 1.0, 3.0)
    options = {"label_bounds": (0, 4), "feature_bounds": (0, 1), "random_state": 0, "max_features": None}
    with pytest.raises(BoundsError, match="categories"):
        DiPriMeForestRegressor(1.0, **options).fit(frame, label)
    forest = DiPriMeForestRegressor(5.0, categories={"kind": ["a", "b", "c"]}, **options).fit(frame, label)
    assert forest.score(frame, label) > 0.9
    assert forest.predict(pl.DataFrame(frame.to_dict("list"))).tolist() == forest.predict(frame).tolist()
    typed = frame.assign(kind=frame["kind"].astype("category"))
    with pytest.raises(BoundsError, match="categories"):
        DiPriMeForestRegressor(5.0, **options).fit(typed, label)
    declared = DiPriMeForestRegressor(5.0, categories={"kind": ["a", "b"]}, **options)
    assert declared.fit(typed, label).score(typed, label) > 0.9
    assert forest.feature_importances_.argmax() == 1 and math.isclose(forest.feature_importances_.sum(), 1)
    assert "kind in" in forest.export_text() and forest.apply(frame).shape == (3000, 10)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_and_string_labels(name, n_classes):
    labels = np.array(["low", "mid", "top"])[np.minimum((X[:, 0] * n_classes).astype(int), n_classes - 1)]
    forest = getattr(hedgerow, name)(20.0, n_estimators=3, classes=sorted(set(labels)), **CLS).fit(X, labels)
    proba = forest.predict_proba(X)
    assert proba.shape == (3000, n_classes) and proba.min() >= 0 and proba.max() <= 1
    assert np.allclose(proba.sum(axis=1), 1)
    assert forest.score(X, labels) > (0.55 if "Extra" in name else 0.7)
    assert forest.guarantee_.epsilon == 20.0


def test_classes_are_public_or_the_guarantee_says_so():
    labels = X[:, 0] > 0.5
    with pytest.raises(BoundsError, match="'classes' is required"):
        DiPriMeForestClassifier(**CLS).fit(X, labels)
    assert OBSERVED in DiPriMeForestClassifier(classes="observed", **CLS).fit(X, labels).model_.guarantee.notes
    listed = DiPriMeForestClassifier(5.0, classes=[False, True], **CLS).fit(X, np.zeros(3000, dtype=bool))
    assert "list of classes is public" in str(listed.guarantee_)
    assert listed.predict(X).mean() < 0.05
    assert DiPriMeForestClassifier(5.0, classes=[0, 1], **CLS).fit(X, np.full(3000, 2)).predict(X).mean() < 0.05


def test_probabilities_are_calibrated():
    """Among new records that are told the same chance, that share has the label: within .07 in each quarter."""
    rng = np.random.default_rng(1)
    data = rng.random((20_000, 3))
    chance = 0.1 + 0.8 * data[:, 0]
    forest = DiPriMeForestClassifier(2.0, classes=[False, True], **CLS).fit(
        data[:10_000], rng.random(10_000) < chance[:10_000]
    )
    proba = forest.predict_proba(data[10_000:])[:, 1]
    for quarter in np.array_split(np.argsort(proba), 4):
        assert abs(proba[quarter].mean() - chance[10_000:][quarter].mean()) < 0.07


def test_empty_and_tiny_data_are_treated_alike():
    for n in (1, 2, 5):
        forest = DiPriMeForestRegressor(1.0, max_depth=2, **REG).fit(X[:n], Y[:n])
        assert np.isfinite(forest.predict(X)).all()
        assert len(forest.model_.trees) == 10


def test_depth_follows_the_hint():
    shallow = DiPriMeForestRegressor(1.0, n_hint=500, **REG).fit(X, Y)
    deep = DiPriMeForestRegressor(1.0, n_hint=100_000, n_estimators=2, **REG).fit(X, Y)
    assert shallow.depth_ < deep.depth_


def test_the_published_model_answers_as_every_model_does(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    options = {"feature_bounds": (0, 1), "n_estimators": 3, "random_state": 0}
    forest = DiPriMeForestRegressor(4.0, label_bounds=(0, 1), **options).fit(X, X[:, 0])
    model = Model.from_json(forest.model_.to_json())
    assert model == forest.model_ and (model.predict(X) == forest.predict(X)).all()
    explained = model.explain()
    assert str(model.guarantee) in str(explained) and explained.to_dict()["n_trees"] == len(model.trees)
    explained.plot(tmp_path / "tree.svg")
    for k in (2, 3):
        y = np.digitize(X[:, 0], np.linspace(0, 1, k + 1)[1:-1])
        classifier = DiPriMeForestClassifier(4.0, classes=list(range(k)), **options).fit(X, y)
        model = Model.from_json(classifier.model_.to_json())
        assert (model.predict_proba(X) == classifier.predict_proba(X)).all()
        assert (model.predict(X) == classifier.predict(X)).all() and model.shift() is None
