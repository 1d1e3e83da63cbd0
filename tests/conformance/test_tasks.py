"""What every kind of task does, whoever wrote it: a kind is held to this by being registered."""

import copy
import itertools
import json
import pickle
from collections import Counter
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from hedgerow.audit.branching import branching
from hedgerow.audit.whole import branched_law
from hedgerow.collect import files, memory
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.examples import examples
from hedgerow.tasks.influence import Forgery
from hedgerow.tasks.message import CODES
from hedgerow.tasks.registry import TASKS, read_model, read_task, task_class, task_classes
from hedgerow.tasks.reports import HEADER_BYTES, TOKEN_BYTES, Report, Reports
from hedgerow.tasks.totals import Totals
from tests.conformance.collected import first_round, reports, table

EXAMPLES = examples()
every = pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
summed = pytest.mark.parametrize(
    "example", [e for e in EXAMPLES if not e.build(1.0).retains], ids=lambda example: example.name
)


def test_every_registered_kind_has_examples_in_its_folder():
    for form, (module, _) in TASKS.items():
        if task_class(form).sealed:
            continue
        folder = module.rpartition(".")[0]
        found = {e.build(1.0).to_dict()["format"] for e in import_module(f"{folder}.examples").EXAMPLES}
        assert form in found


def test_kinds_and_codes_are_told_apart():
    kinds = [cls.kind for cls in task_classes()]
    assert len(set(kinds)) == len(kinds)
    assert len(set(CODES.values())) == len(CODES)
    used = {}
    for example in EXAMPLES:
        task = example.build(1.0)
        used.setdefault(task.encoding.code, set()).add(type(task.encoding))
    assert all(len(messages) == 1 for messages in used.values()), "one code stands for two messages"
    assert set(used) <= set(CODES.values())


# The task as content.


@every
def test_a_task_is_its_json(example):
    task = example.build(1.0)
    text = task.to_json()
    again = read_task(text)
    assert again == task and again.id == task.id and again.to_json() == text
    assert type(task).from_json(text) == task
    assert pickle.loads(pickle.dumps(task)) == task
    assert example.build(1.5).id != task.id
    with pytest.raises(AttributeError):
        task.title = "another"


@every
def test_a_field_more_or_less_or_another_is_refused(example):
    content = json.loads(example.build(1.0).to_json())
    refused = [content | {"extra": 1}, content | {"version": 99}, content | {"format": "hedgerow/none"}, [content]]
    refused += [{k: v for k, v in content.items() if k != left_out} for left_out in content]
    refused += [content | {name: {"strange": True}} for name in content]
    refused += [content | {"id": "0" * 64}, content | {"target": "something else"}]
    for data in refused:
        with pytest.raises(FormatError):
            read_task(json.dumps(data))


@every
def test_a_part_of_a_part_is_read_as_strictly(example):
    """A field too many is refused wherever it stands; the id is that of the changed text, so it is not what is told."""
    task = example.build(1.0)
    content = json.loads(task.to_json())
    places = [path for path in objects(content) if path]
    for path in places:
        changed = copy.deepcopy(content)
        part = changed
        for step in path:
            part = part[step]
        part["extra"] = 1
        with pytest.raises(FormatError, match="extra"):
            type(task).from_dict(changed)


def objects(value, path=()):
    """Yield where objects stand in JSON."""
    if isinstance(value, dict):
        yield path
        for name, part in value.items():
            yield from objects(part, (*path, name))
    if isinstance(value, list):
        for place, part in enumerate(value):
            yield from objects(part, (*path, place))


@every
def test_a_task_says_what_it_asks_and_does(example):
    task = example.build(1.0)
    asked = task.question()
    assert len(set(asked.names)) == len(asked.names) > 0
    assert task.odds() and all(line == line.strip() and line for line in task.odds())
    assert task.guarantee.epsilon == 1.0 and task.guarantee.trust == "local"
    assert task.makes in ("model", "pilot", "task", "data")
    influence = task.influence()
    assert influence is None or isinstance(influence, Forgery)
    assert callable(task.alarms().count)
    assert task.kind in repr(task).lower() or type(task).__name__ in repr(task)


