"""One task as the service holds it in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from hedgerow.service.kinds import Kind
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task
from hedgerow.tasks.influence import Forgery

__all__ = ["Collection", "Damaged"]


@dataclass(frozen=True)
class Damaged:
    """A task that cannot be read from the database, and why; the others go on."""

    number: int
    id: str
    reason: str


@dataclass(frozen=True)
class Collection:
    """A published task; immutable but for being closed, which the database knows.

    Attributes
    ----------
    number : int
        The task's number in the database.
    first : int or None
        Number of the first round, for the second of two.
    simulation : bool
        Whether reports with seeded noise are taken (demonstrations).
    text : bytes
        The announcement as it is served, byte for byte.
    groups, group_key : int, bytes
        How many groups sums are kept by (0: one sum of all), and the key that deals reports into them.
    """

    number: int
    announcement: Announcement
    text: bytes
    first: int | None
    simulation: bool
    created: int
    groups: int = 0
    group_key: bytes = field(default=b"", repr=False)

    @classmethod
    def from_row(cls, row: Any) -> Collection:
        """Read a row of the table ``tasks``."""
        notice = Announcement.from_json(row.announcement)
        text = row.announcement.encode()
        dealt = (row.groups, row.group_key or b"")
        return cls(row.number, notice, text, row.first, bool(row.simulation), row.created, *dealt)

    @cached_property
    def id(self) -> str:
        """The task's id."""
        return self.announcement.id

    @property
    def task(self) -> Task:
        """The task itself."""
        return cast("Task", self.announcement.task)

    @cached_property
    def kind(self) -> Kind:
        """How the service treats it."""
        return Kind(self.task, self.groups, self.group_key)

    @cached_property
    def detector(self) -> Detector:
        """What looks for forgeries."""
        return self.task.alarms()

    @cached_property
    def forgery(self) -> Forgery | None:
        """What one forged report can do."""
        return self.task.influence()

    def __hash__(self) -> int:
        return hash(self.number)
