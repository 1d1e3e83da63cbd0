import math

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.digits import in_full, plain, with_interval


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(1, 8))
def test_reads_back_as_the_rounded_number(value, digits):
    assert float(plain(value, digits).replace(",", "")) == float(f"{value:.{digits}g}")


@given(st.floats(1e-4, 1e15, exclude_max=True))
def test_no_powers_of_ten_where_people_can_read_the_number(value):
    assert "e" not in plain(value) and "e" not in plain(-value)


def test_numbers_that_are_none():
    assert (plain(math.nan), plain(-math.inf), plain(-0.0)) == ("nan", "-inf", "0")


def test_years_have_no_commas():
    assert (plain(1850), plain(-2026), plain(9999.96), plain(12500)) == ("1850", "-2026", "10,000", "12,500")


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["g", ".3e", "r"]))
def test_powers_of_ten_are_written_out_without_rounding(value, form):
    text = repr(value) if form == "r" else f"{value:{form}}"
    full = in_full(f"({text}, {text})")
    assert "e" not in full
    assert float(full[1:-1].split(", ")[0].replace(",", "")) == float(text)


@given(st.floats(-1e300, 1e300), st.floats(-1e300, 1e300), st.floats(0, 1))
def test_intervals_are_written_out_to_a_share_of_their_width(a, b, share):
    low, high = min(a, b), max(a, b)
    value = low + share * (high - low)
    text = with_interval(value, low, high)
    assert "e" not in text
    found = [float(part.replace(",", "")) for part in text.replace("(", "").replace(")", "").replace("to ", "").split()]
    slack = 0.005 * (high - low) if high > low else 1e-3 * abs(low)
    for written, meant in zip(found, (value, low, high), strict=True):
        assert abs(written - meant) <= slack * 1.01 + 1e-12 * abs(meant)
