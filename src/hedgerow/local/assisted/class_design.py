"""Design of an assisted task with classes: for each class one of its indicator, a label of 0 or 1."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from hedgerow.classes import class_codes, read_classes
from hedgerow.features import category_name
from hedgerow.local.assisted.design import design_assisted, design_without_public
from hedgerow.public.given import is_fitted
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.class_task import AssistedClassTask

__all__ = ["design_assisted_classes", "design_classes_without_public"]

_INDICATOR = (0.0, 1.0)  # the label of one class: whether a record has it


def design_assisted_classes(
    X_public: object,
    y_public: object,
    *,
    epsilon: float,
    n_holders: int,
    classes: Any = None,
    observed: bool = False,
    public_model: Any = "auto",
    **options: Any,
) -> AssistedClassTask:
    """Fit a public model of each class, and choose trees, radius and randomiser for its share of the holders.

    Parameters
    ----------
    n_holders : int
        How many will answer; each about one class, drawn at random.
    classes : list or None
        The public list of classes; None takes that of the public labels. Other labels count as the first class.
    observed : bool
        Whether that list was read off private labels: then task and guarantee repeat it.
    public_model, options
        As for :func:`design_assisted`; the public model is fitted to indicators of classes.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X = np.random.default_rng(0).random((300, 2)); y = np.where(X[:, 0] < 0.5, "low", "high")
    >>> task = design_assisted_classes(X, y, epsilon=2.0, n_holders=10_000, public_model=Ridge())
    >>> task.classes, task.asked
    (('high', 'low'), ('low',))
    """
    listed = read_classes(classes, None, y_public)
    codes = class_codes(listed, y_public)
    names = _names(listed)
    share = max(1, n_holders // _n_asked(names))
    parts = []
    for code in range(len(names) - _n_asked(names), len(names)):
        model = clone(public_model) if is_fitted(public_model) else public_model
        own = (codes == code).astype(np.float64)
        part = design_assisted(
            X_public,
            own,
            epsilon=epsilon,
            label_bounds=_INDICATOR,
            n_holders=share,
            public_model=model,
            **options,
        )
        parts.append(part)
    return AssistedClassTask.of(names, parts, observed=observed)


def design_classes_without_public(
    space: FeatureSpace, classes: Iterable[Any], *, epsilon: float, target: str = "y", observed: bool = False
) -> AssistedClassTask:
    """Return a task without public records: shares of classes, the same for everybody.

    >>> design_classes_without_public(FeatureSpace.from_bounds((0, 1), 2), ["a", "b", "c"], epsilon=1.0).asked
    ('a', 'b', 'c')
    """
    names = _names(classes)
    part = design_without_public(space, epsilon=epsilon, label_bounds=_INDICATOR, target=target)
    return AssistedClassTask.of(names, [part] * _n_asked(names), observed=observed)


def _names(classes: Iterable[Any]) -> tuple[str, ...]:
    return tuple(category_name(c) for c in classes)


def _n_asked(names: tuple[str, ...]) -> int:
    """Return how many classes are asked about: of two, one says all."""
    return 1 if len(names) == 2 else len(names)
