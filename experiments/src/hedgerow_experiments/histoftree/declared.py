"""Locally Private Estimation with Public Features: tables 1 to 3 and figure 2."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["BUDGETS", "D", "DATASETS", "EPSILONS", "EXPERIMENTS", "GAMMAS", "SIZES", "TABLES"]

DATASETS = ("ABA", "AQU", "BUI", "DAK", "FIS", "MUS", "POR", "PYR", "RED", "WHI")
EPSILONS = (2.0, 1.0, 4.0)
BUDGETS = (0.5, 1.0, 2.0, 4.0, 8.0, 1024.0)
SIZES = (2000, 5000, 10000, 20000, 50000)
GAMMAS = (0.5, 1.0, 2.0, 4.0)
D = 5
_MASKS = ("aligned", "personal")
_AUTO = tuple(f"auto {c:g}" for c in (0.01, 0.1, 1.0))


def _plain(name: str) -> tuple[str, ...]:
    return name, f"{name} (9)"


TABLES = Experiment(
    name="histoftree",
    title="Tables 1 to 3 of HistOfTree: test error with some features public, aligned and personalised masks",
    paper="HistOfTree",
    datasets=DATASETS,
    groups=(
        Group("DT", settings=("both",), epsilons=()),
        Group("mean", settings=("both",), epsilons=()),
        Group("HistOfTree-ME", _plain("HistOfTree-ME"), settings=_MASKS),
        Group("HistOfTree-CART", _plain("HistOfTree-CART"), settings=_MASKS),
        Group("AdHistOfTree-ME", _plain("AdHistOfTree-ME"), settings=("personal",)),
        Group("AdHistOfTree-CART", _plain("AdHistOfTree-CART"), settings=("personal",)),
        Group("ParDT", settings=_MASKS),
        Group("KRR", settings=_MASKS),
        Group("Hist", settings=("both",)),
        Group("LabelDT", settings=("both",)),
    ),
    epsilons=EPSILONS,
    repeats=50,
    settings=(*_MASKS, "both"),
    split="80:20; features scaled by, and label bounds from, the whole data set, as in the paper",
    compute="hedgerow_experiments.histoftree.compute:compute",
    tidy="hedgerow_experiments.histoftree.compute:tidy",
    seeds="repeat",
    bundle=("dataset", "repeat"),
    page="hedgerow_experiments.histoftree.page:pages",
    notes="Methods ending in (9) are the paper's plain estimator on the same reports. Settings: aligned and personal "
    "masks; 'both' is what does not depend on the mask.",
)

FIGURE_2 = Experiment(
    name="histoftree-figure2",
    title="Figure 2 of HistOfTree: simulation on five uniform features",
    paper="HistOfTree",
    datasets=("simulated",),
    groups=(
        *(Group(f"s={s}", _plain(f"s={s}"), settings=("a",), epsilons=BUDGETS) for s in range(D + 1)),
        *(Group(f"n={n} s={s}", _plain(f"s={s}"), settings=("b",)) for n in SIZES for s in range(1, D)),
        Group("s=2", _plain("s=2"), settings=("c",)),
        *(Group(f"gamma={g:g} s={s}", _plain(f"s={s}"), settings=("d",)) for g in GAMMAS for s in range(D)),
        *(Group(f"gamma={g:g} {a}", _plain(a), settings=("d",)) for g in GAMMAS for a in _AUTO),
    ),
    epsilons=(4.0,),
    repeats=50,
    settings=("a", "b", "c", "d"),
    split="n training and 4,000 test records; test labels are without noise",
    metric="excess mse",
    compute="hedgerow_experiments.histoftree.figures:compute",
    tidy="hedgerow_experiments.histoftree.figures:tidy",
    seeds="repeat",
    bundle=("repeat", "setting", "group"),
)

EXPERIMENTS = (TABLES, FIGURE_2)
