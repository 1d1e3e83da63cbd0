"""The dashboard's routes: sign in, look, close, download. Works without scripts; htmx only keeps figures fresh."""

from __future__ import annotations

import csv
import hmac
import io
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from hedgerow.service.collection import Collection
from hedgerow.service.dashboard.session import COOKIE, LIFETIME, Sessions
from hedgerow.service.dashboard.views import card, detail
from hedgerow.service.http import read_body, service_of
from hedgerow.service.overview import Overview
from hedgerow.service.problems import Problem

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
Handler = Callable[[Request], Awaitable[Response]]


@cache
def _templates() -> Environment:
    found = Environment(loader=PackageLoader(__package__ or ""), autoescape=True, undefined=StrictUndefined)
    found.globals["leaf"] = found.get_template("leaf.html").module.leaf  # type: ignore[attr-defined]
    return found


def _page(name: str, status: int = 200, **content: Any) -> Response:
    text = _templates().get_template(name).render(**content)
    return Response(text, status, _HEADERS, "text/html; charset=utf-8")


class Dashboard:
    """The pages; one of them an application, since sessions belong to it."""

    def __init__(self) -> None:
        self.sessions = Sessions()

    def _cookie(self, request: Request) -> str | None:
        cookie = request.cookies.get(COOKIE)
        return cookie if self.sessions.valid(cookie, service_of(request).clock()) else None

    def signed_in(self, handler: Handler) -> Handler:
        """Return a handler that sends strangers to the sign-in page; forms must also prove where they come from."""

        async def guarded(request: Request) -> Response:
            cookie = self._cookie(request)
            if cookie is None:
                return RedirectResponse("/dashboard/sign-in", 303, {"HX-Redirect": "/dashboard/sign-in"})
            if request.method == "POST":
                form = await _form(request)
                if not hmac.compare_digest(form.get("csrf", "").encode(), self.sessions.form_token(cookie).encode()):
                    raise Problem("invalid-request", "This form is not from the dashboard; open the page again.")
            request.state.csrf = self.sessions.form_token(cookie)
            return await handler(request)

        return guarded

    async def sign_in(self, request: Request) -> Response:
        """Ask for the curator's token and trade it for a cookie."""
        service = service_of(request)
        if request.method == "GET":
            return _page("sign_in.html", signed_in=False, failed=False)
        token = (await _form(request)).get("token", "").strip()
        if not token or not await run_in_threadpool(service.is_curator, token):
            return _page("sign_in.html", 403, signed_in=False, failed=True)
        response = RedirectResponse("/dashboard", 303, _HEADERS)
        response.set_cookie(
            COOKIE,
            self.sessions.start(service.clock()),
            max_age=LIFETIME,
            path="/dashboard",
            secure=request.url.scheme == "https",
            httponly=True,
            samesite="strict",
        )
        return response

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        task = "/dashboard/tasks/{id}"
        own = self.signed_in
        return [
            Route("/dashboard/sign-in", self.sign_in, methods=["GET", "POST"]),
            Route("/dashboard/sign-out", own(_sign_out), methods=["POST"]),
            Route("/dashboard/static/{name}", _static, methods=["GET"]),
            Route("/dashboard", own(_tasks), methods=["GET"]),
            Route(task, own(_task), methods=["GET"]),
            Route(f"{task}/live", own(_live), methods=["GET"]),
            Route(f"{task}/close", own(_close), methods=["POST"]),
            Route(f"{task}/model.json", own(_model), methods=["GET"]),
            Route(f"{task}/leaves.csv", own(_leaves), methods=["GET"]),
            Route(f"{task}/data", own(_data), methods=["GET"]),
        ]


async def _form(request: Request) -> dict[str, str]:
    body = await read_body(request, _MOST_FORM, service_of(request).settings.body_seconds)
    return {name: values[0] for name, values in parse_qs(body.decode("utf-8", "replace")).items()}


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


async def _sign_out(request: Request) -> Response:
    response = RedirectResponse("/dashboard/sign-in", 303)
    response.delete_cookie(COOKIE, path="/dashboard")
    return response


async def _tasks(request: Request) -> Response:
    service = service_of(request)
    now = service.clock()

    def work() -> list[Any]:
        return [card(Overview(service, collection, now)) for collection, _ in service.collections()]

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
    await _look(request, lambda seen: service.close(seen.collection, now))
    return RedirectResponse(f"/dashboard/tasks/{request.path_params['id']}", 303)


def _download(body: str | bytes, name: str, media: str) -> Response:
    return Response(body, headers={"Content-Disposition": f'attachment; filename="{name}"'}, media_type=media)


async def _model(request: Request) -> Response:
    text = await _look(request, lambda seen: seen.model().to_json())
    return _download(text, "model.json", "application/json")


async def _leaves(request: Request) -> Response:
    rows = await _look(request, lambda seen: seen.leaves(seen.model()))
    out = io.StringIO()
    flat = [{k: v for k, v in row.items() if not isinstance(v, dict)} | _flat(row) for row in rows]
    writer = csv.DictWriter(out, list(flat[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(flat)
    return _download(out.getvalue(), "leaves.csv", "text/csv; charset=utf-8")


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return nested values (one for each class) as columns of their own.

    >>> _flat({"leaf": 1, "classes": {"a": 0.25}})
    {'classes a': 0.25}
    """
    return {f"{name} {key}": v for name, value in row.items() if isinstance(value, dict) for key, v in value.items()}


async def _data(request: Request) -> Response:
    media, body = await _look(request, lambda seen: seen.data())
    return _download(body, "labels.csv" if media.startswith("text/csv") else "reports.bin", media)


def routes() -> list[BaseRoute]:
    """Return the routes of a new dashboard."""
    return Dashboard().routes()
