"""Finished blocks of a long command, kept beside its output until the output is whole.

``out.parts/`` holds one file a block, each written all or nothing, and a description of the work. If the command is
killed, the same command finds the folder, checks that the work is the same, and goes on after the last block.

The description names the inputs by digests under a key that this device keeps elsewhere (``$HEDGEROW_HOME``): a plain
digest of private rows would let whoever finds the folder test guesses of them.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from typing import Any, Self

from hedgerow.collect.checkpoint import fingerprint, keyed_digest, write_whole
from hedgerow.commands.files import STDIO
from hedgerow.commands.kept import locked
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import Randomness, SeededRandomness

__all__ = ["Parts"]

_VERSION = 2
_KEY_BYTES = 32  # of a key of SHA-256: more bits than its digest has are of no use


class Parts:
    """Blocks of bytes in a folder, in order; iterating reads them one at a time. Used under a lock, by ``with``.

    ``inputs`` are files, ``kept`` bytes that the work depends on.
    """

    def __init__(self, output: str, work: dict[str, Any], inputs: Sequence[str], kept: bytes | None = None) -> None:
        if STDIO in (output, *inputs):
            raise HedgerowError(
                "--resume needs files for input and output; standard input and output cannot be resumed."
            )
        self.folder = f"{output}.parts"
        key = device_key()
        digests = [fingerprint(path, key) for path in inputs] + ([keyed_digest(key, kept)] if kept is not None else [])
        about = json.dumps({"format": "hedgerow/parts", "version": _VERSION, **work, "inputs": digests}, sort_keys=True)
        self._about = os.path.join(self.folder, "work.json")
        if os.path.exists(self._about):
            with open(self._about, encoding="utf-8") as file:
                if file.read() != about:
                    raise FormatError(
                        f"{self.folder} was begun with other input or options; repeat the first command, or delete "
                        "the folder to start afresh."
                    )
        else:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            write_whole(self._about, about.encode())
        self._lock = locked(self._about, self.folder)
        self._n = 0

    def __enter__(self) -> Self:
        self._lock.__enter__()
        while os.path.exists(self._name(self._n)):
            self._n += 1
        return self

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)

    @property
    def key(self) -> str:
        """A random name of this very work, the same whenever it goes on: what is booked under it is charged once."""
        path = os.path.join(self.folder, "key")
        if not os.path.exists(path):
            write_whole(path, secrets.token_hex(16).encode())
        with open(path, encoding="ascii") as file:
            return file.read()

    @property
    def marked(self) -> bool:
        """Whether this very work has used up what a device kept."""
        return os.path.exists(os.path.join(self.folder, "marked"))

    def mark(self) -> None:
        """Note that this work has used up what a device kept: no other may, and this one may go on."""
        write_whole(os.path.join(self.folder, "marked"), b"")

    def _name(self, i: int) -> str:
        return os.path.join(self.folder, f"{i:08d}.part")

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[bytes]:
        return (self._read(i)[1] for i in range(self._n))

    def add(self, data: bytes, source: Randomness | None = None) -> None:
        """Keep one more block, and where a seeded source stands after it."""
        head = {"digest": hashlib.sha256(data).hexdigest(), "source": _state(source)}
        write_whole(self._name(self._n), json.dumps(head).encode() + b"\n" + data)
        self._n += 1

    def restore(self, source: Randomness) -> Randomness:
        """Set a seeded source to where it stood after the last block; a secure one has no state."""
        if self._n and isinstance(source, SeededRandomness):
            counter, left = self._read(self._n - 1)[0]["source"]
            if counter:
                source._counter = counter - 1
                source._buffer = source._refill()
                source._used = len(source._buffer) - left
        return source

    def _read(self, i: int) -> tuple[dict[str, Any], bytes]:
        with open(self._name(i), "rb") as file:
            line = file.readline()
            data = file.read()
        try:
            head: dict[str, Any] = json.loads(line)
            whole = head["digest"] == hashlib.sha256(data).hexdigest()
        except (ValueError, KeyError, TypeError):
            whole = False
        if not whole:
            raise FormatError(f"{self._name(i)} is damaged; delete the folder to start afresh.")
        return head, data

    def remove(self) -> None:
        """Delete the folder: the output is whole."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _state(source: Randomness | None) -> list[int] | None:
    """Return how many blocks a seeded source has made, and how many bytes of the last are left."""
    if not isinstance(source, SeededRandomness):
        return None
    return list(source.place)


def device_key() -> bytes:
    """Return the key of this device's digests; it is made when it is first needed."""
    from hedgerow.holder.device import default_home

    path = default_home() / "digest.key"
    try:
        if not path.exists():
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(path, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
        key = path.read_bytes()
    except OSError as error:
        raise HedgerowError(
            f"--resume needs a key on this device, {path}: {error.strerror}. HEDGEROW_HOME names a folder for it."
        ) from error
    if len(key) != _KEY_BYTES:
        raise HedgerowError(f"--resume needs a key of {_KEY_BYTES} bytes. {path} has {len(key)}; delete it.")
    return key
