"""``hedgerow design``: make a task from what is public."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import add_columns, add_schema, add_target, bounds, names
from hedgerow.commands.files import add_command, add_output, check_output, naming, report, warn_if_weak, write_text
from hedgerow.commands.progress import Progress
from hedgerow.commands.schema import need_label, take_schema
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.commands.options import Offered
    from hedgerow.schema import Schema
    from hedgerow.tasks.base import Task
    from hedgerow.tasks.designs import Facts
    from hedgerow.tasks.models import About

_DESCRIPTION = """\
Design a task from PUBLIC records: a tree, and the message that asks each holder
for its leaf and label under local privacy. Publish the task; holders answer it
with 'hedgerow privatize'.

Everything here must be public, the bounds too: a bound that was read off
private labels gives the most extreme person away. Whatever is 'auto' is chosen
from the public records and the known noise alone.

With --assisted a public model travels in the task, and holders report where it is
wrong; with --pilot a few of them first report how wrong it is.

With --private-columns or --personal holders keep the label and some features
private and leave the others open. From public records comes one round: holders
report how wrong a public model is for them.

Without, or with --two-rounds or --hide-mask, the task is the first of two rounds.
No public records are needed: give each column its --feature-bounds or
--categories. The second round's task comes from 'hedgerow grow'.
"""


def register(subparsers: Any) -> None:
    """Add the command; what kinds of tasks say about their design is added when it is chosen."""
    parser: Any = add_command(subparsers, "design", "make a task from public records", _DESCRIPTION)
    parser.add_argument(
        "public", nargs="?", help="public records with their labels, CSV or Parquet; two rounds do without"
    )
    add_target(parser)
    parser.add_argument("--epsilon", required=True, type=float, metavar="E", help="privacy budget of one report")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--label-bounds", type=bounds, metavar="LOW:HIGH", help="public range of a numeric label")
    kind.add_argument(
        "--classes", type=names, metavar="A,B", help="the label is one of these classes; 'public': as in the records"
    )
    add_schema(parser)
    add_columns(parser)
    add_output(parser, "the task, JSON")
    parser.set_defaults(run=run)
    parser.fill = lambda: _offered().add_to(parser)


def _offered() -> Offered:
    from hedgerow.commands.options import Offered

    return Offered({name: kind.designed.options for name, kind in _kinds().items()})


def _kinds() -> dict[str, Any]:
    """Return the kinds of tasks that are designed from public facts."""
    from hedgerow.tasks.registry import task_classes

    return {kind.kind: kind for kind in task_classes() if kind.designed is not None}


def run(arguments: argparse.Namespace) -> int:
    """Find the kind that is asked for, read what is public, design, write."""
    from hedgerow.tasks.designs import described

    offered = _offered()
    schema = take_schema(arguments)
    need_label(arguments)
    if schema is not None and schema.label is None:
        schema = _with_label(arguments, schema)
    kind = _chosen(offered.given(arguments), arguments.classes is not None, arguments.public is not None)
    _check_later(offered.given(arguments), kind)
    options = offered.read(arguments, kind.kind)
    if arguments.classes is not None and not kind.designed.classes:
        others = " and ".join(name for name, other in _kinds().items() if other.designed.classes)
        raise HedgerowError(
            f"--classes is for {others} tasks; this is a {kind.kind} task, whose label is a number: leave it out, and "
            "give --label-bounds."
        )
    warn_if_weak(arguments, arguments.epsilon)
    files = [getattr(arguments, option.name) for option in kind.designed.options if option.takes == "file"]
    check_output(arguments, [name for name in (arguments.public, arguments.schema, *files) if name])
    if schema is not None:
        with naming(arguments.schema):
            described(schema)
    facts = _facts(arguments, kind, schema)
    with Progress("designing"):
        task, about = kind.designed(facts, **options)
    write_text(arguments.output, task.to_json() + "\n")
    _report(arguments, task, facts, about)
    return 0


def _with_label(arguments: argparse.Namespace, schema: Schema) -> Schema:
    """Complete a schema by what options say of the label."""
    if arguments.classes == ["public"]:
        raise HedgerowError("--classes public goes without --schema: list the classes, --classes A,B.")
    if arguments.classes is not None:
        return schema.with_label(arguments.target, classes=arguments.classes)
    return schema.with_label(arguments.target, bounds=arguments.label_bounds)


def _chosen(given: list[str], classes: bool, records: bool) -> Any:
    """Return the kind that the options ask for.

    If several do: one with all options that ask for a kind; of these, one that has the label, all options that were
    given, and that reads public records if there are any.
    """
    kinds = list(_kinds().values())
    asking = {name for kind in kinds for name in kind.designed.chosen_by if name in given}
    found = [kind for kind in kinds if asking & {*kind.designed.chosen_by}]
    if not asking:
        found = [kind for kind in kinds if not kind.designed.chosen_by]
    wishes: list[Callable[[Any], bool]] = [
        lambda kind: asking <= _options(kind),
        lambda kind: kind.designed.classes is classes,
        lambda kind: {*given} <= _options(kind),
        lambda kind: kind.designed.records is records,
    ]
    for wish in wishes:
        found = [kind for kind in found if wish(kind)] or found
    return found[0]


def _options(kind: Any) -> set[str]:
    return {option.name for option in kind.designed.options}


def _check_later(given: list[str], kind: Any) -> None:
    """Say so if an option is for what is made of this kind's reports, not for its design."""
    own = _options(kind)
    for option in kind.model_options.values():
        if option.name in given and option.name not in own:
            name = option.name.replace("_", "-")
            raise HedgerowError(f"--{name} is for what is made of the reports; give it to 'hedgerow aggregate'.")


