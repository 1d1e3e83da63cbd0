"""The holder's side of both rounds. Needs NumPy and the standard library only."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BudgetError, FormatError, HedgerowError
from hedgerow.mechanisms.candidates import CandidateKary
from hedgerow.randomness import Randomness
from hedgerow.tasks.base import Drawn
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.reach import blocks, candidates
from hedgerow.tasks.partly_public.task import SemiTask
from hedgerow.tasks.records import for_each
from hedgerow.tasks.reports import TOKEN_BYTES
from hedgerow.types import ByteRows

__all__ = ["Secrets", "draw_first", "draw_second"]

_HEADER = struct.Struct("<4sHBB32sQ")
_MAGIC = b"HDGS"
_VERSION = 1
_FLAGS = 3  # both bits: simulation and answered


class Secrets:
    """What holders keep between the rounds, on their own devices: the labels as drawn, the masks, the tokens.

    ``coarse`` was sent in the first round; ``fine`` is only sent by holders whose cell turns out to be certain.
    Secrets answer one second-round task and no other: a further answer would spend more than epsilon.
    """

    def __init__(self, task: SemiTask, tokens: Any, coarse: Any, fine: Any, private: Any, simulation: bool) -> None:
        self.task = task
        self.tokens = tokens
        self.simulation = simulation
        self.coarse: npt.NDArray[np.int64] = coarse
        self.fine: npt.NDArray[np.int64] = fine
        self.private: npt.NDArray[np.bool_] = private
        self.answered = False

    def __len__(self) -> int:
        return len(self.coarse)

    def spend(self) -> None:
        """Note that the second round was answered; refuse if it was already."""
        if self.answered:
            raise BudgetError(
                "the second round was answered already, and another answer would spend more than epsilon; "
                "send the same report again instead."
            )
        self.answered = True

    def part(self, rows: slice) -> Secrets:
        """Return what some of the holders keep; whoever answers part by part marks the whole before the first."""
        return Secrets(
            self.task, self.tokens[rows], self.coarse[rows], self.fine[rows], self.private[rows], self.simulation
        )

    @classmethod
    def join(cls, task: SemiTask, parts: Sequence[Secrets]) -> Secrets:
        """Return what all holders keep, of parts that have answered nothing yet."""
        names = ("tokens", "coarse", "fine", "private")
        tokens, coarse, fine, private = (np.concatenate([getattr(part, name) for part in parts]) for name in names)
        return cls(task, tokens, coarse, fine, private, any(part.simulation for part in parts))

    def to_bytes(self) -> bytes:
        """Return a form to keep on the device (never to send)."""
        flags = int(self.simulation) | 2 * int(self.answered)
        head = _HEADER.pack(_MAGIC, _VERSION, flags, 0, self.task.digest, len(self))
        levels = np.column_stack([self.coarse, self.fine]).astype("<i4").tobytes()
        masks = np.packbits(self.private, axis=1, bitorder="little").tobytes()
        return head + np.ascontiguousarray(self.tokens).tobytes() + levels + masks

    @classmethod
    def from_bytes(cls, task: SemiTask, data: bytes) -> Secrets:
        """Undo :meth:`to_bytes`."""
        d = len(task.space)
        start = _HEADER.size
        if len(data) < start or data[:4] != _MAGIC:
            raise FormatError("these are not the secrets of a first round.")
        _, version, flags, reserved, digest, n = _HEADER.unpack_from(data)
        wide = (d + 7) // 8
        if version != _VERSION or reserved or flags > _FLAGS or len(data) != start + n * (TOKEN_BYTES + 8 + wide):
            raise FormatError(f"these secrets are damaged or not of version {_VERSION}.")
        if digest != task.digest:
            raise FormatError("these secrets belong to another task.")
        body = np.frombuffer(data, dtype=np.uint8, offset=start)
        tokens, levels, masks = np.split(body, [n * TOKEN_BYTES, n * (TOKEN_BYTES + 8)])
        coarse, fine = np.ascontiguousarray(levels).view("<i4").reshape(n, 2).astype(np.int64).T
        private = np.unpackbits(masks.reshape(n, wide), axis=1, count=d, bitorder="little").astype(bool)
        secrets = cls(task, tokens.reshape(n, TOKEN_BYTES), coarse.copy(), fine.copy(), private, bool(flags & 1))
        secrets.answered = bool(flags & 2)
        return secrets

    def __repr__(self) -> str:
        return f"Secrets(of {len(self)} holders, {'answered' if self.answered else 'second round open'})"


def draw_first(task: SemiTask, Z: Any, y: Any, private: Any, source: Randomness) -> Drawn:
    """Draw the noisy labels of both rounds; send the coarse one and what is public, keep the rest.

    ``private`` is no part of the record: it is fixed by policy, or chosen and sent in clear, so a mask of the wrong
    shape is an error.
    """
    mask = task.effective(private, len(Z))
    Z, labels = for_each(task, partial(_reported, task), np.asarray(Z, dtype=np.float64), y)
    coarse, fine = task.label.randomize_both(task.grid.levels(labels, source), source)
    # Nothing is private but the label: whatever the partition, the cell is certain, so epsilon is the label's.
    coarse = np.where(mask.any(axis=1), coarse, fine)
    tokens = source.uint8(TOKEN_BYTES * len(Z)).reshape(-1, TOKEN_BYTES)
    kept = Secrets(task, tokens, coarse, fine, mask, source.simulation)
    return Drawn(task.encoding.write(coarse, mask, Z), tokens, kept)


def draw_second(task: CellTask, Z: Any, kept: Secrets, source: Randomness) -> Iterator[ByteRows]:
    """Yield the payloads of blocks of holders: holders x cells is never in memory at once. Secrets are used up."""
    if task.first.digest != kept.task.digest:
        raise HedgerowError("these secrets belong to another first round than this task.")
    if len(Z) != len(kept):
        raise HedgerowError(f"'X' must have the {len(kept)} records of the first round. Got {len(Z)} instead.")
    kept.spend()
    return (_block(task, Z[part], kept, part, source) for part in blocks(len(Z), task.n_cells))


def _block(task: CellTask, Z: Any, kept: Secrets, part: slice, source: Randomness) -> ByteRows:
    reach = candidates(task.partition, Z, kept.private[part])
    (own,) = for_each(task.first, partial(_cell, task), Z, np.zeros(len(Z)))
    # A fixed record's cell may be no candidate.
    own = np.where(reach[np.arange(len(own)), own], own, reach.argmax(axis=1))
    certain = reach.sum(axis=1, dtype=np.int32) == 1
    levels = np.where(certain, kept.fine[part], kept.coarse[part])
    chosen: Any
    if certain.all():
        chosen = reach if task.response == "bits" else own
    elif isinstance(task.cell, CandidateKary):
        chosen = task.cell.named(own, reach, source)
    else:
        chosen = task.cell.support(own, reach, source)
    return task.encoding.write(levels, reach, chosen)


def _cell(task: CellTask, Z: Any, _: Any) -> tuple[Any]:
    return (task.partition.apply(Z).astype(np.int64),)


def _reported(task: SemiTask, Z: Any, y: Any) -> tuple[Any, Any]:
    return Z, task.reported(Z, y)