# Reports: one frame.


@every
def test_reports_travel_in_the_one_frame(example, tmp_path):
    task = example.build(1.0)
    batch = reports(example, task)
    data = batch.to_bytes()
    assert len(data) == HEADER_BYTES + len(batch) * (TOKEN_BYTES + task.encoding.width)
    again = Reports.from_bytes(task, data)
    assert again.to_bytes() == data and again.simulation
    one = batch[3].to_bytes()
    assert Report.from_bytes(task, one).to_bytes() == one
    batch.to_parquet(str(tmp_path / "r.parquet"))
    assert Reports.from_parquet(task, str(tmp_path / "r.parquet")).to_bytes() == data
    assert len({bytes(token) for token in batch.tokens}) == len(batch)


@every
def test_reports_of_another_task_or_shape_are_refused(example):
    task, other = example.build(1.0), example.build(1.25)
    data = reports(example, task, 3).to_bytes()
    wrong_code = bytearray(data)
    wrong_code[6] ^= 0x40
    for changed in (data[:-1], data + b"\0", data[:20], b"", b"XXXX" + data[4:], bytes(wrong_code)):
        with pytest.raises(FormatError):
            Reports.from_bytes(task, changed)
    with pytest.raises(FormatError):
        Reports.from_bytes(other, data)
    with pytest.raises(FormatError):
        other.totals().add(Reports.from_bytes(task, data))


@every
def test_a_mask_or_an_earlier_round_is_refused_where_there_is_none(example):
    task = example.build(1.0)
    X, y = table(task, 2)
    for door in (task.privatize, task.simulate):
        if not task.takes_mask and task.before is None:
            with pytest.raises(HedgerowError, match="'private' is for tasks of two rounds"):
                door(X, y, private=[True])
        if task.before is None:
            with pytest.raises(HedgerowError, match="no earlier round"):
                door(X, y, kept=object())
        else:
            with pytest.raises(HedgerowError, match="needs 'kept'"):
                door(X, y)


# Totals: any order, any door.


@every
def test_totals_are_the_same_in_any_order_and_by_any_engine(example, tmp_path):
    task = example.build(1.0)
    batch = reports(example, task, 40)
    whole = task.totals().add(batch)
    order = np.random.default_rng(1).permutation(len(batch))
    parts = [task.batch(batch.tokens[rows], batch.payloads[rows], True) for rows in np.array_split(order, 5)]
    one_by_one = sum((task.totals().add(part) for part in parts[1:]), task.totals().add(parts[0]))
    assert one_by_one == whole == task.totals().add(list(batch)) == memory.aggregate(task, parts)
    assert Totals.from_bytes(task, whole.to_bytes()) == whole
    (tmp_path / "a.bin").write_bytes(parts[0].to_bytes())
    Reports.concat(parts[1:]).to_parquet(str(tmp_path / "b.parquet"))
    paths = [str(tmp_path / "a.bin"), str(tmp_path / "b.parquet")]
    total, found = files.aggregate(task, paths, checkpoint=str(tmp_path / "saved"))
    assert total == whole and not found.n_copies


@every
def test_copies_count_once_and_conflicts_are_refused(example):
    task = example.build(1.0)
    batch = reports(example, task, 20)
    assert memory.aggregate(task, [batch, batch]) == task.totals().add(batch)
    with pytest.raises(HedgerowError, match="twice"):
        memory.aggregate(task, [batch, batch], copies="refuse")
    # Somebody else's message under the first one's id.
    others = np.flatnonzero((batch.payloads != batch.payloads[0]).any(axis=1))
    conflict = task.batch(batch.tokens[:1], batch.payloads[others[:1]], True)
    with pytest.raises(HedgerowError, match="differ from it"):
        memory.aggregate(task, [batch, conflict])


