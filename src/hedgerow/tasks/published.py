"""What a curator publishes: frozen content, versioned JSON, an id that is the digest of the content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

from hedgerow.content import Content, canonical
from hedgerow.errors import FormatError

__all__ = ["Published"]


class Published(Content):
    """Content with an id: SHA-256 of its canonical text, so that equal content has an equal id."""

    @property
    def text(self) -> str:
        """The text whose SHA-256 is the id: the content without the id."""
        return canonical(super().to_dict())

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the content, 32 bytes."""
        return hashlib.sha256(self.text.encode()).digest()

    @property
    def id(self) -> str:
        """The digest in hexadecimal: a task that differs in anything has another id."""
        return self.digest.hex()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form, with the id."""
        return {**super().to_dict(), "id": self.id}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Undo :meth:`to_dict`; refuse other versions, unknown fields and an id that is not that of the content."""
        if not isinstance(data, Mapping) or "id" not in data:
            return super().from_dict(data)._check_id(None)
        found = super().from_dict({name: value for name, value in data.items() if name != "id"})
        return found._check_id(data["id"])

    def _check_id(self, stated: object) -> Self:
        """Return self if the stated id is that of the content."""
        if self.id != stated:
            raise FormatError(
                "the task's content does not match its id: it was changed after it was published. "
                "Do not answer it; fetch it again from the curator."
            )
        return self
