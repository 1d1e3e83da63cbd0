"""The replay audit itself: it passes an honest fit, comes near its claim, and sees each way of cheating."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from hedgerow.audit.replay import audit_replay
from hedgerow.audit.replay.coins import Coins
from hedgerow.audit.replay.noise import moments
from hedgerow.audit.replay.run import play
from hedgerow.audit.replay.state import difference
from hedgerow.audit.replay.tables import Case, Neighbour, Table
from hedgerow.grid import LabelGrid
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.selection import PermuteAndFlip
from hedgerow.randomness import SecureRandomness, as_randomness


class Fit:
    """A tiny estimator: a noisy count by bin of the label, the fullest bin, and a noisy sum of labels in it."""

    def __init__(self, epsilon=1.0, random_state=None):
        self.epsilon, self.random_state = epsilon, random_state

    def fit(self, X, y):
        source, each = as_randomness(self.random_state), self.epsilon / 3
        bins = np.bincount((np.clip(y, 0, 1) * 3).astype(int), minlength=4)
        self.counts_ = self.count(NoisyCounts(each, 1), bins, source)
        costs = (bins.sum() - bins)[None]
        self.chosen_ = int(PermuteAndFlip(each, 1).choose(costs, None, source)[0])
        levels = LabelGrid(0.0, 1.0, self.steps(y)).levels(y, source)
        self.sum_ = self.total(NoisyCounts(each, 16), np.array([levels.sum()]), source)
        self.guarantee_ = Guarantee(self.epsilon, protects="record", trust="central", neighbours="add/remove")
        return self

    def count(self, mechanism, bins, source):
        return mechanism.release(bins, source)

    def total(self, mechanism, sums, source):
        return mechanism.release(sums, source)

    def steps(self, y):
        return 16


def cases():
    table = Table("a few", np.zeros((5, 1)), np.array([0.0, 0.0, 0.4, 0.9, 1.0]))
    others = [table.added(((0.0,), label)) for label in (0.0, 1.0, 0.5)]
    unrelated = Table("many", np.zeros((40, 1)), np.linspace(0, 1, 40))
    return [Case(table, (*(Neighbour(t, 1) for t in others), Neighbour(unrelated, None)))]


def audit(kind, epsilon=1.0):
    return audit_replay("fit", lambda table: kind(epsilon).fit(table.X, table.y), cases(), epsilon=epsilon)


def test_an_honest_fit_holds_and_the_audit_comes_near_its_claim():
    result = audit(Fit)
    assert result.holds and result.pairs == 4 and result.tier == "replay"
    assert 0.99 < result.measured <= 1.0


class ExactCount(Fit):
    def count(self, mechanism, bins, source):
        return np.append(mechanism.release(bins[1:], source), bins[0])


class SharedNoise(Fit):
    def count(self, mechanism, bins, source):
        return bins + mechanism.release(np.zeros(1, dtype=np.int64), source)


class HalfTheNoise(Fit):
    def count(self, mechanism, bins, source):
        return NoisyCounts(2 * mechanism.epsilon, 1).release(bins, source)


class NoiseHalvedLater(Fit):
    def count(self, mechanism, bins, source):
        noise = mechanism.release(np.zeros_like(bins), source)
        return bins + noise // 2


class WiderSums(Fit):
    def total(self, mechanism, sums, source):
        return mechanism.release(2 * sums, source)


class StepsFromData(Fit):
    def steps(self, y):
        return 16 + (len(y) > 5)


class NumberOfRecords(Fit):
    def fit(self, X, y):
        super().fit(X, y)
        self._n = len(y)
        return self


class LowestLabelInANote(Fit):
    def fit(self, X, y):
        super().fit(X, y)
        notes = (f"labels from {float(np.sort(y)[1])!r}",)
        self.guarantee_ = Guarantee(
            self.epsilon, protects="record", trust="central", neighbours="add/remove", notes=notes
        )
        return self


class PrintsTheMean(Fit):
    def fit(self, X, y):
        print(f"mean label {y.mean():.3f}")
        return super().fit(X, y)


class StopsOnAnOddLabel(Fit):
    def fit(self, X, y):
        if (y == 0.5).any():
            raise ValueError("a label of 0.5")
        return super().fit(X, y)


class OneMoreLook(Fit):
    def fit(self, X, y):
        super().fit(X, y)
        if len(y) > 5:
            NoisyCounts(0.01, 1).release(np.array([len(y)]), as_randomness(None))
        return self


class GoesOnAfterTheAlarm(OneMoreLook):
    def fit(self, X, y):
        try:
            return super().fit(X, y)
        except ValueError:
            return self


class ClaimsLess(Fit):
    def fit(self, X, y):
        super().fit(X, y)
        self.guarantee_ = Guarantee(0.9 * self.epsilon, protects="record", trust="central", neighbours="add/remove")
        return self


class SkewedChoice(Fit):
    def fit(self, X, y):
        super().fit(X, y)
        costs = 2 * np.array([[len(y), 0]])  # a record adds 2, and 1 is paid for
        self.chosen_ = int(PermuteAndFlip(self.epsilon / 3, 1).choose(costs, None, as_randomness(None))[0])
        return self


CHEATS = {
    ExactCount: "counts_",
    SharedNoise: "differs",
    HalfTheNoise: "together lose 1.33",
    NoiseHalvedLater: "differs",
    WiderSums: "built to cost",
    StepsFromData: "grid",
    NumberOfRecords: "_n",
    LowestLabelInANote: "guarantee",
    PrintsTheMean: "warnings and output",
    StopsOnAnOddLabel: "ValueError: a label of 0.5",
    OneMoreLook: "a release more",
    GoesOnAfterTheAlarm: "a release more",
    ClaimsLess: "0.9 is claimed",
    SkewedChoice: "built to cost",
}


@pytest.mark.parametrize("kind", CHEATS, ids=lambda k: k.__name__)
def test_cheats_are_seen(kind):
    result = audit_replay("fit", lambda t: kind().fit(t.X, t.y), cases(), epsilon=1.0)
    faults = result.witness
    assert not result.holds and CHEATS[kind] in faults, faults


def test_a_claim_above_what_was_asked_for_is_a_fault():
    assert not audit_replay("fit", lambda t: Fit(1.5).fit(t.X, t.y), cases(), epsilon=1.0).holds


def test_a_fit_takes_the_secure_path_and_coins_stay_with_their_records():
    seen = []

    class Spy(Fit):
        def fit(self, X, y):
            source = as_randomness(None)
            seen.append((source.simulation, isinstance(source, SecureRandomness)))
            self.coins_ = source.child("assignment").integers(7, len(y))
            return super().fit(X, y)

    table = cases()[0].table
    runs = [play(lambda t: Spy().fit(t.X, t.y), t, seed=3) for t in (table, table.added(((0.0,), 0.3)))]
    assert seen == [(False, True)] * 2
    assert (runs[1].stated["coins_"][:5] == runs[0].stated["coins_"]).all()
    assert as_randomness(None) is not None and not isinstance(as_randomness(None), Coins)  # nothing stays behind


def test_differences_are_found_at_any_depth():
    def made(value):
        inner = SimpleNamespace(x=[1, {"a": np.array([value, math.nan])}], f=lambda: value)
        return {"deep": inner, "text": "t"}

    assert difference(made(1.0), made(1.0)) is None
    assert "'a'" in difference(made(1.0), made(2.0))
    assert difference(lambda: 1, lambda: 2) is not None
    assert difference([1], [1.0]) is not None and difference((1, 2), (1,)) == "len()"
    loop = []
    loop.append(loop)
    other = []
    other.append(other)
    assert difference(loop, other) is None


def test_moments_see_small_and_shared_noise():
    rng = np.random.default_rng(2)
    noise = [rng.laplace(size=(300, 3)) / math.sqrt(2) for _ in range(50)]
    assert moments(noise)[2] == []
    assert "variance" in moments([0.9 * z for z in noise])[2][0]
    thinner = [z * np.array([1.0, 1.0, 0.7]) for z in noise]  # one output of three
    assert "variance" in moments(thinner)[2][0]
    assert "share noise" in moments([z[:, [0, 0, 1]] for z in noise])[2][0]
    repeated = [z for z in noise for _ in range(2)]
    assert any("two releases" in fault for fault in moments(repeated)[2])
