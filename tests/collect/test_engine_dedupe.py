"""Copies are found exactly, whatever the memory, and against a plain set."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.collect import dedupe
from hedgerow.collect.dedupe import find_copies, repeats, spread
from hedgerow.collect.memory import MemorySource, aggregate
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.holder import privatize_many
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.task import LocalTask

TASK = LocalTask.design(
    epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1), max_depth=3, response="bits", cell_share=0.5
)
X = np.random.default_rng(0).random((400, 1))
POOL = privatize_many(TASK, X, X[:, 0], randomness=1)
# Ids that agree in their first eight bytes, in all but the last, or not at all.
POOL.tokens.flags.writeable or object.__setattr__(POOL, "tokens", POOL.tokens.copy())
POOL.tokens[:40, :8] = 7
POOL.tokens[:20, :11] = 7


def take(rows):
    return Reports(TASK, POOL.tokens[rows], POOL.payloads[rows], True)


def plain(batches):
    """Return, by a set, which reports count."""
    seen, keep = set(), []
    for rows in batches:
        for row in rows:
            token = POOL.tokens[row].tobytes()
            keep.append(token not in seen)
            seen.add(token)
    return np.array(keep, dtype=bool)


batches = st.lists(st.lists(st.integers(0, 399), max_size=60), min_size=1, max_size=5)


@settings(max_examples=80, deadline=None)
@given(batches, st.sampled_from([2, 5, 16, 1000]))
def test_the_first_of_equal_ids_counts(rows, memory):
    rows = [np.array(r, dtype=np.int64) for r in rows]
    sources = [MemorySource(take(r)) for r in rows]
    found = find_copies(sources, memory_rows=memory)
    expected = plain(rows)
    keep = found.keep(0, found.n_reports)
    assert np.array_equal(np.ones(found.n_reports, bool) if keep is None else keep, expected)
    assert found.n_copies == int((~expected).sum())
    total = aggregate(TASK, [take(r) for r in rows])
    unique = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *rows]))
    assert total == Aggregate(TASK).add(take(unique))


@settings(max_examples=30, deadline=None)
@given(batches)
def test_repeats_name_the_first_of_their_kind(rows):
    rows = np.concatenate([np.empty(0, dtype=np.int64), *(np.array(r, dtype=np.int64) for r in rows)])
    again, first = repeats(POOL.tokens[rows], np.arange(len(rows)))
    assert (rows[again] == rows[first]).all() and (first < again).all()
    assert sorted(again.tolist()) == np.flatnonzero(~plain([rows])).tolist()


def test_crowded_copies_do_not_need_memory_for_all():
    """One report a thousand times, in pieces of eight."""
    found = find_copies([MemorySource(take(np.zeros(1000, dtype=np.int64)))], memory_rows=8)
    assert found.n_copies == 999 and found.keep(0, 1000).sum() == 1 and found.keep(0, 1) is None


def test_ids_spread_evenly():
    tokens = np.random.default_rng(0).integers(0, 256, (20_000, 12), dtype=np.uint8)
    counts = np.bincount(spread(tokens, 16, dedupe.new_key()), minlength=16)
    assert counts.size == 16 and counts.min() > 900  # of 1,250; below: less than 1e-20 by Hoeffding


def test_one_id_with_two_messages_is_refused_wherever_it_is():
    other = np.flatnonzero((POOL.payloads != POOL.payloads[0]).any(axis=1))[0]
    forged = Reports(TASK, POOL.tokens[[0]], POOL.payloads[[other]], True)
    parts = [take(np.arange(300)), take(np.arange(100)), forged]
    for memory in (4, 10_000):
        with pytest.raises(FormatError, match=r"1 reports have the id .* report 1 of batch 1 and report 1 of batch 3"):
            find_copies([MemorySource(p, f"batch {i + 1}") for i, p in enumerate(parts)], memory_rows=memory)
    assert aggregate(TASK, parts, copies="count").n_reports == 401


def test_copies_can_be_refused_and_a_wrong_wish_is():
    with pytest.raises(FormatError, match="100 reports are there twice, one of them in batch 1 and again in batch 2"):
        aggregate(TASK, [take(np.arange(300)), take(np.arange(100))], copies="refuse")
    with pytest.raises(HedgerowError, match="'copies' parameter must be one of"):
        aggregate(TASK, [], copies="keep")
    other = LocalTask.design(
        epsilon=2.0,
        label_bounds=(0, 1),
        features=1,
        feature_bounds=(0, 1),
        max_depth=3,
        response="bits",
        cell_share=0.5,
    )
    with pytest.raises(FormatError, match="another task"):
        aggregate(other, [take(np.arange(3))])
