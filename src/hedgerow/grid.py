"""The label's public range and its grid: labels are whole numbers inside the protocol.

Nothing here is ever computed from private labels, and every label has a level: whatever lies outside is clipped, and a
missing one counts as the grid says.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import BoundsError, HedgerowWarning, shown
from hedgerow.randomness import Randomness
from hedgerow.ranges import read_pair
from hedgerow.types import FloatArray, IntArray, RealArray
from hedgerow.values import number, numbers

__all__ = [
    "LARGEST",
    "SMALLEST",
    "LabelGrid",
    "check_label_bounds",
    "check_labels",
    "check_public_range",
    "label_column",
    "label_numbers",
    "middle",
]

LARGEST = 1e100
SMALLEST = 1e-100
"""Most that a label bound and the width of a label's range may be, and least that the width may be.

Then every number that a device or a curator makes of a label is finite, and no difference between levels is lost. With
at most 2**20 steps and noise that reaches at most 2**31 of them: the scale of the grid, ``256 * n_steps / width``, lies
between 2e-98 and 3e108; a noisy label is at most 2**31 * 1e100 = 3e109; the sum of the squares of 2**63 of them 1e239;
and the square of a step at least (1e-100 / 2**20)**2 = 9e-213. Floats reach from 2e-308 to 1e308.
"""
TOO_WIDE = 100
"""Bounds that are more than so many times as wide as all public labels are taken for a slip.

