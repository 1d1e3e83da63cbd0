"""What both servers, the collector and every holder agree on, given by the task: circuit, noise, least batch, keys."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from hedgerow.aggregate.servers import Servers
from hedgerow.discrete_gaussian import WIDEST
from hedgerow.errors import FormatError
from hedgerow.sealing import OVERHEAD, KeyPair, Role
from hedgerow.vdaf import NONCE_SIZE, VERIFY_KEY_SIZE, MultihotCountVec, Prio3

__all__ = ["LABEL", "Protocol", "verify_key"]

LABEL = b"hedgerow sums 1 "
"""Starts what is bound to every share, before the roles or the task's digest."""
_DIGEST = 32  # bytes of a task's id, SHA-256


@dataclass(frozen=True)
class Protocol:
    """The rules of one collection.

    Attributes
    ----------
    task : bytes
        The digest that is the task's id.
    length, max_weight, chunk : int
        The circuit: so many bits, of which a report sets at most so many; see :class:`hedgerow.vdaf.MultihotCountVec`.
    variance : Fraction
        Of the discrete Gaussian that each server adds to every sum: the whole noise, whatever the other does.
    min_batch : int
        Fewest reports that are ever released.
    servers : Servers
        Who takes part, with their keys.
    """

    task: bytes
    length: int
    max_weight: int
    chunk: int
    variance: Fraction
    min_batch: int
    servers: Servers

    def __post_init__(self) -> None:
        if len(self.task) != _DIGEST:
            raise FormatError(f"'task' must be a digest of {_DIGEST} bytes. Got {len(self.task)} instead.")
        if not 0 <= self.variance <= WIDEST:
            raise FormatError(f"'variance' must be in 0 .. {WIDEST}. Got {float(self.variance):g} instead.")
        if self.min_batch < 1:
            raise FormatError(f"'min_batch' must be at least 1. Got {self.min_batch} instead.")

    @cached_property
    def prio3(self) -> Prio3:
        """The proof system."""
        return Prio3(MultihotCountVec(self.length, self.max_weight, self.chunk))

    @property
    def context(self) -> bytes:
        """What binds every derivation of Prio3 to the task."""
        return LABEL + self.task

    @property
    def leader_sealed(self) -> int:
        """Bytes of the leader's part of a report."""
        return self.prio3.leader_share_size + OVERHEAD

    @property
    def helper_sealed(self) -> int:
        """Bytes of the helper's part of a report."""
        return self.prio3.helper_share_size + OVERHEAD

    @property
    def width(self) -> int:
        """Bytes of a report without its id: the public share and both sealed parts."""
        return self.prio3.public_share_size + self.leader_sealed + self.helper_sealed

    @property
    def entry(self) -> int:
        """Bytes that the leader forwards of a report."""
        prio3 = self.prio3
        return NONCE_SIZE + prio3.public_share_size + self.helper_sealed + prio3.verifier_share_size

    def verify_key(self, role: Role, own: KeyPair) -> bytes:
        """Return the key that the servers verify with; refuse a task that pins other keys than this server's.

        A key that was changed after the task was made is not the one that the task commits to.
        """
        pinned = {Role.LEADER: self.servers.leader, Role.HELPER: self.servers.helper}
        if own.public != pinned[role].sealing_key:
            raise FormatError("the task pins another key than this server's; it cannot be served here.")
        key = verify_key(role, own, pinned[_other(role)].sealing_key)
        if not hmac.compare_digest(hashlib.sha256(key).digest(), self.servers.verify_key_digest):
            raise FormatError("the task commits to another verify key than that of its two servers; make it again.")
        return key

    def statement(self, role: Role) -> bytes:
        """Return what a server signs when it agrees to serve: the task, and its part in it."""
        return LABEL + b"witness\n" + bytes([role]) + self.task


def _other(role: Role) -> Role:
    return Role.HELPER if role is Role.LEADER else Role.LEADER


def verify_key(role: Role, own: KeyPair, other: bytes) -> bytes:
    """Return the key that two servers verify with: derived from their keys, known to them alone, fixed by these.

    X25519 of the one's private and the other's public key, then HMAC-SHA256. No holder, curator or collector can know
    it, and neither server can choose it. What is derived from it is bound to the task by :attr:`Protocol.context`.

    >>> leader, helper = KeyPair.generate(), KeyPair.generate()
    >>> verify_key(Role.LEADER, leader, helper.public) == verify_key(Role.HELPER, helper, leader.public)
    True
    """
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

    try:
        secret = X25519PrivateKey.from_private_bytes(own.private).exchange(X25519PublicKey.from_public_bytes(other))
    except ValueError as error:
        raise FormatError("the other server's key is not one of X25519.") from error
    pair = (own.public, other) if role is Role.LEADER else (other, own.public)
    return hmac.digest(secret, LABEL + b"verify key\n" + pair[0] + pair[1], "sha256")[:VERIFY_KEY_SIZE]
