"""Class probabilities of models that hold one part a class; of two classes one part, for the second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.types import FloatArray

__all__ = ["probabilities", "probability_term"]


def probabilities(found: Sequence[FloatArray]) -> FloatArray:
    """Return class probabilities from the parts' predictions; of more than two classes, brought to a sum of 1.

    >>> probabilities([np.array([0.25])]).tolist(), probabilities([np.zeros(1)] * 4).tolist()
    ([[0.75, 0.25]], [[0.25, 0.25, 0.25, 0.25]])
    """
    shares = np.column_stack(found)
    if len(found) == 1:
        return np.column_stack([1 - shares, shares])
    total = shares.sum(axis=1, keepdims=True)
    return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / shares.shape[1])


def probability_term(shares: Sequence[Any]) -> Any:
    """Return the same as a term of a formula, from the parts' terms."""
    from hedgerow.formula.terms import constant, join, where_positive

    if len(shares) == 1:
        return join(constant(1.0) - shares[0], shares[0])
    value = join(*shares)
    total = value.apply("row_sum")
    return where_positive(total, value / total, constant([1.0 / len(shares)] * len(shares)))
