"""A guarantee in parts: who is protected, what of them, from whom, and what is not protected at all."""

from __future__ import annotations

import math

from hedgerow.digits import plain
from hedgerow.guarantee import AS_IF_LOCAL, AS_IF_SHARED, Guarantee
from hedgerow.summary import SummaryTable

__all__ = ["not_protected", "parts"]

_WHAT = {
    "record": "all of their record: features and label",
    "private features and label": "those of their features that are private, and their label",
    "label": "their label",
}
_FROM = {
    "local": "everyone, the curator included",
    "aggregate": "everyone, the curator together with one of the two servers included",
    "central": "everyone but the curator, who holds the records",
}
_BETWEEN = {
    "replace": "one record is replaced by another, the number of records being the same",
    "add/remove": "one record is added or removed",
    "label": "one label is another",
}
_OPEN = {
    "record": "",
    "private features and label": "Features that are public, and those that a holder chose to show, are not protected.",
    "label": "Features are not protected: they are known as they are.",
}


def parts(claim: Guarantee) -> SummaryTable:
    """Return who is protected from whom, as a table."""
    against = _FROM[claim.trust]
    if AS_IF_LOCAL in claim.notes or AS_IF_SHARED in claim.notes:
        against = "everyone but whoever ran this, who held the records"
    whom = "each person, who has one record"
    if claim.simulation:
        whom = "nobody: the noise came from a seed, which takes it away again"
    elif math.isinf(claim.epsilon):
        whom = "nobody: epsilon is infinite"
    rows = (
        ("Who is protected", whom),
        ("What of them", _WHAT[claim.protects]),
        ("From whom", against),
        ("Between which data", _BETWEEN[claim.neighbours]),
        ("Epsilon", repr(claim.epsilon).removesuffix(".0")),
        ("Delta", repr(claim.delta).removesuffix(".0")),
    )
    return SummaryTable("Who is protected from whom", ("question", "answer"), rows)


def not_protected(claim: Guarantee) -> tuple[str, ...]:
    """Return what the promise does not cover, a sentence each."""
    found = [_OPEN[claim.protects]]
    if claim.neighbours != "add/remove":
        found.append("That somebody took part is not hidden.")
    found.append(
        "What holds for people in general, which is what a model is for, may be told of a person too, whether or not "
        "that person took part."
    )
    found.append(
        "The promise is for one record. Somebody with several, or who also took part elsewhere, spends up to the "
        "sum of all epsilons."
    )
    if claim.is_weak and not math.isinf(claim.epsilon):
        found.append(f"Epsilon = {plain(claim.epsilon)} protects next to nothing.")
    return tuple(text for text in found if text)
