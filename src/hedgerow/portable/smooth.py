"""The linear part of a portable model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.types import FloatArray

__all__ = ["Linear", "floats"]


def floats(part: Any, **shapes: int) -> None:
    """Make the named fields finite float arrays of these dimensions."""
    for name, ndim in shapes.items():
        array = np.asarray(getattr(part, name), dtype=np.float64)
        if array.ndim != ndim or not np.isfinite(array).all():
            raise FormatError(f"portable model: {name!r} must be a finite array with {ndim} dimension(s).")
        object.__setattr__(part, name, array)


@dataclass(frozen=True, eq=False)
class Linear:
    """``x @ coef``; the intercept belongs to the model.

    Examples
    --------
    >>> Linear([2.0, -1.0]).predict(np.array([[1.0, 1.0], [0.0, 3.0]])).tolist()
    [1.0, -3.0]
    """

    coef: FloatArray
    kind: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        floats(self, coef=1)

    @property
    def n_features(self) -> int:
        """Number of columns a record must have."""
        return len(self.coef)

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the value for each row."""
        return np.asarray(X, dtype=np.float64) @ self.coef

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored."""
        return {"coef": self.coef.astype("<f8")}

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Linear:
        """Undo :meth:`arrays`."""
        return cls(**arrays)
