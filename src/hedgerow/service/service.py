"""The service without HTTP: tasks, reports, results, all through one writer."""

from __future__ import annotations

import contextlib
import hmac
import secrets
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.holder.client import ServiceError
from hedgerow.sealing import Role
from hedgerow.service.aggregator import Aggregator
from hedgerow.service.audit import write_audit
from hedgerow.service.bodies import Bodies
from hedgerow.service.collection import Collection, Damaged
from hedgerow.service.curators import ENVIRONMENT, Curator, check_token, digest_of, find_curator
from hedgerow.service.database import Database, StorageError
from hedgerow.service.guesses import Guesses
from hedgerow.service.intake import Outcome, Upload
from hedgerow.service.issued import Issued, NewToken, new_tokens
from hedgerow.service.kinds import Kind
from hedgerow.service.latency import Latency
from hedgerow.service.logs import log
from hedgerow.service.passes import new_key, public_key
from hedgerow.service.problems import Problem
from hedgerow.service.publishing import check_grouping, check_records, check_words
from hedgerow.service.rates import Rates
from hedgerow.service.removal import check_whole, remove
from hedgerow.service.schema import partials, pass_keys, sealed_segments, segments, tasks, uploads
from hedgerow.service.schema import settings as settings_table
from hedgerow.service.segments import add_rows, kept_rows
from hedgerow.service.settings import Settings
from hedgerow.service.shared.agreement import keep_agreement
from hedgerow.service.shared.shared import Shared
from hedgerow.service.shared.state import Released
from hedgerow.service.timeline import check_target, write_target
from hedgerow.service.writer import Writer
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task
from hedgerow.tasks.keys import base64url, ed25519, from_base64url
from hedgerow.tasks.trimmed import Groups, Trimmed, group_key, trimmed

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["FINISH_SECONDS", "Service"]

