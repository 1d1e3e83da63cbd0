"""The page on many rounds: a table, and what it says in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["page"]


def page(cells: Mapping[Any, Any], rounds: Sequence[int], holders: int) -> str:
    """Return the page; cells are (data, split) -> errors."""
    columns = ["assisted", *(f"{n} from {start}" for start in ("public model", "process") for n in rounds)]
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
        "| data | split | epsilon | " + " | ".join(columns) + " |",
        "|" + "---|" * (3 + len(columns)),
    ]
    for (name, repeat), value in sorted(cells.items()):
        for epsilon, mse in value["mse"].items():
            ratios = " | ".join(f"{mse[c] / value['public model']:.3f}" for c in columns)
            lines.append(f"| {name} | {repeat} | {epsilon} | {ratios} |")
    names = ("public model", "process", "not private")
    lines += [
        "",
        "Test MSE without reports, and of boosting without privacy:",
        "",
        "| data | split | " + " | ".join(names) + " |",
    ]
    lines.append("|" + "---|" * (2 + len(names)))
    for (name, repeat), value in sorted(cells.items()):
        lines.append(f"| {name} | {repeat} | " + " | ".join(f"{value[n]:.4g}" for n in names) + " |")
    return "\n".join([*lines, "", "## What it says", "", *_words(cells, rounds), ""])


def _words(cells: Mapping[Any, Any], rounds: Sequence[int]) -> list[str]:
    """Return the findings, from the numbers."""
    runs = [(value, mse) for value in cells.values() for mse in value["mse"].values()]
    harm = sum(mse["assisted"] > value["public model"] for value, mse in runs)
    lines = [f"Of {len(runs)} cells, the assisted forest is worse than the public model in {harm}.", ""]
    for n in rounds:
        same, own = f"{n} from public model", f"{n} from process"
        won = {name: 0 for name, _ in cells}
        for (name, _), value in cells.items():
            won[name] += sum(mse[same] < mse["assisted"] for mse in value["mse"].values())
        wins, where = sum(won.values()), ", ".join(f"{name} {w}" for name, w in sorted(won.items()))
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
