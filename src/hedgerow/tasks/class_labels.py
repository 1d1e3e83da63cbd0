"""Labels that are classes: one level a class, and a public rule for what is missing or not listed."""

from __future__ import annotations

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.features import CategoricalFeature
from hedgerow.grid import LabelGrid, label_column
from hedgerow.types import RealArray

__all__ = ["check_class_grid", "class_grid", "class_levels"]


def class_grid(classes: tuple[str, ...]) -> LabelGrid:
    """Return the grid with one level a class; what is missing or not listed counts as the first.

    >>> class_grid(("no", "yes")).n_steps
    1
    """
    last = len(classes) - 1
    return LabelGrid(0.0, float(last), last, missing=0.0)


def check_class_grid(classes: tuple[str, ...], grid: LabelGrid) -> None:
    """Refuse classes that are not distinct names, and a grid that has not one level for each."""
    last = len(classes) - 1
    if len(set(classes)) != len(classes) or last < 1 or not all(isinstance(c, str) for c in classes):
        raise HedgerowError(f"'classes' must name at least 2 distinct classes. Got {list(classes)} instead.")
    if (grid.low, grid.high, grid.n_steps) != (0, last, last):
        raise FormatError("a task with classes needs one level a class.")
    if not grid.missing.is_integer():
        raise FormatError("'missing' of a task with classes must be a class: a whole level of the grid.")


def class_levels(
    target: str, classes: tuple[str, ...], grid: LabelGrid, y: object, *, name: str = "y", n: int | None = None
) -> RealArray:
    """Return the position of each label in the classes; unknown ones by the grid's rule, never an error.

    >>> class_levels("y", ("no", "yes"), class_grid(("no", "yes")), ["yes", None, "perhaps"]).tolist()
    [1.0, 0.0, 0.0]
    """
    known = CategoricalFeature(target, classes, classes[int(grid.missing)])
    return known.codes(label_column(y, name, n))
