"""How steep the squared error is at most: the largest eigenvalue of the records' second moments, with noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from hedgerow.central.anova.accounting import Purse, Release
from hedgerow.central.anova.rows import MOMENT, MOMENTS, Sums
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray

__all__ = ["curvature", "curvature_release", "shortened"]

_LEVELS = 256  # least number of levels of one record, as of a count
_FINEST = 1024  # levels; an epsilon of millions would ask for more
_SPARE = 2  # levels kept for rounding: see the proof
_DOUBT = 3.0  # deviations that are added: noise makes it too small by more once in 700 fits
_FROM = 10_000.0  # records: with fewer all rounds take less than a second, and are left as they are; by hand
_UNTIL = 2.0**27  # records: a quarter of what the proof bears, so that no noise of the size comes near it
_WORTH = 1 / 16  # of all records: with noise wider than this the step would hardly be longer; by hand


def curvature_release(purse: Purse, share: Fraction, size: float) -> Release | None:
    """Price the release; None for few records, too many, or where noise would drown it: all by the noisy size."""
    if not _FROM <= size <= _UNTIL:
        return None
    release = purse.release(share, 1, _LEVELS)
    wide = release.deviation / release.weight
    provable = purse.order == 2 and release.weight < _FINEST
    return release if provable and wide <= _WORTH * size else None


def shortened(energy: FloatArray) -> FloatArray:
    r"""Return factors of the steps of each coefficient: ``min(1, h_0 / h_m)``, with ``h_0`` the constant's energy.

    A few functions of one feature may be heavier than the constant, once features have weights. They alone would hold
    the steps of all others short, and need none as long: with the constant's energy they arrive as early as it does.
    With these factors the largest eigenvalue was .3 / .7 / .55 / .2 of what it is without (MET, GAS, CAL at epsilon 1,
    and made data with 20 features, 5 of them heavy). Energies are public.

    >>> shortened(np.array([0.1, 0.4, 0.05])).tolist()
    [1.0, 0.25, 1.0]
    """
    return np.asarray(np.minimum(1.0, energy[0] / energy))


def curvature(rows: Sums, energy: FloatArray, release: Release, size: float, randomness: Randomness) -> float:
    r"""Return the largest eigenvalue of the mean of ``phi phi'`` over the heaviest functions, with noise.

    Each function is multiplied by the root of its factor in :func:`shortened`, for that is how steep the error is for
    steps with these factors.

    One over it is as long a step as a descent on a squared error can bear. Records of norm 1 allow a step of 1 without
    a look at them, but they are seldom all alike: the eigenvalue is .05 to .5, and rounds are saved in proportion to
    its root. The other functions are too light to matter: with all of them it was 6 % larger at most (CAL, CCP, ABA,
    GAS, MET, AIR), and a descent with momentum is stable at steps that are a third too long.

    Proof: a record adds ``u u'`` to the matrix M of whole numbers, with ``|u|**2 <= MOMENT`` and u its own alone
    (:meth:`~.rows.Rows.moments`). Factors are public and at most 1, so with them the record adds ``v v'`` with
    ``|v| <= |u|``, and by Weyl's inequality the eigenvalue rises by 0 to MOMENT: by at most one, in units of MOMENT,
    and by ``w - 2`` in levels. It is computed in floating point and rounded to whole levels. LAPACK's solver is
    backward stable: with 64 functions it errs by less than ``64**2 2**-53`` of the eigenvalue, which is less than
    2**-12 of a record for 2**29 records; entries times factors are rounded to ``2**-51`` of themselves, which is less
    than 2**-21 of a record. Together that is less than half a level at fewer than 2**10 levels. Two such errors and
    two roundings move the difference by at most 2 levels, so a record moves the released number by at most w.

    Returned is the noisy number, three deviations more, and not less than half the largest energy as publicly assumed
    (records that are shortened have less of it).
    """
    heavy = np.sort(np.argsort(-energy, kind="stable")[:MOMENTS])
    factors = shortened(energy)
    roots = np.sqrt(factors[heavy])
    exact = float(np.linalg.eigvalsh(rows.moments(heavy) * roots * roots[:, None])[-1])
    levels = release.weight - _SPARE
    whole = np.rint(max(0.0, exact) / MOMENT * levels)
    noisy = release.noisy(np.array([int(whole)]), randomness)
    found = (float(noisy[0]) + _DOUBT * release.deviation) / (levels * size)
    return float(np.clip(found, 0.5 * (energy * factors).max(), 1.0))
