"""The label paper's network: scikit-learn's for one set of labels, and the same for several sets at once."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPRegressor
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder

__all__ = ["PaperNetwork", "predict_many"]

_HIDDEN = (64, 32)
_DECAY = 1e-4
_EPOCHS = 25
_RATES = (1e-3, 1e-4)  # 25 epochs each


class PaperNetwork(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Three fully connected layers, Adam at 1e-3, 50 epochs, a tenth of the rate from epoch 25, weight decay 1e-4.

    Features are scaled to [0, 1] (they are public), words become one column each, and labels are divided by the width
    of their public bounds.
    """

    def __init__(
        self, bounds: tuple[float, float] = (0.0, 1.0), batch: int = 256, words: tuple[int, ...] = (), seed: int = 0
    ) -> None:
        self.bounds = bounds
        self.batch = batch
        self.words = words
        self.seed = seed

    def fit(self, X: Any, y: Any) -> PaperNetwork:
        """Train in two stages, with the learning rate cut between them."""
        self.scaler_ = _scaler(self.words).fit(X)
        Z = self.scaler_.transform(X)
        target = _scaled(y, self.bounds)
        self.network_ = MLPRegressor(
            hidden_layer_sizes=_HIDDEN, batch_size=min(self.batch, len(Z)), alpha=_DECAY, max_iter=_EPOCHS,
            n_iter_no_change=1000, warm_start=True, random_state=self.seed, tol=0.0,
        )  # fmt: skip
        for rate in _RATES:
            _quiet(self.network_.set_params(learning_rate_init=rate), Z, target)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels on their own scale."""
        low, high = self.bounds
        return low + (high - low) * np.asarray(self.network_.predict(self.scaler_.transform(X)), dtype=np.float64)


def _quiet(network: MLPRegressor, Z: Any, target: Any) -> None:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # 25 epochs are all it is meant to run
        network.fit(Z, target)


def _scaler(words: tuple[int, ...]) -> Any:
    one_hot = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    return make_column_transformer((one_hot, list(words)), remainder=MinMaxScaler())


def _scaled(y: Any, bounds: tuple[float, float]) -> npt.NDArray[Any]:
    return (np.asarray(y) - bounds[0]) / (bounds[1] - bounds[0])


def predict_many(
    network: PaperNetwork, X: Any, labels: list[npt.NDArray[np.float64]], Xt: Any, dtype: Any = np.float32
) -> list[npt.NDArray[np.float64]]:
    """Return what the network predicts after training on each of several sets of labels.

    The same as fitting one by one, up to rounding: start and order of batches depend on the seed alone, so that all
    can be trained in step, in a third of the time.
    """
    scaler = _scaler(network.words).fit(X)
    Z, Zt = (np.ascontiguousarray(scaler.transform(part), dtype=dtype) for part in (X, Xt))
    targets = np.stack([_scaled(y, network.bounds) for y in labels]).astype(dtype)
    many = _Many(Z.shape[1], len(labels), network.seed, dtype)
    for rate in _RATES:
        many.train(Z, targets, min(network.batch, len(Z)), rate, network.seed)
    low, high = network.bounds
    return [np.asarray(low + (high - low) * p, dtype=np.float64) for p in many.predict(Zt)]


class _Many:
    """Several networks with relu layers; weights as views of one array, one row a network."""

    def __init__(self, features: int, count: int, seed: int, dtype: Any) -> None:
        rng = np.random.RandomState(seed)
        sizes = (features, *_HIDDEN, 1)
        parts: list[npt.NDArray[Any]] = []
        for fan_in, fan_out in pairwise(sizes):
            bound = np.sqrt(6.0 / (fan_in + fan_out))
            parts += [rng.uniform(-bound, bound, (fan_in, fan_out)), rng.uniform(-bound, bound, (1, fan_out))]
        self.shapes = [part.shape for part in parts]
        self.flat = np.tile(np.concatenate([part.ravel() for part in parts]).astype(dtype), (count, 1))
        self.slope = np.empty_like(self.flat)
        self.weights, self.slopes = self._views(self.flat), self._views(self.slope)

    def _views(self, flat: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        ends = np.cumsum([a * b for a, b in self.shapes])
        return [
            part.reshape(-1, *shape) for part, shape in zip(np.split(flat, ends[:-1], axis=1), self.shapes, strict=True)
        ]

    def _forward(self, Z: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        W1, b1, W2, b2, W3, b3 = self.weights
        first = np.matmul(Z, W1)
        first += b1
        np.maximum(first, 0, out=first)
        second = np.matmul(first, W2)
        second += b2
        np.maximum(second, 0, out=second)
        return [first, second, np.matmul(second, W3) + b3]

    def predict(self, Z: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return one row of predictions a network."""
        return np.concatenate([self._forward(Z[i : i + 4096])[2][:, :, 0] for i in range(0, len(Z), 4096)], axis=1)

    def _gradient(self, Z: npt.NDArray[Any], y: npt.NDArray[Any]) -> None:
        W1, _, W2, _, W3, _ = self.weights
        first, second, out = self._forward(Z)
        d3 = out - y[:, :, None]
        d2 = np.matmul(d3, W3.transpose(0, 2, 1))
        d2 *= second > 0
        d1 = np.matmul(d2, W2.transpose(0, 2, 1))
        d1 *= first > 0
        inputs = (Z.T, first.transpose(0, 2, 1), second.transpose(0, 2, 1))
        for i, (source, delta, W) in enumerate(zip(inputs, (d1, d2, d3), (W1, W2, W3), strict=True)):
            self.slopes[2 * i][...] = (np.matmul(source, delta) + _DECAY * W) / len(Z)
            self.slopes[2 * i + 1][...] = delta.mean(axis=1, keepdims=True)

    def train(self, Z: npt.NDArray[Any], targets: npt.NDArray[Any], batch: int, rate: float, seed: int) -> None:
        """Run 25 epochs of Adam, shuffled as scikit-learn does."""
        rng = np.random.RandomState(seed)
        if rate == _RATES[0]:  # the start was drawn from the same stream
            rng.uniform(size=self.flat.shape[1])
        n = len(Z)
        step = 0
        order = np.arange(n)
        m = np.zeros_like(self.flat)
        v = np.zeros_like(self.flat)
        for _ in range(_EPOCHS):
            shuffled = np.arange(n)
            rng.shuffle(shuffled)
            order = order[shuffled]
            for start in range(0, n, batch):
                rows = order[start : start + batch]
                self._gradient(Z[rows], targets[:, rows])
                step += 1
                m *= 0.9
                m += 0.1 * self.slope
                v *= 0.999
                v += (1 - 0.999) * self.slope**2
                size = rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
                self.flat -= m * size / (np.sqrt(v) + 1e-8)
