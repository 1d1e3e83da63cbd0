"""Forests for a curator who holds the data: DiPriMe and its baselines."""

from hedgerow.central.baselines import (
    DPDecisionForestClassifier,
    DPExtraTreesClassifier,
    DPExtraTreesRegressor,
    DPRandomForestClassifier,
    DPRandomForestRegressor,
    MedianForestClassifier,
    MedianForestRegressor,
)
from hedgerow.central.classifier import DiPriMeForestClassifier
from hedgerow.central.model import ForestModel
from hedgerow.central.regressor import DiPriMeForestRegressor

__all__ = [
    "DPDecisionForestClassifier",
    "DPExtraTreesClassifier",
    "DPExtraTreesRegressor",
    "DPRandomForestClassifier",
    "DPRandomForestRegressor",
    "DiPriMeForestClassifier",
    "DiPriMeForestRegressor",
    "ForestModel",
    "MedianForestClassifier",
    "MedianForestRegressor",
]
