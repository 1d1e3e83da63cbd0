"""What a release promises, as a value; and what several releases promise together.

A :class:`Guarantee` says how much (epsilon, delta), of what, against whom and between which data
sets. :func:`sequential`, :func:`parallel` and :func:`convert` compute with guarantees and either give
a statement that is true or refuse. No sum is ever rounded downwards.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from decimal import ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from html import escape
from numbers import Rational, Real

from hedgerow.content import Content
from hedgerow.errors import HedgerowError
from hedgerow.forms import Budget

__all__ = [
    "AS_IF_LOCAL",
    "AS_IF_SHARED",
    "NUMBER_TOLD",
    "TRUST",
    "Guarantee",
    "as_if_local",
    "convert",
    "parallel",
    "sequential",
    "shuffled",
]

# From the strongest to the weakest, each with the neighbour relations that it can be stated under.
_PROTECTS = {
    "record": ("replace", "add/remove"),
    "private features and label": ("replace",),
    "label": ("label",),
}
TRUST = ("local", "aggregate", "central")
"""From the least trust that is needed to the most: what holds under one holds under those after it."""
LARGE_EPSILON = 20.0
LARGE_DELTA = 1e-2
"""Beyond these a promise is next to nothing, and says so.

e**20 is 4.9e8: what one person sends may turn even odds about its record into 490 million to one. A mechanism that
publishes each record as it is with probability .01 has a delta of .01. Both cut-offs are conventions; they only warn.
"""
_MOST_TERMS = 6  # of a sum that is written out: more do not fit a line
_ROUNDING = Decimal("1e-30")  # a dozen operations with 40 digits err by far less
_ASSIGNMENTS = ("independent", "public", "content")
_ABSENT = ("silent", "default")

_UNIT = {
    "record": "each record is protected",
    "private features and label": "the private features and the label of each record are protected",
    "label": "each label (not the features) is protected",
}
_AGAINST = {
    "local": "from everyone, the curator included",
    "aggregate": "from everyone, the curator together with one of two servers included",
    "central": "from everyone but the curator, who holds the data",
}
_CHANGE = {
    ("record", "replace"): "replacing any one record by any other",
    ("record", "add/remove"): "adding or removing any one record",
    (
        "private features and label",
        "replace",
    ): "changing the private features and the label of any one record",
    ("label", "label"): "changing the label of any one record",
}


@dataclass(frozen=True)
class Guarantee(Content, what="guarantee", version=1):
    """A differential privacy guarantee: P[M(D) in S] <= e^epsilon P[M(D') in S] + delta.

    Parameters
    ----------
    epsilon : float
        At least 0. Zero means that nothing is released; infinity that nothing is protected.
    delta : float
        In [0, 1).
    protects : {"record", "private features and label", "label"}
        The part of a person's record that may differ between the neighbours D and D'.
    trust : {"local", "aggregate", "central"}
        "local": the promise holds against the curator too. "aggregate": also against the curator, but not against two
        servers in league. "central": the curator sees the data.
    neighbours : {"replace", "add/remove", "label"}
        How D and D' differ, by one record. "label" goes with ``protects="label"``, and
        "add/remove" with ``protects="record"``.
    simulation : bool
        True if the noise came from a seeded generator: whoever knows the seed can take it away.
    notes : tuple of str
        Conditions of the promise, and remarks on how it came about.

    Examples
    --------
    >>> print(Guarantee(1, protects="record", trust="local", neighbours="replace"))
    Local privacy with epsilon = 1 and delta = 0: each record is protected from everyone, the curator
    included, in that replacing any one record by any other makes no outcome more than 2.72 times as
    likely.
    >>> claim = Guarantee(0.5, protects="record", trust="central", neighbours="add/remove")
    >>> Guarantee.from_json(claim.to_json()) == claim
    True
    """

    epsilon: Budget
    delta: float = 0.0
    _: KW_ONLY
    # No defaults: a claim that was forgotten must not become a strong one.
    protects: str
    trust: str
    neighbours: str
    simulation: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _number("epsilon", self.epsilon))
        object.__setattr__(self, "delta", _number("delta", self.delta))
        if self.delta >= 1:
            raise HedgerowError(f"delta must be at least 0 and below 1. Got {self.delta!r} instead.")
        _member("protects", self.protects, tuple(_PROTECTS))
        _member("trust", self.trust, TRUST)
        _member(f"neighbours (with protects={self.protects!r})", self.neighbours, _PROTECTS[self.protects])
        if not isinstance(self.simulation, bool):
            raise HedgerowError(f"simulation must be True or False. Got {self.simulation!r} instead.")
        if not isinstance(self.notes, tuple | list) or not all(isinstance(note, str) for note in self.notes):
            raise HedgerowError(f"notes must be a tuple of strings. Got {self.notes!r} instead.")
        object.__setattr__(self, "notes", tuple(self.notes))

    @property
    def is_weak(self) -> bool:
        """Whether this protects next to nothing: epsilon above 20, or delta of a hundredth or more.

        >>> Guarantee(20.5, protects="record", trust="local", neighbours="replace").is_weak
        True
        """
        return self.epsilon > LARGE_EPSILON or self.delta >= LARGE_DELTA

    def _repr_html_(self) -> str:
        facts = {
            "epsilon": f"{self.epsilon:g}",
            "delta": f"{self.delta:g}",
            "protects": self.protects,
            "from": _AGAINST[self.trust].removeprefix("from "),
            "neighbours": self.neighbours,
            "simulation": "yes: nothing is protected" if self.simulation else "no",
        }
        rows = "".join(f'<tr><th scope="row">{name}</th><td>{escape(fact)}</td></tr>' for name, fact in facts.items())
        return f"<p>{escape(str(self))}</p><table>{rows}</table>"

    def __str__(self) -> str:
        """Say the guarantee in one plain sentence."""
        claim = _sentence(self)
        if self.simulation:
            claim = (
                "Simulation only: the noise came from a seeded generator, so nothing is protected in real "
                f"use; with secure randomness this would be: {claim[0].lower()}{claim[1:]}"
            )
        return "; ".join([claim, *self.notes]) + "."


AS_IF_LOCAL = "as if each holder had randomised on its own device: whoever ran this held the records"
"""A condition of every local guarantee whose noise was drawn in one place."""


AS_IF_SHARED = "as if two servers had added up what holders shared between them: whoever ran this held the records"
"""The same, of every aggregate guarantee."""


NUMBER_TOLD = "the number of records is told exactly: replacing one does not change it, so it is not protected"
"""A remark on every central guarantee under "replace" whose release states that number without noise."""


def as_if_local(guarantee: Guarantee) -> Guarantee:
    """Return a guarantee for noise that somebody drew for all holders: that somebody held the records.

    A central guarantee says so already, and is returned as it is.

    >>> as_if_local(Guarantee(1, protects="record", trust="local", neighbours="replace")).notes
    ('as if each holder had randomised on its own device: whoever ran this held the records',)
    """
    if guarantee.trust == "central":
        return guarantee
    held = AS_IF_SHARED if guarantee.trust == "aggregate" else AS_IF_LOCAL
    return replace(guarantee, notes=tuple(dict.fromkeys((*guarantee.notes, held))))


def sequential(*guarantees: Guarantee) -> Guarantee:
    """Compose releases about the same people: epsilons add, deltas add.

    All parts must protect the same thing under the same neighbours (:func:`convert` them first).
    Trust may differ: a local release also holds against outsiders, so the sum is true as a central
    statement, the weaker one; it is not true as a local one, for a curator sees the data.

    Examples
    --------
    >>> half = Guarantee(0.5, protects="record", trust="local", neighbours="replace")
    >>> sequential(half, half).epsilon
    1.0
    """
    _same_unit("sequential", guarantees)
    if len(guarantees) == 1:
        return guarantees[0]
    terms = " + ".join(_text(part.epsilon) for part in guarantees) if len(guarantees) <= _MOST_TERMS else ""
    note = f"the sum of {len(guarantees)} releases about the same people"
    if terms:
        note += f" (epsilon = {terms})"
    if guarantees[0].protects == "private features and label":
        note += ", for the features that are private in every one of them"
    return _joint(
        guarantees,
        _add(part.epsilon for part in guarantees),
        _add(part.delta for part in guarantees),
        note,
    )


def parallel(*guarantees: Guarantee, assignment: str | None = None, absent: str = "silent") -> Guarantee:
    """Compose releases about disjoint groups of people, one guarantee a group.

    Proof. (1) If a record's group depends on no other record, fix all the others' groups: a neighbour
    changes the one group j that the record is in, costing (epsilon_j, delta_j), at most the maximum.
    (2) If under "replace" its content picks the group, it leaves group i and enters j: both change,
    costing the sum of the two if the parts' guarantees cover absence, and without a bound if not.

    Parameters
    ----------
    *guarantees : Guarantee
        One for each group, all with the same ``protects`` and ``neighbours``.
    assignment : {"independent", "public", "content"}
        How a record came to its group. "independent": by a coin of its own, or a hash of an identifier
        that is not protected. "public": by public facts, fixed in advance. "content": by the protected
        values themselves, such as a hash of the whole record; nothing about the other records.
    absent : {"silent", "default"}
        "default": in each group, everybody who is not in it is represented by a default record, so
        that coming and going are replacements. Matters for "content" under "replace" or "label" only.

    Notes
    -----
    Under "replace" the group sizes are fixed and may even be published; that is why a guarantee under
    "replace" alone says nothing about a record that changes group. State the parts under "add/remove"
    (the maximum, whatever the content) and :func:`convert` the result: twice the maximum.

    Examples
    --------
    >>> one = Guarantee(1, protects="record", trust="central", neighbours="add/remove")
    >>> two = Guarantee(2, protects="record", trust="central", neighbours="add/remove")
    >>> parallel(one, two, assignment="independent").epsilon
    2.0
    """
    _same_unit("parallel", guarantees)
    _check_assignment(assignment)
    _member("absent", absent, _ABSENT)
    moves = assignment == "content" and guarantees[0].neighbours != "add/remove"
    if moves and absent != "default":
        raise HedgerowError(
            "assignment='content' has no finite cost under neighbours="
            f"{guarantees[0].neighbours!r}: a changed record can move to another group, and these "
            "guarantees do not cover a change of group sizes. Assign by a coin or a public identifier, "
            "or compose guarantees under 'add/remove' and convert() the result."
        )
    touched = 2 if moves else 1
    return _joint(
        guarantees,
        _add(sorted((part.epsilon for part in guarantees), reverse=True)[:touched]),
        _add(sorted((part.delta for part in guarantees), reverse=True)[:touched]),
        f"{len(guarantees)} disjoint groups, provided that no record's group depends on other records "
        f"(assignment: {assignment})",
    )


def convert(guarantee: Guarantee, neighbours: str, *, protects: str | None = None, absent: str = "silent") -> Guarantee:
    """Restate a guarantee under another neighbour relation, at its true cost, or refuse.

    - "add/remove" to "replace": a replacement is a removal and an addition, so
      (epsilon, delta) becomes (2 epsilon, (1 + e^epsilon) delta).
    - "replace" to "label", or to a weaker ``protects``: fewer neighbours, the same cost.
    - "replace" to "add/remove": refused. The number of people, and in the local model each person's
      absence, is in plain sight. ``absent="default"`` states that it is not: a public number of places,
      those of absent people filled with a default record; absence is then a replacement.
    - "label" to anything else: refused, the features have no protection.

    Examples
    --------
    >>> one = Guarantee(1, protects="record", trust="central", neighbours="add/remove")
    >>> convert(one, "replace").epsilon
    2.0
    """
    _member("neighbours", neighbours, ("replace", "add/remove", "label"))
    _member("absent", absent, _ABSENT)
    wanted = protects or ("label" if neighbours == "label" else guarantee.protects)
    order = list(_PROTECTS)
    _member("protects", wanted, order[order.index(guarantee.protects) :])
    if guarantee.neighbours == neighbours:
        return replace(guarantee, protects=wanted)
    if guarantee.neighbours == "label":
        raise HedgerowError(
            f"A guarantee for labels cannot be stated under neighbours={neighbours!r}: the features are "
            "not protected. Use a mechanism that protects the record."
        )
    if guarantee.neighbours == "add/remove":
        return replace(_pair(guarantee), protects=wanted, neighbours=neighbours)
    if neighbours == "add/remove":
        return _with_absence(guarantee, wanted, absent)
    return replace(guarantee, protects=wanted, neighbours=neighbours)


def shuffled(guarantee: Guarantee, n: int, *, delta: float = 1e-6) -> Guarantee:
    r"""State what a local guarantee would be worth behind a shuffler, to everyone who sees only what comes out of it.

    Each of ``n`` holders sends one report, whose randomiser has this guarantee; somebody takes away who sent what and
    in which order, and passes on the rest. By Feldman, McMillan and Talwar (*Hiding among the clones*, 2021, theorem
    3.1), if :math:`\varepsilon_0 \le \log(n / 16 \log(2/\delta))`, this is (epsilon, delta)-DP with

    .. math:: \varepsilon = \log\Bigl(1 + \frac{e^{\varepsilon_0} - 1}{e^{\varepsilon_0} + 1}
              \Bigl(8\sqrt{e^{\varepsilon_0} \log(4/\delta) / n} + 8 e^{\varepsilon_0} / n\Bigr)\Bigr),

    and it is never worth less than the local guarantee itself. It is a statement only: nothing here shuffles, and
    against the shuffler, and whoever sees reports before it, the local guarantee is all there is.

    Parameters
    ----------
    guarantee : Guarantee
        Local, with a delta of 0 and a finite epsilon.
    n : int
        Reports in the batch, of holders who do not tell what they sent.
    delta : float
        Of the statement, in (0, 1).

    Examples
    --------
    >>> local = Guarantee(4, protects="record", trust="local", neighbours="replace")
    >>> round(shuffled(local, 100_000).epsilon, 2)
    0.53
    """
    if guarantee.trust != "local" or guarantee.delta or math.isinf(guarantee.epsilon):
        raise HedgerowError(
            "shuffled() needs a local guarantee with a finite epsilon and a delta of 0. Got "
            f"trust={guarantee.trust!r}, epsilon={guarantee.epsilon!r} and delta={guarantee.delta!r} instead."
        )
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise HedgerowError(f"n must be a whole number, at least 1. Got {n!r} instead.")
    if not 0 < delta < 1:
        raise HedgerowError(f"delta must be above 0 and below 1. Got {delta!r} instead.")
    epsilon = _clones(guarantee.epsilon, n, delta)
    gained = epsilon < guarantee.epsilon
    note = f"if {n} such reports pass a shuffler that tells nobody who sent which, and no holder tells it either"
    return replace(
        guarantee,
        epsilon=min(epsilon, guarantee.epsilon),
        delta=delta if gained else 0.0,
        trust="central",
        notes=(*guarantee.notes, note, "against the shuffler itself only the local guarantee holds"),
    )


def _clones(local: float, n: int, delta: float) -> float:
    """Return the epsilon of :func:`shuffled`, rounded up; infinite where the theorem says nothing."""
    with localcontext(Context(prec=40)):
        growth = Decimal(local).exp()
        if growth * 16 * (2 / Decimal(delta)).ln() > n * (1 - _ROUNDING):
            return math.inf
        root = (growth * (4 / Decimal(delta)).ln() / n).sqrt()
        epsilon = (1 + (growth - 1) / (growth + 1) * (8 * root + 8 * growth / n)).ln()
        return _round_up(Fraction(epsilon * (1 + _ROUNDING)))


def _pair(one: Guarantee) -> Guarantee:
    """Group privacy for two steps: P <= e^eps (e^eps P'' + delta) + delta."""
    epsilon = _add([one.epsilon, one.epsilon])
    delta = one.delta
    if delta and not math.isinf(epsilon):
        try:  # math.exp errs by less than two units in the last place
            growth = math.nextafter(math.nextafter(math.exp(one.epsilon), math.inf), math.inf)
            delta = _round_up((1 + Fraction(growth)) * Fraction(delta))
        except OverflowError:
            delta = 1.0
    return _joint([one], epsilon, delta, "converted from add/remove by group privacy for pairs")


def _with_absence(guarantee: Guarantee, protects: str, absent: str) -> Guarantee:
    if guarantee.protects != "record" or protects != "record" or absent != "default":
        raise HedgerowError(
            "neighbours='replace' does not imply 'add/remove': who is absent, or how many are present, may "
            "be in plain sight. Keep 'replace', or, only if the places of absent people are filled with a "
            "default record and protects='record', pass absent='default'."
        )
    note = "the number of places is public, and absent people are represented by a default record"
    return replace(guarantee, neighbours="add/remove", notes=(*guarantee.notes, note))


def _joint(parts: Iterable[Guarantee], epsilon: float, delta: float, note: str) -> Guarantee:
    """State (epsilon, delta) for all parts together; the weakest trust holds, and any seed is a seed."""
    parts = list(parts)
    notes = [text for part in parts for text in part.notes]
    trusts = {part.trust for part in parts}
    if len(trusts) > 1:
        weakest = max(trusts, key=TRUST.index)
        trusted = "the curator of the central ones" if weakest == "central" else "one of the two servers"
        kinds = " and ".join(sorted(trusts, key=TRUST.index))
        notes.append(f"{kinds} releases together, so {trusted} is trusted")
    notes.append(note)
    if delta >= 1:  # such a promise is empty, and is said to be
        epsilon = math.inf
        delta = 0.0
        notes.append("delta has reached 1")
    return replace(
        parts[0],
        epsilon=epsilon,
        delta=delta,
        trust=max(trusts, key=TRUST.index),
        simulation=any(part.simulation for part in parts),
        notes=tuple(dict.fromkeys(notes)),
    )


def _same_unit(function: str, guarantees: tuple[Guarantee, ...]) -> None:
    if not guarantees:
        raise HedgerowError(f"{function}() needs at least one guarantee. Got none.")
    units = {(part.protects, part.neighbours) for part in guarantees}
    if len(units) > 1:
        raise HedgerowError(
            f"{function}() needs guarantees with the same protects and neighbours. Got {sorted(units)}: "
            "convert() them to one of these first (the weaker; 'add/remove' goes to 'replace')."
        )


def _check_assignment(assignment: str | None) -> None:
    if assignment not in _ASSIGNMENTS:
        raise HedgerowError(
            f"assignment must be one of {_ASSIGNMENTS}. Got {assignment!r} instead. Groups cost the maximum "
            "only if each record's group depends on no other record. Shuffling the table and cutting it "
            "fails under 'add/remove': one record more shifts others across the cuts (at epsilon = 1 the "
            "loss reaches 1.94). Draw a coin for each record instead."
        )


def _sentence(claim: Guarantee) -> str:
    if math.isinf(claim.epsilon):
        return "No protection: epsilon is infinite, so the outcome may reveal everything about anyone"
    unit = _UNIT[claim.protects]
    against = _AGAINST[claim.trust]
    change = _CHANGE[claim.protects, claim.neighbours]
    if claim.epsilon == 0 and claim.delta == 0:
        effect = "changes nothing about the outcome"
    else:
        effect = f"makes no outcome more than {_factor(claim.epsilon)} times as likely"
    slack = f", give or take a probability of {_text(claim.delta)}" if claim.delta else ""
    weak = ", which protects next to nothing" if claim.is_weak else ""
    return (
        f"{claim.trust.capitalize()} privacy with epsilon = {_text(claim.epsilon)} and delta = "
        f"{_text(claim.delta)}{weak}: {unit} {against}, in that {change} {effect}{slack}"
    )


def _factor(epsilon: float) -> str:
    """Write e^epsilon, rounded up to three digits."""
    if epsilon == 0 or epsilon > LARGE_EPSILON:
        return f"e^{_text(epsilon)}" if epsilon else "1"
    precise = Context(prec=30)
    above = precise.next_plus(precise.exp(Decimal(epsilon)))  # exp rounds to the nearest
    return f"{Context(prec=3, rounding=ROUND_CEILING).plus(above):,f}"


def _text(value: float) -> str:
    return repr(value).removesuffix(".0")


def _number(name: str, value: object) -> float:
    """Check a non-negative real number and make it a float that is not smaller."""
    if isinstance(value, bool) or not isinstance(value, Real) or value < 0 or value != value:
        raise HedgerowError(f"{name} must be a number, at least 0. Got {value!r} instead.")
    if value == math.inf:
        return math.inf
    return _round_up(Fraction(value) if isinstance(value, Rational) else Fraction(float(value)))


def _member(name: str, value: object, allowed: Iterable[str]) -> None:
    if value not in (allowed := tuple(allowed)):
        raise HedgerowError(f"{name} must be one of {allowed}. Got {value!r} instead.")


def _add(values: Iterable[float]) -> float:
    """Sum floats exactly, then round up."""
    values = list(values)
    return math.inf if math.inf in values else _round_up(sum(map(Fraction, values), Fraction(0)))


def _round_up(value: Fraction) -> float:
    """Return the smallest float that is not below ``value``."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
