"""A sums model in words: what the last group said, leaf by leaf, and how much of all steps is kept."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.digits import plain
from hedgerow.schema.words import one_line
from hedgerow.tasks.assisted.explain import leaf_line
from hedgerow.tasks.gate import CHANCE, SLACK
from hedgerow.tasks.rules import reports, tree_rules
from hedgerow.tasks.shift import LeafShift, ShiftReport, chi_square_tail

if TYPE_CHECKING:
    from hedgerow.tasks.sums.model import SumsModel
    from hedgerow.types import FloatArray

__all__ = ["sums_facts", "sums_shift", "sums_table", "sums_words", "verdict"]

_RULE = 70  # characters of a rule that a table has room for
_LONGEST = 64  # leaves that the text lists, as in tasks/leaves.py; the table has them all


def verdict(model: SumsModel) -> str:
    """Return how far the corrections are believed."""
    if not model.gate:
        return "The sums carry no evidence against the public model: it predicts alone."
    if not model.checks:
        return f"Sums of {model.task.group + 1} groups correct the public model; no group has checked that yet."
    return (
        f"Of the correction by {model.task.group} groups {model.scale:.0%} is kept. {reports(model.n_reports)} of "
        f"people who had no part in it say that this makes the squared error larger by more than {SLACK:.1%} of the "
        f"public one with a chance of {CHANCE:.2%} or less, if sums are as good as normal."
    )


def sums_table(model: SumsModel, level: float) -> list[dict[str, Any]]:
    """Return one row a leaf of each tree that the group was asked about.

    ``estimate`` is the mean clipped error that the sums tell, with its standard deviation (None for both where the
    number of holders cannot be told from none); ``kept`` is what the leaf adds, or, in a check, what steps add there
    and the check lets pass.
    """
    task = model.task
    found = model.means
    rules = [rule for leaves in tree_rules(task.trees, task.public_model, task.space) for rule in leaves]
    trees = np.repeat(np.arange(task.weight), task.trees.n_leaves)
    kept = model.scale * np.array(task.levels) if model.checks else model.added
    shares = _shares(model)
    half = NormalDist().inv_cdf((1 + level) / 2) * found.sd
    rows = []
    for j, rule in enumerate(rules):
        known = bool(np.isfinite(found.sd[j]))
        low = max(float(found.mean[j] - half[j]), -task.radius)
        high = min(float(found.mean[j] + half[j]), task.radius)
        rows.append(
            {
                "tree": int(trees[j]),
                "leaf": j - int(np.flatnonzero(trees == trees[j])[0]),
                "cell": one_line(rule, _RULE),
                "share": float(shares[j]),
                "public_share": float(task.trees.value[j]),
                "estimate": float(found.mean[j]) if known else None,
                "estimate_sd": float(found.sd[j]) if known else None,
                "low": min(low, float(kept[j])),
                "high": max(high, float(kept[j])),
                "reports_low": low,
                "reports_high": high,
                "kept": float(kept[j]),
            }
        )
    return rows


def _shares(model: SumsModel) -> FloatArray:
    from hedgerow.tasks.sums.told import shares_of

    up, down = model.signs
    task = model.task
    return shares_of(up + down, task.trees.value, task.trees.n_leaves, max(model.n_reports, 1), 2 * model.noise)


def sums_words(model: SumsModel, rows: list[dict[str, Any]]) -> list[str]:
    """Return the public model, how far corrections are believed, and the leaves of the last group as lines."""
    task = model.task
    shown = sorted(sorted(rows, key=lambda r: -abs(r["kept"]) * r["share"])[:_LONGEST], key=rows.index)
    rest = [] if len(shown) == len(rows) else [f"  ... and {len(rows) - len(shown):,} leaves that correct less"]
    return [
        f"Public model. Its squared error on public records it had not seen is {plain(task.residuals.mean_square)}; "
        f"the group was asked about the error that was left, clipped to {plain(task.radius)} either way.",
        "",
        f"Evidence. {verdict(model)}",
        "",
        "Leaves of the last group (tree.leaf; share of holders; error that sums tell, with its standard deviation ->",
        "what is kept):",
        *(leaf_line(row, "too few to tell") for row in shown),
        *rest,
    ]


def sums_facts(model: SumsModel) -> dict[str, Any]:
    """Return what an explanation tells a machine."""
    return {
        "n_trees": model.task.weight,
        "n_holders": model.n_holders,
        "group": model.task.group + 1,
        "groups": len(model.task.sizes),
        "public_mse": model.task.residuals.mean_square,
        "radius": model.task.radius,
        "gate": model.gate,
        "kept": model.scale,
        "checked": model.checks,
        "verdict": verdict(model),
    }


def sums_shift(model: SumsModel) -> ShiftReport | None:
    """Compare the shares of leaves among holders with the public ones; None without reports.

    Deviations over their standard deviations, of the noise, of the holders and of the public records; tree by tree a
    chi-square, and by Bonferroni the least of their chances times their number.
    """
    task = model.task
    n = model.n_reports
    if not n or max(task.trees.n_leaves) == 1:
        return None
    up, down = model.signs
    p = task.trees.value
    spread = n * p * (1 - p)
    sd = np.sqrt(2 * model.noise + spread + n * spread / max(task.residuals.n_public, 1))
    z = np.where(sd > 0, (up + down - n * p) / np.where(sd > 0, sd, 1.0), 0.0)
    rules = [rule for leaves in tree_rules(task.trees, task.public_model, task.space) for rule in leaves]
    leaves = tuple(
        LeafShift(j, rule, float(np.clip((up + down)[j] / n, 0, 1)), float(p[j]), float(z[j]))
        for j, rule in enumerate(rules)
    )
    ends = np.cumsum(task.trees.n_leaves)[:-1]
    chances = [chi_square_tail(float(part @ part), float(len(part)), 2.0 * len(part)) for part in np.split(z, ends)]
    detectable = 0.5 * float(np.abs(sd / n).sum()) / task.weight
    return ShiftReport(leaves, min(1.0, task.weight * min(chances)), 1.0, min(1.0, detectable))
