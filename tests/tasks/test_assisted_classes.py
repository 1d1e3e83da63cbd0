"""Classes of a public model as one task: what is drawn first, what totals are, what the model says."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import FormatError, HedgerowError, Model, privatize, privatize_many
from hedgerow.local.assisted import design_assisted_classes
from hedgerow.tasks.assisted import AssistedClassModel, AssistedClassTask
from hedgerow.tasks.examples import find_example

NAMES = np.array(["a", "b", "c"])


def make(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, NAMES[np.digitize(np.sin(7 * X[:, 0]), [-0.3, 0.5])]


@pytest.fixture(scope="module")
def task():
    return design_assisted_classes(*make(300, 0), epsilon=4.0, n_holders=9000, public_model=Ridge(), target="use")


@pytest.fixture(scope="module")
def model(task):
    return task.simulate(*make(9000, 1), 1).model()


def test_totals_are_those_of_each_class(task):
    reports = privatize_many(task, *make(600, 1), randomness=1)
    parts = task.encoding.split(task.totals().add(reports).sums)
    for c, (part, own) in enumerate(zip(parts, task.tasks, strict=True)):
        rows = reports.payloads[reports.payloads[:, 0] == c, 1 : 1 + own.encoding.width]
        np.testing.assert_array_equal(part, own.encoding.sums(rows))


def test_one_length_whatever_the_class_and_the_record(task):
    lengths = {
        len(privatize(task, {"x0": x, "use": name}).to_bytes()) for x in (0.1, None) for name in ("a", "z", None)
    }
    assert lengths == {18 + task.encoding.width}


def test_impossible_reports_are_refused(task):
    good = privatize_many(task, *make(50, 1), randomness=1).payloads
    for place, value, words in ((0, 3, "class"), (1, 200, "tree")):
        bad = good.copy()
        bad[0, place] = value
        with pytest.raises(FormatError, match=words):
            task.encoding.validate(bad)
    mixed = find_example("assisted, three classes").build(2.0)
    narrow = min(range(3), key=lambda c: mixed.encoding.messages[c].width)
    if mixed.encoding.messages[narrow].width + 1 < mixed.encoding.width:
        rows = privatize_many(mixed, np.full((99, 1), 0.2), ["a"] * 99, randomness=1).payloads
        rows[rows[:, 0] == narrow, -1] = 1
        with pytest.raises(FormatError, match="more than its class asks"):
            mixed.encoding.validate(rows)


def test_the_detector_sees_a_class_that_is_drawn_too_often(task):
    detector = task.alarms()
    honest = privatize_many(task, *make(3000, 1)).payloads
    assert detector.alarms(detector.count(honest), 3000) == []
    forged = honest[honest[:, 0] == 1][:600]
    found = detector.alarms(detector.count(np.concatenate([honest, forged])), 3000 + len(forged))
    assert found and found[0].event.startswith("class 1")


def test_what_a_forged_report_can_do_is_that_of_each_class(task, model):
    forgery = task.influence()
    own = [part.influence().leaf_shift(m) for part, m in zip(task.tasks, model.parts, strict=True)]
    stated = [row["forged_mean_shift"] for row in forgery.rows(model)]
    assert stated == np.concatenate([moved for part in own for moved in part]).tolist()
    assert forgery.label_sum == max(part.influence().label_sum for part in task.tasks) > task.tasks[0].radius
    assert f"{max(stated):.3g}" in forgery.now(model) and "one class" in str(forgery)


def test_probabilities_are_a_distribution_and_the_most_likely_class_is_predicted(model):
    X, y = make(2000, 2)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.predict(X) == NAMES[proba.argmax(axis=1)]).all() and np.mean(model.predict(X) == y) > 0.8
    with pytest.raises(HedgerowError, match="no intervals"):
        model.predict_interval(X)


def test_words_numbers_trees_and_picture_agree(model, tmp_path):
    explained, rows = model.explain(), model.table()
    assert explained.to_dict()["classes"] == ["a", "b", "c"] and json.dumps(explained.to_dict())
    assert all(f"Class {name!r}" in str(explained) for name in "abc") and str(model.guarantee) in str(explained)
    assert {row["class"] for row in rows} == set("abc")
    places = []

    def walk(node):
        places.extend([node.row] if node.row is not None else [])
        for child in node.children:
            walk(child)

    for tree in model.trees():
        walk(tree)
    assert sorted(places) == list(range(len(rows)))
    explained.plot(tmp_path / "classes.svg")
    assert "<svg" in (tmp_path / "classes.svg").read_text()


def test_shift_is_found_and_not_invented_where_reports_tell():
    """By Bonferroni a false alarm has a chance below 5e-4 a fit; with levels, reports do not tell."""
    task = find_example("assisted, three classes").build(2.0)
    X = np.random.default_rng(0).random((20_000, 1))
    same = np.concatenate([X[X[:, 0] < 0.3], X[X[:, 0] >= 0.5]])  # shares of 1/2 in both trees: as in public records
    same = np.concatenate([same[same[:, 0] < 0.3][:3000], same[same[:, 0] >= 0.5][:3000]])
    for rows, shifted in ((same, False), (X[X[:, 0] < 0.3], True)):
        model = task.simulate(rows, ["a"] * len(rows), 1).model()
        assert [part.shift() is None for part in model.parts] == [False, True, True]
        assert model.shift().shifted == shifted and not model.shift().compares_means
        assert ("where holders fall" in str(model.explain())) == shifted


def test_json_is_strict(task, model):
    assert AssistedClassTask.from_json(task.to_json()) == task and Model.from_json(model.to_json()) == model
    data = json.loads(task.to_json())
    twice = {"classes": ["a", "b", "b"]}
    for change in ({"classes": ["a", "b"]}, twice, {"missing": "z"}, {"observed": 1}, {"more": 1},
                   {"parts": data["parts"][1:]}, {"epsilon": 9.0}):  # fmt: skip
        with pytest.raises(FormatError):
            AssistedClassTask.from_dict(data | change)
    content = json.loads(model.to_json())
    for change in ({"n_reports": 8999}, {"sums": content["sums"][1:]}, {"simulation": 1}, {"task": None}):
        with pytest.raises(FormatError):
            AssistedClassModel.from_dict(content | change)


def test_parts_that_differ_are_no_task(task):
    other = replace(task.tasks[0], epsilon=1.0)
    with pytest.raises(HedgerowError, match="one epsilon"):
        AssistedClassTask.of(task.classes, [*task.tasks[:2], other])
