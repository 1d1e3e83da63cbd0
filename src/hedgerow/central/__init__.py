"""Forests for a curator who holds the data."""

from hedgerow.central.classifier import DiPriMeForestClassifier
from hedgerow.central.model import ForestModel
from hedgerow.central.regressor import DiPriMeForestRegressor

__all__ = ["DiPriMeForestClassifier", "DiPriMeForestRegressor", "ForestModel"]
