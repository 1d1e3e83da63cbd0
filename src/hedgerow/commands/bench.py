"""``hedgerow bench``: the papers' tables and figures, where the package of experiments is installed."""

from __future__ import annotations

import argparse
import importlib.util
from typing import Any

from hedgerow.errors import HedgerowError

__all__ = ["register"]

_HELP = "what to use when; the papers' tables and ours, rerun"
_MISSING = (
    "the papers' experiments are a package of their own, hedgerow-experiments, which is not installed; run "
    "'pip install . ./experiments' in a copy of the source (or 'make setup', for work on it)."
)


def register(subparsers: Any) -> None:
    """Add the command: its verbs if there are any, else a word on how to get them."""
    if importlib.util.find_spec("hedgerow_experiments") is not None:
        from hedgerow_experiments.commands import register as register_verbs

        register_verbs(subparsers)
        return
    parser = subparsers.add_parser("bench", help=_HELP, description=f"Not here: {_MISSING}", allow_abbrev=False)
    parser.add_argument("rest", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    parser.set_defaults(run=_refuse)


def _refuse(arguments: argparse.Namespace) -> int:
    raise HedgerowError(_MISSING)
