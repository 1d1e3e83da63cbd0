"""The value object, and the algebra against exactly enumerated laws."""

import itertools
import json
import math
import pickle
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee, convert, parallel, sequential, shuffled

seeded = settings(derandomize=True, deadline=None)
epsilons = st.floats(0, 50, allow_subnormal=True)
small_deltas = st.floats(0, 1e-3)


def local(epsilon, delta=0.0, **other):
    return Guarantee(epsilon, delta, **{"protects": "record", "trust": "local", "neighbours": "replace"} | other)


def central(epsilon, delta=0.0, neighbours="add/remove", **other):
    return local(epsilon, delta, trust="central", neighbours=neighbours, **other)


def labels(epsilon, **other):
    return local(epsilon, protects="label", neighbours="label", **other)


ANY = [
    local(1),
    local(0.1, 1e-6, simulation=True, notes=("a", "b")),
    central(math.inf),
    central(0),
    labels(2.5),
    local(3, protects="private features and label"),
]


# ---------------------------------------------------------------- the value


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"epsilon": -1}, "epsilon must be a number, at least 0. Got -1"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"delta": 1.0}, "delta must be at least 0 and below 1"),
        ({"delta": math.nan}, "delta"),
        ({"delta": -1e-9}, "delta"),
        ({"protects": "records"}, "protects must be one of"),
        ({"trust": "shuffled"}, "trust"),
        ({"neighbours": "swap"}, "neighbours"),
        (
            {"neighbours": "label"},
            "neighbours .with protects='record'. must be one of .'replace', 'add/remove'.",
        ),
        ({"protects": "label"}, "neighbours"),
        ({"protects": "private features and label", "neighbours": "add/remove"}, "neighbours"),
        ({"simulation": 1}, "simulation"),
        ({"notes": "one"}, "notes"),
        ({"notes": (1,)}, "notes"),
    ],
)
def test_what_cannot_be_claimed_is_refused(change, message):
    with pytest.raises(HedgerowError, match=message):
        replace(local(1), **change)


def test_strong_claims_have_no_defaults():
    with pytest.raises(TypeError, match="protects"):
        Guarantee(1.0)


def test_it_is_a_frozen_value():
    claim = local(1)
    with pytest.raises(FrozenInstanceError):
        claim.epsilon = 0.1
    assert claim == local(1.0) and hash(claim) == hash(local(1.0)) and claim != local(2)
    assert pickle.loads(pickle.dumps(claim)) == claim


@pytest.mark.parametrize("epsilon", [2**53 + 1, Fraction(1, 3), Fraction(1, 10), 10**400])
def test_numbers_that_are_no_floats_are_rounded_up(epsilon):
    exact = local(epsilon).epsilon
    assert isinstance(exact, float)
    assert exact == math.inf or Fraction(exact) >= epsilon > Fraction(math.nextafter(exact, 0))


@pytest.mark.parametrize(
    ("claim", "sentence"),
    [
        (
            local(1),
            "Local privacy with epsilon = 1 and delta = 0: each record is protected from everyone, the "
            "curator included, in that replacing any one record by any other makes no outcome more than "
            "2.72 times as likely.",
        ),
        (
            central(0.5, 1e-5),
            "Central privacy with epsilon = 0.5 and delta = 1e-05: each record is protected from everyone "
            "but the curator, who holds the data, in that adding or removing any one record makes no "
            "outcome more than 1.65 times as likely, give or take a probability of 1e-05.",
        ),
        (
            labels(math.inf),
            "No protection: epsilon is infinite, so the outcome may reveal everything about anyone.",
        ),
    ],
)
def test_the_sentence(claim, sentence):
    assert str(claim) == sentence


