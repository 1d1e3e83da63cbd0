"""A segment: some payloads that wait, and the sums or rows with them.

One transaction replaces the partial sums, deletes the payloads that went into them and nothing else. So a crash at
any moment leaves either the old sums with the payloads or the new sums without them, and repeats one segment at most.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.drivers import by_driver
from hedgerow.service.ids import sorted_rows
from hedgerow.service.kinds import Kind
from hedgerow.service.schema import partials, sealed_segments, segments
from hedgerow.service.scrub import SEALED
from hedgerow.service.sqlite_file import Overtaken
from hedgerow.tasks.alarms import Detector

__all__ = ["Partial", "Segment", "Waiting", "add_rows", "kept_rows", "partial_of", "replace_partial"]

Rows = npt.NDArray[np.uint8]
_PART = 2_000  # reports added up without a rest: half a millisecond; by hand
_UPLOADS = 500  # rows of payloads in a segment: few reports may come in each; by hand


def kept_rows(kind: Kind, bodies: list[bytes]) -> Rows:
    """Return stored bodies as rows."""
    return np.frombuffer(b"".join(bodies), dtype=np.uint8).reshape(-1, kind.kept_width)


def add_rows(kind: Kind, aggregate: Any, pending: Sequence[Any]) -> Any:
    """Add uploads (rows with ``simulation`` and ``body``) to an aggregate."""
    for simulation in (False, True):
        rows = kept_rows(kind, [u.body for u in pending if bool(u.simulation) is simulation])
        if len(rows):
            kind.add(aggregate, rows, simulation)
    return aggregate


@dataclass(frozen=True)
class Waiting:
    """Payloads of one commit that wait to be added up."""

    seq: int
    n: int
    simulation: bool
    body: bytes


@dataclass(frozen=True)
class Partial:
    """Sums of a task, of so many reports; the revision says how often they were replaced."""

    revision: int
    n: int
    sums: bytes
    events: bytes


def waiting_of(connection: Connection, number: int, most: float) -> list[Waiting]:
    """Return whole uploads of up to ``most`` reports, in order; one at least, if any waits."""
    own = f"SELECT seq, n FROM uploads WHERE task = {number:d} ORDER BY seq LIMIT {_UPLOADS}"
    taken: list[int] = []
    n = 0
    for seq, size in by_driver(connection, own):
        n += size
        if taken and n > most:
            break
        taken.append(seq)
    some = ", ".join(map(str, taken)) or "NULL"
    query = f"SELECT seq, n, simulation, body FROM uploads WHERE seq IN ({some}) ORDER BY seq"
    rows = by_driver(connection, query, binary=True)
    return [Waiting(int(seq), int(n), bool(simulation), bytes(body)) for seq, n, simulation, body in rows]


def _parts(taken: list[Waiting]) -> Iterator[list[Waiting]]:
    """Divide payloads into pieces of some thousand reports."""
    part: list[Waiting] = []
    for each in taken:
        part.append(each)
        if sum(one.n for one in part) >= _PART:
            yield part
            part = []
    if part:
        yield part


def partial_of(connection: Connection, number: int) -> Partial | None:
    """Return the sums of a task, if there are any."""
    query = f"SELECT revision, n, sums, events FROM partials WHERE task = {number:d}"
    row = by_driver(connection, query, binary=True).fetchone()
    return None if row is None else Partial(int(row[0]), int(row[1]), bytes(row[2]), bytes(row[3]))


def replace_partial(connection: Connection, number: int, revision: int, values: dict[str, Any]) -> None:
    """Write new sums over those of ``revision``; Overtaken if somebody else has."""
    if revision == 0:
        if partial_of(connection, number) is not None:
            raise Overtaken("another process aggregates this task.")
        connection.execute(partials.insert().values(task=number, revision=1, **values))
        return
    own = (partials.c.task == number) & (partials.c.revision == revision)
    if connection.execute(partials.update().where(own).values(revision=revision + 1, **values)).rowcount != 1:
        raise Overtaken("another process aggregates this task.")


@dataclass(frozen=True)
class Segment:
    """Payloads that are added up, and the sums with them.

    Attributes
    ----------
    taken : list of Waiting
        At least one.
    revision : int
        Of the sums that they were added to; 0 if there were none.
    values : dict
        What replaces these.
    """

    kind: Kind
    number: int
    taken: list[Waiting]
    revision: int
    values: dict[str, Any]

    @classmethod
    def of(
        cls,
        connection: Connection,
        kind: Kind,
        detector: Detector,
        number: int,
        most: float,
        rest: Callable[[], None] = lambda: None,
    ) -> Segment | None:
        """Add up what waits, of ``most`` reports or a little less; None if nothing does. ``rest`` now and then."""
        taken = waiting_of(connection, number, most)
        if not taken:
            return None
        before = partial_of(connection, number) or Partial(0, 0, b"", b"")
        events = np.frombuffer(before.events, dtype="<i8")
        aggregate = None if kind.retains else kind.aggregate(before.sums)
        for part in _parts(taken):
            seen = detector.count(kept_rows(kind, [u.body for u in part])[:, kind.kept_width - kind.width :])
            events = seen + events if len(events) else seen
            if aggregate is not None:
                add_rows(kind, aggregate, part)
            rest()
        n = before.n + sum(each.n for each in taken)
        sums = b"" if aggregate is None else aggregate.to_bytes()
        values = {"n": n, "sums": sums, "events": events.astype("<i8").tobytes()}
        return cls(kind, number, taken, before.revision, values)

    @property
    def n(self) -> int:
        """How many reports are added up."""
        return sum(each.n for each in self.taken)

    def store(self, connection: Connection) -> None:
        """Write the sums and delete the payloads; Overtaken if others have added up any of it."""
        replace_partial(connection, self.number, self.revision, self.values)
        if self.kind.retains:
            _merge(connection, self.kind, self.number, self.taken)
        own = ", ".join(str(each.seq) for each in self.taken)
        if connection.exec_driver_sql(f"DELETE FROM uploads WHERE seq IN ({own})").rowcount != len(self.taken):
            raise Overtaken("another process aggregates this task.")


def _merge(connection: Connection, kind: Kind, number: int, taken: list[Waiting]) -> None:
    """Put rows into the segment that grows, sorted by its bytes: the order of arrival is lost. Seal it when large."""
    for simulation in (False, True):
        bodies = [u.body for u in taken if u.simulation is simulation]
        if not bodies:
            continue
        own = (segments.c.task == number) & (segments.c.simulation == simulation)
        bodies += list(connection.execute(sa.select(segments.c.body).where(own)).scalars())
        connection.execute(segments.delete().where(own))
        rows = sorted_rows(kept_rows(kind, bodies))
        table = sealed_segments if len(rows) >= SEALED else segments
        body = rows.tobytes()
        connection.execute(table.insert().values(task=number, n=len(rows), simulation=simulation, body=body))
