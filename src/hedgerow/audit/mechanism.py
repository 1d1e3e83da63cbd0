"""Mechanisms as entries of the audit: each by the small instances that its own file declares."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from hedgerow.audit.exact import audit_exact
from hedgerow.audit.result import AuditResult
from hedgerow.audit.sampled import audit_sampled, runner
from hedgerow.mechanisms.audits import Audit
from hedgerow.randomness import Randomness

__all__ = ["Auditable", "declared"]

_PACKAGES = ("hedgerow.mechanisms", "hedgerow.tasks")


@dataclass(frozen=True)
class Auditable:
    """A mechanism in both tiers.

    Examples
    --------
    >>> from hedgerow.mechanisms import KaryResponse
    >>> entry = Auditable(Audit("three categories", lambda epsilon: KaryResponse(epsilon, 3)))
    >>> entry.exact(1.0).verdict, entry.exact(1.0, KaryResponse(1.1, 3)).verdict
    ('holds', 'VIOLATED')
    """

    audit: Audit
    whole: ClassVar[str] = ""
    tiers: ClassVar[tuple[str, ...]] = ("exact", "sampled")

    @property
    def name(self) -> str:
        """As printed, and as ``--mechanism`` takes it."""
        return self.audit.name

    def build(self, epsilon: float) -> Any:
        """Return a small instance that claims epsilon."""
        return self.audit.build(epsilon)

    def exact(self, epsilon: float, mechanism: Any = None) -> AuditResult:
        """Audit the law of ``mechanism`` (``build(epsilon)`` by default) against the claim ``epsilon``."""
        own = self.build(epsilon) if mechanism is None else mechanism
        inputs = self.audit.compared(own)
        result = audit_exact(own, epsilon=epsilon, inputs=inputs, law=lambda given: self.audit.law(own, given))
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
        """Audit what ``mechanism`` (``build(epsilon)`` by default) does against the claim ``epsilon``.

        Where the two inputs that are drawn for lose less by the law, the claim is that they lose no more than this.
        """
        own = self.build(epsilon) if mechanism is None else mechanism
        a, b = self.audit.sampled(own)
        return audit_sampled(
            runner(own),
            a,
            b,
            epsilon=epsilon if self.audit.loss is None else self.audit.loss(epsilon),
            delta=own.delta,
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


@cache
def declared() -> tuple[Auditable, ...]:
    """Return what the files of mechanisms and of tasks declare in their ``AUDITS``."""
    return tuple(Auditable(audit) for module in _modules() for audit in getattr(module, "AUDITS", ()))


def _modules() -> Iterator[Any]:
    for package in _PACKAGES:
        path = importlib.import_module(package).__path__
        for found in pkgutil.walk_packages(path, f"{package}."):
            yield importlib.import_module(found.name)
