"""Sections that every card has, whatever was fitted: its use, its guarantee, what it says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from hedgerow.card.card import Block, Bullets, Section, check_text
from hedgerow.card.protected import not_protected, parts
from hedgerow.guarantee import Guarantee
from hedgerow.summary import Summary, SummaryTable

__all__ = ["Told", "facts_table", "guarantee_section", "says_section", "use_section"]

_NOT_STATED = "Not stated by whoever made this card."


@dataclass(frozen=True)
class Told:
    """What whoever publishes a model says of it."""

    purpose: str = ""
    intended_use: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "purpose", check_text("purpose", self.purpose))
        object.__setattr__(self, "intended_use", check_text("intended_use", self.intended_use))


def use_section(told: Told, not_for: Sequence[str]) -> Section:
    """Return what the model is for, in the publisher's words, and what it is not to be used for."""
    blocks: list[Block] = [f"Purpose. {told.purpose or _NOT_STATED}"]
    blocks.append(f"Intended use. {told.intended_use or _NOT_STATED}")
    blocks += ["Do not use it:", Bullets(tuple(not_for))]
    return Section("Intended use", tuple(blocks))


def guarantee_section(claim: Guarantee) -> Section:
    """Return the promise, who is protected from whom, under which conditions, and what is not covered."""
    blocks: list[Block] = [str(replace(claim, notes=())), parts(claim)]
    if claim.notes:
        blocks += ["Conditions of the promise, and how it came about:", Bullets(claim.notes)]
    blocks += ["What it does not promise:", Bullets(not_protected(claim))]
    return Section("Guarantee", tuple(blocks))


def says_section(summary: Summary, apart: Sequence[str] = ()) -> Section:
    """Return what the model says; remarks in ``apart`` stand elsewhere."""
    facts = facts_table("In short", summary.facts)
    remarks = tuple(text for text in summary.remarks if text not in apart)
    return Section("What it says, and how sure it is", (facts, *summary.tables, *remarks))


def facts_table(title: str, facts: Sequence[tuple[str, str]]) -> SummaryTable:
    """Return facts by name."""
    return SummaryTable(title, ("fact", "value"), tuple(facts))
