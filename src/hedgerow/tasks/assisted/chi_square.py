"""Quantiles of chi-square with NumPy alone."""

from __future__ import annotations

__all__ = ["chi_square_limit"]


def chi_square_limit(mean: float, variance: float, z: float) -> float:
    r"""Return what a multiple of chi-square with these moments exceeds as often as a normal variable exceeds ``z``.

    Wilson and Hilferty: the cube root of :math:`Q/\mu` is nearly normal, with mean :math:`1 - s` and variance
    :math:`s = \sigma^2/(9 \mu^2)`. For chi-square itself the variance is twice the mean, the degrees of freedom.

    Examples
    --------
    >>> round(chi_square_limit(10, 20, 3.0), 1)  # ten degrees of freedom: P(Q > 28.9) = .0013
    28.9
    >>> round(chi_square_limit(10, 60, 3.0), 1)  # terms that rise and fall together
    49.8
    """
    spread = variance / (9 * mean**2)
    return float(mean * (1 - spread + z * spread**0.5) ** 3)
