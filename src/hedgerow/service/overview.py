"""What there is to see of a task: progress, refusals by reason, alarms, leaves, forecasts. Reads only."""

from __future__ import annotations

from collections import Counter
from typing import Any

import sqlalchemy as sa

from hedgerow.errors import HedgerowError
from hedgerow.service.collection import Collection
from hedgerow.service.problems import Problem
from hedgerow.service.removal import check_whole
from hedgerow.service.schema import jobs, partials, refusals, tasks, uploads
from hedgerow.service.service import Service
from hedgerow.service.shared.seen import ServerSeen, servers_seen
from hedgerow.service.timeline import marks_of, target_of
from hedgerow.tasks.alarms import ALPHA, Alarm
from hedgerow.tasks.forecast import Forecast
from hedgerow.tasks.models import Model
from hedgerow.tasks.trimmed import protection, usual_trim

__all__ = ["Overview"]


class Overview:
    """A look at one task at one moment; counts come from one snapshot of the database.

    Of a task that is deleted, or is being deleted, there is nothing to see: the problem ``task-deleted``.

    Attributes
    ----------
    state : {"announced", "open", "ended", "closed"}
        Before, within or after the window, or closed by the curator.
    accepted, aggregated : int
        Reports acknowledged, and those of them that are in the partial sums (payload scrubbed).
    target : int or None
        How many reports the curator hopes for.
    marks : tuple of (int, int)
        Full hours, and how many reports came since the one before; see :mod:`hedgerow.service.timeline`.
    refused : Counter
        Refused requests and reports, by code.
    alarms : list of Alarm
        Counts that honest reports do not give, see :mod:`hedgerow.tasks.alarms`.
    """

    def __init__(self, service: Service, collection: Collection, now: float) -> None:
        self.service = service
        self.collection = collection
        self.now = now
        number = collection.number
        with service.database.read() as connection:
            check_whole(connection, number)
            row = connection.execute(sa.select(tasks.c.closed, tasks.c.finished).where(tasks.c.number == number)).one()
            partial = connection.execute(sa.select(partials.c.n, partials.c.events).where(partials.c.task == number))
            kept = partial.first()
            waiting = [
                sa.select(sa.func.coalesce(sa.func.sum(table.c.n), 0)).where(table.c.task == number)
                for table in (uploads, jobs)
            ]
            pending = sum(int(connection.execute(query).scalar_one()) for query in waiting)
            counts = connection.execute(sa.select(refusals.c.code, refusals.c.n).where(refusals.c.task == number))
            self.refused: Counter[str] = Counter({code: int(n) for code, n in counts})
            self.target = target_of(connection, number)
            self.marks = marks_of(connection, number)
        self.refused.update(service.refused_now(number))
        self.closed: int | None = row.closed
        self.finished = bool(row.finished)
        self.aggregated = int(kept.n) if kept else 0
        self.accepted = self.aggregated + pending
        self._events = kept.events if kept else b""

    @property
    def state(self) -> str:
        """Where the task stands now."""
        notice = self.collection.announcement
        if self.closed is not None:
            return "closed"
        if self.now < notice.opens:
            return "announced"
        return "open" if notice.is_open(self.now) else "ended"

    @property
    def progress(self) -> float:
        """The share of the window that has passed, 0 to 1."""
        notice = self.collection.announcement
        end = notice.closes if self.closed is None else min(notice.closes, max(self.closed, notice.opens + 1))
        return min(1.0, max(0.0, (self.now - notice.opens) / (end - notice.opens)))

    @property
    def alarms(self) -> list[Alarm]:
        """Strange counts among the aggregated reports."""
        import numpy as np

        if not self._events:
            return []
        return self.collection.detector.alarms(np.frombuffer(self._events, dtype="<i8"), self.aggregated)

    @property
    def trimming(self) -> str:
        """What trimmed totals keep out, and what not; empty where sums are not kept by group."""
        n = self.collection.groups
        return protection(n, tokens=self.collection.announcement.tokens) if n else ""

    @property
    def servers(self) -> list[ServerSeen]:
        """Both servers of a task that two share, as far as this one knows."""
        waiting = self.accepted - self.aggregated
        return servers_seen(self.service, self.collection, self.aggregated, waiting)

    def model(self, *, trim: float | None = None, **options: Any) -> Model:
        """Return the model of all acknowledged reports, or of trimmed totals of them; or raise a problem."""
        if trim is None:
            totals = self.service.total(self.collection)
        else:
            totals = self.service.trimmed(self.collection, trim).totals
        if not totals.n_reports:
            raise Problem("no-reports", "A model needs at least one report.")
        made: Model = self.service.learnt(self.collection, totals, **options)
        return made

    def leaves(self, model: Model, level: float = 0.9) -> list[dict[str, Any]]:
        """Return the rows of a model's table, with the most that one forged report can change."""
        rows = model.table(level)
        forgery = self.collection.forgery
        forged = [] if forgery is None else forgery.rows(model)
        if not forged:
            return rows
        return [{**row, **change} for row, change in zip(rows, forged, strict=True)]

    def trimmed_means(self) -> list[float]:
        """Return the mean of each leaf by trimmed totals; empty where they cannot be had, or leaves have no mean."""
        try:
            rows = self.model(trim=usual_trim(self.collection.groups or 1)).table()
        except (Problem, HedgerowError):
            return []  # no groups, or too few reports in one
        return [row["mean"] for row in rows if "mean" in row]

    def forecasts(self, model: Model, more: tuple[int, ...] = ()) -> list[Forecast]:
        """Say what more reports would buy; empty where that is not known."""
        n = model.n_reports
        found = [model.forecast(m) for m in more or (max(1, n // 2), n, 4 * n)]
        return [f for f in found if f is not None]

    def to_dict(self) -> dict[str, Any]:
        """Return the status as JSON-ready content."""
        notice = self.collection.announcement
        forgery = self.collection.forgery
        return {
            "id": self.collection.id,
            "kind": notice.kind,
            "title": notice.title,
            "state": self.state,
            "opens": notice.opens,
            "closes": notice.closes,
            "closed": self.closed,
            "accepted": self.accepted,
            "aggregated": self.aggregated,
            "target": self.target,
            "max_reports": notice.max_reports,
            "timeline": [{"until": until, "reports": n} for until, n in self.marks],
            "refused": dict(sorted(self.refused.items())),
            "forgery": None if forgery is None else forgery.to_dict(),
            "groups": self.collection.groups,
            "trimming": self.trimming,
            "manipulation": {
                "watched": len(self.collection.detector.events),
                "false_alarm_rate": ALPHA,
                "alarms": [alarm.to_dict() for alarm in self.alarms[:20]],
            },
            "guarantee": str(self.collection.task.guarantee),
            "servers": [server.to_dict() for server in self.servers],
        }

    def data(self) -> tuple[str, bytes]:
        """Return the data set of a task that delivers one: its media type and bytes."""
        kind = self.collection.kind
        if not kind.retains:
            raise Problem("not-available", "Reports of this task are added up and scrubbed; see /model.")
        rows, simulation = self.service.rows(self.collection)
        if not len(rows) and kind.keeps_ids:
            raise Problem("no-reports", "The first round has no report yet.")
        return self.collection.task.data(self.collection.task.totals().add(kind.batch(rows, simulation)))
