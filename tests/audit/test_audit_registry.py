"""The registry: names, both tiers, faults that only samples show. Every mechanism: tests/conformance."""

import numpy as np
import pytest

from hedgerow.audit import AuditResult, audit_all, auditables, find, format_table, register
from hedgerow.audit.mechanism import Auditable
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import Audit, KaryResponse, bits, laplace


def test_forgotten_flips_are_caught(monkeypatch):
    monkeypatch.setattr(bits, "bernoulli", lambda numerator, n, source: np.zeros(n, dtype=bool))
    entry = find("bit-vector response")
    assert entry.exact(1.0).holds and not entry.sampled(1.0, n=10_000, randomness=2).holds


def test_forgotten_sign_is_caught(monkeypatch):
    draw = laplace.discrete_laplace
    monkeypatch.setattr(laplace, "discrete_laplace", lambda *arguments: np.abs(draw(*arguments)))
    entry = find("discrete Laplace")
    assert entry.exact(1.0).holds and not entry.sampled(1.0, n=10_000, randomness=2).holds


class Twice(KaryResponse):
    """The law is that of one answer; two are sent."""

    def sample(self, given, n, randomness):
        return np.column_stack([super(Twice, self).sample(given, n, randomness) for _ in range(2)])


def test_an_answer_that_is_given_twice_is_caught():
    entry = Auditable(Audit("twice", lambda epsilon: Twice(epsilon, 4)))
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
    with pytest.raises(HedgerowError, match="unknown mechanism 'gauss'; known are 'bins response'"):
        find("gauss")


def test_names_are_registered_once(monkeypatch):
    monkeypatch.setattr("hedgerow.audit.registry._ADDED", {})
    with pytest.raises(HedgerowError, match="registered already"):
        register(Audit("k-ary response", lambda epsilon: None))
    mine = Audit("mine", lambda epsilon: KaryResponse(epsilon, 3))
    register(mine)
    assert find("mine").audit is mine and auditables()[-1].name == "mine"
    assert len({entry.name for entry in auditables()}) == len(auditables())


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
