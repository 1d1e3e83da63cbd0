"""Finished blocks of a long command, kept beside its output until the output is whole.

``out.parts/`` holds one file a block, each written all or nothing, and a description of the work. If the command is
killed, the same command finds the folder, checks that the work is the same, and goes on after the last block.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from typing import Any

from hedgerow.collect.checkpoint import fingerprint, write_whole
from hedgerow.commands.files import STDIO
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import Randomness, SeededRandomness

__all__ = ["Parts"]

_VERSION = 1


class Parts:
    """Blocks of bytes in a folder, in order; iterating reads them one at a time."""

    def __init__(self, output: str, work: dict[str, Any], inputs: Sequence[str]) -> None:
        if STDIO in (output, *inputs):
            raise HedgerowError(
                "--resume needs files for input and output; standard input and output cannot be resumed."
            )
        self.folder = f"{output}.parts"
        about = {"format": "hedgerow/parts", "version": _VERSION, **work, "inputs": [fingerprint(p) for p in inputs]}
        self._about = json.dumps(about, sort_keys=True)
        name = os.path.join(self.folder, "work.json")
        if os.path.isdir(self.folder) and os.path.exists(name):
            with open(name, encoding="utf-8") as file:
                if file.read() != self._about:
                    raise FormatError(
                        f"{self.folder} was begun with other input or options; repeat the first command, or delete "
                        "the folder to start afresh."
                    )
        else:
            os.makedirs(self.folder, exist_ok=True)
            write_whole(name, self._about.encode())
        self._n = 0
        while os.path.exists(self._name(self._n)):
            self._n += 1

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
            line, data = file.readline(), file.read()
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
    return [source._counter, len(source._buffer) - source._used]
