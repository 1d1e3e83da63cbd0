"""The label task: holders randomise one label each, the curator joins them to features that are public.

The holder's side needs NumPy and the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms import bins, gaussian, interval, staircase, unbiased  # noqa: F401 (kinds of level mechanisms)
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.labels.alarms import code_alarms
from hedgerow.tasks.labels.reports import LabelMessage, LabelReports, record_number
from hedgerow.tasks.picture import Panel, values
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import IN_RECORD, one
from hedgerow.tasks.words import plain
from hedgerow.types import ByteRows, FloatArray, IntArray, RealArray
from hedgerow.values import RULE, field

if TYPE_CHECKING:
    from hedgerow.tasks.totals import KeptRows

__all__ = ["LabelReports", "LabelTask"]

_FARTHEST = 1 << 31  # codes are 32 bits in a report; what they stand for is bounded by what grid.py counts on

NOTES = (
    "the features are public: nothing about them is protected",
    "one randomised label a person; every further one spends epsilon again",
    RULE,
)


@dataclass(frozen=True)
class LabelTask(Task, what="label task", format="hedgerow/label-task", version=2):
    """A question to holders of labels: send yours, rounded to a grid and randomised.

    Frozen; equal content means equal :attr:`id`. Label mechanisms make one with ``.task``.

    Parameters
    ----------
    grid : LabelGrid
        Public label bounds and grid.
    mechanism : LevelMechanism
        What the holder does to the level; its claim was checked when it was made or read.
    target, title : str
        What the label is called, and what the task is for.

    Examples
    --------
    >>> from hedgerow.mechanisms.level import LaplaceNoise
    >>> task = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16))
    >>> LabelTask.from_json(task.to_json()) == task
    True
    >>> reports = task.privatize([0, 1], [12.5, 70.0], randomness=1)
    >>> len(reports.to_bytes()), LabelReports.from_bytes(task, reports.to_bytes()).dataset()[0].tolist()
    (96, [0, 1])
    """

    kind = "label"
    in_words = "Private labels of public records"
    makes = "data"

    grid: LabelGrid
    mechanism: LevelMechanism
    target: str = "y"
    title: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, LevelMechanism) or self.mechanism.n_steps != self.grid.n_steps:
            raise HedgerowError(f"'mechanism' must be on a grid of {self.grid.n_steps} steps. Got {self.mechanism!r}.")
        low, high = self.mechanism.code_range
        values = getattr(self.mechanism, "values", getattr(self.mechanism, "outputs", ()))
        if not -_FARTHEST <= low <= high < _FARTHEST or max(map(abs, values), default=0) > _FARTHEST:
            raise HedgerowError("'mechanism' must send codes, and values in steps, that fit a report: below 2**31.")

    @property
    def label_bounds(self) -> tuple[float, float]:
        """Public label bounds."""
        return self.grid.low, self.grid.high

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        return replace(self.mechanism.guarantee, notes=NOTES)

    def codes(self, y: object, randomness: Randomness | int | None = None) -> IntArray:
        """Return the outputs for labels: clipped, rounded to the grid, then randomised."""
        source = as_randomness(randomness)
        return cast("IntArray", self.mechanism.randomize(self.grid.levels(self.grid.labels(y), source), source))

    def labels(self, codes: npt.ArrayLike) -> FloatArray:
        """Return the labels that outputs stand for."""
        return self.grid.values(self.mechanism.positions(codes))

    def randomize(self, y: object, randomness: Randomness | int | None = None) -> FloatArray:
        """Return noisy labels."""
        return self.labels(self.codes(y, randomness))

    def law(self, level: int) -> Law:
        """Return the exact law of the output given a level of the grid."""
        return self.mechanism.law(level)

    @property
    def encoding(self) -> LabelMessage:
        """The message."""
        return LabelMessage(*self.mechanism.code_range)

    def encode(self, X: Any, y: Any) -> tuple[IntArray, RealArray]:
        """Return the numbers of records and their labels.

        A number is public and sent in clear, so a wrong one is an error; a label never is.
        """
        numbers = np.asarray(X)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (numbers.size and numbers.min() < 0):
            raise HedgerowError("'records' must be a 1-d array of record numbers >= 0.")
        return numbers.astype(np.int64), self.grid.labels(y, n=numbers.size)

    def encode_record(self, record: Any, label: Any = IN_RECORD) -> tuple[IntArray, RealArray]:
        """Return the public number that a record has under ``"record"``, and its label."""
        label = field(record, self.target) if label is IN_RECORD else label
        return np.array([record_number(record)]), self.grid.labels(one(label))

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the labels' levels; the numbers go in clear."""
        return Drawn(self.encoding.write(Z, self.codes(y, source)))

    def batch(self, tokens: ByteRows, payloads: ByteRows, simulation: bool = False, kept: Any = None) -> LabelReports:
        """Return rows as reports, with their columns."""
        return LabelReports(self, tokens, payloads, simulation, kept)

    def data(self, totals: KeptRows) -> tuple[str, bytes]:
        """Return numbers of records, rising, and their noisy labels, as CSV."""
        records, labels = self.model(totals).dataset()
        name = self.target if self.target.isidentifier() else '"' + self.target.replace('"', '""') + '"'
        lines = [f"{r},{v!r}" for r, v in zip(records.tolist(), labels.tolist(), strict=True)]
        return "text/csv; charset=utf-8", "\n".join([f"record,{name}", *lines, ""]).encode()

    def once(self, payloads: ByteRows) -> list[bytes]:
        """Return the number of each record: one report each."""
        return [row[:8].tobytes() for row in payloads]

    def model(self, totals: KeptRows) -> LabelReports:
        """Return the reports, whose ``dataset()`` a learner is trained on."""
        return LabelReports.of(totals.reports())

    def question(self) -> Question:
        """Return what is asked: the public number of the record, and its label."""
        return Question((), LabelField(self.target, self.label_bounds), numbered=True, clear=frozenset({"record"}))

    def odds(self) -> list[str]:
        """Return what is done to the label."""
        m = self.mechanism
        return [
            f"your {plain(self.target)} is rounded to one of {m.n_inputs} steps and replaced at random ({m.name})",
            "the number of your record is sent in clear",
        ]

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what the label could have been sent as."""
        sent = int(self.encoding.read(payloads)[1][0])
        return (values(self.grid, self.mechanism, self.mechanism.code_range, sent, float(y[0])),)

    def alarms(self) -> Detector:
        """Watch which outputs are sent."""
        return code_alarms(self.mechanism)

    def __repr__(self) -> str:
        return (
            f"LabelTask(id={self.id[:12]}..., {self.mechanism.name}, epsilon={self.mechanism.epsilon:g}, "
            f"label={self.target!r} in [{self.grid.low:g}, {self.grid.high:g}])"
        )
