"""Branching gives the law of the code: that of brute force where that is possible, and the declared one elsewhere."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import samplers
from hedgerow.audit import auditables
from hedgerow.audit.branching import branching, explore, law_of
from hedgerow.audit.branching.words import words
from hedgerow.audit.sampled import runner
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.randomness import SecureRandomness
from hedgerow.samplers import ONE


def listed(array):
    return tuple(np.asarray(array).ravel().tolist())


QUESTIONS = {
    "less": lambda w: listed(w < 100),
    "the other way round": lambda w: listed(np.uint64(100) < w),
    "at most": lambda w: listed(w <= 7),
    "equal": lambda w: listed(w == 255),
    "two cuts": lambda w: listed(w >= 12) + listed(w > 200) + listed(w != 30),
    "shifted": lambda w: listed((w >> np.uint64(3)) < 7),
    "lifted": lambda w: listed(((w.astype(np.uint64) << np.uint64(8)) | np.uint64(255)) < 4000),
    "remainder": lambda w: listed(w % np.uint64(7)),
    "remainder of a part": lambda w: listed(w < 14) + listed(w % np.uint64(14)),
    "searched": lambda w: listed(np.searchsorted(np.array([3, 3, 90, 255], np.uint64), w.astype(np.uint64))),
    "searched from the right": lambda w: listed(np.searchsorted(np.array([3, 90]), w.astype(np.uint64), side="right")),
    "bits": lambda w: listed(np.unpackbits(w, count=3)),
    "head and rest": lambda w: (
        listed((w >> np.uint64(6)).astype(np.int64)) + listed((w & np.uint64(63)) < np.uint64(10))
    ),
    "sum": lambda w: listed((np.array([300], dtype=np.int32) + w) >> 8),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_one_byte_against_all_its_values(question):
    counts = Counter(question(np.array([value], dtype=np.uint8)) for value in range(256))
    law, rest = explore(lambda walk: question(words(8, 1)), goal=Fraction(0))
    assert rest == 0
    assert law == {outcome: Fraction(count, 256) for outcome, count in counts.items()}


def test_two_words_side_by_side_are_one():
    def question(walk):
        high, low = words(8, 1), words(16, 1)
        whole = (high.astype(np.uint64) << np.uint64(12)) | (low >> np.uint64(4))
        return listed(whole < 1000) + listed(whole == 1000)

    law, rest = explore(question, goal=Fraction(0))
    size = Fraction(1, 1 << 20)
    assert rest == 0
    assert law == {(True, False): 1000 * size, (False, True): size, (False, False): 1 - 1001 * size}


@pytest.mark.parametrize(
    "question",
    [
        lambda w: int(w[0]),
        lambda w: w.tobytes(),
        lambda w: w % np.uint64(1 << 20),
        lambda w: w & np.uint64(5),
        lambda w: (w << np.uint64(1)) >> np.uint64(1),
        lambda w: w | np.uint64(1),
        lambda w: w * np.uint64(3),
        lambda w: np.sort(w),
    ],
)
def test_what_cannot_be_branched_over_is_refused(question):
    with pytest.raises(HedgerowError):
        explore(lambda walk: question(words(64, 2)), goal=Fraction(0))


def test_a_word_that_became_part_of_another_is_not_used_again():
    def question(walk):
        high, low = words(8, 1), words(8, 1)
        _ = (high << np.uint64(8)) | low
        return listed(high < 3)

    with pytest.raises(HedgerowError, match="used again"):
        explore(question, goal=Fraction(0))


def test_other_randomness_is_noticed():
    seen = []

    def run(walk):
        seen.append(None)
        return walk.choose([Fraction(1, 4)] * (4 if len(seen) == 1 else 1))

    with pytest.raises(HedgerowError, match="other randomness"):
        explore(run, goal=Fraction(0))


def branched(run, goal):
    with branching(left_out=min(goal, Fraction(1, 1 << 50))):
        law, rest = law_of(lambda: np.asarray(run(SecureRandomness())).tobytes(), goal=goal)
    return law, rest


@pytest.mark.parametrize("numerator", [1, 3 << 40, ONE // 3, (200 << 56) + 1, ONE - 1])
def test_bernoulli_is_exact_to_the_last_bit(numerator):
    p = Fraction(numerator, ONE)
    law, rest = branched(lambda source: samplers.bernoulli(numerator, 1, source), goal=Fraction(0))
    assert (law[b"\1"], law[b"\0"], rest) == (p, 1 - p, 0)


def test_bits_of_one_call_are_independent():
    p = Fraction(ONE // 3, ONE)
    law, rest = branched(lambda source: samplers.bernoulli(ONE // 3, 3, source), goal=Fraction(0))
    assert rest == 0 and len(law) == 8
    assert all(chance == p ** sum(out) * (1 - p) ** (3 - sum(out)) for out, chance in law.items())


@pytest.mark.parametrize("high", [1, 2, 3, 7, 64])
def test_integers_are_uniform(high):
    law, rest = branched(lambda source: source.integers(high, 1), goal=Fraction(1, 1 << 60))
    assert len(law) == high
    # Equal to what was left out: all outcomes are worked out alike, however often a word is refused.
    assert all(0 <= Fraction(1, high) - chance <= rest for chance in law.values())


@pytest.mark.parametrize("label", [0.0, 0.25, 0.3, 1.0, 7.0, -3.0])
def test_labels_are_rounded_without_bias(label):
    grid = LabelGrid(0.0, 1.0, 2)
    law, rest = branched(lambda source: grid.levels([label], source), goal=Fraction(0))
    mean = sum(int(np.frombuffer(out, np.int64)[0]) * chance for out, chance in law.items())
    assert rest == 0 and len(law) <= 2
    assert abs(mean - 2 * Fraction(min(max(label, 0.0), 1.0))) < Fraction(1, 1 << 22)


# Noise that is computed with words, not looked up, cannot be branched over; the others have too many paths.
NOT_BRANCHED = {"rounded Gaussian", "Laplace on cells", "exponential selection"}
BRANCHED = [entry for entry in auditables() if entry.name not in NOT_BRANCHED]


@pytest.mark.parametrize("entry", BRANCHED, ids=lambda e: e.name)
def test_declared_law_is_that_of_the_code(entry):
    mechanism = entry.build(6.0)  # so that there are few paths
    value = entry.audit.sampled(mechanism)[1]
    run = runner(mechanism)
    with branching():
        law, rest = explore(
            lambda walk: entry.audit.outcomes(mechanism, run(value, 1, SecureRandomness()))[0],
            goal=Fraction(1, 1 << 12),
        )
    listed = entry.audit.law(mechanism, value)
    declared = {o: Fraction(w, listed.total) for o, w in zip(listed.outputs, listed.weights, strict=True)}
    # What was left out may belong to any output; nothing else may differ.
    assert rest <= Fraction(1, 1 << 12) and set(law) <= set(declared)
    assert all(0 <= chance - law.get(output, 0) <= rest for output, chance in declared.items())


def test_ids_are_blanked_out_and_must_be_sent_as_drawn():
    with branching():
        sent, rest = law_of(lambda: b"head" + SecureRandomness().uint8(12).tobytes())
        changed, _ = law_of(lambda: b"head" + (SecureRandomness().uint8(12) | np.uint8(1)).tobytes())
    assert (sent, rest) == ({b"head" + b"\0" * 12: 1}, 0)
    assert all(isinstance(out, tuple) for out in changed)


def test_nothing_is_left_behind():
    with branching():
        pass
    assert len(SecureRandomness().bytes(5)) == 5
    assert SecureRandomness().uint64(3).dtype == np.uint64
