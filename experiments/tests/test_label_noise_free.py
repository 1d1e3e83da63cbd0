"""The network without noise: its gradient is one, readings differ, and the page marks what agrees with the paper."""

import math

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.label import noise_free
from hedgerow_experiments.label.declared import NOISE_FREE
from hedgerow_experiments.label.noise_free_page import section
from hedgerow_experiments.printed import Printed


def test_the_slopes_are_those_of_the_mean_squared_error_with_decay():
    rng = np.random.default_rng(0)
    weights = [w.astype(np.float64) for w in noise_free._start((3, 5, 4, 1), rng)]
    Z, y = rng.normal(size=(20, 3)), rng.normal(size=(20, 1))

    def loss():
        fit = np.mean((noise_free._layers(weights, Z)[-1] - y) ** 2)
        return fit + 0.5e-4 * sum(float((w**2).sum()) for w in weights)

    found = noise_free._slopes(weights, Z, y)
    for weight, slope in zip(weights, found, strict=True):
        for at in [(0, 0), (-1, -1)]:
            kept = weight[at]
            ends = []
            for step in (1e-6, -1e-6):
                weight[at] = kept + step
                ends.append(loss())
            weight[at] = kept
            assert abs((ends[0] - ends[1]) / 2e-6 - slope[at]) < 1e-5  # the batch is counted in single precision


def test_a_linear_label_is_learnt_and_what_is_trained_depends_on_the_seed_alone():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2500, 3))
    y = X @ [1.0, -2.0, 0.5]
    first, again, other = (noise_free.trained(X, y, (64, 32), seed)(X) for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)
    assert np.mean((first - y) ** 2) < 0.1 * np.var(y)


def test_every_reading_is_declared_and_rows_are_drawn_as_it_says(monkeypatch):
    assert set(NOISE_FREE.methods) == set(noise_free.READINGS)
    sizes = []
    monkeypatch.setattr(noise_free, "trained", lambda X, *_: sizes.append(X.shape) or (lambda Xt: np.zeros(len(Xt))))
    for name in ("raw", "raw, 5,000 rows"):
        noise_free.compute(Key("simulated-linear", 0, "", 0.0, name), 0)
    assert sizes == [(1600, 10), (4000, 10)]


def test_the_page_marks_what_is_within_a_deviation():
    rows = [
        Row("label-noise-free", "housing", "", m, None, None, "", 0, "mse", v)
        for m, v in (("raw", 0.6), ("raw, 128-64", 0.7))
    ]
    own = Row("label", "housing", "network", "RPWithPrior", math.inf, None, "", 0, "mse", 0.41)
    printed = [Printed("label", "network", "housing", "RPWithPrior", math.inf, 0.59, 0.02)]
    text = "\n".join(section(Evidence({"label-noise-free": rows, "label": [own]}, printed)))
    assert r"| housing | 0.59 (0.02) | 0.41 | - | 0.6\* | 0.7 |" in text
    assert section(Evidence({})) == []


def test_noisy_labels_are_learnt_from_as_they_are(monkeypatch):
    seen = []
    monkeypatch.setattr(noise_free, "trained", lambda X, y, *_: seen.append(y) or (lambda Xt: np.zeros(len(Xt))))
    for epsilon in (0.5, 8.0):
        noise_free.with_noise(Key("simulated-linear", 0, "", epsilon, "Laplace"), 0)
    spread = [np.std(y) for y in seen]
    assert (
        len(seen[0]) == 4000 and spread[0] > 5 * spread[1] > 5
    )  # 24 wide: deviations of 68 and 4.2, and the labels' own


def test_the_page_sets_noisy_tables_beside_the_paper_s():
    rows = [
        Row("label-published", "housing", "", "Laplace", 2.0, None, "", t, "mse", v) for t, v in enumerate((1.0, 2.0))
    ]
    free = Row("label-noise-free", "housing", "", "raw", None, None, "", 0, "mse", 0.6)
    printed = [Printed("label", "network", "housing", "Laplace", 2.0, 0.75, 0.04)]
    text = "\n".join(section(Evidence({"label-published": rows, "label-noise-free": [free]}, printed)))
    assert "| housing | 2 | 1.5 / 0.75 (2.00) | - |" in text and "2 trials a cell" in text
