"""Words and pictures say what the numbers say."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from hedgerow import LocalTask, simulate_aggregate


@pytest.fixture
def model():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 3))
    y = X[:, 0] + 0.3 * (X[:, 1] > 0.5)
    task = LocalTask.design(
        X[:400],
        y[:400],
        epsilon=4.0,
        label_bounds=(0, 1.3),
        rule="cart",
        max_depth=2,
        min_samples_leaf=20,
        response="bits",
        cell_share=0.5,
    )
    return simulate_aggregate(task, X[400:], y[400:], randomness=0).model()


def test_importances_equal_scikit_learns() -> None:
    rng = np.random.default_rng(1)
    X = rng.random((300, 4))
    y = X[:, 0] + 2 * X[:, 1] * X[:, 2]
    options = {"max_depth": 4, "min_samples_leaf": 10}
    task = LocalTask.design(
        X,
        y,
        epsilon=1.0,
        label_bounds=(0, 3),
        rule="cart",
        **{"max_depth": 4, "min_samples_leaf": 20, "response": "bits", "cell_share": 0.5, **options},
    )
    reference = DecisionTreeRegressor(random_state=0, **options).fit(X, y)
    np.testing.assert_allclose(
        list(task.model(task.totals()).importances().values()), reference.feature_importances_, atol=1e-9
    )


def test_text_names_guarantee_every_leaf_and_importances(model) -> None:
    text = str(model.explain())
    assert str(model.guarantee) in text
    for row in model.table():
        assert f"{row['mean']:.4g} [{row['low']:.4g}, {row['high']:.4g}]  if {row['cell']}" in text
    assert "x0: " in text and "x2: " not in text and model.shift().verdict in text


def test_plot_is_saved(model, tmp_path) -> None:
    figure = model.plot(tmp_path / "tree.svg")
    assert len(figure.axes) == 3 and "<svg" in (tmp_path / "tree.svg").read_text()
