"""Talk to a curator's server: fetch an announcement, post a body, try again with patience. Standard library only."""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import SecureRandomness

__all__ = ["CLOSED", "REPORTS", "Client", "Place", "Receipt", "ServiceError", "bearer", "read_url"]

CLOSED = "Hedgerow-Closed"
"""A header beside an announcement: when its curator closed the task, in unix seconds. Nobody signs it: believed or not,
it can only keep somebody from answering."""
REPORTS = "application/vnd.hedgerow.reports+bin; version=1"
_MOST_BYTES = 64 << 20  # of an answer: some 200 times a task with a compact public model
_MOST_WAIT = 60.0  # seconds between two attempts, whatever a server says; by hand
_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_START = 10.0  # seconds for which a server of this machine may be starting: one took 2.3; by hand
_LOOK = 0.2  # seconds until it is tried again; by hand
_TASK = re.compile(r"^(?P<base>.*)/(?:v1/tasks|join)/(?P<id>[0-9a-f]{64})/?$")


class ServiceError(HedgerowError):
    """The server refused, or could not be reached; ``code`` is its stable word for why, ``status`` the HTTP status.

    ``ours`` tells that the answer is a problem document of a curator's service, and not of something on the way.
    """

    def __init__(self, message: str, *, code: str = "", status: int = 0, ours: bool = False) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
        self.ours = ours


@dataclass(frozen=True)
class Place:
    """Where a task is: the server's base address and the task's id."""

    base: str
    task_id: str

    @property
    def task_url(self) -> str:
        """Where the announcement is."""
        return f"{self.base}/v1/tasks/{self.task_id}"


@dataclass(frozen=True)
class Receipt:
    """What the server said to an upload of one report."""

    accepted: bool
    duplicate: bool
    code: str = ""

    @property
    def final(self) -> bool:
        """Whether the report is counted: now, or already before."""
        return self.accepted or self.duplicate


def read_url(url: str, *, insecure: bool = False) -> Place:
    """Return the place that a link to a task or to its page names.

    >>> read_url("https://town.example/join/" + 64 * "0" + "#token=abc").base
    'https://town.example'
    """
    parts = urllib.parse.urlsplit(url)
    found = _TASK.match(parts.path)
    if parts.scheme not in ("http", "https") or not parts.hostname or not found or parts.username:
        raise HedgerowError(f"'url' must be a link to a task, https://host/join/<64 hexadecimal digits>. Got {url!r}.")
    if parts.scheme == "http" and not is_loopback(parts.hostname) and not insecure:
        raise HedgerowError(
            f"{parts.hostname} is asked for over http, where anybody on the way can change the page and see that you "
            "take part. Use https, or insecure=True (--insecure) if you know better."
        )
    base = urllib.parse.urlunsplit((parts.scheme, parts.netloc.lower(), found["base"], "", ""))
    return Place(base, found["id"])


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def bearer(token: str) -> str:
    r"""Return the header that carries a token; refuse what cannot stand in one, without repeating it.

    >>> bearer("hu_abc")
    'Bearer hu_abc'
    >>> bearer("hu_abc\nhu_def")
    Traceback (most recent call last):
    ...
    hedgerow.errors.HedgerowError: this is not a token, but 13 characters with line ends or others that none has. ...
    """
    if not token.isprintable() or any(ord(sign) > 255 for sign in token):  # the charset of headers is Latin-1
        raise HedgerowError(
            f"this is not a token, but {len(token):,} characters with line ends or others that none has. Copy the "
            "token or its link again, whole and alone."
        )
    return f"Bearer {token}"


