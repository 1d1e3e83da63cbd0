"""Label privacy, whole: every mechanism, known and unknown priors, a public model; nothing but releases knows y."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np

from hedgerow.audit.replay.fits import WholeFit
from hedgerow.audit.replay.tables import Table, classes_of, label_cases

__all__ = ["label_fits"]

Settings = dict[str, Any]
# Made up: falling masses of five bins of the labels' range, 0 to 4.
_PRIOR = ([8.0, 4.0, 2.0, 1.0, 1.0], [0.0, 0.8, 1.6, 2.4, 3.2, 4.0])
_CENTRAL: Settings = {"trust": "central", "prior_from": "budget"}
_LOCAL: Settings = {"trust": "local", "prior_from": "budget"}
_HOLDERS: Settings = {"trust": "local", "prior_from": "holders"}

_MECHANISMS: dict[str, tuple[str, Settings]] = {
    "Laplace": ("LaplaceMechanism", {"n_steps": 8}),
    "Gaussian": ("GaussianMechanism", {"delta": 1e-3, "n_steps": 16}),
    "staircase": ("StaircaseMechanism", {"n_steps": 32}),
    "interval, prior known": ("RPWithPrior", {"prior": _PRIOR}),
    "interval, outside uniform": ("RPWithPrior", {"prior": _PRIOR, "outside": "uniform"}),
    "interval, prior by a curator": ("RPWithPrior", _CENTRAL),
    "interval, prior by reports": ("RPWithPrior", _LOCAL),
    "interval, prior by some holders": ("RPWithPrior", _HOLDERS),
    "bins, prior known": ("RROnBins", {"prior": _PRIOR, "n_steps": 64}),
    "bins, prior by a curator": ("RROnBins", {**_CENTRAL, "prior_share": "auto", "n_steps": 64}),
    "unbiased, prior known": ("UnbiasedRandomizer", {"prior": _PRIOR, "n_steps": 8, "n_outputs": 10}),
    "unbiased, prior by a curator": ("UnbiasedRandomizer", {**_CENTRAL, "n_steps": 8, "n_outputs": 10}),
    "optimal, prior by some holders": ("OptimalRandomizer", {**_HOLDERS, "n_steps": 8, "n_outputs": 10}),
}


def label_fits() -> Iterator[WholeFit]:
    """Yield all of them."""
    for name, (kind, options) in _MECHANISMS.items():
        # Half of the budget goes to the prior, which a change of one label between two bins uses up.
        yield WholeFit(f"LabelPrivateRegressor, {name}", _with_mechanism(kind, options), 0.9, label_cases)
    yield WholeFit("LabelPrivateRegressor, auto", _auto(boosting=False), 0.9, label_cases)
    yield WholeFit("LabelPrivateRegressor, auto, boosting", _auto(boosting=True), 0.9, label_cases)
    yield WholeFit("LabelPrivateRegressor, two labels", _two_labels, 0.9, label_cases)
    yield WholeFit("LabelPrivateRegressor, public model", _on_public_model, 0.9, label_cases)
    yield WholeFit("LabelPrivateRegressor, public model and its records", _in_units, 0.9, label_cases)
    yield WholeFit("LabelPrivateClassifier", _classes(), 0.99, label_cases)
    yield WholeFit("LabelPrivateClassifier, prior", _classes(prior=[0.1, 0.6, 0.3]), 0.99, label_cases)
    yield WholeFit("LabelPrivateClassifier, public model", _classes(public=True), 0.99, label_cases)


def _regressor(*arguments: Any, **options: Any) -> Any:
    from hedgerow.label import LabelPrivateRegressor

    return LabelPrivateRegressor(*arguments, **options)


def _line() -> Any:
    from sklearn.linear_model import LinearRegression

    return LinearRegression()


def _mechanism(kind: str, epsilon: float, options: Settings) -> Any:
    return getattr(import_module("hedgerow.label"), kind)(epsilon, label_bounds=(0, 4), **options)


def _with_mechanism(kind: str, options: Settings) -> Callable[[float, Table], Any]:
    def fit(epsilon: float, table: Table) -> Any:
        return _regressor(_line(), _mechanism(kind, epsilon, options)).fit(table.X, 4.0 * table.y)

    return fit


def _auto(*, boosting: bool) -> Callable[[float, Table], Any]:
    def fit(epsilon: float, table: Table) -> Any:
        learner = None if boosting else _line()
        return _regressor(learner, epsilon=epsilon, label_bounds=(0, 4)).fit(table.X, 4.0 * table.y)

    return fit


def _two_labels(epsilon: float, table: Table) -> Any:
    mechanism = _mechanism("RROnBins", epsilon, {**_CENTRAL, "n_steps": 16})
    return _regressor(_line(), mechanism).fit(table.X, np.column_stack([4.0 * table.y] * 2))


def _on_public_model(epsilon: float, table: Table) -> Any:
    model = _public_model()
    return _regressor(_line(), epsilon=epsilon, label_bounds=(0, 4), public_model=model).fit(table.X, 4.0 * table.y)


def _in_units(epsilon: float, table: Table) -> Any:
    """Fit in units of the size of public errors, which grow with the first column."""
    model, X, y = _uneven_model()
    fitted = _regressor(_line(), epsilon=epsilon, label_bounds=(0, 4), public_model=model)
    return fitted.fit(table.X, 4.0 * table.y, X, y)


def _classes(*, public: bool = False, prior: list[float] | None = None) -> Callable[[float, Table], Any]:
    """Return a fit of three classes."""

    def fit(epsilon: float, table: Table) -> Any:
        from sklearn.naive_bayes import GaussianNB

        from hedgerow.label import LabelPrivateClassifier

        options: Settings = {"estimator": GaussianNB(), "prior": prior}
        known: Settings = {}
        if public:
            X = np.random.default_rng(5).random((40, 2))
            options = {"public_model": _line()}
            known = {"X_public": X, "y_public": classes_of(X[:, 0], 3)}
        model = LabelPrivateClassifier(epsilon, classes=[0, 1, 2], **options)
        return model.fit(table.X, classes_of(table.y, 3), **known)

    return fit


@lru_cache(maxsize=1)
def _public_model() -> Any:
    """Return a model of public records, with the residuals that a public model comes with."""
    rng = np.random.default_rng(5)
    X = rng.random((40, 2))
    return _fitted(X, 4 * X[:, 0] + rng.normal(0, 0.5, 40))


@lru_cache(maxsize=1)
def _uneven_model() -> tuple[Any, Any, Any]:
    """Return a model that errs more at one end of its public records, and these."""
    rng = np.random.default_rng(6)
    X = rng.random((200, 2))
    y = np.clip(2 + X[:, 0] * rng.laplace(0, 0.6, 200), 0, 4)
    return _fitted(X, y), X, y


def _fitted(X: Any, y: Any) -> Any:
    model = _line().fit(X, y)
    model.residuals_ = y - model.predict(X)
    return model
