"""The kind of message matters: the same people, tree and epsilon, and other errors of the leaf means."""

import numpy as np

from hedgerow import LocalTask, simulate_aggregate

rng = np.random.default_rng(3)
X = rng.random((20_000, 1))
y = X[:, 0]

print(f"{'response':>8}  {'bytes':>5}  error of leaf means at epsilon = 1, 2, 4")
for response in ("bits", "unary", "k_ary", "subset"):
    errors = []
    for epsilon in (1.0, 2.0, 4.0):
        task = LocalTask.design(
            epsilon=epsilon,
            label_bounds=(0, 1),
            features=1,
            feature_bounds=(0, 1),
            max_depth=3,
            response=response,
            cell_share=0.5,
        )
        leaf = task.partition.apply(X)
        truth = np.bincount(leaf, weights=y) / np.bincount(leaf)
        models = [simulate_aggregate(task, X, y, randomness=seed).model() for seed in range(10)]
        errors.append(np.sqrt(np.mean([(m.leaf_values - truth) ** 2 for m in models])))
    print(f"{response:>8}  {18 + task.encoding.width:>5}  " + "  ".join(f"{e:.3f}" for e in errors))
