"""Reports: the only thing that ever leaves a holder.

One report is little-endian bytes::

    offset  size  content
    0       1     format version (1)
    1       1     response code; the high bit marks a simulation (seeded noise)
    2       4     task tag: the first 4 bytes of the task's digest
    6       12    random: with the tag, the report's 16-byte id
    18      w     payload: the message (see the encoding of the task)

At 1,024 leaves the paper's message takes 2 + 128 bytes, a report 148. A batch (:class:`Reports`) starts with one
header that names the whole 32-byte digest, then the random parts of all ids, then all payloads.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError

if TYPE_CHECKING:
    from hedgerow.tasks.base import Task

__all__ = ["Report", "Reports"]

VERSION = 1
_SIMULATION = 0x80  # the highest bit of the byte of the code: codes are below it
_HEADER = struct.Struct("<4sHBB32sQ")
_MAGIC = b"HDGR"
_RANDOM = 12  # bytes of an id: two of 2**32 honest reports are the same with a chance of 2**-33
HEADER_BYTES = _HEADER.size
TOKEN_BYTES = _RANDOM
_ROW_GROUP = 1 << 16  # rows that a reader of Parquet holds at a time


def _check_head(task: Task, version: int, code: int, digest: bytes) -> None:
    """Refuse another version, another task or another kind of message."""
    if version != VERSION:
        raise FormatError(
            f"report version {version} is not supported (this is version {VERSION}); "
            "make the report again with the same version of hedgerow as the curator."
        )
    if digest != task.digest[: len(digest)] or code & ~_SIMULATION != task.encoding.code:
        raise FormatError("this report was made for another task; send it to the curator of that task.")


@dataclass(frozen=True)
class Report:
    """One holder's message.

    Attributes
    ----------
    id : bytes
        16 bytes: the task's tag and 12 random bytes; tells a repeated report from a second one.
    payload : bytes
        The randomised message.
    simulation : bool
        True if the noise came from a seeded source, and so protects nobody.
    """

    task: Task
    id: bytes
    payload: bytes
    simulation: bool = False
    kept: Any = field(default=None, repr=False, compare=False)

    def to_bytes(self) -> bytes:
        """Return the bytes that leave the device."""
        code = self.task.encoding.code | (_SIMULATION if self.simulation else 0)
        return bytes([VERSION, code]) + self.id + self.payload

    @classmethod
    def from_bytes(cls, task: Task, data: bytes) -> Report:
        """Read one report, refusing anything that no holder of this task could have sent."""
        expected = 18 + task.encoding.width
        if len(data) != expected:
            raise FormatError(f"a report to this task has {expected} bytes. Got {len(data)} instead.")
        _check_head(task, data[0], data[1], data[2:6])
        payload = bytes(data[18:])
        task.encoding.validate(np.frombuffer(payload, dtype=np.uint8)[None, :])
        return cls(task, bytes(data[2:18]), payload, bool(data[1] & _SIMULATION))


@dataclass(frozen=True, eq=False)
class Reports:
    """A batch of reports to one task, kept as two byte matrices (columns, not objects).

    ``kept`` is what a device keeps for a later round; it is part of no bytes.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask, privatize_many
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=1, response="bits", cell_share=0.5)
    >>> reports = privatize_many(task, [[0.2], [0.7]], [0.0, 1.0], randomness=1)
    >>> len(reports), Reports.from_bytes(task, reports.to_bytes()).to_bytes() == reports.to_bytes()
    (2, True)
    """

    task: Task
    tokens: npt.NDArray[np.uint8]
    payloads: npt.NDArray[np.uint8]
    simulation: bool = False
    kept: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.payloads)

    def __getitem__(self, i: int) -> Report:
        if not -len(self) <= i < len(self):
            raise IndexError(i)
        token = self.tokens[i].tobytes()
        payload = self.payloads[i].tobytes()
        return Report(self.task, self.task.digest[:4] + token, payload, self.simulation, self.kept)

    def __iter__(self) -> Iterator[Report]:
        return (self[i] for i in range(len(self)))

    def iter_payloads(self) -> Iterator[bytes]:
        """Yield the message of each report, without its random id."""
        return (row.tobytes() for row in self.payloads)

    @classmethod
    def concat(cls, parts: Sequence[Reports]) -> Self:
        """Put batches of one task together."""
        if not parts or any(part.task.digest != parts[0].task.digest for part in parts):
            raise FormatError("batches of one and the same task are needed; at least one of these is of another.")
        tokens, payloads = (np.concatenate([getattr(part, name) for part in parts]) for name in ("tokens", "payloads"))
        return cls(parts[0].task, tokens, payloads, any(part.simulation for part in parts))

    @classmethod
    def collect(cls, task: Task, reports: list[Report]) -> Self:
        """Make a batch of single reports."""
        for report in reports:
            if not isinstance(report, Report):
                raise HedgerowError(f"'reports' must be Report objects. Got {type(report).__name__} instead.")
            if report.task.digest != task.digest:
                raise FormatError("a report in the list was made for another task.")
        width = task.encoding.width
        tokens = np.frombuffer(b"".join(r.id[4:] for r in reports), dtype=np.uint8).reshape(-1, _RANDOM)
        payloads = np.frombuffer(b"".join(r.payload for r in reports), dtype=np.uint8).reshape(-1, width)
        return cls(task, tokens, payloads, any(r.simulation for r in reports))

    def to_bytes(self) -> bytes:
        """Return the batch as bytes."""
        code = self.task.encoding.code | (_SIMULATION if self.simulation else 0)
        head = _HEADER.pack(_MAGIC, VERSION, code, 0, self.task.digest, len(self))
        return head + self.tokens.tobytes() + self.payloads.tobytes()

    @classmethod
    def from_bytes(cls, task: Task, data: bytes) -> Self:
        """Read a batch, refusing truncated, oversized or foreign bytes."""
        n, simulation = batch_head(task, data, len(data))
        width = task.encoding.width
        body = np.frombuffer(data, dtype=np.uint8, offset=_HEADER.size)
        tokens = body[: n * _RANDOM]
        payloads = body[n * _RANDOM :]
        return cls.checked(task, tokens.reshape(n, _RANDOM), payloads.reshape(n, width), simulation)

    @classmethod
    def checked(
        cls, task: Task, tokens: npt.NDArray[np.uint8], payloads: npt.NDArray[np.uint8], simulation: bool
    ) -> Self:
        """Make a batch of untrusted rows: every message must be one that a holder could have sent."""
        task.encoding.validate(payloads)
        return cls(task, tokens, payloads, simulation)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write the batch as a Parquet file (needs pyarrow: ``pip install hedgerow[files]``)."""
        _, pq = _arrow()
        pq.write_table(self.to_arrow(), path, row_group_size=_ROW_GROUP, **PARQUET_OPTIONS)

    def to_arrow(self) -> Any:
        """Return the batch as an Arrow table; its schema names the version, the task and whether it is a simulation."""
        pa, _ = _arrow()
        width = self.task.encoding.width
        arrays = [_binary(pa, self.tokens, _RANDOM), _binary(pa, self.payloads, width)]
        meta = {
            "hedgerow": f"reports/{VERSION}",
            "task": self.task.id,
            "simulation": str(int(self.simulation)),
        }
        schema = pa.schema([("token", pa.binary(_RANDOM)), ("payload", pa.binary(width))], metadata=meta)
        return pa.Table.from_arrays(arrays, schema=schema)

    @classmethod
    def from_parquet(cls, task: Task, path: str | PathLike[str]) -> Self:
        """Read a batch from a Parquet file."""
        pa, pq = _arrow()
        try:
            table = pq.read_table(path)
        except FileNotFoundError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise FormatError(f"{path} is not a Parquet file of reports: {error}") from error
        simulation = check_schema(task, table.schema, path)
        widths = {"token": _RANDOM, "payload": task.encoding.width}
        rows = {name: arrow_rows(table.column(name), width, path) for name, width in widths.items()}
        return cls.checked(task, rows["token"], rows["payload"], simulation)

    def __repr__(self) -> str:
        note = ", simulation" if self.simulation else ""
        size = f"{self.payloads.shape[1]} bytes each"
        return f"{type(self).__name__}({len(self)} to task {self.task.id[:12]}..., {size}{note})"


