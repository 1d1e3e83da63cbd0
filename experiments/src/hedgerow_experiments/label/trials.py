"""The label privacy experiments: ``python -m hedgerow_experiments.label.trials --out experiments/results/label.md``.

Results are appended to a JSONL file beside the report as they come; a run that was stopped goes on where it
stood, and the report can be written from whatever is there (``--report-only``).
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import train_test_split

from hedgerow.label import (
    AutoMechanism,
    GaussianMechanism,
    LabelPrivateRegressor,
    LaplaceMechanism,
    OptimalRandomizer,
    RPWithPrior,
    RROnBins,
    StaircaseMechanism,
    UnbiasedRandomizer,
)
from hedgerow.label.regressor import measure_averaging
from hedgerow_experiments.label.data import DATASETS, LEARNERS, Case, load_case
from hedgerow_experiments.label.network import PaperNetwork, predict_many

__all__ = ["EPSILONS", "FIRST", "MECHANISMS", "Fits", "main", "run_block", "run_cell"]

EPSILONS = (0.05, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, math.inf)
_PAPER: dict[str, Any] = {"prior_share": "auto", "trust": "central"}  # Algorithm 4: a curator's noisy histogram
MECHANISMS: dict[str, Any] = {
    "RPWithPrior": lambda e, b: RPWithPrior(e, label_bounds=b, **_PAPER),
    "auto": lambda e, b: AutoMechanism(e, label_bounds=b, **_PAPER),
    "Optimal": lambda e, b: OptimalRandomizer(e, label_bounds=b, **_PAPER),
    "RRonBins": lambda e, b: RROnBins(e, label_bounds=b, **_PAPER),
    "Unbiased": lambda e, b: UnbiasedRandomizer(e, label_bounds=b, **_PAPER),
    "Laplace": lambda e, b: LaplaceMechanism(e, label_bounds=b),
    "Staircase": lambda e, b: StaircaseMechanism(e, label_bounds=b),
    "Gaussian": lambda e, b: GaussianMechanism(e, delta=1e-4, label_bounds=b),
}
FIRST = {"crime": 2}
"""The first trial, where it is not 0: splits 0 and 1 of crime were looked at while defaults were chosen."""
Key = tuple[str, str, str, str, float, int]
Block = tuple[str, str, float, int]
Variant = tuple[str, str]


class Recorder(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that only keeps the labels it is given."""

    def fit(self, X: Any, y: Any) -> Recorder:
        """Keep the labels."""
        self.labels_ = np.asarray(y)
        return self


def _noisy(case: Case, X: Any, y: Any, cell: Variant, epsilon: float, trial: int, averaging: float) -> Any:
    """Return the noisy labels of a cell as a regressor gets to see them."""
    mechanism, debias = cell
    made = MECHANISMS[mechanism](epsilon, case.bounds)
    model = LabelPrivateRegressor(Recorder(), made, debias=debias, averaging=averaging, random_state=1000 + trial)
    return model.fit(X, y).regressor_.labels_


class Fits(dict[bytes, float]):
    """Test errors of one trial, learner and budget, by the labels that were learnt from."""


def run_block(
    case: Case,
    learner: str,
    variants: list[Variant],
    epsilon: float,
    trial: int,
    averaging: float,
    fits: Fits | None = None,
) -> list[float]:
    """Return the test errors of one trial: 80/20 split, labels randomised once for each variant, one fit each.

    Equal labels are learnt from once: "auto" is one of the others, with the same seed, and without noise all are.
    """
    X, Xt, y, yt = train_test_split(case.X, case.y, test_size=0.2, random_state=trial)
    found = [_noisy(case, X, y, v, epsilon, trial, averaging) for v in variants[: 1 if math.isinf(epsilon) else None]]
    keys = [b"" if math.isinf(epsilon) else labels.tobytes() for labels in found]
    errors = Fits() if fits is None else fits
    missing = {key: labels for key, labels in zip(keys, found, strict=True) if key not in errors}
    regressor = LEARNERS[learner](case, trial, len(y), epsilon)
    if isinstance(regressor, PaperNetwork) and missing:
        predicted = predict_many(regressor, X, list(missing.values()), Xt)
    else:
        predicted = [clone(regressor).fit(X, labels).predict(Xt) for labels in missing.values()]
    for key, p in zip(missing, predicted, strict=True):
        errors[key] = float(np.mean((np.clip(p, *case.bounds) - yt) ** 2))
    mse = [errors[key] for key in keys]
    return mse * len(variants) if math.isinf(epsilon) else mse


def run_cell(
    case: Case,
    learner: str,
    mechanism: str,
    epsilon: float,
    trial: int,
    debias: str,
    averaging: float,
    fits: Fits | None = None,
) -> float:
    """Return the test error of one mechanism in one trial."""
    return run_block(case, learner, [(mechanism, debias)], epsilon, trial, averaging, fits)[0]


