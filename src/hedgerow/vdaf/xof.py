"""XofTurboShake128, from which seeds and vectors are derived (draft-irtf-cfrg-vdaf, section 6.2.1).

All functions take the seeds and binders of many reports, which have the same lengths, and return one result a report.
"""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.errors import HedgerowError
from hedgerow.vdaf.field import Field, Vector
from hedgerow.vdaf.turboshake import turboshake128

__all__ = ["SEED_SIZE", "derive_seeds", "expand_into_vectors", "streams"]

SEED_SIZE = 32
"""Bytes of a seed."""

_LONGEST_SEED = 255  # one byte holds its length
_LONGEST_DST = 65_535  # two bytes hold its length


def streams(seeds: Sequence[bytes], dst: bytes, binders: Sequence[bytes], length: int) -> list[bytes]:
    """Return the first ``length`` bytes that each seed gives under a domain separation tag and a binder."""
    if len(dst) > _LONGEST_DST or any(len(seed) > _LONGEST_SEED for seed in seeds):
        raise HedgerowError(f"'dst' may have {_LONGEST_DST} bytes, a seed {_LONGEST_SEED}. Got more.")
    head = len(dst).to_bytes(2, "little") + dst
    messages = [head + bytes([len(seed)]) + seed + binder for seed, binder in zip(seeds, binders, strict=True)]
    return turboshake128(messages, length)


def derive_seeds(seeds: Sequence[bytes], dst: bytes, binders: Sequence[bytes]) -> list[bytes]:
    """Return a new seed for each old one."""
    return streams(seeds, dst, binders, SEED_SIZE)


def expand_into_vectors(
    field: Field, seeds: Sequence[bytes], dst: bytes, binders: Sequence[bytes], length: int
) -> list[Vector]:
    """Return ``length`` elements of a field for each seed.

    Examples
    --------
    >>> from hedgerow.vdaf.field import FIELD64
    >>> [[int(x) % 100 for x in v] for v in expand_into_vectors(FIELD64, [bytes(32)], b"tag", [b""], 3)]
    [[57, 43, 59]]
    """
    found = streams(seeds, dst, binders, length * field.size)
    return [
        below(field, stream, seed, dst, binder, length)
        for stream, seed, binder in zip(found, seeds, binders, strict=True)
    ]


def below(field: Field, stream: bytes, seed: bytes, dst: bytes, binder: bytes, length: int) -> Vector:
    """Return the first ``length`` numbers of a stream that are below the modulus, asking for more where they do not do.

    Both fields fill their bytes up to less than one part in 2**31, so that hardly any number is ever left out.
    """
    while True:
        numbers = field.words(stream)
        kept = numbers[numbers < field.modulus]
        if len(kept) >= length:
            return kept[:length]
        (stream,) = streams([seed], dst, [binder], len(stream) + field.size)
