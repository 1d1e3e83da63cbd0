"""The curator's signing key: Ed25519, kept in a file that only its owner can read.

``cryptography`` is needed here and for checking signatures, nowhere else: ``pip install 'hedgerow[holder]'``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.errors import FormatError, HedgerowError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["base64url", "fingerprint", "from_base64url", "generate_key", "load_key", "public_bytes"]


def base64url(data: bytes) -> str:
    r"""Return bytes as base64url without padding.

    >>> base64url(bytes(3)), from_base64url("AAAA", 3)
    ('AAAA', b'\x00\x00\x00')
    """
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_base64url(text: object, size: int, name: str = "value") -> bytes:
    """Read exactly ``size`` bytes; every value has one spelling only."""
    try:
        data = base64.b64decode(str(text) + "=" * (-len(str(text)) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        data = b""
    if not isinstance(text, str) or len(data) != size or base64url(data) != text:
        raise FormatError(f"{name!r} must be {size} bytes in base64url without padding. Got {text!r} instead.")
    return data


def fingerprint(public_key: bytes) -> str:
    """Return a key's name for people: 20 hexadecimal digits of its SHA-256, in groups of four.

    >>> fingerprint(bytes(32))
    '6668 7aad f862 bd77 6c8f'
    """
    digest = hashlib.sha256(public_key).hexdigest()
    return " ".join(digest[i : i + 4] for i in range(0, 20, 4))


def ed25519() -> Any:
    """Return the module of ``cryptography``, or say how to get it."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519 as module
    except ImportError:
        raise HedgerowError("signatures need cryptography: pip install 'hedgerow[holder]'.") from None
    return module


def public_bytes(key: Ed25519PrivateKey) -> bytes:
    """Return the 32 bytes of the public half."""
    return key.public_key().public_bytes_raw()


def generate_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """Make a signing key and write it to a new file with mode 0600; an existing file is never replaced.

    >>> import tempfile, os
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = generate_key(os.path.join(folder, "curator.pem"))
    ...     public_bytes(load_key(os.path.join(folder, "curator.pem"))) == public_bytes(key)
    True
    """
    key: Ed25519PrivateKey = ed25519().Ed25519PrivateKey.generate()
    from cryptography.hazmat.primitives import serialization as s

    text = key.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise HedgerowError(
            f"{os.fspath(path)} exists; a signing key is never replaced. Choose another name."
        ) from None
    with os.fdopen(handle, "wb") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    return key


def load_key(path: str | os.PathLike[str]) -> Ed25519PrivateKey:
    """Read a signing key; refuse a file that others can read."""
    cls: type[Ed25519PrivateKey] = ed25519().Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise HedgerowError(f"{os.fspath(path)} can be read by others; run: chmod 600 {os.fspath(path)}")
    try:
        key = load_pem_private_key(Path(path).read_bytes(), password=None)
    except (ValueError, TypeError) as error:
        raise FormatError(f"{os.fspath(path)} is not a signing key: {error}") from error
    if not isinstance(key, cls):
        raise FormatError(f"{os.fspath(path)} is not an Ed25519 key; make one with generate_key.")
    return key
