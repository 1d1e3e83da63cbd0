"""Finite fields with roots of unity (draft-irtf-cfrg-vdaf, section 6.1).

A vector is a NumPy array of Python's whole numbers, always in ``0 .. modulus - 1``: one step of NumPy works on all of
them, and nothing overflows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError

__all__ = ["FIELD64", "FIELD128", "Field", "Vector", "vector"]

Vector = npt.NDArray[Any]
"""Elements of a field: an array of Python's whole numbers (dtype object), of one axis or more."""


def vector(values: Any) -> Vector:
    """Return whole numbers as a vector."""
    return np.array(values, dtype=object)


@dataclass(frozen=True)
class Field:
    """The whole numbers modulo a prime ``factor * 2**log_order + 1``.

    Attributes
    ----------
    factor, log_order : int
        They make the prime; roots of unity have orders up to ``2**log_order``.
    size : int
        Bytes of an element, little-endian.

    Examples
    --------
    >>> FIELD64.modulus == 2**64 - 2**32 + 1
    True
    >>> FIELD128.decode(FIELD128.encode(vector([1, 2, 3])))
    array([1, 2, 3], dtype=object)
    """

    factor: int
    log_order: int
    size: int

    @property
    def modulus(self) -> int:
        """The prime."""
        return (self.factor << self.log_order) + 1

    def zeros(self, length: int) -> Vector:
        """Return a vector of zeros."""
        return vector([0] * length)

    def inverse(self, value: int) -> int:
        """Return ``1 / value``."""
        return pow(value, -1, self.modulus)

    def encode(self, values: Vector) -> bytes:
        """Return the elements one after the other, little-endian."""
        return b"".join([value.to_bytes(self.size, "little") for value in values.tolist()])

    def words(self, encoded: bytes) -> Vector:
        """Return the whole numbers in some bytes, whether or not they are below the modulus."""
        if len(encoded) % self.size:
            raise FormatError(f"Elements of {self.size} bytes cannot fill {len(encoded)} bytes.")
        halves = np.frombuffer(encoded, dtype="<u8").astype(object).reshape(-1, self.size // 8)
        total = halves[:, 0]
        for i in range(1, self.size // 8):
            total = total + (halves[:, i] << 64 * i)
        return total

    def decode(self, encoded: bytes) -> Vector:
        """Return the elements in some bytes; a number that is not below the modulus is refused."""
        values = self.words(encoded)
        if np.any(values >= self.modulus):
            raise FormatError("An element of the field is not below its modulus.")
        return values

    def root(self, n: int) -> int:
        """Return the principal ``n``-th root of unity, for n a power of two."""
        generator = pow(7, self.factor, self.modulus)
        return pow(generator, (1 << self.log_order) // n, self.modulus)

    def roots(self, n: int) -> Vector:
        """Return the first ``n`` powers of the principal ``n``-th root of unity."""
        return _roots(self, n)

    def transform(self, coefficients: Vector) -> Vector:
        """Return the values of polynomials at the roots of unity, along the first axis (NTT)."""
        n = len(coefficients)
        if n == 1:
            return coefficients
        even = self.transform(coefficients[0::2])
        odd = self.transform(coefficients[1::2])
        turned = odd * _column(self.roots(n)[: n // 2], odd.ndim) % self.modulus
        return np.concatenate([even + turned, even - turned]) % self.modulus

    def coefficients(self, values: Vector) -> Vector:
        """Return the coefficients of polynomials, given their values at the roots of unity (inverse NTT)."""
        n = len(values)
        found = self.transform(values)
        backwards = np.concatenate([found[:1], found[:0:-1]])
        return backwards * self.inverse(n) % self.modulus

    def double(self, values: Vector) -> Vector:
        """Return the values of polynomials at the roots of order ``2 n``, given those at the roots of order n.

        The even ones are known; the odd ones are values of ``p(s x)``, with s the principal root of order ``2 n``.
        """
        n = len(values)
        shift = _column(self.roots(2 * n)[:n], values.ndim)
        odd = self.transform(self.coefficients(values) * shift % self.modulus)
        out = np.empty((2 * n, *values.shape[1:]), dtype=object)
        out[0::2] = values
        out[1::2] = odd
        return out

    def weights(self, x: int, n: int) -> Vector:
        """Return ``l_i`` such that ``p(x) = sum(l_i p(w^i))`` for every polynomial of degree below n.

        ``l_i = w^i / n * product over j != i of (x - w^j)``: no division by something that could be zero.
        """
        p = self.modulus
        roots = self.roots(n)
        factors = (x - roots) % p
        before = [1]
        after = [1]
        for i in range(n - 1):
            before.append(before[-1] * factors[i] % p)
            after.append(after[-1] * factors[n - 1 - i] % p)
        products = vector(before) * vector(after[::-1]) % p
        return products * roots % p * self.inverse(n) % p


def _column(values: Vector, ndim: int) -> Vector:
    return values.reshape(-1, *[1] * (ndim - 1))


@lru_cache(maxsize=64)
def _roots(field: Field, n: int) -> Vector:
    root = field.root(n)
    powers = [1]
    for _ in range(n - 1):
        powers.append(powers[-1] * root % field.modulus)
    return vector(powers)


FIELD64 = Field(factor=4294967295, log_order=32, size=8)
"""The draft's Field64."""

FIELD128 = Field(factor=4611686018427387897, log_order=66, size=16)
"""The draft's Field128."""
