"""RPWithPrior, label differential privacy in regression: tables 1 to 3 and 6 to 9."""

from __future__ import annotations

import dataclasses
import math

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["CRITEO", "DEBIAS", "EXPERIMENTS", "LABEL", "MECHANISMS", "NOISE_FREE", "PUBLISHED", "SECONDS"]

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
    keep="all",
    seeds="repeat",
    bundle=("dataset", "repeat", "setting", "epsilon"),
    page="hedgerow_experiments.label.page:pages",
    notes="Labels of mechanisms with a prior are calibrated by the curator (debias='shrink'). "
    "nyc stands in for Criteo.",
)

CRITEO = dataclasses.replace(
    LABEL,
    name="label-criteo",
    title="Table 2 of RPWithPrior on Criteo's log, for whoever has the file",
    datasets=("criteo",),
    settings=("boosting",),
    notes="The file is not on our machine, so that there are no rows: nyc stands in for it in 'label'. It is looked "
    "for as CriteoSearchData in HEDGEROW_DATA, or where HEDGEROW_CRITEO says. Boosting takes the place of a network "
    "with embeddings of 17 hashed columns.",
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

_TIMED = ("Laplace", "Gaussian", "Staircase", "RRonBins", "RPWithPrior", "Unbiased")

SECONDS = Experiment(
    name="label-seconds",
    title="Tables 6 and 9 of RPWithPrior: seconds of randomising the labels, and of a whole trial",
    paper="RPWithPrior",
    datasets=("crime", "housing", "nyc"),
    groups=(
        *(Group(m, settings=("6",)) for m in _TIMED),
        *(Group(m, settings=("9",), datasets=("housing",)) for m in _TIMED),
    ),
    epsilons=(8.0,),
    repeats=10,
    settings=("6", "9"),
    split="80:20; only the training labels are randomised",
    metric="seconds",
    compute="hedgerow_experiments.label.seconds:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    seeds="repeat",
    bundle=("dataset", "repeat", "setting"),
    keep="all",
    page="hedgerow_experiments.seconds_page:pages",
    notes="Processor time on one thread. Setting 6: the prior, the mechanism and the noisy labels; 'labels' counts the "
    "different training labels. Setting 9: the same and the network's fit. The paper prints no epsilon for table 6; "
    "here it is 8, as in table 9. nyc stands in for Criteo.",
)

_SIMULATED = ("simulated-linear", "simulated-nonlinear")

NOISE_FREE = Experiment(
    name="label-noise-free",
    title="RPWithPrior's network without noise, under several readings of what the paper leaves open",
    paper="RPWithPrior",
    datasets=("crime", "housing", *_SIMULATED),
    groups=(
        Group("scaled features"),
        Group("raw"),
        Group("raw, 128-64"),
        *(Group(f"raw, {more}", datasets=_SIMULATED) for more in ("5,000 rows", "128-64, 5,000 rows", "10,000 rows")),
    ),
    epsilons=(),
    repeats=10,
    split="80:20, true labels",
    metric="mse",
    compute="hedgerow_experiments.label.noise_free:compute",
    choose="none",
    keep="all",
    seeds="repeat",
    bundle=("dataset", "repeat"),
    page="hedgerow_experiments.label.page:pages",
    notes="Labels are raw and nothing is clipped; PyTorch's start and decay; widths 64-32 and 2,000 simulated rows "
    "unless the method says otherwise.",
)

PUBLISHED = dataclasses.replace(
    NOISE_FREE,
    name="label-published",
    title="Tables 3, 7 and 8 of RPWithPrior with the network that agrees without noise",
    datasets=("housing", *_SIMULATED),
    groups=tuple(Group(m) for m in _TIMED),
    epsilons=(0.5, 2.0, 8.0),
    split="80:20, labels randomised once, not calibrated",
    compute="hedgerow_experiments.label.noise_free:with_noise",
    bundle=("dataset", "repeat", "epsilon"),
    notes="Features and labels raw, layers of 128 and 64, 5,000 simulated rows; noisy labels are learnt from as they "
    "are, and predictions are not clipped. Label bounds are those of 'label', the prior is paid for.",
)

EXPERIMENTS = (LABEL, CRITEO, DEBIAS, SECONDS, NOISE_FREE, PUBLISHED)
