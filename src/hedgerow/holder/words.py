"""A task in plain words: what is asked, what leaves, what can and cannot be learnt, until when."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from hedgerow.bounds import CategoricalFeature, Feature
from hedgerow.guarantee import Guarantee
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["asked", "belief", "describe", "odds", "plain"]


def plain(text: str) -> str:
    r"""Return text that cannot play tricks on a terminal: one line, printable characters only.

    >>> plain("a\x1b[2Jb\nc")
    'a [2Jb c'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def percent(share: float) -> str:
    """Return a probability for people.

    >>> percent(0.62), percent(0.000123), percent(1 - 1e-9)
    ('62 %', '0.0123 %', '99.9999999 %')
    """
    digits = 3 if share < 0.9 else 3 - math.floor(math.log10(max(1 - share, 1e-12)))
    return f"{100 * share:.{max(2, digits)}g} %"


def belief(epsilon: float) -> float:
    """Return the most that an even guess can become: ``e**epsilon / (1 + e**epsilon)``, rounded up.

    >>> belief(1.0)
    0.732
    """
    exact = 1 / (1 + math.exp(-epsilon))
    step = 1000 if exact < 0.99 else 10**6
    return min(math.ceil(exact * step) / step, 1.0)


def asked(task: Any) -> list[str]:
    """Return one line for each value that the task asks for."""
    if isinstance(task, LabelTask):
        number = "record: the public number of your record (sent in clear)"
        return [number, f"{plain(task.target)}: a number from {task.grid.low:g} to {task.grid.high:g}"]
    first = task.first if isinstance(task, CellTask) else task
    lines = [_feature(f) + _clear(first, f.name) for f in first.space.features]
    if isinstance(task, CellTask):
        return lines
    classes = getattr(first, "classes", None)
    low, high = first.label_bounds if hasattr(first, "label_bounds") else (first.grid.low, first.grid.high)
    values = f"a number from {low:g} to {high:g}" if classes is None else f"one of {_listed(classes)}"
    return [*lines, f"{plain(first.target)}: {values}"]


def _clear(first: Any, name: str) -> str:
    """Say whether a feature is sent as it is."""
    masks = first.masks if isinstance(first, SemiTask) else "hidden"
    if masks == "personal":
        return " (sent in clear unless you mark it as private)"
    return " (sent in clear)" if masks == "policy" and name not in first.private else ""


def _feature(feature: Feature) -> str:
    if isinstance(feature, CategoricalFeature):
        return f"{plain(feature.name)}: one of {_listed(feature.categories)}"
    return f"{plain(feature.name)}: a number from {feature.low:g} to {feature.high:g}"


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(map(plain, names[:8])) + more


def odds(task: Any) -> list[str]:
    """Return what is done to the values before they leave, with the probabilities."""
    if isinstance(task, LocalTask):
        return _local_odds(task)
    if isinstance(task, LabelTask):
        m = task.mechanism
        return [
            f"your {plain(task.target)} is rounded to one of {m.n_inputs} steps and replaced at random ({m.name})",
            "the number of your record is sent in clear",
        ]
    if isinstance(task, SemiTask | CellTask):
        return _semi_odds(task)
    from hedgerow.tasks.assisted.pilot import PilotTask

    return _pilot_odds(task) if isinstance(task, PilotTask) else _assisted_odds(task)


def _local_odds(task: LocalTask) -> list[str]:
    e: Any = task.encoding
    if task.response == "bits":
        wide = math.sqrt(e.label.variance) * task.grid.step
        return [
            f"one bit for each of {task.n_leaves} groups of people says whether you are in it; each bit is told truly "
            f"with probability {percent(float(e.cell.p))} and flipped otherwise",
            f"your {plain(task.target)} is rounded to a grid and gets random noise, often about {wide:.2g} either way",
        ]
    cells = f"{e.n_cells} pairs of a group and a value"
    if task.response == "k_ary":
        return [f"one of {cells} is named: yours with probability {percent(float(e.mechanism.p))}, else any other"]
    if task.response == "unary":
        rare = percent(float(e.mechanism.q))
        return [f"one bit for each of {cells}: yours is set with probability 50 %, every other one with {rare}"]
    return [
        f"a set of {e.mechanism.size} out of {cells} is sent; yours is in it with probability "
        f"{percent(float(e.mechanism.p))}, any other one with {percent(float(e.mechanism.q))}"
    ]


