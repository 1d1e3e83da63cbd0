"""``hedgerow privatize`` of two rounds, and the secrets that the device keeps between them.

There is never a second draw of a label, nor a second answer to the second round:

1. The first round reserves the name of its secrets, and refuses one that exists. The secrets are on disk before
   the report has its name.
2. The second round draws its answer in memory. Room for the report is taken on disk, then the secrets are replaced
   by a copy that says "answered" and forced to disk, and only then is any of the answer written. A crash in between
   loses the answer, which costs accuracy; no order of events gives a second one. A lock keeps two runs apart.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.commands.batches import PARQUET
from hedgerow.commands.files import STDIO, check_output, counted, naming, output, report, warn
from hedgerow.commands.tables import Frame, Table
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.partly_public import CellTask, Secrets, SemiTask


def run_semi(arguments: argparse.Namespace, task: SemiTask | CellTask) -> int:
    """Answer the round that the task asks for."""
    first = task if isinstance(task, SemiTask) else task.first
    _check_files(arguments)
    if isinstance(task, CellTask) and arguments.mask is not None:
        raise HedgerowError("--mask is for the first round; the second uses what the secrets keep. Leave it out.")
    if arguments.seed is not None:
        warn(arguments, "--seed is for simulation: whoever knows the seed can take the noise away; nobody is protected")
    if math.isinf(first.epsilon):
        warn(arguments, "the task's epsilon is infinite: reports hold the truth; nobody is protected")
    n, simulation = _first(arguments, task) if isinstance(task, SemiTask) else _second(arguments, task)
    _report(arguments, task, n, simulation)
    return 0


def _check_files(arguments: argparse.Namespace) -> None:
    secrets = arguments.secrets
    if secrets is None:
        raise HedgerowError("--secrets FILE is needed: a task of two rounds keeps a file on the device between them.")
    if secrets == STDIO or (os.path.exists(secrets) and not stat.S_ISREG(os.stat(secrets).st_mode)):
        raise HedgerowError(f"--secrets {secrets} must be a file on this device.")
    others = [arguments.task, arguments.private, *([arguments.mask] if arguments.mask else [])]
    check_output(argparse.Namespace(output=secrets, json=False), others, option="--secrets")
    check_output(arguments, others)
    if arguments.output != STDIO and os.path.realpath(arguments.output) == os.path.realpath(secrets):
        raise HedgerowError("-o and --secrets name the same file; reports are sent, secrets never: choose two names.")
    if arguments.output.lower().endswith(PARQUET):
        raise HedgerowError(f"-o {arguments.output}: reports of two rounds are not written as Parquet; use .bin.")


def _first(arguments: argparse.Namespace, task: SemiTask) -> tuple[int, bool]:
    path = arguments.secrets
    if os.path.exists(path):
        raise HedgerowError(
            f"--secrets {path} exists: its labels are drawn, and drawing them again would spend epsilon again. Send "
            "that round's report; only if there never was one, delete the secrets and begin again."
        )
    X, y = _records(arguments, task, labels=True)
    mask = _mask(arguments, task, len(X))
    with naming(arguments.private if arguments.mask is None else arguments.mask):
        task.effective(mask, len(X))
    # The inner file gets its name first: no report without its secrets.
    with (
        _reserved(path),
        output(arguments.output) as sent,
        output(path, "--secrets", secret=True) as kept,
    ):
        reports = task.privatize(X, y, private=mask, randomness=arguments.seed)
        kept.write(reports.kept.to_bytes())
        sent.write(reports.to_bytes())
    return len(reports), reports.simulation


def _second(arguments: argparse.Namespace, task: CellTask) -> tuple[int, bool]:
    path = arguments.secrets
    X, _ = _records(arguments, task.first, labels=False)
    with _locked(path), output(arguments.output) as sent:
        with open(path, "rb") as file, naming(path):
            secrets = Secrets.from_bytes(task.first, file.read())
            reports = task.privatize(
                X, kept=secrets, randomness=arguments.seed
            )  # marks the secrets; refuses marked ones
        data = reports.to_bytes()
        sent.write(bytes(len(data)))  # a full disk shows here, while nothing is spent
        sent.flush()
        sent.seek(0)
        with output(path, "--secrets", secret=True) as kept:
            kept.write(secrets.to_bytes())
        sent.write(data)
    return len(reports), reports.simulation


@contextlib.contextmanager
def _reserved(path: str) -> Iterator[None]:
    """Take a name that nobody has; give it back if the secrets were not written."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise HedgerowError(f"--secrets {path} was made by another run just now; use what that one wrote.") from None
    except OSError as error:
        raise HedgerowError(f"--secrets {path} cannot be written: {error.strerror}.") from error
    try:
        yield
    except BaseException:
        if os.path.getsize(path) == 0:
            os.unlink(path)
        raise


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
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
                raise HedgerowError(f"--secrets {path} is in use by another run; wait for its report.") from None
        yield


def _records(arguments: argparse.Namespace, task: SemiTask, *, labels: bool) -> tuple[Frame, npt.NDArray[Any]]:
    """Return all records of a file, and their labels."""
    path = arguments.private
    table = Table(path)
    table.offer([*task.space.names, *([task.target] if labels else [])], arguments)
    frames, y = [], []
    for block in table.blocks():
        X, label = block.private(task)
        frames.append(X)
        y.append(label)
    if not frames:
        raise HedgerowError(f"{path} has no records below its header; there is nothing to report.")
    data: dict[str, npt.NDArray[Any]] = {n: np.concatenate([f[n] for f in frames]) for n in task.space.names}
    return Frame(data, sum(map(len, frames))), np.concatenate(y)


def _mask(arguments: argparse.Namespace, task: SemiTask, n: int) -> npt.NDArray[np.bool_] | None:
    from hedgerow.semi.masks import read_mask

    path, names = arguments.mask, task.space.names
    if path is None:
        if task.masks == "personal":
            raise HedgerowError(
                f"{arguments.task} lets each holder choose what is private; give --mask, a CSV file with the header "
                f"{','.join(names)} and a row a record, 1 where private."
            )
        return None
    table = Table(path)  # names what is wrong with a file that is no table
    if not table.is_csv or path == STDIO:
        raise HedgerowError(f"--mask {path}: a mask is a CSV file.")
    for _ in table.blocks():
        pass
    try:
        mask = read_mask(path, names, n)
    except HedgerowError:
        raise
    except ValueError as error:
        raise FormatError(f"{path} is not a mask: {error}.") from error
    if (absent := [m for m in names if m not in table.names]) and task.masks == "personal":
        warn(arguments, f"{path} leaves out {', '.join(absent)}: private in every record")
    return mask


def _report(arguments: argparse.Namespace, task: SemiTask | CellTask, n: int, simulation: bool) -> None:
    guarantee = replace(task.guarantee, simulation=simulation)
    number = 1 if isinstance(task, SemiTask) else 2
    summary = {
        "output": arguments.output,
        "secrets": arguments.secrets,
        "task": task.id,
        "round": number,
        "n_reports": n,
        "simulation": simulation,
        "guarantee": guarantee.to_dict(),
    }
    kept = (
        f"{arguments.secrets} stays on this device (mode 0600): keep it for the second round and never send it"
        if number == 1
        else f"{arguments.secrets} is marked as answered; if the report is lost, send the same file again"
    )
    lines = [
        f"{counted(n, 'report')} to round {number}, task {task.id[:12]} -> {arguments.output}",
        kept,
        str(guarantee),
    ]
    report(arguments, summary, lines)
