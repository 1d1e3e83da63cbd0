"""LPDTRegressor: scikit-learn manners, and no private value used but through the mechanism."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import LPDTRegressor, SeededRandomness
from hedgerow.errors import HedgerowError, RepeatedFitWarning

RESPONSES = ("bits", "unary", "k_ary", "subset")
RULES = ("max_edge", "cart", "random", "random_max_edge")


def paper(**options):
    """The paper's setting, with every choice spelt out."""
    defaults = {
        "epsilon": 2.0, "label_bounds": (0, 30), "rule": "max_edge", "max_depth": 3, "min_samples_leaf": 10,
        "cell_share": 0.5, "response": "bits", "fallback": "public", "random_state": 0,
    }  # fmt: skip
    return LPDTRegressor(**{**defaults, **options})


def friedman(n, seed=0):
    return make_friedman1(n, noise=0.5, random_state=seed)


@pytest.fixture(scope="module")
def data():
    X, y = friedman(6000)
    return {"X": X[500:], "y": y[500:], "X_public": X[:500], "y_public": y[:500]}


@pytest.mark.parametrize("options", [{"response": r} for r in RESPONSES] + [{"rule": r} for r in RULES[2:]] + [{}])
def test_check_estimator(options):
    tree = LPDTRegressor(label_bounds=(-100, 100), feature_bounds=(-100, 100), **options)
    results = check_estimator(tree, on_skip=None)
    status = [r["status"] for r in results]
    assert set(status) <= {"passed", "skipped"} and status.count("skipped") <= 2


def test_parameters_and_clone(data):
    tree = paper(response="unary", categories={"a": ["x"]}, random_state=3)
    again = clone(tree)
    assert again.get_params() == tree.get_params() and again is not tree
    assert set(tree.get_params()) >= {"epsilon", "label_bounds", "rule", "max_depth", "min_samples_leaf"}
    assert LPDTRegressor(3.0).epsilon == 3.0
    fitted = paper().fit(**data)
    assert (clone(fitted).fit(**data).predict(data["X"]) == fitted.predict(data["X"])).all()


def test_pipeline_and_grid_search(data):
    # A scaler fitted on private records would leak; on public ones it is free. Here only the plumbing matters.
    X, y = data["X"], data["y"]
    scaled = make_pipeline(StandardScaler().fit(X), paper(feature_bounds=(-2, 2)))
    assert scaled.fit(X, y).predict(X).shape == y.shape
    search = GridSearchCV(paper(feature_bounds=(0, 1)), {"max_depth": [1, 2], "response": ["bits", "k_ary"]}, cv=2)
    with pytest.warns(RepeatedFitWarning, match="sklearn.model_selection fits LPDTRegressor many times"):
        search.fit(X, y)
    assert search.best_params_["max_depth"] in (1, 2)
    assert math.isfinite(search.best_score_)


