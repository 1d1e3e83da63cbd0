"""The page's shares are those of hedgerow.vdaf, byte for byte."""

from hedgerow.vdaf import MultihotCountVec, Prio3
from hedgerow.vdaf.field import FIELD128
from tests.vdaf.reports import bits, drawn

SHAPES = [
    (512, 8, 23, 2),
    (1024, 16, 32, 2),
    (1, 1, 1, 2),
    (7, 5, 3, 3),
    (37, 1, 64, 2),
    (100, 9, 11, 4),
    (16, 16, 4, 2),
]


def case(length, weight, chunk, servers, seed, **changes):
    given = {
        "circuit": {"length": length, "maxWeight": weight, "chunk": chunk, "servers": servers},
        "ctx": drawn(seed, "ctx", 40).hex(),
        "bits": bits(seed, length, weight),
        "nonce": drawn(seed, "nonce", 16).hex(),
        "rand": drawn(seed, "rand", 64 * servers).hex(),
    }
    return {**given, **changes}


def test_shares_are_those_of_python(node):
    cases = [case(*shape, seed) for seed, shape in enumerate(SHAPES)]
    cases += [case(16, 16, 4, 2, 50, bits=[1] * 16), case(16, 3, 4, 2, 51, bits=[0] * 16)]
    for given, found in zip(cases, node("holder_prio3.mjs", cases), strict=True):
        shape = given["circuit"]
        prio3 = Prio3(MultihotCountVec(shape["length"], shape["maxWeight"], shape["chunk"]), servers=shape["servers"])
        ctx, nonce, rand = (bytes.fromhex(given[name]) for name in ("ctx", "nonce", "rand"))
        public, inputs = prio3.shard(ctx, given["bits"], nonce, rand)
        expected = {"publicShare": public.hex(), "inputShares": [share.hex() for share in inputs]}
        assert found == {"randSize": prio3.rand_size, **expected}


def test_what_is_not_allowed_is_refused(node):
    good = case(4, 2, 2, 2, 1)
    wrong = [
        {**good, "bits": [1, 1, 1, 0]},
        {**good, "bits": [1, 1, 0]},
        {**good, "bits": [2, 0, 0, 0]},
        {**good, "bits": [-1, 1, 0, 0]},
        {**good, "bits": [True, False, False, False]},
        {**good, "nonce": "00" * 15},
        {**good, "rand": "00" * 127},
    ]
    found = node("holder_prio3.mjs", [good, *wrong])
    assert "error" not in found[0]
    expected = ["may be set", *["must be 4 bits"] * 4, *["another length"] * 2]
    assert [words in each["error"] for words, each in zip(expected, found[1:], strict=True)] == [True] * len(wrong)


def test_numbers_beyond_the_modulus_are_left_out(node):
    p = FIELD128.modulus
    numbers = [3, p, p - 1, 2**128 - 1, 4, 5, 6]
    stream = b"".join(number.to_bytes(16, "little") for number in numbers).hex()
    (found,) = node("holder_prio3.mjs", [{"stream": stream, "n": 5}])
    assert found == {"elements": [str(n) for n in (3, p - 1, 4, 5, 6)]}