def _averaging(case: Case, learner: str, trial: int, epsilon: float, known: dict[str, float]) -> float:
    """Return what ``averaging="auto"`` would measure; the same for all mechanisms of a trial and budget."""
    X = train_test_split(case.X, test_size=0.2, random_state=trial)[0]
    regressor = LEARNERS[learner](case, trial, len(X), epsilon)
    key = f"{id(case)} {trial} {regressor!r}"
    if key not in known:
        known[key] = measure_averaging(regressor, X, case.bounds)
    return known[key]


def _plan(arguments: argparse.Namespace) -> Iterator[tuple[Block, list[Variant]]]:
    """Yield blocks of cells, whole trials first, so that a run cut short has some of everything."""
    for trial in range(arguments.repeats):
        for dataset in arguments.datasets:
            for learner in arguments.learners:
                for epsilon in arguments.epsilons:
                    variants = []
                    for mechanism in arguments.mechanisms:
                        # Without a prior there is nothing to undo: these need no variant.
                        shaped = mechanism in ("RPWithPrior", "auto", "Optimal", "RRonBins", "Unbiased")
                        every = arguments.debias if shaped and epsilon < math.inf else arguments.debias[:1]
                        variants += [(mechanism, debias) for debias in every]
                    yield (dataset, learner, epsilon, trial + FIRST.get(dataset, 0)), variants


def read_results(path: Path) -> dict[Key, float]:
    """Return what is there already, by cell and trial."""
    found: dict[Key, float] = {}
    if path.exists():
        for line in path.read_text().splitlines():
            r = json.loads(line)
            key = (r["dataset"], r["learner"], r["mechanism"], r["debias"], float(r["epsilon"]), int(r["trial"]))
            found[key] = float(r["mse"])
    return found


def _run(arguments: argparse.Namespace, store: Path) -> None:
    done = read_results(store)
    stop = time.monotonic() + arguments.minutes * 60
    cases: dict[tuple[str, int], Case] = {}
    measured: dict[str, float] = {}
    for (dataset, learner, epsilon, trial), wanted in _plan(arguments):
        variants = [v for v in wanted if (dataset, learner, *v, epsilon, trial) not in done]
        if not variants:
            continue
        if time.monotonic() > stop:
            return
        seed = trial if dataset.startswith("simulated") else 0
        if (dataset, seed) not in cases:
            cases[dataset, seed] = load_case(dataset, seed)
        case = cases[dataset, seed]
        start = time.perf_counter()
        averaging = _averaging(case, learner, trial, epsilon, measured)
        errors = run_block(case, learner, variants, epsilon, trial, averaging)
        seconds = round((time.perf_counter() - start) / len(variants), 3)
        block = {"dataset": dataset, "learner": learner, "epsilon": str(epsilon), "trial": trial, "seconds": seconds}
        with store.open("a") as file:
            for (mechanism, debias), mse in zip(variants, errors, strict=True):
                file.write(json.dumps({**block, "mechanism": mechanism, "debias": debias, "mse": mse}) + "\n")
        if sys.stderr.isatty():
            print(dataset, learner, epsilon, trial, file=sys.stderr)


def _floats(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    return text.split(",")


def main(argv: list[str] | None = None) -> int:
    """Run what is missing and write the report."""
    from hedgerow_experiments.label.report import write_report

    parser = argparse.ArgumentParser(prog="python -m hedgerow_experiments.label.trials", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("experiments/results/label.md"))
    parser.add_argument("--store", type=Path, help="JSONL of results (default: beside the report)")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--datasets", type=_names, default=list(DATASETS))
    parser.add_argument("--learners", type=_names, default=list(LEARNERS))
    parser.add_argument("--mechanisms", type=_names, default=list(MECHANISMS))
    parser.add_argument("--epsilons", type=_floats, default=list(EPSILONS))
    parser.add_argument("--debias", type=_names, default=["shrink"], help="shrink, inverse, none")
    parser.add_argument("--minutes", type=float, default=math.inf, help="stop after so long; run again to go on")
    parser.add_argument("--reference", type=Path, default=Path("../shared/reference/rpwithprior_mse.csv"))
    parser.add_argument("--report-only", action="store_true")
    arguments = parser.parse_args(argv)
    store = arguments.store or arguments.out.with_suffix(".jsonl")
    store.parent.mkdir(parents=True, exist_ok=True)
    if not arguments.report_only:
        _run(arguments, store)
    write_report(read_results(store), arguments.out, arguments.reference)
    return 0


if __name__ == "__main__":
    sys.exit(main())
