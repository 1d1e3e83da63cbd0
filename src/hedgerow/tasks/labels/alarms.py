"""Outputs of a label mechanism that honest holders would not send in bulk."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.mechanisms.level import AdditiveNoise, LaplaceNoise, LevelMechanism
from hedgerow.tasks.alarms import NOTHING, Detector, far_levels, within

if TYPE_CHECKING:
    from hedgerow.types import ByteRows, IntArray

__all__ = ["code_alarms"]

_RUNS = 64
"""Runs of codes that are watched: as fine as the noise of a few thousand reports lets one see."""
_MOST = 1 << 18
"""Entries of the table of all laws; beyond, only additive noise is watched, in its tails."""


def code_alarms(mechanism: LevelMechanism, at: int = 8) -> Detector:
    """Return the detector of a mechanism, whose code is ``at`` this byte: of codes, or of labels far beyond bounds.

    For a run of codes R the probability given the level v is known exactly, so that it lies between the least and the
    greatest over all v, whatever the labels are.
    """

    def codes(rows: ByteRows) -> IntArray:
        return np.ascontiguousarray(rows[:, at : at + 4]).view("<i4")[:, 0].astype(np.int64)

    if isinstance(mechanism, LaplaceNoise):
        return far_levels(mechanism.noise, codes)
    low, high = mechanism.code_range
    if isinstance(mechanism, AdditiveNoise) or (high - low + 1) * mechanism.n_inputs > _MOST:
        return NOTHING
    edges = np.unique(np.linspace(low, high + 1, min(_RUNS, high - low + 1) + 1).astype(np.int64))
    table = np.array([_shares(mechanism, level, edges) for level in range(mechanism.n_inputs)])
    names = [f"output {a}" if b == a + 1 else f"output {a} to {b - 1}" for a, b in itertools.pairwise(edges.tolist())]

    def count(rows: ByteRows) -> IntArray:
        return np.histogram(codes(rows), edges)[0].astype(np.int64)

    return within(names, table.min(axis=0), table.max(axis=0), count)


def _shares(mechanism: LevelMechanism, level: int, edges: IntArray) -> list[float]:
    """Return the probability of each run of codes given a level."""
    law = mechanism.law(level)
    total = law.total
    run = np.searchsorted(edges, np.array(law.outputs), side="right") - 1
    weights: list[list[float]] = [[] for _ in edges[1:]]
    for at, weight in zip(run.tolist(), law.weights, strict=True):
        weights[at].append(weight / total)
    return [math.fsum(part) for part in weights]
