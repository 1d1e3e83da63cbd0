"""``hedgerow audit``: check the privacy claim of every mechanism, exactly and from samples."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.audit import AuditResult
    from hedgerow.audit.registry import Entry

_DESCRIPTION = """\
Check the privacy claims of every mechanism and of whole fits on this machine:

  exact    enumerate the law of a small instance and compare every likelihood
           ratio with e**epsilon in integer arithmetic: a proof, or a refutation
  sampled  run the code that ships, choose an event on half of the outputs and
           bound its privacy loss from below on the other half; a correct
           mechanism is called VIOLATED at most once in a million audits
  replay   fit every central and label estimator on small tables, then on their
           neighbours with the same coins and the outputs of all releases forced
           to be the same: both must say the same to the last bit, and the exact
           losses of all releases together must stay within the claim. It proves
           the claim for the pairs that are tried, not for all
"""
_EPILOG = "Exit codes: 0 all claims hold, 1 a claim is violated, 2 bad arguments."


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "audit",
        help="check the privacy claims of all mechanisms and fits",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help="audit only entries whose name holds this text")
    parser.add_argument(
        "--epsilon",
        type=_epsilons,
        default=(0.5, 1.0, 2.0),
        metavar="E,E,...",
        help="privacy budgets to build and audit everything at (default: 0.5,1,2)",
    )
    parser.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help="audit only this one; may be given more than once (default: all)",
    )
    parser.add_argument(
        "--samples",
        type=_samples,
        default=400_000,
        metavar="N",
        help="outputs drawn for each of two inputs in the sampled tier; 0 skips it (default: 400000)",
    )
    parser.add_argument("--seed", type=int, help="reproducible samples (default: secure randomness)")
    parser.add_argument("--list", action="store_true", help="list all that is audited and exit")
    parser.add_argument("--json", action="store_true", help="print a JSON list instead of a table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Audit, print, and return 1 if a claim is violated."""
    from hedgerow.audit import entries, find

    chosen = tuple(map(find, arguments.mechanism)) if arguments.mechanism else entries()
    if arguments.patterns:
        chosen = tuple(entry for entry in chosen if _named(entry.name, arguments.patterns))
        if not chosen:
            raise HedgerowError(f"no audit has {' or '.join(map(repr, arguments.patterns))} in its name; see --list.")
    if arguments.list:
        print(json.dumps([e.name for e in chosen]) if arguments.json else "\n".join(e.name for e in chosen))
        return 0
    results = _results(chosen, arguments)
    return _print_json(results) if arguments.json else _print_table(results, chosen)


def _named(name: str, patterns: list[str]) -> bool:
    return any(pattern.lower() in name.lower() for pattern in patterns)


def _results(chosen: tuple[Entry, ...], arguments: argparse.Namespace) -> Iterator[AuditResult]:
    from hedgerow.audit import audit_all

    return audit_all(arguments.epsilon, chosen, n=arguments.samples, randomness=arguments.seed)


def _print_json(results: Iterator[AuditResult]) -> int:
    done = list(results)
    print(json.dumps([r.to_dict() for r in done], indent=2, allow_nan=False))
    return 0 if all(r.holds for r in done) else 1


def _print_table(results: Iterator[AuditResult], chosen: tuple[Entry, ...]) -> int:
    """Print each row as soon as it is known."""
    from hedgerow.audit.result import format_row, header

    width = max(len("mechanism"), *(len(e.name) for e in chosen))
    print(header(width), flush=True)
    violated = total = pairs = 0
    for result in results:
        print(format_row(result, width), flush=True)
        if not result.holds:
            print(f"  {result.witness}", flush=True)
            violated += 1
        total += 1
        pairs += result.pairs
    print(f"{violated} of {total} claims VIOLATED" if violated else f"all {total} claims hold")
    if pairs:
        print(f"{pairs} neighbouring tables were fitted again")
    return 1 if violated else 0


def _epsilons(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers such as 0.5,1,2. Got {text!r} instead.") from None
    if not all(0 < v < math.inf for v in values):
        raise argparse.ArgumentTypeError(f"every epsilon must be above 0 and finite. Got {text!r} instead.")
    return values


def _samples(text: str) -> int:
    try:
        value = int(float(text)) if float(text).is_integer() else -1
    except (ValueError, OverflowError):
        value = -1
    if not (value == 0 or 1000 <= value <= 10**9):
        raise argparse.ArgumentTypeError(f"expected 0 or a whole number from 1000 to 1e9. Got {text!r} instead.")
    return value
