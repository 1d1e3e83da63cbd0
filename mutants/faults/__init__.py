"""The planted faults, one file an area; each holds a tuple ``FAULTS``."""

from __future__ import annotations

import importlib
import pkgutil

from mutants.fault import Fault

__all__ = ["all_faults"]


def all_faults() -> tuple[Fault, ...]:
    """Return the faults of all areas, in the order of the files' names."""
    areas = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(fault for area in areas for fault in importlib.import_module(f"{__name__}.{area}").FAULTS)
