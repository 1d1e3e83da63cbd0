"""``hedgerow ledger``: make, look at and book in a ledger of privacy budget."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from hedgerow.commands.booking import read_ledger
from hedgerow.commands.files import EXIT_CODES, add_command, counted, naming, report, warn_if_weak
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.guarantee import Guarantee
    from hedgerow.ledger import Entry, Ledger

_DESCRIPTION = """\
A ledger is a file that counts what was spent about the same people, and refuses
to go beyond its limit. 'hedgerow fit', 'search', 'privatize' and 'labels' book in
it with --ledger FILE, and every estimator with ledger=.
"""
_LIMIT = """\
Make a ledger with a limit, or, without --epsilon, show the limit of one and what
is left of it. A limit is for good: nothing raises it, and the same command again
changes nothing.
"""
_SHOW = "Show the limit, what is left of it, and all spends, oldest first."
_SPEND = """\
Book a release that this library does not make itself, before it is made. What is
protected, and between which neighbours, is as in the limit. With --key the same
release is charged once: the same key again, with the same cost and purpose, is free.
"""
_MADE = ("delta", "protects", "trust", "neighbours", "rehearsal")


def register(subparsers: Any) -> None:
    """Add the command and its actions."""
    ledger = subparsers.add_parser(
        "ledger",
        help="make, look at and book in a ledger of privacy budget",
        description=_DESCRIPTION,
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    actions = ledger.add_subparsers(dest="action", metavar="ACTION", required=True)
    limit = add_command(actions, "limit", "make a ledger, or show what is left", _LIMIT)
    limit.add_argument("ledger", help="the file of the ledger")
    limit.add_argument("--epsilon", type=float, metavar="E", help="the most that all spends together may cost")
    limit.add_argument("--delta", type=float, metavar="D", help="likewise (default: 0)")
    limit.add_argument(
        "--protects",
        choices=("record", "private features and label", "label"),
        help="what every spend must protect (default: record)",
    )
    limit.add_argument(
        "--neighbours",
        choices=("replace", "add/remove", "label"),
        help="between which data sets, as every spend must say it (default: replace; label for labels)",
    )
    limit.add_argument(
        "--trust",
        choices=("local", "aggregate", "central"),
        help="local: refuse whatever needs a trusted curator (default: central)",
    )
    limit.add_argument("--rehearsal", action="store_true", default=None, help="take seeded noise too: for practice")
    limit.set_defaults(run=_limit)
    show = add_command(actions, "show", "show what was spent and what is left", _SHOW)
    show.add_argument("ledger", help="the file of the ledger")
    show.set_defaults(run=_show)
    spend = add_command(actions, "spend", "book a release", _SPEND)
    spend.add_argument("ledger", help="the file of the ledger")
    spend.add_argument("--epsilon", type=float, required=True, metavar="E", help="what the release costs")
    spend.add_argument("--delta", type=float, default=0.0, metavar="D", help="likewise (default: 0)")
    spend.add_argument("--purpose", required=True, metavar="TEXT", help="what it is for, in one line")
    spend.add_argument("--key", metavar="TEXT", help="a name of this one outcome; the same again is free")
    spend.add_argument(
        "--trust", choices=("local", "aggregate", "central"), help="whom it trusts (default: as the limit)"
    )
    spend.set_defaults(run=_spend)


def _limit(arguments: argparse.Namespace) -> int:
    if arguments.epsilon is None:
        given = [name for name in _MADE if getattr(arguments, name) is not None]
        if given:
            raise HedgerowError(f"--{given[0]} is for a new ledger, with --epsilon; leave it out to see what is left.")
        return _report(arguments, read_ledger(arguments.ledger))
    from hedgerow.ledger import Ledger

    wanted = _wanted(arguments)
    folder = os.path.dirname(os.path.abspath(arguments.ledger))
    if not os.path.isdir(folder):
        raise HedgerowError(f"{arguments.ledger}: there is no folder {folder}; make it first.")
    warn_if_weak(arguments, wanted.epsilon, wanted.delta)
    with naming(arguments.ledger):
        ledger = Ledger(arguments.ledger, limit=wanted)
    return _report(arguments, ledger)


def _wanted(arguments: argparse.Namespace) -> Guarantee:
    """Return the limit that was asked for."""
    from hedgerow.guarantee import Guarantee

    protects = arguments.protects or "record"
    return Guarantee(
        arguments.epsilon,
        arguments.delta or 0.0,
        protects=protects,
        trust=arguments.trust or "central",
        neighbours=arguments.neighbours or ("label" if protects == "label" else "replace"),
        simulation=bool(arguments.rehearsal),
    )


def _show(arguments: argparse.Namespace) -> int:
    ledger = read_ledger(arguments.ledger)
    entries = ledger.entries()
    lines = [
        f"{e.number}  {e.time}  epsilon {e.charged.epsilon:.15g}  delta {e.charged.delta:.15g}  {e.purpose}"
        for e in entries
    ]
    return _report(arguments, ledger, [*lines, counted(len(entries), "spend")], entries)


def _spend(arguments: argparse.Namespace) -> int:
    from dataclasses import replace

    ledger = read_ledger(arguments.ledger)
    changes = {"epsilon": arguments.epsilon, "delta": arguments.delta, "notes": ()}
    release = replace(ledger.limit, **changes, trust=arguments.trust or ledger.limit.trust)
    entry = ledger.spend(release, purpose=arguments.purpose, key=arguments.key)
    line = f"entry {entry.number}: epsilon {entry.charged.epsilon:.15g}, delta {entry.charged.delta:.15g}"
    return _report(arguments, ledger, [f"{line} for {entry.purpose}"], [entry])


def _report(
    arguments: argparse.Namespace, ledger: Ledger, lines: list[str] | None = None, entries: list[Entry] | None = None
) -> int:
    """Say what was asked for, the limit and what is left."""
    left = ledger.remaining()
    limit = ledger.limit
    summary: dict[str, Any] = {
        "action": arguments.action,
        "ledger": arguments.ledger,
        "limit": limit.to_dict(),
        "left": {"epsilon": left.epsilon, "delta": left.delta},
    }
    if entries is not None:
        summary["entries"] = [_as_dict(entry) for entry in entries]
    stated = f"{limit.protects}, {limit.trust}, {limit.neighbours}"
    if limit.simulation:
        stated += "; a rehearsal: seeded noise is booked too"
    words = [
        f"limit: epsilon = {limit.epsilon:.15g} and delta = {limit.delta:.15g} ({stated})",
        f"left: epsilon = {left.epsilon:.15g} and delta = {left.delta:.15g}",
    ]
    report(arguments, summary, [*(lines or []), *words])
    return 0


def _as_dict(entry: Entry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "key": entry.key,
        "purpose": entry.purpose,
        "epsilon": entry.charged.epsilon,
        "delta": entry.charged.delta,
        "time": entry.time,
        "guarantee": entry.guarantee.to_dict(),
    }
