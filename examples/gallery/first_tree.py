"""A private regression tree beside a tree that sees everything.

``fallback="none"`` predicts from reports alone; by default public labels help out where reports are few.
"""

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from hedgerow import LPDTRegressor

rng = np.random.default_rng(0)
X = rng.uniform(size=(41_000, 3))
y = 20 + 40 * (X[:, 0] > 0.5) + 10 * X[:, 1] + rng.normal(scale=2, size=len(X))
public, private, test = slice(500), slice(500, 40_500), slice(40_500, None)

open_tree = DecisionTreeRegressor(max_depth=3).fit(X[private], y[private])
print(f"a tree that sees every record:  R2 = {open_tree.score(X[test], y[test]):.3f}")

settings = {"rule": "cart", "max_depth": 3, "min_samples_leaf": 20, "response": "subset", "fallback": "none"}
for epsilon in (0.5, 1.0, 2.0, 4.0):
    model = LPDTRegressor(epsilon, label_bounds=(0, 80), **settings, random_state=0)
    model.fit(X[private], y[private], X_public=X[public], y_public=y[public])
    print(f"private tree at epsilon = {epsilon}:   R2 = {model.score(X[test], y[test]):.3f}")
