"""Probabilities in words."""

from fractions import Fraction

import pytest

from hedgerow.mechanisms.words import percent


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0 %"),
        (0.5, "50 %"),
        (Fraction(1, 3), "33.3 %"),
        (1 - 1e-9, "99.9999999 %"),
        (1, "100 %"),
        (1e-9, "1e-07 %"),
    ],
)
def test_percent(share, text):
    assert percent(share) == text
