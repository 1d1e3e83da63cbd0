"""The released forest: trees, leaf values and weights, and the guarantee; nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.bounds import FeatureSpace, check_fields
from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.partition.export import node_means
from hedgerow.partition.tree import Partition

__all__ = ["ForestModel", "ForestTree"]

Float64Array = npt.NDArray[np.float64]
_VERSION = 1


@dataclass(frozen=True, eq=False)
class ForestTree:
    """One tree: ``values[leaf, column]`` and how much the leaf's word counts."""

    partition: Partition
    values: Float64Array
    weights: Float64Array

    def __post_init__(self) -> None:
        values, weights = np.array(self.values, dtype=np.float64), np.array(self.weights, dtype=np.float64)
        n = self.partition.n_leaves
        if values.ndim != 2 or len(values) != n or weights.shape != (n,):
            raise FormatError(f"forest tree: 'values' and 'weights' must have one row for each of {n} leaves.")
        if not np.isfinite(values).all() or not np.isfinite(weights).all() or (weights <= 0).any():
            raise FormatError("forest tree: 'values' must be finite and 'weights' finite and positive.")
        for name, array in (("values", values), ("weights", weights)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def importances(self) -> Float64Array:
        """Return, by column of the data, how much the splits separate the leaf values (weighted variance)."""
        out = np.zeros(len(self.partition.space))
        inner = np.flatnonzero(self.partition.feature >= 0)
        for column in self.values.T:
            _, variance, weight = node_means(self.partition, column, self.weights**2)
            spread = variance * weight
            first = self.partition.left[inner]
            np.add.at(out, self.partition.feature[inner], spread[inner] - spread[first] - spread[first + 1])
        return np.maximum(out, 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form, without the space (all trees share it)."""
        tree = self.partition.to_dict()
        del tree["space"]
        return {"partition": tree, "values": self.values.tolist(), "weights": self.weights.tolist()}


@dataclass(frozen=True, eq=False)
class ForestModel:
    """Stages of trees. A stage predicts a weighted mean of its trees' leaf values; stages add up.

    Attributes
    ----------
    stages : tuple of tuples of ForestTree
        Later stages predict what earlier ones left over.
    low, high : float
        Predictions are clipped to this range after each stage.
    classes : tuple or None
        Class labels; None for regression.
    guarantee : Guarantee
        What the release promises.
    """

    space: FeatureSpace
    stages: tuple[tuple[ForestTree, ...], ...]
    low: float
    high: float
    classes: tuple[Any, ...] | None
    guarantee: Guarantee

    @property
    def trees(self) -> tuple[ForestTree, ...]:
        """All trees, in order."""
        return tuple(tree for stage in self.stages for tree in stage)

    def values(self, Z: npt.NDArray[Any]) -> Float64Array:
        """Return the predicted columns for encoded records."""
        return add_stages(self.stages, Z, self.low, self.high)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {
            "format": "hedgerow forest",
            "version": _VERSION,
            "space": self.space.to_dict(),
            "stages": [[tree.to_dict() for tree in stage] for stage in self.stages],
            "low": self.low,
            "high": self.high,
            "classes": None if self.classes is None else list(self.classes),
            "guarantee": self.guarantee.to_dict(),
        }

    def to_json(self) -> str:
        """Return canonical JSON: equal models give equal text."""
        return json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ForestModel:
        """Undo :meth:`to_dict`; anything missing, unknown or of another version is refused."""
        names = {"format", "version", "space", "stages", "low", "high", "classes", "guarantee"}
        check_fields(data, names, "forest model")
        if data["format"] != "hedgerow forest" or data["version"] != _VERSION:
            raise FormatError(f"forest model: version {data['version']!r} is not supported, only {_VERSION}.")
        try:
            space = FeatureSpace.from_dict(data["space"])
            stages = tuple(tuple(_tree(item, data["space"]) for item in stage) for stage in data["stages"])
            classes = None if data["classes"] is None else tuple(data["classes"])
            low, high = float(data["low"]), float(data["high"])
        except FormatError:
            raise
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise FormatError(f"forest model: not a valid model ({error}).") from error
        widths = {tree.values.shape[1] for stage in stages for tree in stage}
        if not stages or not all(stages) or len(widths) != 1 or not low < high:
            raise FormatError("forest model: every stage needs trees of one width, and low < high.")
        return cls(space, stages, low, high, classes, Guarantee.from_dict(data["guarantee"]))

    @classmethod
    def from_json(cls, text: str | bytes) -> ForestModel:
        """Undo :meth:`to_json`."""
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise FormatError(f"A forest model must be JSON text: {error}") from error
        return cls.from_dict(data)

    def __eq__(self, other: object) -> bool:
        return self.to_json() == other.to_json() if isinstance(other, ForestModel) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.to_json())


def _tree(item: Mapping[str, Any], space: Mapping[str, Any]) -> ForestTree:
    check_fields(item, {"partition", "values", "weights"}, "forest tree")
    partition = Partition.from_dict({**item["partition"], "space": space})
    return ForestTree(partition, np.array(item["values"], dtype=np.float64), np.array(item["weights"]))


def add_stages(stages: Any, Z: npt.NDArray[Any], low: float, high: float) -> Float64Array:
    """Return the sum of the stages' weighted means, clipped to ``[low, high]`` after each stage."""
    total: Any = 0.0
    for stage in stages:
        value, weight = 0.0, 0.0
        for tree in stage:
            leaf = tree.partition.apply(Z)
            share = tree.weights[leaf][:, None]
            value, weight = value + share * tree.values[leaf], weight + share
        total = np.clip(total + value / weight, low, high)
    return np.asarray(total)
