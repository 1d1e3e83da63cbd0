"""Local privacy with a public model to start from."""

from hedgerow.local.assisted.class_design import design_assisted_classes
from hedgerow.local.assisted.classifier import AssistedForestClassifier
from hedgerow.local.assisted.design import design_assisted
from hedgerow.local.assisted.pilot import design_pilot
from hedgerow.local.assisted.regressor import AssistedForestRegressor

__all__ = [
    "AssistedForestClassifier",
    "AssistedForestRegressor",
    "design_assisted",
    "design_assisted_classes",
    "design_pilot",
]
