"""Published models in other languages: ONNX, scikit-learn's interface, and one Python file that needs NumPy alone.

All start from the formula of a model or of a fitted estimator (:mod:`hedgerow.formula`); nothing here knows a kind of
either. What has no formula says why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError
from hedgerow.formula import Formula

if TYPE_CHECKING:
    from onnx import ModelProto

    from hedgerow.export.runtime import ExportedClassifier, ExportedRegressor

__all__ = ["formula_of", "to_onnx", "to_python", "to_sklearn"]


def formula_of(model: Any) -> Formula:
    """Return the formula of a model, or of a fitted estimator; refuse what has none, with the reason."""
    ask = getattr(model, "formula", None)
    if ask is None:
        raise HedgerowError(
            f"export takes a model or a fitted estimator of hedgerow. Got an object of type {type(model).__name__} "
            "instead; models of scikit-learn are exported by skl2onnx."
        )
    found: Formula = ask()
    return found


def to_onnx(model: Any) -> ModelProto:
    """Return a model, or a fitted estimator, as an ONNX model.

    There is one input a column, of shape [N, 1]: doubles (NaN: missing), or text (the empty text: missing). What
    becomes of missing, unknown and far values is inside the graph. ``prediction`` has the shape [N], or [N, outputs];
    of classes, ``label`` has [N] and ``probabilities`` [N, classes]. Everything is computed in double precision. The
    guarantee, the schema and the id of the task are in ``metadata_props``, under ``hedgerow.``.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import LPDTRegressor
    >>> X = np.random.default_rng(0).random((2000, 2)); y = 10 * X[:, 0]
    >>> tree = LPDTRegressor(2.0, label_bounds=(0, 10), random_state=0).fit(X, y, X_public=X[:200], y_public=y[:200])
    >>> model = to_onnx(tree)
    >>> [column.name for column in model.graph.input], [output.name for output in model.graph.output]
    (['x0', 'x1'], ['prediction'])
    """
    from hedgerow.export.onnx import check_installed, onnx_model

    check_installed()
    return onnx_model(formula_of(model))


def to_sklearn(model: Any) -> ExportedRegressor | ExportedClassifier:
    """Return a model as a fitted estimator of scikit-learn that has nothing but public numbers, and needs NumPy alone.

    It predicts like the model, takes data frames, mappings and arrays, and goes into pipelines behind
    ``sklearn.frozen.FrozenEstimator``. :func:`to_python` writes the same object to a file that does not need hedgerow.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import LPDTRegressor
    >>> X = np.random.default_rng(0).random((2000, 2)); y = 10 * X[:, 0]
    >>> tree = LPDTRegressor(2.0, label_bounds=(0, 10), random_state=0).fit(X, y, X_public=X[:200], y_public=y[:200])
    >>> bool((to_sklearn(tree).predict(X) == tree.predict(X)).all())
    True
    """
    from hedgerow.export.program import program_of
    from hedgerow.export.runtime import ExportedClassifier, ExportedRegressor

    program = program_of(formula_of(model))
    return ExportedRegressor(program) if program["classes"] is None else ExportedClassifier(program)


def to_python(model: Any) -> str:
    """Return the text of a Python file that predicts like the model, with NumPy alone.

    ``from model import model`` then gives an object like that of :func:`to_sklearn`.
    """
    from hedgerow.export.program import python_text

    return python_text(formula_of(model))
