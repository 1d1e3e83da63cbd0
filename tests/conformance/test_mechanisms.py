"""Every mechanism through one suite; a new one is covered by the ``AUDITS`` in its file."""

import importlib
import json
import math
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import hedgerow.mechanisms
import hedgerow.tasks
from hedgerow.audit import auditables
from hedgerow.audit.mechanism import Auditable
from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms import Audit, LocalMechanism, Mechanism
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import SeededRandomness

EPSILONS = [0.001, 0.1, 1.0, 3.0, 10.0]
entries = pytest.mark.parametrize("entry", auditables(), ids=lambda e: e.name)
TESTS = Path(__file__).parents[1]


def inputs_of(entry, mechanism):
    """The inputs of both tiers."""
    return list(dict.fromkeys([*entry.audit.compared(mechanism), *entry.audit.sampled(mechanism)]))


def library_mechanisms():
    """Every class of the library that has a law of its own."""
    for package in (hedgerow.mechanisms, hedgerow.tasks):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    todo, found = [Mechanism], set()
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        # What experiments try out is audited by their own tests.
        if kind.__module__.startswith("hedgerow.") and not any(kind in k.__mro__[1:] for k in kind.__subclasses__()):
            found.add(kind)
    return found


def test_every_mechanism_declares_an_audit_in_its_own_file():
    declared = {type(entry.build(1.0)) for entry in auditables()}
    assert not {kind.__qualname__ for kind in library_mechanisms() - declared}
    for kind in declared:
        names = {type(audit.build(1.0)) for audit in importlib.import_module(kind.__module__).AUDITS}
        assert kind in names, f"{kind.__name__} is declared in another file"


def test_every_file_has_its_test():
    modules = {module.name for module in pkgutil.iter_modules(hedgerow.mechanisms.__path__)}
    tests = {path.stem.removeprefix("test_") for path in (TESTS / "mechanisms").glob("test_*.py")}
    assert modules == tests


@entries
def test_claim_and_value(entry):
    mechanism = entry.build(1.0)
    claim = mechanism.guarantee
    assert isinstance(mechanism, Mechanism) and isinstance(claim, Guarantee) and mechanism.name
    assert (claim.epsilon, claim.delta) == (1.0, mechanism.delta) and claim.trust in ("local", "central")
    assert any("proof" in (kind.__doc__ or "").lower() for kind in type(mechanism).__mro__)
    assert type(mechanism).__eq__ is object.__eq__ or mechanism == entry.build(1.0) != entry.build(2.0)
    with pytest.raises(AttributeError):
        mechanism.epsilon = 99.0


@entries
@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan])
def test_bad_epsilon_is_named(entry, epsilon):
    with pytest.raises(HedgerowError, match="epsilon"):
        entry.build(epsilon)


@entries
def test_json_brings_it_back(entry):
    mechanism = entry.build(1.2)
    if not hasattr(mechanism, "to_dict"):
        return
    data = json.loads(json.dumps(mechanism.to_dict(), allow_nan=False))
    assert type(mechanism).from_dict(data) == mechanism
    with pytest.raises(HedgerowError, match="unknown fields"):
        type(mechanism).from_dict({**data, "extra": 1})
    infinite = entry.build(math.inf)
    assert type(mechanism).from_dict(json.loads(json.dumps(infinite.to_dict(), allow_nan=False))) == infinite


@entries
@pytest.mark.parametrize("epsilon", [0.1, 2.0, math.inf])
def test_law_is_a_law(entry, epsilon):
    mechanism = entry.build(epsilon)
    for given in inputs_of(entry, mechanism):
        law = entry.audit.law(mechanism, given)
        assert len(law.outputs) == len(law.weights) == len(set(law.outputs))
        assert all(isinstance(w, int) and w >= 0 for w in law.weights) and law.total == sum(law.weights) > 0


@entries
def test_draws_have_the_law(entry, same_law, probabilities):
    """Chi-square with a false-alarm rate of 1e-7 for each of two inputs; no output outside the law."""
    mechanism = entry.build(1.3)
    for number, given in enumerate(entry.audit.sampled(mechanism)):
        drawn = mechanism.sample(given, 20_000, SeededRandomness(number))
        same_law(entry.audit.outcomes(mechanism, drawn), probabilities(entry.audit.law(mechanism, given)))


@entries
def test_draws_are_seeded_or_fresh(entry):
    mechanism = entry.build(1.0)
    given = entry.audit.sampled(mechanism)[0]
    one, two = (mechanism.sample(given, 300, SeededRandomness(3)) for _ in range(2))
    assert np.array_equal(one, two)
    assert not np.array_equal(mechanism.sample(given, 300), mechanism.sample(given, 300))  # 2**-100 at most
    assert len(mechanism.sample(given, 0, SeededRandomness(0))) == 0


