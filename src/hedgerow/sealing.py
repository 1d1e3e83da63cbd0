"""Bytes that only one party can read: HPKE (RFC 9180) with X25519, HKDF-SHA256 and AES-128-GCM, by ``pyhpke``.

What is bound to a message is chosen as in DAP (draft-ietf-ppm-dap): *info* is a label, who seals and who opens; *aad*
is, for a holder's share, the task, the report and the share that all servers see. Sealed bytes are the sender's
one-time public key (32 bytes), then the ciphertext with its tag (16 bytes more than what was sealed).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache, lru_cache
from typing import Any

from hedgerow.errors import FormatError, HedgerowError

__all__ = ["OVERHEAD", "KeyPair", "Role", "aad_of_input", "info_of", "seal", "unseal"]

_KEY = 32  # bytes of an X25519 key
OVERHEAD = _KEY + 16
"""Bytes that sealing adds: a one-time public key, and a tag."""

_TASK = 32  # bytes of a task's id: SHA-256
_REPORT = 16  # bytes of a report's id, the nonce of Prio3
_LONGEST = 1 << 16  # bytes of a public share that may be bound: two bytes hold its length


class Role(IntEnum):
    """Who seals or opens, with DAP's numbers."""

    COLLECTOR = 0
    CLIENT = 1
    LEADER = 2
    HELPER = 3


@cache
def _suite() -> Any:
    try:
        from pyhpke import AEADId, CipherSuite, KDFId, KEMId
    except ImportError as error:
        raise HedgerowError("Sealing needs pyhpke: install hedgerow[aggregate].") from error
    return CipherSuite.new(KEMId.DHKEM_X25519_HKDF_SHA256, KDFId.HKDF_SHA256, AEADId.AES128_GCM)


@dataclass(frozen=True)
class KeyPair:
    """A key to open with, and the public key to seal for it; both 32 bytes."""

    private: bytes = field(repr=False)
    public: bytes

    @classmethod
    def generate(cls) -> KeyPair:
        """Draw a new pair."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        return cls.of(X25519PrivateKey.generate().private_bytes_raw())

    @classmethod
    def of(cls, private: bytes) -> KeyPair:
        """Return the pair of a private key."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        if len(private) != _KEY:
            raise FormatError(f"A private key has {_KEY} bytes. Got {len(private)} instead.")
        return cls(private, X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw())


def info_of(label: bytes, sender: Role, recipient: Role) -> bytes:
    """Return what a message is, who sealed it and who opens it.

    >>> list(info_of(b"label", Role.CLIENT, Role.HELPER)[-2:])
    [1, 3]
    """
    return label + bytes([sender, recipient])


def aad_of_input(task_id: bytes, report_id: bytes, public_share: bytes) -> bytes:
    """Return what is bound to a holder's share: two ids of fixed sizes, and the public share after its length.

    >>> len(aad_of_input(bytes(32), bytes(16), bytes(64)))
    114
    """
    if len(task_id) != _TASK or len(report_id) != _REPORT or len(public_share) >= _LONGEST:
        raise FormatError(f"A task's id has {_TASK} bytes, a report's {_REPORT}, a public share fewer than {_LONGEST}.")
    return task_id + report_id + len(public_share).to_bytes(2, "big") + public_share


def seal(public_key: bytes, info: bytes, aad: bytes, message: bytes) -> bytes:
    """Return a message that only the holder of the key can open, with the same info and aad."""
    suite = _suite()
    try:
        encapsulated, context = suite.create_sender_context(suite.kem.deserialize_public_key(public_key), info=info)
    except Exception as error:
        raise FormatError("The public key to seal for is not one of X25519.") from error
    sealed: bytes = context.seal(message, aad=aad)
    return bytes(encapsulated) + sealed


@lru_cache(maxsize=4)
def _private(key: bytes) -> Any:
    """Return a private key ready for use: a server opens thousands of parts with one, and this costs as much."""
    return _suite().kem.deserialize_private_key(key)


def unseal(key: KeyPair, info: bytes, aad: bytes, sealed: bytes) -> bytes:
    """Return what was sealed; anything that was changed, or sealed for another key, info or aad, is refused alike."""
    if len(sealed) < OVERHEAD:
        raise FormatError(f"Sealed bytes are at least {OVERHEAD}. Got {len(sealed)} instead.")
    suite = _suite()
    try:
        context = suite.create_recipient_context(sealed[:_KEY], _private(key.private), info=info)
        message: bytes = context.open(sealed[_KEY:], aad=aad)
    except Exception as error:  # of which kind, and why, is nobody's business
        raise FormatError("Sealed bytes cannot be opened with this key.") from error
    return message
