"""The best model from public data alone, and its portable form."""

from hedgerow.local.public_model.estimator import PublicModel

__all__ = ["PublicModel"]
