"""``hedgerow compare``: what each trust model costs, on one's own records."""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import add_columns, add_schema, add_target, bounds, names
from hedgerow.commands.files import add_command, check_output, report, write_text
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.compare.comparison import Problem

_DESCRIPTION = """\
Learn from your own records under every trust model, on the same splits, and see
what privacy costs in error: a table on standard output, or a report with -o
(.html, .md or .csv by its name).

The scores are computed on the private records without protection: they are for
those who may see the records, and must not be published. Bounds and categories
are public knowledge: they are given here or taken from --public, and are never
read from the private file unless you say --bounds-from-data, which the report
then states.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "compare", "what each trust model costs on your records", _DESCRIPTION)
    parser.add_argument("--data", required=True, metavar="FILE", help="private records with labels, CSV or Parquet")
    add_target(parser)
    parser.add_argument("--epsilon", type=_epsilons, default=(1.0, 2.0, 4.0), metavar="E,E,...",
                        help="budgets (default: 1,2,4)")  # fmt: skip
    parser.add_argument("--public", metavar="FILE", help="public records of the same kind")
    parser.add_argument("--private-columns", type=names, default=[], metavar="A,B",
                        help="features that are private in the semi-feature model")  # fmt: skip
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--label-bounds", type=bounds, metavar="LOW:HIGH", help="public range of a numeric label")
    kind.add_argument("--classes", type=names, metavar="A,B", help="public list of classes")
    add_schema(parser)
    add_columns(parser, "--feature-bounds", "--categories")
    parser.add_argument("--bounds-from-data", action="store_true",
                        help="read what is missing of these from the private file; the report says so")  # fmt: skip
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="splits (default: 5)")
    parser.add_argument("--methods", type=names, metavar="A,B", help="only these; --json names them all")
    parser.add_argument("--seed", type=int, default=0, help="of splits and noise (default: 0)")
    parser.add_argument("-o", "--output", metavar="FILE", help="report: .html, .md or .csv")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, compare, write."""
    if arguments.repeats < 1:
        raise HedgerowError(f"--repeats must be at least 1. Got {arguments.repeats} instead.")
    _check_output(arguments)
    try:
        from hedgerow.commands.compare_data import read_problem
        from hedgerow.compare.comparison import compare
        from hedgerow.compare.report import facts, rows_csv, to_html, to_text, warnings_of

        problem: Problem = read_problem(arguments)
    except ImportError as error:
        raise HedgerowError(f"this command needs more packages ({error}): pip install 'hedgerow[compare]'.") from None
    with Progress("comparing", "fits") as progress:
        result = compare(
            problem, arguments.epsilon, arguments.repeats, methods=arguments.methods, seed=arguments.seed,
            progress=progress.step,
        )  # fmt: skip
    if arguments.output:
        ending = arguments.output.rsplit(".", 1)[-1].lower()
        write_text(arguments.output, {"html": to_html, "md": to_text, "csv": rows_csv}[ending](result))
    summary = {
        "output": arguments.output,
        "declared": dict(facts(result)),
        "warnings": warnings_of(result),
        "left_out": result.left_out,
        "scores": [
            {"trust": r.setting, "method": r.method, "epsilon": r.epsilon, "repeat": r.repeat, r.metric: r.value}
            for r in result.rows
        ],
    }
    report(arguments, summary, to_text(result, markdown=False).splitlines())
    return 0


def _check_output(arguments: argparse.Namespace) -> None:
    if arguments.output is None:
        return
    if not arguments.output.lower().endswith((".html", ".md", ".csv")):
        raise HedgerowError(f"-o must end in .html, .md or .csv. Got {arguments.output!r} instead.")
    check_output(arguments, [f for f in (arguments.data, arguments.public, arguments.schema) if f])


def _epsilons(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if not values or not all(math.isfinite(v) and v > 0 for v in values) or len(set(values)) != len(values):
        raise argparse.ArgumentTypeError(f"expected positive numbers such as 1,2,4. Got {text!r} instead.")
    return tuple(sorted(values))
