"""The best model from public data alone, and its portable form."""

from hedgerow.public.estimator import PublicModel

__all__ = ["PublicModel"]
