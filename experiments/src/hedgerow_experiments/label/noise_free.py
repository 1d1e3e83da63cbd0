"""What the paper's network gives without noise, under several readings of what the paper leaves open.

The paper prints neither the widths of its network nor the sizes of its simulated data, nor whether anything is scaled.
Its authors' published notebooks (github.com/anonymousaabb/Regression_Privacy: crime, housing, Criteo) take features and
labels as they are.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import MinMaxScaler

from hedgerow_experiments.experiment import Key
from hedgerow_experiments.label.data import load_case
from hedgerow_experiments.label.trials import noisy_labels

__all__ = ["AGREES", "READINGS", "Reading", "compute", "trained", "with_noise"]

_EPOCHS = 50
_BATCH = 256
_DECAY = 1e-4

Floats = npt.NDArray[np.float32]


class Reading(NamedTuple):
    """Widths of the two hidden layers, whether features are scaled to [0, 1], and rows of simulated data."""

    hidden: tuple[int, int] = (64, 32)
    scaled: bool = False
    rows: int = 2000


READINGS: dict[str, Reading] = {
    "scaled features": Reading(scaled=True),
    "raw": Reading(),
    "raw, 128-64": Reading((128, 64)),
    "raw, 5,000 rows": Reading(rows=5_000),
    "raw, 128-64, 5,000 rows": Reading((128, 64), rows=5_000),
    "raw, 10,000 rows": Reading(rows=10_000),
}
"""By name; labels are raw in all of them, and nothing is clipped."""
AGREES = "raw, 128-64, 5,000 rows"
"""Within one deviation of all figures that the paper prints without noise (``hedgerow bench run label-noise-free``)."""
_AVERAGING = 25.0  # what mechanisms that choose by it are told, as in label/seconds.py


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return the test error of one trial: 80:20 split, true labels."""
    reading = READINGS[key.group]
    case = load_case(key.dataset, seed, reading.rows)
    X, Xt, y, yt = train_test_split(case.X, case.y, test_size=0.2, random_state=seed)
    if reading.scaled:
        scaler = MinMaxScaler().fit(X)
        X = scaler.transform(X)
        Xt = scaler.transform(Xt)
    predicted = trained(X, y, reading.hidden, seed)(Xt)
    return {key.group: float(np.mean((predicted - yt) ** 2))}


def with_noise(key: Key, seed: int) -> dict[str, float]:
    """Return the test error after learning from noisy labels as they are, in the reading that agrees without noise."""
    reading = READINGS[AGREES]
    case = load_case(key.dataset, seed, reading.rows)
    X, Xt, y, yt = train_test_split(case.X, case.y, test_size=0.2, random_state=seed)
    labels = noisy_labels(case, X, y, (key.group, "none"), key.epsilon, seed, _AVERAGING)
    predicted = trained(X, labels, reading.hidden, seed)(Xt)
    return {key.group: float(np.mean((predicted - yt) ** 2))}


def trained(X: Any, y: Any, hidden: tuple[int, ...], seed: int) -> Any:
    """Return the predictions of relu layers after 50 epochs of Adam, as PyTorch starts and decays them.

    Weights start uniform within the inverse root of the inputs of a layer; the decay is a part of every gradient; the
    rate falls from 1e-3 to 1e-4 after 25 epochs, and the moments go on.
    """
    rng = np.random.default_rng(seed)
    Z = np.asarray(X, dtype=np.float32)
    target = np.asarray(y, dtype=np.float32)[:, None]
    weights = _start((Z.shape[1], *hidden, 1), rng)
    first = [np.zeros_like(w) for w in weights]
    second = [np.zeros_like(w) for w in weights]
    step = 0
    for epoch in range(_EPOCHS):
        rate = 1e-3 if epoch < _EPOCHS // 2 else 1e-4
        order = rng.permutation(len(Z))
        for at in range(0, len(Z), _BATCH):
            rows = order[at : at + _BATCH]
            step += 1
            size = rate * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            for w, m, v, g in zip(weights, first, second, _slopes(weights, Z[rows], target[rows]), strict=True):
                m += np.float32(0.1) * (g - m)
                v += np.float32(0.001) * (g * g - v)
                w -= np.float32(size) * m / (np.sqrt(v) + np.float32(1e-8))
    return lambda Xt: _layers(weights, np.asarray(Xt, dtype=np.float32))[-1][:, 0].astype(np.float64)


def _start(sizes: tuple[int, ...], rng: np.random.Generator) -> list[Floats]:
    """Return weights and offsets, layer by layer."""
    out: list[Floats] = []
    for inputs, outputs in pairwise(sizes):
        bound = 1 / np.sqrt(inputs)
        out.append(rng.uniform(-bound, bound, (inputs, outputs)).astype(np.float32))
        out.append(rng.uniform(-bound, bound, (1, outputs)).astype(np.float32))
    return out


def _layers(weights: list[Floats], Z: Floats) -> list[Floats]:
    """Return the input and what comes out of every layer."""
    out = [Z]
    for i in range(0, len(weights), 2):
        found = out[-1] @ weights[i] + weights[i + 1]
        last = i == len(weights) - 2
        out.append(found if last else np.maximum(found, 0))
    return out


def _slopes(weights: list[Floats], Z: Floats, target: Floats) -> list[Floats]:
    """Return the gradient of the mean squared error, with the decay."""
    layers = _layers(weights, Z)
    out = [_DECAY * w for w in weights]
    delta = 2 * (layers[-1] - target) / np.float32(len(Z))
    for i in range(len(weights) - 2, -1, -2):
        out[i] += layers[i // 2].T @ delta
        out[i + 1] += delta.sum(axis=0, keepdims=True)
        delta = (delta @ weights[i].T) * (layers[i // 2] > 0)
    return out
