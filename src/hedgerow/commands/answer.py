"""From a file of private records to a file of reports, block by block: the one way for every kind of task.

No record is ever answered twice:

1. Of a first round, what the device keeps is on disk before the report has its name; a name that exists is refused.
2. In a second round, what was kept is marked as used, on disk, before any of the answer is written. Room for the answer
   is taken before that. A crash in between loses the answer, which costs accuracy; no order of events gives another.
3. With ``--ledger`` what each holder spends is booked before the first draw, and before what was kept is marked. A
   second round was paid for with its first; if that is not in the ledger, it is booked with the second.
4. With ``--resume`` each block is kept, all or nothing, before the next is drawn, and is never drawn again. The blocks
   of a first round hold what the device keeps: they lie beside the secrets, not beside the reports.
"""

from __future__ import annotations

import argparse
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from hedgerow.commands.batches import open_batch, take_room
from hedgerow.commands.files import STDIO, naming, output, warn
from hedgerow.commands.kept import locked, reserved, write_secrets
from hedgerow.commands.parts import Parts
from hedgerow.commands.progress import Progress
from hedgerow.commands.receipt import Receipt
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.ledger import Ledger
from hedgerow.randomness import as_randomness
from hedgerow.spending import book
from hedgerow.tables import Block, Table
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import Reports

__all__ = ["Answering"]


