"""What the dashboard's pages show: plain values, taken from an :class:`~hedgerow.service.overview.Overview`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow.digits import plain
from hedgerow.service.collection import Collection
from hedgerow.service.dashboard.pace import NO_AIM, Aim, outlook, pace_of
from hedgerow.service.dashboard.pictures import Branch, branch, folded, forecast_picture, strip
from hedgerow.service.dashboard.timeline import Timeline, draw, when
from hedgerow.service.overview import Overview
from hedgerow.service.problems import CODES, REPORT_CODES, Problem
from hedgerow.service.shared.seen import ServerSeen
from hedgerow.tasks.alarms import ALPHA, Alarm
from hedgerow.tasks.forecast import Forecast
from hedgerow.tasks.models import Model
from hedgerow.tasks.shift import ShiftReport
from hedgerow.tasks.trimmed import usual_trim

__all__ = ["Line", "Link", "TaskView", "card", "damaged_card", "detail"]

MOST_LEAVES = 128
"""Larger trees are downloaded, not drawn."""
_TINY = 1e-12
"""Below, chances are all the same to people."""


@dataclass(frozen=True)
class Link:
    """Something to download."""

    href: str
    text: str


@dataclass(frozen=True)
class Line:
    """A sentence, loud or not."""

    text: str
    alarm: bool = False


@dataclass(frozen=True)
class TaskView:
    """One task as a page shows it; empty where there is nothing to say."""

    id: str
    title: str
    kind_words: str
    state: str
    state_words: str
    accepted: int
    aggregated: int
    public_key: str
    guarantee: str
    live: bool
    simulation: bool
    refused: tuple[tuple[str, int], ...] = ()
    manipulation: tuple[Line, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    picture: str = ""
    shift: ShiftReport | None = None
    trees: tuple[Branch, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    value_words: str = ""
    has_public: bool = False
    downloads: tuple[Link, ...] = ()
    servers: tuple[ServerSeen, ...] = ()
    one_machine: bool = False
    aim: Aim = NO_AIM
    timeline: Timeline | None = None


def _state(seen: Overview) -> str:
    notice = seen.collection.announcement
    words = {
        "announced": f"opens {when(notice.opens)}",
        "open": f"open until {when(notice.closes)}",
        "ended": f"ended {when(notice.closes)}",
        "closed": f"closed {when(seen.closed or 0)}",
    }
    most = f", takes at most {notice.max_reports:,} reports" if notice.max_reports else ""
    return words[seen.state] + most


def _common(seen: Overview) -> dict[str, Any]:
    notice = seen.collection.announcement
    return {
        "id": seen.collection.id,
        "title": notice.title or f"Task {seen.collection.id[:12]}",
        "kind_words": seen.collection.task.in_words,
        "state": seen.state,
        "state_words": _state(seen),
        "accepted": seen.accepted,
        "aggregated": seen.aggregated,
        "public_key": notice.to_dict()["public_key"],
        "guarantee": str(seen.collection.task.guarantee),
        "live": seen.state in ("announced", "open") or seen.aggregated < seen.accepted,
        "simulation": seen.collection.simulation,
    }


def card(seen: Overview) -> TaskView:
    """Return what the list of tasks shows."""
    return TaskView(**_common(seen))


def damaged_card(task_id: str, reason: str) -> TaskView:
    """Return a card for a task that cannot be shown; it can be deleted."""
    return TaskView(
        id=task_id,
        title=f"Task {task_id[:12]}",
        kind_words=f"It cannot be read: {reason}",
        state="damaged",
        state_words="damaged",
        accepted=0,
        aggregated=0,
        public_key="",
        guarantee="",
        live=False,
        simulation=False,
    )


def detail(seen: Overview) -> TaskView:
    """Return everything about a task; a model is made of the reports so far."""
    try:
        model = seen.model()
    except Problem:
        model = None
    shown: dict[str, Any] = {} if model is None else _model(seen, model)
    return TaskView(
        **_common(seen),
        refused=tuple((_reason(code), n) for code, n in seen.refused.most_common()),
        manipulation=tuple(_manipulation(seen.collection, seen.alarms, seen.aggregated, model, seen.trimming)),
        downloads=_downloads(seen, shown),
        servers=tuple(seen.servers),
        one_machine=_one_machine(seen.collection),
        aim=_aim(seen),
        timeline=draw(seen.marks, seen.accepted, seen.collection.announcement.opens, int(_end(seen))),
        **shown,
    )


def _end(seen: Overview) -> float:
    """Return the last moment at which a report could come so far."""
    end = min(seen.now, seen.collection.announcement.closes)
    return end if seen.closed is None else min(end, seen.closed)


def _aim(seen: Overview) -> Aim:
    notice = seen.collection.announcement
    pace = pace_of(seen.marks, seen.accepted, notice.opens, seen.now)
    left = notice.closes - seen.now if seen.state == "open" else 0.0
    return outlook(seen.target, seen.accepted, pace, left, seen.now)


def _one_machine(collection: Collection) -> bool:
    """Whether both servers of a shared task are on one host, so that nobody is protected from who runs it."""
    protocol = collection.task.protocol
    return protocol is not None and protocol.servers.one_machine


def _model(seen: Overview, model: Model) -> dict[str, Any]:
    """Return what there is to see of a model; trees, or the rows of its table where it has none."""
    rows = seen.leaves(model)
    means = seen.trimmed_means()
    if len(means) == len(rows):
        rows = [row | {"trimmed": mean} for row, mean in zip(rows, means, strict=True)]
    for row in rows:
        row["strip"] = strip(row, model.value_name, model.value_bounds)
    small = len(rows) <= MOST_LEAVES
    trees = model.trees()
    n = model.n_reports
    more = {_round(n // 2), _round(n), _round(4 * n)}
    if seen.target is not None and seen.target > n:
        more.add(seen.target - n)
    return {
        "forecasts": tuple(seen.forecasts(model, (0, *sorted(more)))),
        "picture": forecast_picture(model),
        "shift": model.shift(),
        "trees": tuple(folded(branch(tree, rows), model.value_name) for tree in trees) if small else (),
        "rows": tuple(rows) if small and not trees else (),
        "value_words": model.value_words(),
        "has_public": any("public_mean" in row for row in rows),
    }


def _reason(code: str) -> str:
    """Return the reason in words; codes are for machines.

    >>> _reason("task-closed")
    'The curator has closed this task'
    """
    return CODES[code][1] if code in CODES else REPORT_CODES.get(code, code).capitalize()


def _manipulation(
    collection: Collection, alarms: list[Alarm], n: int, model: Model | None, trimming: str = ""
) -> list[Line]:
    lines = []
    forgery = collection.forgery
    if forgery is not None:
        lines.append(Line(str(forgery)))
    if model is not None and forgery is not None and (now := forgery.now(model)):
        lines.append(Line(now))
    if trimming:
        lines.append(Line(trimming))
    if not collection.detector.events:
        return lines
    for alarm in alarms[:5]:
        seen = f"{alarm.event}: seen {alarm.seen:,} times in {n:,} reports"
        honest = f"honest reports give about {alarm.expected:,.0f}"
        lines.append(Line(f"{seen}; {honest} (chance {_chance(alarm.chance)}).", True))
    if not alarms:
        rare = f"False alarms have a chance below {_chance(ALPHA)}."
        lines.append(Line(f"Nothing that honest reports would not show. {rare}"))
    return lines


def _chance(p: float) -> str:
    """Return a small chance as people say it.

    >>> _chance(1e-6), _chance(0.0), _chance(3.1e-7)
    ('1 in 1,000,000', 'less than 1 in 1,000,000,000,000', '1 in 3,200,000')
    """
    if p < _TINY:
        return f"less than 1 in {plain(1 / _TINY)}"
    return f"1 in {plain(1 / p, 2)}"


def _round(n: int) -> int:
    """Return a number of reports that one would say: one leading digit, at least 1.

    >>> _round(5123), _round(0)
    (5000, 1)
    """
    return max(1, int(float(f"{n:.0e}")))


def _downloads(seen: Overview, shown: dict[str, Any]) -> tuple[Link, ...]:
    base = f"/dashboard/tasks/{seen.collection.id}"
    found = []
    if seen.collection.kind.retains:
        found.append(Link(f"{base}/data", "Download the noisy data"))
    if shown:
        found.append(Link(f"{base}/model.json", "Download the model"))
        found.append(Link(f"{base}/leaves.csv", "Download the leaves"))
    if shown and seen.collection.groups:
        found.append(
            Link(f"{base}/model.json?trim={usual_trim(seen.collection.groups)}", "Download the model of trimmed totals")
        )
    return tuple(found)
