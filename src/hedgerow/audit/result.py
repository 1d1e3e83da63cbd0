"""The outcome of one audit, and how a list of them is printed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["HOLDS", "VIOLATED", "AuditResult", "format_row", "format_table", "header"]

HOLDS = "holds"
VIOLATED = "VIOLATED"


@dataclass(frozen=True)
class AuditResult:
    """What was claimed, what was measured, and whether the claim stands.

    Attributes
    ----------
    mechanism : str
        What was audited.
    claim : float
        The claimed epsilon (with ``delta``).
    measured : float
        Tier "exact": the privacy loss itself, the log of the worst likelihood ratio. Tier "sampled": a lower
        bound of it at confidence ``1 - alpha``. ``inf`` where an output of one input is impossible under
        another.
    tier : {"exact", "sampled", "replay"}
        "exact" proves or refutes the claim for the law as stated; "sampled" can only refute, but runs the
        code that ships. "replay" runs whole fits that ship, on pairs of neighbouring tables with equal coins and
        outputs, and sums the exact losses of all that was released.
    verdict : {"holds", "VIOLATED"}
        In the exact tier decided in integers, never by comparing the floats shown.
    seconds : float
        Time taken.
    delta : float
        The claimed delta.
    samples : int
        Runs on each of the two inputs (sampled tier).
    witness : str
        The worst output and the two inputs, or the event that was chosen.
    pairs : int
        Neighbouring tables that were fitted (tier "replay").

    Examples
    --------
    >>> result = AuditResult("coin", claim=1.0, measured=0.5, tier="exact", verdict="holds", seconds=0.01)
    >>> result.holds
    True
    """

    mechanism: str
    claim: float
    measured: float
    tier: str
    verdict: str
    seconds: float
    delta: float = 0.0
    samples: int = 0
    witness: str = ""
    pairs: int = 0

    @property
    def holds(self) -> bool:
        """Whether the claim stands."""
        return self.verdict == HOLDS

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form; infinity becomes the text "inf", which JSON can hold."""
        return {k: "inf" if v == math.inf else v for k, v in asdict(self).items()}


_COLUMNS = ("claim", "measured >=", "tier", "verdict", "seconds")
_WIDTHS = (8, 12, 8, 9, 8)  # of the columns of numbers: their headings, and numbers as they are formatted


def header(name_width: int) -> str:
    """Return the head of the table."""
    cells = [f"{c:>{w}}" for c, w in zip(_COLUMNS, _WIDTHS, strict=True)]
    return "  ".join([f"{'mechanism':<{name_width}}", *cells])


def format_row(result: AuditResult, name_width: int) -> str:
    """Return one line of the table."""
    values = (
        f"{result.claim:g}",
        f"{result.measured:.6f}",
        result.tier,
        result.verdict,
        f"{result.seconds:.2f}",
    )
    cells = [f"{v:>{w}}" for v, w in zip(values, _WIDTHS, strict=True)]
    return "  ".join([f"{result.mechanism:<{name_width}}", *cells])


def format_table(results: Iterable[AuditResult]) -> str:
    """Return results as a plain table.

    >>> print(format_table([AuditResult("coin", 1.0, 0.5, "exact", "holds", 0.01)]))
    mechanism     claim   measured >=      tier    verdict   seconds
    coin              1      0.500000     exact      holds      0.01
    """
    rows = list(results)
    width = max([len("mechanism"), *(len(r.mechanism) for r in rows)])
    return "\n".join([header(width), *(format_row(r, width) for r in rows)])
