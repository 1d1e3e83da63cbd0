"""The evidence for the hyper-parameters of a Gaussian process, and its gradient."""

from __future__ import annotations

import numpy as np

from hedgerow.portable.bumps import matern, squared_distances
from hedgerow.types import FloatArray

__all__ = ["Evidence", "covariance", "most_likely"]


STEPS = 40  # of L-BFGS, as in issue 20
LEAST_NOISE = 1e-5  # of the labels' variance: keeps the covariance invertible in double precision
_REACH = 5.0  # standard deviations of the priors within which parameters are sought
_NEVER = 1e25  # in place of minus the log evidence where there is none, as for a covariance that is not positive


def covariance(X: FloatArray, curves: FloatArray, parameters: FloatArray) -> FloatArray:
    r"""Return the covariance of labels at standardised records, their noise included.

    .. math:: K_{ab} = s\, m(r_{ab}) + v\, x_a \cdot x_b + \sigma^2 [a = b]

    with Matern's correlation m (:func:`hedgerow.portable.bumps.matern`) of distances between bent records
    ``u = x + t c(x)``: ``r_ab^2 = sum_j (u_aj - u_bj)^2 / l_j^2``. ``curves`` has ``c(x)`` of each record.
    ``parameters`` are the logarithms of ``l_1 ... l_d``, the share t, and the logarithms of ``s, v, sigma^2``.

    >>> parameters = np.log([1.0, np.e, 2.0, 1.0, 0.5])
    >>> covariance(np.array([[0.0], [1.0]]), np.zeros((2, 1)), parameters).round(3).tolist()
    [[2.5, 1.048], [1.048, 3.5]]
    >>> covariance(np.array([[0.0], [1.0]]), np.array([[1.0], [0.0]]), parameters).round(3).tolist()
    [[2.5, 2.0], [2.0, 3.5]]
    """
    lengths = np.exp(parameters[:-4])
    signal, linear, noise = np.exp(parameters[-3:])
    A = (X + parameters[-4] * curves) / lengths
    K = matern(squared_distances(A, A))
    K *= signal
    K += linear * (X @ X.T)
    K[np.diag_indices_from(K)] += noise
    return K


