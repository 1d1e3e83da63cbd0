import math

from hypothesis import given
from hypothesis import strategies as st

from hedgerow.digits import plain


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
