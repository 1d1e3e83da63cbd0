"""Writes docs/results/anova.md from measured fits."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from hedgerow.bench.anova import CLASSES, METHODS, NUMBERS
from hedgerow.bench.results import Results

__all__ = ["write"]

_ISSUE = {  # DP-EBM and the prototype as printed in issue 9, on the prototype's own splits
    ("GAS", 1.0): (0.00083, 0.00018), ("GAS", 10.0): (0.00071, 0.00016), ("PAR", 1.0): (0.0435, 0.0288),
    ("PAR", 10.0): (0.0371, 0.0185), ("DIA", 1.0): (0.0903, 0.0368), ("DIA", 10.0): (0.0449, 0.0345),
    ("ABA", 1.0): (0.0102, 0.0065), ("ABA", 10.0): (0.0075, 0.0056), ("CCP", 1.0): (0.0045, 0.0032),
    ("CCP", 10.0): (0.0042, 0.0030), ("CAL", 1.0): (0.0251, 0.0130), ("CAL", 10.0): (0.0235, 0.0115),
    ("APP", 1.0): (0.0095, 0.0076), ("APP", 10.0): (0.0078, 0.0071), ("WHI", 1.0): (0.0179, 0.0144),
    ("WHI", 10.0): (0.0137, 0.0132), ("MET", 1.0): (0.0236, 0.0062), ("MET", 10.0): (0.0227, 0.0069),
    ("ROB", 2.0): (0.840, 0.950), ("BAN", 2.0): (0.852, 0.994), ("CRE", 2.0): (0.799, 0.822),
}  # fmt: skip
_HELD_OUT = ("WHI", "MET", "CRE", "APP")
_HEAD = """# PrivateAnova: measured

Written by `python -m hedgerow.bench.anova --out docs/results/anova.md`; every fit is a line of `anova.jsonl`. Mean ±
standard error over the splits (number in brackets). Test MSE of targets scaled to [0, 1], lower is better; accuracy
for BAN, ROB and CRE, higher is better. 90 % train, 10 % test, default parameters, bounds of the whole data set declared
public, simulation seeds. Epsilon is under add/remove, with delta = 1e-5 but for DiPriMe and "pure" (delta = 0);
"replace" states the same (epsilon, delta) under replacement. "no noise" is PrivateAnova with infinite epsilon.
DP-EBM has default parameters; its own guarantee uses the exact number of records and unclipped residuals.

"ratio" is PrivateAnova over DP-EBM on the same splits. A star marks data sets on which nothing was chosen. The recipe
was fixed beforehand (design notes), but for four rules. More rounds and capped momentum for large data follow these
notes' trials on PAR and CAL. The other three were chosen by test scores on splits that are in this table, so that these
rows are slightly optimistic: the limit of the descent by the sample size (DIA, splits 0 to 9, eight settings), the
threshold of the second stage (DIA and BAN, splits 0 to 4, three settings), the clip at a cell's upper edge (CAL, ABA,
PAR, splits 0 and 1; six other variants were looked at and left).
Figures of the prototype, from issue 9, are on splits of its own: compare them with DP-EBM's there, also printed.
"""

Cells = dict[tuple[str, float, str], list[float]]


def write(path: Path, results: Results) -> None:
    """Write the table and the geometric means of the ratios."""
    cells: Cells = defaultdict(list)
    seconds: Cells = defaultdict(list)
    for (code, epsilon, method, _), value in results:
        cells[str(code), float(epsilon), str(method)].append(value["value"])
        seconds[str(code), float(epsilon), str(method)].append(value["seconds"])
    names = [m for m in METHODS if m not in ("PrivateAnova", "DP-EBM")]
    head = ["data", "epsilon", "PrivateAnova", "DP-EBM", "ratio", "issue 9: EBM / prototype", *names, "seconds"]
    lines = [_HEAD, "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for code in (*NUMBERS, *CLASSES):
        for epsilon in (2.0,) if code in CLASSES else (1.0, 10.0):
            lines.append("| " + " | ".join(_row(cells, seconds, names, code, epsilon)) + " |")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([*lines, "", *_summary(cells)]) + "\n")


def _row(cells: Cells, seconds: Cells, names: list[str], code: str, epsilon: float) -> list[str]:
    star = "*" if code in _HELD_OUT else ""
    ratio = _ratio(cells, code, epsilon)
    issue = " / ".join(f"{v:g}" for v in _ISSUE[code, epsilon])
    first = 2.0 if code in CLASSES else 1.0
    others = [_text(cells.get((code, epsilon, m)) or cells.get((code, first, m))) for m in names]
    time = seconds.get((code, epsilon, "PrivateAnova"))
    peer = _text(cells.get((code, epsilon, "DP-EBM"))) or f"{_ISSUE[code, epsilon][0]:g} (issue 9)"
    return [
        code + star, f"{epsilon:g}", _text(cells.get((code, epsilon, "PrivateAnova"))), peer,
        "" if ratio is None else f"{ratio:.2f}", issue, *others, f"{np.median(time):.1f}" if time else "",
    ]  # fmt: skip


def _ratio(cells: Cells, code: str, epsilon: float) -> float | None:
    ours, peer = (cells.get((code, epsilon, m)) for m in ("PrivateAnova", "DP-EBM"))
    if not ours:
        return None
    return float(np.mean(ours) / (np.mean(peer[: len(ours)]) if peer else _ISSUE[code, epsilon][0]))


def _summary(cells: Cells) -> list[str]:
    out = []
    for epsilon in (1.0, 10.0):
        ratios = [r for c in NUMBERS if (r := _ratio(cells, c, epsilon)) is not None]
        if ratios:
            mean = math.exp(float(np.mean(np.log(ratios))))
            out.append(
                f"Geometric mean of the ratio at epsilon {epsilon:g} over {len(ratios)} data sets: {mean:.2f}.\n"
            )
    return out


def _text(values: list[float] | None) -> str:
    if not values:
        return ""
    digits = 5 if np.mean(values) < 0.005 else 4
    if len(values) == 1:
        return f"{values[0]:.{digits}f} (1)"
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f} ({len(values)})"
