"""Tables 1 and 2 of the DiPriMe paper, and a comparison with what a user would pick instead.

``python -m hedgerow.bench.diprime --out docs/results/diprime.md`` measures whatever is missing in the JSON lines
beside ``--out`` (one line a fit, appended as they come) and writes the tables. Bounds are those of the whole data
set, declared public as in the paper; targets are scaled to [0, 1]; 90 % train, 10 % test.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow.bench.datasets import load_dataset

__all__ = ["Prepared", "main", "prepare"]

TABLE_1 = ("PAR", "APP", "MET", "GAS", "FLI")
TABLE_2 = ("BAN", "CRE", "ROB", "HIG", "HAR")
_SLOW, _FEW = ("Median", "paper's scheme"), 3  # medians one by one: three repeats at most
PEERS = ("GAS", "PAR", "ABA", "WHI", "CCP", "CAL", "DIA")


class Prepared(NamedTuple):
    """Records as floats (categories as codes), labels, which columns are categorical, the public bounds."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[Any]
    categories: dict[int, list[int]] | None
    bounds: npt.NDArray[np.float64]


@lru_cache(maxsize=32)
def prepare(code: str) -> Prepared:
    """Load a data set as the paper's notebook prepares it."""
    if code == "DIA":
        from sklearn.datasets import load_diabetes

        X, y = load_diabetes(return_X_y=True)
        return _prepared(X, y, {}, scaled=True)
    import pandas as pd

    data = load_dataset(code)
    frame, y = data.X, data.y
    if code == "HAR":
        keep = np.isin(y, ["sitting", "standing"])
        frame, y = frame[keep], (y[keep] == "sitting").astype(np.int64)
    elif code == "ROB":
        y = (y == "Move-Forward").astype(np.int64)
    columns: list[npt.NDArray[np.float64]] = []
    categories: dict[int, list[int]] = {}
    for j, name in enumerate(frame.columns):
        column = frame[name]
        if not pd.api.types.is_numeric_dtype(column):
            codes, known = pd.factorize(column, sort=True)
            column, categories[j] = codes, list(range(len(known)))
        columns.append(np.asarray(column, dtype=np.float64))
    return _prepared(np.column_stack(columns), y, categories, scaled=code not in TABLE_2)


def _prepared(X: Any, y: Any, categories: dict[int, list[int]], *, scaled: bool) -> Prepared:
    if scaled:
        y = (y - y.min()) / (y.max() - y.min())
    return Prepared(X, y, categories or None, np.stack([X.min(axis=0), X.max(axis=0)]))


