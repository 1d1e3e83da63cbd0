"""What is proved of a measurement: MultihotCountVec, "so many bits, of which at most so many are set".

Draft-irtf-cfrg-vdaf, sections 7.3.2 (validity circuits) and 7.4.5 (MultihotCountVec). Every circuit here has one
gadget, which is called with ``2 chunk`` numbers and returns ``in[0] in[1] + in[2] in[3] + ...`` (the draft's
ParallelSum of Mul; with a chunk of one, Mul). Wires into the gadget never depend on what comes out of it, so that a
circuit is two affine maps: from the measurement to all wires, and from all outputs of the gadget to numbers that must
be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.vdaf.field import FIELD128, Field, Vector, vector

__all__ = ["Circuit", "MultihotCountVec", "checked_bits", "checked_weights", "range_wires"]


class Circuit(Protocol):
    """A validity circuit.

    Attributes
    ----------
    field : Field
        Where it computes.
    chunk : int
        Pairs that a call of the gadget multiplies.
    calls : int
        Calls of the gadget.
    measurement_length, joint_rand_length, outputs, output_length : int
        Lengths of the encoded measurement, of the joint randomness, of what must be zero, and of what is added up.
    """

    field: Field

    @property
    def chunk(self) -> int: ...  # noqa: D102
    @property
    def calls(self) -> int: ...  # noqa: D102
    @property
    def measurement_length(self) -> int: ...  # noqa: D102
    @property
    def joint_rand_length(self) -> int: ...  # noqa: D102
    @property
    def outputs(self) -> int: ...  # noqa: D102
    @property
    def output_length(self) -> int: ...  # noqa: D102

    def encode(self, measurement: Any) -> Vector:
        """Return a measurement as elements of the field; one that is not allowed is refused."""

    def wires(self, measurement: Vector, joint_rand: Vector, shares: int) -> Vector:
        """Return what goes into the gadget: a row of ``2 chunk`` numbers for each call."""

    def zeros(self, measurement: Vector, gadget: Vector, shares: int) -> Vector:
        """Return what must be zero, given what the calls of the gadget returned."""

    def truncate(self, measurement: Vector) -> Vector:
        """Return what of a measurement is added up."""

    def decode(self, total: Vector) -> Any:
        """Return a total as what it means."""


def checked_weights(most: int) -> list[int]:
    """Return the weights by which bits make exactly the numbers ``0 .. most``: 1, 2, 4, ... and what is missing.

    >>> checked_weights(8)
    [1, 2, 4, 1]
    """
    bits = most.bit_length()
    return [1 << i for i in range(bits - 1)] + [most - (1 << bits - 1) + 1]


def checked_bits(value: int, most: int) -> list[int]:
    """Return bits that make ``value`` by :func:`checked_weights`, without a branch on it.

    >>> checked_bits(8, 8), checked_bits(5, 8)
    ([1, 1, 1, 1], [1, 0, 1, 0])
    """
    if not 0 <= value <= most:
        raise HedgerowError(f"A number must be in 0 .. {most} to be encoded in {most.bit_length()} bits.")
    *powers, last_weight = checked_weights(most)
    last = int(value > sum(powers))
    rest = value - last * last_weight
    return [(rest >> i) & 1 for i in range(len(powers))] + [last]


def range_wires(field: Field, measurement: Vector, joint_rand: Vector, chunk: int, shares: int) -> Vector:
    """Return wires for ``sum(r^j x_j (x_j - 1))`` in chunks, each with its own r: zero if all x_j are 0 or 1."""
    p = field.modulus
    calls = len(joint_rand)
    padded = np.concatenate([measurement, field.zeros(calls * chunk - len(measurement))]).reshape(calls, chunk)
    powers = np.empty((calls, chunk), dtype=object)
    power = joint_rand
    for j in range(chunk):
        powers[:, j] = power
        power = power * joint_rand % p
    wires = np.empty((calls, 2 * chunk), dtype=object)
    wires[:, 0::2] = powers * padded % p
    wires[:, 1::2] = (padded - field.inverse(shares)) % p
    return wires


@dataclass(frozen=True)
class MultihotCountVec:
    """A vector of ``length`` bits, of which at most ``max_weight`` are set.

    Examples
    --------
    >>> circuit = MultihotCountVec(length=512, max_weight=8, chunk=23)
    >>> circuit.measurement_length, circuit.calls
    (516, 23)
    >>> MultihotCountVec(4, 2, 2).encode([0, 1, 1, 0]).tolist()
    [0, 1, 1, 0, 1, 1]
    """

    length: int
    max_weight: int
    chunk: int
    field = FIELD128
    outputs = 2

    def __post_init__(self) -> None:
        for name, value in (("length", self.length), ("max_weight", self.max_weight), ("chunk", self.chunk)):
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _LONGEST:
                raise HedgerowError(f"'{name}' must be a whole number in 1 .. {_LONGEST}. Got {value!r} instead.")
        if self.max_weight > self.length:
            raise HedgerowError(f"'max_weight' must be at most length={self.length}. Got {self.max_weight} instead.")

    @property
    def measurement_length(self) -> int:
        """Bits, and those of their number."""
        return self.length + self.max_weight.bit_length()

    @property
    def calls(self) -> int:
        """Calls of the gadget."""
        return -(-self.measurement_length // self.chunk)

    @property
    def joint_rand_length(self) -> int:
        """One random number a call."""
        return self.calls

    @property
    def output_length(self) -> int:
        """The bits are added up; how many there are set is not."""
        return self.length

    def bits(self, measurement: Sequence[int]) -> list[int]:
        """Return the bits that are encoded: those of a holder, and those of their number."""
        if len(measurement) != self.length or any(bit not in (0, 1) for bit in measurement):
            raise HedgerowError(f"A measurement must be {self.length} bits.")
        bits = [int(bit) for bit in measurement]
        if sum(bits) > self.max_weight:
            raise HedgerowError(f"At most {self.max_weight} bits of a measurement may be set.")
        return bits + checked_bits(sum(bits), self.max_weight)

    def encode(self, measurement: Sequence[int]) -> Vector:
        """Return the bits as elements of the field."""
        return vector(self.bits(measurement))

    def wires(self, measurement: Vector, joint_rand: Vector, shares: int) -> Vector:
        """Return wires of the check that every number is 0 or 1."""
        return range_wires(self.field, measurement, joint_rand, self.chunk, shares)

    def zeros(self, measurement: Vector, gadget: Vector, shares: int) -> Vector:
        """Return that check, and the number of bits less the number that was reported."""
        p = self.field.modulus
        reported = (measurement[self.length :] * vector(checked_weights(self.max_weight))).sum()
        return vector([gadget.sum() % p, (measurement[: self.length].sum() - reported) % p])

    def truncate(self, measurement: Vector) -> Vector:
        """Return the bits of the holder."""
        return measurement[: self.length]

    def decode(self, total: Vector) -> list[int]:
        """Return how often each bit was set."""
        return [int(value) for value in total]


_LONGEST = 1 << 20
"""Bits of a vector: a report of 2**20 has 17 MB, and a task may claim any number."""
