"""What a pass is: ``hp_`` and, in base64url, the random bytes that the server signed unseen and its signature.

It proves that its bearer was invited to a task, once, without saying who (:mod:`hedgerow.blind`).
"""

from __future__ import annotations

from hedgerow.blind import Blinding, PublicKey
from hedgerow.tasks.keys import base64url

__all__ = ["PASS", "blinded_of", "message_of", "pass_of"]

PASS = "hp_"
_DOMAIN = b"hedgerow/pass/1\n"


def message_of(task_id: str) -> bytes:
    """Return what is signed for a task, after the random bytes."""
    return _DOMAIN + task_id.encode()


def blinded_of(key: bytes, task_id: str, kept: Blinding) -> bytes:
    """Return what the server is shown."""
    return PublicKey.from_bytes(key).blind(message_of(task_id), kept)


def pass_of(key: bytes, task_id: str, kept: Blinding, signed: bytes) -> str:
    """Return the pass that the server's blind signature makes; refuse one that does not hold.

    >>> from hedgerow.blind import Signer
    >>> signer = Signer.of(Signer.generate())
    >>> key = signer.public.to_bytes()
    >>> kept = signer.public.draw()
    >>> made = pass_of(key, "task", kept, signer.sign(blinded_of(key, "task", kept)))
    >>> made[:3], len(made)
    ('hp_', 387)
    """
    signature = PublicKey.from_bytes(key).finalize(message_of(task_id), kept, signed)
    return PASS + base64url(kept.prefix + signature)
