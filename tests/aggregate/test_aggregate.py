"""Leader, helper and collector in memory: exact sums; every kind of forgery is refused, and the rest stays exact."""

import hashlib
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.aggregate import Batch, Party, combine, release
from hedgerow.aggregate.job import MOST, Answer, Code, Job
from hedgerow.aggregate.protocol import LABEL
from hedgerow.aggregate.report import split
from hedgerow.discrete_gaussian import gaussian_weights
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import SecureRandomness, SeededRandomness
from hedgerow.sealing import Role, aad_of_input, info_of, seal
from hedgerow.vdaf.field import FIELD128, vector
from tests.aggregate.parties import KEYS, both, protocol, reports, run, servers, vectors

SOURCE = SecureRandomness()


def collect(rules, ours, theirs):
    parts = [release(rules, Role.LEADER, ours.batch, SOURCE), release(rules, Role.HELPER, theirs.batch, SOURCE)]
    return combine(rules, KEYS["collector"], ours.batch.n, ours.batch.checksum, *parts)


def test_sums_are_exact_without_noise():
    rules = protocol()
    bits = vectors(rules, 40)
    ours, theirs = run(rules, reports(rules, bits))
    assert (ours.batch.n, ours.batch.checksum) == (theirs.batch.n, theirs.batch.checksum) and ours.batch.n == 40
    assert collect(rules, ours, theirs).tolist() == bits.sum(axis=0).tolist()


def test_batches_add_up_in_any_order():
    rules = protocol()
    bits = vectors(rules, 6)
    rows = reports(rules, bits)
    (a, b), (c, d) = run(rules, rows[:2]), run(rules, rows[2:])
    whole, theirs = run(rules, rows)
    assert a.batch.plus(rules, c.batch) == c.batch.plus(rules, a.batch) == whole.batch
    assert b.batch.plus(rules, d.batch) == theirs.batch


def test_a_report_has_one_length_and_the_stated_one():
    rules = protocol(length=512, weight=8, chunk=23)
    assert rules.width == 64 + 10_032 + 48 + 64 + 48
    assert rules.entry == 16 + 64 + 112 + 800


# Forgeries: each is refused by both servers alike, and the honest rest stays exact.


def forged(rules, name, encoded):
    """Return a report whose leader's share is off by what a forger adds, with a proof for the forged vector."""
    prio3 = rules.prio3
    public, (leader, helper) = prio3.shard(
        rules.context, [0] * rules.length, name, SOURCE.uint8(prio3.rand_size).tobytes()
    )
    size = prio3.field.size
    share = prio3.field.decode(leader[: len(encoded) * size])
    changed = (share + vector(encoded)) % prio3.field.modulus
    return sealed(rules, name, public, prio3.field.encode(changed) + leader[len(encoded) * size :], helper)


def sealed(rules, name, public, leader, helper, task=None):
    aad = aad_of_input(task or rules.task, name, public)
    one = seal(KEYS["leader"].public, info_of(LABEL, Role.CLIENT, Role.LEADER), aad, leader)
    return public + one + seal(KEYS["helper"].public, info_of(LABEL, Role.CLIENT, Role.HELPER), aad, helper)


def proved(rules, name, values):
    """Return a report that proves a vector which the circuit does not allow, as well as a forger can."""
    prio3 = rules.prio3
    from hedgerow.vdaf.derive import Derivations

    encoded = vector([v % prio3.field.modulus for v in values])
    rand = SOURCE.uint8(prio3.rand_size).tobytes()
    derive = Derivations(prio3.flp, prio3.algorithm, rules.context)
    helper = rand[: prio3.helper_share_size]
    public, leader = prio3._shard(derive, encoded, name, rand, [helper])
    return sealed(rules, name, public, leader, helper)


