"""The compiled form of this package, ``hedgerow._vdaf``, where there was a C compiler; Python gives the same."""

from __future__ import annotations

import importlib
from typing import Any

from hedgerow.kernels import native as kernels

__all__ = ["native"]


def _load() -> Any:
    try:
        return importlib.import_module("hedgerow._vdaf")
    except ImportError:
        return None


_module = _load()


def native() -> Any:
    """Return the compiled module, or None where Python is to be used (see :mod:`hedgerow.kernels`)."""
    return _module if kernels() is not None else None
