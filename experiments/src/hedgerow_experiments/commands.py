"""``hedgerow bench``: rerun the papers' tables and figures, and ours."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow_experiments.commands_pages import register_pages

__all__ = ["register"]

_EPILOG = """\
For instance:

  hedgerow bench which --trust central --epsilon 1
  hedgerow bench run lpdt-table2 --repeats 5 --datasets ABA CCP --jobs 2
  hedgerow bench show lpdt-table2 --format md

Data sets are read from the folder that HEDGEROW_DATA names. Results are kept
as they come: a run that was stopped goes on where it was, and nothing is
computed twice. Each result knows the code that it was computed by; those of
other code are counted by 'show' and 'status', and computed anew by
'run NAME --fresh'.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bench",
        help="what to use when; the papers' tables and ours, rerun",
        description="Say what to use when, from what was measured; rerun an experiment on real data, and show or "
        "write its tables.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="list the experiments")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=_list)
    showing = verbs.add_parser("show", help="show an experiment, how much of it was run, and its tables")
    showing.add_argument("name", metavar="NAME", help="a name from 'hedgerow bench list'")
    showing.add_argument("--format", choices=("text", "md", "csv", "latex"), default="text", help="of the tables")
    showing.add_argument("--no-tables", action="store_true", help="the declaration and how much was run only")
    showing.add_argument("--json", action="store_true", help="print the declaration as JSON, nothing else")
    _folder(showing)
    showing.set_defaults(run=_show)
    _register_run(verbs)
    register_pages(verbs)


def _register_run(verbs: Any) -> None:
    running = verbs.add_parser("run", help="compute what is missing of an experiment", allow_abbrev=False)
    running.add_argument("name", metavar="NAME", help="a name from 'hedgerow bench list'")
    running.add_argument("--repeats", type=_count, metavar="N", help="splits of each data set; 0 only writes files")
    running.add_argument("--first", type=_count, metavar="N", help="number of the first split")
    for option, what in (("datasets", "CODE"), ("methods", "NAME"), ("settings", "NAME"), ("epsilons", "NUMBER")):
        running.add_argument(f"--{option}", nargs="+", metavar=what, help="only these; apart by spaces or commas")
    running.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes (default: 1)")
    running.add_argument("--scheduler", metavar="ADDRESS", help="tcp://... of a Dask cluster, in place of --jobs")
    running.add_argument("--minutes", type=float, metavar="M", help="begin nothing new after so long")
    running.add_argument("--fresh", action="store_true", help="compute cells that are of other code anew")
    running.add_argument("--no-write", dest="write", action="store_false", help="compute only: no files of rows")
    writing = running.add_mutually_exclusive_group()
    writing.add_argument("--replace", action="store_true", help="write files even if they then hold fewer results")
    writing.add_argument("--add", action="store_true", help="add to files: cells that they hold are not computed again")
    running.add_argument("--quiet", action="store_true", help="no progress on stderr")
    _folder(running)
    running.set_defaults(run=_run)


def _folder(parser: Any) -> None:
    parser.add_argument(
        "--out", type=Path, default=Path("experiments/results"), metavar="FOLDER",
        help="folder of the results (default: experiments/results); the path of a page in it will do",
    )  # fmt: skip


def _count(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"must not be negative, got {text}")
    return value


def _out(path: Path) -> Path:
    return path.parent if path.suffix == ".md" else path


def _list(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.registry import all_experiments

    found = all_experiments()
    if arguments.json:
        print(json.dumps([{"name": e.name, "summary": e.title, "paper": e.paper} for e in found.values()]))
        return 0
    width = max(map(len, found))
    for name, experiment in found.items():
        print(f"{name:<{width}}  {experiment.title}")
    return 0


def _show(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.registry import find_experiment

    experiment = find_experiment(arguments.name)
    folder = _out(arguments.out)
    if arguments.json:
        print(json.dumps(experiment.to_dict(), indent=1).replace("Infinity", '"inf"'))
        return 0
    from hedgerow_experiments.ages import ages
    from hedgerow_experiments.experiment import Key
    from hedgerow_experiments.export import committed, load_rows, open_results
    from hedgerow_experiments.printed import read_printed
    from hedgerow_experiments.show import completeness, declaration, named_tables, render

    if arguments.format == "text":
        print(declaration(experiment))
        results = open_results(experiment, folder)
        if len(results) or not committed(experiment.name, folder).exists():
            print(completeness(experiment, {Key.read(key) for key, _ in results}))
        else:
            print(f"results    from {committed(experiment.name, folder)}")
        rows = load_rows(experiment, folder)
        if rows:
            print(f"code       {ages(experiment, rows)}")
        print()
    if not arguments.no_tables:
        tables = named_tables(experiment, load_rows(experiment, folder), read_printed(folder))
        print(render(tables, arguments.format), end="")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    from hedgerow_experiments.experiment import Selection
    from hedgerow_experiments.registry import find_experiment

    experiment = find_experiment(arguments.name)
    folder = _out(arguments.out)
    wanted = Selection(
        arguments.repeats, arguments.first, _words(arguments.datasets), _numbers(arguments.epsilons),
        _words(arguments.methods), _words(arguments.settings),
    )  # fmt: skip
    if arguments.jobs < 1:
        raise HedgerowError(f"--jobs must be at least 1. Got {arguments.jobs} instead.")
    from hedgerow_experiments.ages import warning
    from hedgerow_experiments.export import export, held_cells
    from hedgerow_experiments.runner import run

    fresh = arguments.fresh
    said = "" if fresh else warning(experiment, folder, wanted, adding=arguments.add)
    if said:
        print(said, file=sys.stderr)
    command = shlex.join(["hedgerow", *sys.argv[1:]])
    with _mapper(arguments.scheduler) as mapper:
        run(
            experiment, wanted, folder=folder, jobs=arguments.jobs, minutes=arguments.minutes, command=command,
            quiet=arguments.quiet, mapper=mapper, fresh=fresh,
            held=held_cells(experiment, folder, fresh=fresh) if arguments.add else (),
        )  # fmt: skip
    if arguments.write:
        for path in export(experiment, folder, replacing=arguments.replace, adding=arguments.add):
            print(path)
    return 0


@contextmanager
def _mapper(scheduler: str | None) -> Iterator[Any]:
    """Yield what spreads the work over a cluster; None for processes here."""
    if scheduler is None:
        yield None
        return
    from hedgerow.collect.dask import connect, mapper

    with connect(scheduler) as client:
        yield mapper(client)


def _words(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(w for value in values for w in value.split(",") if w)


def _numbers(values: list[str] | None) -> tuple[float, ...] | None:
    words = _words(values)
    try:
        return None if words is None else tuple(float(w) for w in words)
    except ValueError:
        raise HedgerowError(f"--epsilons must be numbers. Got {' '.join(words or ())!r} instead.") from None
