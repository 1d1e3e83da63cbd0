"""A place on disk for what was made of private records while a fit runs.

It holds private data: files are for their owner alone, and gone when the fit ends. Without a name there is nothing to
find at all: files have no name either, and vanish with the process, however that ends. With a name a fit that was
killed goes on from it. The rules then:

1. The spool is for one fit: of these records, with these public facts and this budget. It says so by a digest under a
   key of its own; another fit is refused.
2. Nothing is released before the end. At the end the spool is marked as finished, then emptied, and only then has the
   caller a model: whoever has seen one cannot resume it, and draw noise for the same questions again.
3. A finished spool is refused, as long as it lies there: to run the same command again would spend epsilon again.
4. One process at a time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import hmac
import json
import math
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hedgerow.content import canonical
from hedgerow.errors import FormatError, HedgerowError

__all__ = ["Matrix", "Spool", "open_spool"]

_STATE = "spool.json"
_LOCK = "lock"
_FINISHED = "finished"
_OWNED = (".bin", ".npy", ".part")
_FORMAT = 1  # version of the file that says how far a fit is
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_GIGABYTE = 1 << 30  # by definition


class Matrix:
    """A matrix in a file: written some columns at a time, then read through a memory map.

    Examples
    --------
    >>> with open_spool(None) as spool:
    ...     matrix = spool.matrix("codes", (2, 3), np.uint8)
    ...     matrix.write(1, np.array([[5, 6], [7, 8]], dtype=np.uint8))
    ...     matrix.read().tolist()
    [[0, 5, 6], [0, 7, 8]]
    """

    def __init__(self, file: IO[bytes], shape: tuple[int, int], dtype: npt.DTypeLike, where: str) -> None:
        self.file = file
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._where = where
        with self._room():
            # Room is taken at once: a memory map of a file that cannot grow ends the process.
            size = math.prod(shape) * self.dtype.itemsize
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, max(size, 1))
            file.truncate(size)

    def write(self, start: int, block: npt.NDArray[Any]) -> None:
        """Write columns from ``start`` on."""
        width = self.dtype.itemsize
        if start + block.shape[1] > self.shape[1] or block.dtype != self.dtype:
            raise HedgerowError("the records have changed while they were read: there are more now. Start again.")
        with self._room():
            for i, row in enumerate(block):
                self.file.seek((i * self.shape[1] + start) * width)
                left = memoryview(np.ascontiguousarray(row).tobytes())
                while left:
                    left = left[self.file.write(left) :]

    def read(self) -> npt.NDArray[Any]:
        """Return all of it, to be read only; it is on disk then."""
        os.fsync(self.file.fileno())
        found: npt.NDArray[Any] = np.memmap(self.file, dtype=self.dtype, mode="r", shape=self.shape)
        return found

    @contextlib.contextmanager
    def _room(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in _FULL:
                raise
            size = math.ceil(math.prod(self.shape) * self.dtype.itemsize / _GIGABYTE)
            raise HedgerowError(
                f"there is no room in {self._where} for what is made of the records, {size} GB or less: make room, or "
                "name a directory that has it by 'spool' ($TMPDIR, without)."
            ) from error


class Spool:
    """What is kept of one fit; see above."""

    def __init__(self, folder: str | None) -> None:
        self.folder = folder
        self._files: list[IO[bytes]] = []
        self._state: dict[str, Any] = {}

    def begin(self, work: Any) -> None:
        """Say what is fitted; refuse a spool of another fit."""
        if self.folder is None:
            return
        known = self._read()
        key = bytes.fromhex(known["key"]) if known else secrets.token_bytes(32)
        digest = hmac.new(key, canonical(work).encode(), hashlib.sha256).hexdigest()
        if not known:
            self._state = {"format": _FORMAT, "key": key.hex(), "work": digest, "kept": {}}
            self._save()
        elif not hmac.compare_digest(known["work"], digest):
            raise HedgerowError(
                f"'spool' {self.folder} was begun by a fit of other records or with other settings: give those, or "
                "name another directory. It holds private data; delete it if that fit is not to go on."
            )
        else:
            self._state = known

    def get(self, name: str) -> Any:
        """Return what was kept by this name; None for nothing."""
        return self._state.get("kept", {}).get(name)

    def keep(self, name: str, value: Any) -> None:
        """Keep a value that JSON can hold."""
        if self.folder is not None:
            self._state["kept"][name] = value
            self._save()

    def matrix(self, name: str, shape: tuple[int, int], dtype: npt.DTypeLike) -> Matrix:
        """Return a new matrix."""
        if self.folder is None:
            file: IO[bytes] = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 (closed by close)
            where = tempfile.gettempdir()
        else:
            flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
            file = os.fdopen(os.open(self._path(f"{name}.bin"), flags, 0o600), "r+b", buffering=0)
            where = self.folder
        self._files.append(file)
        return Matrix(file, shape, dtype, where)

    def written(self, name: str, shape: tuple[int, int], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return a matrix that an earlier run has written whole."""
        found: npt.NDArray[Any] = np.memmap(self._path(f"{name}.bin"), dtype=dtype, mode="r", shape=shape)
        return found

    def finish(self) -> None:
        """Mark the spool as finished and empty it; call it before anything that was made of it is handed on."""
        self.close()
        if self.folder is None:
            return
        descriptor = os.open(self._path(_FINISHED), os.O_WRONLY | os.O_CREAT, 0o600)
        os.fsync(descriptor)
        os.close(descriptor)
        for name in os.listdir(self.folder):
            if name == _STATE or name.endswith(_OWNED):
                os.unlink(self._path(name))

    def close(self) -> None:
        """Let go of the files; those without a name are gone."""
        for file in self._files:
            file.close()
        self._files.clear()

    def _path(self, name: str) -> str:
        return os.path.join(self.folder or "", name)

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path(_STATE), "rb") as file:
                found = json.load(file)
        except FileNotFoundError:
            return {}
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("format") != _FORMAT:
            raise FormatError(f"'spool' {self.folder} is damaged, or of another version: delete it and begin again.")
        return found

    def _save(self) -> None:
        """Replace the file that says how far the fit is, all or nothing."""
        part = self._path(f"{_STATE}.part")
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self._state, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path(_STATE))


