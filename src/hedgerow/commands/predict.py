"""``hedgerow predict``: predictions for new records."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, add_output, check_output, counted, read_any_model, report
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.tables import Block, Table
    from hedgerow.tasks.models import Model

_DESCRIPTION = """\
Predict the label of new records. All columns of the input are kept; the last
column of the output is the prediction. With --interval two columns before it
hold an interval: for the mean label of the record's leaf (not for its own label)
from reports alone, which the prediction, leaning on public records too, may leave;
of an assisted model, for the record's own label.
Of a model with classes, --probabilities adds one column a class before it.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "predict", "predict the label of new records", _DESCRIPTION)
    parser.add_argument("model", help="a model made by 'hedgerow aggregate' or 'hedgerow fit'")
    parser.add_argument("new", help="records, CSV or Parquet; - for standard input")
    parser.add_argument("--interval", type=_level, metavar="LEVEL", help="add an interval, at 0.9 say")
    parser.add_argument("--probabilities", action="store_true", help="add the probability of every class")
    parser.add_argument("--name", default="prediction", help="name of the new column (default: prediction)")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep finished blocks beside the output; if killed, the same command goes on",
    )
    add_output(parser, "the predictions; Parquet if its name ends in .parquet, else CSV")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Predict in blocks of rows."""
    from hedgerow.commands.anova_files import new_names, predict_anova, read_anova
    from hedgerow.commands.predictions import Predictions
    from hedgerow.commands.tables import Table

    check_output(arguments, [arguments.model, arguments.new])
    if (central := read_anova(arguments.model)) is not None:
        table = Table(arguments.new)
        table.require(central.space.names, "that the model asks for")
        return predict_anova(arguments, central, table, _untaken(arguments, table, new_names(arguments, central)))
    model = read_any_model(arguments.model)
    table = Table(arguments.new)
    table.require(model.space.names, "that the model asks for")
    new = _untaken(arguments, table, _new_names(arguments, model))
    writing = Predictions(arguments.output, table, model.space, new, lambda block: _predict(arguments, model, block))
    n = writing.run(arguments, {"task": model.task.id, "interval": arguments.interval})
    summary = {
        "output": arguments.output,
        "task": model.task.id,
        "n_rows": n,
        "columns": [*table.names, *new],
        "interval": arguments.interval,
        "simulation": model.simulation,
    }
    report(arguments, summary, [f"{counted(n, 'prediction')} -> {arguments.output}"])
    return 0


def _untaken(arguments: argparse.Namespace, table: Table, new: list[str]) -> list[str]:
    if taken := [name for name in new if name in table.names]:
        raise HedgerowError(f"{arguments.new} already has a column {taken[0]!r}; choose another with --name.")
    return new


def _new_names(arguments: argparse.Namespace, model: Model) -> list[str]:
    """Return the names of the new columns, the prediction last."""
    name = arguments.name
    classes = model.classes
    if classes is not None and arguments.interval is not None:
        raise HedgerowError("--interval is for numeric labels, and this model has classes; use --probabilities.")
    if classes is None and arguments.probabilities:
        raise HedgerowError("--probabilities is for classes, and this model has a numeric label; use --interval.")
    if arguments.probabilities:
        return [*(f"{name}_{c}" for c in classes or ()), name]
    return [name] if arguments.interval is None else [f"{name}_low", f"{name}_high", name]


def _predict(arguments: argparse.Namespace, model: Model, block: Block) -> list[Any]:
    frame = block.frame(model.space)
    prediction = model.predict(frame)
    if arguments.probabilities:
        return [*model.predict_proba(frame).T, prediction]
    if arguments.interval is not None:
        return [*model.predict_interval(frame, arguments.interval), prediction]
    return [prediction]


def _level(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a level between 0 and 1 such as 0.9. Got {text!r} instead.")
    return value
