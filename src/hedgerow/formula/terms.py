"""Terms: matrices with one row a record, and the operations that make one of others.

Every operation is one that NumPy and ONNX both have in double precision, or a walk down trees by comparisons alone: so
that whoever evaluates a formula gets the same leaves and, but for the order of sums, the same floats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "OPERATIONS",
    "Term",
    "constant",
    "join",
    "lookup",
    "records",
    "where_missing",
    "where_positive",
]

OPERATIONS = {
    "records": 0,  # the encoded inputs, one column each
    "constant": 0,
    "add": 2,
    "subtract": 2,
    "multiply": 2,
    "divide": 2,
    "exp": 1,
    "square_root": 1,
    "round": 1,  # to the nearest whole number, halves to the even one
    "truncate": 1,  # towards zero
    "absolute": 1,
    "single": 1,  # to the nearest float32 and back
    "row_sum": 1,
    "clip": 1,
    "pick": 1,  # columns
    "product": 1,  # with a matrix
    "lookup": 1,  # rows of a table, by the whole number in the only column
    "trees": 1,  # the sum over trees of the row of values of the leaf that is reached
    "where_missing": 3,  # the second where the first is NaN, else the third
    "where_positive": 3,  # the second where the first is above 0, else the third
    "join": None,  # columns side by side
}
"""All operations with the number of their arguments; None for any number."""


@dataclass(frozen=True, eq=False)
class Term:
    """A matrix of floats with one row a record (or one row for all), as an operation on other terms.

    Examples
    --------
    >>> doubled = records() * 2.0 + 1.0
    >>> doubled.op, doubled.args[0].op
    ('add', 'multiply')
    """

    op: str
    args: tuple[Term, ...] = ()
    data: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)

    def __add__(self, other: Term | npt.ArrayLike) -> Term:
        return Term("add", (self, _term(other)))

    def __sub__(self, other: Term | npt.ArrayLike) -> Term:
        return Term("subtract", (self, _term(other)))

    def __mul__(self, other: Term | npt.ArrayLike) -> Term:
        return Term("multiply", (self, _term(other)))

    def __truediv__(self, other: Term | npt.ArrayLike) -> Term:
        return Term("divide", (self, _term(other)))

    def apply(self, op: str) -> Term:
        """Return an operation on this term alone that needs nothing else, such as ``"exp"``."""
        return Term(op, (self,))

    def clip(self, low: float, high: float) -> Term:
        """Cut to a range; either end may be infinite."""
        return Term("clip", (self,), {"low": np.array(low, dtype=float), "high": np.array(high, dtype=float)})

    def pick(self, columns: Sequence[int] | npt.NDArray[Any]) -> Term:
        """Return these columns, in this order."""
        return Term("pick", (self,), {"columns": np.asarray(columns, dtype=np.int64)})

    def product(self, matrix: npt.ArrayLike) -> Term:
        """Return the matrix product with a constant."""
        return Term("product", (self,), {"matrix": np.atleast_2d(np.asarray(matrix, dtype=np.float64))})

    def steps(self) -> list[Term]:
        """Return this term and all that it is made of, each once, arguments before what uses them.

        >>> [term.op for term in (records() + records()).steps()]
        ['records', 'records', 'add']
        """
        found: dict[int, Term] = {}
        todo = [self]
        while todo:
            term = todo[-1]
            waiting = [arg for arg in term.args if id(arg) not in found]
            if waiting:
                todo += waiting
                continue
            found[id(term)] = term
            todo.pop()
        return list(found.values())


def _term(value: Term | npt.ArrayLike) -> Term:
    return value if isinstance(value, Term) else constant(value)


def records() -> Term:
    """Return the encoded records: numbers within their range, categories as codes."""
    return Term("records")


def constant(values: npt.ArrayLike) -> Term:
    """Return one row of numbers, the same for every record."""
    return Term("constant", (), {"values": np.asarray(values, dtype=np.float64).reshape(1, -1)})


def join(*terms: Term) -> Term:
    """Return the columns of all terms side by side; each has one row a record."""
    return terms[0] if len(terms) == 1 else Term("join", terms)


def lookup(code: Term, table: npt.ArrayLike) -> Term:
    """Return the rows of a table that a column of whole numbers names."""
    return Term("lookup", (code,), {"table": np.asarray(table, dtype=np.float64)})


def where_missing(test: Term, then: Term | npt.ArrayLike, otherwise: Term | npt.ArrayLike) -> Term:
    """Return ``then`` where the test is NaN, else ``otherwise``."""
    return Term("where_missing", (test, _term(then), _term(otherwise)))


def where_positive(test: Term, then: Term | npt.ArrayLike, otherwise: Term | npt.ArrayLike) -> Term:
    """Return ``then`` where the test is above 0, else ``otherwise``."""
    return Term("where_positive", (test, _term(then), _term(otherwise)))
