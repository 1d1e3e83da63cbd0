"""Reports about a direction: unbiased, and private exactly."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.frontier.belief import Belief
from hedgerow_experiments.frontier.declared import ROUNDS
from hedgerow_experiments.frontier.directions import DirectionResponse, random_signs
from hedgerow_experiments.frontier.rounds_page import gather, page
from hedgerow_experiments.tidy import rows_of


class Words:
    """A source whose next words are given."""

    def __init__(self, words):
        self.words = np.asarray(words, dtype=np.uint32)

    def uint32(self, n):
        assert n == len(self.words)
        return self.words


@pytest.mark.parametrize("t", [-1.0, -0.3, 0.0, 0.125, 1 / 3, 1.0])
def test_rounding_to_a_sign_has_mean_t_exactly(t):
    """The words below floor(2**31 (1 + t)), and no others, give +1: the mean is t to 2**-31."""
    threshold = math.floor(Fraction(2**31) * (1 + Fraction(t)))
    assert abs(Fraction(2 * threshold, 2**32) - 1 - Fraction(t)) <= Fraction(1, 2**30)
    words = [w for w in (0, threshold - 1, threshold, 2**32 - 1) if 0 <= w < 2**32]
    expected = [1.0 if w < threshold else -1.0 for w in words]
    assert random_signs(np.full(len(words), t), Words(words)).tolist() == expected


@pytest.mark.parametrize(("epsilon", "K"), [(0.5, 2), (1.0, 4), (4.0, 4), (8.0, 8)])
def test_report_is_private_exactly_and_not_with_a_tenth_less_noise(epsilon, K):
    mechanism = DirectionResponse.best(epsilon, K)
    assert audit_exact(mechanism).holds and audit_exact(mechanism).measured == pytest.approx(epsilon, rel=1e-9)
    weak = DirectionResponse(1.1 * epsilon, K, mechanism.size)
    assert not audit_exact(weak, epsilon=epsilon).holds


def test_sampler_follows_the_law():
    """Every axis of every set within six standard errors: a false alarm below 28 * 8 * 2e-9 = 5e-7."""
    mechanism, n = DirectionResponse(1.0, 4, 2), 20_000
    for value, axes in enumerate(itertools.combinations(range(8), 2)):
        sets = np.tile(axes[::-1], (n, 1))
        counts = np.bincount(mechanism.randomize_sets(sets, SeededRandomness(value)), minlength=8)
        law = mechanism.law(value)
        p = np.array([float(law.probability(o)) for o in range(8)])
        assert (np.abs(counts - n * p) < 6 * np.sqrt(n * p * (1 - p)) + 1).all()


@pytest.mark.parametrize("K", [2, 4, 16])
def test_mean_is_kappa_times_the_vector(K):
    """Coordinates are at most 1; six standard errors are a false alarm of 2e-9 each."""
    mechanism, n = DirectionResponse.best(2.0, K), 20_000
    u = np.arange(1.0, K + 1) / np.linalg.norm(np.arange(1.0, K + 1))
    mean = mechanism.total(np.tile(u, (n, 1)), SeededRandomness(3)) / n
    assert np.abs(mean - mechanism.kappa * u).max() < 6 / math.sqrt(n)


def test_two_directions_in_closed_form():
    """Of a uniform unit vector in the plane the largest |coordinate| has mean 2 sqrt(2)/pi, both have mean 2/pi."""
    for size, mean in ((1, 2 * math.sqrt(2) / math.pi), (2, 2 / math.pi)):
        mechanism = DirectionResponse(1.0, 2, size)
        p = mechanism.hold / ONE
        assert mechanism.kappa == pytest.approx((p - (1 - p) * size / (4 - size)) * mean, rel=1e-5)


def test_no_evidence_moves_little_and_a_clear_answer_passes():
    M = np.eye(3)
    for answer, low, high in (((0.01, -0.01, 0.0), 0.0, 0.01), ((1.0, -1.0, 0.5), 0.9, 1.0)):
        belief = Belief(np.zeros(3), np.eye(3))
        belief.learn(np.array(answer), M, 0.01)
        assert low <= abs(belief.mean[0]) <= high
        assert np.linalg.eigvalsh(belief.covariance).min() > 0


def test_page_says_what_the_numbers_say():
    mse = {"assisted": 1.8, "1 from public model": 1.5, "4 from public model": 2.5}
    mse |= {"1 from process": 1.6, "4 from process": 1.3}
    value = {"public model": 2.0, "process": 1.4, "not private": 1.0, "mse": {"1": mse}}
    cells = gather(rows_of(ROUNDS, [(Key("MET", 0, "", 0.0, "rounds"), value)]))
    assert cells == {("MET", 0): value}
    text = page(cells, (1, 4), 1000)
    assert "| MET | 0 | 1 | 0.900 | 0.750 | 1.250 | 0.800 | 0.650 |" in text and "| MET | 0 | 2 | 1.4 | 1 |" in text
    assert "- 1 round beats the assisted forest from the same start: lower error in 1 (MET 1), worse than" in text
    assert "- 4 rounds do not beat the assisted forest from the same start: lower error in 0 (MET 0)," in text
    assert "public model in 0. From the process: lower error than the process alone in 0, than both" in text
    assert "public model in 1. From the process: lower error than the process alone in 1, than both" in text
    assert "the assisted forest in 0." in text and "the assisted forest in 1." in text
    assert "beats `PublicModel` on 1 of 1 splits" in text
