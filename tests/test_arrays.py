"""Arrays in JSON: what is written comes back; everything else is a ValueError that says what is wanted."""

import numpy as np
import pytest

from hedgerow.arrays import listed


@pytest.mark.parametrize("dtype", ["<i4", "<f8", "?"])
def test_arrays_as_lists(dtype):
    form, array = listed(dtype), np.array([0, 1, 1], dtype=dtype)
    assert form.write(array) == [0, 1, 1]
    assert form.read(form.write(array)).dtype == array.dtype
    assert form.read([]).shape == (0,)


@pytest.mark.parametrize("value", [None, "1", {}, [None], [[1]], [True], ["1"], [2**31], [1.5], [10**400], [1, [2]]])
def test_a_list_of_whole_numbers_holds_nothing_else(value):
    with pytest.raises(ValueError, match="must be a list of whole numbers"):
        listed("<i4").read(value)


def test_truth_is_0_or_1_and_numbers_are_finite():
    for value in ([2], [-1], [True]):
        with pytest.raises(ValueError, match="0 and 1"):
            listed("?").read(value)
    for value in ([float("nan")], [float("inf")], [10**400], [True]):
        with pytest.raises(ValueError, match="finite numbers"):
            listed("<f8").read(value)
    assert not np.signbit(listed("<f8").read([-0.0, 1])).any()


def test_rows_have_one_length():
    form = listed("<f8", ndim=2)
    assert form.read([[1, 2.5], [3, 4]]).tolist() == [[1.0, 2.5], [3.0, 4.0]]
    for value in ([1, 2], [[1], [2, 3]], [[[1]]], []):
        with pytest.raises(ValueError, match="must be a list"):
            form.read(value)
