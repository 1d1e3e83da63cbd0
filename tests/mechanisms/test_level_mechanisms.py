"""Mechanisms on label levels: law and sampler agree, moments are those of the law, claims are tight."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_sampled
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise, exact_delta
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.unbiased import MatrixResponse, worst_column
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, exp_at_least
from hedgerow.tasks.labels.task import _KINDS

ROWS = ((ONE // 2, ONE // 4, ONE // 4), (ONE // 3, ONE // 3, ONE - 2 * (ONE // 3)), (ONE // 4, ONE // 4, ONE // 2))
PURE = {
    "laplace": lambda e: LaplaceNoise(e, 6),
    "staircase": lambda e: StaircaseNoise(e, 6),
    "interval": lambda e: IntervalResponse(e, 20, low=4, high=15, radius=2),
    "interval-uniform": lambda e: IntervalResponse(e, 20, low=4, high=15, radius=2, outside="uniform"),
    "interval-whole": lambda e: IntervalResponse(e, 9, low=0, high=9, radius=0),
    "bins": lambda e: BinsResponse(e, 9, (0, 2, 7), (0.5, 4.0, 8.25)),
}
ALL = {
    **PURE,
    "gaussian": lambda e: GaussianNoise(e, 3, 0.05),
    "matrix": lambda e: MatrixResponse(e, ROWS, (-1.0, 1.0, 3.0)),
}
kinds = pytest.mark.parametrize("kind", PURE)


def short_law(mechanism):
    near = {"reach": 3 * mechanism.n_steps} if mechanism.kind in ("laplace", "staircase") else {}
    return lambda v: mechanism.law(v, **near)


@kinds
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 8.0])
def test_claim_holds_is_tight_and_fails_with_a_tenth_too_little_noise(kind, epsilon):
    mechanism = PURE[kind](epsilon)
    result = audit_exact(mechanism, law=short_law(mechanism))
    assert result.verdict == "holds"
    assert result.measured == pytest.approx(epsilon, rel=1e-9)
    weak = PURE[kind](1.1 * epsilon)
    assert audit_exact(weak, epsilon=epsilon, law=short_law(weak)).verdict == "VIOLATED"


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0, 8.0])
@pytest.mark.parametrize("delta", [1e-6, 1e-2])
def test_gaussian_delta_is_exact_tight_and_fails_with_a_tenth_too_little_noise(epsilon, delta):
    noise = GaussianNoise(epsilon, 4, delta)
    measured = exact_delta(noise.weights, 4, epsilon)
    assert measured <= Fraction(delta)
    assert float(measured) == pytest.approx(delta, rel=1e-4)
    weak = GaussianNoise(epsilon, 4, 0.999, sigma=0.9 * noise.sigma)
    assert exact_delta(weak.weights, 4, epsilon) > Fraction(delta)
    with pytest.raises(HedgerowError, match="sigma"):
        GaussianNoise(epsilon, 4, delta, sigma=0.9 * noise.sigma)


def test_gaussian_is_near_the_analytic_calibration_of_the_continuous_one():
    # Balle and Wang (2018): delta = Phi(D/2s - e s/D) - e^e Phi(-D/2s - e s/D); also for epsilon > 1.
    def phi(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    for epsilon in (0.5, 1.0, 4.0):
        noise = GaussianNoise(epsilon, 64, 1e-4)
        s = noise.sigma / 64
        delta = phi(1 / (2 * s) - epsilon * s) - math.exp(epsilon) * phi(-1 / (2 * s) - epsilon * s)
        assert delta == pytest.approx(1e-4, rel=0.05)


@pytest.mark.parametrize("kind", ALL)
def test_sampler_has_the_law(kind):
    mechanism = ALL[kind](1.2)
    n = 60_000
    for level in (0, mechanism.n_steps // 2, mechanism.n_steps):
        law = mechanism.law(level)
        codes = mechanism.randomize(np.full(n, level), SeededRandomness(level))
        low, high = mechanism.code_range
        assert codes.min() >= low and codes.max() <= high
        place = {o: i for i, o in enumerate(law.outputs)}
        counts = np.bincount([place[c] for c in codes.tolist()], minlength=len(place))
        expected = np.array([n * (w / law.total) for w in law.weights])
        # Bernstein for each count, 1e-9 each over at most 300 outputs and 3 levels: false alarm below 1e-6.
        t = math.log(2 / 1e-9)
        assert (np.abs(counts - expected) <= np.sqrt(2 * t * expected) + t).all()


@pytest.mark.parametrize("kind", ALL)
def test_moments_are_those_of_the_law(kind):
    mechanism = ALL[kind](0.9)
    mean, variance = mechanism.moments()
    for level in (0, 1, mechanism.n_steps // 2, mechanism.n_steps):
        law = mechanism.law(level)
        p = np.array([w / law.total for w in law.weights])
        o = mechanism.positions(np.array(law.outputs))
        assert mean[level] == pytest.approx(p @ o, abs=1e-9)
        assert variance[level] == pytest.approx(p @ (o - p @ o) ** 2, rel=1e-9)


@pytest.mark.parametrize("kind", ALL)
def test_json_round_trip(kind):
    mechanism = ALL[kind](1.2)
    data = json.loads(json.dumps(mechanism.to_dict()))
    assert _KINDS[data["kind"]].from_dict(data) == mechanism
    with pytest.raises(HedgerowError, match="unknown fields"):
        _KINDS[data["kind"]].from_dict({**data, "extra": 1})


@pytest.mark.parametrize("kind", ["laplace", "staircase", "gaussian", "interval-whole"])
def test_infinite_epsilon_adds_nothing(kind):
    mechanism = ALL[kind](math.inf)
    levels = np.arange(mechanism.n_inputs)
    assert mechanism.randomize(levels, SeededRandomness(0)).tolist() == levels.tolist()


def test_best_stair_is_the_best_by_brute_force():
    for epsilon in (0.3, 1.0, 4.0, 9.0):
        best = StaircaseNoise(epsilon, 12)
        assert best.variance == pytest.approx(min(StaircaseNoise(epsilon, 12, r).variance for r in range(1, 13)))
        assert float(best.law(3).variance()) == pytest.approx(best.variance, rel=1e-9)


class PublishedStaircase(StaircaseNoise):
    """The sampler of the paper's code: weights 2 and -1 in place of 1 and 0 when the near part is drawn."""

    def _noise(self, n, source):
        rng = np.random.default_rng(source.bits(64))
        b = self.ratio / ONE
        whole = rng.geometric(1 - b, n) - 1
        u, r, d = rng.random(n), self.stair, self.n_steps
        near = np.floor(r * u)
        far = r + np.floor((d - r) * u)
        branch = np.where(rng.random(n) < r / (r + b * (d - r)), -1, 1)
        size = (1 - branch) * (d * whole + near) + branch * (d * whole + far)
        return (np.where(rng.random(n) < 0.5, -1, 1) * size).astype(np.int64)


