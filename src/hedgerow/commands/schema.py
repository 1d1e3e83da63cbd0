"""``hedgerow schema``: draft, look at and check what is publicly known of a table."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import (
    EXIT_CODES,
    add_command,
    add_output,
    check_output,
    naming,
    output,
    report,
    warn,
    write_text,
)
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.schema import Schema
    from hedgerow.schema.check import Misfits

_DESCRIPTION = """\
A schema says once what is publicly known of each column and of the label: kind,
range or categories, what becomes of missing and unknown values, unit, and the
question in words. Estimators take it as schema=, and 'hedgerow design', 'fit',
'compare', 'advise', 'labels' and 'privatize' as --schema.
"""
_DRAFT = """\
Propose a schema from PUBLIC records: rounded-out ranges, whole numbers and yes/no
recognised, categories with an 'other'. Check what was guessed, and edit the file.

Never draft from private records: the lowest and the highest value of each number
and every rare category would be published with each task and model.
"""
_CHECK = """\
Count, column by column, which values of PRIVATE records are missing, unknown or
out of range by the schema. The counts are as private as the records: they are
shown on this screen only, and are written nowhere unless -o is given.
"""


def register(subparsers: Any) -> None:
    """Add the command and its actions."""
    schema = subparsers.add_parser(
        "schema",
        help="draft, show and check what is public of a table",
        description=_DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = schema.add_subparsers(dest="action", metavar="ACTION", required=True)
    draft = add_command(actions, "draft", "propose a schema from public records", _DRAFT)
    draft.add_argument("public", help="public records, CSV or Parquet")
    draft.add_argument("--target", metavar="COLUMN", help="the label (default: there is none)")
    add_output(draft, "the schema, JSON")
    draft.set_defaults(run=_draft)
    show = add_command(actions, "show", "print a schema for people", "Print a schema for people.")
    show.add_argument("schema", help="a schema, JSON")
    show.set_defaults(run=_show)
    check = add_command(actions, "check", "count values that do not fit", _CHECK)
    check.add_argument("schema", help="a schema, JSON")
    check.add_argument("private", help="private records, CSV or Parquet")
    check.add_argument("-o", "--output", metavar="FILE", help="also write the counts, JSON; keep that file private")
    check.set_defaults(run=_check)


def read_schema(path: str) -> Schema:
    """Read a schema, strictly."""
    from hedgerow.schema import Schema

    with naming(path):
        return Schema.load(path)


def take_schema(arguments: argparse.Namespace) -> Schema | None:
    """Return the schema of ``--schema``, if there is one; take the label from it, and refuse what it says already."""
    if arguments.schema is None:
        if arguments.target is None:
            raise HedgerowError("--target COLUMN is needed: the label, or a --schema that has one.")
        return None
    for option in ("feature_bounds", "categories", "categorical"):
        if getattr(arguments, option, None):
            name = f"--{option.replace('_', '-')}"
            raise HedgerowError(f"{name} and --schema say the same thing: leave {name} out, or edit the schema.")
    schema = read_schema(arguments.schema)
    _take_target(arguments, schema)
    if schema.label is None:
        return schema
    for option in ("label_bounds", "classes"):
        if getattr(arguments, option, None) is not None:
            name = f"--{option.replace('_', '-')}"
            raise HedgerowError(f"{name} and --schema say the same thing: leave {name} out, or edit the schema.")
    arguments.label_bounds = schema.label_bounds
    arguments.classes = None if schema.classes is None else [str(value) for value in schema.classes]
    return schema


def _take_target(arguments: argparse.Namespace, schema: Schema) -> None:
    """Take the label's name from a schema that has one; one without leaves it to ``--target``."""
    if schema.label is None:
        if arguments.target is None:
            raise HedgerowError(f"{arguments.schema} has no label: give --target COLUMN.")
        if arguments.target in schema.names:
            raise HedgerowError(
                f"{arguments.schema}: {arguments.target!r} is a column of this schema, and --target says that it is "
                "the label; take it out of the columns."
            )
        return
    if arguments.target is None:
        arguments.target = schema.label.name
    if schema.label.name != arguments.target:
        raise HedgerowError(
            f"{arguments.schema}: the label of this schema is {schema.label.name!r}, and --target says "
            f"{arguments.target!r}; correct one of them."
        )


