"""The paper's message: a flipped bit for every leaf, equation (3), and one noisy label, equation (4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.kernels import native
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.bits import BitVectorResponse
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import Randomness
from hedgerow.samplers import binomial
from hedgerow.tasks.alarms import Detector, far_levels, join, set_bits
from hedgerow.tasks.copies import copies_of_bits
from hedgerow.tasks.message import CODES
from hedgerow.tasks.tree.encoding import Encoding, Moments, check_padding, pack, unpack
from hedgerow.types import ByteRows, FloatArray, IntArray

__all__ = ["AUDITS", "BitsEncoding", "split_epsilon"]

_CELLS = 1 << 18  # of label by leaf, decoded at a time: 2 MB
_SUM_CELLS = 1 << 17  # bits added up at a time, as floats: 1 MB
_SORTED = 1 << 16  # reports put in order of their labels at a time: long runs of equal labels, still in the cache
_MOST_COLUMNS = 1 << 20  # labels that the kernel counts by: an array of 8 MB


def split_epsilon(epsilon: float, share: float) -> tuple[float, float]:
    """Return ``(share * epsilon, the rest)`` as floats whose exact sum is at most ``epsilon``.

    >>> split_epsilon(1.0, 0.3)
    (0.3, 0.7)
    """
    if not 0 < share < 1:
        raise HedgerowError(f"The 'cell_share' parameter must be strictly between 0 and 1. Got {share!r} instead.")
    if math.isinf(epsilon):
        return math.inf, math.inf
    first = epsilon * share
    rest = epsilon - first
    while Fraction(first) + Fraction(rest) > Fraction(epsilon):
        rest = math.nextafter(rest, 0.0)
    return first, rest


@dataclass(frozen=True)
class BitsEncoding(Encoding):
    r"""Bits with ``cell_share * epsilon``, a label with the rest; sequential composition gives epsilon.

    The totals are ``T_k = sum v**k`` (k = 1, 2) and, for each leaf j, ``S_kj = sum v**k b_j`` (k = 0, 1, 2), with
    v the noisy level and b the flipped bits. With ``u = (b - q)/(1 - 2q)``,

    .. math:: D_j = \sum_i u_{ij}, \quad N_j = \sum_i v_i u_{ij}, \quad
              \sum_i v_i^k u_{ij}^2 = \frac{(1-2q) S_{kj} + q^2 T_k}{(1-2q)^2}

    are unbiased for the number of holders, the sum of their levels, and the second moments that intervals need.

    Proof that it is epsilon-DP: bits and label are drawn independently, the former by
    :class:`~hedgerow.mechanisms.BitVectorResponse`, the latter by :class:`~hedgerow.mechanisms.DiscreteLaplace`, and
    their budgets sum to at most epsilon exactly.
    """

    epsilon: float
    n_leaves: int
    n_steps: int
    cell_share: float = 0.5
    cell: BitVectorResponse = field(init=False, repr=False)
    label: DiscreteLaplace = field(init=False, repr=False)
    name = "tree message, bits"
    response = "bits"
    code = CODES["tree bits"]

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        cell, label = split_epsilon(self.epsilon, self.cell_share)
        object.__setattr__(self, "cell", BitVectorResponse(cell, self.n_leaves))
        object.__setattr__(self, "label", DiscreteLaplace(label, self.n_steps))

    @property
    def _label_bytes(self) -> int:
        return 2 if self.n_steps + 2 * self.label.reach < 1 << 16 else 4

    @property
    def width(self) -> int:
        """Label, then packed bits."""
        return self._label_bytes + (self.n_leaves + 7) // 8

    @property
    def n_sums(self) -> int:
        """T1, T2 and S0, S1, S2 of each leaf."""
        return 2 + 3 * self.n_leaves

    @property
    def largest(self) -> int:
        """Return the square of the largest noisy level."""
        return (self.n_steps + self.label.reach) ** 2

    def randomize(self, leaf: IntArray, level: IntArray, randomness: Randomness) -> ByteRows:
        """Return the noisy label (shifted to be non-negative) and the bits, as bytes."""
        head = (
            self.column(level, randomness)
            .astype(f"<u{self._label_bytes}")
            .view(np.uint8)
            .reshape(-1, self._label_bytes)
        )
        return np.hstack([head, pack(self.cell.randomize(leaf, randomness))])

    def _raw_labels(self, rows: ByteRows) -> npt.NDArray[np.unsignedinteger[Any]]:
        head = np.ascontiguousarray(rows[:, : self._label_bytes])
        return cast("npt.NDArray[np.unsignedinteger[Any]]", head.view(f"<u{self._label_bytes}")[:, 0])

    def _labels(self, rows: ByteRows) -> IntArray:
        return self._raw_labels(rows).astype(np.int64) - self.label.reach

    def validate(self, rows: ByteRows) -> None:
        """Refuse labels out of reach and bits beyond the last leaf."""
        if rows.size and int(self._raw_labels(rows).max()) >= self.n_columns:
            raise FormatError("a report has a label out of reach; it was not made for this task.")
        check_padding(rows, self.n_leaves)

    def sums(self, rows: ByteRows) -> IntArray:
        """Return exact integer totals (bits times powers of the label)."""
        if (kernels := native()) is not None and self.n_columns <= _MOST_COLUMNS and rows.flags.c_contiguous:
            return self._native_sums(kernels, rows)
        v = self._labels(rows)
        # float64 products of integers below 2**53 are exact and fast; blocks keep every partial sum below that.
        # A grid so fine that squares alone pass it takes slower integers.
        exact = np.float64 if self.largest < 1 << 52 else np.int64
        # As many rows as stay in the cache when each bit is a float.
        block = max(64, _SUM_CELLS // self.n_leaves)
        block = max(1, min(block, (1 << 52) // max(1, self.largest))) if exact is np.float64 else block
        total = np.zeros((3, self.n_leaves), dtype=np.int64)
        for start in range(0, len(rows), block):
            part = slice(start, start + block)
            bits = unpack(rows[part, self._label_bytes :], self.n_leaves).astype(exact)
            powers = np.stack([np.ones_like(v[part]), v[part], v[part] ** 2]).astype(exact)
            total += (powers @ bits).astype(np.int64)
        return np.concatenate([[v.sum(), (v * v).sum()], total.ravel()]).astype(np.int64)

    def _native_sums(self, kernels: Any, rows: ByteRows) -> IntArray:
        """Return :meth:`sums` by the compiled kernel, in blocks whose rows are put in order of their labels."""
        total = np.zeros(self.n_sums, dtype=np.int64)
        stride = rows.shape[1]
        head = self._label_bytes
        for start in range(0, len(rows), _SORTED):
            part = rows[start : start + _SORTED]
            if not kernels.label_sums(part, stride, self.n_leaves, head, self.label.reach, self.n_columns, total):
                raise FormatError("a report has a label out of reach; it was not made for this task.")
        return total

    @property
    def n_columns(self) -> int:
        """Return the number of possible noisy labels."""
        return self.n_steps + 1 + 2 * self.label.reach

    def column(self, level: IntArray, randomness: Randomness) -> IntArray:
        """Return the noisy label, shifted to be non-negative."""
        noisy = self.label.randomize(level, randomness)
        noisy += self.label.reach
        return noisy

    def simulate(self, counts: npt.NDArray[Any], randomness: Randomness) -> IntArray:
        """Return exact totals in law, from the table of holders by leaf and *noisy* label.

        Given noisy labels, the number of set bits at leaf j among the ``n_g`` holders with noisy label g is
        ``Bin(n_g - c_jg, q) + c_jg - Bin(c_jg, q)``, independent over (j, g): others flip on, own flip off.
        """
        by_label = counts.T
        n_g = by_label.sum(axis=1, dtype=np.int64)
        v = np.arange(self.n_columns) - self.label.reach
        powers = np.stack([v**0, v, v**2])
        # float64 sums of integers below 2**53 are exact, and much faster.
        exact = np.float64 if int(n_g.sum()) * self.largest < 1 << 53 else np.int64
        total = np.zeros((3, self.n_leaves), dtype=np.int64)
        occupied = np.flatnonzero(n_g)
        block = max(1, _CELLS // self.n_leaves)
        for start in range(0, len(occupied), block):
            labels = occupied[start : start + block]
            own = by_label[labels].astype(np.int64, copy=False)
            bits = binomial(n_g[labels, None] - own, self.cell.flip, randomness)
            some = np.flatnonzero(own > 0)  # most holders are elsewhere
            kept = own.ravel()[some]
            bits.ravel()[some] += kept - binomial(kept, self.cell.flip, randomness)
            total += (powers[:, labels].astype(exact) @ bits.astype(exact)).astype(np.int64)
        return np.concatenate([[n_g @ v, n_g @ (v * v)], total.ravel()]).astype(np.int64)

    def moments(self, sums: npt.NDArray[Any], n: int, reading: npt.NDArray[Any] | None = None) -> Moments:
        """Return N, D and their covariance by the formula of the class (a noisy label has no other reading)."""
        if reading is not None:
            raise HedgerowError("response='bits' is for numeric labels; use 'unary', 'k_ary' or 'subset' for classes.")
        q = float(self.cell.q)
        kappa = 1 - 2 * q
        T = np.array([n, sums[0], sums[1]], dtype=np.float64)
        S = sums[2:].reshape(3, -1).astype(np.float64)
        D = (S[0] - q * T[0]) / kappa
        N = (S[1] - q * T[1]) / kappa
        second = (kappa * S + q * q * T[:, None]) / kappa**2
        m = max(n, 1)
        return Moments(N, D, second[2] - N * N / m, second[1] - N * D / m, second[0] - D * D / m)

    def expected_sums(self, shares: FloatArray, n: int) -> FloatArray:
        """Return ``E S_kj = n [(1-2q) E(v^k; j) + q E v^k]`` and ``E T_k = n E v^k``."""
        q = float(self.cell.q)
        level = np.arange(self.n_steps + 1)
        v1 = shares @ level
        mass = shares.sum(axis=1)
        v2 = shares @ (level * level) + mass * self.label.variance
        by_leaf = np.stack([mass, v1, v2])
        total = by_leaf.sum(axis=1)
        S = (1 - 2 * q) * by_leaf + q * total[:, None]
        return n * np.concatenate([total[1:], S.ravel()])

    def law(self, given: tuple[int, int], *, reach: int | None = None) -> Law:
        """Return the exact joint law of (noisy level, bits); ``reach`` clamps the level nearer."""
        leaf, level = given
        cell = self.cell.law(leaf)
        label = self.label.law(level, reach=reach)
        outputs = tuple(itertools.product(label.outputs, cell.outputs))
        return Law(outputs, tuple(a * b for a, b in itertools.product(label.weights, cell.weights)))

    def outcomes(self, drawn: ByteRows, *, reach: int | None = None) -> list[Hashable]:
        """Return (noisy level, bits), clamped as in the law."""
        levels = self.label.outcomes(self._labels(drawn), reach=reach)
        bits = self.cell.outcomes(unpack(drawn[:, self._label_bytes :], self.n_leaves))
        return list(zip(levels, bits, strict=True))

    def words(self) -> str:
        """Return the odds of the bits and of the label."""
        return f"{self.cell.words()}; {self.label.words()}"

    def most_influence(self, n: int) -> float:
        """Return the change of D by one set bit: ``(1-q)/(1-2q)``."""
        q = float(self.cell.q)
        return (1 - q) / (1 - 2 * q)

    def alarms(self) -> Detector:
        """Watch the number of set bits, copies of the bits, and labels far beyond their bounds."""
        p = float(self.cell.p)
        q = float(self.cell.q)
        bits = set_bits(self.n_leaves, p, q, self._label_bytes)
        copies = copies_of_bits(self.n_leaves, p, q, self._label_bytes)
        return join([bits, far_levels(self.label, self._labels), copies])

    def extremes(self) -> tuple[FloatArray, FloatArray]:
        r"""Return a set or unset bit with the lowest or highest noisy label.

        A forged label may lie anywhere the noise may reach, 40 scales beyond the bounds, and so one report moves D by
        :math:`1/(1 - e^{-\rho\varepsilon/2})` and N by :math:`1 + 40/((1-\rho)\varepsilon)` times as many label ranges.

        >>> one = BitsEncoding(2.0, 8, 1).largest_influence
        >>> round(one.count, 2), round(one.label_sum, 1)
        (2.54, 104.2)
        """
        q = float(self.cell.q)
        reach = self.label.reach
        units = np.array([1 - q, 1 - q, -q, -q]) / (1 - 2 * q)
        return units, units * np.array([-reach, self.n_steps + reach] * 2)


AUDITS = (
    Audit(
        "tree message, bits",
        lambda epsilon: BitsEncoding(epsilon, 2, 2),
        (
            Chance((0, 1), lambda sent: sent[1][1] == 1),
            Chance((0, 1), lambda sent: sent[0] == 1),
            Chance((0, 1), lambda sent: sent[0] == 2),
        ),
        inputs=lambda message: message.inputs,
        outside=((2, 0), (0, 3), (-1, 0)),
        reach=6,
    ),
)
