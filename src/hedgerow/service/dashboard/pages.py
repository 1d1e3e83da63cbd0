"""The dashboard's routes: sign in, look, close, download. Works without scripts; htmx only keeps figures fresh."""

from __future__ import annotations

import csv
import hmac
import io
import re
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader, StrictUndefined
from sqlalchemy import Connection
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from hedgerow.digits import in_full, plain
from hedgerow.errors import HedgerowError
from hedgerow.service.audit import Entry, broken_at, read_audit
from hedgerow.service.collection import Collection
from hedgerow.service.curators import Curator
from hedgerow.service.dashboard.session import COOKIE, LIFETIME, end_session, find_session, form_token, start_session
from hedgerow.service.dashboard.sharing import (
    code_svg,
    given_of,
    home_content,
    link_of,
    number_of,
    publish_form,
    share_content,
)
from hedgerow.service.dashboard.timeline import when
from hedgerow.service.dashboard.views import TaskView, card, damaged_card, detail
from hedgerow.service.database import StorageError
from hedgerow.service.http import known_token, problem_of, read_body, service_of, trim_of
from hedgerow.service.overview import Overview
from hedgerow.service.problems import Problem
from hedgerow.service.timeline import CROWD

__all__ = ["routes"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Frame-Options": "DENY",
}
_STATIC = {
    "dashboard.css": "text/css; charset=utf-8",
    "htmx.min.js": "text/javascript; charset=utf-8",
    "icon.svg": "image/svg+xml",
}
_MOST_FORM = 4096  # bytes of the form of a login: a token and little else
_MOST_FIELDS = 20  # of a form: the largest has ten; each of millions would be a string of its own
_COMPUTED = ("=", "+", "-", "@", "\t", "\r", "\n")  # how a formula begins (OWASP, CSV injection)
_NUMBER = re.compile(r"[-+][0-9]*\.?[0-9]*(e[-+]?[0-9]+)?")  # is what it says, computed or not
_BEGIN = re.compile(rb"""(?:^|[,"\n])(?:[=@\t\r]|[+-](?![0-9.e+-]*(?:[,"\n]|$)))""")  # of a cell that may be computed
_LOOKS = ("GET", "HEAD")  # routes of pages take both, and nothing is changed by either
_HERE = ("same-origin", "none")  # what browsers say of a form of this site, or of an address that was typed
Handler = Callable[[Request], Awaitable[Response]]


@cache
def _templates() -> Environment:
    found = Environment(loader=PackageLoader(__package__ or ""), autoescape=True, undefined=StrictUndefined)
    found.filters["in_full"] = in_full
    found.filters["number"] = lambda value, digits: in_full(plain(value, digits))
    found.globals["crowd"] = CROWD
    found.globals["leaf"] = found.get_template("leaf.html").module.leaf  # type: ignore[attr-defined]
    return found


def _page(name: str, status: int = 200, **content: Any) -> Response:
    text = _templates().get_template(name).render(**content)
    return Response(text, status, _HEADERS, "text/html; charset=utf-8")


async def _signed_in(request: Request) -> tuple[str, Curator] | None:
    """Return the cookie and whose it is; None for strangers."""
    service = service_of(request)
    cookie = request.cookies.get(COOKIE, "")
    now = service.clock()

    def look() -> Curator | None:
        with service.database.read() as connection:
            return find_session(connection, cookie, now, environment=service.environment)

    who = await run_in_threadpool(look) if cookie else None
    return None if who is None else (cookie, who)


def _own(scope: str, handler: Handler) -> Handler:
    """Return a handler that sends strangers to the sign-in page; forms must also prove where they come from.

    Whoever has signed in may do what needs no scope ("").
    """

    async def guarded(request: Request) -> Response:
        found = await _signed_in(request)
        if found is None:
            return RedirectResponse("/dashboard/sign-in", 303, {"HX-Redirect": "/dashboard/sign-in"})
        cookie, who = found
        if scope and not who.may(scope):  # before a body is read that may be large
            raise Problem("forbidden", f"This needs a token with the scope {scope!r}.")
        if request.method == "POST":
            form = await _form(request)
            request.state.form = form
            if not hmac.compare_digest(form.get("csrf", "").encode(), form_token(cookie).encode()):
                raise Problem("invalid-request", "This form is not from the dashboard; open the page again.")
        request.state.csrf = form_token(cookie)
        request.state.cookie = cookie
        request.state.curator = who
        return await handler(request)

    return guarded


def _told(handler: Handler) -> Handler:
    """Return a handler that tells browsers by a page what others are told by a problem document."""

    async def telling(request: Request) -> Response:
        try:
            return await handler(request)
        except Exception as error:
            if "text/html" not in request.headers.get("accept", ""):
                raise
            problem = problem_of(error)
            service_of(request).problems[problem.code] += 1
            response = _page("problem.html", problem.status, problem=problem, signed_in=False)
            response.headers.update(problem.headers)
            return response

    return telling


