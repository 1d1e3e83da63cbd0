"""The engine for files: reports are streamed in blocks, whatever the size of the files.

A file of reports is a batch (:meth:`Reports.to_bytes`), one report, or Parquet (:meth:`Reports.to_parquet`), which is
read by row groups. Memory does not grow with the files, but for two bits a report that tell copies.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.collect.checkpoint import Checkpoint
from hedgerow.collect.dedupe import Copies, Source, find_copies
from hedgerow.collect.memory import MemorySource, add_source
from hedgerow.errors import FormatError
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import (
    HEADER_BYTES,
    TOKEN_BYTES,
    Report,
    Reports,
    arrow_rows,
    batch_head,
    check_schema,
)
from hedgerow.tasks.totals import Totals
from hedgerow.tasks.trimmed import Groups

__all__ = [
    "PARQUET",
    "BatchFile",
    "ParquetReports",
    "aggregate",
    "aggregate_groups",
    "open_reports",
    "pieces",
]

PARQUET = (".parquet", ".pq")
_BLOCK = 1 << 16  # reports read at a time, at most: the row group that Parquet files are written with
_BLOCK_BYTES = 1 << 25  # of a block, where reports are long: 32 MB

Progress = Callable[[int, float], None]


def open_reports(task: Task, path: str) -> Source:
    """Open a file of reports of any of the three formats."""
    if path.lower().endswith(PARQUET):
        return ParquetReports(task, path)
    size = os.path.getsize(path)
    with _naming(path):
        if size == 0:
            raise FormatError("this is not a batch of reports: it is empty.")
        with open(path, "rb") as file:
            head = file.read(max(HEADER_BYTES, 18 + task.encoding.width))
        if head[:4] != b"HDGR" and size == 18 + task.encoding.width:
            return MemorySource(Reports.collect(task, [Report.from_bytes(task, head)]), path)
        n, simulation = batch_head(task, head, size)
    return BatchFile(task, path, n, simulation)


class BatchFile:
    """A batch in a file: a header, all ids, all payloads. Read by position, never whole."""

    def __init__(self, task: Task, path: str, n: int, simulation: bool) -> None:
        self.task = task
        self.path = path
        self.simulation = simulation
        self._n = n

    def __len__(self) -> int:
        return self._n

    def tokens(self, start: int, stop: int) -> npt.NDArray[np.uint8]:
        """Return the random parts of the ids of some reports."""
        return self._rows(HEADER_BYTES, TOKEN_BYTES, start, stop)

    def reports(self, start: int, stop: int) -> Reports:
        """Return some reports, checked."""
        first = HEADER_BYTES + self._n * TOKEN_BYTES
        width = self.task.encoding.width
        payloads = self._rows(first, width, start, stop)
        with _naming(self.path):
            return Reports.checked(self.task, self.tokens(start, stop), payloads, self.simulation)

    def _rows(self, offset: int, width: int, start: int, stop: int) -> npt.NDArray[np.uint8]:
        count = (stop - start) * width
        data = np.fromfile(self.path, dtype=np.uint8, count=count, offset=offset + start * width)
        if data.size != count:
            raise FormatError(f"{self.path} has become shorter while it was read; start again.")
        return data.reshape(-1, width)


class ParquetReports:
    """Reports in a Parquet file, read by row groups; the last group that was read is kept."""

    def __init__(self, task: Task, path: str) -> None:
        self.task = task
        self.path = path
        self._file = _parquet_file(path)
        self.simulation = check_schema(task, self._file.schema_arrow, path)
        meta = self._file.metadata
        counts = [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]
        self.groups = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self._held: dict[str, tuple[int, npt.NDArray[np.uint8]]] = {}

    def __len__(self) -> int:
        return int(self.groups[-1])

    def tokens(self, start: int, stop: int) -> npt.NDArray[np.uint8]:
        """Return the random parts of the ids of some reports; no payload is read."""
        return self._rows("token", TOKEN_BYTES, start, stop)

    def reports(self, start: int, stop: int) -> Reports:
        """Return some reports, checked."""
        payloads = self._rows("payload", self.task.encoding.width, start, stop)
        with _naming(self.path):
            return Reports.checked(self.task, self.tokens(start, stop), payloads, self.simulation)

    def _rows(self, name: str, width: int, start: int, stop: int) -> npt.NDArray[np.uint8]:
        parts = []
        for group in range(int(np.searchsorted(self.groups, start, side="right")) - 1, len(self.groups) - 1):
            first = int(self.groups[group])
            if first >= stop:
                break
            parts.append(self._group(group, name, width)[max(0, start - first) : stop - first])
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty((0, width), dtype=np.uint8), *parts])

    def _group(self, group: int, name: str, width: int) -> npt.NDArray[np.uint8]:
        held = self._held.get(name)
        if held is None or held[0] != group:
            self._held.pop(name, None)
            try:
                table = self._file.read_row_group(group, columns=[name], use_threads=False)
            except (ValueError, OSError) as error:
                raise FormatError(f"{self.path} is not a Parquet file of reports: {error}") from error
            held = self._held[name] = (group, arrow_rows(table.column(name), width, self.path))
        return held[1]


def pieces(task: Task, sources: Sequence[Source]) -> Iterator[tuple[int, int, slice]]:
    """Yield (number of the first report, index of the source, rows within it), in blocks of at most 32 MB."""
    rows = max(256, min(_BLOCK, _BLOCK_BYTES // (task.encoding.width + TOKEN_BYTES)))
    before = 0
    for i, source in enumerate(sources):
        for start in range(0, len(source), rows):
            yield before + start, i, slice(start, min(start + rows, len(source)))
        before += len(source)


def aggregate(
    task: Task,
    paths: Sequence[str],
    *,
    copies: str = "drop",
    checkpoint: str | None = None,
    progress: Progress | None = None,
    check: Callable[[Reports], None] | None = None,
) -> tuple[Totals, Copies]:
    """Add up the reports in files; return the totals and what was found about copies.

    Parameters
    ----------
    task : Task
        What the reports answer.
    paths : sequence of str
        Files of reports, in any of the formats that :func:`open_reports` reads.
    copies : {"drop", "refuse", "count"}
        See :func:`hedgerow.collect.memory.aggregate`.
    checkpoint : str, optional
        A file that keeps totals and position every few seconds. If it is there already, and was made from these very
        files, adding goes on from where it stood; the result is the same to the last bit. It is removed at the end.
    progress : callable, optional
        Called with the number of reports added and their share.
    check : callable, optional
        Called with every block of reports before it is added; raises to refuse them.
    """
    sources = [open_reports(task, str(path)) for path in paths]
    found = find_copies(sources, copies=copies)
    saved = Checkpoint(checkpoint, task, [str(p) for p in paths], copies) if checkpoint is not None else None
    total, done = saved.load() if saved is not None else (task.totals(), 0)
    for start, i, rows in pieces(task, sources):
        stop = start + rows.stop - rows.start
        if stop <= done:
            continue
        block = sources[i].reports(rows.start, rows.stop)
        if check is not None:
            with _naming(str(paths[i])):
                check(block)
        add_source(total, block, found.keep(start, stop))
        if saved is not None:
            saved.save(total, stop)
        if progress is not None:
            progress(stop, stop / found.n_reports)
    if saved is not None:
        saved.remove()
    return total, found


def aggregate_groups(
    task: Task,
    paths: Sequence[str],
    key: bytes | None,
    n_groups: int,
    *,
    copies: str = "drop",
    progress: Progress | None = None,
) -> tuple[list[Totals], int]:
    """Add up groups of reports, counting an id once over all of them; return them, and how many copies were left out.

    Parameters
    ----------
    key : bytes, optional
        Reports are dealt into ``n_groups`` by their ids under this key; if None, each file is a group.
    copies, progress
        See :func:`aggregate`.
    """
    if key is None:
        parts = [task.totals() for _ in paths]
        return parts, _add_to(task, paths, lambda i: parts[i], copies, progress).n_copies
    groups = Groups(task, n_groups, key)
    return groups.parts, _add_to(task, paths, lambda _: groups, copies, progress).n_copies


def _add_to(
    task: Task, paths: Sequence[str], part: Callable[[int], Totals | Groups], copies: str, progress: Progress | None
) -> Copies:
    """Add the reports of each file to its part."""
    sources = [open_reports(task, str(path)) for path in paths]
    found = find_copies(sources, copies=copies)
    for start, i, rows in pieces(task, sources):
        stop = start + rows.stop - rows.start
        add_source(part(i), sources[i].reports(rows.start, rows.stop), found.keep(start, stop))
        if progress is not None:
            progress(stop, stop / found.n_reports)
    return found


def _parquet_file(path: str) -> Any:
    if not os.path.exists(path):
        raise FileNotFoundError(2, "No such file or directory", path)
    from hedgerow.tasks.reports import _arrow

    pa, pq = _arrow()
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{path} is not a Parquet file of reports: {error}") from error


class _naming:
    """Put the name of a file in front of whatever turns out to be wrong with it."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, FormatError):
            raise FormatError(f"{self.path}: {error}") from error
