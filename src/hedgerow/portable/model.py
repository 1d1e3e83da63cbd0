"""A model that a holder's device can load without trust and run with NumPy alone.

Bytes, little-endian: ``HDGP``, version (2 bytes), 2 zero bytes, length of the manifest (4 bytes), the manifest, the
arrays one after the other. The manifest is JSON and says only which arrays follow. Nothing is ever executed.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.portable.bumps import Kernel, Matern
from hedgerow.portable.smooth import Linear
from hedgerow.portable.trees import Trees
from hedgerow.types import FloatArray

__all__ = ["Part", "PortableModel"]

Part = Trees | Linear | Kernel | Matern

_HEADER = struct.Struct("<4sHHI")
_MAGIC = b"HDGP"
_VERSION = 1
_FIELDS: dict[type[Part], dict[str, tuple[tuple[str, ...], int]]] = {
    Trees: {
        "sizes": (("<u4",), 1),
        "feature": (("<i2",), 1),
        "threshold": (("<f4", "<f8"), 1),
        "value": (("<f8",), 1),
    },
    Linear: {"coef": (("<f8",), 1)},
    Kernel: {
        "points": (("<f8",), 2),
        "weights": (("<f8",), 1),
        "center": (("<f8",), 1),
        "scale": (("<f8",), 1),
        "gamma": (("<f8",), 1),
    },
    Matern: {
        "points": (("<f8",), 2),
        "weights": (("<f8",), 1),
        "center": (("<f8",), 1),
        "scale": (("<f8",), 1),
        "edges": (("<f8",), 2),
        "bends": (("<f8",), 2),
    },
}
_KINDS: dict[str, type[Part]] = {kind.kind: kind for kind in _FIELDS}


@dataclass(frozen=True)
class _PartArrays(Content, what="portable model part"):
    """Which arrays a part has: by name, type and shape."""

    kind: str
    arrays: dict[str, tuple[str, tuple[int, ...]]]

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise FormatError(f"portable model: unknown part {self.kind!r}; update hedgerow.")


@dataclass(frozen=True)
class _Manifest(Content, what="portable model"):
    """What stands before the arrays."""

    n_columns: int
    intercept: float
    design: int
    parts: tuple[_PartArrays, ...]

    def __post_init__(self) -> None:
        if min(self.n_columns, self.design) < 0:
            raise FormatError("portable model: 'n_columns' and 'design' must be at least 0.")


@dataclass(frozen=True, eq=False)
class PortableModel:
    r"""An intercept and a sum of parts over the columns of a design matrix.

    .. math:: f(z) = b + \sum_k f_k(\text{design}(z))

    Records are encoded ones (:meth:`hedgerow.FeatureSpace.encode`). Column ``j`` of the design is ``z[column[j]]``
    if ``code[j]`` is -1, else 1 where ``z[column[j]] == code[j]`` and 0 elsewhere (a category as an indicator).

    Parameters
    ----------
    n_columns : int
        Number of columns of an encoded record.
    column, code : arrays of int
        The design.
    intercept : float
        The constant b.
    parts : tuple of Trees, Linear, Kernel and Matern
        What is added to it.

    Examples
    --------
    >>> model = PortableModel(2, [0, 1, 1], [-1, 0, 1], 1.0, (Linear([2.0, 0.0, 5.0]),))
    >>> model.predict(np.array([[0.5, 0.0], [0.5, 1.0]])).tolist()
    [2.0, 7.0]
    >>> copy = PortableModel.from_bytes(model.to_bytes())
    >>> copy == model, copy.n_bytes
    (True, 160)
    """

    n_columns: int
    column: npt.NDArray[np.int64]
    code: npt.NDArray[np.int64]
    intercept: float
    parts: tuple[Part, ...] = field(repr=False)

    def __post_init__(self) -> None:
        for name in ("column", "code"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        object.__setattr__(self, "intercept", float(self.intercept) + 0.0)
        fits = self.column.ndim == 1 and self.column.shape == self.code.shape and math.isfinite(self.intercept)
        inside = fits and ((self.column >= 0) & (self.column < self.n_columns) & (self.code >= -1)).all()
        if not inside:
            raise FormatError("portable model: the design does not fit the records.")
        for part in self.parts:
            exact = not isinstance(part, Trees)
            if part.n_features > len(self.column) or (exact and part.n_features != len(self.column)):
                raise FormatError(f"portable model: a {part.kind} part does not fit the design.")

    def design(self, Z: npt.ArrayLike) -> FloatArray:
        """Return the design matrix of encoded records."""
        Z = np.asarray(Z, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != self.n_columns:
            raise FormatError(
                f"'Z' must be encoded records with {self.n_columns} columns. Got shape {Z.shape} instead."
            )
        D = Z[:, self.column]
        marked = self.code >= 0
        D[:, marked] = D[:, marked] == self.code[marked]
        return D

    def predict(self, Z: npt.ArrayLike) -> FloatArray:
        """Return the prediction for each encoded record."""
        return self.predict_design(self.design(Z))

    def predict_within(self, Z: npt.ArrayLike, bounds: tuple[float, float]) -> FloatArray:
        """Return predictions cut to the bounds, the lower one where large parts cancel to nothing.

        A model that overflows for some records must not keep their holders from answering: that would tell on them.

        >>> model = PortableModel(1, [0], [-1], 0.0, (Linear([1e308]), Linear([-1e308])))
        >>> with np.errstate(all="ignore"):
        ...     model.predict_within(np.array([[0.0], [10.0]]), (-1.0, 1.0)).tolist()
        [0.0, -1.0]
        """
        return np.clip(np.nan_to_num(self.predict(Z), nan=bounds[0]), *bounds)

    def predict_design(self, D: FloatArray) -> FloatArray:
        """Return the prediction for each row of a design matrix."""
        out = np.full(len(D), self.intercept)
        for part in self.parts:
            out += part.predict(D)
        return out

    @cached_property
    def _bytes(self) -> bytes:
        arrays = {"column": self.column.astype("<i4"), "code": self.code.astype("<i4")}
        stored = [arrays, *(part.arrays() for part in self.parts)]
        parts = tuple(
            _PartArrays(p.kind, {name: (a.dtype.str, a.shape) for name, a in p.arrays().items()}) for p in self.parts
        )
        manifest = _Manifest(self.n_columns, self.intercept, len(self.column), parts)
        head = json.dumps(manifest.to_dict(), separators=(",", ":"), allow_nan=False).encode()
        body = b"".join(a.tobytes() for group in stored for a in group.values())
        return _HEADER.pack(_MAGIC, _VERSION, 0, len(head)) + head + body

    def to_bytes(self) -> bytes:
        """Return the model as bytes; equal models have equal bytes."""
        return self._bytes

    @property
    def n_bytes(self) -> int:
        """Size of :meth:`to_bytes`."""
        return len(self._bytes)

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self._bytes).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PortableModel) and self._bytes == other._bytes

    def __hash__(self) -> int:
        return hash(self._bytes)

    @classmethod
    def from_bytes(cls, data: bytes) -> PortableModel:
        """Read a model, refusing anything that is not exactly one."""
        if len(data) < _HEADER.size or data[:4] != _MAGIC:
            raise FormatError("this is not a portable model: it does not start as one.")
        _, version, reserved, length = _HEADER.unpack_from(data)
        if version != _VERSION or reserved:
            raise FormatError(f"portable model version {version} is not supported (this is version {_VERSION}).")
        body = _HEADER.size + length
        manifest = _Manifest.from_json(data[_HEADER.size : body])
        try:
            model = cls._read(manifest, data[body:])
        except FormatError:
            raise
        except (ValueError, TypeError, OverflowError) as error:
            raise FormatError(f"this portable model is malformed: {error}") from error
        if model.to_bytes() != data:
            raise FormatError("this portable model is malformed: it is not written in the one allowed way.")
        return model

    @classmethod
    def _read(cls, manifest: _Manifest, body: bytes) -> PortableModel:
        reader = _Reader(body)
        column, code = (reader.take("<i4", (manifest.design,)) for _ in range(2))
        parts = []
        for part in manifest.parts:
            kind = _KINDS[part.kind]
            if set(part.arrays) != set(_FIELDS[kind]):
                raise FormatError(f"portable model: a {part.kind} part has the arrays {sorted(_FIELDS[kind])}.")
            arrays = {}
            for name, (types, ndim) in _FIELDS[kind].items():
                dtype, shape = part.arrays[name]
                if dtype not in types or len(shape) != ndim:
                    raise FormatError(f"portable model: {name!r} must be {' or '.join(types)} with {ndim} axes.")
                arrays[name] = reader.take(dtype, shape)
            parts.append(kind.from_arrays(arrays))
        reader.end()
        return cls(manifest.n_columns, column, code, manifest.intercept, tuple(parts))

    def __repr__(self) -> str:
        kinds = ", ".join(part.kind for part in self.parts) or "a constant"
        return f"PortableModel({kinds}; {self.n_bytes / 1000:.0f} kB)"


class _Reader:
    """Arrays cut from bytes, in order."""

    def __init__(self, body: bytes) -> None:
        self.body = body
        self.at = 0

    def take(self, dtype: str, shape: tuple[int, ...]) -> npt.NDArray[Any]:
        if not all(type(n) is int and 0 <= n < 1 << 31 for n in shape):
            raise FormatError(f"portable model: {shape!r} is not the shape of an array.")
        kind = np.dtype(dtype)
        size = math.prod(shape) * kind.itemsize
        if self.at + size > len(self.body):
            raise FormatError("this portable model is cut short.")
        array = np.frombuffer(self.body, dtype=kind, count=math.prod(shape), offset=self.at).reshape(shape)
        self.at += size
        return array

    def end(self) -> None:
        if self.at != len(self.body):
            raise FormatError("this portable model has bytes left over.")
