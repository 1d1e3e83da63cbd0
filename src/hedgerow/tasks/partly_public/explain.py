"""A model of two rounds in words and as a picture. All of it is post-processing of what was sent."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

from hedgerow.tasks.rules import cell_rules, reports
from hedgerow.tasks.tree.explain import draw_means, gain_lines, leaf_line, split_gains

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.tasks.partly_public.model import SemiModel

__all__ = ["LONGEST", "cell_table", "explain_semi", "plot_semi", "semi_importances"]

LONGEST = 64
"""Most cells that the text lists; the table has them all."""

_STARVED = 2.0
_MASKS = {
    "policy": "the task says which features are private, for everybody",
    "personal": "each holder chose which features are private, and said so",
    "hidden": "each holder chose which features are private, and did not say",
}


def cell_table(model: SemiModel, level: float = 0.9) -> list[dict[str, Any]]:
    """Return one row a cell: its rule, estimated share with its noise, and what it predicts.

    That is ``mean``; with a public model it is ``correction``, what the cell adds to that model's prediction. ``low``
    and ``high`` are an interval for the mean label (or the mean error of the public model) from the reports alone;
    ``starved`` cells have too few holders to be told from none (below two standard deviations of their number).
    """
    leaves, n, assist = model.leaves, max(model.n_reports, 1), model.task.first.assist
    low, high = leaves.interval(level)
    if assist is not None:
        low, high = assist.unclipped(low), assist.unclipped(high)
    value = "mean" if assist is None else "correction"
    return [
        {
            "leaf": j,
            "cell": rule,
            "share": float(leaves.mass[j]),
            "share_sd": float(leaves.count_sd[j] / n),
            value: float(model.leaf_values[j]),
            "low": float(low[j]),
            "high": float(high[j]),
            "starved": bool(leaves.count[j] <= _STARVED * leaves.count_sd[j]),
        }
        for j, rule in enumerate(cell_rules(model.partition))
    ]


def semi_importances(model: SemiModel) -> dict[str, float]:
    """Return each feature's share of the differences between cells, as far as the model believes in them."""
    return split_gains(model.partition, model.leaves.count, model.leaf_values)


def explain_semi(model: SemiModel, level: float = 0.9) -> str:
    """Return guarantee, what is private, table of cells and importances as text."""
    task, first = model.task, model.task.first
    private = f": {', '.join(first.private) or 'only the label'}" if first.masks == "policy" else ""
    parts = [
        first.title
        or f"A private tree for {first.target!r} with {task.n_cells} cells from {reports(model.n_reports)}.",
        "",
        f"Guarantee. {model.guarantee}",
        "",
        f"Private: {_MASKS[first.masks]}{private}.",
        "",
        *_cells(model, level),
        "",
        "Importance (share of the differences between cells):",
        *gain_lines(semi_importances(model)),
    ]
    return "\n".join(parts)


def _cells(model: SemiModel, level: float) -> list[str]:
    rows, noise = cell_table(model, level), "share of holders with its standard deviation"
    shown = sorted(sorted(rows, key=lambda row: -row["share"])[:LONGEST], key=lambda row: row["leaf"])
    rest = [] if len(shown) == len(rows) else [f"  ... and {len(rows) - len(shown):,} cells with fewer holders"]
    if model.task.first.assist is None:
        head = f"Cells ({noise}; mean with a {level:.0%} interval from reports alone):"
        return [head, *map(leaf_line, shown), *rest]
    head = f"Cells ({noise}; added to the public model, with a {level:.0%} interval for its error from reports alone):"
    lines = [leaf_line({**row, "mean": row["correction"]}) for row in shown]
    quiet = [] if model.leaf_values.any() else ["The reports carry no evidence against the public model: it predicts."]
    return [head, *lines, *rest, *quiet]


def plot_semi(model: SemiModel, path: str | PathLike[str] | None = None, level: float = 0.9) -> Figure:
    """Draw the tree of cells, and beside it what each cell predicts (or adds), its interval and its share."""
    from matplotlib.figure import Figure

    rows, first = cell_table(model, level), model.task.first
    figure = Figure(figsize=(min(4 + 1.1 * len(rows), 22), 9), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=[3, 2])
    model.partition.plot(model.leaf_values, ax=top)
    label = first.target if first.assist is None else f"{first.target}: added to the public model"
    draw_means(bottom, [{**row, "mean": row.get("mean", row.get("correction"))} for row in rows], label, level)
    top.set_title(str(model.guarantee), fontsize=8, wrap=True)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure
