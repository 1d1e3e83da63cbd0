"""The label task: holders randomise one label each, the curator joins them to features that are public.

The holder's side needs NumPy and the standard library only.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from hedgerow.classes import OBSERVED
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms import bins, gaussian, interval, staircase, unbiased  # noqa: F401 (kinds of level mechanisms)
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.mechanisms.top import TopResponse
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.class_labels import check_class_grid, class_levels
from hedgerow.tasks.labels.alarms import code_alarms
from hedgerow.tasks.labels.reports import LabelMessage, LabelReports, record_number
from hedgerow.tasks.picture import Panel, named, values
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import IN_RECORD, one
from hedgerow.tasks.words import listed, plain
from hedgerow.types import ByteRows, IntArray, RealArray
from hedgerow.values import RULE, field

if TYPE_CHECKING:
    from hedgerow.tasks.totals import KeptRows

__all__ = ["LabelReports", "LabelTask", "check_codes"]

_FARTHEST = 1 << 31  # codes are 32 bits in a report; what they stand for is bounded by what grid.py counts on

NOTES = (
    "the features are public: nothing about them is protected",
    "one randomised label a person; every further one spends epsilon again",
    RULE,
)


def check_codes(mechanism: LevelMechanism) -> None:
    """Refuse a mechanism whose codes do not fit a report, or whose values no grid counts on."""
    low, high = mechanism.code_range
    values = getattr(mechanism, "values", getattr(mechanism, "outputs", ()))
    if not -_FARTHEST <= low <= high < _FARTHEST or max(map(abs, values), default=0) > _FARTHEST:
        raise HedgerowError("'mechanism' must send codes, and values in steps, that fit a report: below 2**31.")


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
    classes : tuple of str or None
        Public class names, where the label is a class and levels are its position.
    observed : bool
        Whether the classes were read off private labels; the guarantee then says so.

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
    classes: tuple[str, ...] | None = None
    observed: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, LevelMechanism) or self.mechanism.n_steps != self.grid.n_steps:
            raise HedgerowError(f"'mechanism' must be on a grid of {self.grid.n_steps} steps. Got {self.mechanism!r}.")
        check_codes(self.mechanism)
        if self.classes is not None:
            check_class_grid(self.classes, self.grid)
            if not isinstance(self.mechanism, TopResponse):
                raise HedgerowError(f"'mechanism' of classes must be a top response. Got {self.mechanism!r} instead.")

    @property
    def label_bounds(self) -> tuple[float, float]:
        """Public label bounds."""
        return self.grid.low, self.grid.high

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        observed = (OBSERVED,) if self.observed else ()
        return replace(self.mechanism.guarantee, notes=(*NOTES, *observed))

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one; of classes, as that in this place."""
        return replace(self, grid=replace(self.grid, missing=missing))

    def numbers(self, y: object, *, n: int | None = None) -> RealArray:
        """Return labels as numbers, classes as their position in :attr:`classes`; unknown ones by the grid's rule."""
        if self.classes is None:
            return self.grid.labels(y, n=n)
        return class_levels(self.target, self.classes, self.grid, y, n=n)

    def codes(self, y: object, randomness: Randomness | int | None = None) -> IntArray:
        """Return the outputs for labels: clipped, rounded to the grid, then randomised."""
        return self._codes(self.numbers(y), as_randomness(randomness))

    def _codes(self, numbers: RealArray, source: Randomness) -> IntArray:
        return cast("IntArray", self.mechanism.randomize(self.grid.levels(numbers, source), source))

    def labels(self, codes: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the labels, or names of classes, that outputs stand for."""
        places = self.mechanism.positions(codes)
        if self.classes is None:
            return self.grid.values(places)
        return np.array(self.classes)[places.astype(np.int64)]

    def randomize(self, y: object, randomness: Randomness | int | None = None) -> npt.NDArray[Any]:
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
        return numbers.astype(np.int64), self.numbers(y, n=numbers.size)

    def encode_record(self, record: Any, label: Any = IN_RECORD) -> tuple[IntArray, RealArray]:
        """Return the public number that a record has under ``"record"``, and its label."""
        label = field(record, self.target) if label is IN_RECORD else label
        return np.array([record_number(record)]), self.numbers(one(label))

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the labels' levels; the numbers go in clear."""
        return Drawn(self.encoding.write(Z, self._codes(y, source)))

    def batch(self, tokens: ByteRows, payloads: ByteRows, simulation: bool = False, kept: Any = None) -> LabelReports:
        """Return rows as reports, with their columns."""
        return LabelReports(self, tokens, payloads, simulation, kept)

    def data(self, totals: KeptRows) -> tuple[str, bytes]:
        """Return numbers of records, rising, and their noisy labels, as CSV."""
        records, labels = self.model(totals).dataset()
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["record", self.target])
        writer.writerows(zip(records.tolist(), labels.tolist(), strict=True))
        return "text/csv; charset=utf-8", file.getvalue().encode()

    def records_in(self, payloads: ByteRows) -> list[int]:
        """Return the number of each record: one report each."""
        return [int(record) for record in self.encoding.read(payloads)[0]]

    def model(self, totals: KeptRows) -> LabelReports:
        """Return the reports, whose ``dataset()`` a learner is trained on."""
        return LabelReports.of(totals.reports())

    def question(self) -> Question:
        """Return what is asked: the public number of the record, and its label."""
        label = LabelField(self.target, self.label_bounds, self.grid.missing, self.classes)
        return Question((), label, numbered=True, clear=frozenset({"record"}))

    def odds(self) -> list[str]:
        """Return what is done to the label."""
        m = self.mechanism
        done = f"your {plain(self.target)} is rounded to one of {m.n_inputs} steps and replaced at random ({m.name})"
        if isinstance(m, TopResponse) and self.classes is not None:
            sent = listed(tuple(self.classes[level] for level in m.top))
            done = f"your {plain(self.target)} is replaced at random by one of {sent}: {m.words()}"
        return [done, "the number of your record is sent in clear"]

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what the label could have been sent as."""
        if self.classes is not None:
            return (self._named(int(self.encoding.read(payloads)[1][0]), int(y[0])),)
        sent = int(self.encoding.read(payloads)[1][0])
        return (values(self.grid, self.mechanism, self.mechanism.code_range, sent, float(y[0])),)

    def _named(self, sent: int, level: int) -> Panel:
        """Return the picture of a class; one that cannot be sent is sent as any of the others alike."""
        top = cast("TopResponse", self.mechanism)
        p = float(top.response.p)
        k = len(top.top)
        if level not in top.top:
            return named({}, k, p, 1 / k, sent)
        return named({top.top.index(level): 1.0}, k, p, (1 - p) / max(1, k - 1), sent)

    def alarms(self) -> Detector:
        """Watch which outputs are sent."""
        return code_alarms(self.mechanism)

    def __repr__(self) -> str:
        values = f"[{self.grid.low:g}, {self.grid.high:g}]" if self.classes is None else f"{len(self.classes)} classes"
        return (
            f"LabelTask(id={self.id[:12]}..., {self.mechanism.name}, epsilon={self.mechanism.epsilon:g}, "
            f"label={self.target!r} in {values})"
        )
