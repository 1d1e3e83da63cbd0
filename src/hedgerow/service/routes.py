"""The routes under ``/v1``, but for uploads (:mod:`hedgerow.service.uploads`)."""

from __future__ import annotations

import contextlib
import hashlib
import json
from dataclasses import asdict
from functools import partial
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hedgerow.content import canonical
from hedgerow.curator import MOST_TOKENS
from hedgerow.holder.client import CLOSED
from hedgerow.service.audit import broken_at, read_audit
from hedgerow.service.collection import Collection
from hedgerow.service.curators import Curator, digest_of
from hedgerow.service.http import answer, bearer, curator, decode, read_body, service_of, trim_of
from hedgerow.service.overview import Overview
from hedgerow.service.passes import exchange
from hedgerow.service.problems import Problem
from hedgerow.service.service import Service
from hedgerow.tasks.announcement import read_task

__all__ = ["V1"]

_TAKEN = ("tokens", "passes", "max_reports", "target", "groups")
_MONTH = 30 * 86_400  # seconds that a collection is open unless its curator says otherwise; by hand


class NewTask(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /v1/tasks``."""

    task: dict[str, Any]
    title: str | None = None
    purpose: str = ""
    curator: str = ""
    opens: int | None = None
    closes: int | None = None
    tokens: bool = False
    passes: bool = False
    max_reports: int = 0
    target: int | None = None
    groups: int = 0
    simulation: bool = False


class Grow(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /v1/tasks/{id}/second``."""

    rule: str | None = None
    max_depth: int | None = None
    n_bins: int | None = None
    n_private: int | None = None
    response: str = "k_ary"
    opens: int | None = None
    closes: int | None = None
    tokens: bool = False
    passes: bool = False
    max_reports: int = 0
    target: int | None = None
    groups: int = 0


class NewTokens(msgspec.Struct, forbid_unknown_fields=True):
    """Body of ``POST /v1/tasks/{id}/tokens``."""

    count: int = 1
    quota: int = 1
    first_record: int | None = None


async def _collection(request: Request, service: Service) -> Collection:
    task_id = request.path_params["id"]
    found = service.known(task_id)
    return found if found is not None else await run_in_threadpool(service.collection, task_id)


async def create_task(request: Request) -> Response:
    """Publish a task: sign it, keep it, never change it."""
    service, who = await curator(request, "publish")
    now = int(service.clock())
    wanted = await decode(request, NewTask)
    content = {name: value for name, value in wanted.task.items() if name != "id"}
    try:
        text = canonical(content)
    except ValueError as error:
        raise Problem("invalid-request", f"The task is not plain JSON: {error}") from None
    stated = wanted.task.get("id")
    if stated is not None and stated != hashlib.sha256(text.encode()).hexdigest():
        raise Problem("invalid-request", "The task's content does not match its id: it was changed after it was made.")
    try:
        task = await run_in_threadpool(read_task, text)
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise Problem("invalid-request", f"The task is malformed: {error}") from None
    opens, closes = await _window(service, task, wanted, now)
    words = {name: getattr(wanted, name) for name in ("title", "purpose", "curator", *_TAKEN)}
    return await _publish(service, who, task, wanted.simulation, now, opens=opens, closes=closes, **words)


async def _window(service: Service, task: Any, wanted: NewTask | Grow, now: int) -> tuple[int, int]:
    """Return from when until when reports are taken: as it is said, or as it was when the same task was published.

    So a publication whose answer was lost is the same when it is sent again a moment later.
    """
    opens, closes = wanted.opens, wanted.closes
    with contextlib.suppress(Problem):  # it is new, or nothing that another can be compared with
        notice = (await run_in_threadpool(service.collection, task.id)).announcement
        opens = notice.opens if opens is None else opens
        closes = notice.closes if closes is None else closes
    opens = now if opens is None else opens
    return opens, opens + _MONTH if closes is None else closes


async def _publish(service: Service, who: Curator, task: Any, simulation: bool, now: int, **words: Any) -> Response:
    def work() -> tuple[Collection, bool]:
        return service.publish(task, simulation=simulation, now=now, publisher=who, **words)

    collection, new = await run_in_threadpool(work)
    headers = {"Location": f"/v1/tasks/{collection.id}"}
    return Response(collection.text, 201 if new else 200, headers, "application/json")


async def second_round(request: Request) -> Response:
    """Grow the partition of the second round from the closed first round, and publish its task."""
    service, who = await curator(request, "publish")
    now = int(service.clock())
    first = await _collection(request, service)
    wanted = await decode(request, Grow)
    kind = first.kind
    if kind.task.makes != "task":
        raise Problem("not-available", "Only the first of two rounds has a second.")

    def grow() -> Any:
        seen = Overview(service, first, now)
        if seen.closed is None:
            raise Problem("task-still-open", "Close the first round: its reports make the second task.")
        rows, simulation = service.rows(first)
        if not len(rows):
            raise Problem("no-reports", "The first round has no report to grow from.")
        names = ("max_depth", "n_bins", "n_private", "rule", "response")
        given = {name: getattr(wanted, name) for name in names if getattr(wanted, name) is not None}
        totals = kind.task.totals().add(kind.batch(rows, simulation))
        return totals.model(**given)

    task = await run_in_threadpool(grow)
    notice = first.announcement
    opens, closes = await _window(service, task, wanted, now)
    words = {name: getattr(notice, name) for name in ("title", "purpose", "curator")}
    words |= {name: getattr(wanted, name) for name in _TAKEN}
    return await _publish(service, who, task, first.simulation, now, opens=opens, closes=closes, **words)


async def list_tasks(request: Request) -> Response:
    """List the tasks, newest first."""
    service = service_of(request)
    now = service.clock()
    found, _ = await run_in_threadpool(service.collections)
    return answer({"tasks": [_summary(c, closed, now) for c, closed in found]})


def _summary(collection: Collection, closed: int | None, now: float) -> dict[str, Any]:
    notice = collection.announcement
    content = {
        name: getattr(notice, name) for name in ("kind", "title", "curator", "opens", "closes", "tokens", "max_reports")
    }
    return {"id": collection.id, **content, "open": closed is None and notice.is_open(now)}


async def get_task(request: Request) -> Response:
    """Return the signed announcement; beside it, whether the task was closed: who answers then would pay in vain."""
    service = service_of(request)
    collection = await _collection(request, service)
    closed = service.closed(collection.number)
    headers = {"Cache-Control": "no-cache"} | ({} if closed is None else {CLOSED: str(closed)})
    return Response(collection.text, headers=headers, media_type="application/json")


async def status(request: Request) -> Response:
    """Return progress, refusals by reason, what a forged report can do, and alarms."""
    service, _ = await curator(request, "read")
    now = service.clock()
    collection = await _collection(request, service)
    return answer(await run_in_threadpool(lambda: Overview(service, collection, now).to_dict()))


async def close_task(request: Request) -> Response:
    """Close a task for ever."""
    service, who = await curator(request, "close")
    now = service.clock()
    collection = await _collection(request, service)

    def work() -> dict[str, Any]:
        service.close(collection, int(now), who)
        return Overview(service, collection, now).to_dict()

    return answer(await run_in_threadpool(work))


async def issue_tokens(request: Request) -> Response:
    """Make upload tokens."""
    service, who = await curator(request, "publish")
    collection = await _collection(request, service)
    wanted = await decode(request, NewTokens)
    if not 1 <= wanted.count <= MOST_TOKENS or not 1 <= wanted.quota <= 1 << 40:
        raise Problem("invalid-request", f"'count' must be 1 .. {MOST_TOKENS} and 'quota' 1 .. {1 << 40}.")
    if not collection.announcement.tokens:
        raise Problem("not-available", "This task takes reports without tokens.")
    first = wanted.first_record
    if first is not None and not 0 <= first < 1 << 63:
        raise Problem("invalid-request", "'first_record' must be the number of a record, at least 0.")
    made = await run_in_threadpool(service.issue_tokens, collection, wanted.count, wanted.quota, who, first)
    content: dict[str, Any] = {"tokens": [token.text for token in made]}
    if collection.kind.numbered:
        content["records"] = [[token.records[0], token.records[-1]] for token in made if token.records is not None]
    return answer(content, 201, {"Cache-Control": "no-store"})


async def _check_invitation(service: Service, collection: Collection, invitation: str) -> None:
    """Refuse an invitation that nobody was given before anything is read or signed for its bearer."""
    digest = digest_of(invitation)
    if service.issued.has(collection.number, digest):
        return
    refused = await run_in_threadpool(service.issued.look, collection.number, digest)
    if refused:
        raise Problem(refused)


async def issue_pass(request: Request) -> Response:
    """Sign a blinded message against an invitation: the holder makes a pass of it, which says not whose it is."""
    service = service_of(request)
    collection = await _collection(request, service)
    if not collection.announcement.pass_key:
        raise Problem("not-available", "This task takes no passes.")
    invitation = bearer(request.headers.get("authorization", ""))
    if not invitation:
        raise Problem("token-required", "Send the invitation: Authorization: Bearer hu_...")
    try:
        await _check_invitation(service, collection, invitation)
        blinded = await read_body(request, len(collection.announcement.pass_key))
        work = partial(exchange, service.database, service.writer, collection, invitation, blinded)
        signed = await run_in_threadpool(work)
    except Problem as problem:
        service.refuse(collection.number, problem.code)
        if problem.code == "token-unknown":
            await service.guesses.wrong()
        raise
    return Response(signed, media_type="application/octet-stream", headers={"Cache-Control": "no-store"})


async def model(request: Request) -> Response:
    """Return the model of all acknowledged reports."""
    service, who = await curator(request, "read")
    now = service.clock()
    collection = await _collection(request, service)
    await run_in_threadpool(service.note, who, "download", collection, "model")
    trim = trim_of(request)
    given = {name: text for name, text in request.query_params.items() if name != "trim"}
    options = {name: _value(collection, name, text) for name, text in given.items()}
    text = await run_in_threadpool(lambda: Overview(service, collection, now).model(trim=trim, **options).to_json())
    return Response(text, media_type="application/json")


def _value(collection: Collection, name: str, text: str) -> Any:
    """Return an option of the model, as the task knows it: a number, or text."""
    if name not in collection.task.model_options:
        kind = collection.announcement.kind
        raise Problem("invalid-request", f"{name!r} is not an option of what a {kind} task makes: leave it out.")
    try:
        return float(text)
    except ValueError:
        return text


async def leaves(request: Request) -> Response:
    """Return the table of leaves, and what more reports would buy."""
    service, who = await curator(request, "read")
    now = service.clock()
    collection = await _collection(request, service)
    await run_in_threadpool(service.note, who, "download", collection, "leaves")
    try:
        level = float(request.query_params.get("level", "0.9"))
    except ValueError:
        level = 0.0
    if not 0 < level < 1:
        raise Problem("invalid-request", "'level' must be between 0 and 1.")
    trim = trim_of(request)

    def work() -> bytes:
        seen = Overview(service, collection, now)
        found = seen.model(trim=trim)
        rows = seen.leaves(found, level)
        more = [str(f) for f in seen.forecasts(found)]
        return json.dumps({"n_reports": found.n_reports, "level": level, "leaves": rows, "forecasts": more}).encode()

    return Response(await run_in_threadpool(work), media_type="application/json")


async def data(request: Request) -> Response:
    """Return the data set of a label task (CSV) or the reports of a first round."""
    service, who = await curator(request, "read")
    now = service.clock()
    collection = await _collection(request, service)
    await run_in_threadpool(service.note, who, "download", collection, "data")
    media, body = await run_in_threadpool(lambda: Overview(service, collection, now).data())
    return Response(body, media_type=media)


async def delete_task(request: Request) -> Response:
    """Delete a closed task, and all that was collected for it."""
    service, who = await curator(request, "admin")
    now = int(service.clock())
    overwritten = await run_in_threadpool(service.delete, request.path_params["id"], now, who)
    return answer({"deleted": request.path_params["id"], "overwritten": overwritten})


async def audit_log(request: Request) -> Response:
    """Return what curators did, newest first, and whether the chain of the log holds."""
    service, _ = await curator(request, "admin")

    def work() -> dict[str, Any]:
        with service.database.read() as connection:
            return {"entries": [asdict(entry) for entry in read_audit(connection)], "broken_at": broken_at(connection)}

    return answer(await run_in_threadpool(work))


V1 = [
    Route("/v1/tasks/{id}", get_task, methods=["GET"]),
    Route("/v1/tasks/{id}", delete_task, methods=["DELETE"]),
    Route("/v1/audit", audit_log, methods=["GET"]),
    Route("/v1/tasks", create_task, methods=["POST"]),
    Route("/v1/tasks", list_tasks, methods=["GET"]),
    Route("/v1/tasks/{id}/status", status, methods=["GET"]),
    Route("/v1/tasks/{id}/close", close_task, methods=["POST"]),
    Route("/v1/tasks/{id}/tokens", issue_tokens, methods=["POST"]),
    Route("/v1/tasks/{id}/passes", issue_pass, methods=["POST"]),
    Route("/v1/tasks/{id}/model", model, methods=["GET"]),
    Route("/v1/tasks/{id}/leaves", leaves, methods=["GET"]),
    Route("/v1/tasks/{id}/data", data, methods=["GET"]),
    Route("/v1/tasks/{id}/second", second_round, methods=["POST"]),
]
