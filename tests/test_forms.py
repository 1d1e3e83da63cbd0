"""The forms of values in JSON: what is written comes back; everything else is a ValueError that says what is wanted."""

import pytest

from hedgerow.forms import Hex, form_of
from hedgerow.portable import Linear, PortableModel


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


def test_bytes_stand_in_base64():
    form, model = form_of(PortableModel), PortableModel(1, [0], [-1], 1.0, (Linear([2.0]),))
    assert form.read(form.write(model)) == model
