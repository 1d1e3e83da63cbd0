"""``hedgerow bench``: rerun the papers' tables and figures, and ours."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import Any, NamedTuple

from hedgerow.errors import HedgerowError

__all__ = ["EXPERIMENTS", "Experiment", "register"]


class Experiment(NamedTuple):
    """A module of :mod:`hedgerow.bench` with the arguments that name the experiment, and what it measures."""

    module: str
    arguments: tuple[str, ...]
    summary: str


EXPERIMENTS = {
    "lpdt-table2": Experiment("lpdt", ("table",), "tables 2 and 5 of LPDT, with our reports and the baselines"),
    "lpdt-figures": Experiment("lpdt", ("figures",), "figures 1, 2, 3 and 5 of LPDT"),
    "histoftree": Experiment("histoftree", (), "tables 1 to 3 and figure 2 of HistOfTree"),
    "label": Experiment("label", (), "the tables of RPWithPrior, all label mechanisms"),
    "diprime": Experiment("diprime", (), "tables 1 and 2 of DiPriMe, and DP-EBM if it is installed"),
    "anova": Experiment("anova", (), "PrivateAnova beside DP-EBM, DiPriMe and non-private forests"),
    "frontier": Experiment(
        "frontier", ("--out", "docs/results/frontier.md"), "what private reports add to the best public model"
    ),
}
_EPILOG = """\
Options after NAME go to the experiment, for instance:

  hedgerow bench run lpdt-table2 --repeats 5 --datasets ABA CCP
  hedgerow bench run diprime --help

Data sets are read from the folder that HEDGEROW_DATA names. Results are kept
beside the page as they come: a run that was stopped goes on where it was.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "bench",
        help="rerun the papers' tables and figures, and ours",
        description="Rerun an experiment on real data and write its page.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="list | run", required=True)
    listing = verbs.add_parser("list", help="list the experiments")
    listing.add_argument("--json", action="store_true", help="print JSON")
    listing.set_defaults(run=_list)
    running = verbs.add_parser("run", help="run one experiment", add_help=False)
    running.add_argument("name", metavar="NAME", help="a name from 'hedgerow bench list'")
    running.add_argument("options", nargs=argparse.REMAINDER, help="options of the experiment")
    running.set_defaults(run=_run)


def _list(arguments: argparse.Namespace) -> int:
    if arguments.json:
        print(json.dumps([{"name": name, "summary": e.summary} for name, e in EXPERIMENTS.items()]))
        return 0
    width = max(map(len, EXPERIMENTS))
    for name, experiment in EXPERIMENTS.items():
        print(f"{name:<{width}}  {experiment.summary}")
    return 0


def _run(arguments: argparse.Namespace) -> int:
    if arguments.name not in EXPERIMENTS:
        raise HedgerowError(f"NAME must be one of {', '.join(EXPERIMENTS)}. Got {arguments.name!r} instead.")
    experiment = EXPERIMENTS[arguments.name]
    try:
        module = importlib.import_module(f"hedgerow.bench.{experiment.module}")
    except ImportError as error:
        raise HedgerowError(f"experiments need more packages ({error}): pip install 'hedgerow[bench]'.") from None
    return int(module.main([*experiment.arguments, *arguments.options]))
