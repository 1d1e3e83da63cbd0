"""Telling sources from tables in memory, whatever a caller has."""

from __future__ import annotations

import os
import sys
from typing import Any

from hedgerow.sources.base import Source

__all__ = ["as_source"]


def as_source(X: Any, y: Any) -> Source | None:
    """Return the source that ``X`` is or names, with the labels ``y``; None if it is a table in memory.

    >>> as_source([[1.0, 2.0]], [3.0]) is None
    True
    """
    if isinstance(X, Source):
        return X
    if _are_paths(X):
        from hedgerow.sources.files import FileSource

        return FileSource(X, y)
    arrow = sys.modules.get("pyarrow.dataset")  # nobody has a dataset without it
    if arrow is not None and isinstance(X, arrow.Dataset):
        from hedgerow.sources.arrow import DatasetSource

        return DatasetSource(X, y)
    if "dask.base" in sys.modules and sys.modules["dask.base"].is_dask_collection(X):
        from hedgerow.sources.dask import DaskSource

        return DaskSource(X, y)
    return None


def _are_paths(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(path, str | os.PathLike) for path in X)
    return isinstance(X, str | os.PathLike)
