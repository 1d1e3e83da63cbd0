"""The page ``public-model.md``: the public model with a Gaussian process beside the one without."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import PUBLIC_MODEL
from hedgerow_experiments.public.sets import KEPT_OUT

__all__ = ["pages"]

_HEAD = """\
# The public model with a Gaussian process, beside the one without

Written by

```console
hedgerow bench run public-model
```

Test errors (mean squared) relative to the stack as it was: without the Gaussian process, with kernel ridge tuned on all
records (600 of more), and with weights by one least-squares solution. *Compact* is the same model in 200 kB, on the
first splits. *Seed* is the standard deviation of the error, in percent, from one seed of folds and trees to another, on
the same records. Sets marked * were kept out of every choice. Means are geometric, over splits. One split tells little
of a set: from split to split a ratio moves by several percent. More repeats of the same command add to what is there.
"""

Cell = tuple[str, str]
Values = dict[tuple[str, str], dict[int, float]]


def pages(found: Evidence) -> Files:
    """Return ``public-model.md``."""
    rows = found.rows(PUBLIC_MODEL.name)
    if not rows:
        return {}
    cells: dict[Cell, Values] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        cells[row.setting, row.dataset][row.method, row.metric][row.repeat] = row.value
    head = ["public records", "set", "now", "worst", "compact", "seed", "seconds", "before", "kB", "splits"]
    order = sorted(cells, key=lambda cell: (PUBLIC_MODEL.settings.index(cell[0]), cell[1]))
    table = pipes(head, [_line(cell, cells[cell]) for cell in order])
    return {"public-model.md": "\n".join([_HEAD, *_summary(cells), "", *table, ""]).encode()}


def _ratios(values: Values, method: str) -> list[float]:
    """Return errors over those of the stack as it was, split by split."""
    before = values["before", "mse"]
    return [error / before[split] for split, error in values[method, "mse"].items() if split in before]


def _mean(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def _seed(values: Values) -> str:
    """Return the standard deviation of the error's logarithm over seeds, if other seeds were run."""
    other = values["other seed", "mse"]
    now = values["now", "mse"]
    both = [np.log(other[split] / now[split]) for split in other if split in now]
    return f"{np.sqrt(np.mean(np.square(both)) / 2):.1%}" if both else ""


def _line(cell: Cell, values: Values) -> list[str]:
    setting, code = cell
    now = _ratios(values, "now")
    shown = [f"{_mean(now):.3f}", f"{max(now):.3f}", f"{_mean(_ratios(values, 'compact')):.3f}"]
    of = {name: float(np.mean(list(values[name, "seconds"].values()))) for name in ("now", "before")}
    size = float(np.mean(list(values["now", "kB"].values())))
    mark = "*" if code in KEPT_OUT else ""
    seconds = [f"{of['now']:.1f}", f"{of['before']:.1f}"]
    return [setting, code + mark, *shown, _seed(values), *seconds, f"{size:.0f}", str(len(now))]


def _summary(cells: dict[Cell, Values]) -> list[str]:
    lines = []
    kept = {cell for cell in cells if cell[1] in KEPT_OUT}
    for name, chosen in (("All", set(cells)), ("Kept out", kept), ("Others", set(cells) - kept)):
        if not chosen:
            continue
        means = {cell: _mean(_ratios(cells[cell], "now")) for cell in chosen}
        small = _mean([_mean(_ratios(cells[cell], "compact")) for cell in chosen])
        worst = max(means, key=lambda cell: means[cell])
        lines.append(
            f"- {name}: geometric mean {_mean(list(means.values())):.3f}, compact {small:.3f}; the largest is "
            f"{means[worst]:.3f} ({worst[1]}, {worst[0]}), of {len(means)}."
        )
    return lines
