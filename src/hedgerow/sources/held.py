"""Records in memory as a source of one batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.frames import columns_of
from hedgerow.sources.base import Batch, Source

__all__ = ["HeldSource"]


class HeldSource(Source):
    """A table in memory, and its labels, one column an output."""

    def __init__(self, X: Any, labels: list[Any]) -> None:
        self._batch = Batch(X, labels)
        self.names = columns_of(X)[0]
        self.width = int(X.shape[1])
        self.outputs = len(labels)

    def parts(self) -> list[HeldSource]:
        """Return all of it."""
        return [self]

    def batches(self) -> Iterator[Batch]:
        """Yield all of it."""
        yield self._batch

    def share(self) -> float:
        """Return 1: it is read."""
        return 1.0

    def distinct_labels(self) -> Any:
        """Return all labels, as they are."""
        return self._batch.labels[0]

    def sample(self) -> Any:
        """Return the table itself: a column of mixed type holds numbers if there is one among them."""
        return self._batch.X

    def fingerprint(self) -> list[Any]:
        """Refuse: records in memory do not outlive a fit that was killed."""
        raise HedgerowError(
            "'spool' is for files: records in memory are gone with the fit that was killed. Leave it out, or pass the "
            "path of a file as 'X'."
        )
