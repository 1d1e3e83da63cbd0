"""Candidate responses (5), (8), (16), (17) and the label told twice: exact laws, samplers, audits."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_laws
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.candidates import AmongCandidates, CandidateBits, CandidateKary
from hedgerow.mechanisms.gradual import GradualLaplace
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import SeededRandomness

RESPONSES = [CandidateBits, CandidateKary]
CANDIDATES = [(True,) * 4, (True, False, True, True), (False, True, True, False, False)]


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("candidates", CANDIDATES)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_candidate_response_holds_exactly_and_not_with_less_noise(response, candidates, epsilon):
    assert audit_exact(AmongCandidates(response(epsilon), candidates)).holds
    weak = AmongCandidates(response(1.1 * epsilon), candidates)
    assert not audit_exact(weak, epsilon=epsilon).holds


@pytest.mark.parametrize("response", RESPONSES)
def test_candidate_response_is_tight(response):
    result = audit_exact(AmongCandidates(response(1.0), (True, True, False)))
    assert 1 - 1e-12 < result.measured <= 1


@pytest.mark.parametrize("response", RESPONSES)
def test_candidate_law_is_unbiased(response):
    """E[(support - q)/(p - q)] is the indicator of the own cell, exactly."""
    candidates, own = (True, False, True, True), 2
    mechanism = response(1.5)
    p, q = mechanism.among(3).p, mechanism.among(3).q
    law = mechanism.law(own, candidates)
    for cell in (0, 2, 3):
        hit = Fraction(sum(w for o, w in zip(law.outputs, law.weights, strict=True) if cell in o), law.total)
        assert (hit - q) / (p - q) == (cell == own)


@pytest.mark.parametrize("response", RESPONSES)
def test_single_candidate_is_certain_and_free(response):
    assert response(1.0).law(2, (False, False, True)).outputs == ((2,),)
    rows = np.array([[False, False, True]] * 3)
    assert (response(1.0).support(np.full(3, 2), rows, SeededRandomness(0)) == rows).all()
    assert response(1.0).probabilities(1) == (1.0, 0.0)


@pytest.mark.parametrize("response", RESPONSES)
def test_sampler_has_the_law(response):
    """Total variation over at most 8 outputs, n = 40,000 for each own cell.

    With K outputs P(TV > t) <= 2**K exp(-2 n t**2) (Bretagnolle-Huber-Carol): below 1e-7 at t = 0.0165.
    """
    n, candidates = 40_000, np.array([True, False, True, True])
    for own in (0, 2, 3):
        rows = np.broadcast_to(candidates, (n, 4))
        support = response(1.0).support(np.full(n, own), rows, SeededRandomness(own))
        assert not support[:, 1].any()
        law = response(1.0).law(own, candidates)
        seen = dict.fromkeys(law.outputs, 0)
        for row, count in zip(*np.unique(support, axis=0, return_counts=True), strict=True):
            seen[tuple(np.flatnonzero(row).tolist())] += int(count)
        distance = sum(abs(seen[o] / n - w / law.total) for o, w in zip(law.outputs, law.weights, strict=True)) / 2
        assert distance < 0.0165


def test_candidate_responses_mix_holders_with_different_candidates():
    rng = np.random.default_rng(0)
    candidates = rng.random((500, 9)) < 0.4
    own = rng.integers(0, 9, 500)
    candidates[np.arange(500), own] = True
    for response in RESPONSES:
        support = response(0.5).support(own, candidates, SeededRandomness(1))
        assert not (support & ~candidates).any()
    assert (CandidateKary(0.5).support(own, candidates, SeededRandomness(1)).sum(axis=1) == 1).all()


def test_own_cell_outside_candidates_is_refused():
    with pytest.raises(HedgerowError, match="own cell 1"):
        CandidateKary(1.0).law(1, (True, False))


@pytest.mark.parametrize(("epsilon", "coarse"), [(1.0, 0.5), (2.0, 1.8), (0.5, 0.5)])
def test_gradual_label_holds_exactly_in_both_forms(epsilon, coarse):
    pair = GradualLaplace(epsilon, 3, coarse)
    assert audit_exact(pair, law=lambda v: pair.law(v, reach=4)).holds
    laws = [(v, pair.coarse_law(v, reach=4)) for v in range(4)]
    assert audit_laws("coarse", laws, epsilon=coarse).holds
    weak = GradualLaplace(1.1 * epsilon, 3, 1.1 * coarse)
    assert not audit_exact(weak, epsilon=epsilon, law=lambda v: weak.law(v, reach=4)).holds
    laws = [(v, weak.coarse_law(v, reach=4)) for v in range(4)]
    assert not audit_laws("coarse", laws, epsilon=coarse).holds


def test_gradual_coarse_is_the_laplace_of_its_own_budget():
    """The rounding of w to 64 bits is the only difference."""
    pair, plain = GradualLaplace(2.0, 4, 0.7), DiscreteLaplace(0.7, 4)
    law, other = pair.coarse_law(1, reach=6), plain.law(1, reach=6)
    assert law.outputs == other.outputs
    worst = max(abs(law.probability(o) - other.probability(o)) for o in law.outputs)
    assert worst < Fraction(1, 1 << 60)


def test_gradual_chances_add_up():
    pair = GradualLaplace(2.0, 3, 1.0)
    assert float(sum(pair.coarse_chance(k) for k in range(-80, 81))) == pytest.approx(1)
    marginal = sum(pair.joint_chance(2, fine) for fine in range(-60, 61))
    assert float(marginal) == pytest.approx(float(pair.coarse_chance(2)), rel=1e-12)


def test_gradual_sampler_has_the_law():
    """TV of coarse over 16 clamped outputs: 2**16 exp(-2 n t**2) < 1e-8 at n = 100,000 and t = 0.0125."""
    n, pair = 100_000, GradualLaplace(3.0, 3, 1.5)
    coarse, fine = pair.randomize_both(np.full(n, 1), SeededRandomness(3))
    for sample, law in ((coarse, pair.coarse_law(1, reach=6)), (fine, pair.fine.law(1, reach=6))):
        counts = np.bincount(np.clip(sample, -6, 9) + 6, minlength=16) / n
        exact = np.array([w / law.total for w in law.weights])
        assert np.abs(counts - exact).sum() / 2 < 0.0125


def test_gradual_refuses_a_coarse_budget_above_the_whole():
    with pytest.raises(HedgerowError, match="coarse_epsilon"):
        GradualLaplace(1.0, 4, 1.5)
