"""Signatures: accepted by other programs, broken by any change, and added without changing a byte before."""

from __future__ import annotations

import asyncio
import hashlib
import io
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from test_render import RESULTS, TIME, assert_conformance, page_of

from scorereport.errors import UsageError
from scorereport.report.pdf import render_pdf
from scorereport.report.signatures import open_signer, read_password, sign_pdf, unsigned_sha256

pytest.importorskip("pyhanko.sign", reason='Signatures need pip install "scorereport[sign]".')

PASSWORD = "pass wörd"


def make_certificate(key, *, begins=-1, ends=1):
    """A certificate that its owner has signed, valid from and to some days from now."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes

    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Vera Validator")])
    usage = dict.fromkeys(
        (
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "crl_sign",
            "encipher_only",
            "decipher_only",
        ),
        False,
    )
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(17)
        .not_valid_before(datetime.now(UTC) + timedelta(days=begins))
        .not_valid_after(datetime.now(UTC) + timedelta(days=ends))
        .add_extension(
            x509.KeyUsage(digital_signature=True, content_commitment=True, key_cert_sign=True, **usage), True
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )


@pytest.fixture(scope="module")
def key():
    from cryptography.hazmat.primitives.asymmetric import rsa

    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@pytest.fixture(scope="module")
def owner(key):
    return make_certificate(key)


def write_archive(path, key, certificate, password=PASSWORD):
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, NoEncryption, pkcs12

    how = NoEncryption() if password is None else BestAvailableEncryption(password.encode())
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"validator", key, certificate, None, how))
    return path


@pytest.fixture(scope="module")
def archive(key, owner, tmp_path_factory):
    return write_archive(tmp_path_factory.mktemp("keys") / "validator.p12", key, owner)


@pytest.fixture(scope="module")
def unsigned():
    return render_pdf(page_of("<p>Approved.</p>"), attachments=[RESULTS], created=TIME)


@pytest.fixture(scope="module")
def signed(unsigned, archive):
    return sign_pdf(
        unsigned, archive, password=PASSWORD, reason="Εγκρίθηκε.", name="Vera Validator", location="Zürich"
    )


def validate(pdf, owner):
    """The only signature and its validation by pyHanko, which trusts the owner's certificate."""
    from asn1crypto import x509
    from cryptography.hazmat.primitives.serialization import Encoding
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.validation import validate_pdf_signature
    from pyhanko_certvalidator import ValidationContext

    (signature,) = PdfFileReader(io.BytesIO(pdf)).embedded_signatures
    root = x509.Certificate.load(owner.public_bytes(Encoding.DER))
    return signature, validate_pdf_signature(signature, ValidationContext(trust_roots=[root]))


def flip(pdf):
    """Change a byte in a comment, which changes nothing that is shown."""
    assert pdf[9:10] == b"%"
    return pdf[:10] + bytes([pdf[10] ^ 1]) + pdf[11:]


# ---- What a signature is ----


def test_a_signed_file_begins_with_the_unsigned_one_and_names_it(unsigned, signed):
    assert signed.startswith(unsigned)
    assert len(unsigned) < len(signed) < len(unsigned) + 30_000
    recorded = unsigned_sha256(signed)
    assert recorded == hashlib.sha256(signed[: len(unsigned)]).hexdigest()
    assert unsigned_sha256(unsigned) is None


def test_a_signature_covers_the_whole_file_and_allows_no_change(signed, owner):
    signature, status = validate(signed, owner)
    assert status.bottom_line
    assert status.coverage.name == "ENTIRE_FILE"
    assert signature.sig_object["/SubFilter"] == "/ETSI.CAdES.detached"
    assert signature.docmdp_level.name == "NO_CHANGES"
    assert str(signature.sig_object["/Reason"]).startswith("Εγκρίθηκε. SHA-256 of the unsigned document: ")
    assert str(signature.sig_object["/Name"]) == "Vera Validator"
    assert str(signature.sig_object["/Location"]) == "Zürich"


def test_one_other_byte_breaks_a_signature(unsigned, signed, owner):
    changed = flip(signed)
    assert not validate(changed, owner)[1].intact
    assert unsigned_sha256(changed) != hashlib.sha256(changed[: len(unsigned)]).hexdigest()


def test_other_readers_accept_a_signature(signed, tmp_path):
    if shutil.which("pdfsig") is None:
        pytest.skip("There is no pdfsig (poppler-utils) here.")
    files = {"signed": signed, "changed": flip(signed)}
    outputs = {}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        outputs[name] = subprocess.run(
            ["pdfsig", "-nocert", tmp_path / name], capture_output=True, text=True, check=False
        ).stdout
    assert "Signature is Valid." in outputs["signed"]
    assert "Total document signed" in outputs["signed"]
    assert "Signature is Valid." not in outputs["changed"]


