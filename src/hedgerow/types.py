"""Names of the arrays that the library passes around."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["BoolArray", "ByteRows", "FloatArray", "IndexArray", "Int32Array", "IntArray", "RealArray"]

FloatArray = npt.NDArray[np.float64]
"""Double precision."""

RealArray = npt.NDArray[np.floating[Any]]
"""Single or double precision, as the caller gave it."""

IntArray = npt.NDArray[np.int64]
"""Levels, codes, leaves, totals."""

Int32Array = npt.NDArray[np.int32]
"""Nodes and leaves of a tree."""

IndexArray = npt.NDArray[np.intp]
"""Positions in other arrays."""

BoolArray = npt.NDArray[np.bool_]
"""Masks."""

ByteRows = npt.NDArray[np.uint8]
"""One message a row."""
