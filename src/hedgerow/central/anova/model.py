"""The released model: quantiles, basis, coefficients, their noise, and the guarantee; nothing else."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.bounds import CategoricalFeature, FeatureSpace, _columns, check_fields
from hedgerow.central.anova.basis import Basis, Single
from hedgerow.central.anova.design import GRID, FeatureMap
from hedgerow.central.anova.quantiles import CELLS, Quantiles
from hedgerow.errors import BoundsError, FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.values import category, cells, numbers

__all__ = ["MISSING", "AnovaModel", "encode"]

FloatArray = npt.NDArray[np.float64]
_VERSION = 1
_FIELDS = {
    "format", "version", "space", "missing", "additive", "quantiles", "functions", "weights", "energies", "scale",
    "most", "theta", "variance", "offset", "low", "high", "classes", "size", "guarantee",
}  # fmt: skip
_KINDS = ("linear", "cosine", "category", "missing")
_ROWS = 4096
MISSING = "(missing)"
"""The category of a missing categorical value."""


def encode(space: FeatureSpace, X: Any, missing: bool) -> FloatArray:
    """Return records as floats; with ``missing``, NaN for a missing number and a category of its own for the others."""
    if not missing:
        return np.asarray(space.encode(X), dtype=np.float64)
    names, columns = _columns(X)
    if names is None or columns is None:
        array = np.asarray(X)
        names, columns = list(space.names), list(array.T) if array.ndim == 2 else []
    if len(columns) != len(space) or not set(space.names) <= set(names):
        raise BoundsError(f"X has {len(columns)} features, but {len(space)} features are expected.")
    out = np.empty((int(X.shape[0]), len(space)))
    for j, feature in enumerate(space.features):
        column = columns[names.index(feature.name)]
        if isinstance(feature, CategoricalFeature):
            out[:, j] = feature.codes([MISSING if category(v) is None else v for v in cells(column)])
        else:
            out[:, j] = np.clip(numbers(column), feature.low, feature.high)
    return out


@dataclass(frozen=True, eq=False)
class AnovaModel:
    """Predict ``offset + <theta, phi(x)>``, clipped to [0, 1] and scaled to the label bounds.

    Attributes
    ----------
    feature_map : FeatureMap
        From records to vectors of norm at most 1.
    theta, variance : arrays of shape (p, outputs) and (p,)
        Coefficients, and the part of their variance that the noise accounts for (in an orthogonal basis).
    offset : float
        The public middle of the labels, scaled to [0, 1].
    low, high : tuple of float
        Label bounds, by output.
    classes : tuple or None
        Class labels; None for regression.
    missing, additive : bool
        Whether missing values are allowed; whether the model is exactly a sum of curves.
    size : float
        The noisy number of records.
    """

    feature_map: FeatureMap
    theta: FloatArray
    variance: FloatArray
    offset: float
    low: tuple[float, ...]
    high: tuple[float, ...]
    classes: tuple[Any, ...] | None
    missing: bool
    additive: bool
    size: float
    guarantee: Guarantee

    @property
    def space(self) -> FeatureSpace:
        """The public schema."""
        return self.feature_map.space

    def scores(self, X: Any) -> FloatArray:
        """Return the predictions on the scale [0, 1], clipped, one column an output."""
        Z = encode(self.space, X, self.missing)
        parts = [self._block(Z[start : start + _ROWS]) for start in range(0, len(Z), _ROWS)]
        return np.clip(np.concatenate(parts), 0.0, 1.0)

    def _block(self, Z: FloatArray) -> FloatArray:
        phi = self.feature_map.vectors(self.feature_map.codes(Z))
        return np.asarray(self.offset + phi @ self.theta / GRID)

    def predict(self, X: Any) -> FloatArray:
        """Return predicted labels, within their bounds, one column an output."""
        low, high = np.array(self.low), np.array(self.high)
        return np.asarray(np.clip(low + (high - low) * self.scores(X), low, high))

    def probabilities(self, X: Any) -> FloatArray:
        """Return the estimated probability of each class; rows sum to 1."""
        scores = self.scores(X)
        if len(self.classes or ()) <= 1:
            return np.ones((len(scores), 1))
        if scores.shape[1] == 1:
            return np.column_stack([1 - scores[:, 0], scores[:, 0]])
        safe = scores + 1e-9
        return np.asarray(safe / safe.sum(axis=1, keepdims=True))

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        m = self.feature_map
        return {
            "format": "hedgerow anova",
            "version": _VERSION,
            "space": self.space.to_dict(),
            "missing": self.missing,
            "additive": self.additive,
            "quantiles": {str(j): {"edges": q.edges.tolist(), "mass": q.mass.tolist()} for j, q in m.quantiles.items()},
            "functions": [[list(s) for s in f] for f in m.basis.functions],
            "weights": list(m.basis.weights),
            "energies": list(m.basis.energies),
            "scale": m.scale,
            "most": None if math.isinf(m.most) else m.most,
            "theta": self.theta.tolist(),
            "variance": self.variance.tolist(),
            "offset": self.offset,
            "low": list(self.low),
            "high": list(self.high),
            "classes": None if self.classes is None else list(self.classes),
            "size": self.size,
            "guarantee": self.guarantee.to_dict(),
        }

    def to_json(self) -> str:
        """Return canonical JSON: equal models give equal text."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AnovaModel:
        """Undo :meth:`to_dict`; anything missing, unknown or of another version is refused."""
        check_fields(data, _FIELDS, "anova model")
        if data["format"] != "hedgerow anova" or data["version"] != _VERSION:
            raise FormatError(f"anova model: version {data['version']!r} is not supported, only {_VERSION}.")
        try:
            return _read(data)
        except FormatError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise FormatError(f"anova model: not a valid model ({error}).") from error

    @classmethod
    def from_json(cls, text: str | bytes) -> AnovaModel:
        """Undo :meth:`to_json`."""
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise FormatError(f"An anova model must be JSON text: {error}") from error
        return cls.from_dict(data)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, AnovaModel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())


