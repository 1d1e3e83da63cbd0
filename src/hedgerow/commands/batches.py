"""Batches of reports as files, written block by block; and a check for copies in memory."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import IO

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.tasks.reports import PARQUET_OPTIONS, Reports
from hedgerow.tasks.tree.task import LocalTask

PARQUET = (".parquet", ".pq")


class BytesBatch:
    """The format of :meth:`Reports.to_bytes`, without holding all reports in memory.

    Ids follow the header at once; messages wait in a nameless temporary file and are appended at the end, when
    their number is known.
    """

    def __init__(self, file: IO[bytes], task: LocalTask, simulation: bool) -> None:
        self._file, self._messages, self.n = file, tempfile.TemporaryFile(), 0  # noqa: SIM115 (closed by __exit__)
        # The header of an empty batch; its last 8 bytes are the number of reports.
        self._head = _none(task, simulation).to_bytes()
        file.write(self._head)

    def add(self, reports: Reports) -> None:
        """Append reports."""
        self._file.write(reports.tokens.tobytes())
        self._messages.write(reports.payloads.tobytes())
        self.n += len(reports)

    def finish(self) -> None:
        """Append the messages and set the number of reports."""
        self._messages.seek(0)
        shutil.copyfileobj(self._messages, self._file, 1 << 20)
        self._file.seek(len(self._head) - 8)
        self._file.write(self.n.to_bytes(8, "little"))
        self._file.seek(0, os.SEEK_END)

    def __enter__(self) -> BytesBatch:
        return self

    def __exit__(self, *_: object) -> None:
        self._messages.close()


class ParquetBatch:
    """The format of :meth:`Reports.to_parquet`, one row group a block."""

    def __init__(self, file: IO[bytes], task: LocalTask, simulation: bool) -> None:
        schema = _none(task, simulation).to_arrow().schema  # says what is missing if pyarrow is
        import pyarrow.parquet as pq

        self._writer, self.n = pq.ParquetWriter(file, schema, **PARQUET_OPTIONS), 0

    def add(self, reports: Reports) -> None:
        """Append reports."""
        self._writer.write_table(reports.to_arrow())
        self.n += len(reports)

    def finish(self) -> None:
        """Write the footer."""
        self._writer.close()

    def __enter__(self) -> ParquetBatch:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()


def _none(task: LocalTask, simulation: bool) -> Reports:
    empty = np.empty((0, 12), dtype=np.uint8), np.empty((0, task.encoding.width), dtype=np.uint8)
    return Reports(task, *empty, simulation)


def check_no_copies(tokens: Sequence[npt.NDArray[np.uint8]], paths: Sequence[str]) -> None:
    """Refuse a report that is there twice: its holder would count twice.

    The 12 random bytes of two different reports agree with probability 2**-96.
    """
    starts = np.concatenate([np.ascontiguousarray(t[:, :8]).view("<u8")[:, 0] for t in tokens])
    order = np.argsort(starts, kind="stable")
    # Equal in the first 8 bytes: few, unless there are copies.
    close = np.flatnonzero(np.diff(starts[order].astype(np.uint64)) == 0)
    if not close.size:
        return
    rows, origin = np.concatenate(tokens), np.repeat(np.arange(len(paths)), [len(t) for t in tokens])
    first, second = order[close], order[close + 1]
    same = (rows[first] == rows[second]).all(axis=1)
    if same.any():
        i = int(np.flatnonzero(same)[0])
        a, b = int(origin[first[i]]), int(origin[second[i]])
        where = f"twice within {paths[a]}" if a == b else f"in {paths[a]} and again in {paths[b]}"
        raise FormatError(f"{int(same.sum())} reports are there twice, one of them {where}; leave out the copy.")
