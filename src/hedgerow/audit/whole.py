"""Whole reports: what a device sends, byte for byte, made by the code that runs there.

The path that is audited is the one behind :class:`~hedgerow.holder.Holder`: a record goes in, the body of a request
comes out, id and all; in two rounds, both bodies. The randomness is always the secure one.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.audit.branching import branching, law_of
from hedgerow.audit.exact import audit_laws
from hedgerow.audit.result import AuditResult
from hedgerow.audit.sampled import audit_sampled
from hedgerow.errors import HedgerowError
from hedgerow.holder.make import make_body
from hedgerow.mechanisms.base import Law
from hedgerow.randomness import Randomness
from hedgerow.tasks.examples import Example, Record

__all__ = ["WholeTask", "body_of", "branched_law"]

_FEWER = 100  # one device at a time costs about a hundred times a draw from a mechanism
_PILOT = 50  # bodies a record that show which bytes vary: a random byte is the same in all of them never

Bytes = npt.NDArray[np.uint8]


def body_of(task: Any, record: Record, mask: tuple[bool, ...] | None = None) -> bytes:
    """Return all that a device sends for a record, with secure randomness: one body, or those of both rounds.

    >>> from hedgerow.tasks.examples import find_example
    >>> pilot = find_example("pilot")
    >>> len(body_of(pilot.build(1.0), pilot.records[0]))
    61
    """
    if task.before is None:
        return make_body(task, record, mask=mask)[0]
    first, drawn = make_body(task.before, record, mask=mask)
    kept = task.before.kept_from_bytes(drawn.to_bytes())  # as a device keeps it until the second round
    return first + make_body(task, record, kept=kept)[0]


def branched_law(
    task: Any, record: Record, mask: tuple[bool, ...] | None = None, *, goal: Fraction = Fraction(1, 1 << 30)
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Return the exact chance of all that a device can send, ids blanked out, and of what was not followed.

    Within :func:`~hedgerow.audit.branching.branching`.
    """
    return law_of(lambda: body_of(task, record, mask), goal=goal)


@dataclass(frozen=True)
class WholeTask:
    """An entry of the audit: a task of one kind, in both tiers.

    Examples
    --------
    >>> from hedgerow.tasks.examples import find_example
    >>> entry = WholeTask(find_example("pilot"))
    >>> entry.name, entry.exact(1.0).verdict
    ('whole: pilot', 'holds')
    """

    example: Example
    whole: ClassVar[str] = "task"
    tiers: ClassVar[tuple[str, ...]] = ("exact", "sampled")

    @property
    def name(self) -> str:
        """The name in the list of audits."""
        return f"whole: {self.example.name}"

    def results(self, epsilon: float, *, n: int, randomness: Randomness | int | None = None) -> Iterator[AuditResult]:
        """Yield the results of both tiers; ``n = 0`` leaves the sampled one out, and its randomness is secure."""
        yield self.exact(epsilon)
        if n:
            yield self.sampled(epsilon, n=n)

    def exact(self, epsilon: float, task: Any = None) -> AuditResult:
        r"""Branch every draw of the device's path, and compare the laws of all records exactly.

        .. math:: P(E \mid a) \le e^{\varepsilon} P(E \mid b) + \delta \quad\text{for all records a, b and events } E

        where delta is the task's own (0 for most) and, with r the chance of the paths that were not followed,
        ``r (1 + e**epsilon)``: an event may have r more under a, and r less was seen of it under b.
        """
        start = time.perf_counter()
        claimed = self.example.build(epsilon)
        task = claimed if task is None else task
        laws = []
        most = Fraction(0)
        with branching():
            for number, record in enumerate(self.example.records):
                chances, rest = branched_law(task, record, self.example.mask, goal=self.example.left_out)
                most = max(most, rest)
                laws.append((f"record {number}", _law({**chances, f"not followed from {number}": rest})))
        if most > self.example.left_out:
            raise HedgerowError(f"{self.name} has too many paths: a chance of {float(most):.1g} was not followed.")
        claim = self.example.claim(claimed)
        result = audit_laws(self.name, laws, epsilon=claim, delta=claimed.guarantee.delta + _slack(most, claim))
        return replace(result, seconds=time.perf_counter() - start)

    def sampled(
        self,
        epsilon: float,
        task: Any = None,
        *,
        n: int,
        alpha: float = 1e-6,
    ) -> AuditResult:
        """Run the device's path on the first and the last record, a hundredth of ``n`` times; see :func:`columns`.

        The randomness is always the secure one: that is what is audited.
        """
        claimed = self.example.build(epsilon)
        task = claimed if task is None else task
        records = self.example.records

        def bodies(place: int, size: int) -> Bytes:
            sent = [body_of(task, records[place], self.example.mask) for _ in range(size)]
            if len({len(body) for body in sent}) != 1:
                raise HedgerowError(f"{self.name}: bodies of several lengths were sent.")
            return np.frombuffer(b"".join(sent), dtype=np.uint8).reshape(size, -1)

        ends = (0, len(records) - 1)
        usual = np.vstack([bodies(place, _PILOT) for place in ends])
        return audit_sampled(
            lambda place, size, source: columns(bodies(place, size), usual),
            *ends,
            epsilon=self.example.claim(claimed),
            delta=claimed.guarantee.delta,
            n=max(1000, n // _FEWER),
            alpha=alpha,
            name=self.name,
        )


def columns(bodies: Bytes, usual: Bytes) -> Bytes:
    """Return what events are looked for in: bytes, their bits, the bits' parity, and whether the rest is as usual.

    The bytes are those that vary in ``usual``, other bodies that are not used again. An id is such bytes too: one that
    carries a leaf, in a byte or in a bit, is told by its column.
    """
    varies = (usual != usual[0]).any(axis=0)
    bits = np.unpackbits(bodies[:, varies], axis=1)
    odd = (bodies[:, ~varies] != usual[0, ~varies]).any(axis=1)
    return np.column_stack([bodies[:, varies], bits, bits.sum(axis=1) & 1, odd]).astype(np.uint8)


def _slack(rest: Fraction, epsilon: float) -> float:
    """Return the delta that paths which were not followed stand for; 0 is 0, everything else is rounded up."""
    return float(rest) * (1 + math.exp(epsilon)) * (1 + 1e-12)


def _law(chances: dict[Hashable, Fraction]) -> Law:
    common = math.lcm(*(p.denominator for p in chances.values()))
    return Law(tuple(chances), tuple(p.numerator * (common // p.denominator) for p in chances.values()))
