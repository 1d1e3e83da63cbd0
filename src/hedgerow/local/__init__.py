"""Local privacy: nobody is trusted with a record but its holder."""

from hedgerow.local.assisted import AssistedForestClassifier, AssistedForestRegressor
from hedgerow.local.classifier import LPDTClassifier
from hedgerow.local.lpdt import LPDTRegressor
from hedgerow.local.validation import ValidationReport, validate_privately

__all__ = [
    "AssistedForestClassifier",
    "AssistedForestRegressor",
    "LPDTClassifier",
    "LPDTRegressor",
    "ValidationReport",
    "validate_privately",
]
