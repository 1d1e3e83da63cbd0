"""How arrays stand in JSON: as lists of numbers."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.forms import Form, expect

__all__ = ["listed"]


def listed(dtype: str, ndim: int = 1) -> Form:
    """Return the form of an array that travels as a list of finite numbers, truth as 0 and 1; or as rows (2)."""
    wanted = np.dtype(dtype)
    words = {"b": "0 and 1", "f": "finite numbers"}.get(wanted.kind, "whole numbers")
    stored = np.dtype("i1") if wanted.kind == "b" else wanted

    def write(array: npt.NDArray[Any]) -> list[Any]:
        return cast("list[Any]", (array.astype(stored) + stored.type(0)).tolist())  # + 0: there is one zero

    def read(value: Any) -> npt.NDArray[Any]:
        items = [value]
        for _ in range(ndim):
            expect(all(type(item) is list for item in items), value, f"a list of {words}")
            items = [item for inner in items for item in inner]
        expect(set(map(type, items)) <= ({int, float} if wanted.kind == "f" else {int}), value, f"a list of {words}")
        try:
            array = np.array(value, dtype=stored).astype(wanted)
        except (OverflowError, ValueError):
            array = np.empty(0, dtype=wanted)
        fits = array.size == len(items) and array.ndim == ndim and np.isfinite(array).all()
        expect(fits and (wanted.kind != "b" or set(items) <= {0, 1}), value, f"a list of {words}")
        found: npt.NDArray[Any] = array + wanted.type(0)
        return found

    return Form(write, read)