def test_the_sentence_says_what_matters():
    assert str(local(1, simulation=True)).startswith("Simulation only: the noise came from a seeded generator")
    assert "nothing is protected in real use" in str(local(1, simulation=True))
    assert "changes nothing" in str(local(0))
    assert "not the features" in str(labels(1))
    assert "private features and the label" in str(local(1, protects="private features and label"))
    assert str(local(1, notes=("if A", "if B"))).endswith("likely; if A; if B.")
    assert "e^25.5 times" in str(local(25.5)) and "486,000,000 times" in str(local(20))
    for weak in (local(20.001), local(1, 0.01), central(30), labels(1e6)):
        assert weak.is_weak and "which protects next to nothing" in str(weak)
    for claim in (local(20), local(1, 0.0099)):
        assert not claim.is_weak and "next to nothing" not in str(claim)
    for claim in ANY:
        assert "\n" not in str(claim) and str(claim).endswith(".") and ". " not in str(claim)


@seeded
@given(st.floats(0, 20))
def test_the_factor_in_the_sentence_is_not_too_small(epsilon):
    text = str(local(epsilon, 1e-9)).split("more than ")[1].split(" times")[0]
    exact = Context(prec=50).exp(Decimal(epsilon))
    assert exact <= Decimal(text.replace(",", "")) <= exact * Decimal("1.011")


# ---------------------------------------------------------------- JSON


@pytest.mark.parametrize("claim", ANY)
def test_json_gives_the_value_back(claim):
    text = claim.to_json()
    assert Guarantee.from_json(text) == claim == Guarantee.from_json(text.encode())
    assert Guarantee.from_dict(claim.to_dict()) == claim
    assert Guarantee.from_json(text).to_json() == text
    json.loads(text, parse_constant=pytest.fail)  # Infinity is not JSON


@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"version": None},
        {"version": True},
        {"version": 1.0},
        {"extra": 1},
        {"epsilon": "1"},
        {"epsilon": None},
        {"delta": "inf"},
        {"notes": "one"},
        {"trust": ["local"]},
    ],
)
def test_other_fields_and_versions_are_refused(change):
    with pytest.raises(FormatError):
        Guarantee.from_dict(local(1).to_dict() | change)


@pytest.mark.parametrize("field", sorted(local(1).to_dict()))
def test_every_field_must_be_there(field):
    data = local(1).to_dict()
    del data[field]
    with pytest.raises(FormatError, match=field):
        Guarantee.from_dict(data)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        "null",
        "{}",
        "[" * 100_000,
        b"\xff\xfe\xff",
        None,
        local(1).to_json().replace('"epsilon":1.0', '"epsilon":NaN'),
        local(1).to_json().replace('"epsilon":1.0', '"epsilon":9,"epsilon":1.0'),
    ],
)
def test_text_that_is_no_guarantee_is_refused(text):
    with pytest.raises(FormatError):
        Guarantee.from_json(text)


# ---------------------------------------------------------------- sequential


def test_halves_add_up_exactly():
    assert sequential(local(0.5), local(0.5)).epsilon == 1.0
    assert sequential(local(0.5, 0.25), local(0.25, 0.5)) == local(
        0.75, 0.75, notes=("the sum of 2 releases about the same people (epsilon = 0.5 + 0.25)",)
    )
    assert sequential(local(1)) == local(1)


@seeded
@given(st.lists(st.tuples(epsilons, small_deltas), min_size=1, max_size=9))
def test_sums_are_never_below_the_truth_and_never_more_than_one_float_above(pairs):
    total = sequential(*(local(*pair) for pair in pairs))
    for claimed, parts in zip((total.epsilon, total.delta), zip(*pairs, strict=True), strict=True):
        truth = sum(map(Fraction, parts))
        assert Fraction(claimed) >= truth
        assert claimed == 0 or Fraction(math.nextafter(claimed, -1)) < truth


def test_a_sum_in_floats_would_be_too_small():
    parts = [1.0] + [1e-17] * 5  # naive addition stays at 1
    assert sum(parts) == 1.0 < sequential(*map(local, parts)).epsilon


def test_sums_of_the_infinite_and_of_empty_promises():
    assert sequential(local(1), local(math.inf)).epsilon == math.inf
    assert sequential(local(1e308), local(1e308)).epsilon == math.inf
    empty = sequential(local(1, 0.6), local(1, 0.6))
    assert empty.epsilon == math.inf and "delta has reached 1" in empty.notes


