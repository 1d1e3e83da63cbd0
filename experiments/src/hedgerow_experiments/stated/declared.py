"""Central learners with bounds that a curator could state beforehand, beside the same with the data's own."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["CLASSES", "EXPERIMENTS", "METHODS", "NUMBERS", "OWN", "STATED"]

NUMBERS = ("PAR", "APP", "MET", "GAS", "FLI", "ABA", "WHI", "CCP", "CAL", "DIA")
CLASSES = ("BAN", "CRE", "ROB", "HIG", "HAR")
METHODS = ("DiPriMeFlip", "PrivateAnova", "DP-EBM")
OWN = "the data's"
STATED = "stated"


def _groups(method: str) -> tuple[Group, ...]:
    needs = "interpret.privacy" if method == "DP-EBM" else ""
    return (
        Group(method, datasets=NUMBERS, epsilons=(1.0, 10.0), needs=needs),
        Group(method, datasets=CLASSES, epsilons=(2.0,), needs=needs),
    )


BOUNDS = Experiment(
    name="stated-bounds",
    title="The central tables with bounds that a curator could state beforehand",
    paper="ours",
    datasets=(*NUMBERS, *CLASSES),
    groups=tuple(group for method in METHODS for group in _groups(method)),
    epsilons=(1.0, 2.0, 10.0),
    repeats=3,
    settings=(OWN, STATED),
    split="90 % train, 10 % test; the same split and seed for both kinds of bounds",
    metric="mse",
    compute="hedgerow_experiments.stated.compute:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    keep="all",
    seeds="repeat",
    bundle=("dataset", "repeat"),
    page="hedgerow_experiments.stated.page:pages",
    notes="The sets are those of DiPriMe's tables 1 and 2, of its comparison with DP-EBM, and of PrivateAnova's table.",
)

EXPERIMENTS = (BOUNDS,)
