"""The replay audit: a fit, written down, and its neighbours with the same coins and outputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow.audit.replay.compose import Cost, cost_of
from hedgerow.audit.replay.seams import watching
from hedgerow.audit.replay.state import difference, said, stated
from hedgerow.audit.replay.tables import Case, Neighbour, Table
from hedgerow.audit.replay.tape import Release, Tape
from hedgerow.audit.result import HOLDS, VIOLATED, AuditResult
from hedgerow.guarantee import Guarantee

__all__ = ["Played", "audit_replay", "play"]

Fit = Callable[[Table], Any]


@dataclass(frozen=True, eq=False)
class Played:
    """One fit: its releases, everything that it says, and its claim; or why it has none."""

    releases: list[Release]
    stated: dict[str, Any] = field(default_factory=dict)
    claim: Guarantee | None = None
    fault: str = ""


def play(fit: Fit, table: Table, seed: int, script: Played | None = None) -> Played:
    """Fit a table with the coins of a seed; with a script, with the outputs of that fit."""
    tape = Tape(seed, None if script is None else script.releases, table.records)

    def run() -> Any:
        with watching(tape):
            return fit(table)

    # A learner on noisy labels may toss coins of its own, which have no part in privacy.
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(seed)  # noqa: NPY002
    try:
        fitted, words = said(run)
        tape.end()
    except Exception as error:  # an error is an output too, and the first fit had none
        return Played(tape.releases, fault=tape.fault or f"{type(error).__name__}: {error}")
    finally:
        np.random.set_state(before)  # noqa: NPY002
    if tape.fault:
        return Played(tape.releases, fault=tape.fault)
    return Played(tape.releases, {**stated(fitted), "warnings and output": words}, fitted.guarantee_)


def audit_replay(
    name: str, fit: Fit, cases: Sequence[Case], *, epsilon: float, seeds: Sequence[int] = (0,)
) -> AuditResult:
    """Audit whole fits against the claim that they make, and that against ``epsilon``.

    A fit of each table is written down, release by release; for each neighbour it is played again, with the same coins
    and the same outputs. Both must make the same releases and say the same, to the last bit. The true losses of all
    releases, summed (or composed, with a delta), must stay within the claim. ``measured`` is the largest sum that was
    met, ``pairs`` the number of neighbours.
    """
    start = time.perf_counter()
    found = _Findings()
    for seed in seeds:
        for case in cases:
            first = play(fit, case.table, seed)
            found.first(case.table, first, epsilon)
            for neighbour in case.neighbours if first.claim is not None else ():
                found.compare(first, play(fit, neighbour.table, seed, first), neighbour, case.table)
    return AuditResult(
        name,
        epsilon,
        found.worst.epsilon,
        "replay",
        VIOLATED if found.faults else HOLDS,
        time.perf_counter() - start,
        found.delta,
        witness="; ".join(found.faults[:3]) or found.witness,
        pairs=found.pairs,
    )


@dataclass
class _Findings:
    """The worst of many replays."""

    worst: Cost = field(default_factory=lambda: Cost(0.0))
    witness: str = ""
    pairs: int = 0
    delta: float = 0.0
    faults: list[str] = field(default_factory=list)

    def first(self, table: Table, played: Played, epsilon: float) -> None:
        """Take down a first fit."""
        if played.claim is None:
            self.faults.append(f"{table.name}: {played.fault}")
            return
        self.delta = played.claim.delta
        if played.claim.epsilon > epsilon * (1 + 1e-9):
            self.faults.append(f"{table.name}: claims {played.claim.epsilon!r}, and was given {epsilon!r}")

    def compare(self, one: Played, two: Played, neighbour: Neighbour, table: Table) -> None:
        """Take down a second fit."""
        self.pairs += 1
        name = f"{table.name} -> {neighbour.table.name}"
        if two.fault:
            self.faults.append(f"{name}: {two.fault}")
            return
        where = difference(one.stated, two.stated)
        if where is not None:
            self.faults.append(f"{name}: with equal outputs of all releases, {where} differs")
        if neighbour.steps is None or one.claim is None:
            return
        cost = cost_of(one.releases, two.releases, one.claim, neighbour.steps)
        self.faults += [f"{name}: {fault}" for fault in cost.faults]
        if cost.epsilon > self.worst.epsilon:
            self.worst = cost
            self.witness = name
