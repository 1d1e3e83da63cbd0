"""Simulated test errors that the guide's forecasts are compared with, kept by split and setting."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.label import LabelPrivateRegressor
from hedgerow.local.assisted import design_assisted
from hedgerow.semi import HistOfTreeRegressor
from hedgerow.tasks.assisted import simulate_assisted
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import Split, split
from hedgerow_experiments.export import replace
from hedgerow_experiments.frontier.advise_page import EPSILONS, SIMULATED
from hedgerow_experiments.frontier.models import fitted_model
from hedgerow_experiments.results import Results

__all__ = ["frontier_row", "private_half", "simulate_missing", "simulate_split"]


def private_half(names: Sequence[str]) -> list[str]:
    """Return the columns that are private in the semi-feature simulation: the first half."""
    return [str(n) for n in names[: len(names) // 2]]


def simulate_split(
    code: str, repeat: int, frontier: dict[str, Any] | None = None, settings: Sequence[str] = SIMULATED
) -> dict[str, Any]:
    """Return simulated test errors by epsilon and setting.

    ``frontier`` is this split's row of the frontier, if there is one: it holds the error of the local setting already
    (the same estimator on the same records; the first of its draws is used).
    """
    known = {} if frontier is None else {e: float(draws[0]) for e, draws in frontier["assisted"].items()}
    value: dict[str, dict[str, float]] = {f"{epsilon:g}": {} for epsilon in EPSILONS}
    todo = [name for name in settings if name != "local" or not known]
    if "local" in settings and known:
        value = {e: {"local": known[e]} for e in value}
    if todo:
        s = split(load_dataset(code), repeat)
        base, _ = fitted_model(s.public.X, s.public.y, repeat, s.categories or None)
        for epsilon in EPSILONS:
            for name in todo:
                predicted = _predicted(name, s, base, epsilon, repeat)
                value[f"{epsilon:g}"][name] = float(np.mean((predicted - s.test.y) ** 2))
    return {"mse": value}


def _predicted(setting: str, s: Split, base: Any, epsilon: float, seed: int) -> Any:
    """Return predictions of the test records by the estimator of one setting."""
    options: dict[str, Any] = {"epsilon": epsilon, "label_bounds": s.label_bounds}
    if setting == "public only":
        return np.clip(base.predict(s.test.X), *s.label_bounds)
    if setting == "local":
        options["n_holders"] = len(s.private.y)
        task = design_assisted(s.public.X, s.public.y, base=base, random_state=seed, **options)
        return simulate_assisted(task, s.private.X, s.private.y, seed).model().predict(s.test.X)
    if setting == "semi-feature":
        names = [str(c) for c in s.private.X.columns]
        mask = np.isin(names, private_half(names))
        semi = HistOfTreeRegressor(base=base, random_state=seed, **options)
        return semi.fit(s.private.X, s.private.y, private=mask).predict(s.test.X)
    label = LabelPrivateRegressor(base=base, random_state=seed, **options)
    return label.fit(s.private.X, s.private.y).predict(s.test.X)


def simulate_missing(
    path: Path,
    frontier: Results | None,
    wanted: Iterable[tuple[str, int]],
    again: Sequence[str] = (),
    settings: Sequence[str] = SIMULATED,
) -> None:
    """Simulate those of the ``settings`` that a split lacks; what ``again`` names is dropped from all splits first.

    The file is written whole after each split, for a setting that is simulated again takes the place of the old one.
    """
    rows = {key: value["mse"] for key, value in Results(path)} if path.exists() else {}
    if again:
        rows = {k: {e: {s: v for s, v in d.items() if s not in again} for e, d in m.items()} for k, m in rows.items()}
        _store(path, rows)
    for code, repeat in wanted:
        have = rows.get((code, repeat), {f"{e:g}": {} for e in EPSILONS})
        missing = [s for s in settings if any(s not in errors for errors in have.values())]
        if missing:
            new = simulate_split(code, repeat, frontier_row(frontier, code, repeat), missing)["mse"]
            rows[code, repeat] = {e: {**errors, **new[e]} for e, errors in have.items()}
            _store(path, rows)
            print(code, repeat, *missing, flush=True)


def _store(path: Path, rows: Mapping[Any, Any]) -> None:
    lines = [json.dumps({"key": list(key), "value": {"mse": mse}}) + "\n" for key, mse in rows.items()]
    replace(path, "".join(lines).encode())


def frontier_row(frontier: Results | None, code: str, repeat: int) -> dict[str, Any] | None:
    """Return the newest row of the frontier for a split, if there is one."""
    keys = [] if frontier is None else [k for k, _ in frontier if k[:2] == (code, repeat)]
    return None if frontier is None or not keys else dict(frontier[keys[-1]])
