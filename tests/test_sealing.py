import pytest

from hedgerow import sealing
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.sealing import OVERHEAD, KeyPair, Role, aad_of_input, info_of, seal, unseal

# RFC 9180, appendix A.1.1: base mode with this suite, the first encryption.
RFC = {
    "private": "4612c550263fc8ad58375df3f557aac531d26850903e55a9f23f21d8534e8ac8",
    "public": "3948cfe0ad1ddb695d780e59077195da6c56506b027329794ab02bca80815c4d",
    "info": "4f6465206f6e2061204772656369616e2055726e",
    "aad": "436f756e742d30",
    "enc": "37fda3567bdbd628e88668c3c8d7e97d1d1253b6d4ea6d44c150f741f1bf4431",
    "ct": "f938558b5d72f1a23810b4be2ab4f84331acc02fc97babc53a52ae8218a355a96d8770ac83d07bea87e13c512a",
    "pt": "4265617574792069732074727574682c20747275746820626561757479",
}


@pytest.fixture
def library():
    return pytest.importorskip("pyhpke")


def test_the_vector_of_the_rfc_is_opened(library):
    parts = {name: bytes.fromhex(value) for name, value in RFC.items()}
    key = KeyPair.of(parts["private"])
    assert key.public == parts["public"]
    assert unseal(key, parts["info"], parts["aad"], parts["enc"] + parts["ct"]) == parts["pt"]


def test_what_was_sealed_is_opened_by_its_key_only(library):
    key, other = KeyPair.generate(), KeyPair.generate()
    info, aad, message = info_of(b"label", Role.CLIENT, Role.LEADER), b"aad", b"message" * 100
    sealed = seal(key.public, info, aad, message)
    assert len(sealed) == len(message) + OVERHEAD
    assert seal(key.public, info, aad, message) != sealed
    assert unseal(key, info, aad, sealed) == message
    wrong = [
        (other, info, aad, sealed),
        (key, info_of(b"label", Role.CLIENT, Role.HELPER), aad, sealed),
        (key, info, b"other", sealed),
        (key, info, aad, bytes(32) + sealed[32:]),
        (key, info, aad, sealed[:-1]),
        (key, info, aad, sealed + b"\0"),
        (key, info, aad, sealed[:40] + bytes([sealed[40] ^ 1]) + sealed[41:]),
    ]
    for arguments in wrong:
        with pytest.raises(FormatError, match="cannot be opened with this key"):
            unseal(*arguments)
    with pytest.raises(FormatError, match="at least 48"):
        unseal(key, info, aad, sealed[:47])


@pytest.mark.parametrize(
    "public", [b"", bytes(31), bytes(33), bytes(32)], ids=["none", "short", "long", "of small order"]
)
def test_keys_that_are_none_are_refused(library, public):
    with pytest.raises(FormatError, match="not one of X25519"):
        seal(public, b"", b"", b"message")


def test_another_library_opens_what_we_seal_and_the_reverse(library):
    hpke = pytest.importorskip("cryptography.hazmat.primitives.hpke")
    x25519 = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.x25519")
    suite = hpke.Suite(hpke.KEM.X25519, hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_128_GCM)
    key = KeyPair.generate()
    theirs = x25519.X25519PrivateKey.from_private_bytes(key.private)
    assert suite.decrypt(seal(key.public, b"info", b"", b"message"), theirs, info=b"info") == b"message"
    assert unseal(key, b"info", b"", suite.encrypt(b"message", theirs.public_key(), info=b"info")) == b"message"


def test_bound_parts_cannot_be_shifted_into_each_other():
    one = aad_of_input(b"t" * 32, b"r" * 16, b"public")
    assert one == b"t" * 32 + b"r" * 16 + b"\0\6public"
    for wrong in [(b"t" * 31, b"r" * 17, b""), (b"t" * 32, b"r" * 15, b"x"), (b"t" * 32, b"r" * 16, bytes(1 << 16))]:
        with pytest.raises(FormatError):
            aad_of_input(*wrong)


def test_private_keys_are_not_shown():
    pytest.importorskip("cryptography")
    key = KeyPair.generate()
    assert key.private.hex() not in repr(key) and repr(key.private) not in repr(key)
    with pytest.raises(FormatError, match="32 bytes"):
        KeyPair.of(b"short")


def test_without_the_library_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyhpke", None)
    sealing._suite.cache_clear()
    with pytest.raises(HedgerowError, match=r"hedgerow\[aggregate\]"):
        seal(bytes(32), b"", b"", b"")
