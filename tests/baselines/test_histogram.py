"""PHIST and APHIST. Statistical tests: false alarms below 1e-6 (same_law: 1e-7 a call, else bounds as stated)."""

import math
import pickle
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import PrivateHistogramRegressor
from hedgerow.baselines.cell_sums import CellSums, cell_keys
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.cell_laplace import CellLaplace
from hedgerow.randomness import SecureRandomness, SeededRandomness


def histogram(epsilon=2.0, **options):
    options = {"label_bounds": (0, 4), "feature_bounds": (0, 1), "random_state": 0} | options
    return PrivateHistogramRegressor(epsilon, **options)


@pytest.fixture
def steps():
    X = np.random.default_rng(0).random((4000, 2))
    return X, np.where(X[:, 0] < 0.5, 1.0, 3.0)


def test_check_estimator():
    # Few cells are drawn at once, the others when asked for: tables of ten columns have thousands.
    model = PrivateHistogramRegressor(1.0, label_bounds=(-1000, 1000), feature_bounds=(-1000, 1000), max_cells=64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model)


def test_without_noise_it_is_the_cell_mean(steps):
    X, y = steps
    model = histogram(math.inf).fit(X, y)
    assert model.predict([[0.1, 0.1], [0.9, 0.9]]) == pytest.approx([1.0, 3.0])
    assert math.isinf(model.guarantee_.epsilon)


def test_adjusted_divides_by_the_average_of_mass_and_volume(steps):
    X, y = steps
    X, y = X[X[:, 0] < 0.5], y[X[:, 0] < 0.5]
    share = np.mean(X[:, 1] < 0.5)
    model = histogram(math.inf, adjusted=True).fit(X, y)
    expected = 2 + (1.0 - 2) * share / ((share + 0.25) / 2)
    assert model.predict([[0.1, 0.1]]) == pytest.approx([max(0.0, expected)], abs=1e-6)


def test_empty_cells_predict_the_middle(steps):
    X, y = steps
    model = histogram(math.inf).fit(X[X[:, 0] < 0.5], y[X[:, 0] < 0.5])
    assert model.predict([[0.9, 0.9]]) == pytest.approx([2.0])
    assert histogram(math.inf, threshold=0.9).fit(X, y).predict([[0.1, 0.1]]) == pytest.approx([2.0])


def test_lazy_totals_have_the_law_of_summed_reports(same_law):
    """Three holders in two cells: totals of one cell, from reports and lazily, against the same exact law."""
    mechanism, cells, levels = CellLaplace(2.0, 2, 2), np.array([0, 0, 1]), np.array([2, 1, 0])
    reports = mechanism.randomize(np.tile(cells * 3 + levels, 8000), SeededRandomness(1))
    summed = reports.reshape(8000, 3, 2, 2).sum(axis=1)[:, :, 0]
    keys = np.array([b"a", b"b"])[cells]
    lazy = np.array(
        [CellSums(mechanism, keys, levels, SeededRandomness(s)).ask(np.array([b"a"]))[:, 0] for s in range(3000)]
    )
    study, source = CellSums(mechanism, keys, levels, SeededRandomness(0)), SeededRandomness(2)
    afresh = np.array([study.simulate(np.array([b"z", b"a"]), source)[:, 1] for _ in range(3000)])
    for row, (ratio, truth) in enumerate([(mechanism.cell_ratio, 2), (mechanism.label_ratio, 1)]):
        law = _shifted_sum(3, ratio / 2**64, truth)
        for drawn in (summed, lazy, afresh):
            same_law(np.clip(drawn[:, row], -40, 40).tolist(), law)


