"""The task: immutable, one id for one content, and nothing in its JSON can be changed unseen."""

import copy
import dataclasses
import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.partition import RULES, Partition
from hedgerow.space import FeatureSpace
from hedgerow.tasks import LocalTask
from hedgerow.tasks.tree.cells import KaryEncoding
from hedgerow.tasks.tree.task import PublicLeaves
from hedgerow.tasks.tree.tuning import PAPER

RESPONSES = ("bits", "unary", "k_ary", "subset")


def public(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(n), "b": rng.normal(size=n), "c": rng.choice(list("uvw"), n)})
    return X, 3 * X["a"].to_numpy() + (X["c"] == "v").to_numpy()


def design(response="bits", rule="max_edge", **options):
    defaults = {"epsilon": 1.5, "label_bounds": (0, 4), "max_depth": 3, "random_state": 1, "title": "how much?"}
    return LocalTask.design(
        *public(),
        response=response,
        rule=rule,
        **{"max_depth": 4, "min_samples_leaf": 20, "cell_share": 0.5, **defaults, **options},
    )


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("rule", RULES)
def test_json_round_trip(response, rule):
    task = design(response, rule)
    again = LocalTask.from_json(task.to_json())
    assert again == task and again.id == task.id and hash(again) == hash(task)
    assert again.to_json() == task.to_json()
    assert again.encoding == task.encoding and again.guarantee == task.guarantee
    assert LocalTask.from_json(task.to_json().encode()) == task
    X = public()[0]
    assert (again.partition.apply_raw(X) == task.partition.apply_raw(X)).all()


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("epsilon", [0.01, 1, math.inf])
def test_json_round_trip_without_public_data(response, epsilon):
    task = LocalTask.design(
        epsilon=epsilon, label_bounds=(-1, 1), features=["a", "b"], feature_bounds=[[0, -1], [1, 1]],
        max_depth=2, response=response, cell_share=0.5
    )  # fmt: skip
    assert task.public is None
    assert LocalTask.from_json(task.to_json()) == task


def test_pickle_and_copy():
    task = design()
    assert pickle.loads(pickle.dumps(task)) == task
    assert copy.deepcopy(task).id == task.id


def test_the_id_is_a_digest_of_the_content_and_nothing_else():
    assert design().id == design().id
    assert len(design().digest) == 32 and design().digest.hex() == design().id
    variants = [
        design(), design(epsilon=1.6), design(label_bounds=(0, 5)), design(cell_share=0.4), design("unary"),
        design("k_ary"), design("subset"), design(max_depth=1), design(title="what?"), design(target="z"),
        design(n_steps=7), design(rule="cart"),
    ]  # fmt: skip
    assert len({task.id for task in variants}) == len(variants)


def test_integer_bounds_and_numpy_numbers_have_the_same_id_as_floats():
    def task(low, high, share):
        space = FeatureSpace((NumericFeature("a", low, high), CategoricalFeature("c", ["u", "v"])))
        return LocalTask(1, LabelGrid(low, high, 4), Partition(space, [-1], [0], [0], [-1], []), "bits", share)

    ids = {task(0, 9, 0.5).id, task(0.0, 9.0, np.float32(0.5)).id, task(np.int64(0), np.float32(9), 0.5).id}
    ids.add(task(-0.0, 9, 0.5).id)
    assert len(ids) == 1
    assert LocalTask.from_json(task(0, 9, 0.5).to_json()) == task(0, 9, 0.5)


def test_a_task_is_frozen():
    task = design()
    with pytest.raises(dataclasses.FrozenInstanceError):
        task.epsilon = 3.0
    with pytest.raises(ValueError, match="read-only"):
        task.partition.threshold[0] = 0.0


def leaves_of(value, path=()):
    """Yield the path of every JSON leaf."""
    if isinstance(value, dict):
        for key in value:
            yield from leaves_of(value[key], (*path, key))
    elif isinstance(value, list) and value:
        for i in range(len(value)):
            yield from leaves_of(value[i], (*path, i))
    else:
        yield path


def replaced(data, path, value):
    data = copy.deepcopy(data)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


def at(data, path):
    for key in path:
        data = data[key]
    return data


def same(a, b):
    """Equal as the same JSON number, text, ...; 1 and 1.0 are one number (JavaScript writes both as 1)."""
    numbers = (int, float)
    if type(a) in numbers and type(b) in numbers:
        return a == b
    return type(a) is type(b) and a == b


