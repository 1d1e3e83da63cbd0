"""The browser's device, in Node: one second round a first, as the first was agreed to; budgets with a total."""

import dataclasses
import hashlib
import json

import pytest

from hedgerow.errors import HedgerowError
from hedgerow.features import NumericFeature
from hedgerow.guarantee import Guarantee
from hedgerow.holder.budget import Cost
from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.announcement import canonical, read_task, task_text
from hedgerow.tasks.partly_public import CellReports, CellTask, FirstReports, SemiTask

SPACE = FeatureSpace((NumericFeature("age", 0, 99), NumericFeature("pay", 0, 9)))
RECORD = {"age": 41, "pay": 3, "y": 4}


def tasks(epsilon=0.1, response="k_ary"):
    first = SemiTask.design(SPACE, epsilon=epsilon, label_bounds=(0, 10), private_columns=["pay"], target="y")
    return first, CellTask(first, grow("max_edge", SPACE, None, None, max_depth=3), response)


def forged(second, other):
    """Return a second round that names the first round of ``second`` and carries another one."""
    content = json.loads(task_text(second))
    return canonical({**content, "first": {**other.to_dict(), "id": second.first.id}})


def test_a_second_round_with_another_first_round_under_the_same_id_is_refused(node):
    first, second = tasks()
    loud, _ = tasks(200.0)
    bad = forged(second, loud)
    with pytest.raises(HedgerowError, match="does not match its id"):
        read_task(bad)
    steps = [{"task": task_text(first), "record": RECORD, "pay": True}, {"task": bad, "record": RECORD}]
    begun, refused = node("holder_device.mjs", steps)
    assert "body" in begun and "a first round that is not the one within it" in refused.get("error", "")


def test_an_honest_second_round_uses_what_was_kept_and_the_lock_of_the_first(node):
    first, second = tasks()
    steps = [
        {"task": task_text(first), "record": RECORD, "pay": True},
        {"task": task_text(second), "record": {**RECORD, "age": 77}},  # what was sent in clear stays as it was sent
    ]
    one, two = node("holder_device.mjs", steps)
    sent = FirstReports.from_bytes(first, bytes.fromhex(one["body"]))
    answered = CellReports.from_bytes(second, bytes.fromhex(two["body"]))
    answered.check_labels(sent)
    assert sent.Z[0, 0] == 41 and answered.simulation is False
    reach = [cell for cell in range(second.n_cells) if answered.candidates[0, cell // 8] >> cell % 8 & 1]
    own = [int(second.partition.apply(SPACE.encode([[41, pay]]))[0]) for pay in (0, 2, 4, 6, 8)]
    assert set(own) <= set(reach) and len(reach) < second.n_cells
    assert one["locked"] == two["locked"] == [f"hedgerow:{first.id}"]


@pytest.mark.parametrize(
    "change", [{"epsilon": 200.0}, {"label_share": 0.25}, {"grid": {"low": 0, "high": 10, "n_steps": 1}}]
)
def test_a_first_round_that_differs_from_what_was_kept_is_refused(node, change):
    first, second = tasks()
    steps = [
        {"task": task_text(first), "record": RECORD, "pay": True},
        {"task": task_text(second), "record": RECORD, "edit": [f"hedgerow:secrets:{first.id}", change]},
    ]
    assert "not the one that this device answered" in node("holder_device.mjs", steps)[1].get("error", "")


def test_a_first_round_takes_one_second_round_and_its_own_curator(node):
    first, second = tasks()
    other = dataclasses.replace(second, response="bits")
    steps = [
        {"task": task_text(second), "record": RECORD},
        {"task": task_text(first), "record": RECORD},
        {"task": task_text(second), "record": RECORD},  # not paid for
        {"task": task_text(first), "record": RECORD, "pay": True},
        {"task": task_text(second), "record": RECORD, "key": "another"},
        {"task": task_text(second), "record": RECORD},
        {"task": task_text(other), "record": RECORD},
        {"task": task_text(second), "record": {**RECORD, "pay": 9}},  # the same bytes again
    ]
    results = node("holder_device.mjs", steps)
    assert [result.get("error", "") for result in results] == [
        "This is a second round, and this browser did not answer the first.",
        "",
        "The first round was not sent to this curator from here.",
        "",
        "The first round was not sent to this curator from here.",
        "",
        "The second round was answered already under another task.",
        "",
    ]
    assert results[1]["body"] == results[3]["body"] and results[5]["body"] == results[7]["body"]


def test_nothing_is_drawn_for_a_task_that_is_said_to_be_closed(node):
    first, _ = tasks()
    steps = [{"task": task_text(first), "record": RECORD, "closed": closed} for closed in (True, False)]
    refused, drawn = node("holder_device.mjs", steps)
    assert "closed this task" in refused["error"] and refused["locked"] == []
    assert drawn["body"]


def test_costs_are_those_of_python(node):
    given = [(k / 7 * 10.0**p, 0.0) for k in range(1, 40, 3) for p in (-7, -3, 0, 2)]
    given += [(1.0, k / 3 * 10.0**-p) for k in (1, 2, 5) for p in (1, 6, 9, 16, 30)]
    given += [(0.1, 0.0), (0.3, 0.0), (1e-7, 0.0), (5e-324, 0.0), (1.0000001, 1e-15)]
    (found,) = node("holder_device.mjs", [{"cost": given}])
    for (epsilon, delta), cost in zip(given, found, strict=True):
        exact = Cost.of(Guarantee(epsilon, delta, protects="record", trust="local", neighbours="replace"))
        assert cost == {"epsilon": exact.epsilon, "delta": exact.delta}


def spends(*pairs, **more):
    return {"budget": [{"id": f"{task}", "key": key, "epsilon": e, **more} for task, key, e in pairs]}


def test_there_is_a_total_over_all_keys(node):
    four = [(k, f"key {k}", 4.0) for k in range(4)]
    results = node(
        "holder_device.mjs",
        [
            spends(*four),
            spends((9, "key 9", 0.000001)),
            spends((0, "key 9", 4.0)),  # the same report to another curator tells nothing more in all
            spends((8, "key 0", 0.1)),
            {"forget": True, **spends((1, "a", 3.0), (2, "a", 1.0), (3, "b", 1.5))},
            spends((4, "a", 1e-9)),
            {"forget": True, **spends((1, "a", 1.0), delta=9e-7)},
            spends((2, "b", 1.0), delta=2e-7),
            {"forget": True, **spends((1, "a", 1e300))},
        ],
    )
    assert results[0] == results[2] == {"total": {"epsilon": 16_000_000, "delta": 0}}
    assert results[4] == {"total": {"epsilon": 5_500_000, "delta": 0}}
    errors = {i: result.get("error", "") for i, result in enumerate(results)}
    assert "all curators together would have epsilon 16.000001, more than epsilon 16" in errors[1]
    assert "this curator would have epsilon 4.1, more than epsilon 4" in errors[3]
    assert "this curator would have epsilon 4.000001" in errors[5]
    assert "delta 0.0000011" in errors[7] and "epsilon Infinity" in errors[8]


def test_the_digest_of_the_first_round_is_that_of_its_text():
    """What both languages recompute: SHA-256 of the canonical content without its id."""
    first, second = tasks()
    content = json.loads(task_text(second))["first"]
    text = canonical({name: value for name, value in content.items() if name != "id"})
    assert hashlib.sha256(text.encode()).hexdigest() == content["id"] == first.id
