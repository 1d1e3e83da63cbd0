"""Shared test vectors: the random bytes that went in, and the report that came out.

``python -m vectors -o vectors.json.gz --refusals refusals.json.gz`` writes them, and the tasks that
must be refused (:mod:`vectors.refusals`). A holder in another language is right if it makes every body
from the same task, record and random bytes, and uses up exactly those bytes. Besides seeded bytes there are chosen ones
that lead into the corners: long runs of 0 and of 255, and draws on the very edge of a threshold.
Where a public model runs on the device, ``place`` is what it works out: the prediction (to 1e-9 of itself; how a
machine adds up products is its own affair), and the leaf in every tree and the rounded level, or the bin of the error
in a pilot. Some records are strange: values are missing, or are none; they are answered like any other.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.holder.make import make_body
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.tasks.announcement import task_text
from hedgerow.tasks.partly_public import CellTask, FirstReports, Secrets
from vectors.assisted import ModelCase
from vectors.refusals import make_refusals, refusals_json
from vectors.tasks import Case, cases

__all__ = ["ScriptedRandomness", "main", "make_vectors"]

_FORMAT = "hedgerow/holder-vectors"
_VERSION = 1


class ScriptedRandomness(Randomness):
    """Chosen bytes first, then seeded ones; remembers all that were taken.

    >>> source = ScriptedRandomness(b"ab", SeededRandomness(0))
    >>> source.bytes(1), len(source.bytes(9)), source.taken[:2], source.simulation
    (b'a', 9, b'ab', True)
    """

    simulation = True

    def __init__(self, script: bytes, rest: Randomness) -> None:
        super().__init__()
        self._script = script
        self._rest = rest
        self.taken = b""

    def bytes(self, n: int) -> bytes:
        """Return the next ``n`` bytes."""
        head = self._script[:n]
        self._script = self._script[n:]
        out = head + self._rest.bytes(n - len(head))
        self.taken += out
        return out


def _vectors(case: Case, seed: int) -> Iterator[dict[str, Any]]:
    source = SeededRandomness(seed)
    scripts = [b""] * case.n + case.scripts()
    plain, _ = case.record(source.child("record", 0), 0)
    odd = dict(enumerate(case.odd(plain), len(scripts)))
    scripts += [b""] * len(odd)
    for i, script in enumerate(scripts):
        record, mask = case.record(source.child("record", i), i)
        record = odd.get(i, record)
        secrets = None
        kept = None
        if isinstance(case.task, CellTask):
            first = case.task.first
            sent, secrets = make_body(first, record, source.child("first", i), mask=mask)
            assert secrets is not None
            kept = _kept(secrets, FirstReports.from_bytes(first, sent))
        drawn = ScriptedRandomness(script, source.child("draw", i))
        body, _ = make_body(case.task, record, drawn, mask=mask if secrets is None else None, kept=secrets)
        vector = {"record": record, "random": drawn.taken.hex(), "body": body.hex()}
        if isinstance(case, ModelCase):
            vector["place"] = case.place(record, ScriptedRandomness(drawn.taken, source))
        yield vector | ({"mask": mask} if mask else {}) | ({"secrets": kept} if kept else {})


def _kept(secrets: Secrets, sent: FirstReports) -> dict[str, Any]:
    """Return what a device keeps of a first round: what was drawn, what was sent in clear, and what was agreed to."""
    first = secrets.task
    private = secrets.private[0]
    clear = [None if hidden else value for value, hidden in zip(sent.Z[0].tolist(), private, strict=True)]
    grid = {"low": first.grid.low, "high": first.grid.high, "n_steps": first.grid.n_steps}
    return {
        "task": first.id,
        "epsilon": first.epsilon,
        "label_share": first.label_share,
        "grid": grid,
        "token": secrets.tokens.tobytes().hex(),
        "coarse": int(secrets.coarse[0]),
        "fine": int(secrets.fine[0]),
        "mask": private.tolist(),
        "clear": clear,
    }


def make_vectors() -> dict[str, Any]:
    """Return all tasks and vectors, the same in every run."""
    tasks = []
    vectors = []
    for number, case in enumerate(cases()):
        parameters = {name: f"{value:x}" for name, value in case.parameters().items()}
        text = task_text(case.task)
        tasks.append({"name": case.name, "text": text, "id": case.task.id, "parameters": parameters})
        vectors += [{"task": number, **vector} for vector in _vectors(case, number)]
    return {"format": _FORMAT, "version": _VERSION, "tasks": tasks, "vectors": vectors}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not JSON")


def to_json(vectors: dict[str, Any]) -> str:
    """Return vectors as JSON, one a line."""
    lines = [json.dumps(v, sort_keys=True, default=_plain) for v in vectors["vectors"]]
    head = json.dumps({**vectors, "vectors": []}, sort_keys=True)
    return head.replace('"vectors": []', '"vectors": [\n' + ",\n".join(lines) + "\n]")


def _write(path: str, text: str) -> None:
    data = text.encode()
    with open(path, "wb") as file:
        file.write(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)


def main(argv: list[str] | None = None) -> int:
    """Write the vectors."""
    parser = argparse.ArgumentParser(prog="python -m vectors", description="Write the shared vectors.")
    parser.add_argument("-o", "--output", metavar="FILE", help="FILE.json or FILE.json.gz: reports")
    parser.add_argument("--refusals", metavar="FILE", help="FILE.json or FILE.json.gz: tasks that must be refused")
    arguments = parser.parse_args(argv)
    if arguments.output:
        vectors = make_vectors()
        _write(arguments.output, to_json(vectors))
        print(f"{len(vectors['vectors'])} vectors of {len(vectors['tasks'])} tasks -> {arguments.output}")
    if arguments.refusals:
        refusals = make_refusals()
        _write(arguments.refusals, refusals_json(refusals))
        refused = sum(not answer for *_, answer in refusals["cases"])
        print(f"{len(refusals['cases'])} mutated tasks, {refused} of them refused -> {arguments.refusals}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
