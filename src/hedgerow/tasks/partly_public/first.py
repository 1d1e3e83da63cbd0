"""Reports of the first round: a noisy label, the mask, and the public features.

One report is little-endian bytes::

    offset  size  content
    0       1     format version (1)
    1       1     16, the code of this round; the high bit marks a simulation
    2       4     tag: the first 4 bytes of the task's digest
    6       12    random; the same in both rounds, so that a curator can see that the label is the same
    18      4     noisy level, plus the reach of its noise
    22      m     the mask, one bit a column (masks="personal" only)
    22+m    8 d   the features as float64, 0 where private (public columns only under a policy; none if hidden)
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.tasks.partly_public.task import SemiTask
from hedgerow.tasks.tree.encoding import check_padding, pack, unpack

__all__ = ["FirstReports", "read_batch", "write_batch"]

VERSION, CODE, SIMULATION, TOKEN = 1, 16, 0x80, 12
_HEADER = struct.Struct("<4sHBB32sQ")
MAGIC = b"HDGR"
ByteRows = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class FirstReports:
    """A batch of first-round reports, as columns.

    Attributes
    ----------
    levels : int64 array
        Noisy label levels.
    private : bool array of shape (n, d)
        The masks.
    Z : float64 array of shape (n, d)
        Encoded features, NaN where private.
    """

    task: SemiTask
    tokens: ByteRows
    levels: npt.NDArray[np.int64]
    private: npt.NDArray[np.bool_]
    Z: npt.NDArray[np.float64]
    simulation: bool = False

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def payloads(self) -> ByteRows:
        """The messages as rows of bytes."""
        reach = self.task.label.coarse.reach
        parts = [(self.levels + reach).astype("<u4").view(np.uint8).reshape(-1, 4)]
        if self.task.masks == "personal":
            parts.append(pack(self.private))
        sent = np.where(self.private, 0.0, self.Z)[:, _sent(self.task)] + 0.0  # no -0.0
        parts.append(np.ascontiguousarray(sent, dtype="<f8").view(np.uint8).reshape(len(self), 8 * sent.shape[1]))
        return np.hstack(parts)

    def iter_bytes(self) -> Iterator[bytes]:
        """Yield each report as its holder sends it."""
        head = bytes([VERSION, CODE | (SIMULATION if self.simulation else 0)]) + self.task.digest[:4]
        return (head + t.tobytes() + p.tobytes() for t, p in zip(self.tokens, self.payloads, strict=True))

    def to_bytes(self) -> bytes:
        """Return the batch as bytes."""
        return write_batch(self.task.digest, CODE, self.simulation, self.tokens, self.payloads)

    @classmethod
    def from_bytes(cls, task: SemiTask, data: bytes) -> FirstReports:
        """Read a batch (or one single report), refusing what no holder of this task could have sent."""
        tokens, payloads, simulation = read_batch(task.digest, CODE, payload_width(task), data)
        return cls._read(task, tokens, payloads, simulation)

    @classmethod
    def _read(cls, task: SemiTask, tokens: ByteRows, rows: ByteRows, simulation: bool) -> FirstReports:
        d, n, coarse = len(task.space), len(rows), task.label.coarse
        levels = np.ascontiguousarray(rows[:, :4]).view("<u4")[:, 0].astype(np.int64) - coarse.reach
        if (levels > coarse.n_steps + coarse.reach).any():
            raise FormatError("a report has a label out of reach; it was not made for this task.")
        private, at = task.effective(None, n) if task.masks != "personal" else np.empty((n, d), dtype=bool), 4
        if task.masks == "personal":
            at += (d + 7) // 8
            check_padding(rows[:, 4:at], d)
            private = unpack(rows[:, 4:at], d).astype(bool)
        Z, sent = np.zeros((n, d)), _sent(task)
        Z[:, sent] = np.ascontiguousarray(rows[:, at:]).view("<f8").reshape(n, int(sent.sum()))
        _check_features(task, Z, private)
        return cls(task, tokens, levels, private, np.where(private, np.nan, Z), simulation)

    @classmethod
    def concat(cls, task: SemiTask, parts: Iterable[FirstReports]) -> FirstReports:
        """Merge batches; they are sorted by token, so that any order of merging gives the same bytes."""
        batches = list(parts)
        if any(b.task.digest != task.digest for b in batches) or not batches:
            raise FormatError("batches of one and the same task are needed; at least one of these is of another.")
        tokens = np.concatenate([b.tokens for b in batches])
        order = np.lexsort(tokens.T[::-1])
        levels, private, Z = (
            np.concatenate([getattr(b, name) for b in batches])[order] for name in ("levels", "private", "Z")
        )
        return cls(task, tokens[order], levels, private, Z, any(b.simulation for b in batches))

    def __repr__(self) -> str:
        return f"FirstReports({len(self)} to task {self.task.id[:12]}...{', simulation' if self.simulation else ''})"


def _sent(task: SemiTask) -> npt.NDArray[np.bool_]:
    if task.masks == "personal":
        return np.ones(len(task.space), dtype=bool)
    return ~task.policy if task.masks == "policy" else np.zeros(len(task.space), dtype=bool)


def payload_width(task: SemiTask) -> int:
    """Return the length of a first-round message."""
    return 4 + ((len(task.space) + 7) // 8 if task.masks == "personal" else 0) + 8 * int(_sent(task).sum())


def _check_features(task: SemiTask, Z: npt.NDArray[np.float64], private: npt.NDArray[np.bool_]) -> None:
    space = task.space
    if not np.isfinite(Z).all() or (Z[private] != 0).any():
        raise FormatError("a report has a feature that is not finite, or one that its mask calls private.")
    inside = private | ((space.low <= Z) & (space.high >= Z))
    whole = private | ~space.is_categorical | (np.floor(Z) == Z)
    if not (inside & whole).all():
        raise FormatError("a report has a feature outside the public ranges; it was not made for this task.")


def write_batch(digest: bytes, code: int, simulation: bool, tokens: ByteRows, payloads: ByteRows) -> bytes:
    """Return one header, all tokens, all payloads."""
    head = _HEADER.pack(MAGIC, VERSION, code | (SIMULATION if simulation else 0), 0, digest, len(payloads))
    return head + np.ascontiguousarray(tokens).tobytes() + np.ascontiguousarray(payloads).tobytes()


def read_batch(digest: bytes, code: int, width: int, data: bytes) -> tuple[ByteRows, ByteRows, bool]:
    """Undo :func:`write_batch`, or read one single report; return tokens, payloads and whether it is a simulation."""
    if len(data) == 18 + width and data[:4] != MAGIC:
        version, seen, tag, n, start = data[0], data[1], data[2:6], 1, 6
    elif len(data) >= _HEADER.size:
        magic, version, seen, reserved, tag, n = _HEADER.unpack_from(data)
        start = _HEADER.size
        if magic != MAGIC or reserved or len(data) != start + n * (TOKEN + width):
            raise FormatError("this is not a batch of reports to this task: wrong start, truncated or oversized.")
    else:
        raise FormatError(f"this is not a batch of reports: {len(data)} bytes are too few.")
    if version != VERSION:
        raise FormatError(f"report version {version} is not supported (this is version {VERSION}).")
    if tag != digest[: len(tag)] or seen & ~SIMULATION != code:
        raise FormatError("these reports were made for another task or round.")
    body = np.frombuffer(data, dtype=np.uint8, offset=start)
    tokens, payloads = body[: n * TOKEN].reshape(n, TOKEN), body[n * TOKEN :].reshape(n, width)
    return tokens, payloads, bool(seen & SIMULATION)
