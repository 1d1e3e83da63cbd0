"""Hedgerow: regression and classification trees learnt under differential privacy.

Names are loaded when they are first used, so that ``import hedgerow`` costs little and a holder's device never
loads what only a curator needs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "hedgerow.bounds": ("CategoricalFeature", "FeatureSpace", "LabelGrid", "NumericFeature"),
    "hedgerow.central": (
        "DPDecisionForestClassifier",
        "DPExtraTreesClassifier",
        "DPExtraTreesRegressor",
        "DPRandomForestClassifier",
        "DPRandomForestRegressor",
        "DiPriMeForestClassifier",
        "DiPriMeForestRegressor",
        "ForestModel",
        "MedianForestClassifier",
        "MedianForestRegressor",
    ),
    "hedgerow.central.anova": ("AnovaModel", "PrivateAnovaClassifier", "PrivateAnovaRegressor"),
    "hedgerow.errors": ("BoundsError", "BudgetError", "FormatError", "HedgerowError"),
    "hedgerow.guarantee": ("Guarantee",),
    "hedgerow.label": (
        "AutoMechanism",
        "GaussianMechanism",
        "LabelPrior",
        "LabelPrivateRegressor",
        "LaplaceMechanism",
        "OptimalRandomizer",
        "RPWithPrior",
        "RROnBins",
        "StaircaseMechanism",
        "UnbiasedRandomizer",
    ),
    "hedgerow.ledger": ("Ledger",),
    "hedgerow.local": (
        "AssistedForestClassifier",
        "AssistedForestRegressor",
        "DeconvolutionRegressor",
        "LPDTClassifier",
        "LPDTRegressor",
        "PrivateHistogramRegressor",
        "PublicModel",
        "ValidationReport",
        "validate_privately",
    ),
    "hedgerow.partition": ("Partition",),
    "hedgerow.portable": ("PortableModel",),
    "hedgerow.tasks": (
        "Aggregate",
        "LocalTask",
        "Model",
        "Report",
        "Reports",
        "privatize",
        "privatize_many",
    ),
    "hedgerow.tasks.labels.task": ("LabelReports", "LabelTask"),
    "hedgerow.randomness": ("Randomness", "SecureRandomness", "SeededRandomness"),
    "hedgerow.semi": (
        "HistOfTreeRegressor",
        "KRRRegressor",
        "LabelTreeRegressor",
        "PartialTreeRegressor",
    ),
    "hedgerow.tasks.tree.simulate": ("simulate_aggregate",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [*sorted(_HOME_OF), "__version__"]

if TYPE_CHECKING:
    from hedgerow.bounds import CategoricalFeature, FeatureSpace, LabelGrid, NumericFeature
    from hedgerow.central import (
        DiPriMeForestClassifier,
        DiPriMeForestRegressor,
        DPDecisionForestClassifier,
        DPExtraTreesClassifier,
        DPExtraTreesRegressor,
        DPRandomForestClassifier,
        DPRandomForestRegressor,
        ForestModel,
        MedianForestClassifier,
        MedianForestRegressor,
    )
    from hedgerow.central.anova import AnovaModel, PrivateAnovaClassifier, PrivateAnovaRegressor
    from hedgerow.errors import BoundsError, BudgetError, FormatError, HedgerowError
    from hedgerow.guarantee import Guarantee
    from hedgerow.label import (
        AutoMechanism,
        GaussianMechanism,
        LabelPrior,
        LabelPrivateRegressor,
        LaplaceMechanism,
        OptimalRandomizer,
        RPWithPrior,
        RROnBins,
        StaircaseMechanism,
        UnbiasedRandomizer,
    )
    from hedgerow.ledger import Ledger
    from hedgerow.local import (
        AssistedForestClassifier,
        AssistedForestRegressor,
        DeconvolutionRegressor,
        LPDTClassifier,
        LPDTRegressor,
        PrivateHistogramRegressor,
        PublicModel,
        ValidationReport,
        validate_privately,
    )
    from hedgerow.partition import Partition
    from hedgerow.portable import PortableModel
    from hedgerow.randomness import Randomness, SecureRandomness, SeededRandomness
    from hedgerow.semi import HistOfTreeRegressor, KRRRegressor, LabelTreeRegressor, PartialTreeRegressor
    from hedgerow.tasks import Aggregate, LocalTask, Model, Report, Reports, privatize, privatize_many
    from hedgerow.tasks.labels.task import LabelReports, LabelTask
    from hedgerow.tasks.tree.simulate import simulate_aggregate


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
