"""Packed ids: nothing that was added is ever missed, whatever its bytes are."""

import os
from contextlib import nullcontext
from hashlib import blake2b

import numpy as np
import pytest

pytest.importorskip("sqlalchemy")

from hedgerow import kernels
from hedgerow.service import ids as module
from hedgerow.service.digests import ids_of
from hedgerow.service.ids import (
    KEY,
    LARGE,
    MARK,
    SMALL,
    Ids,
    Sieve,
    any_alike,
    distinct,
    keyed,
    pack_ids,
    sorted_rows,
    unpacked,
)

compiled_only = pytest.mark.skipif(kernels.native() is None, reason="there are no compiled kernels here")


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


@pytest.mark.parametrize("compiled", [True, False])
def test_a_sieve_misses_nothing_and_mistakes_few(compiled):
    with nullcontext() if compiled else kernels.reference():
        _misses_nothing_and_mistakes_few()


def _misses_nothing_and_mistakes_few():
    sieve = Sieve()
    one, two = drawn(30_000), drawn(30_000)
    sieve.add(Ids(packed(one)).rows)
    sieve.add(unpacked(packed(two)))
    keys = [key for key, _ in [*one, *two]]
    assert sieve.may_hold(keyed(keys)) == keys
    # Of 2**14 lines each has 4 ids, in truth a Poisson number; with n ids a new one is mistaken with at most
    # (6n/512)**6, 8e-8 in the mean. Two of a thousand: below 1e-8.
    assert len(sieve.may_hold(keyed([key for key, _ in drawn(1000)]))) <= 1
    assert sieve.may_hold(keyed([])) == []
    more = Sieve()
    third = drawn(100)
    more.add(unpacked(packed(third)))
    assert sieve.may_hold(keyed([key for key, _ in third])) == []
    sieve.unite(more)
    assert sieve.may_hold(keyed([*keys, *(key for key, _ in third)])) == [*keys, *(key for key, _ in third)]


@pytest.mark.parametrize(("size", "n", "most"), [(SMALL, 300_000, 40), (LARGE, 2_000_000, 4)])
def test_sieves_that_are_full_mistake_few(size, n, most):
    """As few as is said beside the sizes, on a fixed draw: 10 and .1 of 100,000 are expected."""
    rng = np.random.default_rng(0)
    sieve = Sieve(size)
    for _ in range(n // 100_000):
        sieve.add(rng.integers(0, 256, (100_000, 24), dtype=np.uint8))
    assert len(sieve.may_hold(rng.integers(0, 256, (100_000, 24), dtype=np.uint8))) <= most


@compiled_only
@pytest.mark.parametrize("size", [SMALL, LARGE])
def test_both_sieves_are_the_same(size):
    """A server may be started again with the compiled kernels, or without; also for rows apart from each other."""
    rows = np.random.default_rng(1).integers(0, 256, (5000, 30), dtype=np.uint8)[::2, :24]
    one, two = Sieve(size), Sieve(size)
    one.add(rows)
    with kernels.reference():
        two.add(rows)
        assert two.may_hold(rows[:7]) == [row[:KEY].tobytes() for row in rows[:7]]
    assert (one._bits == two._bits).all() and one._bits.any()


@compiled_only
@pytest.mark.parametrize(
    ("bits", "rows", "width", "out"),
    [
        (96, 48, 24, 2),
        (32, 48, 24, 2),
        (0, 48, 24, 2),
        (64, 50, 24, 2),
        (64, 48, 8, 6),
        (64, 48, 0, 2),
        (64, 48, -24, 2),
    ],
)
def test_the_kernel_of_sieves_refuses_what_does_not_fit(bits, rows, width, out):
    with pytest.raises(ValueError, match="sieve"):
        kernels.native().sieve_add(bytearray(bits), bytes(rows), width)
    with pytest.raises(ValueError, match="sieve"):
        kernels.native().sieve_has(bytes(bits), bytes(rows), width, bytearray(out))
    with pytest.raises(ValueError, match="too short"):
        kernels.native().sieve_has(bytes(64), bytes(48), 24, bytearray(1))


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


@pytest.mark.parametrize("head", [b"", bytes(8)])
def test_copies_among_sorted_ids_are_noticed(head):
    """Others that begin alike may be taken for copies, which costs a look; copies may never be taken for others."""
    pairs = drawn(50)
    assert not any_alike(sorted_rows(unpacked(packed(pairs))))
    assert not any_alike(unpacked(packed(pairs[:1])))
    key, _ = (drawn(1, head) if head else pairs)[0]
    copies = [*pairs, (key, b"a mark.."), (key, b"another.")]
    assert any_alike(sorted_rows(unpacked(packed(copies))))


WIDTHS = [0, 1, 22, 114, 115, 116, 243, 244, 700]  # with the id and a flag: around one block of 128 bytes, and two


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("simulation", [False, True])
def test_digests_of_many_are_those_of_each(width, simulation):
    """Also where rows are not beside each other in memory; with the compiled kernel and without."""
    rng = np.random.default_rng(width)
    names = rng.integers(0, 256, (43, 15), dtype=np.uint8)[:, 3:]  # five times eight, and some
    payloads = rng.integers(0, 256, (86, width), dtype=np.uint8)[::2]
    wanted = [
        blake2b(name.tobytes(), digest_size=KEY, person=b"report").digest()
        + blake2b(
            name.tobytes() + bytes([simulation]) + payload.tobytes(), digest_size=MARK, person=b"payload"
        ).digest()
        for name, payload in zip(names, payloads, strict=True)
    ]
    assert [row.tobytes() for row in ids_of(names, payloads, simulation)] == wanted
    with kernels.reference():
        assert [row.tobytes() for row in ids_of(names, payloads, simulation)] == wanted


@compiled_only
@pytest.mark.parametrize(
    ("n", "size", "person", "room", "offset", "stride"),
    [
        (0, 8, b"", 24, 0, 24), (-1, 8, b"", 24, 0, 24), (2, 8, b"", 24, 0, 24), (1, 8, b"", 24, 17, 24),
        (1, 8, b"", 24, -1, 24), (1, 65, b"", 99, 0, 99), (1, 0, b"", 24, 0, 24), (1, 8, bytes(17), 24, 0, 24),
        (2, 8, b"", 24, 0, 7), (2, 8, b"", 24, 0, 2**62), (7, 8, b"", 2**10, 0, 24),
    ],
)  # fmt: skip
def test_the_kernel_writes_nowhere_else(n, size, person, room, offset, stride):
    with pytest.raises(ValueError, match="must fit"):
        kernels.native().digests(bytes(12), b"", b"", n, size, person, bytearray(room), offset, stride)
