"""A forger at the door of the service: what he can send, what is seen of it, and what it could do."""

import numpy as np
import pytest

from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask


def make(response):
    return LocalTask.design(
        epsilon=2.0, label_bounds=(0, 1), features=2, feature_bounds=(0, 1), max_depth=4, response=response
    )


def honest(task, n):
    X = np.random.default_rng(0).random((n, 2))
    return privatize_many(task, X, X[:, 0], randomness=1)


def copies_of(task, reports, n, place):
    """Return one honest message under n new ids."""
    tokens = np.random.default_rng(2).integers(0, 256, (n, 12), dtype=np.uint8)
    return Reports(task, tokens, np.repeat(reports.payloads[[place]], n, axis=0), reports.simulation)


@pytest.mark.parametrize("response", ["unary", "subset", "bits"])
def test_one_per_cent_of_copies_is_seen_by_the_curator(inside, response):
    service, task = inside(), make(response)
    service.publish(task, simulation=True)
    reports = honest(task, 9_900)
    assert service.send(task, reports).json()["accepted"] == 9_900
    service.service.aggregator.turn()
    before = service.status(task)
    assert before["manipulation"]["alarms"] == []  # a false alarm at a look has a chance of 1e-6 at most
    assert before["manipulation"]["watched"] > 100
    service.send(task, copies_of(task, reports, 100, 0))
    service.service.aggregator.turn()
    after = service.status(task)
    assert after["manipulation"]["alarms"], "100 copies of one message were not seen"
    assert after["forgery"] is not None


def test_an_invitation_brings_one_report_however_often_it_is_copied(inside):
    service, task = inside(), make("unary")
    service.publish(task, tokens=True, simulation=True)
    token = service.post(task, "tokens").json()["tokens"][0]
    mine = {"Authorization": f"Bearer {token}"}
    reports = honest(task, 3)
    one = Reports(task, reports.tokens[:1], reports.payloads[:1], True)
    assert service.send(task, one, **mine).json()["accepted"] == 1
    assert service.send(task, one, **mine).json()["duplicates"] == 1
    assert service.send(task, copies_of(task, reports, 1, 0), **mine).json()["code"] == "token-spent"
    assert service.send(task, copies_of(task, reports, 100, 0)).json()["code"] == "token-required"
    guessed = {"Authorization": "Bearer hu_guessed"}
    assert service.send(task, copies_of(task, reports, 1, 0), **guessed).json()["code"] == "token-unknown"
    assert service.status(task)["accepted"] == 1


def test_a_flood_ends_at_the_most_reports(inside):
    service, task = inside(), make("unary")
    service.publish(task, max_reports=1_000, simulation=True)
    reports = honest(task, 900)
    assert service.send(task, reports).json()["accepted"] == 900
    flood = service.send(task, copies_of(task, reports, 5_000, 0)).json()
    assert flood["accepted"] == 100 and len(flood["failures"]) == 4_900
    assert service.status(task)["accepted"] == 1_000
