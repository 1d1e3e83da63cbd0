"""Records in an Arrow dataset: files of any kind and place that Arrow reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.frames import Frame
from hedgerow.sources.base import Batch, Source, label_names
from hedgerow.tables import ROWS

__all__ = ["DatasetPart", "DatasetSource"]

# One batch ahead: of what is read, nothing is kept.
_OPTIONS = {"batch_size": ROWS, "batch_readahead": 1, "fragment_readahead": 1, "cache_metadata": False}


@dataclass(eq=False)
class DatasetPart:
    """A dataset, or a fragment of one."""

    data: Any
    names: list[str]
    labels: list[str]
    schema: Any = None

    def batches(self) -> Iterator[Batch]:
        """Read it in batches."""
        import pyarrow as pa

        options = dict(_OPTIONS) if self.schema is None else {**_OPTIONS, "schema": self.schema}
        found = self.data.to_batches(columns=[*self.names, *self.labels], use_threads=False, **options)
        while True:
            try:
                batch = next(found, None)
            except (pa.ArrowInvalid, OSError):
                # What Arrow says of a cell may hold the cell.
                raise FormatError("the dataset cannot be read: a file of it is damaged, or of other types.") from None
            if batch is None:
                return
            features = {name: batch.column(name) for name in self.names}
            yield Batch(Frame(features, len(batch)), [batch.column(name) for name in self.labels])

    def share(self) -> None:
        """Nobody knows how long it is."""


class DatasetSource(Source):
    """Records in an Arrow dataset (``pyarrow.dataset.dataset(...)``), whose schema has names and types."""

    def __init__(self, data: Any, y: Any) -> None:
        self.data = data
        self.labels = label_names(y, "an Arrow dataset")
        known = [str(name) for name in data.schema.names]
        if lacking := [name for name in self.labels if name not in known]:
            raise HedgerowError(f"the dataset lacks the column {lacking[0]!r} that was named; it has {known}.")
        self.names = [name for name in known if name not in self.labels]
        self.width = len(self.names)
        self.outputs = len(self.labels)

    def parts(self) -> list[DatasetPart]:
        """Return all of it."""
        return [DatasetPart(self.data, self.names or [], self.labels)]

    def pieces(self, rows: int) -> Sequence[DatasetPart]:
        """Return a part for each fragment, or all of it where Arrow does not give them away."""
        try:
            found = list(self.data.get_fragments())
        except ValueError:  # of a filtered dataset
            return self.parts()
        return [DatasetPart(f, self.names or [], self.labels, self.data.schema) for f in found]

    def sample(self) -> Frame:
        """Return columns without records."""
        empty = self.data.schema.empty_table()
        return Frame({name: empty.column(name) for name in self.names or []}, 0)

    def fingerprint(self) -> list[Any]:
        """Return the files; refuse a dataset that is none of files, for nothing would tell it from another."""
        if not hasattr(self.data, "files"):
            raise HedgerowError("'spool' is for files: this dataset has none, and a fit of it cannot be resumed.")
        return [list(self.data.files), self.data.count_rows(), str(self.data.schema)]
