"""``hedgerow aggregate``: add reports up and make a model."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import (
    add_command,
    add_output,
    check_output,
    counted,
    output,
    read_task,
    report,
    write_text,
)
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.options import Offered
    from hedgerow.tasks.base import Task
    from hedgerow.tasks.models import About
    from hedgerow.tasks.totals import Totals
    from hedgerow.tasks.trimmed import Trimmed

_DESCRIPTION = """\
Add up the reports to a task, in exact integers, and make a model of the totals.
The order of files and reports does not matter. Files are streamed: they may be
larger than memory. A report that is there twice counts once; two different
reports with one id are refused.

The first of two rounds makes the second task, a task about labels a file of
them, every other a model.

Of a second round, --first checks that labels are those of the first: a label that
was drawn twice has cost its holder more than epsilon. Holders with a single
candidate cell send a finer label, which cannot be compared.

--groups files takes each file for a group (the reports of a gateway, say), and
leaves out of every sum the groups with the smallest and the largest rates: a
few forged files change little then. --groups N deals the reports into N groups
at random, against a few forged reports. It costs accuracy, which is said, and
intervals are wider by it. --trim 0.5 takes the median.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "aggregate", "add reports up and make a model", _DESCRIPTION)
    add_arguments(parser)
    parser.set_defaults(run=run)


def add_arguments(parser: Any) -> None:
    """Add what may be said about adding, and, once the command is chosen, what kinds of tasks say about models."""
    parser.add_argument("task", help="the task that was published")
    parser.add_argument("reports", nargs="+", help="files written by 'hedgerow privatize'")
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
        "--groups",
        metavar="N|files",
        help="trim totals over N groups of reports drawn at random, or over the files; see above",
    )
    parser.add_argument("--trim", type=float, metavar="SHARE", help="of the groups, at each end (default: 0.1)")
    parser.add_argument(
        "--first",
        action="append",
        metavar="FILE",
        help="second rounds: reports of the first, to check against; may be repeated",
    )
    add_output(parser, "what the reports make: a model, JSON; of a first round the second task, of labels a CSV file")
    parser.fill = lambda: _offered().add_to(parser)


def _offered() -> Offered:
    from hedgerow.commands.options import Offered
    from hedgerow.tasks.registry import task_classes

    return Offered({kind.kind: kind.model_options.values() for kind in task_classes()})


def run(arguments: argparse.Namespace) -> int:
    """Read every file, add, write what the reports make."""
    from hedgerow.tasks.models import About

    check_output(arguments, [arguments.task, *arguments.reports, *(arguments.first or [])])
    task = read_task(arguments.task)
    options = _offered().read(arguments, task.kind)
    if arguments.first is not None and task.before is None:
        raise HedgerowError(f"--first is for second rounds; this is a {task.kind} task, of one: leave it out.")
    cut = None
    if arguments.groups is not None:
        cut, n_copies = _trim(arguments, task)
        total = cut.totals
    elif arguments.trim is not None:
        raise HedgerowError("--trim belongs to --groups; leave it out, or say which groups.")
    else:
        total, n_copies = _add(arguments, task)
    if not total.n_reports:
        raise HedgerowError("there are no reports in these files, and so nothing to make; give at least one report.")
    if task.makes == "data":
        with output(arguments.output) as file:
            file.write(task.data(total)[1])
        about = About(f"{counted(total.n_reports, 'report')}, one noisy label each")
    else:
        with Progress("making the model"):
            result = total.model(**options)
        write_text(arguments.output, result.to_json() + "\n")
        about = result.about()
    _report(arguments, total, about, n_copies, cut)
    return 0


