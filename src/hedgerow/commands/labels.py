"""``hedgerow labels randomize``: make the labels of a file private, and leave its features as they are."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import (
    EXIT_CODES,
    _parse,
    add_command,
    add_output,
    check_output,
    output,
    report,
    warn,
    warn_if_weak,
)
from hedgerow.errors import HedgerowError
from hedgerow.guarantee import as_if_local

if TYPE_CHECKING:
    from hedgerow.commands.tables import Block, Table
    from hedgerow.label import LabelRelease

_DESCRIPTION = """\
Randomise the label of every record once; any learner may then be trained on the
result. Features are public here: they are copied as they are. Every record stays:
labels outside the public range count as its nearest end, cells that are empty or
no number as the middle of the range (or as the task's "missing").

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
    parser.add_argument("--target", default="y", metavar="COL", help="the column of the label (default: y)")
    parser.add_argument("--epsilon", type=float, metavar="E", help="budget for one label; inf: no noise")
    parser.add_argument("--label-bounds", type=_bounds, metavar="LOW:HIGH", help="public range of the label")
    parser.add_argument("--mechanism", choices=MECHANISMS, default="auto", help="how (default: auto)")
    parser.add_argument("--delta", type=float, default=1e-6, metavar="D", help="for gaussian (default: 1e-6)")
    parser.add_argument(
        "--trust",
        choices=("local", "central"),
        default="local",
        help="how the prior is learnt, where the mechanism needs one: from reports of some holders, or from a noisy "
        "histogram by whoever runs this and is trusted with all labels (default: local)",
    )
    parser.add_argument("--task", metavar="FILE", help="answer this published label task; instead of all of the above")
    parser.add_argument(
        "--seed", type=int, metavar="N", help="for simulation only: noise that can be repeated protects nobody"
    )
    add_output(parser, "the records with noisy labels, as CSV, the label last")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Read all labels, randomise them, write the file."""
    import numpy as np

    from hedgerow.commands.tables import Table

    check_output(arguments, [arguments.records, *([arguments.task] if arguments.task else [])])
    table = Table(arguments.records)
    target, release = _prepare(arguments)
    table.require([target], "named by --target")
    if arguments.seed is not None:
        warn(arguments, "--seed is for simulation: whoever knows the seed can take the noise away; nobody is protected")
    blocks = list(table.blocks())
    y = np.concatenate([block.private_numbers(target) for block in blocks]) if blocks else np.empty(0)
    if not arguments.task and y.size and not np.isfinite(y).any():  # the caller's own file and option: a wrong column
        raise HedgerowError(f"{arguments.records}: column {target!r} holds no number at all; --target names the label.")
    released = release(y)
    _write(arguments, table, blocks, target, released.labels)
    claim = as_if_local(released.guarantee)
    warn_if_weak(arguments, claim.epsilon, claim.delta)
    summary = {"output": arguments.output, "n_rows": int(y.size), "guarantee": claim.to_dict()}
    summary["mechanism"] = released.parts[-1].task.mechanism.name
    report(arguments, summary, [f"{y.size:,} labels by {summary['mechanism']} -> {arguments.output}", str(claim)])
    return 0


def _prepare(arguments: argparse.Namespace) -> tuple[str, Any]:
    """Return the target and a function of the labels, from a task or from the options."""
    from dataclasses import replace

    from hedgerow.label import LabelRelease
    from hedgerow.label.release import Part
    from hedgerow.randomness import as_randomness
    from hedgerow.tasks.labels.task import LabelTask

    source = as_randomness(arguments.seed)
    if arguments.task:
        task = _parse(arguments.task, LabelTask.from_json, "label task")

        def answer(y: Any) -> LabelRelease:
            claim = replace(task.guarantee, simulation=source.simulation)
            return LabelRelease(task.randomize(y, source), (Part(task),), None, claim)

        return task.target, answer
    mechanism = _mechanism(arguments)
    return arguments.target, lambda y: mechanism.release(y, source)


def _mechanism(arguments: argparse.Namespace) -> Any:
    from hedgerow import label

    for name in ("epsilon", "label_bounds"):
        if getattr(arguments, name) is None:
            raise HedgerowError(f"--{name.replace('_', '-')} is required (or --task, which states it).")
    bounds = {"label_bounds": arguments.label_bounds}
    shaped = {**bounds, "trust": arguments.trust, "prior_share": "auto"}
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "auto": (label.AutoMechanism, shaped),
        "rp-with-prior": (label.RPWithPrior, shaped),
        "rr-on-bins": (label.RROnBins, shaped),
        "unbiased": (label.UnbiasedRandomizer, shaped),
        "laplace": (label.LaplaceMechanism, bounds),
        "staircase": (label.StaircaseMechanism, bounds),
        "gaussian": (label.GaussianMechanism, {**bounds, "delta": arguments.delta}),
    }
    kind, options = kinds[arguments.mechanism]
    return kind(arguments.epsilon, **options)


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


def _bounds(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected LOW:HIGH, such as 0:80. Got {text!r} instead.") from None
    return low, high
