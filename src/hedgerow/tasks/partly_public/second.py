"""Reports of the second round: the label, the candidate cells, and a randomised answer among them.

The frame is that of the first round (code 17: named cell, 18: bits). The payload is::

    4      the level: that of the first round; the fine one if there is a single candidate; plus the reach
    c      the candidates, one bit a cell
    4 | c  the named cell, or the flipped bits, one a cell
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.first import SIMULATION, VERSION, ByteRows, FirstReports, read_batch, write_batch
from hedgerow.tasks.tree.encoding import check_padding, pack, unpack

__all__ = ["CellReports"]

_CODES = {"k_ary": 17, "bits": 18}


@dataclass(frozen=True, eq=False)
class CellReports:
    """A batch of second-round reports, as columns.

    Attributes
    ----------
    levels : int64 array
        Noisy label levels.
    candidates : packed bits of shape (n, ceil(cells / 8))
        The cells each holder can be in.
    answer : packed bits (response "bits") or int64 array of named cells ("k_ary")
        The randomised answer.
    """

    task: CellTask
    tokens: ByteRows
    levels: npt.NDArray[np.int64]
    candidates: ByteRows
    answer: npt.NDArray[np.integer]
    simulation: bool = False

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def payloads(self) -> ByteRows:
        """The messages as rows of bytes."""
        level = (self.levels + self.task.first.label.coarse.reach).astype("<u4").view(np.uint8).reshape(-1, 4)
        answer = self.answer
        if self.task.response == "k_ary":
            answer = answer.astype("<u4").view(np.uint8).reshape(-1, 4)
        return np.hstack([level, self.candidates, answer.astype(np.uint8, copy=False)])

    def iter_bytes(self) -> Iterator[bytes]:
        """Yield each report as its holder sends it."""
        code = _CODES[self.task.response] | (SIMULATION if self.simulation else 0)
        head = bytes([VERSION, code]) + self.task.digest[:4]
        return (head + t.tobytes() + p.tobytes() for t, p in zip(self.tokens, self.payloads, strict=True))

    def to_bytes(self) -> bytes:
        """Return the batch as bytes."""
        return write_batch(self.task.digest, _CODES[self.task.response], self.simulation, self.tokens, self.payloads)

    @classmethod
    def from_bytes(cls, task: CellTask, data: bytes) -> CellReports:
        """Read a batch (or one single report), refusing what no holder of this task could have sent."""
        wide = (task.n_cells + 7) // 8
        width = 4 + wide + (4 if task.response == "k_ary" else wide)
        tokens, rows, simulation = read_batch(task.digest, _CODES[task.response], width, data)
        reach = task.first.label.coarse.reach
        levels = np.ascontiguousarray(rows[:, :4]).view("<u4")[:, 0].astype(np.int64) - reach
        answer: npt.NDArray[np.integer] = rows[:, 4 + wide :]
        if task.response == "k_ary":
            answer = np.ascontiguousarray(rows[:, 4 + wide :]).view("<u4")[:, 0].astype(np.int64)
        reports = cls(task, tokens, levels, rows[:, 4 : 4 + wide], answer, simulation)
        reports._check()
        return reports

    def _check(self) -> None:
        task, coarse = self.task, self.task.first.label.coarse
        if (self.levels > coarse.n_steps + coarse.reach).any():
            raise FormatError("a report has a label out of reach; it was not made for this task.")
        check_padding(self.candidates, task.n_cells)
        if not self.candidates.any(axis=1).all():
            raise FormatError("a report has no candidate cell.")
        if task.response == "bits":
            if (self.answer & ~self.candidates).any():
                raise FormatError("a report sets a bit outside its candidates.")
            return
        if (self.answer >= task.n_cells).any():
            raise FormatError("a report names a cell that does not exist.")
        byte = self.candidates[np.arange(len(self)), self.answer // 8]
        if not ((byte >> (self.answer % 8).astype(np.uint8)) & 1).all():
            raise FormatError("a report names a cell that is not one of its candidates.")

    def sizes(self) -> npt.NDArray[np.int64]:
        """Return the number of candidates of each holder."""
        return np.asarray(unpack(self.candidates, self.task.n_cells).sum(axis=1, dtype=np.int64))

    def check_labels(self, first: FirstReports) -> None:
        """Refuse a label that differs from the first round's: drawing it again spends more than epsilon.

        Holders with a single candidate are exempt: they send the fine label, which the coarse one is part of.
        """
        known = {t.tobytes(): int(v) for t, v in zip(first.tokens, first.levels, strict=True)}
        for token, level, size in zip(self.tokens, self.levels, self.sizes(), strict=True):
            before = known.get(token.tobytes())
            if before is None:
                raise HedgerowError("a report of the second round has no report of the first.")
            if size > 1 and before != level:
                raise HedgerowError(
                    f"a holder sent the label level {int(level)} after {before}: it was drawn a second time, "
                    "which costs more than epsilon. Drop the report and repair that device."
                )

    @classmethod
    def concat(cls, task: CellTask, parts: Iterable[CellReports]) -> CellReports:
        """Put batches together."""
        batches = list(parts)
        if not batches or any(b.task.digest != task.digest for b in batches):
            raise FormatError("batches of one and the same task are needed; at least one of these is of another.")
        names = ("tokens", "levels", "candidates", "answer")
        tokens, levels, may, answer = (np.concatenate([getattr(b, name) for b in batches]) for name in names)
        return cls(task, tokens, levels, may, answer, any(b.simulation for b in batches))

    @classmethod
    def make(
        cls,
        task: CellTask,
        tokens: ByteRows,
        levels: npt.NDArray[np.int64],
        candidates: npt.NDArray[np.bool_],
        answer: npt.NDArray[np.integer] | npt.NDArray[np.bool_],
        simulation: bool,
    ) -> CellReports:
        """Pack boolean matrices into a batch."""
        packed = pack(np.asarray(answer)) if task.response == "bits" else np.asarray(answer)
        return cls(task, tokens, levels, pack(candidates), packed, simulation)

    def __repr__(self) -> str:
        return f"CellReports({len(self)} to task {self.task.id[:12]}...{', simulation' if self.simulation else ''})"