def test_the_weaker_trust_and_any_seed_hold_for_the_sum():
    both = sequential(local(1), central(2, neighbours="replace"))
    assert (both.trust, both.epsilon) == ("central", 3.0)
    assert any("curator" in note for note in both.notes)
    assert sequential(local(1), local(1)).trust == "local"
    assert sequential(local(1), local(1, simulation=True)).simulation
    assert not sequential(local(1), local(1)).simulation


def test_notes_are_kept_once():
    total = sequential(local(1, notes=("if A",)), local(1, notes=("if A", "if B")))
    assert total.notes[:2] == ("if A", "if B") and len(total.notes) == 3


def test_private_features_must_be_private_in_every_part():
    part = local(1, protects="private features and label")
    assert "private in every one" in sequential(part, part).notes[-1]


@pytest.mark.parametrize("other", [central(1), labels(1), local(1, protects="private features and label")])
@pytest.mark.parametrize("compose", [sequential, lambda *parts: parallel(*parts, assignment="public")])
def test_different_units_must_be_converted_first(compose, other):
    with pytest.raises(HedgerowError, match=r"convert\(\)"):
        compose(local(1), other)


@pytest.mark.parametrize("compose", [sequential, lambda: parallel(assignment="public")])
def test_nothing_has_no_guarantee(compose):
    with pytest.raises(HedgerowError, match="at least one"):
        compose()


# ---------------------------------------------------------------- parallel


@pytest.mark.parametrize("assignment", [None, "shuffle", "hash"])
def test_the_assignment_must_be_said(assignment):
    with pytest.raises(HedgerowError, match=r"assignment must be one of .* Shuffling .* fails under 'add/remove'"):
        parallel(central(1), central(1), assignment=assignment)


@pytest.mark.parametrize(
    ("make", "assignment", "absent", "cost"),
    [
        (central, "independent", "silent", (3, 0.25)),
        (central, "public", "silent", (3, 0.25)),
        (central, "content", "silent", (3, 0.25)),
        (local, "independent", "silent", (3, 0.25)),
        (local, "public", "silent", (3, 0.25)),
        (local, "content", "default", (5, 0.375)),
    ],
)
def test_disjoint_groups_cost_the_maximum_or_the_two_largest(make, assignment, absent, cost):
    parts = [make(1, 0.25), make(3, 0.0625), make(2, 0.125)]
    total = parallel(*parts, assignment=assignment, absent=absent)
    assert (total.epsilon, total.delta) == cost
    assert assignment in total.notes[-1]


@pytest.mark.parametrize("make", [local, labels])
def test_moving_between_groups_is_not_covered_by_replacement(make):
    with pytest.raises(HedgerowError, match="no finite cost"):
        parallel(make(1), make(2), assignment="content")


