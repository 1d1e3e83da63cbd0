"""How (leaf, label level) becomes a message, and how sums of messages become leaf estimates.

An :class:`Encoding` is the heart of a task. It has four parts that must agree, and tests that they do:

* ``randomize``: the holder's side, a message as a row of bytes;
* ``sums``: the curator's side, integer totals of messages (order never matters);
* ``simulate``: totals with exactly the law of ``sums(randomize(...))`` at far lower cost;
* ``moments``: totals to an unbiased numerator N and denominator D of every leaf, with their covariance.

The leaf mean is ``N / D`` as in the paper's (5). See :mod:`hedgerow.tasks.tree.bits` for the paper's message
and :mod:`hedgerow.tasks.tree.cells` for one categorical message of (leaf, level).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.mechanisms.base import Law, Mechanism
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.message import Message
from hedgerow.types import ByteRows, FloatArray, IntArray

__all__ = ["Encoding", "Influence", "Moments", "pack", "unpack"]


@dataclass(frozen=True)
class Moments:
    """For each leaf: estimates of ``N = sum of levels`` and ``D = number`` of its holders, and their noise.

    ``var_n``, ``cov``, ``var_d`` estimate the variances and covariance of N and D over the holders' draw *and*
    the mechanism, so that ``Var(N - r D) = var_n - 2 r cov + r**2 var_d``.
    """

    numerator: FloatArray
    denominator: FloatArray
    var_n: FloatArray
    cov: FloatArray
    var_d: FloatArray


@dataclass(frozen=True)
class Influence:
    """The most that one forged report can move a leaf.

    ``count`` is in holders; ``label_sum``, of the leaf's sum of (label - lower bound), in widths of the label's range.
    """

    count: float
    label_sum: float


class Encoding(Mechanism, Message):
    """One kind of message; concrete ones are frozen dataclasses.

    As a mechanism its inputs are pairs ``(leaf, level)``; any two are neighbours.
    """

    response: ClassVar[str]
    code: ClassVar[int]
    epsilon: float
    protects = "record"
    trust = "local"
    neighbours = "replace"
    n_leaves: int
    n_steps: int

    @property
    def width(self) -> int:
        """Return the length of a message in bytes."""
        raise NotImplementedError

    @property
    def n_sums(self) -> int:
        """Return the number of integer totals."""
        raise NotImplementedError

    @property
    def largest(self) -> int:
        """Return the most that one message can add to any total, in absolute value."""
        raise NotImplementedError

    def randomize(self, leaf: IntArray, level: IntArray, randomness: Randomness) -> ByteRows:
        """Return one message a row, for holders in ``leaf`` with label ``level``."""
        raise NotImplementedError

    def validate(self, rows: ByteRows) -> None:
        """Refuse bytes that no holder could have sent."""
        raise NotImplementedError

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the totals of messages."""
        raise NotImplementedError

    @property
    def n_columns(self) -> int:
        """Return the width of the table that :meth:`simulate` starts from."""
        return self.n_steps + 1

    def column(self, level: IntArray, randomness: Randomness) -> IntArray:
        """Return each holder's column of that table: by default the level itself."""
        return level

    def simulate(self, counts: IntArray, randomness: Randomness) -> IntArray:
        """Return totals with the law of ``sums(randomize(...))``, from the table ``counts[leaf, column]``."""
        raise NotImplementedError

    def moments(self, sums: npt.NDArray[Any], n: int, reading: npt.NDArray[Any] | None = None) -> Moments:
        """Return N, D and their covariance for each leaf."""
        raise NotImplementedError

    def expected_sums(self, shares: FloatArray, n: int) -> FloatArray:
        """Return the mean of the totals of ``n`` holders spread over (leaf, level) as ``shares``."""
        raise NotImplementedError

    def sample(self, given: tuple[int, int], n: int, randomness: Randomness | None = None) -> ByteRows:
        """Return the messages of ``n`` holders with one leaf and level."""
        leaf, level = given
        if not 0 <= leaf < self.n_leaves or not 0 <= level <= self.n_steps:
            raise HedgerowError(f"leaf and level must be below {self.n_leaves} and {self.n_steps + 1}.")
        return self.randomize(np.full(n, leaf), np.full(n, level), as_randomness(randomness))

    @property
    def inputs(self) -> list[tuple[int, int]]:
        """All pairs of a leaf and a level."""
        return [(leaf, level) for leaf in range(self.n_leaves) for level in range(self.n_steps + 1)]

    def law(self, given: tuple[int, int]) -> Law:
        """Return the exact law of the message of a leaf and a level (small instances: for audits)."""
        raise NotImplementedError

    def most_influence(self, n: int) -> float:
        """Return how many honest holders one set bit or named pair counts for; a message may hold several."""
        raise NotImplementedError

    def alarms(self) -> Detector:
        """Return what looks for messages that no honest randomiser sends in bulk."""
        raise NotImplementedError

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """Return the extreme messages: by how much each moves a leaf's D, and by how many levels its N.

        Whoever forges a report may send any message that passes :meth:`validate`; no such message moves D, N or the
        mean N/D of a leaf further than one of these.
        """
        raise NotImplementedError

    @property
    def largest_influence(self) -> Influence:
        """The most that one forged report can move a leaf; an honest holder counts 1 and at most 1."""
        counts, sums = self.extremes()
        return Influence(float(np.abs(counts).max()), float(np.abs(sums).max()) / self.n_steps)


def pack(bits: npt.NDArray[np.bool_]) -> ByteRows:
    """Pack rows of bits into bytes, bit ``j`` in byte ``j // 8`` at weight ``2**(j % 8)``."""
    return np.packbits(bits, axis=1, bitorder="little")


def unpack(rows: ByteRows, k: int) -> npt.NDArray[Any]:
    """Return rows of ``k`` bits as 0/1 bytes."""
    return np.unpackbits(rows, axis=1, count=k, bitorder="little")


def check_padding(rows: ByteRows, k: int) -> None:
    """Refuse set bits beyond the ``k``-th."""
    if k % 8 and rows.size and (rows[:, -1] >> np.uint8(k % 8)).any():
        raise FormatError("a report has bits set beyond the last leaf; it was not made for this task.")
