"""Where every table and figure of the papers stands: ``hedgerow bench status``, ``status.md``, and the results page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from hedgerow_experiments.claims.base import Claim
from hedgerow_experiments.claims.page import ALL
from hedgerow_experiments.claims.precision import FEWEST, SHARE
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.papers import ITEMS, Item
from hedgerow_experiments.registry import all_experiments

__all__ = [
    "HEAD",
    "Status",
    "about",
    "cells",
    "hours",
    "pages",
    "precise",
    "status",
    "summary",
    "to_json",
    "total_hours",
]

FULL = "complete"
THIN = "fewer repeats"
GAPS = "gaps"
NOT_RUN = "not run yet"
NOTHING = "nothing to measure"
DRAWN = "drawn"
HEAD = ("paper", "table or figure", "made by", "state", "repeats here", "repeats there", "without results",
        "data that cannot be had", "CPU hours", "to know")  # fmt: skip

_PAGE = """# Every table and figure of the four papers

Written by `hedgerow bench page` (or `hedgerow bench status`) from the committed results. "Repeats here" are the fewest
and the most of its cells; "there" is what the paper says, and a dash that it does not. *Complete*: every method on
every data set of it, at least as often as in the paper; where the paper says no number, at least ten times. Fewer are
enough where every claim about it compares methods and the standard error of the difference is below a tenth of it
({fewest} repeats at least): the last column then states both. CPU hours are those of the whole experiment, which may
make several tables.
"""


class Status(NamedTuple):
    """An item, and what the results hold of it: the fewest and most repeats, and pairs that have none.

    ``because`` says why fewer repeats than the paper's are enough, with the numbers.
    """

    item: Item
    state: str
    fewest: int
    most: int
    lacking: tuple[str, ...]
    hours: float | None
    because: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        own = self._asdict()
        item = own.pop("item")
        return {"paper": item.paper, "where": item.where, "experiment": item.experiment, **own,
                "repeats_in_the_paper": item.repeats, "missing": item.missing, "note": item.note}  # fmt: skip


def status(found: Evidence, items: Sequence[Item] = ITEMS) -> list[Status]:
    """Return the state of every item.

    >>> status(Evidence({}), [Item("P", "table 1", note="theory"), Item("P", "table 2", "lpdt-table6", 50)])[0].state
    'nothing to measure'
    """
    return [_status(found, item) for item in items]


def _status(found: Evidence, item: Item) -> Status:
    if not item.experiment:
        return Status(item, DRAWN if item.drawn else NOTHING, 0, 0, (), None)
    seen: dict[tuple[Any, ...], set[int]] = {}
    for row in found.rows(item.experiment):
        epsilon = not item.epsilons or row.epsilon is None or row.epsilon in item.epsilons
        setting = item.setting is None or row.setting == item.setting
        method = not item.methods or row.method in item.methods
        dataset = not item.datasets or row.dataset in item.datasets
        if epsilon and setting and method and dataset:
            seen.setdefault(row.cell, set()).add(row.repeat)
    counts = [len(repeats) for repeats in seen.values()] or [0]
    pairs = {(cell[0], cell[2]) for cell in seen}
    lacking = _lacking(item, pairs)
    enough = min(counts) >= (item.repeats or 10)
    state = NOT_RUN
    because = ""
    if seen:
        because = "" if lacking or enough or min(counts) < FEWEST else precise(found, item)
        state = GAPS if lacking else FULL if enough or because else THIN
    return Status(item, state, min(counts), max(counts), lacking, hours(found, item.experiment), because)


def about(claim: Claim, item: Item) -> bool:
    """Return whether a claim names a table or figure; one about a figure is about each of its panels.

    >>> def told(where):
    ...     return Claim("P", where, "", None, "")
    >>> [about(told(w), Item("P", "table 2")) for w in ("table 2", "tables 1-3", "tables 1, 2", "table 21", "figure 2")]
    [True, True, True, False, False]
    >>> about(told("figure 1"), Item("P", "figure 1(a)")), about(told("figure 1(b)"), Item("P", "figure 1(a)"))
    (True, False)
    """
    kind, _, numbers = claim.where.partition(" ")
    if claim.paper != item.paper or not item.where.startswith(kind.removesuffix("s") + " "):
        return False
    first, _, last = numbers.partition("-")
    named = [str(n) for n in range(int(first), int(last) + 1)] if last else numbers.split(", ")
    own = item.where.partition(" ")[2]
    return any(own == name or own.startswith(name + "(") for name in named)


def precise(found: Evidence, item: Item, claims: Sequence[Claim] = ALL) -> str:
    """Return why fewer repeats than the paper's are enough, or nothing where they are not.

    They are if the standard error of every claim's difference is below a tenth of it. Where a claim is about the shape
    of a curve, or nothing is claimed, there is no such difference, and the number of repeats decides.
    """
    told = []
    for claim in claims:
        if about(claim, item):
            known = claim.check(found).precision
            if known is None or not known.enough:
                return ""
            told.append(f"{claim.text}: {known}")
    share = f"below {SHARE:g} of the difference that each claim is about"
    return f"fewer repeats, but standard errors are {share} ({'; '.join(told)})" if told else ""


def _lacking(item: Item, pairs: set[tuple[str, str]]) -> tuple[str, ...]:
    """Return data sets without any results, and methods without some, in words."""
    out = []
    for dataset in item.datasets:
        methods = [m for m in item.methods if (dataset, m) not in pairs]
        if methods and len(methods) == len(item.methods):
            out.append(dataset)
        elif methods:
            out.append(f"{dataset}: {', '.join(methods)}")
    return tuple(out)


def hours(found: Evidence, name: str) -> float | None:
    """Return the CPU hours of an experiment, as far as its cells were timed (the others are taken to be like them).

    None if few of them were.
    """
    made = found.made(name)
    timed = int(made.get("cells_with_time", 0))
    count = int(made.get("cells", 0))
    if not timed or 2 * timed < count:
        return None
    return float(made["cpu_seconds"]) * count / timed / 3600


def total_hours(found: Evidence) -> float:
    """Return the CPU hours of all experiments, ours too, that were timed."""
    return sum(hours(found, name) or 0.0 for name in all_experiments())


def cells(one: Status) -> list[str]:
    """Return a line of the table."""
    item = one.item
    repeats = "-"
    if one.most:
        repeats = str(one.most) if one.fewest == one.most else f"{one.fewest} to {one.most}"
    there = "-" if item.repeats is None else str(item.repeats)
    took = "-" if one.hours is None else f"{one.hours:.2f}"
    know = "; ".join(text for text in (item.note, one.because) if text) or "-"
    return [item.paper, item.where, item.experiment or "-", one.state, repeats, there, "; ".join(one.lacking) or "-",
            item.missing or "-", took, know]  # fmt: skip


def summary(found: Evidence, checked: Sequence[Status]) -> str:
    """Return how many items are in which state, and the CPU hours, in a sentence."""
    states = [s for s in (FULL, THIN, GAPS, NOT_RUN, DRAWN, NOTHING) if any(one.state == s for one in checked)]
    said = ", ".join(f"{sum(one.state == s for one in checked)} {s}" for s in states)
    untimed = [n for n in found.experiments if hours(found, n) is None]
    but = f" (without {', '.join(untimed)}, which ran before cells were timed)" if untimed else ""
    return f"{len(checked)} tables and figures: {said}. All experiments took {total_hours(found):.1f} CPU hours{but}."


def pages(found: Evidence) -> Files:
    """Return ``status.md``."""
    checked = status(found)
    lines = [_PAGE.format(fewest=FEWEST), summary(found, checked), "", *pipes(HEAD, map(cells, checked))]
    return {"status.md": ("\n".join(lines) + "\n").encode()}


def to_json(checked: Sequence[Status]) -> str:
    """Return the table as JSON."""
    return json.dumps([one.to_dict() for one in checked], indent=1)
