"""Reports that are there twice, found exactly and in bounded memory.

The random 12 bytes of a report's id tell a copy from a second report. All ids are spread over temporary files by a
keyed hash (the key is secret and fresh, so that nobody can choose ids that crowd into one file), and each file is
looked through in pieces that fit in memory: of equal ids the first report counts, in the order of the files and
within them. Reports with equal ids are then compared byte for byte. What is kept in memory is two bits a report.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.reports import TOKEN_BYTES, Reports

__all__ = ["Bits", "Copies", "Source", "find_copies", "judge", "repeats"]

Bytes = npt.NDArray[np.uint8]
Index = npt.NDArray[np.int64]

MEMORY_ROWS = 1 << 21
"""Ids looked through at a time; about 100 bytes each while they are."""
_BLOCK = 1 << 16  # ids read at a time: 0.8 MB of them
_CHOICES = ("drop", "refuse", "count")


class Source(Protocol):
    """Reports that can be read in pieces, any number of times."""

    path: str

    def __len__(self) -> int:
        """Return the number of reports."""

    def tokens(self, start: int, stop: int) -> Bytes:
        """Return the random parts of the ids of some reports."""

    def reports(self, start: int, stop: int) -> Reports:
        """Return some reports."""


@dataclass
class Copies:
    """Which reports are copies of earlier ones; reports are numbered through all sources."""

    n_reports: int
    n_copies: int = 0
    _dropped: Bytes | None = None

    def keep(self, start: int, stop: int) -> npt.NDArray[np.bool_] | None:
        """Return which of these reports count; None if all do."""
        if self._dropped is None or start == stop:
            return None
        dropped = _read_bits(self._dropped, start, stop)
        return ~dropped if dropped.any() else None


def find_copies(sources: Sequence[Source], *, copies: str = "drop", memory_rows: int | None = None) -> Copies:
    """Find reports that are there twice.

    Parameters
    ----------
    sources : sequence
        Where the reports are, in order.
    copies : {"drop", "refuse", "count"}
        See :func:`hedgerow.collect.memory.aggregate`.
    memory_rows : int, optional
        Most ids held in memory at a time.
    """
    if copies not in _CHOICES:
        raise HedgerowError(f"The 'copies' parameter must be one of {_CHOICES}. Got {copies!r} instead.")
    total = sum(len(source) for source in sources)
    if copies == "count" or total < 2:
        return Copies(total)
    rows = memory_rows or MEMORY_ROWS
    n_parts = 1
    while n_parts * rows < 2 * total and n_parts < 256:
        n_parts *= 2
    dropped = Bits(total)
    involved = Bits(total)
    for ordinals, tokens in _all_at_once(sources) if n_parts == 1 else _in_parts(sources, n_parts, rows):
        again, first = repeats(tokens, ordinals)
        dropped.set(ordinals[again])
        involved.set(np.concatenate([ordinals[again], ordinals[np.unique(first)]]))
    return judge(sources, dropped, involved, copies=copies, memory_rows=rows)


def _all_at_once(sources: Sequence[Source]) -> Iterator[tuple[Index, Bytes]]:
    parts = [source.tokens(0, len(source)) for source in sources if len(source)]
    tokens = parts[0] if len(parts) == 1 else np.concatenate(parts)
    yield np.arange(len(tokens)), tokens


def _in_parts(sources: Sequence[Source], n_parts: int, rows: int) -> Iterator[tuple[Index, Bytes]]:
    with _Spill(n_parts, TOKEN_BYTES) as spill:
        for start, source, part in _pieces(sources):
            tokens = source.tokens(part.start, part.stop)
            spill.add(tokens, np.arange(start, start + len(tokens)))
        yield from spill.pieces(rows)


def judge(
    sources: Sequence[Source], dropped: Bits, involved: Bits, *, copies: str, memory_rows: int | None = None
) -> Copies:
    """Compare the reports that share an id, and return which of them count.

    ``dropped`` marks those with the id of an earlier one, ``involved`` these and the earlier ones.
    """
    total = sum(len(source) for source in sources)
    if not dropped.n:
        return Copies(total)
    if copies == "refuse":
        _refuse(sources, dropped, involved)
    rows = memory_rows or MEMORY_ROWS
    _compare(sources, involved.bits, min(256, 1 << (2 * total // rows).bit_length()), rows)
    return Copies(total, dropped.n, dropped.bits)


def repeats(tokens: Bytes, ordinals: Index) -> tuple[Index, Index]:
    """Return the rows whose token is that of a row with a lower ordinal, and for each the first such row.

    >>> tokens = np.array([[7] * 12, [8] * 12, [7] * 12, [7] * 12], dtype=np.uint8)
    >>> rows, first = repeats(tokens, np.array([0, 1, 2, 3]))
    >>> rows.tolist(), first.tolist()
    ([2, 3], [0, 0])
    """
    none = np.empty(0, dtype=np.int64)
    words = np.ascontiguousarray(tokens[:, :8]).view("<u8")[:, 0]
    rising = np.sort(words)
    again = rising[1:][rising[1:] == rising[:-1]]
    if not again.size:
        return none, none
    # Few rows, unless there are many copies, share their first eight bytes with another.
    again = again[np.flatnonzero(np.append(True, again[1:] != again[:-1]))]
    at = np.searchsorted(again, words)
    close = np.flatnonzero(again[np.minimum(at, again.size - 1)] == words)
    rest = np.ascontiguousarray(tokens[:, 8:12]).view("<u4")[:, 0]
    order = close[np.lexsort((ordinals[close], rest[close], words[close]))]
    same = (words[order[1:]] == words[order[:-1]]) & (rest[order[1:]] == rest[order[:-1]])
    start = np.append(True, ~same)
    first = order[np.maximum.accumulate(np.where(start, np.arange(order.size), 0))]
    return order[~start], first[~start]


def _compare(sources: Sequence[Source], involved: Bytes, n_parts: int, rows: int) -> None:
    """Refuse two different reports with one id."""
    width = TOKEN_BYTES
    with ExitStack() as stack:
        spill: _Spill | None = None
        for start, source, part in _pieces(sources):
            at = np.flatnonzero(_read_bits(involved, start, start + part.stop - part.start))
            if not at.size:
                continue
            reports = source.reports(part.start, part.stop)
            if spill is None:
                width += reports.payloads.shape[1]
                spill = stack.enter_context(_Spill(n_parts, width))
            spill.add(np.hstack([reports.tokens[at], reports.payloads[at]]), start + at)
        for ordinals, content in spill.pieces(rows) if spill is not None else ():
            again, first = repeats(content[:, :TOKEN_BYTES], ordinals)
            differ = (content[again] != content[first]).any(axis=1)
            if differ.any():
                i = int(np.flatnonzero(differ)[0])
                one, two = (_place(sources, int(ordinals[j])) for j in (first[i], again[i]))
                raise FormatError(
                    f"{int(differ.sum())} reports have the id of another report but differ from it, one of them "
                    f"{one} and {two}: somebody answered twice, or forged a report. Find out which one counts and "
                    "leave out the other."
                )


def _refuse(sources: Sequence[Source], dropped: Bits, involved: Bits) -> None:
    """Say where copies are."""
    second = _first_set(dropped.bits)
    tokens = _token(sources, second)
    first = next(o for o in _each_set(involved.bits) if (_token(sources, o) == tokens).all())
    (a, _), (b, _) = (_locate(sources, o) for o in (first, second))
    where = f"twice within {sources[a].path}" if a == b else f"in {sources[a].path} and again in {sources[b].path}"
    raise FormatError(f"{dropped.n} reports are there twice, one of them {where}; leave out the copy.")


def _pieces(sources: Sequence[Source]) -> Iterator[tuple[int, Source, slice]]:
    """Yield (number of the first report, source, rows within it) in blocks."""
    before = 0
    for source in sources:
        for start in range(0, len(source), _BLOCK):
            yield before + start, source, slice(start, min(start + _BLOCK, len(source)))
        before += len(source)


def new_key() -> npt.NDArray[np.uint64]:
    """Return a fresh secret key for :func:`spread`."""
    return np.array([secrets.randbits(64) | 1 for _ in range(3)], dtype=np.uint64)


def spread(tokens: Bytes, n_parts: int, key: npt.NDArray[np.uint64]) -> Bytes:
    """Return a part ``0 .. n_parts - 1`` (a power of two, at most 256) for each token.

    Multiply-shift hashing: for any two tokens the chance to meet is at most ``2 / n_parts``, whoever chose them.
    """
    words = np.ascontiguousarray(tokens[:, :TOKEN_BYTES]).view("<u4").astype(np.uint64)
    top = np.uint64(65 - n_parts.bit_length())
    part: Bytes = ((words * key).sum(axis=1, dtype=np.uint64) >> top).astype(np.uint8)
    return part


class _Spill:
    """Rows of bytes with their numbers, spread over temporary files by a keyed hash of the first twelve bytes."""

    def __init__(self, n_parts: int, width: int) -> None:
        self._dtype = np.dtype([("ordinal", "<i8"), ("content", "u1", (width,))])
        size = max(1 << 16, (1 << 26) // n_parts)
        self._files: list[IO[bytes]] = [tempfile.SpooledTemporaryFile(size) for _ in range(n_parts)]  # noqa: SIM115
        self._key = new_key()

    def __enter__(self) -> _Spill:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files:
            file.close()

    def add(self, content: Bytes, ordinals: Index) -> None:
        rows = np.empty(len(content), dtype=self._dtype)
        rows["ordinal"], rows["content"] = ordinals, content
        if len(self._files) == 1:
            self._files[0].write(rows.tobytes())
            return
        part = spread(content, len(self._files), self._key)
        rows = rows[np.argsort(part, kind="stable")]
        ends = np.cumsum(np.bincount(part, minlength=len(self._files)))
        for file, start, stop in zip(self._files, np.append(0, ends), ends, strict=False):
            file.write(rows[start:stop].tobytes())

    def pieces(self, most: int) -> Iterator[tuple[Index, Bytes]]:
        """Yield numbers and bytes, all equal ids in one piece or after the first of them was carried along."""
        for file in self._files:
            file.seek(0)
            held: Any = np.empty(0, dtype=self._dtype)
            while data := file.read(most * self._dtype.itemsize):
                piece = np.concatenate([held, np.frombuffer(data, dtype=self._dtype)])
                yield piece["ordinal"], piece["content"]
                if len(data) < most * self._dtype.itemsize:
                    break
                # More than fits: copies crowd here, and only the first of each goes on.
                again, _ = repeats(piece["content"][:, :TOKEN_BYTES], piece["ordinal"])
                held = np.delete(piece, again)


class Bits:
    """One bit a report."""

    def __init__(self, n: int) -> None:
        self.bits = np.zeros((n + 7) // 8, dtype=np.uint8)
        self.n = 0

    def set(self, ordinals: Index) -> None:
        """Set bits; ``n`` counts them, if none is set twice."""
        np.bitwise_or.at(self.bits, ordinals >> 3, np.uint8(1) << (ordinals & 7).astype(np.uint8))
        self.n += len(ordinals)


def _read_bits(bits: Bytes, start: int, stop: int) -> npt.NDArray[np.bool_]:
    part = np.unpackbits(bits[start >> 3 : (stop + 7) >> 3], bitorder="little")
    return part[start & 7 : (start & 7) + stop - start].astype(bool)


def _each_set(bits: Bytes) -> Iterator[int]:
    for byte in np.flatnonzero(bits):
        for k in range(8):
            if bits[byte] >> k & 1:
                yield 8 * int(byte) + k


def _first_set(bits: Bytes) -> int:
    return next(_each_set(bits))


def _locate(sources: Sequence[Source], ordinal: int) -> tuple[int, int]:
    """Return which source a report is in, and its row there."""
    for i, source in enumerate(sources):
        if ordinal < len(source):
            return i, ordinal
        ordinal -= len(source)
    raise IndexError(ordinal)


def _place(sources: Sequence[Source], ordinal: int) -> str:
    i, row = _locate(sources, ordinal)
    return f"report {row + 1} of {sources[i].path}"


def _token(sources: Sequence[Source], ordinal: int) -> Bytes:
    i, row = _locate(sources, ordinal)
    token: Bytes = sources[i].tokens(row, row + 1)[0]
    return token
