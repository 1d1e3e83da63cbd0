"""Semi-feature local privacy: the label and some features are private, the others are not."""

from hedgerow.semi.classifier import HistOfTreeClassifier
from hedgerow.semi.hist_of_tree import HistOfTreeRegressor

__all__ = ["HistOfTreeClassifier", "HistOfTreeRegressor"]
