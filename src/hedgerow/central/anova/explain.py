"""What a released model says: curves, surfaces, importances and their noise. Post-processing, at no cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.design import GRID
from hedgerow.central.anova.model import AnovaModel
from hedgerow.central.anova.pull import energies
from hedgerow.central.anova.quantiles import CELLS
from hedgerow.digits import plain
from hedgerow.features import CategoricalFeature
from hedgerow.schema.words import one_line
from hedgerow.types import FloatArray

__all__ = ["Curve", "Explanation", "Surface", "explain", "local_terms"]

_POINTS = 65  # of a curve: 64 pieces show cosines of the highest frequency, 32 half periods, with two pieces each
_SIDE = 17  # points along a side of a surface: 16 pieces, as far as a picture of a few centimetres shows them


@dataclass(frozen=True, eq=False)
class Curve:
    """What one feature adds to the prediction, in label units.

    Attributes
    ----------
    x : array or list of str
        Values at evenly spaced quantiles, or category names.
    y, noise : arrays of shape (points, outputs)
        The curve, and one standard deviation of the privacy noise in it.
    missing : array of shape (outputs,)
        What a missing value adds.
    """

    name: str
    x: Any
    y: FloatArray
    noise: FloatArray
    missing: FloatArray


@dataclass(frozen=True, eq=False)
class Surface:
    """What two features add beyond their curves; ``y[i, k]`` at ``x[0][i], x[1][k]``, the last axis for outputs."""

    names: tuple[str, str]
    x: tuple[Any, Any]
    y: FloatArray
    noise: FloatArray


@dataclass(frozen=True, eq=False)
class Explanation:
    """A model in parts. ``importances`` maps features, pairs and triples to (size, noise) in label units.

    Both are standard deviations. What three features add together has a size, and neither curve nor surface.

    ``additive`` says whether the prediction is exactly the sum of the curves. If not, each record's sum is shortened
    by a factor of its own (the norm clip), and ``explain_local`` gives the terms that do add up. ``units`` are those of
    features, by name, and ``outputs`` says what each output is: the label with its unit, or the chance of a class.
    ``contrasts`` names the two features of each difference that stands beside a public model.
    """

    curves: dict[str, Curve]
    surfaces: dict[tuple[str, str], Surface]
    importances: dict[tuple[str, ...], tuple[float, float]]
    additive: bool
    units: dict[str, str] = field(default_factory=dict)
    outputs: tuple[str, ...] = ()
    contrasts: dict[str, tuple[str, str]] = field(default_factory=dict)

    def adds(self, output: int) -> str:
        """Return what the numbers of an output are, for an axis."""
        return f"adds to {self.outputs[output] if self.outputs else 'the prediction'}"

    def feature_importances(self, among: Sequence[str] | None = None) -> FloatArray:
        """Return the share of each feature, or of some, in their squared sizes, which others share; sums to 1.

        A contrast that is not among them counts half for each of its two features.
        """
        names = list(self.curves if among is None else among)
        total = np.zeros(len(names))
        for group, (size, _) in self.importances.items():
            for name in group:
                parts = (name,) if name in names else self.contrasts.get(name, ())
                for part in parts:
                    if part in names:
                        total[names.index(part)] += size**2 / len(group) / len(parts)
        return total / total.sum() if total.sum() > 0 else np.full(len(names), 1 / len(names))

    def __str__(self) -> str:
        ranked = sorted(self.importances.items(), key=lambda item: -item[1][0])
        lines = []
        for group, (size, noise) in ranked:
            lines.append(f"{' x '.join(group):<40} {plain(size):>10}  noise {plain(noise, 2)}")
        kind = "exactly the sum of its curves" if self.additive else "a sum of curves, shortened record by record"
        return "\n".join([f"The model is {kind}. Sizes in label units:", *lines])

    def plot(self, output: int = 0, most: int = 12) -> Any:
        """Draw the most important curves and pairs, with bands of 90 % of their known noise (Matplotlib)."""
        from hedgerow.central.anova.plot import plot_explanation

        return plot_explanation(self, output, most)


def _points(model: AnovaModel, j: int, count: int) -> tuple[npt.NDArray[np.int64], Any]:
    """Return cells of a feature and the values they stand for."""
    feature = model.feature_map.space.features[j]
    if isinstance(feature, CategoricalFeature):
        return np.arange(len(feature.categories)), list(feature.categories)
    cells = np.linspace(0, CELLS - 1, count).astype(np.int64)
    return cells, model.feature_map.quantiles[j].inverse((cells + 0.5) / CELLS)


def _terms(model: AnovaModel, members: list[int], columns: dict[int, npt.NDArray[np.int64]]) -> tuple[Any, Any]:
    """Return value and noise deviation, in label units, of some functions at given cells of their features."""
    n = len(next(iter(columns.values())))
    codes = np.zeros((n, len(model.feature_map.space)), dtype=np.int32)
    for j, cells in columns.items():
        codes[:, j] = cells
    phi = model.feature_map.functions(codes)[:, members]
    width = np.array(model.high) - np.array(model.low)
    noise = model.share * np.sqrt(phi**2 @ model.variance[members])
    return (phi @ model.coefficients[members]) * width, noise[:, None] * width


def explain(model: AnovaModel) -> Explanation:
    """Take a model apart. Curves are drawn before any shortening of long records."""
    groups = dict(model.feature_map.basis.groups())
    names = model.feature_map.space.names
    energy = energies(model.feature_map) * model.share**2
    width = np.array(model.high) - np.array(model.low)
    curves = {}
    surfaces = {}
    importances = {}
    for j, name in enumerate(names):
        members = groups.get((j,), [])
        cells, x = _points(model, j, _POINTS)
        y, noise = _terms(model, members, {j: cells})
        blank = np.zeros(len(width))
        gap = _terms(model, members, {j: np.array([CELLS])})[0][0] if j in model.feature_map.quantiles else blank
        curves[name] = Curve(name, x, y, noise, gap)
    for features, members in groups.items():
        group = tuple(names[j] for j in features)
        signal = ((model.theta[members] ** 2 - model.variance[members, None]) * energy[members, None]).sum(axis=0)
        doubt = float((model.variance[members] * energy[members]).sum())
        size = float(np.sqrt((np.maximum(signal, 0) * width**2).sum()))
        importances[group] = (size, float(np.sqrt(doubt * (width**2).sum())))
        if len(features) == 2:
            surfaces[group[0], group[1]] = _surface(model, features, members)
    return Explanation(
        curves, surfaces, importances, model.additive, dict(model.units), _outputs(model), _contrasts(model)
    )


def _contrasts(model: AnovaModel) -> dict[str, tuple[str, str]]:
    """Return the two features of each contrast, by its name; contrasts are the last of the columns."""
    if model.public is None:
        return {}
    names = [column.name for column in model.feature_map.space.columns]
    own = names[len(names) - len(model.public.contrasts) :]
    columns = (contrast.columns for contrast in model.public.contrasts)
    return {name: (names[i], names[j]) for name, (i, j) in zip(own, columns, strict=True)}


def _outputs(model: AnovaModel) -> tuple[str, ...]:
    """Return what each output is, in words; of two classes the chance of the second is learnt, of one nothing."""
    if model.classes is None:
        unit = f" ({one_line(model.unit)})" if model.unit else ""
        return tuple(f"the prediction{unit}" for _ in model.low)
    classes = model.classes[-len(model.low) :]
    return tuple(f"the chance of {one_line(str(name))}" for name in classes)


def _surface(model: AnovaModel, features: tuple[int, ...], members: list[int]) -> Surface:
    (cells_a, a), (cells_b, b) = (_points(model, j, _SIDE) for j in features)
    grid = np.meshgrid(cells_a, cells_b, indexing="ij")
    columns = {j: g.ravel() for j, g in zip(features, grid, strict=True)}
    y, noise = _terms(model, members, columns)
    shape = (len(cells_a), len(cells_b), -1)
    known = model.feature_map.space.names
    names = (known[features[0]], known[features[1]])
    return Surface(names, (a, b), y.reshape(shape), noise.reshape(shape))


def local_terms(model: AnovaModel, X: Any) -> dict[str, FloatArray]:
    """Return for each record the exact terms of its (unclipped) prediction, by feature, pair and triple."""
    Z, start = model.start(X)
    phi = model.feature_map.vectors(model.feature_map.codes(Z)) / GRID
    low = np.array(model.low)
    width = np.array(model.high) - np.array(model.low)
    theta = model.coefficients
    names = model.feature_map.space.names
    out = {"offset": low + width * (start + phi[:, :1] * theta[0])}
    for features, members in model.feature_map.basis.groups():
        out[" x ".join(names[j] for j in features)] = width * (phi[:, members] @ theta[members])
    return out
