"""Plans of a fit: functions of what was released, shares of a whole, and no longer than data bear."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import PrivateAnovaRegressor
from hedgerow.central.anova.accounting import open_purse
from hedgerow.central.anova.coded import Table
from hedgerow.central.anova.recipe import Options, fit_anova
from hedgerow.central.anova.rules import RULES, Found
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

NOISY = Found(0.01, 0.3, 0.3, np.ones(5))
CLEAR = Found(0.05, 0.1, 0.3, np.ones(5))


@pytest.mark.parametrize("d", [1, 5, 70])
@pytest.mark.parametrize("signal", [1.0, 399.0, 401.0, 3999.0, 4001.0, np.inf])
def test_shares_add_up_to_the_whole(signal, d):
    shares = RULES.shares(signal, d)
    assert sum(shares) == 1 and all(isinstance(share, Fraction) and share > 0 for share in shares)
    assert len(shares) > 1 or not RULES.pairs(signal, d)  # pairs are never used without a look at features first


def test_later_descents_on_noisy_labels_go_at_least_as_far_as_the_first_may_without_a_plan():
    first, _ = RULES.first(1e9, 1000.0)
    assert sum(RULES.least(1e9, 1000.0, part, NOISY) for part in (0.2, 0.3, 0.5)) == pytest.approx(first)
    assert RULES.least(1e9, 1000.0, 1.0, CLEAR) == 0.0  # the plan alone decides


def test_residuals_are_clipped_less_where_there_are_many_records_or_the_clip_follows_them():
    assert RULES.quantile(3999.0, follow=False) == 0.8
    assert RULES.quantile(4000.0, follow=False) == RULES.quantile(100.0, follow=True) == 0.9


def test_pairs_count_more_where_few_features_carry_the_signal_and_less_where_labels_are_noisy():
    few = np.array([2.2, 0.1, 0.1, 0.1, 0.1])
    assert RULES.pair_weight(replace(CLEAR, relevance=np.ones(5))) == 1.0
    assert RULES.pair_weight(replace(CLEAR, relevance=few)) == pytest.approx(1.4 / np.sqrt(5), rel=0.02)
    assert RULES.pair_weight(NOISY) == 0.5


def test_a_feature_that_one_descent_passed_over_keeps_weight():
    shown = [np.array([0.5, 0.5]), np.array([1.0, 0.0])]
    averaged, last = RULES.weights(shown), replace(RULES, averaged=False).weights(shown)
    assert averaged[1] > 2 * last[1] and np.mean(averaged**2) == pytest.approx(1.0)


def test_pure_fits_of_few_records_do_not_grow():
    """The noisy number of 300 records may be 50: steps six times too long would grow without bound."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 10))
    errors = []
    for seed in range(10):
        model = PrivateAnovaRegressor(0.1, delta=0.0, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=seed)
        errors.append(np.mean((model.fit(X, X[:, 0]).predict(X) - X[:, 0]) ** 2))
    assert np.mean(errors) < 0.1  # labels have a variance of .083; with steps by the noisy number alone it is .136


def test_descents_spend_what_quantiles_left():
    """Uniform features have no heavy bins: two levels of three, 7 %, are not paid for. Whole weights lose 1 %."""
    rng = np.random.default_rng(0)
    Z = rng.random((1000, 2))
    purse = open_purse(4.0, 1e-5, "add/remove")
    space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    fit_anova(space, Table(Z, Z[:, :1] - 0.5), purse, Options(True, False, 0.5), SeededRandomness(0))
    assert Fraction(98, 100) < purse.spent / purse.total <= 1
