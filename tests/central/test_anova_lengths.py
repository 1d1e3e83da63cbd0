"""Predicted errors: the same numbers as one descent after the other has, and lengths that follow from them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.central.anova.basis import choose
from hedgerow.central.anova.descent import Steps, allocation, noise_variance, remains
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.lengths import Prospect, first_length, next_length, responses
from hedgerow.central.anova.outlook import Outlook
from hedgerow.central.anova.pull import energies, pulls
from hedgerow.central.anova.quantiles import Quantiles
from hedgerow.central.anova.recipe import rounds_of
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["a", "b", "c"])
FLAT = Quantiles(np.linspace(0, 1, 5), np.ones(4))
BASIS = choose(
    SPACE, [1.0, 0.5, 2.0], frequency=6, pair_weight=0.5, pair_complexity=4.0, least=0.01, most=99, missing=False
)
MAP = FeatureMap(SPACE, dict.fromkeys(range(3), FLAT), BASIS, 0.8 * BASIS.root_mean_square())


def prospect(n: float = 1000.0, mu: float = 1.0, outputs: int = 1) -> Prospect:
    def steps(reach: float) -> Steps:
        return rounds_of(reach, n, Fraction(1, 2), Fraction(0))

    return Prospect.of(MAP, pulls(MAP, 0.9), steps, mu, outputs)


def shown(curves: float, pairs: float, spread: float = 0.01) -> Outlook:
    return Outlook(np.array([0.0, curves, pairs, 0.0]), spread, 0.0, 0.25, frozenset(BASIS.functions))


def test_many_descents_at_once_are_each_of_them():
    """The mean square of noise is that of the shares in which the budget is spent, and all of it is."""
    energy = np.array([0.3, 0.05, 0.002])
    number = np.array([1.0, 4.0, 20.0])
    steps = [rounds_of(reach, 500.0, Fraction(1), Fraction(0)) for reach in (3.0, 70.0, 2000.0, 9000.0)]
    left, noise = responses(steps, energy, number * energy)
    for one, found, square in zip(steps, left, noise, strict=True):
        assert found == pytest.approx(remains(one, energy, one.rounds))
        each = np.repeat(energy, number.astype(int))
        parts = np.array([float(part) for part in allocation(one, each)])
        assert sum(parts) == pytest.approx(1.0)
        assert square == pytest.approx(noise_variance(one, (1 / np.sqrt(parts)).tolist(), each) @ each, rel=1e-6)


def test_functions_of_one_kind_stand_for_each_other():
    found = prospect()
    pull = pulls(MAP, 0.9)
    at = 14
    one = rounds_of(float(found.reaches[at]), 1000.0, Fraction(1, 2), Fraction(0))
    exact = remains(one, pull, one.rounds)
    assert found.left[at][found.kinds] == pytest.approx(exact, abs=0.05)
    assert found.sampled[at] == pytest.approx((1 - exact).sum() / 1000, rel=0.01)
    parts = np.array([float(part) for part in allocation(one, energies(MAP))])
    noise = noise_variance(one, (1 / np.sqrt(parts / 2)).tolist(), pull) @ energies(MAP)
    assert found.noise[at] == pytest.approx(noise, rel=0.05)


def test_the_length_is_that_of_the_least_error():
    """All lengths between, one by one, for one share of the variance that is known."""
    found = prospect()
    outlook = shown(0.02, 0.004)
    best = next_length(found, outlook, 0.1, 0.0)
    errors = {}
    for reach in 2.0 ** np.arange(0, 14, 0.125):
        one = rounds_of(float(reach), 1000.0, Fraction(1, 2), Fraction(0))
        left = remains(one, pulls(MAP, 0.9), one.rounds)
        prior = outlook.prior(BASIS)
        own = np.array([0.0, *(prior[function] for function in BASIS.functions)])
        parts = np.array([float(part) for part in allocation(one, energies(MAP))])
        noise = noise_variance(one, (0.1 / np.sqrt(parts / 2)).tolist(), pulls(MAP, 0.9)) @ energies(MAP)
        errors[reach] = float(own @ left**2) + noise + outlook.spread * (1 + (1 - left).sum() / 1000)
    least = min(errors, key=errors.__getitem__)
    assert 0.7 < best / least < 1.4
    assert 1 < least < 8000  # inside


def test_more_records_more_budget_and_more_signal_go_further():
    assert first_length(prospect(4000.0), 0.9) > first_length(prospect(), 0.9) > first_length(prospect(mu=0.2), 0.9)
    lengths = [next_length(prospect(), shown(square, 0.0), 0.1, 0.3) for square in (0.0, 0.002, 0.05)]
    assert lengths == sorted(lengths) and lengths[0] < lengths[-1]
    assert next_length(prospect(), shown(0.01, 0.0), 0.1, 0.3) > next_length(prospect(), shown(0.01, 0.0), 0.3, 0.3)
    assert next_length(prospect(), shown(0.01, 0.0), 0.1, 0.9) > next_length(prospect(), shown(0.01, 0.0), 0.1, 0.0)
    assert next_length(prospect(outputs=4), shown(0.01, 0.0), 0.1, 0.3) < next_length(
        prospect(), shown(0.01, 0.0), 0.1, 0.3
    )


def test_without_noise_the_sample_alone_bounds_the_length():
    free = replace(prospect(), noise=prospect(mu=np.inf).noise)
    assert not free.noise.any()
    assert np.isfinite(first_length(free, 0.9)) and first_length(free, 0.9) > first_length(prospect(), 0.9)


def test_the_first_minimum_counts_and_no_length_that_brings_next_to_nothing():
    """Far beyond, long descents hardly differ: what is predicted of them is chance, and takes time."""
    found = replace(prospect(), nearly=0.002)
    exact = (np.log2(found.reaches) - 6) ** 2
    assert 5.99 < np.log2(found.best(exact)) < 6
    assert replace(found, nearly=0.0).best(exact) == 64.0
    assert found.best(np.where(found.reaches > 5000, -1.0, exact)) == found.best(exact)
    assert found.best(np.log(found.reaches)) == 1.0
    flat = np.maximum(-np.log2(found.reaches), -6.0) - 1e-5 * np.log2(found.reaches)
    assert 5.99 < np.log2(found.best(flat)) < 6
