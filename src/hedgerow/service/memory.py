"""Give memory back that is not used any more: between what is, the C library keeps it, and a server seems to grow."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

__all__ = ["give_back"]


@cache
def _trim() -> Any:
    """Return the function of glibc; None where there is another C library."""
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError, TypeError):
        return None


def give_back() -> None:
    """Do it, where it can be done; other threads run on meanwhile.

    >>> give_back()
    """
    trim = _trim()
    if trim is not None:
        trim(0)
