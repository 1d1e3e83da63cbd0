"""The page ``advise.md``, on how good the guide's forecasts are; misses are marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hedgerow.types import FloatArray
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes, with_notes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.frontier.declared import ADVISE, ADVISE_DATASETS, ADVISE_EPSILONS, FRONTIER, SIMULATED

__all__ = ["DESIGN", "Cells", "PublicRow", "gather", "page", "pages", "right"]

DESIGN = ("ABA", "AIR", "CON", "RED")
"""Sets whose test errors were looked at when constants of the guide were set."""
WITHIN = 0.15
COUNTED = ("cells", "cells of kept-out sets", "single splits")

Pairs = Sequence[tuple[float, float]]
Cells = dict[tuple[str, str, str], list[tuple[float, float]]]
"""(data, epsilon, setting) -> (forecast, simulated) of each split."""


class PublicRow(NamedTuple):
    """Errors of a public model on one split: two estimates from its own records, the forecast, and the truth."""

    n: int
    own: float
    fresh: float
    forecast: float
    test: float


def right(forecast: float, simulated: float) -> bool:
    """Return whether a forecast is within 15 % of what was simulated.

    >>> right(1.1, 1.0), right(0.8, 1.0)
    (True, False)
    """
    return abs(forecast - simulated) <= WITHIN * simulated


def mean(pairs: Pairs) -> tuple[float, float]:
    """Return the mean forecast and the mean simulated error."""
    return float(np.mean([a for a, _ in pairs])), float(np.mean([b for _, b in pairs]))


def pages(found: Evidence) -> Files:
    """Return ``advise.md``."""
    if not found.makes("advise.md", ADVISE.name):
        return {}
    return {"advise.md": with_notes(page(*gather(found)), found.notes("advise")).encode()}


def gather(found: Evidence) -> tuple[Cells, dict[str, list[PublicRow]]]:
    """Return (forecast, simulated) of each split by cell, and what was known and true of public models.

    Local errors are means over the draws of the frontier where it has the split: the same estimator, with a pilot.
    """
    errors: dict[tuple[str, int, str, str, float | None], float] = {}
    sizes: dict[tuple[str, int], float] = {}
    for r in found.rows(ADVISE.name):
        if r.metric == "records":
            sizes[r.dataset, r.repeat] = r.value
        else:
            errors[r.dataset, r.repeat, r.setting, r.method, r.epsilon] = r.value
    for r in found.rows(FRONTIER.name):
        place = (r.dataset, r.repeat, "local", "simulated", r.epsilon)
        if r.method == "AssistedForest" and not r.setting and place in errors:
            errors[place] = r.value
    cells: Cells = defaultdict(list)
    for (code, repeat, setting, method, epsilon), error in sorted(errors.items(), key=lambda item: item[0][:2]):
        forecast = errors.get((code, repeat, setting, "forecast", epsilon))
        if method == "simulated" and forecast is not None:
            cells[code, f"{epsilon:g}", setting].append((forecast, error))
    public: dict[str, list[PublicRow]] = defaultdict(list)
    for (code, repeat), n in sorted(sizes.items()):
        at = ADVISE_EPSILONS[0]  # the public model's error does not depend on epsilon
        forecast, test = (errors.get((code, repeat, "public only", m, at)) for m in ("forecast", "simulated"))
        if forecast is not None and test is not None:
            own, fresh = (errors[code, repeat, "public model", m, None] for m in ("own", "fresh"))
            public[code].append(PublicRow(round(n), own, fresh, forecast, test))
    return cells, public


def page(cells: Cells, public: Mapping[str, Sequence[PublicRow]]) -> str:
    """Return the page."""
    return "\n".join([*_head(cells), *_shares(cells), *_public(public), *_table(cells), ""])


def _head(cells: Cells) -> list[str]:
    splits = sorted({len(v) for v in cells.values()})
    return [
        "# Forecasts from public records against simulation",
        "",
        "Written by `hedgerow bench run advise`. Records are split 1:7:2",
        "into public, private and test. The guide (`hedgerow advise`) sees the public tenth and the number of holders;",
        "the simulation runs the estimators on all private records. In the semi-feature model the first half of the",
        "columns is private.",
        "",
        "A cell is a data set, an epsilon and a trust model. Forecast and simulated test error are both means over the",
        f"same splits ({splits[0]} to {splits[-1]} of them, in brackets in the last table); the cell is right if the",
        f"two are within {WITHIN:.0%}. A single split is harder: the error of a model on 50 or 150 records, and the",
        "test error on 100 or 300, have a sampling error of that size themselves. Both counts are given.",
        "",
        f"Constants of the guide were set on {', '.join(DESIGN)}, whose test errors were looked at, and on generated",
        "data. The other sets were kept out of that; but forecasts of two earlier versions for them had been printed",
        "on this page, and the form of the learning curve was changed after their misses were known (see the notes).",
        "",
    ]


def _shares(cells: Cells) -> list[str]:
    """Return how many cells are right, as means over splits and split by split."""
    rows = []
    for name, settings in [*((s, (s,)) for s in SIMULATED), ("all", SIMULATED)]:
        own = {key: pairs for key, pairs in cells.items() if key[2] in settings}
        row = _count(mean(p) for p in own.values())
        row += _count(mean(p) for key, p in own.items() if key[0] not in DESIGN)
        row += _count(pair for pairs in own.values() for pair in pairs)
        rows.append([name, *row])
    head = ["trust model", *(cell for what in COUNTED for cell in (what, f"within {WITHIN:.0%}"))]
    return [*pipes(head, rows), ""]


def _count(pairs: Iterable[tuple[float, float]]) -> list[str]:
    found = [right(*pair) for pair in pairs]
    return [str(len(found)), f"{np.mean(found):.0%}" if found else "-"]


def _public(public: Mapping[str, Sequence[PublicRow]]) -> list[str]:
    """Return how well the public model's own records tell its error."""
    head = ["data", "public records", "splits", "own", "fresh", "forecast", "test", "own / test", "forecast / test"]
    lines = []
    for code, rows in public.items():
        n, own, fresh, forecast, test = (float(np.mean(column)) for column in zip(*rows, strict=True))
        figures = [f"{v:.4g}" for v in (own, fresh, forecast, test)]
        error = _ratio_error(np.array([r.forecast for r in rows]), np.array([r.test for r in rows]))
        ratios = [f"{own / test:.2f}", f"{forecast / test:.2f}" + (f" ± {error:.2f}" if error is not None else "")]
        lines.append([code, f"{n:.0f}", str(len(rows)), *figures, *ratios])
    return [
        "## What public records tell about the public model",
        "",
        "Means over splits of the mean squared error. *Own*: the out-of-fold residuals of `PublicModel`, which its",
        "weights and its kernel have seen. *Fresh*: weights and kernel are fitted without the fold, too. *Forecast*:",
        "the fresh error, of models from nine tenths of the records (four fifths above 500), brought to all of them by",
        "the learning curve of the model itself. Behind ±: the standard error of forecast / test, from how it differs",
        "between splits. Cells of one data set share its splits, and most of what they miss is what is missed here.",
        "",
        *pipes(head, lines),
        "",
    ]


def _ratio_error(a: FloatArray, b: FloatArray) -> float | None:
    """Return the standard error of mean(a)/mean(b), to first order; None for fewer than three pairs."""
    rest = a - a.mean() / b.mean() * b
    return float(np.std(rest, ddof=1) / np.sqrt(len(a)) / b.mean()) if len(a) > 2 else None


def _table(cells: Cells) -> list[str]:
    rows = []
    for code in ADVISE_DATASETS:
        for epsilon in (f"{e:g}" for e in ADVISE_EPSILONS):
            row = [cells.get((code, epsilon, s), []) for s in SIMULATED]
            if any(row):
                name = f"{code}{' (design)' if code in DESIGN else ''}"
                rows.append([name, epsilon, *map(_cell, row)])
    explained = "Forecast / simulated (forecast over simulated) [splits]."
    return ["## All cells", "", explained, "", *pipes(["data", "eps", *SIMULATED], rows)]


def _cell(pairs: Pairs) -> str:
    if not pairs:
        return "-"
    a, b = mean(pairs)
    return f"{a:.4g} / {b:.4g} ({a / b:.2f}) [{len(pairs)}]{'' if right(a, b) else ' **off**'}"
