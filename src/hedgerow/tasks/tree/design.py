"""How a tree is designed from public records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError
from hedgerow.tasks.designs import Design, Facts
from hedgerow.tasks.models import About
from hedgerow.tasks.options import Option

if TYPE_CHECKING:
    from hedgerow.tasks.tree.task import LocalTask

__all__ = ["DESIGN", "design"]

DESIGN = Design(
    "hedgerow.tasks.tree.design:design",
    (
        Option(
            "rule",
            "how the tree grows (default: auto)",
            choices=("auto", "max_edge", "cart", "random", "random_max_edge"),
        ),
        Option("max_depth", "depth of the tree (default: auto)", "whole"),
        Option("min_samples_leaf", "public records a leaf (default: auto)", "whole"),
        Option(
            "response",
            "the message (default: auto); with bits a forged one does most harm",
            choices=("auto", "bits", "unary", "k_ary", "subset"),
        ),
        Option("cell_share", "with bits: share of epsilon for the leaf (default: auto)", "share"),
        Option("n_holders", "how many are expected to answer (default: 10 a public record)", "whole"),
        Option("title", "what holders are asked, in words", "words"),
        Option("seed", "of random splits (they are public)", "seed", parameter="random_state"),
    ),
    classes=True,
)


def design(facts: Facts, **options: Any) -> tuple[LocalTask, About]:
    """Design a task; see :meth:`LocalTask.design <hedgerow.tasks.tree.task.LocalTask.design>`."""
    from hedgerow.tasks.tree.task import LocalTask

    task = LocalTask.design(
        facts.X,
        facts.y,
        epsilon=facts.epsilon,
        label_bounds=facts.label_bounds,
        classes=facts.classes,
        feature_bounds=facts.feature_bounds,
        categorical_features=facts.categorical,
        categories=facts.categories or None,
        target=facts.target,
        **options,
    ).following(facts.schema)
    if task.response != "bits" and options.get("cell_share", "auto") != "auto":
        raise HedgerowError(
            f"--cell-share is for the response bits, and the one of this design is {task.response}: add "
            "--response bits, or leave it out."
        )
    return task, _about(task)


def _about(task: LocalTask) -> About:
    low, high = task.label_bounds
    depth = task.partition.depth
    forged = task.encoding.largest_influence
    facts = {
        "response": task.response,
        "cell_share": task.cell_share if task.response == "bits" else None,
        "n_leaves": task.n_leaves,
        "depth": depth,
        "n_steps": None if task.classes else task.grid.n_steps,
        "largest_influence": {"holders": forged.count, "label_ranges": None if task.classes else forged.label_sum},
    }
    values = f"in [{low:g}, {high:g}]" if task.classes is None else f"one of {', '.join(task.classes)}"
    labels = "" if task.classes else f" and its sum of labels by {forged.label_sum:.3g} label ranges"
    lines = (
        f"tree: {task.n_leaves} leaves, depth {depth}; "
        f"report: {task.response}, {18 + task.encoding.width} bytes; label {task.target!r} {values}",
        f"one forged report moves the number of holders in a leaf by at most {forged.count:.3g}{labels}",
    )
    return About(f"task {task.id[:12]}", facts, lines)
