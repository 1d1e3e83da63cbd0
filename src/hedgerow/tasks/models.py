"""What every model is, to the doors: predictions, words, versioned JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from hedgerow.guarantee import Guarantee

__all__ = ["About", "Result"]


@dataclass(frozen=True)
class About:
    """What was made of reports, in short: numbers for machines, a headline and remarks for people."""

    headline: str
    facts: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


class Result(Protocol):
    """What a task makes of reports: a model, or totals that the design of the next task reads."""

    n_reports: int
    simulation: bool

    @property
    def guarantee(self) -> Guarantee:
        """What the reports behind it protect."""

    def about(self) -> About:
        """Return what was made, in short."""

    def to_json(self) -> str:
        """Return versioned JSON."""
