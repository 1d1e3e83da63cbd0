"""Tables of results: who is best, by how much, beside the paper's figure.

Marks follow the papers. ``"wilcoxon"`` (LPDT, HistOfTree): the best of a row is bold, the second best underlined, and a
star says that the best is significantly better than every method of another family (signed-rank test over the repeats,
5 %). ``"overlap"`` (RPWithPrior): bold is whatever comes within one deviation, its own plus the best's, of the best.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from hedgerow.compare.scores import Summary
from hedgerow.errors import HedgerowError
from hedgerow_experiments.ranks import mean_ranks, paired, signed_rank

__all__ = ["LEVEL", "Entry", "Table", "rank_sums", "tabulate"]

LEVEL = 0.05


class Entry(NamedTuple):
    """One cell: our mean and deviation over repeats, the paper's figure, and marks."""

    mean: float
    deviation: float
    repeats: int
    paper: float | None = None
    best: bool = False
    second: bool = False
    star: bool = False

    @property
    def ratio(self) -> float | None:
        """Ours over the paper's."""
        return self.mean / self.paper if self.paper else None


class Table(NamedTuple):
    """Rows of entries (None where nothing was measured), and the sum of ranks by column over complete rows."""

    corner: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Entry | None, ...]], ...]
    ranks: tuple[float, ...] | None = None


def tabulate(
    summaries: Iterable[Summary],
    *,
    row: Callable[[Summary], str] = lambda s: s.dataset,
    column: Callable[[Summary], str] = lambda s: s.method,
    columns: Sequence[str] | None = None,
    paper: Mapping[tuple[str, str], float] | None = None,
    better: str = "lower",
    marks: str = "wilcoxon",
    family: Callable[[str], str] = str,
    compete: Sequence[str] | None = None,
    corner: str = "data",
) -> Table:
    """Arrange summaries in a table.

    Parameters
    ----------
    summaries : iterable of Summary
        Cells; each (row, column) at most once.
    row, column : callable
        What names the row and the column of a summary.
    columns : sequence of str, optional
        Which columns, in which order; by default all as they come.
    paper : mapping of (row, column) to float, optional
        Printed figures.
    better : {"lower", "higher"}
        Which values are good.
    marks : {"wilcoxon", "overlap", "none"}
        The convention, see above.
    family : callable
        Methods of one family are not tested against each other (variants of one method).
    compete : sequence of str, optional
        Columns that may be marked and ranked (non-private ends may not); by default all.
    """
    if marks not in ("wilcoxon", "overlap", "none"):
        raise HedgerowError(f"The 'marks' parameter must be 'wilcoxon', 'overlap' or 'none'. Got {marks!r} instead.")
    cells: dict[str, dict[str, Summary]] = {}
    for s in summaries:
        line = cells.setdefault(row(s), {})
        if column(s) in line:
            raise HedgerowError(f"two results for {row(s)!r}, {column(s)!r}: filter them first.")
        line[column(s)] = s
    names = tuple(columns if columns is not None else dict.fromkeys(c for line in cells.values() for c in line))
    rivals = [c for c in names if compete is None or c in compete]
    rows = []
    for label, line in cells.items():
        entries = {
            c: Entry(s.mean, s.deviation, len(s.values), (paper or {}).get((label, c)))
            for c, s in line.items()
            if c in names
        }
        chosen = {c: line[c] for c in rivals if c in line}
        entries |= _marked(chosen, entries, better, marks, family)
        rows.append((label, tuple(entries.get(c) for c in names)))
    return Table(corner, names, tuple(rows), rank_sums(names, rows, rivals, better))


def _marked(
    rivals: dict[str, Summary], entries: dict[str, Entry], better: str, marks: str, family: Callable[[str], str]
) -> dict[str, Entry]:
    """Return the entries of a row that bear marks."""
    if marks == "none" or not rivals:
        return {}
    sign = 1.0 if better == "lower" else -1.0
    least = min(sign * s.mean for s in rivals.values())
    best = [c for c, s in rivals.items() if sign * s.mean == least]
    if marks == "overlap":
        reach = max((_spread(rivals[c]) for c in best), default=0.0)
        best = [c for c, s in rivals.items() if sign * s.mean - _spread(s) <= least + reach]
        return {c: entries[c]._replace(best=True) for c in best}
    out = {}
    for c in best:
        others = [s for d, s in rivals.items() if family(d) != family(c)]
        tests = (paired(rivals[c].values, s.values) for s in others)
        star = bool(others) and all(signed_rank(*((a, b) if better == "lower" else (b, a))) < LEVEL for a, b in tests)
        out[c] = entries[c]._replace(best=True, star=star)
    rest = {c: sign * s.mean for c, s in rivals.items() if c not in best}
    for c in [c for c, v in rest.items() if v == min(rest.values())] if len(best) == 1 else []:
        out[c] = entries[c]._replace(second=True)
    return out


def _spread(s: Summary) -> float:
    return 0.0 if math.isnan(s.deviation) else s.deviation


def rank_sums(
    columns: Sequence[str],
    rows: Iterable[tuple[str, Sequence[Entry | None]]],
    rivals: Sequence[str],
    better: str = "lower",
) -> tuple[float, ...] | None:
    """Return the sum of ranks by column over rows where every rival was measured; NaN for other columns."""
    at = [i for i, c in enumerate(columns) if c in rivals]
    sums = dict.fromkeys(at, 0.0)
    complete = 0
    for _, entries in rows:
        values = [entries[i] for i in at]
        if any(e is None for e in values):
            continue
        complete += 1
        signed = [e.mean if better == "lower" else -e.mean for e in values if e is not None]
        for i, rank in zip(at, mean_ranks(signed), strict=True):
            sums[i] += rank
    return tuple(sums.get(i, math.nan) for i in range(len(columns))) if complete and len(at) > 1 else None
