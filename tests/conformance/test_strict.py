"""A task is read, or refused by an error of its own; and what some could not answer, nobody is asked."""

import copy
import json
import math
import random
from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.holder.make import make_body
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.space import FeatureSpace
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.registry import task_class
from tests.conformance.kinds import KINDS, Pick

ODD = (
    None, True, -1, 0, 1, 2**31, 2**64, 10**400, 0.5, -0.0, 1e-320, 1e308, -1e308, math.inf, math.nan, "", "1", "inf",
    "x", [], [1], {}, [[]], {"a": 1}, "\ud800",
)  # fmt: skip


def places(data, path=()):
    """Yield the way to every value of a JSON text."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data[:3]) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*path, key))


def changed(data, path, value):
    data = copy.deepcopy(data)
    if not path:
        return value
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_changed_task_is_refused_by_its_own_errors_alone(kind):
    task = kind.tasks(8)[0]
    data, chosen = json.loads(task.to_json()), random.Random(kind.name)
    refused, ways = 0, [(path, value) for path in places(data) for value in ODD]
    for path, value in chosen.sample(ways, min(len(ways), 120)):
        text = json.dumps(changed(data, path, value))
        try:
            assert type(task).from_json(text) == task  # spelled in another way: 1 for 1.0
        except (FormatError, BoundsError):
            refused += 1
    assert refused > 60
    for text in (b"\xff", "[" * 100_000, "", "null", "NaN", '{"format": ' + "9" * 5000 + "}"):
        with pytest.raises(FormatError):
            type(task).from_json(text)


def test_a_grid_of_no_width_is_refused_in_every_task():
    """Its scale is infinite: 0 times infinity was no number, and holders with a label at the lower end were silent."""
    for kind in KINDS:
        task = kind.tasks(8)[0]
        data = json.loads(task.to_json())
        first = data.get("first", data)
        if "grid" in first:
            first["grid"] |= {"low": 0.0, "high": 1e-300, "missing": 0.0, "n_steps": 1 << 20}
        else:
            first |= {"label_bounds": [0.0, 1e-300], "missing": 0.0}
        with pytest.raises((FormatError, BoundsError), match="label_bounds"):
            task_class(data["format"]).from_dict(data)
    with pytest.raises(BoundsError):
        LabelGrid(0.0, 1e-300, 1 << 20)


def two_rounds(share, depth, masks="personal", private=()):
    pick = Pick("two rounds")
    space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    first = SemiTask(1.0, LabelGrid(0.0, 1.0, 4), space, share, masks, private)
    tree = pick.partition(FeatureSpace(space.features[:1]), depth)
    return CellTask(first, type(tree)(space, tree.feature, tree.threshold, tree.left, tree.subset_offset, tree.subsets))


@pytest.mark.parametrize(("share", "depth"), [(1.0, 3), (1 - 2**-53, 10)])
def test_a_second_round_that_some_could_not_answer_is_refused(share, depth):
    """Holders whose cell is certain would answer, others not: each would tell on its record by being silent."""
    for masks, private in (("personal", ()), ("hidden", ()), ("policy", ("a",))):
        with pytest.raises(HedgerowError, match="budget"):
            two_rounds(share, depth, masks, private)
    assert two_rounds(share, depth, "policy", ("b",)).n_cells == 1 << depth  # no feature that is cut is private


def test_noise_that_does_not_fit_a_report_is_refused():
    grid = LabelGrid(0.0, 1.0, 4)
    for radius in (1 << 31, 1 << 62, 1 << 64):
        with pytest.raises(HedgerowError, match="fit a report"):
            LabelTask(grid, IntervalResponse(1.0, 4, 0, 4, radius))
    with pytest.raises(HedgerowError, match="fit a report"):
        LabelTask(grid, BinsResponse(1.0, 4, (0, 2), (0.0, 1e300)))
    with pytest.raises(HedgerowError, match="too small"):
        SemiTask(1e-9, grid, FeatureSpace.from_bounds((0, 1), ["a"]))


def test_a_radius_and_edges_are_within_what_is_finite():
    for name, change in (("assisted, subset", {"radius": 1e-300}), ("pilot", {"edges": (0.0, 1e300)})):
        task = next(k for k in KINDS if k.name == name).tasks(8)[0]
        with pytest.raises(HedgerowError, match=next(iter(change))):
            replace(task, **change)
    assert np.isfinite(len(make_body(next(k for k in KINDS if k.name == "pilot").tasks(8)[0], {})[0]))