@pytest.mark.sweep
def test_a_signed_document_still_conforms_to_both_norms(signed, tmp_path):
    (tmp_path / "signed.pdf").write_bytes(signed)
    assert_conformance(tmp_path / "signed.pdf")


@pytest.mark.sweep
def test_a_notebook_can_sign(unsigned, archive):
    """Where an event loop already runs."""

    async def cell():
        return open_signer(archive, password=PASSWORD)(unsigned)

    assert unsigned_sha256(asyncio.run(cell())) == hashlib.sha256(unsigned).hexdigest()


@pytest.mark.sweep
def test_a_key_without_password_signs(unsigned, key, owner, tmp_path):
    bare = write_archive(tmp_path / "bare.p12", key, owner, password=None)
    assert sign_pdf(unsigned, bare, password=None).startswith(unsigned)


# ---- What is refused ----


@pytest.mark.parametrize(
    ("password", "fault"),
    [("other", "wrong"), ("", "wrong"), (None, "missing")],
    ids=["other", "empty", "none"],
)
def test_a_wrong_password_is_reported_before_anything_is_signed(archive, password, fault):
    with pytest.raises(
        UsageError,
        match=rf"^The certificate \S+validator\.p12 cannot be opened: its password is {fault}, or it is not "
        r"a PKCS#12 file .* from SCOREREPORT_SIGN_PASSWORD\.$",
    ):
        open_signer(archive, password=password)


def test_a_file_that_is_not_a_certificate_is_refused(tmp_path):
    with pytest.raises(UsageError, match=r"^The certificate \S+none\.p12 does not exist\.$"):
        open_signer(tmp_path / "none.p12", password=PASSWORD)
    (tmp_path / "odd.p12").write_text("odd", encoding="utf-8")
    with pytest.raises(
        UsageError, match=r"^The certificate \S+odd\.p12 cannot be opened: .* not a PKCS#12 file"
    ):
        open_signer(tmp_path / "odd.p12", password=PASSWORD)


def test_a_certificate_without_its_key_cannot_sign(owner, key, tmp_path):
    cases = {"private key": (None, owner), "certificate that belongs to its key": (key, None)}
    for lacking, (some_key, some_certificate) in cases.items():
        path = write_archive(tmp_path / "part.p12", some_key, some_certificate)
        with pytest.raises(
            UsageError, match=rf"^The certificate \S+ cannot sign: it contains no {lacking}\.$"
        ):
            open_signer(path, password=PASSWORD)


@pytest.mark.parametrize(("begins", "ends"), [(-20, -10), (10, 20)], ids=["expired", "not yet"])
def test_a_certificate_must_be_valid_today(key, tmp_path, begins, ends):
    path = write_archive(tmp_path / "late.p12", key, make_certificate(key, begins=begins, ends=ends))
    days = [f"{datetime.now(UTC) + timedelta(days=day):%Y-%m-%d}" for day in (begins, ends)]
    with pytest.raises(
        UsageError,
        match=rf"^The certificate \S+ is not valid today: it is valid from {days[0]} to {days[1]}\.$",
    ):
        open_signer(path, password=PASSWORD)


def test_the_extra_is_named_where_it_is_missing(archive, monkeypatch, unsigned):
    monkeypatch.setitem(sys.modules, "pyhanko", None)
    monkeypatch.setitem(sys.modules, "pyhanko.sign", None)
    for use in (lambda: open_signer(archive, password=PASSWORD), lambda: unsigned_sha256(unsigned)):
        with pytest.raises(
            UsageError, match=r'^Signatures require pyHanko: pip install "scorereport\[sign\]"$'
        ):
            use()


def test_a_file_that_is_not_a_pdf_has_no_hash():
    with pytest.raises(UsageError, match=r"^This is not a PDF that can be read: "):
        unsigned_sha256(b"no PDF")


# ---- Passwords ----


def test_a_password_comes_from_the_environment_or_the_terminal(monkeypatch, tmp_path):
    prompts = []
    monkeypatch.setattr(
        "scorereport.report.signatures.getpass", lambda prompt: prompts.append(prompt) or "typed"
    )
    monkeypatch.setenv("SCOREREPORT_SIGN_PASSWORD", "kept")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert read_password(tmp_path) == "kept"
    monkeypatch.delenv("SCOREREPORT_SIGN_PASSWORD")
    assert read_password(tmp_path) is None
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert prompts == []
    assert read_password(tmp_path) == "typed"
    assert prompts == [f"Password of {tmp_path}: "]
