"""The share of a correction that seldom harms."""

from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hedgerow.tasks.gate import CHANCE, LIMITS, Estimate, safe_scale, safe_share

numbers = st.floats(1e-6, 1e6)


@given(square=numbers, product=st.floats(-1e6, 1e6), sd=numbers, slack=numbers)
def test_at_the_lower_bound_of_the_product_the_loss_grows_by_the_slack_at_most(square, product, sd, slack):
    s = safe_scale(square, product, sd, slack)
    least = product - NormalDist().inv_cdf(1 - CHANCE) * sd
    change = s * s * square - 2 * s * least
    assert 0 <= s <= 1
    assert change <= slack * (1 + 1e-9) + 1e-9 * abs(s * least)
    if s < 1:  # and no more could be kept
        assert change == pytest.approx(slack, rel=1e-6, abs=1e-9 * abs(s * least))


def test_a_level_found_by_reports_harms_as_seldom_as_said():
    # d is the true level, d + e what reports say, of which a share is applied. The reports also say in which direction,
    # so that without any level both signs harm. Of 80,000 draws 200 may be harmed: more than 272 have a chance below
    # 1e-6 (standard deviation 14.1).
    rng = np.random.default_rng(0)
    for d in (0.0, 0.05, 0.3):
        found = d + 0.2 * rng.normal(size=80_000)
        kept = np.array([f * safe_scale(f * f, f * f, 0.2 * abs(f), 0.005, CHANCE / 2) for f in found])
        harm = kept**2 - 2 * kept * d
        assert 0 < np.sum(harm > 0.005 + 1e-12) <= 272


@given(square=numbers, product=st.floats(-1e6, 1e6), sd=numbers, square_sd=st.floats(0, 1e6), unit=numbers)
@example(square=23794.0, product=23794.0, sd=2407.0, square_sd=2407.0, unit=2407.0)  # within the limits by a little
def test_the_bound_of_the_change_is_the_slack_at_most_for_every_limit(square, product, sd, square_sd, unit):
    s = safe_share(Estimate(square, product, sd, square_sd), unit, sides=2)
    assert 0 < s <= 1
    left = []
    for slack, chance in LIMITS:
        reach = NormalDist().inv_cdf(1 - chance / 2)
        change = s * s * square - 2 * s * product + reach * np.hypot(s * s * square_sd, 2 * s * sd)
        left.append((slack * unit - change) / max(slack * unit, s * abs(product), s * sd, s * s * square))
    assert min(left) >= -1e-6
    if s < 1:  # and no more could be kept
        assert min(left) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("size", [0.2, 1.0, 4.0])
def test_a_correction_of_rough_size_and_gain_harms_as_seldom_as_said(size):
    # The true change of the squared error is s^2 size - 2 s gain; both are estimated. Of 8,000 draws 20 may be above
    # the first slack (more than 46 have a chance below 1e-6) and .08 above the second (more than 4: below 1e-6).
    rng = np.random.default_rng(0)
    gain = 0.3 * size
    sizes = size * (1 + 0.25 * rng.normal(size=8_000))
    gains = gain + 0.15 * size * rng.normal(size=8_000)
    found = [Estimate(a, b, 0.15 * size, 0.25 * size) for a, b in zip(sizes, gains, strict=True)]
    s = np.array([safe_share(estimate, 1.0) for estimate in found])
    change = s * s * size - 2 * s * gain
    (slack, _), (large, _) = LIMITS
    assert np.sum(change > slack + 1e-12) <= 46 and np.sum(change > large + 1e-12) <= 4
    known = np.array([safe_share(replace(estimate, square_sd=0.0), 1.0) for estimate in found[:100]])
    assert (known >= s[:100]).all() and known.sum() > s[:100].sum()  # a size that is well known lets more through


def test_a_public_model_without_errors_keeps_its_corrections_only_where_they_are_proved_right():
    assert safe_share(Estimate(1.0, -1.0, 0.1, 0.1), 0.0) == 0.0
    assert 0 < safe_share(Estimate(1.0, 1.0, 0.1, 0.1), 0.0) <= 1


def test_a_correction_without_size_is_kept():
    assert safe_scale(0.0, 0.0, 1.0, 0.1) == 1.0
