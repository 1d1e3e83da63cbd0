"""The results page on the price of trust: every model on the same records, from the experiment ``library``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from statistics import median, mode

import numpy as np

from hedgerow.chart.svg import Curve, Point, chart
from hedgerow.compare.scores import Summary
from hedgerow.compare.web import grid, legend
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.common import epsilons, multiples, tables
from hedgerow_experiments.page.verdicts import ANCHOR, DRAWS, LEVEL, as_errors
from hedgerow_experiments.tables import tabulate

__all__ = ["SHOWN", "intervals", "kept", "repeats", "trust"]

SHOWN = {
    "AssistedForest": "local",
    "SecureSum": "aggregate",
    "HistOfTree on a public model": "semi-feature local",
    "LabelPrivate on a public model": "label",
    "PrivateAnova on a public model": "central",
    "PrivateAnova": "the same without public records",
    "DiPriMe": "the same with delta = 0",
    ANCHOR: "central, by others: an anchor",
}
"""What is recommended for each trust model, by method, and an anchor; as many as there are colours."""
_FREE = ("tree", "random forest", "boosting")
_ENDS = ("one value for all", "public model", "boosting")

Reach = dict[tuple[str, float | None], tuple[float, float]]
"""The ends of an interval, by method and epsilon."""


def kept(cells: Sequence[Summary]) -> dict[tuple[str, str, float | None], float]:
    """Return the share of what can be learnt that is left, by data set, method and epsilon.

    With M the error of one value for all and B that of the best method without privacy, it is (M - error)/(M - B): 1 is
    as good as without privacy, 0 as good as knowing nothing of the features, less is worse than that.
    """
    floor = {s.dataset: s.mean for s in cells if s.method == "one value for all"}
    best: dict[str, float] = {}
    for s in cells:
        if s.method in _FREE:
            best[s.dataset] = min(s.mean, best.get(s.dataset, s.mean))
    return {
        (s.dataset, s.method, s.epsilon): (floor[s.dataset] - s.mean) / (floor[s.dataset] - best[s.dataset])
        for s in cells
        if s.dataset in floor and s.dataset in best and floor[s.dataset] > best[s.dataset]
    }


def intervals(cells: Sequence[Summary]) -> Reach:
    """Return where the median share over data sets might as well be, by method and epsilon: 90 % intervals.

    Data sets are drawn again, with replacement, and splits within each, the same for all its methods; a method counts
    with those splits of them that it has. With one split a set only the choice of data sets counts.
    """
    by_set: dict[str, list[Summary]] = defaultdict(list)
    for s in cells:
        by_set[s.dataset].append(s)
    if not by_set:
        return {}
    rng = np.random.default_rng(0)
    names = sorted(by_set)
    places = rng.integers(0, len(names), (DRAWS, len(names)))
    found: dict[tuple[str, float | None], dict[int, np.ndarray]] = defaultdict(dict)
    for place, name in enumerate(names):
        splits = sorted({r for s in by_set[name] for r in s.values})
        weights = rng.multinomial(len(splits), np.full(len(splits), 1 / len(splits)), DRAWS)
        drawn = {(s.method, s.epsilon): _means(weights, splits, s.values) for s in by_set[name]}
        floor = drawn.get(("one value for all", None))
        free = [drawn[m, None] for m in _FREE if (m, None) in drawn]
        if floor is None or not free:
            continue
        width = floor - np.min(free, axis=0)
        for key, error in drawn.items():
            found[key][place] = np.where(width > 0, (floor - error) / np.where(width > 0, width, 1.0), np.nan)
    out: Reach = {}
    for key, shares in found.items():
        table = np.full((len(names), DRAWS), np.nan)
        for place, values in shares.items():
            table[place] = values
        picked = np.take_along_axis(table.T, places, axis=1)  # a set is drawn with its own draw of splits
        picked = picked[~np.isnan(picked).all(axis=1)]
        low, high = np.quantile(np.nanmedian(picked, axis=1), [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        out[key] = (float(low), float(high))
    return out


def _means(weights: np.ndarray, splits: list[int], values: dict[int, float]) -> np.ndarray:
    """Return the mean over drawn splits, as far as there are values of them; NaN for a draw that has none."""
    have = [i for i, split in enumerate(splits) if split in values]
    counts = weights[:, have].sum(axis=1)
    sums = weights[:, have] @ [values[splits[i]] for i in have]
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _medians(shares: dict[tuple[str, str, float | None], float], method: str) -> dict[float | None, float]:
    groups: dict[float | None, list[float]] = {}
    for (_, name, epsilon), value in shares.items():
        if name == method:
            groups.setdefault(epsilon, []).append(value)
    return {e: median(v) for e, v in groups.items()}


def trust(found: Evidence, fewest: int = 8) -> tuple[str, str]:
    """Return a sentence and a section; nothing unless it was run on ``fewest`` data sets: a median needs some.

    A method that was run on fewer is in the tables only: its median would be of other sets than those beside it.
    """
    scored = found.cells("library")
    cells = as_errors(scored)
    shares = kept(cells)
    shown = [m for m in SHOWN if len({data for data, name, _ in shares if name == m}) >= fewest]
    if not shown:
        return "", ""
    middle = {m: _medians(shares, m) for m in (*shown, "public model")}
    reach = intervals([s for s in cells if s.method in (*shown, *_FREE, *_ENDS)])
    curves = [
        Curve(m, tuple(Point(e, v, *reach.get((m, e), (v, v))) for e, v in middle[m].items() if e is not None), i)
        for i, m in enumerate(shown)
    ]
    alone = middle["public model"].get(None)
    lines = {"as without privacy": 1.0, **({} if alone is None else {"public model alone": alone})}
    budgets = epsilons(cells)
    drawn = chart(
        curves, title=f"Median over {len({d for d, _, _ in shares})} data sets", y_label="share of what can be learnt",
        lines=lines, limits=(-0.2, 1.05), x_ticks=budgets,
    )  # fmt: skip
    names = {f"{m} ({SHOWN[m]})": i for i, m in enumerate(shown)}
    sets = {m: len({d for d, name, _ in shares if name == m}) for m in shown}
    all_of_them = max(sets.values())
    fewer = "".join(f" {m} was run on {n} sets." for m, n in sets.items() if n < all_of_them)
    text = (
        "<p>The same records, split 1:7:2 into public, private and test ones, and every method as it comes out of the "
        "box. The share is 1 for the best tree, forest or boosting that sees all private records, 0 for giving "
        "everybody the same value; below 0 the method has learnt noise. Bands and brackets are 90 % intervals of the "
        "median over other data sets and splits like these: both were drawn again, with replacement. Splits of a data "
        f"set: {repeats(cells)}. At most 5,000 records of a set and few epsilons were chosen for cost: with more "
        "records privacy costs less. Of classes, the public model alone is a forest of the public records, and others "
        f"start from a stack, which is often better.{escape(fewer + _failed(found))}</p>"
    )
    numbers = [s for s in scored if s.setting == "regression"]
    listed = [s for s in numbers if s.method in (*shown, *_ENDS)]
    codes = {code: f"{facts.name} ({code})" for code, facts in FACTS.items()}
    charts = multiples(listed, shown, _ENDS, names=codes)
    # No ranks and no marks: methods of different trust models do not compete.
    folded = [
        (f"Epsilon {e:g}: {what}", tabulate([s for s in own if s.epsilon in (e, None)], compete=(), marks="none",
                                            columns=list(dict.fromkeys(s.method for s in own))))
        for e in budgets
        for what, own in (("test MSE", numbers), ("accuracy", [s for s in scored if s.setting == "classification"]))
        if own
    ]  # fmt: skip
    return _sentence(middle, budgets, alone, reach), text + legend(names) + grid([drawn]) + charts + tables(
        folded, "Every estimator on every data set"
    )


def _failed(found: Evidence) -> str:
    """Return which fits broke down, and how often."""
    counts: dict[str, int] = defaultdict(int)
    for s in found.cells("library", metric="failed"):
        counts[f"{s.method} on {s.dataset}"] += len(s.values)
    told = ", ".join(f"{where} {n} times" for where, n in counts.items())
    return f" Fits that broke down have no score: {told}." if told else ""


def repeats(cells: Sequence[Summary]) -> str:
    """Return how many splits most methods have of each data set, and which have fewer of some."""
    fewest: dict[str, int] = {}
    for s in cells:
        name = s.method if s.epsilon is None else f"{s.method} at epsilon {s.epsilon:g}"
        fewest[name] = min(len(s.values), fewest.get(name, len(s.values)))
    usual = mode(sorted(fewest.values(), reverse=True))
    fewer = ", ".join(f"{name} {n}" for name, n in fewest.items() if n < usual)
    return f"{usual}" + (f" (at the least, on some set, {fewer})" if fewer else "")


def _sentence(
    middle: dict[str, dict[float | None, float]], budgets: list[float], alone: float | None, reach: Reach
) -> str:
    """Return what is left at epsilon 1 (or the nearest budget that was run), by trust model."""
    at = min(budgets, key=lambda e: abs(e - 1.0))
    told = [f"{m} {_percent(middle[m][at], reach.get((m, at)))}" for m in SHOWN if at in middle.get(m, {})]
    public = "" if alone is None else f"; the public model alone {_percent(alone, reach.get(('public model', None)))}"
    kept_at = f"Of what can be learnt without privacy the median data set keeps at epsilon {at:g}"
    return f"{kept_at}: {', '.join(told)}{public}."


def _percent(share: float, ends: tuple[float, float] | None) -> str:
    known = "" if ends is None else f" ({round(100 * ends[0])} to {round(100 * ends[1])})"
    return f"{round(100 * share)} %{known}"
