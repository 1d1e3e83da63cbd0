"""The released model: quantiles, basis, coefficients, their noise, and the guarantee; nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from hedgerow.arrays import listed
from hedgerow.central.anova.design import GRID, FeatureMap
from hedgerow.central.anova.records import encode
from hedgerow.central.anova.records import plain as plain_records
from hedgerow.central.card import Carded
from hedgerow.central.intervals import NoiseIntervals
from hedgerow.central.public import PublicPart, without
from hedgerow.content import Content
from hedgerow.digits import plain
from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.schema.words import one_line
from hedgerow.space import FeatureSpace
from hedgerow.summary import Summary, SummaryTable
from hedgerow.tasks.models import Explanation, check_level
from hedgerow.types import FloatArray
from hedgerow.wording import check_unit

if TYPE_CHECKING:
    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy

__all__ = ["AnovaModel"]

_ROWS = 4096  # records predicted at a time: with 800 functions, 26 MB of floats


@dataclass(frozen=True, eq=False)
class AnovaModel(Carded, NoiseIntervals, Content, what="anova model", format="hedgerow/anova-model", version=3):
    """Predict ``offset + <theta, phi(x)>``, clipped to [0, 1] and scaled to the label bounds.

    With a public model its prediction stands for the offset, and is a feature of phi; the rest counts by a factor.

    Intervals cover the average of such predictions over the noise of the fit, for the same records. That other records
    might have been drawn is not covered.

    Attributes
    ----------
    feature_map : FeatureMap
        From records to vectors of norm at most 1.
    theta, variance : arrays of shape (p, outputs) and (p,)
        Coefficients, and the variance that noise gives them (in an orthogonal basis; see recipe.pulls).
    offset : float
        The public middle of the labels, scaled to [0, 1].
    low, high : tuple of float
        Label bounds, by output.
    classes : tuple or None
        Class labels; None for regression.
    missing, additive : bool
        Whether missing values are allowed; whether the model is exactly a sum of curves.
    size : float
        The noisy number of records; the number itself, or 50 if there are fewer, where records are replaced.
    units, unit : dict and str
        Units of features by name, and that of the label, where a schema had them.
    public : PublicPart or None
        The public model that is corrected, and the factor of the correction.
    """

    feature_map: FeatureMap
    theta: Annotated[FloatArray, listed("<f8", ndim=2)]
    variance: Annotated[FloatArray, listed("<f8")]
    offset: float
    low: tuple[float, ...]
    high: tuple[float, ...]
    classes: tuple[str | bool | int | float, ...] | None
    missing: bool
    additive: bool
    size: float
    guarantee: Guarantee
    units: dict[str, str] = field(default_factory=dict)
    unit: str = ""
    public: PublicPart | None = None

    task: ClassVar[None] = None
    audited: ClassVar[tuple[str, ...]] = ("PrivateAnova",)

    @cached_property
    def space(self) -> FeatureSpace:
        """The public schema of records."""
        whole = self.feature_map.space
        return whole if self.public is None else without(whole, self.public)

    @property
    def share(self) -> float:
        """The factor of what was learnt from private records, beside a public model; 1 without one."""
        return 1.0 if self.public is None else self.public.share

    @property
    def likely(self) -> float:
        """A factor that might as well have come out, one deviation larger."""
        return 1.0 if self.public is None else min(1.0, self.share + self.public.doubt)

    @property
    def coefficients(self) -> FloatArray:
        """``theta``, as far as it counts."""
        return np.asarray(self.share * self.theta)

    @property
    def simulation(self) -> bool:
        """Whether the noise was seeded."""
        return self.guarantee.simulation

    @property
    def n_outputs(self) -> int:
        """How many numbers are predicted."""
        return len(self.low) if self.classes is None else 1

    def scores(self, X: Any) -> FloatArray:
        """Return the predictions on the scale [0, 1], clipped, one column an output."""
        Z, start = self.start(X)
        parts = [self._block(Z[at : at + _ROWS]) for at in range(0, len(Z), _ROWS)]
        return np.asarray(np.clip(start + np.concatenate(parts), 0.0, 1.0))

    def start(self, X: Any) -> tuple[FloatArray, Any]:
        """Return records as the feature map takes them, and what is predicted before any correction, in [0, 1]."""
        Z = encode(self.space, X, self.missing)
        if self.public is None:
            return Z, self.offset
        low, high = self._value_bounds()
        values = self.public.values(plain_records(self.space, Z), (self.low, self.high), classes=bool(self.classes))
        return self.public.widen(Z, values, len(self.space.columns)), (values - low) / (high - low)

    def _block(self, Z: FloatArray) -> FloatArray:
        phi = self.feature_map.vectors(self.feature_map.codes(Z))
        return np.asarray(phi @ self.coefficients / GRID)

    def predict(self, X: Any) -> Any:
        """Return predicted labels, within their bounds, one column an output; or the likeliest class."""
        if self.classes is not None:
            return np.array(self.classes)[self.predict_proba(X).argmax(axis=1)]
        low = np.array(self.low)
        high = np.array(self.high)
        return np.asarray(np.clip(low + (high - low) * self.scores(X), low, high))

    def noise_deviation(self, X: Any) -> FloatArray:
        """Return the standard deviation of the noise in each prediction, one column an output."""
        Z, _ = self.start(X)
        outputs = len(self.low)
        parts = [np.zeros((0, outputs)), *(self._noise(Z[at : at + _ROWS]) for at in range(0, len(Z), _ROWS))]
        return np.asarray(np.concatenate(parts) * (np.array(self.high) - np.array(self.low)))

    def reach(self, level: float) -> float:
        """Return how many deviations of the known noise an interval of this level reaches to either side."""
        return NormalDist().inv_cdf((1 + level) / 2)

    def _reach(self, X: Any, level: float) -> FloatArray:
        return self.reach(level) * self.noise_deviation(X)

    def _noise(self, Z: FloatArray) -> FloatArray:
        phi = self.feature_map.vectors(self.feature_map.codes(Z)) / GRID
        known = phi**2 @ self.variance[:, None]
        if self.public is None:
            return np.asarray(np.sqrt(known + np.zeros(len(self.low))))
        # The factor is noisy as well, and may have come out as 0 where others had not.
        return np.asarray(np.sqrt(self.likely**2 * known + (self.public.doubt * (phi @ self.theta)) ** 2))

    def _value_bounds(self) -> tuple[Any, Any]:
        return np.array(self.low), np.array(self.high)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the estimated probability of each class; rows sum to 1."""
        scores = self.scores(X)
        if len(self.classes or ()) <= 1:
            return np.ones((len(scores), 1))
        if scores.shape[1] == 1:
            return np.column_stack([1 - scores[:, 0], scores[:, 0]])
        safe = scores + 1e-9
        return np.asarray(safe / safe.sum(axis=1, keepdims=True))

    def formula(self) -> Formula:
        """Return the sum of curves and pairs, see :func:`hedgerow.central.anova.formula.anova_formula`."""
        from hedgerow.central.anova.formula import anova_formula

        return anova_formula(self)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the terms of features and pairs, see :func:`hedgerow.central.anova.formula.anova_anatomy`."""
        from hedgerow.central.anova.formula import anova_anatomy

        return anova_anatomy(self, check_level(level))

    def summary(self, level: float = 0.9) -> Summary:
        """Return guarantee, label and terms, each with its size and the noise in it, on one screen."""
        from hedgerow.central.anova.explain import explain

        found = explain(self)
        label = ", ".join(map(str, self.classes)) if self.classes else ""
        if self.classes is None:
            label = "; ".join(f"{plain(low)} to {plain(high)}" for low, high in zip(self.low, self.high, strict=True))
        counted = "their number is public" if self.guarantee.neighbours == "replace" else "a noisy count"
        facts = [("people", f"about {plain(max(self.size, 0.0), 3)} ({counted})"), ("label", label)]
        facts.append(("features", str(len(self.space))))
        if self.public is not None:
            facts.append(("public model", f"corrected by what private records say, times {plain(self.share, 2)}"))
        terms = sorted(found.importances.items(), key=lambda item: -item[1][0])
        rows = tuple(
            (plain(size, 3), plain(noise, 2), one_line(" x ".join(names))) for names, (size, noise) in terms if size > 0
        )
        table = SummaryTable("Terms, in units of the label", ("size", "noise", "term"), rows)
        how = "The prediction is exactly the sum of the curves."
        if not self.additive:
            how = "Each record's sum of terms is shortened by a factor of its own; explain_local has the terms."
        if self.public is not None:
            how = f"The terms correct a public model, whose prediction is a feature too. {how}"
        return Summary("A private functional ANOVA", self.guarantee, facts, [table] if rows else [], [how])

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def shift(self) -> None:
        """Return None: there are no public records to compare with."""

    def explain(self) -> Explanation:
        """Return the model in words, numbers and as a picture; see :func:`hedgerow.central.anova.explain.explain`."""
        from hedgerow.central.anova.explain import explain

        found = explain(self)
        by_size = sorted(found.importances.items(), key=lambda item: -item[1][0])
        facts = {
            "label_bounds": None if self.classes else [list(pair) for pair in zip(self.low, self.high, strict=True)],
            "classes": None if self.classes is None else list(self.classes),
            "additive": self.additive,
            "public_model_corrected_by": None if self.public is None else self.share,
            "noisy_records": self.size,
            "importances": [{"features": list(g), "size": size, "noise": noise} for g, (size, noise) in by_size],
            "curves": {
                name: {"x": list(c.x), "y": c.y.tolist(), "noise": c.noise.tolist(), "missing": c.missing.tolist()}
                for name, c in found.curves.items()
            },
            "simulation": self.simulation,
            "guarantee": self.guarantee.to_dict(),
            "statement": str(self.guarantee),
        }
        return Explanation((str(found), str(self.guarantee)), facts, (), found.plot)

    def _check_read(self) -> None:
        n = len(self.feature_map.basis)
        outputs = len(self.low)
        fits = self.theta.shape == (n, outputs) and self.variance.shape == (n,) and len(self.high) == outputs
        if not fits or not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise FormatError("anova model: coefficients, weights and bounds do not fit together.")
        if self.public is not None:
            self.public.check(self.space, outputs)
            if self.feature_map.space != self.public.space(self.space, (self.low, self.high)):
                raise FormatError("anova model: the public prediction must be the last of its features.")
        for name, unit in {**self.units, "label": self.unit}.items():
            check_unit(name, unit)
