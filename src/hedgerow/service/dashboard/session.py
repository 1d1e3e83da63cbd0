"""Signed-in browsers: a cookie that this process alone can make, valid for a working day."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

__all__ = ["COOKIE", "LIFETIME", "Sessions"]

COOKIE = "hedgerow-session"
LIFETIME = 12 * 3600  # seconds: a day at work; by hand


class Sessions:
    """Make and check session cookies; a restart of the process signs everybody out.

    A cookie is ``expiry . random . HMAC``: nothing is stored, and nothing of the curator's token is in it.

    Examples
    --------
    >>> sessions = Sessions()
    >>> cookie = sessions.start(now=1000)
    >>> sessions.valid(cookie, now=1001), sessions.valid(cookie, now=1000 + LIFETIME), sessions.valid("9.x.y", now=1)
    (True, False, False)
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def _mac(self, text: str) -> str:
        digest = hmac.new(self._key, text.encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")

    def start(self, now: float) -> str:
        """Return a new cookie."""
        head = f"{int(now) + LIFETIME}.{secrets.token_urlsafe(12)}"
        return f"{head}.{self._mac(head)}"

    def valid(self, cookie: str | None, now: float) -> bool:
        """Tell whether a cookie was made here and has not run out."""
        if cookie is None or not cookie.isascii() or cookie.count(".") != 2:
            return False
        head, _, mac = cookie.rpartition(".")
        expiry = head.split(".")[0]
        return hmac.compare_digest(mac, self._mac(head)) and expiry.isdigit() and now < int(expiry)

    def form_token(self, cookie: str) -> str:
        """Return what a form of this session must carry, so that no other site can send it."""
        return self._mac(f"form:{cookie}")
