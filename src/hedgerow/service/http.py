"""What all routes share: bodies within limits, bearer tokens, errors as problems, counts of requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hedgerow.errors import HedgerowError
from hedgerow.service.database import StorageError, StoragePressure
from hedgerow.service.logs import log
from hedgerow.service.problems import Problem
from hedgerow.service.service import Service
from hedgerow.service.writer import Busy

__all__ = [
    "HANDLERS",
    "Counting",
    "answer",
    "bearer",
    "curator",
    "decode",
    "read_body",
    "service_of",
    "storage_problem",
]

T = TypeVar("T", bound=msgspec.Struct)


def service_of(request: Request) -> Service:
    """Return the service behind the application."""
    return request.app.state.service  # type: ignore[no-any-return]


def answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return JSON."""
    return Response(msgspec.json.encode(content), status, headers, "application/json")


async def read_body(request: Request, most: int, seconds: float) -> bytes:
    """Return the body, refusing one that is too large or too slow."""
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > most:
        raise Problem("body-too-large", f"A body may have at most {most} bytes.")
    parts, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                size += len(chunk)
                if size > most:
                    raise Problem("body-too-large", f"A body may have at most {most} bytes.")
                parts.append(chunk)
    except TimeoutError:
        raise Problem("body-timeout", f"The body must arrive within {seconds:g} seconds.") from None
    return b"".join(parts)


def bearer(request: Request) -> str:
    """Return the bearer token of a request; "" if there is none."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def curator(request: Request) -> Service:
    """Return the service if the request carries a curator's token."""
    service, token = service_of(request), bearer(request)
    if not token or not await run_in_threadpool(service.is_curator, token):
        raise Problem("unauthorized", "Send a curator's token: Authorization: Bearer hc_...")
    return service


async def decode(request: Request, kind: type[T]) -> T:
    """Return a control message; an empty body is a message without fields."""
    service = service_of(request)
    body = await read_body(request, service.settings.most_json, service.settings.body_seconds)
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Problem("invalid-request", f"The body is not as described: {error}") from None


def storage_problem(error: StorageError) -> Problem:
    """Say what is wrong with the database, and write it to the log."""
    if isinstance(error, Busy):
        return Problem("busy", str(error))
    log("storage", level="error", reason=str(error))
    return Problem("storage-busy" if isinstance(error, StoragePressure) else "storage-full", str(error))


async def _problem(request: Request, error: Exception) -> Response:
    if isinstance(error, Problem):
        found = error
    elif isinstance(error, StorageError):
        found = storage_problem(error)
    elif isinstance(error, HedgerowError):
        found = Problem("invalid-request", str(error))
    elif isinstance(error, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "invalid-request")
        found = Problem(code, "", error.headers)
    elif isinstance(error, ClientDisconnect):
        found = Problem("invalid-request", "The body ended before it was complete.")
    else:
        log("failed", level="error", error=type(error).__name__)
        found = Problem("internal")
    return found.response()


_Handler = Callable[[Request, Exception], Awaitable[Response]]
_CAUGHT: tuple[Any, ...] = (Problem, HedgerowError, HTTPException, ClientDisconnect, Exception)
HANDLERS: dict[Any, _Handler] = dict.fromkeys(_CAUGHT, _problem)


class Counting:
    """Counts answers by route and status, and adds headers that every answer should have."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app, self.service = app, service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"x-content-type-options", b"nosniff"))
                path = getattr(scope.get("route"), "path", "other")
                self.service.requests[f"{scope['method'] if path != 'other' else ''} {path}", message["status"]] += 1
            await send(message)

        await self.app(scope, receive, sending)
