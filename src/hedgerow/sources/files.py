"""Records in CSV and Parquet files."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.frames import Frame, is_text
from hedgerow.sources.base import Batch, Progress, Source, label_names
from hedgerow.tables import STDIN, Block, Table

__all__ = ["FilePart", "FileSource", "find_files"]

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def find_files(paths: Paths) -> list[str]:
    """Return the files that names and patterns stand for, those of a pattern in the order of their names.

    A file that is there twice is refused: its records would count twice, and nobody's part in a sum is bounded then.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    found: dict[tuple[int, int], str] = {}
    for name in given:
        for path in _matches(os.fspath(name)):
            about = os.stat(path)
            first = found.setdefault((about.st_dev, about.st_ino), path)
            if first is not path:
                raise HedgerowError(
                    f"{path} is there twice ({first}): its records would count twice. Name each file once."
                )
    return list(found.values())


def _matches(name: str) -> list[str]:
    if name == STDIN:
        raise HedgerowError("standard input can be read once only, and files are read twice: name a file.")
    if os.path.isdir(name):
        raise HedgerowError(f"{name} is a directory: name its files, '{os.path.join(name, '*.parquet')}' say.")
    if os.path.exists(name) or not glob.has_magic(name):
        return [name]
    found = sorted(path for path in glob.glob(name, recursive=True) if not os.path.isdir(path))
    if not found:
        raise HedgerowError(f"no file matches {name!r}.")
    return found


@dataclass(eq=False)
class FilePart:
    """One file, or some row groups of a Parquet file.

    Attributes
    ----------
    path : str
        The file.
    names, labels : list of str
        Its columns: features and labels.
    only : bool
        Whether a column beside these is refused.
    texts : set of str
        Columns of a CSV file that hold categories or classes.
    plain : set of str
        Columns that are not text, by their type in the first file.
    groups : list of int, optional
        Row groups; None: all.
    """

    path: str
    names: list[str]
    labels: list[str]
    only: bool
    texts: set[str] = field(default_factory=set)
    plain: set[str] = field(default_factory=set)
    groups: list[int] | None = None
    _table: Table | None = field(default=None, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_table": None}

    def open(self) -> Table:
        """Open the file, and refuse one with other columns."""
        table = Table(self.path)
        wanted = [*self.names, *self.labels]
        table.require(wanted, "that were named")
        strange = [name for name in table.names if name not in wanted]
        if self.only and strange:
            raise FormatError(
                f"{self.path} has the column {strange[0]!r}, which the first file lacks: give all files the same "
                "columns, or describe those that are features by a schema."
            )
        types = {} if table.is_csv else table.types()
        if text := sorted(name for name in self.plain if name in types and is_text(types[name])):
            raise FormatError(f"{self.path} has text in the column {text[0]!r}, where the first file has numbers.")
        return table

    def sample(self) -> Frame:
        """Return its columns of features without records."""
        table = self.open()
        if table.is_csv:
            return Frame({name: np.zeros(0) for name in self.names}, 0)
        types = table.types()
        return Frame({name: types[name] for name in self.names}, 0)

    def batches(self) -> Iterator[Batch]:
        """Read the file in blocks of rows."""
        self._table = self.open()
        for block in self._table.blocks(columns=[*self.names, *self.labels], groups=self.groups):
            yield self._batch(block)

    def _batch(self, block: Block) -> Batch:
        columns = {name: self._column(block, name) for name in (*self.names, *self.labels)}
        features = {name: columns[name] for name in self.names}
        return Batch(Frame(features, len(block)), [columns[name] for name in self.labels])

    def _column(self, block: Block, name: str) -> Any:
        if block.table.is_csv:
            return block.private_column(name, numeric=name not in self.texts)
        return block.columns[name]

    def share(self) -> float | None:
        """Return which share of the file has been read, about; all of it if it was closed since."""
        return None if self._table is None else self._table.share or 1.0


class FileSource(Source):
    """Records in files, with the same columns in each; CSV and Parquet may be mixed.

    Parameters
    ----------
    paths : path or sequence of paths
        Files; a pattern such as ``big/*.parquet`` stands for all that match it.
    y : str or list of str
        The columns of labels.
    columns : list of str, optional
        The features, if not all other columns are.
    progress : callable, optional
        ``progress(records, share)`` while files are read.
    """

    def __init__(
        self, paths: Paths, y: Any, columns: Iterable[str] | None = None, *, progress: Progress | None = None
    ) -> None:
        self.labels = label_names(y, "files")
        self.paths = find_files(paths)
        self._only = columns is None
        first = Table(self.paths[0])
        first.require(self.labels, "that were named")
        named = [name for name in first.names if name not in self.labels] if columns is None else list(columns)
        self.names = named
        self.width = len(named)
        self.outputs = len(self.labels)
        self.typed = not first.is_csv
        self.progress = progress
        self._texts: set[str] = set()
        self._plain: set[str] = set()
        if not first.is_csv:
            self._plain = {name for name, column in first.types().items() if not is_text(column)}
        if not named:
            raise HedgerowError(f"{self.paths[0]} has no column beside the label; at least one feature is needed.")

    def describe(self, texts: set[str], *, classes: bool) -> None:
        """Take down which columns of CSV files are read as text."""
        self._texts = {*texts, *(self.labels if classes else [])}

    def select(self, columns: Sequence[str]) -> None:
        """Take these columns only, in this order: those of a schema."""
        super().select(columns)
        self._only = False

    def parts(self) -> list[FilePart]:
        """Return a part for each file."""
        return [self._part(path) for path in self.paths]

    def _part(self, path: str, groups: list[int] | None = None) -> FilePart:
        plain = self._plain & set(self.names or [])
        return FilePart(path, self.names or [], self.labels, self._only, self._texts, plain, groups)

    def pieces(self, rows: int) -> list[FilePart]:
        """Return parts of at most so many rows, where row groups of Parquet files allow it: for many machines."""
        return [self._part(part.path, groups) for part in self.parts() for groups in part.open().row_groups(rows)]

    def sample(self) -> Frame:
        """Return the columns of the first file without records."""
        return self.parts()[0].sample()

    def without_records(self) -> str:
        """Return what is said if there are none."""
        others = f" (and {len(self.paths) - 1} more)" if len(self.paths) > 1 else ""
        return f"{self.paths[0]}{others} holds no records."

    def fingerprint(self) -> list[Any]:
        """Return names, sizes and times of all files."""
        about = [(os.path.realpath(path), os.stat(path)) for path in self.paths]
        return [[path, found.st_size, found.st_mtime_ns] for path, found in about]
