"""The task of the aggregate model: the public model, trees, and how a record becomes bits that two servers add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from hedgerow.aggregate import Protocol, Servers, share
from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Budget
from hedgerow.grid import LARGEST, SMALLEST, LabelGrid, check_label_bounds, label_numbers, middle
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.bit_sums import BitSums
from hedgerow.portable import PortableModel
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import LeafNumbers, PublicTrees, leaf_numbers
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import IN_RECORD, for_each
from hedgerow.tasks.reports import TOKEN_BYTES
from hedgerow.tasks.sums.design import DESIGN
from hedgerow.tasks.sums.earlier import Earlier
from hedgerow.tasks.sums.message import SumsMessage
from hedgerow.tasks.sums.noisy import MOST, NoisySums, release
from hedgerow.tasks.sums.process import Process
from hedgerow.tasks.sums.steps import Step, corrections
from hedgerow.types import FloatArray, IntArray
from hedgerow.values import RULE

if TYPE_CHECKING:
    from hedgerow.tasks.sums.model import SumsModel

__all__ = ["SumsTask"]

MOST_BITS = 1 << 14  # of a vector: a report then has about 270 kB
_ROWS = 1 << 15  # records encoded at a time in a simulation
_ROUNDED = 1e-6  # that a sum of shares may be off by; rounding alone makes less than 1e-12
_NOTES = (
    "the curator may be in league with one of the two servers: the noise of the other alone suffices",
    "up to the security of the encryption; who takes part is visible to both servers",
    "if both servers are in league, nothing protects a holder but that its record is reduced to one cell a tree",
    "one report a person, in one batch that is collected once; every further report spends epsilon again",
)


@dataclass(frozen=True, eq=False)
class SumsTask(Task, what="sums task", format="hedgerow/sums-task", version=2):
    """A question to one group of holders: in each tree, the leaf, and whether the model errs upwards or downwards.

    A holder's vector has two bits a leaf, ``2 leaf`` for a residual that was rounded down and ``2 leaf + 1`` for one
    that was rounded up, leaves being numbered through all trees; one bit is set in each tree. Two servers add vectors
    up without seeing one, and release the sums with noise.

    Attributes
    ----------
    epsilon, delta : float
        What the release of the sums costs a holder.
    label_bounds : (low, high)
        Public range of the label; labels outside are clipped by the holder, predictions by everyone.
    space : FeatureSpace
        Public ranges and categories.
    public_model : PortableModel
        The public model.
    steps : tuple of Step
        What is added to it so far; the last is the forest whose leaf values this group corrects.
    trees : Trees
        Partitions of (design of the record, public prediction, what steps add); their values are public shares.
    radius : float
        Residuals, of the public model and all steps, are clipped to ``[-radius, radius]``.
    levels : tuple of float
        Empty in a group that learns. In one that checks, what the steps add in each leaf, on average.
    sizes, group : tuple of int, int
        How many holders each group of the chain is to have, and which of them this one is (from 0).
    residuals : Residuals
        Summary of public residuals.
    reference : array of shape (rows, trees)
        Leaves of rows like the public ones; the curator needs it to know which leaves overlap, holders do not.
    places : array of shape (rows, trees of the last step)
        The same in the forest of the last step.
    min_batch_size : int
        Servers release nothing of fewer reports.
    servers : Servers or None
        Who adds up; None in a simulation, which nobody can answer.
    missing : float
        What a missing label counts as; by default the middle of the bounds.
    earlier : tuple of Earlier
        What groups that learnt before told; the curator needs it, holders do not.
    process : Process or None
        The same rows for the bumps of the last step; the curator needs it, holders do not. None in a check.
    """

    kind = "sums"
    designed = DESIGN
    sealed = True
    in_words = "Private features and label; two servers add up, and nobody sees a record"

    epsilon: Budget
    delta: float
    label_bounds: tuple[float, float]
    space: FeatureSpace
    public_model: PortableModel
    steps: tuple[Step, ...]
    trees: PublicTrees
    radius: float
    levels: tuple[float, ...]
    sizes: tuple[int, ...]
    group: int
    residuals: Residuals
    reference: LeafNumbers
    places: LeafNumbers
    min_batch_size: int = 100
    servers: Servers | None = None
    target: str = "y"
    missing: float = cast("float", None)
    earlier: tuple[Earlier, ...] = ()
    process: Process | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "label_bounds", check_label_bounds(self.label_bounds))
        object.__setattr__(self, "missing", middle(*self.label_bounds, self.missing, "the label"))
        object.__setattr__(self, "radius", float(self.radius))
        if not 0 < self.delta < 1:
            raise HedgerowError(f"The 'delta' parameter must be above 0 and below 1. Got {self.delta!r} instead.")
        if not SMALLEST <= self.radius <= LARGEST:  # so that an error over the radius is finite
            raise HedgerowError(f"The 'radius' parameter must be in 1e-100 .. 1e100. Got {self.radius!r} instead.")
        if not 1 <= self.min_batch_size < MOST:
            raise HedgerowError(f"'min_batch_size' must be in 1 .. {MOST - 1}. Got {self.min_batch_size!r} instead.")
        if min(self.sizes, default=0) < 1 or max(self.sizes) >= MOST or not 0 <= self.group < len(self.sizes):
            raise FormatError("'sizes' must be whole numbers above 0, of which 'group' is one.")
        if not self.steps:
            raise FormatError("'steps' must have a forest to begin with, if only of zeros.")
        object.__setattr__(self, "reference", leaf_numbers(self.reference, self.trees))
        object.__setattr__(self, "places", leaf_numbers(self.places, self.steps[-1].trees))
        self._check_trees()

    def _check_trees(self) -> None:
        columns = len(self.public_model.column) + 2
        widest = max((step.trees.n_features for step in self.steps), default=0)
        if self.public_model.n_columns != len(self.space) or max(self.trees.n_features, widest) > columns:
            raise FormatError("the public model and the trees of this task do not fit its features.")
        if not 2 <= self.length <= MOST_BITS:
            raise FormatError(f"the trees of this task must have 1 .. {MOST_BITS // 2} leaves together.")
        if len(self.levels) not in (0, self.length // 2):
            raise FormatError("'levels' must be none, or one a leaf.")
        for name, rows, trees in (
            ("reference", self.reference, self.trees),
            ("places", self.places, self.steps[-1].trees),
        ):
            fits = rows.ndim == 2 and rows.shape == (len(self.reference), len(trees.sizes)) and len(rows)
            if not fits or (rows >= np.array(trees.n_leaves)).any():
                raise FormatError(f"{name!r} must name a leaf of each tree, in as many rows, one or more.")
        if any(len(before.sent) != len(self.reference) for before in self.earlier):
            raise FormatError("'earlier' groups of this task must have its rows.")
        self._check_bumps()
        shares = np.split(self.trees.value, np.cumsum(self.trees.n_leaves)[:-1])
        if not all(abs(share.sum() - 1) < _ROUNDED and share.min() >= 0 for share in shares):
            raise FormatError("the leaves of each tree of this task must have public shares that add up to 1.")

    def _check_bumps(self) -> None:
        design = len(self.public_model.column)
        if any(step.bumps is not None and step.bumps.n_features != design for step in self.steps):
            raise FormatError("the bumps of a step do not fit the public model of this task.")
        if self.process is None:
            return
        bumps = self.steps[-1].bumps
        fits = bumps is not None and bumps.points.shape == self.process.centres.shape
        if not fits or len(self.process.points) != len(self.reference):
            raise FormatError("'process' must have the rows of this task, and the last step a bump a centre of it.")

    # What both servers need to know.

    @property
    def length(self) -> int:
        """Bits of a vector."""
        return 2 * sum(self.trees.n_leaves)

    def at_rows(self, last: Step) -> FloatArray:
        """Return what the last step says for the rows of ``places``, with these values of leaves and bumps, uncut."""
        first = np.cumsum((0, *last.trees.n_leaves[:-1]))
        found: FloatArray = last.trees.value[first + self.places.astype(np.int64)].sum(axis=1)
        if self.process is None or last.bumps is None:
            return found
        return found + self.process.predict(last.bumps.weights)

    @cached_property
    def sent(self) -> FloatArray:
        """What the last step adds, for the rows of ``places``."""
        last = self.steps[-1]
        return np.clip(self.at_rows(last), -last.bound, last.bound)

    @property
    def open(self) -> float:
        """The share of the prior variance of the error that earlier groups have left open."""
        return self.earlier[-1].left if self.earlier else 1.0

    @property
    def weight(self) -> int:
        """Bits that are set, one a tree."""
        return len(self.trees.sizes)

    @cached_property
    def encoding(self) -> SumsMessage:
        """The message, with its circuit."""
        return SumsMessage(self.length, self.weight)

    @cached_property
    def variance(self) -> Fraction:
        """The ``sigma**2`` of the discrete Gaussian noise that *each* server adds to every sum.

        It follows from epsilon, delta and the circuit, so that no task can state less (:class:`BitSums` has the proof).
        """
        return BitSums(self.epsilon, self.delta, self.weight, self.length).variance

    @cached_property
    def protocol(self) -> Protocol | None:
        """How both servers verify, add up and release; None in a simulation."""
        if self.servers is None:
            return None
        circuit = self.encoding.circuit
        rules = (circuit.length, circuit.max_weight, circuit.chunk, self.variance, self.min_batch_size)
        return Protocol(self.digest, *rules, self.servers)

    @property
    def guarantee(self) -> Guarantee:
        """What the release of sums protects, and from whom."""
        claim = {"protects": "record", "trust": "aggregate", "neighbours": "replace"}
        return Guarantee(self.epsilon, self.delta, **claim, notes=(*_NOTES, RULE))  # type: ignore[arg-type]

    # The holder's side.

    def question(self) -> Question:
        """Return what is asked: the features and the label."""
        return Question(self.space.columns, LabelField(self.target, self.label_bounds, self.missing))

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one."""
        return replace(self, missing=missing)

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return labels, clipped to the bounds; missing ones as the task says."""
        labels = label_numbers(y, self.label_bounds, self.missing, name=name, n=n)
        return np.clip(labels.astype(np.float64), *self.label_bounds)

    @property
    def grid(self) -> LabelGrid:
        """Both signs of the clipped residual over the radius."""
        return LabelGrid(-1.0, 1.0, 1)

    def columns(self, Z: npt.ArrayLike) -> FloatArray:
        """Return design, public prediction and what steps add, of encoded records."""
        g = self.public_model.predict_within(Z, self.label_bounds)
        return corrections(self.steps, self.public_model.design(Z), g)

    def inputs(self, Z: npt.ArrayLike, y: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the leaf in every tree, and the error over the radius (not clipped yet)."""
        columns = self.columns(Z)
        return self.trees.apply(columns), (y - columns[:, -2] - columns[:, -1]) / self.radius

    def set_bits(self, Z: Any, y: Any, source: Randomness) -> IntArray:
        """Return which bits encoded records set, of shape (n, trees); the sign of a residual is rounded at random."""
        leaf, error = for_each(self, self.inputs, Z, y)
        first = np.cumsum((0, *self.trees.n_leaves[:-1]))
        found: IntArray = 2 * (first + leaf) + self.grid.levels(error, source)[:, None]
        return found

    def set_bits_of(self, record: Any, label: Any = IN_RECORD, randomness: Randomness | int | None = None) -> IntArray:
        """Return which bits one record sets, whatever is in it."""
        found: IntArray = self.set_bits(*self.encode_record(record, label), as_randomness(randomness))[0]
        return found

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Encode records, and seal a share of each for either server."""
        if self.protocol is None:
            raise HedgerowError("this task names no servers, so that nobody can answer it: it is for simulation only.")
        bits = self.set_bits(Z, y, source)
        tokens = source.uint8(TOKEN_BYTES * len(bits)).reshape(-1, TOKEN_BYTES)
        payloads = np.empty((len(bits), self.encoding.width), dtype=np.uint8)
        for token, row, payload in zip(tokens, bits, payloads, strict=True):
            report_id = self.digest[:4] + token.tobytes()
            sealed = share(self.protocol, report_id, self.encoding.bits(row), source)
            payload[:] = np.frombuffer(sealed, dtype=np.uint8)
        return Drawn(payloads, tokens)

    # The curator's side.

    def _simulate(self, X: Any, y: Any, source: Randomness, private: Any, kept: Any) -> Any:
        """Return the sums that two servers would release: exact sums, and one noise each."""
        Z, labels = self.encode(X, y)
        sums = np.zeros(self.length, dtype=np.int64)
        for start in range(0, len(Z), _ROWS):
            part = slice(start, start + _ROWS)
            bits = self.set_bits(Z[part], labels[part], source)
            sums += np.bincount(bits.ravel(), minlength=self.length)
        return release(self, sums, len(Z), source)

    def collected(self, n: int, sums: Any, simulation: bool) -> NoisySums:
        """Return the sums that two servers have released."""
        return NoisySums(self.id, n, tuple(int(value) for value in sums), simulation).of(self)

    def model(self, totals: NoisySums, **options: Any) -> SumsModel:
        """Return the public model, corrected as far as these sums carry evidence."""
        from hedgerow.tasks.sums.model import SumsModel

        found = totals.of(self)
        return SumsModel(self, found.n_reports, found.sums, found.simulation, **options)

    def odds(self) -> list[str]:
        """Return what becomes of a record."""
        noise = float(self.variance) ** 0.5
        return [
            f"in each of {self.weight} trees one of {self.length} bits is set: the leaf, and the sign of the error",
            f"an error is cut to {self.radius:.3g} either way, and rounded up or down at random",
            "the bits are split into two shares, each of which is random alone, and sealed for the two servers",
            f"each server adds noise with a standard deviation of {noise:.3g} to every sum before it leaves",
        ]

    def __repr__(self) -> str:
        return (
            f"SumsTask(id={self.id[:12]}..., group {self.group + 1} of {len(self.sizes)}, epsilon={self.epsilon:g}, "
            f"delta={self.delta:g}, {self.weight} trees of up to {max(self.trees.n_leaves)} leaves, "
            f"radius={self.radius:.3g}, {self.public_model})"
        )
