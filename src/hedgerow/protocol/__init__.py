"""Task -> report -> aggregate -> model: the one way through, whatever engine carries it."""

from hedgerow.protocol.aggregate import Aggregate
from hedgerow.protocol.holder import privatize, privatize_many
from hedgerow.protocol.model import Model
from hedgerow.protocol.report import Report, Reports
from hedgerow.protocol.task import LocalTask

__all__ = ["Aggregate", "LocalTask", "Model", "Report", "Reports", "privatize", "privatize_many"]
