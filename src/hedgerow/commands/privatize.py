"""``hedgerow privatize``: answer a task on the holder's side."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from hedgerow.commands.files import (
    STDIO,
    Progress,
    add_command,
    add_output,
    check_output,
    counted,
    naming,
    output,
    read_task,
    report,
    warn,
)
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.receipt import Receipt
    from hedgerow.commands.tables import Table
    from hedgerow.randomness import Randomness
    from hedgerow.tasks.reports import Reports
    from hedgerow.tasks.tree.task import LocalTask

_DESCRIPTION = """\
Answer a task: turn each private record into one report. Run this where the
records are at home; only the reports may leave. Every record makes a report:
values outside a public range count as its nearest end, cells that are empty or
no number as the task's "missing", unknown categories as its "unknown".

Answer a task once. Reports made a second time from the same records have fresh
noise and spend epsilon again. With --resume a receipt stays beside the output
(FILE.receipt): the same command run again draws nothing.

A task of two rounds needs --secrets: a file that stays on the device, and that
only its owner may read. The first round makes it; the second reads it and marks
it as answered before any report exists, so that there is never a second answer.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "privatize", "turn private records into reports", _DESCRIPTION)
    parser.add_argument("task", help="the published task")
    parser.add_argument("private", help="private records with their labels, CSV or Parquet; - for standard input")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="for simulation only: noise that can be repeated protects nobody"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep finished blocks beside the output; if killed, the same command goes on: no record is answered twice",
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="with --resume: draw anew although a receipt says that these records have answered; spends epsilon again",
    )
    parser.add_argument("--secrets", metavar="FILE", help="two rounds: what stays on the device between them")
    parser.add_argument(
        "--mask", metavar="FILE", help="first of two rounds: CSV, a row a record, 1 where a feature is private"
    )
    add_output(parser, "the reports; Parquet if its name ends in .parquet")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Privatise, for the kind of task that was published."""
    from hedgerow.commands.assisted_files import privatize_assisted, read_assisted
    from hedgerow.tasks.tree.task import LocalTask

    check_output(arguments, [arguments.task, arguments.private])
    if arguments.again and not arguments.resume:
        raise HedgerowError("--again is for --resume, which otherwise never answers twice; leave it out.")
    if (assisted := read_assisted(arguments.task)) is not None:
        return privatize_assisted(arguments, assisted)
    task = read_task(arguments.task)
    if not isinstance(task, LocalTask):
        from hedgerow.commands.semi_privatize import run_semi

        if arguments.resume:
            raise HedgerowError(
                "--resume is for tasks of one round; of two, the secrets file remembers what was answered."
            )
        return run_semi(arguments, cast("Any", task))
    for option in ("secrets", "mask"):
        if getattr(arguments, option) is not None:
            raise HedgerowError(f"--{option} is for tasks of two rounds, and {arguments.task} has one; leave it out.")
    return _run_local(arguments, task)


def _run_local(arguments: argparse.Namespace, task: LocalTask) -> int:
    """Privatise in blocks of rows."""
    from hedgerow.commands.tables import Table
    from hedgerow.randomness import as_randomness

    table = Table(arguments.private)
    table.offer([*task.space.names, task.target], arguments)
    source = as_randomness(arguments.seed)
    if source.simulation:
        warn(arguments, "--seed is for simulation: whoever knows the seed can take the noise away; nobody is protected")
    if math.isinf(task.epsilon):
        warn(arguments, "the task's epsilon is infinite: reports hold the truth; nobody is protected")
    done = _answered(arguments, task)
    n = _write(arguments, task, table, source) if done is None else done
    _report(arguments, task, n, source.simulation, again=done is not None)
    return 0


def _receipt(arguments: argparse.Namespace, task: LocalTask) -> Receipt:
    from hedgerow.commands.receipt import Receipt

    return Receipt(arguments.output, task.id)


def _answered(arguments: argparse.Namespace, task: LocalTask) -> int | None:
    """Return the number of reports if --resume finds that all is done; never a second answer by mistake."""
    if not arguments.resume or STDIO in (arguments.output, arguments.private):
        return None
    if arguments.again:
        warn(arguments, "--again draws fresh noise: if these records have answered before, epsilon is spent again")
        return None
    return _receipt(arguments, task).answered()


def _write(arguments: argparse.Namespace, task: LocalTask, table: Table, source: Randomness) -> int:
    from hedgerow.commands.batches import PARQUET, BytesBatch, ParquetBatch
    from hedgerow.commands.parts import Parts
    from hedgerow.tasks.reports import Reports

    kind = ParquetBatch if arguments.output.lower().endswith(PARQUET) else BytesBatch
    parts = None
    if arguments.resume:
        parts = Parts(arguments.output, {"task": task.id, "seed": arguments.seed}, [arguments.private])
        with Progress("privatising") as progress:
            for reports in _blocks(arguments, task, table, parts.restore(source), skip=len(parts)):
                parts.add(reports.to_bytes(), source)
                progress.update(len(parts) * len(reports), table.share)
    with (
        output(arguments.output) as file,
        kind(file, task, source.simulation) as batch,
        Progress("privatising") as progress,
    ):
        done = None if parts is None else (Reports.from_bytes(task, data) for data in parts)
        for reports in done or _blocks(arguments, task, table, source):
            batch.add(reports)
            progress.update(batch.n, table.share)
        batch.finish()
    if parts is not None:
        # In this order a crash in between repeats the same reports from the parts, and draws nothing.
        _receipt(arguments, task).write(batch.n)
        parts.remove()
    return batch.n


def _blocks(
    arguments: argparse.Namespace, task: LocalTask, table: Table, source: Randomness, skip: int = 0
) -> Iterator[Reports]:
    """Yield the reports of each block of rows, but for those that are done."""
    from hedgerow.tasks.holder import privatize_many

    for i, block in enumerate(table.blocks()):
        if i < skip:
            continue
        X, y = block.private(task)
        with naming(arguments.private):
            yield privatize_many(task, X, y, source)


def _report(arguments: argparse.Namespace, task: LocalTask, n: int, simulation: bool, *, again: bool) -> None:
    from dataclasses import replace

    guarantee = replace(task.guarantee, simulation=simulation)
    summary = {
        "output": arguments.output,
        "task": task.id,
        "n_reports": n,
        "report_bytes": 18 + task.encoding.width,
        "simulation": simulation,
        "again": again,
        "guarantee": guarantee.to_dict(),
    }
    lines = [f"{counted(n, 'report')} to task {task.id[:12]} -> {arguments.output}", str(guarantee)]
    if again:
        lines.insert(
            1, "all of them were there already: nothing was drawn or spent; for other records give -o another name"
        )
    report(arguments, summary, lines)
