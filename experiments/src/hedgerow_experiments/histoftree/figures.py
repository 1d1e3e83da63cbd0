"""Figure 2(a-d) of the HistOfTree paper: a simulation on five uniform features."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row, summarise
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.partly_public.choose import choose
from hedgerow_experiments.experiment import Experiment, Key, Selection
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.histoftree.compute import estimators
from hedgerow_experiments.histoftree.declared import BUDGETS, FIGURE_2, GAMMAS, SIZES, D
from hedgerow_experiments.histoftree.methods import CONSTANTS, Trial, rounds_of
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "figure_text", "tidy"]

DEPTHS = (1, 2, 3, 4, 5, 6)
Name = tuple[Any, ...]
"""Panel, abscissa, number of private features (or the constant of AdHistOfTree), repeat: what names a stream."""


@lru_cache(maxsize=2)
def _trial(n: int, repeat: int) -> Trial:
    """Return n records of Y = sin X1 + sin X2 + sin X5 + N(0, 1); test labels are without noise."""
    rng = np.random.default_rng([2, n, repeat])
    X = rng.random((n, D))
    X_test = rng.random((4000, D))
    mean, mean_test = (np.sin(Z[:, 0]) + np.sin(Z[:, 1]) + np.sin(Z[:, 4]) for Z in (X, X_test))
    blank = np.zeros(D, dtype=bool)
    return Trial(X, mean + rng.normal(size=n), X_test, mean_test, (-3.0, 5.5), blank, np.zeros((n, D), dtype=bool))


def _errors(trial: Trial, mask: Any, s: int, epsilon: float, depths: Any, bins: Any, key: Name) -> dict[str, float]:
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


def _parts(group: str) -> tuple[float | None, int | str]:
    """Return the abscissa and the curve that a group's name holds.

    >>> _parts("n=2000 s=1"), _parts("gamma=0.5 auto 0.01"), _parts("s=2")
    ((2000.0, 1), (0.5, 'auto 0.01'), (None, 2))
    """
    x, _, rest = group.partition(" ") if group.startswith(("n=", "gamma=")) else ("", "", group)
    return (float(x.split("=")[1]) if x else None), (int(rest[2:]) if rest.startswith("s=") else rest)


def _name(key: Key) -> Name:
    x, s = _parts(key.group)
    if key.setting == "b":
        assert x is not None
        return "b", int(x), s, key.repeat
    return key.setting, {"a": key.epsilon, "c": 2, "d": x}[key.setting], s, key.repeat


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return excess errors by parameter."""
    panel, x, s, repeat = name = _name(key)
    n = x if panel == "b" else 10_000
    if panel != "d":
        depths = tuple(range(9)) if panel == "c" else (0,) if s == D else DEPTHS
        bins = (1, 2, 3) if panel == "c" else (2,)
        return _errors(_trial(n, repeat), _aligned(n, s), s, key.epsilon, depths, bins, name)
    mask = np.arange(1, n + 1)[:, None] <= n / np.arange(1, D + 1) ** x
    if isinstance(s, int):
        return _errors(_trial(n, repeat), mask, s, key.epsilon, DEPTHS, (1, 2, 3), name)
    c = choose(mask, key.epsilon, constant=float(s.split()[1]))
    near = tuple(sorted({max(1, c.n_bins + o) for o in (-1, 0, 1)}))
    return _errors(_trial(n, repeat), mask, c.n_private, key.epsilon, (c.max_depth,), near, name)


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield errors as rows; panel (c) has the depth on its axis, and a curve for each number of bins."""
    x, _ = _parts(key.group)
    curve = key.group if x is None else key.group.partition(" ")[2]
    for parameter, error in value.items():
        method, where = estimators(curve, parameter)
        at = x
        if key.setting == "c":
            share, depth, t = where.split("/")
            method = method.replace(curve, f"t={t}")
            where = share
            at = float(depth)
        yield row_of(experiment, key, error, method=method, x=at, parameter=where)


def _means(rows: list[Row]) -> tuple[dict[tuple[str, float, str], float], int]:
    """Return least mean errors by panel, abscissa and curve, over the repeats that are complete, and their number."""
    wanted = {(k.setting, k.epsilon, _parts(k.group)[0]) for k in FIGURE_2.keys(Selection(repeats=1))}
    have: dict[int, set[Any]] = defaultdict(set)
    for r in rows:
        have[r.repeat].add((r.setting, r.epsilon, None if r.setting == "c" else r.x))
    complete = {repeat for repeat, seen in have.items() if wanted <= seen}
    found = summarise(r for r in rows if r.repeat in complete)
    return {(s.setting, float(s.epsilon or 0) if s.x is None else s.x, s.method): s.mean for s in found}, len(complete)


def _rows(head: str, names: Sequence[str], rows: Iterable[tuple[Any, Sequence[str]]]) -> list[str]:
    return [*pipes([head, *names], ([f"{x:g}", *cells] for x, cells in rows)), ""]


def _curves(means: Any, panel: str, xs: Any, columns: Any, head: str, names: Sequence[str]) -> list[str]:
    cells = [(x, [f"{means[panel, x, f's={s}']:.3f}" for s in columns]) for x in xs]
    return _rows(head, names, cells)


def _by_depth(means: Any) -> list[str]:
    cells = [(p, [f"{means['c', p, f't={t} (9)']:.3f}" for t in (1, 2, 3)]) for p in range(9)]
    return _rows("p", ["t = 1", "t = 2", "t = 3"], cells)


def _by_gamma(means: Any) -> list[str]:
    autos = [f"auto {c:g}" for c in CONSTANTS]
    rows = []
    for gamma in GAMMAS:
        fixed = [means["d", gamma, f"s={s}"] for s in range(D)]
        auto = [means["d", gamma, a] for a in autos]
        mse = (1 + min(auto)) / (1 + min(fixed))
        rows.append((gamma, [*(f"{v:.3f}" for v in fixed + auto), f"{min(auto) / min(fixed):.2f}", f"{mse:.3f}"]))
    return _rows("gamma", [*(f"s = {s}" for s in range(D)), *autos, "auto / fixed", "the same, MSE with noise"], rows)


def figure_text(rows: list[Row]) -> str:
    """Return figure 2 as tables of the mean squared distance to the true regression function."""
    means, repeats = _means(rows)
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
