"""Two rounds for holders who keep some features private: labels and public features first, cells second.

Round 1: :class:`SemiTask` -> :func:`begin` -> :class:`FirstReports`; the curator grows a partition from them.
Round 2: :class:`CellTask` -> :func:`answer` -> :class:`CellReports` -> :class:`SemiAggregate` -> :class:`SemiModel`.
"""

from hedgerow.protocol.semi.aggregate import SemiAggregate
from hedgerow.protocol.semi.cells import CellTask
from hedgerow.protocol.semi.first import FirstReports
from hedgerow.protocol.semi.holder import Secrets, answer, answer_blocks, begin
from hedgerow.protocol.semi.model import SemiModel
from hedgerow.protocol.semi.second import CellReports
from hedgerow.protocol.semi.task import SemiTask

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
