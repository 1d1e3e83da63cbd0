"""One round for holders who keep some features private: the error of a public model, randomised with all of epsilon.

The holder's side needs NumPy and the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Budget
from hedgerow.grid import LabelGrid, label_numbers
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.mechanisms.top import TopResponse
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.labels.alarms import code_alarms
from hedgerow.tasks.labels.task import check_codes
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.masks import Masked
from hedgerow.tasks.partly_public.reading import Reading
from hedgerow.tasks.partly_public.residual_design import DESIGN
from hedgerow.tasks.partly_public.residual_message import ResidualMessage, as_csv
from hedgerow.tasks.partly_public.symbols import check_symbols, symbol_odds
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import for_each
from hedgerow.types import ByteRows, FloatArray, IntArray
from hedgerow.values import RULE

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.corrected import CorrectedModel
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import KeptRows

__all__ = ["ResidualTask"]

_LEARN = "hedgerow.semi.learn", "corrected_model"
"""What learns corrections needs scikit-learn: it is with the estimator, and loaded when it is called."""
_ONE = "one report a person, in one round; every further report spends epsilon again"
_CLEAR = "the features are public, and sent in clear: nothing about them is protected"
_JOINT = (
    "the private features and the label act on a report through one randomised number alone, the error of a public "
    "model: replacing all of them at once is covered"
)
_SYMBOL = (
    "the private features and the label act on a report through one randomised symbol alone, a group of private values "
    "with the error of a public model: replacing all of them at once is covered"
)


@dataclass(frozen=True)
class ResidualTask(Masked, Task, what="residual task", format="hedgerow/residual-task", version=1):
    r"""Ask holders who keep the label and some features private how wrong a public model is for them.

    A holder computes ``y - g(x)`` from its whole record, private features included, rounds it to a grid on
    ``[-radius, radius]`` and randomises it with the whole epsilon; features that are not private go in clear. Where the
    task has ``cells``, groups of private values, the group and the level are one symbol, and that is randomised.

    Proof that it is epsilon-DP for (private features, label) jointly: with the public features (and the mask) fixed, a
    report is those in clear and ``M(symbol)``, where the symbol is drawn by a law that the record decides, and M is an
    epsilon-DP mechanism of symbols. So ``P(o | x, y) = sum_v P(v | x, y) P(M(v) = o)`` is a mixture over symbols, whose
    ratio for any two records with the same public features is at most ``e**epsilon``.

    Frozen; equal content means equal :attr:`id`.

    Attributes
    ----------
    epsilon : float
        Budget of one holder: the mechanism's.
    space : FeatureSpace
        The public schema of the features.
    assist : Assist
        The public model, the radius, and what is known of its public errors.
    mechanism : LevelMechanism
        What is done to the level of the error. With K cells and L levels its inputs are the symbols ``cell L + level``,
        and it is k-ary response among them.
    masks : {"policy", "personal"}
        "policy": ``private`` lists the private columns, the same for everybody. "personal": each holder chooses and
        says so.
    private : tuple of str
        Private columns of a policy.
    cells : Partition, optional
        Groups of private values that are told with the error.
    """

    kind = "residual"
    designed = DESIGN
    in_words = "Some features public, one round: the error of a public model"

    epsilon: Budget
    space: FeatureSpace
    assist: Assist
    mechanism: LevelMechanism
    masks: str = "policy"
    private: tuple[str, ...] = ()
    target: str = "y"
    title: str = ""
    cells: Partition | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        self._check_masks(("policy", "personal"))
        if not isinstance(self.mechanism, LevelMechanism) or isinstance(self.mechanism, TopResponse):
            raise HedgerowError(f"'mechanism' must be a mechanism of levels. Got {self.mechanism!r} instead.")
        if self.mechanism.epsilon != self.epsilon or self.mechanism.guarantee.delta:
            raise HedgerowError("'mechanism' must spend 'epsilon', all of it, and no delta.")
        check_codes(self.mechanism)
        if self.assist.public_model.n_columns != len(self.space):
            raise FormatError("the public model of this task does not fit its features.")
        if self.cells is not None:
            check_symbols(self.cells, self.space, self.mechanism)
        _ = self.grid  # refuses a radius that no grid has

    @property
    def n_cells(self) -> int:
        """Number of groups of private values; 1 where none are told."""
        return 1 if self.cells is None else self.cells.n_leaves

    @cached_property
    def grid(self) -> LabelGrid:
        """The grid of errors."""
        return LabelGrid(-self.assist.radius, self.assist.radius, self.mechanism.n_inputs // self.n_cells - 1)

    def groups(self, Z: FloatArray) -> IntArray:
        """Return the group of private values of encoded records; 0 where none are told."""
        if self.cells is None:
            return np.zeros(len(Z), dtype=np.int64)
        return self.cells.apply(Z).astype(np.int64)

    def inputs(self, Z: Any) -> FloatArray:
        """Return what corrections may read of whole records: encoded values, the public prediction and the group."""
        return np.column_stack([Z, self.assist.predict(Z), self.groups(Z)])

    @property
    def label_bounds(self) -> tuple[float, float]:
        """Public bounds of the label itself."""
        return self.assist.label_bounds

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one."""
        return replace(self, assist=replace(self.assist, missing=missing))

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return labels as numbers, missing ones as the task says."""
        found = label_numbers(y, self.label_bounds, self.assist.missing, name=name, n=n)
        return found.astype(np.float64)

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, from whom, and under which condition."""
        if self.masks == "policy" and not self.private:
            return Guarantee(
                self.epsilon, protects="label", trust="local", neighbours="label", notes=(_ONE, _CLEAR, RULE)
            )
        return Guarantee(
            epsilon=self.epsilon,
            protects="private features and label",
            trust="local",
            neighbours="replace",
            notes=(_ONE, _JOINT if self.cells is None else _SYMBOL, *self.conditions, RULE),
        )

    def question(self) -> Question:
        """Return what is asked: the features, of which some are sent in clear, and the label."""
        label = LabelField(self.target, self.label_bounds, self.assist.missing)
        return Question(self.space.columns, label, clear=self.clear, chooses=self.masks == "personal")

    @cached_property
    def encoding(self) -> ResidualMessage:
        """The message."""
        return ResidualMessage(self)

    @property
    def takes_mask(self) -> bool:
        """Masks are what the task is about."""
        return True

    def encode(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return records in double precision, and labels."""
        Z = self.read_features(X)
        return Z, self.labels(y, n=len(Z))

    def errors(self, Z: Any, y: Any) -> tuple[Any, FloatArray]:
        """Return encoded records, and the error of the public model for each."""
        return Z, self.assist.errors(Z, y)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the error; the mask, which is no part of the record, and public features go in clear."""
        mask = self.effective(private, len(Z))
        Z, error = for_each(self, partial(ResidualTask.errors, self), np.asarray(Z, dtype=np.float64), y)
        symbols = self.groups(Z) * (self.grid.n_steps + 1) + self.grid.levels(error, source)
        codes = self.mechanism.randomize(symbols, source)
        return Drawn(self.encoding.write(cast("IntArray", codes), mask, Z))

    @cached_property
    def reading(self) -> Reading:
        """How the curator reads answers."""
        return Reading(self.grid, self.mechanism, self.assist.residuals, self.label_bounds)

    def noisy_errors(self, codes: IntArray) -> FloatArray:
        """Return the noisy errors that outputs stand for, in units of the label."""
        return self.reading.read(self.grid.values(self.mechanism.positions(codes)))

    def model(self, totals: KeptRows, **options: Any) -> CorrectedModel:
        """Return the public model with corrections learnt from the reports."""
        module, name = _LEARN
        made: CorrectedModel = getattr(import_module(module), name)(self, totals, **options)
        return made

    def data(self, totals: KeptRows) -> tuple[str, bytes]:
        """Return public features and noisy errors, as CSV."""
        return "text/csv; charset=utf-8", as_csv(self, totals.reports().payloads)

    def odds(self) -> list[str]:
        """Return what leaves."""
        from hedgerow.tasks.partly_public.words import residual_odds

        return residual_odds(self)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what the error could have been sent as."""
        from hedgerow.tasks.picture import named, shares, values

        sent = int(self.encoding.read(payloads)[0][0])
        error = float(self.assist.errors(Z, y)[0])
        if self.cells is not None:
            first = int(self.groups(np.asarray(Z))[0]) * (self.grid.n_steps + 1)
            own = {first + level: share for level, share in shares(self.grid, error).items()}
            p, q = symbol_odds(self.mechanism)
            return (named(own, self.mechanism.n_inputs, p, q, sent),)
        return (replace(values(self.grid, self.mechanism, self.mechanism.code_range, sent, error), error=True),)

    def alarms(self) -> Detector:
        """Watch which outputs are sent."""
        return code_alarms(self.mechanism, at=0)

    def __repr__(self) -> str:
        return (
            f"ResidualTask(id={self.id[:12]}..., epsilon={self.epsilon:g}, masks={self.masks!r}, d={len(self.space)}, "
            f"{self.mechanism.name}, radius={self.assist.radius:.3g})"
        )
