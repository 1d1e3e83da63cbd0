"""What happens to uploads inside one transaction: known ids are told from new ones, tokens are spent, rows are kept.

Nearly always all of them are new, and then they stay packed from the request to the database: what is done for each
report by itself, in Python, takes longer than all the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.database import Body, Database
from hedgerow.service.ids import KEY, Rows, any_alike, keyed, sorted_rows, unpacked
from hedgerow.service.known import Brought, Met, View, pack_tokens
from hedgerow.service.schema import jobs, partials, upload_tokens, uploads

__all__ = ["Outcome", "Upload", "at_hand", "take", "take_before_turn"]

Pair = tuple[bytes, bytes]
_PIECE = 16 << 20  # bytes of a row of the table: whoever takes some of its reports reads all of it; by hand


@dataclass(frozen=True)
class Outcome:
    """What became of one upload: either ``refused`` as a whole, or counts and failures by position."""

    accepted: int = 0
    duplicates: int = 0
    failures: tuple[tuple[int, str], ...] = ()
    refused: str = ""


@dataclass
class Upload:
    """Checked reports of one request.

    Attributes
    ----------
    task : int
        Number of the task.
    ids : array of shape (n, KEY + MARK)
        By report: the digest of its id and the fingerprint of its payload (:mod:`hedgerow.service.digests`).
    rows : array of shape (n, width)
        What is kept of each report until it is aggregated.
    also : list of (key, mark), optional
        A further key that must be new for a new report (the record of a label, the first round's label).
    also_code : str
        Failure of a report whose further key is taken.
    records : list of int, optional
        The numbers of records that the reports name; the token must be theirs.
    token : bytes, optional
        Digest of the upload token, or of a pass.
    passed : bool
        Whether it is a pass that was checked: good for one report, and not listed before it is used.
    first : (task, keys, marks), optional
        What the first round must know of each report; a mark of b"" means any.
    most : int
        How many reports the task takes in all; 0 if as many as come.
    late : str
        Why nothing new is taken, "" if it is; reports that were accepted before are still acknowledged.
    """

    task: int
    ids: Rows
    rows: Rows
    simulation: bool = False
    also: list[Pair] | None = None
    also_code: str = "record-taken"
    records: list[int] | None = None
    token: bytes | None = None
    passed: bool = False
    first: tuple[int, list[bytes], list[bytes]] | None = None
    most: int = 0
    late: str = ""
    kept: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def keys(self) -> list[bytes]:
        """By report: the digest of its id."""
        return [row.tobytes() for row in self.ids[:, :KEY]]

    @cached_property
    def marks(self) -> list[bytes]:
        """By report: the fingerprint of its payload."""
        return [row.tobytes() for row in self.ids[:, KEY:]]

    @property
    def weight(self) -> int:
        """How much is to be kept: reports, or kilobytes if those are more."""
        return max(len(self), self.rows.nbytes >> 10)

    def brought(self) -> list[Rows]:
        """Return every key that new reports bring, with its mark, packed."""
        return [self.ids] if self.also is None else [self.ids, _packed(self.also)]


def _packed(pairs: Iterable[Pair]) -> Rows:
    return unpacked(b"".join(chain.from_iterable(pairs)))


def at_hand(database: Database, group: Iterable[Upload]) -> bool:
    """Whether a group may be decided before the turn, by what is in memory.

    Not where all that was accepted counts, or a first round, or what came too late.
    """
    plain = not any(upload.late or upload.most or upload.first is not None for upload in group)
    return plain and all(database.known.has(upload.task) for upload in group)


def take_before_turn(database: Database, connection: Connection, group: Sequence[Upload]) -> list[Outcome]:
    """Do what :func:`take` does in a transaction of :meth:`Database.write_before_turn`; Met if it needs the turn."""
    if not at_hand(database, group):
        raise Met
    numbers = sorted({upload.task for upload in group})
    return _take_tasks(database, connection, group, set(numbers), database.known.at_hand(numbers))


def take(database: Database, connection: Connection, group: Sequence[Upload]) -> list[Outcome]:
    """Store a group of uploads in a transaction of :meth:`Database.write_uploads`; return the outcomes, in order."""
    numbers = sorted({upload.task for upload in group})
    return _take_tasks(database, connection, group, *database.known.refresh(connection, numbers))


def _take_tasks(
    database: Database, connection: Connection, group: Sequence[Upload], unclosed: set[int], views: Mapping[int, View]
) -> list[Outcome]:
    outcomes: dict[int, Outcome] = {}
    for number in views:
        own = [(i, upload) for i, upload in enumerate(group) if upload.task == number]
        in_time = [(i, upload) for i, upload in own if number in unclosed and not upload.late]
        if in_time:
            found = _take_task(database, connection, views[number], [upload for _, upload in in_time])
            outcomes.update({i: outcome for (i, _), outcome in zip(in_time, found, strict=True)})
        for i, upload in own:  # after those: a copy may wait beside what it is a copy of
            if i not in outcomes:
                outcomes[i] = _again(database, connection, upload, upload.late or "task-closed")
    return [outcomes[i] for i in range(len(group))]


def _again(database: Database, connection: Connection, upload: Upload, why: str) -> Outcome:
    """Acknowledge what was accepted before, and nothing else; refuse an upload without any such report as a whole.

    A device whose receipt was lost asks again with the same bytes, and by then the task may have ended.
    """
    view = database.known.look(connection, upload.task)
    known = view.marks(connection, upload.ids)
    before = [known.get(key) for key in upload.keys]
    failures = [
        (i, why if there is None else "id-conflict")
        for i, (there, mark) in enumerate(zip(before, upload.marks, strict=True))
        if there != mark
    ]
    if len(failures) == len(upload) or _spend(connection, view, upload, 0, {}):
        return Outcome(refused=why)
    return Outcome(0, len(upload) - len(failures), tuple(failures))


def _take_task(database: Database, connection: Connection, view: View, group: list[Upload]) -> list[Outcome]:
    task = view.task
    ids = sorted_rows(np.concatenate([part for upload in group for part in upload.brought()]))
    known = view.marks(connection, ids)
    plain = all(upload.token is None and upload.first is None and upload.records is None for upload in group)
    room = _room(connection, task, group)
    fits = sum(map(len, group)) <= room
    if plain and fits and not known and not any_alike(ids):  # nearly always everything is new
        outcomes = [Outcome(len(upload)) for upload in group]
        _store(database, connection, task, ids, {}, _bodies(group, outcomes))
        return outcomes
    seen = _Seen(view, known, _first_marks(database, connection, group), room)
    outcomes = [_sift(connection, upload, seen) for upload in group]
    if seen.new:
        _store(database, connection, task, sorted_rows(_packed(seen.new)), seen.spent, _bodies(group, outcomes))
    return outcomes


@dataclass
class _Seen:
    """What a group is held against, report by report; ``known``, ``new`` and ``spent`` grow by what is accepted."""

    view: View
    known: dict[bytes, bytes]
    firsts: dict[int, dict[bytes, bytes]]
    room: float
    new: list[Pair] = field(default_factory=list)
    spent: dict[bytes, int] = field(default_factory=dict)


def _room(connection: Connection, task: int, group: list[Upload]) -> float:
    """Return how many more reports the task takes: those that wait count as those that are added up.

    One question, for one moment: another server may be adding up those that wait.
    """
    most = max(upload.most for upload in group)
    if not most:
        return math.inf
    counts = [
        sa.select(sa.func.coalesce(sa.func.sum(table.c.n), 0)).where(table.c.task == task).scalar_subquery()
        for table in (partials, uploads, jobs)
    ]
    return max(0, most - sum(map(int, connection.execute(sa.select(*counts)).one())))


def _store(
    database: Database,
    connection: Connection,
    task: int,
    rows: Rows,
    spent: dict[bytes, int],
    bodies: list[Body],
) -> None:
    """Write sorted ids, spent tokens and payloads, and note that they are known once they are committed."""
    ids = rows.tobytes()
    seq = database.arrive(connection, task, ids, pack_tokens(spent), bodies[0])
    for body in bodies[1:]:
        database.keep(connection, task, body)
    database.known.bring(Brought(task, seq, ids, spent))


def _first_marks(database: Database, connection: Connection, group: list[Upload]) -> dict[int, dict[bytes, bytes]]:
    """Return what the first round knows, by task."""
    wanted: dict[int, list[bytes]] = {}
    for upload in group:
        if upload.first is not None:
            wanted.setdefault(upload.first[0], []).extend(upload.first[1])
    return {task: database.known.look(connection, task).marks(connection, keyed(keys)) for task, keys in wanted.items()}


def _sift(connection: Connection, upload: Upload, seen: _Seen) -> Outcome:
    """Decide report by report, in order."""
    duplicates = 0
    failures = []
    kept: list[int] = []
    fresh = dict[bytes, bytes]()
    own = _records(connection, upload)
    for i, (key, mark) in enumerate(zip(upload.keys, upload.marks, strict=True)):
        pair = (key, mark)
        before = seen.known.get(key, fresh.get(key))
        if before is not None:
            if before == mark:
                duplicates += 1
            else:
                failures.append((i, "id-conflict"))
            continue
        if upload.records is not None and upload.records[i] not in own:
            failures.append((i, "record-not-yours"))
            continue
        further = [] if upload.also is None else [upload.also[i]]
        if any(k in seen.known or k in fresh for k, _ in further):
            failures.append((i, upload.also_code))
            continue
        code = _against_first(upload, i, seen.firsts) or ("task-full" if len(kept) >= seen.room else "")
        if code:
            failures.append((i, code))
            continue
        fresh.update([pair, *further])
        kept.append(i)
    refused = _spend(connection, seen.view, upload, len(kept), seen.spent)
    if all(code == "task-full" for _, code in failures) and len(failures) == len(upload):
        refused = refused or "task-full"
    if refused:
        return Outcome(refused=refused)
    seen.known.update(fresh)
    seen.new.extend(fresh.items())
    seen.room -= len(kept)
    upload.kept = kept
    return Outcome(len(kept), duplicates, tuple(failures))


def _records(connection: Connection, upload: Upload) -> range:
    """Return the records that the token of an upload is for; none, where there is no token."""
    if upload.records is None or upload.token is None:
        return range(0)
    own = (upload_tokens.c.task == upload.task) & (upload_tokens.c.digest == upload.token)
    found = connection.execute(sa.select(upload_tokens.c.first_record, upload_tokens.c.last_record).where(own)).first()
    if found is None or found.first_record is None:
        return range(0)
    return range(found.first_record, found.last_record + 1)


def _against_first(upload: Upload, i: int, firsts: dict[int, dict[bytes, bytes]]) -> str:
    """Return why a second-round report does not fit the first round; "" if it does."""
    if upload.first is None:
        return ""
    task, keys, marks = upload.first
    before = firsts[task].get(keys[i])
    if before is None:
        return "first-round-missing"
    return "label-changed" if marks[i] and marks[i] != before else ""


def _spend(connection: Connection, view: View, upload: Upload, n: int, spent: dict[bytes, int]) -> str:
    """Take ``n`` reports off the upload token, into ``spent``; return why it cannot be done, or ""."""
    if upload.token is None:
        return ""
    own = (upload_tokens.c.task == upload.task) & (upload_tokens.c.digest == upload.token)
    number = connection.execute(sa.select(upload_tokens.c.remaining).where(own)).scalar()
    if number is None and upload.passed:
        number = 1
    if number is None:
        return "token-unknown"
    if n == 0:
        return ""  # the same report again costs nothing
    before = spent.get(upload.token, 0)
    if view.spent(upload.token) + before + n > number:
        return "token-spent"
    spent[upload.token] = before + n
    return ""


def _bodies(group: list[Upload], outcomes: list[Outcome]) -> list[Body]:
    """Return the accepted rows of the whole group, one row of the table for each kind of noise.

    The rows stand in the order of their bytes: which of the group came first, and with which id, is not kept.
    """
    parts: dict[bool, list[Rows]] = {}
    for upload, outcome in zip(group, outcomes, strict=True):
        if outcome.accepted:
            rows = upload.rows if outcome.accepted == len(upload) else upload.rows[upload.kept]
            parts.setdefault(upload.simulation, []).append(rows)
    bodies = []
    for simulation, kept in parts.items():
        rows = sorted_rows(np.concatenate(kept))
        step = max(1, _PIECE // rows.shape[1])
        for start in range(0, len(rows), step):
            piece = rows[start : start + step]
            bodies.append(Body(len(piece), simulation, piece.tobytes()))
    return bodies
