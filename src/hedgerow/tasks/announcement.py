r"""The signed envelope in which a curator publishes a task: what is asked, by whom, for what, from when to when.

The signature is Ed25519 over ``b"hedgerow/announcement/1\n"`` and the canonical JSON (sorted keys, no spaces, ASCII)
of every other field. The task travels as :attr:`~Announcement.task_text`, the very text whose SHA-256 is the task's
id, so that other languages can check the id without spelling numbers as Python does.

``cryptography`` is loaded by :meth:`~Announcement.sign` and :meth:`~Announcement.verify` only.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

from hedgerow.blind import PublicKey
from hedgerow.content import Content, canonical, parse
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Form
from hedgerow.tasks.keys import base64url, ed25519, fingerprint, from_base64url, public_bytes
from hedgerow.tasks.published import Published
from hedgerow.tasks.registry import TASKS, task_class

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Announcement", "read_task", "task_text"]

_DOMAIN = b"hedgerow/announcement/1\n"
_PUBLIC_KEY = 32  # bytes, of Ed25519
_SIGNATURE = 64  # bytes, of Ed25519
_PASS_KEY = 256  # bytes, of a modulus of RSA
_LATEST = 253_402_300_799  # the last second of the year 9999, beyond which calendars fail
_MOST_REPORTS = 10**12  # a hundred times all people, so that whoever mistypes is told so
_LENGTHS = {"title": 200, "curator": 200, "purpose": 2000}  # characters: two lines, and a page of a phone; by hand


def task_text(task: Any) -> str:
    """Return the text whose SHA-256 is the task's id."""
    if not isinstance(task, Published):
        raise HedgerowError(f"'task' must be a published task. Got {type(task).__name__} instead.")
    return task.text


def read_task(text: str) -> Any:
    """Return the task of a :func:`task_text`; refuse a text that this library would spell in another way."""
    cls = task_class(_task_format(text))
    digest = hashlib.sha256(text.encode()).hexdigest()
    return cls.from_dict({**parse(text, "task"), "id": digest})  # refuses an id that is not that of the content


def _task_format(text: str) -> str:
    if not text.isascii():
        raise FormatError("this task is not ASCII: its text is not that of its id. Fetch it again from the curator.")
    data = parse(text, "task")
    name = data.get("format") if isinstance(data, dict) else None
    if not isinstance(name, str) or name not in TASKS or "id" in data:
        raise FormatError(f"'task_text' must be the content of a task of a known format. Got {name!r} instead.")
    return str(name)


def _check_names(task: Any) -> None:
    """Refuse a label that has the name of a feature: a form has one box a name, and one of the two may go in clear."""
    asked = task if task.before is None else task.before  # a second round asks for what the first one did
    question = asked.question()
    if asked.target in {f.name for f in question.features} | ({"record"} if question.numbered else set()):
        raise HedgerowError(
            f"'target' must not be the name of a feature (or 'record', of a label task), as holders answer by name. "
            f"Got {asked.target!r}; design the task with another target=."
        )


def _pass_key(text: object) -> bytes:
    return from_base64url(text, _PASS_KEY, "pass_key") if text != "" else b""


def _key(size: int) -> Form:
    return Form(
        base64url, lambda text: from_base64url(text, size, "public_key" if size == _PUBLIC_KEY else "signature")
    )


