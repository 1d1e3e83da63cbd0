"""Staircase noise: the stair of least variance, and the published sampler, which is wrong."""

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_sampled, runner
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.samplers import ONE


def test_best_stair_is_the_best_by_brute_force():
    for epsilon in (0.3, 1.0, 4.0, 9.0):
        best = StaircaseNoise(epsilon, 12)
        assert best.variance == pytest.approx(min(StaircaseNoise(epsilon, 12, r).variance for r in range(1, 13)))
        assert float(best.law(3).variance()) == pytest.approx(best.variance, rel=1e-9)


@pytest.mark.parametrize("stair", [1, 3, 6])
def test_every_stair_holds_and_uses_its_budget_up(stair):
    noise = StaircaseNoise(1.0, 6, stair)
    result = audit_exact(noise, law=lambda level: noise.law(level, reach=18))
    assert result.holds and result.measured == pytest.approx(1.0, rel=1e-9)


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


@pytest.mark.parametrize(("kind", "verdict"), [(PublishedStaircase, "VIOLATED"), (StaircaseNoise, "holds")])
def test_published_sampler_is_caught(kind, verdict):
    # False alarm of the right sampler: 1e-6 by the audit's alpha.
    result = audit_sampled(runner(kind(4.0, 16)), 0, 16, epsilon=4.0, n=100_000, randomness=5)
    assert result.verdict == verdict


def test_bad_stair_is_named():
    with pytest.raises(HedgerowError, match="'stair' parameter"):
        StaircaseNoise(1.0, 8, 9)
