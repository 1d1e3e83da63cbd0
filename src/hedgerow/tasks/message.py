"""What one report says: its length, which bytes are possible, and what a curator adds up of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hedgerow.types import ByteRows, IntArray

__all__ = ["CODES", "Message"]

CODES = {
    "tree bits": 1,
    "tree unary": 2,
    "tree k_ary": 3,
    "tree subset": 4,
    "assisted subset": 16,
    "assisted levels": 17,
    "assisted classes": 18,
    "pilot": 20,
    "first round": 32,
    "second round k_ary": 33,
    "second round bits": 34,
    "residual": 36,
    "label": 48,
    "sums": 64,
}
"""The one table of codes: what the second byte of a report says of the message that follows. Never used again."""


class Message:
    """One kind of message, as rows of bytes; concrete ones are frozen dataclasses.

    Totals are whole numbers in blocks of one length. Most messages have the single block 0; a message whose reading
    depends on something that is sent in clear (the number of candidate cells) has a block for each value of that.
    """

    @property
    def code(self) -> int:
        """Return its number in :data:`CODES`."""
        raise NotImplementedError

    @property
    def width(self) -> int:
        """Return the length of a message in bytes, the same for every record."""
        raise NotImplementedError

    def validate(self, rows: ByteRows) -> None:
        """Refuse bytes that no holder could have sent."""
        raise NotImplementedError

    @property
    def n_sums(self) -> int:
        """Return the number of whole numbers in a block of totals; 0 if reports are kept, not added up."""
        raise NotImplementedError

    @property
    def n_blocks(self) -> int:
        """Return the number of blocks that there can be."""
        return 1

    @property
    def largest(self) -> int:
        """Return the most that one message can add to any total, in absolute value."""
        raise NotImplementedError

    def sums(self, rows: ByteRows) -> IntArray:
        """Return the totals of messages, where there is one block."""
        raise NotImplementedError

    def blocks(self, rows: ByteRows) -> dict[int, IntArray]:
        """Return the totals of messages by block."""
        return {0: self.sums(rows)}
