"""Structured logs: one JSON object a line, without personal data.

No line holds an address, a token, a report or its id, and uploads are not logged one by one: together with the logs
of a proxy, the second of an upload could name its sender. The uploads of a quarter of an hour are summed up instead.
"""

from __future__ import annotations

import json
import logging
import time
import traceback
from typing import Any

__all__ = ["JsonFormatter", "Seldom", "log", "uvicorn_config"]

_AGAIN_SECONDS = 10.0  # by hand, as for wrong tokens
_MOST_LINES = 100  # of different ones that are remembered; the server has some twenty

_logger = logging.getLogger("hedgerow.service")


def log(event: str, *, level: str = "info", **fields: Any) -> None:
    """Write one line.

    >>> logging.getLogger("hedgerow.service").isEnabledFor(logging.INFO)
    False
    >>> log("task-created", task="ab12")
    """
    _logger.log(logging.getLevelName(level.upper()), event, extra={"fields": fields})


class Seldom(logging.Filter):
    """Lets a warning of the server through once in a while: a stranger could fill the disk with requests that are none.

    >>> line = logging.makeLogRecord({"msg": "Invalid HTTP request received.", "levelno": logging.WARNING})
    >>> seldom = Seldom()
    >>> [seldom.filter(line) for _ in range(3)]
    [True, False, False]
    """

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write it."""
        if record.levelno > logging.WARNING:
            return True
        now = time.monotonic()
        line = str(record.msg)
        if now - self._last.get(line, -_AGAIN_SECONDS) < _AGAIN_SECONDS:
            return False
        if len(self._last) >= _MOST_LINES:
            self._last.clear()
        self._last[line] = now
        return True


class JsonFormatter(logging.Formatter):
    """Formats records as JSON; of an exception only its type and place, because its text may quote input."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one line."""
        own = record.name.startswith("hedgerow")
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created)),
            "level": record.levelname.lower(),
            "event": record.getMessage() if own else "server",
        }
        if not own:
            # uvicorn's own lines; their arguments may hold addresses, their format does not.
            line["message"] = str(record.msg)
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            last = traceback.extract_tb(error.__traceback__)[-1:]
            line["error"] = type(error).__name__
            line["at"] = [f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}" for frame in last]
        return json.dumps(line)


def uvicorn_config(level: str = "INFO") -> dict[str, Any]:
    """Return the logging configuration of the server: everything to standard error, as JSON."""
    handler = {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}
    quiet = {"handlers": ["out"], "level": "WARNING", "propagate": False, "filters": ["seldom"]}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "filters": {"seldom": {"()": "hedgerow.service.logs.Seldom"}},
        "formatters": {"json": {"()": "hedgerow.service.logs.JsonFormatter"}},
        "handlers": {"out": handler},
        "loggers": {
            "hedgerow.service": {"handlers": ["out"], "level": level, "propagate": False},
            "uvicorn": quiet,
            "uvicorn.error": quiet,
            "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }
