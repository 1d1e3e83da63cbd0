"""How one round is designed; the design fits a model on public records: it is with the estimator."""

from __future__ import annotations

from hedgerow.tasks.assisted.design import PUBLIC_MODEL
from hedgerow.tasks.designs import Design
from hedgerow.tasks.options import Option

__all__ = ["DESIGN"]

DESIGN = Design(
    "hedgerow.semi.publish:residual",
    (
        PUBLIC_MODEL,
        Option("private_columns", "some features public: private for everybody", "names"),
        Option("personal", "some features public: each holder chooses, and the choice is sent in clear", "flag"),
        Option("label_only", "all features public: only the label is private", "flag"),
        Option("n_holders", "how many are expected to answer (default: 10 a public record)", "whole"),
        Option("seed", "of the public model (default: the same every time)", "seed"),
        Option("title", "what holders are asked, in words", "words"),
    ),
    chosen_by=("private_columns", "personal", "label_only", "assisted"),
)
