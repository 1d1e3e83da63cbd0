"""Which rule and depth HistOfTree takes by default: ``python -m hedgerow_experiments.histoftree.defaults``.

Private are the label and the two numeric columns that tell most about it, for everybody; nothing else is public than
ranges and categories. The candidates: "cart" of some depth where ``n * epsilon**2`` is at least some number (reports
then tell more than noise), and else the paper's "max_edge" of depth 4. The score of a candidate on a set is the mean of
R2 (at least -1) over budgets and repeats. For each set the candidate is chosen that has the highest mean score over
all other sets; its score on the set left out is what counts. A few minutes on one core.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hedgerow.semi import HistOfTreeRegressor
from hedgerow_experiments.data.datasets import load_dataset

__all__ = ["chosen", "main", "measured"]

CODES = ("ABA", "AIR", "BUI", "CAL", "CCP", "CON", "CPU", "GAS", "MET", "PAR", "RED", "WHI")
EPSILONS = (1.0, 2.0, 4.0, 8.0)
REPEATS = 2
ROWS = 12_000
PAPER = ("max_edge", 4)
DEPTHS = (1, 2, 3, 4)
LEAST = (0.0, 1e4, 3e4, 6e4, 1e5, 2e5, 4e5, math.inf)
"""Values of ``n * epsilon**2`` from which "cart" is tried; infinity is the paper's default alone."""

Candidate = tuple[float, int]
Scores = Mapping[Candidate, float]


def _records(code: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return records, labels and what is public of them: benchmark sets are public altogether."""
    data = load_dataset(code)
    rows = np.random.default_rng(0).permutation(len(data.y))[:ROWS]
    X = data.X.iloc[rows].reset_index(drop=True)
    y = np.asarray(data.y, dtype=np.float64)[rows]
    text = [name for name in X if X[name].dtype.kind not in "fiub"]
    numeric = [name for name in X if name not in text and X[name].nunique() > 1]
    known = {
        "label_bounds": (float(y.min()), float(y.max())),
        "feature_bounds": {name: (float(X[name].min()), float(X[name].max())) for name in numeric},
        "categories": {name: sorted(map(str, X[name].unique())) for name in text} or None,
    }
    return X[[*numeric, *text]], y, known


def _private(X: Any, y: Any, numeric: list[str]) -> list[str]:
    """Return the two numeric columns that tell most about the label."""
    told = {name: abs(np.corrcoef(X[name], y)[0, 1]) for name in numeric}
    return sorted(numeric, key=lambda name: -told[name])[:2]


def measured(code: str) -> dict[Candidate, float]:
    """Return the score of every candidate on one set."""
    X, y, known = _records(code)
    private = _private(X, y, list(known["feature_bounds"]))
    found: dict[Candidate, list[float]] = {(least, depth): [] for least in LEAST for depth in DEPTHS}
    for repeat in range(REPEATS):
        order = np.random.default_rng(repeat).permutation(len(y))
        held = order[: len(y) // 5]
        used = order[len(y) // 5 :]
        for epsilon in EPSILONS:
            r2 = {}
            for rule, depth in (PAPER, *(("cart", depth) for depth in DEPTHS)):
                tree = HistOfTreeRegressor(epsilon, rule=rule, max_depth=depth, random_state=repeat, **known)
                tree.fit(X.iloc[used], y[used], private=private)
                error = np.mean((tree.predict(X.iloc[held]) - y[held]) ** 2) / np.var(y[held])
                r2[rule, depth] = max(-1.0, 1.0 - float(error))
            for least, depth in found:
                enough = len(used) * epsilon**2 >= least
                found[least, depth].append(r2["cart", depth] if enough else r2[PAPER])
    return {candidate: float(np.mean(values)) for candidate, values in found.items()}


def chosen(scores: Mapping[str, Scores], *, without: str = "") -> Candidate:
    """Return the candidate of the highest mean score over all sets but one.

    >>> chosen({"A": {(0.0, 2): 0.5, (0.0, 4): 0.1}, "B": {(0.0, 2): 0.0, (0.0, 4): 0.9}}, without="B")
    (0.0, 2)
    """
    others = [found for code, found in scores.items() if code != without]
    return max(others[0], key=lambda candidate: float(np.mean([found[candidate] for found in others])))


def main() -> None:
    """Print scores, and what is chosen without each set."""
    scores: dict[str, Scores] = {}
    for code in CODES:
        scores[code] = measured(code)
        best = max(scores[code], key=lambda candidate: scores[code][candidate])
        print(f"{code}: the paper's {scores[code][math.inf, 4]:.3f}, best {best} {scores[code][best]:.3f}", flush=True)
    for candidate in scores[CODES[0]]:
        print(candidate, f"{np.mean([scores[code][candidate] for code in CODES]):.4f}")
    kept = {code: chosen(scores, without=code) for code in CODES}
    ours = np.mean([scores[code][kept[code]] for code in CODES])
    paper = np.mean([scores[code][math.inf, 4] for code in CODES])
    print("chosen without each set:", ", ".join(f"{code} {candidate}" for code, candidate in kept.items()))
    print(f"chosen of all: {chosen(scores)}; mean on sets left out {ours:.3f}, the paper's default {paper:.3f}")


if __name__ == "__main__":
    main()
