"""Task -> report -> aggregate -> model: the one way through, whatever engine carries it."""

from hedgerow.tasks.holder import privatize, privatize_many
from hedgerow.tasks.models import Model
from hedgerow.tasks.reports import Report, Reports
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["Aggregate", "LocalTask", "Model", "Report", "Reports", "privatize", "privatize_many"]
