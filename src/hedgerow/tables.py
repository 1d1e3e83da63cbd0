"""Reading CSV and Parquet files as blocks of rows, with errors that name the file, the line and the column.

CSV is read by the standard library; large files by pyarrow where it is installed, with the same result. Parquet
needs pyarrow. Cells of a CSV file stay text until a column is asked for as numbers, and a category "007" stays "007".
That the third of some public records holds a stray word is an error in its place; of private ones, each cell counts
as the task says, for an error would tell on its record. A file that is no table at all is refused, whatever the task.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import sys
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from itertools import islice
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.features import NumericFeature
from hedgerow.frames import Frame
from hedgerow.space import FeatureSpace
from hedgerow.tasks.question import Question
from hedgerow.types import FloatArray
from hedgerow.values import numbers

STDIN = "-"
"""The name of standard input."""
ROWS = 1 << 16  # records read at a time: some megabytes, whatever the file holds
_BLOCK_BYTES = 1 << 25  # of a block, where rows are long: 32 MB
LARGE = 1 << 23  # bytes of CSV from which pyarrow is worth its start-up

_MOST = 1 << 63  # of a record's number


class Block:
    """Some consecutive rows of a file: columns as lists of text (CSV) or Arrow arrays."""

    def __init__(self, table: Table, start: int, columns: dict[str, Any], lines: list[int] | None) -> None:
        self.table = table
        self.start = start
        self.columns = columns
        self.lines = lines

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def private(self, question: Question) -> tuple[Any, npt.NDArray[Any] | None]:
        """Return private records and their labels, for the task to say how they count: no cell is an error.

        A column that the file lacks is missing in every record. Public numbers of records take their features' place.
        """
        label = question.label
        y = None if label is None else self._private(label.name, label.classes is None)
        if question.numbered:
            return self.whole_numbers("record"), y
        columns = {f.name: self._private(f.name, isinstance(f, NumericFeature)) for f in question.features}
        return Frame(columns, len(self)), y

    def whole_numbers(self, name: str) -> npt.NDArray[np.int64]:
        """Return a column of *public* whole numbers from 0; anything else is an error in its place."""
        texts = [str(cell).strip() for cell in _cells(self.columns[name])]
        for i, text in enumerate(texts):
            if not (text.isascii() and text.isdecimal() and int(text) < _MOST):
                raise self.error(i, name, f"{_said(text)} where a whole number from 0 is expected; correct it")
        return np.array([int(text) for text in texts], dtype=np.int64)

    def private_numbers(self, name: str) -> FloatArray:
        """Return a column of private numbers, NaN where a cell is none."""
        return _floats(self.columns[name])

    def private_column(self, name: str, *, numeric: bool) -> npt.NDArray[Any]:
        """Return a private column as numbers, or as whatever its cells hold; an empty cell is None."""
        values = self._private(name, numeric)
        if not numeric:
            values[[value == "" for value in values.tolist()]] = None
        return values

    def _private(self, name: str, numeric: bool) -> npt.NDArray[Any]:
        if name not in self.columns:
            return np.full(len(self), None)
        column = self.columns[name]
        return _floats(column) if numeric else _objects(_cells(column))

    def numbers(self, name: str) -> FloatArray:
        """Return a column of *public* records as finite floats; anything else is an error in its place."""
        column = self.columns[name]
        values = _floats(column)
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            cell = _cells(column)[int(bad[0])]
            raise self.error(int(bad[0]), name, f"{_said(cell)} where a number is expected; correct or impute it")
        return values

    def texts(self, name: str) -> npt.NDArray[np.object_]:
        """Return a column of *public* records as categories; a missing one is an error in its place."""
        cells = _cells(self.columns[name])
        for i, cell in enumerate(cells):
            if cell is None or cell == "" or (isinstance(cell, float) and math.isnan(cell)):
                raise self.error(i, name, "an empty cell where a category is expected; give it a category")
        return _objects(cells)

    def frame(self, space: FeatureSpace) -> Frame:
        """Return the features of a model that records are to be predicted by, for its space to say how they count."""
        columns = {f.name: self.private_column(f.name, numeric=isinstance(f, NumericFeature)) for f in space.columns}
        return Frame(columns, len(self))

    def where(self, i: int) -> str:
        """Return the place of a row in words people can look up."""
        if not self.table.is_csv:
            return f"row {self.start + i + 1}"
        return f"line {self.lines[i] if self.lines is not None else self.table.line_of(self.start + i)}"

    def error(self, i: int, name: str, text: str) -> BoundsError:
        """Return an error about one cell."""
        return BoundsError(f"{self.table.path}, {self.where(i)}, column {name!r}: {text}.")


class Table:
    """A CSV or Parquet file, by its extension (``.csv.gz``, too); ``-`` is CSV on standard input.

    ``names`` are its columns; :meth:`blocks` reads it once, in blocks of equal numbers of rows.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.is_csv = not path.lower().endswith((".parquet", ".pq"))
        self._stdin: Generator[tuple[int, list[str]], None, None] | None = None
        self._position: Callable[[], int] = int  # bytes read so far: none
        if self.is_csv:
            self.names = self._csv_names()
        else:
            with _arrow_errors(path):
                self.names = [str(n) for n in _parquet(path).schema_arrow.names]
        if len(set(self.names)) != len(self.names):
            twice = next(n for n in self.names if self.names.count(n) > 1)
            raise FormatError(f"{path} has two columns named {twice!r}; rename one.")

    def require(self, names: Iterable[str], why: str) -> None:
        """Refuse a file that lacks columns."""
        absent = [n for n in names if n not in self.names]
        if absent:
            text = f"{self.path} lacks the column{'s' if len(absent) > 1 else ''} {', '.join(map(repr, absent))} {why}"
            hint = " Is it separated by commas?" if len(self.names) == 1 and ";" in self.names[0] else ""
            raise HedgerowError(f"{text}; it has {self.names}.{hint}")

    def lacks(self, question: Question) -> list[str]:
        """Return the columns that a task asks for and this file lacks; refuse one that lacks all."""
        names = question.names
        absent = [n for n in names if n not in self.names]
        if len(absent) == len(names) or (question.numbered and "record" in absent):
            self.require(names, "that the task asks for")
        return absent

    def blocks(
        self, rows: int | None = None, columns: Sequence[str] | None = None, groups: list[int] | None = None
    ) -> Iterator[Block]:
        """Yield all rows, in order; if columns are named, these at least; of a Parquet file, some row groups if named.

        With ``rows`` all blocks but the last have as many rows; without, fewer where rows are long.
        """
        if not self.is_csv:
            yield from self._parquet_blocks(rows, columns, groups)
        elif self._is_large() and _has_pyarrow():
            yield from self._fast_blocks(rows or ROWS, columns)
        else:
            yield from self._csv_blocks(rows or ROWS, 0)

    def types(self) -> dict[str, Any]:
        """Return the columns of a Parquet file without rows, as Arrow arrays of their types."""
        import pyarrow as pa

        with _arrow_errors(self.path):
            return {str(field.name): pa.array([], field.type) for field in _parquet(self.path).schema_arrow}

    def row_groups(self, rows: int) -> list[list[int] | None]:
        """Return consecutive row groups of a Parquet file, about so many rows at a time; of CSV, all in one."""
        if self.is_csv:
            return [None]
        with _arrow_errors(self.path):
            meta = _parquet(self.path).metadata
        out: list[list[int] | None] = []
        held = rows
        for i in range(meta.num_row_groups):
            if held >= rows or out[-1] is None:
                out.append([])
                held = 0
            cast("list[int]", out[-1]).append(i)
            held += meta.row_group(i).num_rows
        return out

    @property
    def share(self) -> float | None:
        """Which share of the file has been read, about; None if its size is unknown."""
        return None if self.path == STDIN else self._position() / max(os.path.getsize(self.path), 1)

    def line_of(self, row: int) -> int:
        """Return the line of a CSV file on which a row (from 0) ends."""
        return next(islice(self._records(), row, None))[0]

    def _is_large(self) -> bool:
        return self.path != STDIN and os.path.getsize(self.path) >= LARGE

    def _csv_names(self) -> list[str]:
        records = self._lines()
        first = next(records, (0, []))[1]
        if not any(first):
            raise FormatError(f"{self.path} is empty; its first line must name the columns.")
        if self.path == STDIN:
            self._stdin = records  # can be read once only
        return first

    def _lines(self) -> Generator[tuple[int, list[str]], None, None]:
        """Yield (line, cells) of every record, the header first; empty lines are skipped."""
        with _open_text(self.path) as file:
            self._position = partial(_tell, file)
            reader = csv.reader(file, strict=True)
            try:
                for cells in reader:
                    if cells:
                        yield reader.line_num, cells
            except csv.Error as error:
                raise FormatError(f"{self.path}, line {reader.line_num}: this is not CSV: {error}.") from error
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise FormatError(f"{self.path} is not a whole gzip file: {error}.") from error
            except UnicodeDecodeError:
                raise FormatError(f"{self.path}, after line {reader.line_num}: this is not UTF-8 text.") from None

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield (line, cells) of every record below the header, checking their length."""
        records = self._stdin or self._lines()
        if self._stdin is None:
            next(records)
        with closing(records):
            for line, cells in records:
                if len(cells) != len(self.names):
                    raise FormatError(
                        f"{self.path}, line {line}: {len(cells)} cells where the header has {len(self.names)}; "
                        "correct the line (a text with a comma needs quotes)."
                    )
                yield line, cells

    def _csv_blocks(self, rows: int, skip: int) -> Iterator[Block]:
        records = islice(self._records(), skip, None)
        start = skip
        while part := list(islice(records, rows)):
            lines = [line for line, _ in part]
            columns = dict(zip(self.names, zip(*(cells for _, cells in part), strict=True), strict=True))
            yield Block(self, start, columns, lines)
            start += len(part)

    def _fast_blocks(self, rows: int, columns: Sequence[str] | None) -> Iterator[Block]:
        """Read with pyarrow; where it stumbles, the plain reader goes on, or says what is wrong."""
        import pyarrow as pa
        from pyarrow import csv as pacsv

        done = 0
        try:
            file = pa.OSFile(self.path)
            self._position = partial(_tell, file)
            if _is_packed(self.path):
                file = pa.CompressedInputStream(file, "gzip")
            reader = pacsv.open_csv(
                file,
                read_options=pacsv.ReadOptions(use_threads=False),
                parse_options=pacsv.ParseOptions(newlines_in_values=True),
                convert_options=pacsv.ConvertOptions(
                    column_types={n: pa.string() for n in self.names}, include_columns=list(columns or self.names)
                ),
            )
            for part in _regroup(reader, rows):
                yield self._arrow_block(part, done)
                done += len(part)
        except (pa.ArrowInvalid, OSError):
            yield from self._csv_blocks(rows, done)

    def _parquet_blocks(
        self, rows: int | None, columns: Sequence[str] | None, groups: list[int] | None
    ) -> Iterator[Block]:
        done = 0
        names = self.names if columns is None else list(columns)
        with _arrow_errors(self.path):
            file = _parquet(self.path)
            own = range(file.metadata.num_row_groups) if groups is None else groups
            total = sum(file.metadata.row_group(i).num_rows for i in own)
            rows = rows or min(ROWS, _short_enough(file.metadata, own, names))
            self._position = lambda: os.path.getsize(self.path) * done // max(total, 1)
            batches = file.iter_batches(batch_size=rows, columns=names, row_groups=list(own))
            for part in _regroup(batches, rows):
                block = self._arrow_block(part, done)
                done += len(part)
                yield block

    def _arrow_block(self, part: Any, start: int) -> Block:
        return Block(self, start, {name: _one(part.column(name)) for name in part.column_names}, None)


def _short_enough(meta: Any, groups: Iterable[int], names: Sequence[str]) -> int:
    """Return how many rows of the longest kind, in these columns, make a block of some megabytes."""
    wanted = set(names)
    widest = 1.0
    for i in groups:
        group = meta.row_group(i)
        chunks = [group.column(j) for j in range(group.num_columns)]
        size = sum(c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] in wanted)
        widest = max(widest, size / max(group.num_rows, 1))
    return max(1, int(_BLOCK_BYTES / widest))


def _objects(cells: list[Any]) -> npt.NDArray[np.object_]:
    """Return cells as an array of whatever they are."""
    out = np.empty(len(cells), dtype=object)
    out[:] = cells
    return out


def _floats(column: Any) -> FloatArray:
    """Return a column as numbers by the public rule, NaN where a cell is none."""
    fast = None if isinstance(column, tuple) else _fast_numbers(column)
    values = numbers(_cells(column)) if fast is None else _as_spelled(fast, column)
    return cast("FloatArray", values)


def _as_spelled(values: FloatArray, column: Any) -> FloatArray:
    """Return Arrow's numbers, but for its "nan" and "inf", which are texts like any other."""
    odd = np.flatnonzero(~np.isfinite(values))
    if odd.size:
        values = values.copy()
        values[odd] = numbers(column.take(odd).to_pylist())
    return values


