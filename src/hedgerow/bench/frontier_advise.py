"""The guide against simulation: ``python -m hedgerow.bench.frontier_advise --out docs/results/advise.md``.

Simulated errors are kept beside the page in a ``.jsonl`` file; forecasts are made again every time.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.bench.datasets import load_dataset
from hedgerow.bench.frontier_models import fitted_model
from hedgerow.bench.results import Results
from hedgerow.bench.splits import Split, split
from hedgerow.errors import HedgerowError
from hedgerow.label import LabelPrivateRegressor
from hedgerow.local.advise import advise
from hedgerow.local.assisted import design_assisted
from hedgerow.protocol.assisted import simulate_assisted
from hedgerow.semi import HistOfTreeRegressor

__all__ = ["DATASETS", "main", "page", "simulate_split"]

DATASETS = ("ABA", "AIR", "CCP", "CON", "RED", "AQU", "FIS", "HOU", "WHI", "CPU", "CAL")
DESIGN = ("ABA", "AIR", "CCP", "CON", "RED")
EPSILONS = (0.5, 2.0, 8.0)
SIMULATED = ("public only", "local", "semi-feature", "label")
WITHIN = 0.15


def private_half(names: Sequence[str]) -> list[str]:
    """Return the columns that are private in the semi-feature simulation: the first half."""
    return [str(n) for n in names[: len(names) // 2]]


def simulate_split(code: str, repeat: int) -> dict[str, Any]:
    """Return simulated test errors by setting and epsilon."""
    s = split(load_dataset(code), repeat)
    base, _ = fitted_model(s.public.X, s.public.y, repeat, s.categories or None)
    value: dict[str, Any] = {"mse": {}}
    for epsilon in EPSILONS:
        found = {name: float(np.mean((f - s.test.y) ** 2)) for name, f in _predictions(s, base, epsilon, repeat)}
        value["mse"][f"{epsilon:g}"] = found
    return value


def _predictions(s: Split, base: Any, epsilon: float, seed: int) -> Any:
    yield "public only", np.clip(base.predict(s.test.X), *s.label_bounds)
    options: dict[str, Any] = {"epsilon": epsilon, "label_bounds": s.label_bounds}
    task = design_assisted(s.public.X, s.public.y, base=base, random_state=seed, n_holders=len(s.private.y), **options)
    yield "local", simulate_assisted(task, s.private.X, s.private.y, seed).model().predict(s.test.X)
    names = [str(c) for c in s.private.X.columns]
    mask = np.isin(names, private_half(names))
    semi = HistOfTreeRegressor(base=base, random_state=seed, **options).fit(s.private.X, s.private.y, private=mask)
    yield "semi-feature", semi.predict(s.test.X)
    label = LabelPrivateRegressor(base=base, random_state=seed, **options).fit(s.private.X, s.private.y)
    yield "label", label.predict(s.test.X)


def forecasts(code: str, repeat: int) -> dict[str, dict[str, float]]:
    """Return forecasts of one split by epsilon and setting, from its public records alone."""
    s = split(load_dataset(code), repeat)
    base, _ = fitted_model(s.public.X, s.public.y, repeat, s.categories or None)
    names = [str(c) for c in s.public.X.columns]
    out: dict[str, dict[str, float]] = {}
    curve = None
    for epsilon in EPSILONS:
        advice = advise(
            s.public.X, s.public.y, n_holders=len(s.private.y), epsilon=epsilon, base=base,
            curve=curve, label_bounds=s.label_bounds, private_columns=private_half(names),
        )  # fmt: skip
        curve = advice.curve
        out[f"{epsilon:g}"] = {f.setting: f.mse for f in advice.forecasts}
    return out


def page(cells: dict[tuple[str, str, str], list[tuple[float, float]]]) -> str:
    """Return the page; cells are (data, epsilon, setting) -> (forecast, simulated) of each split."""
    means = {key: (float(np.mean([a for a, _ in v])), float(np.mean([b for _, b in v]))) for key, v in cells.items()}
    lines = [
        "# Forecasts from public records against simulation",
        "",
        "Written by `python -m hedgerow.bench.frontier_advise --out docs/results/advise.md`. Records are split 1:7:2",
        "into public, private and test. The guide (`hedgerow advise`) sees the public tenth and the number of holders;",
        "the simulation runs the estimators on all private records. In the semi-feature model the first half of the",
        "columns is private.",
        f"A cell is right if the forecast, as a mean over splits, is within {WITHIN:.0%} of the simulated test error.",
        f"Constants of the guide were set on {', '.join(DESIGN)}.",
        "",
        "| trust model | cells | within 15% | kept-out cells | within 15% |",
        "|---|---|---|---|---|",
    ]
    groups = [*((s, (s,)) for s in SIMULATED), ("all", SIMULATED)]
    for name, settings in groups:
        counts = []
        for codes in (DATASETS, [c for c in DATASETS if c not in DESIGN]):
            right = [_right(*v) for (c, _, s), v in means.items() if s in settings and c in codes]
            counts += [str(len(right)), f"{np.mean(right):.0%}" if right else "-"]
        lines.append("| " + " | ".join([name, *counts]) + " |")
    lines += ["", "Forecast / simulated (forecast over simulated); splits in brackets.", ""]
    head = ["data", "eps", *SIMULATED]
    lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for code in DATASETS:
        for epsilon in EPSILONS:
            row = [means.get((code, f"{epsilon:g}", s)) for s in SIMULATED]
            if row[0] is not None:
                splits = len(cells[code, f"{epsilon:g}", "public only"])
                name = f"{code}{' (design)' if code in DESIGN else ''} [{splits}]"
                found = [
                    f"{a:.4g} / {b:.4g} ({a / b:.2f}){'' if _right(a, b) else ' **off**'}" for a, b in filter(None, row)
                ]
                lines.append("| " + " | ".join([name, f"{epsilon:g}", *found]) + " |")
    return "\n".join([*lines, ""])


def _right(forecast: float, simulated: float) -> bool:
    return abs(forecast - simulated) <= WITHIN * simulated


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate what is missing, forecast, write the page."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow.bench.frontier_advise", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="page to write, such as docs/results/advise.md")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="codes, separated by commas")
    parser.add_argument("--repeats", type=int, default=3, help="splits of each data set")
    options = parser.parse_args(arguments)
    results, cells = Results(options.out.with_suffix(".jsonl")), defaultdict(list)
    try:
        for repeat in range(options.repeats):
            for code in options.datasets.split(","):
                if (code, repeat) not in results:
                    results.add((code, repeat), simulate_split(code, repeat))
                    print(code, repeat, flush=True)
        for (code, number), value in results:
            predicted = forecasts(str(code), int(number))
            for epsilon, found in value["mse"].items():
                for setting, mse in found.items():
                    cells[str(code), epsilon, setting].append((predicted[epsilon][setting], mse))
    except HedgerowError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    options.out.write_text(page(cells))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