def encodings(rules):
    """Return forged vectors by name: entries, then the bits of the reported weight."""
    length = rules.prio3.circuit.measurement_length
    weight_bits = length - rules.length
    offset = (1 << weight_bits) - 1 - rules.max_weight

    def encoded(entries):
        total = sum(entries) + offset
        return [*entries, *((total >> i) & 1 for i in range(weight_bits))]

    def hits(n):
        return [1] * n + [0] * (rules.length - n)

    return {
        "2**40 in one cell": encoded([1 << 40, *[0] * (rules.length - 1)]),
        "-1 and 2": encoded([-1, 2, *[0] * (rules.length - 2)]),
        "one hit too many": encoded(hits(rules.max_weight + 1)),
        "halves": [FIELD128.modulus // 2 + 1, FIELD128.modulus // 2 + 1, *encoded(hits(0))[2:]],
        "a weight that is not the sum": [*hits(1), *encoded(hits(0))[rules.length :]],
    }


@pytest.mark.parametrize("what", list(encodings(protocol())))
def test_forged_vectors_are_refused_and_the_rest_is_exact(what):
    rules = protocol()
    bits = vectors(rules, 5)
    rows = reports(rules, bits)
    name = b"f" * 16
    rows.insert(2, (name, proved(rules, name, encodings(rules)[what])))
    ours, theirs = run(rules, rows)
    assert ours.refused == theirs.refused == (name,)
    assert collect(rules, ours, theirs).tolist() == bits.sum(axis=0).tolist()


def test_a_shifted_share_and_a_wrong_proof_are_refused():
    rules = protocol()
    rows = reports(rules, vectors(rules, 3))
    shifted = b"s" * 16
    rows.append((shifted, forged(rules, shifted, [1 << 40])))
    ours, theirs = run(rules, rows)
    assert ours.refused == theirs.refused == (shifted,) and ours.batch.n == 3


def test_the_share_of_another_report_or_task_is_refused():
    rules = protocol()
    rows = reports(rules, vectors(rules, 3))
    (first, one), (second, two), third = rows
    parts, others = split(rules, one), split(rules, two)
    mixed = (first, parts.public_share + parts.for_leader + others.for_helper)
    ours, theirs = run(rules, [mixed, (second, two), third])
    assert ours.refused == theirs.refused == (first,)
    other = protocol(hashlib.sha256(b"another task").digest())
    (strange,) = reports(other, vectors(other, 1), seed=9)
    ours, theirs = run(rules, [strange, (second, two), third])
    assert ours.refused == (strange[0],) and theirs.refused == () and theirs.batch.n == 2


def test_a_job_that_the_leader_cannot_open_at_all_sends_nothing():
    rules = protocol()
    prepared = both(rules)[0].prepare(b"j" * 16, [(b"x" * 16, bytes(rules.width))])
    assert prepared.job is None and prepared.refused == (b"x" * 16,)
    assert both(rules)[0].finish(prepared, None).batch.n == 0


# Replay, and what the leader may ask.


def test_known_ids_are_refused_whatever_they_come_with():
    rules = protocol()
    rows = reports(rules, vectors(rules, 3))
    ours, theirs = run(rules, rows, known={rows[1][0]})
    assert ours.refused == theirs.refused == (rows[1][0],) and ours.batch.n == theirs.batch.n == 2


def test_an_id_twice_in_a_job_another_task_and_too_many_are_refused():
    rules = protocol()
    rows = reports(rules, vectors(rules, 2))
    job = both(rules)[0].prepare(b"j" * 16, rows).job
    twice = Job(job.name, (job.entries[0], job.entries[0]))
    for data, words in (
        (twice.to_bytes(rules), "twice"),
        (job.to_bytes(protocol(hashlib.sha256(b"b").digest())), "another task"),
        (job.to_bytes(rules)[:-1], "reports"),
        (Job(job.name, job.entries * (MOST // 2 + 1)).to_bytes(rules), "1 .. 500"),
        (b"", "at least"),
    ):
        with pytest.raises(FormatError, match=words):
            Job.from_bytes(rules, data)


def test_the_same_rows_and_name_give_the_same_request():
    rules = protocol()
    rows = reports(rules, vectors(rules, 3))
    leader, _ = both(rules)
    assert leader.prepare(b"j" * 16, rows).job == leader.prepare(b"j" * 16, rows).job


def test_the_helper_says_nothing_but_whether_a_report_is_valid():
    # Whatever verifier shares the leader sends, the helper's own share of the sum of an accepted report is the same,
    # and the answer to a refused one is a code and zeros.
    rules = protocol()
    rows = reports(rules, vectors(rules, 2))
    leader, helper = both(rules)
    job = leader.prepare(b"j" * 16, rows).job
    honest, added = helper.answer(job, ())
    changed = bytearray(job.entries[1].verifier_share)
    changed[0] ^= 1
    entry = job.entries[1]
    bad = Job(
        job.name, (job.entries[0], type(entry)(entry.report_id, entry.public_share, entry.sealed, bytes(changed)))
    )
    answer, less = helper.answer(bad, ())
    assert honest.codes == (Code.ADDED, Code.ADDED) and answer.codes == (Code.ADDED, Code.INVALID)
    assert answer.messages[0] == honest.messages[0] and answer.messages[1] == bytes(32)
    assert less.batch.n == 1 and added.batch.n == 2


def test_a_message_that_does_not_fit_is_refused_by_the_leader():
    rules = protocol()
    rows = reports(rules, vectors(rules, 2))
    leader, helper = both(rules)
    prepared = leader.prepare(b"j" * 16, rows)
    answer, _ = helper.answer(prepared.job, ())
    lying = Answer(answer.name, answer.codes, (answer.messages[1], answer.messages[1]))
    assert leader.finish(prepared, lying).refused == (rows[0][0],)
    with pytest.raises(FormatError, match="another job"):
        Answer.from_bytes(rules, answer.to_bytes(rules), Job(b"k" * 16, prepared.job.entries))


# Keys.


def test_another_key_than_the_pinned_one_and_another_verify_key_are_refused():
    with pytest.raises(FormatError, match="pins another key"):
        Party(protocol(), Role.LEADER, KEYS["other"])
    with pytest.raises(FormatError, match="pins another key"):
        Party(protocol(), Role.HELPER, KEYS["leader"])
    with pytest.raises(FormatError, match="another verify key"):
        Party(protocol(verify_key_digest=bytes(32)), Role.LEADER, KEYS["leader"])


def test_one_server_in_both_roles_is_refused():
    one = servers().leader
    for name in ("operator", "origin", "sealing_key", "signing_key"):
        helper = type(one)(**{**vars(servers().helper), name: getattr(one, name)})
        with pytest.raises(FormatError, match=name):
            servers(helper=helper)


# What leaves.


def test_fewer_than_the_least_batch_are_never_released():
    rules = protocol(min_batch=4)
    ours, _ = run(rules, reports(rules, vectors(rules, 3)))
    with pytest.raises(HedgerowError, match="at least 4"):
        release(rules, Role.LEADER, ours.batch, SOURCE)
    with pytest.raises(FormatError, match="at least 4"):
        ours.batch.check(rules, 3, ours.batch.checksum)


def test_unequal_sets_are_noticed():
    rules = protocol()
    rows = reports(rules, vectors(rules, 4))
    ours, _ = run(rules, rows[:3])
    _, theirs = run(rules, rows[1:])
    with pytest.raises(FormatError, match="not added up the same"):
        theirs.batch.check(rules, ours.batch.n, ours.batch.checksum)
    with pytest.raises(FormatError, match="opened"):
        collect(rules, ours, theirs)


def test_each_server_adds_the_whole_noise():
    # One report, both servers' noise: the sum of the two laws, cell by cell. One server's noise taken away leaves the
    # whole law of the other. The statistic is the variance of 4,096 cells: relative deviation sqrt(2/4096) = .022,
    # and six of these are .133 (false alarm below 1e-8 by the normal approximation of a sum of 4,096 squares).
    rules = protocol(length=4096, weight=1, chunk=64, variance=25)
    ours, theirs = run(rules, reports(rules, vectors(rules, 1)))
    one = SeededRandomness(1)
    two = SeededRandomness(2)
    parts = [release(rules, Role.LEADER, ours.batch, one), release(rules, Role.HELPER, theirs.batch, two)]
    sums = combine(rules, KEYS["collector"], 1, ours.batch.checksum, *parts) - vectors(rules, 1)[0]
    weights = np.array(gaussian_weights(Fraction(25)), dtype=float)
    reach = len(weights) // 2
    law = float((weights * np.arange(-reach, reach + 1) ** 2).sum() / weights.sum())
    assert abs(sums.astype(float).var() / (2 * law) - 1) < 0.133
    from hedgerow.discrete_gaussian import discrete_gaussian

    left = sums - discrete_gaussian(Fraction(25), 4096, SeededRandomness(1))  # the leader is corrupt, and knows its own
    assert left.tolist() == discrete_gaussian(Fraction(25), 4096, SeededRandomness(2)).tolist()


def test_a_share_alone_says_nothing():
    # The leader's total of 512 cells, whatever the records: elements of the field look uniform. Top bits: 512 fair
    # coins each; |S - 256| > 90 has a chance below 2 exp(-2 90^2 / 512) = 4e-14.
    rules = protocol(length=512, weight=8, chunk=23)
    for bits in (np.zeros((2, 512), dtype=int), vectors(rules, 2)):
        for verified in run(rules, reports(rules, bits)):
            values = rules.prio3.field.decode(verified.batch.total)
            top = sum(int(v) >> 127 for v in values)
            assert abs(top - 256) < 90 and len(set(values.tolist())) == 512


def test_spoilt_shares_are_noticed_by_the_collector():
    rules = protocol()
    ours, theirs = run(rules, reports(rules, vectors(rules, 2)))
    spoilt = Batch(theirs.batch.n, theirs.batch.checksum, rules.prio3.shifted(theirs.batch.total, [1 << 60] * 12))
    with pytest.raises(HedgerowError, match="spoilt"):
        collect(rules, ours, type(theirs)(spoilt, ()))
