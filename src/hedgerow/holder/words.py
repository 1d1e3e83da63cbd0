"""A task in plain words: what is asked, what leaves, what can and cannot be learnt, until when."""

from __future__ import annotations

import math
from datetime import UTC, datetime

from hedgerow.guarantee import Guarantee
from hedgerow.holder.asking import fields_of
from hedgerow.holder.texts import Texts
from hedgerow.mechanisms.words import percent
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task
from hedgerow.tasks.keys import fingerprint
from hedgerow.tasks.words import plain

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


def describe(notice: Announcement, budget: str = "", language: str = "en") -> str:
    """Return everything a person should know before answering.

    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    >>> notice = Announcement.sign(task, key, title="Hours", curator="Town", opens=0, closes=86400)
    >>> for language in ("en", "de"):
    ...     print(describe(notice, language=language).splitlines()[0])
    Hours, asked by Town
    Hours, gefragt von Town
    """
    texts = Texts(language)
    say = texts.say
    task = notice.task
    guarantee = task.guarantee
    protected = {
        "record": say("join.whole_record"),
        "label": say("join.label_only", target=plain(task.target)),
        "private features and label": say("join.private_part"),
    }[guarantee.protects]
    title = plain(notice.title) or say("page.question")
    curator = plain(notice.curator) or say("page.nameless")
    cost = f"epsilon = {guarantee.epsilon:g}" + (f", delta = {guarantee.delta:g}" if guarantee.delta else "")
    lines = [
        say("join.asked_by", title=title, curator=curator),
        *([say("join.purpose", purpose=plain(notice.purpose))] if notice.purpose else []),
        say("join.signed", key=notice.fingerprint, opens=when(notice.opens), closes=when(notice.closes)),
        *([say("join.passes", key=fingerprint(notice.pass_key))] if notice.pass_key else []),
        *([say("join.most", most=f"{notice.max_reports:,}")] if notice.max_reports else []),
        "",
        say("join.asked"),
        *(f"  {field.line(texts)}" for field in fields_of(task)),
        say("join.leaves"),
        *(f"  {line}" for line in task.odds()),
        *(f"  {line}" for line in _servers(task, texts)),
        say("join.costs", cost=cost),
        *([f"  {budget}"] if budget else []),
        say("join.learn"),
        f"  {say('fact.learn_averages')}",
        f"  {say('join.learn_you', protected=protected, bound=_bound(guarantee, texts))}",
        f"  {say('fact.learn_part')}",
        say("join.cannot"),
        f"  {_denied(guarantee, protected, texts)}",
        *(say("join.note", note=note) for note in guarantee.notes),
    ]
    return "\n".join(lines)


def _servers(task: Task, texts: Texts) -> list[str]:
    """Return who gets the two sealed parts, and who would have to conspire to read them."""
    if task.protocol is None:
        return []
    servers = task.protocol.servers
    leader, helper = (plain(server.operator) for server in (servers.leader, servers.helper))
    parts = [f"{plain(server.operator)}: {server.origin}" for server in (servers.leader, servers.helper)]
    key = "task.one_operator" if servers.one_machine else "task.two_operators"
    return [*parts, texts.say(key, leader=leader, helper=helper)]


def _bound(guarantee: Guarantee, texts: Texts) -> str:
    """Return what epsilon and delta mean, exactly."""
    if math.isinf(guarantee.epsilon):
        return texts.say("join.everything")
    factor = _factor(guarantee.epsilon)
    if guarantee.delta:
        return texts.say("join.bound_delta", factor=factor, delta=f"{guarantee.delta:g}")
    return texts.say("join.bound", most=percent(belief(guarantee.epsilon)), factor=factor)


def _denied(guarantee: Guarantee, protected: str, texts: Texts) -> str:
    if math.isinf(guarantee.epsilon):
        return texts.say("join.nothing_hidden")
    if guarantee.delta:
        return texts.say("join.more")
    return texts.say("join.certain", protected=protected)
