"""``--ledger``: what a command spends is booked before it draws; the rules are those of :mod:`hedgerow.spending`."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.ledger import Ledger

__all__ = ["add_ledger", "booked", "left_lines", "open_ledger", "read_ledger"]


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Add ``--ledger``."""
    parser.add_argument(
        "--ledger",
        metavar="FILE",
        help="book what this spends in a ledger, before anything is drawn; more than is left is refused",
    )


def read_ledger(path: str) -> Ledger:
    """Open a ledger that exists."""
    from hedgerow.commands.files import naming
    from hedgerow.ledger import Ledger

    if not os.path.exists(path):
        raise HedgerowError(
            f"{path}: there is no such ledger; make it with 'hedgerow ledger limit {path} --epsilon E'."
        )
    with naming(path):
        return Ledger(path)


def open_ledger(arguments: argparse.Namespace) -> Ledger | None:
    """Return the ledger that was named, whatever is wrong with it being said before any work; None without one."""
    return None if arguments.ledger is None else read_ledger(arguments.ledger)


def booked(ledger: Ledger | None) -> dict[str, Any]:
    """Return what a summary for machines says of the ledger: nothing without one."""
    if ledger is None:
        return {}
    left = ledger.remaining()
    return {"ledger": {"path": str(ledger.path), "left": {"epsilon": left.epsilon, "delta": left.delta}}}


def left_lines(ledger: Ledger | None) -> list[str]:
    """Return what people are told of the ledger at the end of a command."""
    if ledger is None:
        return []
    left = ledger.remaining()
    return [f"{ledger.path}: epsilon = {left.epsilon:.15g} and delta = {left.delta:.15g} are left"]
