"""The finite ANOVA basis: which functions of the features a model may use, and how much each counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

import numpy as np

from hedgerow.central.anova.quantiles import CELLS, Quantiles
from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.features import CategoricalFeature
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["Basis", "Single", "choose", "singles", "triples"]

_CATEGORY = 1.5  # the complexity of an indicator; that of a cosine is its frequency
_MISSING_SHARE = 0.05  # publicly assumed share of missing values; by hand
_POOL = 1000  # one-feature functions that pairs are made of, at most


class Single(NamedTuple):
    """A function of one feature: ``kind`` is "linear", "cosine" (k half periods), "category" k or "missing"."""

    feature: int
    kind: Literal["linear", "cosine", "category", "missing"]
    k: int

    def fits(self, space: FeatureSpace) -> bool:
        """Whether the space has such a feature, with such a cell."""
        if not 0 <= self.feature < len(space):
            return False
        feature = space.features[self.feature]
        if isinstance(feature, CategoricalFeature):
            return self.kind == "category" and 0 <= self.k < len(feature.categories)
        return self.kind != "category" and 0 <= self.k <= CELLS

    @property
    def complexity(self) -> float:
        """How fine it is; its weight is one over this."""
        return float(self.k) if self.kind == "cosine" else 1.0 if self.kind == "linear" else _CATEGORY

    def energy(self, space: FeatureSpace) -> float:
        """Mean square, taken as public: of an arch over uniform quantiles, of an evenly spread category."""
        feature = space.features[self.feature]
        if self.kind == "category" and isinstance(feature, CategoricalFeature):
            return 1.0 / len(feature.categories)
        return _MISSING_SHARE if self.kind == "missing" else 0.5

    def table(self, quantiles: Mapping[int, Quantiles], size: int) -> FloatArray:
        """Return its value in each cell of the feature."""
        out = np.zeros(size)
        if self.kind == "linear":
            out[:] = quantiles[self.feature].linear()
        elif self.kind == "cosine":
            out[:CELLS] = _cosine(self.k)
        else:
            out[self.k] = 1.0
        return out


@lru_cache(maxsize=256)
def _cosine(k: int) -> FloatArray:
    """Return k half periods by cell: the same for all features."""
    return np.asarray(np.cos(np.pi * k * (np.arange(CELLS) + 0.5) / CELLS))


def singles(space: FeatureSpace, most: int, missing: bool) -> list[Single]:
    """Return the functions of one feature, with cosines up to frequency ``most``.

    >>> space = FeatureSpace.from_bounds((0, 1), ["x", "kind"], categories={"kind": ["a", "b"]})
    >>> [s.kind for s in singles(space, 2, False)]
    ['linear', 'cosine', 'cosine', 'category', 'category']
    """
    out: list[Single] = []
    for j, feature in enumerate(space.features):
        if isinstance(feature, CategoricalFeature):
            out += [Single(j, "category", i) for i in range(len(feature.categories))]
        else:
            out += [Single(j, "linear", 0), *(Single(j, "cosine", k) for k in range(1, most + 1))]
            out += [Single(j, "missing", CELLS)] if missing else []
    return out


@dataclass(frozen=True)
class Basis(Content, what="basis"):
    """A constant and weighted functions ``w_m b_m(x)``; each function is one single, or the product of two or three.

    Attributes
    ----------
    functions : tuple of tuples of Single
        One to three singles each; the constant (weight 1) is not listed.
    weights : tuple of float
        As many.
    energies : tuple of float
        Public mean squares ``E b**2``.
    """

    functions: tuple[tuple[Single, ...], ...]
    weights: tuple[float, ...]
    energies: tuple[float, ...]

    def _check_read(self) -> None:
        counts = {len(self.functions), len(self.weights), len(self.energies)}
        if len(counts) != 1 or not all(1 <= len(function) <= 3 for function in self.functions):
            raise FormatError("basis: every function needs a weight and an energy, and is of one to three features.")

    def __len__(self) -> int:
        return len(self.functions) + 1

    def root_mean_square(self) -> float:
        """Return ``sqrt(1 + sum w**2 E b**2)``."""
        return float(np.sqrt(1.0 + np.dot(np.square(self.weights), self.energies)))

    def largest(self, order: int) -> float:
        """Return a bound of the norm over all records: of one feature's indicators only one is on."""
        exponent = float(order)
        linear = 1.0
        indicators = dict[int, float]()
        for function, weight in zip(self.functions, self.weights, strict=True):
            only = function[0]
            if len(function) == 1 and only.kind == "category":
                indicators[only.feature] = max(indicators.get(only.feature, 0.0), weight**exponent)
            else:
                linear += weight**exponent
        return float((linear + sum(indicators.values())) ** (1 / exponent))

    def groups(self) -> Iterator[tuple[tuple[int, ...], list[int]]]:
        """Yield each feature, pair or triple with the positions of its functions (the constant is position 0)."""
        found: dict[tuple[int, ...], list[int]] = {}
        for m, function in enumerate(self.functions, 1):
            found.setdefault(tuple(s.feature for s in function), []).append(m)
        yield from found.items()


