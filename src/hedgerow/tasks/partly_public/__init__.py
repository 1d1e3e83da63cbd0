"""Holders who keep some features private. Two rounds: labels and public features first, cells second.

Round 1: :class:`SemiTask` -> reports, of which the curator grows a partition, and :class:`Secrets` that devices keep.
Round 2: :class:`CellTask` -> reports -> totals -> :class:`SemiModel`.

One round, with a public model: :class:`ResidualTask` -> reports -> :class:`CorrectedModel`.
"""

from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.corrected import CorrectedModel
from hedgerow.tasks.partly_public.first import FirstReports
from hedgerow.tasks.partly_public.holder import Secrets
from hedgerow.tasks.partly_public.model import SemiModel
from hedgerow.tasks.partly_public.residual import ResidualTask
from hedgerow.tasks.partly_public.second import CellReports
from hedgerow.tasks.partly_public.task import SemiTask

__all__ = [
    "CellReports",
    "CellTask",
    "CorrectedModel",
    "FirstReports",
    "ResidualTask",
    "Secrets",
    "SemiModel",
    "SemiTask",
]
