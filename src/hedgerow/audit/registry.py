"""What ``hedgerow audit`` audits. A new mechanism is added in one line, at the end of this file.

Instances are small, so that every output can be enumerated; what they show holds for larger ones by the
proof in each mechanism's docstring, of which the audit checks every ingredient: the probabilities as rounded,
and the sampler as shipped.

Besides mechanisms there are *whole* entries: every kind of task as a device answers it, every central and label
estimator as it is fitted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

from hedgerow.audit.exact import audit_exact
from hedgerow.audit.examples import EXAMPLES
from hedgerow.audit.replay import whole_fits
from hedgerow.audit.result import AuditResult
from hedgerow.audit.sampled import audit_sampled, runner
from hedgerow.audit.whole import WholeTask
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import (
    BitVectorResponse,
    DiscreteLaplace,
    KaryResponse,
    Law,
    SubsetSelection,
    UnaryEncoding,
)
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.candidates import AmongCandidates, CandidateBits, CandidateKary
from hedgerow.mechanisms.cell_laplace import CellLaplace
from hedgerow.mechanisms.counts import NeighbouringCounts, NoisyCounts
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.gradual import GradualLaplace
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.joint import LevelResponse, SignedSubset
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.one_bit import OneBit
from hedgerow.mechanisms.record_laplace import RecordLaplace
from hedgerow.mechanisms.rounded_gaussian import NeighbouringSums
from hedgerow.mechanisms.selection import NeighbouringCosts, PermuteAndFlip
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE
from hedgerow.tasks.assisted.classes import ClassMessage
from hedgerow.tasks.assisted.message import AssistedMessage
from hedgerow.tasks.assisted.pilot import PilotMessage
from hedgerow.tasks.partly_public.law import small_protocol

__all__ = ["Auditable", "Entry", "audit_all", "auditables", "entries", "find", "register", "whole_tasks"]

_REGISTRY: dict[str, Auditable] = {}


class Entry(Protocol):
    """What the audit prints lines for."""

    @property
    def name(self) -> str:
        """As printed, and as the command takes it."""

    @property
    def whole(self) -> str:
        """What is audited whole: "task", "fit"; nothing for a mechanism."""

    @property
    def tiers(self) -> tuple[str, ...]:
        """The tiers of its results."""

    def results(self, epsilon: float, *, n: int, randomness: Randomness | int | None = None) -> Iterator[AuditResult]:
        """Yield the results at a claim of epsilon; ``n`` samples where samples are drawn."""


@dataclass(frozen=True)
class Auditable:
    """One line of the audit.

    Attributes
    ----------
    name : str
        As printed, and as ``--mechanism`` takes it.
    build : callable
        ``build(epsilon)`` returns a small instance that claims epsilon.
    law : callable, optional
        ``law(mechanism, value)`` where the mechanism's own ``law`` is too large to enumerate.
    pair : tuple, optional
        The two inputs of the sampled tier; the first and the last by default.
    """

    name: str
    build: Callable[[float], Any]
    law: Callable[[Any, int], Law] | None = None
    pair: tuple[Any, Any] | None = None
    whole: ClassVar[str] = ""
    tiers: ClassVar[tuple[str, ...]] = ("exact", "sampled")

    def exact(self, epsilon: float, mechanism: Any = None) -> AuditResult:
        """Audit the law of ``mechanism`` (``build(epsilon)`` by default) against the claim ``epsilon``."""
        mechanism = self.build(epsilon) if mechanism is None else mechanism
        law, own = self.law, mechanism.law
        result = audit_exact(mechanism, epsilon=epsilon, law=own if law is None else lambda v: law(mechanism, v))
        return replace(result, mechanism=self.name)

    def sampled(
        self,
        epsilon: float,
        mechanism: Any = None,
        *,
        n: int = 400_000,
        alpha: float = 1e-6,
        randomness: Randomness | int | None = None,
    ) -> AuditResult:
        """Audit what ``mechanism`` (``build(epsilon)`` by default) does against the claim ``epsilon``."""
        mechanism = self.build(epsilon) if mechanism is None else mechanism
        a, b = self.pair or (0, mechanism.n_inputs - 1)
        return audit_sampled(
            runner(mechanism),
            a,
            b,
            epsilon=epsilon,
            delta=getattr(mechanism, "delta", 0.0),
            n=n,
            alpha=alpha,
            randomness=randomness,
            name=self.name,
        )

    def results(self, epsilon: float, *, n: int, randomness: Randomness | int | None = None) -> Iterator[AuditResult]:
        """Yield the results of both tiers; ``n = 0`` leaves the sampled one out."""
        yield self.exact(epsilon)
        if n:
            yield self.sampled(epsilon, n=n, randomness=randomness)


def register(
    name: str,
    build: Callable[[float], Any],
    *,
    law: Callable[[Any, int], Law] | None = None,
    pair: tuple[Any, Any] | None = None,
) -> None:
    """Add a mechanism to the audit."""
    if name in _REGISTRY:
        raise HedgerowError(f"'name' must be new; {name!r} is registered already.")
    _REGISTRY[name] = Auditable(name, build, law, pair)


def auditables() -> tuple[Auditable, ...]:
    """Return all that is registered, in order."""
    return tuple(_REGISTRY.values())


def whole_tasks() -> tuple[WholeTask, ...]:
    """Return an entry for every kind of task and round."""
    return tuple(map(WholeTask, EXAMPLES))


def entries() -> tuple[Entry, ...]:
    """Return all that is audited: mechanisms, then whole tasks, then whole fits."""
    return (*auditables(), *whole_tasks(), *whole_fits())


def find(name: str) -> Entry:
    """Return what is audited under a name; case, spaces and dashes do not matter.

    >>> find("K-ary response").name
    'k-ary response'
    """
    wanted = _plain(name)
    for entry in entries():
        if _plain(entry.name) == wanted:
            return entry
    known = ", ".join(repr(entry.name) for entry in entries())
    raise HedgerowError(f"unknown mechanism {name!r}; known are {known}.")


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c.isalnum())


def audit_all(
    epsilons: tuple[float, ...] = (0.5, 1.0, 2.0),
    chosen: tuple[Entry, ...] | None = None,
    *,
    n: int = 400_000,
    randomness: Randomness | int | None = None,
) -> Iterator[AuditResult]:
    """Yield the results of all tiers, as they come; ``n = 0`` leaves the sampled one out.

    Whole tasks are audited at the largest epsilon only, where their laws have the fewest paths.
    """
    for entry in entries() if chosen is None else chosen:
        for epsilon in (max(epsilons),) if entry.whole == "task" else epsilons:
            yield from entry.results(epsilon, n=n, randomness=randomness)


def _matrix(coin: KaryResponse) -> MatrixResponse:
    truth, lie = coin.truth, ONE - coin.truth
    return MatrixResponse(coin.epsilon, ((truth, lie), (lie, truth)), (-0.5, 1.5))


register("bit-vector response", lambda epsilon: BitVectorResponse(epsilon, 5))
register("unary encoding", lambda epsilon: UnaryEncoding(epsilon, 5))
register("k-ary response", lambda epsilon: KaryResponse(epsilon, 6))
register("subset selection", lambda epsilon: SubsetSelection(epsilon, 6))
register("discrete Laplace", lambda epsilon: DiscreteLaplace(epsilon, 8), law=lambda m, v: m.law(v, reach=24))
register("one bit", lambda epsilon: OneBit(epsilon, 8))
register("Laplace on cells", lambda epsilon: CellLaplace(epsilon, n_cells=2))
register("Laplace on a record", lambda epsilon: RecordLaplace(epsilon, (2, 3)))
# label
register("Laplace noise", lambda epsilon: LaplaceNoise(epsilon, 4), law=lambda m, v: m.law(v, reach=8))
register("staircase noise", lambda epsilon: StaircaseNoise(epsilon, 4), law=lambda m, v: m.law(v, reach=12))
register("discrete Gaussian", lambda epsilon: GaussianNoise(epsilon, 4, delta=0.1))
register("interval response", lambda epsilon: IntervalResponse(epsilon, 8, low=1, high=6, radius=1), pair=(2, 5))
register("bins response", lambda epsilon: BinsResponse(epsilon, 8, (0, 3, 6), (1.0, 4.0, 7.0)))
register("unbiased response", lambda epsilon: _matrix(KaryResponse(epsilon, 2)))
# semi
register("candidate bits", lambda epsilon: AmongCandidates(CandidateBits(epsilon), (True, False, True, True)))
register("candidate k-ary", lambda epsilon: AmongCandidates(CandidateKary(epsilon), (True, False, True, True)))
register("gradual Laplace", lambda epsilon: GradualLaplace(epsilon, 4, epsilon / 2), law=lambda m, v: m.law(v, reach=4))
register("two-round protocol", small_protocol)
# central (the exponential mechanism and medians come close to their bound in the limit only: tests/central)
register("permute-and-flip", lambda epsilon: NeighbouringCosts(PermuteAndFlip(epsilon, 2), ((0, 0), (2, 0))))
register("rounded Gaussian", NeighbouringSums)
register("leaf counts", lambda epsilon: NeighbouringCounts(NoisyCounts(epsilon, 2), ((0, 1), (1, 2))))
# assisted
register("signed subset", lambda epsilon: SignedSubset(epsilon, 4, 2))
register("level response", lambda epsilon: LevelResponse(epsilon, 3, 3))
register("assisted message", lambda epsilon: AssistedMessage(epsilon, (2, 3), "subset", 1))
register("assisted message, levels", lambda epsilon: AssistedMessage(epsilon, (1, 2), "levels", 3))
register(
    "assisted class message",
    lambda epsilon: ClassMessage(
        (AssistedMessage(epsilon, (2,), "subset", 2), AssistedMessage(epsilon, (1, 2), "levels", 3))
    ),
)
register("pilot message", lambda epsilon: PilotMessage(epsilon, 5))
