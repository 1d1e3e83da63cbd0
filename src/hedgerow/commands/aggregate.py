"""``hedgerow aggregate``: add reports up and make a model."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import Progress, add_command, add_output, check_output, read_task, report, write_text
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.protocol.aggregate import Aggregate
    from hedgerow.protocol.model import Model
    from hedgerow.protocol.task import LocalTask

_DESCRIPTION = """\
Add up the reports to a task, in exact integers, and make a model of the totals.
The order of files and reports does not matter. A report that is there twice is
refused.

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
    from hedgerow.protocol.task import LocalTask

    check_output(arguments, [arguments.task, *arguments.reports, *(arguments.first or [])])
    task = read_task(arguments.task)
    if not isinstance(task, LocalTask):
        from hedgerow.commands.semi_aggregate import run_semi

        return run_semi(arguments, task)
    for option in ("first", "shrink"):
        if getattr(arguments, option) is not None:
            raise HedgerowError(f"--{option} is for tasks of two rounds, and {arguments.task} has one; leave it out.")
    total = _add(task, arguments.reports)
    if not total.n_reports:
        raise HedgerowError("there are no reports in these files, and so no model; give at least one report.")
    model = total.model(fallback=arguments.fallback or "blend")
    write_text(arguments.output, model.to_json() + "\n")
    _report(arguments, model)
    return 0


def _add(task: LocalTask, paths: list[str]) -> Aggregate:
    from hedgerow.commands.batches import check_no_copies, read_reports
    from hedgerow.protocol.aggregate import Aggregate

    total, tokens = Aggregate(task), []
    with Progress("adding") as progress:
        for i, path in enumerate(paths):
            reports = read_reports(task, path)
            total.add(reports)
            tokens.append(reports.tokens)
            progress.update(total.n_reports, (i + 1) / len(paths))
    check_no_copies(tokens, paths)
    return total


def _report(arguments: argparse.Namespace, model: Model) -> None:
    starved = int(model.starved.sum())
    summary = {
        "output": arguments.output,
        "task": model.task.id,
        "n_reports": model.n_reports,
        "n_files": len(arguments.reports),
        "n_leaves": model.task.n_leaves,
        "n_starved": starved,
        "fallback": model.fallback,
        "simulation": model.simulation,
        "guarantee": model.guarantee.to_dict(),
    }
    lines = [f"{model.n_reports:,} reports, {model.task.n_leaves} leaves -> {arguments.output}", str(model.guarantee)]
    if starved:
        lines.insert(1, f"{starved} leaves have too few reports to be told from none; see 'hedgerow explain'")
    report(arguments, summary, lines)
