"""The task: is your bill above the public tariff? One bit, by randomised response."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError
from hedgerow.forms import Budget
from hedgerow.grid import check_label_bounds, label_numbers
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector, named
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import for_each
from hedgerow.tasks.totals import Totals
from hedgerow.types import ByteRows, FloatArray, IntArray
from hedgerow.values import RULE


@dataclass(frozen=True)
class ShareMessage(Message):
    """One byte, 0 or 1. It is epsilon-DP for the record: randomised response is, for the bit made of it."""

    epsilon: float
    width = 1
    n_sums = 2
    largest = 1

    @property
    def code(self) -> int:
        """Its number in the one table of codes."""
        return CODES["share"]

    @cached_property
    def response(self) -> KaryResponse:
        """What randomises the bit."""
        return KaryResponse(self.epsilon, 2)

    def validate(self, rows: ByteRows) -> None:
        """Refuse bytes that no holder could have sent."""
        if rows.size and rows.max() > 1:
            raise FormatError("a report says neither yes nor no; it was not made for this task.")

    def sums(self, rows: ByteRows) -> IntArray:
        """Return how many said no and how many yes."""
        return np.bincount(rows[:, 0], minlength=2).astype(np.int64)


@dataclass(frozen=True, eq=False)
class ShareTask(Task, what="share task", format="example/share-task", version=1):
    """A question to holders of records: whether the label is above ``fixed + rate * x``, x being the first feature.

    The fields are the JSON: :mod:`hedgerow.content` writes and reads them, strictly.
    """

    kind = "share"
    in_words = "What share of people pay more than a public tariff"

    epsilon: Budget
    label_bounds: tuple[float, float]
    space: FeatureSpace
    fixed: float
    rate: float
    missing: float
    target: str = "y"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "label_bounds", check_label_bounds(self.label_bounds))
        low, high = self.label_bounds
        if not low <= self.missing <= high:
            raise FormatError(f"'missing' must be within {low:g} .. {high:g}. Got {self.missing!r} instead.")
        _ = self.encoding.response  # refuses what cannot be reported now rather than on the devices

    @cached_property
    def encoding(self) -> ShareMessage:
        """The message."""
        return ShareMessage(self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        return Guarantee(epsilon=self.epsilon, protects="record", trust="local", neighbours="replace", notes=(RULE,))

    def question(self) -> Question:
        """Return what is asked."""
        return Question(self.space.columns, LabelField(self.target, self.label_bounds, self.missing))

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one: as a schema says."""
        return replace(self, missing=missing)

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return values as numbers by the public rule; missing ones as the task says."""
        return label_numbers(y, self.label_bounds, self.missing, name=name, n=n)

    def above(self, Z: Any, y: Any) -> tuple[IntArray]:
        """Return 1 for labels above the tariff, else 0."""
        return ((np.asarray(y) > self.fixed + self.rate * np.asarray(Z)[:, 0]).astype(np.int64),)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise whether each label is above the tariff; what fails for one record counts as the fixed record."""
        (bits,) = for_each(self, self.above, Z, y)
        return Drawn(self.encoding.response.randomize(bits, source).astype(np.uint8)[:, None])

    def model(self, totals: Totals) -> Any:
        """Return the share that the totals estimate."""
        from toy_kind.model import ShareModel

        return ShareModel(self, totals.n_reports, int(totals.sums[1]), totals.simulation)

    def odds(self) -> list[str]:
        """Return what is done to the bit."""
        return [self.encoding.response.odds("answers, yes and no")]

    def alarms(self) -> Detector:
        """Watch how often each answer is given."""
        response = self.encoding.response
        return named(["no", "yes"], float(response.p), float(response.q), self.encoding.sums)
