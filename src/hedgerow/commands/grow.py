"""``hedgerow grow``: the second task of two rounds, from the reports of the first."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, add_output, check_output, naming, read_task, report, write_text
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public import CellTask, FirstReports, SemiTask

_DESCRIPTION = """\
Grow the partition of the second round from the reports of the first: a tree over
public features, times a histogram over the most protected ones. Publish the
result; holders answer it with 'hedgerow privatize' and their --secrets.

All of it follows from what was sent, and so costs no privacy.
"""
_RULES = ("auto", "max_edge", "cart", "random_max_edge")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "grow", "make the second task of two rounds", _DESCRIPTION)
    parser.add_argument("task", help="the first task, made by 'hedgerow design --private-columns' or the like")
    parser.add_argument("reports", nargs="+", help="first reports, files written by 'hedgerow privatize'")
    parser.add_argument(
        "--rule",
        choices=_RULES,
        default="auto",
        help="how the tree grows (default: cart if the task fixes what is private, else max_edge)",
    )
    for option, what in (
        ("--max-depth", "depth of the tree"),
        ("--n-bins", "bins of each histogram feature"),
        ("--n-private", "number of histogram features"),
    ):
        parser.add_argument(option, type=_whole, default="auto", metavar="N", help=f"{what} (default: auto)")
    parser.add_argument("--response", choices=("k_ary", "bits"), default="k_ary", help="the message (default: k_ary)")
    parser.add_argument("--seed", type=int, metavar="N", help="of random splits (they are public)")
    add_output(parser, "the second task, JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read every file, grow, write."""
    from hedgerow.tasks.partly_public import SemiTask
    from hedgerow.tasks.partly_public.files import design_cells

    check_output(arguments, [arguments.task, *arguments.reports])
    task = read_task(arguments.task)
    if not isinstance(task, SemiTask):
        raise HedgerowError(f"{arguments.task} is not the first task of two rounds; only that can be grown from.")
    reports = read_first(task, arguments.reports)
    if not len(reports):
        raise HedgerowError("there are no reports in these files, and so nothing to grow from; give at least one.")
    cells = design_cells(
        reports,
        n_private=arguments.n_private,
        max_depth=arguments.max_depth,
        n_bins=arguments.n_bins,
        rule=arguments.rule,
        response=arguments.response,
        randomness=arguments.seed,
    )
    write_text(arguments.output, cells.to_json() + "\n")
    _report(arguments, cells, reports)
    return 0


def read_first(task: SemiTask, paths: list[str]) -> FirstReports:
    """Read first reports from all files, refusing copies."""
    from hedgerow.commands.batches import check_no_copies
    from hedgerow.tasks.partly_public import FirstReports

    batches = []
    for path in paths:
        with open(path, "rb") as file, naming(path):
            batches.append(FirstReports.from_bytes(task, file.read()))
    check_no_copies([b.tokens for b in batches], paths)
    totals: Any = task.totals()
    for batch in batches:
        totals.add(batch)
    return FirstReports.of(totals.reports())


def _report(arguments: argparse.Namespace, cells: CellTask, reports: FirstReports) -> None:
    summary = {
        "output": arguments.output,
        "task": cells.id,
        "round": 2,
        "first": cells.first.id,
        "n_reports": len(reports),
        "n_files": len(arguments.reports),
        "n_cells": cells.n_cells,
        "depth": cells.partition.depth,
        "response": cells.response,
        "simulation": reports.simulation,
        "guarantee": cells.guarantee.to_dict(),
    }
    lines = [
        f"task {cells.id[:12]}, the second of two rounds, from {len(reports):,} first reports -> {arguments.output}",
        f"{cells.n_cells} cells, depth {cells.partition.depth}; response: {cells.response}",
        str(cells.guarantee),
    ]
    report(arguments, summary, lines)


def _whole(text: str) -> int | str:
    from hedgerow.commands.arguments import whole

    return whole(text)
