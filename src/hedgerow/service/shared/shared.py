"""Tasks that two servers share, as the service sees them: agree, verify, collect."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Party, Protocol
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.holder.client import ServiceError
from hedgerow.holder.witness import check_witness
from hedgerow.sealing import Role
from hedgerow.service.collection import Collection
from hedgerow.service.database import StoragePressure
from hedgerow.service.logs import log
from hedgerow.service.problems import Problem
from hedgerow.service.schema import batches, jobs, uploads
from hedgerow.service.shared import agreement
from hedgerow.service.shared.closing import close_batch, keep_other
from hedgerow.service.shared.helper import Helper
from hedgerow.service.shared.leader import Leader, checkpoint
from hedgerow.service.shared.operator import Identity, read_identity
from hedgerow.service.shared.peers import Caller, find_peer, opened, signed
from hedgerow.service.shared.state import Released, batch_of, released_of
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task

if TYPE_CHECKING:
    from hedgerow.service.service import Service

__all__ = ["Shared"]

_TRIES = 20  # times that another process may be faster, in one collection; by hand
_KEY = 32  # bytes of an operator's key, with which a message between servers starts


class Shared:
    """What the service does with shared tasks, in either role.

    Parameters
    ----------
    service : Service
        Its database, writer and clock are used.
    caller : Caller, optional
        How other servers are asked (for tests).
    """

    def __init__(self, service: Service, caller: Caller | None = None) -> None:
        self.service = service
        self.caller = caller or Caller()
        self._identity: Identity | None = None
        self._turn = threading.Lock()

    @property
    def identity(self) -> Identity | None:
        """Who runs this server; None until that was said."""
        if self._identity is None:
            with self.service.database.read() as connection:
                self._identity = read_identity(connection, lambda: self.service.key)
        return self._identity

    def check_leader(self, collection: Collection) -> None:
        """Refuse reports at any other server than the leader."""
        leader = agreement.protocol_of(collection.task).servers.leader
        if self._identity is None or self._identity.card != leader:
            raise Problem("not-leader", f"Send reports to {leader.origin}.")

    def party(self, collection: Collection, role: Role) -> Party:
        """Return this server's part in a task."""
        return agreement.checked(agreement.protocol_of(collection.task), role, self.identity)

    # Agreeing.

    def lead(self, task: Task, notice: Announcement) -> tuple[bytes, bytes]:
        """Let the helper agree to a new task; return both countersignatures."""
        protocol = agreement.protocol_of(task)
        agreement.checked(protocol, Role.LEADER, self.identity)
        identity = self.identity
        assert identity is not None
        helper = protocol.servers.helper
        with self.service.database.read() as connection:
            if find_peer(connection, helper.signing_key) != helper:
                raise Problem("not-shared", "The helper is not one of this server's peers: hedgerow serve peers --add")
        own = agreement.countersigned(protocol, Role.LEADER, identity)
        theirs = self._ask(protocol, "/v1/shared/tasks", agreement.to_message(notice.to_json(), own))
        try:
            check_witness(protocol, Role.HELPER, theirs)
        except FormatError as error:
            raise Problem("helper-unreachable", str(error)) from None
        return own, theirs

    def _ask(self, protocol: Protocol, path: str, body: bytes) -> bytes:
        identity = self.identity
        assert identity is not None
        try:
            return self.caller.ask(identity, protocol.servers.helper, path, body)
        except ServiceError as error:
            log("helper-refused", level="error", status=error.status, code=error.code)
            known = error.code if error.ours and error.code in _PASSED_ON else "helper-unreachable"
            raise Problem(known, f"The helper: {error}") from None
        except HedgerowError as error:
            raise Problem("helper-unreachable", str(error)) from None

    def agree(self, data: bytes, path: str) -> bytes:
        """Answer a leader that asks this server to be the helper of a task."""
        identity = self._known()
        body = self._opened(data, path, data[:_KEY])
        with self.service.database.read() as connection:
            peer = find_peer(connection, data[:_KEY])
        if peer is None:
            raise Problem("not-shared", "The leader is not one of this server's peers.")
        text, witness = agreement.from_message(body)
        try:
            notice = Announcement.from_json(text).verify()
        except HedgerowError as error:
            raise Problem("invalid-request", str(error)) from None
        protocol = agreement.protocol_of(notice.task)
        if peer != protocol.servers.leader:
            raise Problem("not-shared", "The leader that the task names is not one of this server's peers.")
        agreement.checked(protocol, Role.HELPER, identity)
        check_witness(protocol, Role.LEADER, witness)
        own = agreement.countersigned(protocol, Role.HELPER, identity)
        self.service.adopt(notice, witness, own, actor=f"leader {peer.operator}")
        return signed(identity, path, own, data)

    def witnesses(self, collection: Collection) -> tuple[bytes, bytes]:
        """Return the countersignatures of leader and helper."""
        with self.service.database.read() as connection:
            query = sa.select(batches.c.leader, batches.c.helper).where(batches.c.task == collection.number)
            row = connection.execute(query).first()
        if row is None:
            raise Problem("not-available", "This task has one server, which nobody countersigns.")
        return bytes(row.leader), bytes(row.helper)

    # Verifying.

    def turn(self, collection: Collection) -> int:
        """Work on the reports that wait at the leader; return how many were dealt with."""
        with self._turn:  # the aggregator and a collection must not send the same job side by side
            n, refused = self._leader(collection).turn()
        if refused:
            self.service.refuse(collection.number, "invalid-report", refused)
        return n

    def _leader(self, collection: Collection) -> Leader:
        party = self.party(collection, Role.LEADER)
        identity = self._known()
        service = self.service
        return Leader(service.database, service.writer, collection, party, identity, self.caller)

    def answer(self, collection: Collection, data: bytes, path: str) -> bytes:
        """Answer a job of the leader."""
        party = self.party(collection, Role.HELPER)
        body = self._opened(data, path, party.protocol.servers.leader.signing_key)
        helper = Helper(self.service.database, self.service.writer, collection, party)
        return signed(self._known(), path, helper.answer(body), data)

    # Collecting.

    def release(self, collection: Collection, data: bytes, path: str) -> bytes:
        """Release the helper's share of a batch, if it is the batch that the leader has."""
        party = self.party(collection, Role.HELPER)
        body = self._opened(data, path, party.protocol.servers.leader.signing_key)
        try:
            content = json.loads(body)
            n = int(content["n"])
            checksum = bytes.fromhex(content["checksum"])
        except (ValueError, KeyError, TypeError, RecursionError, OverflowError) as error:
            raise Problem("invalid-request", f"This is not the name of a batch: {error}") from None
        found = self._close(collection, party.protocol, n, checksum, "leader")
        return signed(self._known(), path, found.sealed, data)

    def collect(self, collection: Collection, actor: str) -> Released:
        """Close a task at the leader, let the helper release its share, then release the leader's own."""
        party = self.party(collection, Role.LEADER)
        with self.service.database.read() as connection:
            found = released_of(connection, collection.number)
        if found is not None and found.other is not None:
            return found
        self._drain(collection, party.protocol)
        with self.service.database.read() as connection:
            _, batch = batch_of(connection, party.protocol, collection.number)
        n, checksum = (batch.n, batch.checksum) if found is None else (found.n, found.checksum)
        if n < party.protocol.min_batch:
            raise Problem("batch-too-small", f"At least {party.protocol.min_batch} reports are needed; there are {n}.")
        name = json.dumps({"n": n, "checksum": checksum.hex()}).encode()
        theirs = self._ask(party.protocol, f"/v1/shared/{collection.id}/share", name)
        checkpoint("helper-released")
        self._close(collection, party.protocol, n, checksum, actor)
        checkpoint("leader-released")
        self.service.writer.run(lambda connection: keep_other(connection, collection.number, theirs))
        with self.service.database.read() as connection:
            done = released_of(connection, collection.number)
        assert done is not None
        return done

    def _close(self, collection: Collection, protocol: Protocol, n: int, checksum: bytes, actor: str) -> Released:
        now = int(self.service.clock())

        def change() -> Released:
            with self.service.database.write_uploads() as connection:
                return close_batch(connection, collection, protocol, n, checksum, now, actor)

        return self.service.writer.call(change)

    def _drain(self, collection: Collection, protocol: Protocol) -> None:
        """Verify all that waits; the task is closed already, so that nothing comes after it."""
        try:
            tries = 0
            while self.waiting(collection):
                try:
                    self.turn(collection)
                except StoragePressure:  # another process was faster: look again
                    tries += 1
                    if tries > _TRIES:
                        raise
        except ServiceError as error:
            raise Problem("helper-unreachable", f"The helper: {error}") from None

    def waiting(self, collection: Collection) -> int:
        """Return how many reports the helper has not answered for yet."""
        with self.service.database.read() as connection:
            return sum(_waiting(connection, table, collection.number) for table in (uploads, jobs))

    # Who asks.

    def _known(self) -> Identity:
        identity = self.identity
        if identity is None:
            raise Problem("not-shared", "Nobody has said who runs this server: it shares no task.")
        return identity

    def _opened(self, data: bytes, path: str, key: bytes) -> bytes:
        try:
            return opened(data, path, key)
        except (FormatError, ValueError) as error:
            raise Problem("forbidden", str(error)) from None


_PASSED_ON = ("batch-mismatch", "batch-too-small", "not-shared", "task-closed")


def _waiting(connection: Connection, table: Any, number: int) -> int:
    query = sa.select(sa.func.coalesce(sa.func.sum(table.c.n), 0)).where(table.c.task == number)
    return int(connection.execute(query).scalar_one())
