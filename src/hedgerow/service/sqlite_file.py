"""The file of an SQLite database: made on purpose only, and the same one as long as the service runs.

SQLite makes an empty database of any path, and goes on writing into a file that was removed, whose content is gone
when it is closed. So a file is opened as one that exists, and after every commit the path must still name it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from hedgerow.errors import HedgerowError

__all__ = ["Overtaken", "SchemaChanged", "SqliteFile", "StorageError", "StoragePressure"]

_MODES = {"use": "rw", "create": "rw", "change": "rw", "read": "ro"}


class StorageError(HedgerowError):
    """The database refused: full, read-only, broken or gone. Nothing of the transaction counts as kept."""


class StoragePressure(StorageError):
    """The database is locked or out of reach for now; the same request may succeed later."""


class Overtaken(StoragePressure):
    """Another process was faster with the very same work: there is nothing to do again."""


class SchemaChanged(StorageError):
    """Another program has changed the tables under the running service, which must not write into them."""


class SqliteFile:
    """One file, and whether its path still names it.

    Examples
    --------
    >>> SqliteFile("/no/such/folder/file.db", "use")
    Traceback (most recent call last):
    ...
    hedgerow.service.sqlite_file.StorageError: there is no database /no/such/folder/file.db; check the path, or make...
    """

    def __init__(self, path: str, mode: Literal["use", "create", "change", "read"]) -> None:
        self.path = os.path.abspath(path)
        self.mode = mode
        self._identity: tuple[int, int] | None = None
        if mode != "create" and not os.path.isfile(self.path):
            raise StorageError(
                f"there is no database {self.path}; check the path, or make one with 'hedgerow serve init'."
            )
        if mode == "create" and not os.path.isdir(Path(self.path).parent):
            raise StorageError(f"there is no folder {Path(self.path).parent} to make a database in; make it first.")
        if mode == "create" and not os.path.exists(self.path):
            self._make()

    def _make(self) -> None:
        """Make the file, for its owner only: it will hold the signing key."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError as error:
            raise StorageError(f"the database {self.path} cannot be made: {error.strerror}.") from error

    def connector(self, busy_seconds: float) -> Callable[[], sqlite3.Connection]:
        """Return what opens a connection; it does not make a file, unless that is the purpose."""
        name = f"file:{quote(self.path)}?mode={_MODES[self.mode]}"

        def connect() -> sqlite3.Connection:
            return sqlite3.connect(name, uri=True, timeout=busy_seconds, isolation_level=None, check_same_thread=False)

        return connect

    def identify(self) -> None:
        """Remember which file the path names."""
        self._identity = self._look()

    def _look(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_dev, found.st_ino

    def check(self) -> None:
        """Refuse to go on with a file that was removed, moved or replaced: what it holds is lost with the process."""
        try:
            now = self._look()
        except OSError:
            raise StorageError(f"the database {self.path} was removed under the running service. {_REMEDY}") from None
        if now != self._identity:
            raise StorageError(f"the database {self.path} was replaced under the running service. {_REMEDY}")


_REMEDY = "Nothing more is accepted: put the file back where it was, or stop the service and restore a backup."
