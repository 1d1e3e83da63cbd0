"""The exact fast path: the Aggregate of n holders, drawn without their n reports.

``simulate_aggregate`` has exactly the law of ``Aggregate(task).add(privatize_many(task, X, y))``: given each
holder's leaf and (noisy) label, set bits are independent binomials over (leaf, label) cells, so a table of counts
is enough. It costs O(n) for leaves and labels and O(cells) for noise instead of O(n * leaves).
"""

from __future__ import annotations

import numpy as np

from hedgerow.bounds import check_labels
from hedgerow.protocol.aggregate import Aggregate
from hedgerow.protocol.task import LocalTask
from hedgerow.randomness import Randomness, as_randomness

__all__ = ["simulate_aggregate"]

_ROWS = 1 << 17
_TABLE_ROWS = 1 << 21


def simulate_aggregate(task: LocalTask, X: object, y: object, randomness: Randomness | int | None = None) -> Aggregate:
    """Draw the aggregate of holders with records ``X`` and labels ``y``.

    Examples
    --------
    >>> import numpy as np
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=2, feature_bounds=(0, 1))
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> simulate_aggregate(task, X, X[:, 0], randomness=1)
    Aggregate(1000 reports to task ..., simulation)
    """
    source = as_randomness(randomness)
    Z = task.space.encode(X)
    labels = check_labels(y, n=len(Z))
    counts = _table(task, Z, labels, source)
    aggregate = Aggregate(task)
    if len(Z):
        aggregate._include(len(Z), task.encoding.simulate(counts, source), source.simulation)
    return aggregate


def _table(task: LocalTask, Z: np.ndarray, y: np.ndarray, source: Randomness) -> np.ndarray:
    """Count holders by (leaf, column); cache-sized blocks of rows, larger blocks for counting."""
    encoding = task.encoding
    leaves, columns = task.n_leaves, encoding.n_columns
    counts = np.zeros(leaves * columns, dtype=np.int64)
    for start in range(0, len(Z), _TABLE_ROWS):
        stop = min(start + _TABLE_ROWS, len(Z))
        cells = np.empty(stop - start, dtype=np.int64)
        for i in range(start, stop, _ROWS):
            part = slice(i, min(i + _ROWS, stop))
            cell = encoding.column(task.grid.levels(y[part], source), source)
            cell += task.partition.apply(Z[part]).astype(np.int64) * columns
            cells[part.start - start : part.stop - start] = cell
        counts += np.bincount(cells, minlength=counts.size)
    return counts.reshape(leaves, columns)
