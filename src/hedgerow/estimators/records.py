"""How every estimator reads private records and labels: whatever is in them, there is no error and no message.

An error, a warning or a message that depends on a record is a release without noise. So what scikit-learn would refuse
(NaN, infinities, text, unknown classes) is absorbed by the public rule of :mod:`hedgerow.values`. Only the shape of a
table can be wrong: too few columns, as many labels as records, sparse or complex numbers. There is one exception, for
scikit-learn's own checks and for users who pass the wrong column: a column of labels without a single number in it.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from hedgerow.classes import class_codes, read_classes
from hedgerow.errors import BoundsError, HedgerowError, shown
from hedgerow.features import CategoricalFeature, category_lists
from hedgerow.frames import columns_of, is_text, rows_of
from hedgerow.grid import check_label_bounds, label_column, label_numbers, middle
from hedgerow.ranges import few, listed_columns
from hedgerow.sources import Source, kind_of
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray
from hedgerow.values import cells, numbers

__all__ = [
    "ABSORBED",
    "NO_CLASS",
    "NO_NUMBER",
    "bounded_labels",
    "check_table",
    "column_names",
    "declared_categories",
    "label_columns",
    "private_classes",
    "private_column",
    "read_described_records",
    "read_private_classes",
    "read_private_labels",
    "read_private_records",
    "read_source",
    "refuse_texts",
    "tag_total",
    "take_rows",
]


ABSORBED = (
    "every record counts: a value beyond its range as the end, a missing or unknown one as the model's schema says "
    "(for label columns with at least one number)"
)
"""The rule in one line, for the notes of a guarantee."""
NO_NUMBER = "'y' holds no number at all: pass the column of labels, or take a classifier if they are classes."
NO_CLASS = "'y' holds no class at all: pass the column of labels."
_LARGER = " Of files, datasets and Dask collections PrivateAnovaRegressor and PrivateAnovaClassifier can be fitted."


def column_names(X: Any) -> list[str]:
    """Return the names of the columns: a data frame's own, or x0, x1, ... of an array."""
    if hasattr(X, "columns"):
        return [str(c) for c in getattr(X, "column_names", X.columns)]  # Arrow's ``columns`` are the data
    return [f"x{j}" for j in range(X.shape[1])]


def declared_categories(
    X: Any, feature_bounds: Any, categorical_features: Any, categories: Any
) -> dict[str, tuple[str, ...]]:
    """Return the category lists that the caller has declared, by column; refuse text columns without one.

    The type of a column does not count as a declaration: a category type is made from the rows as often as not, and
    would put one person's rare category into the published model. A text column with a range of its own, by name, holds
    numbers. Columns of mixed type hold numbers if there is one among them.
    """
    names = column_names(X)
    ranged = set(feature_bounds) if isinstance(feature_bounds, Mapping) else set()
    if isinstance(feature_bounds, FeatureSpace):
        space = feature_bounds.among(names)
        return {f.name: f.categories for f in space.columns if isinstance(f, CategoricalFeature)}
    given = category_lists(categories, names)
    chosen = set(listed_columns(categorical_features, names, "categorical_features"))
    lacking = sorted((chosen | _text_columns(X, {*given, *map(str, ranged)})) - set(given))
    refuse_texts(lacking)
    return given


def refuse_texts(names: Sequence[str]) -> None:
    """Refuse columns of text without a list of categories, if there are any."""
    if names:
        raise BoundsError(
            f"'categories' is required for the columns {few(names)}: pass categories={{name: [...]}}, a public list. "
            "Neither the values nor the type of a private column count as one: a rare category may be one person's."
        )


def _text_columns(X: Any, known: set[str]) -> set[str]:
    """Return the columns of a data frame that are text by their type, but for those that are known."""
    names, columns = columns_of(X)
    if names is None or columns is None:
        return set()
    return {name for name, column in zip(names, columns, strict=True) if name not in known and _is_text_type(column)}


def _is_text_type(column: Any) -> bool:
    if str(getattr(column, "dtype", "")).lower() == "object":
        return bool(np.isnan(numbers(column)).all())
    return is_text(column)


