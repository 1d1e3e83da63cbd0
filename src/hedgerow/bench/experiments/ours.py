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
            for m in ("mean", "random forest", "boosting", "no noise")
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
    compute="hedgerow.bench.adapters:frontier",
    tidy="hedgerow.bench.adapters:frontier_tidy",
    choose="none",
    seeds="repeat",
    legacy="hedgerow.bench.adapters:frontier_legacy",
    store="frontier-cells",
)  # fmt: skip

REGRESSION = (
    "ABA", "AIR", "ALG", "APP", "AQU", "BUI", "CAL", "CBM", "CCP", "CON", "CPU", "CRM", "DAK", "DIA", "FIS", "FLI",
    "GAS", "HOU", "MET", "MUS", "NYC", "PAR", "POR", "PYR", "RED", "TAX", "TAX13", "WHI",
)  # fmt: skip
CLASSIFICATION = ("BAN", "CRE", "HAR", "HIG", "ROB")
_BOTH = ("LPDT", "AssistedForest", "DiPriMe", "DP-ERT", "DP-RF", "PrivateAnova", "DP-EBM (interpret)")
_LABELS = ("PHIST", "APHIST", "DECONV", "HistOfTree", "ParDT", "KRR", "LabelPrivate", "LabelPrivate on a public model",
           "LabelDT")  # fmt: skip
_FREE = ("public model", "tree", "random forest", "boosting", "one value for all")


def _library(method: str, *kinds: str, epsilons: tuple[float, ...] | None = None) -> tuple[Group, ...]:
    codes = {"regression": REGRESSION, "classification": CLASSIFICATION}
    needs = "interpret.privacy" if method.startswith("DP-EBM") else ""
    return tuple(Group(method, settings=(k,), datasets=codes[k], needs=needs, epsilons=epsilons) for k in kinds)


LIBRARY = Experiment(
    name="library",
    title="Every estimator of the library on every data set, as it comes out of the box",
    paper="ours",
    datasets=(*REGRESSION, *CLASSIFICATION),
    groups=(
        *(g for m in _BOTH for g in _library(m, "regression", "classification")),
        *(g for m in _LABELS for g in _library(m, "regression")),
        *_library("DP-DF", "classification"),
        *(g for m in _FREE for g in _library(m, "regression", "classification", epsilons=())),
    ),
    epsilons=EPSILONS,
    repeats=1,
    settings=("regression", "classification"),
    split="a sample of at most 20,000 records, 1:7:2 into public, private and test; label bounds and categories as "
    "declared, feature ranges from the public records",
    metric="mse",
    compute="hedgerow.bench.library:compute",
    tidy="hedgerow.bench.library:tidy",
    choose="none",
    bundle=("dataset", "repeat", "group"),
    notes="Nothing is tuned. DECONV has a bandwidth of 0.5, histograms two bins a feature. The trust models differ: a "
    "central method sees all private records, a local one none; compare within a model.",
)

EXPERIMENTS = (ANOVA, FRONTIER, LIBRARY)
