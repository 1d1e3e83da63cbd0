"""Two rounds for holders who keep some features private: labels and public features first, cells second.

Round 1: :class:`SemiTask` -> :func:`begin` -> :class:`FirstReports`; the curator grows a partition from them.
Round 2: :class:`CellTask` -> :func:`answer` -> :class:`CellReports` -> :class:`SemiAggregate` -> :class:`SemiModel`.
"""

from hedgerow.tasks.partly_public.aggregate import SemiAggregate
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.first import FirstReports
from hedgerow.tasks.partly_public.holder import Secrets, answer, answer_blocks, begin
from hedgerow.tasks.partly_public.model import SemiModel
from hedgerow.tasks.partly_public.second import CellReports
from hedgerow.tasks.partly_public.task import SemiTask

__all__ = [
    "CellReports",
    "CellTask",
    "FirstReports",
    "Secrets",
    "SemiAggregate",
    "SemiModel",
    "SemiTask",
    "answer",
    "answer_blocks",
    "begin",
]