@every
def test_damaged_totals_are_refused(example):
    task = example.build(1.0)
    data = task.totals().add(reports(example, task, 5)).to_bytes()
    for changed in (data[:-1], data + b"\0", data[:9], b"HDGX" + data[4:], data[:4] + b"\x09\0" + data[6:]):
        with pytest.raises(FormatError):
            Totals.from_bytes(task, changed)
    with pytest.raises(FormatError):
        Totals.from_bytes(example.build(1.25), data)


# Simulation has the law of reports.


def law_of_totals(example, task, record):
    """Return the exact law of the totals of one report."""
    with branching():
        bodies, rest = branched_law(task, record, example.mask, goal=Fraction(1, 1 << 16))
    law = Counter({None: float(rest)})
    for body, chance in bodies.items():
        blocks = task.encoding.blocks(Reports.from_bytes(task, body).payloads)
        law[tuple(sorted((key, tuple(sums.tolist())) for key, sums in blocks.items()))] += float(chance)
    return law


def added(one, two):
    """Return the blocks of two reports together."""
    if one is None or two is None:
        return None
    blocks = {key: np.array(sums) for key, sums in one}
    for key, sums in two:
        blocks[key] = blocks.get(key, 0) + np.array(sums)
    return tuple(sorted((key, tuple(sums.tolist())) for key, sums in blocks.items()))


@summed
def test_simulated_totals_have_the_law_of_reports(example, same_law):
    """The totals of two holders, against the sum of the exact laws of their bytes (false alarm 1e-7)."""
    task = example.build(4.0)
    if task.before is not None:
        pytest.skip("what a second round sends depends on what the first one kept")
    pair = (example.records[0], example.records[-1])
    one, two = (law_of_totals(example, task, record) for record in pair)
    expected = Counter()
    for (a, p), (b, q) in itertools.product(one.items(), two.items()):
        if p * q > 1e-7:
            expected[added(a, b)] += p * q
    # What is rare is one outcome, so that it need not be listed.
    law = {totals: p for totals, p in expected.items() if p > 1e-3}
    law["rare"] = 1 - sum(law.values())
    X = np.array([[record[feature.name] for feature in task.question().features] for record in pair])
    y = [record[task.target] for record in pair]
    drawn = []
    for seed in range(500):
        blocks = task.simulate(X, y, randomness=seed).blocks
        totals = tuple(sorted((key, tuple(sums.tolist())) for key, sums in blocks.items()))
        drawn.append(totals if totals in law else "rare")
    same_law(drawn, law)


@every
def test_a_simulation_is_as_large_as_its_records_and_the_same_for_the_same_seed(example):
    task = example.build(1.0)
    X, y = table(task, 30)
    y = None if task.before else y
    one, two = (task.simulate(X, y, 5, **first_round(example, task, 30)) for _ in range(2))
    assert one == two and one.n_reports == 30 and one.simulation
    assert Totals.from_bytes(task, one.to_bytes()) == one
    three = task.simulate(X, y, 6, **first_round(example, task, 30))
    assert three.n_reports == 30
    # A second round in which every cell is certain sends what the first one drew, and draws nothing.
    assert three != one or task.before is not None


# What is made of them.


@every
def test_what_reports_make_is_made_alike_and_read_back(example):
    task = example.build(4.0)
    totals = task.totals().add(reports(example, task, 200))
    if task.makes == "data":
        media, data = task.data(totals)
        assert "csv" in media and data.count(b"\n") == 201
        return
    made = totals.model()
    if task.makes == "task":
        assert read_task(made.to_json()).before == task
        return
    again = Totals.from_bytes(task, totals.to_bytes()).model()
    assert made.to_json() == again.to_json()
    assert read_model(made.to_json()).to_json() == made.to_json()
    assert made.n_reports == 200 and made.guarantee.epsilon == 4.0 and made.guarantee.simulation
    if task.makes == "model":
        X, _ = table(task, 7)
        assert np.array_equal(made.predict(X), read_model(made.to_json()).predict(X))
    with pytest.raises(TypeError):
        totals.model(no_such_option=1)
