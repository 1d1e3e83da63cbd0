"""How a group of a chain is designed; the design itself fits a public model: it is loaded when it is called."""

from __future__ import annotations

from hedgerow.tasks.assisted.design import PUBLIC_MODEL
from hedgerow.tasks.designs import Design
from hedgerow.tasks.options import Option

__all__ = ["DESIGN"]

DESIGN = Design(
    "hedgerow.sums.publish:sums",
    (
        Option("sums", "two servers add up, and nobody sees a record: the task of one group of holders", "flag"),
        Option("servers", "who adds up ('hedgerow collect servers'); without it the task is for simulation", "file"),
        Option("after", "the model of the group before ('hedgerow collect sums'); without it the first group", "file"),
        Option("delta", "of the guarantee (default: 1e-6)", "number"),
        Option("min_batch_size", "fewest reports that are released together (default: 100)", "whole"),
        PUBLIC_MODEL,
        Option("n_holders", "how many are expected to answer, in all groups (default: 10 a public record)", "whole"),
        Option("seed", "of the public model, and of the trees (default: the same every time)", "seed"),
    ),
    chosen_by=("sums",),
)
