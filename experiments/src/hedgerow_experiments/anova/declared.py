"""PrivateAnova beside DP-EBM, DiPriMe and models without privacy."""

from __future__ import annotations

from hedgerow_experiments.anova.sets import SETS
from hedgerow_experiments.anova.variants import BEFORE, SHIPPED, VARIANTS
from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["CLASSES", "EXPERIMENTS", "NUMBERS", "RULES"]

NUMBERS = ("DIA", "ABA", "CCP", "PAR", "WHI", "CAL", "APP", "GAS", "MET")
CLASSES = ("BAN", "ROB", "CRE")
_PRIVATE = ("PrivateAnova", "DP-EBM", "additive", "pure", "replace", "DiPriMe")


def _anova(name: str) -> tuple[Group, ...]:
    needs = "interpret.privacy" if name == "DP-EBM" else ""
    return (
        Group(name, settings=("regression",), datasets=NUMBERS, epsilons=(1.0, 10.0), needs=needs),
        Group(name, settings=("classification",), datasets=CLASSES, epsilons=(2.0,), needs=needs),
    )


ANOVA = Experiment(
    name="anova",
    title="PrivateAnova beside DP-EBM, DiPriMe and models without privacy",
    paper="ours",
    datasets=(*NUMBERS, *CLASSES),
    groups=(
        *(g for m in _PRIVATE for g in _anova(m)),
        *(
            Group(m, settings=(kind,), datasets=codes, epsilons=())
            for m in ("mean", "random forest", "boosting", "no noise")
            for kind, codes in (("regression", NUMBERS), ("classification", CLASSES))
        ),
    ),
    epsilons=(1.0, 2.0, 10.0),
    repeats=5,
    settings=("regression", "classification"),
    split="90 % train, 10 % test; bounds of the whole data set are public; regression targets scaled to [0, 1]",
    metric="mse",
    compute="hedgerow_experiments.anova.compute:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    seeds="repeat",
    page="hedgerow_experiments.anova.page:pages",
)

RULES = Experiment(
    name="anova-rules",
    title="PrivateAnova's length, stages and capacity, each set held out in turn",
    paper="ours",
    datasets=SETS,
    groups=(Group(SHIPPED), Group(BEFORE, needs="hedgerow_before"), *(Group(name, most=1) for name in VARIANTS)),
    epsilons=(1.0, 10.0),
    repeats=3,
    split="80 % train, 20 % test of 5,000 records at most; bounds of the whole data set are public",
    metric="mse",
    compute="hedgerow_experiments.anova.variants:compute",
    choose="none",
    keep="all",
    seeds="repeat",
    page="hedgerow_experiments.anova.rules_page:pages",
    notes="A quick run: --repeats 1 --datasets AIR CON --methods PrivateAnova. Rows of 'before' are of commit 4339863.",
)

EXPERIMENTS = (ANOVA, RULES)
