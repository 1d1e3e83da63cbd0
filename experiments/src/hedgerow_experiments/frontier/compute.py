"""What private reports add to the best public model.

``python -m hedgerow_experiments.frontier.compute --out experiments/results/frontier.md`` runs and writes the page. Runs
are kept beside it in a ``.jsonl`` file, so that a run that is stopped goes on where it was. With
``HEDGEROW_BENCH_CACHE`` set to a folder of yours, public models are fitted once.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.label import LabelPrivateRegressor
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split, widened
from hedgerow_experiments.frontier.models import assisted_models, fitted_model
from hedgerow_experiments.frontier.page import page
from hedgerow_experiments.frontier.shift import SHIFTS, shifted
from hedgerow_experiments.lpdt.table import paper_figures
from hedgerow_experiments.results import Results

__all__ = ["DATASETS", "DESIGN", "EPSILONS", "label_split", "main", "one_split", "shift_split"]

DATASETS = ("ABA", "AIR", "AQU", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI", "CAL")
DESIGN = ("ABA", "AIR", "CCP", "CON", "RED", "WHI")
"""Sets on which constants were set; the others were kept out of all decisions."""
EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
LABEL_SETS = ("CAL", "GAS", "MET")
LABEL_EPSILONS = (0.5, 1.0, 2.0, 4.0)


def _errors(
    public: tuple[Any, Any],
    private: tuple[Any, Any],
    test: tuple[Any, Any],
    bounds: tuple[float, float],
    seed: int,
    draws: int,
    categories: Any = None,
) -> dict[str, Any]:
    """Return test errors of the public model and of the assisted forest, by epsilon and draw."""
    base, seconds = fitted_model(*public, seed, categories)
    assert base.portable_ is not None
    value: dict[str, Any] = {
        "seconds": round(seconds, 1),
        "kB": round(base.portable_.n_bytes / 1000),
        "public": math.nan,
        "assisted": {},
        "seed": seed,
    }
    for epsilon in EPSILONS:
        options: dict[str, Any] = {"epsilon": epsilon, "label_bounds": bounds, "base": base, "random_state": seed}
        models = assisted_models(public, private, [1000 * seed + draw for draw in range(draws)], **options)
        value["public"] = float(np.mean((models[0].predict_public(test[0]) - test[1]) ** 2))
        value["assisted"][f"{epsilon:g}"] = [float(np.mean((m.predict(test[0]) - test[1]) ** 2)) for m in models]
    return value


def one_split(code: str, repeat: int, draws: int) -> dict[str, Any]:
    """Return the errors on the paper's split 1:7:2 of one data set."""
    s = split(load_dataset(code), repeat)
    parts = [(p.X, p.y) for p in (s.public, s.private, s.test)]
    return _errors(*parts, s.label_bounds, repeat, draws, s.categories or None)  # type: ignore[call-arg, arg-type]


def shift_split(repeat: int, draws: int) -> dict[str, Any]:
    """Return the errors with red wines public, and white wines private and test (8:2)."""
    red, white = load_dataset("RED"), load_dataset("WHI")
    order, y = np.random.default_rng(repeat).permutation(len(white.y)), np.asarray(white.y, dtype=np.float64)
    cut, labels = len(order) // 5, np.asarray(red.y, dtype=np.float64)
    private, test = ((white.X.iloc[rows], y[rows]) for rows in (order[cut:], order[:cut]))
    return _errors((red.X, labels), private, test, widened(labels), repeat, draws)


def other_shift(name: str, repeat: int, draws: int) -> dict[str, Any]:
    """Return the errors under one of the other shifts."""
    public, private, test = shifted(name, repeat)
    return _errors(public, private, test, widened(public[1]), repeat, draws)


def label_split(code: str, repeat: int) -> dict[str, Any]:
    """Return errors with 500 public records and all features public: public model, private labels, nothing private."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    data = load_dataset(code)
    order, y = np.random.default_rng(repeat).permutation(len(data.y)), np.asarray(data.y, dtype=np.float64)
    ends = np.split(order, [500, 500 + len(order) // 5])
    (Xp, yp), (Xt, yt), (X, labels) = ((data.X.iloc[rows], y[rows]) for rows in ends)
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiub"]
    categories = {str(c): sorted(map(str, data.X[c].unique())) for c in text}
    base, _ = fitted_model(Xp, yp, repeat, categories or None)
    bounds = widened(yp)
    # Not private, on everything: the floor that private labels are measured against.
    free = HistGradientBoostingRegressor(max_iter=300, random_state=0)
    free.fit(np.vstack([base._design(Xp), base._design(X)]), np.concatenate([yp, labels]))
    value: dict[str, Any] = {
        "public": float(np.mean((np.clip(base.predict(Xt), *bounds) - yt) ** 2)),
        "free": float(np.mean((free.predict(base._design(Xt)) - yt) ** 2)),
        "holders": len(labels),
        "label": {},
    }
    for epsilon in LABEL_EPSILONS:
        model = LabelPrivateRegressor(epsilon=epsilon, label_bounds=bounds, base=base, random_state=repeat)
        value["label"][f"{epsilon:g}"] = float(np.mean((model.fit(X, labels).predict(Xt) - yt) ** 2))
    return value


def run(
    results: Results, codes: Sequence[str], repeats: int, draws: int, label_repeats: int = 0, shift_repeats: int = 0
) -> None:
    """Compute what is missing."""
    for repeat in range(label_repeats):
        for code in LABEL_SETS:
            if ("label", code, repeat) not in results:
                results.add(("label", code, repeat), label_split(code, repeat))
                print("label", code, repeat, flush=True)
    for repeat in range(shift_repeats):
        for name in SHIFTS:
            if ("shift", name, repeat, draws) not in results:
                results.add(("shift", name, repeat, draws), other_shift(name, repeat, draws))
                print("shift", name, repeat, flush=True)
    for repeat in range(repeats):
        for code in (*codes, "RED->WHI"):
            key = (code, repeat, draws)
            if key not in results:
                value = shift_split(repeat, draws) if code == "RED->WHI" else one_split(code, repeat, draws)
                results.add(key, value)
                print(code, repeat, f"{value['seconds']} s", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments that are missing, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m hedgerow_experiments.frontier.compute", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="page to write, such as results/frontier.md")
    parser.add_argument("--datasets", default=",".join(DATASETS), help="codes, separated by commas")
    parser.add_argument("--repeats", type=int, default=10, help="splits of each data set")
    parser.add_argument("--draws", type=int, default=2, help="draws of the noise a split")
    parser.add_argument("--label-repeats", type=int, default=3, help="splits of the experiments on private labels")
    parser.add_argument("--shift-repeats", type=int, default=5, help="splits of the other shifts")
    options = parser.parse_args(arguments)
    try:
        results = Results(options.out.with_suffix(".jsonl"))
        few = (options.label_repeats, options.shift_repeats)
        run(results, options.datasets.split(","), options.repeats, options.draws, *few)
        notes = options.out.with_suffix(".notes.md")  # what no figure can say, such as when a rule was added
        text = page(results, DESIGN, EPSILONS, paper_figures())
        options.out.write_text(text + (f"\n## Notes\n\n{notes.read_text()}" if notes.exists() else ""))
    except HedgerowError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
