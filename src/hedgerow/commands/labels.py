"""``hedgerow labels randomize``: make the labels of a file private, and leave its features as they are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import add_schema, bounds, names
from hedgerow.commands.booking import add_ledger, booked, left_lines, open_ledger
from hedgerow.commands.files import (
    EXIT_CODES,
    add_command,
    add_output,
    check_output,
    output,
    report,
    warn_if_weak,
    warn_of_seed,
)
from hedgerow.commands.schema import need_label, take_schema
from hedgerow.errors import HedgerowError
from hedgerow.guarantee import as_if_local

if TYPE_CHECKING:
    from hedgerow.tables import Block, Table

_DESCRIPTION = """\
Randomise the label of every record once; any learner may then be trained on the
result. Features are public here: they are copied as they are. Every record stays:
labels outside the public range count as its nearest end, cells that are empty or
no number as the middle of the range, or as --schema says; a class that is not
listed counts as the first. A published task about labels is answered with
'hedgerow privatize'.

Do this once. Labels randomised again have fresh noise and spend epsilon again.
"""
MECHANISMS = ("auto", "rp-with-prior", "rr-on-bins", "unbiased", "laplace", "staircase", "gaussian")


def register(subparsers: Any) -> None:
    """Add the command."""
    labels = subparsers.add_parser(
        "labels",
        help="randomise labels once, train anything on them",
        description="Labels with noise, where the features are public. See 'hedgerow labels randomize --help'.",
        epilog=EXIT_CODES,
        allow_abbrev=False,
    )
    actions = labels.add_subparsers(dest="action", metavar="ACTION", required=True)
    parser = add_command(actions, "randomize", "randomise the labels of a file", _DESCRIPTION)
    parser.add_argument("records", help="records with their labels, CSV or Parquet; - for standard input")
    parser.add_argument(
        "--target", metavar="COL", help="the column of the label (default: the label of --schema, else y)"
    )
    parser.add_argument("--epsilon", type=float, required=True, metavar="E", help="budget for one label; inf: no noise")
    parser.add_argument("--label-bounds", type=bounds, metavar="LOW:HIGH", help="public range of the label")
    parser.add_argument("--classes", type=names, metavar="A,B", help="public list of classes, where the label is one")
    add_schema(parser)
    parser.add_argument("--mechanism", choices=MECHANISMS, help="how, for numbers (default: auto)")
    parser.add_argument("--delta", type=float, metavar="D", help="for gaussian (default: 1e-6)")
    parser.add_argument(
        "--trust",
        choices=("local", "central"),
        help="how the prior is learnt, where the mechanism needs one: from reports of some holders, or from a noisy "
        "histogram by whoever runs this and is trusted with all labels (default: local)",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", help="for simulation only: noise that can be repeated protects nobody"
    )
    add_ledger(parser)
    add_output(parser, "the records with noisy labels, as CSV, the label last")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read all labels, randomise them, write the file."""
    from dataclasses import replace

    from hedgerow.randomness import as_randomness
    from hedgerow.spending import Booking
    from hedgerow.tables import Table

    check_output(arguments, [name for name in (arguments.records, arguments.ledger, arguments.schema) if name])
    stated = _take_label(arguments)
    ledger = open_ledger(arguments)
    table = Table(arguments.records)
    asked = _mechanism(arguments) if arguments.classes is None else _class_task(arguments, stated)
    target = arguments.target
    table.require([target], "named by --target")
    warn_of_seed(arguments)
    blocks = list(table.blocks())
    y = _labels(arguments, blocks, stated)
    source = as_randomness(arguments.seed)
    booking = Booking(ledger, replace(asked.guarantee, simulation=source.simulation), purpose="hedgerow labels")
    booking.book()
    if arguments.classes is None:
        released = asked.release(y, source)
        noisy = released.labels
        name = released.parts[-1].task.mechanism.name
        spent = released.guarantee
    else:
        noisy = asked.randomize(y, source)
        name = asked.mechanism.name
        spent = replace(asked.guarantee, simulation=source.simulation)
    booking.check(spent)
    _write(arguments, table, blocks, target, noisy)
    claim = as_if_local(spent)
    warn_if_weak(arguments, claim.epsilon, claim.delta)
    summary = {"output": arguments.output, "n_rows": len(y), "guarantee": claim.to_dict()}
    summary |= booked(ledger)
    summary["mechanism"] = name
    lines = [f"{len(y):,} labels by {name} -> {arguments.output}", str(claim), *left_lines(ledger)]
    report(arguments, summary, lines)
    return 0


