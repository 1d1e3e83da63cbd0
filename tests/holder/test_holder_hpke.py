"""What the page seals, hedgerow.sealing opens, and nobody else."""

import pytest

from hedgerow.errors import FormatError
from hedgerow.sealing import KeyPair, Role, aad_of_input, info_of, unseal

INFO = info_of(b"hedgerow input share", Role.CLIENT, Role.LEADER)


def given(key, info=INFO, aad=b"", message=b"message"):
    return {"key": key.hex(), "info": info.hex(), "aad": aad.hex(), "message": message.hex()}


def test_what_the_page_seals_is_opened(node):
    pytest.importorskip("pyhpke")
    key = KeyPair.generate()
    aad = aad_of_input(bytes(32), bytes(16), bytes(64))
    messages = [b"", b"m", bytes(10_032)]
    found = node("holder_hpke.mjs", [given(key.public, INFO, aad, message) for message in [*messages, messages[-1]]])
    sealed = [bytes.fromhex(each["sealed"]) for each in found]
    assert [unseal(key, INFO, aad, each) for each in sealed[:3]] == messages
    assert len(sealed[2]) == 10_032 + 48 and sealed[2] != sealed[3]
    for info, bound in [(INFO[:-1] + b"\3", aad), (INFO, aad[:-1] + b"\1")]:
        with pytest.raises(FormatError, match="cannot be opened"):
            unseal(key, info, bound, sealed[2])


def test_keys_that_are_none_are_refused(node):
    found = node("holder_hpke.mjs", [given(bytes(32)), given(bytes(31)), given(b"")])
    assert [list(each) for each in found] == [["error"]] * 3
