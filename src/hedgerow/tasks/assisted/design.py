"""How corrections of a public model, and the pilot before them, are designed.

The designs themselves fit a model on public records: they are with the estimator, and loaded when they are called.
"""

from __future__ import annotations

from hedgerow.tasks.designs import Design
from hedgerow.tasks.options import Option

__all__ = ["CLASSES", "DESIGN", "PILOT", "PUBLIC_MODEL"]

PUBLIC_MODEL = Option(
    "assisted",
    "start from the best public model: holders report where it is wrong; 'compact': a model of at most 200 kB",
    choices=("auto", "compact"),
    bare="auto",
    parameter="public_model",
)
"""The public model that travels in a task, of every kind that has one."""

_SHARED = (
    PUBLIC_MODEL,
    Option("n_holders", "how many are expected to answer (default: 10 a public record)", "whole"),
    Option("seed", "of the public model, and of the trees (default: the same every time)", "seed"),
)

_TREES = Option("n_trees", "trees; a holder answers about one of them (default: 8)", "whole")

DESIGN = Design(
    "hedgerow.local.assisted.publish:assisted",
    (
        *_SHARED,
        _TREES,
        Option("pilot_totals", "what a pilot group answered ('hedgerow aggregate')", "file"),
    ),
    chosen_by=("assisted",),
)

CLASSES = Design(
    "hedgerow.local.assisted.publish:assisted_classes", (*_SHARED, _TREES), chosen_by=("assisted",), classes=True
)

PILOT = Design(
    "hedgerow.local.assisted.publish:pilot",
    (
        *_SHARED,
        Option("pilot", "the task of a pilot group, who tell how wrong the public model is, not where", "flag"),
    ),
    chosen_by=("pilot",),
)