def _read(data: Mapping[str, Any]) -> AnovaModel:
    space = FeatureSpace.from_dict(data["space"])
    functions = tuple(tuple(_single(s, space) for s in f) for f in data["functions"])
    basis = Basis(functions, tuple(map(float, data["weights"])), tuple(map(float, data["energies"])))
    quantiles = {int(j): _quantiles(q) for j, q in data["quantiles"].items()}
    most = math.inf if data["most"] is None else float(data["most"])
    feature_map = FeatureMap(space, quantiles, basis, float(data["scale"]), most)
    theta, variance = np.array(data["theta"], dtype=np.float64), np.array(data["variance"], dtype=np.float64)
    low, high = tuple(map(float, data["low"])), tuple(map(float, data["high"]))
    fits = theta.shape == (len(basis), len(low)) and variance.shape == (len(basis),) and len(high) == len(low)
    counts = len(basis.weights) == len(functions) == len(basis.energies) and all(1 <= len(f) <= 2 for f in functions)
    if not fits or not counts or not np.isfinite(theta).all() or not (np.array(low) < np.array(high)).all():
        raise FormatError("anova model: coefficients, weights and bounds do not fit together.")
    if set(quantiles) != set(np.flatnonzero(~space.is_categorical).tolist()) or not feature_map.scale > 0:
        raise FormatError("anova model: every numeric feature needs quantiles, and the scale must be positive.")
    classes = None if data["classes"] is None else tuple(data["classes"])
    missing, additive = data["missing"], data["additive"]
    if type(missing) is not bool or type(additive) is not bool:
        raise FormatError("anova model: 'missing' and 'additive' must be true or false.")
    return AnovaModel(
        feature_map, theta, variance, float(data["offset"]), low, high, classes, missing, additive, float(data["size"]),
        Guarantee.from_dict(data["guarantee"]),
    )  # fmt: skip


def _quantiles(data: Mapping[str, Any]) -> Quantiles:
    check_fields(data, {"edges", "mass"}, "quantiles")
    edges, mass = np.array(data["edges"], dtype=np.float64), np.array(data["mass"], dtype=np.float64)
    if edges.ndim != 1 or mass.shape != (edges.size - 1,) or (np.diff(edges) < 0).any():
        raise FormatError("quantiles: 'edges' must rise and enclose each 'mass'.")
    return Quantiles(edges, mass)


def _single(item: Any, space: FeatureSpace) -> Single:
    feature, kind, k = item
    own = space.features[feature]
    size = len(own.categories) if isinstance(own, CategoricalFeature) else CELLS + 1
    if kind not in _KINDS or type(feature) is not int or type(k) is not int or not 0 <= k < size:
        raise FormatError(f"anova model: {item!r} is not a function.")
    if (kind == "category") != bool(space.is_categorical[feature]):
        raise FormatError(f"anova model: {item!r} does not fit its feature.")
    return Single(feature, kind, k)