def mixed(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    town = rng.choice(["york", "bath", "ely"], n)
    size = rng.random(n) * 10
    y = np.select([town == "york", town == "bath"], [20.0, 10.0], 2.0) + size / 2
    return {"size": size, "town": town}, y


def test_data_frames_with_categories():
    columns, y = mixed()
    results = []
    for frame in (
        pd.DataFrame(columns),
        pd.DataFrame(columns).astype({"town": "category"}),
        pl.DataFrame(columns),
        pl.DataFrame(columns).with_columns(pl.col("town").cast(pl.Categorical)),
    ):
        tree = paper(rule="cart", epsilon=8, response="unary").fit(frame[500:], y[500:], frame[:500], y[:500])
        assert tree.task_.space.is_categorical.tolist() == [False, True]
        assert list(tree.feature_names_in_) == ["size", "town"]
        results.append(tree.predict(frame[:500]))
        assert tree.score(frame[500:], y[500:]) > 0.7
    assert all((r == results[0]).all() for r in results)


def test_an_array_with_declared_categories():
    columns, y = mixed()
    codes = np.unique(columns["town"], return_inverse=True)[1]
    X = np.column_stack([columns["size"], codes])
    tree = paper(rule="cart", epsilon=8, response="unary", categorical_features=[1])
    tree.fit(X[500:], y[500:], X[:500], y[:500])
    assert tree.task_.space.is_categorical.tolist() == [False, True]
    assert tree.score(X, y) > 0.7
    text = np.array(list(zip(columns["size"], columns["town"], strict=True)), dtype=object)
    same = clone(tree).fit(text[500:], y[500:], text[:500], y[:500])
    assert (same.predict(text) == tree.predict(X)).all()


def test_categories_that_public_records_lack():
    columns, y = mixed()
    frame = pd.DataFrame(columns)
    public = frame["town"] != "ely"
    absorbed = paper().fit(frame, y, frame[public][:300], y[public][:300])
    assert "ely" not in absorbed.model_.to_json()
    tree = paper(categories={"town": ["bath", "ely", "york"]}).fit(frame, y, frame[public][:300], y[public][:300])
    assert np.isfinite(tree.predict(frame)).all()


def test_columns_in_another_order_are_refused_as_scikit_learn_does():
    columns, y = mixed(400)
    frame = pd.DataFrame(columns)
    tree = paper().fit(frame, y, frame, y)
    with pytest.raises(ValueError, match="feature names"):
        tree.predict(frame[["town", "size"]])


# Privacy


def test_label_bounds_are_required_and_say_why(data):
    with pytest.raises(ValueError, match=r"'label_bounds' is required.*never read from the labels.*private"):
        LPDTRegressor().fit(**data)
    with pytest.raises(ValueError, match="low < high"):
        paper(label_bounds=(3, 1)).fit(**data)


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, -math.inf, "1", None])
def test_bad_epsilon(epsilon, data):
    with pytest.raises(ValueError, match=r"'epsilon' parameter of LPDTRegressor must be .*> 0"):
        paper(epsilon=epsilon).fit(**data)


def test_feature_bounds_are_required_without_public_data(data):
    with pytest.raises(ValueError, match=r"'feature_bounds' is required without public data.*never read from private"):
        paper().fit(data["X"], data["y"])
    tree = paper(feature_bounds=(0, 1)).fit(data["X"], data["y"])
    assert tree.task_.public is None and tree.task_.n_leaves == 8
    with pytest.raises(HedgerowError, match="needs public records"):
        paper(feature_bounds=(0, 1), rule="cart").fit(data["X"], data["y"])


def same_fit(tree, one, two):
    """Whether two data sets give the same task and the same totals, bit for bit."""
    first, second = clone(tree).fit(**one), clone(tree).fit(**two)
    return first.task_ == second.task_ and first.aggregate_ == second.aggregate_


@pytest.mark.parametrize("response", RESPONSES)
def test_private_labels_beyond_the_bounds_are_the_same_as_clipped_ones(response, data):
    wild = data["y"] * 1000 - 9000
    tree = paper(response=response)
    assert same_fit(tree, {**data, "y": wild}, {**data, "y": np.clip(wild, 0, 30)})
    assert not same_fit(tree, {**data, "y": wild}, data)


@pytest.mark.parametrize("rule", RULES)
def test_private_records_beyond_the_ranges_are_the_same_as_clipped_ones(rule, data):
    low, high = data["X_public"].min(axis=0), data["X_public"].max(axis=0)
    wild = data["X"] * 50 - 20
    assert same_fit(paper(rule=rule), {**data, "X": wild}, {**data, "X": np.clip(wild, low, high)})


@pytest.mark.parametrize("tree", [*(paper(rule=r) for r in RULES), LPDTRegressor(label_bounds=(0, 30))])
def test_the_published_task_depends_on_no_private_value(tree, data):
    """Other private records and labels, same number: the same task, whatever is left to choose."""
    rng = np.random.default_rng(0)
    others = {**data, "X": rng.normal(0, 9, data["X"].shape), "y": rng.normal(0, 99, len(data["y"]))}
    tree = clone(tree).set_params(random_state=0)
    assert clone(tree).fit(**data).task_ == clone(tree).fit(**others).task_


def test_one_report_for_every_record_however_odd(data):
    X, y = data["X"].copy(), data["y"].copy()
    X[:100], y[:100] = 1e12, -1e12
    assert paper().fit(**{**data, "X": X, "y": y}).aggregate_.n_reports == len(y)


