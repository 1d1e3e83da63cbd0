"""What a long addition has done so far, in one file that is always whole."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.content import Content, canonical
from hedgerow.errors import FormatError
from hedgerow.tasks.base import Task
from hedgerow.tasks.totals import Totals

__all__ = ["Checkpoint", "fingerprint", "keyed_digest", "write_whole"]

_SECONDS = 2.0  # between two checkpoints: the most work that is lost, far longer than writing one takes
_SAMPLE = 1 << 16  # bytes at either end by which a file is known again; by hand


def fingerprint(path: str, key: bytes = b"") -> str:
    """Return a digest of the size, the beginning and the end of a file: enough to tell that it is another one.

    Of a private file, only under a key.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(_SAMPLE)
        file.seek(max(0, size - _SAMPLE))
        tail = file.read(_SAMPLE)
    return keyed_digest(key, size.to_bytes(8, "little") + head + tail)


def keyed_digest(key: bytes, data: bytes) -> str:
    """Return an HMAC: without the key, it cannot be told whether some data have this digest."""
    return hmac.new(key, data, hashlib.sha256).hexdigest()


def write_whole(path: str, data: bytes) -> None:
    """Write a file that appears, or replaces an older one, only when it is whole and on disk."""
    partial = f"{path}.{secrets.token_hex(4)}.partial"
    try:
        with open(partial, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(partial)
        raise


@dataclass(frozen=True)
class _Head(Content, what="checkpoint", format="hedgerow/checkpoint", version=1):
    """What was added (a digest), how many reports were looked at, and the digest of the totals."""

    work: str
    position: int
    digest: str


class Checkpoint:
    """Totals and the number of reports behind them, in the order of the files.

    The file is one line of JSON (format, version, what was added, position, digest) and the bytes of the aggregate.
    """

    def __init__(self, path: str, task: Task, paths: Sequence[str], copies: str) -> None:
        self.path = path
        self.task = task
        self._last = time.monotonic()
        work = {"task": task.id, "files": [fingerprint(p) for p in paths], "copies": copies}
        self._work = hashlib.sha256(canonical(work).encode()).hexdigest()

    def load(self) -> tuple[Totals, int]:
        """Return the totals so far and how many reports were looked at; none if there is no file."""
        try:
            with open(self.path, "rb") as file:
                line = file.readline()
                data = file.read()
        except FileNotFoundError:
            return self.task.totals(), 0
        try:
            head = _Head.from_json(line)
            whole = head.digest == hashlib.sha256(data).hexdigest()
        except FormatError:
            whole = False
        if not whole:
            raise FormatError(
                f"{self.path} is not a checkpoint of this version, or damaged; delete it to start afresh."
            )
        if head.work != self._work:
            raise FormatError(
                f"{self.path} belongs to other files, another task or another rule for copies; "
                "give those, or delete it to start afresh."
            )
        return Totals.from_bytes(self.task, data), head.position

    def save(self, total: Totals, position: int) -> None:
        """Write the file, if the last time was a while ago."""
        now = time.monotonic()
        if now - self._last < _SECONDS:
            return
        self._last = now
        data = total.to_bytes()
        head = _Head(self._work, position, hashlib.sha256(data).hexdigest())
        write_whole(self.path, head.to_json().encode() + b"\n" + data)

    def remove(self) -> None:
        """Delete the file: the work is done."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
