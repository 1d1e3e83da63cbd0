"""What a report about a public model's error says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.mechanisms.words import percent
from hedgerow.tasks.words import plain, span

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.pilot import PilotTask
    from hedgerow.tasks.assisted.task import AssistedTask

__all__ = ["odds", "pilot_odds", "public_model_words"]


def public_model_words(target: str) -> str:
    """Say that a public model runs on the device."""
    return (
        f"a public model that came with the task predicts your {plain(target)} on this device; the message is "
        "about how wrong it is for you"
    )


def pilot_odds(task: PilotTask) -> list[str]:
    """Return the public model's part in it, and the odds of k-ary response about its error."""
    m = task.encoding
    others = "the other one" if m.n_inputs == 2 else f"any of the other {m.n_inputs - 1}"
    return [
        public_model_words(task.target),
        f"how far your {plain(task.target)} is above or below the prediction is told in one of {m.n_inputs} bins: "
        f"yours with probability {percent(float(m.response.p))}, else {others}",
    ]


def odds(task: AssistedTask) -> list[str]:
    """Return the public model's part in it, and the odds of the joint randomiser of each tree, from least to most."""
    joint: Any = task.encoding.joint
    target = plain(task.target)
    trees = "a tree" if len(joint) == 1 else f"one of {len(joint)} trees, drawn at random without looking at you,"
    lines = [
        public_model_words(task.target),
        f"{trees} sorts people into {span([m.n_leaves for m in joint])} groups; your group and the error are "
        "randomised together",
    ]
    if task.randomizer == "levels":
        truth = span([float(m.response.p) for m in joint], percent)
        steps = "a group with a step of the error, or that the error is near 0"
        return [*lines, f"one answer is named, {steps}: yours with probability {truth}, else any other"]
    own = [tuple(map(float, m._own)) for m in joint]
    true, turned = (span([p[i] for p in own], percent) for i in range(2))
    return [
        *lines,
        f"{span([m.size for m in joint])} groups are named, each with whether {target} is above or below the "
        f"prediction there: yours truly with probability {true}, and with the opposite word with {turned}",
    ]
