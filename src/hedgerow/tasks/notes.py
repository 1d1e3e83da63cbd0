"""Conditions that a model adds to the guarantee of its task, and how its JSON holds them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hedgerow.bounds import read_list
from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee

__all__ = ["model_guarantee", "read_notes"]


def model_guarantee(task: Guarantee, notes: tuple[str, ...], simulation: bool) -> Guarantee:
    """Return what the reports behind a model protect: what the task promised, under the model's own conditions too."""
    return replace(task, simulation=simulation, notes=tuple(dict.fromkeys((*task.notes, *notes))))


def read_notes(data: Mapping[str, Any], what: str) -> tuple[str, ...]:
    """Return the conditions in a model's JSON: a list of texts."""
    notes = read_list(data, "notes", what)
    if not all(type(note) is str for note in notes):
        raise FormatError(f"{what}: 'notes' must be texts. Got {notes!r} instead.")
    return tuple(notes)
