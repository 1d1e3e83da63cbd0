"""The page ``frontier.md``."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes, with_notes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.frontier.declared import DESIGN, EPSILONS, FRONTIER, LABEL_EPSILONS
from hedgerow_experiments.frontier.shift import SHIFTS

__all__ = ["page", "pages", "ratios"]

GOALS = {0.5: 1.000, 1.0: 0.998, 2.0: 0.994, 4.0: 0.982, 6.0: 0.963, 8.0: 0.947}
LABEL_GOALS = {
    "CAL": (0.12, 0.20, 0.25, 0.28),
    "GAS": (0.25, 0.40, 0.45, 0.50),
    "MET": (0.40, 0.45, 0.48, 0.49),
}
SHIFT_GOALS = {0.5: 0.68, 1.0: 0.65, 2.0: 0.65, 4.0: 0.645, 6.0: 0.645, 8.0: 0.64}
_SHIFT = "RED->WHI"
_ENDS = {"public model": "public", "no privacy": "free"}
Runs = list[dict[str, Any]]


def ratios(runs: Runs, epsilon: float) -> tuple[float, int, int]:
    """Return mean error over the public model's mean error, and in how many of all draws it was more than 1% worse.

    >>> ratios([{"public": 2.0, "assisted": {"1": [1.0, 2.0]}}], 1.0)
    (0.75, 0, 2)
    """
    key = f"{epsilon:g}"
    public = np.array([[r["public"]] * len(r["assisted"][key]) for r in runs])
    ours = np.array([r["assisted"][key] for r in runs])
    return float(ours.mean() / public.mean()), int((ours > 1.01 * public).sum()), ours.size


def pages(found: Evidence) -> Files:
    """Return ``frontier.md``."""
    if not found.makes("frontier.md", FRONTIER.name):
        return {}
    return {"frontier.md": with_notes(page(found), found.notes("frontier")).encode()}


def _splits(found: Evidence, setting: str) -> dict[str, Runs]:
    """Return what :func:`~hedgerow_experiments.frontier.compute.compute` gave, split by split, from rows."""
    splits: dict[str, dict[int, dict[str, Any]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for r in found.rows(FRONTIER.name):
        if r.setting != setting:
            continue
        run = splits[r.dataset][r.repeat]
        epsilon = "" if r.epsilon is None else f"{r.epsilon:g}"
        if r.metric != FRONTIER.metric:
            run[r.metric] = r.value
        elif r.method in _ENDS:
            run[_ENDS[r.method]] = r.value
        elif r.method == "private labels":
            run["label"][epsilon] = r.value
        elif r.method.startswith("AssistedForest, draw"):
            run["assisted"].setdefault(epsilon, []).append(r.value)
    return {code: [run for _, run in sorted(runs.items())] for code, runs in splits.items()}


def page(found: Evidence) -> str:
    """Return the page in Markdown."""
    runs, others, labels = (_splits(found, setting) for setting in FRONTIER.settings)
    shift = others.pop(_SHIFT, [])
    paper = {(p.dataset, p.method, f"{p.epsilon or 0:g}"): p.value for p in found.printed("lpdt-table2")}
    lines = [
        "# What private reports add to the best public model",
        "",
        "Written by `hedgerow bench run frontier`. Records are split 1:7:2 into",
        "public, private and test. The public model is `PublicModel` on the public tenth. `AssistedForestRegressor`",
        "starts from it and adds one report a private record, the whole epsilon on features and label together.",
        "Figures are test errors (MSE) over the public model's, means over splits and draws; below 1 is better.",
        "",
        f"Constants were set on {', '.join(sorted(DESIGN))} (WHI only in the shifts between wines); the others",
        "were kept out of every decision. Rules for shifts were set on the shifts below.",
        "",
        *_table(runs, paper),
        "",
    ]
    if shift:
        lines += _shift(shift)
    if others:
        lines += _others(others)
    if labels:
        lines += _labels(labels)
    return "\n".join(lines)


def _head(*first: str) -> list[str]:
    return [*first, *(f"eps {e:g}" for e in EPSILONS)]


def _worse(found: list[tuple[float, int, int]]) -> str:
    return f"{sum(f[1] for f in found)} of {sum(f[2] for f in found)}"


def _table(runs: dict[str, Runs], paper: dict[tuple[str, str, str], float]) -> list[str]:
    rows = []
    for code in sorted(runs):
        found = [ratios(runs[code], e) for e in EPSILONS]
        name = f"{code} (design)" if code in DESIGN else code
        public = np.mean([r["public"] for r in runs[code]])
        size = np.mean([r["kB"] for r in runs[code]])
        shown = [f"{f[0]:.3f}" for f in found]
        rows.append([name, str(len(runs[code])), f"{public:.4g}", f"{size:.0f}", *shown, _worse(found)])
    groups = {"all": list(runs), "kept out": [c for c in runs if c not in DESIGN]}
    for name, codes in groups.items():
        if codes:
            logs = [np.mean([np.log(ratios(runs[c], e)[0]) for c in codes]) for e in EPSILONS]
            rows.append([f"geometric mean, {name}", "", "", "", *(f"**{np.exp(x):.3f}**" for x in logs), ""])
    rows.append(["to reach", "", "", "", *(f"{GOALS[e]:.3f}" for e in EPSILONS), ""])
    if paper:
        rows.append(["over LPDT's best printed", "", "", "", *(_printed(runs, e, paper) for e in EPSILONS), ""])
    return pipes([*_head("data", "splits", "public MSE", "kB"), "draws > 1% worse"], rows)


def _printed(runs: dict[str, Runs], epsilon: float, paper: dict[tuple[str, str, str], float]) -> str:
    """Return our error over the best that the LPDT paper prints for its own method, where it prints any."""
    key = f"{epsilon:g}"
    logs = []
    for code, found in runs.items():
        best = [v for (c, method, e), v in paper.items() if c == code and e == key and method.startswith("LPDT")]
        if best:
            logs.append(np.log(np.mean([r["assisted"][key] for r in found]) / min(best)))
    return f"{np.exp(np.mean(logs)):.2f} ({len(logs)} sets)" if logs else "-"


def _shift(runs: Runs) -> list[str]:
    public = float(np.mean([r["public"] for r in runs]))
    ours = [f"{np.mean([r['assisted'][f'{e:g}'] for r in runs]):.3f}" for e in EPSILONS]
    goals = [f"{SHIFT_GOALS[e]:g}" for e in EPSILONS]
    return [
        "## Public and private records that differ",
        "",
        f"Red wines are public, white wines private ({len(runs)} splits). Test MSE; the public model has {public:.3f}.",
        "",
        *pipes(_head(""), [["assisted forest", *ours], ["to reach", *goals]]),
        "",
    ]


def _others(runs: dict[str, Runs]) -> list[str]:
    rows = []
    for name in (name for name in SHIFTS if name in runs):
        figures = [ratios(runs[name], e) for e in EPSILONS]
        public = float(np.mean([r["public"] for r in runs[name]]))
        shown = [f"{f[0]:.3f}" for f in figures]
        rows.append([name, str(len(runs[name])), f"{public:.4g}", *shown, _worse(figures)])
    return [
        "The other way round, and the taxi trips of the LPDT paper's shift study. Test MSE over the public model's.",
        "",
        *(f"- {name}: {what}." for name, what in SHIFTS.items() if name in runs),
        "",
        *pipes([*_head("public -> private", "splits", "public MSE"), "draws > 1% worse"], rows),
        "",
    ]


def _labels(runs: dict[str, Runs]) -> list[str]:
    rows = []
    epsilons = [f"{e:g}" for e in LABEL_EPSILONS]
    for code, found in sorted(runs.items()):
        public, free = (float(np.mean([r[k] for r in found])) for k in ("public", "free"))
        ours = [float(np.mean([r["label"][e] for r in found])) for e in epsilons]
        gaps = [f"{(public - x) / (public - free):.2f}" for x in ours]
        goals = "/".join(f"{g:.2f}" for g in LABEL_GOALS.get(code, ()))
        size = f"{found[0]['holders']:g}"
        rows.append([code, size, str(len(found)), f"{public:.4g}", f"{free:.4g}", *gaps, goals])
    head = ["data", "holders", "splits", "public MSE", "not private", *(f"eps {e}" for e in epsilons), "to reach"]
    return [
        "## Private labels, public features",
        "",
        "500 public records; `LabelPrivateRegressor(public_model=)` on the others. Share of the gap closed between",
        "the public model and boosting on everything without privacy. These sets were used in no decision.",
        "",
        *pipes(head, rows),
        "",
    ]
