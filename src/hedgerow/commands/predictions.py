"""Writing predictions: the columns of the input as they were, then the new ones."""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

import numpy.typing as npt

from hedgerow.commands.files import output
from hedgerow.commands.parts import Parts
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError
from hedgerow.features import NumericFeature
from hedgerow.space import FeatureSpace
from hedgerow.tables import Block, Table

__all__ = ["CsvPredictions", "ParquetPredictions", "Predictions"]

Columns = Mapping[str, npt.NDArray[Any]]
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True)
class Predictions:
    """Predictions for a table, to a file: Parquet if its name says so, else CSV.

    Attributes
    ----------
    path : str
        The output.
    table : Table
        New records.
    space : FeatureSpace
        The model's features.
    new : list of str
        Names of the new columns.
    predict : callable
        From a block of rows to the new columns.
    """

    path: str
    table: Table
    space: FeatureSpace
    new: list[str]
    predict: Callable[[Block], Sequence[npt.NDArray[Any]]]

    def _writer(self, file: IO[bytes]) -> CsvPredictions | ParquetPredictions:
        if self.path.lower().endswith(PARQUET):
            return ParquetPredictions(file, self.space)
        return CsvPredictions(file, self.table.names, self.new)

    def _columns(self, block: Block) -> Columns:
        return dict(zip(self.new, self.predict(block), strict=True))

    def run(self, arguments: argparse.Namespace, work: dict[str, Any]) -> int:
        """Write, or with ``--resume`` go on writing; return the number of rows."""
        return self.resume(work, [arguments.model, arguments.new]) if arguments.resume else self.write()

    def write(self, option: str = "-o") -> int:
        """Predict block by block, all or nothing; return the number of rows."""
        n = 0
        with output(self.path, option=option) as file, Progress("predicting") as progress:
            writer = self._writer(file)
            for block in self.table.blocks():
                writer.add(block, self._columns(block))
                n += len(block)
                progress.update(n, self.table.share)
            writer.finish()
        return n

    def resume(self, work: dict[str, Any], inputs: Sequence[str]) -> int:
        """Predict block by block into parts, then put the parts together: the same bytes as :meth:`write`.

        ``work`` and the ``inputs`` say whether parts that are there already are of this very work.
        """
        writer = self._writer(io.BytesIO())  # packs; says now if something is not installed
        parts = Parts(self.path, {**work, "new": self.new}, inputs)
        n = 0
        with Progress("predicting") as progress:
            for i, block in enumerate(self.table.blocks()):
                n += len(block)
                if i >= len(parts):
                    parts.add(writer.pack(block, self._columns(block)))
                progress.update(n, self.table.share)
        if not n:
            parts.remove()
        with output(self.path) as file:
            whole = self._writer(file)
            for data in parts:
                whole.unpack(data)
            whole.finish()
        parts.remove()
        return n


class CsvPredictions:
    """Rows as CSV; cells that came from a CSV file are written back as they were."""

    def __init__(self, file: IO[bytes], names: list[str], new: list[str]) -> None:
        self._file = file
        file.write(_csv_bytes([[*names, *new]]))

    def add(self, block: Block, new: Columns) -> None:
        """Write one block."""
        self.unpack(self.pack(block, new))

    def pack(self, block: Block, new: Columns) -> bytes:
        """Return one block as bytes."""
        old = [c if isinstance(c, tuple) else c.to_pylist() for c in block.columns.values()]
        return _csv_bytes(list(zip(*old, *(v.tolist() for v in new.values()), strict=True)))

    def unpack(self, data: bytes) -> None:
        """Write a block that was packed."""
        self._file.write(data)

    def finish(self) -> None:
        """Do nothing: all is written."""


def _csv_bytes(rows: Sequence[Sequence[Any]]) -> bytes:
    text = _csv_text(rows, quote_all=False)
    if "\r" in text:  # the csv module forgets to quote a lone carriage return when lines end in a line feed
        text = _csv_text(rows, quote_all=True)
    return text.encode()


def _csv_text(rows: Sequence[Sequence[Any]], *, quote_all: bool) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL).writerows(rows)
    return text.getvalue()


class ParquetPredictions:
    """Rows as Parquet; from a CSV file the numeric features become numbers and other columns stay text."""

    def __init__(self, file: IO[bytes], space: FeatureSpace) -> None:
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise HedgerowError("Parquet files need pyarrow: pip install 'hedgerow[files]'.") from None
        self._numeric = {column.name for column in space.columns if isinstance(column, NumericFeature)}
        self._file, self._writer = file, None  # type: IO[bytes], Any

    def add(self, block: Block, new: Columns) -> None:
        """Write one block; the first one fixes the types."""
        self._write(self._arrow(block, new))

    def pack(self, block: Block, new: Columns) -> bytes:
        """Return one block as bytes, with its types: an Arrow stream."""
        import pyarrow as pa

        table = self._arrow(block, new)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return bytes(sink.getvalue())

    def unpack(self, data: bytes) -> None:
        """Write a block that was packed."""
        import pyarrow as pa

        with pa.ipc.open_stream(data) as stream:
            self._write(stream.read_all())

    def _write(self, table: Any) -> None:
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def _arrow(self, block: Block, new: Columns) -> Any:
        import pyarrow as pa

        columns = {name: self._column(block, name) for name in block.columns}
        return pa.table({**columns, **{name: pa.array(values) for name, values in new.items()}})

    def _column(self, block: Block, name: str) -> Any:
        import pyarrow as pa

        if not block.table.is_csv:
            return block.columns[name]
        if name not in self._numeric:
            return pa.array(block.columns[name])
        return pa.array(block.private_numbers(name), from_pandas=True)  # what is no number is null

    def finish(self) -> None:
        """Write the footer."""
        if self._writer is None:
            raise HedgerowError("there are no rows to predict, and so no Parquet file; give at least one row.")
        self._writer.close()