A wrong unit (cents, grams, metres for kilometres) is a factor of 100 to 1000. Labels of which all public ones lie
within a hundredth of an honest range are rare: with 20 labels drawn evenly over the range, the chance is below 1e-36.
"""
FEW_LABELS = 20
"""Fewer public labels than that say too little about a range."""


def check_label_bounds(label_bounds: object, *, name: str = "label_bounds") -> tuple[float, float]:
    """Return ``(low, high)`` as floats, or say what is wrong with them.

    >>> check_label_bounds((0, 80))
    (0.0, 80.0)
    """
    if label_bounds is None:
        raise BoundsError(
            f"'{name}' is required: pass {name}=(low, high), the public range of the label. "
            "It is never read from the labels, because their minimum and maximum are private."
        )
    low, high = read_pair(label_bounds, name)
    if max(-low, high, high - low) > LARGEST:
        raise BoundsError(f"'{name}' and its width must be at most {LARGEST:g}. Got {shown(label_bounds)} instead.")
    if high - low < SMALLEST:
        raise BoundsError(f"'{name}' are too close together: at least {SMALLEST:g}. Got {shown(label_bounds)} instead.")
    return low, high


def check_public_range(y: FloatArray | RealArray, label_bounds: tuple[float, float]) -> None:
    """Refuse bounds that most *public* labels lie outside of; warn of bounds that are far wider than all of them.

    A few labels beyond the bounds are clipped, and rightly so: noise is in proportion to the width.

    >>> check_public_range(np.array([1200.0, 3400.0, 560.0]), (0.0, 80.0))
    Traceback (most recent call last):
    ...
    hedgerow.errors.BoundsError: 'label_bounds' are (0, 80), and 3 of 3 public labels lie outside, between 560 and ...
    """
    low, high = label_bounds
    if not len(y):
        return
    least = float(np.min(y))
    most = float(np.max(y))
    n_outside = int(np.sum((y < low) | (y > high)))
    if 2 * n_outside > len(y):
        raise BoundsError(
            f"'label_bounds' are ({low:g}, {high:g}), and {n_outside:,} of {len(y):,} public labels lie outside, "
            f"between {least:g} and {most:g}: pass bounds in the unit of the labels."
        )
    if len(y) >= FEW_LABELS and 0 < most - least < (high - low) / TOO_WIDE:
        warnings.warn(
            f"'label_bounds' are ({low:g}, {high:g}), and all {len(y):,} public labels lie between {least:g} and "
            f"{most:g}: noise is in proportion to the bounds; pass narrower ones unless private labels go further.",
            HedgerowWarning,
            stacklevel=4,
        )


def middle(low: float, high: float, missing: float | None, what: str) -> float:
    """Return what a missing number counts as: ``missing``, or by default the middle of the range."""
    if missing is None:
        return min(max(low / 2 + high / 2, low), high) + 0.0
    value = number(missing)
    if not low <= value <= high:
        raise BoundsError(f"'missing' of {what} must be a number in [{low:g}, {high:g}]. Got {missing!r} instead.")
    return value + 0.0


def label_numbers(
    y: object, bounds: tuple[float, float], missing: float, *, name: str = "y", n: int | None = None
) -> RealArray:
    """Return private labels as finite numbers: missing ones as the task says, infinite ones as the nearest bound.

    Only the shape can be wrong, which has nothing to do with what the labels are.

    >>> label_numbers([3, None, "70", float("-inf")], (0.0, 80.0), 40.0).tolist()
    [3.0, 40.0, 70.0, 0.0]
    """
    array = numbers(label_column(y, name, n))
    if not np.isfinite(array).all():
        array = np.clip(np.where(np.isnan(array), missing, array), *bounds)
    return array


def label_column(y: object, name: str, n: int | None) -> Any:
    """Return private labels as a 1-d array or a list; refuse other shapes, and more or fewer labels than records."""
    column = y if isinstance(y, list | tuple) else np.asarray(y)
    if isinstance(column, np.ndarray):
        column = column[:, 0] if column.ndim == 2 and column.shape[1] == 1 else column
        if column.ndim != 1:
            raise BoundsError(f"'{name}' must be 1-dimensional. Got shape {column.shape} instead: pass one column.")
    elif column and all(isinstance(row, list | tuple) and len(row) == 1 for row in column):
        column = [row[0] for row in column]
    if n is not None and len(column) != n:
        raise BoundsError(f"'{name}' must have one label a record: {n}. Got {len(column)} instead.")
    return column


def check_labels(y: object, *, name: str = "y", n: int | None = None) -> RealArray:
    """Return *public* labels as a 1-d float array; refuse NaN, infinities and wrong shapes."""
    try:
        array = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        raise BoundsError(f"'{name}' must be numeric labels. Got {type(y).__name__} instead.") from None
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1:
        raise BoundsError(f"'{name}' must be 1-dimensional. Got shape {array.shape} instead.")
    if n is not None and array.shape[0] != n:
        raise BoundsError(f"'{name}' must have one label a record: {n}. Got {array.shape[0]} instead.")
    if not np.isfinite(array).all():
        raise BoundsError(f"'{name}' contains NaN or infinity; public labels must be numbers.")
    return array


@dataclass(frozen=True)
class LabelGrid(Content, what="label grid"):
    """Labels as integers ``0 .. n_steps`` on ``[low, high]``.

    Parameters
    ----------
    low, high : float
        Public label bounds; labels outside are clipped.
    n_steps : int
        Number of grid steps; level ``k`` stands for ``low + k * step``.
    missing : float, optional
        What a missing label counts as; by default the middle.

    Notes
    -----
    ``levels`` rounds at random to one of the two neighbouring levels so that the expectation is the clipped
    label: a coarse grid then adds variance (at most ``step**2 / 4``) but no bias. Rounding happens before
    the mechanism, so a mechanism that is epsilon-DP on levels is epsilon-DP on labels (a mixture over the
    rounding cannot raise a likelihood ratio).

    Examples
    --------
    >>> grid = LabelGrid(0.0, 80.0, 8)
    >>> grid.step
    10.0
    >>> grid.values([0, 3, 8]).tolist()
    [0.0, 30.0, 80.0]
    """

    low: float
    high: float
    n_steps: int
    missing: float = cast("float", None)

    def __post_init__(self) -> None:
        low, high = check_label_bounds((self.low, self.high))
        # Adding 0.0 turns -0.0 into 0.0, so that equal grids have equal digests.
        object.__setattr__(self, "low", low + 0.0)
        object.__setattr__(self, "high", high + 0.0)
        whole = isinstance(self.n_steps, int | np.integer) and not isinstance(self.n_steps, bool)
        if not whole or not 1 <= self.n_steps <= 1 << 20:
            raise BoundsError(f"'n_steps' must be an integer in 1 .. 2**20. Got {self.n_steps!r} instead.")
        object.__setattr__(self, "n_steps", int(self.n_steps))
        object.__setattr__(self, "missing", middle(self.low, self.high, self.missing, "the label"))

    @classmethod
    def for_epsilon(cls, label_bounds: object, epsilon: float) -> LabelGrid:
        """Return the default grid for Laplace noise of this epsilon on the label.

        Random rounding adds at most ``step^2/4``; the noise has variance about ``2 (n_steps*step/eps)^2``.
        ``n_steps = 16 eps`` keeps the ratio at ``1/(8*16^2)``, below 0.05 percent, and keeps the noise about
        16 steps wide, so that few distinct noisy labels occur and simulation stays cheap.
        """
        low, high = check_label_bounds(label_bounds)
        steps = 4096 if math.isinf(epsilon) else min(4096, max(2, math.ceil(16 * epsilon)))
        return cls(low, high, steps)

    @property
    def step(self) -> float:
        """Width of one grid step."""
        return (self.high - self.low) / self.n_steps

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> RealArray:
        """Return private labels as finite numbers, by the rule of :func:`label_numbers`."""
        return label_numbers(y, (self.low, self.high), self.missing, name=name, n=n)

    def levels(self, y: object, randomness: Randomness) -> IntArray:
        """Clip labels to the bounds and round them at random to levels, without bias; NaN counts as missing.

        Levels are 24-bit fixed point numbers plus 24 random bits, rounded down (a bias below ``2**-24`` of a step).
        The first 8 bits decide whether there is a carry, unless their sum is 255; only then are the rest drawn.
        """
        labels = np.asarray(y, dtype=np.float64)
        position = np.clip(labels, self.low, self.high).ravel()
        if position.size and np.isnan(position.min()):
            position[np.isnan(position)] = self.missing
        position -= self.low
        position *= 256 * (self.n_steps / (self.high - self.low))
        np.fmin(position, 256.0 * self.n_steps, out=position)  # twice as fast as minimum
        levels = position.astype(np.int32)
        levels += randomness.uint8(levels.size)
        unsure = np.flatnonzero(levels & 255 == 255)
        rest = (position[unsure] % 1.0 * 65536).astype(np.uint32)
        levels[unsure] += randomness.uint16(unsure.size) < rest
        levels >>= 8
        return levels.reshape(labels.shape).astype(np.int64)

    def values(self, levels: object) -> FloatArray:
        """Return the labels that (possibly noisy) levels stand for."""
        return self.low + np.asarray(levels, dtype=np.float64) * self.step
