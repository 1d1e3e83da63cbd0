"""What a group that checks is asked: about all that the steps add, or about their level alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np

from hedgerow.portable import Trees
from hedgerow.sums.grow import ONE_LEAF, binned
from hedgerow.tasks.gate import Estimate, safe_share
from hedgerow.tasks.sums.check import product_sd
from hedgerow.tasks.sums.steps import Step, corrections
from hedgerow.types import FloatArray

__all__ = ["BINS", "Checked", "hoped", "level_alone", "whole"]

BINS = 4  # of a check: two tell most about a straight line, four see a bent one too, for a fifth more noise
_LIKELY = tuple(NormalDist().inv_cdf((i + 0.5) / 9) for i in range(9))  # deviations of the noise, each as likely


@dataclass(frozen=True, eq=False)
class Checked:
    """A correction, and the bins in which a group checks it.

    Attributes
    ----------
    steps : tuple of Step
        What is added.
    trees : Trees
        One tree: the bins, whose values are their shares of rows.
    levels : tuple of float
        The mean of what is added, in each bin.
    square : float
        The mean square of what is added.
    """

    steps: tuple[Step, ...]
    trees: Trees
    levels: tuple[float, ...]
    square: float


def whole(steps: Sequence[Step], pool: FloatArray) -> Checked:
    """Return all that steps add, in bins of it; ``pool`` has design and public prediction of rows."""
    rows = corrections(steps, pool[:, :-1], pool[:, -1])
    f = rows[:, -1]
    trees = binned(rows, BINS)
    leaf = trees.apply(rows)[:, 0]
    count = np.bincount(leaf, minlength=trees.n_leaves[0])
    total = np.bincount(leaf, f, trees.n_leaves[0])
    levels = tuple((total / np.maximum(count, 1)).tolist())
    return Checked(tuple(steps), trees, levels, float(np.mean(f**2)))


def level_alone(steps: Sequence[Step], pool: FloatArray) -> Checked:
    """Return the mean of what steps add, for everybody: one number, which one bin checks with the least noise.

    A group of 200 cannot tell a wrong forest from a right one, but it can tell whether public labels are too high.
    """
    last = steps[-1]
    level = float(np.mean(corrections(steps, pool[:, :-1], pool[:, -1])[:, -1]))
    value = np.full(len(last.trees.value), level / len(last.trees.sizes))
    step = Step(replace(last.trees, value=value), max(last.bound, abs(level)))
    return Checked((step,), ONE_LEAF, (level,), level**2)


def hoped(asked: Checked, radius: float, n: int, noise: float, mean_square: float) -> float:
    """Return by how much the squared error is expected to fall if the correction is right and n holders check it.

    Right means that ``E[r f]`` is ``E f^2``, as for every posterior mean; the check sees that with its own noise, and
    lets pass a share by it.

    Parameters
    ----------
    radius : float
        Of the check.
    noise : float
        Variance of each sum.
    mean_square : float
        The public model's squared error.

    Examples
    --------
    >>> stump = Trees(np.array([3]), np.array([0, -1, -1]), np.array([0.5]), np.array([-0.4, 1.0]), single=False)
    >>> pool = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> step = Step(stump, 1.0)
    >>> both = [whole([step], pool), level_alone([step], pool)]
    >>> [round(hoped(asked, 1.0, 10_000, 100.0, 1.0), 2) for asked in both]  # many see that all of it is right
    [0.58, 0.09]
    """
    f = np.array(asked.levels)
    square = float(asked.trees.value @ f**2)
    sd = product_sd(f, square, radius, n, noise)
    seen = [Estimate(square, square + z * sd, sd) for z in _LIKELY]
    share = np.array([safe_share(found, mean_square) for found in seen])
    return float(np.mean(2 * share - share**2)) * asked.square
