"""The message of a task with classes: a class is drawn first, and what follows is about that class."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.mechanisms.audits import Audit
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import MOST_EVENTS, Detector, join, within
from hedgerow.tasks.assisted.message import AssistedMessage
from hedgerow.tasks.message import CODES, Message
from hedgerow.types import ByteRows, IntArray

__all__ = ["AUDITS", "MOST_CLASSES", "ClassMessage"]

MOST_CLASSES = 255
"""One byte names a class."""


@dataclass(frozen=True)
class ClassMessage(LocalMechanism, Message):
    r"""Draw class c uniformly, send ``(c, message_c(record))``, padded with zeros to the longest.

    Proof that the whole message is epsilon-DP for (x, y) jointly: c is drawn without looking at the record, and given
    c the rest is the epsilon-DP message of that class's task; so ``P(c, o | x, y) = P_c(o | x, y)/C``, and the ratio
    for two records is at most ``e**epsilon`` for every (c, o).

    As a mechanism its inputs are all combinations of the inputs of every message, the last changing fastest: whatever
    a record is in the tasks of all classes.

    Examples
    --------
    >>> message = ClassMessage((AssistedMessage(1.0, (2,), "subset", 1), AssistedMessage(1.0, (1,), "levels", 3)))
    >>> message.n_inputs, message.epsilon
    (12, 1.0)
    >>> sum(message.law(0).weights) == message.law(0).total
    True
    """

    messages: tuple[AssistedMessage, ...]
    name = "assisted class message"

    def __post_init__(self) -> None:
        if not 1 <= len(self.messages) <= MOST_CLASSES or len({m.epsilon for m in self.messages}) != 1:
            raise HedgerowError(f"'messages' must be of 1 .. {MOST_CLASSES} classes, all with the same epsilon.")

    @property
    def epsilon(self) -> float:  # type: ignore[override]
        """The budget of the whole message."""
        return self.messages[0].epsilon

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Inputs of all messages, multiplied."""
        return math.prod(m.n_inputs for m in self.messages)

    def _own(self, index: npt.NDArray[np.int64]) -> list[npt.NDArray[np.int64]]:
        """Return the input of each message."""
        own = []
        for message in reversed(self.messages):
            index, part = np.divmod(index, message.n_inputs)
            own.append(part)
        return own[::-1]

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | int | None = None) -> ByteRows:
        """Return the messages of holders given as inputs of the mechanism (for audits)."""
        own = self._own(self._check(values))
        source = as_randomness(randomness)
        return self.draw(len(own[0]), source, lambda c, rows: self.messages[c].randomize(own[c][rows], source))

    def draw(self, n: int, source: Randomness, answer: Callable[[int, IntArray], ByteRows]) -> ByteRows:
        """Draw a class for each of ``n`` holders without looking at them; ``answer(c, rows)`` makes its messages."""
        drawn = source.integers(len(self.messages), n)
        rows = np.zeros((n, self.width), dtype=np.uint8)
        rows[:, 0] = drawn
        for c, message in enumerate(self.messages):
            mine = np.flatnonzero(drawn == c)
            if len(mine):
                rows[mine, 1 : 1 + message.width] = answer(c, mine)
        return rows

    @property
    def code(self) -> int:
        """Code of this kind of message in a report."""
        return CODES["assisted classes"]

    @property
    def width(self) -> int:
        """The class, and the longest message."""
        return 1 + max(m.width for m in self.messages)

    @property
    def n_sums(self) -> int:
        """The totals of every class, one after the other."""
        return sum(m.n_sums for m in self.messages)

    @property
    def largest(self) -> int:
        """Return the most that one message adds to a total."""
        return max(m.largest for m in self.messages)

    def _of(self, c: int, rows: ByteRows) -> ByteRows:
        """Return the messages about a class."""
        return rows[rows[:, 0] == c, 1 : 1 + self.messages[c].width]

    def validate(self, rows: ByteRows) -> None:
        """Refuse bytes that no holder could have sent."""
        if rows.size and (rows[:, 0] >= len(self.messages)).any():
            raise FormatError("a report names a class beyond the last; it was not made for this task.")
        for c, message in enumerate(self.messages):
            if rows[rows[:, 0] == c, 1 + message.width :].any():
                raise FormatError("a report says more than its class asks for; it was not made for this task.")
            message.validate(self._of(c, rows))

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the totals of messages."""
        return np.concatenate([message.sums(self._of(c, rows)) for c, message in enumerate(self.messages)])

    def split(self, sums: IntArray) -> list[IntArray]:
        """Return the totals of each class."""
        return np.split(sums, np.cumsum([m.n_sums for m in self.messages])[:-1])

    def alarms(self) -> Detector:
        """Watch which classes are drawn, each with probability 1/C, and what is said of each as far as room is."""
        C = len(self.messages)
        names = [f"class {c}" for c in range(C)]
        parts = [within(names, 1 / C, 1 / C, lambda rows: np.bincount(rows[:, 0], minlength=C))]
        for c, message in enumerate(self.messages):
            own = message.alarms()
            if sum(len(part.events) for part in parts) + len(own.events) > MOST_EVENTS:
                break
            parts.append(self._class_alarms(c, own))
        return join(parts)

    def _class_alarms(self, c: int, own: Detector) -> Detector:
        low, high = own.bounds
        names = [f"class {c}, {event.name}" for event in own.events]
        C = len(self.messages)
        return within(names, low / C, high / C, lambda rows: own.count(self._of(c, rows)))

    def law(self, value: int) -> Law:
        """Return the exact law of (class, (tree, report))."""
        own = [int(part[0]) for part in self._own(np.array([value]))]
        laws = [m.law(v) for m, v in zip(self.messages, own, strict=True)]
        common = math.lcm(*(law.total for law in laws))
        outputs = [zip(itertools.repeat(c), law.outputs) for c, law in enumerate(laws)]
        weights = [w * (common // law.total) for law in laws for w in law.weights]
        return Law(tuple(itertools.chain(*outputs)), tuple(weights))

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return (class, (tree, report)) of each message."""
        out: list[Hashable] = [None] * len(drawn)
        for c, message in enumerate(self.messages):
            rows = np.flatnonzero(drawn[:, 0] == c)
            sent = message.outcomes(drawn[rows, 1 : 1 + message.width])
            for row, outcome in zip(rows.tolist(), sent, strict=True):
                out[row] = c, outcome
        return out

    def words(self) -> str:
        """Return what is drawn first."""
        return (
            f"one of {len(self.messages)} classes is drawn without looking at the record; the message is for its task"
        )


AUDITS = (
    Audit(
        "assisted class message",
        lambda epsilon: ClassMessage(
            (AssistedMessage(epsilon, (2,), "subset", 2), AssistedMessage(epsilon, (1, 2), "levels", 3))
        ),
    ),
)
