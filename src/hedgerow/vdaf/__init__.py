"""Sums of measurements that no server sees: Prio3MultihotCountVec of draft-irtf-cfrg-vdaf, byte for byte.

The modules follow the draft: :mod:`~hedgerow.vdaf.field` (6.1), :mod:`~hedgerow.vdaf.xof` (6.2),
:mod:`~hedgerow.vdaf.flp` (7.3), :mod:`~hedgerow.vdaf.circuit` (7.3.2, 7.4.5), :mod:`~hedgerow.vdaf.derive` (7.2.6) and
:mod:`~hedgerow.vdaf.prio3` (7.2). They know nothing of privacy budgets, tasks or servers.
"""

from __future__ import annotations

from hedgerow.vdaf.circuit import MultihotCountVec
from hedgerow.vdaf.prio3 import NONCE_SIZE, VERIFY_KEY_SIZE, Prio3, Report, Verifying

__all__ = ["NONCE_SIZE", "VERIFY_KEY_SIZE", "MultihotCountVec", "Prio3", "Report", "Verifying"]