def choose(
    space: FeatureSpace,
    importance: Sequence[float],
    *,
    frequency: int,
    pair_weight: float,
    pair_complexity: float,
    least: float,
    most: int,
    missing: bool,
) -> Basis:
    """Return the heaviest functions: singles of weight ``om_j / complexity``, pairs ``pair_weight w_a w_b``.

    Everything here is public or was released before. ``pair_weight = 0`` leaves pairs out.
    """
    pool = singles(space, frequency, missing)
    weights = np.array([importance[s.feature] / s.complexity for s in pool])
    energies = np.array([s.energy(space) for s in pool])
    none = np.zeros(0, dtype=np.int64)
    first, second, products = none, none, np.zeros(0)
    if pair_weight > 0:
        first, second, products = _pairs(pool, weights, pair_weight, pair_complexity, least)
    heavy = np.concatenate([weights, products])
    alone = len(pool)
    squares = np.concatenate([energies, energies[first] * energies[second]])
    ranked = np.argsort(-heavy, kind="stable")[:most]
    kept = ranked[heavy[ranked] >= least]
    functions: list[tuple[Single, ...]] = []
    for i in kept.tolist():
        if i < alone:
            functions.append((pool[i],))
        else:
            functions.append((pool[first[i - alone]], pool[second[i - alone]]))
    return Basis(tuple(functions), tuple(heavy[kept].tolist()), tuple(squares[kept].tolist()))


def triples(space: FeatureSpace, basis: Basis, factor: float, least: float, most: int) -> Basis:
    """Return the heaviest products of three features: of a pair of the basis, and a later feature's single in it.

    A triple has ``factor`` times the weight of its pair times that of its single. Everything here was released before.

    >>> space = FeatureSpace.from_bounds((0, 1), ["a", "b", "c"])
    >>> basis = choose(
    ...     space, [1.0, 1.0, 1.0], frequency=2, pair_weight=0.5, pair_complexity=2.0, least=0.1, most=99, missing=False
    ... )
    >>> found = triples(space, basis, 0.5, 0.2, 99)
    >>> [[s.feature for s in function] for function in found.functions], found.weights
    ([[0, 1, 2]], (0.25,))
    """
    alone = [m for m, function in enumerate(basis.functions) if len(function) == 1 and _multiplies(function[0])]
    pairs = [m for m, function in enumerate(basis.functions) if len(function) == 2]
    weights = np.array(basis.weights)
    last = np.array([basis.functions[m][1].feature for m in pairs])
    third = np.array([basis.functions[m][0].feature for m in alone])
    product = factor * np.outer(weights[pairs], weights[alone])
    i, k = np.nonzero((last[:, None] < third[None, :]) & (product >= least))
    heavy = product[i, k]
    kept = np.argsort(-heavy, kind="stable")[:most]
    places = zip(i[kept].tolist(), k[kept].tolist(), strict=True)
    functions = tuple((*basis.functions[pairs[a]], *basis.functions[alone[b]]) for a, b in places)
    energies = tuple(math.prod(s.energy(space) for s in function) for function in functions)
    return Basis(functions, tuple(heavy[kept].tolist()), energies)


def _multiplies(single: Single) -> bool:
    """Whether products are made of it: a line is nearly a cosine, and missing values are rare."""
    return single.kind in ("cosine", "category")


def _pairs(
    pool: list[Single], weights: FloatArray, factor: float, complexity: float, least: float
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return pairs of different features, below a complexity and above a weight: both places, and their weights."""
    usable = np.array([i for i, s in enumerate(pool) if _multiplies(s)], dtype=np.int64)
    usable = np.sort(usable[np.argsort(-weights[usable], kind="stable")[:_POOL]])
    feature = np.array([pool[i].feature for i in usable])
    fine = np.array([pool[i].complexity for i in usable])
    product = factor * np.outer(weights[usable], weights[usable])
    fits = (feature[:, None] < feature[None, :]) & (np.outer(fine, fine) <= complexity) & (product >= least)
    i, k = np.nonzero(fits)
    return usable[i], usable[k], np.asarray(product[i, k])
