"""Aggregates: exact integers, whatever the order."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks import Aggregate, LocalTask, Model, Reports, privatize_many
from hedgerow.tasks.tree.encoding import unpack
from hedgerow.tasks.tree.simulate import simulate_aggregate

RESPONSES = ("bits", "unary", "k_ary", "subset")


def grid_task(response="bits", depth=3, **options):
    arguments = {"epsilon": 2.0, "label_bounds": (0, 10), "features": 2, "feature_bounds": (0, 1)}
    return LocalTask.design(
        max_depth=depth,
        response=response,
        **{"rule": "max_edge", "min_samples_leaf": 20, "cell_share": 0.5, **arguments, **options},
    )


TASKS = {r: grid_task(r) for r in RESPONSES}


def batch(task, n=60, seed=1):
    rng = np.random.default_rng(seed)
    return privatize_many(task, rng.random((n, 2)), rng.random(n) * 10, randomness=seed)


BATCHES = {r: batch(TASKS[r]) for r in RESPONSES}


@given(st.sampled_from(RESPONSES), st.permutations(range(60)), st.lists(st.integers(0, 60), max_size=4))
@settings(max_examples=60, deadline=None)
def test_order_and_grouping_never_matter(response, order, cuts):
    task, reports = TASKS[response], BATCHES[response]
    parts = np.split(np.array(order), sorted(cuts))
    totals = [Aggregate(task).add([reports[int(i)] for i in part]) for part in parts]
    left = totals[0]
    for t in totals[1:]:
        left = left + t
    right = totals[-1]
    for t in totals[-2::-1]:
        right = t + right
    whole = Aggregate(task).add(reports).to_bytes()
    assert left.to_bytes() == right.to_bytes() == whole


def test_merging_is_commutative_and_associative_and_changes_no_part():
    task = TASKS["bits"]
    a, b, c = (Aggregate(task).add(batch(task, 10, seed)) for seed in (1, 2, 3))
    before = [x.to_bytes() for x in (a, b, c)]
    assert (a + b) + c == a + (b + c) == c + a + b
    assert a + Aggregate(task) == a
    assert [x.to_bytes() for x in (a, b, c)] == before
    assert (a + b).n_reports == 20
    assert a != b and a != "a"


def reference_sums(task, reports):
    """Add up reports one at a time in Python integers."""
    encoding = task.encoding
    if task.response == "bits":
        size, reach = encoding.width - (task.n_leaves + 7) // 8, encoding.label.reach
        t1 = t2 = 0
        S = [[0] * task.n_leaves for _ in range(3)]
        for payload in reports.iter_payloads():
            v = int.from_bytes(payload[:size], "little") - reach
            t1, t2 = t1 + v, t2 + v * v
            for j in range(task.n_leaves):
                if payload[size + j // 8] >> (j % 8) & 1:
                    for k in range(3):
                        S[k][j] += v**k
        return [t1, t2, *S[0], *S[1], *S[2]]
    totals = [0] * encoding.n_cells
    for payload in reports.iter_payloads():
        if task.response == "k_ary":
            totals[int.from_bytes(payload, "little")] += 1
        else:
            for cell in range(encoding.n_cells):
                totals[cell] += payload[cell // 8] >> (cell % 8) & 1
    return totals


@pytest.mark.parametrize("response", RESPONSES)
def test_sums_equal_a_slow_reference(response):
    assert Aggregate(TASKS[response]).add(BATCHES[response]).sums.tolist() == reference_sums(
        TASKS[response], BATCHES[response]
    )


@pytest.mark.parametrize("steps", [1, 1 << 14, 1 << 20])
@pytest.mark.parametrize("epsilon", [0.3, 1e-6])
def test_sums_are_exact_however_wide_the_noise(steps, epsilon):
    """Squares of noisy levels pass 2**53 here, where floats are no longer exact."""
    try:
        task = grid_task(depth=2, n_steps=steps, epsilon=epsilon)
    except HedgerowError:
        assert 40 * steps / (epsilon / 2) >= 1 << 30
        return
    reports = batch(task, 40)
    # The widest labels that the wire allows, too.
    width = task.encoding.width - 1
    rows = reports.payloads.copy()
    top = task.grid.n_steps + 2 * task.encoding.label.reach
    rows[::2, :width] = np.frombuffer(top.to_bytes(width, "little"), dtype=np.uint8)
    reports = Reports.checked(task, reports.tokens, rows, True)
    assert Aggregate(task).add(reports).sums.tolist() == reference_sums(task, reports)


def test_some_grid_is_too_fine_for_floats():
    assert grid_task(depth=2, n_steps=1 << 20, epsilon=0.3).encoding.largest > 1 << 53


def test_many_reports_are_added_in_blocks():
    task = grid_task(depth=2)
    reports = batch(task, 9000)
    v = task.encoding._labels(reports.payloads)
    bits = unpack(reports.payloads[:, 2:], task.n_leaves).astype(np.int64)
    S = [(bits * v[:, None] ** k).sum(axis=0) for k in range(3)]
    assert Aggregate(task).add(reports).sums.tolist() == np.concatenate([[v.sum(), (v * v).sum()], *S]).tolist()


def test_too_many_reports_for_the_totals_are_refused():
    task = grid_task(depth=1, n_steps=1 << 18, epsilon=0.1)
    one = Aggregate(task).add(batch(task, 1))
    most = (1 << 62) // task.encoding.largest
    one.include(most - 2, {0: np.zeros_like(one.sums)}, True)
    with pytest.raises(HedgerowError, match="could overflow"):
        one + one


@pytest.mark.parametrize("response", RESPONSES)
def test_bytes_round_trip(response):
    task = TASKS[response]
    for total in (Aggregate(task), Aggregate(task).add(BATCHES[response])):
        again = Aggregate.from_bytes(task, total.to_bytes())
        assert again == total and again.to_bytes() == total.to_bytes()
        assert (again.n_reports, again.simulation) == (total.n_reports, total.simulation)
        assert again.model() == total.model()


def test_the_simulation_mark_survives_every_way():
    task = TASKS["bits"]
    seeded, secure = Aggregate(task).add(batch(task)), Aggregate(task).add(privatize_many(task, [[0.1, 0.2]], [1.0]))
    assert seeded.simulation and not secure.simulation
    for total, mark in ((seeded, True), (secure, False), (secure + seeded, True), (secure + secure, False)):
        again = Aggregate.from_bytes(task, total.to_bytes())
        assert again.simulation is mark
        model = again.model()
        assert model.simulation is mark and model.guarantee.simulation is mark
        assert Model.from_json(model.to_json()).guarantee.simulation is mark
        assert Aggregate(task).add(Reports.collect(task, [])).simulation is False
    assert simulate_aggregate(task, [[0.1, 0.2]], [1.0], randomness=1).simulation
    assert not simulate_aggregate(task, [[0.1, 0.2]], [1.0]).simulation


def test_foreign_and_damaged_bytes():
    task = TASKS["bits"]
    data = Aggregate(task).add(BATCHES["bits"]).to_bytes()
    for cut in range(len(data)):
        with pytest.raises(FormatError):
            Aggregate.from_bytes(task, data[:cut])
    with pytest.raises(FormatError, match="bytes"):
        Aggregate.from_bytes(task, data + b"\0")
    for other in (*(TASKS[r] for r in RESPONSES[1:]), grid_task(title="other")):
        with pytest.raises(FormatError, match="another task"):
            Aggregate.from_bytes(other, data)
        with pytest.raises(FormatError, match="different tasks"):
            Aggregate(task) + Aggregate(other)
    with pytest.raises(FormatError, match="version 2 is not supported"):
        Aggregate.from_bytes(task, data[:4] + b"\x02\x00" + data[6:])
    with pytest.raises(FormatError, match="not an aggregate"):
        Aggregate.from_bytes(task, BATCHES["bits"].to_bytes())


def test_flipped_header_bits_are_refused_but_for_the_mark_and_a_possible_count():
    task = TASKS["bits"]
    data = Aggregate(task).add(BATCHES["bits"]).to_bytes()
    for bit in range(8 * 48):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        try:
            total = Aggregate.from_bytes(task, bytes(flipped))
        except FormatError:
            continue
        # Nothing in totals shows their number exactly, but it must be able to give them.
        assert bit == 8 * 6 or bit >= 8 * 40
        assert total.n_reports * task.encoding.largest >= np.abs(total.sums).max()


@pytest.mark.parametrize("response", RESPONSES)
def test_impossible_totals_are_refused(response):
    task = TASKS[response]
    data = Aggregate(task).add(BATCHES[response]).to_bytes()
    beyond = 60 * task.encoding.largest + 1
    for value in (beyond, -beyond, (1 << 63) - 1, -(1 << 63)):
        with pytest.raises(FormatError, match="cannot come from 60 reports"):
            Aggregate.from_bytes(task, data[:-8] + struct.pack("<q", value))
    with pytest.raises(FormatError, match="cannot come from"):
        Aggregate.from_bytes(task, data[:40] + b"\xff" * 8 + data[48:])


def test_only_reports_can_be_added():
    for wrong in ([b"bytes"], [None]):
        with pytest.raises(HedgerowError, match="Report"):
            Aggregate(TASKS["bits"]).add(wrong)
