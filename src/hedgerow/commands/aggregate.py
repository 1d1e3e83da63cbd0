"""``hedgerow aggregate``: add reports up and make a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import (
    Progress,
    add_command,
    add_output,
    check_output,
    counted,
    read_task,
    report,
    write_text,
)
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.tasks.totals import Aggregate
    from hedgerow.tasks.tree.model import Model
    from hedgerow.tasks.tree.task import LocalTask

_DESCRIPTION = """\
Add up the reports to a task, in exact integers, and make a model of the totals.
The order of files and reports does not matter. Files are streamed: they may be
larger than memory. A report that is there twice counts once; two different
reports with one id are refused.

Of a task of two rounds, these are the reports of the second. With --first it is
checked that labels are those of the first round: a label that was drawn twice
has cost its holder more than epsilon. Holders with a single candidate cell send
a finer label, which cannot be compared.
"""
_FALLBACKS = ("blend", "public", "none")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "aggregate", "add reports up and make a model", _DESCRIPTION)
    parser.add_argument("task", help="the task that was published")
    parser.add_argument("reports", nargs="+", help="files written by 'hedgerow privatize'")
    parser.add_argument(
        "--fallback",
        choices=_FALLBACKS,
        help="what public labels add: weighed by precision, only where reports are too few, or nothing "
        "(default: blend)",
    )
    parser.add_argument(
        "--copies",
        choices=("drop", "refuse"),
        default="drop",
        help="a report that is there twice: counts once, or is an error (default: drop)",
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        help="keep totals and position there; if killed, the same command goes on from it",
    )
    parser.add_argument("--engine", choices=("files", "dask"), default="files", help="where to add (default: files)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="dask: tcp://... of a running cluster (default: own one)"
    )
    parser.add_argument(
        "--first",
        action="append",
        metavar="FILE",
        help="two rounds: reports of the first, to check against; may be repeated",
    )
    parser.add_argument(
        "--shrink", type=float, metavar="K", help="two rounds: how strongly splits are doubted; 0: not (default: 1)"
    )
    add_output(parser, "the model, JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read every file, add, write the model."""
    from hedgerow.commands.assisted_files import aggregate_assisted, read_assisted
    from hedgerow.tasks.tree.task import LocalTask

    check_output(arguments, [arguments.task, *arguments.reports, *(arguments.first or [])])
    if (assisted := read_assisted(arguments.task)) is not None:
        return aggregate_assisted(arguments, assisted)
    task = read_task(arguments.task)
    if not isinstance(task, LocalTask):
        from hedgerow.commands.semi_aggregate import run_semi

        return run_semi(arguments, task)
    for option in ("first", "shrink"):
        if getattr(arguments, option) is not None:
            raise HedgerowError(f"--{option} is for tasks of two rounds, and {arguments.task} has one; leave it out.")
    total, n_copies = _add(arguments, task)
    if not total.n_reports:
        raise HedgerowError("there are no reports in these files, and so no model; give at least one report.")
    model = total.model(fallback=arguments.fallback or "blend")
    write_text(arguments.output, model.to_json() + "\n")
    _report(arguments, model, n_copies)
    return 0


def _add(arguments: argparse.Namespace, task: LocalTask) -> tuple[Aggregate, int]:
    """Return the totals and how many copies were left out."""
    if arguments.engine == "dask":
        return _add_on_cluster(arguments, task)
    if arguments.scheduler is not None:
        raise HedgerowError("--scheduler is for --engine dask; leave it out, or add that.")
    from hedgerow.collect.files import aggregate

    with Progress("adding") as progress:
        total, found = aggregate(
            task, arguments.reports, copies=arguments.copies, checkpoint=arguments.checkpoint, progress=progress.update
        )
    return total, found.n_copies


def _add_on_cluster(arguments: argparse.Namespace, task: LocalTask) -> tuple[Aggregate, int]:
    if arguments.checkpoint is not None:
        raise HedgerowError("--checkpoint is for --engine files: a cluster repeats what a lost worker did.")
    from hedgerow.collect.dask import aggregate_files, connect

    with connect(arguments.scheduler) as client:
        total, n_copies = aggregate_files(task, arguments.reports, client=client, copies=arguments.copies)
    return total, n_copies


def _report(arguments: argparse.Namespace, model: Model, n_copies: int) -> None:
    starved = int(model.starved.sum())
    summary = {
        "output": arguments.output,
        "task": model.task.id,
        "n_reports": model.n_reports,
        "n_files": len(arguments.reports),
        "n_copies": n_copies,
        "n_leaves": model.task.n_leaves,
        "n_starved": starved,
        "fallback": model.fallback,
        "simulation": model.simulation,
        "guarantee": model.guarantee.to_dict(),
    }
    size = f"{counted(model.n_reports, 'report')}, {model.task.n_leaves} leaves"
    lines = [f"{size} -> {arguments.output}", str(model.guarantee)]
    if n_copies:
        copies = "1 copy of a report was" if n_copies == 1 else f"{n_copies:,} copies of reports were"
        lines.insert(1, f"{copies} left out")
    if starved:
        some = "1 leaf has" if starved == 1 else f"{starved} leaves have"
        lines.insert(1, f"{some} too few reports to be told from none; see 'hedgerow explain'")
    report(arguments, summary, lines)
