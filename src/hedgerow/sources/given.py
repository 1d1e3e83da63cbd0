"""Telling sources from tables in memory, whatever a caller has."""

from __future__ import annotations

import os
import sys
from typing import Any

from hedgerow.sources.base import Source

__all__ = ["as_source", "kind_of"]


def kind_of(X: Any) -> str | None:
    """Return what kind of source ``X`` is or names, in words; None for a table in memory.

    >>> kind_of("big/*.parquet"), kind_of([[1.0, 2.0]])
    ('a path', None)
    """
    if isinstance(X, Source):
        return "a source"
    if _are_paths(X):
        return "a path" if isinstance(X, str | os.PathLike) else "paths"
    arrow = sys.modules.get("pyarrow.dataset")  # nobody has a dataset without it
    if arrow is not None and isinstance(X, arrow.Dataset):
        return "an Arrow dataset"
    dask = sys.modules.get("dask.base")
    return "a Dask collection" if dask is not None and dask.is_dask_collection(X) else None


def as_source(X: Any, y: Any) -> Source | None:
    """Return the source that ``X`` is or names, with the labels ``y``; None if it is a table in memory.

    >>> as_source([[1.0, 2.0]], [3.0]) is None
    True
    """
    if isinstance(X, Source):
        return X
    kind = kind_of(X)
    if kind in ("a path", "paths"):
        from hedgerow.sources.files import FileSource

        return FileSource(X, y)
    if kind == "an Arrow dataset":
        from hedgerow.sources.arrow import DatasetSource

        return DatasetSource(X, y)
    if kind == "a Dask collection":
        from hedgerow.sources.dask import DaskSource

        return DaskSource(X, y)
    return None


def _are_paths(X: Any) -> bool:
    if isinstance(X, list | tuple):
        return bool(X) and all(isinstance(path, str | os.PathLike) for path in X)
    return isinstance(X, str | os.PathLike)
