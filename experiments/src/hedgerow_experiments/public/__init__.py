"""What public records are worth in every trust model: common cases, and one experiment for each model."""

from hedgerow_experiments.public.cases import DESIGN, KEPT_OUT, SHIFTS, Case, draw
from hedgerow_experiments.public.ends import ceiling, gap, public_model

__all__ = ["DESIGN", "KEPT_OUT", "SHIFTS", "Case", "ceiling", "draw", "gap", "public_model"]
