"""What is known of the public model's errors, from public records it has not seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.tasks.models import check_level
from hedgerow.types import FloatArray

__all__ = ["Clipping", "Residuals", "rounded_square"]

_QUANTILES = 101  # percentiles from 0 to 100
_SHIFTS = 401  # of a table of what clipped means are: each differs from the next by 1 % of the radius or little more


@dataclass(frozen=True)
class Clipping:
    """What the mean of clipped errors tells about the mean error: ``radius / inside * clipped - offset``.

    Attributes
    ----------
    inside : float
        By how much the clipped mean moves where all errors move by 1: the share of errors within the radius.
    offset : float
        What the tails that are cut off make of it.
    variance : float
        Of the offset, for it is known from so many public records only.
    """

    inside: float = 1.0
    offset: float = 0.0
    variance: float = 0.0


@dataclass(frozen=True)
class Residuals(Content, what="public residuals"):
    """What is known from public out-of-fold residuals, in label units; the curator needs it, holders do not.

    Attributes
    ----------
    mean, mean_square : float
        Of the residuals.
    clipped_mean : float
        Mean of ``clip(residual/radius, -1, 1)``.
    inside : float
        Share of residuals within the radius.
    level_square : float
        Mean square of the clipped residual after rounding to a level.
    n_public : int
        Number of public records.
    quantiles : tuple of float
        Residuals at 0, 1, ..., 100 percent.
    """

    mean: float
    mean_square: float
    clipped_mean: float
    inside: float
    level_square: float
    n_public: int
    quantiles: tuple[float, ...]

    def __post_init__(self) -> None:
        least = min(self.mean_square, self.level_square, float(self.n_public))
        ordered = len(self.quantiles) == _QUANTILES and list(self.quantiles) == sorted(self.quantiles)
        if least < 0 or not 0 < self.inside <= 1 or not ordered:
            raise FormatError("the public residuals of this task are not a summary of residuals.")

    @classmethod
    def summarise(cls, residuals: npt.ArrayLike, radius: float, n_levels: int) -> Residuals:
        """Summarise public residuals.

        >>> Residuals.summarise([-1.0, 0.0, 0.5, 2.5], radius=1.0, n_levels=2).inside
        0.5
        """
        res = np.asarray(residuals, dtype=np.float64)
        v = np.clip(res / radius, -1.0, 1.0)
        inside = max(float(np.mean(np.abs(res) < radius)), 1 / (len(res) + 1))
        quantiles = tuple(np.quantile(res, np.linspace(0, 1, _QUANTILES)).tolist())
        return cls(
            float(res.mean()), float(np.mean(res**2)), float(v.mean()), inside, rounded_square(v, n_levels), len(res),
            quantiles,
        )  # fmt: skip

    def excess(self, radius: float) -> float:
        """Return the variance of what decoding a residual that is clipped to the radius is wrong by.

        From quantiles, those at both ends counting half.

        >>> residuals = np.linspace(-1, 1, 1000)
        >>> [round(Residuals.summarise(residuals, radius, 2).excess(radius), 3) for radius in (0.5, 1.0)]
        [0.083, 0.0]
        """
        res = np.array(self.quantiles)
        added = np.clip(res, -radius, radius) / self.inside - res
        weights = np.ones(_QUANTILES)
        weights[[0, -1]] = 0.5
        return float(np.average((added - np.average(added, weights=weights)) ** 2, weights=weights))

    def clipping(self, radius: float, seen: float) -> Clipping:
        """Return how to read means of errors that were clipped to the radius, near a mean over the radius of ``seen``.

        Errors are taken to have the shape of the public residuals, and that mean. The nearer it is to 1, the fewer are
        within the radius, and the less such means tell.

        >>> residuals = Residuals.summarise(np.linspace(-1, 1, 1001), 0.5, 2)
        >>> wide = residuals.clipping(1.0, 0.0)
        >>> wide.inside, round(abs(wide.offset), 9)
        (1.0, 0.0)

        Even errors that are ``1.5 - sqrt(0.5) = 0.79`` too large have a clipped mean of 0.75 radii; 35 % are within.

        >>> far = residuals.clipping(0.5, 0.75)
        >>> round(far.inside, 2), round(0.5 / far.inside * 0.75 - far.offset, 2)
        (0.35, 0.79)
        """
        res = np.array(self.quantiles)
        weights = np.ones(_QUANTILES)
        weights[[0, -1]] = 0.5
        most = radius + float(np.abs(res).max())
        shifts = np.linspace(-most, most, _SHIFTS)
        means = np.average(np.clip(res[:, None] + shifts, -radius, radius), axis=0, weights=weights) / radius
        shift = float(np.interp(seen, means, shifts))
        within = float(np.average(np.abs(res + shift) <= radius, weights=weights))
        inside = max(within, 1 / (self.n_public + 1))
        added = np.clip(res + shift, -radius, radius) / inside - res
        mean = float(np.average(added, weights=weights))
        variance = float(np.average((added - mean) ** 2, weights=weights)) / max(self.n_public, 1)
        return Clipping(inside, mean - shift, variance)

    def spread(self, level: float) -> tuple[float, float]:
        """Return how far errors stray below and above their mean, at this level."""
        share = [(1 - check_level(level)) / 2, (1 + level) / 2]
        below, above = np.interp(share, np.linspace(0, 1, 101), self.quantiles) - self.mean
        return max(-float(below), 0.0), max(float(above), 0.0)


def rounded_square(v: FloatArray, n_levels: int) -> float:
    """Return the mean of ``t**2``, t being v in [-1, 1] rounded at random to one of ``n_levels`` even levels.

    >>> rounded_square(np.array([0.0, 0.5]), 2), rounded_square(np.array([0.0, 0.5]), 3)
    (1.0, 0.25)
    """
    place = (np.asarray(v) + 1) / 2 * (n_levels - 1)
    low = np.minimum(np.floor(place), n_levels - 2)
    a, b = (2 * (low + k) / (n_levels - 1) - 1 for k in (0, 1))
    return float(np.mean((1 + low - place) * a**2 + (place - low) * b**2))