def _labels(arguments: argparse.Namespace, blocks: list[Block], stated: Any) -> Any:
    """Return the labels: classes as cells, numbers with what is missing as the schema says."""
    import numpy as np

    from hedgerow.grid import label_numbers, middle

    target = arguments.target
    if arguments.classes is not None:
        cells = [cell for block in blocks for cell in block.private_column(target, numeric=False).tolist()]
        if cells and not {str(cell) for cell in cells} & set(arguments.classes):  # likewise: a wrong column
            raise HedgerowError(f"{arguments.records}: column {target!r} holds no class of --classes at all.")
        return cells
    y = np.concatenate([block.private_numbers(target) for block in blocks]) if blocks else np.empty(0)
    if y.size and not np.isfinite(y).any():  # the caller's own file and option: a wrong column
        raise HedgerowError(f"{arguments.records}: column {target!r} holds no number at all; --target names the label.")
    low, high = arguments.label_bounds
    return label_numbers(y, (low, high), middle(low, high, stated, "the label"))


def _take_label(arguments: argparse.Namespace) -> Any:
    """Find out what the label is called, and its range or classes; return what a missing one counts as."""
    if arguments.schema is None and arguments.target is None:
        arguments.target = "y"
    schema = take_schema(arguments)
    need_label(arguments)
    if arguments.classes is not None:
        for option in ("label_bounds", "mechanism", "delta", "trust"):
            if getattr(arguments, option) is not None:
                name = f"--{option.replace('_', '-')}"
                raise HedgerowError(f"{name} is for labels that are numbers, and this one has classes: leave it out.")
    return None if schema is None else getattr(schema.label, "missing", None)


def _mechanism(arguments: argparse.Namespace) -> Any:
    """Return what randomises; refuse by name what it does not have."""
    from hedgerow import label

    name = arguments.mechanism or "auto"
    given = {option: getattr(arguments, option) for option in ("delta", "trust")}
    given = {option: value for option, value in given.items() if value is not None}
    learns = {"prior_share": "auto", "trust": "local"}
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "auto": (label.AutoMechanism, learns),
        "rp-with-prior": (label.RPWithPrior, learns),
        "rr-on-bins": (label.RROnBins, learns),
        "unbiased": (label.UnbiasedRandomizer, learns),
        "laplace": (label.LaplaceMechanism, {}),
        "staircase": (label.StaircaseMechanism, {}),
        "gaussian": (label.GaussianMechanism, {"delta": 1e-6}),
    }
    kind, options = kinds[name]
    for option in given:
        if option not in options:
            others = ", ".join(other for other, (_, known) in kinds.items() if option in known)
            raise HedgerowError(f"--{option} is for --mechanism {others}; this is {name}: leave it out.")
    return kind(arguments.epsilon, label_bounds=arguments.label_bounds, **{**options, **given})


def _class_task(arguments: argparse.Namespace, stated: Any) -> Any:
    """Return randomised response among the classes."""
    from hedgerow.label.class_response import class_response

    if len(arguments.classes) < 2:
        raise HedgerowError(f"--classes must name at least 2 classes. Got {', '.join(arguments.classes)} instead.")
    return class_response(arguments.classes, arguments.epsilon, arguments.target, stated)


def _write(arguments: argparse.Namespace, table: Table, blocks: list[Block], target: str, noisy: Any) -> None:
    from hedgerow.commands.predictions import CsvPredictions
    from hedgerow.tables import Block

    features = [name for name in table.names if name != target]
    with output(arguments.output) as file:
        writer = CsvPredictions(file, features, [target])
        start = 0
        for block in blocks:
            stop = start + len(block)
            kept = Block(table, block.start, {name: block.columns[name] for name in features}, block.lines)
            writer.add(kept, {target: noisy[start:stop]})
            start = stop
        writer.finish()