class _Look(urllib.request.Request):
    """A request for an announcement, which notes whether the task is said to be closed."""

    closed = False


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A report goes where the holder agreed to send it and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Deadline:
    """Ends connections when their time is over.

    The time-out of a socket is for each piece: who sends a byte now and then would be listened to for ever.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.over = False
        self._sockets: list[socket.socket] = []
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def connection(self, kind: type[http.client.HTTPConnection], host: str, **options: Any) -> Any:
        """Make a connection that ends with it."""
        made = kind(host, **options)
        connect = made.connect

        def connected() -> None:
            connect()
            if self.over:
                raise TimeoutError("timed out")
            self._sockets.append(made.sock)

        made.connect = connected  # type: ignore[method-assign]
        return made

    def _end(self) -> None:
        self.over = True
        for each in self._sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


class _Plain(urllib.request.HTTPHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(partial(self._deadline.connection, http.client.HTTPConnection), req)


class _Secure(urllib.request.HTTPSHandler):
    def __init__(self, deadline: _Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(partial(self._deadline.connection, http.client.HTTPSConnection), req)


class Client:
    """Requests with patience: what may help later is tried again, what cannot is said at once.

    Parameters
    ----------
    attempts : int
        How often to try.
    timeout : float
        Seconds for one attempt.
    sleep : callable
        Waits between attempts (for tests).
    tell : callable, optional
        Is told when a server of this machine refuses connections and is waited for, once and for 10 seconds: it may
        have been started a moment ago. By default it is not waited for; a server elsewhere never is.
    """

    def __init__(
        self,
        *,
        attempts: int = 6,
        timeout: float = 20.0,
        sleep: Callable[[float], object] = time.sleep,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        self.attempts = attempts
        self.timeout = timeout
        self._sleep = sleep
        self._tell = tell

    def get(self, url: str) -> bytes:
        """Fetch a document."""
        return self._patiently(urllib.request.Request(url, headers={"Accept": "application/json"}))

    def look(self, url: str) -> tuple[bytes, bool]:
        """Fetch an announcement; return it, and whether the server says that the task is closed."""
        request = _Look(url, headers={"Accept": "application/json"})
        data = self._patiently(request)
        return data, request.closed

    def post_reports(self, url: str, body: bytes, token: str | None = None) -> Receipt:
        """Upload a batch of one report; the same bytes again are harmless."""
        headers = {"Content-Type": REPORTS, "Accept": "application/json"}
        if token:
            headers["Authorization"] = bearer(token)
        answer = self._patiently(urllib.request.Request(url, data=body, headers=headers, method="POST"))
        return read_receipt(answer)

    def post_blinded(self, url: str, blinded: bytes, invitation: str) -> bytes:
        """Have a blinded message signed against an invitation; the same message again gets the same signature."""
        headers = {"Content-Type": "application/octet-stream", "Authorization": bearer(invitation)}
        return self._patiently(urllib.request.Request(url, data=blinded, headers=headers, method="POST"))

    def ask(self, request: urllib.request.Request) -> bytes:
        """Send a request that does no harm when it is sent twice."""
        return self._patiently(request)

    def _patiently(self, request: urllib.request.Request) -> bytes:
        for attempt in range(1, self.attempts + 1):
            told = 0.0
            try:
                return self._once_started(request)
            except urllib.error.HTTPError as error:
                problem = _problem(error)
                if error.code not in _AGAIN or attempt == self.attempts:
                    raise problem from None
                told = min(_seconds(error.headers.get("Retry-After")), _MOST_WAIT)
            except (OSError, http.client.HTTPException) as error:  # no answer, or half of one
                if attempt == self.attempts:
                    host = urllib.parse.urlsplit(request.full_url).netloc
                    reason = getattr(error, "reason", error)
                    raise ServiceError(f"{host} cannot be reached ({reason}); try again later.") from error
            jitter = int(SecureRandomness().integers(1000, 1)[0]) / 1000
            own = min(0.5 * 2 ** (attempt - 1), _MOST_WAIT) * (0.5 + jitter / 2)
            self._sleep(max(own, told * (1 + jitter / 10)))  # not all at once, and none before its time
        raise AssertionError("unreachable")

    def _once_started(self, request: urllib.request.Request) -> bytes:
        """Send a request, to a server of this machine as soon as it listens."""
        tell, self._tell = self._tell, None
        parts = urllib.parse.urlsplit(request.full_url)
        for turn in range(round(_START / _LOOK) if tell and is_loopback(parts.hostname or "") else 0):
            try:
                return self._once(request)
            except urllib.error.URLError as error:
                if not isinstance(error.reason, ConnectionRefusedError):
                    raise
            if tell and not turn:
                tell(f"nothing listens at {parts.netloc} yet; waiting for it, {_START:g} seconds at most")
            self._sleep(_LOOK)
        return self._once(request)

    def _once(self, request: urllib.request.Request) -> bytes:
        with _Deadline(self.timeout) as deadline:
            try:
                data = self._read(request, deadline)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if deadline.over:  # whatever a connection says that is ended under its reader
                    raise TimeoutError(f"no whole answer within {self.timeout:g} seconds") from error
                raise
            if deadline.over:
                raise TimeoutError(f"no whole answer within {self.timeout:g} seconds")
        if len(data) > _MOST_BYTES:
            raise FormatError(f"the answer has more than {_MOST_BYTES >> 20} MiB; it is not a task.")
        return data

    def _read(self, request: urllib.request.Request, deadline: _Deadline) -> bytes:
        handlers: list[Any] = [_NoRedirect(), _Plain(deadline), _Secure(deadline)]
        if is_loopback(urllib.parse.urlsplit(request.full_url).hostname or ""):
            handlers.append(urllib.request.ProxyHandler({}))
        with urllib.request.build_opener(*handlers).open(request, timeout=self.timeout) as response:
            data: bytes = response.read(_MOST_BYTES + 1)
            if isinstance(request, _Look):
                request.closed = CLOSED in response.headers
        return data


def read_receipt(data: bytes) -> Receipt:
    """Read the answer to an upload of one report."""
    try:
        content = json.loads(data)
        accepted = content["accepted"]
        duplicates = content["duplicates"]
        failures = content["failures"]
        code = str(failures[0]["code"]) if failures else ""
        whole = type(accepted) is int and type(duplicates) is int and isinstance(failures, list)
    except (ValueError, TypeError, KeyError, IndexError) as error:
        raise ServiceError(f"the server's answer is not a receipt: {error!r}; send the same report again.") from None
    if not whole or accepted + duplicates + len(failures) != 1:
        raise ServiceError("the server's receipt is not about one report; send the same report again.")
    return Receipt(accepted == 1, duplicates == 1, code)


def _problem(error: urllib.error.HTTPError) -> ServiceError:
    """Return the problem document of RFC 9457 as an error, whatever the body is."""
    code = ""
    detail = ""
    ours = False
    try:
        content = json.loads(error.read(1 << 16))
        named = content.get("code")
        ours = content.get("type") == f"urn:hedgerow:problem:{named}" and content.get("status") == error.code
        code = str(content.get("code") or str(content.get("type", "")).rsplit("/", 1)[-1])
        detail = str(content.get("detail") or content.get("title") or "")
    except (ValueError, AttributeError, OSError, http.client.HTTPException):
        pass
    host = urllib.parse.urlsplit(error.url).netloc
    text = "".join(c if c.isprintable() else " " for c in (detail or str(error.reason)))[:300]
    return ServiceError(f"{host} answered {error.code} {code}: {text}", code=code, status=error.code, ours=ours)


def _seconds(value: str | None) -> float:
    try:
        return max(0.0, float(value or 0))
    except ValueError:
        return 0.0
