"""Every mechanism, both tiers: right ones hold, the same with 10% too little noise are caught."""

import importlib
import pkgutil

import numpy as np
import pytest

import hedgerow.mechanisms
from hedgerow.audit import AuditResult, audit_all, auditables, find, format_table, register
from hedgerow.audit.registry import Auditable
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import KaryResponse, Mechanism, bits, laplace

entries = pytest.mark.parametrize("entry", auditables(), ids=lambda e: e.name)


def concrete_mechanisms():
    for module in pkgutil.iter_modules(hedgerow.mechanisms.__path__):
        importlib.import_module(f"hedgerow.mechanisms.{module.name}")
    todo, found = [Mechanism], set()
    while todo:
        kind = todo.pop()
        todo += kind.__subclasses__()
        # Experiments are no part of the library; their tests audit what they randomise with.
        own = kind.__module__.startswith("hedgerow.")
        if own and kind.law is not Mechanism.law:
            found.add(kind)
    return found


def test_registry_covers_every_mechanism():
    registered = {type(entry.build(1.0)) for entry in auditables()}
    missing = concrete_mechanisms() - registered
    assert not missing, f"add a line to hedgerow/audit/registry.py for {sorted(k.__name__ for k in missing)}"


@entries
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0, 10.0])
def test_law_holds_and_is_tight(entry, epsilon):
    result = entry.exact(epsilon)
    assert result.verdict == "holds", result
    # With a delta the noise is calibrated by a search in floats, and the loss solved for in floats.
    assert result.measured == pytest.approx(epsilon, rel=1e-4 if result.delta else 1e-9), (
        "noise is wasted, or the audit misses the worst output"
    )


@entries
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("factor", [1.1, 1.001])
def test_too_little_noise_is_refuted_by_the_law(entry, epsilon, factor):
    result = entry.exact(epsilon, entry.build(factor * epsilon))
    assert result.verdict == "VIOLATED", result


@entries
def test_samples_hold_and_too_little_noise_is_caught(entry):
    # False alarm 1e-6 each, and seeded.
    right = entry.sampled(3.0, n=200_000, randomness=1)
    wrong = entry.sampled(3.0, entry.build(1.1 * 3.0), n=200_000, randomness=1)
    assert right.verdict == "holds", right
    assert wrong.verdict == "VIOLATED", wrong


class Careless:
    """A mechanism whose law is right and whose sampler uses too little noise every other time."""

    def __init__(self, build, epsilon):
        self.good, self.bad = build(epsilon), build(8 * epsilon)
        self.n_inputs, self.name, self.law = self.good.n_inputs, self.good.name, self.good.law
        self.delta = getattr(self.good, "delta", 0.0)

    def randomize(self, values, source):
        out = self.good.randomize(values, source)
        chosen = source.integers(2, len(values)) == 0
        out[chosen] = self.bad.randomize(values, source)[chosen]
        return out


@entries
def test_wrong_sampler_is_caught_although_the_law_is_right(entry):
    careless = Careless(entry.build, 1.0)
    law = entry.law or (lambda m, v: m.law(v))
    assert Auditable("careless", lambda _: careless, lambda m, v: law(m.good, v)).exact(1.0).holds
    assert not entry.sampled(1.0, careless, n=50_000, randomness=2).holds


def test_forgotten_flips_are_caught(monkeypatch):
    monkeypatch.setattr(bits, "bernoulli", lambda numerator, n, source: np.zeros(n, dtype=bool))
    entry = find("bit-vector response")
    assert entry.exact(1.0).holds and not entry.sampled(1.0, n=10_000, randomness=2).holds


def test_forgotten_sign_is_caught(monkeypatch):
    draw = laplace.discrete_laplace
    monkeypatch.setattr(laplace, "discrete_laplace", lambda *arguments: np.abs(draw(*arguments)))
    entry = find("discrete Laplace")
    assert entry.exact(1.0).holds and not entry.sampled(1.0, n=10_000, randomness=2).holds


def test_noise_that_is_drawn_once_and_used_twice_is_caught():
    def build(epsilon):
        mechanism = KaryResponse(epsilon, 4)

        class Twice:
            n_inputs, name, law = 4, "twice", mechanism.law

            def randomize(self, values, source):
                return np.column_stack([mechanism.randomize(values, source) for _ in range(2)])

        return Twice()

    entry = Auditable("twice", build)
    assert entry.exact(1.0).holds
    assert not entry.sampled(1.0, randomness=0).holds


def test_audit_all_yields_both_tiers():
    chosen = (find("k-ary response"),)
    results = list(audit_all((0.5, 1.0), chosen, n=2000, randomness=0))
    assert [(r.claim, r.tier, r.mechanism) for r in results] == [
        (e, tier, "k-ary response") for e in (0.5, 1.0) for tier in ("exact", "sampled")
    ]
    assert [r.tier for r in audit_all((1.0,), chosen, n=0)] == ["exact"]


def test_names_are_found_however_they_are_written():
    assert find("Discrete-Laplace") is find("discrete laplace") is find("discrete_laplace")
    with pytest.raises(HedgerowError, match="unknown mechanism 'gauss'; known are 'bit-vector response'"):
        find("gauss")


def test_names_are_registered_once():
    with pytest.raises(HedgerowError, match="registered already"):
        register("k-ary response", lambda epsilon: None)


def test_table():
    results = [
        AuditResult("a long name", 1.0, float("inf"), "exact", "VIOLATED", 0.123),
        AuditResult("b", 1e-3, 0, "sampled", "holds", 9),
    ]
    lines = format_table(results).splitlines()
    assert len(lines) == 3 and len({len(line) for line in lines}) == 1
    assert lines[0].split() == ["mechanism", "claim", "measured", ">=", "tier", "verdict", "seconds"]
    assert lines[1].split() == ["a", "long", "name", "1", "inf", "exact", "VIOLATED", "0.12"]
    assert format_table([]).split()[0] == "mechanism"
