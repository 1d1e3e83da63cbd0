"""What a report about a public model's error says, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.mechanisms.words import percent
from hedgerow.tasks.words import plain, span

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.class_task import AssistedClassTask
    from hedgerow.tasks.assisted.pilot import PilotTask
    from hedgerow.tasks.assisted.task import AssistedTask

__all__ = ["class_odds", "odds", "pilot_odds", "public_model_words"]


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
    return [public_model_words(task.target), *_joint_odds(task.encoding.joint, task.randomizer, plain(task.target))]


def class_odds(task: AssistedClassTask) -> list[str]:
    """Return how a class is drawn, the public model's part in it, and the odds over the trees of all classes."""
    target = plain(task.target)
    asked = [plain(name) for name in task.asked]
    some = f"whether your {target} is {asked[0]}"
    if len(asked) > 1:
        some = f"one of {len(asked)} classes, drawn at random without looking at you: whether it is your {target}"
    lines = [
        f"the message is about {some}, which counts as 1 or 0",
        "a public model that came with the task predicts that number on this device; the message is about how wrong "
        "it is for you",
    ]
    for randomizer in dict.fromkeys(part.randomizer for part in task.tasks):
        parts = [part.encoding.joint for part in task.tasks if part.randomizer == randomizer]
        joint = [one for part in parts for one in part]
        n_trees = {len(part) for part in parts}
        lines += _joint_odds(joint, randomizer, "the number", span(sorted(n_trees)))
    return lines


def _joint_odds(joint: Any, randomizer: str, target: str, n_trees: str = "") -> list[str]:
    """Return the odds of some trees, from least to most."""
    many = n_trees or str(len(joint))
    trees = "a tree" if many == "1" else f"one of {many} trees, drawn at random without looking at you,"
    lines = [
        f"{trees} sorts people into {span([m.n_leaves for m in joint])} groups; your group and the error are "
        "randomised together",
    ]
    if randomizer == "levels":
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