def _private(name: str, **options: Any) -> Callable[..., Any]:
    def build(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
        import hedgerow.central as central

        kind = getattr(central, name + ("Classifier" if classify else "Regressor"))
        public: dict[str, Any] = {"classes": [0, 1]} if classify else {"label_bounds": (0.0, 1.0)}
        return kind(
            epsilon, feature_bounds=data.bounds, categories=data.categories, random_state=seed, **public, **options
        )

    return build


def _median(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from hedgerow.central import MedianForestClassifier, MedianForestRegressor

    kind: Any = MedianForestClassifier if classify else MedianForestRegressor
    public: dict[str, Any] = {"classes": [0, 1]} if classify else {"label_bounds": (0.0, 1.0)}
    return kind(feature_bounds=data.bounds, categories=data.categories, random_state=seed, **public)


def _sklearn(name: str) -> Callable[..., Any]:
    def build(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
        from sklearn import ensemble

        kind = getattr(ensemble, name + ("Classifier" if classify else "Regressor"))
        depth = max(1, int(np.log2(0.9 * len(data.y) / 25)))
        return kind(n_estimators=10, max_depth=depth, random_state=seed)

    return build


def _ebm(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    # Optional: pip install interpret-core
    kind = importlib.import_module("interpret.privacy").DPExplainableBoostingRegressor
    bounds = {j: (float(a), float(b)) for j, (a, b) in enumerate(data.bounds.T)}
    kinds = ["nominal" if data.categories and j in data.categories else "continuous" for j in bounds]
    return kind(
        epsilon=epsilon,
        delta=1e-5,
        feature_types=kinds,
        privacy_bounds=bounds,
        privacy_target_min=0.0,
        privacy_target_max=1.0,
        random_state=seed,
    )


METHODS: dict[str, Callable[..., Any]] = {
    "RF": _sklearn("RandomForest"),
    "ERT": _sklearn("ExtraTrees"),
    "Median": _median,
    "DP-DF": _private("DPDecisionForest"),
    "DP-RF": _private("DPRandomForest"),
    "DP-ERT": _private("DPExtraTrees"),
    "DiPriMe": _private("DiPriMeForest", selection="random"),
    "DiPriMeExp": _private("DiPriMeForest", selection="exponential"),
    "DiPriMeFlip": _private("DiPriMeForest"),
    "paper's scheme": _private("DiPriMeForest", accounting="paper"),
    "DP-EBM": _ebm,
}


class Run(NamedTuple):
    """One fit."""

    table: str
    data: str
    epsilon: float
    method: str
    repeat: int


def runs(first: int, repeats: int, datasets: set[str]) -> Iterator[Run]:
    """Yield all fits, repeat by repeat, so that a table is complete early and only grows sharper."""
    tables = [
        ("1", TABLE_1, (10.0,), [m for m in METHODS if m not in ("DP-DF", "DP-EBM")]),
        ("2", TABLE_2, (2.0,), [m for m in METHODS if m != "DP-EBM"]),
        ("peers", PEERS, (1.0, 10.0), ["DP-EBM", "DiPriMeFlip", "paper's scheme"]),
    ]
    for repeat in range(first, first + repeats):
        for table, codes, epsilons, methods in tables:
            for code in codes:
                for epsilon in epsilons if not datasets or code in datasets else ():
                    for method in methods if repeat - first < _FEW else [m for m in methods if m not in _SLOW]:
                        yield Run(table, code, epsilon, method, repeat)


def measure(run: Run) -> dict[str, Any]:
    """Fit once and return the test score with the time and the true epsilon."""
    data, classify = prepare(run.data), run.table == "2"
    order = np.random.default_rng(run.repeat).permutation(len(data.y))
    cut = int(0.9 * len(order))
    train, test = order[:cut], order[cut:]
    model = METHODS[run.method](data, run.epsilon, run.repeat, classify)
    start = time.perf_counter()
    model.fit(data.X[train], data.y[train])
    seconds = time.perf_counter() - start
    guess = model.predict(data.X[test])
    value = np.mean(guess == data.y[test]) if classify else np.mean((np.clip(guess, 0, 1) - data.y[test]) ** 2)
    claim = getattr(getattr(model, "guarantee_", None), "epsilon", None)
    stated = None if claim is None or np.isinf(claim) else claim
    return {**run._asdict(), "value": float(value), "seconds": round(seconds, 2), "true_epsilon": stated}


def main(arguments: list[str] | None = None) -> int:
    """Measure what is missing and write the tables."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow.bench.diprime", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/results/diprime.md"))
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="seed of the first split; from 100 on none was tuned on")
    parser.add_argument("--datasets", nargs="*", default=[], help="codes such as GAS; all by default")
    parser.add_argument("--methods", nargs="*", default=[], help="rows such as DiPriMeFlip; all by default")
    parser.add_argument("--write-only", action="store_true", help="write the tables from what was measured")
    options = parser.parse_args(arguments)
    from hedgerow.bench.diprime_tables import write

    lines = options.out.with_suffix(".jsonl")
    lines.parent.mkdir(parents=True, exist_ok=True)
    known = read(lines)
    done = {tuple(item[k] for k in Run._fields) for item in known}
    for run in runs(options.first, 0 if options.write_only else options.repeats, set(options.datasets)):
        if tuple(run) in done or (options.methods and run.method not in options.methods):
            continue
        try:
            result = measure(run)
        except ImportError:
            continue  # an optional peer that is not installed
        known.append(result)
        with lines.open("a") as file:
            file.write(json.dumps(result) + "\n")
        write(options.out, known)
    write(options.out, known)
    return 0


def read(path: Path) -> list[dict[str, Any]]:
    """Return what was measured before, each fit once."""
    lines = path.read_text().splitlines() if path.exists() else []
    results = [json.loads(line) for line in lines]
    return list({tuple(item[k] for k in Run._fields): item for item in results}.values())


if __name__ == "__main__":
    raise SystemExit(main())
