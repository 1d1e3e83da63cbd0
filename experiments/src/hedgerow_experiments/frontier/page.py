"""The page of results of :mod:`hedgerow_experiments.frontier.compute`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hedgerow_experiments.frontier.shift import SHIFTS

__all__ = ["page", "ratios"]

GOALS = {0.5: 1.000, 1.0: 0.998, 2.0: 0.994, 4.0: 0.982, 6.0: 0.963, 8.0: 0.947}
LABEL_GOALS = {
    "CAL": (0.12, 0.20, 0.25, 0.28),
    "GAS": (0.25, 0.40, 0.45, 0.50),
    "MET": (0.40, 0.45, 0.48, 0.49),
}
SHIFT_GOALS = {0.5: 0.68, 1.0: 0.65, 2.0: 0.65, 4.0: 0.645, 6.0: 0.645, 8.0: 0.64}
_SHIFT = "RED->WHI"


def ratios(runs: list[dict[str, Any]], epsilon: float) -> tuple[float, int, int]:
    """Return mean error over the public model's mean error, and in how many of all draws it was more than 1% worse.

    >>> ratios([{"public": 2.0, "assisted": {"1": [1.0, 2.0]}}], 1.0)
    (0.75, 0, 2)
    """
    key = f"{epsilon:g}"
    public = np.array([[r["public"]] * len(r["assisted"][key]) for r in runs])
    ours = np.array([r["assisted"][key] for r in runs])
    return float(ours.mean() / public.mean()), int((ours > 1.01 * public).sum()), ours.size


def page(
    results: Iterable[tuple[Any, Any]],
    design: Sequence[str],
    epsilons: Sequence[float],
    paper: dict[tuple[str, str, str], float] | None = None,
) -> str:
    """Return the page in Markdown; ``paper`` holds printed figures by data set, method and epsilon."""
    runs: dict[str, list[dict[str, Any]]] = defaultdict(list)
    labels: dict[str, list[dict[str, Any]]] = defaultdict(list)
    others: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for (code, *rest), value in results:
        group = {"label": labels, "shift": others}.get(code)
        (runs[code] if group is None else group[str(rest[0])]).append(value)
    shift = runs.pop(_SHIFT, [])
    lines = [
        "# What private reports add to the best public model",
        "",
        "Written by `hedgerow bench run frontier`. Records are split 1:7:2 into",
        "public, private and test. The public model is `PublicModel` on the public tenth. `AssistedForestRegressor`",
        "starts from it and adds one report a private record, the whole epsilon on features and label together.",
        "Figures are test errors (MSE) over the public model's, means over splits and draws; below 1 is better.",
        "",
        f"Constants were set on {', '.join(sorted(design))} (WHI only in the shifts between wines); the others",
        "were kept out of every decision. Rules for shifts were set on the shifts below.",
        "",
        *_table(runs, design, epsilons),
        *_printed(runs, epsilons, paper or {}),
        "",
    ]
    if shift:
        lines += _shift(shift, epsilons)
    if others:
        lines += _others(others, epsilons)
    if labels:
        lines += _labels(labels)
    return "\n".join(lines)


def _table(runs: dict[str, list[dict[str, Any]]], design: Sequence[str], epsilons: Sequence[float]) -> list[str]:
    head = ["data", "splits", "public MSE", "kB", *(f"eps {e:g}" for e in epsilons), "draws > 1% worse"]
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for code in sorted(runs):
        found = [ratios(runs[code], e) for e in epsilons]
        name = f"{code} (design)" if code in design else code
        public, size = np.mean([r["public"] for r in runs[code]]), np.mean([r["kB"] for r in runs[code]])
        worse = f"{sum(f[1] for f in found)} of {sum(f[2] for f in found)}"
        cells = [name, str(len(runs[code])), f"{public:.4g}", f"{size:.0f}", *(f"{f[0]:.3f}" for f in found), worse]
        rows.append("| " + " | ".join(cells) + " |")
    groups = {"all": list(runs), "kept out": [c for c in runs if c not in design]}
    for name, codes in groups.items():
        if codes:
            logs = [np.mean([np.log(ratios(runs[c], e)[0]) for c in codes]) for e in epsilons]
            means = [f"**{np.exp(x):.3f}**" for x in logs]
            rows.append("| " + " | ".join([f"geometric mean, {name}", "", "", "", *means, ""]) + " |")
    goals = [f"{GOALS[e]:.3f}" if e in GOALS else "" for e in epsilons]
    rows.append("| " + " | ".join(["to reach", "", "", "", *goals, ""]) + " |")
    return rows


def _printed(
    runs: dict[str, list[dict[str, Any]]], epsilons: Sequence[float], paper: dict[tuple[str, str, str], float]
) -> list[str]:
    """Return our error over the best that the LPDT paper prints for its own method, where it prints any."""
    cells = []
    for epsilon in epsilons:
        key, logs = f"{epsilon:g}", []
        for code, found in runs.items():
            best = [v for (c, method, e), v in paper.items() if c == code and e == key and method.startswith("LPDT")]
            if best:
                logs.append(np.log(np.mean([r["assisted"][key] for r in found]) / min(best)))
        cells.append(f"{np.exp(np.mean(logs)):.2f} ({len(logs)} sets)" if logs else "-")
    return ["| " + " | ".join(["over LPDT's best printed", "", "", "", *cells, ""]) + " |"] if paper else []


def _shift(runs: list[dict[str, Any]], epsilons: Sequence[float]) -> list[str]:
    public = float(np.mean([r["public"] for r in runs]))
    ours = [f"{np.mean([r['assisted'][f'{e:g}'] for r in runs]):.3f}" for e in epsilons]
    goals = [f"{SHIFT_GOALS[e]:g}" if e in SHIFT_GOALS else "" for e in epsilons]
    head = ["", *(f"eps {e:g}" for e in epsilons)]
    return [
        "## Public and private records that differ",
        "",
        f"Red wines are public, white wines private ({len(runs)} splits). Test MSE; the public model has {public:.3f}.",
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
        "| " + " | ".join(["assisted forest", *ours]) + " |",
        "| " + " | ".join(["to reach", *goals]) + " |",
        "",
    ]


def _others(runs: dict[str, list[dict[str, Any]]], epsilons: Sequence[float]) -> list[str]:
    head = ["public -> private", "splits", "public MSE", *(f"eps {e:g}" for e in epsilons), "draws > 1% worse"]
    lines = [
        "The other way round, and the taxi trips of the LPDT paper's shift study. Test MSE over the public model's.",
        "",
        *(f"- {name}: {what}." for name, what in SHIFTS.items() if name in runs),
        "",
        "| " + " | ".join(head) + " |",
        "|" + "---|" * len(head),
    ]
    for name, found in runs.items():
        figures = [ratios(found, e) for e in epsilons]
        worse = f"{sum(f[1] for f in figures)} of {sum(f[2] for f in figures)}"
        public = float(np.mean([r["public"] for r in found]))
        cells = [name, str(len(found)), f"{public:.4g}", *(f"{f[0]:.3f}" for f in figures), worse]
        lines.append("| " + " | ".join(cells) + " |")
    return [*lines, ""]


def _labels(runs: dict[str, list[dict[str, Any]]]) -> list[str]:
    epsilons = list(next(iter(runs.values()))[0]["label"])
    head = ["data", "holders", "splits", "public MSE", "not private", *(f"eps {e}" for e in epsilons), "to reach"]
    rows = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for code, found in sorted(runs.items()):
        public, free = (float(np.mean([r[k] for r in found])) for k in ("public", "free"))
        ours = [float(np.mean([r["label"][e] for r in found])) for e in epsilons]
        gaps = [f"{(public - x) / (public - free):.2f}" for x in ours]
        goals = "/".join(f"{g:.2f}" for g in LABEL_GOALS.get(code, ()))
        size = str(found[0]["holders"])
        cells = [code, size, str(len(found)), f"{public:.4g}", f"{free:.4g}", *gaps, goals]
        rows.append("| " + " | ".join(cells) + " |")
    return [
        "## Private labels, public features",
        "",
        "500 public records; `LabelPrivateRegressor(base=PublicModel)` on the others. Share of the gap closed between",
        "the public model and boosting on everything without privacy. These sets were used in no decision.",
        "",
        *rows,
        "",
    ]
