"""How arguments of commands are read: each function is a ``type=`` of argparse and says what it expects."""

from __future__ import annotations

import argparse
from typing import Any

__all__ = [
    "add_columns",
    "add_schema",
    "add_target",
    "bounds",
    "column_bounds",
    "column_names",
    "names",
    "share",
    "whole",
]


def bounds(text: str) -> tuple[float, float]:
    """Read ``LOW:HIGH``."""
    low, separator, high = text.partition(":")
    try:
        if not separator:
            raise ValueError
        pair = float(low), float(high)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected LOW:HIGH such as 0:80. Got {text!r} instead.") from None
    if not -float("inf") < pair[0] < pair[1] < float("inf"):
        raise argparse.ArgumentTypeError(f"expected finite numbers with LOW < HIGH. Got {text!r} instead.")
    return pair


def column_bounds(text: str) -> tuple[str, tuple[float, float]]:
    """Read ``COLUMN=LOW:HIGH``."""
    name, separator, rest = text.rpartition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"expected COLUMN=LOW:HIGH such as age=0:99. Got {text!r} instead.")
    return name, bounds(rest)


def column_names(text: str) -> tuple[str, list[str]]:
    """Read ``COLUMN=A,B``."""
    name, separator, rest = text.partition("=")
    if not separator or not name:
        raise argparse.ArgumentTypeError(f"expected COLUMN=A,B such as sex=F,M. Got {text!r} instead.")
    return name, names(rest)


def names(text: str) -> list[str]:
    """Read ``A,B``: distinct and not empty."""
    found = [part.strip() for part in text.split(",")]
    if not all(found) or len(set(found)) != len(found):
        raise argparse.ArgumentTypeError(f"expected distinct names such as sex,region. Got {text!r} instead.")
    return found


def whole(text: str) -> int | str:
    """Read a whole number, or ``auto``."""
    if text == "auto":
        return text
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, or auto. Got {text!r} instead.")
    return value


def share(text: str) -> float | str:
    """Read a number between 0 and 1, or ``auto``."""
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number between 0 and 1, or auto. Got {text!r} instead.") from None


_COLUMNS: dict[str, dict[str, Any]] = {
    "--features": {"type": names, "metavar": "COL,COL", "help": "columns to use (default: all others)"},
    "--categorical": {
        "type": names, "default": [], "metavar": "COL,COL", "help": "categorical columns (text is found)",
    },
    "--categories": {
        "action": "append", "type": column_names, "default": [], "metavar": "COL=A,B",
        "help": "public categories of a column; may be repeated",
    },
    "--feature-bounds": {
        "action": "append", "type": column_bounds, "default": [], "metavar": "COL=LOW:HIGH",
        "help": "public range of a numeric column; may be repeated",
    },
}  # fmt: skip


def add_schema(parser: argparse.ArgumentParser) -> None:
    """Add ``--schema``: it says all that is public of columns and label, so that no other option has to."""
    parser.add_argument(
        "--schema", metavar="FILE", help="a schema, JSON: all that is public of columns and label ('hedgerow schema')"
    )


def add_target(parser: argparse.ArgumentParser, words: str = "the label") -> None:
    """Add ``--target``, which a schema with a label makes superfluous."""
    parser.add_argument("--target", metavar="COLUMN", help=f"{words} (default: the label of --schema)")


def add_columns(parser: argparse.ArgumentParser, *options: str) -> None:
    """Add options that say what is public about columns; by default all of them."""
    for option in options or _COLUMNS:
        parser.add_argument(option, **_COLUMNS[option])
