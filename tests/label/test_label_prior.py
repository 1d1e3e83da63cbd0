"""Priors: what they say on a grid, how they are learnt, and what that costs."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_laws
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.label import LabelPrior, RPWithPrior, RROnBins
from hedgerow.label.estimate import central_prior, decode_prior, prior_budget, scout
from hedgerow.label.prior import Fidelity, designed_for, fidelity, simplex, smooth
from hedgerow.mechanisms import DiscreteLaplace
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import dyadic_exp
from hedgerow.tasks.labels.task import LabelTask

SKEWED = LabelPrior((-1, 2, 3, 7.3, 12), (1, 3, 2, 1.5))


def draw(prior, n, seed):
    rng = np.random.default_rng(seed)
    nodes = np.asarray(prior.nodes)
    step = rng.choice(len(prior.masses), n, p=prior.masses)
    return nodes[step] + rng.random(n) * np.diff(nodes)[step]


def test_grid_law_has_the_moments_of_the_clipped_prior_on_every_grid():
    seen = []
    for steps in (3, 7, 50, 501):
        grid = LabelGrid(0, 10, steps)
        pmf, spread = SKEWED.on_grid(grid)
        value = grid.values(np.arange(steps + 1))
        mean = pmf @ value
        seen.append((mean, pmf @ (value - mean) ** 2 - spread.sum() * grid.step**2))
        assert pmf.sum() == pytest.approx(1)
    assert np.ptp(np.array(seen), axis=0).max() < 1e-9  # rounding at random keeps both


def test_grid_law_is_that_of_rounded_labels():
    grid, n = LabelGrid(0, 10, 7), 200_000
    levels = grid.levels(draw(SKEWED, n, 0), SeededRandomness(0))
    # Hoeffding at 1e-8 for each of 8 levels: false alarm below 1e-7.
    assert np.abs(np.bincount(levels, minlength=8) / n - SKEWED.on_grid(grid).pmf).max() < math.sqrt(
        math.log(2e8) / (2 * n)
    )


@pytest.mark.parametrize(
    "core",
    [
        IntervalResponse(1.0, 7, low=1, high=5, radius=1, outside="uniform"),
        BinsResponse(1.0, 7, (0, 2, 5), (1.0, 3.5, 6.2)),
    ],
)
def test_closed_form_errors_are_those_of_samples(core):
    grid, n = LabelGrid(0, 10, 7), 300_000
    y = np.clip(draw(SKEWED, n, 1), 0, 10)
    out = LabelTask(grid, core).randomize(y, SeededRandomness(2))
    known = fidelity(core, grid, SKEWED)
    a, b = known.calibration(1.0)
    # Squared errors lie in [0, 200]; Hoeffding at 1e-7.
    slack = 200 * math.sqrt(math.log(2e7) / (2 * n))
    assert abs(np.mean((out - y) ** 2) - known.squared_error) < slack
    assert abs(np.mean((a + b * out - y) ** 2) - known.calibrated_error(1.0)) < slack
    assert known.calibrated_error(1.0) <= known.squared_error


def test_inverse_calibration_undoes_the_shrinkage():
    core, grid = IntervalResponse(1.0, 20, low=0, high=20, radius=4), LabelGrid(0, 1, 20)
    a, b = fidelity(core, grid, LabelPrior.uniform((0, 1))).calibration()
    mean = a + b * grid.values(core.moments()[0])
    assert np.abs(mean - grid.values(np.arange(21))).max() < 1e-9  # its mean is affine over the whole interval


def test_calibration_is_the_regression_on_what_a_learner_sees():
    V, N, r, m = 2.0, 30.0, 0.6, 25.0
    straight = Fidelity(0.0, 0.0, V, V, V, N)  # M(y) = y: the learner sees r V of signal, the rest is noise over m
    assert straight.calibration(m, r)[1] == pytest.approx(r * V / (r * V + ((1 - r) * V + N) / m))
    assert straight.calibration(math.inf, r)[1] == pytest.approx(1.0)


def test_the_best_mechanism_for_a_learner_is_the_best_for_fewer_labels():
    rng, r, m = np.random.default_rng(5), 0.7, 40.0
    made = []
    for _ in range(200):
        linear, curved, noise = rng.random(3) * (1, 1, 50)
        made.append(Fidelity(0.0, 0.0, linear + curved, 3.0, math.sqrt(3 * linear), noise))
    gains = [f.calibration(m, r)[1] * r * f.cov for f in made]  # explained variance after the best map
    errors = [f.calibrated_error(designed_for(m, r)) for f in made]
    assert np.argsort(gains).tolist() == np.argsort(errors)[::-1].tolist()


def test_priors_are_read_from_several_forms():
    heights, nodes = np.array([3.0, 1.0]), np.array([0.0, 5.0, 10.0])
    expected = LabelPrior((0, 5, 10), (0.75, 0.25))
    assert LabelPrior.of((heights, nodes), (0, 10)) == expected
    assert LabelPrior.of((nodes, heights), (0, 10)) == expected
    uneven = np.histogram([1, 2, 8], bins=[0.0, 2.5, 10.0])  # counts, then the same as densities in both orders
    density = np.histogram([1, 2, 8], bins=[0.0, 2.5, 10.0], density=True)
    for form in (uneven, density, density[::-1]):
        assert LabelPrior.of(form, (0, 10)).masses == pytest.approx((2 / 3, 1 / 3))
    assert LabelPrior.of([3, 1], (0, 10)) == expected
    assert LabelPrior.of("uniform", (0, 10)) == LabelPrior((0, 10), (1,))
    for bad in ("normal", [[1, 2]], ([1, 2], [3, 4])):
        with pytest.raises(HedgerowError, match="prior"):
            LabelPrior.of(bad, (0, 10))


def test_simplex_and_smoothing_keep_a_density():
    rng = np.random.default_rng(0)
    for _ in range(50):
        v = rng.normal(0.1, 0.3, rng.integers(1, 40))
        masses = simplex(v)
        assert masses.min() >= 0 and masses.sum() == pytest.approx(1)
        assert smooth(masses).sum() == pytest.approx(1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_histogram_costs_what_it_claims_exactly(epsilon):
    """Two bins, one label changed: 1 leaves a count and joins the other. A tenth less noise is caught."""

    def law(counts, claimed):
        noise = DiscreteLaplace(claimed / 2, 1)  # ratio e**-(epsilon/2) a unit, as central_prior draws
        assert noise.ratio == dyadic_exp(Fraction(claimed / 2))
        parts = [noise.law(0, reach=4) for _ in counts]
        pairs = [
            ((i + counts[0], j + counts[1]), v * w)
            for i, v in zip(parts[0].outputs, parts[0].weights, strict=True)
            for j, w in zip(parts[1].outputs, parts[1].weights, strict=True)
        ]
        # Clamp both to a common window, as post-processing, so that both tables have the same outputs.
        merged = {}
        for (i, j), w in pairs:
            place = (min(max(i, -1), 3), min(max(j, -1), 3))
            merged[place] = merged.get(place, 0) + w
        return Law(tuple(merged), tuple(merged.values()))

    for claimed, verdict in ((epsilon, "holds"), (1.1 * epsilon, "VIOLATED")):
        laws = [("before", law((1, 1), claimed)), ("after", law((0, 2), claimed))]
        assert audit_laws("histogram", laws, epsilon=epsilon).verdict == verdict


def test_learnt_priors_are_near_the_truth():
    y = np.clip(draw(SKEWED, 20_000, 3), 0, 10)
    truth = np.histogram(y, bins=8, range=(0, 10))[0] / y.size

    def coarse(prior):
        return prior.on_grid(LabelGrid(0, 10, 4000)).pmf[:-1].reshape(8, -1).sum(axis=1)

    central = central_prior(y, (0.0, 10.0), 0.1, SeededRandomness(0))
    assert np.abs(coarse(central) - truth).sum() < 0.15
    grid, core = scout((0.0, 10.0), 2.0)
    codes = LabelTask(grid, core).codes(y, SeededRandomness(1))
    assert np.abs(coarse(decode_prior((LabelTask(grid, core), codes))) - truth).sum() < 0.15


def test_all_reports_together_tell_more_of_the_prior():
    """Scouts by the square wave, others by bins: over twenty draws the joint estimate has the nearest mean."""
    tasks = (LabelTask(*scout((0.0, 10.0), 1.0)), RROnBins(1.0, label_bounds=(0, 10), prior=SKEWED, n_bins=4).task)
    errors = []
    for seed in range(20):
        y = np.clip(draw(SKEWED, 2000, seed), 0, 10)
        answers = [(tasks[0], tasks[0].codes(y[:400], seed)), (tasks[1], tasks[1].codes(y[400:], seed))]
        priors = [decode_prior(*answers), *map(decode_prior, answers)]
        errors.append([(prior.mean - y.mean()) ** 2 for prior in priors])
    joint, scouts, others = np.mean(errors, axis=0)
    assert joint < 0.8 * min(scouts, others), (joint, scouts, others)
    assert decode_prior((tasks[0], np.zeros(0, dtype=np.int64))) == LabelPrior.uniform((0, 10))


def test_shares_come_from_public_numbers_only():
    assert prior_budget(0.05, 1000, "central") == 0.8
    assert prior_budget(1.0, 10_000, "central") == 0.02
    assert 0 < prior_budget(1.0, 1000, "local") < 0.5
    one, two = (RPWithPrior(1.0, label_bounds=(0, 1), prior_share="auto").spends(500) for _ in range(2))
    assert one == two
