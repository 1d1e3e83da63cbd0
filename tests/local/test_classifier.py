"""LPDTClassifier: class shares by leaf from one report a holder."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import HedgerowError, LocalTask, LPDTClassifier, Model, simulate_aggregate
from hedgerow.classes import OBSERVED
from hedgerow.tasks.tree.model import ClassModel
from hedgerow.tasks.tree.tuning import PAPER


def flowers(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    names = np.array(["rose", "iris", "lily"])
    return X, names[np.where(X[:, 0] < 0.4, 0, np.where(X[:, 1] < 0.5, 1, 2))]


@parametrize_with_checks([LPDTClassifier(classes="observed", feature_bounds=(-100, 100))])
def test_scikit_learn_conventions(estimator, check) -> None:
    check(estimator)


def test_infinite_epsilon_gives_the_class_frequencies_of_each_leaf() -> None:
    X, y = flowers(3000)
    tree = LPDTClassifier(np.inf, max_depth=1, rule="cart", min_samples_leaf=5, fallback="none", random_state=0)
    tree.fit(X[300:], y[300:], X[:300], y[:300])
    leaf = tree.apply(X[300:])
    expected = pd.crosstab(leaf, y[300:], normalize="index")[list(tree.classes_)].to_numpy()
    np.testing.assert_allclose(tree.model_.leaf_values, expected, atol=1e-9)


def test_one_against_the_rest_is_unbiased_for_the_class_shares() -> None:
    """Means over 400 draws, 6 shares: within five standard errors each (false alarm below 4e-6 * 6 / 10)."""
    X, y = flowers(2000)
    options = {"rule": "cart", "max_depth": 1, "min_samples_leaf": 5, "response": "unary", "classes": "public"}
    task = LocalTask.design(X[:200], y[:200], epsilon=3.0, **{**PAPER, **options})
    shares = []
    for seed in range(400):
        sums = simulate_aggregate(task, X[200:], y[200:], randomness=seed).sums
        shares.append([task.encoding.moments(sums, 1800, unit).numerator for unit in np.eye(3)])
    table = pd.crosstab(task.partition.apply(X[200:]), y[200:])[list(task.classes)].to_numpy().T
    error = np.mean(shares, axis=0) - table
    assert (np.abs(error) < 5 * np.std(shares, axis=0) / np.sqrt(400) + 1e-9).all()


def test_learns_with_strings_and_saves_as_json() -> None:
    X, y = flowers(20_000)
    tree = LPDTClassifier(1.0, random_state=0).fit(X[500:], y[500:], X[:500], y[:500])
    new, truth = flowers(2000, seed=1)
    proba = tree.predict_proba(new)
    assert (proba >= 0).all() and np.allclose(proba.sum(axis=1), 1)
    assert (tree.predict(new) == truth).mean() > 0.95
    again = Model.from_json(tree.model_.to_json())
    assert isinstance(again, ClassModel) and again == tree.model_
    assert (again.predict(new) == tree.predict(new)).all()
    low, high = tree.predict_interval(new, 0.9)
    assert low.shape == proba.shape and (low <= high).all()
    assert "rose" in str(tree.model_.explain())


def test_classes_come_from_the_list_or_the_public_labels_or_the_guarantee_says_so() -> None:
    X, y = flowers(500)
    public = y[:100] != "lily"
    fewer = LPDTClassifier(random_state=0).fit(X[100:], y[100:], X[:100][public], y[:100][public])
    assert sorted(fewer.classes_) == ["iris", "rose"]  # an unlisted class is absorbed, never quoted
    declared = LPDTClassifier(classes=["rose", "iris", "lily", "weed"], feature_bounds=(0, 1), random_state=0)
    assert declared.fit(X, y).predict_proba(X).shape == (500, 4)
    assert not any("classes" in note for note in declared.guarantee_.notes)
    with pytest.raises(HedgerowError, match="'classes' is required"):
        LPDTClassifier(feature_bounds=(0, 1), random_state=0).fit(X, y)
    observed = LPDTClassifier(classes="observed", feature_bounds=(0, 1), random_state=0).fit(X, y)
    assert OBSERVED in observed.guarantee_.notes and OBSERVED in observed.task_.guarantee.notes
    assert LocalTask.from_json(observed.task_.to_json()) == observed.task_


def test_bits_and_single_classes_are_refused() -> None:
    X, y = flowers(200)
    with pytest.raises(HedgerowError, match="response"):
        LPDTClassifier(response="bits", classes=["rose", "iris", "lily"], feature_bounds=(0, 1)).fit(X, y)
    with pytest.raises(HedgerowError, match="class"):
        LPDTClassifier(classes=["rose"], feature_bounds=(0, 1)).fit(X, y)