def test_published_staircase_sampler_is_caught():
    for kind, verdict in ((PublishedStaircase, "VIOLATED"), (StaircaseNoise, "holds")):
        noise = kind(4.0, 16)

        def run(value, n, randomness, noise=noise):
            return noise.randomize(np.full(n, value), randomness)

        # False alarm of the right sampler: 1e-6 by the audit's alpha.
        assert audit_sampled(run, 0, 16, epsilon=4.0, n=100_000, randomness=5).verdict == verdict


def test_a_matrix_that_breaks_its_claim_cannot_be_made():
    assert worst_column(ROWS) == 2
    assert MatrixResponse(0.6932, ROWS, (-1.0, 1.0, 3.0)).epsilon == 0.6932
    assert not exp_at_least(Fraction(2), Fraction(0.6931))
    with pytest.raises(HedgerowError, match=r"not .*-differentially private"):
        MatrixResponse(0.6931, ROWS, (-1.0, 1.0, 3.0))
    with pytest.raises(HedgerowError, match="sum 2"):
        MatrixResponse(1.0, ((1, 1, 1), *ROWS[1:]), (-1.0, 1.0, 3.0))
    with pytest.raises(HedgerowError, match="differentially private"):
        MatrixResponse(50.0, ((ONE, 0), (ONE // 2, ONE // 2)), (0.0, 1.0))


def test_bad_arguments_are_named():
    with pytest.raises(HedgerowError, match="'low' and 'high'"):
        IntervalResponse(1.0, 8, low=5, high=4, radius=1)
    with pytest.raises(HedgerowError, match="'outside' parameter"):
        IntervalResponse(1.0, 8, low=1, high=4, radius=1, outside="drop")
    with pytest.raises(HedgerowError, match="'starts'"):
        BinsResponse(1.0, 8, (1, 4), (0.0, 1.0))
    with pytest.raises(HedgerowError, match="'delta' parameter"):
        GaussianNoise(1.0, 8, 0.0)
    with pytest.raises(HedgerowError, match="'stair' parameter"):
        StaircaseNoise(1.0, 8, 9)
