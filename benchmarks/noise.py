"""Discrete Laplace noise from the operating system's generator against NumPy's floating-point one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from benchmarks.timing import Row, interleave
from hedgerow.randomness import SecureRandomness
from hedgerow.samplers import discrete_laplace, dyadic_exp

SCALES = (4, 16, 100, 1000, 100_000)


def run(quick: bool) -> list[Row]:
    """Measure noise of several widths."""
    n, rounds = (1 << 18, 5) if quick else (1 << 21, 9)
    source = SecureRandomness()
    rows = []
    for scale in SCALES:
        ratio = dyadic_exp(Fraction(1, scale))
        median = interleave(
            {
                "ours": lambda ratio=ratio: discrete_laplace(ratio, n, source),
                "numpy": lambda scale=scale: np.random.laplace(scale=scale, size=n),
            },
            rounds,
        )
        name = f"discrete Laplace, {scale:,} steps wide"
        rows.append(Row(f"{name}: million samples a second", n / median["ours"] / 1e6, "M/s", 15, at_least=True))
        rows.append(Row(f"{name} / numpy.random.laplace", median["ours"] / median["numpy"], "x", 2))
    return rows
