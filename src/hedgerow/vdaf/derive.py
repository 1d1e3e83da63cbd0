"""What Prio3 derives from seeds (draft-irtf-cfrg-vdaf, section 7.2.6), for many reports at once."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.errors import HedgerowError
from hedgerow.vdaf import xof
from hedgerow.vdaf.field import Vector
from hedgerow.vdaf.flp import Flp

__all__ = ["Derivations"]

VERSION = 18  # of the draft's constructions, in every domain separation tag
_VDAF = 0  # the class of algorithm, in the tag
_LONGEST_CONTEXT = 65_535 - 8  # two bytes hold the length of a tag, and 8 of its bytes come before the context
_PROOFS = bytes([1])  # Field128 needs one proof

# Table 9 of the draft: what an output of the XOF is used for.
_MEAS_SHARE = 1
_PROOF_SHARE = 2
_JOINT_RANDOMNESS = 3
_PROVE_RANDOMNESS = 4
_QUERY_RANDOMNESS = 5
_JOINT_RAND_SEED = 6
_JOINT_RAND_PART = 7


class Derivations:
    """Derived seeds and vectors of one variant of Prio3 in one context.

    Attributes
    ----------
    head, ctx : bytes
        What domain separation tags begin with, and what they end with; between the two is the usage.
    """

    def __init__(self, flp: Flp, algorithm: int, ctx: bytes) -> None:
        self._flp = flp
        self._field = flp.field
        self.head = bytes([VERSION, _VDAF]) + algorithm.to_bytes(4, "big")
        self.ctx = ctx
        if len(ctx) > _LONGEST_CONTEXT:
            raise HedgerowError(f"'ctx' may have {_LONGEST_CONTEXT} bytes. Got {len(ctx)} instead.")

    def _tag(self, usage: int) -> bytes:
        return self.head + usage.to_bytes(2, "big") + self.ctx

    def _expand(self, seeds: Sequence[bytes], usage: int, binders: Sequence[bytes], length: int) -> list[Vector]:
        return xof.expand_into_vectors(self._field, seeds, self._tag(usage), binders, length)

    def meas_shares(self, server: int, seeds: Sequence[bytes]) -> list[Vector]:
        """Return the measurement shares of a helper."""
        length = self._flp.circuit.measurement_length
        return self._expand(seeds, _MEAS_SHARE, [bytes([server])] * len(seeds), length)

    def proof_shares(self, server: int, seeds: Sequence[bytes]) -> list[Vector]:
        """Return the proof shares of a helper."""
        binder = _PROOFS + bytes([server])
        return self._expand(seeds, _PROOF_SHARE, [binder] * len(seeds), self._flp.proof_length)

    def prove_rand(self, seed: bytes) -> Vector:
        """Return the randomness of a proof."""
        (found,) = self._expand([seed], _PROVE_RANDOMNESS, [_PROOFS], self._flp.prove_rand_length)
        return found

    def query_rands(self, verify_key: bytes, nonces: Sequence[bytes]) -> list[Vector]:
        """Return the randomness of the servers, which no holder knows."""
        binders = [_PROOFS + nonce for nonce in nonces]
        return self._expand([verify_key] * len(nonces), _QUERY_RANDOMNESS, binders, self._flp.query_rand_length)

    def joint_rand_parts(
        self, server: int, blinds: Sequence[bytes], meas_shares: Sequence[bytes], nonces: Sequence[bytes]
    ) -> list[bytes]:
        """Return one server's parts of the joint randomness, from its encoded measurement shares."""
        binders = [bytes([server]) + nonce + share for nonce, share in zip(nonces, meas_shares, strict=True)]
        return xof.derive_seeds(blinds, self._tag(_JOINT_RAND_PART), binders)

    def joint_rand_seeds(self, parts: Sequence[bytes]) -> list[bytes]:
        """Return the seeds of the joint randomness, from the parts of all servers one after the other."""
        return xof.derive_seeds([bytes(xof.SEED_SIZE)] * len(parts), self._tag(_JOINT_RAND_SEED), parts)

    def joint_rands(self, seeds: Sequence[bytes]) -> list[Vector]:
        """Return the joint randomness."""
        length = self._flp.circuit.joint_rand_length
        return self._expand(seeds, _JOINT_RANDOMNESS, [_PROOFS] * len(seeds), length)
