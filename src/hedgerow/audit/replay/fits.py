"""Whole fits that are audited: every central estimator, at each setting that changes what it releases."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from hedgerow.audit.replay.run import audit_replay
from hedgerow.audit.replay.tables import (
    Case,
    Table,
    classes_of,
    many_cases,
    more_cases,
    odd_cases,
    record_cases,
    replaced_cases,
    triple_cases,
)
from hedgerow.audit.result import AuditResult
from hedgerow.randomness import Randomness

__all__ = ["WholeFit", "central_fits"]

Settings = dict[str, Any]
Fit = Callable[[float, Any], Any]
_TREE: Settings = {"max_depth": 1, "n_estimators": 2}  # the least with a split, leaves and two trees


@dataclass(frozen=True)
class WholeFit:
    """One line of the audit: an estimator at one setting.

    Attributes
    ----------
    name : str
        As printed, and as the command takes it.
    fit : callable
        ``fit(epsilon, table)`` returns a fitted estimator that claims epsilon.
    cases : callable
        ``cases(quick=...)`` returns tables and neighbours.
    near : float
        The share of the claim that some pair reaches, at least: an audit that sees less has gone blind.
    """

    name: str
    fit: Callable[[float, Table], Any]
    near: float
    cases: Callable[..., list[Case]] = record_cases
    whole: ClassVar[str] = "fit"
    tiers: ClassVar[tuple[str, ...]] = ("replay",)

    def replay(self, epsilon: float, *, quick: bool = False, seed: int = 0) -> AuditResult:
        """Audit fits on small tables and their neighbours; ``quick`` takes a few."""
        cases = self.cases(quick=quick)
        return audit_replay(self.name, lambda table: self.fit(epsilon, table), cases, epsilon=epsilon, seeds=(seed,))

    def results(self, epsilon: float, *, n: int, randomness: Randomness | int | None = None) -> Iterator[AuditResult]:
        """Yield the result, as the command wants it; nothing is sampled."""
        yield self.replay(epsilon, seed=randomness if isinstance(randomness, int) else 0)


def central_fits() -> Iterator[WholeFit]:
    """Yield all of them."""
    yield from _forests()
    yield from _baselines()
    yield from _anova()
    yield from _searches()
    yield from _large()
    yield from _odd()


_FORESTS: dict[str, tuple[Settings, float]] = {
    "": ({"n_estimators": 4}, 0.9),
    "depth 1": (_TREE, 0.95),
    "depth 2": ({"max_depth": 2, "n_estimators": 2}, 0.8),
    "depth 0": ({"max_depth": 0, "n_estimators": 2}, 0.99),
    "exponential": ({**_TREE, "selection": "exponential"}, 0.95),
    "random": ({**_TREE, "selection": "random"}, 0.95),
    "two stages": ({**_TREE, "stages": 2}, 0.95),
    "all records in all trees": ({**_TREE, "partition": False}, 0.9),
    "all records in all trees, two stages": ({**_TREE, "partition": False, "stages": 2}, 0.82),
    "all records in all trees, delta": ({**_TREE, "partition": False, "delta": 1e-5}, 0.75),
    "all records in all trees, random, delta": (
        {**_TREE, "partition": False, "delta": 1e-5, "selection": "random"},
        0.5,
    ),
    "replace": ({**_TREE, "neighbours": "replace"}, 0.74),
    "replace, exponential": ({**_TREE, "neighbours": "replace", "selection": "exponential"}, 0.74),
    "replace, random": ({**_TREE, "neighbours": "replace", "selection": "random"}, 0.75),
    "public size": ({"n_hint": 40, "n_estimators": 2}, 0.9),
    "private bounds": ({**_TREE, "feature_bounds": "private"}, 0.85),
    "private bounds, replace": ({**_TREE, "feature_bounds": "private", "neighbours": "replace"}, 0.68),
    "categories": ({**_TREE, "categories": {1: [0, 1]}}, 0.95),
    "categories, random": ({**_TREE, "categories": {1: [0, 1]}, "selection": "random"}, 0.95),
}
# The paper's scheme costs more than it says: K medians of one record, each of them. Two columns: 5/4 of its epsilon.
_PAPER: dict[str, tuple[Settings, float, float]] = {
    "paper": ({**_TREE, "accounting": "paper"}, 1.25, 0.78),
    "paper, exponential": ({**_TREE, "accounting": "paper", "selection": "exponential"}, 1.25, 0.78),
    "paper, random": ({**_TREE, "accounting": "paper", "selection": "random"}, 1.0, 0.95),
    "paper, replace": ({**_TREE, "accounting": "paper", "neighbours": "replace"}, 1.25, 0.59),
}


def _forests() -> Iterator[WholeFit]:
    settings = {name: (options, 1.0, near) for name, (options, near) in _FORESTS.items()} | _PAPER
    for name, (options, excess, near) in settings.items():
        comma = f", {name}" if name else ""
        yield WholeFit(f"DiPriMeForestRegressor{comma}", _regression("DiPriMeForestRegressor", options, excess), near)
        yield WholeFit(
            f"DiPriMeForestClassifier{comma}", _classification("DiPriMeForestClassifier", options, 2, excess), near
        )
    beside: Settings = {**_TREE, "public_rows": 30}
    for name, fit in (
        ("Regressor", _regression("DiPriMeForestRegressor", beside)),
        ("Classifier", _classification("DiPriMeForestClassifier", beside, 2)),
        ("Classifier, three classes", _classification("DiPriMeForestClassifier", beside, 3)),
    ):
        kind, *more = name.split(", ")
        near = 0.6 if kind == "Regressor" else 0.8  # no residual of these tables is at both ends of its range
        yield WholeFit(", ".join([f"DiPriMeForest{kind}", "public model", *more]), fit, near)
    yield WholeFit("DiPriMeForestClassifier, three classes", _classification("DiPriMeForestClassifier", _TREE, 3), 0.95)


def _baselines() -> Iterator[WholeFit]:
    auto: Settings = {"n_estimators": 2}
    for neighbours in ("add/remove", "replace"):
        comma = "" if neighbours == "add/remove" else ", replace"
        for name, near in (("DPExtraTrees", 0.99), ("DPRandomForest", 0.58)):
            for options, size in ((_TREE, ", depth 1"), (auto, "")):
                given = {**options, "neighbours": neighbours}
                yield WholeFit(f"{name}Regressor{size}{comma}", _regression(f"{name}Regressor", given), near)
                yield WholeFit(f"{name}Classifier{size}{comma}", _classification(f"{name}Classifier", given, 3), near)
        given = {**_TREE, "neighbours": neighbours}
        forest = _classification("DPDecisionForestClassifier", given, 3)
        yield WholeFit(f"DPDecisionForestClassifier{comma}", forest, 0.56)


_ANOVA: dict[str, Settings] = {
    "": {},
    "additive": {"interactions": False},
    "pure": {"delta": 0.0},
    "pure, additive": {"delta": 0.0, "interactions": False},
    "replace": {"neighbours": "replace"},
    "pure, replace": {"delta": 0.0, "neighbours": "replace"},
    "categories": {"categories": {1: [0, 1]}},
    "missing values": {"missing": "indicator"},
    "public model": {"public_rows": 30},
    "public model, pure": {"public_rows": 30, "delta": 0.0},
}


def _anova() -> Iterator[WholeFit]:
    for name, options in _ANOVA.items():
        comma = f", {name}" if name else ""
        # A record cannot be at its worst in the fit and in the look at what it is worth. Replacing one moves counts of
        # bins and looks by the root of two, where twice as much is paid for.
        near = 0.85 if "replace" in name or "public" in name else 0.94
        cases = replaced_cases if "replace" in name else record_cases
        yield WholeFit(f"PrivateAnovaRegressor{comma}", _regression("PrivateAnovaRegressor", options), near, cases)
        own = _classification("PrivateAnovaClassifier", options, 2)
        yield WholeFit(f"PrivateAnovaClassifier{comma}", own, near, cases)
    for name, options in (("", {}), (", pure", {"delta": 0.0}), (", public model", {"public_rows": 30})):
        yield WholeFit(
            f"PrivateAnovaRegressor{name}, two labels", _regression("PrivateAnovaRegressor", options, 1.0, 2), 0.8
        )
        yield WholeFit(
            f"PrivateAnovaClassifier{name}, three classes",
            _classification("PrivateAnovaClassifier", options, 3),
            0.85 if "public" in name else 0.94,
        )


# A search: its candidates, its comparison and its final fit, each record in one of them. Not of forests that toss coins
# for their records themselves: in a group, coins of an audit do not follow them.
_SEARCHES: dict[str, tuple[str, Settings, Settings, Settings]] = {
    "": ("DPExtraTrees", _TREE, {"max_depth": [0, 1]}, {}),
    "no scores": ("DPExtraTrees", _TREE, {"max_depth": [0, 1]}, {"score_share": 0.0}),
    "no final fit": ("DPExtraTrees", _TREE, {"max_depth": [0, 1, 2]}, {"refit": False, "loss": "absolute"}),
    "replace": ("DPExtraTrees", {**_TREE, "neighbours": "replace"}, {"max_depth": [0, 1]}, {}),
    "most compare": (
        "DPExtraTrees",
        _TREE,
        {"max_depth": [0, 1]},
        {"validation_share": 0.8, "candidate_share": 0.1},
    ),
    "most compare, no scores": (
        "DPExtraTrees",
        _TREE,
        {"max_depth": [0, 1]},
        {"validation_share": 0.8, "candidate_share": 0.1, "score_share": 0.0, "loss": "absolute"},
    ),
    "delta": ("PrivateAnova", {}, {"interactions": [True, False]}, {}),
}

_NEAR = {"most compare": 0.8, "most compare, no scores": 0.5}  # losses of numbers differ less than those of classes


def _searches() -> Iterator[WholeFit]:
    for name, (kind, options, settings, more) in _SEARCHES.items():
        comma = f", {name}" if name else ""
        regression = _search(_regression(f"{kind}Regressor", options, fitted=False), settings, more)
        yield WholeFit(f"PrivateSearchCV{comma}", regression, _NEAR.get(name, 0.95))
        classification = _search(_classification(f"{kind}Classifier", options, 3, fitted=False), settings, more)
        yield WholeFit(f"PrivateSearchCV, classes{comma}", classification, 0.95)
    anova = _regression("PrivateAnovaRegressor", {"delta": 0.0}, fitted=False)
    trees = _regression("DPExtraTreesRegressor", _TREE, fitted=False)
    yield WholeFit("PrivateSearchCV, two methods", _methods(anova, trees), 0.9)


def _search(prepare: Fit, settings: Settings, more: Settings) -> Fit:
    """Return a search among settings."""

    def fit(epsilon: float, table: Table) -> Any:
        estimator, X, y = prepare(epsilon, table)
        return _central("PrivateSearchCV")(estimator, settings, **more).fit(X, y)

    return fit


def _methods(prepare: Fit, other: Fit) -> Fit:
    """Return a search among two methods."""

    def fit(epsilon: float, table: Table) -> Any:
        estimator, X, y = prepare(epsilon, table)
        method = other(epsilon, table)[0]
        return _central("PrivateSearchCV")(estimator, [{}, {"estimator": method}]).fit(X, y)

    return fit


def _large() -> Iterator[WholeFit]:
    """Yield fits of many records: more releases, of which each is further from its worst case."""
    forest: Settings = {"n_estimators": 4}
    for name, fit, near in (
        ("DiPriMeForestRegressor", _regression("DiPriMeForestRegressor", forest), 0.75),
        ("DiPriMeForestClassifier", _classification("DiPriMeForestClassifier", forest, 2), 0.75),
        ("PrivateAnovaRegressor", _regression("PrivateAnovaRegressor", {}), 0.94),
        ("PrivateAnovaClassifier", _classification("PrivateAnovaClassifier", {}, 3), 0.94),
        ("PrivateAnovaRegressor, pure", _regression("PrivateAnovaRegressor", {"delta": 0.0}), 0.94),
        (
            "PrivateAnovaRegressor, pure, chosen",
            _regression("PrivateAnovaRegressor", {"delta": 0.0, "copies": 10}),
            0.5,
        ),
    ):
        yield WholeFit(f"{name}, many records", fit, near, many_cases)
    yield WholeFit("PrivateAnovaRegressor, more", _regression("PrivateAnovaRegressor", {}), 0.94, more_cases)
    corrects = _regression("PrivateAnovaRegressor", {"public_rows": 30})
    yield WholeFit("PrivateAnovaRegressor, public model, more", corrects, 0.85, more_cases)
    yield WholeFit("PrivateAnovaRegressor, triples", _regression("PrivateAnovaRegressor", {}), 0.94, triple_cases)


def _odd() -> Iterator[WholeFit]:
    """Yield fits of records with missing and infinite values, and with categories and classes that no list has."""
    for name, options in (
        ("DiPriMeForest", _TREE),
        ("DPExtraTrees", _TREE),
        ("DPRandomForest", _TREE),
        ("PrivateAnova", Settings()),
    ):
        given = {**options, "categories": {1: [0, 1]}}
        yield WholeFit(f"{name}Regressor, odd records", _regression(f"{name}Regressor", given), 0.4, odd_cases)
        yield WholeFit(f"{name}Classifier, odd records", _classification(f"{name}Classifier", given, 3), 0.4, odd_cases)


def _regression(
    name: str, options: Settings, excess: float = 1.0, outputs: int = 1, *, fitted: bool = True
) -> Callable[[float, Table], Any]:
    """Return a fit of a label in [0, 4], or all that it needs; ``excess``: what it costs over what it is told."""

    def labels(y: Any) -> Any:
        return 4.0 * y if outputs == 1 else np.column_stack([4.0 * y] * outputs)

    def fit(epsilon: float, table: Table) -> Any:
        # Public errors are narrow, so that the clip rises, and telling records are beyond it all the same.
        own, public = _public(options, labels, 0.05)
        given = {"label_bounds": (0, 4), "feature_bounds": (0, 1), **own}
        y = labels(table.y)
        estimator = _central(name)(epsilon / excess, **given)
        X = _features(table, options)
        return estimator.fit(X, y, **public) if fitted else (estimator, X, y)

    return fit


def _classification(
    name: str, options: Settings, k: int, excess: float = 1.0, *, fitted: bool = True
) -> Callable[[float, Table], Any]:
    """Return a fit of k classes, or all that it needs."""

    def fit(epsilon: float, table: Table) -> Any:
        own, public = _public(options, lambda y: classes_of(y, k), 0.2)
        given = {"classes": list(range(k)), "feature_bounds": (0, 1), **own}
        labels = classes_of(table.y, k)
        estimator = _central(name)(epsilon / excess, **given)
        X = _features(table, options)
        return estimator.fit(X, labels, **public) if fitted else (estimator, X, labels)

    return fit


def _public(options: Settings, labels: Callable[[Any], Any], spread: float) -> tuple[Settings, Settings]:
    """Return the options of an estimator, and the public records that it gets; a line is learnt from them."""
    own = dict(options)
    n = own.pop("public_rows", 0)
    own.pop("copies", None)
    if not n:
        return own, {}
    from sklearn.linear_model import Ridge

    rng = np.random.default_rng(0)
    X = rng.random((n, 2))
    y = np.clip(X[:, 0] + rng.normal(0, spread, n), 0, 1)
    return {"public_model": Ridge(), **own}, {"X_public": X, "y_public": labels(y)}


def _features(table: Table, options: Settings) -> Any:
    """Return the features; a column with categories holds codes, one with missing values misses some."""
    X = table.X
    if "categories" in options:
        X = X.copy()
        X[:, 1] = np.where(np.isnan(X[:, 1]), 7.0, X[:, 1] > 0.5)
    if "missing" in options:
        X = np.where(X == 0.5, np.nan, X)
    return np.tile(X, (1, options.get("copies", 1)))  # many features, among which some are chosen


def _central(name: str) -> Any:
    return getattr(import_module("hedgerow"), name)  # systems and baselines have their homes in several packages