class Evidence:
    r"""Minus the logarithm of evidence times prior, as a function of the parameters of :func:`covariance`.

    .. math:: \tfrac12 y^\top K^{-1} y + \tfrac12 \log |K| + \tfrac12 \sum_k (\theta_k - \mu_k)^2 / \tau_k^2

    Its gradient is ``-tr((a a' - K^-1) dK) / 2`` with ``a = K^-1 y``. The derivative by a length-scale sums
    ``V_ab (x_aj - x_bj)^2`` over all pairs, which is ``sum_a x_aj^2 (V 1 + V' 1)_a - 2 x_j' V x_j``: a product of
    matrices for all columns at once. So a hundred columns cost little more than ten. That by the share t of the curves
    has ``(u_aj - u_bj)(c_aj - c_bj)`` in the place of the squares.

    Parameters
    ----------
    X, curves, y : arrays
        Standardised columns, what may be added to bend them, and standardised labels.
    """

    # Weak priors, as normal laws of the logarithms. Records of d standardised columns are sqrt(2 d) apart on average:
    # at length-scales of 3 sqrt(d) all columns together make a correlation of .85, so curves must show in the labels.
    # Tried with sqrt(d) and with a spread of 1.5 on one split of seven sets (of `hedgerow_experiments.public.DESIGN`):
    # the process alone is better so on noisy ones and the same on others. By hand: a tenth of the labels' variance is
    # noise, three tenths a line, up to a factor of e^2. All shares of the curves from none to all are as likely.
    LENGTH = 3.0
    LENGTH_SPREAD = 1.0
    LINEAR = 0.3
    NOISE = 0.1

    def __init__(self, X: FloatArray, curves: FloatArray, y: FloatArray) -> None:
        self.X = X
        self.curves = curves
        self.y = y
        self.gram = X @ X.T
        d = max(1, X.shape[1])
        lengths = np.full(X.shape[1], np.log(self.LENGTH * np.sqrt(d)))
        self.mean = np.append(lengths, [0.5, 0.0, np.log(self.LINEAR / d), np.log(self.NOISE)])
        self.spread = np.append(np.full(X.shape[1], self.LENGTH_SPREAD), [np.inf, 1.0, 2.0, 2.0])

    def bounds(self) -> list[tuple[float, float]]:
        """Return where to look for each parameter."""
        low = self.mean - _REACH * self.spread
        high = self.mean + _REACH * self.spread
        low[-4] = 0.0
        high[-4] = 1.0
        low[-1] = np.log(LEAST_NOISE)
        return list(zip(low.tolist(), high.tolist(), strict=True))

    def __call__(self, parameters: FloatArray) -> tuple[float, FloatArray]:
        """Return value and gradient."""
        from scipy.linalg.lapack import dpotrf, dpotri, dpotrs

        lengths = np.exp(parameters[:-4])
        signal, linear, noise = np.exp(parameters[-3:])
        U = self.X + parameters[-4] * self.curves
        smooth, slope = self._smooth(U / lengths, signal)
        K = linear * self.gram
        K += smooth
        diagonal = np.diag_indices_from(K)
        K[diagonal] += noise
        factor, failed = dpotrf(K.T, lower=1, clean=1, overwrite_a=1)  # K is symmetric: its transpose is K, not copied
        if failed:
            return _NEVER, np.zeros_like(parameters)
        a = dpotrs(factor, self.y, lower=1)[0]
        off = (parameters - self.mean) / self.spread
        value = 0.5 * float(self.y @ a) + float(np.log(factor.diagonal()).sum()) + 0.5 * float(off @ off)
        # The lower half of the inverse, twice, is the inverse as far as sums with symmetric matrices go.
        weight = dpotri(factor, lower=1, overwrite_c=1)[0].T
        weight *= -2.0
        weight[diagonal] /= 2.0
        weight += np.multiply.outer(a, a)
        gradient = np.empty_like(parameters)
        gradient[-3] = np.vdot(weight, smooth)
        gradient[-2] = linear * np.vdot(weight, self.gram)
        gradient[-1] = noise * np.trace(weight)
        slope *= weight
        sums = slope.sum(axis=0) + slope.sum(axis=1)
        product = slope @ U
        gradient[:-4] = (sums @ U**2 - 2 * np.einsum("aj,aj->j", U, product)) / lengths**2
        bent = np.einsum("aj,aj->j", self.curves, product) + np.einsum("aj,aj->j", U, slope @ self.curves)
        gradient[-4] = ((bent - sums @ (U * self.curves)) / lengths**2).sum()
        return value, off / self.spread - gradient / 2

    def _smooth(self, A: FloatArray, signal: float) -> tuple[FloatArray, FloatArray]:
        """Return the smooth part of the covariance, and ``-2`` times its derivative by the squared distance.

        With ``t = sqrt(5) r`` they are ``s (1 + t + t^2/3) e^-t`` and ``s 5/3 (1 + t) e^-t``.
        """
        t = squared_distances(A, A)
        t *= 5.0
        np.sqrt(t, out=t)
        decay = np.exp(-t)
        decay *= signal
        smooth = t / 3.0
        smooth *= t
        t += 1.0
        smooth += t
        smooth *= decay
        t *= decay
        t *= 5.0 / 3.0
        return smooth, t


def most_likely(X: FloatArray, curves: FloatArray, y: FloatArray) -> FloatArray:
    """Return the parameters with the largest product of evidence and prior that a few steps find."""
    from scipy.optimize import minimize

    evidence = Evidence(X, curves, y)
    found = minimize(
        evidence, evidence.mean, jac=True, method="L-BFGS-B", bounds=evidence.bounds(), options={"maxiter": STEPS}
    )
    return np.asarray(found.x, dtype=np.float64)
