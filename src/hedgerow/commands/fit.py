"""``hedgerow fit``: learn from private records that this machine holds (the central model)."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, add_output, check_output, output, report, write_text
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Learn a private functional ANOVA model (curves and pair surfaces) from PRIVATE
records in one place, and write it as JSON: the model may be published, the
records may not. Ranges, category lists and classes are public knowledge and are
given here; they are never read from the records.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "fit", "learn a model from private records in one place", _DESCRIPTION)
    parser.add_argument("kind", choices=("anova",), help="what to learn")
    parser.add_argument("private", help="private records with their labels, CSV or Parquet")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the label")
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy budget")
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="0: pure epsilon (default: 1e-5)")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--label-bounds", type=_bounds, metavar="LOW:HIGH", help="public range of a numeric label")
    kind.add_argument("--classes", type=_names, metavar="A,B", help="public list of classes")
    parser.add_argument(
        "--feature-bounds",
        action="append",
        type=_column_bounds,
        default=[],
        metavar="COL=LOW:HIGH",
        help="public range of a numeric column; one for each",
    )
    parser.add_argument(
        "--categories",
        action="append",
        type=_column_names,
        default=[],
        metavar="COL=A,B",
        help="public categories of a column; one for each",
    )
    parser.add_argument("--neighbours", choices=("add/remove", "replace"), default="add/remove")
    parser.add_argument("--additive", action="store_true", help="curves only: the model is exactly their sum")
    parser.add_argument("--missing", action="store_true", help="empty cells are allowed, and have a say of their own")
    parser.add_argument("--seed", type=int, help="reproducible noise: a simulation (default: secure randomness)")
    parser.add_argument("--predict", metavar="FILE", help="also predict these records")
    parser.add_argument("--predictions", metavar="FILE", help="where to, CSV; the last column is the prediction")
    add_output(parser, "the model, JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read, fit, write, and predict if asked to."""
    if (arguments.predict is None) != (arguments.predictions is None):
        raise HedgerowError("--predict and --predictions go together.")
    inputs = [arguments.private] + ([arguments.predict] if arguments.predict else [])
    check_output(arguments, inputs)
    bounds, categories = dict(arguments.feature_bounds), dict(arguments.categories)
    names = [*bounds, *categories]
    if not names or len(set(names)) != len(names):
        raise HedgerowError("give each column once, with --feature-bounds COL=LOW:HIGH or --categories COL=A,B.")
    columns = _read(arguments.private, [*names, arguments.target])
    model = _estimator(arguments, names, bounds, categories)
    model.fit(_records(columns, names, categories), _labels(columns[arguments.target], arguments))
    write_text(arguments.output, model.model_.to_json() + "\n")
    predicted = _predict(arguments, model, names, categories) if arguments.predict else None
    summary = {
        "output": arguments.output,
        "features": names,
        "importances": dict(zip(names, model.feature_importances_.tolist(), strict=True)),
        "n_predictions": predicted,
        "guarantee": model.guarantee_.to_dict(),
        "statement": str(model.guarantee_),
    }
    report(arguments, summary, [f"model -> {arguments.output}", str(model.explain()), str(model.guarantee_)])
    return 0


def _estimator(arguments: argparse.Namespace, names: list[str], bounds: Any, categories: Any) -> Any:
    from hedgerow.central.anova import PrivateAnovaClassifier, PrivateAnovaRegressor

    ranges = [bounds.get(name, (0.0, 1.0)) for name in names]
    options: dict[str, Any] = {
        "delta": arguments.delta,
        "feature_bounds": [[low for low, _ in ranges], [high for _, high in ranges]],
        "categories": categories or None,
        "interactions": not arguments.additive,
        "neighbours": arguments.neighbours,
        "missing": "indicator" if arguments.missing else "error",
        "random_state": arguments.seed,
    }
    if arguments.classes is not None:
        return PrivateAnovaClassifier(arguments.epsilon, classes=arguments.classes, **options)
    return PrivateAnovaRegressor(arguments.epsilon, label_bounds=arguments.label_bounds, **options)


def _read(path: str, names: list[str]) -> dict[str, list[str]]:
    """Return columns as text, empty where a cell is."""
    from hedgerow.commands.tables import Table, _cells

    table = Table(path)
    table.require(names, "that were named")
    out: dict[str, list[str]] = {name: [] for name in names}
    for block in table.blocks():
        for name in names:
            out[name] += ["" if v is None or v != v else str(v) for v in _cells(block.columns[name])]
    return out


def _records(columns: dict[str, list[str]], names: list[str], categories: Any) -> Any:
    """Return a frame of floats (NaN where a cell is empty) and categories (None)."""
    import numpy as np

    from hedgerow.commands.tables import Frame

    data: dict[str, Any] = {}
    for name in names:
        if name in categories:
            data[name] = np.array([v or None for v in columns[name]], dtype=object)
            continue
        try:
            data[name] = np.array([float(v or "nan") for v in columns[name]])
        except ValueError as error:
            raise HedgerowError(f"column {name!r} is not numeric ({error}); list its --categories.") from None
    return Frame(data, len(columns[names[0]]))


def _labels(cells: list[str], arguments: argparse.Namespace) -> Any:
    import numpy as np

    if arguments.classes is not None:
        return np.array(cells)
    try:
        return np.array(cells, dtype=np.float64)
    except ValueError as error:
        raise HedgerowError(f"the label {arguments.target!r} is not a number everywhere ({error}).") from None


def _predict(arguments: argparse.Namespace, model: Any, names: list[str], categories: Any) -> int:
    from hedgerow.commands.predictions import CsvPredictions
    from hedgerow.commands.tables import Table

    columns = _read(arguments.predict, names)
    guess = model.predict(_records(columns, names, categories))
    table, done = Table(arguments.predict), 0
    with output(arguments.predictions, option="--predictions") as file:
        writer = CsvPredictions(file, table.names, ["prediction"])
        for block in table.blocks():
            writer.add(block, {"prediction": guess[done : done + len(block)]})
            done += len(block)
        writer.finish()
    return done


def _bounds(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected LOW:HIGH such as 0:80. Got {text!r} instead.") from None


def _names(text: str) -> list[str]:
    names = [part.strip() for part in text.split(",")]
    if not all(names) or len(set(names)) != len(names):
        raise argparse.ArgumentTypeError(f"expected distinct names such as a,b. Got {text!r} instead.")
    return names


def _column_bounds(text: str) -> tuple[str, tuple[float, float]]:
    name, _, rest = text.rpartition("=")
    return name, _bounds(rest)


def _column_names(text: str) -> tuple[str, list[str]]:
    name, _, rest = text.partition("=")
    return name, _names(rest)
