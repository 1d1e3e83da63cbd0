"""How the service treats a task: how a body is read, what is kept, what an upload is checked against.

Of most tasks that make a model, reports are added up in exact integers and scrubbed. Of one that learns from them,
grows a tree or delivers a data set (``task.retains``), the reports themselves are kept; with their ids, where a second
round follows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.service.digests import ids_of, keys_of, marks_of
from hedgerow.service.intake import Upload
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import HEADER_BYTES, TOKEN_BYTES, Reports, batch_head
from hedgerow.tasks.totals import Totals
from hedgerow.tasks.trimmed import Groups, group_of
from hedgerow.types import ByteRows

__all__ = ["Kind", "ReadBatch"]

_GROUP_BYTES = 2  # of the number of a group, which has three digits at most
_RECORD_BYTES = 8  # of the number of a record, a 64-bit number
_MOST_INVALID = 100  # that are looked for, each by halving: a body full of them costs at most 100 searches; by hand


@dataclass(frozen=True)
class ReadBatch:
    """A body as rows: ids (their random part), payloads, and which rows no honest holder could have sent."""

    tokens: ByteRows
    payloads: ByteRows
    simulation: bool
    invalid: frozenset[int]

    def __len__(self) -> int:
        return len(self.tokens)


class Kind:
    """How the service treats one task."""

    def __init__(self, task: Task, n_groups: int = 0, group_key: bytes = b"") -> None:
        self.task = task
        self.n_groups = n_groups
        self._group_key = group_key

    @property
    def shared(self) -> bool:
        """Whether two servers verify and add up reports, which none of them can read."""
        return self.task.sealed

    @property
    def numbered(self) -> bool:
        """Whether a report names its record, so that a token is for certain records."""
        return self.task.question().numbered

    @property
    def retains(self) -> bool:
        """Whether rows are the result, and so are kept instead of being summed and scrubbed."""
        return self.task.retains and not self.shared

    @property
    def width(self) -> int:
        """Bytes of a payload."""
        return self.task.encoding.width

    @property
    def keeps_ids(self) -> bool:
        """Whether a later round is told by the ids of this one."""
        return self.retains and self.task.keeps

    @property
    def kept_width(self) -> int:
        """Bytes kept of each report."""
        return self.width + (TOKEN_BYTES if self.with_ids else 0) + (_GROUP_BYTES if self.n_groups else 0)

    @property
    def with_ids(self) -> bool:
        """Whether ids stand beside rows: a later round, or the other server, is told of them."""
        return self.keeps_ids or self.shared

    def read(self, body: bytes) -> ReadBatch:
        """Read a batch in the library's wire format; refuse a wrong frame, note invalid rows."""
        n, simulation = batch_head(self.task, body, len(body))
        start = HEADER_BYTES + n * TOKEN_BYTES
        tokens = np.frombuffer(body, dtype=np.uint8, count=n * TOKEN_BYTES, offset=HEADER_BYTES)
        rows = np.frombuffer(body, dtype=np.uint8, offset=start).reshape(n, self.width)
        invalid = frozenset(_invalid(self.task.encoding.validate, rows))
        return ReadBatch(tokens.reshape(n, TOKEN_BYTES), rows, simulation, invalid)

    def upload(self, number: int, batch: ReadBatch, first: int | None, token: bytes | None, bearer: str = "") -> Upload:
        """Return what the writer stores of a valid batch, and what it is checked against.

        ``token`` is the digest of the upload token, ``bearer`` the token itself, where there is one.
        """
        ids = ids_of(batch.tokens, batch.payloads, batch.simulation)
        rows = batch.payloads
        if self.with_ids:
            rows = np.hstack([batch.tokens, rows])
        if self.n_groups:
            rows = np.hstack([self._groups(batch.tokens, bearer), rows])
        upload = Upload(number, ids, rows, batch.simulation, token=token)
        self._check_against(upload, batch, first)
        return upload

    def _groups(self, ids: ByteRows, bearer: str) -> ByteRows:
        """Return the group of each report: all that come with one upload token are in one.

        It takes the token to tell its group, or the id where there are no tokens. Of both only digests are stored.
        """
        names = [bearer.encode()] if bearer else _each(ids)
        found = [group_of(name, self.n_groups, self._group_key) for name in names]
        groups = np.array(found * len(ids) if bearer else found, dtype=">u2")
        return groups.view(np.uint8).reshape(-1, _GROUP_BYTES)

    def _check_against(self, upload: Upload, batch: ReadBatch, first: int | None) -> None:
        """Note what must be new besides the ids, and what must be as in the round before."""
        upload.records = self.task.records_in(batch.payloads)
        if upload.records is not None:
            named = [record.to_bytes(_RECORD_BYTES, "little") for record in upload.records]
            upload.also = list(zip(keys_of(named, b"record"), upload.marks, strict=True))
        pledged = self.task.pledge(batch.payloads)
        if pledged is None:
            return
        names = _each(batch.tokens)
        keys = keys_of(names, b"label")
        marks = marks_of(names, pledged, b"label")
        if self.task.before is None:
            upload.also = list(zip(keys, marks, strict=True))
        elif first is not None:
            upload.first = first, keys, [mark if sent else b"" for sent, mark in zip(pledged, marks, strict=True)]

    def batch(self, rows: ByteRows, simulation: bool) -> Reports:
        """Return stored rows as reports; where there is one round, ids play no part any more."""
        at = TOKEN_BYTES if self.keeps_ids else 0
        tokens = rows[:, :at] if at else np.zeros((len(rows), TOKEN_BYTES), dtype=np.uint8)
        return self.task.batch(tokens, rows[:, at:], simulation)

    def aggregate(self, data: bytes = b"") -> Totals | Groups:
        """Return stored sums as the library's totals, or as totals of groups; without bytes, empty ones."""
        if self.n_groups and data:
            return Groups.from_bytes(self.task, self.n_groups, data)
        if self.n_groups:
            return Groups(self.task, self.n_groups, b"")
        return Totals.from_bytes(self.task, data) if data else self.task.totals()

    def add(self, sums: Totals | Groups, rows: ByteRows, simulation: bool) -> None:
        """Add stored rows to what :meth:`aggregate` returned."""
        if isinstance(sums, Groups):
            groups = np.ascontiguousarray(rows[:, :_GROUP_BYTES]).view(">u2")[:, 0].astype(np.int64)
            sums.add_to(groups, self.batch(rows[:, _GROUP_BYTES:], simulation))
        else:
            sums.add(self.batch(rows, simulation))

    def id_in(self, body: bytes, i: int) -> bytes:
        """Return the 16-byte id of report ``i`` of a body that was read."""
        at = HEADER_BYTES + i * TOKEN_BYTES
        return bytes(self.task.digest[:4] + body[at : at + TOKEN_BYTES])


def _each(rows: ByteRows) -> list[bytes]:
    """Return each row as bytes."""
    return [row.tobytes() for row in rows]


def _invalid(check: Callable[[ByteRows], None], rows: ByteRows) -> list[int]:
    """Return the positions of rows that do not pass, by halving; a body with many of them is not worth the search."""
    found: list[int] = []
    todo = [(0, len(rows))]
    while todo:
        start, stop = todo.pop()
        try:
            check(rows[start:stop])
        except FormatError as error:
            if stop - start > 1:
                middle = (start + stop) // 2
                todo += [(middle, stop), (start, middle)]
                continue
            found.append(start)
            if len(found) > _MOST_INVALID:
                raise FormatError(f"more than {_MOST_INVALID} reports are invalid; the first: {error}") from None
    return found
