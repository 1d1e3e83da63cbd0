"""The service without HTTP: tasks, reports, results, all through one writer."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.aggregator import Aggregator, add_rows, kept_rows
from hedgerow.service.collection import Collection
from hedgerow.service.database import Database, StorageError
from hedgerow.service.intake import Outcome, Upload
from hedgerow.service.kinds import Kind
from hedgerow.service.logs import log
from hedgerow.service.problems import Problem
from hedgerow.service.schema import partials, sealed_segments, segments, tasks, upload_tokens, uploads
from hedgerow.service.schema import settings as settings_table
from hedgerow.service.settings import Settings
from hedgerow.service.writer import Writer
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task
from hedgerow.tasks.keys import base64url, ed25519, from_base64url

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Service", "digest_of"]

_MANY = 100_000  # reports that a result adds up at once, five segments of the aggregator; by hand
_ADD_REFUSAL = sa.text(
    "INSERT INTO refusals (task, code, n) VALUES (:task, :code, :n) "
    "ON CONFLICT (task, code) DO UPDATE SET n = refusals.n + excluded.n"
)


def digest_of(token: str) -> bytes:
    """Return what is stored of a secret token (they have 256 random bits, so a plain digest is enough)."""
    return hashlib.sha256(token.encode()).digest()


class Service:
    """Everything the routes need.

    Parameters
    ----------
    database : Database
        Where all state lives.
    clock : callable
        Returns unix seconds; read once a request.
    key : Ed25519PrivateKey, optional
        The curator's signing key; by default the one in the database, made when first needed.
    curator_token : str, optional
        A curator's token besides those in the database.
    """

    def __init__(
        self,
        database: Database,
        *,
        settings: Settings | None = None,
        clock: Callable[[], float] = time.time,
        key: Ed25519PrivateKey | None = None,
        curator_token: str | None = None,
    ) -> None:
        self.database = database
        self.clock = clock
        self.settings = settings or Settings()
        self.writer = Writer(database, group=self.settings.group, waiting=self.settings.waiting)
        self.aggregator = Aggregator(
            database,
            self.writer,
            self._look,
            every=self.settings.aggregate_seconds,
            idle=self._flush,
            clock=clock,
            remember=self.settings.remember_seconds,
        )
        self.requests: Counter[tuple[str, int]] = Counter()
        self.reports: Counter[str] = Counter()
        self._logged: Counter[str] = Counter()
        self._last_log = time.monotonic()
        self._refused: Counter[tuple[int, str]] = Counter()
        self._known: dict[str, Collection] = {}
        self._numbers: dict[int, Collection] = {}
        self._lock = threading.Lock()
        self._key = key
        self._curators = {digest_of(curator_token)} if curator_token else set()

    def start(self) -> Service:
        """Start the threads."""
        self.writer.start()
        self.aggregator.start()
        log("started", database=self.database.url.get_backend_name())
        return self

    def stop(self) -> None:
        """Add up what waits and scrub, keep the counters, close the database."""
        self.aggregator.stop()
        with contextlib.suppress(StorageError):
            self._flush()
        self._log_uploads()
        self.writer.stop()
        self.database.close()
        log("stopped")

    # Who may do what.

    def is_curator(self, token: str) -> bool:
        """Whether a token is a curator's."""
        digest = digest_of(token)
        known = self._curators or self._load_curators()
        if any(hmac.compare_digest(digest, c) for c in known):
            return True
        return any(hmac.compare_digest(digest, c) for c in self._load_curators())

    def _load_curators(self) -> set[bytes]:
        with self.database.read() as connection:
            query = sa.select(settings_table.c.name).where(settings_table.c.name.startswith("curator:"))
            return {bytes.fromhex(name.split(":")[1]) for name in connection.execute(query).scalars()}

    def add_curator(self) -> str:
        """Make a curator's token; it is returned once, and only its digest is kept."""
        token = "hc_" + secrets.token_urlsafe(32)
        row = {"name": f"curator:{digest_of(token).hex()}", "value": "1"}
        with self.database.write() as connection:
            connection.execute(settings_table.insert().values(**row))
        return token

    @property
    def key(self) -> Ed25519PrivateKey:
        """The curator's signing key."""
        with self._lock:
            if self._key is None:
                self._key = self._load_key()
            return self._key

    def _load_key(self) -> Ed25519PrivateKey:
        made = ed25519().Ed25519PrivateKey.generate()
        with self.database.write() as connection:
            query = sa.select(settings_table.c.value).where(settings_table.c.name == "signing-key")
            found = connection.execute(query).scalar()
            if found is None:
                text = base64url(made.private_bytes_raw())
                connection.execute(settings_table.insert().values(name="signing-key", value=text))
                return made  # type: ignore[no-any-return]
        return ed25519().Ed25519PrivateKey.from_private_bytes(from_base64url(found, 32))  # type: ignore[no-any-return]

    # Tasks.

    def collection(self, task_id: str) -> Collection:
        """Return a published task, or raise the problem ``task-unknown``."""
        found = self._known.get(task_id) or self._load(tasks.c.id == task_id)
        if found is None:
            raise Problem("task-unknown", "No task with this id was published here; check the address.")
        return found

    def known(self, task_id: str) -> Collection | None:
        """Return a task that is in memory already."""
        return self._known.get(task_id)

    def _look(self, number: int) -> tuple[Kind, Detector]:
        found = self._numbers.get(number) or self._load(tasks.c.number == number)
        assert found is not None
        return found.kind, found.detector

    def _load(self, condition: Any) -> Collection | None:
        with self.database.read() as connection:
            row = connection.execute(sa.select(tasks).where(condition)).first()
        return None if row is None else self._remember(Collection.from_row(row))

    def _remember(self, collection: Collection) -> Collection:
        self._numbers[collection.number] = self._known[collection.id] = collection
        return collection

    def collections(self) -> list[tuple[Collection, int | None]]:
        """Return all tasks with the time of their closing, newest first."""
        with self.database.read() as connection:
            rows = connection.execute(sa.select(tasks).order_by(tasks.c.number.desc())).all()
        return [(self._known.get(r.id) or self._remember(Collection.from_row(r)), r.closed) for r in rows]

    def publish(self, task: Any, *, simulation: bool, now: int, **words: Any) -> tuple[Collection, bool]:
        """Sign and publish a task; return it, and whether it is new. The same task twice must say the same."""
        notice = Announcement.sign(task, self.key, **words)
        first = self._first_of(task)
        row = {"id": notice.id, "announcement": notice.to_json(), "first": first, "simulation": simulation}

        def change(connection: Connection) -> tuple[Any, bool]:
            found = connection.execute(sa.select(tasks).where(tasks.c.id == notice.id)).first()
            if found is not None:
                return found, False
            connection.execute(tasks.insert().values(created=now, finished=False, **row))
            return connection.execute(sa.select(tasks).where(tasks.c.id == notice.id)).one(), True

        stored, new = self.writer.run(change)
        if stored.announcement != row["announcement"] or bool(stored.simulation) != simulation:
            raise Problem("task-exists", "A published task never changes; give the new one another title.")
        if new:
            log("task-created", task=notice.id, kind=notice.kind, opens=notice.opens, closes=notice.closes)
        return self._remember(Collection.from_row(stored)), new

    def _first_of(self, task: Task) -> int | None:
        if task.before is None:
            return None
        try:
            return self.collection(task.before.id).number
        except Problem:
            raise Problem("first-round-unknown", "Reports of the second round are checked against the first.") from None

    def close(self, collection: Collection, now: int) -> int:
        """Take no more reports, for ever; return when it was closed. Closing twice is fine."""

        def change() -> int:
            own = tasks.c.number == collection.number
            with self.database.write_uploads() as connection:  # between two commits of reports, by whatever server
                connection.execute(tasks.update().where(own & tasks.c.closed.is_(None)).values(closed=now))
                return int(connection.execute(sa.select(tasks.c.closed).where(own)).scalar_one())

        closed = self.writer.call(change)
        log("task-closed", task=collection.id)
        return closed

    def issue_tokens(self, collection: Collection, count: int, quota: int) -> list[str]:
        """Make upload tokens, each good for ``quota`` reports; only their digests are kept."""
        made = ["hu_" + secrets.token_urlsafe(32) for _ in range(count)]
        digests = sorted(map(digest_of, made))
        rows = [{"task": collection.number, "digest": d, "remaining": quota} for d in digests]

        def change(connection: Connection) -> None:
            connection.execute(upload_tokens.insert(), rows)

        self.writer.run(change)
        log("tokens-issued", task=collection.id, count=count, quota=quota)
        return made

    # Reports.

    async def store(self, upload: Upload) -> Outcome:
        """Store reports durably."""
        if not self.settings.storage:
            return Outcome(refused=upload.late) if upload.late else Outcome(len(upload))
        return await self.writer.upload(upload)

    def refuse(self, number: int, code: str, n: int = 1) -> None:
        """Count a refusal (0: of no task)."""
        self._refused[number, code] += n

    def _flush(self) -> None:
        """Keep the counts of refusals; now and then, sum up what was uploaded."""
        if time.monotonic() - self._last_log >= self.settings.log_seconds:
            self._log_uploads()
        with self._lock:
            gone = self._refused
            self._refused = Counter()
        if gone:
            rows = [{"task": task, "code": code, "n": n} for (task, code), n in gone.items()]
            try:
                self.writer.run(lambda connection: connection.execute(_ADD_REFUSAL, rows) and None)
            except StorageError:
                self._refused.update(gone)
                raise

    def _log_uploads(self) -> None:
        sums = self.reports - self._logged
        self._logged = self.reports.copy()
        self._last_log = time.monotonic()
        if sums:
            log("uploads", reports=dict(sums))

    def refused_now(self, number: int) -> Counter[str]:
        """Return refusals that are not in the database yet."""
        return Counter({code: n for (task, code), n in list(self._refused.items()) if task == number})

    # Results.

    def total(self, collection: Collection) -> Any:
        """Return the aggregate of every acknowledged report, bit for bit that of the library."""
        kind = collection.kind
        if kind.retains:
            raise Problem("not-available", "This task delivers its reports as a data set; see /data.")
        while self._pending(collection) > _MANY and self.aggregator.segment(collection.number):
            pass  # a backlog is worked off first, a segment at a time
        with self.database.read() as connection:
            sums = connection.execute(sa.select(partials.c.sums).where(partials.c.task == collection.number)).scalar()
            pending = connection.execute(sa.select(uploads).where(uploads.c.task == collection.number)).all()
        return add_rows(kind, kind.aggregate(sums or b""), list(pending))

    def _pending(self, collection: Collection) -> int:
        query = sa.select(sa.func.coalesce(sa.func.sum(uploads.c.n), 0)).where(uploads.c.task == collection.number)
        with self.database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def rows(self, collection: Collection) -> tuple[Any, bool]:
        """Return every kept row of a task that delivers a data set, and whether any is of a simulation."""
        with self.database.read() as connection:
            found = [
                row
                for table in (sealed_segments, segments, uploads)
                for row in connection.execute(sa.select(table).where(table.c.task == collection.number))
            ]
        return kept_rows(collection.kind, [r.body for r in found]), any(r.simulation for r in found)
