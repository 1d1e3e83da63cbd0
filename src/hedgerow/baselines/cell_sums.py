"""Noisy totals of the cells of a histogram, drawn when they are first asked for.

The noise in different cells is independent, so a cell that nobody asks about need never be drawn: a histogram may
have ``2**105`` cells and still fit in memory. Each total is drawn once and kept. Drawing it again at the next
question would let whoever asks often enough average the noise away.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.cell_laplace import CellLaplace
from hedgerow.noise_sums import laplace_sum
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.types import IntArray

__all__ = ["CellSums", "cell_keys"]

Keys = npt.NDArray[np.bytes_]


def cell_keys(Z: npt.NDArray[Any], n_bins: int) -> Keys:
    r"""Return the cell of each record scaled to [0, 1] as bytes: one for each feature, bin 0 as 1.

    >>> cell_keys(np.array([[0.1, 0.9], [0.5, 1.0]]), 2).tolist()
    [b'\x01\x02', b'\x02\x02']
    """
    bins = np.minimum((Z * n_bins).astype(np.int64), n_bins - 1)
    keys: Keys = np.ascontiguousarray(bins + 1, dtype=np.uint8).view(f"S{Z.shape[1]}")[:, 0]
    return keys


class CellSums:
    """The curator's totals of n reports: ``sum of A_j`` and ``sum of B_j`` for the cells that were asked for.

    ``n`` reports of :class:`CellLaplace` leave in cell j the true totals of its holders and the sum of n noises, and
    :func:`laplace_sum` draws the latter exactly in law. Each cell has a stream of its own, keyed by a secret of 256
    bits from ``source`` (or by its seed, in a simulation): answers do not depend on the order of questions, and a
    forked or concurrent copy gives the same answer, not a second one that could be averaged with the first.

    Until :meth:`freeze` this object holds true totals and the secret: it plays the holders' part too, and must not be
    released.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> sums = CellSums(CellLaplace(2.0, 4), np.array([b"a", b"a", b"b"]), np.array([2, 2, 0]), SeededRandomness(0))
    >>> once = sums.ask(np.array([b"a", b"z"]))
    >>> bool((sums.ask(np.array([b"z", b"a"]))[:, ::-1] == once).all())
    True
    """

    def __init__(self, mechanism: CellLaplace, cells: Keys, levels: IntArray, source: Randomness) -> None:
        self.mechanism = mechanism
        self.n = len(cells)
        self.simulation = source.simulation
        self._source: Randomness | None = source if source.simulation else SeededRandomness(source.bits(256))
        self._keys, where = np.unique(cells, return_inverse=True)
        size = len(self._keys)
        total = np.zeros(size, dtype=np.int64)
        np.add.at(total, where, levels - mechanism.n_steps // 2)
        self._true: IntArray | None = np.stack([np.bincount(where, minlength=size).astype(np.int64), total])
        self._drawn: dict[bytes, tuple[int, int]] = {}

    @property
    def frozen(self) -> bool:
        """Whether nothing but noisy totals is left."""
        return self._true is None

    def ask(self, keys: Keys) -> IntArray:
        """Return noisy totals, two rows: of A and of B; cells never drawn before a freeze give zeros."""
        distinct, where = np.unique(keys, return_inverse=True)
        if self._true is not None:
            self._draw([k for k in distinct.tolist() if k not in self._drawn])
        answers = [self._drawn.get(k, (0, 0)) for k in distinct.tolist()]
        table: IntArray = np.array(answers, dtype=np.int64).reshape(-1, 2)
        return table[where].T

    def _draw(self, keys: Iterable[bytes]) -> None:
        known = self._keys
        true = self._true
        source = self._source
        assert true is not None and source is not None
        for key in keys:
            stream = source.child("cell", key.hex())
            a = int(laplace_sum(self.n, self.mechanism.cell_ratio, 1, stream)[0])
            b = int(laplace_sum(self.n, self.mechanism.label_ratio, 1, stream)[0])
            at = int(np.searchsorted(known, np.bytes_(key)))
            if at < len(known) and known[at] == key:
                a = a + int(true[0, at])
                b = b + int(true[1, at])
            self._drawn[key] = (a, b)

    def simulate(self, keys: Keys, source: Randomness) -> IntArray:
        """Return totals with fresh noise, all cells in one draw: the law of :meth:`ask`, for studies only.

        Asking twice would let whoever asks average the noise away, so a source that is not a simulation is refused.
        """
        true = self._true
        if not source.simulation or true is None:
            raise HedgerowError("only a simulation may draw totals afresh, before freeze(); ask() gives them once.")
        distinct, where = np.unique(keys, return_inverse=True)
        ratios = (self.mechanism.cell_ratio, self.mechanism.label_ratio)
        table = np.stack([laplace_sum(self.n, ratio, len(distinct), source) for ratio in ratios])
        if len(self._keys):
            at = np.minimum(np.searchsorted(self._keys, distinct), len(self._keys) - 1)
            table += np.where(self._keys[at] == distinct, true[:, at], 0)
        return table[:, where]

    def freeze(self) -> None:
        """Forget the true totals and the secret; what was drawn stays."""
        self._true = self._source = None
        self._keys = self._keys[:0]

    def __getstate__(self) -> dict[str, Any]:
        if not self.frozen:
            raise HedgerowError(
                "this histogram is drawn lazily and still holds private totals, so it cannot be pickled or copied. "
                "Call freeze(X) with the (public) records that will be predicted: only their noisy cells are kept."
            )
        return dict(self.__dict__)

    def __repr__(self) -> str:
        kind = "frozen" if self.frozen else "lazy, holds private totals"
        return f"CellSums({len(self._drawn)} cells drawn of {self.n} reports; {kind})"
