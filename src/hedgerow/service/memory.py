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


# Of glibc (malloc.h): what is at least so large has pages of its own, which go back when it is not used any more. What
# is smaller comes from one place for all threads: Python lets one run at a time, and places of their own, as many as
# eight a core, each keep what is free between what is not.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE = 1 << 18  # bytes: the ids of some thousand reports; by hand
_CYCLES = 20_000  # new objects until one looks for cycles among them: each request makes some tens; by hand


@cache
def _glibc(name: str) -> Any:
    """Return a function of glibc; None where there is another C library."""
    try:
        return getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError, TypeError):
        return None


def give_back() -> None:
    """Do it, where it can be done; other threads run on meanwhile.

    >>> give_back()
    """
    trim = _glibc("malloc_trim")
    if trim is not None:
        trim(0)


def keep_loaded() -> None:
    """Set apart what there is now, when everything is loaded; large pieces of what comes go back when they are free.

    For a process that does nothing else than serve.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_CYCLES)
    set_option = _glibc("mallopt")
    if set_option is not None:
        set_option(_M_MMAP_THRESHOLD, _LARGE)  # else it rises with the largest that was given back, up to 32 MB
        set_option(_M_ARENA_MAX, 1)
