"""Files from the web: whole or not at all, resumed where a broken transfer stopped, with progress on a terminal."""

from __future__ import annotations

import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, TextIO

from hedgerow.errors import HedgerowError

__all__ = ["DownloadError", "download"]

_CHUNK = 1 << 16
_TIMEOUT = 30.0


class DownloadError(HedgerowError):
    """A file could not be fetched; the message says which and why."""


def download(url: str, path: str | os.PathLike[str], *, screen: TextIO | None = None) -> Path:
    """Fetch ``url`` to ``path`` unless it is there, by way of ``path.part``, which a later call resumes.

    Parameters
    ----------
    url : str
        An ``http``, ``https`` or ``file`` address.
    path : path
        Where the file goes. It appears in one step, once it is complete.
    screen : text stream, optional
        Where to show progress; by default standard error if it is a terminal, else nowhere.

    Raises
    ------
    DownloadError
        If the server refuses, cannot be reached or sends less than it promised. What came is kept for the next call.
    """
    path = Path(path)
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    start = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"User-Agent": "hedgerow", **_range(start)})
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as reply:
            resumed = start > 0 and getattr(reply, "status", None) == 206
            size = _size(reply, start if resumed else 0)
            _copy(reply, part, "ab" if resumed else "wb", size, _screen(screen), path.name)
    except urllib.error.HTTPError as error:
        if error.code == 416 and start:  # nothing is left to send, or the file is another one now: start again
            part.unlink()
            return download(url, path, screen=screen)
        raise DownloadError(f"{url}: the server answered {error.code} {error.reason}.") from None
    except (OSError, ValueError) as error:
        raise DownloadError(f"{url}: {getattr(error, 'reason', None) or error}.") from None
    got = part.stat().st_size
    if size is not None and got != size:
        raise DownloadError(f"{url}: {got} of {size} bytes came; call again to go on from there.")
    os.replace(part, path)
    return path


def _range(start: int) -> dict[str, str]:
    return {"Range": f"bytes={start}-"} if start else {}


def _size(reply: Any, before: int) -> int | None:
    """Return how long the whole file is, if the server says so."""
    length = reply.headers.get("Content-Length")
    return None if length is None else before + int(length)


def _screen(screen: TextIO | None) -> TextIO | None:
    return screen if screen is not None else sys.stderr if sys.stderr.isatty() else None


def _copy(reply: Any, part: Path, mode: str, size: int | None, screen: TextIO | None, name: str) -> None:
    with part.open(mode) as file:
        while chunk := reply.read(_CHUNK):
            file.write(chunk)
            if screen is not None:
                share = (
                    f"{100 * file.tell() // size:3d} % of {size / 1e6:.1f} MB"
                    if size
                    else f"{file.tell() / 1e6:.1f} MB"
                )
                print(f"\r{name}: {share}", end="", file=screen, flush=True)
    if screen is not None:
        print(file=screen)
