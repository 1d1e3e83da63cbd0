"""What each server does with reports: open its own part, verify together with the other, add up what is valid.

One try a report: whatever comes of it, its id is known from then on. Two tries under different shares of the leader
would let it ask questions about one record.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from hedgerow.aggregate.batch import Batch
from hedgerow.aggregate.job import Answer, Code, Entry, Job
from hedgerow.aggregate.protocol import LABEL, Protocol
from hedgerow.aggregate.report import split
from hedgerow.errors import HedgerowError
from hedgerow.sealing import KeyPair, Role, aad_of_input, info_of, unseal
from hedgerow.vdaf import Report, Verifying
from hedgerow.vdaf.xof import SEED_SIZE

__all__ = ["Party", "Prepared", "Verified"]

_NOTHING = bytes(SEED_SIZE)


@dataclass(frozen=True)
class Prepared:
    """The leader's side of a job, between its request and the answer.

    Attributes
    ----------
    job : Job or None
        What to send; None if no report of the segment could be opened.
    states : tuple of Verifying
        What to keep for each entry of the job.
    refused : tuple of bytes
        Ids of reports that the leader itself could not open or read.
    """

    job: Job | None
    states: tuple[Verifying, ...]
    refused: tuple[bytes, ...]


@dataclass(frozen=True)
class Verified:
    """What came of a job: the valid reports added up, and the ids of those that were not."""

    batch: Batch
    refused: tuple[bytes, ...]


class Party:
    """One of the two servers of a task, with its own key."""

    def __init__(self, protocol: Protocol, role: Role, key: KeyPair) -> None:
        self.protocol = protocol
        self.role = role
        self.key = key
        self.verify_key = protocol.verify_key(role, key)
        self._info = info_of(LABEL, Role.CLIENT, role)

    def _open(self, report_id: bytes, public_share: bytes, sealed: bytes) -> Report:
        aad = aad_of_input(self.protocol.task, report_id, public_share)
        return Report(report_id, public_share, unseal(self.key, self._info, aad, sealed))

    def _begin(self, reports: Sequence[Report]) -> list[Verifying | HedgerowError]:
        number = 0 if self.role is Role.LEADER else 1
        return self.protocol.prio3.verify_init_many(self.verify_key, self.protocol.context, number, reports)

    # The leader.

    def prepare(self, name: bytes, rows: Sequence[tuple[bytes, bytes]]) -> Prepared:
        """Open reports (id and payload) and return the request to the helper: the same rows give the same bytes."""
        opened = []
        sealed = []
        refused = []
        for report_id, payload in rows:
            try:
                parts = split(self.protocol, payload)
                opened.append(self._open(report_id, parts.public_share, parts.for_leader))
            except HedgerowError:
                refused.append(report_id)
                continue
            sealed.append(parts.for_helper)
        entries = []
        states = []
        for report, part, state in zip(opened, sealed, self._begin(opened), strict=True):
            if isinstance(state, HedgerowError):
                refused.append(report.nonce)
                continue
            states.append(state)
            entries.append(Entry(report.nonce, report.public_share, part, state.verifier_share))
        job = Job(name, tuple(entries)) if entries else None
        return Prepared(job, tuple(states), tuple(refused))

    def finish(self, prepared: Prepared, answer: Answer | None) -> Verified:
        """Add up what the helper has added, if its message fits this server's own view of the report."""
        ids = []
        shares = []
        refused = list(prepared.refused)
        if prepared.job is not None and answer is not None:
            rows = zip(prepared.job.entries, prepared.states, answer.codes, answer.messages, strict=True)
            for entry, state, code, message in rows:
                try:
                    out = self._finished(state, code, message)
                except HedgerowError:
                    refused.append(entry.report_id)
                    continue
                ids.append(entry.report_id)
                shares.append(out)
        return Verified(Batch.of(self.protocol, ids, shares), tuple(refused))

    def _finished(self, state: Verifying, code: Code, message: bytes) -> bytes:
        if code is not Code.ADDED:
            raise HedgerowError("the helper has refused this report.")
        return self.protocol.prio3.verify_next(state, message)

    # The helper.

    def answer(self, job: Job, known: Collection[bytes]) -> tuple[Answer, Verified]:
        """Verify the reports of a job, except those whose ids are known; return the answer, and what to add.

        The caller commits, in one transaction: all ids of the job as known, the batch, and the answer.
        """
        codes: list[Code] = []
        messages: list[bytes] = []
        reports: dict[int, Report] = {}
        for i, entry in enumerate(job.entries):
            codes.append(Code.UNREADABLE)
            messages.append(_NOTHING)
            if entry.report_id in known:
                codes[i] = Code.KNOWN
                continue
            try:
                reports[i] = self._open(entry.report_id, entry.public_share, entry.sealed)
            except HedgerowError:
                continue
        shares = []
        states = self._begin(list(reports.values()))
        for i, state in zip(reports, states, strict=True):
            try:
                messages[i], out = self._decide(job.entries[i], state)
            except HedgerowError:
                codes[i] = Code.INVALID
                continue
            codes[i] = Code.ADDED
            shares.append(out)
        ids = [entry.report_id for entry, code in zip(job.entries, codes, strict=True) if code is Code.ADDED]
        refused = [entry.report_id for entry, code in zip(job.entries, codes, strict=True) if code is not Code.ADDED]
        verified = Verified(Batch.of(self.protocol, ids, shares), tuple(refused))
        return Answer(job.name, tuple(codes), tuple(messages)), verified

    def _decide(self, entry: Entry, state: Verifying | HedgerowError) -> tuple[bytes, bytes]:
        """Return the message that finishes a report, and this server's share of it; refuse one that is not valid."""
        if isinstance(state, HedgerowError):
            raise state
        prio3 = self.protocol.prio3
        shares = [entry.verifier_share, state.verifier_share]
        message = prio3.verifier_shares_to_message(self.protocol.context, shares)
        return message, prio3.verify_next(state, message)
