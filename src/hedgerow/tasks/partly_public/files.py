"""The second task, from the reports of the first round."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.randomness import Randomness
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.choose import Choice, choose
from hedgerow.tasks.partly_public.first import FirstReports

__all__ = ["design_cells", "resolve"]


def resolve(
    private: Any,
    epsilon: float,
    *,
    n_private: int | str,
    max_depth: int | str,
    n_bins: int | str,
    constant: float,
    hide_mask: bool = False,
) -> Choice:
    """Return the values in use: whatever is ``"auto"`` by criterion (15), from the masks alone.

    Hidden masks may not be looked at: then there is no histogram unless asked for, and depth 4.
    """
    given = (n_private, max_depth, n_bins)
    if hide_mask:
        values = [d if isinstance(v, str) else int(v) for v, d in zip(given, (0, 4, 2), strict=True)]
        return Choice(values[0], values[1], values[2], float("nan"))
    if not any(isinstance(v, str) for v in given):
        return Choice(int(n_private), int(max_depth), int(n_bins), float("nan"))
    mask = np.asarray(private)
    return choose(mask, epsilon, n_private=n_private, max_depth=max_depth, n_bins=n_bins, constant=constant)


def design_cells(
    reports: FirstReports,
    *,
    n_private: int | str = "auto",
    max_depth: int | str = 4,
    n_bins: int | str = 2,
    constant: float = 0.1,
    rule: str = "max_edge",
    response: str = "k_ary",
    min_samples_leaf: int = 1,
    balance: float = 0.2,
    randomness: Randomness | int | None = None,
) -> CellTask:
    """Make the second task of the first round's reports; see :meth:`CellTask.design`.

    The rule "auto" is "cart" if the task fixes what is private, else "max_edge".
    """
    if rule == "auto":
        rule = "cart" if reports.task.masks == "policy" else "max_edge"
    choice = resolve(
        reports.private,
        reports.task.epsilon,
        n_private=n_private,
        max_depth=max_depth,
        n_bins=n_bins,
        constant=constant,
        hide_mask=reports.task.masks == "hidden",
    )
    return CellTask.design(
        reports,
        n_private=choice.n_private,
        max_depth=choice.max_depth,
        n_bins=choice.n_bins,
        rule=rule,
        response=response,
        min_samples_leaf=min_samples_leaf,
        balance=balance,
        randomness=randomness,
    )
