"""Writes experiments/results/anova.md, and a CSV of every fit beside it, from measured fits."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from pathlib import Path

import numpy as np

from hedgerow_experiments.anova.compute import CLASSES, METHODS, NUMBERS
from hedgerow_experiments.anova.goals import PRINTED, goals
from hedgerow_experiments.results import Results

__all__ = ["write"]

_HELD_OUT = ("WHI", "MET", "CRE", "APP")
_HEAD = """# PrivateAnova: measured

Written by `hedgerow bench run anova`; every fit is a line of
[anova.csv](anova.csv). Mean ± standard error over the splits (number in brackets). Test MSE of targets scaled to
[0, 1], lower is better; accuracy for BAN, ROB and CRE, higher is better. 90 % train, 10 % test, default parameters,
bounds of the whole data set declared public, simulation seeds. Epsilon is under add/remove, with delta = 1e-5 but for
DiPriMe and "pure" (delta = 0); "replace" states the same (epsilon, delta) under replacement. "no noise" is
PrivateAnova with infinite epsilon. DP-EBM has default parameters; its own guarantee uses the exact number of records
and unclipped residuals.

Splits are those of the prototype (`RandomState(0..4).permutation`, the last tenth is the test): recovered from its
column of mean predictors, which they reproduce to the printed digit for eight of nine data sets (APP: .00905, printed
.0091). So a row is compared with the prototype and with DP-EBM on the same test records.

What was chosen, and on what. A star marks data sets on which nothing was chosen. The recipe is the prototype's, but for
five rules. More rounds and capped momentum for large data follow the design notes (PAR, CAL). Three were chosen by
test scores on other splits of the same data sets: the limit of the descent by the sample size (DIA, eight settings),
the threshold of the second stage (DIA and BAN, three settings), the clip at a cell's upper edge (CAL, ABA, PAR; six
other variants were looked at and left). The division of the budget among rounds is derived, not fitted. On further
splits (seeds 1000 and up) errors with it were .94 to 1.00 of those with even shares on PAR, CAL, ABA, CCP, DIA, ROB and
GAS, and BAN had one wrong record of 828 more; three other variants were looked at there and left (shrinking the result,
a third look at residuals, a longer descent). The small sets of this table had been fitted once before, with even
shares: PAR at epsilon 1 was then 1.04 of the prototype, the other rows within 3 %.
"""

Cells = dict[tuple[str, float, str], list[float]]


def write(path: Path, results: Results, speed: Path | None = None) -> None:
    """Write the tables, the goals with their verdicts, and the CSV."""
    cells: Cells = defaultdict(list)
    seconds: Cells = defaultdict(list)
    for (code, epsilon, method, _), value in results:
        cells[str(code), float(epsilon), str(method)].append(value["value"])
        seconds[str(code), float(epsilon), str(method)].append(value["seconds"])
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = [_HEAD, *goals(cells, speed), "", *_main(cells, seconds), "", *_sides(cells)]
    path.write_text("\n".join(parts) + "\n")
    with path.with_suffix(".csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["data", "epsilon", "method", "split", "value", "seconds"])
        rows.writerows(sorted([*key, value["value"], value["seconds"]] for key, value in results))


def _rows() -> list[tuple[str, float]]:
    return [(c, e) for c in (*NUMBERS, *CLASSES) for e in ((2.0,) if c in CLASSES else (1.0, 10.0))]


def _main(cells: Cells, seconds: Cells) -> list[str]:
    head = ["data", "epsilon", "PrivateAnova", "prototype", "ratio", "DP-EBM", "as printed", "ratio", "mean", "seconds"]
    lines = ["## Beside the prototype and DP-EBM", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for code, epsilon in _rows():
        ours, peer = cells.get((code, epsilon, "PrivateAnova")), cells.get((code, epsilon, "DP-EBM"))
        printed, prototype = PRINTED[code, epsilon]
        time = seconds.get((code, epsilon, "PrivateAnova"))
        row = [
            code + ("*" if code in _HELD_OUT else ""), f"{epsilon:g}", _text(ours), f"{prototype:g}",
            f"{np.mean(ours) / prototype:.3f}" if ours else "", _text(peer), f"{printed:g}",
            f"{np.mean(ours) / np.mean(peer):.2f}" if ours and peer else "",
            _text(cells.get((code, 2.0 if code in CLASSES else 1.0, "mean"))),
            f"{np.median(time):.1f}" if time else "",
        ]  # fmt: skip
        lines.append("| " + " | ".join(row) + " |")
    return lines


def _sides(cells: Cells) -> list[str]:
    names = [m for m in METHODS if m not in ("PrivateAnova", "DP-EBM", "mean")]
    head = ["data", "epsilon", "PrivateAnova", *names]
    lines = ["## Variants, DiPriMe, and the ends without privacy", "", "| " + " | ".join(head) + " |"]
    lines.append("|---" * len(head) + "|")
    for code, epsilon in _rows():
        first = 2.0 if code in CLASSES else 1.0
        found = [cells.get((code, epsilon, m)) or cells.get((code, first, m)) for m in ("PrivateAnova", *names)]
        star = "*" if code in _HELD_OUT else ""
        lines.append("| " + " | ".join([code + star, f"{epsilon:g}", *map(_text, found)]) + " |")
    return lines


def _text(values: list[float] | None) -> str:
    if not values:
        return ""
    digits = 5 if np.mean(values) < 0.005 else 4
    if len(values) == 1:
        return f"{values[0]:.{digits}f} (1)"
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f} ({len(values)})"
