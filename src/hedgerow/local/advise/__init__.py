"""What private reports can be expected to add, from public records alone."""

from hedgerow.local.advise.facts import PublicFacts, measure_public
from hedgerow.local.advise.forecast import SETTINGS, Advice, Forecast, advise, advise_from
from hedgerow.local.advise.learning import CurvePoints, LearningCurve

__all__ = [
    "SETTINGS",
    "Advice",
    "CurvePoints",
    "Forecast",
    "LearningCurve",
    "PublicFacts",
    "advise",
    "advise_from",
    "measure_public",
]
