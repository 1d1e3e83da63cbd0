"""Batches of reports as files, written block by block."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np

from hedgerow.collect.files import PARQUET
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import HEADER_BYTES, PARQUET_OPTIONS, TOKEN_BYTES, Reports

__all__ = ["BytesBatch", "ParquetBatch", "open_batch", "take_room"]

_ZEROS = 1 << 20  # bytes written at a time: 1 MB of memory for a file of any size


class BytesBatch:
    """The format of :meth:`Reports.to_bytes`, without holding all reports in memory.

    Ids follow the header at once; messages wait in a nameless temporary file and are appended at the end, when
    their number is known.
    """

    def __init__(self, file: IO[bytes], task: Task, simulation: bool) -> None:
        self._file = file
        # The header of an empty batch; its last 8 bytes are the number of reports.
        self._head = _none(task, simulation).to_bytes()
        file.write(self._head)
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115 (closed by close)
        self.n = 0

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

    def close(self) -> None:
        """Drop what waits."""
        self._messages.close()


class ParquetBatch:
    """The format of :meth:`Reports.to_parquet`, one row group a block."""

    def __init__(self, file: IO[bytes], task: Task, simulation: bool) -> None:
        schema = _none(task, simulation).to_arrow().schema  # says what is missing if pyarrow is
        import pyarrow.parquet as pq

        file.truncate()
        self._writer = pq.ParquetWriter(file, schema, **PARQUET_OPTIONS)
        self.n = 0

    def add(self, reports: Reports) -> None:
        """Append reports."""
        self._writer.write_table(reports.to_arrow())
        self.n += len(reports)

    def finish(self) -> None:
        """Write the footer."""
        self._writer.close()

    def close(self) -> None:
        """Let go of the file."""
        self._writer.close()


@contextlib.contextmanager
def open_batch(path: str, file: IO[bytes], task: Task, simulation: bool) -> Iterator[Any]:
    """Yield what writes reports to a file, in the format that its name asks for."""
    kind = ParquetBatch if path.lower().endswith(PARQUET) else BytesBatch
    batch = kind(file, task, simulation)
    try:
        yield batch
    finally:
        batch.close()


def take_room(file: IO[bytes], task: Task, n: int) -> None:
    """Fill a file with as many zeros as ``n`` reports have bytes: a full disk shows here."""
    left = HEADER_BYTES + n * (TOKEN_BYTES + task.encoding.width)
    while left > 0:
        file.write(bytes(min(left, _ZEROS)))
        left -= _ZEROS
    file.flush()
    file.seek(0)


def _none(task: Task, simulation: bool) -> Reports:
    tokens = np.empty((0, TOKEN_BYTES), dtype=np.uint8)
    return Reports(task, tokens, np.empty((0, task.encoding.width), dtype=np.uint8), simulation)
