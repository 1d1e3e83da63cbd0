"""How far corrections are used: helpful ones nearly whole, and harmful ones in fewer runs than is claimed."""

import numpy as np
import pytest

from hedgerow.label.class_learning import _belief
from hedgerow.label.evidence import SURE, TWICE, evidence_factor, safe_scale, signal_factor


def test_factor_is_that_of_james_and_stein():
    """With mean 1 and deviation 2 over n records, z**2 is n/4."""
    for n, expected in ((4, 0.0), (8, 0.5), (16, 0.75), (800, 0.995)):
        assert evidence_factor(np.tile([3.0, -1.0], n // 2)) == pytest.approx(expected)
    assert (
        evidence_factor(np.full(9, -1.0)) == evidence_factor(np.zeros(9)) == evidence_factor(np.tile([-3, 1], 9)) == 0
    )


def test_few_reports_are_distrusted_by_their_signal_to_noise():
    """Sixteen times the variance of a mean report, over the public squared error, is taken away."""
    noisy = np.tile([-6.0, 6.0], 300)
    assert signal_factor(noisy, [-2.0, 2.0]) == pytest.approx(1 - 16 * 36 / 600 / 4)
    assert signal_factor(noisy[:140], [-2.0, 2.0]) == 0.0 < signal_factor(noisy[:150], [-2.0, 2.0])
    assert signal_factor(noisy, [0.0, 0.0]) == 0.0  # a public model without error is left alone


@pytest.mark.parametrize("size", [0.1, 0.3, 1.0])
def test_corrections_without_use_do_harm_in_fewer_runs_than_is_claimed(size):
    """4,000 corrections that are nothing but noise; 0.5 % are 20, and 47 have a chance below 1e-6."""
    rng = np.random.default_rng(0)
    n, square = 500, 1.0
    harmful = 0
    for _ in range(4000):
        f = size * rng.normal(size=n)
        noisy = rng.normal(size=n) + 3.0 * rng.choice([-1.0, 1.0], n)
        loss = safe_scale(noisy, f, square) ** 2 * np.mean(f**2)
        harmful += loss > 0.01 * square
    assert harmful < 47


def test_corrections_by_the_other_folds_do_harm_in_fewer_runs_than_is_claimed():
    """Means of groups of the other folds' noise: each pair of reports counts twice. 4,000 runs, 47 as above."""
    rng = np.random.default_rng(4)
    n, groups = 600, 60
    group, fold = np.arange(n) % groups, np.arange(n) // groups % 3
    number = np.array([[np.sum((group == g) & (fold != k)) for g in range(groups)] for k in range(3)])
    harmful = 0
    off = []
    for _ in range(4000):
        noisy = 3.0 * rng.normal(size=n)
        sums = np.array([np.bincount(group[fold != k], noisy[fold != k], groups) for k in range(3)])
        f = 0.5 * (sums / number)[fold, group]
        harmful += safe_scale(noisy, f, 1.0) ** 2 * np.mean(f**2) > 0.01
        off.append(np.mean(noisy * f) / np.std(noisy * f) * np.sqrt(n))
    assert np.var(off) == pytest.approx(TWICE, rel=0.15)  # the variance of 4,000 is within 12 % but for 1e-7
    assert harmful < 47


def test_useful_corrections_pass_whole_and_large_ones_are_scaled_down():
    rng = np.random.default_rng(1)
    f = rng.normal(size=4000)
    noisy = f + 3 * rng.normal(size=4000)
    assert safe_scale(noisy, f, 10.0) == pytest.approx(1.0, abs=0.15)
    assert safe_scale(noisy, 2 * f, 10.0) == pytest.approx(0.5, abs=0.1)
    assert safe_scale(noisy, -f, 10.0) == 0.0 == safe_scale(noisy, 0 * f, 10.0)


def test_what_the_clip_hides_is_seen_in_public_records():
    """Noisy errors read 1.5 times too large where f is: public records say so, and as surely as they are many."""
    rng = np.random.default_rng(2)
    f = rng.normal(size=20_000)
    noisy = 1.5 * f + rng.normal(size=20_000)
    public = rng.normal(size=2000)
    assert safe_scale(noisy, f, 1.0) == 1.0
    assert safe_scale(noisy, f, 1.0, -1.2 * public, public) == pytest.approx(0.3, abs=0.1)
    few = public[:10]
    assert safe_scale(noisy, f, 1.0, np.resize([-9.0, 9.0], 10) * few, few) < 0.1


def test_a_classifier_of_noise_is_hardly_ever_believed_against_a_public_model():
    """2,000 classifiers that know nothing; 0.5 % are 10, and 31 have a chance below 1e-6."""
    rng = np.random.default_rng(3)
    expected = np.full(400, 0.5)
    gains = (np.log(1 + 0.2 * rng.normal(size=400) / 2) for _ in range(2000))
    assert sum(evidence_factor(gain, SURE**2) > 0 for gain in gains) < 31
    believed = sum(_belief(expected, 0.5 + 0.1 * rng.normal(size=400), SURE**2) > 0 for _ in range(500))
    assert believed < 15


def test_a_classifier_by_the_other_folds_is_hardly_ever_believed_against_a_public_model():
    """Shares of groups of the other folds' reports: each pair counts twice, yet the best weight halves what is seen.

    4,000 runs, 47 as above.
    """
    rng = np.random.default_rng(5)
    n, groups = 600, 60
    group, fold = np.arange(n) % groups, np.arange(n) // groups % 3
    number = np.array([[np.sum((group == g) & (fold != k)) for g in range(groups)] for k in range(3)])
    expected = np.full(n, 0.5)
    believed = 0
    slopes, halves = [], []
    for _ in range(4000):
        sent = rng.random(n) < 0.5
        sums = np.array([np.bincount(group[fold != k], sent[fold != k], groups) for k in range(3)])
        share = (sums / number)[fold, group]
        unseen = np.where(sent, share, 1 - share)
        believed += _belief(expected, unseen, SURE**2) > 0
        product = (unseen - expected) / expected
        slope = product.mean() / product.std() * np.sqrt(n)
        slopes.append(slope)
        if slope > 1:
            best = product.mean() / np.mean(product**2)
            gain = np.log(1 + best * product)
            halves.append(gain.mean() / gain.std() * np.sqrt(n) / slope)
    assert np.var(slopes) == pytest.approx(TWICE, rel=0.15)
    assert np.mean(halves) == pytest.approx(0.5, abs=0.05)
    assert believed < 47
