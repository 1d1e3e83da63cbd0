"""Joint randomisers of (leaf, value): unbiased, with the stated variances, private to the last bit."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.joint import LevelResponse, SignedSubset
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.randomness import SeededRandomness

SMALL = [
    *(lambda e, K=K, s=s: SignedSubset(e, K, s) for K, s in [(1, 1), (2, 1), (2, 2), (3, 2), (4, 1), (4, 3), (4, 4)]),
    *(lambda e, K=K, L=L: LevelResponse(e, K, L) for K, L in [(1, 3), (2, 3), (3, 5), (4, 3)]),
]
small = pytest.mark.parametrize("build", SMALL)


def scores_of(mechanism, output):
    """The score of every leaf in one output."""
    if isinstance(mechanism, SignedSubset):
        return list(output)
    scores = [0] * mechanism.n_leaves
    if output:
        scores[(output - 1) // (mechanism.n_levels - 1)] = int(mechanism.scores[output])
    return scores


@small
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 8.0])
def test_audit_holds_is_tight_and_fails_at_a_tenth_too_little_noise(build, epsilon):
    right = audit_exact(build(epsilon))
    assert right.holds and right.measured == pytest.approx(epsilon, rel=1e-9)
    assert not audit_exact(build(1.1 * epsilon), epsilon=epsilon).holds
    assert not audit_exact(build(epsilon), epsilon=0.9 * epsilon).holds


@small
@pytest.mark.parametrize("epsilon", [0.5, 3.0, math.inf])
def test_scores_are_unbiased_and_have_the_stated_second_moments(build, epsilon):
    m = build(epsilon)
    A, B = m.moments(0.0)
    for value in range(m.n_inputs):
        leaf, level = divmod(value, m.n_levels)
        t = Fraction(2 * level, m.n_levels - 1) - 1
        law = m.law(value)
        for j in range(m.n_leaves):
            pairs = [
                (scores_of(m, o)[j], Fraction(w, law.total)) for o, w in zip(law.outputs, law.weights, strict=True)
            ]
            mean = sum(s * w for s, w in pairs) / (m.kappa * m.top)
            square = sum(s * s * w for s, w in pairs) / (m.kappa * m.top) ** 2
            assert mean == (t if j == leaf else 0)
            assert float(square) == pytest.approx(m.moments(float(t * t))[0] if j == leaf else B, rel=1e-9, abs=1e-12)
            if m.naming is not None:
                assert sum(w for s, w in pairs if s) == m.naming[j != leaf]
    assert A >= B or isinstance(m, SignedSubset)


@small
def test_samples_have_the_stated_law(build, same_law, probabilities):
    # Chi-square at 1e-7 a call, three inputs an instance.
    m = build(1.3)
    for value in {0, m.n_inputs // 2, m.n_inputs - 1}:
        drawn = m.randomize(np.full(10_000, value), SeededRandomness(value))
        same_law(m.outcomes(drawn), probabilities(m.law(value)))


@small
def test_sums_are_those_of_scores(build):
    m = build(1.0)
    drawn = m.randomize(np.arange(500) % m.n_inputs, SeededRandomness(1))
    rows = np.array([scores_of(m, outcome) for outcome in m.outcomes(drawn)])
    assert (m.sums(drawn) == np.stack([rows.sum(axis=0), (rows != 0).sum(axis=0)])).all()


def test_size_one_is_k_ary_response_on_leaf_and_sign():
    for epsilon in (0.5, 2.0):
        one, k_ary = SignedSubset(epsilon, 5, 1), KaryResponse(epsilon, 10)
        assert one.hold == k_ary.truth
        assert sorted(one.law(3).weights) == sorted(w * 1 for w in k_ary.law(3).weights)


def test_all_leaves_have_the_variance_of_hadamard_response():
    for epsilon in (0.5, 2.0):
        A, B = SignedSubset(epsilon, 8, 8).moments()
        expected = ((math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)) ** 2
        assert pytest.approx(expected, rel=1e-9) == A == B


def test_without_noise_the_pair_is_told():
    assert SignedSubset(math.inf, 3, 1).randomize(np.array([5]), SeededRandomness(0)).tolist() == [[0, 0, 1]]
    assert LevelResponse(math.inf, 3, 5).randomize(np.array([0, 4, 7, 14])).tolist() == [1, 4, 0, 12]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: SignedSubset(1.0, 4, 5), "'size' parameter must be in 1 .. 4"),
        (lambda: SignedSubset(1.0, 0), "'n_leaves'"),
        (lambda: SignedSubset(1e-30, 4), "'epsilon' parameter is too small"),
        (lambda: SignedSubset(-1.0, 4), "'epsilon'"),
        (lambda: LevelResponse(1.0, 4, 4), "'n_levels' parameter must be odd"),
        (lambda: LevelResponse(1.0, 4, 1), "'n_levels'"),
        (lambda: LevelResponse(1e-30, 4), "'epsilon' parameter is too small"),
    ],
)
def test_what_cannot_work_is_refused(build, message):
    with pytest.raises(HedgerowError, match=message):
        build()
