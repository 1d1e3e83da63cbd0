"""Laplace noise on a whole record: features and label pay."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.record_laplace import RecordLaplace, equal_share
from hedgerow.randomness import SeededRandomness


def test_three_numbers_hold_and_use_the_budget_up():
    result = audit_exact(RecordLaplace(1.0, (1, 2, 3)))
    assert result.holds and result.measured > 1 - 1e-9


def test_forgetting_the_label_would_be_noticed():
    """The budget divided over d instead of d + 1 numbers."""
    assert not audit_exact(RecordLaplace(3.0 * 3 / 2, (1, 1, 1)), epsilon=3.0).holds


@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 1.0, 7.3])
def test_shares_never_exceed_the_whole(epsilon):
    for parts in (1, 3, 7, 106):
        assert Fraction(equal_share(epsilon, parts)) * parts <= Fraction(epsilon)
        assert math.isclose(equal_share(epsilon, parts) * parts, epsilon)


def test_rows_and_numbered_inputs_are_the_same():
    mechanism = RecordLaplace(2.0, (3, 4))
    rows = mechanism.randomize_rows(np.array([[2, 1], [0, 4]]), SeededRandomness(0))
    assert (rows == mechanism.randomize([2 * 5 + 1, 4], SeededRandomness(0))).all()


def test_wrong_parameters_are_named():
    with pytest.raises(HedgerowError, match="n_steps"):
        RecordLaplace(1.0, ())