@contextlib.contextmanager
def open_spool(folder: str | os.PathLike[str] | None) -> Iterator[Spool]:
    """Open a spool that a killed fit can be resumed from, or one without a name."""
    if folder is None:
        spool = Spool(None)
        try:
            yield spool
        finally:
            spool.close()
        return
    name = os.fspath(folder)
    os.makedirs(name, mode=0o700, exist_ok=True)
    _check_folder(name)
    with _locked(name):
        if os.path.exists(os.path.join(name, _FINISHED)):
            raise HedgerowError(
                f"'spool' {name} is of a fit that has ended: another one draws new noise, and spends epsilon again. If "
                "that is meant, delete the directory."
            )
        spool = Spool(name)
        try:
            yield spool
        finally:
            spool.close()


def _check_folder(name: str) -> None:
    """Refuse a directory of others, or with other things in it."""
    about = os.stat(name)
    if hasattr(os, "geteuid") and about.st_uid != os.geteuid():
        raise HedgerowError(f"'spool' {name} belongs to somebody else: it is for private data, name another directory.")
    ours = (_STATE, _LOCK, _FINISHED)
    if strange := [f for f in sorted(os.listdir(name)) if f not in ours and not f.endswith(_OWNED)]:
        raise HedgerowError(f"'spool' {name} holds {strange[0]!r}: name a directory of its own, or a new one.")
    if stat.S_IMODE(about.st_mode) & 0o077:
        os.chmod(name, 0o700)


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    with open(os.path.join(name, _LOCK), "ab") as file:
        try:
            import fcntl
        except ImportError:  # Windows: a file that is mapped cannot be replaced
            fcntl = None  # type: ignore[assignment]
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HedgerowError(f"'spool' {name} is in use by another fit: wait for it to end.") from None
        yield