def response(value, epsilon):
    """Law of a bit kept with probability e^epsilon / (1 + e^epsilon)."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    return {value: keep, 1 - value: 1 - keep}


def law(values, shares):
    """Joint law of one bit for each group, independently randomised."""
    bits = [response(value, share) for value, share in zip(values, shares, strict=True)]
    return {out: math.prod(b[o] for b, o in zip(bits, out, strict=True)) for out in itertools.product((0, 1), repeat=3)}


def loss(first, second):
    return max(abs(math.log(first[out] / second[out])) for out in first)


def test_exact_loss_of_groups_with_default_records():
    # A record is (group, bit); in the groups it is not in, the default bit 0 is reported for it.
    shares = (1.0, 3.0, 2.0)
    parts = [local(share) for share in shares]
    records = {(g, b): law([b if g == j else 0 for j in range(3)], shares) for g in range(3) for b in (0, 1)}
    worst = max(loss(records[p], records[q]) for p in records for q in records)
    stays = max(loss(records[p], records[q]) for p in records for q in records if p[0] == q[0])
    content = parallel(*parts, assignment="content", absent="default").epsilon
    assert worst == pytest.approx(content, abs=1e-9) and content == 5
    assert stays == pytest.approx(parallel(*parts, assignment="public").epsilon, abs=1e-9)
    # By a coin for each person, whatever the record says: a mixture over the groups.
    mixed = [{o: sum(records[g, b][o] for g in range(3)) / 3 for o in records[0, 0]} for b in (0, 1)]
    assert 0 < loss(*mixed) <= parallel(*parts, assignment="independent").epsilon


# ---------------------------------------------------------------- convert


def test_add_remove_to_replace_doubles():
    assert convert(central(0.3), "replace").epsilon == 0.6
    assert convert(central(0.3), "replace").neighbours == "replace"
    assert convert(central(1), "label").protects == "label"
    assert convert(central(1), "label").epsilon == 2
    assert convert(central(1), "replace", protects="private features and label").epsilon == 2


@seeded
@given(st.floats(0, 30), st.floats(1e-300, 1e-14))
def test_delta_of_a_pair_is_not_too_small(epsilon, delta):
    pair = convert(central(epsilon, delta), "replace")
    truth = (1 + Fraction(Context(prec=60).exp(Decimal(epsilon)))) * Fraction(delta)
    assert truth <= Fraction(pair.delta) <= truth * (1 + Fraction(1, 10**15)) + Fraction(5e-324)
    assert Fraction(pair.epsilon) == 2 * Fraction(epsilon)


def test_an_empty_promise_says_so():
    for claim in (central(800, 1e-9), central(10, 1e-3)):
        pair = convert(claim, "replace")
        assert pair.epsilon == math.inf and "delta has reached 1" in pair.notes
    assert convert(central(800), "replace").epsilon == 1600


def test_fewer_neighbours_cost_nothing():
    assert convert(local(1), "replace") == local(1)
    assert convert(local(1), "label") == labels(1)
    assert convert(local(1, protects="private features and label"), "label") == labels(1)
    assert convert(local(1), "replace", protects="private features and label").epsilon == 1


@pytest.mark.parametrize("claim", [local(1), local(0), central(1, neighbours="replace")])
def test_replacement_does_not_hide_absence(claim):
    with pytest.raises(HedgerowError, match="does not imply 'add/remove'"):
        convert(claim, "add/remove")
    hidden = convert(claim, "add/remove", absent="default")
    assert (hidden.epsilon, hidden.neighbours) == (claim.epsilon, "add/remove")
    assert "default record" in hidden.notes[-1]


@pytest.mark.parametrize(
    ("claim", "neighbours", "other"),
    [
        (labels(1), "replace", {}),
        (labels(1), "add/remove", {"absent": "default"}),
        (labels(1), "replace", {"protects": "record"}),
        (local(1), "swap", {}),
        (local(1), "add/remove", {"absent": "hidden"}),
        (local(1, protects="private features and label"), "add/remove", {"absent": "default"}),
        (local(1, protects="private features and label"), "replace", {"protects": "record"}),
        (local(1), "replace", {"protects": "label"}),
    ],
)
def test_what_does_not_follow_is_refused(claim, neighbours, other):
    with pytest.raises(HedgerowError):
        convert(claim, neighbours, **other)


def test_only_the_standard_library_is_imported():
    code = (
        "import sys, types; package = types.ModuleType('hedgerow'); package.__path__ = [sys.argv[1]];"
        "sys.modules['hedgerow'] = package; import hedgerow.guarantee, hedgerow.ledger;"
        "top = {name.partition('.')[0] for name in sys.modules};"
        "print(sorted(top - set(sys.stdlib_module_names) - {'hedgerow', '__main__'}))"
    )
    folder = sys.modules["hedgerow.guarantee"].__file__.rpartition("/")[0]
    done = subprocess.run([sys.executable, "-I", "-S", "-c", code, folder], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- shuffling ---


def clones(epsilon, local, n):
    """Delta at epsilon of the pair that theorem 3.1 of "Hiding among the clones" reduces everything to, in floats."""
    from scipy.stats import binom

    q = math.exp(local) / (math.exp(local) + 1)
    p = math.exp(-local)
    delta = 0.0
    low, high = binom.ppf([1e-13, 1 - 1e-13], n - 1, p).astype(int)
    for a in range(low, high + 1):
        half = binom.pmf(np.arange(-1, a + 2), a, 0.5)
        one = q * half[:-1] + (1 - q) * half[1:]
        other = (1 - q) * half[:-1] + q * half[1:]
        delta += binom.pmf(a, n - 1, p) * np.maximum(one - math.exp(epsilon) * other, 0).sum()
    return delta


def local_of(epsilon):
    return Guarantee(epsilon, protects="record", trust="local", neighbours="replace")


@pytest.mark.parametrize(("n", "expected"), [(10**4, 3.5), (3 * 10**4, 4.5), (10**5, 5.7), (10**6, 8.0)])
def test_shuffled_reports_are_worth_what_was_computed_elsewhere(n, expected):
    """The local epsilon that is central (1, 1e-6) behind a shuffler, by the closed form."""
    low, high = 0.0, 20.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if shuffled(local_of(middle), n).epsilon <= 1 else (low, middle)
    assert round(low, 1) == expected


@pytest.mark.parametrize(("local", "n"), [(0.5, 2000), (1.0, 2000), (2.0, 5000), (3.0, 10_000)])
def test_the_statement_is_true_of_the_clones(local, n):
    stated = shuffled(local_of(local), n, delta=1e-5)
    assert stated.epsilon < local and stated.delta == 1e-5
    assert clones(stated.epsilon, local, n) <= 1e-5
    assert clones(stated.epsilon / 8, local, n) > 1e-5  # it is not empty either


def test_shuffling_never_makes_a_guarantee_worse_and_says_its_conditions():
    for local, n in [(8.0, 1000), (1.0, 10), (0.0, 10**6), (50.0, 10**6)]:
        stated = shuffled(local_of(local), n)
        assert (stated.epsilon, stated.delta) == (local, 0.0)
    stated = shuffled(local_of(4.0), 10**5)
    assert stated.trust == "central" and stated.neighbours == "replace" and stated.protects == "record"
    assert "100000 such reports pass a shuffler" in str(stated) and "only the local guarantee holds" in str(stated)
    assert shuffled(local_of(4.0), 10**6).epsilon < stated.epsilon < shuffled(local_of(4.0), 10**5, delta=1e-9).epsilon


def test_the_condition_of_the_theorem_is_kept():
    """Just beyond ``log(n / 16 log(2/delta))`` the formula would still give a smaller epsilon; it is not used."""
    n, delta = 10**6, 1e-6
    edge = math.log(n / (16 * math.log(2 / delta)))
    assert shuffled(local_of(edge - 1e-9), n, delta=delta).delta == delta
    assert shuffled(local_of(edge + 1e-9), n, delta=delta).epsilon == edge + 1e-9


@pytest.mark.parametrize(
    ("guarantee", "arguments"),
    [
        (Guarantee(1, protects="record", trust="central", neighbours="replace"), {"n": 100}),
        (Guarantee(1, 1e-6, protects="record", trust="local", neighbours="replace"), {"n": 100}),
        (Guarantee(math.inf, protects="record", trust="local", neighbours="replace"), {"n": 100}),
        (Guarantee(1, protects="record", trust="local", neighbours="replace"), {"n": 0}),
        (Guarantee(1, protects="record", trust="local", neighbours="replace"), {"n": 10.5}),
        (Guarantee(1, protects="record", trust="local", neighbours="replace"), {"n": True}),
        (Guarantee(1, protects="record", trust="local", neighbours="replace"), {"n": 10, "delta": 0.0}),
        (Guarantee(1, protects="record", trust="local", neighbours="replace"), {"n": 10, "delta": 1.0}),
    ],
)
def test_what_cannot_be_shuffled_is_refused(guarantee, arguments):
    with pytest.raises(HedgerowError):
        shuffled(guarantee, **arguments)
