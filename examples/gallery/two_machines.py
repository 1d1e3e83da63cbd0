"""Totals are integers: reports may be added anywhere, in any order, and merged."""

import numpy as np

from hedgerow import Aggregate, LocalTask, privatize_many

rng = np.random.default_rng(1)
X = rng.random((10_500, 2))
y = 1.0 + 2.0 * (X[:, 0] > 0.5)
task = LocalTask.design(X[:500], y[:500], epsilon=2.0, label_bounds=(0, 4), max_depth=1, response="subset")

north = privatize_many(task, X[500:6_000], y[500:6_000], randomness=1)
south = privatize_many(task, X[6_000:], y[6_000:], randomness=2)

together = Aggregate(task).add(north).add(south)
merged = Aggregate.from_bytes(task, Aggregate(task).add(south).to_bytes()) + Aggregate(task).add(north)
print("same bytes either way:", together.to_bytes() == merged.to_bytes())

for row in merged.model().table(level=0.95):
    print(f"{row['cell']}: {row['mean']:.2f}, 95 % interval [{row['low']:.2f}, {row['high']:.2f}]")
