"""``hedgerow fit``: learn from private records that this machine holds (the central model)."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import add_columns, add_schema, add_target, bounds, names
from hedgerow.commands.booking import add_ledger, booked, left_lines, open_ledger
from hedgerow.commands.files import add_command, add_output, check_output, report, warn, write_text
from hedgerow.commands.progress import Progress
from hedgerow.commands.schema import need_label, take_schema
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.frames import Frame
    from hedgerow.tables import Table

_DESCRIPTION = """\
Learn a private functional ANOVA model (curves and pair surfaces) from PRIVATE
records in one place, and write it as JSON: the model may be published, the
records may not. Ranges, category lists and classes are public knowledge and are
given here; they are never read from the records, unless --classes observed says
that it is no secret which classes occur.

Every record counts: numbers beyond a range as its end, empty cells and text in a
number as the middle (or as something of their own, with --missing), categories
that are not listed as 'other' or the first, classes that are not listed as the
first. Nothing about a cell is ever printed.

With --public a model of public records comes first, what it leaves over is learnt
from the private ones, and a tenth of the budget says how much of that counts: the
model is then hardly ever worse than the public one. Public records are not protected.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "fit", "learn a model from private records in one place", _DESCRIPTION)
    parser.add_argument("kind", choices=("anova",), help="what to learn")
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="0: pure epsilon (default: 1e-5)")
    add_private_records(parser)
    parser.add_argument("--additive", action="store_true", help="curves only: the model is exactly their sum")
    parser.add_argument("--missing", action="store_true", help="missing values have a say of their own")
    parser.add_argument(
        "--public",
        metavar="FILE",
        help="public records with their labels, CSV or Parquet: a model of them is corrected by the private ones",
    )
    parser.add_argument("--predict", metavar="FILE", help="also predict these records")
    parser.add_argument("--predictions", metavar="FILE", help="where to, CSV or Parquet; the prediction is last")
    add_output(parser, "the model, JSON")
    parser.set_defaults(run=run)


