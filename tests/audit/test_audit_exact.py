import math
from fractions import Fraction

import pytest

from hedgerow.audit import audit_exact, audit_laws
from hedgerow.audit.exact import worst_ratio
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import BitVectorResponse, DiscreteLaplace, KaryResponse, Law, SubsetSelection, UnaryEncoding
from hedgerow.samplers import ONE, exp_at_least


def brute_force(laws):
    """Every output, every pair, in rationals."""
    worst = Fraction(0)
    for one in laws:
        for two in laws:
            for output in set(one.outputs) | set(two.outputs):
                p, q = (
                    sum(w for o, w in zip(law.outputs, law.weights, strict=True) if o == output) for law in (one, two)
                )
                if p and not q:
                    return None
                if p:
                    worst = max(worst, Fraction(p, one.total) / Fraction(q, two.total))
    return worst


@pytest.mark.parametrize(
    "laws",
    [
        [Law((0, 1), (1, 3)), Law((0, 1), (2, 2))],
        [Law((0, 1), (1, 3)), Law((0, 1), (20, 21)), Law((1, 0), (7, 5))],  # totals and orders differ
        [Law((0, 1, 0), (1, 3, 1)), Law((0, 1), (3, 1))],  # an output listed twice
        [Law((0, 1), (1, 3))],
        [Law((0, 1, 2), (1, 3, 0)), Law((0, 1), (3, 1))],  # impossible everywhere: no matter
        [Law((0, 1, 2), (1, 3, 1)), Law((0, 1), (3, 1))],
        [Law((0, 1), (3, 1)), Law((0, 1, 2), (1, 3, 1))],
        [Law((0, 1), (4, 0)), Law((0, 1), (3, 1))],
        [Law(("a", (1, 2)), (10**40, 1)), Law(("a", (1, 2)), (10**40 + 1, 2))],
    ],
)
def test_worst_ratio_is_that_of_brute_force(laws):
    assert worst_ratio(enumerate(laws)).ratio == brute_force(laws)


@pytest.mark.parametrize("make", [BitVectorResponse, UnaryEncoding, KaryResponse, SubsetSelection, DiscreteLaplace])
def test_worst_ratio_of_mechanisms_is_that_of_brute_force(make):
    mechanism = make(4.0, 3)
    laws = [mechanism.law(v) for v in range(mechanism.n_inputs)]
    assert worst_ratio(enumerate(laws)).ratio == brute_force(laws)


def test_witness_names_the_worst_pair():
    worst = worst_ratio([("a", Law((0, 1), (1, 1))), ("b", Law((0, 1), (9, 1))), ("c", Law((0, 1), (1, 4)))])
    assert (worst.output, worst.more, worst.less, worst.ratio) == (1, "c", "b", 8)


def test_impossible_output_is_an_infinite_loss():
    result = audit_laws("leak", [(0, Law((0, 1), (1, 1))), (1, Law((0,), (1,)))], epsilon=50)
    assert result.measured == math.inf and result.verdict == "VIOLATED"
    assert "output 1: 0 against 1" in result.witness
    assert result.to_dict()["measured"] == "inf"


def test_infinite_claim_always_holds():
    assert audit_exact(KaryResponse(math.inf, 3)).holds


def test_verdict_is_exact_where_floats_cannot_tell():
    # Two dyadic numbers just around the claim: the losses shown are the same float.
    m = KaryResponse(1.0, 2).truth
    results = [
        audit_laws("coin", [(0, Law((0, 1), (t, ONE - t))), (1, Law((0, 1), (ONE - t, t)))], epsilon=1.0)
        for t in (m, m + 1)
    ]
    assert [r.measured for r in results] == pytest.approx([1.0, 1.0], abs=1e-15)
    assert [r.verdict for r in results] == ["holds", "VIOLATED"]
    assert exp_at_least(Fraction(m, ONE - m), Fraction(1))


def test_only_the_given_inputs_are_compared():
    noise = DiscreteLaplace(2.0, 4)
    assert audit_exact(noise, epsilon=1.0, inputs=[0, 2]).holds
    assert not audit_exact(noise, epsilon=1.0, inputs=[0, 3]).holds


def test_long_reach_is_quick():
    noise = DiscreteLaplace(0.5, 8)
    assert noise.reach == 640
    result = audit_exact(noise)
    assert result.holds and result.measured == pytest.approx(0.5)
    assert result.seconds < 20  # about 1 s on an idle core


@pytest.mark.parametrize(
    ("ratio", "loss"),
    [(1 + Fraction(1, 10**12), 1e-12), (Fraction(3), math.log(3)), (Fraction(10**400), 400 * math.log(10))],
)
def test_loss_keeps_its_digits(ratio, loss):
    laws = [Law((0, 1), (ratio.numerator, 10**500)), Law((0, 1), (ratio.denominator, 10**500))]
    exact = worst_ratio(enumerate(laws))
    assert exact.loss == pytest.approx(loss, rel=1e-3)
    assert audit_laws("x", [(0, Law((0,), (5,)))], epsilon=1).measured == 0


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "1"])
def test_bad_claim_is_named(epsilon):
    with pytest.raises(HedgerowError, match="'epsilon'"):
        audit_exact(KaryResponse(1.0, 2), epsilon=epsilon)


def test_bad_laws_are_named():
    with pytest.raises(HedgerowError, match="no possible output"):
        worst_ratio([(0, Law((1,), (0,)))])
    with pytest.raises(HedgerowError, match="weights are ints >= 0"):
        worst_ratio([(0, Law((1,), (-1,)))])
    with pytest.raises(HedgerowError, match="weights are ints >= 0"):
        worst_ratio([(0, Law((1,), (0.5,)))])
    with pytest.raises(HedgerowError, match="at least one input"):
        audit_exact(KaryResponse(1.0, 2), inputs=[])


def test_delta_is_decided_exactly():
    # P(0|a) = 3/8 against P(0|b) = 1/8: delta(eps) = 3/8 - e**eps / 8, which is 1/8 at eps = log 2.
    laws = [("a", Law((0, 1), (3, 5))), ("b", Law((0, 1), (1, 7)))]
    below, above = math.nextafter(math.log(2), 0), math.nextafter(math.log(2), 1)
    assert audit_laws("x", laws, epsilon=above, delta=0.125).verdict == "holds"
    assert audit_laws("x", laws, epsilon=below, delta=0.125).verdict == "VIOLATED"
    result = audit_laws("x", laws, epsilon=1.0, delta=0.125)
    assert result.measured == pytest.approx(math.log(2)) and result.witness == "'a' against 'b'"
    assert result.delta == 0.125


def test_delta_covers_impossible_outputs():
    laws = [(0, Law((0, 1), (1, 7))), (1, Law((1, 1), (2, 6)))]  # listed twice: once, with both weights
    assert audit_laws("x", laws, epsilon=1.0, delta=0.125).holds
    result = audit_laws("x", laws, epsilon=600.0, delta=0.12)
    assert result.measured == math.inf and not result.holds
    assert audit_laws("x", laws, epsilon=math.inf, delta=0.12).holds


@pytest.mark.parametrize("delta", [-0.1, 1, 2.0])
def test_bad_delta_is_named(delta):
    with pytest.raises(HedgerowError, match="'delta'"):
        audit_exact(KaryResponse(1.0, 2), delta=delta)
