"""The holder's side of both rounds. Needs NumPy and the standard library only."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BudgetError, FormatError, HedgerowError
from hedgerow.mechanisms.candidates import CandidateKary
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.first import TOKEN, FirstReports
from hedgerow.tasks.partly_public.reach import blocks, candidates
from hedgerow.tasks.partly_public.second import CellReports
from hedgerow.tasks.partly_public.task import SemiTask
from hedgerow.tasks.records import for_each, read_record

__all__ = ["Secrets", "answer", "answer_blocks", "begin"]

_HEADER = struct.Struct("<4sHBB32sQ")
_MAGIC, _VERSION = b"HDGS", 1


class Secrets:
    """What holders keep between the rounds, on their own devices: the labels as drawn, the masks, the tokens.

    ``coarse`` was sent in the first round; ``fine`` is only sent by holders whose cell turns out to be certain.
    Secrets answer one second-round task and no other: a further answer would spend more than epsilon.
    """

    def __init__(self, task: SemiTask, tokens: Any, coarse: Any, fine: Any, private: Any, simulation: bool) -> None:
        self.task, self.tokens, self.simulation = task, tokens, simulation
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
        d, start = len(task.space), _HEADER.size
        if len(data) < start or data[:4] != _MAGIC:
            raise FormatError("these are not the secrets of a first round.")
        _, version, flags, reserved, digest, n = _HEADER.unpack_from(data)
        wide = (d + 7) // 8
        if version != _VERSION or reserved or flags > 3 or len(data) != start + n * (TOKEN + 8 + wide):
            raise FormatError(f"these secrets are damaged or not of version {_VERSION}.")
        if digest != task.digest:
            raise FormatError("these secrets belong to another task.")
        body = np.frombuffer(data, dtype=np.uint8, offset=start)
        tokens, levels, masks = np.split(body, [n * TOKEN, n * (TOKEN + 8)])
        coarse, fine = np.ascontiguousarray(levels).view("<i4").reshape(n, 2).astype(np.int64).T
        private = np.unpackbits(masks.reshape(n, wide), axis=1, count=d, bitorder="little").astype(bool)
        secrets = cls(task, tokens.reshape(n, TOKEN), coarse.copy(), fine.copy(), private, bool(flags & 1))
        secrets.answered = bool(flags & 2)
        return secrets

    def __repr__(self) -> str:
        return f"Secrets(of {len(self)} holders, {'answered' if self.answered else 'second round open'})"


def begin(
    task: SemiTask, X: Any, y: Any, private: Any = None, randomness: Randomness | int | None = None
) -> tuple[FirstReports, Secrets]:
    """First round: return the reports to send and the secrets to keep.

    Parameters
    ----------
    task : SemiTask
        The published task.
    X, y : records and labels
        A matrix or data frame; one record may be a mapping by name, with its label in ``y``. Whatever is in them, there
        is a report for each, of one length.
    private : bool array of shape (d,) or (n, d), optional
        True where a feature is private; required where the task lets holders choose. It is no part of the record: it is
        fixed by policy, or chosen and sent in clear, so a mask of the wrong shape is an error.

    Examples
    --------
    >>> task = SemiTask.design(["age", "income"], epsilon=2.0, label_bounds=(0, 1), feature_bounds=(0, 99))
    >>> reports, secrets = begin(task, {"age": 41, "income": 7}, 0.3, [False, True])
    >>> reports.Z.tolist(), secrets
    ([[41.0, nan]], Secrets(of 1 holders, second round open))
    """
    source = as_randomness(randomness)
    if isinstance(X, Mapping):
        Z, y = read_record(task, X, y)
    else:
        Z = _encode(task, X)
        y = task.labels(y, n=len(Z))
    mask = task.effective(private, len(Z))
    Z, labels = for_each(task, partial(_reported, task), Z, y)
    coarse, fine = task.label.randomize_both(task.grid.levels(labels, source), source)
    # Nothing is private but the label: whatever the partition, the cell is certain, so epsilon is the label's.
    coarse = np.where(mask.any(axis=1), coarse, fine)
    tokens = source.uint8(TOKEN * len(Z)).reshape(-1, TOKEN)
    public = np.where(mask, np.nan, Z)
    simulation = source.simulation
    return (
        FirstReports(task, tokens, coarse, mask, public, simulation),
        Secrets(task, tokens, coarse, fine, mask, simulation),
    )


def answer(task: CellTask, X: Any, secrets: Secrets, randomness: Randomness | int | None = None) -> CellReports:
    """Second round: return the reports to send. Secrets can be used once."""
    parts = list(answer_blocks(task, X, secrets, randomness))
    if parts:
        return CellReports.concat(task, parts)
    empty = np.empty((0, task.n_cells), dtype=bool)
    chosen = empty if task.response == "bits" else np.empty(0, dtype=np.int64)
    return CellReports.make(task, secrets.tokens, secrets.coarse, empty, chosen, secrets.simulation)


def answer_blocks(
    task: CellTask, X: Any, secrets: Secrets, randomness: Randomness | int | None = None
) -> Iterator[CellReports]:
    """Like :func:`answer`, a block of holders at a time: holders x cells is never in memory at once."""
    if task.first.digest != secrets.task.digest:
        raise HedgerowError("these secrets belong to another first round than this task.")
    Z = _encode(task.first, X)
    if len(Z) != len(secrets):
        raise HedgerowError(f"'X' must have the {len(secrets)} records of the first round. Got {len(Z)} instead.")
    secrets.spend()
    source = as_randomness(randomness)
    return (_block(task, Z[part], secrets, part, source) for part in blocks(len(Z), task.n_cells))


def _block(task: CellTask, Z: Any, secrets: Secrets, part: slice, source: Randomness) -> CellReports:
    reach = candidates(task.partition, Z, secrets.private[part])
    (own,) = for_each(task.first, partial(_cell, task), Z, np.zeros(len(Z)))
    own = np.where(
        reach[np.arange(len(own)), own], own, reach.argmax(axis=1)
    )  # a fixed record's cell may be no candidate
    certain = reach.sum(axis=1) == 1
    levels = np.where(certain, secrets.fine[part], secrets.coarse[part])
    chosen: Any
    if certain.all():
        chosen = reach if task.response == "bits" else own
    elif isinstance(task.cell, CandidateKary):
        chosen = task.cell.named(own, reach, source)
    else:
        chosen = task.cell.support(own, reach, source)
    simulation = secrets.simulation or source.simulation
    return CellReports.make(task, secrets.tokens[part], levels, reach, chosen, simulation)


def _cell(task: CellTask, Z: Any, _: Any) -> tuple[Any]:
    return (task.partition.apply(Z).astype(np.int64),)


def _encode(task: SemiTask, X: Any) -> npt.NDArray[np.float64]:
    """Return records in double precision; single precision rounds the ends of a range, beyond it now and then."""
    if isinstance(X, Mapping):
        return read_record(task, X, None)[0].astype(np.float64)
    if isinstance(X, np.ndarray) and X.dtype == np.float32:
        X = X.astype(np.float64)
    return np.asarray(task.space.encode(X, fill=True), dtype=np.float64)


def _reported(task: SemiTask, Z: Any, y: Any) -> tuple[Any, Any]:
    return Z, task.reported(Z, y)