PARQUET_OPTIONS: dict[str, Any] = {"use_dictionary": False, "compression": "none", "write_statistics": False}
"""Random bits do not compress, and are never looked for by value."""


def batch_head(task: Task, head: bytes, size: int) -> tuple[int, bool]:
    """Read the header of a batch of ``size`` bytes; return its number of reports and whether it is a simulation."""
    if size < _HEADER.size:
        raise FormatError(f"this is not a batch of reports: {size} bytes are too few.")
    magic, version, code, reserved, digest, n = _HEADER.unpack_from(head)
    if magic != _MAGIC or reserved:
        raise FormatError("this is not a batch of reports: it does not start as one.")
    _check_head(task, version, code, digest)
    expected = _HEADER.size + n * (_RANDOM + task.encoding.width)
    if size != expected:
        raise FormatError(f"a batch of {n} reports has {expected} bytes. Got {size} instead: truncated or oversized.")
    return n, bool(code & _SIMULATION)


def check_schema(task: Task, schema: Any, path: object) -> bool:
    """Refuse an Arrow schema that is not one of reports to this task; return whether they are a simulation."""
    meta = schema.metadata or {}
    simulation = {b"0": False, b"1": True}.get(meta.get(b"simulation", b""))
    if meta.get(b"hedgerow") != f"reports/{VERSION}".encode() or simulation is None:
        raise FormatError(f"{path} is not a file of reports of version {VERSION}.")
    if meta.get(b"task") != task.id.encode():
        raise FormatError(f"the reports in {path} were made for another task; send them to its curator.")
    for name, width in (("token", _RANDOM), ("payload", task.encoding.width)):
        kind = str(schema.field(name).type) if schema.names.count(name) == 1 else ""
        if kind != f"fixed_size_binary[{width}]":
            raise FormatError(f"{path} lacks a column {name!r} of {width} bytes; it was made for another task.")
    return simulation


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise HedgerowError("Parquet files need pyarrow: pip install 'hedgerow[files]'.") from None
    return pyarrow, pyarrow.parquet


def _binary(pa: Any, rows: npt.NDArray[np.uint8], width: int) -> Any:
    buffers = [None, pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(width), len(rows), buffers)


def arrow_rows(column: Any, width: int, path: object) -> npt.NDArray[np.uint8]:
    """Return a column of byte strings of one length as a byte matrix."""
    column = column.combine_chunks() if hasattr(column, "combine_chunks") else column
    parts = column.chunks if hasattr(column, "chunks") else [column]
    if any(p.null_count for p in parts):
        raise FormatError(f"{path}: reports have missing values.")
    views = [
        np.frombuffer(p.buffers()[1], dtype=np.uint8, count=len(p) * width, offset=p.offset * width)
        for p in parts
        if len(p)
    ]
    whole = views[0] if len(views) == 1 else np.concatenate([np.empty(0, dtype=np.uint8), *views])
    return cast("npt.NDArray[np.uint8]", whole.reshape(-1, width))
