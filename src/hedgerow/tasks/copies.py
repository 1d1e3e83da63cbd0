r"""Copies of one message, which honest noise does not make.

**Classes.** Each bit j of a message has a fixed code word ``h_j``, and a message belongs to the class
``H = XOR of h_j over its set bits``. Copies are all in one class; honest reports are spread over all of them, by a
law that is known exactly for every record, through its characters ``E (-1)**<s, H>``: products over independent
bits, or Krawtchouk polynomials for sets of one size. A Walsh-Hadamard transform turns them into probabilities, and
the greatest over all records bounds the number of reports of a class.

**Few set bits.** A message with no or one set bit has so large a probability that one per cent of copies hides behind
it. So it is compared with its neighbours: let A be the message v and B be v with any one more bit. For each record
``P(v + k) = odds_k P(v)``, where the odds are ``q/(1-q)``, or ``p/(1-p)`` at the record's own bit. Hence

.. math:: P(A \mid A \cup B, \text{record}) \le
          \begin{cases} 1/(1 + p/(1-p) + (k-1)\, q/(1-q)) & v \text{ empty} \\
                        1/(1 + (k-1)\, q/(1-q)) & v \text{ one bit} \end{cases}

and among honest reports that are in A or B the number in A is at most binomial, in distribution. Classes then count
only messages with two set bits or more.

**k-ary responses** have no such test: one per cent of copies of a cell gives exactly the law of an honest population
with more holders in that cell, if no other cell is all but empty; see the test of this module.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.alarms import NOTHING, Detector, Event, Rows, join
from hedgerow.types import FloatArray, IntArray

__all__ = ["copies_of_bits", "copies_of_sets"]

_MOST_WORD = 11
"""Bits of a code word: 2,048 classes hold five of 10,000 honest reports each, and take 16 kB to store."""
_MOST_BITS = 512
"""Messages up to this size are watched: bounds then take half a second; whoever writes a task must not hold up a server
(sets of 4,096 would take half a minute)."""
_WORDS = npt.NDArray[np.int64]
_SLACK = 1e-12  # added to probabilities that transforms of floats have rounded by far less


def copies_of_bits(k: int, p: float, q: float, head: int) -> Detector:
    """Watch copies among messages of k bits after ``head`` bytes: Bernoulli(p) at the record, Bernoulli(q) elsewhere.

    Examples
    --------
    >>> detector = copies_of_bits(16, 0.5, 0.12, head=0)
    >>> copied = np.tile(np.array([[0, 1]], dtype=np.uint8), (20, 1))  # bit 8 alone
    >>> detector.alarms(detector.count(copied), 20)[0].event
    'bit 8 alone, among reports of it and at most one more'
    """
    if not 2 <= k <= _MOST_BITS or not 0 < q <= p < 1:
        return NOTHING
    words = _code_words(k)
    # The chances of no set bit, of the record's bit alone, and of one other bit alone.
    none = (1 - p) * (1 - q) ** (k - 1)
    own = p * (1 - q) ** (k - 1)
    other = none * q / (1 - q)
    single = np.asarray(np.bincount(words, minlength=1 << _length(k)) * other, dtype=np.float64)

    def character(weight: IntArray, odd: npt.NDArray[np.bool_]) -> FloatArray:
        rest = np.power(1 - 2 * q, weight - odd)
        return np.asarray(rest * np.where(odd, 1 - 2 * p, 1.0), dtype=np.float64)

    def few(word: int) -> FloatArray:
        law = single.copy()
        law[word] += own - other
        law[0] += none
        return law

    classes = _classes(words, character, few, head, least=2)
    return join([classes, _few_bits(k, p, q, head)])


def copies_of_sets(k: int, size: int, p: float) -> Detector:
    """Watch copies among sets of one size, uniform given whether they hold the record, which has probability p.

    Examples
    --------
    >>> detector = copies_of_sets(16, 3, 0.4)
    >>> copied = np.tile(np.array([[7, 0]], dtype=np.uint8), (20, 1))
    >>> len(detector.alarms(detector.count(copied), 20))
    1
    """
    if not 2 <= k <= _MOST_BITS or not 1 <= size < k:
        return NOTHING
    with_it = _signs(k - 1, size - 1)
    without = _signs(k - 1, size)

    def character(weight: IntArray, odd: npt.NDArray[np.bool_]) -> FloatArray:
        rest = weight - odd
        return np.asarray(p * np.where(odd, -1.0, 1.0) * with_it[rest] + (1 - p) * without[rest])

    return _classes(_code_words(k), character, None, 0, least=0)


def _signs(n: int, size: int) -> FloatArray:
    """Return ``E (-1)**(odd elements)`` of a uniform subset of n elements, for each number of odd ones among them.

    It is the coefficient of ``z**size`` in ``(1 - z)**odd (1 + z)**(n - odd)``, in exact whole numbers.
    """
    row = [math.comb(n, i) for i in range(size + 1)]
    total = row[size]
    signs = [1.0]
    for _ in range(n):
        following = [1]
        for i in range(1, size + 1):
            following.append(row[i] - row[i - 1] - following[i - 1])
        row = following
        signs.append(row[size] / total)
    return np.array(signs)


def _length(k: int) -> int:
    return min(k, _MOST_WORD)


def _code_words(k: int) -> _WORDS:
    """Return a code word for each bit: unit vectors, then fixed random ones, the same on every machine for ever."""
    length = _length(k)
    digests = (hashlib.sha256(b"hedgerow copies %d" % j).digest() for j in range(length, k))
    further = [int.from_bytes(digest[:8], "little") % (1 << length) for digest in digests]
    return np.array([1 << j for j in range(length)] + further, dtype=np.int64)


def _classes(
    words: _WORDS,
    character: Callable[[IntArray, npt.NDArray[np.bool_]], FloatArray],
    few: Callable[[int], FloatArray] | None,
    head: int,
    least: int,
) -> Detector:
    """Watch the classes of messages with at least ``least`` set bits; ``few(word)`` is the law of the others.

    Both laws depend on the record through the word of its bit only.
    """
    k = len(words)
    size = 1 << _length(k)
    # Each s of the transform is odd at some bits: how many, and whether at the record's.
    at = np.arange(size)
    weight = (k - _transform(np.bincount(words, minlength=size))) // 2
    high = np.zeros(size)
    for word in np.unique(words).tolist():
        law = _transform(character(weight, _odd(at & word))) / size
        if few is not None:
            law = law - few(word)
        high = np.maximum(high, law)
    ends = np.minimum(1.0, high * (1 + _SLACK) + _SLACK).tolist()
    names = [f"reports alike (class {c:,} of {size:,})" for c in range(size)]
    events = tuple(Event(name, 0.0, end) for name, end in zip(names, ends, strict=True))
    tables = _tables(words)

    def count(rows: Rows) -> IntArray:
        bits = rows[:, head:]
        if least:
            bits = bits[_n_set(bits) >= least]
        found = np.zeros(len(bits), dtype=np.int64)
        for byte, table in enumerate(tables):
            found ^= table[bits[:, byte]]
        return np.bincount(found, minlength=size).astype(np.int64)

    return Detector(events, count)


def _few_bits(k: int, p: float, q: float, head: int) -> Detector:
    """Watch messages of no or one set bit among themselves and those with one more."""
    odds = q / (1 - q)
    empty = 1 / (1 + p / (1 - p) + (k - 1) * odds)
    alone = 1 / (1 + (k - 1) * odds)
    # Of each message: how often it or a neighbour is seen, which bounds nothing by itself, and it among these.
    around = [Event("at most one set bit", 0.0, 1.0)]
    around += [Event(f"bit {j}, and at most one more", 0.0, 1.0) for j in range(k)]
    names = ["no set bit, among reports of at most one"]
    names += [f"bit {j} alone, among reports of it and at most one more" for j in range(k)]
    shares = [empty] + [alone] * k
    own = [
        Event(name, 0.0, min(1.0, share * (1 + _SLACK)), among=i)
        for i, (name, share) in enumerate(zip(names, shares, strict=True))
    ]

    def count(rows: Rows) -> IntArray:
        bits = rows[:, head:]
        n_set = _n_set(bits)
        one, two = (
            np.unpackbits(bits[n_set == m], axis=1, count=k, bitorder="little").sum(axis=0, dtype=np.int64)
            for m in (1, 2)
        )
        none = np.count_nonzero(n_set == 0)
        return np.concatenate([[none + one.sum()], one + two, [none], one]).astype(np.int64)

    return Detector((*around, *own), count)


def _n_set(bits: Rows) -> IntArray:
    return np.asarray(_SET[bits].sum(axis=1, dtype=np.int64))


_SET = np.array([i.bit_count() for i in range(256)], dtype=np.uint8)


def _odd(numbers: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether numbers have an odd number of set bits."""
    return np.asarray((_SET[numbers & 255] + _SET[numbers >> 8]) % 2 == 1)


def _tables(words: _WORDS) -> list[IntArray]:
    """Return, for each byte of a message, the class of each of its 256 values."""
    tables = []
    for start in range(0, len(words), 8):
        table = np.zeros(256, dtype=np.int64)
        for i, word in enumerate(words[start : start + 8].tolist()):
            table ^= np.where(np.arange(256) >> i & 1, word, 0)
        tables.append(table)
    return tables


def _transform(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the Walsh-Hadamard transform."""
    result = values
    step = 1
    while step < len(values):
        pairs = result.reshape(-1, 2, step)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        step *= 2
    return result
