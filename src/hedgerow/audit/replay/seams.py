"""Where private numbers meet noise: the few methods through which every fit reads its records.

Nothing of it runs in a fit that is not audited. A read that goes round these methods is not missed: with the outputs
of the others forced, it makes two fits publish different things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from typing import Any
from unittest.mock import patch

import numpy as np

import hedgerow.randomness
from hedgerow.audit.mechanism import declared
from hedgerow.audit.replay.tape import Release, Tape
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms import counts, median, selection
from hedgerow.mechanisms.base import LocalMechanism
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.joint import JointMechanism
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.mechanisms.median import _Ranks
from hedgerow.mechanisms.selection import Selection

__all__ = ["watching"]

Wrapped = Callable[..., Any]


@contextmanager
def watching(tape: Tape) -> Iterator[None]:
    """Lead all private reads over the tape; not for several threads."""
    from hedgerow.central.anova import accounting

    with ExitStack() as stack:

        def put(owner: Any, name: str, wrap: Callable[[Tape, Wrapped], Wrapped]) -> None:
            stack.enter_context(patch.object(owner, name, wrap(tape, getattr(owner, name))))

        stack.enter_context(patch.object(hedgerow.randomness, "SecureRandomness", tape.source))
        put(NoisyCounts, "release", _counts)
        put(accounting.Release, "noisy", _paid_sums)
        put(Selection, "choose", _choice)
        put(_Ranks, "draw", _median)
        put(LabelGrid, "levels", _grid)
        for kind in _randomizers():
            put(kind, "randomize", _level)
        put(counts, "discrete_laplace", _noise("laplace"))
        put(accounting, "rounded_gaussian", _noise("gaussian"))
        put(selection, "geometric", _noise("geometric"))
        put(median, "geometric", _noise("geometric"))
        yield


def _randomizers() -> list[type[LocalMechanism]]:
    """Return the classes that randomise one label, each with a method of its own."""
    declared()  # loads them all: one that is loaded later, by the fit that is watched, would be missed
    todo = [LevelMechanism, JointMechanism]
    found = []
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        if "randomize" in vars(kind):
            found.append(kind)
    return found


def _noise(name: str) -> Callable[[Tape, Wrapped], Wrapped]:
    def wrap(tape: Tape, draw: Wrapped) -> Wrapped:
        return lambda parameter, n, source: tape.noise(name, parameter, n, lambda: draw(parameter, n, source))

    return wrap


def _counts(tape: Tape, release: Wrapped) -> Wrapped:
    def wrapped(self: NoisyCounts, true: Any, source: Any) -> Any:
        if tape.inside:  # as a part of a release that is on the tape already
            return release(self, true, source)
        return tape.sums(Fraction(self.epsilon), true, lambda own: release(self, true, own), source)

    return wrapped


def _paid_sums(tape: Tape, noisy: Wrapped) -> Wrapped:
    def wrapped(self: Any, true: Any, source: Any) -> Any:
        return tape.sums(self.cost, true, lambda own: noisy(self, true, own), source)

    return wrapped


def _choice(tape: Tape, choose: Wrapped) -> Wrapped:
    def wrapped(self: Selection, costs: Any, valid: Any = None, randomness: Any = None) -> Any:
        true = np.asarray(costs, dtype=np.int64)
        exists = np.ones(true.shape, dtype=bool) if valid is None else np.asarray(valid, dtype=bool)
        due = Release(self.name, (self.ratio, true.shape, exists.tobytes()), Fraction(self.epsilon), true)
        return tape.once(due, lambda own: choose(self, costs, valid, own), randomness, self.ratio)

    return wrapped


def _median(tape: Tape, draw: Wrapped) -> Wrapped:
    def wrapped(self: Any, chooser: Any, n: int, randomness: Any) -> Any:
        cells = np.asarray(self.cell(np.arange(self.n)), dtype=np.int64)
        due = Release("median", (chooser.ratio, self.n_cells, n), Fraction(chooser.epsilon), cells)
        return tape.once(due, lambda own: draw(self, chooser, n, own), randomness, chooser.ratio)

    return wrapped


def _grid(tape: Tape, levels: Wrapped) -> Wrapped:
    def wrapped(self: LabelGrid, y: Any, randomness: Any) -> Any:
        # Each label has coins of its own, as each record has. Those of a record that was added in front come last.
        own = tape.own(randomness, "grid")
        labels = np.asarray(y, dtype=np.float64)
        due = tape.expected()
        first = tape.records is not None and due is not None and labels.size == due.true.size + 1
        numbers = np.roll(np.arange(labels.size), 1 if first else 0).tolist()
        flat = labels.ravel()
        parts = [levels(self, flat[i : i + 1], own.child(number)) for i, number in enumerate(numbers)]
        true = np.concatenate([*parts, np.zeros(0, dtype=np.int64)]).reshape(labels.shape)
        tape.note("grid", (self.low, self.high, self.n_steps), true)
        return true

    return wrapped


def _level(tape: Tape, randomize: Wrapped) -> Wrapped:
    def wrapped(self: Any, values: Any, randomness: Any = None) -> Any:
        if tape.inside:
            return randomize(self, values, randomness)
        true = np.asarray(values, dtype=np.int64)
        due = Release("level", (repr(self), true.shape), Fraction(self.epsilon), true, law=self)
        return tape.once(due, lambda own: randomize(self, values, own), randomness)

    return wrapped
