"""The losses that a replay sums up, against the mechanisms' laws in integers and against dp-accounting."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit.replay.compose import composed_epsilon, epsilon_of_mu
from hedgerow.audit.replay.losses import loss_of, outcomes, scale_of
from hedgerow.audit.replay.tape import Release
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.median import PrivateMedian
from hedgerow.mechanisms.normal import gdp_mu
from hedgerow.mechanisms.selection import ExponentialSelection, PermuteAndFlip


def by_integers(one, two, output):
    """Return the worst loss, and the loss at an output, of two laws."""

    def log(weights, total):
        return {o: math.log(Fraction(w, total)) for o, w in weights.items()}

    laws = [log(dict(zip(law.outputs, law.weights, strict=True)), law.total) for law in (one, two)]
    apart = {o: laws[0][o] - laws[1][o] for o in laws[0]}
    return max(abs(v) for v in apart.values()), apart[output]


@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialSelection])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 8.0])
def test_choices_lose_what_their_laws_say(kind, epsilon):
    rng = np.random.default_rng(0)
    for width in (1, 2, 3, 9):
        choice = kind(epsilon, 4)
        costs = rng.integers(0, 30, (2, width))
        valid = np.ones((1, width), dtype=bool).tobytes()
        pair = [
            Release(choice.name, (choice.ratio, (1, width), valid), Fraction(epsilon), c[None], np.array([width - 1]))
            for c in costs
        ]
        worst, found = by_integers(*(choice.law(c.tolist()) for c in costs), width - 1)
        loss = loss_of(*pair)
        assert (loss.worst, loss.found) == pytest.approx((worst, found), rel=1e-9, abs=1e-12)


def test_only_rows_that_differ_count_and_invalid_candidates_do_not():
    choice = PermuteAndFlip(1.0, 1)
    valid = np.array([[True, True, False], [True, True, True]])
    public = (choice.ratio, (2, 3), valid.tobytes())
    one = Release(choice.name, public, Fraction(1), np.array([[0, 1, 0], [2, 2, 2]]), np.array([0, 2]))
    two = Release(choice.name, public, Fraction(1), np.array([[0, 2, 50], [2, 2, 2]]), np.array([0, 2]))
    worst, found = by_integers(choice.law([0, 1]), choice.law([0, 2]), 0)
    loss = loss_of(one, two)
    assert (loss.worst, loss.found) == pytest.approx((worst, found), rel=1e-9)
    assert loss_of(one, one).worst == 0 == loss_of(one, one).price


@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_medians_lose_what_their_laws_say(epsilon):
    median, rng = PrivateMedian(epsilon, 16), np.random.default_rng(1)
    for n in (0, 1, 2, 7):
        cells = rng.integers(0, 16, n)
        more = np.append(cells, rng.integers(0, 16))
        for cut in (1, 8, 15):
            pair = [
                Release("median", (median.ratio, 16, 1), Fraction(epsilon), c.astype(np.int64), np.array([cut]))
                for c in (cells, more)
            ]
            worst, found = by_integers(median.law(cells.tolist()), median.law(more.tolist()), cut)
            loss = loss_of(*pair)
            assert (loss.worst, loss.found) == pytest.approx((worst, found), rel=1e-9, abs=1e-12)
            for a, b in (pair, pair[::-1]):
                assert sum(float(mass.sum()) for _, mass in outcomes(a, b)) == pytest.approx(1.0)


def test_counts_lose_what_their_law_says():
    counts = NoisyCounts(0.7, 2)
    tables = ((0, 3), (1, 4))
    pair = [Release("laplace", (counts.ratio, (2,)), Fraction(0.7), np.array(t), np.array([-9, -9])) for t in tables]
    worst, found = by_integers(*(counts.law(t, reach=12) for t in tables), (-9, -9))
    loss = loss_of(*pair)
    assert (loss.worst, loss.found) == pytest.approx((worst, found), rel=1e-9)
    assert loss.worst == pytest.approx(0.7, rel=1e-9)
    for losses, masses in outcomes(*pair):
        assert float(masses.sum()) == pytest.approx(1.0)
        assert float((masses * np.exp(-losses)).sum()) == pytest.approx(1.0)  # the other law sums to 1 too


def test_levels_lose_what_their_law_says():
    response = IntervalResponse(1.0, 8, low=1, high=6, radius=1)
    pair = [
        Release("level", ("x",), Fraction(1), np.array(v), np.array([4, 2]), law=response) for v in ([2, 5], [2, 7])
    ]
    worst, found = by_integers(response.law(5), response.law(7), 2)
    assert (loss_of(*pair).worst, loss_of(*pair).found) == pytest.approx((worst, found), rel=1e-9)


def test_scales_are_precise_at_both_ends():
    assert scale_of((1 << 64) - (1 << 20)) == pytest.approx(2.0**-44, rel=1e-12)
    assert scale_of(1) == pytest.approx(64 * math.log(2), rel=1e-12)


def test_composition_agrees_with_dp_accounting():
    pld = pytest.importorskip("dp_accounting.pld.privacy_loss_distribution")
    choice, n = PermuteAndFlip(0.5, 2), 6
    valid = np.ones((1, 3), dtype=bool).tobytes()
    costs = ([0, 0, 3], [2, 0, 4])
    pair = [
        Release(choice.name, (choice.ratio, (1, 3), valid), Fraction(1, 2), np.array([c]), np.array([0])) for c in costs
    ]
    laws = [choice.law(c) for c in costs]
    masses = [{i: math.log(w / law.total) for i, w in zip(law.outputs, law.weights, strict=True)} for law in laws]
    options = {"value_discretization_interval": 1e-4, "symmetric": False}
    peer = pld.from_two_probability_mass_functions(*masses, **options).self_compose(n)
    ours = max(composed_epsilon(outcomes(*p) * n, 1e-3, 1e-4) for p in (pair, pair[::-1]))
    assert ours == pytest.approx(peer.get_epsilon_for_delta(1e-3), abs=1e-9)


def test_gaussian_noise_has_the_epsilon_of_its_mu():
    for epsilon in (0.1, 1.0, 8.0):
        assert epsilon_of_mu(float(gdp_mu(epsilon, 1e-5)), 1e-5) == pytest.approx(epsilon, rel=1e-6)
    one = Release("gaussian", (3, (2,)), Fraction(1), np.array([5, 7]), np.array([4, 9]))
    two = Release("gaussian", (3, (2,)), Fraction(1), np.array([8, 3]), np.array([4, 9]))
    loss = loss_of(one, two)
    assert loss.squares == Fraction(25, 64) and loss.worst == math.inf
    assert loss.found == pytest.approx(((4 - 8) ** 2 + (9 - 3) ** 2 - (4 - 5) ** 2 - (9 - 7) ** 2) / (2 * 64))
