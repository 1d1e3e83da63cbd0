"""Depth-first replay, likeliest path first: a function is run along every path of its choices."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from typing import Any

from hedgerow.errors import HedgerowError

__all__ = ["Lost", "Walk", "active", "explore"]

Path = tuple[int, ...]


class Lost(BaseException):
    """A path that is not followed further; not an Exception, for a device turns those into a fixed report."""


@dataclass
class Walk:
    """One run: choices are replayed from ``path``; after it the likeliest is taken, and the others are put off."""

    path: Path
    chance: Fraction
    put_off: Callable[[Path, Fraction], None]
    place: int = 0
    sent: list[bytes] = field(default_factory=list)

    def choose(self, chances: Sequence[Fraction]) -> int:
        """Return which of several things happens; their chances sum to 1."""
        if self.place < len(self.path):
            return self._again(len(chances))
        choice = max(range(len(chances)), key=chances.__getitem__)
        for other, chance in enumerate(chances):
            if other != choice and chance:
                self.put_off((*self.path, other), self.chance * chance)
        self.chance *= chances[choice]
        self.path = (*self.path, choice)
        self.place += 1
        return choice

    def choose_part(self, sizes: Sequence[int]) -> int:
        """Return which part of a whole is hit; its chance is its share. Most calls are replays: they need none."""
        if self.place < len(self.path):
            return self._again(len(sizes))
        total = sum(sizes)
        return self.choose([Fraction(size, total) for size in sizes])

    def _again(self, n: int) -> int:
        choice = self.path[self.place]
        if choice >= n:
            raise HedgerowError("the same draws led to another question: the function uses other randomness too.")
        self.place += 1
        return choice


_walks: list[Walk] = []


def active() -> Walk:
    """Return the innermost run under way."""
    if not _walks:
        raise HedgerowError("a branching draw outside of law_of().")
    return _walks[-1]


def explore(
    run: Callable[[Walk], Hashable], *, goal: Fraction, most: int = 100_000
) -> tuple[dict[Hashable, Fraction], Fraction]:
    """Return the chance of each outcome of ``run``, and the chance of all paths that were not followed.

    Paths are followed from the likeliest on until what is left weighs at most ``goal``, or ``most`` were followed.

    Examples
    --------
    >>> def two_coins(walk):
    ...     return sum(walk.choose([Fraction(1, 3), Fraction(2, 3)]) for _ in range(2))
    >>> law, rest = explore(two_coins, goal=Fraction(0))
    >>> {k: str(p) for k, p in sorted(law.items())}, rest
    ({0: '1/9', 1: '4/9', 2: '4/9'}, Fraction(0, 1))
    """
    waiting: list[tuple[float, int, Path, Fraction]] = []
    found: dict[Hashable, Fraction] = {}
    left = Fraction(1)
    pushed = 0

    def put_off(path: Path, chance: Fraction) -> None:
        nonlocal pushed
        pushed += 1
        heappush(waiting, (-float(chance), pushed, path, chance))

    put_off((), Fraction(1))
    for _ in range(most):
        if not waiting or left <= goal:
            break
        _, _, path, chance = heappop(waiting)
        walk = Walk(path, chance, put_off)
        _walks.append(walk)
        try:
            outcome = run(walk)
        except Lost:
            continue
        finally:
            _walks.pop()
        found[outcome] = found.get(outcome, Fraction(0)) + walk.chance
        left -= walk.chance
    return found, left


def deepest(walk: Walk) -> bool:
    """Whether a run is not inside another one."""
    return _walks[0] is walk


Outcome = tuple[Any, ...]
