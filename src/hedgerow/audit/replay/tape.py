"""What a fit reads of private data, release by release: written down once, then forced upon another fit."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.audit.replay.coins import Coins
from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.types import IntArray

__all__ = ["Departure", "Release", "Tape"]


class Departure(HedgerowError):
    """A fit did what its first run did not: it read private data outside the releases.

    It is written on the tape as well, for code that catches errors goes on.
    """


@dataclass(frozen=True, eq=False)
class Release:
    """One private read.

    Attributes
    ----------
    kind : str
        "laplace", "gaussian" (sums with noise), "permute-and-flip", "exponential selection" (choices), "median",
        "level" (randomised labels), or "grid" (labels rounded; private, and not yet released).
    public : tuple
        All that may not depend on private data: parameters of the noise as it was drawn, shapes, valid candidates.
    price : Fraction
        What the mechanism was built to cost: epsilon, or mu**2 for Gaussian noise.
    true : array
        What went in.
    output : array
        What came out.
    law : object
        For "level": the mechanism, whose law is exact.
    """

    kind: str
    public: tuple[Hashable, ...]
    price: Fraction
    true: IntArray
    output: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    law: Any = None


@dataclass
class Tape:
    """Records the releases of a fit or, given a script, forces its outputs.

    Noise itself is tapped: a release of k numbers must draw k numbers of noise and add exactly these. When a script is
    played, the noise is what makes the scripted output of the private numbers at hand, and the code around it runs as
    it is. So neither noise that is shared or scaled after it was drawn passes, nor a number that gets none.
    """

    seed: int
    script: Sequence[Release] | None = None
    records: IntArray | None = None
    releases: list[Release] = field(default_factory=list)
    fault: str = ""
    _roots: int = 0
    _open: list[tuple[str, int, IntArray]] | None = None
    _forced: IntArray | None = None

    def departed(self, text: str) -> Departure:
        """Return the error that says so, once it is written down."""
        self.fault = self.fault or text
        return Departure(text)

    def source(self) -> Coins:
        """Return the coins of the next secure source that is asked for."""
        self._roots += 1
        return Coins(f"{self.seed}.{self._roots}".encode(), self.records)

    @property
    def inside(self) -> bool:
        """Whether a release is under way (what happens within it belongs to it)."""
        return self._open is not None

    def expected(self) -> Release | None:
        """Return the scripted release that is due; None while recording."""
        if self.script is None:
            return None
        if len(self.releases) >= len(self.script):
            raise self.departed(f"a release more than the {len(self.script)} of the first fit.")
        return self.script[len(self.releases)]

    def add(self, release: Release) -> IntArray:
        """Append a release, once it is known to be the one that is due; return its output."""
        due = self.expected()
        place = f"release {len(self.releases) + 1}"
        if due is not None and (release.kind, release.public) != (due.kind, due.public):
            raise self.departed(f"{place} is {_brief(release)}, and was {_brief(due)} in the first fit.")
        if due is not None and release.price != due.price:
            raise self.departed(
                f"{place} ({release.kind}) costs {float(release.price)}, and {float(due.price)} before."
            )
        self.releases.append(release)
        return release.output

    def end(self) -> None:
        """Check that a whole script was played."""
        if self.script is not None and len(self.releases) < len(self.script):
            raise self.departed(f"{len(self.releases)} releases only, of the {len(self.script)} of the first fit.")

    def own(self, randomness: Randomness | None, kind: str) -> Randomness:
        """Return coins of this release alone: how many it needs may depend on private data."""
        source = self.source() if randomness is None else randomness
        return source.child(kind, len(self.releases))

    def sums(
        self, price: Fraction, true: IntArray, run: Callable[[Randomness], IntArray], randomness: Randomness
    ) -> IntArray:
        """Pass on a release of sums with noise."""
        true = np.asarray(true)
        due = self.expected()
        if due is not None and due.true.shape != true.shape:
            raise self.departed(f"a release has the shape {true.shape}, and {due.true.shape} in the first fit.")
        self._open = []
        self._forced = None if due is None else (due.output - true).ravel()
        try:
            output = np.asarray(run(self.own(randomness, "noise")))
            drawn = self._open
        finally:
            self._open = self._forced = None
        laws = {(name, parameter) for name, parameter, _ in drawn}
        if len(laws) != 1:
            raise self.departed(f"a release of {true.size} numbers has noise of {len(laws)} laws, not of one.")
        noise = np.concatenate([values for _, _, values in drawn])
        if noise.size != true.size or (output - true != noise.reshape(true.shape)).any():
            raise self.departed(f"a release of {true.size} numbers did not get {true.size} independent draws of noise.")
        ((name, parameter),) = laws
        return self.add(Release(name, (parameter, true.shape), price, true, output))

    def noise(self, name: str, parameter: int, n: int, draw: Callable[[], IntArray]) -> IntArray:
        """Pass on primitive noise, or force it."""
        if self._open is None:
            return draw()
        if self._forced is None:
            values = draw()
        else:
            values = self._forced[:n]
            self._forced = self._forced[n:]
            if values.size != n:
                raise self.departed("a release draws more noise than it has numbers.")
        self._open.append((name, parameter, values))
        return values

    def once(
        self,
        release: Release,
        run: Callable[[Randomness], IntArray],
        randomness: Randomness | None,
        ratio: int | None = None,
    ) -> IntArray:
        """Pass on a release that is not a sum; all coins that are flipped for it must have the given ratio."""
        due = self.expected()
        if due is not None:
            return self.add(replace(release, output=due.output))
        self._open = []
        try:
            output = np.asarray(run(self.own(randomness, release.kind)))
            flipped = {parameter for _, parameter, _ in self._open}
        finally:
            self._open = None
        if ratio is not None and not flipped <= {ratio}:
            raise self.departed(f"a {release.kind} flips coins of other odds than it says.")
        return self.add(replace(release, output=output))

    def note(self, kind: str, public: tuple[Hashable, ...], true: IntArray) -> None:
        """Write down what is private still, and how it was made."""
        self.add(Release(kind, public, Fraction(0), true))


def _brief(release: Release) -> str:
    return f"{release.kind} {[p for p in release.public if not isinstance(p, bytes)]}"
