"""``hedgerow predict``: predictions for new records."""

from __future__ import annotations

import argparse
from collections import Counter
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, add_output, check_output, counted, read_any_model, report, warn
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.frames import Frame
    from hedgerow.tables import Block
    from hedgerow.tasks.models import Model

_DESCRIPTION = """\
Predict the label of new records. All columns of the input are kept; the last
column of the output is the prediction. With --interval two columns before it
hold its interval: for the mean label of the record's leaf, or the public model as
reports correct it (not for the record's own label). The prediction lies within.
Of a model with classes, --probabilities adds one column a class before it.

A number beyond its range counts as the end, a missing or unknown value as the
model says, as it did in the records that the model was learnt from; how many
there are is told.
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
    from hedgerow.commands.predictions import Predictions
    from hedgerow.tables import Table

    check_output(arguments, [arguments.model, arguments.new])
    model = read_any_model(arguments.model)
    table = Table(arguments.new)
    table.require(model.space.inputs, "that the model asks for")
    new = _new_names(arguments, model)
    if taken := [name for name in new if name in table.names]:
        raise HedgerowError(f"{arguments.new} already has a column {taken[0]!r}; choose another with --name.")

    odd: Counter[str] = Counter()

    def predict(block: Block) -> list[Any]:
        frame = block.frame(model.space)
        odd.update(_missing_or_unknown(model, frame))
        return predicted(model, frame, interval=arguments.interval, probabilities=arguments.probabilities)

    writing = Predictions(arguments.output, table, model.space, new, predict)
    n = writing.run(arguments, {"interval": arguments.interval})
    summary = {
        "output": arguments.output,
        "task": None if model.task is None else model.task.id,
        "n_rows": n,
        "columns": [*table.names, *new],
        "interval": arguments.interval,
        "simulation": model.simulation,
    }
    report(arguments, summary, [f"{counted(n, 'prediction')} -> {arguments.output}"])
    for name, count in odd.items():
        values = counted(count, "value")
        warn(arguments, f"column {name!r}: {values} missing or unknown; each counts as the model says")
    return 0


def _new_names(arguments: argparse.Namespace, model: Model) -> list[str]:
    """Return the names of the new columns, the prediction last; refuse what this model does not have."""
    name = arguments.name
    names = [name] if model.n_outputs == 1 else [f"{name}_{i}" for i in range(model.n_outputs)]
    if arguments.interval is not None and model.classes is not None:
        raise HedgerowError("--interval is for numeric labels, and this model has classes; use --probabilities.")
    if arguments.interval is not None and not model.has_intervals:
        raise HedgerowError("--interval is for models with intervals, and this one has none.")
    if arguments.probabilities and model.classes is None:
        raise HedgerowError("--probabilities is for classes, and this model has a numeric label; use --interval.")
    if arguments.probabilities:
        return [*(f"{name}_{c}" for c in model.classes or ()), name]
    if arguments.interval is not None:
        return [*(f"{one}_{end}" for end in ("low", "high") for one in names), *names]
    return names


def _missing_or_unknown(model: Model, frame: Frame) -> dict[str, int]:
    """Return by column how many values are missing or unknown; columns without any are left out."""
    from hedgerow.features import NumericFeature
    from hedgerow.values import category

    found = {}
    for feature in model.space.columns:
        values = frame[feature.name]
        if isinstance(feature, NumericFeature):
            count = int((values != values).sum())
        else:
            known = set(feature.categories)
            count = sum(category(value) not in known for value in values.tolist())
        if count:
            found[feature.name] = count
    return found


def predicted(model: Model, frame: Frame, *, interval: float | None = None, probabilities: bool = False) -> list[Any]:
    """Return the new columns of a block of records."""
    prediction = model.predict(frame)
    columns = _columns(prediction)
    if probabilities:
        return [*model.predict_proba(frame).T, *columns]
    if interval is not None:
        low, high = model.predict_interval(frame, interval)
        return [*_columns(low), *_columns(high), *columns]
    return columns


def _columns(values: Any) -> list[Any]:
    return list(values.T) if values.ndim == 2 else [values]


def _level(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < 1:
        raise argparse.ArgumentTypeError(f"expected a level between 0 and 1 such as 0.9. Got {text!r} instead.")
    return value
