"""Bits, noise and sealed reports of a sums task."""

import itertools
import json
import math

import numpy as np
import pytest

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.mechanisms.bit_sums import flips_delta
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.examples import RECORDS
from hedgerow.tasks.registry import read_task
from hedgerow.tasks.sums import NoisySums, SumsTask
from hedgerow.tasks.sums.examples import example_task
from tests.aggregate.parties import run, servers


def test_a_task_is_its_json():
    for task in (example_task(), example_task(2.0, servers(), 7)):
        again = read_task(task.to_json())
        assert again == task and again.servers == task.servers and again.steps[0].bound == task.steps[0].bound
    assert example_task(1.0, servers()).id != example_task(1.0).id


@pytest.mark.parametrize(
    "changes",
    [
        {"delta": 0.0},
        {"delta": 1.0},
        {"radius": 0.0},
        {"min_batch_size": 0},
        {"sizes": []},
        {"group": 2},
        {"levels": [1.0]},
        {"epsilon": -1.0},
    ],
)
def test_a_task_that_cannot_be_is_refused(changes):
    with pytest.raises(FormatError):
        SumsTask.from_dict({**json.loads(example_task().to_json()), **changes})


# Privacy: what one holder can move, and what noise that needs.


def all_vectors(task):
    """Return every vector that some record gives, as rows of bits."""
    found = set()
    for x, y in itertools.product(np.linspace(0, 1, 9), np.linspace(0, 1, 9)):
        for seed in range(8):
            found.add(tuple(task.set_bits_of({"x": x, "y": y}, randomness=seed).tolist()))
    rows = np.zeros((len(found), task.length), dtype=int)
    for row, bits in zip(rows, sorted(found), strict=True):
        row[list(bits)] = 1
    return rows


def test_replacing_a_record_moves_the_sums_by_the_root_of_twice_the_trees_at_most():
    task = example_task()
    vectors = all_vectors(task)
    assert (vectors.sum(axis=1) == task.weight).all()
    moved = max(float(np.linalg.norm(a - b)) for a, b in itertools.combinations(vectors, 2))
    assert moved == math.sqrt(2 * task.weight) == 2.0


def test_the_noise_of_one_server_alone_is_enough_and_hardly_more():
    for task in (example_task(1.0), example_task(4.0)):
        flips = 2 * task.weight
        assert flips_delta(task.variance, flips, task.epsilon) <= task.delta
        assert flips_delta(task.variance * 99 / 100, flips, task.epsilon) > task.delta


def test_released_sums_have_the_noise_of_both_servers():
    """The sum of 64 squares of 2 discrete Gaussians, over its mean; 1,000 draws, false alarm below 1e-6."""
    task = example_task(1.0)
    X, y = np.full((5, 1), 0.2), np.zeros(5)
    exact = 5 * np.bincount(task.set_bits(X[:1], y[:1], SeededRandomness(0))[0], minlength=task.length)
    drawn = np.array([task.simulate(X, y, seed).sums for seed in range(1000)]) - exact
    assert (exact >= 0).all() and abs(float(drawn.mean())) < 5 * math.sqrt(2 * task.variance / drawn.size)
    ratio = float(np.mean(drawn**2)) / (2 * float(task.variance))
    assert abs(ratio - 1) < 5 * math.sqrt(2 / drawn.size)  # 5 deviations of a mean of squares
    correlation = np.corrcoef(drawn.T) - np.eye(task.length)
    assert np.abs(correlation).max() < 6 / math.sqrt(len(drawn))


def test_nothing_is_released_of_a_batch_below_the_least():
    task = example_task(1.0, min_batch_size=3)
    with pytest.raises(HedgerowError, match="below this task's least, 3"):
        task.simulate(np.zeros((2, 1)), np.zeros(2), 1)
    assert task.simulate(np.zeros((3, 1)), np.zeros(3), 1).n_reports == 3


def test_the_guarantee_states_its_conditions():
    claim = example_task().guarantee
    assert (claim.trust, claim.neighbours, claim.protects) == ("aggregate", "replace", "record")
    assert claim.epsilon == 1.0 and claim.delta == 1e-6
    assert "together with one of two servers" in str(claim) and "both servers are in league" in str(claim)


# Reports.


def test_reports_of_a_task_are_verified_and_added_up_by_its_servers():
    task = example_task(1.0, servers())
    reports = [task.privatize_record(record, randomness=seed) for seed, record in enumerate(RECORDS)]
    assert {len(report.payload) for report in reports} == {task.encoding.width} == {task.protocol.width}
    ours, theirs = run(task.protocol, [(report.id, report.payload) for report in reports])
    totals = [ours.batch.total, theirs.batch.total]
    added = np.reshape(task.protocol.prio3.unshard(totals), (-1, 2)).sum(axis=1)
    expected = np.zeros(task.length // 2, dtype=int)
    for record in RECORDS:
        expected[task.set_bits_of(record, randomness=0) // 2] += 1
    assert added.tolist() == expected.tolist()  # but for signs, which are rounded at random


def test_a_task_without_servers_cannot_be_answered():
    with pytest.raises(HedgerowError, match="names no servers"):
        example_task().privatize_record(RECORDS[0])


def test_every_record_sets_one_bit_a_tree():
    task = example_task()
    for record in (*RECORDS, {}, {"x": None, "y": None}, {"x": [1], "y": {}}, {"x": 1e400, "y": "nan"}):
        bits = task.set_bits_of(record, record.get("y"), 3)
        assert (bits // 4).tolist() == [0, 1]


def test_a_residual_is_rounded_without_bias():
    """20,000 draws of a residual of .3 radii are up with chance .65: 5 deviations, false alarm below 1e-6."""
    task = example_task()
    columns = task.columns(np.array([[0.2]]))[0]
    y = columns[-2] + columns[-1] + 0.3 * task.radius
    bits = task.set_bits(np.full((20_000, 1), 0.2), np.full(20_000, y), SeededRandomness(5))
    assert abs(float(np.mean(bits[:, 0] % 2)) - 0.65) < 5 * math.sqrt(0.65 * 0.35 / 20_000)
    assert (bits % 2 == bits[:, :1] % 2).all()  # one sign a holder, in all trees


def test_sums_of_another_task_are_refused():
    task = example_task()
    found = task.simulate(np.zeros((4, 1)), np.zeros(4), 1)
    assert NoisySums.from_json(found.to_json()) == found
    with pytest.raises(FormatError, match="another task"):
        example_task(2.0).model(found)
