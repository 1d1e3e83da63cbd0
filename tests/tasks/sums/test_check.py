"""The check of the last group, and what one group teaches."""

from statistics import NormalDist

import numpy as np

from hedgerow.portable import Trees
from hedgerow.tasks.assisted.residuals import Clipping, Residuals
from hedgerow.tasks.gate import LIMITS
from hedgerow.tasks.sums.check import checked, product_sd
from hedgerow.tasks.sums.learn import learn
from hedgerow.tasks.sums.means import leaf_means
from hedgerow.tasks.sums.told import Leaves, Told, shares_of
from tests.tasks.sums.test_task import example_task

N = 4000
NOISE = 300.0


def check_task(levels=(-0.2, 0.2)):
    from dataclasses import replace

    stump = Trees(np.array([3]), np.array([2, -1, -1]), np.array([0.0]), np.array([0.5, 0.5]), single=False)
    reference = np.array([[0], [1]])
    asked = {"trees": stump, "reference": reference, "places": reference, "process": None}
    return replace(example_task(), levels=levels, group=1, radius=1.0, **asked)


def signs(left, n=N):
    """Return exact sums where the mean error that is left in each of two leaves is this."""
    half = n / 2
    return tuple(np.array([half * (1 + s * r) / 2 for r in left]) for s in (1, -1))


def test_a_correction_that_is_right_passes_whole():
    assert checked(check_task(), signs((0.0, 0.0)), N, NOISE) == 1.0


def test_a_correction_that_harms_does_not_pass():
    # What is left is as large as what was added, the other way: without the correction nothing is wrong.
    assert checked(check_task(), signs((0.2, -0.2)), N, NOISE) < 0.1
    assert checked(check_task(), signs((0.4, -0.4)), N, NOISE) < 0.05


def test_a_correction_too_large_by_half_is_cut():
    scale = checked(check_task(), signs((0.06, -0.06)), 100 * N, NOISE)
    assert 0.5 < scale <= 1.0
    assert checked(check_task(), signs((0.0, 0.0)), 100, NOISE) < 0.2, "too few people to tell"
    assert checked(check_task(), signs((0.0, 0.0)), 0, NOISE) == 0.0


def test_a_large_harm_is_next_to_impossible():
    """By half a percent and its chance alone more would pass than a harm of 4 % with its own, much smaller, allows."""
    task = check_task((-0.9, 0.9))
    n, left = 400, -0.3
    scale = checked(task, signs((-left, left), n), n, 20.0)
    square, mean_square = 0.81, task.residuals.mean_square
    sd = product_sd(np.array(task.levels), square, task.radius, n, 20.0)
    product = square + 0.9 * left
    for slack, chance in LIMITS:
        worst = product - NormalDist().inv_cdf(1 - chance) * sd
        assert scale**2 * square - 2 * scale * worst <= slack * mean_square * (1 + 1e-9)


def test_counts_of_holders_overrule_public_shares_where_they_are_clear():
    public = np.array([0.5, 0.5])
    assert np.allclose(shares_of(np.array([3600.0, 400.0]), public, (2,), N, 100.0), (0.9, 0.1), atol=0.01)
    assert np.allclose(shares_of(np.array([2010.0, 1990.0]), public, (2,), N, 1e5), public)
    assert (shares_of(np.array([4100.0, -100.0]), public, (2,), N, 100.0) > 0).all()


ROWS = Leaves(np.repeat([[0], [1]], 50, axis=0), (2,))


def told(error, n=N, shares=(0.5, 0.5), noise=NOISE, sent=0.0, left=1.0):
    """Return what a group tells in which errors are +-error in two leaves of one tree, of which +-sent was sent."""
    shares = np.array(shares)
    up, down = (n * shares * (1 + s * np.array([error - sent, sent - error])) / 2 for s in (1, -1))
    return Told(up, down, ROWS, n, noise, 1.0, np.repeat([sent, -sent], 50), left)


