"""Memory of a server that runs for long.

What is not used any more is given back: between what is, the C library keeps it, and a server seems to grow. And what
was loaded at the start stays to the end: the collector of cycles need not look through it again and again, which takes
a tenth of a second, in which nobody is answered.
"""

from __future__ import annotations

import ctypes
import gc
from functools import cache
from typing import Any

__all__ = ["give_back", "keep_loaded"]


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


def keep_loaded() -> None:
    """Set apart what there is now, when everything is loaded; for a process that does nothing else than serve."""
    gc.collect()
    gc.freeze()
