"""The page blinds and unblinds as hedgerow.blind does: the vector of RFC 9474, and passes of its own."""

import json
from pathlib import Path

import pytest

pytest.importorskip("cryptography")

from hedgerow.blind import Blinding, Signer

VECTOR = json.loads((Path(__file__).parents[1] / "blind_vector.json").read_text())


def test_vector_of_the_rfc(node):
    signer = Signer(int(VECTOR["p"], 16), int(VECTOR["q"], 16), int(VECTOR["d"], 16))
    factor = pow(int(VECTOR["inv"], 16), -1, signer.public.n)
    kept = {"prefix": VECTOR["msg_prefix"], "salt": VECTOR["salt"], "factor": f"{factor:x}"}
    given = {"key": signer.public.to_bytes().hex(), "message": VECTOR["msg"], "kept": kept}
    wrong = "00" * 512
    good, bad, short = node(
        "holder_blind.mjs",
        [{**given, "signed": VECTOR["blind_sig"]}, {**given, "signed": wrong}, {**given, "signed": "00"}],
    )
    assert good["blinded"] == VECTOR["blinded_msg"]
    assert good["signature"] == VECTOR["sig"]
    assert "does not hold" in bad["error"] and "no signature" in short["error"]


def test_drawn_numbers_serve_python(node):
    signer = Signer.of(Signer.generate())
    key = signer.public
    given = {"key": key.to_bytes().hex(), "message": b"task".hex()}
    one, other = node("holder_blind.mjs", [given, given])
    assert one["kept"] != other["kept"]
    kept = Blinding(*(bytes.fromhex(one["kept"][name]) for name in ("prefix", "salt")), int(one["kept"]["factor"], 16))
    assert (len(kept.prefix), len(kept.salt)) == (32, 48) and 0 < kept.factor < key.n
    shown = key.blind(b"task", kept)
    assert shown.hex() == one["blinded"]
    (again,) = node("holder_blind.mjs", [{**given, "kept": one["kept"], "signed": signer.sign(shown).hex()}])
    assert key.holds(b"task", kept.prefix, bytes.fromhex(again["signature"]))
