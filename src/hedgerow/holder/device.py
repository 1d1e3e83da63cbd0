"""The holder on its own device: fetch, look, draw once, pay, send, and send the same again if need be."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hedgerow.aggregate import Protocol
from hedgerow.blind import Blinding, PublicKey
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.holder.budget import Cost, Limits
from hedgerow.holder.client import Client, Place, Receipt, ServiceError, bearer, read_url
from hedgerow.holder.make import check_question, make_body
from hedgerow.holder.picture import picture_of
from hedgerow.holder.store import Store
from hedgerow.holder.texts import Texts
from hedgerow.holder.witness import check_agreement, check_helper, check_leader
from hedgerow.holder.words import describe, when
from hedgerow.randomness import Randomness
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task
from hedgerow.tasks.keys import fingerprint
from hedgerow.tasks.passes import PASS, blinded_of, pass_of
from hedgerow.tasks.picture import Panel

__all__ = ["Answer", "Holder", "Invitation", "default_home"]


_FINAL = frozenset({"task-closed", "task-deleted"})
"""What a curator does for good; whatever else a server says may be otherwise tomorrow."""
_OVER = _FINAL | {"task-ended"}
"""What ends a sending after the signed end of the task: device and service agree that it is over, and that the report
was not counted, as far as the service knows: as long as it knows ids, one that was gets its receipt again."""
_GRACE = 30 * 86_400  # seconds after the signed end for which a server may be out of reach or astray; by hand


def default_home() -> Path:
    """Return where a device keeps its reports: ``$HEDGEROW_HOME``, or ``~/.hedgerow``."""
    return Path(os.environ.get("HEDGEROW_HOME") or Path.home() / ".hedgerow")


def checkpoint(name: str) -> None:
    """Do nothing; tests stop the process here, between any two steps."""


@dataclass(frozen=True)
class Invitation:
    """A verified announcement, where it came from, and what the device knows about it.

    ``closed`` is what the server says beside the announcement: its curator has closed the task.
    """

    notice: Announcement
    place: Place
    first_contact: bool
    budget: str
    closed: bool = False

    def describe(self, language: str = "en") -> str:
        """Return everything a person should know before answering."""
        text = describe(self.notice, self.budget, language)
        if self.first_contact:
            text += "\n" + Texts(language).say("join.first", key=self.notice.fingerprint)
        return text


@dataclass(frozen=True)
class Answer:
    """A report on disk. ``again`` says that it was drawn before: whatever the record is now, the bytes are the same.

    ``picture`` is what could have been sent and how likely; nothing if it was drawn before, for the record of then is
    not known.
    """

    invitation: Invitation
    body: bytes
    cost: Cost
    again: bool
    picture: tuple[Panel, ...] = ()


class Holder:
    """A person's device.

    Parameters
    ----------
    home : path-like, optional
        Folder of the device's file (made with mode 0700); by default :func:`default_home`.
    limits : Limits, optional
        Most epsilon for one curator, and for all; stored with the first use, and never renewed silently.
    client : Client, optional
        How to reach servers.
    randomness : Randomness, optional
        Secure by default; a seeded source makes simulations.
    clock : callable, optional
        The time in unix seconds.
    insecure : bool
        Whether to talk http to other machines.

    Notes
    -----
    The same task is answered once: its report is drawn once and used for every retry, and for every curator who asks
    the very same question. A report that was drawn but never sent costs nothing. Decide by the description and the
    odds, before you look at the bytes: a report that is held back *because of what it says* would tell something too.
    """

    def __init__(
        self,
        home: str | os.PathLike[str] | None = None,
        *,
        limits: Limits | None = None,
        client: Client | None = None,
        randomness: Randomness | None = None,
        clock: Callable[[], float] = time.time,
        insecure: bool = False,
    ) -> None:
        self.home = Path(home) if home is not None else default_home()
        self.store = Store(self.home / "holder.sqlite", limits)
        self._client = client or Client()
        self._randomness = randomness
        self._clock = clock
        self._insecure = insecure

    def fetch(self, url: str, *, trusted_key: bytes | str | None = None) -> Invitation:
        """Fetch a task and verify it: signature, id, and that this address has not changed its key."""
        place = read_url(url, insecure=self._insecure)
        text, closed = self._client.look(place.task_url)
        notice = Announcement.from_json(text).verify(trusted_key)
        if notice.id != place.task_id:
            raise FormatError(
                f"the server sent the task {notice.id[:12]}..., not {place.task_id[:12]}...; do not answer."
            )
        check_question(notice.task)
        if notice.task.protocol is not None:
            self._check_servers(notice.task.protocol, place)
        seen = self.store.trusted(place.base)
        if seen is not None and seen != notice.public_key:
            raise FormatError(
                f"{place.base} used the key {fingerprint(seen)} before, and now {notice.fingerprint}. Do not answer; "
                "ask the curator by another way what happened."
            )
        return Invitation(notice, place, seen is None and trusted_key is None, self._budget(notice), closed)

    def _check_servers(self, protocol: Protocol, place: Place) -> None:
        """Refuse a task unless both of its servers have countersigned it, and the helper is who the task says it is.

        The helper is asked at its own address: a curator who invents a helper has no certificate for that.
        """
        check_leader(protocol, place.base)
        check_agreement(protocol, self._client.get(f"{place.task_url}/witnesses"))
        check_helper(protocol, self._client.get(f"{protocol.servers.helper.origin}/v1/operator"))

    def _budget(self, notice: Announcement) -> str:
        key = notice.public_key
        store = self.store
        return (
            f"this curator was given {store.spent(key)} of {store.limit_of(key)} so far; "
            f"all together {store.spent()} of {store.total}"
        )

    def answer(
        self, invitation: Invitation, record: Mapping[str, Any], *, mask: Sequence[bool] | None = None
    ) -> Answer:
        """Draw the report and put it on disk; nothing leaves and nothing is spent yet.

        A task that was answered before gives the same bytes again, even if the record has changed since.
        """
        notice = invitation.notice
        task = notice.task
        cost = _cost(notice)
        if known := self.store.kept(notice.id):
            return Answer(invitation, known.body, known.cost, True)
        self.check_open(invitation)
        self.store.check(notice.id, notice.public_key, cost)
        first = task.before
        secrets = None
        if first is not None:
            secrets, record = self._secrets(notice, first, record)

        def draw() -> tuple[bytes, bytes | None]:
            body, kept = make_body(task, record, self._randomness, mask=mask, kept=secrets)
            checkpoint("drawn")
            return body, None if kept is None else kept.to_bytes()

        kept = self.store.keep(notice.id, cost, draw, first=None if first is None else first.id)
        checkpoint("kept")
        return Answer(invitation, kept.body, kept.cost, False, picture_of(task, kept.body, record, mask))

    def check_open(self, invitation: Invitation) -> None:
        """Refuse a task that takes no reports now, before anything is asked, drawn or spent for it."""
        notice = invitation.notice
        now = self._clock()
        if invitation.closed:
            raise ServiceError(Texts().say("page.ended"), code="task-closed")
        if now >= notice.closes:
            raise ServiceError(f"this task closed on {when(notice.closes)}. Nothing was spent.", code="closed")
        if now < notice.opens:
            raise ServiceError(f"this task opens on {when(notice.opens)}. Nothing was spent.", code="not-open")

    def _secrets(self, notice: Announcement, first: Task, record: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """Return what the first round left here, if this second round may use it, and the record to answer with."""
        kept = self.store.kept(first.id)
        if kept is None or kept.secrets is None:
            raise HedgerowError("this is a second round, and this device did not answer the first. Nothing was spent.")
        if not self.store.charged(first.id, notice.public_key):
            raise HedgerowError("the first round was not sent to this curator; answer that first. Nothing was spent.")
        return first.reopen(kept.body, kept.secrets, record)

    def send(self, answer: Answer, *, token: str | None = None) -> Receipt:
        """Book the cost on disk, then send the bytes; again and again the same ones until the server has them."""
        notice = answer.invitation.notice
        place = answer.invitation.place
        if token:
            bearer(token)  # what no request can carry must not be kept: it would be in the way at each new try
        if notice.tokens and not (token or self.store.sending(notice.id, place.base)[1]):
            raise HedgerowError(
                "this task takes one report a token, and 'token' is missing: use the link you were sent."
            )
        if not self.store.charged(notice.id, notice.public_key):
            self.check_open(answer.invitation)
        if notice.pass_key:
            token = self._pass(notice, place, token)
        self.store.charge(notice.id, place.base, notice.public_key, token, notice.closes)
        checkpoint("charged")
        return self._deliver(place)

    def _pass(self, notice: Announcement, place: Place, invitation: str | None) -> str | None:
        """Return the pass for this task; exchange the invitation for one, if that was not done before.

        The server signs a blinded message, so that it cannot tell later whose invitation the report came with.
        """
        if made := self.store.kept_pass(notice.id, place.base):
            return made
        if invitation is None or invitation.startswith(PASS):
            return invitation
        key = PublicKey.from_bytes(notice.pass_key)
        drawn = self.store.blinding(notice.id, place.base, lambda: key.draw().to_bytes(key.size))
        kept = Blinding.from_bytes(drawn)
        checkpoint("blinded")
        shown = blinded_of(notice.pass_key, notice.id, kept)
        signed = self._client.post_blinded(f"{place.task_url}/passes", shown, invitation)
        made = pass_of(notice.pass_key, notice.id, kept, signed)
        checkpoint("passed")
        self.store.keep_pass(notice.id, place.base, made)
        return made

    def _deliver(self, place: Place) -> Receipt:
        kept = self.store.kept(place.task_id)
        assert kept is not None
        state, token = self.store.sending(place.task_id, place.base)
        if state == "accepted":
            return Receipt(False, True)
        try:
            receipt = self._client.post_reports(f"{place.task_url}/reports", kept.body, token)
        except ServiceError as error:
            if error.ours and error.code in _FINAL:
                self.store.settle(place.task_id, place.base, f"refused {error.code}")
            raise
        checkpoint("sent")
        self.store.settle(place.task_id, place.base, "accepted" if receipt.final else f"refused {receipt.code}")
        return receipt

    def resend(self, only: Place | None = None) -> dict[Place, Receipt | ServiceError]:
        """Send all reports that were paid for and not acknowledged, or that to one task; return what became of each.

        The same task may wait at several addresses: of two curators who ask the very same question, one may have the
        report and the other not.

        A refusal that may pass (a proxy's, a wrong clock's, a restored database's) ends nothing: the same bytes are
        sent again until the signed end of the task. After it the service's own word that the task is over ends it, or
        30 days without such a word (no answer, a server that is busy). :meth:`Store.waiting` lists what is left.
        """
        results: dict[Place, Receipt | ServiceError] = {}
        for task_id, base, closes in self.store.waiting():
            place = Place(base, task_id)
            if only not in (None, place):
                continue
            try:
                results[place] = self._deliver(place)
            except ServiceError as error:
                results[place] = error
                if self._over(error, closes):
                    self.store.settle(task_id, base, f"ended {error.code}".strip())
        return results

    def _over(self, error: ServiceError, closes: int) -> bool:
        """Whether to give up a report that could not be delivered."""
        late = self._clock() - closes
        return (late >= 0 and error.ours and error.code in _OVER) or late >= _GRACE

    def join(
        self,
        url: str,
        record: Mapping[str, Any],
        *,
        consent: Callable[[Answer], bool],
        mask: Sequence[bool] | None = None,
        token: str | None = None,
        trusted_key: bytes | str | None = None,
    ) -> Receipt | None:
        """Fetch, draw, ask ``consent`` (a function that is shown the answer), and send; None if it says no."""
        answer = self.answer(self.fetch(url, trusted_key=trusted_key), record, mask=mask)
        return self.send(answer, token=token) if consent(answer) else None


def _cost(notice: Announcement) -> Cost:
    """Return what an answer costs; a second round was paid for with the first."""
    cost = Cost.of(notice.task.guarantee)
    return replace(cost, epsilon=0, delta=0) if notice.task.before is not None else cost
