"""The released forest: trees, leaf values and weights, and the guarantee; nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.arrays import listed
from hedgerow.central.card import Carded
from hedgerow.central.intervals import NoiseIntervals
from hedgerow.central.public import PublicPart
from hedgerow.content import Content
from hedgerow.digits import plain
from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.partition.export import node_means
from hedgerow.partition.tree import Partition
from hedgerow.schema.words import one_line
from hedgerow.space import FeatureSpace
from hedgerow.summary import Summary, SummaryTable
from hedgerow.tasks.models import Explanation, check_level
from hedgerow.types import FloatArray, RealArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy
    from hedgerow.formula.terms import Term

__all__ = ["ForestModel", "ForestTree"]


@dataclass(frozen=True, eq=False)
class ForestTree(Content, what="forest tree"):
    """One tree: ``values[leaf, column]``, how much the leaf's word counts, and the deviation of the noise in it."""

    partition: Partition
    values: Annotated[FloatArray, listed("<f8", ndim=2)]
    weights: Annotated[FloatArray, listed("<f8")]
    noise: Annotated[FloatArray, listed("<f8")]

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        weights = np.array(self.weights, dtype=np.float64)
        noise = np.array(self.noise, dtype=np.float64)
        n = self.partition.n_leaves
        if values.ndim != 2 or len(values) != n or weights.shape != (n,) or noise.shape != (n,):
            raise FormatError(f"forest tree: 'values', 'weights' and 'noise' need one row for each of {n} leaves.")
        if not np.isfinite(values).all() or not np.isfinite(weights).all() or (weights <= 0).any():
            raise FormatError("forest tree: 'values' must be finite and 'weights' finite and positive.")
        if not np.isfinite(noise).all() or (noise < 0).any():
            raise FormatError("forest tree: 'noise' must be finite and not negative.")
        for name, array in (("values", values), ("weights", weights), ("noise", noise)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    def importances(self) -> FloatArray:
        """Return, by column of the data, how much the splits separate the leaf values (weighted variance)."""
        out = np.zeros(len(self.partition.space))
        inner = np.flatnonzero(self.partition.feature >= 0)
        for column in self.values.T:
            _, variance, weight = node_means(self.partition, column, self.weights**2)
            spread = variance * weight
            first = self.partition.left[inner]
            np.add.at(out, self.partition.feature[inner], spread[inner] - spread[first] - spread[first + 1])
        return np.maximum(out, 0.0)


@dataclass(frozen=True, eq=False)
class ForestModel(Carded, NoiseIntervals, Content, what="forest model", format="hedgerow/forest-model", version=2):
    """Stages of trees. A stage predicts a weighted mean of its trees' leaf values; stages add up.

    Intervals cover the average of such forests: over their noise and splits, and, where each record is in one tree,
    over the draw of records. With one tree a stage, they cover the noise of its counts alone.

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
    public : PublicPart or None
        A public model beside the trees, whose prediction is a feature of theirs. Of numbers and two classes the trees
        then predict what it leaves over, within ``radius``.
    """

    space: FeatureSpace
    stages: tuple[tuple[ForestTree, ...], ...]
    low: float
    high: float
    classes: tuple[str | bool | int | float, ...] | None
    guarantee: Guarantee
    public: PublicPart | None = None
    radius: float = 0.0

    n_outputs: ClassVar[int] = 1
    task: ClassVar[None] = None
    audited: ClassVar[tuple[str, ...]] = ("Forest", "ExtraTrees")

    @property
    def simulation(self) -> bool:
        """Whether the noise was seeded."""
        return self.guarantee.simulation

    @property
    def trees(self) -> tuple[ForestTree, ...]:
        """All trees, in order."""
        return tuple(tree for stage in self.stages for tree in stage)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features of trees: those of records, and public predictions."""
        return self.trees[0].partition.space.names

    @property
    def window(self) -> tuple[float, float]:
        """What the stages add up to, at most: a label, or what a public model leaves over."""
        return (-self.radius, self.radius) if self.radius else (self.low, self.high)

    def _bounds(self) -> tuple[list[float], list[float]]:
        """Return the bounds of each public prediction."""
        n = 0 if self.public is None else len(self.public.models)
        return [self.low] * n, [self.high] * n

    def encoded(self, X: Any) -> RealArray:
        """Return records as the trees take them."""
        Z: RealArray = self.space.encode(X)
        if self.public is None:
            return Z
        values = self.public.values(np.asarray(Z, dtype=np.float64), self._bounds(), classes=self.classes is not None)
        return self.public.widen(np.asarray(Z, dtype=np.float64), values, len(self.space.columns))

    def values(self, Z: npt.NDArray[Any]) -> FloatArray:
        """Return the predicted columns for encoded records."""
        raw = add_stages(self.stages, Z, *self.window)
        if self.public is None:
            return raw
        n = len(self.space.columns)
        base = np.asarray(Z[:, n : n + len(self.public.models)], dtype=np.float64)
        if self.radius:
            return np.asarray(np.clip(base + self.public.share * raw, self.low, self.high))
        return np.asarray(base + self.public.share * (raw / raw.sum(axis=1, keepdims=True) - base))

    def predict(self, X: Any) -> Any:
        """Return predicted labels, within their bounds; or the likeliest class."""
        if self.classes is not None:
            return np.array(self.classes)[self.predict_proba(X).argmax(axis=1)]
        return self.values(self.encoded(X))[:, 0]

    def _reach(self, X: Any, level: float) -> FloatArray:
        """Return the larger of what the noise of counts explains and of what the differences between trees do."""
        from scipy.special import ndtri, stdtrit

        Z = self.encoded(X)
        noise = np.zeros(len(Z))
        between = np.zeros(len(Z))
        for stage in self.stages:
            found = _stage_variances(stage, Z)
            noise += found[0]
            between += found[1]
        few = min(len(stage) for stage in self.stages)
        share = (1 + level) / 2
        half = ndtri(share) * np.sqrt(noise)
        if few > 1:
            half = np.maximum(half, stdtrit(few - 1, share) * np.sqrt(between))
        if self.public is None:
            return np.asarray(half)
        # The factor is noisy as well, and may have come out as 0 where others had not.
        likely = min(1.0, self.public.share + self.public.doubt)
        doubt = ndtri(share) * self.public.doubt * add_stages(self.stages, Z, *self.window)[:, 0]
        return np.asarray(np.sqrt((likely * half) ** 2 + doubt**2))

    def _value_bounds(self) -> tuple[Any, Any]:
        return self.low, self.high

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class; rows sum to 1."""
        return self.probabilities(self.encoded(X))

    def probabilities(self, Z: npt.NDArray[Any]) -> FloatArray:
        """Return the probability of each class for encoded records."""
        values = self.values(Z)
        if values.shape[1] == 1 and len(self.classes or ()) == 2:
            return np.column_stack([1 - values, values])
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def formula(self) -> Formula:
        """Return the stages: of each, the sum of its trees' weighted values over that of their weights."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import constant, join, records
        from hedgerow.formula.trees import tree_sum

        rows, base = self.start_terms(records())
        total = constant(0.0)
        width = self.trees[0].values.shape[1]
        for stage in self.stages:
            leaves = [np.column_stack([tree.weights[:, None] * tree.values, tree.weights]) for tree in stage]
            sums = tree_sum(rows, [tree.partition for tree in stage], leaves)
            mean = sums.pick(range(width)) / sums.pick([width])
            total = (total + mean).clip(*self.window)
        if base is not None:
            total = self.corrected(base, total)
        if self.classes is not None and width == 1 and len(self.classes) == 2:
            total = join(constant(1.0) - total, total)
        elif self.classes is not None:
            total = total / total.apply("row_sum")
        return Formula.of(self.space, total, self.guarantee, classes=self.classes)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the trees with their leaves, see :mod:`hedgerow.central.anatomy`."""
        from hedgerow.central.anatomy import forest_anatomy

        return forest_anatomy(self, check_level(level))

    def start_terms(self, rows: Term) -> tuple[Term, Term | None]:
        """Return records as the trees take them, and the public prediction, as terms."""
        from hedgerow.formula.terms import join

        if self.public is None:
            return rows, None
        base = self.public.term(rows, self._bounds(), classes=self.classes is not None)
        n = len(self.space.columns)
        parts = [rows.pick(range(n)), base]
        if len(self.space) > n:
            parts.append(rows.pick(range(n, len(self.space))))
        return join(*parts), base

    def corrected(self, base: Term, total: Term) -> Term:
        """Return the public prediction with what the trees say of it, as :meth:`values` does."""
        share = 1.0 if self.public is None else self.public.share
        if self.radius:
            found: Term = (base + total * share).clip(self.low, self.high)
            return found
        mixed: Term = base + (total / total.apply("row_sum") - base) * share
        return mixed

    def summary(self, level: float = 0.9) -> Summary:
        """Return guarantee, label, trees and what they split by, on one screen."""
        label = ", ".join(map(str, self.classes)) if self.classes else f"{plain(self.low)} to {plain(self.high)}"
        facts = [("label", label), ("features", str(len(self.space))), ("trees", f"{len(self.trees):,}")]
        facts.append(("leaves", f"{sum(tree.partition.n_leaves for tree in self.trees):,}"))
        if self.public is not None:
            told = f"corrected by what private records say, times {plain(self.public.share, 2)}"
            facts.append(("public model", told))
        shares = sorted(zip(self.importances(), self.names, strict=True), reverse=True)
        rows = tuple((f"{share:.1%}", one_line(name)) for share, name in shares if share > 0)
        table = SummaryTable("What the splits separate", ("share", "feature"), rows)
        return Summary("A private forest", self.guarantee, facts, [table] if rows else [])

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def importances(self) -> FloatArray:
        """Return how much each column's splits separate the released leaf values, summing to 1 (post-processing)."""
        total = sum((tree.importances() for tree in self.trees), np.zeros(len(self.names)))
        return np.asarray(total / total.sum() if total.sum() > 0 else np.full(len(total), 1 / len(total)))

    def shift(self) -> None:
        """Return None: there are no public records to compare with."""

    def explain(self) -> Explanation:
        """Return the forest in words, numbers and as a picture of its first tree."""
        shares = dict(zip(self.names, self.importances().tolist(), strict=True))
        ranked = sorted(shares.items(), key=lambda item: -item[1])
        lines = (
            f"A forest of {len(self.trees)} trees. Importance (share of the differences between leaves):",
            *(f"  {name}: {share:.0%}" for name, share in ranked if share > 0),
            str(self.guarantee),
        )
        facts = {
            "label_bounds": None if self.classes else [self.low, self.high],
            "classes": None if self.classes is None else list(self.classes),
            "n_trees": len(self.trees),
            "importances": shares,
            "public_model_corrected_by": None if self.public is None else self.public.share,
            "simulation": self.simulation,
            "guarantee": self.guarantee.to_dict(),
            "statement": str(self.guarantee),
        }
        return Explanation(lines, facts, (), self._draw)

    def _draw(self) -> Figure:
        from matplotlib.figure import Figure

        from hedgerow.partition.arrange import arrange

        first = self.trees[0]
        values = first.values[:, -1]
        arranged = arrange(first.partition, values, first.weights)
        figure = Figure(figsize=(max(arranged.width * 1.3, 6.0), arranged.height * 1.3), layout="constrained")
        first.partition.plot(values, ax=figure.subplots(), shares=first.weights)
        return figure

    def _check_read(self) -> None:
        widths = {tree.values.shape[1] for tree in self.trees}
        if not self.stages or not all(self.stages) or len(widths) != 1 or not self.low < self.high:
            raise FormatError("forest model: every stage needs trees of one width, and low < high.")
        wide = self.space
        if self.public is not None:
            self.public.check(self.space, widths.pop())
            wide = self.public.space(self.space, self._bounds())
        residual = self.public is not None and len(self.public.models) == 1
        if any(tree.partition.space != wide for tree in self.trees) or (self.radius > 0) != residual:
            raise FormatError("forest model: its trees, its public model and its 'radius' do not fit together.")

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form, in which all trees share one space."""
        data = super().to_dict()
        for tree in (tree for stage in data["stages"] for tree in stage):
            del tree["partition"]["space"]
        return data

    @classmethod
    def from_dict(cls, data: object) -> ForestModel:
        """Undo :meth:`to_dict`; anything missing, unknown or of another version is refused."""
        stages = data.get("stages") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(stages, list):
            return super().from_dict(data)
        space = _tree_space(data)
        whole = [[_with_space(item, space) for item in stage] if isinstance(stage, list) else stage for stage in stages]
        return super().from_dict({**data, "stages": whole})


def _stage_variances(stage: tuple[ForestTree, ...], Z: npt.NDArray[Any]) -> tuple[FloatArray, FloatArray]:
    """Return the variance of a stage's weighted mean: by the noise of its trees, and by how they differ."""
    leaf = [tree.partition.apply(Z) for tree in stage]
    weight = np.array([tree.weights[at] for tree, at in zip(stage, leaf, strict=True)])
    value = np.array([tree.values[at, 0] for tree, at in zip(stage, leaf, strict=True)])
    noise = np.array([tree.noise[at] for tree, at in zip(stage, leaf, strict=True)])
    share = weight / weight.sum(axis=0)
    apart = value - (share * value).sum(axis=0)
    free = len(stage) / max(len(stage) - 1, 1)
    return (share**2 * noise**2).sum(axis=0), free * (share**2 * apart**2).sum(axis=0)


def _tree_space(data: dict[str, Any]) -> object:
    """Return the space of the trees: that of records, with public predictions beside it."""
    space = data.get("space")
    public = data.get("public")
    models = public.get("models") if isinstance(public, dict) else None
    if not isinstance(models, list) or not models:
        return space
    part = PublicPart.from_dict(public)
    low = data.get("low")
    high = data.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float) or not low < high:
        return space
    n = len(models)
    return part.space(FeatureSpace.from_dict(space), ([float(low)] * n, [float(high)] * n)).to_dict()


def _with_space(item: Any, space: object) -> Any:
    """Return a tree as it is without the others, as far as it is one."""
    tree = item.get("partition") if isinstance(item, dict) else None
    if not isinstance(tree, dict):
        return item
    if "space" in tree:
        raise FormatError("forest model: its trees share one 'space'; a tree has none of its own.")
    return {**item, "partition": {**tree, "space": space}}


def add_stages(stages: Any, Z: npt.NDArray[Any], low: float, high: float) -> FloatArray:
    """Return the sum of the stages' weighted means, clipped to ``[low, high]`` after each stage."""
    total: Any = 0.0
    for stage in stages:
        value = 0.0
        weight = 0.0
        for tree in stage:
            leaf = tree.partition.apply(Z)
            share = tree.weights[leaf][:, None]
            value = value + share * tree.values[leaf]
            weight = weight + share
        total = np.clip(total + value / weight, low, high)
    return np.asarray(total)
