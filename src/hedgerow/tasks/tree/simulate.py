"""The exact fast path: the Aggregate of n holders, drawn without their n reports.

``simulate_aggregate`` has exactly the law of ``Aggregate(task).add(privatize_many(task, X, y))``: given each
holder's leaf and (noisy) label, set bits are independent binomials over (leaf, label) cells, so a table of counts
is enough. It costs O(n) for leaves and labels and O(cells) for noise instead of O(n * leaves).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.counting import Counts, count_discrete_laplace
from hedgerow.kernels import native
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.bits import BitsEncoding
from hedgerow.tasks.tree.holder import payloads
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["simulate_aggregate"]

Encode = Callable[[Any], npt.NDArray[Any]]
Apply = Callable[[Any], npt.NDArray[np.int32]]

_ROWS = 1 << 16  # records randomised at a time: some megabytes
_TABLE_ROWS = 1 << 21  # records counted at a time: 16 MB of cells
_TABLE_CELLS = 1 << 26  # of a table of counts: 512 MB


def simulate_aggregate(task: LocalTask, X: object, y: object, randomness: Randomness | int | None = None) -> Aggregate:
    """Draw the aggregate of holders with records ``X`` and labels ``y``.

    Examples
    --------
    >>> import numpy as np
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=2, feature_bounds=(0, 1),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> X = np.random.default_rng(0).random((1000, 2))
    >>> simulate_aggregate(task, X, X[:, 0], randomness=1)
    Totals(1000 reports to task ..., simulation)
    """
    source = as_randomness(randomness)
    rows, encode, apply = _readers(task, X)
    encode(rows[:1])
    labels = task.labels(y, n=len(rows))
    aggregate = Aggregate(task)
    if task.n_leaves * task.encoding.n_columns > _TABLE_CELLS:
        # A grid far finer than the noise needs: the table would be larger than the reports.
        for start in range(0, len(rows), _ROWS):
            part = slice(start, start + _ROWS)
            drawn = payloads(task, encode(rows[part]), labels[part], source)
            aggregate.include(len(drawn), task.encoding.blocks(drawn), source.simulation)
    elif len(rows):
        counts = _table(task, rows, apply, labels, source)
        aggregate.include(len(rows), {0: task.encoding.simulate(counts, source)}, source.simulation)
    return aggregate


def _readers(task: LocalTask, X: object) -> tuple[npt.NDArray[Any], Encode, Apply]:
    """Return records as an array, and how a block of it is encoded and sent to its leaves.

    Arrays are read block by block, while they are in the cache; a data frame is turned into an array first.
    """
    if isinstance(X, np.ndarray) and X.ndim == 2:
        return X, task.space.encode, task.partition.apply_raw
    return task.space.encode(X), np.asarray, task.partition.apply


def _table(
    task: LocalTask, rows: npt.NDArray[Any], apply: Apply, y: npt.NDArray[Any], source: Randomness
) -> npt.NDArray[Any]:
    """Count holders by (leaf, column), kept column by column; cache-sized blocks of rows."""
    kernels = native()
    if kernels is None or not isinstance(task.encoding, BitsEncoding) or len(rows) >= 1 << 32:
        return _reference_table(task, rows, apply, y, source)
    encoding = task.encoding
    leaves = task.n_leaves
    counts = Counts((encoding.n_columns, leaves))
    noise, low = encoding.label.ratio, -encoding.label.reach
    for start in range(0, len(rows), _ROWS):
        part = slice(start, start + _ROWS)
        levels = _levels(task, y[part], source, kernels)
        count_discrete_laplace(counts, levels, apply(rows[part]), noise, low, source)
    return counts.total().T


def _levels(task: LocalTask, y: npt.NDArray[Any], source: Randomness, kernels: Any) -> npt.NDArray[np.int32]:
    """Return what :meth:`LabelGrid.levels` does, draw for draw, by the compiled kernel."""
    grid = task.grid
    labels = np.ascontiguousarray(y, dtype=np.float64)
    scale = 256 * (grid.n_steps / (grid.high - grid.low))
    top = 256.0 * grid.n_steps
    out = np.empty(labels.size, dtype=np.int32)
    at = np.empty(labels.size + 1, dtype=np.int32)
    n = kernels.levels(labels, source.uint8(labels.size), grid.low, grid.high, scale, top, out, at)
    unsure = at[:n]
    position = np.minimum((np.clip(labels[unsure], grid.low, grid.high) - grid.low) * scale, top)
    # The eight bits sum to 255: one more, and the level rises.
    out[unsure] += source.uint16(n) < (position % 1.0 * 65536).astype(np.uint32)
    return out


def _reference_table(
    task: LocalTask, rows: npt.NDArray[Any], apply: Apply, y: npt.NDArray[Any], source: Randomness
) -> npt.NDArray[np.int64]:
    """Count with NumPy, for every kind of message."""
    encoding = task.encoding
    leaves = task.n_leaves
    counts = np.zeros((encoding.n_columns, leaves), dtype=np.int64)
    for start in range(0, len(rows), _TABLE_ROWS):
        stop = min(start + _TABLE_ROWS, len(rows))
        cells = np.empty(stop - start, dtype=np.int64)
        for i in range(start, stop, _ROWS):
            part = slice(i, min(i + _ROWS, stop))
            column = encoding.column(task.grid.levels(y[part], source), source)
            cell = cells[part.start - start : part.stop - start]
            np.multiply(column, leaves, out=cell)
            cell += apply(rows[part])
        # Most columns are far out in the tails of the noise, and empty: count from the first to the last found.
        first = int(cells.min()) // leaves
        last = int(cells.max()) // leaves
        cells -= first * leaves
        found = np.bincount(cells, minlength=(last + 1 - first) * leaves)
        counts[first : last + 1] += found.reshape(-1, leaves)
    return counts.T
