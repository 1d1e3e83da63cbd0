"""The comparison: a choice and scores by mechanisms, at exactly what is claimed."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import Guarantee
from hedgerow.mechanisms import counts, selection
from hedgerow.randomness import SeededRandomness
from hedgerow.search import validation
from hedgerow.search.validation import STEPS, choose_centrally, choose_locally

CLAIM = Guarantee(1.0, protects="record", trust="central", neighbours="add/remove")
LOSSES = np.tile([0.5, 0.1, 0.3], (4000, 1))


def central(losses=LOSSES, claim=CLAIM, share=0.2, seed=0):
    return choose_centrally(losses, claim, share, SeededRandomness(seed))


def local(losses=LOSSES, epsilon=1.0, seed=0, **changed):
    claim = replace(CLAIM, trust="local", neighbours="replace", epsilon=epsilon, **changed)
    return choose_locally(losses, claim, SeededRandomness(seed))


@pytest.fixture
def built(monkeypatch):
    """The mechanisms that a comparison makes."""
    made = []
    for name in ("PermuteAndFlip", "NoisyCounts"):
        kind = getattr(validation, name)
        monkeypatch.setattr(validation, name, lambda *given, kind=kind: made.append(kind(*given)) or made[-1])
    return made


@pytest.mark.parametrize("neighbours", ["add/remove", "replace", "label"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.7])
def test_choice_and_scores_add_up_to_the_claim(built, neighbours, share):
    protects = "label" if neighbours == "label" else "record"
    claim = replace(CLAIM, neighbours=neighbours, protects=protects)
    verdict = central(claim=claim, share=share)
    steps = 1 if neighbours == "add/remove" else 2
    assert sum(Fraction(mechanism.epsilon) for mechanism in built) * steps == 1
    assert built[0].sensitivity == STEPS and all(c.unit == 3 * STEPS for c in built[1:])
    assert len(built) == (2 if share else 1)
    stated = verdict.guarantee
    assert (stated.epsilon, stated.delta, stated.protects, stated.neighbours) == (1.0, 0.0, protects, neighbours)
    assert stated.trust == "central" and stated.simulation


def test_no_record_moves_a_cost_or_a_count_by_more_than_it_is_paid_for(monkeypatch):
    """The largest change of the costs, and of all counts together, over losses at their ends and beyond a step."""
    seen = []
    monkeypatch.setattr(selection.PermuteAndFlip, "choose", lambda s, c, **_: (seen.append(c), np.zeros(1, int))[1])
    monkeypatch.setattr(counts.NoisyCounts, "release", lambda s, c, r: (seen.append(c), c)[1])
    ends = np.array([[0.0, 1.0, 0.5], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1 / STEPS / 2, 1 - 1e-12, 0.3]])
    base = np.array([[0.2, 0.4, 0.6]])
    central(base)
    costs, pairs = seen
    for record in ends:
        seen.clear()
        central(np.vstack([base, record]))
        raised = seen[0] - costs
        assert raised.min() >= 0 and raised.max() <= STEPS
        assert np.abs(seen[1] - pairs).sum() == 3 * STEPS


def test_the_best_is_chosen_and_scores_are_near():
    # A worse candidate costs 0.2 * 4000 records more: its chance is below exp(-0.8 * 800); noise of a score has a
    # scale of 3 / 0.2 records, 0.004 of the mean, and is beyond 0.1 with probability exp(-26).
    verdict = central()
    assert verdict.best == 1
    assert verdict.losses == pytest.approx([0.5, 0.1, 0.3], abs=0.1)
    assert np.all((verdict.errors > 0) & (verdict.errors < 0.05))


def test_without_noise_scores_are_the_means():
    verdict = central(claim=replace(CLAIM, epsilon=math.inf), losses=LOSSES[:7])
    assert verdict.best == 1 and verdict.losses == pytest.approx([0.5, 0.1, 0.3], abs=1 / STEPS)
    assert verdict.guarantee.epsilon == math.inf


def test_nobody_compares():
    verdict = central(np.zeros((0, 3)))
    assert verdict.best in range(3) and np.isfinite(verdict.losses).all()
    verdict = local(np.zeros((0, 3)))
    assert verdict.best == 0 and np.isnan(verdict.losses).all()


def test_scores_are_not_those_of_the_records():
    """Different noise gives other scores for the same records; without a share there are none."""
    drawn = {tuple(central(seed=seed).losses) for seed in range(5)}
    assert len(drawn) == 5
    assert central(share=0.0).losses is None


def test_each_holder_sends_one_bit_about_one_candidate(monkeypatch):
    sent = []
    randomize = validation.OneBit.randomize

    def spy(self, levels, source):
        sent.append((self.epsilon, len(levels)))
        return randomize(self, levels, source)

    monkeypatch.setattr(validation.OneBit, "randomize", spy)
    verdict = local(epsilon=2.0, protects="private features and label")
    assert sent == [(2.0, 4000)]
    assert (verdict.guarantee.epsilon, verdict.guarantee.trust) == (2.0, "local")
    assert verdict.guarantee.protects == "private features and label"


def test_bits_tell_the_best():
    # Of about 1333 holders each: standard errors below 1/(2p-1)/2/sqrt(1250) = .019 at epsilon 2; 0.12 is six.
    verdict = local(np.tile([0.5, 0.1, 0.3], (4000, 1)), epsilon=2.0)
    assert verdict.best == 1
    assert verdict.losses == pytest.approx([0.5, 0.1, 0.3], abs=0.12)
