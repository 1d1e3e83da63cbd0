import hashlib
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import kernels
from hedgerow.errors import FormatError, HedgerowError, InvalidReport
from hedgerow.vdaf import MultihotCountVec, Prio3, Report
from hedgerow.vdaf.circuit import checked_bits
from hedgerow.vdaf.derive import Derivations
from hedgerow.vdaf.field import FIELD128, vector
from tests.vdaf.reports import CTX, KEY, bits, drawn, multihot, sharded, verified

# SHA-256 of all messages of a report, computed once with the reference code of draft 20 (commit 5203892540a9).
DIGESTS = {
    (512, 8, 23, 2, 1): "ddeac87240a3e8a71c13bab69634efec0bbea87deb6c9182975e8f7f8bad4a05",
    (1024, 16, 32, 2, 2): "92925ae546fb28ead306cfdbc5f59238cbd292f5f2a673647bc72e4dd0e7f8f9",
    (1, 1, 1, 2, 3): "1d86ee93930973117d33a1d12c1e19bdf8b5d2cfa926fedd9dd2c6d95054e24c",
    (7, 5, 3, 3, 4): "df9c643b9b50dbc48b16b098f0ff5804a61f2120b11da0135cd8ced7efcf4edf",
    (37, 1, 64, 2, 5): "b799ede7c1a03e8cc8ab8ff0875b0322ff11b41ee8427a6f4fb16c9562f64f96",
    (100, 9, 11, 4, 6): "556e2a0dd19e9508830e0f313d7d1196d26dc0eec1f338b5e2abdf3cf398f7ef",
}


@pytest.fixture(params=["as it is", "without the kernel"])
def path(request):
    """Run with what is compiled, and without."""
    if request.param == "as it is":
        yield
    else:
        with kernels.reference():
            yield


def all_messages(prio3, measurement, seed):
    """Return every message of a report, one after the other."""
    ctx, key = drawn(seed, "ctx", 3 * seed), drawn(seed, "key", 32)
    reports = sharded(prio3, measurement, seed, ctx)
    states = [prio3.verify_init(key, ctx, i, report) for i, report in enumerate(reports)]
    message = prio3.verifier_shares_to_message(ctx, [state.verifier_share for state in states])
    outs = [prio3.verify_next(state, message) for state in states]
    inputs = [report.input_share for report in reports]
    return b"".join([reports[0].public_share, *inputs, *(s.verifier_share for s in states), message, *outs])


@pytest.mark.parametrize(("case", "digest"), DIGESTS.items(), ids=str)
def test_messages_are_those_of_the_reference_code(case, digest, path):
    length, weight, chunk, servers, seed = case
    prio3 = multihot(length, weight, chunk, servers)
    measurement = bits(seed, length, weight)
    assert hashlib.sha256(all_messages(prio3, measurement, seed)).hexdigest() == digest


def test_sizes_are_those_of_the_design():
    prio3 = multihot(512, 8, 23)
    assert (prio3.leader_share_size, prio3.helper_share_size, prio3.public_share_size) == (10_032, 64, 64)
    assert prio3.verifier_share_size == 800


@settings(max_examples=8, deadline=None)
@given(
    length=st.integers(1, 40), weight=st.integers(1, 40), chunk=st.integers(1, 45), servers=st.integers(2, 4),
    seed=st.integers(0, 2**32),
)  # fmt: skip
def test_sums_are_exact(length, weight, chunk, servers, seed):
    prio3 = multihot(length, min(weight, length), chunk, servers)
    measurements = [bits(f"{seed}/{i}", length, min(weight, length)) for i in range(3)]
    outs = [verified(prio3, sharded(prio3, each, f"{seed}/{i}")) for i, each in enumerate(measurements)]
    totals = [prio3.aggregate(shares) for shares in zip(*outs, strict=True)]
    assert prio3.unshard(totals) == [sum(column) for column in zip(*measurements, strict=True)]
    # Totals of parts add up to the total of all.
    assert prio3.aggregate([prio3.aggregate(shares[0] for shares in outs[:2]), outs[2][0]]) == totals[0]


def flipped(data, place):
    changed = bytearray(data)
    changed[place] ^= 1
    return bytes(changed)


