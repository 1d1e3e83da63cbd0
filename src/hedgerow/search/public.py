"""Comparing settings on public records: fits with the same noise, on as many records, and nothing is spent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from hedgerow.errors import HedgerowError
from hedgerow.frames import Frame
from hedgerow.grid import label_numbers
from hedgerow.randomness import SeededRandomness
from hedgerow.search.groups import as_table, rows_of
from hedgerow.search.losses import Losses
from hedgerow.types import FloatArray

__all__ = ["compare_on_public_rows"]

FOLDS = 5
"""Of the cross-validation, scikit-learn's default."""


def compare_on_public_rows(
    candidates: list[Any],
    X: Any,
    y: Any,
    n: int | None,
    losses: Losses,
    extra: dict[str, Any],
    tell: Callable[[int, int], None],
) -> tuple[FloatArray, FloatArray]:
    """Return the mean loss of each candidate, and its standard error over the folds.

    A candidate is fitted on ``n`` records drawn with replacement from the other folds (None: as many as there are),
    with noise. If it takes public records as well, it gets half of them as such; the other half plays the private ones.
    """
    table = as_table(X if hasattr(X, "columns") else np.asarray(X), candidates[0])
    labels = np.asarray(y)
    if losses.bounds is not None:
        low, high = losses.bounds
        labels = np.clip(label_numbers(labels, (low, high), low + (high - low) / 2), low, high)
    size = len(table) if isinstance(table, Frame) else table.shape[0]
    if size < 2 * FOLDS or len(labels) != size:
        raise HedgerowError(
            f"search='public' needs at least {2 * FOLDS} public records with their labels. Got {size} with "
            f"{len(labels)} labels."
        )
    source = SeededRandomness(0, ("public search",))
    order = np.argsort(source.integers(1 << 60, size), kind="stable")
    found = np.zeros((FOLDS, len(candidates)))
    for fold in range(FOLDS):
        held = order[fold::FOLDS]
        others = np.setdiff1d(order, held)
        known = {name: value for name, value in extra.items() if not name.endswith("_public")}
        rows = others
        if "X_public" in extra:
            rows = others[::2]
            shown = others[1::2]
            known |= {"X_public": rows_of(table, shown, blank=False), "y_public": labels[shown]}
        drawn = rows[source.integers(len(rows), n or len(rows))]
        for i, candidate in enumerate(candidates):
            model = clone(candidate).set_params(random_state=SeededRandomness(fold, ("candidate", str(i))))
            model.fit(rows_of(table, drawn, blank=False), labels[drawn], **known)
            tried = losses.of(model, rows_of(table, held, blank=False), labels[held])
            found[fold, i] = tried.mean()
            tell(fold * len(candidates) + i + 1, FOLDS * len(candidates) + 1)
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(FOLDS)
