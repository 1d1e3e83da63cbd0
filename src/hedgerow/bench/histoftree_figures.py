"""Figure 2(a-d) of the HistOfTree paper: a simulation on five uniform features."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from hedgerow.bench.histoftree_methods import CONSTANTS, Trial, rounds_of
from hedgerow.bench.results import Results
from hedgerow.protocol.semi.choose import choose
from hedgerow.randomness import SeededRandomness

__all__ = ["figure_text", "simulate"]

D = 5
BUDGETS, SIZES, GAMMAS = (0.5, 1.0, 2.0, 4.0, 8.0, 1024.0), (2000, 5000, 10000, 20000, 50000), (0.5, 1.0, 2.0, 4.0)
DEPTHS = (1, 2, 3, 4, 5, 6)
Key = tuple[Any, ...]


def _trial(n: int, repeat: int) -> Trial:
    """Return n records of Y = sin X1 + sin X2 + sin X5 + N(0, 1); test labels are without noise."""
    rng = np.random.default_rng([2, n, repeat])
    X, X_test = rng.random((n, D)), rng.random((4000, D))
    mean, mean_test = (np.sin(Z[:, 0]) + np.sin(Z[:, 1]) + np.sin(Z[:, 4]) for Z in (X, X_test))
    blank = np.zeros(D, dtype=bool)
    return Trial(X, mean + rng.normal(size=n), X_test, mean_test, (-3.0, 5.5), blank, np.zeros((n, D), dtype=bool))


def _errors(trial: Trial, mask: Any, s: int, epsilon: float, depths: Any, bins: Any, key: Key) -> dict[str, float]:
    """Return excess errors by "share/depth/bins/estimator"."""
    out = {}
    shares = (1.0,) if not mask.any() else (0.5, 0.9)
    for share in shares:
        source = SeededRandomness(0, ("figure", *map(str, key), str(share)))
        rounds = rounds_of(trial, epsilon, share, mask, s, "max_edge", max(depths), source)
        for depth in depths:
            for t in bins:
                shrunk, plain = rounds.errors(depth, t, source.child(depth, t))
                out[f"{share}/{depth}/{t}/shrunk"], out[f"{share}/{depth}/{t}/plain"] = shrunk, plain
    return out


def _aligned(n: int, s: int) -> Any:
    return np.broadcast_to(np.arange(D) < s, (n, D))


def _jobs(repeat: int) -> Iterator[tuple[Key, Any]]:
    """Yield keys and how to compute them."""
    for epsilon in BUDGETS:
        for s in range(D + 1):
            depths = (0,) if s == D else DEPTHS
            yield ("a", epsilon, s, repeat), (10_000, _aligned(10_000, s), s, epsilon, depths, (2,))
    for n in SIZES:
        for s in range(1, D):
            yield ("b", n, s, repeat), (n, _aligned(n, s), s, 4.0, DEPTHS, (2,))
    yield ("c", 2, 2, repeat), (10_000, _aligned(10_000, 2), 2, 4.0, tuple(range(9)), (1, 2, 3))
    for gamma in GAMMAS:
        n = 10_000
        mask = np.arange(1, n + 1)[:, None] <= n / np.arange(1, D + 1) ** gamma
        for s in range(D):
            yield ("d", gamma, s, repeat), (n, mask, s, 4.0, DEPTHS, (1, 2, 3))
        for constant in CONSTANTS:
            c = choose(mask, 4.0, constant=constant)
            bins = tuple(sorted({max(1, c.n_bins + o) for o in (-1, 0, 1)}))
            yield ("d", gamma, f"auto {constant:g}", repeat), (n, mask, c.n_private, 4.0, (c.max_depth,), bins)


def simulate(results: Results, repeats: int) -> None:
    """Compute what is missing."""
    for repeat in range(repeats):
        trials: dict[int, Trial] = {}
        for key, (n, mask, s, epsilon, depths, bins) in _jobs(repeat):
            if key not in results:
                trial = trials.setdefault(n, _trial(n, repeat))
                results.add(key, _errors(trial, mask, s, epsilon, depths, bins, key))
        print(f"figure 2, repeat {repeat}", file=sys.stderr, flush=True)


def _means(results: Results) -> tuple[dict[Key, dict[str, float]], int]:
    """Return mean errors by panel, abscissa and curve, over the repeats that are complete, and their number."""
    done = dict(results)
    complete = [r for r in sorted({key[3] for key in done}) if all(key in done for key, _ in _jobs(int(r)))]
    grids: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (panel, x, s, repeat), value in done.items():
        for parameter, error in value.items() if repeat in complete else ():
            grids[panel, x, s][parameter].append(error)
    return {key: {p: float(np.mean(v)) for p, v in grid.items()} for key, grid in grids.items()}, len(complete)


def _least(grid: dict[str, float], estimator: str) -> float:
    return min(error for parameter, error in grid.items() if parameter.endswith(estimator))


def _rows(head: str, names: Sequence[str], rows: Iterable[tuple[Any, Sequence[str]]]) -> list[str]:
    lines = [f"| {head} | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    return [*lines, *(f"| {x:g} | " + " | ".join(cells) + " |" for x, cells in rows), ""]


def _curves(means: Any, panel: str, xs: Any, columns: Any, head: str, names: Sequence[str]) -> list[str]:
    cells = [(x, [f"{_least(means[panel, x, s], 'shrunk'):.3f}" for s in columns]) for x in xs]
    return _rows(head, names, cells)


def _by_depth(means: Any) -> list[str]:
    grid = means["c", 2, 2]

    def best(p: int, t: int) -> str:
        ends = [str(p), str(t), "plain"]
        return f"{min(e for q, e in grid.items() if q.split('/')[1:] == ends):.3f}"

    return _rows("p", ["t = 1", "t = 2", "t = 3"], [(p, [best(p, t) for t in (1, 2, 3)]) for p in range(9)])


def _by_gamma(means: Any) -> list[str]:
    autos = [f"auto {c:g}" for c in CONSTANTS]
    rows = []
    for gamma in GAMMAS:
        fixed = [_least(means["d", gamma, s], "shrunk") for s in range(D)]
        auto = [_least(means["d", gamma, a], "shrunk") for a in autos]
        mse = (1 + min(auto)) / (1 + min(fixed))
        rows.append((gamma, [*(f"{v:.3f}" for v in fixed + auto), f"{min(auto) / min(fixed):.2f}", f"{mse:.3f}"]))
    return _rows("gamma", [*(f"s = {s}" for s in range(D)), *autos, "auto / fixed", "the same, MSE with noise"], rows)


def figure_text(results: Results) -> str:
    """Return figure 2 as tables of the mean squared distance to the true regression function."""
    means, repeats = _means(results)
    if not means:
        return ""
    names = ["label only", *(f"s* = {s}" for s in range(1, D)), "all private"]
    lines = [
        f"## Figure 2: simulation (repeats: {repeats})\n",
        "Y = sin X1 + sin X2 + sin X5 + N(0, 1), X uniform on [0, 1]^5, label bounds (-3, 5.5), rule max_edge. Entries",
        "are mean squared distances to the true function (the paper's MSE less the noise, 1), at the best depth and",
        "share, of HistOfTree as shipped unless said otherwise. The function's own variance is 0.18.\n",
        "(a) n = 10,000, the first s* features private, t = 2:\n",
        *_curves(means, "a", BUDGETS, range(D + 1), "epsilon", names),
        "(b) epsilon = 4, t = 2:\n",
        *_curves(means, "b", SIZES, range(1, D), "n", names[1:-1]),
        "(c) n = 10,000, epsilon = 4, s* = 2, the paper's estimator (9) at the better share, by depth p:\n",
        *_by_depth(means),
        "(d) n = 10,000, epsilon = 4, W_i^l = 1 for i <= n / l^gamma: fixed s at its best depth, bins and share, and",
        "AdHistOfTree by the constant of C.1, at its best bins (t* give or take 1) and share:\n",
        *_by_gamma(means),
    ]
    return "\n".join(lines)
