"""Sums over all records: gradients in whole numbers with a bounded norm, and whatever is made of predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.coded import LABEL, CodedRows
from hedgerow.central.anova.kernel import layout
from hedgerow.central.anova.products import NORM, SCALE, Products
from hedgerow.central.anova.threads import Threads
from hedgerow.kernels import native
from hedgerow.types import FloatArray, IntArray

_T = TypeVar("_T")

__all__ = ["LEVELS", "MOMENT", "MOMENTS", "Clip", "Point", "Rows", "Sums", "Term", "norms_of", "quantised"]

Term = Callable[[npt.NDArray[np.int32], npt.NDArray[np.int32] | None, FloatArray], IntArray | FloatArray]
"""What is summed over records: a function of their labels, what a public model predicts, and predictions."""

LEVELS = 129
"""Least number of levels of a clipped residual; a price never asks for twice as many, and 257 * 127 fits 16 bits."""
MOMENTS = 63
"""Most functions whose products are summed at once.

From 64 on OpenBLAS takes several threads for their eigenvalues, which then wait awake for 50 ms.
"""
MOMENT = NORM**2 >> (2 * SCALE)
"""What a record adds to the sum of its own squares, at most."""
_CUT = 30  # bits that are cut off: vectors then fit 16 bits, and products over 256 records 31
_MOST = 32767  # of a coefficient: 16 bits
_ENTRIES = 1 << 17  # of a block of the NumPy reference: it stays in the cache between its two products
_KEPT = 50_000_000  # entries that the NumPy reference keeps from round to round: 400 MB
_ROWS = 256  # records that the kernel works on at once
_LONGEST = 1 << 20  # records of one call: a tenth of a second, after which an interrupt is seen
_SHORTEN = 1 - 2.0**-40  # what vectors are multiplied by, so that rounding does not lengthen them


@dataclass(frozen=True, eq=False)
class Point:
    """Coefficients in 16 bits, one row an output, and what one step of a prediction is in steps of a label.

    Examples
    --------
    >>> products = Products(*(np.zeros((0, 2), dtype=np.int64) for _ in range(4)), np.array([4096]), None)
    >>> point = Point.of(products, np.array([[0.25]]))
    >>> point.whole.tolist(), round(float(point.steps[0] * point.whole[0, 0] * 127**2) * 2**15 / LABEL, 3)
    ([[32767]], 0.25)
    """

    whole: npt.NDArray[np.signedinteger[Any]]
    steps: FloatArray

    @classmethod
    def of(cls, products: Products, theta: FloatArray) -> Point:
        """Round coefficients of the functions ``W_m b_m / NORM``, of shape (p, outputs): post-processing."""
        exact = (theta * products.units[:, None]).T
        step = np.maximum(np.abs(exact).max(axis=1), 1e-300) / _MOST
        whole = np.clip(np.rint(exact / step[:, None]), -_MOST, _MOST).astype(np.int64)
        return cls(whole, step * (LABEL / (NORM * 2.0**SCALE)))


@dataclass(frozen=True)
class Clip:
    """At what size residuals are clipped (labels are in [0, 1]), in how many levels, and in which norm."""

    size: float
    levels: int
    order: int

    @property
    def gain(self) -> float:
        """Levels of one step of a label, for a record that is not shortened, over ``2**15``."""
        return self.levels / (self.size * LABEL * 2.0**SCALE)


_NONE = Clip(1.0, LEVELS, 2)  # where nothing is clipped


def quantised(residuals: FloatArray, scales: FloatArray, clip: Clip) -> FloatArray:
    r"""Return residuals times each record's factor, in whole levels; of shape (outputs, records) like residuals.

    .. math:: q_i = \operatorname{round}\bigl(r_i \tfrac{s_i}{2^{15}} \tfrac{w}{c}\bigr), \qquad
              \|q_i\| \le \lfloor w s_i / 2^{15} \rfloor

    The bound holds in whole numbers: one output is clipped to it; several are shortened to it, and if rounding makes
    them longer, cut towards zero instead; if that were still too long (it never is) nothing is left.

    >>> quantised(np.array([[3.0, -0.5]]) * LABEL, np.array([2.0**15, 2.0**14]), Clip(1.0, 129, 2)).tolist()
    [[129.0, -32.0]]
    """
    limit = np.floor(clip.levels * scales / (1 << SCALE))
    levels = residuals * (scales * clip.gain)
    if len(levels) == 1:
        return np.clip(np.rint(levels), -limit, limit)
    norm = norms_of(levels, clip.order)
    shorter = np.where(norm > limit, limit * _SHORTEN / np.maximum(norm, 1e-300), 1.0)
    fitting = levels * shorter
    out = np.rint(fitting)
    over = _powers(out, clip.order) > limit**clip.order
    out[:, over] = np.trunc(fitting[:, over])
    out[:, _powers(out, clip.order) > limit**clip.order] = 0.0
    return out


def _powers(columns: FloatArray, order: int) -> FloatArray:
    """Return sums of squares or sizes, output by output, so that a record's result depends on the record alone."""
    total = np.zeros(columns.shape[1])
    for column in columns:
        total += column * column if order == 2 else np.abs(column)
    return total


