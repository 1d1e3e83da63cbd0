"""The whole library on every data set."""

from __future__ import annotations

from hedgerow_experiments.experiment import Experiment, Group

__all__ = ["EXPERIMENTS"]

EPSILONS = (1.0, 4.0)
"""For cost, like the 5,000 records: ten repeats of all methods on all sets are 1.3 hours of one processor."""
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
_TWO_CLASSES = ("BAN", "CRE", "HIG")  # more are refused by DP-EBM
_USES = {
    "LPDT": ("hedgerow.local.lpdt", "hedgerow.local.classifier"), "AssistedForest": ("hedgerow.local.assisted",),
    "SecureSum": ("hedgerow.sums",), "HistOfTree": ("hedgerow.semi", "hedgerow.semi.learn"),
    "LabelPrivate": ("hedgerow.label",), "DiPriMe": ("hedgerow.central",), "PrivateAnova": ("hedgerow.central.anova",),
}  # fmt: skip
"""Where each method is, with what it loads by name; baselines, public models and the ends are among what all reach."""


def _library(method: str, *kinds: str, epsilons: tuple[float, ...] | None = None) -> tuple[Group, ...]:
    ebm = method.startswith("DP-EBM")
    codes = {"regression": REGRESSION, "classification": _TWO_CLASSES if ebm else CLASSIFICATION}
    needs = "interpret.privacy" if ebm else ""
    uses = _USES.get(method.removesuffix(" on a public model"), ("hedgerow.baselines",))
    return tuple(
        Group(method, settings=(k,), datasets=codes[k], needs=needs, epsilons=epsilons, uses=uses) for k in kinds
    )


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
    repeats=10,
    settings=("regression", "classification"),
    split="a sample of at most 5,000 records, 1:7:2 into public, private and test; label bounds and categories as "
    "declared, feature ranges from the public records",
    metric="mse",
    compute="hedgerow_experiments.library.compute:compute",
    tidy="hedgerow_experiments.tidy:by_metric",
    choose="none",
    keep="all",
    bundle=("dataset", "repeat"),  # the public model of a split is fitted once for all that start from it
    notes="Nothing is tuned. DECONV has a bandwidth of 0.5, histograms two bins a feature. The trust models differ: a "
    "central method sees all private records, a local one none; compare within a model. At most 5,000 records of a "
    "set, and two epsilons, were chosen for cost: so that all methods could be run ten times on all sets. With more "
    "records private methods are better beside those without privacy. DP-EBM takes two classes only. Of classes, the "
    "public model alone is a forest. A fit that breaks down is a row 'failed', without a score.",
)

EXPERIMENTS = (LIBRARY,)
