"""Random words that are not drawn until something is asked of them.

A :class:`Word` is a uniform integer of which only an interval is known so far. A comparison splits the interval and
branches, with exactly the chances of the two parts; a remainder or a table look-up branches over all values that are
left, if these are few. Whatever else is asked of a word is an error, never a guess.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from hedgerow.audit.branching.paths import active
from hedgerow.errors import HedgerowError

__all__ = ["Word", "Words", "words"]

_MOST_VALUES = 4096  # paths of one question: 16 times those of a byte; by hand


class _Range:
    """What is known of the bits behind a word: ``low <= x < high``, all equally likely."""

    def __init__(self, low: int, high: int) -> None:
        self.low = low
        self.high = high
        self.spent = False

    def split(self, cuts: Sequence[int]) -> int:
        """Choose the part between two neighbouring cuts; the parts' chances are their lengths."""
        self._check()
        ends = [self.low, *(min(max(cut, self.low), self.high) for cut in cuts), self.high]
        parts = list(pairwise(ends))
        sizes = [b - a for a, b in parts]
        total = self.high - self.low
        chosen = sizes.index(total) if total in sizes else active().choose_part(sizes)
        self.low, self.high = parts[chosen]
        return chosen

    def settle(self) -> int:
        """Choose one x of those left, and return its place among them."""
        self._check()
        total = self.high - self.low
        chosen = active().choose_part([1] * total) if total > 1 else 0
        self.low += chosen
        self.high = self.low + 1
        return chosen

    def _check(self) -> None:
        if self.spent:
            raise HedgerowError("a random word was used again after it had become part of another.")


