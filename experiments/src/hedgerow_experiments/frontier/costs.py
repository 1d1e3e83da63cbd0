"""What privacy costs: ``python -m hedgerow_experiments.frontier.costs --out docs/what-privacy-costs.md``.

One figure a data set, in ``docs/images``: test error against epsilon under four trust models, beside the public model
alone and boosting without privacy. Errors under local, semi-feature and label privacy are those of
``experiments/results/advise.jsonl`` (:mod:`hedgerow_experiments.frontier.advise`); the others are kept beside them in
``experiments/results/costs.jsonl``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.central.anova import PrivateAnovaRegressor
from hedgerow.errors import HedgerowError
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split
from hedgerow_experiments.frontier.advise import EPSILONS, simulate_split
from hedgerow_experiments.results import Results

__all__ = ["DATASETS", "central_split", "figure", "main", "page"]

DATASETS = ("ABA", "AIR", "CON", "RED", "AQU", "FIS", "HOU")
LINES = {"local": "C0", "semi-feature": "C1", "label": "C2", "central": "C3"}


def central_split(code: str, repeat: int) -> dict[str, Any]:
    """Return test errors of central privacy by epsilon, and of boosting without privacy, on all but the test records.

    Public records are part of the training records in both: a curator who is trusted may use them.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    s = split(load_dataset(code), repeat)
    Z, y = np.vstack([s.public.Z, s.private.Z]), np.concatenate([s.public.y, s.private.y])
    bounds = np.array([s.space.low, s.space.high])
    flat = bounds[0] == bounds[1]
    bounds[1, flat] += 1.0
    free = HistGradientBoostingRegressor(max_iter=300, learning_rate=0.05, min_samples_leaf=5, random_state=0)
    value: dict[str, Any] = {"free": _mse(free.fit(Z, y).predict(s.test.Z), s.test.y), "central": {}}
    for epsilon in EPSILONS:
        model = PrivateAnovaRegressor(
            epsilon=epsilon, label_bounds=s.label_bounds, feature_bounds=bounds, random_state=repeat
        )
        value["central"][f"{epsilon:g}"] = _mse(model.fit(Z, y).predict(s.test.Z), s.test.y)
    return value


def _mse(f: Any, y: Any) -> float:
    return float(np.mean((f - y) ** 2))


def gather(
    simulated: Results, central: Results, codes: Sequence[str]
) -> dict[str, tuple[int, dict[str, dict[str, float]], float, float]]:
    """Return (splits, errors by trust model and epsilon, public error, error without privacy) of each data set."""
    first, second, out = dict(simulated), dict(central), {}
    for code in codes:
        keys = [k for k in first if k[0] == code and k in second]
        if not keys:
            continue
        errors = {
            name: {e: float(np.mean([first[k]["mse"][e][name] for k in keys])) for e in first[keys[0]]["mse"]}
            for name in LINES
            if name != "central"
        }
        errors["central"] = {e: float(np.mean([second[k]["central"][e] for k in keys])) for e in errors["label"]}
        public = float(np.mean([next(iter(first[k]["mse"].values()))["public only"] for k in keys]))
        out[code] = len(keys), errors, public, float(np.mean([second[k]["free"] for k in keys]))
    return out


def figure(code: str, errors: dict[str, dict[str, float]], public: float, free: float) -> Any:
    """Return the figure of one data set."""
    from matplotlib.figure import Figure

    drawing = Figure(figsize=(4.5, 3.2), layout="constrained")
    axes = drawing.add_subplot()
    for name, colour in LINES.items():
        axes.plot([float(e) for e in errors[name]], list(errors[name].values()), "o-", color=colour, label=name)
    axes.axhline(public, color="0.4", linestyle="--", label="public only")
    axes.axhline(free, color="0.7", linestyle=":", label="not private")
    # The central model can be far off at small epsilon: the axis shows the others, and the table has all figures.
    top = max(public, *(v for name in ("local", "semi-feature", "label") for v in errors[name].values()))
    axes.set(xscale="log", xlabel="epsilon", ylabel="test error (MSE)", title=code, ylim=(0, 1.6 * top))
    axes.set_xticks([float(e) for e in errors["label"]], list(errors["label"]))
    axes.legend(fontsize=7)
    return drawing


def page(found: dict[str, tuple[int, dict[str, dict[str, float]], float, float]]) -> str:
    """Return the page."""
    lines = [
        "# What privacy costs",
        "",
        "The same records under four trust models: a tenth of them public, seven tenths of holders, two tenths to test",
        "on. Three of them start from the best public model, and use private reports for what it gets wrong:",
        "",
        "- **local**: features and label are private, nobody is trusted (`AssistedForestRegressor`);",
        "- **semi-feature**: the label and half of the columns, the first, are private (`HistOfTreeRegressor(base=)`);",
        "- **label**: only the label is private (`LabelPrivateRegressor(base=)`);",
        "- **central**: a curator sees all records and releases a private model (`PrivateAnovaRegressor`, delta 1e-5),",
        "  without a public model to start from;",
        "- **public only** (`PublicModel` on the public tenth) and **not private** (boosting on public and private).",
        "",
        "`hedgerow advise` says what to expect of your own case ([how good its forecasts are](results/advise.md)).",
        "",
        "Written by `python -m hedgerow_experiments.frontier.costs --out docs/what-privacy-costs.md`.",
        "",
    ]
    for code, (splits, errors, public, free) in found.items():
        head = ["epsilon", *LINES, "public only", "not private"]
        lines += [f"## {code}", "", f"![Error against epsilon on {code}](images/costs_{code}.svg)", ""]
        lines += ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
        for e in errors["label"]:
            cells = [e, *(f"{errors[name][e]:.4g}" for name in LINES), f"{public:.4g}", f"{free:.4g}"]
            lines.append("| " + " | ".join(cells) + " |")
        lines += ["", f"Test MSE, mean over splits ({splits}), one draw of the noise in each.", ""]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute what is missing, draw, write the page."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow_experiments.frontier.costs", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="page to write, such as docs/what-privacy-costs.md")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="codes, separated by commas")
    parser.add_argument("--repeats", type=int, default=3, help="splits of each data set")
    options = parser.parse_args(arguments)
    folder, codes = options.out.parent, options.datasets.split(",")
    try:
        simulated, central = Results(folder / "results/advise.jsonl"), Results(folder / "results/costs.jsonl")
        for repeat in range(options.repeats):
            for code in codes:
                if (code, repeat) not in central:
                    central.add((code, repeat), central_split(code, repeat))
                    print("central", code, repeat, flush=True)
                if (code, repeat) not in simulated:
                    simulated.add((code, repeat), simulate_split(code, repeat))
                    print(code, repeat, flush=True)
    except HedgerowError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    found = gather(simulated, central, codes)
    (folder / "images").mkdir(exist_ok=True)
    for code, (_, errors, public, free) in found.items():
        drawing = figure(code, errors, public, free)
        drawing.savefig(folder / f"images/costs_{code}.svg", metadata={"Date": None})
    options.out.write_text(page(found))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
