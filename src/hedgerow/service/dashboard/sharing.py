"""Pages that bring a task to people: publish it, share its link, and what this server is."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from hedgerow.content import canonical
from hedgerow.errors import HedgerowError
from hedgerow.service.collection import Collection
from hedgerow.service.dashboard.timeline import when
from hedgerow.service.http import service_of
from hedgerow.service.problems import Problem
from hedgerow.service.timeline import check_target
from hedgerow.tasks.announcement import Announcement, read_task
from hedgerow.tasks.keys import fingerprint, public_bytes

__all__ = [
    "code_svg",
    "given_of",
    "home_content",
    "invitation",
    "link_of",
    "number_of",
    "publish_form",
    "share_content",
]

_DAY = 86_400  # seconds, by definition
_FIELDS = ("task", "title", "purpose", "curator", "closes", "tokens", "max_reports", "target", "groups")


def link_of(request: Request, task_id: str) -> str:
    """Return the link for holders, at the address by which the curator came."""
    return f"{str(request.base_url).rstrip('/')}/join/{task_id}"


def invitation(notice: Announcement, link: str) -> str:
    """Return an invitation in plain words, to be copied into a letter."""
    token = "\nThe link is for you alone and takes one answer.\n" if notice.tokens else ""
    # A key of one's own would tell whose report it is, so letters name the one for all.
    passes = f" The key of invitations is {fingerprint(notice.pass_key)}, for everybody." if notice.pass_key else ""
    return (
        f"{notice.title or 'A question'}\n\n"
        f"{notice.curator} asks: {notice.purpose}\n\n"
        f"Open this link, on your own phone or computer, until {when(notice.closes)}:\n{link}\n{token}\n"
        "You type your answer there. Before anything is sent, your device changes it at random, and shows you what it "
        "will send and how likely that was. We receive the changed answer only, and cannot tell yours from it; many "
        "changed answers together tell us what we want to know. Taking part is your choice.\n\n"
        f"The page shows a key; it must be {notice.fingerprint}. If it is another one, do not answer, and tell us."
        f"{passes}"
    )


def share_content(request: Request, collection: Collection) -> dict[str, Any]:
    """Return what the share page shows."""
    notice = collection.announcement
    link = link_of(request, collection.id)
    return {
        "id": collection.id,
        "title": notice.title or f"Task {collection.id[:12]}",
        "link": link,
        "tokens": notice.tokens,
        "invitation": invitation(notice, link + ("#token=..." if notice.tokens else "")),
    }


def code_svg(link: str) -> bytes:
    """Return a QR code, dark on white whatever the page's colours are: cameras need that.

    >>> code_svg("https://town.example/join/0").startswith(b"<svg")
    True
    """
    import segno

    out = io.BytesIO()
    segno.make(link, error="m", micro=False).save(
        out, kind="svg", xmldecl=False, scale=4, border=4, light="#fff", svgclass=None, lineclass=None
    )
    return out.getvalue()


def home_content(request: Request) -> dict[str, Any]:
    """Return what everybody may know about this server: open questions and the key."""
    service = service_of(request)
    now = service.clock()
    found, _ = service.collections()
    shown = [
        {
            "id": collection.id,
            "title": collection.announcement.title or f"Question {collection.id[:12]}",
            "purpose": collection.announcement.purpose,
            "curator": collection.announcement.curator,
            "until": when(collection.announcement.closes),
        }
        for collection, closed in found
        if closed is None and collection.announcement.is_open(now)
    ]
    return {"tasks": shown, "key": fingerprint(public_bytes(service.key))}


def number_of(text: str) -> int | None:
    """Read a number of reports as people write it.

    >>> number_of(" 12,000 "), number_of("")
    (12000, None)
    """
    digits = text.replace(",", "").replace(" ", "")
    if not digits:
        return None
    return check_target(int(digits) if re.fullmatch("[0-9]{1,13}", digits) else 0)


def given_of(form: dict[str, str]) -> dict[str, str]:
    """Return the fields of the form, empty where nothing was typed."""
    return {name: form.get(name, "").strip() for name in _FIELDS}


async def publish_form(request: Request, given: dict[str, str]) -> Response:
    """Publish what the form says; HedgerowError or Problem say what is wrong with it."""
    service = service_of(request)
    now = int(service.clock())
    try:
        last = datetime.fromisoformat(given["closes"]).replace(tzinfo=UTC)
    except ValueError:
        raise HedgerowError("the last day must be a date, such as 2030-01-31.") from None
    words = {
        "title": given["title"] or None,
        "purpose": given["purpose"],
        "curator": given["curator"],
        "tokens": bool(given["tokens"]),
        "max_reports": number_of(given["max_reports"]) or 0,
        "target": number_of(given["target"]),
        "groups": number_of(given["groups"]) or 0,
        "opens": now,
        "closes": int(last.timestamp()) + _DAY,
    }

    def work() -> Collection:
        task = read_task(_text(given["task"]))
        passes = bool(given["tokens"]) and not task.question().numbered  # who names a record is not hidden by a pass
        found, _ = service.publish(
            task, simulation=False, now=now, publisher=request.state.curator, passes=passes, **words
        )
        return found

    collection = await run_in_threadpool(work)
    return RedirectResponse(f"/dashboard/tasks/{collection.id}/share", 303)


def _text(typed: str) -> str:
    """Return the text of a task whose SHA-256 is its id, from the content of its file."""
    try:
        content = json.loads(typed)
        if not isinstance(content, dict):
            raise ValueError("not an object")
        return canonical({name: value for name, value in content.items() if name != "id"})
    except (ValueError, RecursionError):
        raise Problem("invalid-request", "This is not a task: paste the whole text of task.json.") from None
