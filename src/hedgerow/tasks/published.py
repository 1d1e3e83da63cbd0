"""What a curator publishes: frozen content, versioned JSON, an id that is the digest of the content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Self

from hedgerow.errors import FormatError
from hedgerow.fields import check_fields

__all__ = ["Published", "check_published", "reading_task"]


def check_published(data: object, form: str, version: int, names: set[str], what: str) -> None:
    """Refuse what is not a JSON object of this format and version, with these fields and an id.

    >>> check_published({"format": "x"}, "hedgerow/y", 1, set(), "local task")
    Traceback (most recent call last):
    ...
    hedgerow.errors.FormatError: this is not a local task: expected a JSON object with format 'hedgerow/y'.
    """
    if not isinstance(data, Mapping) or data.get("format") != form:
        article = "an" if what[0] in "aeiou" else "a"
        raise FormatError(f"this is not {article} {what}: expected a JSON object with format {form!r}.")
    if type(data.get("version")) is not int or data["version"] != version:
        raise FormatError(f"task version {data.get('version')!r} is not supported (this is version {version}).")
    check_fields(data, names | {"format", "version", "id"}, what)


@contextmanager
def reading_task() -> Iterator[None]:
    """Report whatever goes wrong while a task is read as a task that is malformed: nothing else ever comes out."""
    try:
        yield
    except FormatError:
        raise
    except Exception as error:  # who writes a task may be an enemy of who reads it
        raise FormatError(f"this task is malformed: {error}") from error


class Published:
    """A frozen value with ``_content()`` (JSON-ready, with format and version) and ``from_dict``.

    The digest is SHA-256 of the content as JSON with sorted keys and no spaces: equal content, equal digest.
    """

    def _content(self) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Rebuild from :meth:`to_dict`; refuse other versions, unknown fields and a wrong digest."""
        raise NotImplementedError

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the content, 32 bytes."""
        text = json.dumps(self._content(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).digest()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def id(self) -> str:
        """The digest in hexadecimal: a task that differs in anything has another id."""
        return self.digest.hex()

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form, with the id."""
        return {**self._content(), "id": self.id}

    def to_json(self) -> str:
        """Return the task as versioned JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a task from JSON."""
        try:
            data = json.loads(text)
        except Exception as error:  # not ValueError alone: lists may be nested too deep, or memory too small
            raise FormatError(f"this task is not valid JSON: {error}") from error
        return cls.from_dict(data)

    def _check_id(self, stated: object) -> Self:
        """Return self if the stated id is that of the content."""
        if self.id != stated:
            raise FormatError(
                "the task's content does not match its id: it was changed after it was published. "
                "Do not answer it; fetch it again from the curator."
            )
        return self
