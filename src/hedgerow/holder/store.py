"""What a device remembers, in one SQLite file: reports as drawn, budgets, and whom it trusts.

The rules, in the order in which they matter:

1. A report is drawn once a task. It is on disk before anybody sees it, and the same bytes are used ever after.
2. A spend is on disk before the report leaves (rollback journal, ``synchronous=EXTRA``): a crash can lose a report
   that was never sent, never a spend of one that was.
3. Limits are stored when a curator is first answered. Nothing raises them but :meth:`Store.set_limit`, which is an
   act of the holder and is written down.

One file with one transaction for "charge and mark as to be sent" is why this is not a
:class:`hedgerow.ledger.Ledger`: that keeps one limit for one kind of guarantee, a device has one for each curator.
Amounts are integers, epsilon in millionths and delta in units of 1e-15; spends are rounded up and limits down.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from hedgerow.errors import BudgetError, FormatError, HedgerowError
from hedgerow.holder.budget import Cost, Limits
from hedgerow.tasks.keys import fingerprint

__all__ = ["Kept", "Store"]

_VERSION, _APPLICATION = 3, 0x48656468  # "Hedh", in the file's header
_SCHEMA = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {_VERSION}",
    "CREATE TABLE device (only INTEGER PRIMARY KEY CHECK (only = 1), epsilon INTEGER NOT NULL, delta INTEGER NOT NULL)",
    """CREATE TABLE curators (key BLOB PRIMARY KEY, epsilon INTEGER NOT NULL, delta INTEGER NOT NULL,
        time TEXT NOT NULL)""",
    "CREATE TABLE places (base TEXT PRIMARY KEY, key BLOB NOT NULL)",
    """CREATE TABLE reports (task TEXT PRIMARY KEY, body BLOB NOT NULL, secrets BLOB, second TEXT,
        epsilon INTEGER NOT NULL, delta INTEGER NOT NULL, time TEXT NOT NULL)""",
    """CREATE TABLE charges (number INTEGER PRIMARY KEY AUTOINCREMENT, task TEXT NOT NULL, key BLOB NOT NULL,
        epsilon INTEGER NOT NULL CHECK (epsilon >= 0), delta INTEGER NOT NULL CHECK (delta >= 0),
        time TEXT NOT NULL, UNIQUE (task, key))""",
    """CREATE TABLE sendings (task TEXT NOT NULL, base TEXT NOT NULL, token TEXT, state TEXT NOT NULL,
        closes INTEGER NOT NULL, PRIMARY KEY (task, base))""",
    """CREATE TABLE passes (task TEXT NOT NULL, base TEXT NOT NULL, blinding BLOB NOT NULL, pass TEXT,
        PRIMARY KEY (task, base))""",
    "CREATE TABLE changes (number INTEGER PRIMARY KEY AUTOINCREMENT, what TEXT NOT NULL, time TEXT NOT NULL)",
)


@dataclass(frozen=True)
class Kept:
    """A report as it was drawn, and what a second round needs."""

    task_id: str
    body: bytes
    secrets: bytes | None
    second: str | None
    cost: Cost


class Store:
    """The file. It is opened anew for each call, so that threads and processes can share it.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(os.path.join(folder, "holder.sqlite"), Limits())
    ...     kept = store.keep("task", Cost(500_000), lambda: (b"body", None))
    ...     store.keep("task", Cost(500_000), lambda: (b"other", None)).body  # drawn once
    b'body'
    """

    def __init__(self, path: str | os.PathLike[str], limits: Limits | None) -> None:
        self.path = Path(path).absolute()
        if not self.path.exists():
            self._create(limits or Limits())
        with self._connection() as connection:
            _check_header(connection)
            stored = Cost(*connection.execute("SELECT epsilon, delta FROM device").fetchone())
        given = limits or Limits()
        if limits is not None and Cost.limit(given.total, given.delta) != stored:
            raise BudgetError(
                f"this device was set up with a total of {stored}. Got {Cost.limit(given.total, given.delta)} instead. "
                "Leave limits out to use what is stored; a limit is never renewed silently."
            )
        self.total = stored
        self._for_new = Cost.limit(given.per_curator, given.delta)

    def _create(self, limits: Limits) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if Path(f"{self.path}-journal").exists():
            raise FormatError(f"{self.path} is gone, but its journal is there. Restore both from a copy.")
        draft = self.path.with_name(f".{self.path.name}.{secrets.token_hex(8)}")
        try:
            os.close(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with _open(draft) as connection:
                connection.execute("BEGIN IMMEDIATE")
                for statement in _SCHEMA:
                    connection.execute(statement)
                total = Cost.limit(limits.total, limits.delta)
                connection.execute("INSERT INTO device VALUES (1, ?, ?)", (total.epsilon, total.delta))
                connection.execute("COMMIT")
            with contextlib.suppress(FileExistsError):  # another process was first
                os.link(draft, self.path)
        finally:
            draft.unlink(missing_ok=True)

    # -- whom the holder trusts

    def trusted(self, base: str) -> bytes | None:
        """Return the key that was seen at an address before."""
        with self._connection() as connection:
            row = connection.execute("SELECT key FROM places WHERE base = ?", (base,)).fetchone()
        return None if row is None else bytes(row[0])

    def trust(self, base: str, key: bytes) -> None:
        """Remember a key for an address; another one there is refused from now on."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            _pin(connection, base, key)
            connection.execute("COMMIT")

    # -- reports

    def kept(self, task_id: str) -> Kept | None:
        """Return the report to a task, if it was drawn."""
        with self._connection() as connection:
            return _find(connection, task_id)

    def keep(
        self, task_id: str, cost: Cost, draw: Callable[[], tuple[bytes, bytes | None]], *, first: str | None = None
    ) -> Kept:
        """Return the report to a task; draw it if there is none. Nothing is spent, for nothing leaves.

        ``first`` names the first round that this report is the second of; it takes one second round and no other.
        """
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if known := _find(connection, task_id):
                return known
            if first is not None:
                _take_second(connection, first, task_id)
            body, more = draw()
            connection.execute(
                "INSERT INTO reports VALUES (?, ?, ?, NULL, ?, ?, ?)",
                (task_id, body, more, cost.epsilon, cost.delta, _now()),
            )
            connection.execute("COMMIT")
        return Kept(task_id, body, more, None, cost)

    # -- budgets

    def limit_of(self, key: bytes) -> Cost:
        """Return the limit of a curator; for a new one, what it would get."""
        with self._connection() as connection:
            return _limit(connection, key) or self._for_new

    def knows(self, key: bytes) -> bool:
        """Whether a curator has a limit of its own: it was answered before, or one was set."""
        with self._connection() as connection:
            return _limit(connection, key) is not None

    def curators(self) -> list[tuple[str, bytes]]:
        """Return fingerprint and key of all curators that have a limit of their own."""
        with self._connection() as connection:
            keys = [bytes(key) for (key,) in connection.execute("SELECT key FROM curators ORDER BY time, key")]
        return [(fingerprint(key), key) for key in keys]

    def spent(self, key: bytes | None = None) -> Cost:
        """Return what a curator, or all together, were given: one report to two curators counts once in all."""
        with self._connection() as connection:
            return _spent(connection, key)

    def set_limit(self, key: bytes, limit: Cost, reason: str) -> None:
        """Change a curator's limit, by the holder's own decision; the change and its reason are kept."""
        if not reason.strip():
            raise HedgerowError("'reason' must say why the limit is changed; a limit is never renewed silently.")
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            before = _limit(connection, key) or self._for_new
            _store_limit(connection, key, limit)
            what = f"limit of {fingerprint(key)} from {before} to {limit}: {reason}"
            connection.execute("INSERT INTO changes (what, time) VALUES (?, ?)", (what, _now()))
            connection.execute("COMMIT")

    def changes(self) -> list[str]:
        """Return all changes of limits, oldest first."""
        with self._connection() as connection:
            return [
                f"{time} {what}" for what, time in connection.execute("SELECT what, time FROM changes ORDER BY number")
            ]

    def check(self, task_id: str, key: bytes, cost: Cost) -> None:
        """Raise BudgetError if a report could not be paid for; book nothing."""
        with self._connection() as connection:
            self._check(connection, task_id, key, cost)

    def charge(self, task_id: str, base: str, key: bytes, token: str | None, closes: int) -> Kept:
        """Book the report and mark it as to be sent until ``closes``; only after this may it leave. Again: free."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            kept = _find(connection, task_id)
            if kept is None:
                raise HedgerowError("there is no report to this task yet; make one first.")
            self._check(connection, task_id, key, kept.cost)
            _pin(connection, base, key)
            if _limit(connection, key) is None:
                _store_limit(connection, key, self._for_new)
            values = (task_id, key, kept.cost.epsilon, kept.cost.delta, _now())
            connection.execute(
                "INSERT OR IGNORE INTO charges (task, key, epsilon, delta, time) VALUES (?, ?, ?, ?, ?)", values
            )
            connection.execute(
                "INSERT INTO sendings VALUES (?, ?, ?, 'ready', ?) "
                "ON CONFLICT (task, base) DO UPDATE SET token = coalesce(excluded.token, token)",
                (task_id, base, token, closes),
            )
            connection.execute("COMMIT")
        return kept

    def _check(self, connection: sqlite3.Connection, task_id: str, key: bytes, cost: Cost) -> None:
        row = connection.execute("SELECT 1 FROM charges WHERE task = ? AND key = ?", (task_id, key)).fetchone()
        if row is None:
            limit = _limit(connection, key) or self._for_new
            _refuse(cost, _spent(connection, key), limit, f"this curator (key {fingerprint(key)})")
        if connection.execute("SELECT 1 FROM charges WHERE task = ?", (task_id,)).fetchone() is None:
            _refuse(cost, _spent(connection, None), self.total, "all curators together")

    def charged(self, task_id: str, key: bytes) -> bool:
        """Whether a curator was charged for a task."""
        with self._connection() as connection:
            rows = connection.execute("SELECT 1 FROM charges WHERE task = ? AND key = ?", (task_id, key))
            return rows.fetchone() is not None

    # -- sendings

    def sending(self, task_id: str, base: str) -> tuple[str, str | None]:
        """Return the state of a sending ("" if there is none) and its token."""
        with self._connection() as connection:
            found = connection.execute(
                "SELECT state, token FROM sendings WHERE task = ? AND base = ?", (task_id, base)
            ).fetchone()
        return found or ("", None)

    def blinding(self, task_id: str, base: str, draw: Callable[[], bytes]) -> bytes:
        """Return the random numbers of a pass; they are drawn once, and on disk before anything is asked for."""
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("INSERT OR IGNORE INTO passes VALUES (?, ?, ?, NULL)", (task_id, base, draw()))
            mine = "SELECT blinding FROM passes WHERE task = ? AND base = ?"
            found = connection.execute(mine, (task_id, base)).fetchone()
            connection.execute("COMMIT")
        return bytes(found[0])

    def keep_pass(self, task_id: str, base: str, made: str) -> None:
        """Keep a pass, and forget the blinding: it alone would tell which signature the pass came of."""
        with self._connection() as connection:
            values = (made, task_id, base)
            connection.execute("UPDATE passes SET pass = ?, blinding = x'' WHERE task = ? AND base = ?", values)

    def kept_pass(self, task_id: str, base: str) -> str | None:
        """Return the pass for a task, if there is one."""
        with self._connection() as connection:
            mine = "SELECT pass FROM passes WHERE task = ? AND base = ?"
            found = connection.execute(mine, (task_id, base)).fetchone()
        return None if found is None else found[0]

    def settle(self, task_id: str, base: str, state: str) -> None:
        """Note what the server said."""
        with self._connection() as connection:
            connection.execute("UPDATE sendings SET state = ? WHERE task = ? AND base = ?", (state, task_id, base))

    def waiting(self) -> list[tuple[str, str, int]]:
        """Return task, address and signed end of reports that were paid for and not acknowledged."""
        order = "SELECT task, base, closes FROM sendings WHERE state = 'ready' ORDER BY task, base"
        with self._connection() as connection:
            return [(str(task), str(base), int(closes)) for task, base, closes in connection.execute(order)]

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file; whatever was not committed is undone at the end, whatever happened."""
        try:
            with _open(self.path) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise BudgetError(f"{self.path} cannot be used: {error}. Nothing was sent; try again.") from error


