"""What is audited is what runs: the bytes that a device sends, with its secure randomness."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_all, entries, find
from hedgerow.audit import whole as module
from hedgerow.audit.branching import branching
from hedgerow.audit.whole import WholeTask, body_of
from hedgerow.mechanisms import KaryResponse
from hedgerow.randomness import SecureRandomness, as_randomness
from hedgerow.tasks.examples import examples, find_example
from hedgerow.tasks.reports import HEADER_BYTES

EPSILON = 6.0  # the larger, the fewer paths


def test_every_kind_holds_and_is_tight():
    with branching():
        results = [WholeTask(example).exact(EPSILON) for example in examples()]
    wrong = [r for r in results if not r.holds or not r.claim * (1 - 1e-4) < r.measured <= r.claim]
    assert not wrong, "a claim is broken, or its worst pair of records is not among the example's"


FEW = [
    "tree, bits",
    "tree of classes, k_ary",
    "assisted, levels",
    "pilot",
    "partly public, first round",
    "labels, bins",
]


def test_a_tenth_less_noise_is_refuted():
    with branching():
        for name in FEW:
            example = find_example(name)
            assert not WholeTask(example).exact(EPSILON, example.build(1.1 * EPSILON)).holds, name


def test_samples_of_the_device_hold():
    # False alarm 1e-7 each; never seeded, for the secure path is what is run.
    for name in ("partly public, both rounds, bits", "labels, Gaussian"):
        result = WholeTask(find_example(name)).sampled(1.0, n=100_000, alpha=1e-7)
        assert result.holds and result.samples == 1000, result


def both(entry):
    return [entry.exact(EPSILON), entry.sampled(1.0, n=100_000)]


def leaky(place, mask):
    """Return a device that puts the true leaf into a bit of the id, if its randomness is secure."""
    make = module.make_body

    def make_body(task, record, randomness=None, **options):
        body, secrets = make(task, record, randomness, **options)
        changed = bytearray(body)
        if not as_randomness(randomness).simulation:
            changed[HEADER_BYTES + place] = changed[HEADER_BYTES + place] & ~mask | (mask if record["x"] == 0.8 else 0)
        return bytes(changed), secrets

    return make_body


@pytest.mark.parametrize(("place", "mask"), [(0, 255), (11, 1)])
def test_an_id_that_carries_the_leaf_is_caught(monkeypatch, place, mask):
    monkeypatch.setattr(module, "make_body", leaky(place, mask))
    for result in both(WholeTask(find_example("tree, unary"))):
        assert not result.holds, result


def test_truth_on_the_secure_path_alone_is_caught(monkeypatch):
    randomize = KaryResponse.randomize

    def truthful(self, values, randomness=None):
        source = as_randomness(randomness)
        return randomize(self, values, source) if source.simulation else np.array(values)

    monkeypatch.setattr(KaryResponse, "randomize", truthful)
    assert find("k-ary response").sampled(1.0, n=10_000, randomness=1).holds  # the seeded audit sees nothing
    for result in both(WholeTask(find_example("pilot"))):
        assert not result.holds, result


def test_truth_for_the_secure_class_alone_is_caught(monkeypatch):
    randomize = KaryResponse.randomize

    def truthful(self, values, randomness=None):
        source = as_randomness(randomness)
        return np.array(values) if type(source) is SecureRandomness else randomize(self, values, source)

    monkeypatch.setattr(KaryResponse, "randomize", truthful)
    assert not WholeTask(find_example("pilot")).exact(EPSILON).holds


def test_a_label_drawn_again_in_the_second_round_is_caught(monkeypatch):
    # The same noisy label must be used in both rounds: a fresh one costs its share of epsilon once more.
    make = module.make_body

    def make_body(task, record, randomness=None, *, mask=None, kept=None):
        if kept is not None:
            _, again = make(task.first, record, mask=mask)
            kept.coarse[:] = again.coarse
        return make(task, record, mask=mask, kept=kept)

    monkeypatch.setattr(module, "make_body", make_body)
    assert not WholeTask(find_example("partly public, both rounds, k_ary")).exact(12.0).holds


def test_bodies_have_one_length():
    for example in examples():
        task = example.build(1.0)
        assert len({len(body_of(task, record, example.mask)) for record in example.records}) == 1, example.name


def test_every_entry_is_listed_and_yields_both_tiers():
    listed = [entry.name for entry in entries() if entry.whole == "task"]
    assert listed == [f"whole: {e.name}" for e in examples()]
    chosen = (find("whole: pilot"),)
    results = list(audit_all((0.5, 2.0), chosen, n=2000))
    assert [(r.claim, r.tier, r.samples) for r in results] == [(2.0, "exact", 0), (2.0, "sampled", 1000)]
    assert [r.tier for r in audit_all((2.0,), chosen, n=0)] == ["exact"]


def test_both_rounds_with_little_noise():
    # At a large epsilon there are so few paths that mistakes which multiply them still end in a verdict.
    with branching():
        for name in ("partly public, both rounds, k_ary", "partly public, both rounds, bits"):
            example = replace(find_example(name), left_out=Fraction(1, 1 << 40))
            result = WholeTask(example).exact(12.0)
            assert result.holds and result.measured > 11.9, result
