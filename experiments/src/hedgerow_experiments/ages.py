"""Whether results are of the code as it is now, of other code, or of code that nobody wrote down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Experiment, Selection
from hedgerow_experiments.export import FOLDER, held_cells, open_results
from hedgerow_experiments.fingerprint import fingerprint, fingerprints
from hedgerow_experiments.runner import outdated

__all__ = ["Ages", "ages", "warning"]


class Ages(NamedTuple):
    """How many rows are of this code, of other code by method, and of code that is not known.

    >>> print(Ages(10, {"LPDT": 2}, 3))
    10 rows of this code; 2 of other code (LPDT 2); 3 of code that was not kept
    """

    own: int
    other: dict[str, int]
    unknown: int

    def __str__(self) -> str:
        said = [f"{self.own} rows of this code"]
        if self.other:
            named = ", ".join(f"{method} {n}" for method, n in self.other.items())
            said.append(f"{sum(self.other.values())} of other code ({named})")
        if self.unknown:
            said.append(f"{self.unknown} of code that was not kept")
        return "; ".join(said)


def ages(experiment: Experiment, rows: Iterable[Row]) -> Ages:
    """Count the rows of an experiment by the code that they were computed by."""
    by_group = fingerprints(experiment)
    codes = {method: by_group[group.name] for group in experiment.groups for method in group.shown}
    usual = fingerprint(experiment.compute)  # of a method that no group names
    own = unknown = 0
    other: Counter[str] = Counter()
    for row in rows:
        if not row.code:
            unknown += 1
        elif row.code == codes.get(row.method, usual):
            own += 1
        else:
            other[row.method] += 1
    return Ages(own, dict(other), unknown)


def warning(
    experiment: Experiment, folder: Path = FOLDER, wanted: Selection | None = None, *, adding: bool = False
) -> str:
    """Return what to say before a run that keeps cells of other code beside new ones; nothing if it keeps none.

    Of cells that are kept in the raw results, and where one is ``adding`` to a file, of those that it holds.
    """
    kept = set(outdated(experiment, open_results(experiment, folder), wanted))
    if adding:
        held = held_cells(experiment, folder) - held_cells(experiment, folder, fresh=True)
        kept |= held & set(experiment.keys(wanted))
    if not kept:
        return ""
    some = ", ".join(dict.fromkeys(key.group for key in sorted(kept)))
    return (
        f"{experiment.name}: {len(kept)} cells are kept that were computed by other code than this ({some}); new ones "
        "are put beside them. --fresh computes them anew."
    )
