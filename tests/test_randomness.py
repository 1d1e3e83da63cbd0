import copy
import hashlib
import os
import pickle
import subprocess
import sys
import threading

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness, SecureRandomness, SeededRandomness, as_randomness

# Two secure streams agree on 16 bytes with probability 2**-128: far below any stated rate.


def test_seeded_stream_is_the_documented_hash():
    key = b"hedgerow" + (2).to_bytes(4, "little") + b"42"
    expected = b"".join(hashlib.shake_128(key + i.to_bytes(8, "little")).digest(1 << 16) for i in range(3))
    assert SeededRandomness(42).bytes(3 << 16) == expected


@pytest.mark.parametrize(
    "sizes", [(3, 5), (0, 8), (1, 65_535, 1), (65_536, 1), (65_535, 65_537, 200_000), (131_072, 0, 7), (70_000,) * 5]
)
def test_stream_does_not_depend_on_request_sizes(sizes):
    pieces = SeededRandomness(1)
    assert b"".join(pieces.bytes(n) for n in sizes) == SeededRandomness(1).bytes(sum(sizes))


def test_same_seed_same_stream_other_seed_other_stream():
    assert SeededRandomness(5).bytes(32) == SeededRandomness(5).bytes(32)
    assert SeededRandomness(5).bytes(32) != SeededRandomness(6).bytes(32)
    assert SeededRandomness(-1).bytes(32) != SeededRandomness(1).bytes(32)
    assert SeededRandomness(np.int64(5)).bytes(32) == SeededRandomness(5).bytes(32)


