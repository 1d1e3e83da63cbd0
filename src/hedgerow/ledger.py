"""A ledger of privacy budget in one SQLite file: what was spent, on what, and what is left.

The rules, in the order in which they matter:

1. A spend is on disk before it is granted (rollback journal, ``synchronous=EXTRA``): a crash can lose
   a grant that nobody saw, never a spend that somebody used.
2. Checking and spending are one transaction (``BEGIN IMMEDIATE``): processes cannot overspend together.
3. The limit is fixed when the file is made. Nothing here raises it, and no entry is changed or deleted.

Amounts are integers: epsilon in millionths, delta in units of 1e-15; spends are rounded up and limits
down. A float is read as the shortest decimal that denotes it, so that 0.1 is one tenth and ten of them
are 1; the binary value differs from that by less than one part in 2^53.

Only the standard library is imported.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import secrets
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from hedgerow.errors import BudgetError, FormatError, HedgerowError
from hedgerow.guarantee import TRUST, Guarantee

__all__ = ["Budget", "Entry", "Ledger"]

VERSION = 1
EPSILON_UNITS = 10**6  # in 1 of epsilon
DELTA_UNITS = 10**15  # in 1 of delta
_LARGEST = 10**9  # of an epsilon: amounts keep to 15 digits, so that floats give them back exactly
_APPLICATION = 0x48656467  # "Hedg", in the file's header
_LONGEST = 200  # characters of a purpose or a key: one line on a screen, with room for a digest
_SHOWN = 20  # entries in the text, the latest: they fit a screen
_WAIT = 60.0  # seconds for another process to finish its spend
_COLUMNS = "number, key, purpose, guarantee, epsilon, delta, time"

_SCHEMA = (
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
    "CREATE TABLE budget (only INTEGER PRIMARY KEY CHECK (only = 1), guarantee TEXT NOT NULL)",
    """CREATE TABLE entries (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        key TEXT UNIQUE,
        purpose TEXT NOT NULL,
        guarantee TEXT NOT NULL,
        epsilon INTEGER NOT NULL CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
        delta INTEGER NOT NULL CHECK (typeof(delta) = 'integer' AND delta >= 0),
        time TEXT NOT NULL)""",
)


class Budget(NamedTuple):
    """An amount of epsilon and of delta."""

    epsilon: float
    delta: float


@dataclass(frozen=True, slots=True)
class Entry:
    """One spend: ``charged`` is what was booked, ``guarantee`` what was released."""

    number: int
    key: str | None
    purpose: str
    guarantee: Guarantee
    charged: Budget
    time: str


class Ledger:
    """A privacy budget that cannot be overspent.

    Parameters
    ----------
    path : path-like or None
        The file, which is made if it does not exist and ``limit`` is given. None keeps the ledger in
        the memory of this process.
    limit : Guarantee or float, optional
        The most that all spends together may cost. A number is an epsilon for records under "replace",
        with delta = 0. For a file that exists it must be the limit that is stored there, or be left out.

    Notes
    -----
    A spend must protect what the limit protects, under the same neighbours (``convert`` it first). A
    limit with trust "central" also takes local and aggregate spends, for these promise more; not the other way round.

    A file is opened anew for each call, so a ledger can be used by threads, forked and pickled.

    Examples
    --------
    >>> third = Guarantee(0.3, protects="record", trust="local", neighbours="replace")
    >>> with Ledger(None, limit=1) as ledger:
    ...     for month in ("May", "June", "July"):
    ...         entry = ledger.spend(third, purpose=f"survey of {month}", key=month)
    ...     entry = ledger.spend(third, purpose="survey of July", key="July")  # again: free
    ...     print(ledger.remaining().epsilon)
    ...     ledger.spend(third, purpose="survey of August")
    Traceback (most recent call last):
    ...
    hedgerow.errors.BudgetError: 'survey of August' needs epsilon = 0.3 and delta = 0, but only
    epsilon = 0.1 and delta = 0 are left...
    """

    def __init__(self, path: str | os.PathLike[str] | None, limit: Guarantee | float | None = None) -> None:
        self.path = None if path is None else Path(path).absolute()
        self._closed = False
        wanted = None if limit is None else _as_limit(limit)
        if self.path is None:
            self._memory = _Memory(wanted)
        else:
            _check_place(self.path)
            if not self.path.exists():
                _create(self.path, wanted)
        with self._connection() as connection:
            self.limit = _verified_limit(connection)
        if wanted is not None and wanted != self.limit:
            raise BudgetError(
                f"limit must be the one that {self._name} was made with: {_describe(self.limit)}. Got "
                f"{_describe(wanted)} instead. Leave limit out to use the file as it is; limits never change."
            )

    def spend(self, guarantee: Guarantee, *, purpose: str, key: str | None = None) -> Entry:
        """Book a release before it happens; raise BudgetError, and book nothing, if it does not fit.

        Parameters
        ----------
        guarantee : Guarantee
            What the release costs.
        purpose : str
            What it is for, in one line.
        key : str, optional
            Names this release. The same key again, with the same cost and purpose, returns the first
            entry and charges nothing: for a retry that gives out the SAME outcome. Drawing new noise
            is another release and needs another key.
        """
        _check_text("purpose", purpose)
        if key is not None:
            _check_text("key", key)
        epsilon, delta = self._charge(guarantee, purpose)
        with self._connection() as connection:
            connection.execute("BEGIN IMMEDIATE")
            if key is not None and (row := _find(connection, key)):
                return _acknowledge(row, epsilon, delta, purpose)
            left = _left(connection, self.limit)
            if epsilon > left[0] or delta > left[1]:
                raise BudgetError(_refusal(purpose, (epsilon, delta), left))
            time = datetime.now(UTC).isoformat(timespec="seconds")
            number = connection.execute(
                f"INSERT INTO entries ({_COLUMNS}) VALUES (NULL, ?, ?, ?, ?, ?, ?)",
                (key, purpose, guarantee.to_json(), epsilon, delta, time),
            ).lastrowid
            connection.execute("COMMIT")
            return Entry(number or 0, key, purpose, guarantee, _budget(epsilon, delta), time)

    def remaining(self) -> Budget:
        """Return what is left; spending exactly that is possible."""
        with self._connection() as connection:
            return _budget(*_left(connection, self.limit))

    def entries(self) -> list[Entry]:
        """Return all spends, oldest first."""
        with self._connection() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM entries ORDER BY number")
            return [_entry(row) for row in rows]

    def close(self) -> None:
        """Refuse all further use; a ledger in memory is gone."""
        self._closed = True
        if self.path is None:
            self._memory.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is None:  # a copy would hand out the same budget a second time
            raise HedgerowError("A Ledger with path=None cannot be pickled or copied. Give it a file.")
        return Ledger, (self.path,)  # without the limit, so that a lost file is not made anew

    def __deepcopy__(self, memo: dict[int, Any]) -> Ledger:
        return self  # clones of an estimator share one budget, also one in memory

    def __repr__(self) -> str:
        """Show the limit, what is left and the last spends, as a table."""
        if self._closed:
            return f"<Ledger {self._name}, closed>"
        entries = self.entries()
        left = self.remaining()
        head = f"<Ledger {self._name}: limit {_describe(self.limit)}; left {_amount(*left)}>"
        rows = [("no.", "epsilon", "delta", "key", "purpose")]
        rows += [
            (str(e.number), f"{e.charged.epsilon:.15g}", f"{e.charged.delta:.15g}", e.key or "", e.purpose)
            for e in entries[-_SHOWN:]
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows] if entries else []
        older = [f"({len(entries) - _SHOWN} older entries)"] if len(entries) > _SHOWN else []
        return "\n".join([head, *older, *lines])

    @property
    def _name(self) -> str:
        return "in memory" if self.path is None else str(self.path)

    def _charge(self, guarantee: Guarantee, purpose: str) -> tuple[int, int]:
        """Check that a spend is of the kind that the limit is about, and return its cost in units."""
        limit = self.limit
        if not isinstance(guarantee, Guarantee):
            raise HedgerowError(f"guarantee must be a Guarantee. Got {guarantee!r} instead.")
        if (guarantee.protects, guarantee.neighbours) != (limit.protects, limit.neighbours):
            raise BudgetError(
                f"guarantee must have protects={limit.protects!r} and neighbours={limit.neighbours!r}, like "
                f"the limit. Got {guarantee.protects!r} and {guarantee.neighbours!r}: convert() it first, or keep "
                "another ledger for it."
            )
        if TRUST.index(guarantee.trust) > TRUST.index(limit.trust):
            raise BudgetError(
                f"trust must be {limit.trust!r}, as in the limit. Got {guarantee.trust!r}: keep another ledger for it."
            )
        if guarantee.simulation and not limit.simulation:
            raise BudgetError(
                "simulation must be False: seeded noise protects nothing, so no limit would hold. Use secure "
                "randomness, or a ledger whose limit has simulation=True for a rehearsal."
            )
        if math.isinf(guarantee.epsilon):
            raise BudgetError(f"{purpose!r} needs an infinite epsilon, which no budget covers. Use a finite one.")
        return _cost(guarantee)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """Open the file; whatever was not committed is undone at the end, whatever happened."""
        if self._closed:
            raise HedgerowError(f"This ledger ({self._name}) is closed. Open it again with Ledger(path).")
        source = _open(self.path) if self.path is not None else self._memory.borrow()
        try:
            with source as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
            if isinstance(error, sqlite3.OperationalError) and code != sqlite3.SQLITE_ERROR:
                text = f"The ledger {self._name} cannot be used: {error}. Nothing was granted; try again."
                raise BudgetError(text) from error
            raise _damaged(error) from error


class _Memory:
    """The connection of a ledger in memory: one process, one user at a time, closed with its owner."""

    def __init__(self, limit: Guarantee | None) -> None:
        if limit is None:
            raise HedgerowError("limit must be given for a ledger in memory (path=None). Got None instead.")
        self._lock = threading.Lock()
        self._process = os.getpid()
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.close = weakref.finalize(self, self._connection.close)
        _fill(self._connection, limit)

    @contextlib.contextmanager
    def borrow(self) -> Iterator[sqlite3.Connection]:
        if os.getpid() != self._process:  # a forked copy would hand out the same budget a second time
            raise HedgerowError("A Ledger with path=None cannot be used by another process. Give it a file.")
        with self._lock:
            try:
                yield self._connection
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")


@contextlib.contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a file that exists; SQLite must never make an empty one, which would renew the budget."""
    with contextlib.closing(
        sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True, timeout=_WAIT, isolation_level=None)
    ) as connection:
        connection.execute("PRAGMA synchronous = EXTRA")  # FULL does not sync the journal's removal
        connection.execute("PRAGMA fullfsync = ON")
        yield connection


