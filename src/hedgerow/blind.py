"""Blind signatures (RFC 9474, RSABSSA-SHA384-PSS-Randomized): a signer vouches for a message that it does not see.

A holder blinds a message, the service signs the blinded one against a one-time invitation, and the holder takes the
blinding off. What is left is an ordinary RSA-PSS signature: the service can check it later, and nothing in it tells
which of all the messages that it signed this was (for every pair of signature and blinded message there is exactly one
blinding that fits). So an upload with such a *pass* proves an invitation without saying whose.

Numbers of 2048 bits are Python's own; their products are not constant in time, so the signer blinds once more.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from hedgerow.errors import FormatError, HedgerowError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

__all__ = ["PREFIX", "SALT", "Blinding", "PublicKey", "Signer"]

BITS = 2048
"""Of a modulus: 112 bits of security, the least that RFC 9474 recommends; a pass lives for weeks."""
EXPONENT = 65537
PREFIX = 32
"""Random bytes before a message (RFC 9474, section 4.1, PrepareRandomize)."""
SALT = 48  # bytes of the salt, as long as a digest of SHA-384
_TRAILER = b"\xbc"


def _mgf1(seed: bytes, length: int) -> bytes:
    """Return the mask of RFC 8017, appendix B.2.1, with SHA-384."""
    blocks = math.ceil(length / SALT)
    return b"".join(hashlib.sha384(seed + i.to_bytes(4, "big")).digest() for i in range(blocks))[:length]


def encode(message: bytes, bits: int, salt: bytes) -> int:
    """Return EMSA-PSS-ENCODE (RFC 8017, section 9.1.1) of a message, as a number of at most ``bits`` bits."""
    length = math.ceil(bits / 8)
    digest = hashlib.sha384(bytes(8) + hashlib.sha384(message).digest() + salt).digest()
    block = bytes(length - len(salt) - len(digest) - 2) + b"\x01" + salt
    masked = int.from_bytes(block, "big") ^ int.from_bytes(_mgf1(digest, len(block)), "big")
    masked %= 1 << (8 * len(block) - (8 * length - bits))  # the topmost bits are zero
    return int.from_bytes(masked.to_bytes(len(block), "big") + digest + _TRAILER, "big")


@dataclass(frozen=True)
class Blinding:
    """What a holder must keep until the signature is there: the random numbers of one message."""

    prefix: bytes
    salt: bytes
    factor: int

    def to_bytes(self, size: int) -> bytes:
        """Return the bytes to keep."""
        return self.prefix + self.salt + self.factor.to_bytes(size, "big")

    @classmethod
    def from_bytes(cls, data: bytes) -> Blinding:
        """Read what :meth:`to_bytes` wrote."""
        return cls(data[:PREFIX], data[PREFIX : PREFIX + SALT], int.from_bytes(data[PREFIX + SALT :], "big"))


@dataclass(frozen=True)
class PublicKey:
    """A modulus; the exponent is 65537.

    Examples
    --------
    >>> signer = Signer.of(Signer.generate())
    >>> key = signer.public
    >>> kept = key.draw()
    >>> signature = key.finalize(b"task", kept, signer.sign(key.blind(b"task", kept)))
    >>> key.holds(b"task", kept.prefix, signature), key.holds(b"other", kept.prefix, signature)
    (True, False)
    """

    n: int

    def __post_init__(self) -> None:
        if self.n.bit_length() % 8 or not 2048 <= self.n.bit_length() <= 8192 or self.n % 2 == 0:
            raise FormatError("a key for passes must be an odd number of 2048 to 8192 bits.")

    @property
    def size(self) -> int:
        """Bytes of a signature."""
        return self.n.bit_length() // 8

    def to_bytes(self) -> bytes:
        """Return the modulus, most significant byte first."""
        return self.n.to_bytes(self.size, "big")

    @classmethod
    def from_bytes(cls, data: bytes) -> PublicKey:
        """Read a modulus."""
        return cls(int.from_bytes(data, "big"))

    def draw(self) -> Blinding:
        """Draw the random numbers of one message from the secure source."""
        while True:
            factor = secrets.randbelow(self.n)
            if math.gcd(factor, self.n) == 1:
                return Blinding(secrets.token_bytes(PREFIX), secrets.token_bytes(SALT), factor)

    def blind(self, message: bytes, kept: Blinding) -> bytes:
        """Return what the signer is shown: ``encode(prefix | message) factor^e mod n``, uniform for any message."""
        m = encode(kept.prefix + message, self.n.bit_length() - 1, kept.salt)
        return (m * pow(kept.factor, EXPONENT, self.n) % self.n).to_bytes(self.size, "big")

    def finalize(self, message: bytes, kept: Blinding, blinded_signature: bytes) -> bytes:
        """Take the blinding off; refuse what is not a signature of this message."""
        if len(blinded_signature) != self.size:
            raise FormatError(f"a blind signature has {self.size} bytes. Got {len(blinded_signature)} instead.")
        number = int.from_bytes(blinded_signature, "big") * pow(kept.factor, -1, self.n) % self.n
        signature = number.to_bytes(self.size, "big")
        if not self.holds(message, kept.prefix, signature):
            raise FormatError("the server's signature does not hold; the invitation may be for another task.")
        return signature

    def holds(self, message: bytes, prefix: bytes, signature: bytes) -> bool:
        """Return whether this is a signature of ``prefix | message``."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding

        scheme = padding.PSS(mgf=padding.MGF1(hashes.SHA384()), salt_length=SALT)
        try:
            _loaded(self.n).verify(signature, prefix + message, scheme, hashes.SHA384())
        except InvalidSignature:
            return False
        return True


