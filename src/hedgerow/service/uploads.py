"""``POST /v1/tasks/{id}/reports``: the one route that many devices use at once.

It stands in front of the application instead of in its table of routes: at thousands of requests a second the way
through a router and its middleware costs more than the upload itself.
"""

from __future__ import annotations

import asyncio
import re
import time

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.service.collection import Collection
from hedgerow.service.curators import digest_of
from hedgerow.service.http import bearer, problem_of
from hedgerow.service.intake import Outcome
from hedgerow.service.kinds import ReadBatch
from hedgerow.service.passes import check_pass
from hedgerow.service.problems import Problem
from hedgerow.service.service import Service

__all__ = ["MEDIA_TYPE", "UPLOADS", "Gate"]

MEDIA_TYPE = "application/vnd.hedgerow.reports+bin"
ROUTE = "/v1/tasks/{id}/reports"
_PATH = re.compile(r"/v1/tasks/([^/]+)/reports")
_MEDIA = re.compile(re.escape(MEDIA_TYPE) + r"\s*;\s*version\s*=\s*(1|\"1\")\s*", re.IGNORECASE)
_COSTLY = (
    "/v1/",
    "/dashboard",
    "/metrics",
)  # what asks the database; pages and their scripts are read by whole classes at once
_NOSNIFF = (b"x-content-type-options", b"nosniff")
_JSON = (b"content-type", b"application/json")


