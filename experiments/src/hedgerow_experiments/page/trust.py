"""The results page on the price of trust: every model on the same records, from the experiment ``library``."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from hedgerow.chart.svg import Curve, Point, chart
from hedgerow.compare.scores import Summary
from hedgerow.compare.web import grid, legend
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.common import epsilons, multiples, tables
from hedgerow_experiments.tables import tabulate

__all__ = ["SHOWN", "kept", "trust"]

SHOWN = {
    "AssistedForest": "local",
    "SecureSum": "aggregate",
    "HistOfTree": "semi-feature local, without public records",
    "LabelPrivate on a public model": "label",
    "PrivateAnova": "central, without public records",
    "DiPriMe": "the same with delta = 0",
}
"""What is recommended for each trust model, by method."""
_FREE = ("tree", "random forest", "boosting")
_ENDS = ("one value for all", "public model", "boosting")


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


def _medians(shares: dict[tuple[str, str, float | None], float], method: str) -> dict[float | None, float]:
    groups: dict[float | None, list[float]] = {}
    for (_, name, epsilon), value in shares.items():
        if name == method:
            groups.setdefault(epsilon, []).append(value)
    return {e: median(v) for e, v in groups.items()}


def trust(found: Evidence, fewest: int = 8) -> tuple[str, str]:
    """Return a sentence and a section; nothing unless it was run on ``fewest`` data sets: a median needs some."""
    cells = found.cells("library", setting="regression")
    shares = kept(cells)
    shown = [m for m in SHOWN if any(name == m for _, name, _ in shares)]
    if not shown or len({data for data, _, _ in shares}) < fewest:
        return "", ""
    middle = {m: _medians(shares, m) for m in (*shown, "public model")}
    curves = [
        Curve(m, tuple(Point(e, v, v, v) for e, v in middle[m].items() if e is not None), i)
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
    text = (
        "<p>The same records, split 1:7:2 into public, private and test ones, and every method as it comes out of the "
        "box. The share is 1 for the best tree, forest or boosting that sees all private records, 0 for giving "
        "everybody the same value; below 0 the method has learnt noise.</p>"
    )
    listed = [s for s in cells if s.method in (*shown, *_ENDS)]
    codes = {code: f"{facts.name} ({code})" for code, facts in FACTS.items()}
    charts = multiples(listed, shown, _ENDS, names=codes)
    columns = list(dict.fromkeys(s.method for s in cells))
    folded = [
        # No ranks and no marks: methods of different trust models do not compete.
        (f"Epsilon {e:g}: test MSE", tabulate([s for s in cells if s.epsilon in (e, None)], columns=columns,
                                              compete=(), marks="none"))
        for e in budgets
    ]  # fmt: skip
    return _sentence(middle, budgets, alone), text + legend(names) + grid([drawn]) + charts + tables(
        folded, "Every estimator on every data set"
    )


def _sentence(middle: dict[str, dict[float | None, float]], budgets: list[float], alone: float | None) -> str:
    """Return what is left at epsilon 1 (or the nearest budget that was run), by trust model."""
    at = min(budgets, key=lambda e: abs(e - 1.0))
    told = [f"{m} {round(100 * middle[m][at])} %" for m in SHOWN if at in middle.get(m, {})]
    public = "" if alone is None else f"; the public model alone {100 * alone:.0f} %"
    kept_at = f"Of what can be learnt without privacy the median data set keeps at epsilon {at:g}"
    return f"{kept_at}: {', '.join(told)}{public}."
