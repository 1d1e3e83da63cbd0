"""``hedgerow fit``: learn from private records that this machine holds (the central model)."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import add_columns, add_schema, add_target, bounds, names
from hedgerow.commands.booking import add_ledger, booked, left_lines, open_ledger
from hedgerow.commands.files import STDIO, add_command, add_output, check_output, report, warn, write_text
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

Files may be larger than memory: they are read twice, and a byte a column and a few
more a record wait on disk between the rounds, in nameless files under $TMPDIR that
vanish with the command. With --spool they have names, for their owner's eyes alone,
and a command that was killed goes on from them when it is given again. They are
private, and gone when the model is there.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "fit", "learn a model from private records in one place", _DESCRIPTION)
    parser.add_argument("kind", choices=("anova",), help="what to learn")
    parser.add_argument("--delta", type=float, default=1e-5, metavar="D", help="0: pure epsilon (default: 1e-5)")
    add_private_records(parser, many=True)
    parser.add_argument(
        "--spool", metavar="DIR", help="where to keep private work on disk; if killed, the same command goes on from it"
    )
    parser.add_argument("--engine", choices=("files", "dask"), default="files", help="where to fit (default: files)")
    parser.add_argument(
        "--scheduler", metavar="ADDRESS", help="dask: tcp://... of a running cluster (default: own one)"
    )
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


def add_private_records(parser: argparse.ArgumentParser, *, many: bool = False) -> None:
    """Add private records in one place, and all that is public of them and of what is promised."""
    if many:
        words = (
            "private records with their labels: CSV (.gz, too) and Parquet files, or patterns such as 'big/*.parquet'"
        )
        parser.add_argument("private", nargs="+", help=words)
    else:
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
    named = (*arguments.private, arguments.public, arguments.predict, arguments.schema, arguments.ledger)
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
    with Progress("reading") as progress:
        given = _given(arguments, names, text, progress)
        estimator = _estimator(arguments, {**known, "ledger": ledger}, Rounds(progress))
        with _cluster(arguments) as client:
            model = _fit(estimator, given, public, client)
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


def _given(arguments: argparse.Namespace, names: list[str], text: set[str], progress: Progress) -> tuple[Any, Any]:
    """Return the private records and their labels: files by name, standard input as it was read."""
    from hedgerow.sources.files import FileSource

    if arguments.private == [STDIO]:
        if arguments.spool is not None or arguments.engine != "files":
            raise HedgerowError("--spool and --engine are for files; standard input is read into memory.")
        return read_records(arguments, STDIO, names, text)
    return FileSource(arguments.private, arguments.target, names, progress=Reads(progress).update), arguments.target


@contextmanager
def _cluster(arguments: argparse.Namespace) -> Iterator[Any]:
    """Yield the client of a cluster, or None."""
    if arguments.engine == "files":
        if arguments.scheduler is not None:
            raise HedgerowError("--scheduler is for --engine dask; leave it out, or add that.")
        yield None
        return
    from hedgerow.collect.dask import connect

    with connect(arguments.scheduler) as client:
        yield client


def _fit(estimator: Any, given: tuple[Any, Any], public: dict[str, Any], client: Any) -> Any:
    if client is None:
        return estimator.fit(*given, **public)
    from hedgerow.collect import dask

    return dask.fit(estimator, *given, client=client, **public)


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


class Reads:
    """Shows which of the two reads of the files goes on, and how long it will take."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._done = 0

    def update(self, done: int, share: float | None) -> None:
        """Take down how many rows were read; fewer than before: the next read has begun."""
        if done <= self._done:
            self._progress.begin("reading again")
        self._done = done
        self._progress.update(done, share)


class Rounds:
    """Shows the rounds of a descent, stage by stage, and never ends it."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._stage = 0
        self._rounds = 1

    def begin(self, rounds: int) -> None:
        """Take down how many rounds the next stage has."""
        self._stage += 1
        self._rounds = rounds
        self._progress.begin(f"fitting, stage {self._stage}")

    def __call__(self, t: int) -> bool:
        """Take down which round is done."""
        self._progress.update(0, (t + 1) / self._rounds, f"round {t + 1} of {self._rounds}")
        return False


def _estimator(arguments: argparse.Namespace, known: dict[str, Any], callback: Any) -> Any:
    from hedgerow.central.anova import PrivateAnovaClassifier, PrivateAnovaRegressor

    options: dict[str, Any] = {
        "delta": arguments.delta,
        "interactions": not arguments.additive,
        "neighbours": arguments.neighbours,
        "missing": "indicator" if arguments.missing else "middle",
        "callback": callback,
        "random_state": arguments.seed,
        "spool": arguments.spool,
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