def changes(prio3, reports):
    """Yield names and reports of which one thing was changed after the holder made them."""
    leader, helper = reports
    size = prio3.field.size
    proof = prio3.circuit.measurement_length * size
    places = {
        "measurement": 0,
        "reported weight": (prio3.circuit.length + 1) * size,
        "wire seed": proof,
        "last wire seed": proof + (prio3.flp.arity - 1) * size,
        "gadget polynomial": proof + prio3.flp.arity * size,
        "end of the proof": -32 - size,
        "blind": -1,
    }
    for name, place in places.items():
        yield name, [replace(leader, input_share=flipped(leader.input_share, place)), helper]
    for name, place in (("seed", 0), ("blind", 63)):
        yield f"helper's {name}", [leader, replace(helper, input_share=flipped(helper.input_share, place))]
    for place in (0, 63):
        public = flipped(leader.public_share, place)
        yield f"public share {place}", [replace(each, public_share=public) for each in reports]
        yield f"leader's public share {place}", [replace(leader, public_share=public), helper]
    nonce = flipped(leader.nonce, 3)
    yield "nonce", [replace(each, nonce=nonce) for each in reports]
    yield "one nonce", [replace(leader, nonce=nonce), helper]
    other = sharded(prio3, [0] * prio3.circuit.length, 999)
    yield "helper's share of another report", [leader, replace(helper, input_share=other[1].input_share)]
    yield "leader's share of another report", [replace(leader, input_share=other[0].input_share), helper]


def test_what_was_changed_is_refused(path):
    prio3 = multihot()
    reports = sharded(prio3, bits(1, 20, 4), 1)
    assert verified(prio3, reports)
    for name, changed in changes(prio3, reports):
        if name != "leader's public share 0":  # the leader does not take the holder's word for its own part
            with pytest.raises(InvalidReport):
                assert not verified(prio3, changed), name


def test_a_servers_own_part_is_not_taken_from_the_holder(path):
    prio3 = multihot()
    leader, helper = sharded(prio3, bits(1, 20, 4), 1)
    changed = replace(leader, public_share=flipped(leader.public_share, 0))
    assert prio3.verify_init(KEY, CTX, 0, changed) == prio3.verify_init(KEY, CTX, 0, leader)
    with pytest.raises(InvalidReport):
        verified(prio3, [leader, replace(helper, public_share=changed.public_share)])


def test_nothing_is_handed_over_without_the_right_message(path):
    prio3 = multihot()
    state = prio3.verify_init(KEY, CTX, 0, sharded(prio3, bits(1, 20, 4), 1)[0])
    for message in (b"", bytes(32), flipped(state.joint_rand_seed, 31)):
        with pytest.raises(InvalidReport, match="told different things"):
            prio3.verify_next(state, message)
    assert prio3.verify_next(state, state.joint_rand_seed) == state.out_share


def test_another_context_or_key_is_refused(path):
    prio3 = multihot()
    reports = sharded(prio3, bits(1, 20, 4), 1)
    with pytest.raises(InvalidReport):
        verified(prio3, reports, ctx=CTX + b"!")
    with pytest.raises(InvalidReport):
        verified(prio3, reports, keys=[KEY, bytes(32)])
    with pytest.raises(InvalidReport):
        verified(Prio3(prio3.circuit, algorithm=4), reports)


class Forger(MultihotCountVec):
    """A holder that encodes what it likes, and proves it as well as can be."""

    def encode(self, measurement):
        return vector([value % FIELD128.modulus for value in measurement])


