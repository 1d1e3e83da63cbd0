"""Private functional ANOVA: curves and pair surfaces over private quantiles, by noisy gradient descent."""

from hedgerow.central.anova.classifier import PrivateAnovaClassifier
from hedgerow.central.anova.explain import Explanation
from hedgerow.central.anova.model import AnovaModel
from hedgerow.central.anova.regressor import PrivateAnovaRegressor

__all__ = ["AnovaModel", "Explanation", "PrivateAnovaClassifier", "PrivateAnovaRegressor"]