class Answering:
    """One run: the records of a file answer a task."""

    def __init__(self, arguments: argparse.Namespace, task: Task, ledger: Ledger | None = None) -> None:
        self.arguments = arguments
        self.task = task
        self.ledger = ledger
        self.source = as_randomness(arguments.seed)
        self.question = task.question()
        self.table = Table(arguments.private)
        if absent := self.table.lacks(self.question):
            warn(arguments, f"{self.table.path} lacks {', '.join(map(repr, absent))}: missing in every record")
        self.kept: Any = None
        self._held: list[Block] | None = None
        self._mask: npt.NDArray[np.bool_] | None = None
        self._n: int | None = None
        if task.keeps or task.before is not None:
            self._n = self._count()
            self._mask = self._read_mask(self._n)

    @property
    def simulation(self) -> bool:
        """Whether the noise protects nobody."""
        return self.source.simulation or getattr(self.kept, "simulation", False)

    @property
    def guarantee(self) -> Guarantee:
        """What the holders are promised."""
        return replace(self.task.guarantee, simulation=self.simulation)

    def _count(self) -> int:
        """Return the number of records: whatever is wrong with the file shows here, while nothing is spent."""
        if self.arguments.private == STDIO:
            self._held = list(self.table.blocks())
        n = sum(map(len, self._blocks()))
        if not n:
            raise HedgerowError(
                f"{self.arguments.private} has no records below its header; there is nothing to report."
            )
        return n

    def _blocks(self) -> Iterable[Block]:
        return self.table.blocks() if self._held is None else self._held

    def _read_mask(self, n: int) -> npt.NDArray[np.bool_] | None:
        """Return which features of which record are private, where holders choose."""
        from hedgerow.semi.masks import read_mask

        if not self.question.chooses:
            return None
        path = self.arguments.mask
        names = tuple(feature.name for feature in self.question.features)
        if path is None:
            raise HedgerowError(
                f"{self.arguments.task} lets each holder choose what is private; give --mask, a CSV file with the "
                f"header {','.join(names)} and a row a record, 1 where private."
            )
        table = Table(path)  # names what is wrong with a file that is no table
        if not table.is_csv or path == STDIO:
            raise HedgerowError(f"--mask {path}: a mask is a CSV file.")
        for _ in table.blocks():
            pass
        try:
            mask = read_mask(path, names, n)
        except HedgerowError:
            raise
        except ValueError as error:
            raise FormatError(f"{path} is not a mask: {error}.") from error
        if absent := [name for name in names if name not in table.names]:
            warn(self.arguments, f"{path} leaves out {', '.join(absent)}: private in every record")
        return mask

    def run(self) -> int:
        """Answer; return the number of reports."""
        with ExitStack() as stack:
            if self.task.before is not None:
                stack.enter_context(locked(self.arguments.secrets, f"--secrets {self.arguments.secrets}"))
                self._open_kept(self.task.before)
            if not self.arguments.resume:
                return self._write(self._drawn(), spend=self._spend)
            if self.task.keeps:
                path = self.arguments.secrets
                stack.enter_context(reserved(path, begun=os.path.exists(f"{path}.parts")))
            parts = stack.enter_context(self._parts())
            self._book(parts.key)
            if self.kept is not None and not (parts.marked and self.kept.answered):
                self._use_up()
                parts.mark()
            with Progress("privatising") as progress:
                n = 0
                for reports in self._drawn(skip=len(parts), source=parts.restore(self.source)):
                    parts.add(_pack(reports), self.source)
                    n += len(reports)
                    progress.update(n, self.table.share)
            n = self._write((self._unpack(data) for data in parts), begun=True)
            # In this order a crash in between repeats the same reports from the parts, and draws nothing.
            Receipt(self.arguments.output, self.task.id).write(n)
            parts.remove()
            return n

    def _parts(self) -> Parts:
        arguments = self.arguments
        inputs = [arguments.private] + ([arguments.mask] if arguments.mask else [])
        work = {"task": self.task.id, "seed": arguments.seed}
        if self.ledger is not None:
            work["ledger"] = str(self.ledger.path)
        beside = arguments.secrets if self.task.keeps else arguments.output
        kept = None if self.kept is None else self.kept.tokens.tobytes()
        return Parts(beside, work, inputs, kept)

    def _open_kept(self, first: Task) -> None:
        """Read what the round before kept; whether it was used is judged when it is to be used."""
        with open(self.arguments.secrets, "rb") as file, naming(self.arguments.secrets):
            self.kept = first.kept_from_bytes(file.read())
        if len(self.kept) != self._n:
            raise HedgerowError(
                f"{self.arguments.private} must have the {len(self.kept)} records of the first round. "
                f"Got {self._n} instead."
            )

    def _book(self, token: str) -> None:
        """Book what each holder spends; the token names this very draw, which is charged once."""
        first = self.task.before
        if self.ledger is None:
            return
        if first is not None and any((e.key or "").startswith(_key(first)) for e in self.ledger.entries()):
            return
        key = f"{_key(self.task)}{token}"
        book(self.ledger, self.guarantee, purpose=f"hedgerow privatize: task {self.task.id[:12]}", key=key)

    def _spend(self) -> None:
        """Book, then mark what was kept: nothing is drawn before both are on disk."""
        self._book(secrets.token_hex(16))
        self._use_up()

    def _use_up(self) -> None:
        """Mark what was kept, on disk; refuse if it was marked."""
        if self.kept is not None:
            with naming(self.arguments.secrets):
                self.kept.spend()
            write_secrets(self.arguments.secrets, self.kept.to_bytes())

    def _drawn(self, *, skip: int = 0, source: Any = None) -> Iterator[Reports]:
        """Yield the reports of each block of rows, but for those that are done."""
        start = 0
        for i, block in enumerate(self._blocks()):
            rows = slice(start, start + len(block))
            start = rows.stop
            if i < skip:
                continue
            X, y = block.private(self.question)
            with naming(self.arguments.private):
                yield self.task.privatize(
                    X,
                    y,
                    private=None if self._mask is None else self._mask[rows],
                    kept=None if self.kept is None else self.kept.part(rows),
                    randomness=self.source if source is None else source,
                )

    def _unpack(self, data: bytes) -> Reports:
        size = int.from_bytes(data[:8], "little")
        reports = Reports.from_bytes(self.task, data[8 : 8 + size])
        kept = self.task.kept_from_bytes(data[8 + size :]) if self.task.keeps else None
        return self.task.batch(reports.tokens, reports.payloads, reports.simulation, kept)

    def _write(self, blocks: Iterable[Reports], *, spend: Callable[[], None] | None = None, begun: bool = False) -> int:
        """Write reports, and what the device keeps of them, which gets its name first."""
        path = self.arguments.secrets
        kept: list[Any] = []
        with ExitStack() as stack:
            if self.task.keeps and not begun:
                stack.enter_context(reserved(path))
            file: IO[bytes] = stack.enter_context(output(self.arguments.output))
            if spend is not None:
                if self.kept is not None:
                    take_room(file, self.task, len(self.kept))
                spend()
            if self.task.keeps:
                held = stack.enter_context(output(path, "--secrets", secret=True))
            batch = stack.enter_context(open_batch(self.arguments.output, file, self.task, self.simulation))
            progress = stack.enter_context(Progress("privatising"))
            for reports in blocks:
                batch.add(reports)
                kept.append(reports.kept)
                progress.update(batch.n, self.table.share)
            batch.finish()
            if self.task.keeps:
                data = self.task.join_kept(kept).to_bytes()
                if begun:
                    _check_own(path, data)
                held.write(data)
        return int(batch.n)


def _key(task: Task) -> str:
    """Return how the ledger's keys of all answers to a task begin."""
    return f"task {task.id} "


def _pack(reports: Reports) -> bytes:
    sent = reports.to_bytes()
    kept = b"" if reports.kept is None else reports.kept.to_bytes()
    return len(sent).to_bytes(8, "little") + sent + kept


def _check_own(path: str, data: bytes) -> None:
    """Refuse to replace secrets other than those that this work would write, or has written before it was stopped."""
    with open(path, "rb") as file:
        found = file.read()
    if found and found != data:
        raise HedgerowError(f"--secrets {path} holds what another run has drawn; give this one another name.")
