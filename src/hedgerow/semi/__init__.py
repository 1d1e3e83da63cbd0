"""Semi-feature local privacy: the label and some features are private, the others are not."""

from hedgerow.semi.hist_of_tree import HistOfTreeRegressor
from hedgerow.semi.krr import KRRRegressor
from hedgerow.semi.label_trees import LabelTreeRegressor, PartialTreeRegressor

__all__ = ["HistOfTreeRegressor", "KRRRegressor", "LabelTreeRegressor", "PartialTreeRegressor"]
