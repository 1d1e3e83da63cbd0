"""Label privacy: randomise each label once, then train anything on the noisy labels."""

from hedgerow.label.additive import GaussianMechanism, LaplaceMechanism, StaircaseMechanism
from hedgerow.label.auto import AutoMechanism
from hedgerow.label.base import LabelMechanism
from hedgerow.label.bins import RROnBins
from hedgerow.label.classifier import LabelPrivateClassifier
from hedgerow.label.interval import RPWithPrior
from hedgerow.label.optimal import OptimalRandomizer
from hedgerow.label.prior import LabelPrior
from hedgerow.label.regressor import LabelPrivateRegressor
from hedgerow.label.release import LabelRelease
from hedgerow.label.unbiased import UnbiasedRandomizer

__all__ = [
    "AutoMechanism",
    "GaussianMechanism",
    "LabelMechanism",
    "LabelPrior",
    "LabelPrivateClassifier",
    "LabelPrivateRegressor",
    "LabelRelease",
    "LaplaceMechanism",
    "OptimalRandomizer",
    "RPWithPrior",
    "RROnBins",
    "StaircaseMechanism",
    "UnbiasedRandomizer",
]
