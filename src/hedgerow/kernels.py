"""Which kernels are in use: the compiled ones, or the NumPy reference that gives the same bits.

The compiled module ``hedgerow._kernels`` is built where there is a C compiler. Without it nothing is missing but
speed: every place that calls :func:`native` has a NumPy path beside it, tests hold the two equal, and both draw
the same random bytes in the same order. ``HEDGEROW_KERNELS=numpy`` in the environment forces the reference,
``HEDGEROW_KERNELS=compiled`` refuses to go on without the compiled module; ``python -m hedgerow.kernels`` says
which is in use.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hedgerow.errors import HedgerowError

__all__ = ["native", "note", "reference"]


def _load() -> tuple[Any, str]:
    """Return the compiled module, or None, and why."""
    wish = os.environ.get("HEDGEROW_KERNELS", "auto")
    if wish not in ("auto", "numpy", "compiled"):
        raise HedgerowError(f"HEDGEROW_KERNELS must be auto, numpy or compiled. Got {wish!r} instead.")
    if wish == "numpy":
        return None, "NumPy kernels: HEDGEROW_KERNELS=numpy"
    try:
        module = importlib.import_module("hedgerow._kernels")
    except ImportError as error:
        if wish == "compiled":
            raise HedgerowError(
                "HEDGEROW_KERNELS=compiled, but the compiled kernels are missing; install a C compiler and then "
                f"hedgerow again ({error})."
            ) from error
        return None, "NumPy kernels: the compiled ones are missing; with a C compiler, install hedgerow again"
    return module, f"compiled kernels ({module.features()})"


_module, _note = _load()


def native() -> Any:
    """Return the compiled module, or None where NumPy is to be used."""
    return _module


def note() -> str:
    """Say in one line which kernels are in use, and why.

    >>> note().split()[1]
    'kernels...'
    """
    return _note if _module is not None or "NumPy" in _note else "NumPy kernels: asked for"


@contextmanager
def reference() -> Iterator[None]:
    """Use the NumPy reference for a while (for tests and benchmarks; not for several threads at once)."""
    global _module
    before = _module
    _module = None
    try:
        yield
    finally:
        _module = before


if __name__ == "__main__":
    print(note())
