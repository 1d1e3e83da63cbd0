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

from hedgerow.bench.experiment import Experiment, Key
from hedgerow.bench.tidy import Row

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
    return importlib.import_module(f"hedgerow.bench.{name}")


# -- labels -----------------------------------------------------------------------------------------------------


def _first(dataset: str) -> int:
    """Return the first trial that counts: earlier ones were looked at while defaults were chosen."""
    return int(getattr(_module("label"), "FIRST", {}).get(dataset, 0))


@lru_cache(maxsize=2)
def _case(dataset: str, seed: int) -> Any:
    return _module("label_data").load_case(dataset, seed)


@lru_cache(maxsize=1)
def _shared(dataset: str, learner: str, epsilon: float, trial: int) -> tuple[Any, Any]:
    """Return what all mechanisms of a trial share: a measured constant, and fits to equal labels."""
    module = _module("label")
    case = _case(dataset, trial if dataset.startswith("simulated") else 0)
    return module._averaging(case, learner, trial, epsilon, {}), module.Fits()


def label(key: Key, seed: int) -> dict[str, float]:
    """Return the test error of one mechanism under one learner."""
    module, trial = _module("label"), key.repeat + _first(key.dataset)
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
    return "classification" if dataset in _module("anova").CLASSES else "regression"


def _free(method: str) -> bool:
    return method in _module("anova")._ONCE


def anova(key: Key, seed: int) -> dict[str, float]:
    """Return the test score of one fit."""
    module = _module("anova")
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


def frontier(key: Key, seed: int) -> dict[str, Any]:
    """Return errors of the public model, and of the assisted forest by epsilon and draw."""
    module = _module("frontier")
    if key.dataset == "RED->WHI":
        return dict(module.shift_split(key.repeat, DRAWS))
    return dict(module.one_split(key.dataset, key.repeat, DRAWS))


def frontier_legacy(experiment: Experiment, folder: Path) -> Found:
    """Yield the splits of ``frontier.jsonl`` (those on private labels alone are not part of this)."""
    for item in _lines(folder / "frontier.jsonl"):
        key = item.get("key") or ["label"]
        if key[0] != "label" and len(key) == 3 and key[2] == DRAWS:
            yield Key(key[0], key[1], "", 0.0, "assisted"), item["value"], item["value"].get("seconds")


def frontier_tidy(experiment: Experiment, key: Key, value: dict[str, Any]) -> Iterator[Row]:
    """Yield the public model's error, and the assisted forest's as the mean over draws."""
    head = (experiment.name, key.dataset, key.setting)
    yield Row(*head, "public model", None, None, "", key.repeat, experiment.metric, value["public"])
    for epsilon, errors in value["assisted"].items():
        mean = sum(errors) / len(errors)
        yield Row(*head, "AssistedForest", float(epsilon), None, "", key.repeat, experiment.metric, mean)
