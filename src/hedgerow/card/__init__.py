"""Model cards: what a published model is, for whom and under which promise, on one page."""

from hedgerow.card.card import Bullets, Card, Code, Picture, Section

__all__ = ["Bullets", "Card", "Code", "Picture", "Section"]
