"""``hedgerow design``: grow a tree on public records and publish it as a task."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import bounds, column_bounds, column_names, names, share, whole
from hedgerow.commands.files import add_command, add_output, check_output, report, warn_if_weak, write_text
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.tables import Frame
    from hedgerow.tasks.tree.task import LocalTask

_DESCRIPTION = """\
Design a task from PUBLIC records: a tree, and the message that asks each holder
for its leaf and label under local privacy. Publish the task; holders answer it
with 'hedgerow privatize'.

Everything here must be public, the bounds too: a bound that was read off
private labels gives the most extreme person away. Whatever is 'auto' is chosen
from the public records and the known noise alone.

With --private-columns, --personal or --hide-mask the task is the first of two
rounds, for holders who keep the label and some features private and leave the
others open. No public records are needed: give each column its --feature-bounds
or --categories. The second round's task comes from 'hedgerow grow'.
"""
_RULES = ("auto", "max_edge", "cart", "random", "random_max_edge")
_RESPONSES = ("auto", "bits", "unary", "k_ary", "subset")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "design", "make a task from public records", _DESCRIPTION)
    parser.add_argument(
        "public", nargs="?", help="public records with their labels, CSV or Parquet; two rounds do without"
    )
    parser.add_argument("--target", required=True, metavar="COLUMN", help="the label")
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy budget of one report")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--label-bounds", type=bounds, metavar="LOW:HIGH", help="public range of a numeric label")
    kind.add_argument(
        "--classes", type=names, metavar="A,B", help="the label is one of these classes; 'public': as in the records"
    )
    parser.add_argument("--features", type=names, metavar="COL,COL", help="columns to use (default: all others)")
    parser.add_argument(
        "--categorical", type=names, default=[], metavar="COL,COL", help="categorical columns (text is found)"
    )
    parser.add_argument(
        "--categories",
        action="append",
        type=column_names,
        default=[],
        metavar="COL=A,B",
        help="public categories of a column; may be repeated (default: those in the public records)",
    )
    parser.add_argument(
        "--feature-bounds",
        action="append",
        type=column_bounds,
        default=[],
        metavar="COL=LOW:HIGH",
        help="public range of a column; may be repeated (default: that of the public records)",
    )
    parser.add_argument("--rule", choices=_RULES, default="auto", help="how the tree grows (default: auto)")
    parser.add_argument("--max-depth", type=whole, default="auto", metavar="N", help="depth (default: auto)")
    parser.add_argument(
        "--min-samples-leaf", type=whole, default="auto", metavar="N", help="public records a leaf (default: auto)"
    )
    parser.add_argument(
        "--response",
        choices=_RESPONSES,
        default="auto",
        help="the message (default: auto); with bits a forged one does most harm",
    )
    parser.add_argument(
        "--cell-share",
        type=share,
        default="auto",
        metavar="S",
        help="with bits: share of epsilon for the leaf (default: auto)",
    )
    parser.add_argument(
        "--n-holders", type=whole, metavar="N", help="how many are expected to answer (default: 10 a public record)"
    )
    parser.add_argument(
        "--assisted",
        nargs="?",
        const="auto",
        choices=("auto", "compact"),
        help="start from the best public model: holders report where it is wrong; 'compact': a model of at most 200 kB",
    )
    parser.add_argument(
        "--pilot",
        action="store_true",
        help="with --assisted: make the task of a pilot group, who tell how wrong the public model is, not where",
    )
    parser.add_argument(
        "--pilot-totals", metavar="FILE", help="with --assisted: what the pilot group answered ('hedgerow aggregate')"
    )
    parser.add_argument("--title", default="", help="what holders are asked, in words")
    _add_two_rounds(parser)
    add_output(parser, "the task, JSON")
    parser.set_defaults(run=run)


def _add_two_rounds(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("two rounds, with some features private")
    masks = group.add_mutually_exclusive_group()
    masks.add_argument("--private-columns", type=names, metavar="COL,COL", help="private for everybody")
    masks.add_argument("--personal", action="store_true", help="each holder chooses, and the choice is sent in clear")
    masks.add_argument("--hide-mask", action="store_true", help="each holder chooses, and nobody learns what")
    group.add_argument("--label-share", type=float, metavar="S", help="share of epsilon for the label (default: 0.5)")


def run(arguments: argparse.Namespace) -> int:
    """Read the public records, design, write."""
    from hedgerow.commands.pilot_files import check_pilot_options

    check_pilot_options(arguments)
    warn_if_weak(arguments, arguments.epsilon)
    if arguments.private_columns is not None or arguments.personal or arguments.hide_mask:
        from hedgerow.commands.semi_design import run_semi

        if arguments.assisted:
            raise HedgerowError("--assisted is for tasks of one round; leave it out, or the options of two rounds.")
        return run_semi(arguments)
    return _run_local(arguments)


def _run_local(arguments: argparse.Namespace) -> int:
    from hedgerow.commands.schema import read_public
    from hedgerow.tasks.tree.task import LocalTask

    if arguments.public is None:
        raise HedgerowError("public records are needed; give a CSV or Parquet file (only two rounds do without).")
    if arguments.label_share:
        raise HedgerowError("--label-share is for two rounds; add --private-columns, --personal or --hide-mask.")
    check_output(arguments, [name for name in (arguments.public, arguments.pilot_totals) if name])
    if arguments.assisted:
        from hedgerow.commands.assisted_files import design_task

        return design_task(arguments)
    X, y, bounds = read_public(arguments)
    task = LocalTask.design(
        X,
        y,
        epsilon=arguments.epsilon,
        label_bounds=arguments.label_bounds,
        classes="public" if arguments.classes == ["public"] else arguments.classes,
        rule=arguments.rule,
        max_depth=arguments.max_depth,
        min_samples_leaf=arguments.min_samples_leaf,
        cell_share=arguments.cell_share,
        response=arguments.response,
        n_holders=arguments.n_holders,
        feature_bounds=bounds,
        categorical_features=arguments.categorical,
        categories=dict(arguments.categories) or None,
        target=arguments.target,
        title=arguments.title,
    )
    write_text(arguments.output, task.to_json() + "\n")
    _report(arguments, task, X, y)
    return 0


def _report(arguments: argparse.Namespace, task: LocalTask, X: Frame, y: Any) -> None:
    low, high = task.label_bounds
    clipped = 0 if task.classes else int(((y < low) | (y > high)).sum())
    values = f"in [{low:g}, {high:g}]" if task.classes is None else f"one of {', '.join(task.classes)}"
    width, forged = 18 + task.encoding.width, task.encoding.largest_influence
    summary = {
        "output": arguments.output,
        "task": task.id,
        "epsilon": task.to_dict()["epsilon"],
        "response": task.response,
        "cell_share": task.cell_share if task.response == "bits" else None,
        "n_leaves": task.n_leaves,
        "depth": task.partition.depth,
        "target": task.target,
        "label_bounds": None if task.classes else [low, high],
        "label_steps": None if task.classes else task.grid.n_steps,
        "classes": None if task.classes is None else list(task.classes),
        "features": [f.to_dict() for f in task.space.features],
        "n_public": len(X),
        "n_public_clipped": clipped,
        "report_bytes": width,
        "largest_influence": {"holders": forged.count, "label_ranges": None if task.classes else forged.label_sum},
        "guarantee": task.guarantee.to_dict(),
    }
    labels = "" if task.classes else f" and its sum of labels by {forged.label_sum:.3g} label ranges"
    lines = [
        f"task {task.id[:12]} from {len(X):,} public records -> {arguments.output}",
        f"tree: {task.n_leaves} leaves, depth {task.partition.depth}; "
        f"report: {task.response}, {width} bytes; label {task.target!r} {values}",
        f"one forged report moves the number of holders in a leaf by at most {forged.count:.3g}{labels}",
        str(task.guarantee),
    ]
    if clipped:
        lines.insert(2, f"{clipped:,} public labels lie outside the label bounds and were clipped")
    report(arguments, summary, lines)
