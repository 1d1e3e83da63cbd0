"""Experiments whose modules keep results in files of their own, seen through the framework.

Results that those modules wrote are read where they are; cells that are missing are computed by the same functions.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.tidy import Row

__all__ = [
    "anova",
    "anova_legacy",
    "anova_tidy",
    "frontier",
    "frontier_legacy",
    "frontier_tidy",
    "label",
    "label_legacy",
]

Found = Iterator[tuple[Key, Any, float | None]]


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text().splitlines() if path.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:  # cut short by a kill
            continue


def _module(name: str) -> Any:
    return importlib.import_module(f"hedgerow_experiments.{name}")


# -- labels -----------------------------------------------------------------------------------------------------


def _first(dataset: str) -> int:
    """Return the first trial that counts: earlier ones were looked at while defaults were chosen."""
    return int(getattr(_module("label.trials"), "FIRST", {}).get(dataset, 0))


@lru_cache(maxsize=2)
def _case(dataset: str, seed: int) -> Any:
    return _module("label.data").load_case(dataset, seed)


@lru_cache(maxsize=1)
def _shared(dataset: str, learner: str, epsilon: float, trial: int) -> tuple[Any, Any]:
    """Return what all mechanisms of a trial share: a measured constant, and fits to equal labels."""
    module = _module("label.trials")
    case = _case(dataset, trial if dataset.startswith("simulated") else 0)
    return module._averaging(case, learner, trial, epsilon, {}), module.Fits()


def label(key: Key, seed: int) -> dict[str, float]:
    """Return the test error of one mechanism under one learner."""
    module, trial = _module("label.trials"), key.repeat + _first(key.dataset)
    case = _case(key.dataset, trial if key.dataset.startswith("simulated") else 0)
    averaging, fits = _shared(key.dataset, key.setting, key.epsilon, trial)
    error = module.run_cell(case, key.setting, key.group, key.epsilon, trial, "shrink", averaging, fits)
    return {key.group: float(error)}


def label_legacy(experiment: Experiment, folder: Path) -> Found:
    """Yield the trials of ``label.jsonl`` with the default way of undoing bias."""
    for r in _lines(folder / "label.jsonl"):
        repeat = int(r["trial"]) - _first(r["dataset"])
        if r["debias"] == "shrink" and repeat >= 0:
            key = Key(r["dataset"], repeat, r["learner"], float(r["epsilon"]), r["mechanism"])
            yield key, {r["mechanism"]: float(r["mse"])}, r.get("seconds")


# -- PrivateAnova -----------------------------------------------------------------------------------------------


def _kind(dataset: str) -> str:
    return "classification" if dataset in _module("anova.compute").CLASSES else "regression"


def _free(method: str) -> bool:
    return method in _module("anova.compute")._ONCE


def anova(key: Key, seed: int) -> dict[str, float]:
    """Return the test score of one fit."""
    module = _module("anova.compute")
    epsilon = key.epsilon or (2.0 if key.setting == "classification" else 1.0)
    return {"value": module.measure(module.Run(key.dataset, epsilon, key.group, key.repeat))["value"]}


def anova_legacy(experiment: Experiment, folder: Path) -> Found:
    """Yield the fits of ``anova.jsonl``."""
    for item in _lines(folder / "anova.jsonl"):
        if "key" in item:
            data, epsilon, method, repeat = item["key"]
            key = Key(data, repeat, _kind(data), 0.0 if _free(method) else epsilon, method)
            yield key, {"value": item["value"]["value"]}, item["value"].get("seconds")


def anova_tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield the score: mean squared error, or accuracy."""
    metric = "accuracy" if key.setting == "classification" else "mse"
    yield Row(
        experiment.name, key.dataset, key.setting, key.group, key.epsilon or None, None, "", key.repeat, metric,
        value["value"],
    )  # fmt: skip


# -- the frontier -----------------------------------------------------------------------------------------------

DRAWS = 2
_SHIFT = "RED->WHI"


def frontier(key: Key, seed: int) -> dict[str, Any]:
    """Return errors of the public model, and of what private reports or labels make of it, by epsilon."""
    module = _module("frontier.compute")
    if key.setting == "labels":
        return dict(module.label_split(key.dataset, key.repeat))
    if key.setting == "shift" and key.dataset != _SHIFT:
        return dict(module.other_shift(key.dataset, key.repeat, DRAWS))
    if key.dataset == _SHIFT:
        return dict(module.shift_split(key.repeat, DRAWS))
    return dict(module.one_split(key.dataset, key.repeat, DRAWS))


def frontier_legacy(experiment: Experiment, folder: Path) -> Found:
    """Yield the splits of ``frontier.jsonl``."""
    for item in _lines(folder / "frontier.jsonl"):
        name = item.get("key") or ["", 0]
        kind = str(name[0]) if name[0] in ("label", "shift") else ""
        dataset, repeat, *draws = name[1:] if kind else name
        if draws in ([DRAWS], []) and dataset:
            setting = "labels" if kind == "label" else "shift" if kind or dataset == _SHIFT else ""
            group = "labels" if kind == "label" else "assisted"
            yield Key(dataset, repeat, setting, 0.0, group), item["value"], item["value"].get("seconds")


def frontier_tidy(experiment: Experiment, key: Key, value: dict[str, Any]) -> Iterator[Row]:
    """Yield the public model's error, and those with private reports (the mean over draws) or labels."""

    def row(method: str, epsilon: float | None, error: float) -> Row:
        return Row(
            experiment.name, key.dataset, key.setting, method, epsilon, None, "", key.repeat, experiment.metric, error
        )  # fmt: skip

    yield row("public model", None, value["public"])
    if key.group == "labels":
        yield row("no privacy", None, value["free"])
    for epsilon, errors in value.get("assisted", {}).items():
        yield row("AssistedForest", float(epsilon), sum(errors) / len(errors))
    for epsilon, error in value.get("label", {}).items():
        yield row("private labels", float(epsilon), error)
