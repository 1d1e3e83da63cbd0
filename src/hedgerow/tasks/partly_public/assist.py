"""A public model to start from: holders report its error where they would report their label."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid, check_label_bounds, middle
from hedgerow.portable import PortableModel
from hedgerow.tasks.assisted.choose import RADII
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.shrink import posterior
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.types import FloatArray

__all__ = ["GATE", "Assist", "best_radius"]

GATE = 0.9  # as for assisted tasks
_UNKNOWN = 1e300  # variance of a cell that nobody answered for: its square root is finite, and its weight 0


def best_radius(residuals: FloatArray, epsilon: float) -> tuple[float, float]:
    """Return the radius with the least noise, and that noise; ``(0, inf)`` if no radius holds a residual.

    It minimises ``(E clip(res)^2 + 8 r^2/epsilon^2)/gamma^2`` with gamma the share of residuals within r: the variance
    of one report with Laplace noise of budget epsilon on ``[-r, r]``, after undoing what clipping hides.
    """
    spread = float(np.sqrt(np.mean(residuals**2))) or 1e-6
    best = 0.0
    least = math.inf
    for radius in (c * spread for c in RADII):
        inside = float(np.mean(np.abs(residuals) < radius))
        noise = 0.0 if math.isinf(epsilon) else 8 * (radius / epsilon) ** 2
        loss = (float(np.mean(np.clip(residuals, -radius, radius) ** 2)) + noise) / inside**2 if inside else math.inf
        if loss < least:
            best = radius
            least = loss
    return best, least


@dataclass(frozen=True)
class Assist(Content, what="public model of this task"):
    r"""The public model g, and the radius to which its errors are clipped.

    A holder computes ``clip(y) - clip(g(x))`` from its whole record, private features included, on its own device; it
    takes the label's place in both rounds. It is a function of the record, so the protocol's guarantee is unchanged.

    Parameters
    ----------
    public_model : PortableModel
        The public model, over the columns of the task.
    label_bounds : (low, high)
        Public range of the label; labels and predictions are clipped to it.
    radius : float
        Errors are clipped to ``[-radius, radius]``, the range of the task's grid.
    residuals : Residuals
        Summary of public errors, for the curator.
    missing : float
        What a missing label counts as; by default the middle of the bounds.
    """

    public_model: PortableModel
    label_bounds: tuple[float, float]
    radius: float
    residuals: Residuals = field(repr=False)
    missing: float = cast("float", None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label_bounds", check_label_bounds(self.label_bounds))
        object.__setattr__(self, "missing", middle(*self.label_bounds, self.missing, "the label"))
        object.__setattr__(self, "radius", float(self.radius))
        if not (math.isfinite(self.radius) and self.radius > 0):
            raise HedgerowError(f"The 'radius' parameter must be a number > 0. Got {self.radius!r} instead.")

    @classmethod
    def choose(
        cls, public_model: PortableModel, residuals: npt.ArrayLike, label_bounds: object, epsilon: float
    ) -> Assist:
        """Return the radius with the least noise (:func:`best_radius`), from public out-of-fold residuals alone."""
        res = np.asarray(residuals, dtype=np.float64)
        low, high = check_label_bounds(label_bounds)
        radius = best_radius(res, epsilon)[0] or high - low
        return cls(public_model, (low, high), radius, Residuals.summarise(res, radius, 2))

    def predict(self, Z: npt.ArrayLike) -> FloatArray:
        """Return the public prediction of encoded records, within the label bounds."""
        return self.public_model.predict_within(Z, self.label_bounds)

    def errors(self, Z: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
        """Return what holders report instead of their label (the grid clips it to the radius)."""
        return np.asarray(np.clip(np.asarray(y, dtype=np.float64), *self.label_bounds) - self.predict(Z))

    def corrections(self, grid: LabelGrid, moments: Moments, strength: float) -> FloatArray:
        r"""Return what to add to the public model in each cell, as far as the reports carry evidence.

        With ``u_j`` the mean clipped error in cell j, ``m_0`` and gamma its public mean and share within the radius,

        .. math:: d_j = \frac{u_j - m_0}{\gamma} + \overline{res}, \qquad \delta_j = s_0 d_0 + s_j (d_j - d_0)

        where ``d_0`` is over all holders, and the shares ``s`` are posterior means under priors with weight on "nothing
        to correct"; where that has 90 % of the posterior they are 0. ``strength`` multiplies the noise of cells that
        were chosen for their contrast; 0 keeps everything.
        """
        N = moments.numerator
        D = moments.denominator
        total = float(D.sum())
        if total <= 0:
            return np.zeros(len(D))
        overall = float(N.sum()) / total
        spread = np.maximum(moments.var_n - 2 * overall * moments.cov + overall**2 * moments.var_d, 0.0)
        solid = 2 * np.sqrt(np.maximum(moments.var_d, 0.0)) < D
        safe = np.where(solid, D, 1.0)
        scale = (grid.step / self.residuals.inside) ** 2
        d0 = float(self.unclipped(grid.low + grid.step * np.array([overall]))[0])
        V0 = scale * float(spread.sum()) / total**2
        d = np.where(solid, self.unclipped(grid.low + grid.step * np.where(solid, N, 0.0) / safe), d0)
        if not strength:
            return d
        V = np.where(solid, scale * spread / safe**2 * max(1.0, strength), _UNKNOWN)
        whole = posterior(np.array([d0]), np.array([V0]), self.residuals.mean_square)
        cells = posterior((d - d0)[solid], V[solid], self.residuals.mean_square)
        kept = float(whole.factor(V0)[0]) if whole.nothing < GATE else 0.0
        factor = cells.factor(V) if solid.sum() > 1 and cells.nothing < GATE else np.zeros(len(D))
        return kept * d0 + factor * (d - d0)

    def unclipped(self, values: FloatArray) -> FloatArray:
        """Return mean errors from mean clipped errors, for errors that are public ones moved by a little."""
        return (values - self.radius * self.residuals.clipped_mean) / self.residuals.inside + self.residuals.mean
