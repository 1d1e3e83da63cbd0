"""An assisted model in words and as a picture: where reports correct the public model, and how far it is believed."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.digits import plain
from hedgerow.tasks.gate import LIMITS
from hedgerow.tasks.rules import tree_rules

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.tasks.assisted.model import AssistedModel

__all__ = ["assisted_facts", "assisted_table", "assisted_words", "draw_assisted", "leaf_line", "verdict"]

_LONGEST = 64  # leaves that the text lists, as in tasks/leaves.py; the table has them all
_MOVED = (
    "What reports name of the leaves differs from what public records lead to expect by more than three standard "
    "deviations in all: holders fall elsewhere{or_errors}. Corrections are cut to what errors within the radius can "
    "attain."
)
_HARMS = " and ".join(
    f"by more than {slack:.1%} with a chance of about {2 * chance:.2g} or less" for slack, chance in LIMITS
)
_SELDOM = (
    f"So much is kept that it makes the squared error larger than the public one {_HARMS}, if sums are as good as "
    "normal and public records no further off than is reckoned with; this is an approximation, not a proof."
)
_UNKNOWN = 1e299  # variance of a tree that nobody answered for


def assisted_table(model: AssistedModel, level: float = 0.9) -> list[dict[str, Any]]:
    """Return one row a leaf of each tree: rule, shares, correction with its noise, and what is kept of it.

    ``share`` is among holders (as far as reports tell, else the public one) and ``public_share`` among public records.

    ``estimate`` is the correction that the reports suggest, without bias, and ``estimate_sd`` its standard deviation
    (None for both where nobody answered for the tree); ``reports_low`` and ``reports_high`` are its interval. ``kept``
    is what the leaf contributes after shrinkage, and ``low`` and ``high`` are that interval as far as it must reach to
    hold it: a prediction is the public one plus the mean of ``kept`` over the trees.
    """
    rows = []
    task = model.task
    found = model.corrections
    least, most = model.value_bounds
    z = NormalDist().inv_cdf((1 + level) / 2)
    rules = tree_rules(task.trees, task.public_model, task.space)
    for t, leaves in enumerate(rules):
        for j, rule in enumerate(leaves):
            known = found.V[t][j] < _UNKNOWN
            middle = float(found.d[t][j])
            half = z * float(np.sqrt(found.V[t][j]))
            low = max(middle - half, least) if known else least
            high = min(middle + half, most) if known else most
            kept = _rounded(float(model.leaf_values[t][j]), task.radius)
            rows.append(
                {
                    "tree": t,
                    "leaf": j,
                    "cell": rule,
                    "share": float(found.p[t][j]),
                    "public_share": float(task.shares[t][j]),
                    "estimate": float(found.d[t][j]) if known else None,
                    "estimate_sd": float(np.sqrt(found.V[t][j])) if known else None,
                    "low": min(low, kept),
                    "high": max(high, kept),
                    "reports_low": low,
                    "reports_high": high,
                    "kept": kept,
                }
            )
    return rows


def _rounded(value: float, radius: float) -> float:
    """Return 0 for what is lost in any prediction."""
    return value if abs(value) > 1e-15 * radius else 0.0


def assisted_words(model: AssistedModel, rows: list[dict[str, Any]]) -> list[str]:
    """Return the public model, how far corrections are believed, and the leaves of the trees as lines."""
    task = model.task
    shown = sorted(sorted(rows, key=lambda r: -abs(r["kept"]) * r["share"])[:_LONGEST], key=rows.index)
    rest = [] if len(shown) == len(rows) else [f"  ... and {len(rows) - len(shown):,} leaves that correct less"]
    parts = [
        f"Public model. Its squared error on public records it had not seen is {plain(task.residuals.mean_square)}; "
        f"reports hold its error, clipped to {plain(task.radius)} either way.",
        "",
        f"Evidence. {verdict(model)}",
        "",
        "Leaves (tree.leaf; share of holders; error that reports suggest, with its standard deviation -> what is kept;",
        "a prediction is the public one plus the mean over trees of what is kept):",
        *map(leaf_line, shown),
        *rest,
    ]
    if model.corrections.shift > 0:
        # With levels, a leaf is named more often where errors are larger.
        errors = "" if model.task.randomizer == "subset" else ", or the public model errs elsewhere"
        parts += ["", _MOVED.format(or_errors=errors)]
    return parts


def assisted_facts(model: AssistedModel) -> dict[str, Any]:
    """Return what an explanation tells a machine."""
    whole, leaves = model.factors
    return {
        "n_trees": len(model.task.shares),
        "public_mse": model.task.residuals.mean_square,
        "radius": model.task.radius,
        "gate": model.gate,
        "kept_overall": whole,
        "kept_by_leaf": leaves,
        "verdict": verdict(model),
        "shifted": model.corrections.shift > 0,
    }


def verdict(model: AssistedModel) -> str:
    """Return how far the corrections are believed."""
    whole, leaves = model.factors
    if not model.n_reports:
        return "There are no reports: the public model predicts alone."
    if not model.gate:
        return "The reports carry no evidence against the public model: it predicts alone."
    found = model.corrections
    T = len(model.corrections.d)
    if any(V.max() >= _UNKNOWN for V in found.V):
        return "Not every tree has a report yet; until then next to nothing is believed."
    mean = sum(float(p @ d) for p, d in zip(found.p, found.d, strict=True)) / T
    sd = sum(float(p**2 @ V) for p, V in zip(found.p, found.V, strict=True)) ** 0.5 / T
    return (
        f"The public model is off by {plain(mean)} +- {plain(sd, 2)} over all holders, of which {whole:.0%} is kept; "
        f"of the differences between leaves {leaves:.0%}. {_SELDOM}"
    )


def leaf_line(row: dict[str, Any], unknown: str = "nobody answered") -> str:
    """Return a row of the table as a line of text."""
    found = unknown
    if row["estimate"] is not None:
        found = f"{plain(row['estimate'])} +- {plain(row['estimate_sd'], 2)}"
    place = f"  {row['tree']:>3}.{row['leaf']:<3}{row['share']:6.1%}"
    return f"{place}  {found:>20} -> {plain(row['kept'])}  if {row['cell']}"


def draw_assisted(model: Any, rows: list[dict[str, Any]]) -> Figure:
    """Draw, leaf by leaf and tree by tree, the error that reports suggest (one deviation each way) and what is kept."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(min(5 + 0.25 * len(rows), 22), 5), layout="constrained")
    ax = figure.subplots()
    known = [(i, row) for i, row in enumerate(rows) if row["estimate"] is not None]
    at = [i for i, _ in known]
    middle = np.array([row["estimate"] for _, row in known], dtype=np.float64)
    half = np.array([row["estimate_sd"] for _, row in known], dtype=np.float64)
    ax.vlines(at, middle - half, middle + half, color="#2c7fb8", lw=2, label="reports, one deviation each way")
    ax.plot([row["kept"] for row in rows], "o", color="#08306b", label="kept")
    for i, row in enumerate(rows):
        if i and row["leaf"] == 0:
            ax.axvline(i - 0.5, color="#bdbdbd", lw=0.8)
    ax.axhline(0.0, color="#9aa0a6", lw=0.8)
    ax.set(xlabel="leaves, tree by tree", ylabel=f"{model.task.target}: added to the public model")
    ax.set_title(str(model.guarantee), fontsize=8, wrap=True)
    ax.legend(fontsize=8)
    return figure
