"""The exact fast path: the Aggregate of n holders, drawn without their n reports.

``simulate_aggregate`` has exactly the law of ``Aggregate(task).add(privatize_many(task, X, y))``: given each
holder's leaf and (noisy) label, set bits are independent binomials over (leaf, label) cells, so a table of counts
is enough. It costs O(n) for leaves and labels and O(cells) for noise instead of O(n * leaves).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.protocol.aggregate import Aggregate
from hedgerow.protocol.holder import privatize_encoded
from hedgerow.protocol.task import LocalTask
from hedgerow.randomness import Randomness, as_randomness

__all__ = ["simulate_aggregate"]

_ROWS = 1 << 16
_TABLE_ROWS = 1 << 21
_TABLE_CELLS = 1 << 26


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
    # Arrays are encoded block by block, while they are in the cache; a data frame is turned into an array first.
    arrays = isinstance(X, np.ndarray) and X.ndim == 2
    rows = cast("npt.NDArray[Any]", X) if arrays else task.space.encode(X)
    encode = task.space.encode if arrays else np.asarray
    encode(rows[:1])
    labels = task.labels(y, n=len(rows))
    aggregate = Aggregate(task)
    if task.n_leaves * task.encoding.n_columns > _TABLE_CELLS:
        # A grid far finer than the noise needs: the table would be larger than the reports.
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            aggregate.add(privatize_encoded(task, encode(rows[part]), labels[part], source))
    elif len(rows):
        counts = _table(task, rows, encode, labels, source)
        aggregate._include(len(rows), task.encoding.simulate(counts, source), source.simulation)
    return aggregate


def _table(
    task: LocalTask,
    rows: npt.NDArray[Any],
    encode: Callable[[Any], npt.NDArray[Any]],
    y: npt.NDArray[Any],
    source: Randomness,
) -> npt.NDArray[np.int64]:
    """Count holders by (leaf, column), kept column by column; cache-sized blocks of rows."""
    encoding, leaves = task.encoding, task.n_leaves
    counts = np.zeros((encoding.n_columns, leaves), dtype=np.int64)
    for start in range(0, len(rows), _TABLE_ROWS):
        stop = min(start + _TABLE_ROWS, len(rows))
        cells = np.empty(stop - start, dtype=np.int64)
        for i in range(start, stop, _ROWS):
            part = slice(i, min(i + _ROWS, stop))
            column = encoding.column(task.grid.levels(y[part], source), source)
            cell = cells[part.start - start : part.stop - start]
            np.multiply(column, leaves, out=cell)
            cell += task.partition.apply(encode(rows[part]))
        # Most columns are far out in the tails of the noise, and empty: count from the first to the last found.
        first, last = int(cells.min()) // leaves, int(cells.max()) // leaves
        cells -= first * leaves
        found = np.bincount(cells, minlength=(last + 1 - first) * leaves)
        counts[first : last + 1] += found.reshape(-1, leaves)
    return counts.T
