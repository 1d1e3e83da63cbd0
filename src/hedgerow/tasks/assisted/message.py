"""The one message of a holder: a tree drawn at random, and (leaf in that tree, clipped residual) randomised jointly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.joint import JointMechanism, LevelResponse, SignedSubset
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.alarms import MOST_EVENTS, Detector, join, within
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.tree.encoding import pack, unpack
from hedgerow.types import ByteRows, IntArray

__all__ = ["AUDITS", "RANDOMIZERS", "AssistedMessage", "build_joint"]

RANDOMIZERS = ("subset", "levels")
MOST_TREES = 255  # one byte names a tree
MOST_LEAVES = 4096  # of a tree: a report of a subset then has 1 kB, two bits a leaf


def build_joint(kind: str, parameter: int, epsilon: float, n_leaves: int) -> JointMechanism:
    """Return the joint randomiser for a tree with this number of leaves.

    >>> build_joint("subset", 8, 1.0, 3)
    SignedSubset(epsilon=1.0, n_leaves=3, size=3)
    """
    if kind == "subset":
        return SignedSubset(epsilon, n_leaves, min(parameter, n_leaves))
    if kind == "levels":
        return LevelResponse(epsilon, n_leaves, parameter)
    raise HedgerowError(f"The 'randomizer' parameter must be one of {list(RANDOMIZERS)}. Got {kind!r} instead.")


@dataclass(frozen=True)
class AssistedMessage(LocalMechanism, Message):
    r"""Draw tree t uniformly, send ``(t, randomiser_t(leaf_t(x), level))``.

    Proof that the whole message is epsilon-DP for (x, y) jointly: t is drawn without looking at the record, and given
    t the rest is an epsilon-DP function of (leaf_t, level); so ``P(t, o | x, y) = P(o | leaf_t, level)/T``, and the
    ratio for two records is that of the randomiser of tree t, at most ``e**epsilon``. A level drawn at random around
    the residual makes P a mixture over levels, whose ratios cannot be larger.

    As a mechanism its inputs are all combinations of (leaf in every tree, level), the last changing fastest. A report
    is a row of bytes: t, then two bits a leaf (named, sign) or a two-byte symbol.

    Examples
    --------
    >>> message = AssistedMessage(1.0, (2, 3), "subset", 1)
    >>> message.n_inputs, message.width
    (12, 3)
    >>> message.randomize(np.array([0, 11]), 1).tolist()
    [[0, 2, 0], [0, 2, 0]]
    """

    epsilon: float
    leaves: tuple[int, ...]
    kind: str
    parameter: int
    name = "assisted message"

    def __post_init__(self) -> None:
        if not 1 <= len(self.leaves) <= MOST_TREES or not all(1 <= k <= MOST_LEAVES for k in self.leaves):
            raise HedgerowError(f"'trees' must be 1 .. {MOST_TREES} trees of 1 .. {MOST_LEAVES} leaves.")
        if len({m.n_levels for m in self.joint}) != 1 or self.n_symbols > 1 << 16:
            raise HedgerowError("'levels' are too many for these trees.")

    @cached_property
    def joint(self) -> tuple[JointMechanism, ...]:
        """The randomiser of each tree."""
        return tuple(build_joint(self.kind, self.parameter, self.epsilon, k) for k in self.leaves)

    @property
    def n_levels(self) -> int:
        """Number of levels a residual is rounded to."""
        return self.joint[0].n_levels

    @property
    def n_symbols(self) -> int:
        """Largest number of symbols of a tree (for levels)."""
        return max((m.n_symbols for m in self.joint if isinstance(m, LevelResponse)), default=0)

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Leaves of all trees times levels."""
        return math.prod(self.leaves) * self.n_levels

    @property
    def code(self) -> int:
        """Code of this kind of message in a report."""
        return CODES[f"assisted {self.kind}"]

    @property
    def _bits(self) -> int:
        return (max(self.leaves) + 7) // 8

    @property
    def width(self) -> int:
        """Length in bytes."""
        return 3 if self.kind == "levels" else 1 + 2 * self._bits

    @property
    def n_sums(self) -> int:
        """For each tree: reports, scores by leaf, leaves named."""
        return sum(1 + 2 * k for k in self.leaves)

    @property
    def largest(self) -> int:
        """Return the most that one message adds to a total."""
        return max(1, *(m.top for m in self.joint))

    def draw(self, leaf: IntArray, level: IntArray, source: Randomness) -> ByteRows:
        """Return one message a row for holders in ``leaf[:, t]`` of every tree, with residuals at ``level``."""
        tree = source.integers(len(self.leaves), len(level))
        rows = np.zeros((len(level), self.width), dtype=np.uint8)
        rows[:, 0] = tree
        for t, joint in enumerate(self.joint):
            own = np.flatnonzero(tree == t)
            rows[own, 1:] = self._pack(joint.randomize(leaf[own, t] * self.n_levels + level[own], source))
        return rows

    def _pack(self, reports: npt.NDArray[Any]) -> ByteRows:
        if self.kind == "levels":
            return reports.astype("<u2").view(np.uint8).reshape(-1, 2)
        wide = np.zeros((len(reports), 8 * self._bits), dtype=np.int8)
        wide[:, : reports.shape[1]] = reports
        return np.hstack([pack(wide != 0), pack(wide > 0)])

    def _unpack(self, rows: ByteRows) -> npt.NDArray[Any]:
        """Return symbols, or scores of as many leaves as fit."""
        body = np.ascontiguousarray(rows[:, 1:])
        if self.kind == "levels":
            return body.view("<u2")[:, 0].astype(np.int64)
        named, positive = (unpack(b, 8 * self._bits).astype(np.int8) for b in np.split(body, 2, axis=1))
        scores: npt.NDArray[Any] = 2 * positive - named
        return scores

    def validate(self, rows: ByteRows) -> None:
        """Refuse bytes that no holder could have sent."""
        if rows.size and (rows[:, 0] >= len(self.leaves)).any():
            raise FormatError("a report names a tree beyond the last; it was not made for this task.")
        for t, joint in enumerate(self.joint):
            reports = self._unpack(rows[rows[:, 0] == t])
            if isinstance(joint, SignedSubset):
                fits = (np.abs(reports[:, : joint.n_leaves]) == 1).sum(axis=1) == joint.size
                fits &= (reports[:, joint.n_leaves :] == 0).all(axis=1) & (np.abs(reports) <= 1).all(axis=1)
            else:
                fits = reports < joint.n_symbols  # type: ignore[attr-defined]
            if not fits.all():
                raise FormatError("a report names leaves that its tree does not have; it was not made for this task.")

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the totals of messages."""
        parts = []
        for t, joint in enumerate(self.joint):
            own = rows[rows[:, 0] == t]
            total = np.zeros((2, joint.n_leaves), dtype=np.int64)
            for start in range(0, len(own), 1 << 14):
                reports = self._unpack(own[start : start + (1 << 14)])
                total += joint.sums(reports if self.kind == "levels" else reports[:, : joint.n_leaves])
            parts += [np.array([len(own)]), total.ravel()]
        return np.concatenate(parts)

    def split(self, sums: IntArray) -> list[tuple[int, IntArray, IntArray]]:
        """Return ``(reports, scores, named)`` of each tree."""
        out = []
        at = 0
        for k in self.leaves:
            out.append((int(sums[at]), sums[at + 1 : at + 1 + k], sums[at + 1 + k : at + 1 + 2 * k]))
            at += 1 + 2 * k
        return out

    def alarms(self) -> Detector:
        """Watch which trees are named, and what of each: leaves with signs, or symbols.

        A tree is drawn without looking at the record: probability 1/T. Of the tree t, a leaf is named with a sign with
        probability P1/T or P2/T by its own holders and with half of what others name it with; a symbol with p/T or q/T.
        """
        T = len(self.leaves)
        trees = within([f"tree {t}" for t in range(T)], 1 / T, 1 / T, lambda rows: np.bincount(rows[:, 0], minlength=T))
        parts = [trees]
        for t, joint in enumerate(self.joint):
            if sum(len(part.events) for part in parts) + 2 * joint.n_leaves + self.n_symbols > MOST_EVENTS:
                break
            parts.append(self._tree_alarms(t, joint))
        return join(parts)

    def _tree_alarms(self, t: int, joint: JointMechanism) -> Detector:
        def own(rows: ByteRows) -> npt.NDArray[Any]:
            return self._unpack(rows[rows[:, 0] == t])

        if isinstance(joint, SignedSubset):
            truth, turned = joint._own
            other = joint.naming[1] / 2 if joint.n_leaves > 1 else truth
            chances = [float(c) / len(self.leaves) for c in (truth, turned, other)]
            names = [f"tree {t}, leaf {j} {sign}" for sign in ("above", "below") for j in range(joint.n_leaves)]

            def signs(rows: ByteRows) -> IntArray:
                scores = own(rows)[:, : joint.n_leaves]
                return np.concatenate([(scores > 0).sum(axis=0), (scores < 0).sum(axis=0)])

            return within(names, min(chances), max(chances), signs)
        assert isinstance(joint, LevelResponse)
        p, q = (float(c) / len(self.leaves) for c in (joint.response.p, joint.response.q))
        names = [f"tree {t}, symbol {s}" for s in range(joint.n_symbols)]
        return within(names, q, p, lambda rows: np.bincount(own(rows), minlength=joint.n_symbols))

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | int | None = None) -> ByteRows:
        """Return the messages of holders given as inputs of the mechanism (for audits)."""
        index = self._check(values)
        leaf = []
        index, level = np.divmod(index, self.n_levels)
        for k in reversed(self.leaves):
            index, own = np.divmod(index, k)
            leaf.append(own)
        return self.draw(np.column_stack(leaf[::-1]), level, as_randomness(randomness))

    def law(self, value: int) -> Law:
        """Return the exact law of (tree, report)."""
        index, level = divmod(int(value), self.n_levels)
        leaf: list[int] = []
        for k in reversed(self.leaves):
            index, own = divmod(index, k)
            leaf.insert(0, own)
        laws = [m.law(own * self.n_levels + level) for m, own in zip(self.joint, leaf, strict=True)]
        common = math.lcm(*(law.total for law in laws))
        outputs = [zip(itertools.repeat(t), law.outputs) for t, law in enumerate(laws)]
        weights = [w * (common // law.total) for law in laws for w in law.weights]
        return Law(tuple(itertools.chain(*outputs)), tuple(weights))

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return (tree, report) of each message."""
        reports = self._unpack(drawn).tolist()
        if self.kind == "levels":
            return list(zip(drawn[:, 0].tolist(), reports, strict=True))
        return [(t, tuple(r[: self.leaves[t]])) for t, r in zip(drawn[:, 0].tolist(), reports, strict=True)]

    def words(self) -> str:
        """Return the odds in the trees with the fewest and the most leaves."""
        ordered = sorted(self.joint, key=lambda joint: joint.n_leaves)
        odds = dict.fromkeys(joint.words() for joint in (ordered[0], ordered[-1]))
        return f"one of {len(self.leaves)} trees is drawn without looking at the record; in it {', or '.join(odds)}"


def _named(tree: int, answer: Any) -> Chance:
    """Return the chance of an answer in a tree, for holders of the first leaf there with the lowest level."""
    return Chance(0, lambda sent: _first(sent[1]) == answer, lambda sent: sent[0] == tree)


def _first(report: Any) -> int:
    """Return the score of the first leaf, or the symbol."""
    return int(report[0] if isinstance(report, tuple) else report)


AUDITS = (
    Audit(
        "assisted message",
        lambda epsilon: AssistedMessage(epsilon, (2, 3), "subset", 1),
        tuple(_named(tree, score) for tree in (0, 1) for score in (-1, 1)),
    ),
    Audit(
        "assisted message, levels",
        lambda epsilon: AssistedMessage(epsilon, (1, 2), "levels", 3),
        tuple(_named(tree, symbol) for tree in (0, 1) for symbol in (1, 0)),
    ),
)
