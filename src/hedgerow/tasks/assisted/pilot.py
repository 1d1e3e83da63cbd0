"""The pilot: a few holders tell roughly how wrong the public model is, before the others are asked where.

The task after it clips errors to a radius, and decodes with the share of errors within; both come from public records.
Where private labels spread more (or less), they are wrong, and the pilot's totals put them right. Whoever answers the
pilot is asked nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Budget
from hedgerow.grid import LARGEST, check_label_bounds, label_numbers, middle
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.portable import PortableModel
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector, named
from hedgerow.tasks.assisted.design import PILOT
from hedgerow.tasks.assisted.influence import PilotForgery
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import for_each
from hedgerow.types import ByteRows, FloatArray, IntArray
from hedgerow.values import RULE

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.pilot_totals import PilotTotals
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import Totals

__all__ = ["AUDITS", "MULTIPLES", "PilotMessage", "PilotTask", "pilot_multiples"]


MULTIPLES = ((1.5,), (0.7, 2.0), (0.5, 1.2, 2.8), (0.4, 0.9, 1.8, 4.0), (0.3, 0.6, 1.0, 1.7, 3.0, 5.5))
"""Where errors are cut, on both sides of 0, in multiples of their public root mean square; coarsest first."""
_FINE_ENOUGH = 0.8  # of the coarsest kappa: a variance of at most 1/.8**2 = 1.6 times the least; by hand


def pilot_multiples(epsilon: float) -> tuple[float, ...]:
    r"""Return the finest of :data:`MULTIPLES` whose answers carry nearly as much as those of the coarsest.

    The share of errors in any set of bins is estimated with a variance of at most :math:`1/(4 n \kappa^2)`, where
    :math:`\kappa = p - q` of k-ary response; kappa may fall to .8 of what three bins have.

    >>> [1 + 2 * len(pilot_multiples(epsilon)) for epsilon in (0.5, 2, 3, 4)]
    [3, 5, 7, 13]
    """
    kappa = [PilotMessage(epsilon, 1 + 2 * len(m)).kappa for m in MULTIPLES]
    return max((m for m, k in zip(MULTIPLES, kappa, strict=True) if k >= _FINE_ENOUGH * kappa[0]), key=len)


@dataclass(frozen=True)
class PilotMessage(LocalMechanism, Message):
    """k-ary response about the bin of an error; a report is one byte.

    Proof that it is epsilon-DP for (x, y) jointly: the bin is a function of the record and of what was published, and
    :class:`~hedgerow.mechanisms.KaryResponse` is epsilon-DP for the bin.

    >>> PilotMessage(1.0, 3).randomize(np.array([0, 2]), 1).tolist()
    [[2], [1]]
    """

    epsilon: float
    n_inputs: int
    name = "pilot message"
    code = CODES["pilot"]
    width = 1
    largest = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if not 2 <= self.n_inputs <= 255:  # one byte names a bin
            raise HedgerowError(f"'edges' must make 2 .. 255 bins. Got {self.n_inputs} instead.")

    @cached_property
    def response(self) -> KaryResponse:
        """What randomises the bin."""
        return KaryResponse(self.epsilon, self.n_inputs)

    @property
    def kappa(self) -> float:
        """How much likelier the own bin is than another given one, p - q."""
        return float(self.response.p - self.response.q)

    @property
    def n_sums(self) -> int:
        """Return the number of totals: reports of each bin."""
        return self.n_inputs

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | int | None = None) -> ByteRows:
        """Return one message a row, for holders in these bins."""
        sent = self.response.randomize(self._check(values), as_randomness(randomness))
        return sent.astype(np.uint8)[:, None]

    def validate(self, rows: ByteRows) -> None:
        """Refuse bytes that no holder could have sent."""
        if rows.size and rows.max() >= self.n_inputs:
            raise FormatError("a report names a bin beyond the last; it was not made for this task.")

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the totals of messages."""
        return self.response.support(rows[:, 0])

    def law(self, value: int) -> Law:
        """Return the exact law of the bin that is sent."""
        law = self.response.law(value)
        return Law(tuple((o,) for o in law.outputs), law.weights)

    def words(self) -> str:
        """Return the odds of the true bin and of each other one."""
        return self.response.odds("bins of the error")


AUDITS = (
    Audit(
        "pilot message",
        lambda epsilon: PilotMessage(epsilon, 5),
        (Chance(0, lambda sent: sent == (0,)), Chance(0, lambda sent: sent == (1,))),
    ),
)


