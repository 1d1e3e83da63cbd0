"""How a mechanism is audited: small instances, declared in its own file as a tuple ``AUDITS``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy.typing as npt

from hedgerow.mechanisms.base import Law

__all__ = ["Audit", "Chance"]


def _always(output: Any) -> bool:
    return True


class Chance(NamedTuple):
    """A probability that the words of a mechanism name, as an event of its law.

    Attributes
    ----------
    given : object
        The input.
    event : callable
        ``event(output)`` says which outputs make it.
    when : callable
        Outputs among which it is counted; by default all.

    Examples
    --------
    >>> coin = Law(("heads", "tails"), (2, 1))
    >>> Chance(0, lambda output: output == "heads").of(coin)
    Fraction(2, 3)
    """

    given: Any
    event: Callable[[Any], bool]
    when: Callable[[Any], bool] = _always

    def of(self, law: Law) -> Fraction:
        """Return the exact probability under the law of the input."""
        pairs = [(o, w) for o, w in zip(law.outputs, law.weights, strict=True) if self.when(o)]
        return Fraction(sum(w for o, w in pairs if self.event(o)), sum(w for _, w in pairs))


@dataclass(frozen=True)
class Audit:
    """One line of ``hedgerow audit``.

    Attributes
    ----------
    name : str
        As printed, and as ``--mechanism`` takes it.
    build : callable
        ``build(epsilon)`` returns an instance that claims epsilon, small enough for its law to be enumerated.
    chances : tuple of Chance
        The probabilities that its words name; all of them, and no others.
    inputs : callable, optional
        ``inputs(mechanism)`` returns inputs that are neighbours of each other; by default all inputs of a local one.
        The loss between two of them must come near epsilon, or an audit cannot see that noise is missing.
    pair : callable, optional
        ``pair(mechanism)`` returns the two inputs of the sampled tier; by default the first and the last input.
    loss : callable, optional
        ``loss(epsilon)``, the exact loss between the pair where that is below epsilon, for the sampled tier to hold the
        draws against. (Where a mechanism comes near its claim on rare outputs only, samples show nothing otherwise.)
    outside : tuple
        Some inputs that must be refused; a local mechanism refuses numbers beyond ``0 .. n_inputs - 1`` anyway.
    reach : int, optional
        ``law`` and ``outcomes`` are clamped so near, which changes no likelihood ratio, and keeps the law small.
    """

    name: str
    build: Callable[[float], Any]
    chances: tuple[Chance, ...] = ()
    inputs: Callable[[Any], Sequence[Any]] | None = None
    pair: Callable[[Any], tuple[Any, Any]] | None = None
    loss: Callable[[float], float] | None = None
    outside: tuple[Any, ...] = ()
    reach: int | None = None

    def compared(self, mechanism: Any) -> Sequence[Any]:
        """Return the inputs that the exact tier compares with each other."""
        return range(mechanism.n_inputs) if self.inputs is None else self.inputs(mechanism)

    def sampled(self, mechanism: Any) -> tuple[Any, Any]:
        """Return the two inputs that the sampled tier compares."""
        if self.pair is not None:
            return self.pair(mechanism)
        inputs = self.compared(mechanism)
        return inputs[0], inputs[-1]

    def law(self, mechanism: Any, given: Any) -> Law:
        """Return the law that the exact tier enumerates."""
        law: Law = mechanism.law(given) if self.reach is None else mechanism.law(given, reach=self.reach)
        return law

    def outcomes(self, mechanism: Any, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return what was drawn as that law lists it."""
        clamp = {} if self.reach is None else {"reach": self.reach}
        listed: list[Hashable] = mechanism.outcomes(drawn, **clamp)
        return listed