async def _sign_in(request: Request) -> Response:
    """Ask for the curator's token and trade it for a cookie."""
    service = service_of(request)
    if request.method in _LOOKS:
        return _page("sign_in.html", signed_in=False, failed=False)
    if request.headers.get("sec-fetch-site", "same-origin") not in _HERE:
        # Else another site could sign a curator's browser in as somebody else, for whom the next task is published.
        raise Problem("invalid-request", "This form is not from the dashboard; open the page again.")
    token = (await _form(request)).get("token", "").strip()
    who = await known_token(service, token) if token else None
    if who is None:
        return _page("sign_in.html", 403, signed_in=False, failed=True)
    now = int(service.clock())

    def change(connection: Connection) -> str:
        return start_session(connection, who, now, environment=service.environment)

    cookie = await run_in_threadpool(service.writer.run, change)
    response = RedirectResponse("/dashboard", 303, _HEADERS)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=LIFETIME,
        path="/dashboard",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )
    return response


async def _sign_out(request: Request) -> Response:
    service = service_of(request)
    now = int(service.clock())

    def change(connection: Connection) -> None:
        who = request.state.curator
        end_session(connection, request.state.cookie, who, now, environment=service.environment)

    await run_in_threadpool(service.writer.run, change)
    response = RedirectResponse("/dashboard/sign-in", 303)
    response.delete_cookie(COOKIE, path="/dashboard")
    return response


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; that of a task may be as long as a task, in a spelling of up to 3 bytes for one."""
    limits = service_of(request).settings
    most = 3 * limits.most_json if request.url.path == "/dashboard/publish" else _MOST_FORM
    body = await read_body(request, most)
    try:
        found = parse_qs(body.decode("utf-8", "replace"), max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise Problem("invalid-request", "This form has more fields than any of the dashboard.") from None
    return {name: values[0] for name, values in found.items()}


async def _look(request: Request, view: Callable[[Overview], Any]) -> Any:
    """Return a view of the task that the address names, at one moment."""
    service = service_of(request)
    now = service.clock()
    collection: Collection = await run_in_threadpool(service.collection, request.path_params["id"])
    return await run_in_threadpool(lambda: view(Overview(service, collection, now)))


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in _STATIC:
        raise Problem("not-found")
    body = resources.files(__package__ or "").joinpath("static", name).read_bytes()
    return Response(body, headers={"Cache-Control": "max-age=3600"}, media_type=_STATIC[name])


async def _tasks(request: Request) -> Response:
    service = service_of(request)
    now = service.clock()

    def one(collection: Collection) -> TaskView:
        """Return a card; one that fails says so, and the others are shown."""
        try:
            return card(Overview(service, collection, now))
        except StorageError:
            raise
        except Exception as error:
            return damaged_card(collection.id, problem_of(error).detail or type(error).__name__)

    def work() -> list[TaskView]:
        found, damaged = service.collections()
        return [*(damaged_card(d.id, d.reason) for d in damaged), *(one(collection) for collection, _ in found)]

    return _page("tasks.html", tasks=await run_in_threadpool(work), signed_in=True, csrf=request.state.csrf)


async def _task(request: Request) -> Response:
    view = await _look(request, detail)
    return _page("task.html", task=view, live=view.live, signed_in=True, csrf=request.state.csrf)


async def _live(request: Request) -> Response:
    view = await _look(request, detail)
    return _page("live.html", task=view, live=view.live)


async def _close(request: Request) -> Response:
    service = service_of(request)
    now = int(service.clock())
    await _look(request, lambda seen: service.close(seen.collection, now, request.state.curator))
    return RedirectResponse(f"/dashboard/tasks/{request.path_params['id']}", 303)


async def _target(request: Request) -> Response:
    """Note how many reports are hoped for; an empty field takes the note back."""
    service = service_of(request)
    now = int(service.clock())
    target = number_of(request.state.form.get("target", ""))
    await _look(request, lambda seen: service.aim(seen.collection, target, now, request.state.curator))
    return RedirectResponse(f"/dashboard/tasks/{request.path_params['id']}", 303)


async def _delete(request: Request) -> Response:
    service = service_of(request)
    now = int(service.clock())
    await run_in_threadpool(service.delete, request.path_params["id"], now, request.state.curator)
    return RedirectResponse("/dashboard", 303)


async def _audit(request: Request) -> Response:
    service = service_of(request)

    def work() -> tuple[list[Entry], int | None]:
        with service.database.read() as connection:
            return read_audit(connection), broken_at(connection)

    entries, broken = await run_in_threadpool(work)
    rows = [(when(entry.time), entry) for entry in entries]
    return _page("audit.html", entries=rows, broken=broken, signed_in=True, csrf=request.state.csrf)


def _download(body: str | bytes, name: str, media: str) -> Response:
    headers = {**_HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, headers=headers, media_type=media)


def _noted(what: str, handler: Handler) -> Handler:
    """Return a handler whose download stands in the audit log before it begins."""

    async def noting(request: Request) -> Response:
        service = service_of(request)
        collection = await run_in_threadpool(service.collection, request.path_params["id"])
        await run_in_threadpool(service.note, request.state.curator, "download", collection, what)
        return await handler(request)

    return noting


async def _home(request: Request) -> Response:
    return _page("home.html", **await run_in_threadpool(home_content, request))


async def _publish(request: Request) -> Response:
    if request.method in _LOOKS:
        return _page(
            "publish.html", given=given_of({"tokens": "yes"}), problem="", signed_in=True, csrf=request.state.csrf
        )
    given = given_of(request.state.form)
    try:
        return await publish_form(request, given)
    except (HedgerowError, Problem, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, StorageError):
            raise
        why = error.detail if isinstance(error, Problem) else str(error)
        content = {"given": given, "problem": why or "This is not a task.", "csrf": request.state.csrf}
        return _page("publish.html", 400, signed_in=True, **content)


async def _share(request: Request) -> Response:
    service = service_of(request)
    collection = await run_in_threadpool(service.collection, request.path_params["id"])
    return _page("share.html", signed_in=True, csrf=request.state.csrf, **share_content(request, collection))


async def _code(request: Request) -> Response:
    service = service_of(request)
    collection = await run_in_threadpool(service.collection, request.path_params["id"])
    return Response(code_svg(link_of(request, collection.id)), headers=_HEADERS, media_type="image/svg+xml")


async def _model(request: Request) -> Response:
    trim = trim_of(request)
    text = await _look(request, lambda seen: seen.model(trim=trim).to_json())
    return _download(text, "model.json", "application/json")


async def _leaves(request: Request) -> Response:
    trim = trim_of(request)
    rows = await _look(request, lambda seen: seen.leaves(seen.model(trim=trim)))
    out = io.StringIO()
    flat = [{k: v for k, v in row.items() if not isinstance(v, dict)} | _flat(row) for row in rows]
    names = list(flat[0])
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(name) for name in names])
    writer.writerows([_cell(row[name]) for name in names] for row in flat)
    return _download(out.getvalue(), "leaves.csv", "text/csv; charset=utf-8")


def _cell(value: Any) -> Any:
    """Return text that a spreadsheet shows and does not compute: names of features and classes are a curator's words.

    >>> _cell("=1+1"), _cell("age <= 40"), _cell(-0.5), _cell("-1")
    ("'=1+1", 'age <= 40', -0.5, '-1')
    """
    if not isinstance(value, str) or not value.startswith(_COMPUTED) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return nested values (one for each class) as columns of their own.

    >>> _flat({"leaf": 1, "classes": {"a": 0.25}})
    {'classes a': 0.25}
    """
    return {f"{name} {key}": v for name, value in row.items() if isinstance(value, dict) for key, v in value.items()}


