"""Writing predictions: the columns of the input as they were, then the new ones."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import IO, Any

import numpy.typing as npt

from hedgerow.bounds import FeatureSpace
from hedgerow.commands.tables import Block
from hedgerow.errors import HedgerowError

Columns = Mapping[str, npt.NDArray[Any]]


class CsvPredictions:
    """Rows as CSV; cells that came from a CSV file are written back as they were."""

    def __init__(self, file: IO[bytes], names: list[str], new: list[str], *, header: bool = True) -> None:
        self._file = file
        if header:
            self._write([[*names, *new]])

    def add(self, block: Block, new: Columns) -> None:
        """Write one block."""
        old = [c if isinstance(c, tuple) else c.to_pylist() for c in block.columns.values()]
        self._write(list(zip(*old, *(v.tolist() for v in new.values()), strict=True)))

    def _write(self, rows: Sequence[Sequence[Any]]) -> None:
        text = _csv_text(rows, quote_all=False)
        if "\r" in text:  # the csv module forgets to quote a lone carriage return when lines end in a line feed
            text = _csv_text(rows, quote_all=True)
        self._file.write(text.encode())

    def finish(self) -> None:
        """Do nothing: all is written."""


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
        categorical = dict(zip(space.names, space.is_categorical.tolist(), strict=True))
        self._numeric = {name for name, is_list in categorical.items() if not is_list}
        self._file, self._writer = file, None  # type: IO[bytes], Any

    def add(self, block: Block, new: Columns) -> None:
        """Write one block; the first one fixes the types."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = {name: self._column(block, name) for name in block.columns}
        table = pa.table({**columns, **{name: pa.array(values) for name, values in new.items()}})
        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        self._writer.write_table(table)

    def _column(self, block: Block, name: str) -> Any:
        import pyarrow as pa

        if not block.table.is_csv:
            return block.columns[name]
        return pa.array(block.numbers(name) if name in self._numeric else block.columns[name])

    def finish(self) -> None:
        """Write the footer."""
        if self._writer is None:
            raise HedgerowError("there are no rows to predict, and so no Parquet file; give at least one row.")
        self._writer.close()