@dataclass(frozen=True)
class Announcement(Content, what="announcement", format="hedgerow/announcement", version=1):
    """A task with its window and its curator's signature.

    Attributes
    ----------
    task_text : str
        Canonical JSON of the task's content; its SHA-256 is :attr:`id`.
    kind : {"local", "label", "semi-first", "semi-second", "assisted", "pilot"}
        What sort of task it is, by its format.
    title, purpose, curator : str
        For people: what is asked, what for, and who asks.
    opens, closes : int
        Unix seconds; reports are taken while ``opens <= now < closes``.
    tokens : bool
        Whether each upload needs a one-time token.
    pass_key : bytes
        If an invitation is exchanged for a pass that does not say whose it is: the key (an RSA modulus) that passes are
        checked with, the same for everybody. Empty if there are none.
    max_reports : int
        How many reports are taken at most; 0 if as many as come.
    public_key, signature : bytes
        The curator's key (32 bytes) and signature (64 bytes); base64url in JSON.

    Examples
    --------
    >>> from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    >>> from hedgerow.tasks.tree.task import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> key = Ed25519PrivateKey.generate()
    >>> notice = Announcement.sign(task, key, title="Hours", purpose="Plan buses", curator="Town", opens=0, closes=99)
    >>> again = Announcement.from_json(notice.to_json()).verify()
    >>> again == notice, again.task == task, again.is_open(98), again.is_open(99)
    (True, True, True, False)
    """

    task_text: str
    kind: str
    title: str
    purpose: str
    curator: str
    opens: int
    closes: int
    tokens: bool
    pass_key: Annotated[bytes, Form(base64url, _pass_key)]
    max_reports: int
    public_key: Annotated[bytes, _key(32)]
    signature: Annotated[bytes, _key(64)]

    def __post_init__(self) -> None:
        kind = task_class(_task_format(self.task_text)).kind
        if self.kind != kind:
            raise FormatError(f"'kind' must be {kind!r}, as the task's format says. Got {self.kind!r} instead.")
        for name, most in _LENGTHS.items():
            if len(getattr(self, name)) > most:
                raise FormatError(f"{name!r} must have at most {most} characters. Got {len(getattr(self, name))}.")
        if not 0 <= self.opens < self.closes <= _LATEST:
            raise FormatError(
                f"'opens' and 'closes' must be unix seconds (not milliseconds) before the year 10000 with "
                f"opens < closes. Got {self.opens!r} and {self.closes!r} instead."
            )
        if not 0 <= self.max_reports <= _MOST_REPORTS:
            raise FormatError(
                f"'max_reports' must be 1 to {_MOST_REPORTS:,}, or 0 for as many as come. Got {self.max_reports!r}."
            )
        if self.pass_key:
            PublicKey.from_bytes(self.pass_key)
            if not self.tokens:
                raise FormatError("'tokens' must be true where there is a 'pass_key'.")
        if len(self.public_key) != _PUBLIC_KEY or len(self.signature) != _SIGNATURE:
            raise FormatError("'public_key' must have 32 bytes and 'signature' 64.")

    @classmethod
    def sign(
        cls,
        task: Any,
        private_key: Ed25519PrivateKey,
        *,
        opens: int,
        closes: int,
        title: str | None = None,
        purpose: str = "",
        curator: str = "",
        tokens: bool = False,
        pass_key: bytes = b"",
        max_reports: int = 0,
    ) -> Announcement:
        """Publish a task: the same task, words, window and key give the same announcement."""
        _check_names(task)
        text = task_text(task)
        kind = task_class(_task_format(text)).kind
        words = (str(getattr(task, "title", "")) if title is None else title, purpose, curator)
        times = (_second(opens, "opens"), _second(closes, "closes"))
        needs = bool(tokens) or bool(pass_key)
        draft = cls(text, kind, *words, *times, needs, pass_key, max_reports, public_bytes(private_key), bytes(64))
        fields = {name: getattr(draft, name) for name in draft.__dataclass_fields__}
        return cls(**{**fields, "signature": private_key.sign(draft.signed_bytes)})

    @property
    def id(self) -> str:
        """The task's id: SHA-256 of :attr:`task_text` in hexadecimal."""
        return hashlib.sha256(self.task_text.encode()).hexdigest()

    @cached_property
    def task(self) -> Any:
        """The task itself; a text that is not exactly its canonical content is refused."""
        return read_task(self.task_text)

    @property
    def fingerprint(self) -> str:
        """The curator's key, for people."""
        return fingerprint(self.public_key)

    def is_open(self, now: float) -> bool:
        """Whether reports are taken at this time: ``opens <= now < closes``."""
        return self.opens <= now < self.closes

    @property
    def signed_bytes(self) -> bytes:
        """What the signature covers."""
        content = self.to_dict()
        del content["signature"]
        return _DOMAIN + canonical(content).encode()

    def verify(self, trusted_key: bytes | str | None = None) -> Announcement:
        """Return self if the signature holds, by ``trusted_key`` (bytes or base64url) if one is given."""
        if isinstance(trusted_key, str):
            trusted_key = from_base64url(trusted_key, 32, "trusted_key")
        if trusted_key is not None and trusted_key != self.public_key:
            raise FormatError(
                f"this task is signed with the key {self.fingerprint}, not with the trusted key "
                f"{fingerprint(trusted_key)}. Do not answer it; ask the curator by another way."
            )
        from cryptography.exceptions import InvalidSignature

        try:
            ed25519().Ed25519PublicKey.from_public_bytes(self.public_key).verify(self.signature, self.signed_bytes)
        except InvalidSignature:
            raise FormatError(
                "the signature does not hold: the task, its window or its words were changed after it was signed. "
                "Do not answer it; fetch it again from the curator."
            ) from None
        _ = self.task  # signed is not enough: it must also be a task
        return self

    def __repr__(self) -> str:
        return (
            f"Announcement({self.kind} {self.id[:12]}..., {self.title!r} by {self.curator!r}, key {self.fingerprint})"
        )


def _second(value: float, name: str) -> int:
    if isinstance(value, bool) or int(value) != value:
        raise HedgerowError(f"{name!r} must be whole unix seconds. Got {value!r} instead.")
    return int(value)
