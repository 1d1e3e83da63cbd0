"""What the servers tell each other of up to 500 reports: the leader's request, and the helper's answer.

::

    request   HDGJ | job 16 | task 32 | n 4 | n x (report id 16 | public share | sealed for the helper | verifier share)
    answer    HDGV | job 16 | task 32 | n 4 | n x (code 1 | message 32)

A job has a random name. The helper keeps its answer: the same job again, byte for byte, is answered again and changes
nothing, and other bytes under that name are refused. So neither server loses or doubles a report, whoever crashes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from hedgerow.aggregate.protocol import Protocol
from hedgerow.errors import FormatError
from hedgerow.vdaf import NONCE_SIZE
from hedgerow.vdaf.xof import SEED_SIZE

__all__ = ["JOB", "MOST", "Answer", "Code", "Entry", "Job"]

MOST = 500
"""Reports in one job: half a megabyte to send, and below a second to verify with the kernel."""
JOB = 16
"""Bytes of a job's name."""
_HEAD = struct.Struct(">4s16s32sI")
_REQUEST = b"HDGJ"
_ANSWER = b"HDGV"


class Code(IntEnum):
    """What the helper says of one report."""

    ADDED = 0
    KNOWN = 1
    UNREADABLE = 2
    INVALID = 3


@dataclass(frozen=True)
class Entry:
    """What the leader forwards of one report."""

    report_id: bytes
    public_share: bytes
    sealed: bytes
    verifier_share: bytes

    def to_bytes(self) -> bytes:
        """Return the entry as it is sent."""
        return self.report_id + self.public_share + self.sealed + self.verifier_share


@dataclass(frozen=True)
class Job:
    """The leader's request."""

    name: bytes
    entries: tuple[Entry, ...]

    def to_bytes(self, protocol: Protocol) -> bytes:
        """Return the request as it is sent."""
        head = _HEAD.pack(_REQUEST, self.name, protocol.task, len(self.entries))
        return head + b"".join(entry.to_bytes() for entry in self.entries)

    @classmethod
    def from_bytes(cls, protocol: Protocol, data: bytes) -> Job:
        """Read a request; another task, too many reports, one of them twice, or a wrong length are refused."""
        name, n = _head(protocol, data, _REQUEST, protocol.entry)
        entries = tuple(_entry(protocol, data, _HEAD.size + i * protocol.entry) for i in range(n))
        if len({entry.report_id for entry in entries}) != n:
            raise FormatError("a report stands twice in a job.")
        return cls(name, entries)


@dataclass(frozen=True)
class Answer:
    """The helper's answer: a code for each report, and for one that it has added the message that finishes it."""

    name: bytes
    codes: tuple[Code, ...]
    messages: tuple[bytes, ...]

    def to_bytes(self, protocol: Protocol) -> bytes:
        """Return the answer as it is sent."""
        head = _HEAD.pack(_ANSWER, self.name, protocol.task, len(self.codes))
        pairs = zip(self.codes, self.messages, strict=True)
        return head + b"".join(bytes([code]) + message for code, message in pairs)

    @classmethod
    def from_bytes(cls, protocol: Protocol, data: bytes, job: Job) -> Answer:
        """Read the answer to a job."""
        name, n = _head(protocol, data, _ANSWER, 1 + SEED_SIZE)
        if name != job.name or n != len(job.entries):
            raise FormatError("this is the answer to another job.")
        starts = [_HEAD.size + i * (1 + SEED_SIZE) for i in range(n)]
        try:
            codes = tuple(Code(data[at]) for at in starts)
        except ValueError as error:
            raise FormatError(f"the answer to a job has an unknown code: {error}") from None
        return cls(name, codes, tuple(data[at + 1 : at + 1 + SEED_SIZE] for at in starts))


def _head(protocol: Protocol, data: bytes, magic: bytes, size: int) -> tuple[bytes, int]:
    if len(data) < _HEAD.size:
        raise FormatError(f"a message between servers has at least {_HEAD.size} bytes. Got {len(data)} instead.")
    found, name, task, n = _HEAD.unpack_from(data)
    if found != magic or task != protocol.task:
        raise FormatError("this message between servers is of another kind or of another task.")
    if not 1 <= n <= MOST or len(data) != _HEAD.size + n * size:
        raise FormatError(f"a message between servers is about 1 .. {MOST} reports of {size} bytes.")
    return name, n


def _entry(protocol: Protocol, data: bytes, at: int) -> Entry:
    prio3 = protocol.prio3
    sizes: Sequence[int] = (NONCE_SIZE, prio3.public_share_size, protocol.helper_sealed, prio3.verifier_share_size)
    parts = []
    for size in sizes:
        parts.append(data[at : at + size])
        at += size
    return Entry(*parts)
