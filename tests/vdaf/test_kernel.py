"""The compiled form gives the bytes of the Python form, and refuses what it cannot take."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import kernels
from hedgerow.vdaf.field import FIELD128, vector
from hedgerow.vdaf.kernel import native
from tests.vdaf.reports import CTX, KEY, bits, multihot, sharded, verified

pytestmark = pytest.mark.skipif(native() is None, reason="there are no compiled kernels here")
P = FIELD128.modulus
EDGES = [0, 1, 2, 3, P - 1, P - 2, P // 2, P // 2 + 1, 2**64 - 1, 2**64, 2**64 + 1, 2**127, 2**128 - P, 7]
elements = st.one_of(st.sampled_from(EDGES), st.integers(0, P - 1))


def word(value):
    return value.to_bytes(16, "little")


@pytest.mark.parametrize("a", EDGES)
def test_products_at_the_edges(a):
    for b in EDGES:
        assert native().product(word(a), word(b)) == word(a * b % P), (a, b)


@settings(max_examples=300, deadline=None)
@given(a=elements, b=elements)
def test_products_and_sums(a, b):
    assert native().product(word(a), word(b)) == word(a * b % P)
    total = bytearray(word(a))
    assert native().add(total, word(b))
    assert total == word((a + b) % P)


def test_a_sum_with_something_that_is_no_element_changes_nothing():
    total = bytearray(word(5) + word(6))
    for wrong in (P, 2**128 - 1):
        assert not native().add(total, word(1) + word(wrong))
    assert total == word(5) + word(6)


def test_numbers_beyond_the_modulus_are_left_out_of_streams():
    numbers = [3, P, P - 1, 2**128 - 1, P + 1, 4]
    assert native().accept(b"".join(map(word, numbers))) == word(3) + word(P - 1) + word(4)


@settings(max_examples=15, deadline=None)
@given(
    length=st.integers(1, 60), weight=st.integers(1, 60), chunk=st.integers(1, 70), servers=st.integers(2, 5),
    seed=st.integers(0, 2**32),
)  # fmt: skip
def test_every_message_is_that_of_python(length, weight, chunk, servers, seed):
    prio3 = multihot(length, min(weight, length), chunk, servers)
    measurement = bits(seed, length, min(weight, length))
    with kernels.reference():
        reports = sharded(prio3, measurement, seed)
        states = [prio3.verify_init(KEY, CTX, i, each) for i, each in enumerate(reports)]
        outs = verified(prio3, reports)
        totals = [prio3.aggregate([out, out, out]) for out in outs]
    assert sharded(prio3, measurement, seed) == reports
    assert [prio3.verify_init(KEY, CTX, i, each) for i, each in enumerate(reports)] == states
    assert [prio3.aggregate([out, out, out]) for out in outs] == totals


def test_the_leader_proves_what_python_proves_of_any_shares():
    """A forged share of the leader, with any numbers in it, gives the same verifier share on both paths."""
    prio3 = multihot()
    report = sharded(prio3, bits(1, 20, 4), 1)[0]
    for edge in EDGES:
        elements = vector([(edge + i) % P for i in range(prio3.circuit.measurement_length + prio3.flp.proof_length)])
        forged = type(report)(report.nonce, report.public_share, FIELD128.encode(elements) + report.input_share[-32:])
        with kernels.reference():
            expected = prio3.verify_init(KEY, CTX, 0, forged)
        assert prio3.verify_init(KEY, CTX, 0, forged) == expected


def test_arguments_that_do_not_fit_are_refused():
    shape = (20, 4, 5, 2)
    head, ctx, nonce, rand = bytes(6), b"", bytes(16), bytes(128)
    public, leader = native().shard(*shape, head, ctx, bytes(23), nonce, rand)
    for wrong in [(0, 4, 5, 2), (20, 0, 5, 2), (20, 21, 5, 2), (20, 4, 0, 2), (20, 4, 5, 1), (20, 4, 5, 256),
                  (1 << 40, 4, 5, 2), (20, 4, 1 << 40, 2), (-1, 4, 5, 2)]:  # fmt: skip
        with pytest.raises(ValueError, match="circuit"):
            native().shard(*wrong, head, ctx, bytes(23), nonce, rand)
    for arguments in [
        (head[1:], ctx, bytes(23), nonce, rand),
        (head, bytes(65_528), bytes(23), nonce, rand),
        (head, ctx, bytes(22), nonce, rand),
        (head, ctx, bytes(23), nonce[1:], rand),
        (head, ctx, bytes(23), nonce, rand[1:]),
    ]:
        with pytest.raises(ValueError, match=r"must have|circuit"):
            native().shard(*shape, *arguments)
    good = (head, ctx, KEY, 0, nonce, public, leader)
    assert native().verify_init(*shape, *good)
    for place, value in [(2, b""), (4, b""), (5, public[1:]), (6, leader[1:]), (3, 1), (3, 2), (3, -1)]:
        with pytest.raises(ValueError, match="must"):
            native().verify_init(*shape, *good[:place], value, *good[place + 1 :])
    for arguments in [(bytearray(16), bytes(32)), (bytearray(8), bytes(8))]:
        with pytest.raises(ValueError, match=r"must"):
            native().add(*arguments)
    with pytest.raises(ValueError, match="'length'"):
        native().turboshake128(b"", -1)
