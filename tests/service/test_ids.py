"""Packed ids: nothing that was added is ever missed, whatever its bytes are."""

import os

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from hedgerow.service import ids as module
from hedgerow.service.ids import KEY, MARK, Ids, Sieve, distinct, pack_ids, sorted_rows, unpacked


def drawn(n, head=b""):
    return [(head + os.urandom(KEY - len(head)), os.urandom(MARK)) for _ in range(n)]


def packed(pairs):
    return b"".join(key + mark for key, mark in pairs)


@pytest.mark.parametrize("head", [b"", bytes(8), b"\xff" * 8])
def test_every_id_is_found_and_no_other(head, monkeypatch):
    """Also where an enemy has found keys that begin alike."""
    monkeypatch.setattr(module, "_PARTS", 3)
    old, new, others = drawn(200, head), drawn(120, head), drawn(300, head)
    ids = Ids(packed(old))
    for start in range(0, 120, 10):
        ids.add(packed(new[start : start + 10]))
        assert start % 40 or ids.find([new[start][0]]) == dict(new[start : start + 1])
    assert len(ids) == 320
    keys = [key for key, _ in [*others, *new, *old]]
    assert ids.find(keys) == dict([*old, *new])
    assert pack_ids([ids.rows.tobytes()]) == pack_ids([packed(old), packed(new)])
    assert Ids().find(keys) == ids.find([]) == {}


def test_a_sieve_misses_nothing_and_mistakes_few():
    sieve = Sieve()
    one, two = drawn(30_000), drawn(30_000)
    sieve.add(Ids(packed(one)).rows)
    sieve.add(unpacked(packed(two)))
    keys = [key for key, _ in [*one, *two]]
    assert sieve.may_hold(keys) == keys
    # Each of four bits is set with a chance of at most 240,000 / 2**25 = .7 %, so a new id is mistaken with 3e-9.
    assert len(sieve.may_hold([key for key, _ in drawn(1000)])) <= 1
    assert sieve.may_hold([]) == []


@pytest.mark.parametrize("width", [3, 20, KEY + MARK])
def test_rows_are_in_the_order_of_their_bytes(width):
    rows = np.random.default_rng(0).integers(0, 256, (500, width), dtype=np.uint8)
    rows[:100, : width - 1] = rows[0, : width - 1]  # many begin alike
    assert [row.tobytes() for row in sorted_rows(rows)] == sorted(row.tobytes() for row in rows)


def test_packing_does_not_depend_on_the_order():
    pairs = drawn(100) + drawn(20, bytes(8))
    assert pack_ids([packed(pairs)]) == pack_ids([packed(pairs[::-1])])
    rows = np.frombuffer(packed(pairs + pairs[30:]), dtype=np.uint8).reshape(-1, KEY + MARK)
    assert sorted_rows(distinct(rows)).tobytes() == pack_ids([packed(pairs)])
    assert len(distinct(rows[:0])) == 0
