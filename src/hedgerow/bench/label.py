"""The label privacy experiments: ``python -m hedgerow.bench.label --out docs/results/label.md``.

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

from hedgerow.bench.label_data import DATASETS, LEARNERS, Case, load_case
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

__all__ = ["EPSILONS", "MECHANISMS", "main", "run_cell"]

EPSILONS = (0.05, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, math.inf)
MECHANISMS: dict[str, Any] = {
    "RPWithPrior": lambda e, b: RPWithPrior(e, label_bounds=b, prior_share="auto"),
    "auto": lambda e, b: AutoMechanism(e, label_bounds=b),
    "Optimal": lambda e, b: OptimalRandomizer(e, label_bounds=b),
    "RRonBins": lambda e, b: RROnBins(e, label_bounds=b, prior_share="auto"),
    "Unbiased": lambda e, b: UnbiasedRandomizer(e, label_bounds=b, prior_share="auto"),
    "Laplace": lambda e, b: LaplaceMechanism(e, label_bounds=b),
    "Staircase": lambda e, b: StaircaseMechanism(e, label_bounds=b),
    "Gaussian": lambda e, b: GaussianMechanism(e, delta=1e-4, label_bounds=b),
}
FIRST = {"crime": 2}
"""The first trial, where it is not 0: splits 0 and 1 of crime were looked at while defaults were chosen."""
Key = tuple[str, str, str, str, float, int]


class Fits(dict[Any, Any]):
    """Fitted regressors by the noisy labels they learnt from; a clone of an estimator shares it."""

    def __deepcopy__(self, memo: Any) -> Fits:
        return self


class Shared(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that is not fitted again on the same labels: "auto" is one of the others, with the same seed."""

    def __init__(self, regressor: Any, fits: Fits, same: bool = False) -> None:
        self.regressor = regressor
        self.fits = fits
        self.same = same

    def fit(self, X: Any, y: Any) -> Shared:
        """Fit unless it was done; ``same`` says that all labels are (no noise)."""
        key = "same" if self.same else np.asarray(y).tobytes()
        if key not in self.fits:
            self.fits[key] = clone(self.regressor).fit(X, y)
        self.fitted_ = self.fits[key]
        return self

    def predict(self, X: Any) -> Any:
        """Predict."""
        return self.fitted_.predict(X)


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
    """Return the test error of one trial: 80/20 split, labels randomised once, one fit."""
    X, Xt, y, yt = train_test_split(case.X, case.y, test_size=0.2, random_state=trial)
    regressor = LEARNERS[learner](case, trial, len(y), epsilon)
    model = LabelPrivateRegressor(
        Shared(regressor, Fits() if fits is None else fits, math.isinf(epsilon)),
        MECHANISMS[mechanism](epsilon, case.bounds),
        debias=debias,
        averaging=averaging,
        random_state=1000 + trial,
    ).fit(X, y)
    return float(np.mean((model.predict(Xt) - yt) ** 2))


def _averaging(case: Case, learner: str, trial: int, epsilon: float, known: dict[str, float]) -> float:
    """Return what ``averaging="auto"`` would measure; the same for all mechanisms of a trial and budget."""
    X = train_test_split(case.X, test_size=0.2, random_state=trial)[0]
    regressor = LEARNERS[learner](case, trial, len(X), epsilon)
    key = f"{id(case)} {trial} {regressor!r}"
    if key not in known:
        known[key] = measure_averaging(regressor, X, case.bounds)
    return known[key]


def _plan(arguments: argparse.Namespace) -> Iterator[Key]:
    """Yield cells, whole trials first, so that a run cut short has some of everything."""
    for trial in range(arguments.repeats):
        for dataset in arguments.datasets:
            for learner in arguments.learners:
                for epsilon in arguments.epsilons:
                    for mechanism in arguments.mechanisms:
                        # Without a prior there is nothing to undo: these need no variant.
                        shaped = mechanism in ("RPWithPrior", "auto", "Optimal", "RRonBins", "Unbiased")
                        variants = arguments.debias if shaped and epsilon < math.inf else arguments.debias[:1]
                        for debias in variants:
                            yield dataset, learner, mechanism, debias, epsilon, trial + FIRST.get(dataset, 0)


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
    block: tuple[Any, ...] = ()
    fits = Fits()
    for key in _plan(arguments):
        if key in done:
            continue
        if time.monotonic() > stop:
            return
        dataset, learner, mechanism, debias, epsilon, trial = key
        seed = trial if dataset.startswith("simulated") else 0
        if (dataset, seed) not in cases:
            cases[dataset, seed] = load_case(dataset, seed)
        case = cases[dataset, seed]
        if block != (dataset, learner, epsilon, trial):
            block = (dataset, learner, epsilon, trial)
            fits.clear()
        start = time.perf_counter()
        averaging = _averaging(case, learner, trial, epsilon, measured)
        mse = run_cell(case, learner, mechanism, epsilon, trial, debias, averaging, fits)
        row = {
            "dataset": dataset, "learner": learner, "mechanism": mechanism, "debias": debias,
            "epsilon": str(epsilon), "trial": trial, "mse": mse, "seconds": round(time.perf_counter() - start, 3),
        }  # fmt: skip
        with store.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if sys.stderr.isatty():
            print(*key, f"{mse:.4g}", file=sys.stderr)


def _floats(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


def _names(text: str) -> list[str]:
    return text.split(",")


def main(argv: list[str] | None = None) -> int:
    """Run what is missing and write the report."""
    from hedgerow.bench.label_report import write_report

    parser = argparse.ArgumentParser(prog="python -m hedgerow.bench.label", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/results/label.md"))
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