async def _data(request: Request) -> Response:
    media, body = await _look(request, lambda seen: seen.data())
    if not media.startswith("text/csv"):
        return _download(body, "reports.bin", media)
    return _download(await run_in_threadpool(_harmless, body), "labels.csv", media)


def _harmless(table: bytes) -> bytes:
    r"""Return a table in CSV whose text no spreadsheet computes: a label's name and classes are words, too.

    >>> _harmless(b"record,y\n0,=1+1\n1,-0.5\n")
    b"record,y\n0,'=1+1\n1,-0.5\n"
    """
    if _BEGIN.search(table) is None:  # as good as always, and tables are long
        return table
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([map(_cell, row) for row in csv.reader(io.StringIO(table.decode()))])
    return out.getvalue().encode()


def routes() -> list[BaseRoute]:
    """Return the routes."""
    task = "/dashboard/tasks/{id}"
    found = [
        Route("/dashboard/sign-in", _sign_in, methods=["GET", "POST"]),
        Route("/dashboard/sign-out", _own("", _sign_out), methods=["POST"]),
        Route("/dashboard/static/{name}", _static, methods=["GET"]),
        Route("/dashboard", _own("read", _tasks), methods=["GET"]),
        Route("/", _home, methods=["GET"]),
        Route("/dashboard/publish", _own("publish", _publish), methods=["GET", "POST"]),
        Route(f"{task}/share", _own("read", _share), methods=["GET"]),
        Route(f"{task}/code.svg", _own("read", _code), methods=["GET"]),
        Route("/dashboard/audit", _own("admin", _audit), methods=["GET"]),
        Route(task, _own("read", _task), methods=["GET"]),
        Route(f"{task}/live", _own("read", _live), methods=["GET"]),
        Route(f"{task}/close", _own("close", _close), methods=["POST"]),
        Route(f"{task}/target", _own("publish", _target), methods=["POST"]),
        Route(f"{task}/delete", _own("admin", _delete), methods=["POST"]),
        Route(f"{task}/model.json", _own("read", _noted("model", _model)), methods=["GET"]),
        Route(f"{task}/leaves.csv", _own("read", _noted("leaves", _leaves)), methods=["GET"]),
        Route(f"{task}/data", _own("read", _noted("data", _data)), methods=["GET"]),
    ]
    return [Route(route.path, _told(route.endpoint), methods=sorted(route.methods or ())) for route in found]