TASKS = {r: json.loads(design(r).to_json()) for r in RESPONSES}
PLACES = [(r, path) for r in RESPONSES for path in leaves_of(TASKS[r])]
json_values = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.integers(), st.floats(), st.text(max_size=4), st.just([]),
    st.just({}), st.lists(st.integers(0, 2), max_size=3), st.sampled_from(["inf", *RESPONSES]),
)  # fmt: skip


@given(st.sampled_from(PLACES), json_values)
@settings(max_examples=400, deadline=None)
def test_tampering_with_any_single_leaf_is_refused(place, new):
    task, path = TASKS[place[0]], place[1]
    if same(at(task, path), new):
        return
    with pytest.raises(FormatError):
        LocalTask.from_dict(replaced(task, path, new))


@pytest.mark.parametrize("response", RESPONSES)
def test_every_leaf_nudged_or_spelt_as_another_type_is_refused(response):
    task = TASKS[response]
    for path in leaves_of(task):
        old = at(task, path)
        news = [str(old), None, [old], {"": old}]
        if type(old) in (int, float):
            news += [old + 1, -old - 1, math.nextafter(old, math.inf), bool(old), math.nan, math.inf, 10**400]
        if isinstance(old, str):
            news += [old + " ", old[:-1], old.upper() + "'"]
        for new in news:
            if not same(old, new):
                with pytest.raises(FormatError):
                    LocalTask.from_dict(replaced(task, path, new))


def objects_of(value, path=()):
    if isinstance(value, dict):
        yield path
        for key in value:
            yield from objects_of(value[key], (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from objects_of(item, (*path, i))


def test_missing_and_unknown_fields_are_refused_everywhere():
    task = TASKS["bits"]
    for path in objects_of(task):
        inner = at(task, path)
        changed = [{**inner, "more": 1}] + [{k: v for k, v in inner.items() if k != gone} for gone in inner]
        for new in changed:
            with pytest.raises(FormatError):
                LocalTask.from_dict(replaced(task, path, new) if path else new)


@pytest.mark.parametrize("path", [p for p in leaves_of(TASKS["bits"]) if isinstance(p[-1], int)])
def test_lists_that_lose_or_repeat_an_entry_are_refused(path):
    *outer, i = path
    items = at(TASKS["bits"], outer)
    for new in (items[:i] + items[i + 1 :], [*items, items[i]]):
        with pytest.raises(FormatError):
            LocalTask.from_dict(replaced(TASKS["bits"], outer, new))


def test_the_messages_help():
    task = TASKS["bits"]
    with pytest.raises(FormatError, match="changed after it was published"):
        LocalTask.from_dict({**task, "epsilon": 1.6})
    with pytest.raises(FormatError, match="version 3 is not supported, only 2"):
        LocalTask.from_dict({**task, "version": 3})
    with pytest.raises(FormatError, match="not a local task"):
        LocalTask.from_dict({**task, "format": "hedgerow/local-model"})
    with pytest.raises(FormatError, match=r"unknown fields \['colour'\]"):
        LocalTask.from_dict({**task, "colour": "red"})


@pytest.mark.parametrize("text", ["", "{", "[]", "5", "null", '"x"', b"\xff\xfe", "[" * 100_000, "{}", "1" * 5000])
def test_text_that_is_no_task(text):
    with pytest.raises(FormatError):
        LocalTask.from_json(text)


@given(st.binary(max_size=60) | st.text(max_size=60))
@settings(max_examples=200, deadline=None)
def test_arbitrary_text_raises_format_error_only(text):
    with pytest.raises(FormatError):
        LocalTask.from_json(text)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_flipped_bytes_of_the_json_raise_format_error_or_change_nothing(data):
    text = bytearray(json.dumps(TASKS["bits"]).encode())
    i = data.draw(st.integers(0, len(text) - 1))
    text[i] ^= data.draw(st.integers(1, 255))
    try:
        task = LocalTask.from_json(bytes(text))
    except FormatError:
        return
    assert task.id == TASKS["bits"]["id"]  # spaces between tokens are not content


# Design


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, -math.inf, "1", None, True, [1.0]])
def test_bad_epsilon(epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter must be"):
        design(epsilon=epsilon)


@pytest.mark.parametrize("response", RESPONSES)
def test_an_epsilon_too_small_to_say_anything_is_refused_at_design(response):
    with pytest.raises(HedgerowError, match="'epsilon' parameter is too small"):
        design(response, epsilon=1e-22)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, math.nan])
