"""``hedgerow privatize``: answer a task on the holder's side."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from hedgerow.commands.booking import add_ledger, booked, left_lines, open_ledger
from hedgerow.commands.files import (
    STDIO,
    add_command,
    add_output,
    check_output,
    counted,
    read_task,
    report,
    warn,
    warn_of_seed,
)
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.answer import Answering
    from hedgerow.schema import Schema
    from hedgerow.tasks.base import Task
    from hedgerow.tasks.question import LabelField

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
        "--mask", metavar="FILE", help="where holders choose: CSV, a row a record, 1 where a feature is private"
    )
    parser.add_argument(
        "--schema", metavar="FILE", help="answer only if the task asks for what this schema, JSON, describes"
    )
    add_ledger(parser)
    add_output(parser, "the reports; Parquet if its name ends in .parquet")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Answer, in blocks of rows, a task of any kind."""
    from hedgerow.commands.answer import Answering
    from hedgerow.holder.make import check_question

    others = [
        name for name in (arguments.task, arguments.private, arguments.mask, arguments.ledger, arguments.schema) if name
    ]
    check_output(arguments, others)
    ledger = open_ledger(arguments)
    task = read_task(arguments.task)
    check_question(task)
    if arguments.schema is not None:
        _check_schema(arguments, task)
    _check_options(arguments, task, others)
    warn_of_seed(arguments)
    if math.isinf(task.guarantee.epsilon):
        warn(arguments, "the task's epsilon is infinite: reports hold the truth; nobody is protected")
    answering = Answering(arguments, task, ledger)
    n = _answered(arguments, task)
    again = n is not None
    if n is None:
        n = answering.run()
    _report(arguments, answering, n, again=again)
    return 0


def _check_schema(arguments: argparse.Namespace, task: Task) -> None:
    """Refuse a task that asks for other columns, ranges, categories or labels than the schema describes."""
    from hedgerow.commands.schema import read_schema
    from hedgerow.ranges import few

    schema = read_schema(arguments.schema)
    known = {feature.name: feature for feature in schema.space.columns}
    question = task.question()
    other = [feature.name for feature in question.features if known.get(feature.name) != feature]
    label = question.label
    if label is not None and not _same_label(label, schema):
        other.append(label.name)
    if other:
        raise HedgerowError(
            f"{arguments.task} asks for something else than {arguments.schema} describes (differing: {few(other)}): "
            "nothing was answered; ask the curator which of the two is right."
        )


def _same_label(label: LabelField, schema: Schema) -> bool:
    """Whether a task's label is that of a schema: its name, its bounds or classes, and what a missing one counts as."""
    stated = schema.label
    if stated is None or stated.name != label.name:
        return False
    if label.classes is None:
        return schema.label_bounds == label.bounds and getattr(stated, "missing", None) == label.missing
    if schema.classes is None or [str(value) for value in schema.classes] != list(label.classes):
        return False
    return str(getattr(stated, "missing", None)) == label.classes[int(label.missing)]


def _check_options(arguments: argparse.Namespace, task: Task, others: list[str]) -> None:
    """Refuse by name what this task does not have, and ask for what it needs."""
    two_rounds = task.keeps or task.before is not None
    if arguments.again and not arguments.resume:
        raise HedgerowError("--again is for --resume, which otherwise never answers twice; leave it out.")
    if arguments.again and two_rounds:
        raise HedgerowError(
            f"--again is for tasks of one round; this is a {task.kind} task, whose --secrets say once and for all what "
            "was answered: leave it out."
        )
    if arguments.mask is not None and not task.question().chooses:
        raise HedgerowError(
            f"--mask is for tasks in which holders choose what is private; this is a {task.kind} task in which they do "
            "not: leave it out."
        )
    if two_rounds:
        from hedgerow.commands.kept import check_secrets

        check_secrets(arguments, others)
    elif arguments.secrets is not None:
        raise HedgerowError(
            f"--secrets is for tasks of two rounds; this is a {task.kind} task, which has one: leave it out."
        )


def _answered(arguments: argparse.Namespace, task: Task) -> int | None:
    """Return the number of reports if --resume finds that all is done; never a second answer by mistake."""
    from hedgerow.commands.receipt import Receipt

    if not arguments.resume or STDIO in (arguments.output, arguments.private):
        return None
    if arguments.again:
        warn(arguments, "--again draws fresh noise: if these records have answered before, epsilon is spent again")
        return None
    return Receipt(arguments.output, task.id).answered()


def _report(arguments: argparse.Namespace, answering: Answering, n: int, *, again: bool) -> None:
    task = answering.task
    guarantee = answering.guarantee
    summary = {
        "output": arguments.output,
        "task": task.id,
        "n_reports": n,
        "report_bytes": 18 + task.encoding.width,
        "simulation": answering.simulation,
        "again": again,
        **({} if arguments.secrets is None else {"secrets": arguments.secrets}),
        "guarantee": guarantee.to_dict(),
        **booked(answering.ledger),
    }
    lines = [f"{counted(n, 'report')} to task {task.id[:12]} -> {arguments.output}"]
    if again:
        lines.append(
            "all of them were there already: nothing was drawn or spent; for other records give -o another name"
        )
    if task.keeps:
        lines.append(f"{arguments.secrets} stays on this device (mode 0600): keep it for the next round, never send it")
    if task.before is not None:
        lines.append(f"{arguments.secrets} is marked as answered; if the report is lost, send the same file again")
    report(arguments, summary, [*lines, str(guarantee), *left_lines(answering.ledger)])
