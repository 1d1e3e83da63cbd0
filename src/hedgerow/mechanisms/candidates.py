"""Responses over a holder's own candidate cells: the paper's (8), and (17) in its appendix.

A holder whose public features are known can only be in some cells, its *candidates*, and everybody knows it. It
hides among them alone: cells outside are answered truthfully, with 0, and cost nothing. With all cells as
candidates these are (5) and (16).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, Mechanism
from hedgerow.mechanisms.bits import BitVectorResponse
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import bernoulli
from hedgerow.types import BoolArray, IntArray

__all__ = ["AUDITS", "CandidateBits", "CandidateKary", "CandidateResponse"]

_bits = lru_cache(maxsize=4096)(BitVectorResponse)
_k_ary = lru_cache(maxsize=4096)(KaryResponse)


@dataclass(frozen=True)
class CandidateResponse(Mechanism):
    """A response over candidates; ``own`` is the true cell, ``candidates`` a boolean row over all cells.

    As a mechanism its inputs are pairs ``(own, candidates)``; neighbours have the same candidates, which are public.

    For ``k`` candidates, ``p(k)`` and ``q(k)`` are the probabilities that the own cell and that another candidate
    are supported. ``(support - q) / (p - q)`` on the candidates, 0 elsewhere, is unbiased for the indicator of the
    own cell. A single candidate is certain: ``p = 1`` and ``q = 0``, and nothing is spent.
    """

    epsilon: float
    response: ClassVar[str]
    protects = "private features and label"
    trust = "local"
    neighbours = "replace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))

    def among(self, k: int) -> BitVectorResponse | KaryResponse:
        """Return the same response over ``k`` categories."""
        raise NotImplementedError

    def probabilities(self, k: int) -> tuple[float, float]:
        """Return ``(p, q)`` for a holder with ``k`` candidates."""
        if k == 1:
            return 1.0, 0.0
        mechanism = self.among(k)
        return float(mechanism.p), float(mechanism.q)

    def support(self, own: IntArray, candidates: BoolArray, randomness: Randomness | None = None) -> BoolArray:
        """Return the cells that each holder's randomised answer supports, a subset of its candidates."""
        raise NotImplementedError

    def sample(self, given: tuple[int, npt.ArrayLike], n: int, randomness: Randomness | None = None) -> BoolArray:
        """Return the supports of ``n`` holders who are in one cell and have the same candidates."""
        own, _ = _own_and_cells(given)
        row = np.asarray(given[1], dtype=bool)
        return self.support(np.full(n, own), np.tile(row, (n, 1)), randomness)

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return the cells that are supported."""
        return [tuple(np.flatnonzero(row).tolist()) for row in drawn]

    def law(self, given: tuple[int, npt.ArrayLike]) -> Law:
        """Return the exact law of the answer, as tuples of supported cells."""
        own, cells = _own_and_cells(given)
        if len(cells) == 1:
            return Law(((own,),), (1,))
        law = self.among(len(cells)).law(cells.index(own))
        return Law(tuple(self._cells(o, cells) for o in law.outputs), law.weights)

    @staticmethod
    def _cells(output: object, cells: list[int]) -> tuple[int, ...]:
        if isinstance(output, tuple):
            return tuple(cell for bit, cell in zip(output, cells, strict=True) if bit)
        return (cells[int(output)],)  # type: ignore[call-overload]


class CandidateBits(CandidateResponse):
    r"""Flip the bit of every candidate independently, equations (5) and (8).

    .. math:: P(\text{flip}) = q \ge \frac{1}{1 + e^{\varepsilon/2}} \quad (j \in V_i), \qquad
              \tilde V_i^j = 0 \quad (j \notin V_i)

    Proof. The candidates do not depend on private values, so two neighbours differ in at most two candidate bits;
    each changes a likelihood by at most ``(1-q)/q <= e**(epsilon/2)``, the dyadic ``q`` being rounded up; all other
    bits have the same law.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> candidates = np.array([[True, True, False, True]])
    >>> CandidateBits(2.0).support(np.array([1]), candidates, SeededRandomness(1)).astype(int).tolist()
    [[0, 1, 0, 1]]
    """

    name = "candidate bits"
    response = "bits"

    def among(self, k: int) -> BitVectorResponse:
        """Return the bit-vector response over ``k`` bits (its flip probability is the same for every k)."""
        return _bits(self.epsilon, k)

    def support(self, own: IntArray, candidates: BoolArray, randomness: Randomness | None = None) -> BoolArray:
        """Return one row of bits a holder."""
        source = as_randomness(randomness)
        rows, cells = np.nonzero(candidates)
        bits = bernoulli(self.among(2).flip, rows.size, source)
        bits ^= cells == own[rows]
        out = np.zeros_like(candidates)
        out[rows, cells] = bits
        certain = candidates.sum(axis=1) == 1
        out[certain] = candidates[certain]
        return out

    def words(self) -> str:
        """Return the odds of a flip."""
        return (
            "one bit for each cell that is possible says whether it is the true one; each bit is flipped with "
            f"probability {percent(self.among(2).q)}, unless only one cell is possible"
        )


class CandidateKary(CandidateResponse):
    r"""Name one candidate: the own one with probability p, else another one uniformly, equations (16) and (17).

    .. math:: p \le \frac{e^\varepsilon}{e^\varepsilon + |V_i| - 1}, \qquad q = \frac{1 - p}{|V_i| - 1}

    Proof. The candidates do not depend on private values, so neighbours choose from the same ``V_i``; each of its
    cells is named with probability ``p`` or ``q``, and ``p/q <= e**epsilon``, the dyadic ``p`` being rounded down;
    other cells are never named, under either neighbour.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> candidates = np.array([[True, True, False, True]] * 5)
    >>> CandidateKary(2.0).named(np.ones(5, dtype=np.int64), candidates, SeededRandomness(1)).tolist()
    [3, 0, 1, 1, 1]
    """

    name = "candidate k-ary"
    response = "k_ary"

    def among(self, k: int) -> KaryResponse:
        """Return the k-ary response over ``k`` categories."""
        return _k_ary(self.epsilon, k)

    def named(self, own: IntArray, candidates: BoolArray, randomness: Randomness | None = None) -> IntArray:
        """Return the cell that each holder names."""
        source = as_randomness(randomness)
        out = np.array(own, dtype=np.int64)
        sizes = candidates.sum(axis=1, dtype=np.int32)
        width = candidates.shape[1]
        for k in np.unique(sizes[sizes > 1]).tolist():
            rows = np.flatnonzero(sizes == k)
            rows = rows[~bernoulli(self.among(k).truth, rows.size, source)]
            place = source.integers(k - 1, rows.size)
            flat = np.flatnonzero(candidates[rows])  # k for each row, in order
            line = np.arange(rows.size)
            own_place = np.searchsorted(flat, line * width + out[rows]) - line * k
            place += place >= own_place  # skip the own one: the others, in order, are 0 .. k-2
            out[rows] = flat[line * k + place] - line * width
        return out

    def support(self, own: IntArray, candidates: BoolArray, randomness: Randomness | None = None) -> BoolArray:
        """Return one row a holder with the named cell set."""
        out = np.zeros_like(candidates)
        out[np.arange(len(out)), self.named(own, candidates, randomness)] = True
        return out

    def words(self) -> str:
        """Return the odds of the true one of two cells."""
        return (
            "one of the cells that are possible is named: of two the true one with probability "
            f"{percent(self.among(2).p)}, of more less often, a single one always"
        )


def _own_and_cells(given: tuple[int, npt.ArrayLike]) -> tuple[int, list[int]]:
    """Return the own cell and all candidates."""
    own = given[0]
    cells = np.flatnonzero(given[1]).tolist()
    if own not in cells:
        raise HedgerowError(f"the own cell must be one of the candidates {cells}.")
    return own, cells


_SOME = (True, False, True, True)
_TWO = (True, False, True, False)

AUDITS = (
    Audit(
        "candidate bits",
        CandidateBits,
        (Chance((0, _SOME), lambda cells: 0 not in cells), Chance((0, _SOME), lambda cells: 2 in cells)),
        inputs=lambda response: [(own, _SOME) for own in (0, 2, 3)],
        outside=((1, _SOME), (4, _SOME), (-1, _SOME)),
    ),
    Audit(
        "candidate k-ary",
        CandidateKary,
        (Chance((0, _TWO), lambda cells: cells == (0,)),),
        inputs=lambda response: [(own, _SOME) for own in (0, 2, 3)],
        outside=((1, _SOME), (4, _SOME), (-1, _SOME)),
    ),
)
