"""What the commands share: reading tasks and models, writing output all or nothing, summaries."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import re
import secrets
import shutil
import signal
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeVar

from hedgerow.commands.progress import say
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import LARGE_DELTA, LARGE_EPSILON

if TYPE_CHECKING:
    from hedgerow.tasks.base import Task
    from hedgerow.tasks.models import Model

EXIT_CODES = "Exit codes: 0 all well, 2 bad arguments or input; nothing is written then."
STDIO = "-"

T = TypeVar("T")


def add_command(subparsers: Any, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    """Add the parser of a command, with ``--json`` and our conventions."""
    parser: argparse.ArgumentParser = subparsers.add_parser(
        name,
        help=summary,
        description=description,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    # A value such as -5:5 is a range, not an option; no option of ours starts with a digit.
    parser._negative_number_matcher = re.compile(r"-\.?\d")
    parser.add_argument("--json", action="store_true", help="print a summary for machines on standard output")
    return parser


def add_output(parser: argparse.ArgumentParser, what: str) -> None:
    """Add ``-o``."""
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help=f"{what}; - for standard output")


def read_task(path: str) -> Task:
    """Read a published task of any kind."""
    from hedgerow.tasks.registry import read_task as parse

    return _parse(path, parse, "task")


def read_any_model(path: str) -> Model:
    """Read a model of any kind."""
    from hedgerow.tasks.registry import read_model

    model: Model = _parse(path, read_model, "model")
    return model


def _parse(path: str, parse: Callable[[bytes], T], wanted: str) -> T:
    with open(path, "rb") as file:
        data = file.read()
    with naming(path):
        try:
            return parse(data)
        except FormatError as error:
            raise FormatError(f"{error}{_hint(data, wanted)}") from error


_MADE = {
    "task": "Tasks come from 'hedgerow design' and 'hedgerow grow'.",
    "model": "Models come from 'hedgerow aggregate' and 'hedgerow fit'.",
}
_USED = {"signed announcement of a task": "'hedgerow join' answers it."}


def _hint(data: bytes, wanted: str) -> str:
    """Return what a file is that was taken for something else, and what to do; "" if it only has faults."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return f" {_MADE[wanted]}"
    kind = content.get("format") if isinstance(content, dict) else None
    found = next((what for what, formats in _formats().items() if kind in formats), None)
    if found is None:
        return f" {_MADE[wanted]}"
    return "" if found == wanted else f" It is a {found}. {_USED.get(found, _MADE[wanted])}"


def _formats() -> dict[str, tuple[str, ...]]:
    """Return what files are, by the format that they name."""
    from hedgerow.tasks.registry import MODELS, TASKS

    announced = ("hedgerow/announcement",)
    return {"task": tuple(TASKS), "model": tuple(MODELS), "signed announcement of a task": announced}


def counted(n: int, what: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "report"), counted(2000, "report")
    ('1 report', '2,000 reports')
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


@contextlib.contextmanager
def naming(path: str) -> Iterator[None]:
    """Put the name of a file in front of whatever turns out to be wrong with it."""
    try:
        yield
    except HedgerowError as error:
        raise FormatError(f"{path}: {error}") from error


def check_output(arguments: argparse.Namespace, inputs: Sequence[str], option: str = "-o") -> None:
    """Refuse, before any work, an output that is an input or that mixes with the summary."""
    path = arguments.output
    if path == STDIO:
        if arguments.json:
            raise HedgerowError("--json and '-o -' both need standard output; give -o a file.")
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise HedgerowError(f"{option} {path}: there is no folder {folder}; make it first.")
    if os.path.isdir(path):
        raise HedgerowError(f"{option} {path} is a folder; give a file name in it.")
    for name in inputs:
        if name != STDIO and os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name):
            raise HedgerowError(f"{option} {path} is an input of this command and would be lost; choose another name.")


_PICTURES = (".png", ".svg", ".pdf")