@lru_cache(maxsize=64)
def _loaded(n: int) -> Any:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers

    return RSAPublicNumbers(EXPONENT, n).public_key()


@dataclass(frozen=True, repr=False)
class Signer:
    """The private key of a task's passes."""

    p: int
    q: int
    d: int

    @classmethod
    def generate(cls) -> bytes:
        """Draw a new key; return it in DER (PKCS #8)."""
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        made = rsa.generate_private_key(EXPONENT, BITS)
        return made.private_bytes(
            serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )

    @classmethod
    def of(cls, der: bytes) -> Signer:
        """Read a key."""
        from cryptography.hazmat.primitives.serialization import load_der_private_key

        # Drawn by generate; to check that again takes four times as long as a signature, which is checked by itself.
        found: RSAPrivateKey = load_der_private_key(der, None, unsafe_skip_rsa_key_validation=True)  # type: ignore[assignment]
        numbers = found.private_numbers()
        return cls(numbers.p, numbers.q, numbers.d)

    @property
    def public(self) -> PublicKey:
        """The modulus."""
        return PublicKey(self.p * self.q)

    def sign(self, blinded: bytes) -> bytes:
        """Return ``blinded^d mod n`` (RFC 9474, section 4.3), checked before it leaves: a fault would tell the key.

        The number is multiplied by ``u^e`` for a random u and the result divided by u, so that what is measured in time
        is of a number that nobody knows.
        """
        n = self.p * self.q
        number = int.from_bytes(blinded, "big")
        if len(blinded) != self.public.size or number >= n:
            raise HedgerowError(f"a blinded message must have {self.public.size} bytes and be below the modulus.")
        u = self.public.draw().factor
        hidden = number * pow(u, EXPONENT, n) % n
        a = pow(hidden % self.p, self.d % (self.p - 1), self.p)
        b = pow(hidden % self.q, self.d % (self.q - 1), self.q)
        root = b + self.q * ((a - b) * pow(self.q, -1, self.p) % self.p)
        signature = root * pow(u, -1, n) % n
        if pow(signature, EXPONENT, n) != number:
            raise HedgerowError("a signature failed its own check; nothing was signed.")
        return signature.to_bytes(self.public.size, "big")
