"""Replay audits of whole fits: the same coins and outputs on neighbouring tables, and what that costs in truth.

A fit is a sequence of releases, with public computation between them. If two fits make the same releases with the same
outputs and end up saying the same, then nothing but the releases depends on private data; the privacy loss of the fit
is the sum of the releases' losses, each of which has an exact law. So the audit

* fits a table and writes down each release: its law as it was drawn, the private numbers, the output
  (:mod:`~hedgerow.audit.replay.tape`, :mod:`~hedgerow.audit.replay.seams`);
* fits a neighbouring table with the same coins and forces the same outputs upon it;
* compares the releases and everything that either fit says (:mod:`~hedgerow.audit.replay.state`);
* sums, or composes, the true losses and holds them against the claim (:mod:`~hedgerow.audit.replay.losses`,
  :mod:`~hedgerow.audit.replay.compose`).

It proves the claim for the pairs that were tried (:mod:`~hedgerow.audit.replay.tables`), and for all pairs the step
that proofs on paper take for granted: that the code reads private data in no other way.
"""

from hedgerow.audit.replay.fits import WholeFit, central_fits
from hedgerow.audit.replay.labels import label_fits
from hedgerow.audit.replay.noise import DrawnNoise, drawn_noise
from hedgerow.audit.replay.run import audit_replay

__all__ = ["DrawnNoise", "WholeFit", "audit_replay", "whole_fits"]


def whole_fits() -> tuple[WholeFit | DrawnNoise, ...]:
    """Return all whole fits that are audited."""
    return (*central_fits(), *drawn_noise(), *label_fits())
