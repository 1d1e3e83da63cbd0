"""A task in plain words: what is asked, what leaves, what can and cannot be learnt, until when."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.words import percent
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.words import asked, plain

__all__ = ["belief", "describe", "when"]


def belief(epsilon: float) -> float:
    """Return the most that an even guess can become: ``e**epsilon / (1 + e**epsilon)``, rounded up.

    >>> belief(1.0)
    0.732
    """
    exact = 1 / (1 + math.exp(-epsilon))
    step = 1000 if exact < 0.99 else 10**6
    return min(math.ceil(exact * step) / step, 1.0)


def _factor(epsilon: float) -> str:
    """Return e**epsilon, rounded up to three digits."""
    exact = math.exp(min(epsilon, 700.0))
    step = 10 ** (math.floor(math.log10(exact)) - 2)
    return f"{math.ceil(exact / step) * step:.3g}"


def when(second: int) -> str:
    """Return a time in UTC, for people."""
    try:
        return datetime.fromtimestamp(second, UTC).strftime("%d %B %Y, %H:%M UTC")
    except (ValueError, OverflowError, OSError):
        return f"second {second}"


def describe(notice: Announcement, budget: str = "") -> str:
    """Return everything a person should know before answering.

    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    >>> text = describe(Announcement.sign(task, key, title="Hours", curator="Town", opens=0, closes=86400))
    >>> print(text.splitlines()[0])
    Hours, asked by Town
    """
    task = notice.task
    guarantee = notice.task.guarantee
    protected = {
        "record": "your whole record",
        "label": f"your {plain(task.target)} (your features are public already)",
        "private features and label": "your private features and your label",
    }[guarantee.protects]
    title = plain(notice.title) or "A question"
    curator = plain(notice.curator) or "somebody without a name"
    lines = [
        f"{title}, asked by {curator}",
        *([f"What for: {plain(notice.purpose)}"] if notice.purpose else []),
        f"Signed with the key {notice.fingerprint}. Open from {when(notice.opens)} until before {when(notice.closes)}.",
        "",
        "What is asked (it stays on this device unless marked):",
        *(f"  {line}" for line in asked(task.question())),
        "What leaves this device:",
        *(f"  {line}" for line in task.odds()),
        f"What it costs: epsilon = {guarantee.epsilon:g}"
        + (f", delta = {guarantee.delta:g}" if guarantee.delta else ""),
        *([f"  {budget}"] if budget else []),
        "What the curator can learn:",
        "  averages over many people",
        f"  about {protected}, little: {_bound(guarantee)}",
        "  that you took part, when, and from which network address",
        "What the curator cannot learn:",
        f"  {_denied(guarantee, protected)}",
        *(f"Note: {note}." for note in guarantee.notes),
    ]
    return "\n".join(lines)


def _bound(guarantee: Guarantee) -> str:
    """Return what epsilon and delta mean, exactly."""
    if math.isinf(guarantee.epsilon):
        return "no: everything. The report holds the truth"
    if guarantee.delta:
        return (
            f"whatever is checked in the report is at most {_factor(guarantee.epsilon)} times as probable for your "
            f"values as for any others, plus {guarantee.delta:g}"
        )
    return (
        f"whoever held two possibilities for equally likely can be at most {percent(belief(guarantee.epsilon))} sure "
        f"of one afterwards, for no report is more than {_factor(guarantee.epsilon)} times as probable for one as for "
        "the other"
    )


def _denied(guarantee: Guarantee, protected: str) -> str:
    if math.isinf(guarantee.epsilon):
        return "nothing is hidden"
    if guarantee.delta:
        return "more than that, whatever else anybody knows, now or later"
    return f"for certain, {protected}: every report can come from any values of that, whatever else is known"
