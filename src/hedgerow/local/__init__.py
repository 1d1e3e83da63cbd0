"""Local privacy: nobody is trusted with a record but its holder."""

from hedgerow.local.assisted import AssistedForestClassifier, AssistedForestRegressor
from hedgerow.local.classifier import LPDTClassifier
from hedgerow.local.deconvolution import DeconvolutionRegressor
from hedgerow.local.histogram import PrivateHistogramRegressor
from hedgerow.local.lpdt import LPDTRegressor
from hedgerow.local.public_model import PublicModel
from hedgerow.local.validation import ValidationReport, validate_privately

__all__ = [
    "AssistedForestClassifier",
    "AssistedForestRegressor",
    "DeconvolutionRegressor",
    "LPDTClassifier",
    "LPDTRegressor",
    "PrivateHistogramRegressor",
    "PublicModel",
    "ValidationReport",
    "validate_privately",
]
