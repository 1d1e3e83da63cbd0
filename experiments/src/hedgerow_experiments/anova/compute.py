"""PrivateAnova beside DP-EBM, DiPriMe and the ends without privacy, on the same splits.

``python -m hedgerow_experiments.anova.compute`` measures whatever is missing in the JSON lines beside ``--out`` (one
line a fit, appended as they come: a run that is killed goes on where it stopped) and writes the table.
Bounds are those of the whole data set, declared public; targets are scaled to [0, 1]; 90 % train, 10 % test. DP-EBM is
measured if ``interpret-core`` is installed.
"""

from __future__ import annotations

import argparse
import importlib
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow_experiments.diprime.compute import Prepared, prepare
from hedgerow_experiments.results import Results

__all__ = ["CLASSES", "METHODS", "NUMBERS", "main"]

NUMBERS = ("DIA", "ABA", "CCP", "PAR", "WHI", "CAL", "APP", "GAS", "MET")
CLASSES = ("BAN", "ROB", "CRE")


def _ours(**options: Any) -> Callable[..., Any]:
    def build(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
        from hedgerow.central.anova import PrivateAnovaClassifier, PrivateAnovaRegressor

        public = {"feature_bounds": data.bounds, "categories": data.categories, "random_state": seed}
        if classify:
            return PrivateAnovaClassifier(**{"epsilon": epsilon, "classes": [0, 1], **public, **options})
        return PrivateAnovaRegressor(**{"epsilon": epsilon, "label_bounds": (0.0, 1.0), **public, **options})

    return build


def _ebm(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    # Optional: pip install interpret-core
    privacy = importlib.import_module("interpret.privacy")
    bounds = {j: (float(a), float(b)) for j, (a, b) in enumerate(data.bounds.T)}
    kinds = ["nominal" if data.categories and j in data.categories else "continuous" for j in bounds]
    common: dict[str, Any] = {"epsilon": epsilon, "delta": 1e-5, "feature_types": kinds, "privacy_bounds": bounds}
    if classify:
        return privacy.DPExplainableBoostingClassifier(random_state=seed, **common)
    return privacy.DPExplainableBoostingRegressor(
        random_state=seed, privacy_target_min=0.0, privacy_target_max=1.0, **common
    )


def _dummy(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from sklearn import dummy

    return dummy.DummyClassifier(strategy="most_frequent") if classify else dummy.DummyRegressor()


def _diprime(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from hedgerow_experiments.diprime.compute import METHODS as peers

    return peers["DiPriMeFlip"](data, epsilon, seed, classify)


def _forest(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from sklearn import ensemble

    return (ensemble.RandomForestClassifier if classify else ensemble.RandomForestRegressor)(30, random_state=seed)


def _boosting(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from sklearn import ensemble

    kind = ensemble.HistGradientBoostingClassifier if classify else ensemble.HistGradientBoostingRegressor
    return kind(categorical_features=sorted(data.categories) if data.categories else None, random_state=seed)


METHODS: dict[str, Callable[..., Any]] = {
    "mean": _dummy,
    "PrivateAnova": _ours(),
    "DP-EBM": _ebm,
    "additive": _ours(interactions=False),
    "pure": _ours(delta=0.0),
    "replace": _ours(neighbours="replace"),
    "DiPriMe": _diprime,
    "random forest": _forest,
    "boosting": _boosting,
    "no noise": _ours(epsilon=math.inf),
}
_ONCE = ("mean", "random forest", "boosting", "no noise")  # do not depend on epsilon


class Run(NamedTuple):
    """One fit."""

    data: str
    epsilon: float
    method: str
    repeat: int


def runs(repeats: int, methods: list[str], datasets: list[str]) -> Iterator[Run]:
    """Yield all fits: the main columns first, repeat by repeat, so that a table is complete early."""
    for group in (("mean", "PrivateAnova", "DP-EBM"), tuple(m for m in METHODS)):
        for repeat in range(repeats):
            for code in (*CLASSES[:2], *NUMBERS, *CLASSES[2:]):
                for method in group:
                    for epsilon in (2.0,) if code in CLASSES else (1.0, 10.0):
                        wanted = (not methods or method in methods) and (not datasets or code in datasets)
                        if wanted and not (method in _ONCE and epsilon == 10.0):
                            yield Run(code, epsilon, method, repeat)


def halves(n: int, repeat: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return training and test records as the prototype drew them: the last tenth of a permutation is the test.

    >>> [part.size for part in halves(4177, 0)]
    [3759, 418]
    """
    order = np.random.RandomState(repeat).permutation(n)  # the old generator: the prototype's splits, to compare
    return order[: int(0.9 * n)], order[int(0.9 * n) :]


def measure(run: Run) -> dict[str, float]:
    """Fit once; return the test score and the time."""
    data, classify = prepare(run.data), run.data in CLASSES
    train, test = halves(len(data.y), run.repeat)
    model = METHODS[run.method](data, run.epsilon, run.repeat, classify)
    start = time.perf_counter()
    model.fit(data.X[train], data.y[train])
    seconds = time.perf_counter() - start
    guess = model.predict(data.X[test])
    value = np.mean(guess == data.y[test]) if classify else np.mean((np.clip(guess, 0, 1) - data.y[test]) ** 2)
    return {"value": float(value), "seconds": round(seconds, 2)}


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing and write the table."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow_experiments.anova.compute", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("experiments/results/anova.md"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--datasets", nargs="*", default=[], help="codes such as GAS; all by default")
    parser.add_argument("--methods", nargs="*", default=[], help=f"of {', '.join(METHODS)}; all by default")
    parser.add_argument("--speed", type=Path, help="what 'python -m benchmarks --only anova' wrote, for the goals")
    parser.add_argument("--write-only", action="store_true", help="write the table from what was measured")
    options = parser.parse_args(arguments)
    from hedgerow_experiments.anova.table import write

    results = Results(options.out.with_suffix(".jsonl"))
    for run in () if options.write_only else runs(options.repeats, options.methods, options.datasets):
        if tuple(run) in results:
            continue
        try:
            results.add(tuple(run), measure(run))
        except ImportError:
            continue  # an optional peer that is not installed
        write(options.out, results, options.speed)
    write(options.out, results, options.speed)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
