"""Hedgerow: regression and classification trees learnt under differential privacy.

Names are loaded when they are first used, so that ``import hedgerow`` costs little and a holder's device never
loads what only a curator needs. ``dir(hedgerow)`` lists what users need; the papers' peers are in
:mod:`hedgerow.baselines`, and further names can be imported from here as well as from their modules.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0"

_HOMES = {
    "hedgerow.central": ("DiPriMeForestClassifier", "DiPriMeForestRegressor"),
    "hedgerow.central.anova": ("PrivateAnovaClassifier", "PrivateAnovaRegressor"),
    "hedgerow.errors": ("BoundsError", "BudgetError", "FormatError", "HedgerowError"),
    "hedgerow.guarantee": ("Guarantee",),
    "hedgerow.label": (
        "AutoMechanism",
        "GaussianMechanism",
        "LabelPrivateClassifier",
        "LabelPrivateRegressor",
        "LaplaceMechanism",
        "OptimalRandomizer",
        "RPWithPrior",
        "RROnBins",
        "StaircaseMechanism",
        "UnbiasedRandomizer",
    ),
    "hedgerow.ledger": ("Ledger",),
    "hedgerow.local": ("AssistedForestClassifier", "AssistedForestRegressor", "LPDTClassifier", "LPDTRegressor"),
    "hedgerow.public": ("PublicModel",),
    "hedgerow.schema": ("Schema",),
    "hedgerow.search": ("PrivateSearchCV",),
    "hedgerow.semi": ("HistOfTreeClassifier", "HistOfTreeRegressor"),
    "hedgerow.sums": ("SecureSumClassifier", "SecureSumRegressor"),
    "hedgerow.tasks": ("Aggregate", "LocalTask", "Model", "Report", "Reports", "privatize", "privatize_many"),
    "hedgerow.tasks.tree.simulate": ("simulate_aggregate",),
}
_FURTHER = {
    "hedgerow.errors": ("HedgerowWarning", "RepeatedFitWarning"),
    "hedgerow.baselines": (
        "DPDecisionForestClassifier",
        "DPExtraTreesClassifier",
        "DPExtraTreesRegressor",
        "DPRandomForestClassifier",
        "DPRandomForestRegressor",
        "DeconvolutionRegressor",
        "KRRRegressor",
        "LabelTreeRegressor",
        "MedianForestClassifier",
        "MedianForestRegressor",
        "PartialTreeRegressor",
        "PrivateHistogramRegressor",
    ),
    "hedgerow.central": ("ForestModel",),
    "hedgerow.central.anova": ("AnovaModel",),
    "hedgerow.features": ("CategoricalFeature", "NumericFeature"),
    "hedgerow.grid": ("LabelGrid",),
    "hedgerow.label": ("LabelPrior",),
    "hedgerow.local": ("ValidationReport", "validate_privately"),
    "hedgerow.partition": ("Partition",),
    "hedgerow.portable": ("PortableModel",),
    "hedgerow.randomness": ("Randomness", "SecureRandomness", "SeededRandomness"),
    "hedgerow.schema": (
        "CategoryColumn",
        "ClassColumn",
        "Column",
        "NumberColumn",
        "WholeNumberColumn",
        "YesNoColumn",
    ),
    "hedgerow.space": ("FeatureSpace",),
    "hedgerow.tasks.labels.task": ("LabelReports", "LabelTask"),
}
_HOME_OF = {name: home for homes in (_FURTHER, _HOMES) for home, names in homes.items() for name in names}

__all__ = [*sorted(name for names in _HOMES.values() for name in names), "__version__"]

if TYPE_CHECKING:
    from hedgerow.baselines import *
    from hedgerow.central import *
    from hedgerow.central.anova import *
    from hedgerow.errors import *
    from hedgerow.features import *
    from hedgerow.grid import *
    from hedgerow.guarantee import *
    from hedgerow.label import *
    from hedgerow.ledger import *
    from hedgerow.local import *
    from hedgerow.partition import *
    from hedgerow.portable import *
    from hedgerow.public import *
    from hedgerow.randomness import *
    from hedgerow.schema import *
    from hedgerow.search import *
    from hedgerow.semi import *
    from hedgerow.space import *
    from hedgerow.tasks import *
    from hedgerow.tasks.labels.task import *
    from hedgerow.tasks.tree.simulate import *


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        value = getattr(importlib.import_module(_HOME_OF[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