HALF = FIELD128.inverse(2)
FORGERIES = {
    "a large number": [1 << 40, *[0] * 19, *checked_bits(1, 4)],
    "a large number and its weight": [1 << 40, *[0] * 19, 1 << 40, 0, 0],
    "two and minus one": [2, -1, *[0] * 18, *checked_bits(1, 4)],
    "one too many, weight of four": [1, 1, 1, 1, 1, *[0] * 15, *checked_bits(4, 4)],
    "one too many, weight of five": [1, 1, 1, 1, 1, *[0] * 15, 2, 1, 1],
    "fewer than reported": [1, *[0] * 19, *checked_bits(2, 4)],
    "halves": [HALF, HALF, *[0] * 18, *checked_bits(1, 4)],
    "a weight of minus one": [0] * 20 + [-1, 0, 1],
    "all of them": [1] * 20 + [0, 0, 5],
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_are_refused_and_the_rest_is_exact(name, path):
    prio3 = multihot()
    forged = sharded(Prio3(Forger(20, 4, 5)), FORGERIES[name], 5)
    honest = sharded(prio3, bits(1, 20, 4), 1)
    with pytest.raises(InvalidReport, match="proof"):
        verified(prio3, forged)
    totals = [prio3.aggregate([share]) for share in verified(prio3, honest)]
    assert prio3.unshard(totals) == bits(1, 20, 4)


def test_the_forger_is_believed_where_it_says_the_truth():
    measurement = bits(1, 20, 4)
    allowed = sharded(Prio3(Forger(20, 4, 5)), measurement + checked_bits(sum(measurement), 4), 1)
    assert allowed == sharded(multihot(), measurement, 1)


@pytest.mark.parametrize("measurement", [[1] * 5 + [0] * 15, [0] * 19, [2] + [0] * 19, [-1] + [0] * 19, [0.5] * 20])
def test_measurements_that_are_not_allowed_are_refused(measurement, path):
    prio3 = multihot()
    with pytest.raises(HedgerowError, match=r"measurement"):
        sharded(prio3, measurement, 1)


def test_malformed_reports_do_not_disturb_the_others(path):
    prio3 = multihot()
    good = sharded(prio3, bits(1, 20, 4), 1)[0]
    overflow = b"\xff" * 16 + good.input_share[16:]
    bad = [
        replace(good, nonce=b""),
        replace(good, public_share=good.public_share[:-1]),
        replace(good, input_share=good.input_share + b"\0"),
        replace(good, input_share=overflow),
        replace(good, input_share=b""),
    ]
    found = prio3.verify_init_many(KEY, CTX, 0, [good, *bad, good])
    assert [isinstance(each, FormatError) for each in found] == [False, *[True] * len(bad), False]
    assert found[0] == found[-1] == prio3.verify_init(KEY, CTX, 0, good)
    assert prio3.verify_init_many(KEY, CTX, 1, []) == []
    with pytest.raises(FormatError, match="modulus"):
        prio3.verify_init(KEY, CTX, 0, bad[3])


def test_arguments_of_the_wrong_size_are_refused():
    prio3 = multihot()
    good = sharded(prio3, bits(1, 20, 4), 1)[0]
    share = prio3.verify_init(KEY, CTX, 0, good).verifier_share
    out = bytes(20 * 16)
    for call, match in [
        (lambda: prio3.verify_init(KEY[1:], CTX, 0, good), "'verify_key' must have 32 bytes"),
        (lambda: prio3.verify_init(KEY, CTX, 2, good), "'server' must be in"),
        (lambda: prio3.verifier_shares_to_message(CTX, [share]), "2 verifier shares"),
        (lambda: prio3.verifier_shares_to_message(CTX, [share, share[1:]]), "'verifier_share' must have"),
        (lambda: prio3.verifier_shares_to_message(CTX, [share, b"\xff" * len(share)]), "modulus"),
        (lambda: prio3.shard(CTX, [0] * 20, bytes(15), bytes(128)), "'nonce' must have 16"),
        (lambda: prio3.shard(CTX, [0] * 20, bytes(16), bytes(127)), "'rand' must have 128"),
        (lambda: prio3.aggregate([out[1:]]), "'share' must have 320 bytes"),
        (lambda: prio3.aggregate([b"\xff" * 320]), "modulus"),
        (lambda: prio3.unshard([out]), "2 aggregate shares"),
        (lambda: Prio3(prio3.circuit, servers=1), "'servers' must be in"),
        (lambda: Prio3(prio3.circuit, servers=256), "'servers' must be in"),
    ]:
        with pytest.raises(HedgerowError, match=match):
            call()


def test_an_empty_sum_is_zero():
    prio3 = multihot()
    assert prio3.unshard([prio3.aggregate([]), prio3.aggregate([])]) == [0] * 20


def test_noise_of_each_server_is_in_the_total(path):
    prio3 = multihot()
    outs = verified(prio3, sharded(prio3, bits(1, 20, 4), 1))
    noises = [[-5, 3, *[0] * 18], [1, -9, *[2] * 18]]
    totals = [prio3.shifted(prio3.aggregate([out]), noise) for out, noise in zip(outs, noises, strict=True)]
    expected = [a + b + c for a, b, c in zip(bits(1, 20, 4), *noises, strict=True)]
    assert prio3.unshard(totals, signed=True) == expected and min(expected) < 0
    assert prio3.unshard(totals) == [value % prio3.field.modulus for value in expected]
    with pytest.raises(HedgerowError, match="20 numbers"):
        prio3.shifted(totals[0], [1] * 19)


def test_a_share_alone_is_uniform(same_law):
    """The leader's share of two very different measurements: bytes of both are uniform (false alarms 1e-7 each)."""
    prio3 = multihot(64, 64, 8)
    for measurement in ([0] * 64, [1] * 64):
        seen = Counter()
        for seed in range(8):
            share = sharded(prio3, measurement, f"{seed}/{sum(measurement)}")[0].input_share
            seen.update(share[: 64 * 16])
        same_law(list(seen.elements()), dict.fromkeys(range(256), 1 / 256))


def test_a_server_alone_sees_the_same_verifier_whatever_was_measured():
    """The helper's messages do not depend on the measurement at all: it has two seeds."""
    prio3 = multihot()
    one, other = (sharded(prio3, measurement, 3)[1] for measurement in (bits(1, 20, 4), [0] * 20))
    assert one.input_share == other.input_share
    states = [
        prio3.verify_init(KEY, CTX, 1, each) for each in (one, Report(one.nonce, one.public_share, other.input_share))
    ]
    assert states[0] == states[1]


def test_a_context_that_is_too_long_is_refused(path):
    prio3 = multihot()
    longest = bytes(65_527)
    assert Derivations(prio3.flp, 5, longest).ctx == longest
    with pytest.raises(HedgerowError, match="'ctx' may have 65527 bytes"):
        sharded(prio3, [0] * 20, 1, longest + b"!")
