"""What a source of records is: parts, each of which is read in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, shown

__all__ = ["Batch", "Part", "Source", "label_names"]

Progress = Callable[[int, float | None], None]
"""Told how many records were read, and which share of all that is (None: nobody knows)."""


class Batch(NamedTuple):
    """Some records, a frame or an array of the features' columns, and their labels, one column an output."""

    X: Any
    labels: list[Any]

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.X.shape[0])


class Part(Protocol):
    """Some of the records; it can be sent to another process that sees the same files."""

    def batches(self) -> Iterator[Batch]:
        """Read the records, in an order that never changes."""

    def share(self) -> float | None:
        """Return which share of it has been read, about."""


class Source:
    """Private records in parts.

    Attributes
    ----------
    names : list of str or None
        The features' columns, in order; None if they have positions only.
    width : int
        How many columns there are.
    outputs : int
        How many columns of labels there are.
    typed : bool
        Whether columns have types. Where all of them are text, one is known to hold no number only when it was read.
    progress : callable, optional
        Told how far a read is.
    client : distributed.Client, optional
        The cluster whose workers read the parts; None: this process does.
    """

    names: list[str] | None
    width: int
    outputs: int
    typed = True
    progress: Progress | None = None
    client: Any = None

    def describe(self, texts: set[str], *, classes: bool) -> None:
        """Take down which columns hold categories, and whether labels are classes, where the files do not say it."""

    def select(self, columns: Sequence[str]) -> None:
        """Take these columns only, in this order: those of a schema."""
        self.names = list(columns)
        self.width = len(self.names)

    def parts(self) -> Sequence[Part]:
        """Return all parts."""
        raise NotImplementedError

    def pieces(self, rows: int) -> Sequence[Part]:
        """Return parts for many machines, of about so many rows where that can be had."""
        return self.parts()

    def sample(self) -> Any:
        """Return the features' columns without a single record: names and types."""
        raise NotImplementedError

    def without_records(self) -> str:
        """Return what is said if there are none."""
        return f"Found array with 0 sample(s) (shape=(0, {self.width})) while a minimum of 1 is required."

    def fingerprint(self) -> list[Any]:
        """Return what tells these records from others; for a key only, for it may tell on them."""
        raise NotImplementedError

    def batches(self) -> Iterator[Batch]:
        """Read all records."""
        parts = self.parts()
        done = 0
        for i, part in enumerate(parts):
            for batch in part.batches():
                yield batch
                done += batch.rows
                if self.progress is not None:
                    share = part.share()
                    self.progress(done, None if share is None else (i + min(share, 1.0)) / len(parts))

    def distinct_labels(self) -> Any:
        """Return the labels that occur, of the first column: for whoever may read their list off them."""
        found = [distinct(batch.labels[0]) for batch in self.batches()]
        return np.concatenate(found) if found else np.empty(0)


def distinct(column: Any) -> npt.NDArray[Any]:
    """Return the different values of a column, in the order in which they come."""
    array = np.asarray(column)
    if array.dtype.kind == "O":
        out = np.empty(len(kept := list(dict.fromkeys(array.tolist()))), dtype=object)
        out[:] = kept
        return out
    return np.unique(array)


def label_names(y: Any, kind: str) -> list[str]:
    """Return the names of the columns of labels; refuse anything else.

    >>> label_names("income", "files"), label_names(["a", "b"], "files")
    (['income'], ['a', 'b'])
    """
    named = [y] if isinstance(y, str) else y
    wrong = not isinstance(named, list | tuple) or not named or not all(isinstance(name, str) for name in named)
    if wrong or len(set(named)) != len(named):
        raise BoundsError(
            f"'y' must be the name of the column of labels, or a list of names, where 'X' is {kind}. "
            f"Got {shown(y) if isinstance(y, str | list | tuple | type(None)) else type(y).__name__} instead."
        )
    return list(named)
