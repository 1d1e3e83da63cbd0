"""The OpenAPI description of the routes."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from hedgerow.holder.client import CLOSED
from hedgerow.service.problems import CODES, REPORT_CODES
from hedgerow.service.settings import Settings
from hedgerow.tasks.registry import task_classes
from hedgerow.tasks.trimmed import MOST_GROUPS

__all__ = ["document"]

PEER = "application/vnd.hedgerow.peer+bin; version=1"
"""The media type of messages between servers."""
_TIME = {"type": "integer", "minimum": 0, "maximum": 253_402_300_799, "description": "unix seconds"}
_TEXT = {"type": "string", "maxLength": 200}
_ID = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
_CURATOR: list[dict[str, list[str]]] = [{"curator": []}]
_COUNT = {"type": "integer", "minimum": 0, "maximum": 10**12}
_WINDOW = {
    "opens": _TIME,
    "closes": _TIME,
    "tokens": {"type": "boolean"},
    "passes": {"type": "boolean"},
    "max_reports": {**_COUNT, "description": "how many reports are taken; 0: as many as come"},
    "target": {**_COUNT, "type": ["integer", "null"], "minimum": 1, "description": "how many reports are hoped for"},
    "groups": {
        "type": "integer",
        "minimum": 0,
        "maximum": MOST_GROUPS,
        "description": "sums are kept by so many groups",
    },
}


def _object(properties: dict[str, Any], required: tuple[str, ...] = (), closed: bool = False) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": list(required)}
    return schema | ({"additionalProperties": False} if closed else {})


def _json(schema: dict[str, Any], text: str) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": schema}}}


def _problems(*statuses: int) -> dict[str, Any]:
    """Return the refusals of a route, with the codes that they may carry."""
    found = {}
    for status in sorted({*statuses, 429, 500, 503, 507}):
        codes = [code for code, (number, _) in CODES.items() if number == status]
        schema = {"allOf": [{"$ref": "#/components/schemas/Problem"}, _object({"code": {"enum": codes}})]}
        content = {"application/problem+json": {"schema": schema}}
        found[str(status)] = {"description": "refused: " + ", ".join(codes), "content": content}
    return found


def _operation(name: str, summary: str, answers: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"operationId": name, "summary": summary, "responses": {**answers, **_REFUSED}, **more}


_REFUSED = {
    "405": {"$ref": "#/components/responses/MethodNotAllowed"},
    "431": {"$ref": "#/components/responses/HeadTooLarge"},
}
"""What any address answers to a method that it does not take, and to a head that is too long."""


def _responses(settings: Settings) -> dict[str, Any]:
    """Describe the answers that all routes share."""
    allow = {"Allow": {"description": "the methods that it takes", "schema": {"type": "string"}}}
    method = {**_problems(405)["405"], "description": "to another method at this address: method-not-allowed"}
    head = f"the head of the request has more than {settings.most_head} bytes; the connection ends, without a body"
    return {"MethodNotAllowed": {**method, "headers": allow}, "HeadTooLarge": {"description": head}}


def _takes(schema: dict[str, Any], required: bool = True) -> dict[str, Any]:
    return {"required": required, "content": {"application/json": {"schema": schema}}}


_ANNOUNCEMENT = _json({"$ref": "#/components/schemas/Announcement"}, "the signed announcement")
_CLOSED = {**_TIME, "description": "unix seconds: when the curator closed the task; advisory, for nobody signs it"}
_SERVED = {**_ANNOUNCEMENT, "headers": {CLOSED: {"schema": _CLOSED}}}
_NEW_TASK = _object(
    {
        "task": {"type": "object", "description": "a task as the library writes it"},
        "title": _TEXT,
        "purpose": {"type": "string", "maxLength": 2000},
        "curator": _TEXT,
        "simulation": {"type": "boolean", "description": "take reports with seeded noise (demonstrations only)"},
        **_WINDOW,
    },
    ("task",),
    closed=True,
)
_NEW_TOKENS = _object(
    {
        "count": {"type": "integer", "minimum": 1, "maximum": 100_000, "default": 1},
        "quota": {"type": "integer", "minimum": 1, "maximum": 1 << 40, "default": 1, "description": "reports a token"},
        "first_record": {
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": (1 << 63) - 1,
            "description": "where reports name their record: the tokens are for the records from here on",
        },
    },
    closed=True,
)
_whole = {"type": "integer", "minimum": 0, "maximum": 64}
_GROW = _object(
    {
        "rule": {"enum": ["max_edge", "cart", "random_max_edge"]},
        "max_depth": _whole,
        "n_bins": {"type": "integer", "minimum": 1, "maximum": 64},
        "n_private": _whole,
        "response": {"enum": ["k_ary", "bits"]},
        **_WINDOW,
    },
    closed=True,
)
_FAILURE = _object(
    {
        "index": {"type": "integer", "minimum": 0},
        "id": {"type": "string", "pattern": "^[0-9a-f]{32}$"},
        "code": {"enum": list(REPORT_CODES)},
    },
    ("index", "id", "code"),
)
_RECEIPT = _object(
    {
        "accepted": {"type": "integer", "minimum": 0},
        "duplicates": {"type": "integer", "minimum": 0},
        "failures": {"type": "array", "items": _FAILURE},
    },
    ("accepted", "duplicates", "failures"),
)
_SCHEMAS = {
    "Problem": _object(
        {
            "type": {"type": "string"},
            "code": {"enum": list(CODES)},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
        },
        ("type", "code", "title", "status", "detail"),
    ),
    "Announcement": _object(
        {
            "task_text": {"type": "string", "description": "canonical JSON whose SHA-256 is the task's id"},
            "kind": {"enum": [kind.kind for kind in task_classes()]},
            "signature": {"type": "string"},
            "public_key": {"type": "string"},
            "pass_key": {"type": "string", "description": "checks passes; empty if there are none"},
            **{name: shape for name, shape in _WINDOW.items() if name not in ("passes", "target", "groups")},
        },
        ("task_text", "kind", "pass_key", "max_reports", "signature", "public_key", "opens", "closes", "tokens"),
    ),
    "Receipt": _RECEIPT,
}


_FOLLOWING = ("getTask", "uploadReports", "status", "issueTokens", "issuePass", "model", "leaves", "data", "closeTask")
"""What can be done with a task that is listed."""


def _tasks() -> dict[str, Any]:
    listing = _json(_object({"tasks": {"type": "array", "items": {"type": "object"}}}, ("tasks",)), "newest first")
    listing["links"] = {
        name: {"operationId": name, "parameters": {"id": "$response.body#/tasks/0/id"}} for name in _FOLLOWING
    }
    made = {"201": _ANNOUNCEMENT, "200": _ANNOUNCEMENT, **_problems(400, 401, 403, 408, 409, 410, 413, 502)}
    create = _operation("createTask", "Publish a task", made, security=_CURATOR, requestBody=_takes(_NEW_TASK))
    return {"get": _operation("listTasks", "List tasks", {"200": listing, **_problems()}), "post": create}


def _reports(settings: Settings) -> dict[str, Any]:
    media = "application/vnd.hedgerow.reports+bin; version=1"
    binary = {"type": "string", "format": "binary", "maxLength": settings.most_bytes}
    receipt = _json({"$ref": "#/components/schemas/Receipt"}, "kept on disk; only failures are listed, in order")
    return _operation(
        "uploadReports",
        f"Send 1 to {settings.most_reports} reports; the same bytes again are acknowledged and not counted",
        {"200": receipt, **_problems(400, 401, 403, 404, 408, 409, 410, 413, 415)},
        security=[{}, {"upload": []}],
        requestBody={"required": True, "content": {media: {"schema": binary}}},
    )


def _one(name: str, summary: str, *statuses: int, text: str = "found", **more: Any) -> dict[str, Any]:
    answers = {"200": _json({"type": "object"}, text), **_problems(401, 403, 404, 410, *statuses)}
    return _operation(name, summary, answers, security=_CURATOR, **more)


_TRIM = {
    "name": "trim",
    "in": "query",
    "description": "of trimmed totals: the share of groups left out at each end, for tasks with 'groups'",
    "schema": {"type": "number", "exclusiveMinimum": 0, "maximum": 0.5},
}


def _model_options() -> list[dict[str, Any]]:
    """Return the options of the models of all kinds; one that a kind lacks is refused by name."""
    options = {
        name: option for kind in task_classes() if kind.makes == "model" for name, option in kind.model_options.items()
    }
    schemas = {name: {"enum": list(o.choices)} if o.choices else {"type": "number"} for name, o in options.items()}
    return [*({"name": name, "in": "query", "schema": schema} for name, schema in schemas.items()), _TRIM]


def _by_id(settings: Settings) -> dict[str, Any]:
    level = {"name": "level", "in": "query", "schema": {"type": "number", "minimum": 0.01, "maximum": 0.99}}
    tokens = {
        "201": _json({"type": "object"}, "each is shown once"),
        **_problems(400, 401, 403, 404, 408, 410, 413),
    }
    second = {"201": _ANNOUNCEMENT, "200": _ANNOUNCEMENT, **_problems(400, 401, 403, 404, 408, 409, 410, 413)}
    table = _operation("data", "Data set of a label task, or reports of a first round", {}, security=_CURATOR)
    types = {t: {"schema": {"type": "string"}} for t in ("text/csv", "application/vnd.hedgerow.reports+bin")}
    table["responses"] = {
        "200": {"description": "the data", "content": types},
        **_problems(401, 403, 404, 409, 410),
        **_REFUSED,
    }
    blinded = {"application/octet-stream": {"schema": {"type": "string", "format": "binary", "maxLength": 256}}}
    signed = {"description": "the blind signature", "content": blinded}
    return {
        "": {
            "get": _operation("getTask", "The signed task", {"200": _SERVED, **_problems(404, 410)}),
            "delete": _one("deleteTask", "Delete a closed task, and all that was collected for it", 409, 410),
        },
        "/reports": {"post": _reports(settings)},
        "/status": {"get": _one("status", "Progress, refusals, alarms")},
        "/close": {"post": _one("closeTask", "Take no more reports, for ever")},
        "/model": {
            "get": _one("model", "The model of all acknowledged reports", 400, 409, parameters=_model_options())
        },
        "/leaves": {"get": _one("leaves", "The table of leaves", 400, 409, parameters=[level, _TRIM])},
        "/data": {"get": table},
        "/tokens": {
            "post": _operation(
                "issueTokens", "Make upload tokens", tokens, security=_CURATOR, requestBody=_takes(_NEW_TOKENS, False)
            )
        },
        "/passes": {
            "post": _operation(
                "issuePass",
                "Sign a blinded message against an invitation (RFC 9474)",
                {"200": signed, **_problems(400, 401, 403, 404, 408, 410, 413)},
                security=[{"upload": []}],
                requestBody={"required": True, "content": blinded},
            )
        },
        "/collect": {"post": _one("collect", "Both sealed shares of the sums of a shared task", 409, 502)},
        "/witnesses": {
            "get": _operation(
                "witnesses",
                "The countersignatures of both servers under a shared task",
                {"200": _json({"type": "object"}, "leader and helper"), **_problems(404, 410)},
            )
        },
        "/second": {
            "post": _operation(
                "secondRound", "Publish the second round", second, security=_CURATOR, requestBody=_takes(_GROW, False)
            )
        },
    }


def _between(name: str, summary: str, *statuses: int) -> dict[str, Any]:
    """Describe a route that servers of other operators use, whose messages are signed."""
    binary = {PEER: {"schema": {"type": "string", "format": "binary"}}}
    answers = {
        "200": {"description": "signed by this server's operator", "content": binary},
        **_problems(400, 403, 404, 408, 409, 410, 413, 415, *statuses),
    }
    return {"post": _operation(name, summary, answers, requestBody={"required": True, "content": binary})}


def _shared() -> dict[str, Any]:
    card = {"200": _json({"type": "object"}, "name, origin and keys"), **_problems(404)}
    return {
        "/v1/operator": {"get": _operation("operator", "Who runs this server", card)},
        "/v1/shared/tasks": _between("shareTask", "Agree to be the helper of a task"),
        "/v1/shared/{id}/jobs": {**_between("job", "Verify reports with the leader"), "parameters": [_ID]},
        "/v1/shared/{id}/share": {**_between("share", "Release the helper's share of sums"), "parameters": [_ID]},
    }


def _audit() -> dict[str, Any]:
    entries = {"type": "array", "items": {"type": "object"}}
    content = _object({"entries": entries, "broken_at": {"type": ["integer", "null"]}}, ("entries", "broken_at"))
    answers = {"200": _json(content, "newest first"), **_problems(401, 403)}
    return _operation("audit", "What curators did", answers, security=_CURATOR)


def document(settings: Settings) -> dict[str, Any]:
    """Return the description as JSON-ready content.

    >>> sorted(document(Settings())["paths"])[:3]
    ['/healthz', '/livez', '/metrics']
    """
    ok = {"200": _json({"type": "object"}, "it is"), **_problems()}
    text = {"200": {"description": "Prometheus text", "content": {"text/plain": {"schema": {"type": "string"}}}}}
    by_id = {f"/v1/tasks/{{id}}{rest}": {**item, "parameters": [_ID]} for rest, item in _by_id(settings).items()}
    bearer = {"type": "http", "scheme": "bearer"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Hedgerow collection service",
            "version": version("hedgerow"),
            "license": {"name": "Apache-2.0"},
        },
        "paths": {
            "/v1/tasks": _tasks(),
            **by_id,
            **_shared(),
            "/v1/audit": {"get": _audit()},
            "/healthz": {"get": _operation("healthz", "Can reports be taken: something was just written", ok)},
            "/livez": {"get": _operation("livez", "Does the process run; the database is not asked", ok)},
            "/metrics": {"get": _operation("metrics", "Counters", text | _problems())},
        },
        "components": {
            "schemas": _SCHEMAS,
            "responses": _responses(settings),
            "securitySchemes": {"curator": bearer, "upload": bearer},
        },
    }
