"""Signatures on reports (PAdES), which record the hash of the document before it was signed.

The signature is appended: a signed file begins with the bytes of the unsigned one.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from getpass import getpass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError
from scorereport.history.signing_keys import PASSWORD_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_FIELD = "Signature"
_RECORD = "SHA-256 of the unsigned document: "


def sign_pdf(
    pdf: bytes,
    certificate: Path,
    *,
    password: str | None,
    reason: str = "",
    name: str | None = None,
    location: str | None = None,
) -> bytes:
    """Sign a PDF with the key in a PKCS#12 file; the signature allows no later changes."""
    return open_signer(certificate, password=password, reason=reason, name=name, location=location)(pdf)


def open_signer(
    certificate: Path,
    *,
    password: str | None,
    reason: str = "",
    name: str | None = None,
    location: str | None = None,
) -> Callable[[bytes], bytes]:
    """Return a function that signs a PDF with the key in a PKCS#12 file, which is opened and checked now.

    The signature contains `reason`, and the SHA-256 of the unsigned document.
    """
    _check_installed()
    signer = _read_signer(certificate, password)

    def sign(pdf: bytes) -> bytes:
        record = f"{_RECORD}{hashlib.sha256(pdf).hexdigest()}"
        full_reason = f"{reason.rstrip('. ')}. {record}" if reason else record
        with ThreadPoolExecutor(1) as pool:  # a notebook already runs an event loop in its own thread
            return pool.submit(_sign, pdf, signer, full_reason, name, location).result()

    return sign


def unsigned_sha256(pdf: bytes) -> str | None:
    """Return the SHA-256 of the unsigned document that a signature records; None without one."""
    _check_installed()
    from pyhanko.pdf_utils.misc import PdfError
    from pyhanko.pdf_utils.reader import PdfFileReader

    try:
        signatures = PdfFileReader(BytesIO(pdf)).embedded_signatures
    except PdfError as error:
        raise UsageError(f"This is not a PDF that can be read: {error}.") from error
    reasons = (str(signature.sig_object.get("/Reason", "")) for signature in signatures)
    found = (re.search(rf"{_RECORD}([0-9a-f]{{64}})", reason) for reason in reasons)
    return next((match[1] for match in found if match), None)


def read_password(certificate: Path) -> str | None:
    """Return the password of a certificate: from the environment, else by a prompt at the terminal."""
    given = os.environ.get(PASSWORD_VARIABLE)
    if given is not None or not sys.stdin.isatty():
        return given
    return getpass(f"Password of {certificate}: ") or None


def _sign(pdf: bytes, signer: Any, reason: str, name: str | None, location: str | None) -> bytes:
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.sign import signers
    from pyhanko.sign.fields import MDPPerm, SigSeedSubFilter

    settings = signers.PdfSignatureMetadata(
        field_name=_FIELD,
        md_algorithm="sha256",
        subfilter=SigSeedSubFilter.PADES,
        certify=True,
        docmdp_permissions=MDPPerm.NO_CHANGES,
        reason=reason,
        name=name,
        location=location,
    )
    signed = signers.sign_pdf(IncrementalPdfFileWriter(BytesIO(pdf)), settings, signer=signer)
    return bytes(signed.getvalue())


def _read_signer(path: Path, password: str | None) -> Any:
    """Return the key and the certificates of a PKCS#12 file, if they are valid today."""
    from cryptography.hazmat.primitives.serialization.pkcs12 import load_key_and_certificates
    from pyhanko.sign.signers import SimpleSigner

    if not path.is_file():
        raise UsageError(f"The certificate {path} does not exist.")
    content, secret = path.read_bytes(), None if password is None else password.encode()
    try:
        key, certificate, _ = load_key_and_certificates(content, secret)
    except ValueError as error:
        fault = "missing" if secret is None else "wrong"
        raise UsageError(
            f"The certificate {path} cannot be opened: its password is {fault}, or it is not a PKCS#12 file "
            f"(.p12, .pfx). The password is read from {PASSWORD_VARIABLE}."
        ) from error
    if key is None or certificate is None:
        lacking = "private key" if key is None else "certificate that belongs to its key"
        raise UsageError(f"The certificate {path} cannot sign: it contains no {lacking}.")
    _check_valid(path, certificate)
    return SimpleSigner.load_pkcs12_data(content, other_certs=(), passphrase=secret)


def _check_valid(path: Path, certificate: Any) -> None:
    """Refuse a certificate that is not valid today, because its signature would not be accepted."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if not begin <= datetime.now(UTC) <= end:
        raise UsageError(
            f"The certificate {path} is not valid today: it is valid from {begin:%Y-%m-%d} to {end:%Y-%m-%d}."
        )


def _check_installed() -> None:
    try:
        import pyhanko.sign  # noqa: F401
    except ImportError as error:
        raise UsageError('Signatures require pyHanko: pip install "scorereport[sign]"') from error
