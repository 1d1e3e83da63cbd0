"""The fully linear proof that a measurement is valid (draft-irtf-cfrg-vdaf, section 7.3).

What goes into the gadget of a circuit, call by call, makes one polynomial a wire, given by its values at roots of
unity; its first value is random. The proof is these first values, and the gadget of all those polynomials, which is a
polynomial too. Who verifies holds a share of the measurement and of the proof. The outputs of the gadget are read off
the proof, and whether that was the right polynomial is tested at a random point that who proved could not know.
"""

from __future__ import annotations

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.vdaf.circuit import Circuit
from hedgerow.vdaf.field import Vector, vector

__all__ = ["Flp"]


class Flp:
    """Proofs about one circuit.

    Examples
    --------
    >>> from hedgerow.vdaf.circuit import MultihotCountVec
    >>> flp = Flp(MultihotCountVec(length=512, max_weight=8, chunk=23))
    >>> flp.proof_length, flp.verifier_length
    (109, 48)
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.field = circuit.field
        self.arity = 2 * circuit.chunk
        self.wire_length = 1 << circuit.calls.bit_length()  # the next power of two above the number of calls
        self.gadget_length = 2 * self.wire_length - 1
        self.prove_rand_length = self.arity
        self.query_rand_length = 1 + (circuit.outputs if circuit.outputs > 1 else 0)
        self.proof_length = self.arity + self.gadget_length
        self.verifier_length = 1 + self.arity + 1

    def prove(self, measurement: Vector, prove_rand: Vector, joint_rand: Vector) -> Vector:
        """Return the proof for an encoded measurement."""
        wires = self._wires(measurement, prove_rand, joint_rand, 1)
        doubled = self.field.double(wires)
        gadget = (doubled[:, 0::2] * doubled[:, 1::2]).sum(axis=1) % self.field.modulus
        return np.concatenate([prove_rand, gadget[: self.gadget_length]])

    def query(self, measurement: Vector, proof: Vector, query_rand: Vector, joint_rand: Vector, shares: int) -> Vector:
        """Return a share of the verifier, from shares of a measurement and of its proof."""
        p = self.field.modulus
        wires = self._wires(measurement, proof[: self.arity], joint_rand, shares)
        gadget = self._complete(proof[self.arity :])
        zeros = self.circuit.zeros(measurement, gadget[2 : 2 * self.circuit.calls + 1 : 2], shares)
        *factors, point = query_rand
        reduced = (vector(factors) * zeros).sum() % p if factors else zeros[0]
        if pow(point, self.wire_length, p) == 1:  # the verifier would show wires themselves
            raise HedgerowError("The test point is a root of unity; the report cannot be verified.")
        wire_checks = (wires * self.field.weights(point, self.wire_length).reshape(-1, 1)).sum(axis=0) % p
        gadget_check = (gadget * self.field.weights(point, 2 * self.wire_length)).sum() % p
        return vector([reduced, *wire_checks, gadget_check])

    def decide(self, verifier: Vector) -> bool:
        """Whether a measurement is valid, given the sum of all shares of the verifier."""
        if len(verifier) != self.verifier_length:
            raise FormatError(f"A verifier has {self.verifier_length} elements. Got {len(verifier)} instead.")
        checks = verifier[1:-1]
        gadget = (checks[0::2] * checks[1::2]).sum() % self.field.modulus
        return bool((verifier[0] == 0) & (gadget == verifier[-1]))

    def _wires(self, measurement: Vector, seeds: Vector, joint_rand: Vector, shares: int) -> Vector:
        """Return the values of all wire polynomials: a row of seeds, a row a call, and rows of zeros."""
        wires = np.full((self.wire_length, self.arity), 0, dtype=object)
        wires[0] = seeds
        wires[1 : self.circuit.calls + 1] = self.circuit.wires(measurement, joint_rand, shares)
        return wires

    def _complete(self, gadget: Vector) -> Vector:
        """Return all ``2n`` values of a polynomial of degree below ``2n - 1``, given all but the last.

        Its coefficient of degree ``2n - 1`` is zero: ``sum(v_i w^i) = 0`` over all i, because ``w^-(2n-1) = w``.
        """
        roots = self.field.roots(len(gadget) + 1)
        last = -(gadget * roots[:-1]).sum() * roots[1] % self.field.modulus
        return np.concatenate([gadget, vector([last])])
