"""``hedgerow example``: files of made-up homes to try the other commands on."""

from __future__ import annotations

import argparse
import csv
import io
import math
import os
from typing import TYPE_CHECKING, Any

from hedgerow.commands.arguments import whole
from hedgerow.commands.files import add_command, output, report, write_text
from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.datasets import Columns

_FILES = ("public.csv", "private.csv", "new.csv", "schema.json")
_DESCRIPTION = """\
Write a made-up survey of homes to try things on: public.csv, private.csv and
new.csv (homes to predict for, without the label 'kwh'), and schema.json, which
says what everybody knows of them. Twelve columns, seven of them text, with gaps,
and with a category that the public records do not show. The same numbers give
the same homes.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "example", "write made-up records to try things on", _DESCRIPTION)
    parser.add_argument("--n-private", type=whole, default=20_000, metavar="N", help="private homes (default: 20000)")
    parser.add_argument("--n-public", type=whole, default=400, metavar="N", help="public homes (default: 400)")
    parser.add_argument("--n-new", type=whole, default=5, metavar="N", help="homes to predict for (default: 5)")
    parser.add_argument("--seed", type=whole, default=5, help="which homes (default: 5)")
    parser.add_argument("-o", "--output", default=".", metavar="FOLDER", help="where to (default: this folder)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Draw the homes and write the files; never over files that are there."""
    import numpy as np

    from hedgerow.datasets import TARGET, draw_homes, homes_schema

    for option in ("n_private", "n_public", "n_new", "seed"):
        value = getattr(arguments, option)
        if value == "auto" or (value == 0 and option != "seed"):
            name = option.replace("_", "-")
            raise HedgerowError(f"--{name} must be a whole number of at least 1. Got {value!r} instead.")
    folder = arguments.output
    if not os.path.isdir(folder):
        raise HedgerowError(f"-o {folder}: there is no such folder; make it first.")
    paths = [os.path.join(folder, name) for name in _FILES]
    for path in paths:
        if os.path.lexists(path):
            raise HedgerowError(f"-o {folder}: {path} is there already; remove it, or choose another folder.")
    rng = np.random.default_rng(arguments.seed)
    with Progress("drawing homes"):
        public = draw_homes(arguments.n_public, rng, surprises=False)
        private = draw_homes(arguments.n_private, rng)
        new = draw_homes(arguments.n_new, rng)
        del new[TARGET]
        for path, columns in zip(paths, (public, private, new), strict=False):
            write_text(path, _as_csv(columns))
    with output(paths[-1]) as file:
        file.write(homes_schema().as_file())
    sizes = (len(public["area"]), len(private["area"]), len(new["area"]))
    lines = [f"{n:,} made-up homes -> {path}" for n, path in zip(sizes, paths, strict=False)]
    summary = {"files": paths, "n_public": sizes[0], "n_private": sizes[1], "n_new": sizes[2]}
    report(arguments, summary, [*lines, f"what everybody knows of them -> {paths[-1]}"])
    return 0


def _as_csv(columns: Columns) -> str:
    """Return columns as CSV; whole numbers without a point, gaps as empty cells."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*([_cell(value) for value in column.tolist()] for column in columns.values()), strict=True))
    return text.getvalue()


def _cell(value: object) -> object:
    if value is None:
        return ""
    if not isinstance(value, float):
        return value
    if math.isnan(value):
        return ""
    return int(value) if value.is_integer() else value