class Gate:
    """The outermost layer: answers uploads itself, hands on the rest, and counts every answer."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
        elif scope["method"] == "POST" and (match := _PATH.fullmatch(scope["path"])):
            await self._upload(match[1], scope, receive, send)
        else:
            start = time.perf_counter()
            await self._hand_on(scope, receive, self._counting(scope, send))
            self.service.latency["other"].add(time.perf_counter() - start)

    async def _hand_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            path = scope["path"]
            if scope["method"] not in ("GET", "HEAD") or path == "/" or path.startswith(_COSTLY):
                self._admit(scope, Headers(scope=scope).get("authorization", ""))
            await self.app(scope, receive, sending)
        except Exception as error:
            if begun:
                raise
            problem = problem_of(error)  # a failure is answered and counted here, too: the layers outside do neither
            self.service.problems[problem.code] += 1
            await problem.response()(scope, receive, send)

    def _admit(self, scope: Scope, authorization: str) -> None:
        """Refuse who asks too often, before anything else is done for him."""
        client = scope.get("client")
        if client is not None:
            self.service.rates.take_address(client[0])
        if authorization:
            self.service.rates.take_token(bearer(authorization))

    def _counting(self, scope: Scope, send: Send) -> Send:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append(_NOSNIFF)
                path = getattr(scope.get("route"), "path", "")
                # Only names of routes: a path that nobody serves could hold anything.
                self.service.requests[f"{scope['method']} {path}" if path else "other", message["status"]] += 1
            await send(message)

        return sending

    async def _upload(self, task_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        start = time.perf_counter()
        try:
            await self._answer(task_id, scope, receive, send)
        finally:
            self.service.latency["upload"].add(time.perf_counter() - start)

    async def _answer(self, task_id: str, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        try:
            self._admit(scope, headers.get(b"authorization", ""))
            body = await upload(self.service, task_id, headers, receive)
        except (Exception, asyncio.CancelledError) as error:
            problem = _stopping() if isinstance(error, asyncio.CancelledError) else problem_of(error)
            self.service.problems[problem.code] += 1
            response = problem.response()
            response.headers["x-content-type-options"] = "nosniff"
            self.service.requests[f"POST {ROUTE}", response.status_code] += 1
            await response(scope, receive, send)
            return
        self.service.requests[f"POST {ROUTE}", 200] += 1
        length = (b"content-length", str(len(body)).encode())
        await send({"type": "http.response.start", "status": 200, "headers": [_JSON, length, _NOSNIFF]})
        await send({"type": "http.response.body", "body": body})


def _stopping() -> Problem:
    """Say that the server ends before the database has answered: who sends again is told what was kept."""
    return Problem("busy", "The server is stopping; send the same again in a moment.")


async def _never(request: Request) -> Response:
    """Stand in the table of routes, so that other methods are refused as such; POST does not come this far."""
    raise Problem("not-found")


async def upload(service: Service, task_id: str, headers: dict[bytes, str], receive: Receive) -> bytes:
    """Take reports; return the receipt when they are on the disk."""
    now = service.clock()
    known = service.known(task_id)
    collection = known if known is not None else await run_in_threadpool(service.collection, task_id)
    try:
        return await _take(service, collection, now, headers, receive)
    except Exception as error:
        problem = problem_of(error)
        service.refuse(collection.number, problem.code)
        raise problem from None


async def _take(
    service: Service, collection: Collection, now: float, headers: dict[bytes, str], receive: Receive
) -> bytes:
    late = _late(collection, now)
    try:
        return await _store(service, collection, headers, receive, late.code if late else "")
    except Problem as problem:
        if late is None or problem.passing:
            raise  # who comes again may learn that the report counted
        raise late from None  # out of time is what there is to say, whatever else is wrong


def _late(collection: Collection, now: float) -> Problem | None:
    """Return why nothing new is taken at this time."""
    notice = collection.announcement
    if now < notice.opens:
        return Problem("task-not-open", f"Reports are taken from {notice.opens} (unix seconds) on.")
    if now >= notice.closes:
        return Problem("task-ended", f"Reports were taken until {notice.closes} (unix seconds).")
    return None


async def _store(
    service: Service, collection: Collection, headers: dict[bytes, str], receive: Receive, late: str
) -> bytes:
    notice = collection.announcement
    limits = service.settings
    if collection.kind.shared:
        service.shared.check_leader(collection)
    if not _MEDIA.fullmatch(headers.get(b"content-type", "")):
        raise Problem("unsupported-media-type", f"Send {MEDIA_TYPE}; version=1.")
    token = bearer(headers.get(b"authorization", "")) if notice.tokens else ""
    if notice.tokens and not token:
        raise Problem("token-required", "Send the upload token that you were given: Authorization: Bearer hu_...")
    if token and notice.pass_key:
        await _check_pass(service, collection, token)
    elif token:
        await _check_token(service, collection, token)
    declared = headers.get(b"content-length", "0")
    body = await service.bodies.receive(receive, declared, limits.most_bytes)
    batch = _read(collection, body, limits.most_reports)
    batch, failures, places = _sift(collection, batch)
    outcome = Outcome(refused=late)
    if len(batch):
        digest = digest_of(token) if token else None
        upload = collection.kind.upload(collection.number, batch, collection.first, digest, token)
        upload.late = late
        upload.most = notice.max_reports
        upload.passed = bool(notice.pass_key)
        outcome = await service.store(upload)
    if outcome.refused:
        raise Problem(outcome.refused)
    failures += [(i if places is None else places[i], code) for i, code in outcome.failures]
    return _receipt(service, collection, body, outcome, sorted(failures))


async def _check_pass(service: Service, collection: Collection, token: str) -> None:
    """Refuse what is no pass of this task before its bearer may send a body."""
    try:
        await run_in_threadpool(check_pass, collection, token)
    except Problem:
        await service.guesses.wrong()
        raise


async def _check_token(service: Service, collection: Collection, token: str) -> None:
    """Refuse a token that nobody was given before its bearer may send a body; what it still buys is asked later."""
    digest = digest_of(token)
    if service.issued.has(collection.number, digest):
        return
    refused = await run_in_threadpool(service.issued.look, collection.number, digest)
    if refused == "token-unknown":
        await service.guesses.wrong()
    if refused:
        raise Problem(refused)


def _read(collection: Collection, body: bytes, most: int) -> ReadBatch:
    try:
        batch = collection.kind.read(body)
    except ValueError as error:
        raise Problem("malformed-batch", str(error)) from None
    if not len(batch):
        raise Problem("empty-batch")
    if len(batch) > most:
        raise Problem("too-many-reports", f"Send at most {most} reports at a time.")
    return batch


def _sift(collection: Collection, batch: ReadBatch) -> tuple[ReadBatch, list[tuple[int, str]], list[int] | None]:
    """Set aside reports that are invalid, or of a simulation where none is taken; return where the rest stood."""
    failures = [(i, "invalid-report") for i in sorted(batch.invalid)]
    if batch.simulation and not collection.simulation:
        failures += [(i, "simulation-refused") for i in range(len(batch)) if i not in batch.invalid]
    if not failures:
        return batch, failures, None
    out = {i for i, _ in failures}
    places = [i for i in range(len(batch)) if i not in out]
    rest = ReadBatch(batch.tokens[places], batch.payloads[places], batch.simulation, frozenset())
    return rest, failures, places


def _receipt(
    service: Service, collection: Collection, body: bytes, outcome: Outcome, failures: list[tuple[int, str]]
) -> bytes:
    service.reports["accepted"] += outcome.accepted
    if outcome.duplicates:
        service.reports["duplicates"] += outcome.duplicates
    listed = []
    for i, code in failures:
        service.refuse(collection.number, code)
        service.reports["failed"] += 1
        listed.append({"index": i, "id": collection.kind.id_in(body, i).hex(), "code": code})
    receipt = {"accepted": outcome.accepted, "duplicates": outcome.duplicates, "failures": listed}
    return msgspec.json.encode(receipt)


UPLOADS = [Route(ROUTE, _never, methods=["POST"])]
