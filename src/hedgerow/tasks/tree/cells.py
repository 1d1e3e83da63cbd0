"""One categorical message of (leaf, level) with the whole epsilon: no budget is split."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.kernels import native
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.bits import UnaryEncoding
from hedgerow.mechanisms.categorical import CategoricalMechanism
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.subset import SubsetSelection
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE, binomial
from hedgerow.tasks.alarms import MOST_EVENTS, NOTHING, Detector, join, named, set_bits
from hedgerow.tasks.copies import copies_of_bits, copies_of_sets
from hedgerow.tasks.message import CODES
from hedgerow.tasks.tree.encoding import Encoding, Moments, check_padding, pack, unpack
from hedgerow.types import ByteRows, FloatArray, IntArray

__all__ = ["AUDITS", "CellEncoding", "KaryEncoding", "SubsetEncoding", "UnaryCellEncoding"]


@dataclass(frozen=True)
class CellEncoding(Encoding):
    r"""A categorical mechanism over the ``n_leaves * (n_steps + 1)`` pairs (leaf, level).

    The label is rounded at random to a level (with ``n_steps = 1``: to an end of its bounds), which keeps its
    mean. The totals are the supports of all pairs; with c_hat the unbiased counts of the mechanism,

    .. math:: D_j = \sum_l \hat c_{jl}, \qquad N_j = \sum_l l\, \hat c_{jl}

    and their covariance follows from ``Cov(s_a, s_b)/n = (pi_a + pi_b) J1 + (1 - pi_a - pi_b) J0 - m_a m_b`` where
    J1, J0 are the mechanism's joint support probabilities and ``m = s/n``.

    Proof that it is epsilon-DP: the pair is a function of the record (and of the coin that rounds its label, over which
    ratios are averaged, and so not raised), and the mechanism is epsilon-DP for the pair.
    """

    epsilon: float
    n_leaves: int
    n_steps: int = 1
    mechanism: CategoricalMechanism = field(init=False, repr=False)
    build: ClassVar[type[CategoricalMechanism]]

    def __post_init__(self) -> None:
        if self.n_cells > 1 << 31:
            raise HedgerowError(f"{self.n_leaves} leaves with {self.n_levels} label levels are too many cells.")
        object.__setattr__(self, "mechanism", self.build(self.epsilon, self.n_cells))  # type: ignore[call-arg]

    @property
    def n_levels(self) -> int:
        """Return the number of label levels."""
        return self.n_steps + 1

    @property
    def n_cells(self) -> int:
        """Return the number of (leaf, level) pairs."""
        return self.n_leaves * self.n_levels

    @property
    def n_sums(self) -> int:
        """Return one support for each pair."""
        return self.n_cells

    @property
    def largest(self) -> int:
        """A report supports a pair at most once."""
        return 1

    @property
    def width(self) -> int:
        """Return the length of packed bits, one for each pair."""
        return (self.n_cells + 7) // 8

    def randomize(self, leaf: IntArray, level: IntArray, randomness: Randomness) -> ByteRows:
        """Return packed bits."""
        return pack(self.mechanism.randomize(leaf * self.n_levels + level, randomness))

    def validate(self, rows: ByteRows) -> None:
        """Refuse bits beyond the last pair."""
        check_padding(rows, self.n_cells)

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the support of every pair."""
        total = np.zeros(self.n_cells, dtype=np.int64)
        if (kernels := native()) is not None and rows.flags.c_contiguous and rows.size:
            kernels.bit_sums(rows, rows.shape[1], 0, self.n_cells, total)
            return total
        for start in range(0, len(rows), 4096):
            total += unpack(rows[start : start + 4096], self.n_cells).sum(axis=0, dtype=np.int64)
        return total

    def moments(self, sums: npt.NDArray[Any], n: int, reading: npt.NDArray[Any] | None = None) -> Moments:
        """Return N, D and their covariance by the formula of the class.

        ``reading`` says what each level counts as in N, by default itself; a unit vector counts one class.
        """
        m = self.mechanism
        p = float(m.p)
        q = float(m.q)
        own, other = (float(j) for j in m.joint)
        share = (sums / max(n, 1)).reshape(self.n_leaves, self.n_levels)
        pi = (share - q) / (p - q)
        pair = pi[:, :, None] + pi[:, None, :]
        cov = pair * own + (1 - pair) * other - share[:, :, None] * share[:, None, :]
        level = np.arange(self.n_levels)
        cov[:, level, level] = share * (1 - share)
        level = level if reading is None else reading
        cov *= n / (p - q) ** 2
        return Moments(
            n * pi @ level,
            n * pi.sum(axis=1),
            np.einsum("jab,a,b->j", cov, level, level),
            np.einsum("jab,a->j", cov, level),
            cov.sum(axis=(1, 2)),
        )

    def expected_sums(self, shares: FloatArray, n: int) -> FloatArray:
        """Return ``n [q + (p - q) share]`` for each pair."""
        p = float(self.mechanism.p)
        q = float(self.mechanism.q)
        return n * (q + (p - q) * shares.ravel())

    def law(self, given: tuple[int, int]) -> Law:
        """Return the exact law of the mechanism at this pair."""
        leaf, level = given
        return self.mechanism.law(leaf * self.n_levels + level)

    def outcomes(self, drawn: ByteRows) -> list[Hashable]:
        """Return what the mechanism said."""
        return self.mechanism.outcomes(unpack(drawn, self.n_cells))

    def words(self) -> str:
        """Return the odds of the mechanism, whose categories are the pairs."""
        return f"the leaf and the level of the label are one of {self.n_cells} categories; {self.mechanism.words()}"

    def most_influence(self, n: int) -> float:
        """Return the change of a count by one support: ``(1-q)/(p-q)``."""
        p = float(self.mechanism.p)
        q = float(self.mechanism.q)
        return (1 - q) / (p - q)

    def _supported(self) -> tuple[int, int]:
        """Return the least and the most pairs of one leaf that a message can support."""
        return 0, self.n_levels

    def alarms(self) -> Detector:
        """Watch how many reports support each pair, unless there are too many pairs to tell anything."""
        if self.n_cells > MOST_EVENTS:
            return NOTHING
        pairs = [f"support of leaf {c // self.n_levels}, level {c % self.n_levels}" for c in range(self.n_cells)]
        return named(pairs, float(self.mechanism.p), float(self.mechanism.q), self.sums)

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        r"""Return messages that support the lowest or the highest levels of a leaf, as many as a message can.

        A supported pair counts :math:`(1-q)/(p-q)`, any other :math:`-q/(p-q)`. With two levels the sum of labels moves
        by :math:`(1-q)/(p-q)` label ranges: :math:`2/(1 - e^{-\varepsilon})` for ``unary``, whatever the number of
        leaves, and :math:`(e^\varepsilon + K - 2)/(e^\varepsilon - 1)` for ``k_ary`` with K pairs.

        >>> one = UnaryCellEncoding(2.0, 8, 1).largest_influence
        >>> round(one.count, 2), round(one.label_sum, 2)
        (4.63, 2.31)
        """
        p = float(self.mechanism.p)
        q = float(self.mechanism.q)
        least, most = self._supported()
        level = np.arange(self.n_levels)
        patterns = [p for m in range(least, most + 1) for p in (level < m, level >= self.n_levels - m)]
        if most == 1:
            patterns += [level == i for i in range(self.n_levels)]
        units = (np.array(patterns, dtype=np.float64) - q) / (p - q)
        return units.sum(axis=1), units @ level

    def simulate(self, counts: IntArray, randomness: Randomness) -> IntArray:
        """Return totals by drawing the messages themselves, in blocks (no shortcut is known)."""
        cells = np.repeat(np.arange(self.n_cells), counts.ravel())
        total = np.zeros(self.n_cells, dtype=np.int64)
        block = max(1, (1 << 24) // self.n_cells)
        for start in range(0, len(cells), block):
            total += self.mechanism.support(self.mechanism.randomize(cells[start : start + block], randomness))
        return total


@dataclass(frozen=True)
class UnaryCellEncoding(CellEncoding):
    """Optimised unary encoding of (leaf, level)."""

    name = "tree message, unary"
    response = "unary"
    code = CODES["tree unary"]
    build = UnaryEncoding

    def alarms(self) -> Detector:
        """Watch the number of set bits and copies, too."""
        p = float(self.mechanism.p)
        q = float(self.mechanism.q)
        return join([set_bits(self.n_cells, p, q, 0), super().alarms(), copies_of_bits(self.n_cells, p, q, 0)])

    def simulate(self, counts: IntArray, randomness: Randomness) -> IntArray:
        """Return ``Bin(c, p) + Bin(n - c, q)`` for each pair: bits are independent, so this is exact."""
        c = counts.ravel()
        p = int(self.mechanism.p * ONE)
        q = int(self.mechanism.q * ONE)
        return binomial(c, p, randomness) + binomial(c.sum() - c, q, randomness)


@dataclass(frozen=True)
class SubsetEncoding(CellEncoding):
    """Subset selection over (leaf, level)."""

    name = "tree message, subset"
    response = "subset"
    code = CODES["tree subset"]
    build = SubsetSelection

    def _supported(self) -> tuple[int, int]:
        """Leave out what other leaves have no room for."""
        size = int(self.mechanism.size)  # type: ignore[attr-defined]
        return max(0, size - (self.n_cells - self.n_levels)), min(size, self.n_levels)

    def alarms(self) -> Detector:
        """Watch copies, too."""
        size = int(self.mechanism.size)  # type: ignore[attr-defined]
        return join([super().alarms(), copies_of_sets(self.n_cells, size, float(self.mechanism.p))])

    def validate(self, rows: ByteRows) -> None:
        """Refuse sets of another size, too."""
        super().validate(rows)
        size = self.mechanism.size  # type: ignore[attr-defined]
        if rows.size and (unpack(rows, self.n_cells).sum(axis=1) != size).any():
            raise FormatError(f"a report does not hold exactly {size} cells; it was not made for this task.")


@dataclass(frozen=True)
class KaryEncoding(CellEncoding):
    """k-ary randomised response over (leaf, level); the message is the index of a pair."""

    name = "tree message, k-ary"
    response = "k_ary"
    code = CODES["tree k_ary"]
    build = KaryResponse

    @property
    def width(self) -> int:
        """Four bytes, little-endian."""
        return 4

    def randomize(self, leaf: IntArray, level: IntArray, randomness: Randomness) -> ByteRows:
        """Return indices as bytes."""
        cells = self.mechanism.randomize(leaf * self.n_levels + level, randomness)
        return cells.astype("<u4").view(np.uint8).reshape(-1, 4)

    def _supported(self) -> tuple[int, int]:
        """Name one pair, here or in another leaf (if there is one)."""
        return (0, 1) if self.n_leaves > 1 else (1, 1)

    def _cells(self, rows: ByteRows) -> IntArray:
        return np.ascontiguousarray(rows).view("<u4")[:, 0].astype(np.int64)

    def validate(self, rows: ByteRows) -> None:
        """Refuse indices beyond the last pair."""
        if rows.size and (self._cells(rows) >= self.n_cells).any():
            raise FormatError("a report names a cell beyond the last; it was not made for this task.")

    def outcomes(self, drawn: ByteRows) -> list[Hashable]:
        """Return the pairs that are named."""
        return self.mechanism.outcomes(self._cells(drawn))

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the number of reports of every pair."""
        return self.mechanism.support(self._cells(rows))


def _audit(kind: type[CellEncoding], *events: Any) -> Audit:
    """Return the audit of two leaves and two levels, with events of a holder of the first of both."""
    chances = tuple(Chance((0, 0), event) for event in events)
    return Audit(
        kind.name,
        lambda epsilon: kind(epsilon, 2, 1),
        chances,
        inputs=lambda message: message.inputs,
        outside=((2, 0), (0, 2)),
    )


AUDITS = (
    _audit(UnaryCellEncoding, lambda bits: bits[0] == 1, lambda bits: bits[1] == 1),
    _audit(KaryEncoding, lambda pair: pair == 0, lambda pair: pair == 1),
    _audit(SubsetEncoding, lambda pairs: 0 in pairs, lambda pairs: 1 in pairs),
)
