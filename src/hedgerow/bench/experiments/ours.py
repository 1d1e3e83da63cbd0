"""Our own: PrivateAnova, what private reports add to public models, and the whole library on every data set."""

from __future__ import annotations

from hedgerow.bench.experiment import Experiment, Group

__all__ = ["EXPERIMENTS"]

EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
_NUMBERS = ("DIA", "ABA", "CCP", "PAR", "WHI", "CAL", "APP", "GAS", "MET")
_CLASSES = ("BAN", "ROB", "CRE")
_PRIVATE = ("PrivateAnova", "DP-EBM", "additive", "pure", "replace", "DiPriMe")


def _anova(name: str) -> tuple[Group, ...]:
    needs = "interpret.privacy" if name == "DP-EBM" else ""
    return (
        Group(name, settings=("regression",), datasets=_NUMBERS, epsilons=(1.0, 10.0), needs=needs),
        Group(name, settings=("classification",), datasets=_CLASSES, epsilons=(2.0,), needs=needs),
    )


ANOVA = Experiment(
    name="anova",
    title="PrivateAnova beside DP-EBM, DiPriMe and models without privacy",
    paper="ours",
    datasets=(*_NUMBERS, *_CLASSES),
    groups=(
        *(g for m in _PRIVATE for g in _anova(m)),
        *(
            Group(m, settings=(kind,), datasets=codes, epsilons=())
            for m in ("mean", "random forest", "no noise")
            for kind, codes in (("regression", _NUMBERS), ("classification", _CLASSES))
        ),
    ),
    epsilons=(1.0, 2.0, 10.0),
    repeats=5,
    settings=("regression", "classification"),
    split="90 % train, 10 % test; bounds of the whole data set are public; regression targets scaled to [0, 1]",
    metric="mse",
    compute="hedgerow.bench.adapters:anova",
    tidy="hedgerow.bench.adapters:anova_tidy",
    choose="none",
    seeds="repeat",
    legacy="hedgerow.bench.adapters:anova_legacy",
    store="anova-cells",
)

FRONTIER = Experiment(
    name="frontier",
    title="What one private report a record adds to the best public model",
    paper="ours",
    datasets=("ABA", "AIR", "AQU", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI", "CAL", "RED->WHI"),
    groups=(Group("assisted", ("public model", "AssistedForest"), epsilons=()),),
    epsilons=(),
    repeats=3,
    split="1:7:2 into public, private and test records; two draws of the noise a split",
    metric="mse",
    compute="hedgerow.bench.adapters:frontier",
    tidy="hedgerow.bench.adapters:frontier_tidy",
    choose="none",
    seeds="repeat",
    legacy="hedgerow.bench.adapters:frontier_legacy",
    store="frontier-cells",
)

EXPERIMENTS = (ANOVA, FRONTIER)
