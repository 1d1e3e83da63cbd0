"""Claims of privacy: the exact audit of small instances of a paper's mechanism, run when the page is made."""

from __future__ import annotations

from functools import cache

from hedgerow_experiments.claims.base import HOLDS, NOT, Check, Verdict
from hedgerow_experiments.found import Evidence

__all__ = ["audited"]

_EPSILONS = (0.5, 1.0, 2.0)


def audited(*names: str) -> Check:
    """Return a check that the entries of ``hedgerow audit`` with these names lose what they claim, exactly."""

    def check(found: Evidence) -> Verdict:
        return _verdict(names)

    return check


@cache
def _verdict(names: tuple[str, ...]) -> Verdict:
    from hedgerow.audit.registry import audit_all, find

    results = list(audit_all(_EPSILONS, tuple(find(name) for name in names), n=0))
    good = sum(result.holds for result in results)
    losses = ", ".join(f"{result.measured:.3g} at {result.claim:g}" for result in results)
    said = f"exact audits of small instances, as we ship it: {good} of {len(results)} hold; loss {losses}"
    return Verdict(HOLDS if good == len(results) else NOT, said)
