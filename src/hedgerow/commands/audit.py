"""``hedgerow audit``: check the privacy claims of mechanisms, of whole tasks and of whole fits."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hedgerow.commands.progress import Progress
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.audit import AuditResult, Entry

_DESCRIPTION = """\
Check the privacy claims of this library on this machine.

Mechanisms, small instances of each, at every --epsilon:
  exact    enumerate the law as it is stated and compare every likelihood ratio
           with e**epsilon in integer arithmetic: a proof, or a refutation
  sampled  run the code that ships, choose an event on half of the outputs and
           bound its privacy loss from below on the other half; a correct
           mechanism is called VIOLATED at most once in a million audits

Whole tasks, one of every kind and round, at the largest --epsilon:
  exact    run the code of a holder's device along every path of its secure
           random draws, and compare the laws of all that it can send, in exact
           arithmetic; no law is written by hand. Paths are left out whose
           chances sum to less than 2**-20 a record; that counts against the
           claim, as a delta
  sampled  run the same code with secure randomness on two neighbouring records
           (a hundredth of --samples each), and look for events in all bytes
           that are sent, report ids included

Whole fits, every central and label estimator on small tables:
  replay   fit, then fit neighbours with the same coins and the outputs of all
           releases forced to be the same: both must say the same to the last
           bit, and the exact losses of all releases together must stay within
           the claim. It proves the claim for the pairs that are tried, not for
           all
  sampled  the variance and covariance of the noise that ANOVA draws

Not covered: instances and tables other than these small ones (for which the
proof in each mechanism's documentation speaks), the holder's page (make test
holds it against Python, draw by draw), timing, and the machine's generator.
"""
_HEADINGS = {
    "task": "whole tasks: what a device sends, byte for byte, with secure randomness",
    "fit": "whole fits: played again on neighbours, release by release",
}
_EPILOG = "Exit codes: 0 all claims hold, 1 a claim is violated, 2 bad arguments."


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = subparsers.add_parser(
        "audit",
        help="check the privacy claims of mechanisms, tasks and fits",
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
        help="privacy budgets to build and audit each mechanism at (default: 0.5,1,2)",
    )
    parser.add_argument(
        "--mechanism",
        action="append",
        metavar="NAME",
        help="audit only the entry of this name; may be given more than once (default: all)",
    )
    parser.add_argument(
        "--samples",
        type=_samples,
        default=400_000,
        metavar="N",
        help="outputs drawn for each of two inputs in the sampled tier; 0 skips it (default: 400000)",
    )
    parser.add_argument(
        "--seed", type=int, help="reproducible samples (default: secure; whole tasks are always secure)"
    )
    parser.add_argument("--list", action="store_true", help="list what is audited, and how, and exit")
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
        print(_list_json(chosen) if arguments.json else _list(chosen))
        return 0
    with Progress("auditing", f"of {len(chosen)} done:") as progress:
        if arguments.json:
            return _print_json(_results(chosen, arguments, progress), progress)
        return _print_table(chosen, arguments, progress)


def _list_json(chosen: tuple[Entry, ...]) -> str:
    return json.dumps([{"name": e.name, "whole": e.whole, "tiers": list(e.tiers)} for e in chosen], indent=2)


def _list(chosen: tuple[Entry, ...]) -> str:
    """Return a line an entry: its name, what of it is audited whole, and its tiers."""
    width = max(len(e.name) for e in chosen)
    rows = [("audit", "whole", "tiers"), *((e.name, e.whole or "-", ", ".join(e.tiers)) for e in chosen)]
    return "\n".join(f"{name:<{width}}  {whole:<5}  {tiers}" for name, whole, tiers in rows)


def _named(name: str, patterns: list[str]) -> bool:
    return any(pattern.lower() in name.lower() for pattern in patterns)


def _results(
    chosen: tuple[Entry, ...], arguments: argparse.Namespace, progress: Progress
) -> Iterator[tuple[Entry, AuditResult]]:
    """Yield each result with its entry, and show which one is being audited."""
    from hedgerow.audit import audit_all

    for i, entry in enumerate(chosen):
        progress.update(i, i / len(chosen), entry.name)
        for result in audit_all(arguments.epsilon, (entry,), n=arguments.samples, randomness=arguments.seed):
            yield entry, result


def _print_json(results: Iterator[tuple[Entry, AuditResult]], progress: Progress) -> int:
    done = [result for _, result in results]
    with progress.aside():
        print(json.dumps([r.to_dict() for r in done], indent=2, allow_nan=False))
    return 0 if all(r.holds for r in done) else 1


def _print_table(chosen: tuple[Entry, ...], arguments: argparse.Namespace, progress: Progress) -> int:
    """Print each row as soon as it is known; what is audited whole comes under a heading of its own."""
    from hedgerow.audit.result import format_row, header

    width = max(len("mechanism"), *(len(e.name) for e in chosen))
    with progress.aside():
        print(header(width), flush=True)
    violated = total = pairs = 0
    heading = ""
    for entry, result in _results(chosen, arguments, progress):
        with progress.aside():
            if entry.whole != heading:
                heading = entry.whole
                if heading:
                    print(_HEADINGS[heading], flush=True)
            print(format_row(result, width), flush=True)
            if not result.holds:
                print(f"  {result.witness}", flush=True)
        violated += not result.holds
        total += 1
        pairs += result.pairs
    with progress.aside():
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
