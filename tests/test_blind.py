"""Blind signatures: the vector of RFC 9474, what is refused, and that nothing links a signature to what was signed."""

import json
from pathlib import Path

import pytest

pytest.importorskip("cryptography")

from hedgerow.blind import Blinding, PublicKey, Signer, encode
from hedgerow.errors import FormatError, HedgerowError

VECTOR = json.loads((Path(__file__).parent / "blind_vector.json").read_text())


def number(name):
    return int(VECTOR[name], 16)


def octets(name):
    return bytes.fromhex(VECTOR[name])


@pytest.fixture(scope="module")
def signer():
    return Signer(number("p"), number("q"), number("d"))


@pytest.fixture(scope="module")
def kept(signer):
    return Blinding(octets("msg_prefix"), octets("salt"), pow(number("inv"), -1, signer.public.n))


@pytest.fixture(scope="module")
def own():
    return Signer.of(Signer.generate())


def test_vector_of_the_rfc(signer, kept):
    key = signer.public
    blinded = key.blind(octets("msg"), kept)
    assert blinded == octets("blinded_msg")
    assert signer.sign(blinded) == octets("blind_sig")
    assert key.finalize(octets("msg"), kept, octets("blind_sig")) == octets("sig")


def test_signature_is_an_ordinary_one(signer):
    key = signer.public
    assert key.holds(octets("msg"), octets("msg_prefix"), octets("sig"))
    assert not key.holds(octets("msg"), bytes(32), octets("sig"))
    assert not key.holds(octets("msg") + b"x", octets("msg_prefix"), octets("sig"))
    assert not key.holds(octets("msg"), octets("msg_prefix"), bytes(key.size))


def test_any_signature_fits_any_blinded_message(own):
    """For a pass and a session that have nothing to do with each other there is a blinding that joins them."""
    key = own.public
    one, other = key.draw(), key.draw()
    shown = key.blind(b"task", other)
    signature = key.finalize(b"task", one, own.sign(key.blind(b"task", one)))
    joined = int.from_bytes(own.sign(shown), "big") * pow(int.from_bytes(signature, "big"), -1, key.n) % key.n
    assert key.blind(b"task", Blinding(one.prefix, one.salt, joined)) == shown


def test_blinded_message_takes_the_same_value_for_other_messages(own):
    """Whatever the message, some factor gives the blinded one: it says nothing about the message."""
    key, kept = own.public, own.public.draw()
    shown = int.from_bytes(key.blind(b"task", kept), "big")
    m = encode(kept.prefix + b"another", key.n.bit_length() - 1, kept.salt)
    rooted = own.sign((shown * pow(m, -1, key.n) % key.n).to_bytes(key.size, "big"))
    joined = Blinding(kept.prefix, kept.salt, int.from_bytes(rooted, "big"))
    assert int.from_bytes(key.blind(b"another", joined), "big") == shown


def test_signing_again_gives_the_same(own):
    key = own.public
    shown = key.blind(b"task", key.draw())
    assert own.sign(shown) == own.sign(shown)


@pytest.mark.parametrize("spoil", ["short", "long", "large"])
def test_signer_refuses_what_is_no_blinded_message(own, spoil):
    size = own.public.size
    blinded = {"short": bytes(size - 1), "long": bytes(size + 1), "large": b"\xff" * size}[spoil]
    with pytest.raises(HedgerowError, match="blinded message"):
        own.sign(blinded)


def test_holder_refuses_a_wrong_signature(own, signer):
    key, kept = own.public, own.public.draw()
    shown = key.blind(b"task", kept)
    with pytest.raises(FormatError, match="does not hold"):
        key.finalize(b"task", kept, own.sign(key.blind(b"another", kept)))
    with pytest.raises(FormatError, match="256 bytes"):
        key.finalize(b"task", kept, own.sign(shown)[1:])


def test_key_and_blinding_travel(own):
    key = own.public
    kept = key.draw()
    assert PublicKey.from_bytes(key.to_bytes()) == key
    assert Blinding.from_bytes(kept.to_bytes(key.size)) == kept


@pytest.mark.parametrize("n", [3, 2**1023 + 1, 2**2047, 2**2046 + 1])
def test_weak_keys_are_refused(n):
    with pytest.raises(FormatError, match="2048"):
        PublicKey(n)


def test_factors_are_drawn_from_the_secure_source(own, monkeypatch):
    drawn = [5, 7]
    monkeypatch.setattr("hedgerow.blind.secrets.randbelow", lambda n: drawn.pop(0))
    assert [own.public.draw().factor, own.public.draw().factor] == [5, 7]
