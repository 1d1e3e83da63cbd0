"""The whole library on every data set."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["EXPERIMENTS"]

EPSILONS = (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)
REGRESSION = (
    "ABA", "AIR", "ALG", "APP", "AQU", "BUI", "CAL", "CBM", "CCP", "CON", "CPU", "CRM", "DAK", "DIA", "FIS", "FLI",
    "GAS", "HOU", "MET", "MUS", "NYC", "PAR", "POR", "PYR", "RED", "TAX", "TAX13", "WHI",
)  # fmt: skip
CLASSIFICATION = ("BAN", "CRE", "HAR", "HIG", "ROB")
_BOTH = ("LPDT", "AssistedForest", "SecureSum", "DiPriMe", "DP-ERT", "DP-RF", "PrivateAnova",
         "PrivateAnova on a public model", "DP-EBM (interpret)")  # fmt: skip
_LABELS = ("PHIST", "APHIST", "DECONV", "HistOfTree", "HistOfTree on a public model", "ParDT", "KRR", "LabelPrivate",
           "LabelPrivate on a public model", "LabelDT")  # fmt: skip
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
    compute="hedgerow_experiments.library.compute:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    keep="all",
    bundle=("dataset", "repeat", "group"),
    notes="Nothing is tuned. DECONV has a bandwidth of 0.5, histograms two bins a feature. The trust models differ: a "
    "central method sees all private records, a local one none; compare within a model.",
)

EXPERIMENTS = (LIBRARY,)
