"""Routes for whoever runs the service: health, metrics, the description of the interface."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

import sqlalchemy as sa
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.service.http import answer, service_of
from hedgerow.service.openapi import document
from hedgerow.service.overview import Overview
from hedgerow.service.problems import Problem
from hedgerow.service.schema import partials, refusals, tasks, uploads
from hedgerow.service.service import Service

__all__ = ["OPERATIONS"]


async def livez(request: Request) -> Response:
    """Say that the process answers and its threads run; a restart helps if not. The database is not asked."""
    if not service_of(request).writer.alive:
        raise Problem("busy", "The thread that writes has ended.")
    return answer({"status": "alive"})


async def healthz(request: Request) -> Response:
    """Say that reports can be taken: something was just written to the database, and is in the file of the path."""
    await run_in_threadpool(service_of(request).probe)
    return answer({"status": "ok"})


async def metrics(request: Request) -> Response:
    """Return counters in Prometheus' text format."""
    service = service_of(request)
    text = await run_in_threadpool(_metrics, service)
    return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")


def _metrics(service: Service) -> str:
    with service.database.read() as connection:
        ids = {int(row.number): str(row.id) for row in connection.execute(sa.select(tasks.c.number, tasks.c.id))}
        done = {t: int(n) for t, n in connection.execute(sa.select(partials.c.task, partials.c.n))}
        query = sa.select(uploads.c.task, sa.func.sum(uploads.c.n)).group_by(uploads.c.task)
        pending = {t: int(n) for t, n in connection.execute(query)}
        refused = {(t, c): int(n) for t, c, n in connection.execute(sa.select(refusals))}
    for key, n in list(service._refused.items()):
        refused[key] = refused.get(key, 0) + n
    lines: list[str] = []

    def family(name: str, kind: str, text: str, values: list[tuple[str, float]]) -> None:
        lines.extend([f"# HELP hedgerow_{name} {text}", f"# TYPE hedgerow_{name} {kind}"])
        lines.extend(
            f"hedgerow_{name}{labels} {value:g}" if value < 1e6 else f"hedgerow_{name}{labels} {value:.0f}"
            for labels, value in values
        )

    def task(number: int) -> str:
        return f'task="{ids.get(number, "")}"'

    totals = [(f"{{{task(t)}}}", float(done.get(t, 0) + pending.get(t, 0))) for t in ids]
    family("reports_accepted_total", "counter", "Reports acknowledged.", totals)
    family(
        "reports_pending", "gauge", "Reports not aggregated yet.", [(f"{{{task(t)}}}", pending.get(t, 0)) for t in ids]
    )
    reasons = [(f'{{{task(t)},code="{c}"}}', float(n)) for (t, c), n in sorted(refused.items())]
    family("refused_total", "counter", "Requests and reports refused, by reason.", reasons)
    answers = [(f'{{route="{r}",status="{s}"}}', float(n)) for (r, s), n in sorted(service.requests.items())]
    family("requests_total", "counter", "Answers since the start, by route and status.", answers)
    family("commits_total", "counter", "Group commits since the start.", [("", service.writer.commits)])
    family("committed_reports_total", "counter", "Reports in them.", [("", service.writer.committed)])
    family("waiting_reports", "gauge", "Reports waiting for a commit.", [("", service.writer.waiting)])
    family("waiting_bytes", "gauge", "Bytes of large bodies that are arriving.", [("", service.bodies.waiting)])
    family("wrong_tokens_total", "counter", "Tokens that nobody has, since the start.", [("", service.guesses.count)])
    problems = [(f'{{code="{code}"}}', float(n)) for code, n in sorted(service.problems.items())]
    family("problems_total", "counter", "Requests refused or failed since the start, by code; storage-*.", problems)
    family("alarms", "gauge", "Counts that honest reports do not give, of open tasks.", _alarms(service, task))
    lines.extend(["# HELP hedgerow_seconds Time to answer.", "# TYPE hedgerow_seconds histogram"])
    for route, latency in sorted(service.latency.items()):
        lines.extend(f"hedgerow_seconds{line}" for line in latency.lines(f'route="{route}"'))
    return "\n".join(lines) + "\n"


def _alarms(service: Service, task: Callable[[int], str]) -> list[tuple[str, float]]:
    """Return the number of alarms of each task that takes reports."""
    found, _ = service.collections()
    now = service.clock()
    seen = []
    for collection in (collection for collection, closed in found if closed is None):
        with contextlib.suppress(Problem):  # it was deleted a moment ago
            seen.append(Overview(service, collection, now))
    return [(f"{{{task(look.collection.number)}}}", float(len(look.alarms))) for look in seen]


async def openapi(request: Request) -> Response:
    """Return the OpenAPI description."""
    return answer(document(service_of(request).settings))


OPERATIONS = [
    Route("/livez", livez, methods=["GET"]),
    Route("/healthz", healthz, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
    Route("/openapi.json", openapi, methods=["GET"]),
]
