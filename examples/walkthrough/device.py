"""What one device sent, in words, beside what is true."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow import LocalTask, Report, privatize
from hedgerow.tasks.tree.encoding import unpack


@dataclass(frozen=True)
class CellLine:
    """One leaf in the account of a report: its two cells (label at the low end, label at the high end)."""

    leaf: int
    cell: str
    own: bool
    chance: tuple[float, float]
    named: tuple[bool, bool]
    belief: float


@dataclass(frozen=True)
class Account:
    """A true record, the report that it made, and what the report gives away."""

    record: Mapping[str, Any]
    label: float
    epsilon: float
    report: bytes
    payload: bytes
    rounding: float
    lines: tuple[CellLine, ...]
    ends: tuple[float, float]

    @property
    def own(self) -> CellLine:
        """Return the line of the true leaf."""
        return next(line for line in self.lines if line.own)

    @property
    def named(self) -> list[str]:
        """Return the cells that the report names, in words."""
        return [
            f"leaf {line.leaf} with a label of {end:g}"
            for line in self.lines
            for end, named in zip(self.ends, line.named, strict=True)
            if named
        ]


def answer(task: LocalTask, record: Mapping[str, Any], label: float) -> Account:
    """Let one device answer a task of (leaf, end of the label), and explain the answer."""
    data = privatize(task, record, label).to_bytes()
    report = Report.from_bytes(task, data)
    named = _named(task, report)
    own = int(task.partition.apply(task.space.encode_record(record)[None, :])[0])
    low, high = task.label_bounds
    share = (min(max(label, low), high) - low) / (high - low)
    belief = np.where(named, math.exp(task.epsilon), 1.0)
    belief = belief.sum(axis=1) / belief.sum()
    lines = tuple(
        CellLine(
            leaf.index,
            shorten(leaf.conditions),
            leaf.index == own,
            _chances(task, share if leaf.index == own else None),
            (bool(named[leaf.index, 0]), bool(named[leaf.index, 1])),
            float(belief[leaf.index]),
        )
        for leaf in task.partition.iter_leaves()
    )
    return Account(dict(record), label, task.epsilon, data, report.payload, share, lines, (low, high))


def shorten(conditions: Iterable[str]) -> str:
    """Join conditions, leaving out those that a later one makes needless.

    >>> shorten(["age < 9", "age < 4", "sex not in {F}"])
    'age < 4 and sex not in {F}'
    """
    kept: dict[object, str] = {}
    for condition in conditions:
        name, relation, _ = re.split(r" (<|>=|in|not in) ", condition, maxsplit=1)
        key = condition if relation == "not in" else (name, relation)
        kept.pop(key, None)
        kept[key] = condition
    return " and ".join(kept.values())


def _named(task: LocalTask, report: Report) -> np.ndarray:
    """Return which (leaf, end) pairs a report names."""
    row = np.frombuffer(report.payload, dtype=np.uint8)[None, :]
    cells = task.n_leaves * 2
    if task.response == "k_ary":
        return (np.arange(cells) == int.from_bytes(report.payload, "little")).reshape(-1, 2)
    return unpack(row, cells)[0].astype(bool).reshape(-1, 2)


def _chances(task: LocalTask, share: float | None) -> tuple[float, float]:
    """Return how likely the device was to name either cell of a leaf.

    In the own leaf the label was first rounded to the high end with probability ``share``; a cell that is not
    the own one is named with probability q, the own one with p.
    """
    p, q = float(task.encoding.mechanism.p), float(task.encoding.mechanism.q)
    if share is None:
        return q, q
    return (1 - share) * p + share * q, share * p + (1 - share) * q
