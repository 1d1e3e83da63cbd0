"""The label task: holders randomise one label each, the curator joins them to features that are public.

A report is little-endian bytes::

    offset  size  content
    0       1     format version (1)
    1       1     kind of report (1, a label); the high bit marks a simulation
    2       4     task tag: the first 4 bytes of the task's digest
    6       12    random: tells a report sent twice from a second report
    18      8     record: the public number of the record that the label belongs to
    26      4     code: the randomised output

The holder's side needs NumPy and the standard library only.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.bounds import LabelGrid, check_fields, read_text
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.base import Task
from hedgerow.tasks.labels.alarms import code_alarms
from hedgerow.tasks.published import reading_task
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.words import plain
from hedgerow.types import FloatArray, IntArray
from hedgerow.values import RULE

__all__ = ["LabelReports", "LabelTask"]

_FORMAT, _VERSION, _REPORT_VERSION = "hedgerow/label-task", 2, 1
_KINDS: dict[str, type[LevelMechanism]] = {
    m.kind: m for m in (LaplaceNoise, StaircaseNoise, GaussianNoise, IntervalResponse, BinsResponse, MatrixResponse)
}
_REPORT = np.dtype([("head", "u1", 2), ("tag", "u1", 4), ("token", "u1", 12), ("record", "<u8"), ("code", "<i4")])
_HEADER = struct.Struct("<4sHBB32sQ")
_FARTHEST = 1 << 31  # codes are 32 bits in a report; what they stand for is bounded by what grid.py counts on
_MAGIC, _LABEL, _SIMULATION = b"HDGL", 1, 0x80

NOTES = (
    "the features are public: nothing about them is protected",
    "one randomised label a person; every further one spends epsilon again",
    RULE,
)


@dataclass(frozen=True)
class LabelTask(Task):
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
    >>> task = LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16))
    >>> LabelTask.from_json(task.to_json()) == task
    True
    >>> reports = task.reports([0, 1], [12.5, 70.0], randomness=1)
    >>> len(reports.to_bytes()), LabelReports.from_bytes(task, reports.to_bytes()).simulation
    (108, True)
    """

    kind = "label"
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

    def reports(self, records: npt.ArrayLike, y: object, randomness: Randomness | int | None = None) -> LabelReports:
        """Randomise labels, each for the record of that public number.

        The number is public and sent in clear, so a wrong one is an error; a label never is.
        """
        source = as_randomness(randomness)
        numbers = np.asarray(records)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or (numbers.size and numbers.min() < 0):
            raise HedgerowError("'records' must be a 1-d array of record numbers >= 0.")
        codes = self.codes(self.grid.labels(y, n=numbers.size), source)
        rows = np.zeros(numbers.size, dtype=_REPORT)
        rows["head"] = (_REPORT_VERSION, _LABEL | (_SIMULATION if source.simulation else 0))
        rows["tag"] = np.frombuffer(self.digest[:4], dtype=np.uint8)
        rows["token"] = source.uint8(12 * numbers.size).reshape(-1, 12)
        rows["record"], rows["code"] = numbers, codes
        return LabelReports(self, rows)

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

    def alarms(self) -> Detector:
        """Watch which outputs are sent."""
        return code_alarms(self.mechanism)

    def _content(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "title": self.title,
            "target": self.target,
            "grid": self.grid.to_dict(),
            "mechanism": self.mechanism.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LabelTask:
        """Rebuild a task; refuse other versions, unknown fields, a broken claim and a wrong digest."""
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT or data.get("version") != _VERSION:
            raise FormatError(f"this is not a label task: expected format {_FORMAT!r}, version {_VERSION}.")
        check_fields(data, {"format", "version", "title", "target", "grid", "mechanism", "id"}, "label task")
        with reading_task():
            kind = _KINDS[data["mechanism"]["kind"]]
            mechanism, grid = kind.from_dict(data["mechanism"]), LabelGrid.from_dict(data["grid"])
            task = cls(grid, mechanism, read_text(data, "target", "label task"), read_text(data, "title", "label task"))
        return task._check_id(data["id"])

    def __repr__(self) -> str:
        return (
            f"LabelTask(id={self.id[:12]}..., {self.mechanism.name}, epsilon={self.mechanism.epsilon:g}, "
            f"label={self.target!r} in [{self.grid.low:g}, {self.grid.high:g}])"
        )


@dataclass(frozen=True, eq=False)
class LabelReports:
    """Reports to one label task, as one structured array."""

    task: LabelTask
    rows: npt.NDArray[Any]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def simulation(self) -> bool:
        """Return True if any report was made with seeded noise."""
        return bool((self.rows["head"][:, 1] & _SIMULATION).any())

    @property
    def guarantee(self) -> Guarantee:
        """What the reports protect."""
        return replace(self.task.guarantee, simulation=self.simulation)

    def __add__(self, other: LabelReports) -> LabelReports:
        if self.task != other.task:
            raise FormatError("these reports were made for different tasks.")
        return LabelReports(self.task, np.concatenate([self.rows, other.rows]))

    def dataset(self, n_records: int | None = None) -> tuple[IntArray, FloatArray]:
        """Return record numbers, rising, and their noisy labels; a report sent twice counts once.

        A record with two different reports is refused: its holder has spent epsilon twice.
        """
        rows = np.unique(self.rows)
        order = np.argsort(rows["record"], kind="stable")
        record = rows["record"][order]
        if (record[1:] == record[:-1]).any():
            raise HedgerowError("a record has two different reports; ask its holder which one counts.")
        if n_records is not None and record.size and int(record[-1]) >= n_records:
            raise HedgerowError(f"a report names record {int(record[-1])}, but there are {n_records} records.")
        return record.astype(np.int64), self.task.labels(rows["code"][order])

    def to_bytes(self) -> bytes:
        """Return the batch as bytes: a header with the task's whole digest, then the reports."""
        return _HEADER.pack(_MAGIC, _REPORT_VERSION, _LABEL, 0, self.task.digest, len(self)) + self.rows.tobytes()

    @classmethod
    def from_bytes(cls, task: LabelTask, data: bytes) -> LabelReports:
        """Read a batch, refusing truncated, oversized or foreign bytes and impossible outputs."""
        if len(data) < _HEADER.size:
            raise FormatError(f"this is not a batch of label reports: {len(data)} bytes are too few.")
        magic, version, kind, reserved, digest, n = _HEADER.unpack_from(data)
        if magic != _MAGIC or version != _REPORT_VERSION or kind != _LABEL or reserved:
            raise FormatError("this is not a batch of label reports of this version.")
        if digest != task.digest:
            raise FormatError("these reports were made for another task.")
        if len(data) != _HEADER.size + n * _REPORT.itemsize:
            raise FormatError(f"a batch of {n} label reports is truncated or oversized: {len(data)} bytes.")
        rows = np.frombuffer(data, dtype=_REPORT, offset=_HEADER.size)
        low, high = task.mechanism.code_range
        tag = np.frombuffer(task.digest[:4], dtype=np.uint8)
        heads = (rows["head"][:, 0] == _REPORT_VERSION) & ((rows["head"][:, 1] & ~np.uint8(_SIMULATION)) == _LABEL)
        possible = (rows["code"] >= low) & (rows["code"] <= high) & (rows["tag"] == tag).all(axis=1) & heads
        if not possible.all():
            raise FormatError("a report in the batch is one that no holder of this task could have sent.")
        return cls(task, rows)