def _fast_numbers(column: Any) -> FloatArray | None:
    """Return an Arrow column as floats in one go, or None if it must be done cell by cell."""
    try:
        import pyarrow as pa

        if pa.types.is_dictionary(column.type):
            return None
        return cast("FloatArray", np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False)))
    except ValueError:  # Arrow's errors about values are ValueErrors, too
        return None
    except NotImplementedError:
        return None


def _cells(column: Any) -> list[Any]:
    return list(column) if isinstance(column, tuple) else cast("list[Any]", column.to_pylist())


def _said(cell: Any) -> str:
    if cell is None or cell == "":
        return "an empty cell"
    return f"{cell!r}" if len(repr(cell)) <= 40 else f"{repr(cell)[:39]}…"


def _open_text(path: str) -> io.TextIOWrapper:
    if path == STDIN:
        return io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8-sig", newline="")
    if _is_packed(path):
        return io.TextIOWrapper(cast("Any", gzip.open(path)), encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _is_packed(path: str) -> bool:
    return path.lower().endswith(".gz")


def _tell(file: Any) -> int:
    """Return how many bytes have been read; a text file itself does not say while it is iterated."""
    if file.closed:
        return 0
    buffer = getattr(file, "buffer", file)
    return int(getattr(buffer, "fileobj", buffer).tell())


def _has_pyarrow() -> bool:
    try:
        import pyarrow.csv  # noqa: F401
    except ImportError:
        return False
    return True


def _parquet(path: str) -> Any:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise HedgerowError(f"{path}: Parquet files need pyarrow: pip install 'hedgerow[files]'.") from None
    return pq.ParquetFile(path)


@contextmanager
def _arrow_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (HedgerowError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except (ValueError, OSError) as error:
        raise FormatError(f"{path} is not a whole Parquet file: {error}") from error


def _one(column: Any) -> Any:
    """Return a column as one Arrow array."""
    import pyarrow as pa

    whole = column.combine_chunks()
    return pa.concat_arrays(whole.chunks) if isinstance(whole, pa.ChunkedArray) else whole


def _regroup(batches: Iterable[Any], rows: int) -> Iterator[Any]:
    """Yield Arrow tables of exactly ``rows`` rows (the last may be shorter)."""
    import pyarrow as pa

    held: list[Any] = []
    n = 0
    for batch in batches:
        held.append(batch)
        n += len(batch)
        while n >= rows:
            table = pa.Table.from_batches(held)
            yield table.slice(0, rows)
            held = table.slice(rows).to_batches()
            n = n - rows
    if n:
        yield pa.Table.from_batches(held)
