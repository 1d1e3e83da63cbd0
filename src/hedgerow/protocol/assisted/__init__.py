"""Model-assisted learning: a public model travels to the holders, and they report where it is wrong."""

from hedgerow.protocol.assisted.aggregate import AssistedAggregate
from hedgerow.protocol.assisted.choose import Choice, choose_randomizer
from hedgerow.protocol.assisted.classes import ClassMessage
from hedgerow.protocol.assisted.holder import assist, assist_many, simulate_assisted
from hedgerow.protocol.assisted.model import AssistedModel
from hedgerow.protocol.assisted.pilot import PilotMessage, PilotTask
from hedgerow.protocol.assisted.pilot_check import PilotCheck, check_pilot
from hedgerow.protocol.assisted.pilot_totals import PilotAggregate, PilotTotals
from hedgerow.protocol.assisted.residuals import Residuals
from hedgerow.protocol.assisted.task import AssistedTask

__all__ = [
    "AssistedAggregate",
    "AssistedModel",
    "AssistedTask",
    "Choice",
    "ClassMessage",
    "PilotAggregate",
    "PilotCheck",
    "PilotMessage",
    "PilotTask",
    "PilotTotals",
    "Residuals",
    "assist",
    "assist_many",
    "check_pilot",
    "choose_randomizer",
    "simulate_assisted",
]