def _trim(arguments: argparse.Namespace, task: Task) -> tuple[Trimmed, int]:
    """Return trimmed totals of groups and how many copies were left out."""
    from hedgerow.tasks.trimmed import TRIM, check_groups, group_key, trimmed

    for option in ("checkpoint", "first"):
        if getattr(arguments, option) is not None:
            raise HedgerowError(f"--{option} cannot be had with --groups; leave one of them out.")
    if arguments.engine != "dask":
        _check_scheduler(arguments)
    by_file = arguments.groups == "files"
    if not by_file and not (arguments.groups.isascii() and arguments.groups.isdecimal()):
        raise HedgerowError(f"--groups must be a number or 'files'. Got {arguments.groups!r} instead.")
    n_groups = len(arguments.reports) if by_file else int(arguments.groups[:9])
    trim = TRIM if arguments.trim is None else arguments.trim
    check_groups(task, n_groups, trim)
    parts, n_copies = _add_groups(arguments, task, None if by_file else group_key(), n_groups)
    return trimmed(parts, trim), n_copies


def _add_groups(
    arguments: argparse.Namespace, task: Task, key: bytes | None, n_groups: int
) -> tuple[list[Totals], int]:
    """Return the totals of groups and how many copies were left out."""
    if arguments.engine == "dask":
        from hedgerow.collect.dask import aggregate_groups as on_cluster
        from hedgerow.collect.dask import connect

        with connect(arguments.scheduler) as client:
            return on_cluster(task, arguments.reports, key, n_groups, client=client, copies=arguments.copies)
    from hedgerow.collect.files import aggregate_groups

    with Progress("adding") as progress:
        return aggregate_groups(
            task, arguments.reports, key, n_groups, copies=arguments.copies, progress=progress.update
        )


def _check_scheduler(arguments: argparse.Namespace) -> None:
    if arguments.scheduler is not None:
        raise HedgerowError("--scheduler is for --engine dask; leave it out, or add that.")


def _add(arguments: argparse.Namespace, task: Task) -> tuple[Totals, int]:
    """Return the totals and how many copies were left out."""
    if arguments.engine == "dask":
        return _add_on_cluster(arguments, task)
    _check_scheduler(arguments)
    from hedgerow.collect.files import aggregate

    check = None
    if arguments.first is not None and task.before is not None:
        check = task.check_against(aggregate(task.before, arguments.first)[0])
    with Progress("adding") as progress:
        total, found = aggregate(
            task,
            arguments.reports,
            copies=arguments.copies,
            checkpoint=arguments.checkpoint,
            progress=progress.update,
            check=check,
        )
    return total, found.n_copies


def _add_on_cluster(arguments: argparse.Namespace, task: Task) -> tuple[Totals, int]:
    for option, why in (
        ("checkpoint", "a cluster repeats what a lost worker did"),
        ("first", "labels are compared where the files are"),
    ):
        if getattr(arguments, option) is not None:
            raise HedgerowError(f"--{option} is for --engine files: {why}.")
    from hedgerow.collect.dask import aggregate_files, connect

    with connect(arguments.scheduler) as client:
        total, n_copies = aggregate_files(task, arguments.reports, client=client, copies=arguments.copies)
    return total, n_copies


def _report(
    arguments: argparse.Namespace, total: Totals, about: About, n_copies: int, cut: Trimmed | None = None
) -> None:
    guarantee = replace(total.task.guarantee, simulation=total.simulation)
    checked = {} if total.task.before is None else {"labels_checked": arguments.first is not None}
    summary = {
        "output": arguments.output,
        "task": total.task.id,
        "n_reports": total.n_reports if cut is None else cut.n_reports,
        "n_files": len(arguments.reports),
        "n_copies": n_copies,
        **about.facts,
        **checked,
        "simulation": total.simulation,
        "guarantee": guarantee.to_dict(),
    }
    note = "; labels agree with the first round wherever they can be compared" if arguments.first else ""
    made = f", from {counted(total.n_reports, 'report')}" if total.task.makes == "task" else note
    lines = [f"{about.headline}{made} -> {arguments.output}", *about.remarks]
    if n_copies:
        copies = "1 copy of a report was" if n_copies == 1 else f"{n_copies:,} copies of reports were"
        lines.append(f"{copies} left out")
    if cut is not None:
        summary |= {"n_groups": cut.n_groups, "dropped": cut.dropped, "counts_as": total.n_reports}
        lines.append(str(cut))
    report(arguments, summary, [*lines, str(guarantee)])
