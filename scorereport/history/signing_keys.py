"""Keys that sign records: private keys in files, public keys, and signatures of texts.

Signatures are those of DSSE (Dead Simple Signing Envelope): the type of a text is signed with the text, so
that a signature of a record cannot pass for one of anything else.
"""

from __future__ import annotations

import base64
import errno
import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import make_folder, only_owner
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

PASSWORD_VARIABLE = "SCOREREPORT_SIGN_PASSWORD"
PKCS12_ENDINGS = (".p12", ".pfx")
#: Errors of file systems that have no links.
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP)
#: Bits of a mode that let others read or write a file.
_OTHERS = 0o077


@dataclass(frozen=True, slots=True, eq=False)
class SigningKey:
    """A private key, opened; `public_key` is its SubjectPublicKeyInfo (DER)."""

    public_key: bytes
    _private: Any = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key."""
        return find_fingerprint(self.public_key)

    def sign(self, payload: bytes, payload_type: str) -> bytes:
        """Sign a payload with its type."""
        content = encode_payload(payload, payload_type)
        return bytes(self._private.sign(content, *_find_scheme(self._private)))

    def __reduce__(self) -> Any:
        raise TypeError("A private key must not leave its process.")


def find_fingerprint(public_key: bytes) -> str:
    """Return the SHA-256 of a public key."""
    return hashlib.sha256(public_key).hexdigest()


def encode_payload(payload: bytes, payload_type: str) -> bytes:
    """Encode a payload with its type before it is signed (DSSE, version 1)."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def is_signed(payload: bytes, payload_type: str, *, signature: bytes, public_key: bytes) -> bool:
    """Whether a signature of a payload and its type is valid."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    try:
        key: Any = load_der_public_key(public_key)
        key.verify(signature, encode_payload(payload, payload_type), *_find_scheme(key))
    except (InvalidSignature, UnsupportedAlgorithm, ValueError, TypeError, UsageError):
        return False
    return True


def _find_scheme(key: Any) -> tuple[Any, ...]:
    """Return the arguments of `sign` and `verify` for a kind of key; refuse a kind that is not supported."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa

    if isinstance(key, ed25519.Ed25519PrivateKey | ed25519.Ed25519PublicKey):
        return ()
    if isinstance(key, ec.EllipticCurvePrivateKey | ec.EllipticCurvePublicKey):
        return (ec.ECDSA(hashes.SHA256()),)
    if isinstance(key, rsa.RSAPrivateKey | rsa.RSAPublicKey):
        return padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH), hashes.SHA256()
    raise UsageError("A key that signs records must be Ed25519, ECDSA or RSA.")


def create_signing_key(path: Path) -> SigningKey:
    """Make an Ed25519 key, and write it to a file that only its owner may read; never replace a file."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    private = Ed25519PrivateKey.generate()
    content = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        make_folder(path.parent)
        is_new = _write_once(path, content)
    except OSError as error:
        raise UsageError(
            f"The key that signs records cannot be written to {path}: {error.strerror or error}. To fix: "
            "name a file that can be written in `audit.signing.key`."
        ) from error
    return _open_key(private) if is_new else read_signing_key(path)


def _write_once(path: Path, content: bytes) -> bool:
    """Write a file completely or not at all; return False if another process wrote it first."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        _write_whole(unfinished, content)
        _name_once(unfinished, path)
    except (FileExistsError, FileNotFoundError):
        if not path.exists():
            raise
        return False  # a process that found the key there has removed what others had begun
    finally:
        with suppress(OSError):
            unfinished.unlink()
    return True


def _name_once(unfinished: Path, path: Path) -> None:
    """Give a file its name, unless a file has it already."""
    try:
        os.link(unfinished, path)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if path.exists():
            raise FileExistsError from error
        unfinished.rename(path)


def _write_whole(path: Path, content: bytes) -> None:
    descriptor = only_owner(str(path), os.O_CREAT | os.O_TRUNC | os.O_WRONLY)
    with open(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _remove_unfinished(path: Path) -> None:
    """Remove files of processes that were killed when they made the key: one may be a second name of it."""
    with suppress(OSError):
        beside = [other for other in path.parent.iterdir() if other.stem == f".{path.name}"]
        for unfinished in (other for other in beside if other.suffix[1:].isdigit() and path.exists()):
            unfinished.unlink(missing_ok=True)


def read_signing_key(path: Path) -> SigningKey:
    """Open the private key of a file, .pem or PKCS#12, whose password is in the environment."""
    _remove_unfinished(path)
    try:
        content, mode = path.read_bytes(), path.stat().st_mode
    except OSError as error:
        raise UsageError(
            f"The key that signs records, {path}, cannot be read: {error.strerror or error}."
        ) from error
    if os.name == "posix" and mode & _OTHERS:
        raise UsageError(
            f"The key that signs records, {path}, can be read or written by others. To fix: chmod 600 {path}"
        )
    is_pkcs12 = path.suffix.lower() in PKCS12_ENDINGS
    return _open_key(_read_pkcs12(path, content) if is_pkcs12 else _read_pem(path, content))


def _open_key(private: Any) -> SigningKey:
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    _find_scheme(private)
    public = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return SigningKey(public, private)


def _read_pem(path: Path, content: bytes) -> Any:
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        return load_pem_private_key(content, _find_password())
    except (ValueError, TypeError, UnsupportedAlgorithm):  # not chained: its message may quote the file
        raise UsageError(
            f"The key that signs records, {path}, cannot be opened: it is not a private key in PEM, or the "
            f"password in {PASSWORD_VARIABLE} is missing, wrong or not needed."
        ) from None


def _read_pkcs12(path: Path, content: bytes) -> Any:
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_key_and_certificates

    try:
        key, _, _ = load_key_and_certificates(content, _find_password())
    except ValueError:
        raise UsageError(
            f"The key that signs records, {path}, cannot be opened: it is not a PKCS#12 file, or the "
            f"password in {PASSWORD_VARIABLE} is missing or wrong."
        ) from None
    if key is None:
        raise UsageError(f"The file {path} contains no private key that could sign records.")
    return key


def _find_password() -> bytes | None:
    password = os.environ.get(PASSWORD_VARIABLE)
    return password.encode() if password else None


def decode_base64(text: str) -> bytes:
    """Return the bytes of a text in base64; b"" if it is not one."""
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return b""
