"""What the reports of two rounds say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.tasks.assisted.words import public_model_words
from hedgerow.tasks.partly_public.symbols import symbol_odds
from hedgerow.tasks.words import listed, plain

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.masks import Masked
    from hedgerow.tasks.partly_public.residual import ResidualTask
    from hedgerow.tasks.partly_public.task import SemiTask

__all__ = ["first_odds", "residual_odds", "second_odds"]


def first_odds(task: SemiTask) -> list[str]:
    """Return what leaves in the first round."""
    return [
        *_clear(task),
        _label(task),
        "a second round will ask for the group you are in; both together cost one epsilon",
    ]


def second_odds(first: SemiTask) -> list[str]:
    """Return what leaves in the second round, after this first one."""
    cell = "among the groups that fit what is public about you, a random answer hides yours"
    return [*_clear(first), cell, _label(first)]


def residual_odds(task: ResidualTask) -> list[str]:
    """Return what leaves in one round."""
    mechanism = task.mechanism
    if task.cells is not None:
        return [public_model_words(task.target), _sent(task), *_symbol(task)]
    done = f"the error is rounded to one of {mechanism.n_inputs} steps and replaced at random ({mechanism.name})"
    return [public_model_words(task.target), _sent(task), f"{done}: {mechanism.words()}"]


def _symbol(task: ResidualTask) -> list[str]:
    """Return what is done to a group and an error that are one symbol."""
    assert task.cells is not None
    p, q = symbol_odds(task.mechanism)
    groups = "; ".join(plain(", ".join(leaf.conditions)) for leaf in task.cells.iter_leaves())
    return [
        f"your private values put you into one of {task.n_cells} groups ({groups}), and the error is rounded to one of "
        f"{task.grid.n_steps + 1} steps",
        f"group and step are one of {task.mechanism.n_inputs} symbols: yours is sent with probability {p:.1%}, "
        f"each other one with {q:.1%}",
    ]


def _clear(task: SemiTask) -> list[str]:
    model = [] if task.assist is None else [public_model_words(task.target)]
    return [*model, _sent(task)]


def _sent(task: Masked) -> str:
    private = f"; private are {listed(task.private)}" if task.private else "; only the label is private"
    words = {
        "policy": "features that the task does not call private are sent in clear" + private,
        "personal": "features that you do not mark as private are sent in clear, and so is what you marked",
        "hidden": "no feature is sent in clear",
    }
    return words[task.masks]


def _label(task: SemiTask) -> str:
    what = f"your {plain(task.target)}" if task.assist is None else "the error"
    return f"{what} gets random noise, drawn once for both rounds"
