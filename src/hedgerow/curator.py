"""A curator's server, seen by its curator: publish, look, close, fetch. Standard library only."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.holder.client import Client, Place, bearer, is_loopback, read_url
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.base import Task

__all__ = ["Server"]

_COLLECT = 900.0  # seconds that a leader may verify what still waits, before it is asked again; by hand
MOST_TOKENS = 100_000
"""Upload tokens that a service makes at a time."""
WHAT = {"model": "model", "data": "data", "leaves": "leaves"}
"""What can be fetched of a task."""


@dataclass(frozen=True)
class Server:
    """The address of a service and a curator's token.

    Parameters
    ----------
    base : str
        Such as ``https://town.example``; http is for this machine only, unless ``insecure``.
    token : str
        The curator's, as ``hedgerow serve init`` printed it.
    tell : callable, optional
        Is told when a server of this machine does not listen yet and is waited for; by default it is not.

    Examples
    --------
    >>> Server("http://town.example", "hc_...")
    Traceback (most recent call last):
    ...
    hedgerow.errors.HedgerowError: town.example is asked for over http, which shows the curator's token to anybody ...
    """

    base: str
    token: str
    insecure: bool = False
    tell: Callable[[str], object] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        parts = urllib.parse.urlsplit(self.base)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise HedgerowError(f"the address of a server is https://host. Got {self.base!r} instead.")
        if parts.scheme == "http" and not is_loopback(parts.hostname) and not self.insecure:
            raise HedgerowError(
                f"{parts.hostname} is asked for over http, which shows the curator's token to anybody on the way. Use "
                "https, or --insecure if you know better."
            )
        object.__setattr__(self, "base", self.base.rstrip("/"))

    def __repr__(self) -> str:
        return f"Server({self.base!r})"

    def _call(self, method: str, path: str, content: Any = None, seconds: float = 20.0) -> bytes:
        headers = {"Authorization": bearer(self.token), "Accept": "application/json"}
        body = None
        if content is not None:
            body = json.dumps(content).encode()
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(f"{self.base}{path}", data=body, headers=headers, method=method)
        return Client(attempts=4, timeout=seconds, tell=self.tell).ask(request)

    def publish(self, task: Task, **words: Any) -> Announcement:
        """Publish a task (title, purpose, curator, opens, closes, tokens, passes, ...); return it, signed."""
        given = {name: value for name, value in words.items() if value is not None}
        answer = self._call("POST", "/v1/tasks", {"task": task.to_dict(), **given})
        notice = Announcement.from_json(answer).verify()
        if notice.id != task.id:
            raise FormatError(f"the server published {notice.id[:12]}..., not {task.id[:12]}...; tell whoever runs it.")
        return notice

    def tasks(self) -> list[dict[str, Any]]:
        """Return all published tasks, newest first."""
        found: list[dict[str, Any]] = json.loads(self._call("GET", "/v1/tasks"))["tasks"]
        return found

    def status(self, task_id: str) -> dict[str, Any]:
        """Return progress, refusals by reason and alarms of a task."""
        found: dict[str, Any] = json.loads(self._call("GET", f"/v1/tasks/{task_id}/status"))
        return found

    def close(self, task_id: str) -> dict[str, Any]:
        """Take no more reports, for ever; return the status."""
        found: dict[str, Any] = json.loads(self._call("POST", f"/v1/tasks/{task_id}/close", {}))
        return found

    def delete(self, task_id: str) -> bool:
        """Delete a closed task, and all that was collected for it, for ever; return whether it is overwritten, too."""
        found = json.loads(self._call("DELETE", f"/v1/tasks/{task_id}"))
        return bool(found.get("overwritten", True))

    def announcement(self, task_id: str) -> Announcement:
        """Return the signed announcement of a task."""
        notice = Announcement.from_json(self._call("GET", f"/v1/tasks/{task_id}")).verify()
        if notice.id != task_id:
            raise FormatError(f"the server sent the task {notice.id[:12]}..., not {task_id[:12]}...")
        return notice

    def witnesses(self, task_id: str) -> bytes:
        """Return the countersignatures of both servers under a shared task, JSON."""
        return self._call("GET", f"/v1/tasks/{task_id}/witnesses")

    def collect(self, task_id: str) -> bytes:
        """Close a shared task for ever; return both servers' sealed shares of its sums, JSON."""
        return self._call("POST", f"/v1/tasks/{task_id}/collect", {}, _COLLECT)

    def issue_tokens(self, task_id: str, count: int, quota: int = 1) -> list[str]:
        """Make upload tokens; each is shown once."""
        found: list[str] = self._issue(task_id, count, quota, None)["tokens"]
        return found

    def issue_links(self, task_id: str, count: int, first_record: int | None = None) -> list[str]:
        """Make links for holders, each good for one report; where reports name their record, for that record."""
        links: list[str] = []
        while len(links) < count:  # no answer of the service holds more than a part of very many
            first = None if first_record is None else first_record + len(links)
            found = self._issue(task_id, min(count - len(links), MOST_TOKENS), 1, first)
            ends = [f"token={token}" for token in found["tokens"]]
            if "records" in found:
                ends = [f"{end}&record={record}" for end, (record, _) in zip(ends, found["records"], strict=True)]
            links += [f"{self.join_url(task_id)}#{end}" for end in ends]
        return links

    def _issue(self, task_id: str, count: int, quota: int, first: int | None) -> dict[str, Any]:
        content = {"count": count, "quota": quota}
        if first is not None:
            content["first_record"] = first
        found: dict[str, Any] = json.loads(self._call("POST", f"/v1/tasks/{task_id}/tokens", content))
        return found

    def fetch(self, task_id: str, what: str = "model", *, trim: float | None = None) -> bytes:
        """Return the model (JSON), the data set of a task that delivers one, or the table of leaves (JSON).

        With ``trim``, model or leaves are of trimmed totals: so large a share of the groups is left out at each end.
        """
        if what not in WHAT:
            raise HedgerowError(f"'what' must be one of {sorted(WHAT)}. Got {what!r} instead.")
        if trim is not None and what == "data":
            raise HedgerowError("'trim' is for models and their leaves: a data set has no sums. Leave it out.")
        query = "" if trim is None else f"?trim={trim!r}"
        return self._call("GET", f"/v1/tasks/{task_id}/{WHAT[what]}{query}")

    def join_url(self, task_id: str) -> str:
        """Return the link for holders."""
        return f"{self.base}/join/{task_id}"


def place_of(url: str, insecure: bool = False) -> Place | None:
    """Return the task that a link names; None for the address of a server."""
    if "://" not in url:
        raise HedgerowError(f"an address begins with https:// (or http:// on this machine). Got {url!r} instead.")
    path = urllib.parse.urlsplit(url).path
    return read_url(url, insecure=insecure) if path.strip("/") else None
