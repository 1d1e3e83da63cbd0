"""What a device keeps between two rounds, as a file: never drawn twice, never used twice, for its owner's eyes."""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
from collections.abc import Iterator

from hedgerow.commands.files import STDIO, check_output, output
from hedgerow.errors import HedgerowError

__all__ = ["check_secrets", "locked", "reserved", "write_secrets"]


def check_secrets(arguments: argparse.Namespace, others: list[str]) -> None:
    """Refuse, before any work, secrets that would be lost or sent."""
    path = arguments.secrets
    if path is None:
        raise HedgerowError("--secrets FILE is needed: a task of two rounds keeps a file on the device between them.")
    if path == STDIO or (os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode)):
        raise HedgerowError(f"--secrets {path} must be a file on this device.")
    check_output(argparse.Namespace(output=path, json=False), others, option="--secrets")
    if arguments.output != STDIO and os.path.realpath(arguments.output) == os.path.realpath(path):
        raise HedgerowError("-o and --secrets name the same file; reports are sent, secrets never: choose two names.")


@contextlib.contextmanager
def reserved(path: str, *, begun: bool = False) -> Iterator[None]:
    """Take a name that nobody has; give it back if the secrets were not written.

    With ``begun``, an earlier run took the name and was stopped: then it may be there.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        if not begun:
            raise HedgerowError(
                f"--secrets {path} exists: its labels are drawn, and drawing them again would spend epsilon again. "
                "Send that round's report; only if there never was one, delete the secrets and begin again."
            ) from None
    except OSError as error:
        raise HedgerowError(f"--secrets {path} cannot be written: {error.strerror}.") from error
    try:
        yield
    except BaseException:
        if os.path.exists(path) and os.path.getsize(path) == 0:
            os.unlink(path)
        raise


@contextlib.contextmanager
def locked(path: str, what: str) -> Iterator[None]:
    """Keep other runs away. What is read by name under the lock is what the last run left."""
    with open(path, "rb") as file:
        try:
            import fcntl
        except ImportError:  # Windows refuses to replace a file that is open elsewhere
            fcntl = None  # type: ignore[assignment]
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HedgerowError(f"{what} is in use by another run; wait for its report.") from None
        yield


def write_secrets(path: str, data: bytes) -> None:
    """Write what the device keeps, all or nothing."""
    with output(path, "--secrets", secret=True) as file:
        file.write(data)
