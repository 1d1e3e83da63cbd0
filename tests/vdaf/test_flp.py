import pytest

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.vdaf.circuit import MultihotCountVec, checked_bits, checked_weights
from hedgerow.vdaf.field import FIELD128, vector
from hedgerow.vdaf.flp import Flp

P = FIELD128.modulus
CIRCUIT = MultihotCountVec(6, 3, 2)
FLP = Flp(CIRCUIT)


def proved(measurement):
    joint = vector(range(10, 10 + CIRCUIT.calls))
    return joint, FLP.prove(measurement, vector(range(100, 100 + FLP.prove_rand_length)), joint)


def decided(measurement, joint, proof, query=(5, 6, 7)):
    return FLP.decide(FLP.query(measurement, proof, vector(query), joint, 1))


@pytest.mark.parametrize("most", [1, 2, 3, 4, 7, 8, 9, 16])
def test_bits_make_all_allowed_numbers_and_no_others(most):
    weights = checked_weights(most)
    made = {sum(w for i, w in enumerate(weights) if code >> i & 1) for code in range(1 << len(weights))}
    assert made == set(range(most + 1))
    for number in range(most + 1):
        code = checked_bits(number, most)
        assert sum(w * bit for w, bit in zip(weights, code, strict=True)) == number
    with pytest.raises(HedgerowError):
        checked_bits(most + 1, most)


def test_the_truth_is_believed_and_a_wrong_proof_is_not():
    measurement = CIRCUIT.encode([1, 0, 1, 0, 0, 1])
    joint, proof = proved(measurement)
    assert decided(measurement, joint, proof)
    for i in range(FLP.proof_length):
        wrong = proof.copy()
        wrong[i] = (wrong[i] + 1) % P
        assert not decided(measurement, joint, wrong), i


def test_every_vector_of_small_numbers_is_judged_rightly():
    """All vectors of 0, 1, 2 and -1 in two places and in the reported weight."""
    values = (0, 1, 2, P - 1)
    for a in values:
        for b in values:
            for w0 in values:
                for w1 in values:
                    measurement = vector([a, 0, 0, b, 0, 0, w0, w1])
                    allowed = {a, b, w0, w1} <= {0, 1} and a + b == w0 + 2 * w1
                    joint, proof = proved(measurement)
                    assert decided(measurement, joint, proof) == allowed, (a, b, w0, w1)


def test_queries_are_linear():
    """Shares of a verifier add up to the verifier, whatever the shares (num_shares scales the constants)."""
    measurement = CIRCUIT.encode([1, 0, 1, 0, 0, 1])
    joint, proof = proved(measurement)
    query = vector([5, 6, 7])
    noise = [vector([(i + 3) ** k % P for k in range(n)]) for i, n in enumerate((len(measurement), len(proof)))]
    one = FLP.query(noise[0], noise[1], query, joint, 2)
    other = FLP.query((measurement - noise[0]) % P, (proof - noise[1]) % P, query, joint, 2)
    assert list((one + other) % P) == list(FLP.query(measurement, proof, query, joint, 1))


@pytest.mark.parametrize("k", range(8))
def test_a_test_point_that_would_show_wires_is_refused(k):
    measurement = CIRCUIT.encode([1, 0, 1, 0, 0, 1])
    joint, proof = proved(measurement)
    assert FLP.wire_length == 8
    with pytest.raises(HedgerowError, match="root of unity"):
        decided(measurement, joint, proof, (5, 6, FIELD128.roots(8)[k]))
    # A root of twice that order is no point of a wire.
    assert decided(measurement, joint, proof, (5, 6, FIELD128.roots(16)[2 * k + 1]))


def test_verifiers_of_another_length_are_refused():
    with pytest.raises(FormatError, match="elements"):
        FLP.decide(vector([0] * 3))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0, 1, 1), "length"), ((4, 0, 1), "max_weight"), ((4, 5, 1), "max_weight"), ((4, 2, 0), "chunk"),
     ((True, 1, 1), "length"), ((1 << 40, 1, 1), "length"), ((4.0, 1, 1), "length")],
)  # fmt: skip
def test_circuits_that_cannot_be_are_refused(arguments, name):
    with pytest.raises(HedgerowError, match=f"'{name}'"):
        MultihotCountVec(*arguments)
