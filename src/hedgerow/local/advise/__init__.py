"""What private reports can be expected to add, from public records alone."""

from hedgerow.local.advise.forecast import SETTINGS, Advice, Forecast, advise
from hedgerow.local.advise.learning import LearningCurve

__all__ = ["SETTINGS", "Advice", "Forecast", "LearningCurve", "advise"]
