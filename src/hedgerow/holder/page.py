"""The holder's page: static files, the headers that fence them in, and routes for the curator's server."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError
from hedgerow.holder.texts import all_texts

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["ASSETS", "HEADERS", "SCRIPTS", "asset", "routes"]

SCRIPTS = (
    "holder.js",
    "announcement.js",
    "assisted.js",
    "assisted_classes.js",
    "bars.js",
    "basics.js",
    "blind.js",
    "budget.js",
    "chain.js",
    "device.js",
    "exact.js",
    "field128.js",
    "first_round.js",
    "form.js",
    "hpke.js",
    "joint.js",
    "kinds.js",
    "label_mechanisms.js",
    "labels.js",
    "language.js",
    "leaves.js",
    "masked.js",
    "mechanisms.js",
    "memory.js",
    "odds.js",
    "partition.js",
    "picture.js",
    "pilot.js",
    "portable.js",
    "prio3.js",
    "reader.js",
    "residual.js",
    "schema.js",
    "second_round.js",
    "sums.js",
    "task.js",
    "texts.js",
    "tree.js",
    "turboshake.js",
    "typed.js",
    "view.js",
    "wording.js",
)
"""The modules of the page; the first one loads the others."""

ASSETS = {
    "holder.html": "text/html; charset=utf-8",
    **dict.fromkeys(SCRIPTS, "text/javascript; charset=utf-8"),
    "holder.css": "text/css; charset=utf-8",
}
"""The files of the page, with their types."""

HEADERS = {
    # Nothing inline, nothing from elsewhere, nothing may be posted by a form, and nobody may frame the page.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'none'; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-cache",
}
"""Sent with each of them."""


def asset(name: str) -> bytes:
    """Return one file of the page.

    >>> asset("holder.js").startswith(b"// @ts-check")
    True
    """
    if name not in ASSETS:
        raise HedgerowError(f"'name' must be one of {list(ASSETS)}. Got {name!r} instead.")
    if name == "texts.js":
        return _texts()
    return files("hedgerow.holder").joinpath("web", name).read_bytes()


def _texts() -> bytes:
    """Return the texts of all languages as a module: of one request, which tells nobody which of them is read."""
    data = json.dumps(all_texts(), separators=(",", ":"))
    head = "// @ts-check\n/** @type {{[language: string]: {[key: string]: string}}} */\n"
    return f"{head}export const TEXTS = {data};\n".encode()


def routes() -> list[Any]:
    """Return Starlette routes: the page at ``/join/{id}``, its files below ``/static/holder/``.

    The page finds everything else by relative links: ``../v1/tasks/{id}`` and ``../static/holder/...``.
    """
    from starlette.responses import Response
    from starlette.routing import Route

    contents = {name: asset(name) for name in ASSETS}

    async def page(request: Request) -> Response:
        return Response(contents["holder.html"], headers={**HEADERS, "Content-Type": ASSETS["holder.html"]})

    async def static(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in contents:
            return Response(status_code=404)
        return Response(contents[name], headers={**HEADERS, "Content-Type": ASSETS[name]})

    return [
        Route("/join/{task_id}", page, methods=["GET"], name="holder-page"),
        Route("/static/holder/{name}", static, methods=["GET"], name="holder-static"),
    ]
