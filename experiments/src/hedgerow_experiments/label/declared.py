"""RPWithPrior, label differential privacy in regression: tables 1, 3 and 6 to 9."""

from __future__ import annotations

import math

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["EXPERIMENTS"]

EPSILONS = (0.05, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, math.inf)
_MECHANISMS = ("RPWithPrior", "auto", "Optimal", "RRonBins", "Unbiased", "Laplace", "Staircase", "Gaussian")

LABEL = Experiment(
    name="label",
    title="The tables of RPWithPrior: test error of every label mechanism under a network and boosting",
    paper="RPWithPrior",
    datasets=("crime", "housing", "simulated-linear", "simulated-nonlinear", "nyc"),
    groups=tuple(Group(m) for m in _MECHANISMS),
    epsilons=EPSILONS,
    repeats=10,
    settings=("network", "boosting"),
    split="80:20, labels randomised once",
    metric="mse",
    compute="hedgerow_experiments.adapters:label",
    choose="none",
    seeds="repeat",
    bundle=("dataset", "repeat", "setting", "epsilon"),
    legacy="hedgerow_experiments.adapters:label_legacy",
    store="label-cells",
    page="",
    notes="Labels of mechanisms with a prior are calibrated by the curator (debias='shrink'). "
    "nyc stands in for Criteo.",
)

EXPERIMENTS = (LABEL,)
