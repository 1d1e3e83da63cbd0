"""What the papers compare with: each with the budget that its own scheme needs, and a guarantee that is true."""

from hedgerow.baselines.deconvolution import DeconvolutionRegressor
from hedgerow.baselines.forests import (
    DPDecisionForestClassifier,
    DPExtraTreesClassifier,
    DPExtraTreesRegressor,
    DPRandomForestClassifier,
    DPRandomForestRegressor,
    MedianForestClassifier,
    MedianForestRegressor,
)
from hedgerow.baselines.histogram import PrivateHistogramRegressor
from hedgerow.baselines.krr import KRRRegressor
from hedgerow.baselines.label_trees import LabelTreeRegressor, PartialTreeRegressor

__all__ = [
    "DPDecisionForestClassifier",
    "DPExtraTreesClassifier",
    "DPExtraTreesRegressor",
    "DPRandomForestClassifier",
    "DPRandomForestRegressor",
    "DeconvolutionRegressor",
    "KRRRegressor",
    "LabelTreeRegressor",
    "MedianForestClassifier",
    "MedianForestRegressor",
    "PartialTreeRegressor",
    "PrivateHistogramRegressor",
]
