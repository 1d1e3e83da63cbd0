"""The forms of values in JSON: what is written comes back; everything else is a ValueError that says what is wanted."""

from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import pytest

from hedgerow.forms import Hex, form_of, listed, packed
from hedgerow.portable import Linear, PortableModel

ROWS = Annotated[npt.NDArray[Any], listed("<f8", ndim=2)]


@pytest.mark.parametrize(
    ("kind", "value", "written"),
    [
        (Hex, 1 << 64, "10000000000000000"),
        (tuple[Hex, ...], (0, 255), ["0", "ff"]),
        (str | int | float | bool, True, True),
        (str | int | float | bool, 3, 3),
        (str | int | float | bool, -0.0, 0.0),
        (dict[str, int], {"a": 1}, {"a": 1}),
        (tuple[int, str], (1, "a"), [1, "a"]),
    ],
)
def test_what_is_written_comes_back(kind, value, written):
    form = form_of(kind)
    assert form.write(value) == written
    assert form.read(written) == value
    assert type(form.read(written)) is type(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        *[(Hex, text) for text in ("FF", "0x1", " 1", "1_0", "01", "", "-0", "x", "\u0661", 1)],
        (str | int, 1.5),
        (str | int, None),
        (dict[str, int], {"a": "b"}),
        (dict[str, int], {1: 1}),
        (dict[str, int], []),
        (tuple[int, str], [1]),
    ],
)
def test_everything_else_is_refused(kind, value):
    with pytest.raises(ValueError, match="must be"):
        form_of(kind).read(value)


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
    form = form_of(ROWS)
    assert form.read([[1, 2.5], [3, 4]]).tolist() == [[1.0, 2.5], [3.0, 4.0]]
    for value in ([1, 2], [[1], [2, 3]], [[[1]]], []):
        with pytest.raises(ValueError, match="must be a list"):
            form.read(value)


def test_bytes_stand_in_base64():
    form, model = form_of(PortableModel), PortableModel(1, [0], [-1], 1.0, (Linear([2.0]),))
    assert form.read(form.write(model)) == model
    assert packed("<u2").read("AQACAA==").tolist() == [1, 2]
    for value in (None, "?", "AQ=", 1):
        with pytest.raises(ValueError, match="base64"):
            packed("<u2").read(value)
