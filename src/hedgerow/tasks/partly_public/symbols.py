"""One symbol for a group of private values and the level of an error, told by k-ary response among all of them.

A true symbol is sent with probability p, each other one with q: whatever is sent names a group. The group that it names
is the true one with a probability that the curator can tell, for how often each is named is seen in the reports.
"""

from __future__ import annotations

from hedgerow.errors import FormatError
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.mechanisms.unbiased import MatrixResponse, k_ary_levels
from hedgerow.partition.tree import Partition
from hedgerow.samplers import ONE
from hedgerow.space import FeatureSpace

__all__ = ["check_symbols", "k_ary_symbols", "symbol_odds"]


def k_ary_symbols(epsilon: float, n_cells: int, n_levels: int) -> MatrixResponse:
    """Return k-ary response among groups and levels; an output stands for its level.

    >>> response = k_ary_symbols(1.0, 2, 3)
    >>> response.n_inputs, response.outputs
    (6, (0.0, 1.0, 2.0, 0.0, 1.0, 2.0))
    """
    weights = k_ary_levels(epsilon, n_cells * n_levels).weights
    return MatrixResponse(epsilon, weights, tuple(map(float, range(n_levels))) * n_cells)


def symbol_odds(mechanism: LevelMechanism) -> tuple[float, float]:
    """Return the probability of the true symbol, and of each other one.

    >>> [round(odds, 3) for odds in symbol_odds(k_ary_symbols(1.0, 2, 2))]
    [0.475, 0.175]
    """
    assert isinstance(mechanism, MatrixResponse)
    return mechanism.weights[0][0] / ONE, mechanism.weights[0][1] / ONE


def check_symbols(cells: Partition, space: FeatureSpace, mechanism: LevelMechanism) -> None:
    """Refuse groups of other features, or a mechanism that is no k-ary response among groups and levels."""
    if cells.space != space:
        raise FormatError("the groups of private values of this task do not fit its features.")
    n_levels, rest = divmod(mechanism.n_inputs, cells.n_leaves)
    if cells.n_leaves < 2 or n_levels < 2 or rest:
        raise FormatError("the mechanism of this task does not fit its groups of private values.")
    if not isinstance(mechanism, MatrixResponse) or len(mechanism.outputs) != mechanism.n_inputs:
        raise FormatError("a task with groups of private values needs k-ary response among groups and levels.")
    own, other = mechanism.weights[0][:2]
    rows = [tuple(own if i == j else other for j in range(mechanism.n_inputs)) for i in range(mechanism.n_inputs)]
    places = tuple(map(float, range(n_levels))) * cells.n_leaves
    if mechanism.weights != tuple(rows) or mechanism.outputs != places or own <= other:
        raise FormatError("a task with groups of private values needs k-ary response among groups and levels.")