def _create(path: Path, limit: Guarantee | None) -> None:
    """Make the whole file under another name, then link it: nobody ever sees half a ledger."""
    if limit is None:
        raise HedgerowError(f"path must be a ledger that exists, or limit be given. Got {str(path)!r}.")
    # SQLite would play an old journal back into the new file. (Ask for the journal first: another
    # process may make the ledger, and spend, between the two questions.)
    if Path(f"{path}-journal").exists() and not path.exists():
        raise FormatError(f"{path} is gone, but its journal is there. Restore the ledger from a copy.")
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        draft.touch()
        with _open(draft) as connection:
            _fill(connection, limit)
        with contextlib.suppress(FileExistsError):  # another process was first: its limit counts
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _fill(connection: sqlite3.Connection, limit: Guarantee) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for statement in _SCHEMA:
        connection.execute(statement)
    connection.execute("INSERT INTO budget VALUES (1, ?)", (limit.to_json(),))
    connection.execute("COMMIT")


def _check_place(path: Path) -> None:
    """Refuse what no ledger can be: SQLite would wait for a pipe for ever."""
    if path.exists() and not path.is_file():
        raise FormatError(f"{path} is not a file, and so not a ledger. Give another path.")


def _layout(connection: sqlite3.Connection) -> set[tuple[Any, ...]]:
    """Return everything that a file declares: a trigger could give a budget back, a view could hide a spend."""
    return set(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@functools.cache
def _own_layout() -> set[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for statement in _SCHEMA:
            connection.execute(statement)
        return _layout(connection)


def _verified_limit(connection: sqlite3.Connection) -> Guarantee:
    """Check the whole file once, and return its limit."""
    connection.execute("BEGIN")
    found = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    if found[0] != _APPLICATION:
        raise FormatError("The file is not a ledger of hedgerow. Give another path.")
    if found[1] != VERSION:
        raise FormatError(f"The ledger has version {found[1]}, not {VERSION}. Use the hedgerow that wrote it.")
    if (state := connection.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
        raise _damaged(state)
    if _layout(connection) != _own_layout():
        raise _damaged("it declares other things than a ledger does")
    limits = connection.execute("SELECT guarantee FROM budget").fetchall()
    if len(limits) != 1:
        raise _damaged("it has no limit")
    limit = _as_limit(Guarantee.from_json(limits[0][0]))
    for row in connection.execute(f"SELECT {_COLUMNS} FROM entries"):
        if row[4:6] != _cost(_entry(row).guarantee):
            raise _damaged(f"the charge of entry {row[0]} is not its guarantee's")
        if not (_is_line(row[2]) and _is_line(row[6]) and (row[1] is None or _is_line(row[1]))):
            raise _damaged(f"the words of entry {row[0]} are not one line of text each")
    if min(_left(connection, limit)) < 0:
        raise _damaged("more than the limit was spent")
    connection.execute("ROLLBACK")
    return limit


def _left(connection: sqlite3.Connection, limit: Guarantee) -> tuple[int, int]:
    epsilon, delta = connection.execute("SELECT SUM(epsilon), SUM(delta) FROM entries").fetchone()
    most = (
        math.floor(_decimal(limit.epsilon) * EPSILON_UNITS),
        math.floor(_decimal(limit.delta) * DELTA_UNITS),
    )
    return most[0] - (epsilon or 0), most[1] - (delta or 0)


def _find(connection: sqlite3.Connection, key: str) -> tuple[Any, ...] | None:
    found = connection.execute(f"SELECT {_COLUMNS} FROM entries WHERE key = ?", (key,))
    return next(found, None)


def _acknowledge(row: tuple[Any, ...], epsilon: int, delta: int, purpose: str) -> Entry:
    """Return the entry of a key that was used before, if it was for the same release."""
    entry = _entry(row)
    if row[4:6] != (epsilon, delta) or entry.purpose != purpose:
        raise BudgetError(
            f"key {entry.key!r} was used for {entry.purpose!r} at {_amount(*entry.charged)}. Got {purpose!r} "
            f"at {_amount(*_budget(epsilon, delta))} instead: use another key for another release."
        )
    return entry


def _entry(row: tuple[Any, ...]) -> Entry:
    number, key, purpose, guarantee, epsilon, delta, time = row
    return Entry(number, key, purpose, Guarantee.from_json(guarantee), _budget(epsilon, delta), time)


def _as_limit(limit: Guarantee | float) -> Guarantee:
    if not isinstance(limit, Guarantee):
        limit = Guarantee(limit, protects="record", trust="central", neighbours="replace")
    if not 1 / EPSILON_UNITS <= limit.epsilon <= _LARGEST:
        raise HedgerowError(f"limit must have an epsilon from 1e-6 to 1e9. Got {limit.epsilon!r} instead.")
    return limit


def _is_line(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip()) and value.isprintable() and len(value) <= _LONGEST


def _check_text(name: str, value: object) -> None:
    if isinstance(value, str) and len(value) > _LONGEST:
        raise HedgerowError(f"{name} must have at most {_LONGEST} characters. Got {len(value)} instead.")
    if not _is_line(value):
        raise HedgerowError(f"{name} must be one line of text that is not empty. Got {value!r} instead.")


def _refusal(purpose: str, cost: tuple[int, int], left: tuple[int, int]) -> str:
    return (
        f"{purpose!r} needs {_amount(*_budget(*cost))}, but only {_amount(*_budget(*left))} are left. "
        "Spend less, or do without: a limit is never raised."
    )


def _damaged(reason: object) -> FormatError:
    return FormatError(f"The ledger is damaged or is not one: {reason}. Restore it from a copy.")


def _decimal(value: float) -> Fraction:
    return Fraction(repr(value))


def _cost(guarantee: Guarantee) -> tuple[int, int]:
    epsilon = _decimal(guarantee.epsilon)
    delta = _decimal(guarantee.delta)
    return math.ceil(epsilon * EPSILON_UNITS), math.ceil(delta * DELTA_UNITS)


def _budget(epsilon: int, delta: int) -> Budget:
    return Budget(epsilon / EPSILON_UNITS, delta / DELTA_UNITS)


def _amount(epsilon: float, delta: float) -> str:
    return f"epsilon = {epsilon:.15g} and delta = {delta:.15g}"


def _describe(limit: Guarantee) -> str:
    return f"{_amount(limit.epsilon, limit.delta)} ({limit.protects}, {limit.trust}, {limit.neighbours})"
