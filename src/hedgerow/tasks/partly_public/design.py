"""How the first of two rounds is designed, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.tasks.designs import Design, Facts
from hedgerow.tasks.models import About
from hedgerow.tasks.options import Option

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.task import SemiTask

__all__ = ["DESIGN", "design"]

DESIGN = Design(
    "hedgerow.tasks.partly_public.design:design",
    (
        Option("private_columns", "some features public: private for everybody", "names"),
        Option("personal", "some features public: each holder chooses, and the choice is sent in clear", "flag"),
        Option("hide_mask", "two rounds: each holder chooses what is private, and nobody learns what", "flag"),
        Option("two_rounds", "two rounds, whatever public records there are", "flag"),
        Option(
            "label_share",
            "two rounds: share of epsilon for the label (default: 0.5, or 1 if no cell is hidden)",
            "number",
        ),
        Option("n_holders", "how many are expected to answer (default of two rounds: not known)", "whole"),
        Option("title", "what holders are asked, in words", "words"),
    ),
    chosen_by=("private_columns", "personal", "hide_mask", "two_rounds"),
    records=False,
)


def design(
    facts: Facts,
    *,
    private_columns: Sequence[str] | None = None,
    personal: bool = False,
    hide_mask: bool = False,
    two_rounds: bool = True,
    label_share: float | None = None,
    n_holders: int | None = None,
    **options: Any,
) -> tuple[SemiTask, About]:
    """Design a task; see :meth:`SemiTask.design <hedgerow.tasks.partly_public.task.SemiTask.design>`.

    With ``n_holders`` the label's share is the one that ``fit`` takes for so many.
    """
    from hedgerow.tasks.partly_public.files import LABEL_SHARE, expected_share
    from hedgerow.tasks.partly_public.task import SemiTask

    if (private_columns is not None) + personal + hide_mask != 1:
        raise HedgerowError("--private-columns, --personal and --hide-mask exclude each other; give one of them.")
    assert facts.space is not None
    if n_holders is not None and private_columns is None:
        raise HedgerowError(
            "--n-holders of two rounds is for the label's share where --private-columns fixes the mask."
        )
    share = LABEL_SHARE if label_share is None else label_share
    if n_holders is not None and label_share is None:
        mask = np.array([name in (private_columns or ()) for name in facts.space.inputs])
        share = expected_share(facts.space.spread(mask), n_holders, facts.epsilon)
    task = SemiTask.design(
        facts.space,
        epsilon=facts.epsilon,
        label_bounds=facts.label_bounds,
        target=facts.target,
        private_columns=private_columns,
        hide_mask=hide_mask,
        label_share=share,
        **options,
    ).following(facts.schema)
    return task, _about(task)


def _about(task: SemiTask) -> About:
    low, high = task.label_bounds
    who = {
        "policy": f"private for everybody: {', '.join(task.private)}",
        "personal": "each holder chooses what is private, and says so: 'hedgerow privatize' needs --mask",
        "hidden": "each holder chooses what is private, and nobody learns what",
    }
    facts = {"label_share": task.label_share, "masks": task.masks, "private": list(task.private)}
    line = f"{len(task.space)} features; {who[task.masks]}; label {task.target!r} in [{low:g}, {high:g}]"
    return About(f"task {task.id[:12]}, the first of two rounds", facts, (line,))
