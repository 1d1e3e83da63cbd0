"""A public model that private records correct: what is released of it, and what a fit knows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hedgerow.central.contrasts import Contrast, contrasts_of
from hedgerow.central.steady import steady
from hedgerow.content import Content
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.features import NumericFeature
from hedgerow.portable import PortableModel
from hedgerow.public.given import fit_public_model, is_fitted
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula.terms import Term

__all__ = ["NOT_PROTECTED", "PublicPart", "PublicStart", "start_from", "without", "within"]

NOT_PROTECTED = "the public records, and the public model that the private ones correct, are not protected"
NAME = "public model"
"""The feature that the public prediction is."""

Bounds = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True, eq=False)
class PublicPart(Content, what="public part"):
    """A public model of each output, and how much of the private correction to it counts.

    Attributes
    ----------
    models : tuple of PortableModel
        One for each output; of two classes, for the second.
    share : float
        The factor of the correction, from 0 (the public model alone) to 1.
    doubt : float
        One standard deviation of that factor, before it was cut to [0, 1].
    contrasts : tuple of Contrast
        Further features of the correction.
    """

    models: tuple[PortableModel, ...]
    share: float = 1.0
    doubt: float = 0.0
    contrasts: tuple[Contrast, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form; without contrasts it does not name them, as before there were any."""
        data = super().to_dict()
        if not self.contrasts:
            del data["contrasts"]
        return data

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Undo :meth:`to_dict`."""
        return super().from_dict({"contrasts": [], **data} if isinstance(data, Mapping) else data)

    def _check_read(self) -> None:
        if not self.models or not 0 <= self.share <= 1 or not 0 <= self.doubt <= 1:
            raise FormatError("public part: it needs a model, and 'share' and 'doubt' in [0, 1].")

    def check(self, space: FeatureSpace, outputs: int) -> None:
        """Refuse models of another number of outputs, or of other records."""
        if len(self.models) != outputs or any(model.n_columns != len(space) for model in self.models):
            raise FormatError("public part: its models do not fit the records and the outputs.")
        for contrast in self.contrasts:
            contrast.check(space)

    @property
    def n_features(self) -> int:
        """How many features it puts beside the columns of records."""
        return len(self.models) + len(self.contrasts)

    def values(self, Z: FloatArray, bounds: Bounds, *, classes: bool) -> FloatArray:
        """Return the public prediction of encoded records, a column an output, by each record alone."""
        with np.errstate(all="ignore"):  # whatever a model does far from its records, it is within bounds below
            raw = [steady(model, Z) for model in self.models]
        return within(np.column_stack(raw), bounds, classes=classes)

    def widen(self, Z: FloatArray, values: FloatArray, n_columns: int) -> FloatArray:
        """Return encoded records with prediction and contrasts after their columns, before what is told of these."""
        further = [contrast.values(Z) for contrast in self.contrasts]
        return np.column_stack([Z[:, :n_columns], values, *further, Z[:, n_columns:]])

    def space(self, space: FeatureSpace, bounds: Bounds) -> FeatureSpace:
        """Return the space of records with the public prediction, and the contrasts, beside their columns."""
        names = _names(space, len(self.models))
        own = [NumericFeature(name, low, high) for name, low, high in zip(names, *bounds, strict=True)]
        for contrast in self.contrasts:
            own.append(contrast.feature(space, [*space.names, *(feature.name for feature in own)]))
        return FeatureSpace((*space.columns, *own))

    def term(self, rows: Term, bounds: Bounds, *, classes: bool) -> Term:
        """Return the public prediction as a term, a column an output."""
        from hedgerow.formula.portable import design_term, portable_term
        from hedgerow.formula.portable import within as cut
        from hedgerow.formula.terms import join

        columns = []
        for model, low, high in zip(self.models, *bounds, strict=True):
            columns.append(cut(portable_term(model, design_term(model, rows)), (low, high)))
        joined = join(*columns)
        if not classes or len(columns) == 1:
            return joined
        safe = joined + _LEAST
        return safe / safe.apply("row_sum")

    def further(self, rows: Term) -> list[Term]:
        """Return the contrasts of records as terms."""
        out = []
        for contrast in self.contrasts:
            (i, j), (a, b) = contrast.columns, contrast.factors
            out.append(rows.pick([i]) * a + rows.pick([j]) * b)
        return out


_LEAST = 1e-9  # of the share of each class, so that they can be made to sum to 1


def within(raw: FloatArray, bounds: Bounds, *, classes: bool) -> FloatArray:
    """Return predictions within their bounds; several classes have shares that sum to 1.

    >>> within(np.array([[0.5, np.nan, 1.5]]), ([0, 0, 0], [1, 1, 1]), classes=True).round(3).tolist()
    [[0.333, 0.0, 0.667]]
    """
    low, high = (np.asarray(ends, dtype=np.float64) for ends in bounds)
    inside = np.clip(np.where(np.isnan(raw), low, raw), low, high)
    if not classes or inside.shape[1] == 1:
        return np.asarray(inside)
    inside += _LEAST
    total = np.zeros(len(inside))
    for column in inside.T:  # column by column: a row's result depends on the row alone
        total += column
    return np.asarray(inside / total[:, None])


def _names(space: FeatureSpace, n: int) -> list[str]:
    """Return names of public predictions, such as no column has."""
    name = NAME
    while any(known.startswith(name) for known in space.names):
        name += "'"
    return [name] if n == 1 else [f"{name} {i}" for i in range(1, n + 1)]


def without(space: FeatureSpace, part: PublicPart) -> FeatureSpace:
    """Undo :meth:`PublicPart.space`."""
    kept = space.columns[: len(space.columns) - part.n_features]
    if not kept:
        raise FormatError("public part: no column is left beside it.")
    return FeatureSpace(kept)


@dataclass(frozen=True, eq=False)
class PublicStart:
    """What a fit knows of the public model: all of it public.

    Attributes
    ----------
    part : PublicPart
        The models.
    space : FeatureSpace
        By which they read records.
    residuals : array of shape (n_public, outputs)
        Errors on public records that were not seen.
    records : array or None
        Encoded public records, if there are any.
    """

    part: PublicPart
    space: FeatureSpace
    residuals: FloatArray
    records: FloatArray | None

    def scaled(self, bounds: Bounds) -> PublicStart:
        """Return the same with residuals in units of the width of the label."""
        width = np.subtract(bounds[1], bounds[0])
        return replace(self, residuals=self.residuals / width)

    def with_contrasts(self) -> PublicStart:
        """Return the same with contrasts of what goes together in the public records, if there are any."""
        return replace(self, part=replace(self.part, contrasts=contrasts_of(self.space, self.records)))

    def norms(self, order: int = 2) -> FloatArray:
        """Return how wrong the model is for each public record, over all outputs."""
        return np.asarray(np.linalg.norm(self.residuals, ord=order, axis=1))

    def radius(self, quantile: float, least: float, most: float, order: int = 2) -> float:
        """Return a size that few residuals exceed, as far as public records tell."""
        norms = self.norms(order)
        if len(norms) < 2:
            return most
        # Beyond the largest of few records the quantile is not known: twice that, by hand.
        few = len(norms) * (1 - quantile) < 1
        found = 2 * float(norms.max()) if few else float(np.quantile(norms, quantile))
        return min(max(found, least), most)


def start_from(
    public_model: Any,
    X_public: Any,
    labels: Sequence[npt.NDArray[Any]] | None,
    *,
    random_state: int,
    classes: bool = False,
    **facts: Any,
) -> PublicStart | None:
    """Fit one public model an output; None if there is to be none.

    A model that is fitted already is used as it is, for one label; for classes and several labels it is fitted anew.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> start = start_from(Ridge(), X, [X[:, 0]], random_state=0)
    >>> start.residuals.shape, start.space.names
    ((50, 1), ('x0', 'x1'))
    """
    models = []
    whole = labels is None or (len(labels) == 1 and not classes)
    for target in [None] if labels is None else labels:
        given = public_model if whole or not is_fitted(public_model) else clone(public_model)
        model = fit_public_model(given, X_public, target, random_state=random_state, **facts)
        if model is None:
            return None
        if getattr(model, "portable_", None) is None or not hasattr(model, "space_"):
            raise HedgerowError(
                "'public_model' must be one that can be written down with the model: pass a PublicModel, or "
                "public_model='auto'."
            )
        models.append(model)
    space = models[0].space_
    records = None if X_public is None else np.asarray(space.encode(X_public), dtype=np.float64)
    residuals = np.column_stack([np.asarray(model.residuals_, dtype=np.float64) for model in models])
    return PublicStart(PublicPart(tuple(model.portable_ for model in models)), space, residuals, records)
