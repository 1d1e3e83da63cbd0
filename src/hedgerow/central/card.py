"""The card and the page of a central model."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from hedgerow.card.sections import Told
from hedgerow.tasks.card import card_of
from hedgerow.tasks.models import check_level

if TYPE_CHECKING:
    from hedgerow.card import Card
    from hedgerow.explorer import Explorer
    from hedgerow.formula.anatomy import Anatomy

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

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return what a prediction is made of and how sure it is; each model says of what."""
        raise NotImplementedError

    def explorer(self, level: float = 0.9) -> Explorer:
        """Return a page on which one record is tried: its prediction, what that is made of, how sure it is."""
        from hedgerow.explorer import Explorer

        return Explorer(self.anatomy(level))
