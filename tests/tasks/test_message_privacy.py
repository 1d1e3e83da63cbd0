"""The guarantee of the whole message: exact over all leaves and levels, and audits that can fail."""

import itertools
import math
from fractions import Fraction

import pytest

from hedgerow.audit import audit_laws
from hedgerow.mechanisms.base import Law
from hedgerow.samplers import exp_at_least
from hedgerow.tasks.tree.bits import BitsEncoding, split_epsilon
from hedgerow.tasks.tree.cells import KaryEncoding, SubsetEncoding, UnaryCellEncoding

ENCODINGS = {
    "bits": lambda epsilon, leaves, steps: BitsEncoding(epsilon, leaves, steps, 0.3),
    "unary": UnaryCellEncoding,
    "k_ary": KaryEncoding,
    "subset": SubsetEncoding,
}
SIZES = [(2, 1), (3, 2), (4, 1)]


def laws(encoding):
    # A nearer clamp keeps every likelihood ratio of the label and makes the enumeration small.
    clamp = {"reach": 4} if encoding.response == "bits" else {}
    for given in encoding.inputs:
        yield given, encoding.law(given, **clamp)


def holds(inputs, epsilon):
    """Check every output and pair of inputs by hand, in integers (the auditor is checked by this, too)."""
    tables = [dict(zip(law.outputs, law.weights, strict=True)) for _, law in inputs]
    totals = [sum(t.values()) for t in tables]
    outputs = set().union(*tables)
    worst = Fraction(0)
    for o in outputs:
        chances = [Fraction(t.get(o, 0), total) for t, total in zip(tables, totals, strict=True)]
        if min(chances) == 0 < max(chances):
            return False
        worst = max(worst, max(chances) / min(chances))
    return exp_at_least(worst, Fraction(epsilon))


@pytest.mark.parametrize("response", ENCODINGS)
@pytest.mark.parametrize("epsilon", [0.5, 4.0])
@pytest.mark.parametrize("size", SIZES)
def test_the_whole_message_is_private_exactly_and_not_at_a_tenth_less(response, epsilon, size):
    encoding = ENCODINGS[response](epsilon, *size)
    result = audit_laws(response, laws(encoding), epsilon=epsilon)
    assert result.holds
    # Tight (which shows that the audit looks at the right pairs), but never above the claim.
    assert epsilon - 1e-6 < result.measured <= epsilon + 1e-12
    weak = ENCODINGS[response](1.1 * epsilon, *size)
    assert not audit_laws(response, laws(weak), epsilon=epsilon).holds


@pytest.mark.parametrize("response", ENCODINGS)
def test_the_same_by_hand(response):
    assert holds(list(laws(ENCODINGS[response](1.0, 2, 1))), 1.0)
    assert not holds(list(laws(ENCODINGS[response](1.1, 2, 1))), 1.0)
    assert not holds(list(laws(ENCODINGS[response](1.0, 2, 1))), 0.999)


@pytest.mark.parametrize("response", ENCODINGS)
def test_the_encoding_of_a_task_is_the_audited_one(make_task, response):
    task = make_task(response, 3, epsilon=1.0, steps=1, cell_share=0.3)
    assert task.encoding == ENCODINGS[response](1.0, 3, 1)
    assert task.guarantee.epsilon == 1.0
    assert audit_laws(response, laws(task.encoding), epsilon=task.guarantee.epsilon).holds


@pytest.mark.parametrize("share", [0.1, 0.3, 1 / 3, 0.7, 0.9])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, math.pi, 7.3])
def test_the_parts_of_the_budget_never_exceed_it(share, epsilon):
    first, rest = split_epsilon(epsilon, share)
    assert Fraction(first) + Fraction(rest) <= Fraction(epsilon)
    assert first == pytest.approx(share * epsilon) and first + rest == pytest.approx(epsilon)


def fresh_labels(encoding, draws):
    """The message of the published code: the bits, and a label with its own noise for every leaf."""
    for leaf, level in itertools.product(range(encoding.n_leaves), range(encoding.n_steps + 1)):
        # A nearer clamp keeps every likelihood ratio of the label and makes the enumeration small.
        label, cell = encoding.label.law(level, reach=1), encoding.cell.law(leaf)
        parts = [label] * draws + [cell]
        outputs = tuple(itertools.product(*(p.outputs for p in parts)))
        weights = tuple(math.prod(ws) for ws in itertools.product(*(p.weights for p in parts)))
        yield (leaf, level), Law(outputs, weights)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_fresh_label_noise_for_every_leaf_is_not_private(epsilon):
    """Each of the two draws spends (1 - rho) epsilon: with rho = 1/2 the message costs 1.5 epsilon."""
    encoding = BitsEncoding(epsilon, 2, 2)
    once = audit_laws("one draw", fresh_labels(encoding, 1), epsilon=epsilon)
    twice = audit_laws("a draw a leaf", fresh_labels(encoding, 2), epsilon=epsilon)
    assert once.holds
    assert not twice.holds
    assert twice.measured == pytest.approx(1.5 * epsilon, abs=1e-6)


def test_labels_dropped_for_being_out_of_range_would_show():
    """A holder who stays silent at a level has a message that others cannot have: the loss is infinite."""
    encoding = KaryEncoding(1.0, 2, 1)
    silent = [*list(laws(encoding))[:-1], ((1, 1), Law(("silence",), (1,)))]
    result = audit_laws("silence", silent, epsilon=100.0)
    assert not result.holds and result.measured == math.inf


@pytest.mark.parametrize("response", ENCODINGS)
def test_without_noise_nothing_is_claimed(response):
    encoding = ENCODINGS[response](math.inf, 2, 1)
    assert not audit_laws(response, laws(encoding), epsilon=50.0).holds
    assert audit_laws(response, laws(encoding), epsilon=math.inf).holds


def test_one_report_weighs_no_more_than_stated():
    """The largest change of a leaf's count that one message can make, over all messages."""
    for make in ENCODINGS.values():
        encoding = make(1.0, 3, 1)
        if isinstance(encoding, BitsEncoding):
            p, q = encoding.cell.p, encoding.cell.q
        else:
            p, q = encoding.mechanism.p, encoding.mechanism.q
        assert encoding.most_influence(10) == pytest.approx(float((1 - q) / (p - q)))