def _model(task: Any) -> str:
    return (
        f"a public model that came with the task predicts your {plain(task.target)} on this device; the message is "
        "about how wrong it is for you"
    )


def _pilot_odds(task: Any) -> list[str]:
    """Return the public model's part in it, and the odds of k-ary response about its error."""
    m = task.encoding
    others = "the other one" if m.n_inputs == 2 else f"any of the other {m.n_inputs - 1}"
    return [
        _model(task),
        f"how far your {plain(task.target)} is above or below the prediction is told in one of {m.n_inputs} bins: "
        f"yours with probability {percent(float(m.response.p))}, else {others}",
    ]


def _assisted_odds(task: Any) -> list[str]:
    """Return the public model's part in it, and the odds of the joint randomiser of each tree, from least to most."""
    joint, target = task.encoding.joint, plain(task.target)
    trees = "a tree" if len(joint) == 1 else f"one of {len(joint)} trees, drawn at random without looking at you,"
    lines = [
        _model(task),
        f"{trees} sorts people into {_span([m.n_leaves for m in joint])} groups; your group and the error are "
        "randomised together",
    ]
    if task.randomizer == "levels":
        truth = _span([float(m.response.p) for m in joint], percent)
        steps = "a group with a step of the error, or that the error is near 0"
        return [*lines, f"one answer is named, {steps}: yours with probability {truth}, else any other"]
    own = [tuple(map(float, m._own)) for m in joint]
    true, turned = (_span([p[i] for p in own], percent) for i in range(2))
    return [
        *lines,
        f"{_span([m.size for m in joint])} groups are named, each with whether {target} is above or below the "
        f"prediction there: yours truly with probability {true}, and with the opposite word with {turned}",
    ]


def _span(values: list[Any], words: Callable[[Any], str] = str) -> str:
    """Return the least and the most of some numbers, or the one number that they all are.

    >>> _span([5, 6]), _span([0.5, 0.5], percent)
    ('5 to 6', '50 %')
    """
    least, most = words(min(values)), words(max(values))
    return least if least == most else f"{least} to {most}"


def _semi_odds(task: SemiTask | CellTask) -> list[str]:
    first = task.first if isinstance(task, CellTask) else task
    clear = {
        "policy": "features that the task does not call private are sent in clear"
        + (f"; private are {_listed(first.private)}" if first.private else "; only the label is private"),
        "personal": "features that you do not mark as private are sent in clear, and so is what you marked",
        "hidden": "no feature is sent in clear",
    }[first.masks]
    label = f"your {plain(first.target)} gets random noise, drawn once for both rounds"
    if isinstance(task, SemiTask):
        return [clear, label, "a second round will ask for the group you are in; both together cost one epsilon"]
    return [clear, "among the groups that fit what is public about you, a random answer hides yours", label]


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
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99))
    >>> key = Ed25519PrivateKey.from_private_bytes(bytes(32))
    >>> text = describe(Announcement.sign(task, key, title="Hours", curator="Town", opens=0, closes=86400))
    >>> print(text.splitlines()[0])
    Hours, asked by Town
    """
    task, guarantee = notice.task, notice.task.guarantee
    protected = {
        "record": "your whole record",
        "label": f"your {plain(getattr(task, 'target', 'label'))} (your features are public already)",
        "private features and label": "your private features and your label",
    }[guarantee.protects]
    title, curator = plain(notice.title) or "A question", plain(notice.curator) or "somebody without a name"
    lines = [
        f"{title}, asked by {curator}",
        *([f"What for: {plain(notice.purpose)}"] if notice.purpose else []),
        f"Signed with the key {notice.fingerprint}. Open from {when(notice.opens)} until before {when(notice.closes)}.",
        "",
        "What is asked (it stays on this device unless marked):",
        *(f"  {line}" for line in asked(task)),
        "What leaves this device:",
        *(f"  {line}" for line in odds(task)),
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
