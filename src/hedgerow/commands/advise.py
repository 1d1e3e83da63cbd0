"""``hedgerow advise``: what private reports can be expected to add, from public records alone."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.arguments import add_columns, add_schema, add_target, bounds, names, whole
from hedgerow.commands.files import add_command, check_picture, output, report
from hedgerow.commands.progress import Progress
from hedgerow.commands.schema import take_schema
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Predict, from PUBLIC records alone, the error that each trust model would have
with so many holders, beside the public model's own, and the number of holders
from which it pays (at least 1 % better than the public model):

  local         features and label are private, one report a holder
  semi-feature  the label and --private-columns are private
  label         only the label is private

Then, for each of them, what four times the people, twice the epsilon and four
times the public records would bring. With a public file every method starts from
a public model; so does 'hedgerow compare' on your own records.

Nothing private is read and nothing is spent. Forecasts were within 15 % of
simulation where docs/results/advise.md says so; far beyond the number of public
records they are optimistic.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "advise", "what private reports would add, from public records", _DESCRIPTION)
    parser.add_argument("--public", required=True, metavar="FILE", help="public records with labels, CSV or Parquet")
    add_target(parser, "the label, a number")
    parser.add_argument("--n-holders", required=True, type=whole, metavar="N", help="how many would answer")
    parser.add_argument("--epsilon", type=float, default=1.0, metavar="E", help="budget of one holder (default: 1)")
    parser.add_argument("--private-columns", type=names, metavar="COL,COL", help="private in the semi-feature model")
    parser.add_argument("--label-bounds", type=bounds, metavar="LOW:HIGH", help="public range of the label")
    add_schema(parser)
    add_columns(parser, "--features", "--categorical", "--feature-bounds")
    parser.add_argument("--seed", type=int, default=0, help="of folds and trees (default: 0)")
    parser.add_argument(
        "--plot", dest="output", metavar="FILE", help="error against people and epsilon: .png, .svg, .pdf"
    )
    parser.set_defaults(run=run, classes=None, categories=[])


def run(arguments: argparse.Namespace) -> int:
    """Read the public records, forecast, print."""
    from hedgerow.local.advise import advise

    kind = _plot_kind(arguments)
    X, y, known = _public(arguments)
    with Progress("advising", "fits of public records") as progress:
        advice = advise(
            X, y, n_holders=arguments.n_holders, epsilon=arguments.epsilon, private_columns=arguments.private_columns,
            label_bounds=arguments.label_bounds, random_state=arguments.seed, progress=progress.step, **known,
        )  # fmt: skip
    if kind:
        from hedgerow.local.advise.plot import plot_advice

        figure = plot_advice(advice)
        with output(arguments.output, "--plot") as file:
            figure.savefig(file, format=kind)
    lines = [f"{len(y):,} public records, {advice.n_holders:,} holders, epsilon = {advice.epsilon:g}", ""]
    report(arguments, {**advice.to_dict(), "plot": arguments.output}, [*lines, *advice.table(), "", *advice.more()])
    return 0


def _public(arguments: argparse.Namespace) -> tuple[Any, Any, dict[str, Any]]:
    """Return public records, labels, and what is known of the columns."""
    from hedgerow.commands.public_facts import chosen_space, read_described, read_public

    schema = take_schema(arguments)
    if schema is None:
        X, y, bounds = read_public(arguments)
        text = [name for name in X.columns if X[name].dtype == object]
        return X, y, {"feature_bounds": bounds, "categorical_features": text or None}
    if arguments.classes is not None:
        raise HedgerowError(
            f"{arguments.schema}: the label of this schema has classes, and advice is about a number: there is none "
            "about classes yet."
        )
    space = chosen_space(arguments, schema)
    X, y = read_described(arguments, space)
    return X, y, {"feature_bounds": space}


def _plot_kind(arguments: argparse.Namespace) -> str:
    if arguments.output is None:
        return ""
    return check_picture(arguments.output, [name for name in (arguments.public, arguments.schema) if name])
