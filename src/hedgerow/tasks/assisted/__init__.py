"""Model-assisted learning: a public model travels to the holders, and they report where it is wrong."""

from hedgerow.tasks.assisted.choose import Choice, choose_randomizer
from hedgerow.tasks.assisted.class_model import AssistedClassModel
from hedgerow.tasks.assisted.class_task import AssistedClassTask
from hedgerow.tasks.assisted.classes import ClassMessage
from hedgerow.tasks.assisted.model import AssistedModel
from hedgerow.tasks.assisted.pilot import PilotMessage, PilotTask
from hedgerow.tasks.assisted.pilot_check import PilotCheck, check_pilot
from hedgerow.tasks.assisted.pilot_totals import PilotTotals
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask

__all__ = [
    "AssistedClassModel",
    "AssistedClassTask",
    "AssistedModel",
    "AssistedTask",
    "Choice",
    "ClassMessage",
    "PilotCheck",
    "PilotMessage",
    "PilotTask",
    "PilotTotals",
    "Residuals",
    "check_pilot",
    "choose_randomizer",
]