FINISH_SECONDS = 8
"""For requests that are being answered when the server is told to stop; by hand: an upload takes milliseconds."""
STOP_SECONDS = 18.0
"""For all that follows: both together are less than the 30 seconds after which supervisors kill; by hand."""
_ANEW = "To ask anew make another task: design it with another title ('hedgerow design --title')."
_MANY = 100_000  # reports that a result adds up at once, five segments of the aggregator; by hand
HELPER_SECONDS = 10.0
"""After which a helper that did not answer is asked again; by hand."""
HELPER_SLOW = 1.0
"""Seconds that a helper may take, after which reports of other tasks are added up before it is asked again; by hand."""
PROBE_SECONDS = 1.0
"""For which a write that succeeded speaks: probes are public, and each costs a commit; by hand."""
_PROBE = sa.text(
    "INSERT INTO settings (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
)
_ADD_REFUSAL = sa.text(
    "INSERT INTO refusals (task, code, n) VALUES (:task, :code, :n) "
    "ON CONFLICT (task, code) DO UPDATE SET n = refusals.n + excluded.n"
)


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
        A curator's token besides those in the database; one that can be guessed is refused.
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
            share=self._verify,
            idle=self._flush,
            clock=clock,
            remember=self.settings.remember_seconds,
        )
        self.shared = Shared(self)
        self._rests: dict[int, float] = {}
        self.requests: Counter[tuple[str, int]] = Counter()
        self.reports: Counter[str] = Counter()
        self.problems: Counter[str] = Counter()
        self.latency: defaultdict[str, Latency] = defaultdict(Latency)
        self._logged: Counter[str] = Counter()
        self._last_log = time.monotonic()
        self._refused: Counter[tuple[int, str]] = Counter()
        self.guesses = Guesses(self.settings.guess_seconds)
        self.rates = Rates(self.settings.address_rate, self.settings.token_rate)
        self.bodies = Bodies(self.settings.most_waiting_bytes, self.settings.body_seconds)
        self.issued = Issued(database)
        self._learnt: dict[tuple[Any, ...], Any] = {}
        self._known: dict[str, Collection] = {}
        self._numbers: dict[int, Collection] = {}
        self._closings: dict[int, int] = {}
        self._probed = -PROBE_SECONDS
        self._lock = threading.Lock()
        self._key = key
        self._environment = digest_of(check_token(curator_token)) if curator_token else None

    def start(self) -> Service:
        """Start the threads."""
        self.writer.start()
        _ = self.shared.identity  # uploads look at it, and must not wait for the database
        with contextlib.suppress(StorageError):  # a server starts beside a database that is busy, too
            self.writer.call(self.database.known.prepare)
        self.aggregator.start()
        log("started", database=self.database.url.get_backend_name())
        return self

    def stop(self) -> None:
        """Add up what waits and scrub, keep the counters, close the database; within :data:`STOP_SECONDS`.

        A database that does not answer must not keep the process alive: what was acknowledged is in it, and what was
        not will be sent again.
        """
        ending = threading.Thread(target=self._end, name="ending", daemon=True)
        ending.start()
        ending.join(STOP_SECONDS)
        log("stopped" if not ending.is_alive() else "stopped-without-the-database")

    def _end(self) -> None:
        self.aggregator.stop()
        with contextlib.suppress(StorageError):
            self._flush()
        self._log_uploads()
        self.writer.stop()
        self.database.close()

    # Who may do what.

    def curator(self, token: str) -> Curator | None:
        """Return whose token this is."""
        if self._environment is not None and hmac.compare_digest(digest_of(token), self._environment):
            return ENVIRONMENT
        with self.database.read() as connection:
            return find_curator(connection, token)

    @property
    def environment(self) -> bytes | None:
        """The digest of the environment's token; None where none is set."""
        return self._environment

    def note(self, curator: Curator, action: str, collection: Collection | None = None, detail: str = "") -> None:
        """Write down what a curator does, durably, before it is done."""
        now = int(self.clock())
        task = None if collection is None else collection.id

        def change(connection: Connection) -> None:
            write_audit(connection, now, curator.name, action, task=task, detail=detail)

        self.writer.run(change)

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
        try:
            found = self._known.get(task_id) or self._load(tasks.c.id == task_id)
        except StorageError:
            raise  # of the database, and nothing for strangers to read
        except HedgerowError as error:
            raise Problem("task-damaged", f"It can be deleted, and nothing else: {error}") from None
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
        if row is None:
            return None
        if row.deleted is not None:
            raise Problem("task-deleted", "The curator has deleted this task and all that was collected.")
        found = self._remember(Collection.from_row(row))
        if row.closed is not None:
            self._closings[found.number] = row.closed
        return found

    def closed(self, number: int) -> int | None:
        """Return when a task was closed, as far as this server has heard: of others it hears once a turn."""
        return self._closings.get(number)

    def _remember(self, collection: Collection) -> Collection:
        self._numbers[collection.number] = self._known[collection.id] = collection
        return collection

    def _forget(self, number: int) -> None:
        found = self._numbers.pop(number, None)
        if found is not None:
            self._known.pop(found.id, None)

    def _hear_of_others(self) -> None:
        """Forget tasks that another server has deleted, and note those that one has closed."""
        query = sa.select(tasks.c.number, tasks.c.closed, tasks.c.deleted)
        with self.database.read(young=False) as connection:
            rows = connection.execute(query.where(tasks.c.closed.is_not(None) | tasks.c.deleted.is_not(None))).all()
        self._closings.update({row.number: row.closed for row in rows if row.closed is not None})
        for row in rows:
            if row.deleted is not None:
                self._forget(row.number)

    def collections(self) -> tuple[list[tuple[Collection, int | None]], list[Damaged]]:
        """Return all tasks with the time of their closing, newest first; and those that cannot be read.

        Announcements may be long, and nothing in them changes: those that are in memory are not read again.
        """
        found = []
        damaged = []
        columns = (tasks.c.number, tasks.c.id, tasks.c.closed)
        with self.database.read(young=False) as connection:
            query = sa.select(*columns).where(tasks.c.deleted.is_(None)).order_by(tasks.c.number.desc())
            for row in connection.execute(query).all():
                try:
                    found.append((self._known.get(row.id) or self._read(connection, row.number), row.closed))
                except HedgerowError as error:
                    damaged.append(Damaged(row.number, row.id, str(error)))
        return found, damaged

    def _read(self, connection: Connection, number: int) -> Collection:
        """Read a task that is in the database, and keep it in memory."""
        row = connection.execute(sa.select(tasks).where(tasks.c.number == number)).one()
        return self._remember(Collection.from_row(row))

    def publish(
        self, task: Any, *, simulation: bool, now: int, publisher: Curator, **words: Any
    ) -> tuple[Collection, bool]:
        """Sign and publish a task; return it, and whether it is new. The same task twice must say the same."""
        for name in ("purpose", "curator"):
            if not str(words.get(name, "")).strip():
                raise Problem("invalid-request", f"Holders are told the {name!r} of a task: say it.")
        check_records(task, **words)
        target = check_target(words.pop("target", None))
        groups = check_grouping(task, words.pop("groups", 0), target, words.get("max_reports", 0))
        made = self._pass_key(task) if words.pop("passes", False) else (b"", b"")
        notice = Announcement.sign(task, self.key, pass_key=made[1], **words)
        check_words(notice)
        first = self._first_of(task)
        row: dict[str, Any] = {"id": notice.id, "announcement": notice.to_json(), "first": first}
        row |= {"simulation": simulation, "groups": groups, "group_key": group_key() if groups else None}
        witnesses = self.shared.lead(task, notice) if task.sealed else None
        stored, new = self._store(row, now, publisher.name, Role.LEADER, witnesses, made[0])
        if stored.deleted is not None:
            raise Problem("task-deleted", f"This task was deleted, and its id is never used again. {_ANEW}")
        if (stored.announcement, bool(stored.simulation), stored.groups) != (row["announcement"], simulation, groups):
            raise Problem("task-exists", f"A published task keeps its words, its window and who may answer. {_ANEW}")
        if target is not None:
            self.aim(self._remember(Collection.from_row(stored)), target, now, publisher)
        if new:
            log("task-created", task=notice.id, kind=notice.kind, opens=notice.opens, closes=notice.closes)
        return self._remember(Collection.from_row(stored)), new

    def _pass_key(self, task: Any) -> tuple[bytes, bytes]:
        """Return a new key of passes and its modulus; of a task that is published already, b"" and its modulus."""
        known = public_key(self.database, task.id)
        return new_key() if known is None else (b"", known)

    def _store(
        self,
        row: dict[str, Any],
        now: int,
        actor: str,
        role: Role,
        witnesses: tuple[bytes, bytes] | None,
        pass_key: bytes = b"",
    ) -> tuple[Any, bool]:
        """Store a task that is new, with this server's role in it where two share it; return it, and whether it is."""

        def change(connection: Connection) -> tuple[Any, bool]:
            found = connection.execute(sa.select(tasks).where(tasks.c.id == row["id"])).first()
            if found is not None:
                return found, False
            connection.execute(tasks.insert().values(created=now, finished=False, **row))
            stored = connection.execute(sa.select(tasks).where(tasks.c.id == row["id"])).one()
            if pass_key:
                connection.execute(pass_keys.insert().values(task=stored.number, key=pass_key))
            if witnesses is not None:
                keep_agreement(connection, stored.number, role, *witnesses)
            detail = Announcement.from_json(row["announcement"]).title if witnesses is None else role.name.lower()
            write_audit(connection, now, actor, "publish", task=row["id"], detail=detail)
            return stored, True

        return self.writer.run(change)

    def adopt(self, notice: Announcement, leader: bytes, helper: bytes, *, actor: str) -> None:
        """Store a task that this server agrees to be the helper of."""
        row = {"id": notice.id, "announcement": notice.to_json(), "first": None, "simulation": False}
        stored, new = self._store(row, int(self.clock()), actor, Role.HELPER, (leader, helper))
        if stored.deleted is not None or stored.announcement != row["announcement"]:
            raise Problem("task-exists", "The helper has this task with other words or another window, or had it.")
        if new:
            log("task-shared", task=notice.id)

    def collect(self, collection: Collection, curator: Curator) -> Released:
        """Close a shared task for ever and return what both servers release of it; always the same bytes."""
        protocol = collection.task.protocol
        with self.database.read() as connection:
            query = sa.select(partials.c.n).where(partials.c.task == collection.number)
            n = int(connection.execute(query).scalar() or 0) + self.shared.waiting(collection)
        if protocol is not None and n < protocol.min_batch:
            raise Problem("batch-too-small", f"At least {protocol.min_batch} reports are needed; there are {n}.")
        self.close(collection, int(self.clock()), curator)
        return self.shared.collect(collection, curator.name)

    def _verify(self, number: int) -> int:
        """Work on a shared task; where the helper does not answer, wait a while before it is asked again."""
        if time.monotonic() < self._rests.get(number, 0.0):
            return 0
        found = self._numbers.get(number) or self._load(tasks.c.number == number)
        assert found is not None
        start = time.monotonic()
        try:
            return self.shared.turn(found)
        except (ServiceError, FormatError) as error:
            self._rests[number] = time.monotonic() + HELPER_SECONDS
            log("helper-waits", level="error", task=number, reason=str(error))
            return 0
        finally:
            took = time.monotonic() - start
            if took > HELPER_SLOW:  # other tasks wait as long: they have as much time then
                self._rests[number] = max(self._rests.get(number, 0.0), time.monotonic() + took)

    def _first_of(self, task: Task) -> int | None:
        if task.before is None:
            return None
        try:
            return self.collection(task.before.id).number
        except Problem:
            raise Problem("first-round-unknown", "Reports of the second round are checked against the first.") from None

    def close(self, collection: Collection, now: int, curator: Curator) -> int:
        """Take no more reports, for ever; return when it was closed. Closing twice is fine."""

        def change() -> int:
            own = tasks.c.number == collection.number
            with self.database.write_uploads() as connection:  # between two commits of reports, by whatever server
                changed = connection.execute(tasks.update().where(own & tasks.c.closed.is_(None)).values(closed=now))
                if changed.rowcount:
                    write_audit(connection, now, curator.name, "close", task=collection.id)
                return int(connection.execute(sa.select(tasks.c.closed).where(own)).scalar_one())

        closed = self._closings[collection.number] = self.writer.call(change)
        log("task-closed", task=collection.id)
        return closed

    def aim(self, collection: Collection, target: int | None, now: int, curator: Curator) -> None:
        """Note how many reports the curator hopes for; None takes the note back. What is signed stays as it is."""

        def change(connection: Connection) -> None:
            write_target(connection, collection.number, target)
            detail = "none" if target is None else f"{target:,} reports"
            write_audit(connection, now, curator.name, "target", task=collection.id, detail=detail)

        self.writer.run(change)

    def delete(self, task_id: str, now: int, curator: Curator) -> bool:
        """Delete a task that is closed, or that cannot be read, with all that was collected for it, for ever.

        Return whether it is overwritten on the disk, too. If not yet, the aggregator sees to it.
        """
        number = remove(self.database, self.writer, task_id, now, curator.name)
        self._forget(number)
        log("task-deleted", task=task_id)
        return self.aggregator.overwrite()

    def issue_tokens(
        self, collection: Collection, count: int, quota: int, curator: Curator, first: int | None = None
    ) -> list[NewToken]:
        """Make upload tokens, each good for ``quota`` reports; only their digests are kept.

        Where reports name their record, each is for the next ``quota`` records: from ``first`` on, or from where the
        tokens before end.
        """
        if first is not None and not collection.kind.numbered:
            raise Problem("invalid-request", "Reports to this task do not name a record: leave out 'first_record'.")
        now = int(self.clock())
        if now >= collection.announcement.closes:
            raise Problem("task-ended", "Its time is over: nobody could answer with a new token.")

        def change(connection: Connection) -> list[NewToken]:
            own = tasks.c.number == collection.number
            if connection.execute(sa.select(tasks.c.closed).where(own)).scalar() is not None:
                raise Problem("task-closed", f"It is closed for ever: nobody could answer with a new token. {_ANEW}")
            made = new_tokens(connection, collection, count, quota, first)
            detail = f"{count} tokens for {quota} reports each"
            write_audit(connection, now, curator.name, "tokens", task=collection.id, detail=detail)
            return made

        made = self.writer.run_in_turn(change)  # no two servers give out the same records
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
        """Keep the counts of refusals; forget who is silent; now and then, sum up what was uploaded."""
        self.rates.forget()
        self._hear_of_others()
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

    def probe(self) -> None:
        """Write something; raise if that cannot be done now. Whoever asks often gets the last good answer."""
        if time.monotonic() - self._probed < PROBE_SECONDS:
            return

        def change() -> None:
            with self.database.write() as connection:
                values = {"name": "probe", "value": secrets.token_hex(4)}
                connection.execute(_PROBE, values)

        self.writer.call(change, seconds=10 * PROBE_SECONDS)
        self._probed = time.monotonic()

    # Results.

    def _sums(self, collection: Collection) -> Any:
        """Return the totals of every acknowledged report, by group where the task has groups."""
        kind = collection.kind
        if kind.shared:
            raise Problem("not-available", "No server can read the sums of this task: hedgerow collect.")
        if kind.retains:
            if kind.task.makes != "model":
                raise Problem("not-available", "This task delivers its reports as a data set; see /data.")
            return kind.task.totals().add(kind.batch(*self.rows(collection)))
        while self.aggregator.waiting(collection.number) > _MANY and self.aggregator.segment(collection.number):
            pass  # a backlog is worked off first, a segment at a time
        with self.database.read() as connection:
            check_whole(connection, collection.number)
            sums = connection.execute(sa.select(partials.c.sums).where(partials.c.task == collection.number)).scalar()
            pending = connection.execute(sa.select(uploads).where(uploads.c.task == collection.number)).all()
        return add_rows(kind, kind.aggregate(sums or b""), list(pending))

    def total(self, collection: Collection) -> Any:
        """Return the aggregate of every acknowledged report, bit for bit that of the library."""
        found = self._sums(collection)
        return found.total if isinstance(found, Groups) else found

    def trimmed(self, collection: Collection, trim: float) -> Trimmed:
        """Return totals without the groups at both ends; of a task that was published with groups."""
        found = None if not collection.groups else self._sums(collection)
        if not isinstance(found, Groups):
            raise Problem("not-available", "This task was published without 'groups': its sums are kept as one.")
        return trimmed(found.parts, trim)

    def learnt(self, collection: Collection, totals: Any, **options: Any) -> Any:
        """Return the model of totals; of kept reports the last one is remembered, for learning it takes a while."""
        if not collection.kind.retains:
            return totals.model(**options)
        key = (collection.number, totals.n_reports, *sorted(options.items()))
        found = self._learnt.get(key)
        if found is None:
            found = totals.model(**options)
            self._learnt = {key: found}
        return found

    def rows(self, collection: Collection) -> tuple[Any, bool]:
        """Return every kept row of a task that delivers a data set, and whether any is of a simulation."""
        with self.database.read() as connection:
            check_whole(connection, collection.number)
            found = [
                row
                for table in (sealed_segments, segments, uploads)
                for row in connection.execute(sa.select(table).where(table.c.task == collection.number))
            ]
        return kept_rows(collection.kind, [r.body for r in found]), any(r.simulation for r in found)