def check_picture(path: str, inputs: Sequence[str], option: str = "--plot") -> str:
    """Return the format of a picture; refuse, before any work, what cannot be drawn or written."""
    kind = os.path.splitext(path)[1].lower()
    if kind not in _PICTURES:
        raise HedgerowError(f"{option} must name a file that ends in {', '.join(_PICTURES)}. Got {path!r} instead.")
    check_output(argparse.Namespace(output=path, json=False), inputs, option)
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise HedgerowError(f"{option} needs Matplotlib: pip install 'hedgerow[plot]'.") from None
    return kind[1:]


@contextlib.contextmanager
def output(path: str, option: str = "-o", *, secret: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing that appears under its name only when it is whole.

    With ``secret`` it has mode 0600 from the start, whatever the mode of the file that it replaces.

    A temporary file in the same folder is written, forced to disk and renamed. Whatever goes wrong on the way,
    an interrupt or a termination signal included, removes it and leaves an older file as it was. Standard
    output and special files get everything at the end or nothing.
    """
    target = os.path.realpath(path)
    if path == STDIO or (os.path.exists(target) and not stat.S_ISREG(os.stat(target).st_mode)):
        with tempfile.TemporaryFile() as spool:
            yield spool
            spool.seek(0)
            _copy(spool, path)
        return
    partial = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}.{secrets.token_hex(4)}.partial")
    with _stoppable():
        try:
            with _open_new(partial, f"{option} {path}", secret) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if os.path.exists(target) and not secret:
                shutil.copymode(target, partial)
            os.replace(partial, target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(partial)
            raise
    _sync_folder(os.path.dirname(target))


def _open_new(partial: str, what: str, secret: bool) -> IO[bytes]:
    try:
        if secret:
            return open(partial, "x+b", opener=lambda name, flags: os.open(name, flags, 0o600))
        return open(partial, "x+b")
    except OSError as error:
        raise HedgerowError(f"{what} cannot be written: {error.strerror}.") from error


def _copy(spool: IO[bytes], path: str) -> None:
    if path != STDIO:
        with open(path, "wb") as file:
            shutil.copyfileobj(spool, file)
        return
    sys.stdout.flush()
    shutil.copyfileobj(spool, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _sync_folder(folder: str) -> None:
    """Force the new name to disk, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Turn a termination signal into an exception for a while, so that clean-up happens."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def write_text(path: str, text: str, *, secret: bool = False) -> None:
    """Write a text file, all or nothing; with ``secret`` for its owner only."""
    with output(path, secret=secret) as file:
        file.write(text.encode())


def report(arguments: argparse.Namespace, summary: dict[str, Any], lines: Sequence[str]) -> None:
    """Print the summary: JSON for machines, lines for people (on standard error if the output went to stdout)."""
    if arguments.json:
        print(json.dumps({"command": arguments.command, **summary}, indent=2, allow_nan=False))
    else:
        print("\n".join(lines), file=sys.stderr if getattr(arguments, "output", "") == STDIO else sys.stdout)


def warn(arguments: argparse.Namespace, text: str) -> None:
    """Print one line of warning."""
    say(f"hedgerow {arguments.command}: warning: {text}")


def warn_of_seed(arguments: argparse.Namespace) -> None:
    """Say what a seed does to the noise."""
    if arguments.seed is not None:
        warn(arguments, "--seed is for simulation: whoever knows the seed can take the noise away; nobody is protected")


def warn_if_weak(arguments: argparse.Namespace, epsilon: float, delta: float = 0.0) -> None:
    """Say so if a promise is nothing, or next to nothing."""
    if math.isinf(epsilon):
        warn(arguments, "epsilon is infinite: nothing is protected")
    elif epsilon > LARGE_EPSILON or delta >= LARGE_DELTA:
        stated = f"epsilon = {epsilon:g}" + (f" with delta = {delta:g}" if delta else "")
        warn(arguments, f"{stated} protects next to nothing")
