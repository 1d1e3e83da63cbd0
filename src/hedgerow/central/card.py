"""The card of a central model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hedgerow.card.sections import Told
from hedgerow.tasks.card import card_of
from hedgerow.tasks.models import check_level

if TYPE_CHECKING:
    from hedgerow.card import Card

__all__ = ["Carded"]


class Carded:
    """A model with a card.

    Attributes
    ----------
    audited : tuple of str
        Parts of the names under which ``hedgerow audit`` has the fits that make such models.
    """

    audited: ClassVar[tuple[str, ...]]

    def card(self, *, purpose: str = "", intended_use: str = "", level: float = 0.9) -> Card:
        """Return one page about the model: use, guarantee, what it says, pictures, schema, audit, making."""
        return card_of(self, Told(purpose, intended_use), check_level(level))