def _shifted_sum(n, r, shift, most=40):
    one = np.array([(1 - r) / (1 + r) * r ** abs(k) for k in range(-200, 201)])
    total = np.array([1.0])
    for _ in range(n):
        total = np.convolve(total, one)
    law = dict.fromkeys(range(-most, most + 1), 0.0)
    for i, p in enumerate(total):
        law[int(np.clip(i - len(total) // 2 + shift, -most, most))] += p
    return law


def test_totals_are_drawn_afresh_in_a_simulation_only():
    sums = CellSums(CellLaplace(2.0, 2, 2), np.array([b"a", b"a"]), np.array([1, 1]), SeededRandomness(0))
    with pytest.raises(HedgerowError, match="only a simulation"):
        sums.simulate(np.array([b"a"]), SecureRandomness())
    once = sums.simulate(np.array([b"b", b"a", b"b"]), SeededRandomness(1))
    assert once.shape == (2, 3) and (once[:, 0] == once[:, 2]).all(), "one answer a cell"
    sums.freeze()
    with pytest.raises(HedgerowError, match="freeze"):
        sums.simulate(np.array([b"a"]), SeededRandomness(1))


def test_cells_are_independent():
    """Correlation of two cells' noise over 1,500 seeds: 6 standard errors, a chance below 1e-8."""
    mechanism, keys = CellLaplace(2.0, 2, 2), np.array([b"a", b"a"])
    noise = np.array(
        [
            CellSums(mechanism, keys, np.array([1, 1]), SeededRandomness(s)).ask(np.array([b"a", b"b"])).ravel()
            for s in range(1500)
        ]
    )
    correlation = np.corrcoef(noise.T) - np.eye(4)
    assert np.abs(correlation).max() < 6 / math.sqrt(1500)


@pytest.mark.parametrize("random_state", [0, None])
def test_asking_twice_gives_the_same_answer(steps, random_state):
    X, y = steps
    model = histogram(0.5, random_state=random_state, max_cells=0).fit(X, y)
    assert (model.predict(X[:50]) == model.predict(X[:50])).all()
    assert (model.sums_.ask(cell_keys(X[:9], 2)) == model.sums_.ask(cell_keys(X[:9][::-1], 2))[:, ::-1]).all()


def test_a_copy_gives_the_same_answer_and_no_second_one(steps):
    """A fork copies memory: fresh noise in the copy would be a second look at the same cell."""
    X, y = steps
    model = histogram(0.5, random_state=None, max_cells=0, n_bins=8).fit(X, y)
    twin = CellSums.__new__(CellSums)
    twin.__dict__.update(model.sums_.__dict__ | {"_drawn": {}})
    assert (twin.ask(cell_keys(X[:50], 8)) == model.sums_.ask(cell_keys(X[:50], 8))).all()
    again = histogram(0.5, random_state=None, max_cells=0, n_bins=8).fit(X, y)
    assert (again.sums_.ask(cell_keys(X[:50], 8)) != model.sums_.ask(cell_keys(X[:50], 8))).any()
    assert not model.guarantee_.simulation and not model.sums_.simulation


def test_seeded_answers_do_not_depend_on_the_order_of_questions(steps):
    X, y = steps
    one, two = (histogram(0.5, n_bins=8, max_cells=0).fit(X, y) for _ in range(2))
    backwards = two.predict(X[:200][::-1])[::-1]
    assert (one.predict(X[:200]) == backwards).all()
    # Drawn in full or lazily, a cell has the same noise.
    assert (histogram(0.5, n_bins=8).fit(X, y).predict(X[:200]) == backwards).all()


def test_a_full_histogram_keeps_nothing_private(steps):
    X, y = steps
    model = histogram().fit(X, y)
    assert model.sums_.frozen
    copy = pickle.loads(pickle.dumps(model))
    assert (copy.predict(X) == model.predict(X)).all()
    assert not any("never this object" in note for note in model.guarantee_.notes)


def test_a_lazy_histogram_refuses_to_be_pickled_until_frozen(steps):
    X, y = steps
    model = histogram(max_cells=0, n_bins=16).fit(X, y)
    assert any("never this object" in note for note in model.guarantee_.notes)
    with pytest.raises(HedgerowError, match="freeze"):
        pickle.dumps(model)
    before = model.predict(X[:20])
    frozen = pickle.loads(pickle.dumps(model.freeze(X[:20])))
    assert (frozen.predict(X[:20]) == before).all()
    assert frozen.sums_._true is None and frozen.sums_._source is None and len(frozen.sums_._keys) == 0
    unseen = X[[len(set(cell_keys(x[None], 16)) & set(cell_keys(X[:20], 16))) == 0 for x in X]]
    assert (frozen.predict(unseen) == 2.0).all()


def test_105_features_in_bounded_memory():
    rng = np.random.default_rng(0)
    X, y = rng.random((400, 105)), rng.random(400)
    tracemalloc.start()
    model = histogram(1.0, label_bounds=(0, 1), n_bins=4).fit(X, y)
    prediction = model.predict(X[:100])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    assert prediction.shape == (100,) and ((prediction >= 0) & (prediction <= 1)).all()


def test_totals_are_unbiased(steps):
    """Mean of 400 noisy totals of one cell: 6 standard errors, a chance below 1e-8."""
    X, y = steps
    inside = (X < 0.5).all(axis=1)
    a = [
        histogram(1.0, random_state=s, max_cells=0).fit(X, y).sums_.ask(cell_keys(X[inside][:1], 2)) for s in range(400)
    ]
    a = np.array(a)[:, :, 0]
    mechanism = CellLaplace(1.0, 4, 8)
    first, second = (math.sqrt(len(X) * v / 400) for v in mechanism.variances())
    assert abs(a[:, 0].mean() - inside.sum()) < 6 * first
    # Labels are 1 in bounds (0, 4) of 8 steps: two steps below the middle.
    assert abs(a[:, 1].mean() + 2 * inside.sum()) < 6 * second


def test_guarantee_and_frames(steps):
    X, y = steps
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = histogram(random_state=None).fit(frame, y)
    assert (model.guarantee_.epsilon, model.guarantee_.simulation) == (2.0, False)
    assert (model.guarantee_.trust, model.guarantee_.protects) == ("local", "record")
    assert histogram().fit(frame, y).guarantee_.simulation
    assert len(model.predict(frame[:3])) == 3


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"label_bounds": None}, "label_bounds"),
        ({"feature_bounds": None}, "feature_bounds"),
        ({"n_bins": 0}, "n_bins"),
        ({"n_bins": 255}, "n_bins"),
        ({"threshold": 0.0}, "threshold"),
        ({"threshold": "low"}, "threshold"),
        ({"cell_share": 1.5}, "cell_share"),
        ({"max_cells": -1}, "max_cells"),
        ({"epsilon": 0}, "epsilon"),
    ],
)
def test_wrong_arguments_are_named(steps, options, name):
    with pytest.raises(HedgerowError, match=name):
        histogram(**options).fit(*steps)
