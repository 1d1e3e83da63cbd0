"""Local privacy: nobody is trusted with a record but its holder."""

from hedgerow.local.lpdt import LPDTRegressor

__all__ = ["LPDTRegressor"]
