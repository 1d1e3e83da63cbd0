"""Sums that two servers make without seeing a record: the task, its chain of groups, and the model.

Loaded when it is asked for: a device needs the task only.
"""

from __future__ import annotations

from hedgerow.tasks.sums.noisy import NoisySums
from hedgerow.tasks.sums.task import SumsTask

__all__ = ["NoisySums", "SumsTask"]
