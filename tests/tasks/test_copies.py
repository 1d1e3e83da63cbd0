"""Classes of copies: exact bounds for every record, and power against one per cent of copies."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from hedgerow.tasks import copies
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.tree.bits import BitsEncoding
from hedgerow.tasks.tree.cells import KaryEncoding, SubsetEncoding, UnaryCellEncoding

N = 10_000
COPIED = N // 100


def law_of_bits(k, p, q):
    """All messages of k bits, and their probabilities for each record, from the definition."""
    bits = np.arange(1 << k)[:, None] >> np.arange(k) & 1
    laws = []
    for record in range(k):
        chance = np.where(np.arange(k) == record, p, q)
        laws.append(np.where(bits == 1, chance, 1 - chance).prod(axis=1))
    return np.packbits(bits.astype(bool), axis=1, bitorder="little"), np.array(laws)


def law_of_sets(encoding):
    """All sets, and their probabilities for each record, from the mechanism's exact law."""
    inputs = [(leaf, level) for leaf in range(encoding.n_leaves) for level in range(encoding.n_levels)]
    laws = [encoding.law(given) for given in inputs]
    outputs = sorted(laws[0].outputs)
    rows = np.packbits([np.isin(np.arange(encoding.n_cells), o) for o in outputs], axis=1, bitorder="little")
    chances = [dict(zip(law.outputs, law.weights, strict=True)) for law in laws]
    return rows, np.array([[chance[o] / law.total for o in outputs] for chance, law in zip(chances, laws, strict=True)])


def exact_high(detector, rows, laws):
    """The greatest probability of each event over all records, given the wider one where there is one."""
    seen = sparse.csr_matrix(np.array([detector.count(row[None]) for row in rows], dtype=np.int8))
    chances = (seen.T @ laws.T).T
    wider = [1.0 if e.among is None else chances[:, e.among] for e in detector.events]
    return np.max([chances[:, i] / wide for i, wide in enumerate(wider)], axis=1)


def check_bounds(detector, rows, laws):
    exact = exact_high(detector, rows, laws)
    _, stated = detector.bounds
    assert (stated >= exact).all()
    told = stated < 1
    np.testing.assert_allclose(stated[told], exact[told], rtol=1e-6, atol=1e-11)


# Up to eleven bits are their own classes; a twelfth has a word that is the sum of others.
@pytest.mark.parametrize(("k", "p", "q"), [(9, 0.5, 0.119), (12, 0.7, 0.3), (3, 0.9, 0.1), (2, 0.5, 0.27)])
def test_bounds_of_bits_are_those_of_the_exact_law(k, p, q):
    check_bounds(copies.copies_of_bits(k, p, q, 0), *law_of_bits(k, p, q))


def test_bounds_with_many_words_of_each_class(monkeypatch):
    monkeypatch.setattr(copies, "_MOST_WORD", 4)
    check_bounds(copies.copies_of_bits(10, 0.5, 0.2, 0), *law_of_bits(10, 0.5, 0.2))


@pytest.mark.parametrize(("leaves", "word"), [(3, 11), (7, 11), (6, 4)])
def test_bounds_of_sets_are_those_of_the_exact_law(monkeypatch, leaves, word):
    monkeypatch.setattr(copies, "_MOST_WORD", word)
    encoding = SubsetEncoding(1.0, leaves, 1)
    detector = copies.copies_of_sets(encoding.n_cells, encoding.mechanism.size, float(encoding.mechanism.p))
    check_bounds(detector, *law_of_sets(encoding))