def norms_of(columns: FloatArray, order: int) -> FloatArray:
    """Return each record's norm over its outputs."""
    total = _powers(columns, order)
    return np.sqrt(total) if order == 2 else total


class Sums(Protocol):
    """What a descent asks of all records: sums of whole numbers, the same wherever and in whatever order they are."""

    @property
    def products(self) -> Products:
        """The functions of the feature map."""

    def gradient(self, theta: FloatArray, clip: Clip) -> IntArray:
        """Return the exact sum of ``q_i W_m b_m``, of shape (p, outputs)."""

    def total(self, theta: FloatArray, term: Term) -> IntArray | int:
        """Return the sum of ``term(targets, base, predictions)`` over all records."""

    def moments(self, chosen: IntArray) -> IntArray:
        """Return the exact sum of ``u_a u_b`` over all records, of shape (chosen, chosen)."""


class Rows:
    r"""All records in the functions of one feature map: codes, labels, and two bytes a record for its factor.

    A record adds the whole numbers ``q_i W_m b_m(x_i)`` to the gradient, with q from :func:`quantised` and b, W and s
    from :class:`~.products.Products`.

    Proof of the sensitivity: ``|q_i| <= w s_i / 2**15`` and ``s_i |W b| <= 2**15 C``, both in whole numbers, so a
    record's term has norm at most ``w C`` (with the L1 norm ``w A``), also over several outputs. It depends on that
    record and on what was released before: cells come from comparisons, predictions are exact sums of whole numbers
    below 2**53, the rest is one record's own arithmetic, which IEEE 754 fixes bit by bit. Sums are taken modulo 2**64,
    which the whole-number noise is added to: leaving 63 bits, if it happened, would be post-processing.
    """

    def __init__(self, products: Products, coded: CodedRows, jobs: int | None = None, path: int = 0) -> None:
        self.products = products
        self.coded = coded
        self.scales = np.empty(coded.n, dtype=np.uint16)
        engine = _Compiled if getattr(native(), "anova_blocks", None) is not None else _Reference
        self._engine = engine(products, coded, self.scales, path)
        self._threads = Threads(jobs)
        for part, found in self._each(self._engine.scales_of, self._engine.step):
            self.scales[part] = found

    def _each(self, work: Callable[[slice], _T], step: int) -> Iterator[tuple[slice, _T]]:
        """Yield parts of the records with what comes of them; several are worked at once if there are jobs."""
        n = self.coded.n
        parts = [slice(start, min(start + step, n)) for start in range(0, n, step)]
        yield from zip(parts, self._threads.map(work, parts), strict=True)

    def gradient(self, theta: FloatArray, clip: Clip) -> IntArray:
        """Return the exact sum of ``q_i W_m b_m``, of shape (p, outputs)."""
        point = self._engine.prepared(Point.of(self.products, theta))
        sums = np.zeros((self.coded.outputs, len(self.products)), dtype=np.int64)
        step = self._engine.long_step(self.coded.n, self._threads.jobs)
        for _, found in self._each(lambda part: self._engine.sums(part, point, clip), step):
            sums += found
        return np.asarray(sums.T * self.products.units[:, None])

    def total(self, theta: FloatArray, term: Term) -> IntArray | int:
        """Return the sum over blocks of ``term(targets, base, predictions)``, whole numbers; 0 without records.

        All are in steps of a label, of shape (outputs, records).
        """
        point = self._engine.prepared(Point.of(self.products, theta))
        total: IntArray | int = 0

        def work(part: slice) -> IntArray:
            base = None if self.coded.base is None else self.coded.base[:, part]
            predictions = self._engine.predictions(part, point)
            return np.asarray(term(self.coded.targets[:, part], base, predictions).astype(np.int64))

        for _, found in self._each(work, self._engine.step):
            total = total + found
        return total

    def moments(self, chosen: IntArray) -> IntArray:
        r"""Return the exact sum of ``u_a u_b`` over all records, of shape (chosen, chosen).

        .. math:: u_m = \operatorname{trunc}(s W_m b_m / 2^{30}), \qquad \|u\|^2 \le \lfloor (C / 2^{15})^2 \rfloor

        Proof: cutting towards zero lengthens no vector, and ``s |W b| <= 2**15 C`` (:class:`~.products.Products`); so
        ``|u| <= C / 2**15``, about 2016, and its square is whole.
        """
        engine = self._engine
        size = chosen.size
        total = np.zeros((size, size), dtype=np.int64)
        step = engine.long_step(self.coded.n, self._threads.jobs)
        for _, found in self._each(lambda part: engine.moments(part, chosen), step):
            total += found
        upper = np.triu(total)
        return np.asarray(upper + np.triu(upper, 1).T)


