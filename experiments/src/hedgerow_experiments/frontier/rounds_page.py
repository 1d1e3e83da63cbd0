"""The page ``rounds.md``: a table, and what it says in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.frontier.declared import HOLDERS, ROUNDS, STEPS

__all__ = ["gather", "page", "pages"]

Cells = Mapping[tuple[str, int], Mapping[str, Any]]
"""Errors by data set and split."""


def pages(found: Evidence) -> Files:
    """Return ``rounds.md``."""
    if not found.makes("rounds.md", ROUNDS.name):
        return {}
    return {"rounds.md": page(gather(found.rows(ROUNDS.name))).encode()}


def gather(rows: Iterable[Row]) -> Cells:
    """Return errors by data set and split, those with an epsilon under ``"mse"``."""
    cells: dict[tuple[str, int], dict[str, Any]] = defaultdict(lambda: {"mse": defaultdict(dict)})
    for r in sorted(rows, key=lambda r: r.epsilon or 0.0):
        own = cells[r.dataset, r.repeat]
        (own if r.epsilon is None else own["mse"][f"{r.epsilon:g}"])[r.method] = r.value
    return cells


def page(cells: Cells, rounds: Sequence[int] = STEPS, holders: int = HOLDERS) -> str:
    """Return the page."""
    columns = ["assisted", *(f"{n} from {start}" for start in ("public model", "process") for n in rounds)]
    ratios = []
    ends = []
    names = ("public model", "process", "not private")
    for (name, repeat), value in sorted(cells.items()):
        for epsilon, mse in value["mse"].items():
            shown = [f"{mse[c] / value['public model']:.3f}" for c in columns]
            ratios.append([name, str(repeat), epsilon, *shown])
        ends.append([name, str(repeat), *(f"{value[n]:.4g}" for n in names)])
    lines = [
        "# Many rounds of fresh holders",
        "",
        "Written by `hedgerow bench run rounds`. An experiment: can",
        "holders who are asked in turn add more to the public model than one message each to",
        f"`AssistedForestRegressor`? 500 public records, {holders:,} holders (drawn with replacement where the data",
        "set has fewer), one message a holder with the whole epsilon on (features, label) jointly. Each round asks its",
        "own group of holders for the residual along the functions least known so far: eigenfunctions of the posterior",
        "covariance of a Gaussian process on public records. The answer is one signed axis of a random basis",
        "(`DirectionResponse`, whose exact audit is among the tests); one without evidence changes nothing. Rounds",
        "start from `PublicModel`, as the assisted forest does, or from the prediction of that process.",
        "",
        "Test MSE over that of `PublicModel`; columns are numbers of rounds, and the model that they start from.",
        "Friedman was looked at when the grid of scales was set, the other data sets were not.",
        "",
        *pipes(["data", "split", "epsilon", *columns], ratios),
        "",
        "Test MSE without reports, and of boosting without privacy:",
        "",
        *pipes(["data", "split", *names], ends),
        "",
        "## What it says",
        "",
    ]
    return "\n".join([*lines, *_words(cells, rounds), ""])


def _words(cells: Cells, rounds: Sequence[int]) -> list[str]:
    """Return the findings, from the numbers."""
    runs = [(value, mse) for value in cells.values() for mse in value["mse"].values()]
    harm = sum(mse["assisted"] > value["public model"] for value, mse in runs)
    lines = [f"Of {len(runs)} cells, the assisted forest is worse than the public model in {harm}.", ""]
    for n in rounds:
        same = f"{n} from public model"
        own = f"{n} from process"
        won = {name: 0 for name, _ in cells}
        for (name, _), value in cells.items():
            won[name] += sum(mse[same] < mse["assisted"] for mse in value["mse"].values())
        wins = sum(won.values())
        where = ", ".join(f"{name} {w}" for name, w in sorted(won.items()))
        worse = sum(mse[same] > value["public model"] for value, mse in runs)
        gains = sum(mse[own] < value["process"] for value, mse in runs)
        best = sum(mse[own] < min(value["process"], value["public model"], mse["assisted"]) for value, mse in runs)
        verbs = ("beats", "does not beat") if n == 1 else ("beat", "do not beat")
        verb = verbs[2 * wins <= len(runs)]
        lines.append(
            f"- {n} round{'s' if n > 1 else ''} {verb} the assisted forest from the same start: lower error in {wins} "
            f"({where}), worse than the public model in {worse}. From the process: lower error than the process "
            f"alone in {gains}, than both public models and the assisted forest in {best}."
        )
    better = sum(value["process"] < value["public model"] for value in cells.values())
    lines += ["", f"The process alone, without any report, beats `PublicModel` on {better} of {len(cells)} splits."]
    return lines