@entries
def test_values_are_left_alone(entry):
    mechanism = entry.build(1.0)
    if isinstance(mechanism, LocalMechanism):
        values = np.zeros(50, dtype=np.int64)
        assert mechanism.randomize(values, SeededRandomness(0)) is not values and not values.any()


@entries
def test_inputs_outside_are_refused(entry):
    mechanism = entry.build(1.0)
    local = isinstance(mechanism, LocalMechanism)
    outside = (-1, mechanism.n_inputs, 0.5, "0", True) if local else entry.audit.outside
    assert outside, "name some inputs that it refuses"
    for given in outside:
        with pytest.raises(HedgerowError):
            mechanism.sample(given, 3, SeededRandomness(0))


@entries
def test_infinite_epsilon_tells_the_truth(entry, probabilities):
    mechanism = entry.build(math.inf)
    assert mechanism.guarantee.epsilon == math.inf
    for chance in entry.audit.chances:
        assert chance.of(entry.audit.law(mechanism, chance.given)) in (0, 1)
    for given in entry.audit.sampled(mechanism):
        law = probabilities(entry.audit.law(mechanism, given))
        drawn = entry.audit.outcomes(mechanism, mechanism.sample(given, 200, SeededRandomness(1)))
        assert all(law[output] > 0 for output in drawn)


@entries
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, math.inf])
def test_words_name_the_true_probabilities(entry, epsilon):
    mechanism = entry.build(epsilon)
    words = mechanism.words()
    true = {percent(chance.of(entry.audit.law(mechanism, chance.given))) for chance in entry.audit.chances}
    assert set(re.findall(r"[0-9.e+-]+ %", words)) == true
    assert words.isascii() and words.isprintable() and not words.endswith(".")


@entries
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_claim_holds_exactly_is_tight_and_less_noise_is_refuted(entry, epsilon):
    if entry.audit.loss is not None:  # rare outputs of a tiny epsilon have weights of millions of digits
        epsilon = max(epsilon, 0.01)
    result = entry.exact(epsilon)
    assert result.verdict == "holds", result
    # With a delta the noise is calibrated by a search in floats, and the loss solved for in floats.
    assert result.measured == pytest.approx(epsilon, rel=1e-4 if result.delta else 1e-9), (
        "noise is wasted, or the audit misses the worst output"
    )
    for factor in (1.1, 1.001):
        weak = entry.exact(epsilon, entry.build(factor * epsilon))
        assert weak.verdict == "VIOLATED", weak


@entries
def test_loss_of_the_sampled_pair_is_the_stated_one(entry):
    """Where the pair of the sampled tier loses less than epsilon, its closed form is that of the law."""
    if entry.audit.loss is None:
        return
    for epsilon in EPSILONS:
        mechanism = entry.build(epsilon)
        near = Auditable(Audit(entry.name, entry.audit.build, inputs=entry.audit.sampled)).exact(epsilon, mechanism)
        assert near.measured == pytest.approx(entry.audit.loss(epsilon), rel=1e-9) and near.measured < epsilon


@entries
def test_samples_hold_and_too_little_noise_is_caught(entry):
    """A false alarm once in 1e6, by the audit's alpha; 10 % too little noise."""
    right = entry.sampled(3.0, n=200_000, randomness=1)
    wrong = entry.sampled(3.0, entry.build(1.1 * 3.0), n=200_000, randomness=1)
    assert right.verdict == "holds", right
    assert wrong.verdict == "VIOLATED", wrong


class Careless:
    """A mechanism whose law is right and whose sampler uses too little noise every other time."""

    def __init__(self, entry, epsilon):
        self.good, self.bad = entry.build(epsilon), entry.build(8 * epsilon)
        self.pairs = [entry.audit.sampled(mechanism) for mechanism in (self.good, self.bad)]
        self.delta = self.good.delta

    def sample(self, place, n, randomness):
        out = self.good.sample(self.pairs[0][place], n, randomness)
        chosen = randomness.integers(2, n) == 0
        out[chosen] = self.bad.sample(self.pairs[1][place], n, randomness)[chosen]
        return out


@entries
def test_wrong_sampler_is_caught_although_the_law_is_right(entry):
    careless = Careless(entry, 1.0)
    same = Auditable(Audit("careless", lambda _: careless, pair=lambda m: (0, 1), loss=entry.audit.loss))
    assert entry.exact(1.0, careless.good).holds
    assert not same.sampled(1.0, n=50_000, randomness=2).holds
