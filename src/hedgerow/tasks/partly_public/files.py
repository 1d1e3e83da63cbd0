"""What a command line needs: any of this package's JSON by its format, reports from files, the second task."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.randomness import Randomness
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.choose import Choice, choose
from hedgerow.tasks.partly_public.first import FirstReports
from hedgerow.tasks.partly_public.model import SemiModel
from hedgerow.tasks.partly_public.second import CellReports
from hedgerow.tasks.partly_public.task import SemiTask

__all__ = ["design_cells", "load", "read_cell_reports", "read_first_reports", "resolve"]

_KINDS: dict[str, Any] = {
    "hedgerow/semi-task": SemiTask,
    "hedgerow/cell-task": CellTask,
    "hedgerow/semi-model": SemiModel,
}


def load(text: str | bytes) -> SemiTask | CellTask | SemiModel:
    """Read a first task, a second task or a model, whichever it is.

    Examples
    --------
    >>> task = SemiTask.design(2, epsilon=1.0, label_bounds=(0, 1), feature_bounds=(0, 1), private_columns=[0])
    >>> load(task.to_json()) == task
    True
    """
    try:
        data = json.loads(text)
        kind = _KINDS[data["format"]]
    except (ValueError, TypeError, KeyError) as error:
        raise FormatError(f"this is none of {sorted(_KINDS)}: {error}") from error
    result: SemiTask | CellTask | SemiModel = kind.from_dict(data)
    return result


def read_first_reports(task: SemiTask, batches: Iterable[bytes]) -> FirstReports:
    """Read and merge files of first-round reports."""
    return FirstReports.concat(task, [FirstReports.from_bytes(task, data) for data in batches])


def read_cell_reports(task: CellTask, batches: Iterable[bytes]) -> Iterable[CellReports]:
    """Read files of second-round reports one after the other, for :meth:`SemiAggregate.add`."""
    return (CellReports.from_bytes(task, data) for data in batches)


def resolve(
    private: Any,
    epsilon: float,
    *,
    n_private: int | str,
    max_depth: int | str,
    n_bins: int | str,
    constant: float,
    hidden: bool = False,
) -> Choice:
    """Return the values in use: whatever is ``"auto"`` by criterion (15), from the masks alone.

    Hidden masks may not be looked at: then there is no histogram unless asked for, and depth 4.
    """
    given = (n_private, max_depth, n_bins)
    if hidden:
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
    max_depth: int | str = "auto",
    n_bins: int | str = "auto",
    constant: float = 0.1,
    rule: str = "max_edge",
    response: str = "k_ary",
    min_samples_leaf: int = 1,
    balance: float = 0.2,
    randomness: Randomness | int | None = None,
) -> CellTask:
    """Make the second task of the first round's reports; see :meth:`CellTask.design`."""
    choice = resolve(
        reports.private,
        reports.task.epsilon,
        n_private=n_private,
        max_depth=max_depth,
        n_bins=n_bins,
        constant=constant,
        hidden=reports.task.masks == "hidden",
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
