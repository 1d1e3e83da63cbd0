"""What private reports, or private labels, add to public models."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["EXPERIMENTS"]

_SPLITS = ("ABA", "AIR", "AQU", "CCP", "CON", "CPU", "FIS", "HOU", "MUS", "RED", "WHI", "CAL")
_SHIFTS = ("RED->WHI", "WHI->RED", "prepaid->credit", "TAX13->TAX")
_LABELLED = ("CAL", "GAS", "MET")
_ASSISTED = ("public model", "AssistedForest")

FRONTIER = Experiment(
    name="frontier",
    title="What one private report a record, or its private label, adds to the best public model",
    paper="ours",
    datasets=tuple(dict.fromkeys((*_SPLITS, *_SHIFTS, *_LABELLED))),
    groups=(
        Group("assisted", _ASSISTED, settings=("",), datasets=_SPLITS, epsilons=()),
        Group("assisted", _ASSISTED, settings=("shift",), datasets=_SHIFTS, epsilons=(), most=3),
        Group("labels", ("public model", "private labels", "no privacy"), settings=("labels",), datasets=_LABELLED,
              epsilons=(), most=3),
    ),
    epsilons=(),
    repeats=5,
    settings=("", "shift", "labels"),
    split="1:7:2 into public, private and test records, two draws of the noise a split; under 'shift' public records "
    "come from elsewhere; for 'labels' 500 public records and all features public",
    metric="mse",
    compute="hedgerow_experiments.adapters:frontier",
    tidy="hedgerow_experiments.adapters:frontier_tidy",
    choose="none",
    seeds="repeat",
    legacy="hedgerow_experiments.adapters:frontier_legacy",
    store="frontier-cells",
)  # fmt: skip

EXPERIMENTS = (FRONTIER,)
