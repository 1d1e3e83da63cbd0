"""What ``hedgerow audit`` audits: every mechanism, found where it is written, and what is audited whole.

Instances of mechanisms are small, so that every output can be enumerated; what they show holds for larger ones by the
proof in each mechanism's docstring, of which the audit checks every ingredient: the probabilities as rounded,
and the sampler as shipped.

Besides mechanisms there are *whole* entries: every kind of task as a device answers it, every central and label
estimator as it is fitted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from hedgerow.audit.mechanism import Auditable, declared
from hedgerow.audit.replay import whole_fits
from hedgerow.audit.result import AuditResult
from hedgerow.audit.whole import WholeTask
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit
from hedgerow.randomness import Randomness
from hedgerow.tasks.examples import examples

__all__ = ["Auditable", "Entry", "audit_all", "auditables", "entries", "find", "register", "whole_tasks"]

_ADDED: dict[str, Auditable] = {}


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


def register(audit: Audit) -> None:
    """Add a mechanism that is not part of the library to the audit."""
    if any(entry.name == audit.name for entry in auditables()):
        raise HedgerowError(f"'name' must be new; {audit.name!r} is registered already.")
    _ADDED[audit.name] = Auditable(audit)


def auditables() -> tuple[Auditable, ...]:
    """Return all mechanisms: those of the library in the order of their files, then those that were added."""
    return (*declared(), *_ADDED.values())


def whole_tasks() -> tuple[WholeTask, ...]:
    """Return an entry for every kind of task and round."""
    return tuple(map(WholeTask, examples()))


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
