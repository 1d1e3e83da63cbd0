"""Arguments that occur everywhere: budgets and whole numbers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.errors import HedgerowError

__all__ = ["check_epsilon", "check_positive"]


def check_epsilon(epsilon: object, *, name: str = "epsilon") -> float:
    """Return a valid privacy budget: a float above 0, ``inf`` allowed (no noise, for study)."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.integer | np.floating | Fraction):
        raise HedgerowError(f"The '{name}' parameter must be a number > 0. Got {epsilon!r} instead.")
    value = float(epsilon)
    if math.isnan(value) or value <= 0:
        raise HedgerowError(f"The '{name}' parameter must be > 0 (inf: no noise). Got {epsilon!r} instead.")
    return value


def check_positive(value: object, *, name: str, least: int = 1) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise HedgerowError(f"The '{name}' parameter must be an int >= {least}. Got {value!r} instead.")
    return int(value)