@contextlib.contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file that exists; SQLite must never make an empty one, which would renew all budgets."""
    with contextlib.closing(
        sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=60.0, isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA synchronous = EXTRA")
        connection.execute("PRAGMA fullfsync = ON")
        yield connection


def _check_header(connection: sqlite3.Connection) -> None:
    found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if found != [_APPLICATION, _VERSION]:
        raise FormatError("this file does not hold the reports of a device, or those of another version of hedgerow.")


def _pin(connection: sqlite3.Connection, base: str, key: bytes) -> None:
    connection.execute("INSERT OR IGNORE INTO places VALUES (?, ?)", (base, key))
    seen = bytes(connection.execute("SELECT key FROM places WHERE base = ?", (base,)).fetchone()[0])
    if seen != key:
        raise FormatError(
            f"{base} used the key {fingerprint(seen)} before, and now {fingerprint(key)}. Do not answer; ask the "
            "curator by another way what happened."
        )


def _find(connection: sqlite3.Connection, task_id: str) -> Kept | None:
    columns = "body, secrets, second, epsilon, delta"
    row = connection.execute(f"SELECT {columns} FROM reports WHERE task = ?", (task_id,)).fetchone()
    return None if row is None else Kept(task_id, row[0], row[1], row[2], Cost(row[3], row[4]))


def _take_second(connection: sqlite3.Connection, first: str, second: str) -> None:
    changed = connection.execute("UPDATE reports SET second = ? WHERE task = ? AND second IS NULL", (second, first))
    if changed.rowcount != 1:
        raise BudgetError(
            "the second round of this question was answered already under another task, or the first never was; "
            "a further answer would spend more than epsilon."
        )


def _limit(connection: sqlite3.Connection, key: bytes) -> Cost | None:
    row = connection.execute("SELECT epsilon, delta FROM curators WHERE key = ?", (key,)).fetchone()
    return None if row is None else Cost(*row)


def _store_limit(connection: sqlite3.Connection, key: bytes, limit: Cost) -> None:
    values = (key, limit.epsilon, limit.delta, _now())
    connection.execute("INSERT OR REPLACE INTO curators VALUES (?, ?, ?, ?)", values)


def _spent(connection: sqlite3.Connection, key: bytes | None) -> Cost:
    if key is not None:
        row = connection.execute("SELECT sum(epsilon), sum(delta) FROM charges WHERE key = ?", (key,)).fetchone()
    else:
        once = "SELECT max(epsilon) AS epsilon, max(delta) AS delta FROM charges GROUP BY task"
        row = connection.execute(f"SELECT sum(epsilon), sum(delta) FROM ({once})").fetchone()
    return Cost(row[0] or 0, row[1] or 0)


def _refuse(cost: Cost, spent: Cost, limit: Cost, whom: str) -> None:
    if spent.epsilon + cost.epsilon > limit.epsilon or spent.delta + cost.delta > limit.delta:
        raise BudgetError(
            f"this report costs {cost}; {whom} may learn {limit} in total and has {spent} already. Do without; a "
            "limit is for good. (set_limit, or --limit with --reason, changes it if that is what you want.)"
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