def _facts(arguments: argparse.Namespace, kind: Any, schema: Schema | None) -> Facts:
    from hedgerow.commands.public_facts import chosen_space, read_described, read_public, read_space
    from hedgerow.tasks.designs import Facts

    known = {"epsilon": arguments.epsilon, "target": arguments.target, "label_bounds": arguments.label_bounds}
    if not kind.designed.records:
        space = read_space(arguments) if schema is None else chosen_space(arguments, schema)
        return Facts(**known, space=space, schema=schema)
    if arguments.public is None:
        raise HedgerowError("public records are needed; give a CSV or Parquet file (only two rounds do without).")
    if schema is not None:
        space = chosen_space(arguments, schema)
        X, y = read_described(arguments, space)
        return Facts(**known, classes=arguments.classes, X=X, y=y, feature_bounds=space, schema=schema)
    X, y, given = read_public(arguments)
    text = [name for name in X.columns if X[name].dtype == object]
    return Facts(
        **known,
        classes="public" if arguments.classes == ["public"] else arguments.classes,
        X=X,
        y=y,
        feature_bounds=given,
        categorical=text,
        categories=dict(arguments.categories),
    )


def _report(arguments: argparse.Namespace, task: Task, facts: Facts, about: About) -> None:
    question = task.question()
    label = question.label
    assert label is not None
    low, high = label.bounds
    n = 0 if facts.y is None else len(facts.y)
    clipped = 0 if facts.y is None or label.classes else int(((facts.y < low) | (facts.y > high)).sum())
    summary = {
        "output": arguments.output,
        "task": task.id,
        "epsilon": task.to_dict()["epsilon"],
        "target": task.target,
        "label_bounds": None if label.classes else [low, high],
        "classes": None if label.classes is None else list(label.classes),
        "features": [feature.to_dict() for feature in question.features],
        "n_public": n,
        "n_public_clipped": clipped,
        "report_bytes": 18 + task.encoding.width,
        **about.facts,
        "guarantee": task.guarantee.to_dict(),
    }
    records = f" from {n:,} public records" if n else ""
    lines = [f"{about.headline}{records} -> {arguments.output}", *about.remarks]
    if clipped:
        lines.append(f"{clipped:,} public labels lie outside the label bounds and were clipped")
    report(arguments, summary, [*lines, str(task.guarantee)])
