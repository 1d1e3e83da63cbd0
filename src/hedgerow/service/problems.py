"""What the service answers when it refuses: problem documents (RFC 9457) with codes that never change their meaning."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

__all__ = ["CODES", "REPORT_CODES", "Problem"]

CODES: dict[str, tuple[int, str]] = {
    "invalid-request": (400, "The request is not what this route takes"),
    "malformed-batch": (400, "The body is not a batch of reports to this task"),
    "empty-batch": (400, "The batch holds no report"),
    "forbidden": (403, "The curator's token does not allow this"),
    "unauthorized": (401, "A curator's token is needed"),
    "token-required": (401, "This task takes reports with an upload token only"),
    "token-unknown": (403, "The upload token is not one of this task"),
    "token-spent": (403, "The upload token does not allow this many further reports"),
    "not-found": (404, "There is nothing at this address"),
    "task-unknown": (404, "There is no task with this id"),
    "not-available": (404, "This kind of task has no such result"),
    "method-not-allowed": (405, "The address does not take this method"),
    "body-timeout": (408, "The body took too long to arrive"),
    "task-exists": (409, "The task is published already, with another announcement"),
    "task-not-open": (409, "The task is not open yet"),
    "task-still-open": (409, "The task must be closed first"),
    "task-needed": (409, "Another task needs this one"),
    "no-reports": (409, "There is no report yet"),
    "first-round-unknown": (409, "The first round of this task was not collected here"),
    "batch-too-small": (409, "There are fewer reports than are ever released together"),
    "batch-mismatch": (409, "The two servers have not added up the same reports"),
    "job-changed": (409, "Another job was answered under this name"),
    "not-shared": (409, "The task does not name this server in this role, or it does not know the other one"),
    "not-leader": (409, "Reports to this task go to its leader"),
    "task-ended": (410, "The time for reports to this task is over"),
    "task-full": (410, "The task has all the reports that it takes"),
    "task-closed": (410, "The curator has closed this task"),
    "task-deleted": (410, "The curator has deleted this task"),
    "body-too-large": (413, "The body is too large"),
    "too-many-reports": (413, "There are too many reports in one request"),
    "unsupported-media-type": (415, "The media type or its version is not supported"),
    "too-many-requests": (429, "Too many requests came from this address or with this token"),
    "too-many-attempts": (429, "Too many wrong tokens were tried"),
    "task-damaged": (500, "The task cannot be read from the database"),
    "internal": (500, "The service failed; nothing of this request was kept"),
    "helper-unreachable": (502, "The other server does not answer as it should"),
    "busy": (503, "Too much is waiting to be written"),
    "storage-busy": (503, "The database is busy or out of reach"),
    "storage-changed": (503, "The database is of another version than this server"),
    "storage-full": (507, "The database cannot be written to"),
}
"""HTTP status and title by code."""

REPORT_CODES: dict[str, str] = {
    "invalid-report": "no honest holder of this task could have sent this report",
    "simulation-refused": "the report's noise was seeded, and so protects nobody; this task takes real reports only",
    "id-conflict": "another report was accepted under this id",
    "record-not-yours": "the token was given out for another record",
    "record-taken": "another report was accepted for this record",
    "first-round-missing": "the first round has no report with this id",
    "label-changed": "the label is not that of the first round: drawn twice, it costs more than epsilon",
    "task-full": "the task has all the reports that it takes; other reports of this request were accepted",
    "task-not-open": "the task is not open yet; other reports of this request were accepted before",
    "task-ended": "the time for reports is over; other reports of this request were accepted before",
    "task-closed": "the curator has closed the task; other reports of this request were accepted before",
}
"""Why single reports of an accepted request fail."""

_RETRY = {"busy": "1", "too-many-attempts": "10", "storage-busy": "5", "storage-changed": "5", "storage-full": "60"}


class Problem(Exception):
    """A refusal, to be answered as ``application/problem+json``.

    >>> Problem("task-closed", "it closed yesterday").status
    410
    """

    def __init__(self, code: str, detail: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(code, detail)
        self.code = code
        self.detail = detail
        self.status, self.title = CODES[code]
        self.headers = dict(headers or {})
        if code in _RETRY:
            self.headers.setdefault("Retry-After", _RETRY[code])
        if self.status == 401:
            self.headers.setdefault("WWW-Authenticate", "Bearer")

    @property
    def passing(self) -> bool:
        """Whether the same request may be answered otherwise in a moment."""
        return "Retry-After" in self.headers or self.code == "body-timeout"

    def response(self) -> Response:
        """Return the problem document."""
        document = {
            "type": f"urn:hedgerow:problem:{self.code}",
            "code": self.code,
            "title": self.title,
            "status": self.status,
            "detail": self.detail or self.title,
        }
        body = msgspec.json.encode(document)
        return Response(body, self.status, media_type="application/problem+json", headers=self.headers)
