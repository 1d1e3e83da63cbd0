"""Shared refusal vectors: mutated tasks of all kinds, and whether a device may answer them.

Each case is a splice of a valid task's text, so that both languages judge the very same characters; the id is always
that of the mutated text (and of a first round within a second), so that the mutation itself is judged. ``answer`` is
empty where Python refuses: another language must refuse too. Where Python accepts, it is the start of the SHA-256 of
the report to an empty record (in which everything is missing), drawn from :class:`CountedRandomness`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from hedgerow.content import canonical
from hedgerow.errors import HedgerowError
from hedgerow.holder.budget import Cost
from hedgerow.holder.make import check_question, make_body
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.tasks.announcement import read_task
from hedgerow.tasks.base import Task
from vectors.bases import bases
from vectors.mutations import Path, mutations, put

__all__ = ["CountedRandomness", "judge", "make_refusals", "refusals_json"]

_FORMAT = "hedgerow/refusal-vectors"
_VERSION = 1
_FEW = 5  # mutations at one place: with all of them there would be some 60,000 cases

KNOWN: dict[str, list[tuple[Path, str]]] = {
    "tree, bits": [
        (("grid", "n_steps"), "0.5"),
        (("grid", "n_steps"), "16777216"),
        (("partition", "threshold", 0), "null"),
        (("partition", "space", "columns", 0, "low"), '"0"'),
        (("partition", "space", "columns", 0, "indicator"), "1"),
        (("partition", "space", "columns", 0, "indicator"), "false"),
        (("partition", "space", "columns", 1, "name"), '"age is missing"'),
        (("partition", "space", "columns", 1, "missing"), '"X"'),
        (("partition", "space", "columns", 0, "high"), '"99"'),
        (("grid", "low"), '"0"'),
        (("grid", "high"), "1e-290"),
        (("grid",), '{"high":1e-290,"low":0.0,"missing":0.0,"n_steps":16}'),
        (("cell_share",), "1.5"),
        (("asking", 0, "unit"), canonical("m" * 40)),
        (("asking", 0, "unit"), canonical("m" * 41)),
        (("asking", 0, "unit"), canonical("\U0001f600" * 40)),
        (("asking", 0, "unit"), canonical("a\u202eb")),
        (("asking", 0, "unit"), '"\\ud800"'),
        (("asking", 0, "kind"), '"yes/no"'),
        (("asking", 1, "kind"), '"whole number"'),
        (("asking", 0, "question"), canonical({"en": "m" * 480})),
        (("asking", 0, "question"), canonical({"en": "m" * 481})),
        (("asking", 0, "question"), canonical({"en": "<b>bold</b>"})),
        (("asking", 0, "question"), canonical({"en": "two\nlines"})),
        (("asking", 0, "question"), canonical({"__proto__": "x"})),
        (("asking", 0, "question"), canonical({"en_GB": "x"})),
        (("asking", 0, "question"), canonical({"de" + "-abcdefgh" * 4: "x"})),
        (("asking", 0, "question"), canonical({f"a{chr(97 + i)}": "x" for i in range(24)})),
        (("asking", 0, "question"), canonical({f"a{chr(97 + i)}": "x" for i in range(25)})),
        (("asking", 0, "name"), '"hours"'),
        (("asking", 0, "name"), '"height"'),
    ],
    "label, bins": [(("mechanism", "starts"), "[1,4,7]"), (("mechanism", "starts", 0), "0.5")],
    "label, matrix": [
        (("mechanism", "weights"), '[["5555555555555555","aaaaaaaaaaaaaaab"]]'),
        (("grid", "n_steps"), "3"),
        (("mechanism", "epsilon"), "0.1"),
    ],
    "label, interval": [(("mechanism", "radius"), "-1"), (("mechanism", "low"), "-10")],
    "one round, policy": [
        (("epsilon",), "1.0"),
        (("epsilon",), "4.0"),
        (("masks",), '"hidden"'),
        (("assist", "radius"), "1e+100"),
        (("assist", "radius"), "6e+99"),
        (("mechanism", "weights"), "[]"),
        (("mechanism",), canonical(TopResponse(2.0, 2, (0, 2)).to_dict())),
        (("mechanism",), canonical(GaussianNoise(2.0, 2, 1e-3).to_dict())),
        (("private",), '["rent"]'),
        (("private",), "[]"),
    ],
    "one round, personal": [(("mechanism", "n_steps"), "0.5"), (("mechanism", "n_steps"), "32")],
    "label, gaussian": [(("mechanism", "sigma"), "1.0")],
}
"""Holes that were found by hand, beside those that are drawn."""


class CountedRandomness(Randomness):
    """Bytes that every language makes alike: the high bytes of ``x -> 1664525 x + 1013904223 (mod 2**32)``, from 1.

    >>> list(CountedRandomness().bytes(4))
    [60, 94, 129, 180]
    """

    simulation = True

    def __init__(self) -> None:
        super().__init__()
        self._state = 1

    def bytes(self, n: int) -> bytes:
        """Return the next ``n`` bytes."""
        out = bytearray()
        for _ in range(n):
            self._state = (1664525 * self._state + 1013904223) % (1 << 32)
            out.append(self._state >> 24)
        return bytes(out)


def answer(task: Any) -> bytes:
    """Return the report to an empty record; of a task with personal masks, every second feature is private."""
    source = CountedRandomness()
    record = {"record": 7}
    kept = None
    if task.before is not None:
        _, kept = make_body(task.before, record, source, mask=_mask(task.before))
    return make_body(task, record, source, mask=_mask(task), kept=kept)[0]


def _mask(task: Task) -> list[bool] | None:
    if not task.question().chooses:
        return None
    return [j % 2 == 0 for j in range(len(task.question().features))]


def judge(text: str) -> str:
    """Return "" if a device refuses a task, else the start of the digest of its answer.

    >>> judge("{}")
    ''
    """
    try:
        task = read_task(text)
        check_question(task)
        Cost.of(task.guarantee)
        body = answer(task)
    except HedgerowError:
        return ""
    return hashlib.sha256(body).hexdigest()[:8]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _mutated(content: dict[str, Any], path: Path, raw: str) -> str:
    """Return the text of a task with a mutation; the id of a first round within it follows its content."""
    if path[:1] != ("first",) or len(path) < 2 or path[1] == "id":
        return put(content, path, raw)
    inner = {name: value for name, value in content["first"].items() if name != "id"}
    first = put(inner, path[1:], raw)
    whole = put({**content, "first": {**content["first"], "id": _digest(first)}}, path, raw)
    assert _digest(first) in whole
    return whole


def _splice(before: str, after: str) -> tuple[int, int, str]:
    """Return where to cut, how much to leave out and what to put there to make one text of another."""
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    most = min(len(before), len(after)) - start
    same = next((i for i in range(most) if before[-1 - i] != after[-1 - i]), most)
    return start, len(before) - start - same, after[start : len(after) - same]


def _texts(name: str, text: str, seed: int) -> Iterator[str]:
    """Yield a task and its mutations; a first round within a second has tasks of its own, so few of those."""
    content = json.loads(text)
    source = SeededRandomness(seed)
    yield text
    for path, raw in (*KNOWN.get(name, ()), *mutations(content, _FEW, source)):
        if path[:1] != ("first",) or not source.integers(3, 1)[0]:
            yield _mutated(content, path, raw)


def make_refusals() -> dict[str, Any]:
    """Return the valid tasks and the cases ``[task, start, left out, put in, answer]``, the same in every run."""
    tasks = []
    cases = []
    for number, (name, text) in enumerate(bases()):
        tasks.append({"name": name, "text": text})
        changed = dict.fromkeys(_texts(name, text, number))
        cases += [[number, *_splice(text, other), judge(other)] for other in changed]
    return {"format": _FORMAT, "version": _VERSION, "tasks": tasks, "cases": cases}


def refusals_json(refusals: dict[str, Any]) -> str:
    """Return refusal vectors as JSON, one case a line."""
    lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in refusals["cases"])
    head = json.dumps({**refusals, "cases": []}, sort_keys=True)
    return head.replace('"cases": []', f'"cases": [\n{lines}\n]')
