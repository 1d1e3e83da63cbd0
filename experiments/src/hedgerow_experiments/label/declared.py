"""RPWithPrior, label differential privacy in regression: tables 1, 3 and 6 to 9."""

from __future__ import annotations

import dataclasses
import math

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["DEBIAS", "EXPERIMENTS", "LABEL", "MECHANISMS"]

EPSILONS = (0.05, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, math.inf)
MECHANISMS = ("RPWithPrior", "auto", "Optimal", "RRonBins", "Unbiased", "Laplace", "Staircase", "Gaussian")

LABEL = Experiment(
    name="label",
    title="The tables of RPWithPrior: test error of every label mechanism under a network and boosting",
    paper="RPWithPrior",
    datasets=("crime", "housing", "simulated-linear", "simulated-nonlinear", "nyc"),
    groups=tuple(Group(m) for m in MECHANISMS),
    epsilons=EPSILONS,
    repeats=10,
    settings=("network", "boosting"),
    split="80:20, labels randomised once",
    metric="mse",
    compute="hedgerow_experiments.label.trials:compute",
    choose="none",
    seeds="repeat",
    bundle=("dataset", "repeat", "setting", "epsilon"),
    page="hedgerow_experiments.label.page:pages",
    notes="Labels of mechanisms with a prior are calibrated by the curator (debias='shrink'). "
    "nyc stands in for Criteo.",
)

_WHERE = {"network": ("crime",), "boosting": ("housing",)}

DEBIAS = dataclasses.replace(
    LABEL,
    name="label-debias",
    title="RPWithPrior's tables again, with other ways to undo the bias of noisy labels",
    paper="ours",
    datasets=("crime", "housing"),
    groups=tuple(
        Group(f"{m}/{how}", settings=(learner,), datasets=codes)
        for learner, codes in _WHERE.items()
        for m in ("Optimal", "RPWithPrior", "RRonBins")
        for how in ("shrink", "inverse", "none")
    ),
    epsilons=(0.05, 0.3, 1.0, 3.0, 8.0),
    notes="Methods are a mechanism and how its bias is undone.",
)

EXPERIMENTS = (LABEL, DEBIAS)