def need_label(arguments: argparse.Namespace) -> None:
    """Refuse to go on if nothing says what the label may be."""
    if arguments.label_bounds is None and arguments.classes is None:
        raise HedgerowError(
            "--label-bounds LOW:HIGH or --classes A,B is needed, or a --schema with a label: what the label may be is "
            "public knowledge and never read from private labels."
        )


def _draft(arguments: argparse.Namespace) -> int:
    import numpy as np

    from hedgerow.commands.public_facts import is_text
    from hedgerow.schema import Schema
    from hedgerow.schema.words import LEAK
    from hedgerow.tables import Table

    check_output(arguments, [arguments.public])
    table = Table(arguments.public)
    if arguments.target is not None:
        table.require([arguments.target], "named by --target")
    blocks = list(table.blocks())
    if not blocks:
        raise HedgerowError(f"{arguments.public} has no records below its header; public records are needed.")
    columns = {}
    for name in table.names:
        numeric = not is_text(blocks, name)
        columns[name] = np.concatenate([block.private_column(name, numeric=numeric) for block in blocks])
    schema = Schema.draft(columns, arguments.target)
    warn(arguments, LEAK)
    with output(arguments.output) as file:
        file.write(schema.as_file())
    summary = {"output": arguments.output, "columns": list(schema.names), "guessed": schema.to_dict()["guessed"]}
    report(arguments, summary, [f"schema -> {arguments.output}", *repr(schema).splitlines()])
    return 0


def _show(arguments: argparse.Namespace) -> int:
    schema = read_schema(arguments.schema)
    report(arguments, {"schema": schema.to_dict()}, repr(schema).splitlines())
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from hedgerow.tables import Table

    schema = read_schema(arguments.schema)
    if arguments.output is not None:
        check_output(arguments, [arguments.schema, arguments.private])
    table = Table(arguments.private)
    asked = [*schema.columns, *([] if schema.label is None else [schema.label])]
    table.require([column.name for column in asked], "that the schema describes")
    n, counts = _count(table, asked)
    further = [name for name in table.names if name not in {column.name for column in asked}]
    found = {name: {"missing": c.missing, "unknown": c.unknown, "outside": c.outside} for name, c in counts.items()}
    summary = {"n_records": n, "columns": found, "not_described": further}
    if arguments.output is not None:
        write_text(arguments.output, json.dumps(summary, indent=2) + "\n")
        warn(arguments, f"{arguments.output} holds counts of private records: keep it private")
    else:
        print("These counts are private: they are on this screen only, and written nowhere.", file=sys.stderr)
    report(arguments, summary, _table(n, counts, further))
    return 0


def _count(table: Any, asked: list[Any]) -> tuple[int, dict[str, Misfits]]:
    from hedgerow.schema.check import Misfits, count_misfits

    counts = {column.name: Misfits(0, 0, 0) for column in asked}
    n = 0
    for block in table.blocks():
        n += len(block)
        for column in asked:
            values = block.private_column(column.name, numeric=False).tolist()
            counts[column.name] += count_misfits(column, values)
    return n, counts


def _table(n: int, counts: dict[str, Misfits], further: list[str]) -> list[str]:
    from hedgerow.schema.words import one_line

    names = {name: one_line(name) for name in counts}
    width = max(len("column"), *map(len, names.values()))
    lines = [f"{n:,} records", f"{'column':{width}}  {'missing':>9}  {'unknown':>9}  {'out of range':>12}"]
    for name, found in counts.items():
        lines.append(f"{names[name]:{width}}  {found.missing:9,}  {found.unknown:9,}  {found.outside:12,}")
    return [*lines, *([f"not described: {', '.join(map(one_line, further))}"] if further else [])]
