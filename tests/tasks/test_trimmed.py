"""Trimmed totals: forged groups move them little, intervals stay honest, and what it costs is what it says."""

import math

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.tasks.examples import examples
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.tasks.trimmed import Groups, check_groups, cost, group_key, trimmed


def make(response="unary", epsilon=2.0, depth=2):
    return LocalTask.design(
        epsilon=epsilon, label_bounds=(0, 1), features=1, feature_bounds=(0, 1), max_depth=depth, response=response
    )


def records(n, seed):
    X = np.random.default_rng(seed).random((n, 1))
    return X, X[:, 0]


@pytest.mark.parametrize(("n_groups", "dropped"), [(5, 1), (5, 2), (20, 2), (25, 5), (9, 4), (8, 3)])
def test_the_cost_is_no_less_than_that_of_normal_rates(n_groups, dropped):
    # 200,000 draws: the variance of the trimmed mean is known within 1.6 % at five standard deviations.
    rates = np.sort(np.random.default_rng(0).normal(size=(200_000, n_groups)), axis=1)
    measured = rates[:, dropped : n_groups - dropped].mean(axis=1).var() * n_groups
    assert measured < 1.016 * cost(n_groups, dropped)
    assert measured > 0.8 * cost(n_groups, dropped)


def test_forged_groups_move_plain_totals_and_not_trimmed_ones():
    task = make()
    parts = [task.simulate(*records(2_000, seed), seed) for seed in range(20)]
    honest = sum(parts[1:], parts[0]).model().predict([[0.1]])[0]
    body = privatize_many(task, *records(2_000, 0), randomness=0)
    forged = task.totals().add(Reports(task, body.tokens, np.full_like(body.payloads, 255), simulation=True))
    parts[:2] = [forged, forged]
    plain = sum(parts[1:], parts[0]).model().predict([[0.1]])[0]
    cut = trimmed(parts, 0.1)
    assert abs(plain - honest) > 0.1
    assert abs(cut.totals.model().predict([[0.1]])[0] - honest) < 0.03
    assert (cut.n_reports, cut.dropped) == (40_000, 2)
    assert cut.totals.n_reports == math.floor(40_000 / cost(20, 2))


def test_one_more_forged_group_than_is_left_out_moves_them():
    task = make()
    parts = [task.simulate(*records(2_000, seed), seed) for seed in range(20)]
    body = privatize_many(task, *records(2_000, 0), randomness=0)
    forged = task.totals().add(Reports(task, body.tokens, np.full_like(body.payloads, 255), simulation=True))
    few = trimmed([forged] * 2 + parts[2:], 0.1).totals
    many = trimmed([forged] * 6 + parts[6:], 0.1).totals
    assert (many.sums / many.n_reports - few.sums / few.n_reports).max() > 0.05


@pytest.mark.parametrize("trim", [0.1, 0.5])
def test_intervals_cover_what_they_should(trim):
    """90 % intervals of four leaves in 150 runs: fewer than 83 % covered has a chance below 1e-6 at 90 %."""
    task = make(epsilon=4.0)  # set bits are rarer than at 2, and rates more skew
    truth = task.simulate(*records(1 << 20, 0), 0).model().predict(np.array([[0.1], [0.4], [0.6], [0.9]]))
    seen = 0
    for run in range(150):
        X, _ = records(16 * 12 * 12, run)
        parts = [task.simulate(part, part[:, 0], 1000 * run + g) for g, part in enumerate(np.array_split(X, 12))]
        low, high = trimmed(parts, trim).totals.model().predict_interval([[0.1], [0.4], [0.6], [0.9]], level=0.9)
        seen += int(((low <= truth) & (truth <= high)).sum())
    assert seen >= 0.83 * 600


def test_groups_at_random_hold_every_report_once_and_nobody_chooses():
    task = make()
    reports = privatize_many(task, *records(3_000, 1), randomness=1)
    whole = task.totals().add(reports)
    one = Groups(task, 7, group_key(1)).add(reports)
    two = Groups(task, 7, group_key(2)).add(reports)
    assert sum(one.parts[1:], one.parts[0]) == whole
    sizes = [part.n_reports for part in one.parts]
    # Binomial(3000, 1/7): six standard deviations are 115, a chance below 1e-7 over seven groups.
    assert max(abs(size - 3_000 / 7) for size in sizes) < 115
    assert sizes != [part.n_reports for part in two.parts]


@pytest.mark.parametrize(
    ("n_groups", "trim", "why"),
    [
        (2, 0.5, "at least 3"),
        (10, 0.0, "above 0"),
        (10, 0.6, "at most 0.5"),
        (10, 0.05, "none of 10"),
        (9, math.nan, "above"),
        (1001, 0.1, "at most 1000"),
    ],
)
def test_numbers_that_leave_nothing_are_refused(n_groups, trim, why):
    with pytest.raises(HedgerowError, match=why):
        check_groups(make(), n_groups, trim)


def test_small_groups_are_refused():
    parts = [make().simulate(*records(100, seed), seed) for seed in range(10)]
    with pytest.raises(HedgerowError, match="needs 160 reports"):
        trimmed(parts, 0.1)


def answer(task, record, mask, seed):
    """Return the report of one record, of a second round after the first."""
    if task.before is None:
        return task.privatize_record(record, randomness=seed)
    first = task.before._privatize(lambda: task.before.encode_record(record), mask, None, seed)
    return task.privatize_record(record, kept=first.kept, randomness=seed)


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_every_kind_trims_its_totals_or_says_that_it_cannot(example):
    task = example.build(2.0)
    if task.retains or task.sealed:
        with pytest.raises(HedgerowError, match=f"a {task.kind} task"):
            check_groups(task, 3, 0.4)
        return
    record = example.records[0]
    reports = [answer(task, record, example.mask, seed) for seed in range(48)]
    parts = [task.totals().add(reports) for _ in range(3)]
    cut = trimmed(parts, 0.4)
    assert cut.totals.n_reports == math.floor(144 / cost(3, 1))
    assert np.allclose(cut.totals.sums / cut.totals.n_reports, parts[0].sums / 48, atol=1 / cut.totals.n_reports)
    assert cut.totals.model() is not None
