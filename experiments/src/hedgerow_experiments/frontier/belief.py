"""What is known of the public model's mistakes: a Gaussian belief over functions that public records suggest."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.types import FloatArray
from hedgerow_experiments.frontier.directions import DirectionResponse

__all__ = ["Belief", "process", "unit"]

DIRECTIONS = (2, 4, 8, 16)
FUNCTIONS = 64
Query = tuple[DirectionResponse, FloatArray, FloatArray, float]


def process(F: FloatArray, y: FloatArray) -> tuple[Any, FloatArray, Any, FloatArray]:
    """Fit a Gaussian process to public records.

    Returned are a map to functions that are orthonormal on them, the variances of these given the labels, the
    prediction, and its leave-one-out residuals.
    """
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    centre = F.mean(axis=0)
    scale = np.maximum(F.std(axis=0), 1e-9)
    m = len(F)
    start = ConstantKernel(1.0) * RBF(np.full(F.shape[1], 3.0), (0.1, 1e3)) + WhiteKernel(0.3)
    Z = (F - centre) / scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scales at their bounds: features that do not count
        model = GaussianProcessRegressor(start, normalize_y=True).fit(Z, y)
    kernel = model.kernel_
    inverse = np.linalg.inv(model.kernel_(Z))
    left_out = inverse @ (y - y.mean()) / np.diag(inverse)
    values, vectors = np.linalg.eigh(kernel.k1(Z) / m)
    kept = np.flatnonzero(values > 1e-9 * values[-1])[::-1][:FUNCTIONS]  # smaller ones are rounding errors
    values = values[kept]
    vectors = vectors[:, kept]
    noise = kernel.k2.noise_level
    variances = np.var(y) * values * noise / (noise + m * values)

    def phi(F: FloatArray) -> FloatArray:
        return np.asarray(kernel.k1((F - centre) / scale, Z) @ (vectors / (values * math.sqrt(m))))

    return phi, variances, lambda F: model.predict((F - centre) / scale), left_out


@dataclass(eq=False)
class Belief:
    """A Gaussian belief on the coefficients of what the public model misses."""

    mean: FloatArray
    covariance: FloatArray

    def query(self, epsilon: float, n: int, public: FloatArray, residual_unit: float) -> Query:
        """Return mechanism, functions to ask for, what answers measure, and noise: those with the most to learn."""
        vectors = np.linalg.eigh(self.covariance)[1][:, ::-1]
        best = None
        for K in DIRECTIONS:
            mechanism = DirectionResponse.best(epsilon, K)
            W = vectors[:, :K]
            M = unit(public @ W).T @ public / len(public)
            noise = residual_unit**2 / (mechanism.kappa**2 * K * n)
            A = M @ self.covariance
            gain = np.trace(A.T @ np.linalg.solve(A @ M.T + noise * np.eye(K), A))
            if best is None or gain > best[0]:
                best = gain, (mechanism, W, M, noise)
        assert best is not None
        return best[1]

    def learn(self, h: FloatArray, M: FloatArray, noise: float) -> None:
        """Update on an answer; the scale of the covariance is learnt too, and 0 (no evidence) leaves all as it is."""
        A = M @ self.covariance
        scales = np.array([0.0, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0])
        spread = [t * A @ M.T + noise * np.eye(len(h)) for t in scales]
        fit = np.array([-0.5 * (np.linalg.slogdet(S)[1] + h @ np.linalg.solve(S, h)) for S in spread])
        weights = np.exp(fit - fit.max()) * np.where(scales > 0, 0.7 / (len(scales) - 1), 0.3)
        weights /= weights.sum()
        best = int(np.argmax(weights))
        self.mean += sum(w * t * A.T @ np.linalg.solve(S, h) for w, t, S in zip(weights, scales, spread, strict=True))
        if best:
            t = scales[best]
            S = spread[best]
            self.covariance = t * self.covariance - t * A.T @ np.linalg.solve(S, t * A)


def unit(psi: FloatArray) -> FloatArray:
    """Return rows of length 1."""
    return np.asarray(psi / np.maximum(np.linalg.norm(psi, axis=1), 1e-300)[:, None])