def test_seeds(data):
    predict = [paper(random_state=s).fit(**data).predict(data["X"]) for s in (1, 1, 2, SeededRandomness(1))]
    assert (predict[0] == predict[1]).all()
    assert (predict[0] == predict[3]).all()
    assert (predict[0] != predict[2]).any()
    secure = [paper(random_state=None).fit(**data) for _ in range(2)]
    assert secure[0].task_ == secure[1].task_
    assert secure[0].aggregate_ != secure[1].aggregate_


def test_the_guarantee_states_all_its_fields(data):
    guarantee = paper(random_state=None).fit(**data).guarantee_
    assert (guarantee.epsilon, guarantee.delta) == (2.0, 0.0)
    assert (guarantee.protects, guarantee.trust, guarantee.neighbours) == ("record", "local", "replace")
    assert not guarantee.simulation and guarantee.notes
    assert str(guarantee).count("\n") == 0
    assert paper(random_state=1).fit(**data).guarantee_.simulation
    assert "simulation" in str(paper(random_state=1).fit(**data).guarantee_).lower()
    assert paper(epsilon=math.inf).fit(**data).guarantee_.epsilon == math.inf


def test_bad_input_is_named(data):
    X, y = data["X"], data["y"]
    with pytest.raises(ValueError, match="'y_public' is required"):
        paper().fit(X, y, data["X_public"])
    with pytest.raises(ValueError, match="'X_public' is required"):
        paper(feature_bounds=(0, 1)).fit(X, y, y_public=data["y_public"])
    with pytest.raises(ValueError, match="the 3 columns of 'X'"):
        paper().fit(X[:, :3], y, data["X_public"], data["y_public"])
    for name, value in (
        ("rule", "x"), ("response", "x"), ("cell_share", 1.5), ("max_depth", -1), ("max_depth", 99),
        ("min_samples_leaf", 0), ("fallback", "x"), ("random_state", "x"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            paper(**{name: value}).fit(**data)


# Accuracy


def error(tree, data, test):
    return float(np.mean((clone(tree).fit(**data).predict(test[0]) - test[1]) ** 2))


@pytest.mark.parametrize("response", RESPONSES)
def test_more_budget_means_less_error(response):
    """Mean of 5 seeds on Friedman's data: each step of epsilon lowers the error."""
    X, y = friedman(20_500)
    data = {"X": X[500:], "y": y[500:], "X_public": X[:500], "y_public": y[:500]}
    test = friedman(2000, seed=1)

    def mean_error(epsilon):
        trees = [paper(epsilon=epsilon, response=response, fallback="none", random_state=s) for s in range(5)]
        return np.mean([error(tree, data, test) for tree in trees])

    errors = [mean_error(epsilon) for epsilon in (0.25, 1.0, 4.0)]
    assert errors[0] > errors[1] > errors[2]
    exact = mean_error(math.inf)
    assert errors[2] < 1.2 * exact < 1.2 * np.var(test[1])


def test_one_categorical_report_halves_the_error_of_the_papers():
    """n = 20,000, 8 leaves, leaf RMSE over 40 runs at epsilon 1, 2, 4: at least 2 times lower with "unary"."""
    rng = np.random.default_rng(0)
    X = rng.random((20_000, 3))
    y = np.clip(2 * X[:, 0] + X[:, 1] - X[:, 2] + rng.normal(0, 0.3, 20_000), -1, 3)
    for epsilon in (1.0, 2.0, 4.0):
        rmse = {}
        for response in ("bits", "unary"):
            tree = paper(epsilon=epsilon, response=response, label_bounds=(-1, 3), feature_bounds=(0, 1))
            squares = []
            for seed in range(40):
                fitted = tree.set_params(random_state=seed).fit(X, y)
                leaf = fitted.apply(X)
                truth = np.bincount(leaf, y) / np.bincount(leaf)
                squares.append((fitted.model_.leaf_values - truth) ** 2)
            rmse[response] = math.sqrt(np.mean(squares))
        assert rmse["bits"] / rmse["unary"] > 2


def test_intervals_and_leaves(data):
    tree = paper(response="unary", epsilon=4).fit(**data)
    low, high = tree.predict_interval(data["X"][:50], level=0.95)
    assert ((low >= 0) & (low <= high) & (high <= 30)).all()
    assert (tree.apply(data["X"][:50]) == tree.task_.partition.apply_raw(data["X"][:50])).all()
    assert (tree.predict(data["X"][:50]) == tree.model_.leaf_values[tree.apply(data["X"][:50])]).all()
