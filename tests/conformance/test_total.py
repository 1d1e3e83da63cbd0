"""From an accepted task and any record comes a report, always of one length: silence would tell on the record."""

import math
import os
import warnings

import numpy as np
import pytest

from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.holder.make import make_body
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.announcement import read_task, task_text
from hedgerow.tasks.holder import privatize
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.registry import TASKS as FORMATS
from hedgerow.tasks.registry import task_class
from tests.conformance.kinds import KINDS, Pick
from tests.conformance.records import VALUES, Broken, records

TASKS = int(os.environ.get("CONFORMANCE_TASKS", "5"))  # extreme tasks of each kind; more take long

kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def bodies(kind, task, record, source):
    """Return what a device sends in all rounds."""
    mask = [True, False] if kind.masked else None
    if task.before is None:
        return [make_body(task, record, source, mask=mask)[0]]
    first, kept = make_body(task.before, record, source, mask=mask)
    return [first, make_body(task, record, source, kept=kept)[0]]


@kinds
def test_every_record_is_reported_with_one_length(kind):
    tasks, cases = kind.tasks(TASKS), 0
    assert len(tasks) >= 3, "nearly all of these tasks were refused: they are too extreme to test anything"
    for number, task in enumerate(tasks):
        source = SeededRandomness(number)
        sent = [tuple(map(len, bodies(kind, task, record, source))) for record in records(task)]
        assert len(set(sent)) == 1, task
        cases += len(sent)
    assert cases >= 3 * len(VALUES)


@kinds
def test_what_is_accepted_here_is_accepted_as_json(kind):
    for task in kind.tasks(TASKS):
        assert read_task(task_text(task)) == task


def test_every_kind_of_task_is_listed():
    found = {kind.tasks(TASKS)[0].to_dict()["format"] for kind in KINDS}
    assert found == {form for form in FORMATS if not task_class(form).sealed}


@kinds
def test_odd_values_count_as_the_task_says(kind):
    """The same coins give the same bytes for a value and for what it counts as."""
    task = kind.tasks(TASKS)[0]
    first = getattr(task, "first", task)
    low, high = first.question().label.bounds
    record = {feature.name: None for feature in first.space.features} if hasattr(first, "space") else {"record": 7}
    for value, counts in ((math.inf, high), (-math.inf, low), ("1e400", high), (-(10**400), low), (10**400, high)):
        sent = [bodies(kind, task, record | {first.target: label}, SeededRandomness(1)) for label in (value, counts)]
        assert sent[0] == sent[1] or getattr(first, "classes", None)
    empty = bodies(kind, task, {"record": 7}, SeededRandomness(1))
    assert empty == bodies(kind, task, record | {first.target: None}, SeededRandomness(1))


@pytest.mark.parametrize("name", ["local", "assisted"])
def test_what_is_no_record_is_reported_too(name):
    kind = KINDS[0] if name == "local" else next(k for k in KINDS if k.name.startswith(name))
    task = kind.tasks(TASKS)[0]
    odd = ["text", b"x", None, 5, [], [1] * 99, np.ones((2, 2)), Broken(), object(), {1, 2}]
    assert len({len(privatize(task, record, 1.0).to_bytes()) for record in odd}) == 1
    for record in odd[:-3]:
        with pytest.raises(BoundsError, match="'label' is required"):  # a wrong call, whatever the record
            privatize(task, record)


def test_an_unforeseen_failure_is_the_report_of_the_fixed_record(monkeypatch):
    """Whatever fails for one record alone, in reading it or in working out what to report, must not be seen."""
    kind = next(k for k in KINDS if k.name == "assisted, levels")
    task = kind.tasks(TASKS)[0]
    fixed = privatize(task, {}, randomness=3)
    monkeypatch.setattr(type(task.space), "encode_record", failing(type(task.space).encode_record, lambda s, r: r))
    assert privatize(task, {"y": 1.0}, randomness=3).to_bytes() == fixed.to_bytes()
    monkeypatch.undo()
    place = type(task).place
    monkeypatch.setattr(type(task), "place", failing(place, lambda s, Z: not np.array_equal(Z[0], task.space.missing)))
    assert (
        privatize(task, dict.fromkeys(task.space.names, 1e300) | {"y": 1.0}, randomness=3).to_bytes()
        == fixed.to_bytes()
    )


def failing(method, when):
    def fails(self, *given):
        if when(self, *given):
            raise RuntimeError("nobody thought of this")
        return method(self, *given)

    return fails


def test_a_fault_for_everybody_is_still_an_error(monkeypatch):
    task = KINDS[0].tasks(TASKS)[0]
    monkeypatch.setattr(type(task.partition), "apply", failing(None, lambda s, Z: True))
    with pytest.raises(RuntimeError):
        privatize(task, {})


def test_no_warning_about_a_record_becomes_an_error():
    """Somebody who runs Python with -W error must not be silent where others are not."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in KINDS:
            task = kind.tasks(TASKS)[-1]
            for record in records(task):
                bodies(kind, task, record, SeededRandomness(0))


def test_a_mask_is_no_part_of_the_record():
    """It is fixed by policy, or chosen and sent in clear: a wrong one is an error, whatever the record."""
    kind = next(k for k in KINDS if k.name == "first round, own mask")
    task = kind.tasks(TASKS)[0]
    assert isinstance(task, SemiTask)
    for record in ({}, {"y": 1}, {"y": None, "n0": math.nan}):
        for mask in (None, [True], [0.5, 1]):
            with pytest.raises(HedgerowError, match="'private'"):
                make_body(task, record, mask=mask)


def test_pick_is_the_same_for_the_same_seed():
    assert [Pick(1).epsilon() for _ in range(3)] == [Pick(1).epsilon()] * 3
