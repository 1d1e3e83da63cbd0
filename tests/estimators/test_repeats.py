"""Whoever lets scikit-learn fit many times is told, once, that each fit spends; nobody else is."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor
from sklearn.feature_selection import RFECV, SequentialFeatureSelector
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_fit_idempotent

from hedgerow import DPExtraTreesRegressor, Guarantee, Ledger, PrivateAnovaRegressor, PrivateSearchCV
from hedgerow.errors import RepeatedFitWarning

X = np.random.default_rng(0).random((60, 2))
Y = X[:, 0]


def trees(**options):
    return DPExtraTreesRegressor(
        label_bounds=(0, 1), feature_bounds=(0, 1), n_estimators=1, **{"max_depth": 0, **options}
    )


def told(run):
    """Return what is warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
    return [w for w in caught if issubclass(w.category, RepeatedFitWarning)]


GRID = {"max_depth": [0, 1]}
MANY = {
    "grid": lambda: GridSearchCV(trees(), GRID, cv=2).fit(X, Y),
    "grid of a pipeline": lambda: GridSearchCV(make_pipeline(trees()), {}, cv=2).fit(X, Y),
    "score": lambda: cross_val_score(trees(), X, Y, cv=2),
    "predict": lambda: cross_val_predict(trees(), X, Y, cv=2),
    "curve": lambda: learning_curve(trees(), X, Y, cv=2, train_sizes=[0.5, 1.0]),
    "bagging": lambda: BaggingRegressor(trees(), n_estimators=2).fit(X, Y),
    "features": lambda: SequentialFeatureSelector(trees(), n_features_to_select=1, cv=2).fit(X, Y),
    "recursive": lambda: RFECV(trees(), cv=2).fit(X, Y),
    "anova": lambda: cross_val_score(
        PrivateAnovaRegressor(label_bounds=(0, 1), feature_bounds=(0, 1), delta=0.0), X, Y, cv=2
    ),
    "a private search": lambda: cross_val_score(PrivateSearchCV(trees(), GRID), X, Y, cv=2),
}


@pytest.mark.parametrize("name", MANY)
def test_many_fits_are_told_of_once(name):
    (said,) = told(MANY[name])
    assert said.filename == __file__, "it points to the caller's own line"
    for word in ("each fit spends epsilon", "'guarantee_' is for one fit", "PrivateSearchCV", "ledger="):
        assert word in str(said.message)


ONCE = {
    "fit": lambda: trees().fit(X, Y),
    "clones": lambda: [clone(trees()).fit(X, Y) for _ in range(3)],
    "pipeline": lambda: make_pipeline(FunctionTransformer(), trees()).fit(X, Y),
    "target": lambda: TransformedTargetRegressor(trees(), func=np.abs, inverse_func=np.abs).fit(X, Y),
    "private search": lambda: PrivateSearchCV(trees(), GRID).fit(X, Y),
    "check": lambda: check_fit_idempotent("trees", trees()),
}


@pytest.mark.parametrize("name", ONCE)
def test_one_fit_is_not(name):
    assert told(ONCE[name]) == []


def test_workers_tell_too():
    """A pickle, as joblib sends it, does not carry that another process was told."""
    first = trees()
    assert len(told(lambda: cross_val_score(first, X, Y, cv=2))) == 1
    sent = pickle.loads(pickle.dumps(clone(first)))
    assert sent._told is not first._told


def test_with_a_ledger_each_fit_is_booked():
    limit = Guarantee(9, protects="record", trust="central", neighbours="add/remove")
    with Ledger(None, limit=limit) as ledger:
        assert len(told(lambda: cross_val_score(trees(ledger=ledger), X, Y, cv=3))) == 1
        assert [entry.charged.epsilon for entry in ledger.entries()] == [1.0, 1.0, 1.0]
