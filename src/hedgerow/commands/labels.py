"""``hedgerow labels randomize``: make the labels of a file private, and leave its features as they are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import add_schema, bounds
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
from hedgerow.commands.schema import take_schema
from hedgerow.errors import HedgerowError
from hedgerow.guarantee import as_if_local

if TYPE_CHECKING:
    from hedgerow.commands.tables import Block, Table

_DESCRIPTION = """\
Randomise the label of every record once; any learner may then be trained on the
result. Features are public here: they are copied as they are. Every record stays:
labels outside the public range count as its nearest end, cells that are empty or
no number as the middle of the range, or as --schema says. A published task about
labels is answered with 'hedgerow privatize'.

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
    add_schema(parser)
    parser.add_argument("--mechanism", choices=MECHANISMS, default="auto", help="how (default: auto)")
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
    parser.set_defaults(run=run, classes=None)


def run(arguments: argparse.Namespace) -> int:
    """Read all labels, randomise them, write the file."""
    from dataclasses import replace

    import numpy as np

    from hedgerow.commands.tables import Table
    from hedgerow.grid import label_numbers, middle
    from hedgerow.randomness import as_randomness
    from hedgerow.spending import Booking

    check_output(arguments, [name for name in (arguments.records, arguments.ledger, arguments.schema) if name])
    stated = _take_label(arguments)
    ledger = open_ledger(arguments)
    table = Table(arguments.records)
    mechanism = _mechanism(arguments)
    target = arguments.target
    table.require([target], "named by --target")
    warn_of_seed(arguments)
    blocks = list(table.blocks())
    y = np.concatenate([block.private_numbers(target) for block in blocks]) if blocks else np.empty(0)
    if y.size and not np.isfinite(y).any():  # the caller's own file and option: a wrong column
        raise HedgerowError(f"{arguments.records}: column {target!r} holds no number at all; --target names the label.")
    source = as_randomness(arguments.seed)
    booking = Booking(ledger, replace(mechanism.guarantee, simulation=source.simulation), purpose="hedgerow labels")
    booking.book()
    low, high = mechanism.label_bounds
    known = label_numbers(y, (low, high), middle(low, high, stated, "the label"))
    released = mechanism.release(known, source)
    booking.check(released.guarantee)
    _write(arguments, table, blocks, target, released.labels)
    claim = as_if_local(released.guarantee)
    warn_if_weak(arguments, claim.epsilon, claim.delta)
    summary = {"output": arguments.output, "n_rows": int(y.size), "guarantee": claim.to_dict()}
    summary |= booked(ledger)
    summary["mechanism"] = released.parts[-1].task.mechanism.name
    lines = [f"{y.size:,} labels by {summary['mechanism']} -> {arguments.output}", str(claim), *left_lines(ledger)]
    report(arguments, summary, lines)
    return 0


def _take_label(arguments: argparse.Namespace) -> float | None:
    """Find out what the label is called, and its range; return what a missing one counts as."""
    if arguments.schema is None and arguments.target is None:
        arguments.target = "y"
    schema = take_schema(arguments)
    if arguments.classes is not None:
        raise HedgerowError(
            f"{arguments.schema}: the label of this schema has classes, and noise is for numbers; a task about classes "
            "comes from 'hedgerow design --classes'."
        )
    if arguments.label_bounds is None:
        raise HedgerowError(
            "--label-bounds LOW:HIGH is needed, or a --schema with a label: the range is public knowledge and never "
            "read from the labels."
        )
    return None if schema is None else getattr(schema.label, "missing", None)


def _mechanism(arguments: argparse.Namespace) -> Any:
    """Return what randomises; refuse by name what it does not have."""
    from hedgerow import label

    name = arguments.mechanism
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


def _write(arguments: argparse.Namespace, table: Table, blocks: list[Block], target: str, noisy: Any) -> None:
    from hedgerow.commands.predictions import CsvPredictions
    from hedgerow.commands.tables import Block

    names = [name for name in table.names if name != target]
    with output(arguments.output) as file:
        writer = CsvPredictions(file, names, [target])
        start = 0
        for block in blocks:
            stop = start + len(block)
            kept = Block(table, block.start, {name: block.columns[name] for name in names}, block.lines)
            writer.add(kept, {target: noisy[start:stop]})
            start = stop
        writer.finish()
