r"""Totals that a few forged groups cannot move: by coordinate, the groups at both ends are left out.

Plain totals believe every report. Where reports come in G groups (a file of each gateway, or groups drawn at random
by id, after all reports are in), the rate of each group, its sum over its number of reports, is an estimate of its
own. :func:`trimmed` sorts the rates of each coordinate, leaves out the ``dropped`` smallest and largest, and takes the
mean of the rest; with as many as can be dropped that is the median. Whatever is in ``dropped`` groups, the result lies
between rates of honest groups: so many forged gateways, or, with groups at random, so many forged reports, move it
little. *More* forged reports than that, spread over all groups, move it as they move plain totals: this is no cure for
open tasks. Groups should be alike: what is true of one gateway's people only is left out, too.

It is arithmetic on reports that are noisy already, so that no guarantee changes. What it costs is accuracy: the
variance of the mean of what is left over that of the plain mean is, for rates near the normal law, at most

.. math:: v = \frac{(1 - 2a) - 2 x \varphi(x) + 2 a x^2}{(1 - 2a)^2}, \qquad a = \text{dropped} / G,\; \Phi(x) = 1 - a

(pi / 2 for the median). So the totals that are returned say that they are of :math:`n / v` reports: whatever is made
of them, intervals included, is as wide as it has to be. Groups of unlike size count alike; the harmonic mean of their
sizes then takes the place of n / G. Rates are near enough to normal where each group has 16 reports for every group: a
rate's skewness then shifts the median by less than a tenth of its standard error for events of a chance of 12 % (a set
bit at epsilon 2), by less than half of it at 1 %.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from statistics import NormalDist
from typing import Any

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Totals
from hedgerow.types import IntArray

__all__ = [
    "LEAST_GROUPS",
    "MOST_GROUPS",
    "TRIM",
    "Groups",
    "Trimmed",
    "check_groups",
    "cost",
    "group_key",
    "group_of",
    "least_reports",
    "protection",
    "trimmed",
    "usual_trim",
]

LEAST_GROUPS = 3
"""With fewer there is no middle."""
MOST_GROUPS = 1000
"""So many need 16 million reports; by hand."""
TRIM = 0.1
"""The share of groups left out at each end, unless another is said: it costs 4 % of the reports; by hand."""
_EACH = 16  # reports of a group for every group; see above
_SIZE = struct.Struct("<Q")
_KEY_BYTES = 32  # 256 bits: nobody guesses it


def cost(n_groups: int, dropped: int) -> float:
    """Return the variance of a trimmed mean of normal rates over that of their plain mean, rounded up.

    >>> round(cost(25, 2), 3), round(cost(25, 12), 3)
    (1.046, 1.571)
    """
    if 2 * dropped >= n_groups - 1:
        return math.pi / 2
    if dropped == 0:
        return 1.0
    a = dropped / n_groups
    x = NormalDist().inv_cdf(1 - a)
    middle = (1 - 2 * a) - 2 * x * NormalDist().pdf(x)
    return (middle + 2 * a * x * x) / (1 - 2 * a) ** 2


def least_reports(n_groups: int) -> int:
    """Return how many reports trimmed totals need in each of so many groups.

    >>> least_reports(25), 25 * least_reports(25)
    (400, 10000)
    """
    return _EACH * n_groups


def check_groups(task: Task, n_groups: int, trim: float) -> int:
    """Return how many groups are left out at each end; refuse numbers that leave nothing, and tasks without totals."""
    if task.retains or task.sealed:
        raise HedgerowError(f"reports to a {task.kind} task are not added up by group: 'groups' cannot be had for it.")
    if n_groups < LEAST_GROUPS:
        raise HedgerowError(
            f"'groups' must be at least {LEAST_GROUPS}: fewer have no middle. Got {n_groups!r} instead."
        )
    if n_groups > MOST_GROUPS:
        raise HedgerowError(
            f"'groups' must be at most {MOST_GROUPS}, for each needs {_EACH} reports for every group. Got {n_groups!r} "
            "instead."
        )
    if not 0 < trim <= 0.5:
        raise HedgerowError(f"'trim' must be a share above 0, at most 0.5 (the median). Got {trim!r} instead.")
    dropped = min(math.floor(trim * n_groups), (n_groups - 1) // 2)
    if not dropped:
        raise HedgerowError(
            f"a 'trim' of {trim!r} leaves out none of {n_groups} groups: take at least {1 / n_groups:.3g}."
        )
    return dropped


@dataclass(frozen=True)
class Trimmed:
    """Totals without the ends, and what they cost: ``n_reports`` came, and count as ``totals.n_reports``."""

    totals: Totals
    n_reports: int
    n_groups: int
    dropped: int

    def __str__(self) -> str:
        return (
            f"trimmed totals of {self.n_groups} groups, {self.dropped} left out at each end: so many forged groups "
            f"move them little. What it costs: {self.n_reports:,} reports count as {self.totals.n_reports:,}"
        )


def trimmed(parts: Sequence[Totals], trim: float) -> Trimmed:
    """Return the trimmed totals of groups.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=2.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=1, response="unary")
    >>> X = np.linspace(0, 1, 2000)[:, None]
    >>> parts = [task.simulate(X, X[:, 0], seed) for seed in range(10)]
    >>> trimmed(parts, 0.1)
    Trimmed(totals=Totals(18860 reports to task ..., simulation), n_reports=20000, n_groups=10, dropped=1)
    """
    task = parts[0].task
    dropped = check_groups(task, len(parts), trim)
    sizes = [part.n_reports for part in parts]
    least = least_reports(len(parts))
    if min(sizes) < least:
        raise HedgerowError(
            f"each of {len(parts)} groups needs {least} reports, for its rates to be near the normal law; the smallest "
            f"has {min(sizes)}. Take fewer groups."
        )
    even = len(parts) ** 2 / math.fsum(1 / size for size in sizes)
    n = math.floor(even / cost(len(parts), dropped))
    result = Totals(task)
    keys = sorted({key for part in parts for key in part.blocks})
    result.include(n, {key: _middle(parts, key, dropped, n) for key in keys}, any(part.simulation for part in parts))
    return Trimmed(result, sum(sizes), len(parts), dropped)


def _middle(parts: Sequence[Totals], key: int, dropped: int, n: int) -> Any:
    """Return the sums of one block, as ``n`` reports of the middle rate would give them."""
    none = np.zeros(parts[0].task.encoding.n_sums, dtype=np.int64)
    rates = np.sort([part.blocks.get(key, none) / part.n_reports for part in parts], axis=0)
    return np.rint(rates[dropped : len(parts) - dropped].mean(axis=0) * n).astype(np.int64)


def group_key(randomness: Randomness | int | None = None) -> bytes:
    """Draw the key under which reports are dealt into groups; a seed is for tests."""
    return as_randomness(randomness).uint8(_KEY_BYTES).tobytes()


def group_of(text: bytes, n_groups: int, key: bytes) -> int:
    """Return the group of whatever has this name; without the key nobody knows, or chooses.

    >>> group_of(b"an id", 10, bytes(32))
    9
    """
    digest = blake2b(text, digest_size=8, key=key).digest()
    return int.from_bytes(digest, "little") % n_groups


def usual_trim(n_groups: int) -> float:
    """Return the share that leaves out a tenth of the groups at each end, and one group at least.

    >>> usual_trim(25), usual_trim(5)
    (0.1, 0.3)
    """
    return TRIM if TRIM * n_groups >= 1 else 1.5 / n_groups


def protection(n_groups: int, *, tokens: bool = True) -> str:
    """Say what trimmed totals of groups keep out, and what not.

    >>> print(protection(25))
    Sums are kept by 25 groups, all reports of an upload token in one. Trimmed totals (2 groups left out at each ...
    """
    dropped = math.floor(usual_trim(n_groups) * n_groups)
    what = "upload tokens" if tokens else "reports"
    one = ", all reports of an upload token in one" if tokens else ", each report in one by its id"
    return (
        f"Sums are kept by {n_groups} groups{one}. Trimmed totals ({dropped} groups left out at each end) move no "
        f"further than honest groups differ, whatever comes with up to {dropped} {what}; forgers with more {what} than "
        f"that, 1 % of all for instance, are in most groups, and move them as they move plain totals. It costs "
        f"accuracy: reports count as {1 / cost(n_groups, dropped):.0%} of them."
    )


class Groups:
    """Totals of groups into which reports are dealt by id, under a key: nobody chooses a group.

    Parameters
    ----------
    task : Task
        What the reports answer.
    n_groups : int
        How many.
    key : bytes, optional
        By default one that is drawn here. Under one key, reports are dealt alike on any machine.
    """

    def __init__(self, task: Task, n_groups: int, key: bytes | None = None) -> None:
        self.task = task
        self.parts = [task.totals() for _ in range(n_groups)]
        self._key = group_key() if key is None else key

    @property
    def total(self) -> Totals:
        """The plain totals of all groups."""
        result = self.task.totals()
        for part in self.parts:
            result = result + part
        return result

    def united(self) -> Groups | None:
        """Return all reports in one group, where one has too few for trimmed totals; None where there is no need to.

        The sum of a small group is nearly the reports themselves, and serves nothing.
        """
        sizes = [part.n_reports for part in self.parts]
        if min(sizes) >= least_reports(len(sizes)) or np.count_nonzero(sizes) < 2:
            return None
        result = Groups(self.task, len(sizes), self._key)
        result.parts[0] = self.total
        return result

    def to_bytes(self) -> bytes:
        """Return the totals of all groups as bytes, without the key."""
        found = [part.to_bytes() for part in self.parts]
        return b"".join(_SIZE.pack(len(data)) + data for data in found)

    @classmethod
    def from_bytes(cls, task: Task, n_groups: int, data: bytes) -> Groups:
        """Read totals of groups; reports can be added to groups that are named."""
        groups = cls(task, 0, b"")
        at = 0
        while at < len(data):
            (size,) = _SIZE.unpack_from(data, at)
            at += _SIZE.size
            groups.parts.append(Totals.from_bytes(task, data[at : at + size]))
            at += size
        if len(groups.parts) != n_groups:
            raise FormatError(f"these are totals of {len(groups.parts)} groups, not of {n_groups}.")
        return groups

    def add(self, reports: Reports) -> Groups:
        """Add reports, each to its group."""
        own = [group_of(token.tobytes(), len(self.parts), self._key) for token in reports.tokens]
        return self.add_to(np.array(own, dtype=np.int64), reports)

    def add_to(self, groups: IntArray, reports: Reports) -> Groups:
        """Add reports to the groups that are named, one for each."""
        for g in np.unique(groups).tolist():
            chosen = np.flatnonzero(groups == g)
            batch = self.task.batch(reports.tokens[chosen], reports.payloads[chosen], reports.simulation)
            self.parts[g].add(batch)
        return self