def lesson(error, most=1.0, **group):
    return learn([told(error, **group)], ROWS, most, 100)


def test_a_clear_error_is_learnt_nearly_whole_and_noise_not_at_all():
    assert np.allclose(lesson(0.5, n=10**6).values, (0.5, -0.5), atol=0.05)
    assert not lesson(0.0).values.any()
    assert not lesson(0.01, n=500).values.any()


def test_groups_tell_together_what_neither_tells_alone():
    """A tenth of the radius is three deviations of the noise of one group: four know it better, whatever was sent."""
    noise = 16.0 * NOISE
    one = lesson(0.15, noise=noise)
    four = learn([told(0.15, noise=noise, sent=sent) for sent in (0.0, 0.1, -0.1, 0.2)], ROWS, 1.0, 100)
    assert abs(four.values[0] - 0.15) < abs(one.values[0] - 0.15)
    assert four.gain > 2 * one.gain and four.open < one.open < 1


def test_what_was_sent_is_not_learnt_twice():
    for sent in (0.0, 0.3, 0.5):
        assert np.allclose(lesson(0.5, n=10**6, sent=sent).values, (0.5, -0.5), atol=0.05)


def test_the_less_is_open_the_less_overlaps_matter():
    """Public records leave overlaps open; where the error is nearly known, that no longer blurs the sums."""
    early = lesson(0.5, n=10**6, sent=0.45)
    late = lesson(0.5, n=10**6, sent=0.45, left=0.01)
    assert late.open < early.open


def test_means_are_over_the_holders_that_there_are():
    """Where holders crowd in one leaf, dividing by public shares would overshoot."""
    found = lesson(0.5, n=10**6, shares=(0.95, 0.05))
    assert abs(found.values[0]) < 0.6 and abs(found.values[1]) < 0.6


def test_no_more_is_learnt_than_residuals_can_vary():
    assert np.abs(lesson(0.9, n=10**5, most=1e-4).values).max() <= 0.9


def test_leaf_means_are_those_of_both_signs():
    found = leaf_means((np.array([3000.0, 0.0]), np.array([1000.0, 0.0])), 10.0, 2.0)
    assert found.mean[0] == 1.0 and np.isinf(found.sd[1])
    low, high = found.ends(np.array([[0], [1]]), 0.9)
    assert low[0] < 1.0 < high[0] and (low[1], high[1]) == (-2.0, 2.0)


def test_what_clipping_takes_from_skewed_errors_is_given_back():
    """Nobody errs on average, but clipped errors do; and where all err by more, clipped ones say less than that."""
    residuals = np.random.default_rng(0).exponential(size=4000) - 1
    known = Residuals.summarise(residuals, 0.5, 2)
    for level in (0.0, 0.4, -0.3):
        clipped = float(np.clip(residuals + level, -0.5, 0.5).mean() / 0.5)
        clip = known.clipping(0.5, clipped)
        up, down = (np.full(2, 10**6 * (1 + s * clipped) / 4) for s in (1, -1))
        group = Told(up, down, ROWS, 10**6, NOISE, 0.5, np.zeros(100), 1.0, clip)
        found = learn([group], ROWS, 1.0, 4000).values
        assert np.allclose(found, level, atol=0.06)
        assert abs(clipped * 0.5 - level) > 0.08


def test_a_radius_that_is_lost_beside_other_variances_teaches_nothing_and_breaks_nothing():
    leaves = Leaves(np.repeat([[0, 0], [1, 1]], 50, axis=0), (2, 2))
    clip = Clipping(0.01, -0.007, 3e-5)
    told = Told(np.full(4, 900.0), np.full(4, 1100.0), leaves, 2000, NOISE, 1e-50, np.zeros(100), 1.0, clip)
    found = learn([told], leaves, 1.0, 100)
    assert np.isfinite(found.values).all() and np.abs(found.values).max() < 1