def test_words_are_little_endian():
    raw = SeededRandomness(3).bytes(8)
    for width, name in ((1, "uint8"), (2, "uint16"), (4, "uint32"), (8, "uint64")):
        words = getattr(SeededRandomness(3), name)(8 // width)
        assert [int(w) for w in words] == [int.from_bytes(raw[i : i + width], "little") for i in range(0, 8, width)]
    assert SeededRandomness(3).bits(64) == int.from_bytes(raw, "big")


def test_children_are_independent_and_reproducible():
    root = SeededRandomness(0)
    paths = [
        (),
        ("a",),
        ("b",),
        ("a", "b"),
        ("a/b",),
        ("a", "", "b"),
        ("a/", "b"),
        ("a", "/b"),
        ("a~1b",),
        ("", "a", "b"),
    ]
    streams = [root.child(*path).bytes(16) for path in paths]
    assert len(set(streams)) == len(paths)
    assert root.child("a", "b").bytes(16) == root.child("a").child("b").bytes(16)
    assert root.child(1, "x").bytes(16) == root.child("1", "x").bytes(16)
    first = SeededRandomness(0)
    first.bytes(100)
    assert first.child("a").bytes(16) == root.child("a").bytes(16), "a child must not depend on what was drawn"


def test_secure_source_is_its_own_child():
    source = SecureRandomness()
    assert source.child("a", 3) is source
    assert source.simulation is False and SeededRandomness(0).simulation is True


def test_secure_sources_differ():
    assert SecureRandomness().bytes(16) != SecureRandomness().bytes(16)


FORK = """
import os
from hedgerow.randomness import SecureRandomness
source = SecureRandomness()
source.bytes(1)  # fills the buffer that the children inherit
pipes = []
for _ in range(3):
    read, write = os.pipe()
    if os.fork() == 0:
        os.write(write, source.bytes(32))
        os._exit(0)
    os.wait()
    pipes.append(os.read(read, 32))
pipes.append(source.bytes(32))
assert len(set(pipes)) == 4 and all(len(p) == 32 for p in pipes), pipes
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_forked_children_draw_other_bytes():
    # In a process of its own: forking one with threads warns from Python 3.12 on.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", FORK], check=True, env=environment, timeout=60)


SAME_ID = (
    """
import os
os.getpid = lambda: 42  # a process id that comes back: the child cannot be told by it
"""
    + FORK
)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_id_that_comes_back_gets_other_bytes():
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-W", "error", "-c", SAME_ID], check=True, env=environment, timeout=60)


@pytest.mark.parametrize("duplicate", [lambda s: pickle.loads(pickle.dumps(s)), copy.copy, copy.deepcopy])
def test_secure_source_never_travels(duplicate):
    source = SecureRandomness()
    source.bytes(1)
    buffered = source._buffer
    assert buffered[:64] not in pickle.dumps(source)
    other = duplicate(source)
    assert other._buffer == b""
    assert other.bytes(32) != source.bytes(32)


@pytest.mark.parametrize("n", [1, 2047, 2048, 2049, 70_001])
def test_pickled_seeded_source_continues_where_it_stood(n):
    source = SeededRandomness(9)
    source.bytes(n)
    other = pickle.loads(pickle.dumps(source))
    assert other.bytes(100) == source.bytes(100) == SeededRandomness(9).bytes(n + 100)[n:]


@pytest.mark.parametrize("first", [0, 1, 2047, 2048, 2049, 65_535, 65_536, 65_537])
def test_a_stream_is_the_same_whether_or_not_it_began_short(first):
    key = b"hedgerow" + (1).to_bytes(4, "little") + b"6"
    blocks = [hashlib.shake_128(key + i.to_bytes(8, "little")).digest(1 << 16) for i in range(3)]
    stream = b"".join(blocks)
    for then in (1, 2048, 66_000):
        source = SeededRandomness(6)
        assert source.bytes(first) + source.bytes(then) == stream[: first + then]
        begun, left = source.place
        assert begun * (1 << 16) - left == first + then


@pytest.mark.parametrize("make", [SecureRandomness, lambda: SeededRandomness(4)])
def test_threads_never_get_the_same_bytes(make):
    source, drawn = make(), [[] for _ in range(8)]

    def work(mine):
        mine.extend(source.bytes(16) for _ in range(3000))

    threads = [threading.Thread(target=work, args=(mine,)) for mine in drawn]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    blocks = [block for mine in drawn for block in mine]
    assert len(set(blocks)) == len(blocks) == 24_000
    if source.simulation:
        stream = SeededRandomness(4).bytes(16 * 24_000)
        assert set(blocks) == {stream[i : i + 16] for i in range(0, len(stream), 16)}


def test_one_thread_at_a_time_reads_the_stream():
    # Not by luck: the first thread is held inside, and the second must wait outside until it is let go.
    class Slow(Randomness):
        def _refill(self):
            inside.append(threading.get_ident())
            entered.set()
            assert go_on.wait(timeout=60)
            return os.urandom(1 << 16)

    inside, entered, go_on = [], threading.Event(), threading.Event()
    source, drawn = Slow(), []
    threads = [threading.Thread(target=lambda: drawn.append(source.bytes(16))) for _ in range(2)]
    threads[0].start()
    assert entered.wait(timeout=60)
    threads[1].start()
    threads[1].join(timeout=0.2)
    waiting = len(inside) == 1
    go_on.set()
    for thread in threads:
        thread.join(timeout=60)
    assert waiting and len(inside) == 1 and len(set(drawn)) == 2


def test_seeded_sources_say_so():
    sources = [SeededRandomness(1), SeededRandomness(1).child("a"), as_randomness(3), as_randomness(np.int64(3))]
    assert all(source.simulation for source in sources)
    assert not SecureRandomness().simulation and not as_randomness(None).simulation


@pytest.mark.parametrize("high", [1, 2, 3, 7, 100, 1 << 10, 1000])
def test_integers_are_uniform(high, same_law):
    values = SeededRandomness(11).integers(high, 60_000)
    same_law(values.tolist(), dict.fromkeys(range(high), 1 / high))  # false alarm 1e-7


@pytest.mark.parametrize("high", [3, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, 3 << 60, 1 << 62])
def test_integers_reject_exactly_the_words_that_would_bias(high, script):
    width = 4 if high <= 1 << 24 else 8
    words = 1 << 8 * width
    limit = words - words % high
    kept = [0, high - 1, high, limit - 1]
    encode = [w.to_bytes(width, "little") for w in kept]
    source = script(*encode)
    assert source.integers(high, len(kept)).tolist() == [w % high for w in kept]
    if limit < words:  # the first word past the limit is drawn again, until one is below
        source = script(*(w.to_bytes(width, "little") for w in (limit, words - 1, 5 % high)))
        assert source.integers(high, 1).tolist() == [5 % high]
        assert source.left == b""


@pytest.mark.parametrize("high", [0, -1, (1 << 62) + 1])
def test_integers_refuse_a_bad_range(high):
    with pytest.raises(HedgerowError, match="'high' must be in"):
        SeededRandomness(0).integers(high, 1)


@pytest.mark.parametrize("source", [SecureRandomness(), SeededRandomness(0)])
def test_negative_requests_are_refused(source):
    source.bytes(8)
    with pytest.raises(HedgerowError, match="must not be negative"):
        source.bytes(-8)  # would rewind, and repeat noise


@pytest.mark.parametrize("seed", [True, 1.5, "1", None])
def test_seed_must_be_an_integer(seed):
    with pytest.raises(HedgerowError, match="'seed' must be an integer"):
        SeededRandomness(seed)


def test_as_randomness():
    source = SeededRandomness(1)
    assert as_randomness(source) is source
    assert isinstance(as_randomness(None), SecureRandomness)
    assert as_randomness(np.uint8(3)).seed == 3
    assert as_randomness(np.random.RandomState(0)).seed == as_randomness(np.random.RandomState(0)).seed
    assert as_randomness(np.random.default_rng(0)).seed == as_randomness(np.random.default_rng(0)).seed
    for wrong in (True, 1.0, "seed"):
        with pytest.raises(HedgerowError, match="'random_state'"):
            as_randomness(wrong)


def test_repr_shows_no_key():
    assert repr(SecureRandomness()) == "SecureRandomness()"
    assert repr(SeededRandomness(3).child("a")) == "SeededRandomness(3, path=('a',))"
