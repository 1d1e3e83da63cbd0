"""Seconds for a whole assisted fit with its simulation, 1e5 holders, 12 features: ``python -m benchmarks.assisted``."""

from __future__ import annotations

import time

import numpy as np

from hedgerow.local.assisted import design_assisted
from hedgerow.public import PublicModel

HOLDERS, PUBLIC, FEATURES = 100_000, 1000, 12


def main() -> None:
    """Print the seconds of each step, wall clock and processor."""
    rng = np.random.default_rng(0)
    X = rng.random((HOLDERS + PUBLIC, FEATURES))
    y = np.sin(6 * X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.2, len(X))
    public, private = (X[:PUBLIC], y[:PUBLIC]), (X[PUBLIC:], y[PUBLIC:])
    marks = [(time.perf_counter(), time.process_time())]

    def mark(name: str) -> None:
        marks.append((time.perf_counter(), time.process_time()))
        (a, b), (c, d) = marks[-2:]
        print(f"{name:<14} {c - a:6.1f} s on the clock, {d - b:6.1f} s of processor", flush=True)

    base = PublicModel(random_state=0).fit(*public)
    mark("public model")
    options = {"epsilon": 1.0, "label_bounds": (-2.0, 3.0), "n_holders": HOLDERS}
    task = design_assisted(*public, public_model=base, random_state=0, **options)  # type: ignore[arg-type]
    mark("design")
    total = task.simulate(*private, 0)
    mark("reports")
    total.model().predict(X[:1000])
    mark("model")
    (a, b), (c, d) = marks[0], marks[-1]
    print(f"{'whole fit':<14} {c - a:6.1f} s on the clock, {d - b:6.1f} s of processor")


if __name__ == "__main__":
    main()
