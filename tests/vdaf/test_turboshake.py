import hashlib

import pytest

from hedgerow import kernels
from hedgerow.errors import HedgerowError
from hedgerow.vdaf import turboshake
from hedgerow.vdaf.field import FIELD64, FIELD128
from hedgerow.vdaf.turboshake import turboshake128
from hedgerow.vdaf.xof import below, derive_seeds, streams

LENGTHS = [0, 1, 7, 8, 166, 167, 168, 169, 335, 336, 337, 1000]


def messages(length, n):
    return [hashlib.shake_128(f"{i}".encode()).digest(length) for i in range(n)]


@pytest.mark.parametrize("length", LENGTHS)
def test_one_many_and_compiled_agree(length):
    for out in LENGTHS:
        for n in (1, turboshake._MANY + 1):
            given = messages(length, n)
            with kernels.reference():
                expected = turboshake128(given, out)
                assert [turboshake128([each], out)[0] for each in given] == expected
            assert turboshake128(given, out) == expected
            assert all(len(each) == out for each in expected)


@pytest.mark.parametrize("length", LENGTHS)
def test_it_is_that_of_another_library(length):
    other = pytest.importorskip("Cryptodome.Hash.TurboSHAKE128")
    (message,) = messages(length, 1)
    assert turboshake128([message], 500) == [other.new(domain=1, data=message).read(500)]


def test_keccak_is_that_of_the_standard_library():
    """With 24 rounds and SHAKE's domain byte the same sponge is SHAKE-128."""
    long = pytest.MonkeyPatch()
    first = (
        0x0000000000000001, 0x0000000000008082, 0x800000000000808A, 0x8000000080008000, 0x000000000000808B,
        0x0000000080000001, 0x8000000080008081, 0x8000000000008009, 0x000000000000008A, 0x0000000000000088,
        0x0000000080008009, 0x000000008000000A,
    )  # fmt: skip
    with long.context() as patch, kernels.reference():
        patch.setattr(turboshake, "_ROUNDS", first + turboshake._ROUNDS)
        patch.setattr(turboshake, "DOMAIN", 0x1F)
        for length in LENGTHS:
            given = messages(length, turboshake._MANY)
            expected = [hashlib.shake_128(each).digest(500) for each in given]
            assert turboshake128(given, 500) == expected
            assert [turboshake128([each], 500)[0] for each in given] == expected


def test_lengths_that_do_not_fit_are_refused():
    with pytest.raises(HedgerowError, match="'length' must not be negative"):
        turboshake128([b""], -1)
    with pytest.raises(HedgerowError, match="65535"):
        derive_seeds([bytes(32)], bytes(65_536), [b""])
    with pytest.raises(HedgerowError, match="255"):
        derive_seeds([bytes(256)], b"", [b""])


@pytest.mark.parametrize("field", [FIELD64, FIELD128])
def test_numbers_beyond_the_modulus_are_left_out(field):
    seed, dst, binder = bytes(32), b"tag", b"binder"
    (stream,) = streams([seed], dst, [binder], 4 * field.size)
    # As if the stream had begun with a number that is not below the modulus: the next is taken, and one more is drawn.
    spoilt = field.modulus.to_bytes(field.size, "little") + stream[field.size :]
    assert list(below(field, spoilt, seed, dst, binder, 3)) == list(field.words(stream)[1:])
    (longer,) = streams([seed], dst, [binder], 5 * field.size)
    assert list(below(field, b"\xff" * (4 * field.size), seed, dst, binder, 5)) == list(field.words(longer))