class Word:
    """The number ``((x >> drop) << lift) + base`` of ``bits - drop + lift`` bits, with x in a range."""

    def __init__(self, known: _Range, bits: int, drop: int = 0, lift: int = 0, base: int = 0) -> None:
        self.known = known
        self.bits = bits
        self.drop = drop
        self.lift = lift
        self.base = base

    def _with(self, drop: int = 0, lift: int = 0, base: int = 0) -> Word:
        return Word(self.known, self.bits, self.drop + drop, self.lift + lift, base)

    def _at_least(self, value: int) -> int:
        """Return the least x whose number is at least ``value``."""
        return max(0, -((self.base - value) >> self.lift)) << self.drop

    def __lt__(self, value: Any) -> bool:
        return self.known.split([self._at_least(int(value))]) == 0

    def __ge__(self, value: Any) -> bool:
        return not self < value

    def __le__(self, value: Any) -> bool:
        return self < int(value) + 1

    def __gt__(self, value: Any) -> bool:
        return not self <= value

    def __eq__(self, value: object) -> bool:
        number = int(value)  # type: ignore[call-overload]
        return self.known.split([self._at_least(number), self._at_least(number + 1)]) == 1

    def __ne__(self, value: object) -> bool:
        return not self == value

    __hash__ = None  # type: ignore[assignment]

    def __lshift__(self, places: Any) -> Word:
        return self._with(lift=int(places), base=self.base << int(places))

    def __rshift__(self, places: Any) -> Word:
        if self.lift or self.base:
            raise HedgerowError("a random word was shifted to the right after it had been shifted to the left.")
        return self._with(drop=int(places))

    def __or__(self, other: Any) -> Word:
        if isinstance(other, Word):
            return self._joined(other)
        number = int(other)
        span = ((1 << self.bits - self.drop) - 1) << self.lift
        if number & span or number & self.base:
            raise HedgerowError("bits were set that a random word may hold already.")
        return self._with(base=self.base + number)

    __ror__ = __or__

    def _joined(self, low: Word) -> Word:
        """Return one word of two, the first one's bits before the second one's; neither is used on its own again."""
        if self.base or low.base or low.lift or self.drop or self.lift != low.bits - low.drop:
            raise HedgerowError("two random words were joined that do not stand side by side.")
        if low.known.high - low.known.low != 1 << low.bits:
            raise HedgerowError("a random word was joined that had decided something before.")
        both = _Range(self.known.low << low.bits, self.known.high << low.bits)
        self.known.spent = low.known.spent = True
        return Word(both, self.bits + low.bits, low.drop)

    def __and__(self, mask: Any) -> Word:
        """Keep the low bits, if the others are known."""
        size = int(mask) + 1
        low = self.known.low
        high = self.known.high
        if size & (size - 1) or self.drop or self.lift or self.base or low // size != (high - 1) // size:
            raise HedgerowError("a mask was laid on a random word whose other bits are not known.")
        return self._with(base=-(low // size) * size)

    def __mod__(self, divisor: Any) -> int:
        """Branch over all remainders."""
        m = int(divisor)
        low = self.known.low
        high = self.known.high
        if self.drop or self.lift or self.base or not 1 <= m <= _MOST_VALUES:
            raise HedgerowError(f"a random word modulo {m} cannot be branched over.")
        counts = [(high - 1 - r) // m - (low - 1 - r) // m for r in range(m)]
        self.known.spent = True
        return active().choose_part(counts) if m > 1 else 0

    def __int__(self) -> int:
        """Branch over all values that are left."""
        first = self._number(self.known.low)
        last = self._number(self.known.high - 1)
        if last - first >= _MOST_VALUES << self.lift:
            raise HedgerowError("a random word was used as a number, and it has too many values to branch over.")
        values = range(first, last + 1, 1 << self.lift)
        if not self.drop:  # one x a value
            return values[self.known.settle()]
        return values[self.known.split([self._at_least(v) for v in values[1:]])]

    __index__ = __int__

    def _number(self, x: int) -> int:
        return ((x >> self.drop) << self.lift) + self.base


_COMPARISONS = {np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal}
_KEPT = {np.left_shift, np.right_shift, np.bitwise_or, np.bitwise_and}


class Words(np.ndarray):
    """An array of words, for code that was written for arrays of unsigned integers."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and ufunc in _COMPARISONS and not options:
            return _each(ufunc, inputs).astype(bool)
        if method == "__call__" and ufunc in _KEPT and not options:
            return _each(ufunc, inputs).view(Words)
        if method == "__call__" and ufunc is np.remainder and not options:
            return _each(ufunc, inputs).astype(np.uint64)
        return getattr(ufunc, method)(*map(_concrete, inputs), **options)

    def __array_function__(self, function: Any, types: Any, inputs: Any, options: Any) -> Any:
        if function is np.searchsorted:
            return _searchsorted(*inputs, **options)
        if function is np.unpackbits:
            return _unpackbits(*inputs, **options)
        return function(*map(_concrete, inputs), **{k: _concrete(v) for k, v in options.items()})

    def astype(self, dtype: Any, *arguments: Any, **options: Any) -> Any:
        """Return the words as they are if all fit; else branch over their values."""
        return self if np.dtype(dtype) == np.uint64 else _concrete(self).astype(dtype, *arguments, **options)

    def tobytes(self, *arguments: Any) -> bytes:
        """Refuse: what is sent must be decided, or drawn as an id."""
        raise HedgerowError("a random word that nothing was asked of is about to be sent.")


def words(bits: int, n: int) -> Words:
    """Return ``n`` uniform words."""
    out = np.empty(n, dtype=object)
    for i in range(n):
        out[i] = Word(_Range(0, 1 << bits), bits)
    return out.view(Words)


_SYMBOLS: dict[Any, Any] = {
    np.less: lambda a, b: a < b,
    np.less_equal: lambda a, b: a <= b,
    np.greater: lambda a, b: a > b,
    np.greater_equal: lambda a, b: a >= b,
    np.equal: lambda a, b: a == b,
    np.not_equal: lambda a, b: a != b,
    np.left_shift: lambda a, b: a << b,
    np.right_shift: lambda a, b: a >> b,
    np.bitwise_or: lambda a, b: a | b,
    np.bitwise_and: lambda a, b: a & b,
    np.remainder: lambda a, b: a % b,
}


def _each(ufunc: Any, inputs: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Apply an operator to one pair after the other."""
    left, right = np.broadcast_arrays(*(np.asarray(_plain(i), dtype=object) for i in inputs))
    out = np.empty(left.shape, dtype=object)
    for place in np.ndindex(left.shape):
        out[place] = _SYMBOLS[ufunc](_whole(left[place]), _whole(right[place]))
    return out


def _plain(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, Words) else value


def _whole(value: Any) -> Any:
    return value if isinstance(value, Word) else int(value)


def _concrete(value: Any) -> Any:
    """Branch over the values of words; leave everything else as it is."""
    if not isinstance(value, Words):
        return value
    flat = [int(word) for word in value.view(np.ndarray).ravel()]
    return np.array(flat, dtype=np.uint64 if max(flat, default=0) >= 1 << 63 else np.int64).reshape(value.shape)


def _searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    places = bisect_left if side == "left" else bisect_right
    if sorter is not None or isinstance(a, Words):
        raise HedgerowError("random words were sorted.")
    rising = [int(x) for x in np.asarray(a)]
    return np.array([places(rising, word) for word in v.view(np.ndarray)], dtype=np.int64)


def _unpackbits(a: Any, axis: Any = None, count: int | None = None, bitorder: str = "big") -> Any:
    if axis is not None or bitorder != "big":
        raise HedgerowError("random words were unpacked along an axis.")
    bits = [
        int((word.known.low >> place) & 1)
        for i, word in enumerate(a.view(np.ndarray).ravel())
        for place in range(7, -1, -1)
        if (count is None or 8 * i + 7 - place < count) and _halve(word, place)
    ]
    return np.array(bits, dtype=np.uint8)


def _halve(word: Word, place: int) -> bool:
    """Decide the bit at ``place``; those above it are known."""
    known = word.known
    known.split([((known.low >> place) | 1) << place])
    return True
