"""Faults of the samplers, the random streams and the mechanisms."""

from __future__ import annotations

from mutants.fault import Fault

FAULTS = (
    Fault(
        name="a Bernoulli of 8 bits",
        path="src/hedgerow/samplers.py",
        before="    unsure = np.flatnonzero(first == head)\n",
        after="    unsure = np.flatnonzero(first == head)[:0]\n",
        caught_by=("tests/test_samplers.py",),
    ),
)
