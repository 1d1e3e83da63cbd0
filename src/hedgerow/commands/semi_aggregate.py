"""``hedgerow aggregate`` of two rounds: the second reports, checked against the first if these are given."""

from __future__ import annotations

import argparse

from hedgerow.commands.batches import check_no_copies
from hedgerow.commands.files import Progress, check_output, counted, naming, report, write_text
from hedgerow.commands.grow import read_first
from hedgerow.errors import HedgerowError
from hedgerow.tasks.partly_public import CellReports, CellTask, SemiModel, SemiTask
from hedgerow.tasks.totals import Totals


def run_semi(arguments: argparse.Namespace, task: SemiTask | CellTask) -> int:
    """Read every file, add, write the model."""
    if isinstance(task, SemiTask):
        raise HedgerowError(
            f"{arguments.task} is the first of two rounds, which makes no model; "
            "make the second with 'hedgerow grow' and aggregate the reports to that."
        )
    if arguments.fallback is not None:
        raise HedgerowError("--fallback is for tasks with public labels, and two rounds have none; leave it out.")
    check_output(arguments, [arguments.task, *arguments.reports])
    total = _add(task, arguments.reports, arguments.first)
    if not total.n_reports:
        raise HedgerowError("there are no reports in these files, and so no model; give at least one report.")
    model = total.model(shrink=1.0 if arguments.shrink is None else arguments.shrink)
    write_text(arguments.output, model.to_json() + "\n")
    _report(arguments, model)
    return 0


def _add(task: CellTask, paths: list[str], firsts: list[str] | None) -> Totals:
    first = None if firsts is None else read_first(task.first, firsts)
    total, tokens = task.totals(), []
    with Progress("adding") as progress:
        for i, path in enumerate(paths):
            with open(path, "rb") as file, naming(path):
                reports = CellReports.from_bytes(task, file.read())
                if first is not None:
                    reports.check_labels(first)
            total.add(reports)
            tokens.append(reports.tokens)
            progress.update(total.n_reports, (i + 1) / len(paths))
    check_no_copies(tokens, paths)
    return total


def _report(arguments: argparse.Namespace, model: SemiModel) -> None:
    checked = arguments.first is not None
    summary = {
        "output": arguments.output,
        "task": model.task.id,
        "n_reports": model.n_reports,
        "n_files": len(arguments.reports),
        "n_cells": model.task.n_cells,
        "labels_checked": checked,
        "shrink": model.shrink,
        "simulation": model.simulation,
        "guarantee": model.guarantee.to_dict(),
    }
    note = "; labels agree with the first round wherever they can be compared" if checked else ""
    lines = [
        f"{counted(model.n_reports, 'report')}, {model.task.n_cells} cells{note} -> {arguments.output}",
        str(model.guarantee),
    ]
    report(arguments, summary, lines)