def add_private_records(parser: argparse.ArgumentParser) -> None:
    """Add private records in one place, and all that is public of them and of what is promised."""
    parser.add_argument("private", help="private records with their labels, CSV or Parquet")
    add_target(parser)
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy budget")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--label-bounds", type=bounds, metavar="LOW:HIGH", help="public range of a numeric label")
    kind.add_argument(
        "--classes", type=names, metavar="A,B", help="public list of classes; 'observed': read it off the labels"
    )
    add_schema(parser)
    add_columns(parser, "--feature-bounds", "--categories")
    parser.add_argument(
        "--neighbours",
        choices=("add/remove", "replace"),
        default="add/remove",
        help="what a person may change: be there or not, or have another record (default: add/remove)",
    )
    parser.add_argument("--seed", type=int, help="reproducible noise: a simulation (default: secure randomness)")
    add_ledger(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, write, and predict if asked to."""
    if (arguments.predict is None) != (arguments.predictions is None):
        raise HedgerowError("--predict and --predictions go together.")
    named = (arguments.private, arguments.public, arguments.predict, arguments.schema, arguments.ledger)
    inputs = [name for name in named if name]
    check_output(arguments, inputs)
    if arguments.predictions:
        check_output(argparse.Namespace(output=arguments.predictions, json=arguments.json), inputs, "--predictions")
    ledger = open_ledger(arguments)
    known, names, text = known_facts(arguments)
    new = _table_to_predict(arguments, names) if arguments.predict else None
    if math.isinf(arguments.epsilon):
        warn(arguments, "epsilon is infinite: nothing is protected")
    public: dict[str, Any] = {}
    if arguments.public is not None:
        X, y = read_records(arguments, arguments.public, names, text)
        public = {"X_public": X, "y_public": y}
    records, labels = read_records(arguments, arguments.private, names, text)
    with Progress("fitting") as progress:
        model = _estimator(arguments, {**known, "ledger": ledger}, _rounds(progress)).fit(records, labels, **public)
    write_text(arguments.output, model.model_.to_json() + "\n")
    predicted = None
    if new is not None:
        predicted = _predict(arguments.predictions, model.model_, new)
    summary = {
        "output": arguments.output,
        "features": names,
        "importances": dict(zip(names, model.feature_importances_.tolist(), strict=True)),
        "n_predictions": predicted,
        "guarantee": model.guarantee_.to_dict(),
        "statement": str(model.guarantee_),
        **booked(ledger),
    }
    lines = [f"model -> {arguments.output}", str(model.explain()), str(model.guarantee_), *left_lines(ledger)]
    report(arguments, summary, lines)
    return 0


def known_facts(arguments: argparse.Namespace) -> tuple[dict[str, Any], list[str], set[str]]:
    """Return what is public, as the estimator takes it; the columns; and which of them hold categories."""
    from hedgerow.features import CategoricalFeature

    schema = take_schema(arguments)
    need_label(arguments)
    if schema is not None:
        space = schema.space
        text = {column.name for column in space.columns if isinstance(column, CategoricalFeature)}
        label = {} if schema.label is not None else _label(arguments)
        return {"schema": schema, **label}, list(space.inputs), text
    bounds = dict(arguments.feature_bounds)
    categories = dict(arguments.categories)
    names = [*bounds, *categories]
    if not names or len(set(names)) != len(names) or arguments.target in names:
        raise HedgerowError(
            "give each column but the target once, with --feature-bounds COL=LOW:HIGH or --categories COL=A,B."
        )
    known: dict[str, Any] = {"feature_bounds": bounds, "categories": categories or None}
    return {**known, **_label(arguments)}, names, set(categories)


def _label(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return what options say of the label."""
    if arguments.classes is None:
        return {"label_bounds": arguments.label_bounds}
    return {"classes": "observed" if arguments.classes == ["observed"] else arguments.classes}


def _predict(path: str, model: Any, table: Table) -> int:
    """Write predictions; return their number."""
    from hedgerow.commands.predict import predicted
    from hedgerow.commands.predictions import Predictions

    return Predictions(
        path, table, model.space, ["prediction"], lambda b: predicted(model, b.frame(model.space))
    ).write("--predictions")


def _rounds(progress: Progress) -> Callable[[int], bool]:
    """Return what shows the rounds of a descent, stage by stage, and never ends it."""
    stage = 0

    def update(t: int) -> bool:
        nonlocal stage
        stage += t == 0
        progress.update(0, None, f"stage {stage}, round {t + 1}")
        return False

    return update


def _estimator(arguments: argparse.Namespace, known: dict[str, Any], callback: Any) -> Any:
    from hedgerow.central.anova import PrivateAnovaClassifier, PrivateAnovaRegressor

    options: dict[str, Any] = {
        "delta": arguments.delta,
        "interactions": not arguments.additive,
        "neighbours": arguments.neighbours,
        "missing": "indicator" if arguments.missing else "middle",
        "callback": callback,
        "random_state": arguments.seed,
    }
    kind = PrivateAnovaRegressor if arguments.classes is None else PrivateAnovaClassifier
    return kind(arguments.epsilon, **known, **options)


def read_records(arguments: argparse.Namespace, path: str, names: list[str], text: set[str]) -> tuple[Frame, Any]:
    """Return all records and labels; whatever is in their cells, it is for the model to say how they count."""
    import numpy as np

    from hedgerow.frames import Frame
    from hedgerow.tables import Table

    table = Table(path)
    table.require([*names, arguments.target], "that were named")
    frames: list[dict[str, Any]] = []
    labels = []
    with Progress("reading") as progress:
        for block in table.blocks():
            frames.append({n: block.private_column(n, numeric=n not in text) for n in names})
            labels.append(block.private_column(arguments.target, numeric=arguments.classes is None))
            progress.update(block.start + len(block), table.share)
    if not frames:
        raise HedgerowError(f"{path} holds no records.")
    y = np.concatenate(labels)
    return Frame({name: np.concatenate([f[name] for f in frames]) for name in names}, len(y)), y


def _table_to_predict(arguments: argparse.Namespace, names: list[str]) -> Table:
    from hedgerow.tables import Table

    table = Table(arguments.predict)
    table.require(names, "that the model asks for")
    if "prediction" in table.names:
        raise HedgerowError(f"{arguments.predict} already has a column 'prediction'; use 'hedgerow predict --name'.")
    return table
