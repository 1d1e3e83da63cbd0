"""The one message of a holder to several assisted tasks, one a class: which of them it answers is drawn first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.assisted.message import AssistedMessage
from hedgerow.types import ByteRows

__all__ = ["AUDITS", "ClassMessage"]


@dataclass(frozen=True)
class ClassMessage(LocalMechanism):
    r"""Draw class c uniformly, send ``(c, message_c(record))``.

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
        if not self.messages or len({m.epsilon for m in self.messages}) != 1:
            raise HedgerowError("'messages' must be of one or more classes, all with the same epsilon.")

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
        """Return messages as rows of bytes: the class, then the message to its task, padded to the longest."""
        index, source = self._check(values), as_randomness(randomness)
        drawn = source.integers(len(self.messages), len(index))
        rows = np.zeros((len(index), 1 + max(m.width for m in self.messages)), dtype=np.uint8)
        rows[:, 0] = drawn
        for c, (message, own) in enumerate(zip(self.messages, self._own(index), strict=True)):
            mine = np.flatnonzero(drawn == c)
            rows[mine, 1 : 1 + message.width] = message.randomize(own[mine], source)
        return rows

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