@dataclass(frozen=True, eq=False)
class PilotTask(Task, what="pilot task", format="hedgerow/pilot-task", version=2):
    """A question to a few holders: in which bin ``clip(y) - g(x)`` is, the error of the public model.

    Frozen; equal content means equal :attr:`id`. Make one with :func:`hedgerow.local.assisted.design_pilot`.

    Attributes
    ----------
    epsilon : float
        Budget of one report about the whole record.
    label_bounds : (low, high)
        Public range of the label; labels outside are clipped by the holder, public predictions too.
    space : FeatureSpace
        Public ranges and categories.
    public_model : PortableModel
        The public model.
    edges : tuple of float
        Where bins meet, rising, in label units; an error on an edge belongs to the bin above it.
    missing : float
        What a missing label counts as; by default the middle of the bounds.
    """

    kind = "pilot"
    designed = PILOT
    in_words = "Pilot: how wrong a public model is, for the task after it"
    makes = "pilot"

    epsilon: Budget
    label_bounds: tuple[float, float]
    space: FeatureSpace
    public_model: PortableModel
    edges: tuple[float, ...]
    target: str = "y"
    missing: float = cast("float", None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "label_bounds", check_label_bounds(self.label_bounds))
        object.__setattr__(self, "missing", middle(*self.label_bounds, self.missing, "the label"))
        object.__setattr__(self, "edges", tuple(float(e) + 0.0 for e in self.edges))
        if self.public_model.n_columns != len(self.space):
            raise FormatError("the public model of this task does not fit its features.")
        if not all(abs(e) <= LARGEST for e in self.edges) or not (np.diff(self.edges) > 0).all():
            raise FormatError(f"'edges' must be finite numbers, each above the last. Got {list(self.edges)} instead.")
        _ = self.encoding.response  # refuses what cannot be reported now rather than on the devices

    @cached_property
    def encoding(self) -> PilotMessage:
        """The message."""
        return PilotMessage(self.epsilon, len(self.edges) + 1)

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one."""
        return replace(self, missing=missing)

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return labels, clipped to the bounds; missing ones as the task says."""
        labels = label_numbers(y, self.label_bounds, self.missing, name=name, n=n)
        return np.clip(labels.astype(np.float64), *self.label_bounds)

    def inputs(self, Z: npt.ArrayLike, y: FloatArray) -> tuple[IntArray]:
        """Return what is randomised: the bin of the error of encoded records with clipped labels."""
        return (self.bins(y - self.public_model.predict_within(Z, self.label_bounds)),)

    def bins(self, errors: npt.ArrayLike) -> IntArray:
        """Return the bin of each error."""
        return np.searchsorted(self.edges, np.asarray(errors), side="right").astype(np.int64)

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        once = "one report a person: who answers the pilot is asked nothing else, a further report spends again"
        notes = (once, RULE)
        return Guarantee(epsilon=self.epsilon, protects="record", trust="local", neighbours="replace", notes=notes)

    def question(self) -> Question:
        """Return what is asked: the features and the label."""
        return Question(self.space.columns, LabelField(self.target, self.label_bounds, self.missing))

    def odds(self) -> list[str]:
        """Return what is done to the error of the public model."""
        from hedgerow.tasks.assisted.words import pilot_odds

        return pilot_odds(self)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent; see :mod:`hedgerow.tasks.assisted.picture`."""
        from hedgerow.tasks.assisted.picture import pilot_picture

        return pilot_picture(self, payloads, Z, y)

    def alarms(self) -> Detector:
        """Watch how often each bin is named."""
        bins = [f"bin {j} of the errors" for j in range(self.encoding.n_inputs)]
        return named(bins, float(self.encoding.response.p), float(self.encoding.response.q), self.encoding.sums)

    def influence(self) -> PilotForgery:
        """Return the most that one forged report can do to a bin."""
        return PilotForgery(self)

    def model(self, totals: Totals) -> PilotTotals:
        """Return the totals in the form that the design of the next task reads."""
        from hedgerow.tasks.assisted.pilot_totals import PilotTotals

        return PilotTotals(self, totals.n_reports, tuple(totals.sums.tolist()), totals.simulation)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the bin of the error of encoded records."""
        (bins,) = for_each(self, self.inputs, Z, y)
        return Drawn(self.encoding.randomize(bins, source))

    def __repr__(self) -> str:
        bins = len(self.edges) + 1
        return f"PilotTask(id={self.id[:12]}..., epsilon={self.epsilon:g}, {bins} bins, {self.public_model})"
