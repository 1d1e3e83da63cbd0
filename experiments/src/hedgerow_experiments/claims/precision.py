"""When fewer repeats than a paper's are enough: the standard error is below a tenth of what a claim is about."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from hedgerow.compare.scores import Summary
from hedgerow_experiments.ranks import paired

__all__ = ["FEWEST", "SHARE", "Precision", "precision"]

SHARE = 0.1
"""The standard error must be below this share of the difference."""
FEWEST = 5
"""Of fewer repeats the standard error is itself hardly known, so that it decides nothing."""


class Precision(NamedTuple):
    """The difference that a claim is about, its standard error over splits, and the fewest splits of a cell.

    >>> Precision(0.3, 0.02, 10).enough, Precision(0.3, 0.04, 10).enough, Precision(0.3, 0.02, 2).enough
    (True, False, False)
    >>> str(Precision(-0.3, 0.0214, 10))
    '-30 % ± 2.1 %'
    """

    difference: float
    error: float
    repeats: int

    @property
    def enough(self) -> bool:
        """Whether more repeats could hardly change what was found; never where the error is not known."""
        return self.repeats >= FEWEST and self.error < SHARE * abs(self.difference)

    def __str__(self) -> str:
        return f"{100 * self.difference:.2g} % ± {100 * self.error:.2g} %"


def precision(pairs: Iterable[tuple[Summary, Summary]]) -> Precision | None:
    """Return by how much the first are lower than the second, relative to the second, in the mean over cells.

    Differences are taken split by split. Cells of one data set share its splits, so their errors are added up as if
    they went together, which they do at worst; those of different data sets are independent. None if no cell has two
    splits, or where the second are zero.

    Examples
    --------
    >>> def cell(dataset, *values):
    ...     return Summary(dataset, "", "m", 1.0, None, "mse", "", dict(enumerate(values)))
    >>> precision([(cell("A", 1.0, 2.0, 3.0), cell("A", 2.0, 3.0, 4.0))])
    Precision(difference=0.3333333333333333, error=0.0, repeats=3)
    """
    errors: dict[str, list[float]] = defaultdict(list)
    differences = []
    fewest = []
    for own, rival in pairs:
        a, b = (np.array(values) for values in paired(own.values, rival.values))
        if not len(a) or not b.mean():
            return None
        gaps = (b - a) / abs(b.mean())
        differences.append(float(gaps.mean()))
        error = float(gaps.std(ddof=1) / math.sqrt(len(gaps))) if len(gaps) > 1 else math.nan
        errors[own.dataset.partition(" ")[0]].append(error)  # a kind of masks may stand after the name
        fewest.append(len(gaps))
    if not differences:
        return None
    total = math.hypot(*(math.fsum(some) for some in errors.values()))
    return Precision(math.fsum(differences) / len(differences), total / len(differences), min(fewest))
