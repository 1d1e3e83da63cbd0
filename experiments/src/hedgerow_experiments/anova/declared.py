"""PrivateAnova beside DP-EBM, DiPriMe and models without privacy."""

from __future__ import annotations

from typing import Any

from hedgerow_experiments.experiment import Experiment, Group

__all__ = [
    "BEFORE",
    "CLASSES",
    "CLEAR",
    "EBM",
    "EXPERIMENTS",
    "FOREST",
    "MADE",
    "NUMBERS",
    "PURE",
    "PURE_VARIANTS",
    "RULES",
    "SETS",
    "SHIPPED",
    "VARIANTS",
]

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
    keep="all",
    seeds="repeat",
    page="hedgerow_experiments.anova.page:pages",
)

CLEAR = ("AIR", "HOU", "CPU", "CON", "friedman 300", "friedman 800")
"""Small and nearly without noise."""
MADE = ("friedman 300", "friedman 800", "steps")
SETS = (
    "AIR", "AQU", "CON", "CPU", "FIS", "HOU", "MUS", "PYR", "DIA", "ABA", "RED", "POR", "DAK", "CRM", "BUI", "PAR",
    "CCP", "WHI", "CBM", *MADE,
)  # fmt: skip
"""All sets of numbers with 12,000 records at most, and made ones."""
SHIPPED = "PrivateAnova"
BEFORE = "before"
EBM = "DP-EBM"
PURE = "pure"
FOREST = "DiPriMe"
VARIANTS: dict[str, dict[str, Any]] = {
    "full .2": {"full": 0.2},
    "full .45": {"full": 0.45},
    "sampling 300": {"sampling": 300.0},
    "clear .33": {"clear": 0.33},
    "clear .7": {"clear": 0.7},
    "hidden .2": {"hidden": 0.2},
    "hidden .5": {"hidden": 0.5},
    "clip at .7": {"few_quantile": 0.7},
    "clip at .9": {"few_quantile": 0.9},
    "clip at .8 for all": {"many_quantile": 0.8},
    "pair weight .5": {"pair_weights": (0.5, 0.5)},
    "pair weight from .3": {"pair_weights": (0.3, 1.0)},
    "stages from 400": {"stages_from": (400.0, 60.0)},
    "stages from 900": {"stages_from": (900.0, 90.0)},
    "pairs from 40 d": {"pairs_from": (900.0, 40.0)},
    "pairs from 90 d": {"pairs_from": (900.0, 90.0)},
    "four stages from 1500": {"many_from": 1500.0},
    "four stages never": {"many_from": float("inf")},
    "shares of the last only": {"averaged": False},
    "no triples": {"triples": False},
}
"""Which numbers differ, by name."""

PURE_VARIANTS: dict[str, dict[str, Any]] = {
    "pure explained .3": {"explained": 0.3},
    "pure explained .8": {"explained": 0.8},
    "pure decay .5": {"decay": 0.5},
    "pure decay 1.5": {"decay": 1.5},
    "pure seen .5": {"seen": 0.5},
    "pure seen 1": {"seen": 1.0},
    "pure mean .03": {"mean": 0.03},
    "pure look .15": {"look": 0.15},
    "pure radius 1": {"radius": 1.0},
    "pure pair weight .5": {"pair_weight": 0.5},
}
"""The same for pure epsilon."""
PURE_EPSILONS = (0.1, 0.5, 1.0, 10.0)

RULES = Experiment(
    name="anova-rules",
    title="PrivateAnova's length, stages and capacity, each set held out in turn",
    paper="ours",
    datasets=SETS,
    groups=(
        Group(SHIPPED),
        Group(BEFORE, needs="hedgerow_before"),
        Group(EBM, needs="interpret.privacy"),
        *(Group(name, epsilons=PURE_EPSILONS) for name in (PURE, FOREST)),
        *(Group(name, epsilons=PURE_EPSILONS, most=1) for name in PURE_VARIANTS),
        *(Group(name, most=2) for name in VARIANTS),
    ),
    epsilons=(1.0, 10.0),
    repeats=5,
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
