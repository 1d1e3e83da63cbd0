"""What all routes share: bodies within limits, bearer tokens, errors as problems."""

from __future__ import annotations

import traceback
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hedgerow.errors import HedgerowError
from hedgerow.service.curators import SCOPES, Curator
from hedgerow.service.database import StorageError, StoragePressure
from hedgerow.service.logs import log
from hedgerow.service.problems import Problem
from hedgerow.service.service import Service
from hedgerow.service.sqlite_file import SchemaChanged
from hedgerow.service.writer import Busy

__all__ = [
    "HANDLERS",
    "answer",
    "bearer",
    "curator",
    "decode",
    "known_token",
    "read_body",
    "service_of",
    "trim_of",
    "storage_problem",
]

T = TypeVar("T", bound=msgspec.Struct)


def service_of(request: Request) -> Service:
    """Return the service behind the application."""
    return request.app.state.service  # type: ignore[no-any-return]


def answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """Return JSON."""
    return Response(msgspec.json.encode(content), status, headers, "application/json")


async def read_body(request: Request, most: int) -> bytes:
    """Return the body of a request, within limits."""
    declared = request.headers.get("content-length", "0")
    return await service_of(request).bodies.receive(request.receive, declared, most)


def bearer(authorization: str) -> str:
    """Return the bearer token of a header; "" if there is none.

    >>> bearer("Bearer abc"), bearer("Basic abc")
    ('abc', '')
    """
    scheme, _, token = authorization.partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


async def curator(request: Request, scope: str) -> tuple[Service, Curator]:
    """Return the service, and who asks, if the request carries a curator's token that allows ``scope``."""
    service = service_of(request)
    token = bearer(request.headers.get("authorization", ""))
    if not token:
        raise Problem("unauthorized", "Send a curator's token: Authorization: Bearer hc_...")
    found = await known_token(service, token)
    if found is None:
        raise Problem("unauthorized", "This is not a curator's token; was it revoked?")
    if not found.may(scope):
        raise Problem("forbidden", f"This needs a token with the scope {scope!r}: it may {SCOPES[scope]}.")
    return service, found


async def known_token(service: Service, token: str) -> Curator | None:
    """Return whose token this is; wrong ones are counted, logged and answered late."""
    found = await run_in_threadpool(service.curator, token)
    if found is None:
        await service.guesses.wrong()
    return found


async def decode(request: Request, kind: type[T]) -> T:
    """Return a control message; an empty body is a message without fields."""
    service = service_of(request)
    body = await read_body(request, service.settings.most_json)
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise Problem("invalid-request", f"The body is not as described: {error}") from None


def storage_problem(error: StorageError) -> Problem:
    """Say that something is wrong with the database; what it is goes to the log alone.

    Drivers name addresses, users and paths, and whoever asks may be anybody.
    """
    if isinstance(error, Busy):
        return Problem("busy", str(error))
    log("storage", level="error", reason=str(error))
    if isinstance(error, SchemaChanged):
        return Problem("storage-changed", "This server is of another version than its database. Try again later.")
    code = "storage-busy" if isinstance(error, StoragePressure) else "storage-full"
    return Problem(code, "Try again later. The log of the server says what is wrong.")


def trim_of(request: Request) -> float | None:
    """Return the share of groups that is to be left out at each end of the sums; None where nothing is said."""
    text = request.query_params.get("trim")
    if text is None:
        return None
    try:
        return float(text)
    except ValueError:
        raise Problem("invalid-request", "'trim' must be a share of the groups, such as 0.1.") from None


def problem_of(error: Exception) -> Problem:
    """Return the problem that an error is answered with."""
    if isinstance(error, Problem):
        return error
    if isinstance(error, StorageError):
        return storage_problem(error)
    if isinstance(error, HedgerowError):
        return Problem("invalid-request", str(error))
    if isinstance(error, HTTPException):
        code = {404: "not-found", 405: "method-not-allowed"}.get(error.status_code, "invalid-request")
        return Problem(code, "", error.headers)
    if isinstance(error, ClientDisconnect):
        return Problem("invalid-request", "The body ended before it was complete.")
    last = traceback.extract_tb(error.__traceback__)[-1]
    # The text of an error may quote what was sent: only its type and place are written down.
    log("failed", level="error", error=type(error).__name__, at=f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}")
    return Problem("internal")


async def _problem(request: Request, error: Exception) -> Response:
    problem = problem_of(error)
    service_of(request).problems[problem.code] += 1
    return problem.response()


_Handler = Callable[[Request, Exception], Awaitable[Response]]
_CAUGHT: tuple[Any, ...] = (Problem, HedgerowError, HTTPException, ClientDisconnect, Exception)
HANDLERS: dict[Any, _Handler] = dict.fromkeys(_CAUGHT, _problem)
