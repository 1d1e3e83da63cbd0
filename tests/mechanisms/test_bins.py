"""k-ary response on bins of levels."""

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.bins import BinsResponse


def test_levels_fall_into_their_bins():
    response = BinsResponse(1.0, 9, (0, 2, 7), (0.5, 4.0, 8.25))
    assert response.bins(np.arange(10)).tolist() == [0, 0, 1, 1, 1, 1, 1, 2, 2, 2]
    assert response.positions([2, 0]).tolist() == [8.25, 0.5] and response.code_range == (0, 2)


@pytest.mark.parametrize("starts", [(0,), (0, 9)])
def test_one_bin_and_a_bin_of_one_level(starts):
    response = BinsResponse(1.0, 9, starts, (1.0,) * len(starts))
    assert audit_exact(response).holds


@pytest.mark.parametrize(
    ("starts", "values", "name"),
    [((1, 4), (0.0, 1.0), "starts"), ((0, 4, 4), (0.0,) * 3, "starts"), ((0, 10), (0.0,) * 2, "starts"),
     ((), (), "starts"), ((0, 4), (1.0,), "values"), ((0, 4), (1.0, float("nan")), "values")],
)  # fmt: skip
def test_bad_arguments_are_named(starts, values, name):
    with pytest.raises(HedgerowError, match=f"'{name}'"):
        BinsResponse(1.0, 9, starts, values)
