"""What one forged report can do is found by trying every report on small tasks."""

import itertools

import numpy as np
import pytest

from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.estimates import LeafEstimates


def every_payload(task):
    """All messages of a small task that pass validation (for bits: both extreme labels)."""
    encoding = task.encoding
    if encoding.response == "k_ary":
        return [np.array([c], dtype="<u4").view(np.uint8) for c in range(encoding.n_cells)]
    if encoding.response == "bits":
        ends = np.array([0, encoding.n_steps + 2 * encoding.label.reach], dtype=f"<u{encoding._label_bytes}")
        heads = [ends[i : i + 1].view(np.uint8) for i in (0, 1)]
        bits = [np.array([b], dtype=np.uint8) for b in range(1 << encoding.n_leaves)]
        return [np.concatenate([h, b]) for h, b in itertools.product(heads, bits)]
    size = encoding.mechanism.size if encoding.response == "subset" else None
    patterns = [p for p in range(1 << encoding.n_cells) if size is None or p.bit_count() == size]
    return [np.array([p], dtype=np.uint8) for p in patterns]


@pytest.mark.parametrize("response", ["bits", "unary", "k_ary", "subset"])
@pytest.mark.parametrize("depth", [1, 2])
def test_no_report_moves_a_leaf_further_and_one_does(local_task, response, depth):
    task = local_task(max_depth=depth, response=response, n_steps=1 if response != "bits" else 4)
    X = np.random.default_rng(0).random((300, 2))
    total = Aggregate(task).add(privatize_many(task, X, X[:, 0], randomness=depth))

    def look(aggregate):
        moments = task.encoding.moments(aggregate.sums, aggregate.n_reports)
        return moments, LeafEstimates(task.grid, moments, aggregate.n_reports).mean

    before, mean = look(total)
    counts, means = [], []
    for message in every_payload(task):
        one = Aggregate(task).add(Reports.checked(task, np.zeros((1, 12), np.uint8), message[None], False))
        after, moved = look(total + one)
        counts.append(np.abs(after.denominator - before.denominator).max())
        means.append(np.abs(moved - mean))
    forgery = task.influence()
    assert forgery.count == pytest.approx(max(counts), rel=1e-9)
    assert forgery.mean_shift(before) == pytest.approx(np.max(means, axis=0), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("response", ["bits", "unary", "k_ary", "subset"])
@pytest.mark.parametrize("n", [300, 4000])
def test_no_three_reports_move_a_leaf_further(local_task, response, n):
    """Every multiset of three messages: the bound holds, and is met where no denominator can vanish."""
    task = local_task(max_depth=1, response=response, n_steps=1 if response != "bits" else 4)
    X = np.random.default_rng(0).random((n, 2))
    moments = task.encoding.moments(Aggregate(task).add(privatize_many(task, X, X[:, 0], randomness=1)).sums, n)
    empty = task.encoding.moments(np.zeros(task.encoding.n_sums, dtype=np.int64), 0)
    added = []
    for message in every_payload(task):
        m = task.encoding.moments(task.encoding.sums(message[None]), 1)
        added.append((m.numerator - empty.numerator, m.denominator - empty.denominator))
    forgery = task.influence()
    before = forgery._mean(moments.numerator, moments.denominator)
    worst = np.zeros(task.n_leaves)
    for chosen in itertools.combinations_with_replacement(added, 3):
        N = moments.numerator + sum(c[0] for c in chosen)
        D = moments.denominator + sum(c[1] for c in chosen)
        worst = np.maximum(worst, np.abs(forgery._mean(N, D) - before) * task.grid.step)
    assert (moments.denominator > 3 * forgery.count).all()
    assert forgery.mean_shift(moments, 3) == pytest.approx(worst, rel=1e-9)


def test_where_a_denominator_may_vanish_the_mean_may_be_anything(local_task):
    task = local_task(max_depth=1, response="unary", n_steps=1)
    grid = task.grid
    moments = task.encoding.moments(np.array([30, 40, 60, 20]), 100)
    shift = task.influence().mean_shift(moments, 1000)
    mean = task.influence()._mean(moments.numerator, moments.denominator) * grid.step
    assert shift == pytest.approx(np.maximum(mean, 1 - mean))


def test_one_per_cent_of_forgers_is_said_by_leaf_and_in_words(make_task):
    task = make_task("unary", 16, steps=1, bounds=(0.0, 1.0))
    X = np.random.default_rng(0).random((10_000, 1))
    model = task.model(Aggregate(task).add(privatize_many(task, X, X[:, 0], randomness=1)))
    forgery = task.influence()
    rows = forgery.rows(model)
    percent = [row["forged_percent_shift"] for row in rows]
    assert percent == forgery.mean_shift(model.leaves.moments, 100).tolist()
    assert all(row["forged_percent_shift"] > 20 * row["forged_mean_shift"] for row in rows)
    assert "100 forged ones (1 % more)" in forgery.now(model) and f"{max(percent):.3g}" in forgery.now(model)


@pytest.mark.parametrize("response", ["k_ary", "bits"])
def test_second_rounds(response):
    first = SemiTask.design(["a", "b"], epsilon=3.0, label_bounds=(0, 1), feature_bounds=(0, 1), private_columns=["a"])
    X = np.random.default_rng(0).random((200, 2))
    reports = first.privatize(X, X[:, 1], randomness=1)
    secrets = reports.kept
    task = CellTask.design(reports, n_private=1, n_bins=2, max_depth=1, response=response, randomness=1)
    answers = task.privatize(X, kept=secrets, randomness=2)
    total, forgery = task.totals().add(answers), task.influence()
    n, mean = task.n_cells, LeafEstimates(first.grid, task.moments(total), 200).mean
    reach, worst, count = first.label.coarse.reach, np.zeros(task.n_cells), 0.0
    for may, level in itertools.product(range(1, 1 << n), (-reach, first.grid.n_steps + reach)):
        options = (
            [b for b in range(1 << n) if b & ~may == 0] if response == "bits" else [c for c in range(n) if may >> c & 1]
        )
        if response == "bits" and may.bit_count() == 1:
            options = [may]
        for option in options:
            candidates = np.array([[may >> j & 1 for j in range(n)]], dtype=bool)
            chosen = (
                np.array([[option >> j & 1 for j in range(n)]], dtype=bool)
                if response == "bits"
                else np.array([option])
            )
            row = task.encoding.write(np.array([level]), candidates, chosen)
            after = task.moments((task.totals() + total).add(task.batch(np.zeros((1, 12), np.uint8), row)))
            worst = np.maximum(worst, np.abs(LeafEstimates(first.grid, after, 201).mean - mean))
            count = max(count, np.abs(after.denominator - task.moments(total).denominator).max())
    assert forgery.count == pytest.approx(count, rel=1e-9)
    assert forgery.mean_shift(task.moments(total)) == pytest.approx(worst, rel=1e-6, abs=1e-9)


def test_a_label_moves_no_leaf():
    from hedgerow.grid import LabelGrid
    from hedgerow.mechanisms.level import LaplaceNoise

    assert LabelTask(LabelGrid(0.0, 1.0, 4), LaplaceNoise(1.0, 4)).influence() is None