ENCODINGS = {
    "unary": UnaryCellEncoding(2.0, 16, 1),
    "subset": SubsetEncoding(2.0, 16, 1),
    "bits": BitsEncoding(2.0, 16, 16),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_copies_of_any_message_with_two_bits_are_found_whatever_the_others_send(name):
    """No statistics: one per cent of 10,000 reports in any one class raise an alarm, even if nobody else is there."""
    detector = ENCODINGS[name].alarms()
    alike = [i for i, event in enumerate(detector.events) if event.name.startswith("reports alike")]
    assert len(alike) == 2048
    counts = np.zeros(len(detector.events), dtype=np.int64)
    counts[alike] = COPIED  # each class is looked at by itself
    found = {alarm.event for alarm in detector.alarms(counts, N)}
    assert found >= {detector.events[i].name for i in alike}


def with_bits(task, bits):
    """A message with these bits and, where there is one, the highest label within its bounds."""
    packed = np.packbits(np.isin(np.arange(8 * ((task.encoding.n_leaves * 2 + 7) // 8)), bits), bitorder="little")
    encoding = task.encoding
    if encoding.response != "bits":
        return packed
    label = np.array([encoding.n_steps + encoding.label.reach], dtype=f"<u{encoding._label_bytes}").view(np.uint8)
    return np.concatenate([label, packed[: (encoding.n_leaves + 7) // 8]])


@pytest.mark.parametrize(
    ("response", "bits"),
    [
        ("unary", [7]),  # the highest level of leaf 3 and nothing else
        ("unary", [7, 12, 20, 31]),  # with as many others as honest reports have
        ("unary", []),
        ("subset", [7, 12, 20, 31]),
        ("bits", [3]),
        ("bits", [3, 5, 6, 9, 12, 14]),
    ],
)
@pytest.mark.parametrize("spread", ["one leaf", "all leaves"])
def test_one_per_cent_of_copies_is_found(make_task, response, bits, spread):
    # Seeded; honest reports alone raise no alarm but with chance 1e-6.
    task = make_task(response, 16, epsilon=2.0, steps=16 if response == "bits" else 1, bounds=(0.0, 1.0))
    rng = np.random.default_rng(5)
    X = rng.random((N, 1)) if spread == "all leaves" else np.full((N, 1), 3.5 / 16)
    y = rng.random(N) if spread == "all leaves" else np.ones(N)
    rows = privatize_many(task, X, y, randomness=3).payloads
    detector = task.alarms()
    assert detector.alarms(detector.count(rows), N) == []
    rows = np.vstack([rows[COPIED:], np.tile(with_bits(task, bits), (COPIED, 1))])
    task.encoding.validate(rows)
    assert detector.alarms(detector.count(rows), N)


def test_copies_of_a_k_ary_message_are_the_law_of_an_honest_population():
    """So no test of reports finds them: (1 - a) [q + (p - q) pi] + a [cell] is q + (p - q) pi' with shares pi'."""
    encoding = KaryEncoding(2.0, 16, 1)
    p = encoding.mechanism.p
    q = encoding.mechanism.q
    a = Fraction(1, 100)
    k = encoding.n_cells
    least = a * q / ((1 - a) * (p - q))
    assert float(least) < 0.0017  # of holders in the emptiest cell
    honest = [least] * 2 + [(1 - 2 * least) / (k - 2)] * (k - 2)
    forged = [(1 - a) * (q + (p - q) * share) + (a if cell == 5 else 0) for cell, share in enumerate(honest)]
    same = [(chance - q) / (p - q) for chance in forged]
    # p + (k - 1) q = 1 up to the rounding of q to a dyadic number.
    assert min(same) >= 0 and abs(float(sum(same)) - 1) < 1e-12
    assert float(same[5] - honest[5]) == pytest.approx(0.06, abs=0.005)  # six per cent more holders of this cell


def test_no_budget_or_no_noise_is_not_watched():
    assert copies.copies_of_bits(8, 1.0, 0.0, 0).events == ()
    assert copies.copies_of_bits(1, 0.5, 0.2, 0).events == ()
    assert copies.copies_of_sets(8, 8, 1.0).events == ()


def test_messages_too_long_to_bound_at_once_are_not_watched():
    assert copies.copies_of_bits(513, 0.5, 0.2, 0).events == ()
    assert copies.copies_of_sets(513, 100, 0.4).events == ()
