"""What public records are worth in every trust model: common cases, and one experiment for each model."""

from __future__ import annotations

import importlib
from typing import Any

_HOMES = {
    "DESIGN": "sets",
    "KEPT_OUT": "sets",
    "SHIFTS": "cases",
    "Case": "cases",
    "draw": "cases",
    "ceiling": "ends",
    "gap": "ends",
    "public_model": "ends",
}


def __getattr__(name: str) -> Any:
    """Return a name of the modules, loaded when it is asked for: declarations load no NumPy."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
