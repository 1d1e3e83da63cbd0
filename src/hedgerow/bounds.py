"""Public facts about the data, by their old place: see features, space, grid and ranges."""

from hedgerow.features import CategoricalFeature, Feature, NumericFeature, category_lists, category_name
from hedgerow.frames import columns_of as _columns
from hedgerow.frames import is_text as _is_text
from hedgerow.grid import (
    LARGEST,
    SMALLEST,
    LabelGrid,
    check_label_bounds,
    check_labels,
    label_column,
    label_numbers,
    middle,
)
from hedgerow.space import FeatureSpace

__all__ = [
    "LARGEST",
    "SMALLEST",
    "CategoricalFeature",
    "Feature",
    "FeatureSpace",
    "LabelGrid",
    "NumericFeature",
    "_columns",
    "_is_text",
    "category_lists",
    "category_name",
    "check_label_bounds",
    "check_labels",
    "label_column",
    "label_numbers",
    "middle",
]