def read_private_records(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check the shape of records the scikit-learn way, and nothing else about them.

    Data frames are returned as they are. So are arrays that hold other things than numbers; a column of them is read by
    its schema. Numbers become 32 or 64 bit floats.
    """
    if hasattr(X, "columns"):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return X
    array = _as_array(X)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind in "fiubc":
        # Sparse, complex, flat or empty: scikit-learn says what is wrong with the shape.
        return validate_data(estimator, array, reset=reset, dtype=[np.float64, np.float32], ensure_all_finite=False)
    validate_data(estimator, np.zeros(array.shape), reset=reset)
    return array


def read_described_records(estimator: Any, X: Any, space: FeatureSpace, *, reset: bool) -> Any:
    """Return the columns that a schema describes: by name, or by position if they have none.

    The schema has the names, so that one kind of table can follow another.
    """
    rows = space.table(X)
    if rows.shape[0] < 1:
        raise HedgerowError("Found 0 sample(s) in 'X' while a minimum of 1 is required.")
    if reset:
        estimator.n_features_in_ = len(space.columns)
        estimator.feature_names_in_ = np.array(space.inputs, dtype=object)
    return rows


def read_source(estimator: Any, source: Source) -> Source:
    """Take down the columns of a source, as those of a table; with a schema, those that it describes are taken."""
    if estimator.schema is not None:
        space = estimator.schema.space
        if source.names is None:
            rows_of(np.empty((0, source.width)), space.inputs)
        else:
            space.among(source.names)
            source.select(space.inputs)
    if source.names is not None and len(set(source.names)) != len(source.names):
        twice = next(name for name in source.names if source.names.count(name) > 1)
        raise BoundsError(f"'X' has two columns named {shown(twice)}: rename one.")
    estimator.n_features_in_ = source.width
    vars(estimator).pop("feature_names_in_", None)
    if source.names is not None:
        estimator.feature_names_in_ = np.array(source.names, dtype=object)
    return source


def check_table(X: Any) -> None:
    """Refuse what is no table of records, or one without a record; what is in the records is not looked at."""
    if isinstance(X, str | bytes | os.PathLike):
        raise HedgerowError(f"'X' must be a table of records. Got {shown(X)} instead: read the file first.{_LARGER}")
    if (kind := kind_of(X)) is not None:
        raise HedgerowError(f"'X' must be a table of records in memory. Got {kind} instead: read it first.{_LARGER}")
    if hasattr(X, "toarray"):
        return  # sparse, of which one kind is a dict
    rows = isinstance(X, list | tuple) and len(X) and all(isinstance(row, Mapping) for row in X)
    if isinstance(X, Mapping) or rows:
        kind = "a list of dicts" if rows else f"a {type(X).__name__}"
        raise HedgerowError(f"'X' must be a data frame or an array. Got {kind} instead: pass pandas.DataFrame(X).")
    names, _ = columns_of(X)
    if names is None:
        _check_array(X)
        return
    if twice := sorted(name for name, count in Counter(names).items() if count > 1):
        raise BoundsError(f"'X' has two columns named {shown(twice[0])}: rename one.")
    if not X.shape[0]:
        # The words of scikit-learn for arrays, which its checks look for.
        raise HedgerowError(f"Found array with 0 sample(s) (shape={tuple(X.shape)}) while a minimum of 1 is required.")


def _check_array(X: Any) -> None:
    """Refuse flat and complex arrays before scikit-learn does: its message would hold the records."""
    if not isinstance(X, np.ndarray | list | tuple):
        return
    try:
        array = np.asarray(X)
    except ValueError:
        return  # rows of different lengths
    if array.dtype.kind == "c":
        raise HedgerowError("Complex data not supported: 'X' must hold real numbers, pass X.real say.")
    if array.ndim == 1 and array.size:
        raise BoundsError(
            f"'X' must be 2-dimensional (records x features). Got shape {array.shape} instead. Reshape your data with "
            "X.reshape(-1, 1) if it has one feature, or X.reshape(1, -1) if it is a single record."
        )


def _as_array(X: Any) -> Any:
    """Return a table as an array: of numbers if all of it are numbers, else of objects."""
    if hasattr(X, "toarray"):
        return X  # sparse
    if not isinstance(X, list | tuple):
        return np.asarray(X)
    try:
        array = np.asarray(X)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "fiubc":
        return array
    return _from_rows(X) if len(X) and all(isinstance(row, list | tuple | np.ndarray) for row in X) else array


def _from_rows(X: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Return a list of rows; a row that is not as long as most has nothing but missing values."""
    rows = [cells(row) for row in X]
    width = Counter(map(len, rows)).most_common(1)[0][0]
    out = np.empty((len(rows), width), dtype=object)
    for i, row in enumerate(rows):
        out[i] = row if len(row) == width else None
    return out


def read_private_labels(estimator: Any, y: Any, n: int, label_bounds: Any) -> FloatArray:
    """Return labels within their bounds; a missing one counts as the schema says, without one as the middle.

    A column without any number is refused: it is the wrong column.
    """
    low, high = check_label_bounds(label_bounds)
    array = numbers(private_column(estimator, y, n))
    if array.size and not np.isfinite(array).any():
        raise BoundsError(NO_NUMBER)
    return bounded_labels(array, (low, high), middle(low, high, estimator._label_missing, "the label"))


def bounded_labels(column: Any, bounds: tuple[float, float], missing: float) -> FloatArray:
    """Return labels within their bounds, each by itself; missing ones as is said."""
    return np.asarray(np.clip(label_numbers(column, bounds, missing), *bounds), dtype=np.float64)


def read_private_classes(
    estimator: Any, y: Any, n: int, y_public: Any = None, *, ordered: bool = False
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Return the list of classes and each label's position in it.

    What is missing or unknown counts as the schema says, by default as the first of the list as it was declared. The
    labels are looked at for the list only with ``classes="observed"``, and only then are labels refused that are no
    classes at all. ``ordered`` sorts the list, which changes no label.
    """
    column = private_column(estimator, y, n)
    if isinstance(column, np.ndarray) and column.dtype.kind == "f" and n and not np.isfinite(column).any():
        raise BoundsError(NO_CLASS)
    classes, unknown = private_classes(estimator, column, y_public, ordered=ordered)
    return classes, class_codes(classes, column, unknown)


def private_classes(
    estimator: Any, column: Any, y_public: Any = None, *, ordered: bool = False
) -> tuple[npt.NDArray[Any], int]:
    """Return the list of classes, and the position of that which a missing or unknown one counts as.

    ``column`` is looked at only with ``classes="observed"``.
    """
    listed = estimator._classes
    if isinstance(listed, str) and listed == "observed":
        _refuse_numbers(column)
    declared = read_classes(listed, column, y_public)
    classes = np.unique(declared) if ordered else declared
    stated = estimator._label_missing
    instead = declared[:1] if stated is None else [stated]
    if not len(classes):
        return classes, 0
    return classes, int(class_codes(classes, list(instead))[0])


def label_columns(y: Any) -> list[Any]:
    """Return the outputs of a label, one column each."""
    width = getattr(y, "shape", (0, 1))[1] if getattr(y, "ndim", 1) == 2 else 1
    if isinstance(y, list | tuple) and len(y) and all(isinstance(row, list | tuple) for row in y):
        width = Counter(map(len, y)).most_common(1)[0][0]
        y = _from_rows(y) if width > 1 else y
    if width <= 1:
        return [y]
    array = np.asarray(y)
    return [array[:, j] for j in range(width)]


def _refuse_numbers(column: Any) -> None:
    """Refuse a column of fractions, as scikit-learn does; without its warning about the number of classes."""
    finite = np.asarray(column)
    if finite.dtype.kind != "f":
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_classification_targets(finite[np.isfinite(finite)])


def private_column(estimator: Any, y: Any, n: int) -> Any:
    """Return a column of labels, as many as there are records; nothing else about them is looked at."""
    if y is None:
        raise HedgerowError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    if getattr(y, "ndim", 1) == 2 and getattr(y, "shape", (0, 0))[1] == 1:
        y = column_or_1d(y, warn=True)
    return label_column(y, "y", n)


def tag_total(tags: Any) -> Any:
    """Say in scikit-learn's tags that anything may stand in a record, and that fits are noisy."""
    tags.input_tags.allow_nan = True
    tags.input_tags.string = True
    tags.non_deterministic = True
    for kind in (tags.regressor_tags, tags.classifier_tags):
        if kind is not None:
            kind.poor_score = True  # small data, noise: scikit-learn's checks expect too much
    return tags


def take_rows(X: Any, rows: npt.NDArray[np.int64]) -> Any:
    """Return these rows of a frame or an array, sparse ones too."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "column_names"):  # Arrow
        return X.take(rows)
    return X[rows] if hasattr(X, "columns") or hasattr(X, "toarray") else np.asarray(X)[rows]