def test_bad_cell_share(share):
    with pytest.raises(HedgerowError, match="'cell_share' parameter must be"):
        design(cell_share=share)


def test_bad_names():
    with pytest.raises(
        HedgerowError, match=r"'response' parameter must be .*'bits', 'unary', 'k_ary', 'subset'.*Got 'x'"
    ):
        design("x")
    with pytest.raises(HedgerowError, match="'rule' parameter must be"):
        design(rule="x")


def test_public_records_and_labels_go_together():
    X, y = public()
    arguments = {"epsilon": 1, "label_bounds": (0, 4)}
    with pytest.raises(HedgerowError, match="'y_public' is required"):
        LocalTask.design(X, **{**PAPER, **arguments})
    with pytest.raises(HedgerowError, match="'X_public' is required"):
        LocalTask.design(None, y, feature_bounds=(0, 1), features=1, **{**PAPER, **arguments})
    with pytest.raises(BoundsError, match=r"'y_public' must have one label a record: 300\. Got 299"):
        LocalTask.design(X, y[1:], **{**PAPER, **arguments})
    with pytest.raises(BoundsError, match="'y_public' contains NaN"):
        LocalTask.design(X, np.where(y > 1, np.nan, y), **{**PAPER, **arguments})
    with pytest.raises(HedgerowError, match="0 sample"):
        LocalTask.design(np.empty((0, 2)), [], feature_bounds=(0, 1), **{**PAPER, **arguments})


def test_bounds_are_required_and_checked():
    with pytest.raises(BoundsError, match="'label_bounds' is required"):
        design(label_bounds=None)
    with pytest.raises(BoundsError, match="low < high"):
        design(label_bounds=(4, 0))
    with pytest.raises(BoundsError, match="'feature_bounds' is required without public data"):
        LocalTask.design(epsilon=1, label_bounds=(0, 1), features=2, **PAPER)


def test_categories_without_public_data():
    task = LocalTask.design(
        epsilon=1, label_bounds=(0, 1), features=["a", "c"], feature_bounds=(0, 1), categories={"c": ["u", "v"]},
        max_depth=2, response="bits", cell_share=0.5
    )  # fmt: skip
    assert task.space.is_categorical.tolist() == [False, True]
    assert LocalTask.from_json(task.to_json()) == task
    with pytest.raises(HedgerowError, match=r"'categories' is required without public data for the columns \['a'\]"):
        LocalTask.design(
            epsilon=1, label_bounds=(0, 1), features=["a"], feature_bounds=(0, 1), categorical_features=[0], **PAPER
        )


def test_the_public_summary_is_of_clipped_public_labels():
    X, y = public()
    task = LocalTask.design(
        X,
        y * 100,
        epsilon=1,
        label_bounds=(0, 300),
        max_depth=2,
        rule="max_edge",
        min_samples_leaf=20,
        response="bits",
        cell_share=0.5,
    )
    leaf = task.partition.apply_raw(X)
    clipped = np.clip(y * 100, 0, 300)
    assert task.public.count == tuple(np.bincount(leaf, minlength=task.n_leaves))
    for j in range(task.n_leaves):
        assert task.public.mean[j] == pytest.approx(clipped[leaf == j].mean())
        assert task.public.sd[j] == pytest.approx(clipped[leaf == j].std(ddof=1))


def test_an_empty_leaf_gets_the_overall_public_mean():
    summary = PublicLeaves.summarise(np.array([0, 0, 2]), np.array([1.0, 3.0, 5.0]), 3)
    assert summary.count == (2, 0, 1)
    assert summary.mean == (2.0, 3.0, 5.0)
    assert summary.sd[0] == pytest.approx(math.sqrt(2)) and summary.sd[1] == summary.sd[2] == pytest.approx(
        np.std([1, 3, 5])
    )


def test_a_summary_of_another_partition_is_refused():
    task = design()
    for summary in (PublicLeaves((1,), (1.0,), (1.0,)), dataclasses.replace(task.public, mean=(1.0,))):
        with pytest.raises(FormatError, match="public summary"):
            dataclasses.replace(task, public=summary)


def test_the_guarantee_of_a_task():
    guarantee = design().guarantee
    assert (guarantee.epsilon, guarantee.delta, guarantee.simulation) == (1.5, 0.0, False)
    assert (guarantee.protects, guarantee.trust, guarantee.neighbours) == ("record", "local", "replace")


def test_too_many_cells_are_refused():
    with pytest.raises(HedgerowError, match="too many cells"):
        KaryEncoding(1.0, 2100, 1 << 20)
