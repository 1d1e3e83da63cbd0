"""Holders who crowd where public records are rare must not be corrected many times over."""

import numpy as np
from sklearn.linear_model import Ridge

from hedgerow.local.assisted import design_assisted
from hedgerow.protocol.assisted import simulate_assisted


def test_corrections_stay_attainable_when_holders_crowd_in_rare_leaves():
    rng = np.random.default_rng(0)
    X = rng.random((400, 2))
    y = X[:, 0] + (X[:, 1] > 0.97) + rng.normal(0, 0.2, 400)
    task = design_assisted(X, y, epsilon=8.0, label_bounds=(-2, 5), n_holders=5000, base=Ridge(), random_state=0)
    Z = np.column_stack([rng.random(5000), rng.uniform(0.9, 1.0, 5000)])  # all of them where 10 % of the public are
    labels = Z[:, 0] + 1.0 + rng.normal(0, 0.2, 5000)
    model = simulate_assisted(task, Z, labels, 0).model()
    low, high = model._attainable
    assert model.corrections.shift > 0
    overall = model.factors[0] * model.overall[0]
    assert all(v.min() - overall >= low - 1e-12 and v.max() - overall <= high + 1e-12 for v in model.leaf_values)
    raw = np.concatenate(model.corrections.d)
    assert raw.max() > 2 * high  # what it would have been
    assert np.mean((model.predict(Z) - labels) ** 2) < np.mean((model.predict_public(Z) - labels) ** 2)