class _Reference:
    """What the kernel does, in NumPy, with the same numbers."""

    def __init__(self, products: Products, coded: CodedRows, scales: npt.NDArray[np.uint16], path: int) -> None:
        self.step = max(16, _ENTRIES // len(products))
        self._products = products
        self._coded = coded
        self._scales = scales
        self._kept: dict[int, FloatArray] = {}

    def long_step(self, n: int, jobs: int) -> int:
        return self.step

    def prepared(self, point: Point) -> Point:
        return point

    def _values(self, part: slice) -> FloatArray:
        """Return the functions of some records; kept for the next round, where there is room."""
        found = self._kept.get(part.start)
        if found is None:
            found = self._products.values(self._coded.codes[:, part])
            if self._coded.n * len(self._products) <= _KEPT:
                self._kept[part.start] = found
        return found

    def scales_of(self, part: slice) -> npt.NDArray[np.uint16]:
        return self._products.scales(self._values(part))

    def predictions(self, part: slice, point: Point) -> FloatArray:
        scales = self._scales[part].astype(np.float64)
        return np.asarray((point.whole.astype(np.float64) @ self._values(part)) * (scales * point.steps[:, None]))

    def sums(self, part: slice, point: Point, clip: Clip) -> IntArray:
        residuals = self._coded.targets[:, part] - self.predictions(part, point)
        levels = quantised(residuals, self._scales[part].astype(np.float64), clip)
        return np.asarray((levels @ self._values(part).T).astype(np.int64))

    def moments(self, part: slice, chosen: IntArray) -> IntArray:
        scales = self._scales[part].astype(np.float64)
        weighted = self._values(part)[chosen] * self._products.units[chosen, None]
        vectors = np.trunc(weighted * (scales * 2.0**-_CUT))
        return np.asarray((vectors @ vectors.T).astype(np.int64))


class _Compiled:
    """``csrc/anova.c``; ``path`` chooses among its vectors (0: the widest that this processor has)."""

    step = 1 << 14  # records at a time, where something is returned for each of them: a megabyte of predictions at most

    def __init__(self, products: Products, coded: CodedRows, scales: npt.NDArray[np.uint16], path: int) -> None:
        self._layout = layout(products)
        self._coded = coded
        self._scales = scales
        self._path = path
        self._products = products
        most = -1 if products.most is None else products.most
        self._bounds = (products.allowed, most)
        self._nothing = Point(np.zeros(0, dtype=np.int32), np.zeros(0))
        self._scratch = list[npt.NDArray[np.uint8]]()  # one for each thread that works at once, kept between calls

    def long_step(self, n: int, jobs: int) -> int:
        """Return how many records one call adds up: four calls for each thread, so that none waits long for another."""
        if jobs == 1:
            return _LONGEST
        return min(_LONGEST, _ROWS * max(1, -(-n // (4 * jobs * _ROWS))))

    def prepared(self, point: Point) -> Point:
        """Return coefficients as the kernel takes them, once for all parts."""
        return Point(self._layout.coefficients(point), point.steps)

    def _run(self, mode: int, part: slice, point: Point, clip: Clip, out: npt.NDArray[np.generic]) -> None:
        rows = self._coded
        records = (rows.n, part.start, part.stop, rows.outputs)
        try:
            scratch = self._scratch.pop()
        except IndexError:
            scratch = np.empty(self._layout.scratch(rows.outputs, MOMENTS), dtype=np.uint8)
        native().anova_blocks(
            mode, self._path, *records, clip.order, clip.levels, clip.gain, *self._bounds,
            rows.codes, rows.targets, self._scales, *self._layout.arrays, point.whole, point.steps, out, scratch,
        )  # fmt: skip
        self._scratch.append(scratch)

    def scales_of(self, part: slice) -> npt.NDArray[np.uint16]:
        out = np.empty(part.stop - part.start, dtype=np.uint16)
        self._run(0, part, self._nothing, _NONE, out)
        return out

    def predictions(self, part: slice, point: Point) -> FloatArray:
        out = np.empty((self._coded.outputs, part.stop - part.start))
        self._run(1, part, point, _NONE, out)
        return out

    def sums(self, part: slice, point: Point, clip: Clip) -> IntArray:
        out = np.zeros((self._coded.outputs, len(self._products)), dtype=np.int64)
        self._run(2, part, point, clip, out)
        return out

    def moments(self, part: slice, chosen: IntArray) -> IntArray:
        triples = np.column_stack([self._products.factors[chosen], self._products.units[chosen]]).astype(np.int32)
        out = np.zeros((chosen.size, chosen.size), dtype=np.int64)
        self._run(3, part, Point(np.ascontiguousarray(triples), np.zeros(0)), _NONE, out)
        return out
