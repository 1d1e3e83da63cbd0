"""``hedgerow design`` of two rounds: the first task, from public facts alone."""

from __future__ import annotations

import argparse

from hedgerow.bounds import CategoricalFeature, FeatureSpace, NumericFeature
from hedgerow.commands.files import check_output, report, write_text
from hedgerow.commands.schema import _column, _range, _read
from hedgerow.commands.tables import Block, Table
from hedgerow.errors import HedgerowError
from hedgerow.tasks.partly_public import SemiTask

_LATER = ("rule", "max_depth", "min_samples_leaf", "response")


def run_semi(arguments: argparse.Namespace) -> int:
    """Design the first round's task and write it."""
    check_output(arguments, [] if arguments.public is None else [arguments.public])
    _check_options(arguments)
    task = SemiTask.design(
        _space(arguments),
        epsilon=arguments.epsilon,
        label_bounds=arguments.label_bounds,
        label_share=0.5 if arguments.label_share is None else arguments.label_share,
        private_columns=arguments.private_columns,
        hide_mask=arguments.hide_mask,
        target=arguments.target,
        title=arguments.title,
    )
    write_text(arguments.output, task.to_json() + "\n")
    _report(arguments, task)
    return 0


def _check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""
    if arguments.classes is not None:
        raise HedgerowError("--classes: two rounds are for numeric labels; give --label-bounds.")
    for name in _LATER:
        if getattr(arguments, name) != "auto":
            raise HedgerowError(f"--{name.replace('_', '-')} is for the second round; give it to 'hedgerow grow'.")
    for name, default in (("cell_share", "auto"), ("n_holders", None)):
        if getattr(arguments, name) != default:
            raise HedgerowError(
                f"--{name.replace('_', '-')} is for tasks of one round; leave it out (see --label-share)."
            )


def _space(arguments: argparse.Namespace) -> FeatureSpace:
    """Return the features, in the order of --features, else of the records and then of the options."""
    bounds, categories = dict(arguments.feature_bounds), dict(arguments.categories)
    if both := sorted(set(bounds) & {*categories, *arguments.categorical}):
        raise HedgerowError(f"column {both[0]!r} is categorical and has no range; leave out its --feature-bounds.")
    table = None if arguments.public is None else Table(arguments.public)
    found = [] if table is None else table.names
    names = arguments.features or [n for n in dict.fromkeys([*found, *bounds, *categories]) if n != arguments.target]
    given = {"--feature-bounds": bounds, "--categories": categories, "--categorical": arguments.categorical}
    for option, columns in given.items():
        if strange := [c for c in columns if c not in names]:
            raise HedgerowError(f"{option} names {strange[0]!r}, which is not a feature; the features are {names}.")
    if arguments.target in names or not names:
        raise HedgerowError(
            "name at least one column other than the target: --feature-bounds COL=LOW:HIGH or --categories COL=A,B."
        )
    open_names = [n for n in names if n not in bounds and n not in categories]
    blocks = _records(table, open_names)
    features = (
        NumericFeature(n, *bounds[n])
        if n in bounds
        else CategoricalFeature(n, tuple(categories[n]))
        if n in categories
        else _described(blocks, n, n in arguments.categorical)
        for n in names
    )
    return FeatureSpace(tuple(features))


def _records(table: Table | None, names: list[str]) -> list[Block]:
    """Return the public records, if there are columns that only they describe."""
    if not names:
        return []
    if table is None:
        raise HedgerowError(
            f"column {names[0]!r} needs --feature-bounds {names[0]}=LOW:HIGH or --categories {names[0]}=A,B: "
            "ranges are public knowledge and never read from private records."
        )
    table.require(names, "that no --feature-bounds or --categories describes")
    blocks = _read(table)
    if not blocks:
        raise HedgerowError(f"{table.path} has no records below its header; give --feature-bounds instead.")
    return blocks


def _described(blocks: list[Block], name: str, categorical: bool) -> NumericFeature | CategoricalFeature:
    """Return a feature as the public records show it."""
    column = _column(blocks, name, categorical, False)
    if column.dtype == object:
        return CategoricalFeature(name, tuple(sorted({str(v) for v in column})))
    return NumericFeature(name, *_range(column))


def _report(arguments: argparse.Namespace, task: SemiTask) -> None:
    low, high = arguments.label_bounds
    who = {
        "policy": f"private for everybody: {', '.join(task.private)}",
        "personal": "each holder chooses what is private, and says so: 'hedgerow privatize' needs --mask",
        "hidden": "each holder chooses what is private, and nobody learns what",
    }
    summary = {
        "output": arguments.output,
        "task": task.id,
        "round": 1,
        "epsilon": task.to_dict()["epsilon"],
        "label_share": task.label_share,
        "masks": task.masks,
        "private": list(task.private),
        "target": task.target,
        "label_bounds": [low, high],
        "features": [f.to_dict() for f in task.space.features],
        "guarantee": task.guarantee.to_dict(),
    }
    lines = [
        f"task {task.id[:12]}, the first of two rounds -> {arguments.output}",
        f"{len(task.space)} features; {who[task.masks]}; label {task.target!r} in [{low:g}, {high:g}]",
        str(task.guarantee),
    ]
    report(arguments, summary, lines)
