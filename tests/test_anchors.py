"""Anchors: attestations and time stamps outside of a history show that it was rolled back or rewritten."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy
from audit_tools import BRIEF, make_scored, start_audit, write_audit
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    pkcs12,
)
from time_stamp_tools import make_authority, serve_stamps
from typer.testing import CliRunner

from scorereport.audit import anchors
from scorereport.audit.annulment import annul_record
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.run import hold_audit_lock, run_audit
from scorereport.channels import notification
from scorereport.cli.application import app
from scorereport.errors import UsageError
from scorereport.history import anchor_check, time_stamps
from scorereport.history.attestations import attest_record, build_statement, read_attestation
from scorereport.history.signing_keys import encode_payload, read_signing_key
from scorereport.history.store import open_history
from scorereport.history.time_stamps import StampCheck, StampError, open_stamp_check

MONTHS = ("2026-06", "2026-07", "2026-08", "2026-09")
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def authority():
    return make_authority()


@pytest.fixture(scope="module")
def server(authority):
    with serve_stamps(authority) as server:
        yield server


def fill(home, authority):
    home.mkdir()
    make_scored("2026-06-01", 122, rows=3).to_csv(home / "scores.csv", index=False)
    (home / "tsa.pem").write_bytes(authority.pem)
    return home


@pytest.fixture
def place(tmp_path, authority):
    return fill(tmp_path / "bank", authority)


def configure(place, url="", **audit):
    stamps = {"time_stamp": url, "authority": "tsa.pem"} if url else {}
    return write_audit(place, report=BRIEF, anchors={"folder": "../kept", **stamps}, **audit)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory, authority):
    """A folder with an audit of one record, which is attested but not stamped."""
    home = tmp_path_factory.mktemp("recorded") / "bank"
    fill(home, authority)
    run(configure(home), MONTHS[0])
    return home


@pytest.fixture
def unstamped(recorded, server, tmp_path):
    """A copy of that folder, with a configuration that asks for stamps."""
    shutil.copytree(recorded.parent, tmp_path, dirs_exist_ok=True)
    return configure(tmp_path / "bank", server.url)


@pytest.fixture
def config(place):
    return configure(place)


@pytest.fixture
def stamping(place, server):
    return configure(place, server.url)


def run(config, month, **options):
    return run_audit(config, period=month, **options)


def kept(config, ending=".dsse.json"):
    return sorted(
        (config.parent.parent / "kept").glob(f"*{ending}"), key=lambda path: int(path.name.split("-")[0])
    )


def command(*arguments):
    return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def verify(config, **options):
    return verify_audit_history(read_plan(config), **options)


def sentences(config, **options):
    return " ".join(finding.sentence for finding in verify(config, **options).findings)


def read_key(config):
    return read_signing_key(read_plan(config).signing_key)


def payload_of(path):
    return json.loads(base64.b64decode(json.loads(path.read_text())["payload"]))


# ---- Attestations ----


def test_the_encoding_is_that_of_the_specification():
    """The example of protocol.md of DSSE 1.0.0."""
    expected = b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"
    assert encode_payload(b"hello world", "http://example.com/HelloWorld") == expected


def test_each_record_has_a_signed_statement_about_it(config):
    record = run(config, MONTHS[0]).record
    (path,) = kept(config)
    assert path.name == f"1-{record.sha256[:12]}.dsse.json"
    envelope = json.loads(path.read_text())
    assert list(envelope) == ["payload", "payloadType", "signatures"]
    assert envelope["payloadType"] == "application/vnd.in-toto+json"
    assert list(envelope["signatures"][0]) == ["keyid", "sig"]
    assert envelope["signatures"][0]["keyid"] == record.signature.fingerprint
    statement = payload_of(path)
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://in-toto.io/attestation/test-result/v0.1"
    assert statement["subject"] == [
        {"name": "record 1 of loans", "digest": {"sha256": record.sha256}},
        {"name": "loans/2026-06.json", "digest": {"sha256": record.files[0].sha256}},
    ]
    predicate = statement["predicate"]
    assert predicate["result"] == "PASSED"
    assert predicate["configuration"][0]["digest"]["sha256"] == record.configuration_sha256
    assert predicate["scorereport"]["previous"] == record.previous
    assert verify(config).findings == ()
    assert verify(config).warnings == ()


def test_limits_and_the_certificate_are_the_tests_of_the_statement(place):
    limits = {"brier": 0.01, "roc_auc": 0.1}
    config = configure(place, limits=limits)
    record = run(config, MONTHS[0]).record
    assert str(record.status) == "fail"
    statement = json.loads(build_statement(replace(record, certificate="certified")))
    predicate = statement["predicate"]
    assert predicate["result"] == "FAILED"
    assert predicate["failedTests"] == ["brier of logit"]
    assert predicate["passedTests"] == ["roc_auc of logit", "R certificate"]
    assert predicate["scorereport"]["limits"][0] == {"limit": "brier of logit", "verdict": "fail"}


def test_the_same_record_gives_the_same_bytes(config):
    record = run(config, MONTHS[0]).record
    written = kept(config)[0].read_bytes()
    assert attest_record(record, read_key(config)) == written
    assert run(config, MONTHS[0]).is_new is False
    assert kept(config)[0].read_bytes() == written


def make_private(kind):
    return rsa.generate_private_key(65537, 2048) if kind == "rsa" else ec.generate_private_key(ec.SECP256R1())


def make_archive(path, private):
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "Auditor")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(private.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )
    from cryptography.hazmat.primitives.hashes import SHA256

    signed = certificate.sign(private, SHA256())
    protection = BestAvailableEncryption(PASSWORD.encode())
    path.write_bytes(pkcs12.serialize_key_and_certificates(b"key", private, signed, None, protection))
    path.chmod(0o600)


@pytest.mark.parametrize("kind", ["rsa", "ec"])
def test_a_key_of_pkcs12_attests_as_well(place, kind, monkeypatch, capfd):
    monkeypatch.setenv("SCOREREPORT_SIGN_PASSWORD", PASSWORD)
    make_archive(place / "key.p12", make_private(kind))
    config = configure(place, signing={"key": "key.p12"})
    run(config, MONTHS[0])
    written = kept(config)[0].read_bytes()
    run(config, MONTHS[0])  # signatures of these keys are random: the file is not written again
    assert kept(config)[0].read_bytes() == written
    assert verify(config).findings == ()
    assert PASSWORD.encode() not in b"".join(path.read_bytes() for path in kept(config))
    assert PASSWORD not in "".join(capfd.readouterr())


def test_other_records_are_anchored_as_well(config):
    run(config, MONTHS[0])
    annulment = annul_record(config, 1, reason="The file was a draft.").record
    assert [path.name.split("-")[0] for path in kept(config)] == ["1", "2"]
    assert payload_of(kept(config)[1])["predicate"]["scorereport"]["kind"] == "annulment"
    assert payload_of(kept(config)[1])["subject"][0]["digest"]["sha256"] == annulment.sha256
    assert verify(config).findings == ()


def test_a_failed_run_is_anchored_as_failed(config):
    (config.parent / "scores.csv").write_text("day,y,logit\n")
    run(config, MONTHS[0])
    assert payload_of(kept(config)[0])["predicate"]["result"] == "FAILED"


# ---- Rollback ----


def roll_back(config, months=MONTHS[:3]):
    """Database, files and chain head as they were after the first run, though more were made."""
    run(config, months[0])
    folder = config.parent / "audits"
    shutil.copytree(folder, config.parent / "old")
    last = [run(config, month) for month in months[1:]][-1].record
    shutil.rmtree(folder)
    (config.parent / "old").rename(folder)
    return last


def test_a_rollback_of_database_files_and_head_is_named(config):
    last = roll_back(config)
    text = sentences(config)
    assert f"Record 3, loans 2026-08, which ended at {last.finished}" in text
    assert last.sha256 in text
    assert "the history ends with record 1, so that 2 records are missing" in text
    assert "restored to an older copy" in text
    result = command("verify", config)
    assert result.exit_code == 1
    assert last.sha256 in result.output


def test_without_anchors_the_same_rollback_is_not_seen(place):
    config = write_audit(place, report=BRIEF)
    roll_back(config)
    assert verify(config).findings == ()


def test_a_run_refuses_a_history_that_was_rolled_back(place):
    config = configure(place, notify={"on": ["failed"], "command": ["cp", "/dev/stdin", "sent.json"]})
    last = roll_back(config)
    with pytest.raises(UsageError, match="Nothing was recorded") as refused:
        run(config, MONTHS[3])
    assert "names record" in str(refused.value)
    assert "the history ends with record 1" in str(refused.value)
    assert len(kept(config)) == 3
    with open_history(read_plan(config).database_url) as history:
        assert history.last().id == 1
    sent = json.loads((place / "sent.json").read_text())
    assert "restored to an older copy" in sent["reason"]
    assert sent["head"] is None
    with pytest.raises(UsageError, match="Nothing was recorded"):
        annul_record(config, 1, reason="The file was a draft.")
    assert last.sha256[:12] in kept(config)[2].name


def test_a_history_that_continued_after_a_rollback_is_named(config):
    last = roll_back(config)
    for path in kept(config):
        path.rename(path.with_name(f"away{path.name}.old"))
    other = run(config, MONTHS[3]).record
    for path in (config.parent.parent / "kept").glob("away*"):
        path.rename(path.with_name(path.name.removeprefix("away").removesuffix(".old")))
    text = sentences(config)
    assert "Record 3" in text
    assert last.sha256 in text
    assert "Record 2, loans 2026-07, which ended at" in text
    assert f"has another SHA-256 in the history, {other.sha256}" in text


def test_a_history_that_was_removed_is_named(config):
    run(config, MONTHS[0])
    shutil.rmtree(config.parent / "audits")
    text = sentences(config)
    assert "is missing, though there are anchors of it" in text
    assert kept(config)[0].name in text
    with pytest.raises(UsageError, match="the history has no records"):
        run(config, MONTHS[0])


def test_anchors_kept_elsewhere_name_a_rollback(place, tmp_path):
    config = configure(place)
    roll_back(config)
    away = tmp_path / "usb"
    (tmp_path / "kept").rename(away)
    assert verify(config).findings == ()
    result = command("verify", config, *(part for path in away.iterdir() for part in ("--anchor", path)))
    assert result.exit_code == 1
    assert "2 records are missing" in result.output
    for wrong in (away / "none.tsr", place / "scores.csv"):
        assert isinstance(command("verify", config, "--anchor", wrong).exception, UsageError)


@pytest.mark.sweep
def test_machines_that_share_a_history_share_its_anchors(tmp_path, authority, postgres_url, monkeypatch):
    monkeypatch.setenv("HISTORY", postgres_url)
    database = {"history": {"database": "${HISTORY}"}}
    places = [fill(tmp_path / name, authority) for name in ("bank", "branch")]
    first, second = (configure(place, **database, name=place.name) for place in places)
    for config, month in ((first, MONTHS[0]), (second, MONTHS[0]), (first, MONTHS[1])):
        run(config, month)
    assert [path.name.split("-")[0] for path in kept(first)] == ["1", "2", "3"]
    for config in (first, second):
        found = verify(config)
        assert (found.findings, found.warnings) == ((), ())
    engine = sqlalchemy.create_engine(read_plan(first).database_url)
    with engine.begin() as connection:  # an administrator restores an older copy
        for sentence in ("ALTER TABLE {0} DISABLE TRIGGER USER", "DELETE FROM {0} WHERE id = 3"):
            connection.execute(sqlalchemy.text(sentence.format("audits")))
    engine.dispose()
    with open_history(postgres_url) as history:
        head = history.get(1)
    read_plan(first).chain_head.write_text(f"1 {head.sha256}\n")
    assert "the history ends with record 2, so that one record is missing" in sentences(second)
    for config in (first, second):
        with pytest.raises(UsageError, match="was restored to an older copy"):
            run(config, MONTHS[2])


# ---- Files that others put into the folder ----


def make_stranger(tmp_path):
    path = tmp_path / "stranger.pem"
    private = Ed25519PrivateKey.generate()
    path.write_bytes(private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    key = read_signing_key(path)
    public = private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return key, base64.b64encode(public).decode()


def test_planted_files_are_findings_and_do_not_block_runs(config, tmp_path):
    record = run(config, MONTHS[0]).record
    key, public = make_stranger(tmp_path)
    forged = replace(record, id=9, signature=replace(record.signature, public_key=public))
    folder = tmp_path / "kept"
    (folder / "9-aaaaaaaaaaaa.dsse.json").write_bytes(attest_record(forged, key))
    (folder / "8-aaaaaaaaaaaa.dsse.json").write_bytes(attest_record(replace(record, id=8), key))
    (folder / "7-aaaaaaaaaaaa.dsse.json").write_text("[" * 100_000)
    (folder / "6-aaaaaaaaaaaa.dsse.json").write_bytes(b"\xff\x00")
    (folder / "5-aaaaaaaaaaaa.dsse.json").mkdir()
    (folder / "4-aaaaaaaaaaaa.dsse.json").write_text('{"signatures":[{}],"payload":"e30="}')
    (folder / "notes.txt").write_text("by hand")
    os.mkfifo(folder / "3-aaaaaaaaaaaa.dsse.json")
    with (folder / "2-aaaaaaaaaaaa.tsr").open("wb") as large:
        large.truncate(1 << 23)
    run(config, MONTHS[1])
    found = verify(config)
    text = " ".join(finding.sentence for finding in found.findings)
    assert f"9-aaaaaaaaaaaa.dsse.json is signed by the key {key.fingerprint}, which is not trusted" in text
    assert "5-aaaaaaaaaaaa.dsse.json cannot be read: it is not a file" in text
    assert "3-aaaaaaaaaaaa.dsse.json cannot be read: it is not a file" in text
    assert "2-aaaaaaaaaaaa.tsr has more than 4194304 bytes" in text
    for number in (4, 6, 7, 8):  # the key of 8 is not the one that it names
        assert f"{number}-aaaaaaaaaaaa.dsse.json was changed, or a run did not write it" in text
    assert len(found.findings) == 8
    assert any("notes.txt is not an anchor" in note for note in found.notes)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (b'"keyid":"', b'"keyid":"0', "was changed"),
        (b'"payload":"', b'"payload": "', "was changed"),
        (b'"sig":"', b'"sig":"AAAA', "signature that is not valid"),
    ],
)
def test_a_changed_attestation_is_named(config, old, new, expected):
    run(config, MONTHS[0])
    (path,) = kept(config)
    path.write_bytes(path.read_bytes().replace(old, new))
    assert f"{path} " in sentences(config)
    assert expected in sentences(config)


def test_an_attestation_with_another_verdict_is_named(config):
    record = run(config, MONTHS[0]).record
    (path,) = kept(config)
    text = path.read_text()
    envelope = json.loads(text)
    payload = base64.b64decode(envelope["payload"]).replace(b'"exitCode":0', b'"exitCode":1')
    envelope["payload"] = base64.b64encode(payload).decode()
    path.write_text(json.dumps(envelope, separators=(",", ":")) + "\n")
    assert "signature that is not valid" in sentences(config)
    key = read_key(config)
    signature = key.sign(payload, "application/vnd.in-toto+json")  # by the holder of the key
    envelope["signatures"][0]["sig"] = base64.b64encode(signature).decode()
    path.write_text(json.dumps(envelope, separators=(",", ":")) + "\n")
    assert read_attestation(path.read_bytes()).is_signed
    assert "says exitCode = 1, but the record says 0" in sentences(config)
    assert record.exit_code == 0


def test_a_key_that_was_replaced_cannot_claim_later_records(config, monkeypatch):
    record = run(config, MONTHS[0]).record
    key = read_key(config)
    later = replace(record, id=9)
    (config.parent.parent / "kept" / "9-aaaaaaaaaaaa.dsse.json").write_bytes(attest_record(later, key))
    with pytest.raises(UsageError, match="names record 9"):
        run(config, MONTHS[1])
    monkeypatch.setattr(anchors, "find_replaced", lambda *_: {key.fingerprint: 2})
    run(config, MONTHS[1])


# ---- Time stamps ----


def test_a_stamp_is_of_the_hash_of_the_record(stamping, server):
    record = run(stamping, MONTHS[0]).record
    (path,) = kept(stamping, ".tsr")
    assert path.name == f"1-{record.sha256[:12]}.tsr"
    stamp = StampCheck(open_stamp_check(stamping.parent / "tsa.pem").trusted).check(
        path.read_bytes(), record.sha256
    )
    assert stamp.authority == "Test time stamps"
    assert abs(stamp.time - datetime.now(UTC)) < timedelta(minutes=5)
    assert bytes.fromhex(record.sha256) in server.requests[-1]
    found = verify(stamping)
    assert (found.findings, found.warnings) == ((), ())
    assert any("1 attestation and 1 time stamp agree" in note for note in found.notes)
    result = command("show", 1, stamping)
    assert f"{record.sha256[:12]}.dsse.json, time-stamped {stamp.describe()}" in result.output


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the program openssl is not installed")
def test_openssl_accepts_a_stamp_of_the_record_and_of_no_other(stamping):
    record = run(stamping, MONTHS[0]).record
    (path,) = kept(stamping, ".tsr")

    def accepts(sha256):
        words = ["openssl", "ts", "-verify", "-digest", sha256, "-in", path, "-CAfile"]
        trusted = stamping.parent / "tsa.pem"
        return subprocess.run([*words, trusted], check=False, capture_output=True).returncode == 0

    assert accepts(record.sha256)
    assert not accepts("0" * 64)


def read_blocks(readme):
    """The indented blocks of a text: the commands that it shows."""
    parts = [part for part in readme.split("\n\n") if part.startswith("    ")]
    return ["\n".join(line[4:] for line in part.splitlines()) for part in parts]


def run_block(folder, text):
    return subprocess.run(["sh", "-e", "-c", text], cwd=folder, check=False, capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the program openssl is not installed")
@pytest.mark.parametrize("kind", ["ed25519", "ec", "rsa"])
def test_the_commands_of_an_archive_check_signatures_and_anchors(place, server, tmp_path, kind, monkeypatch):
    options = {}
    if kind != "ed25519":
        monkeypatch.setenv("SCOREREPORT_SIGN_PASSWORD", PASSWORD)
        make_archive(place / "key.p12", make_private(kind))
        options = {"signing": {"key": "key.p12"}}
    config = configure(place, server.url, **options)
    record = run(config, MONTHS[0]).record
    assert command("export", config, "-o", tmp_path / "all.zip").exit_code == 0
    assert command("export", config, "-o", tmp_path / "again.zip").exit_code == 0
    assert (tmp_path / "all.zip").read_bytes() == (tmp_path / "again.zip").read_bytes()
    opened = tmp_path / "opened"
    shutil.unpack_archive(tmp_path / "all.zip", opened)
    assert len(list((opened / "anchors").iterdir())) == 2
    shutil.copy(place / "tsa.pem", opened)
    blocks = read_blocks((opened / "README.txt").read_text())
    signature, others, attestation, stamp = blocks[-4:]
    other = {"ec": others.splitlines()[0], "rsa": "\n".join(others.splitlines()[1:])}.get(kind)
    lines = [line for line in signature.splitlines() if not line.startswith("openssl pkeyutl")]
    checked = signature if other is None else "\n".join([*lines, other])
    result = run_block(opened, checked)
    assert result.returncode == 0, result.stderr
    assert record.signature.fingerprint in result.stdout
    if other is None:
        assert run_block(opened, attestation).returncode == 0
        assert record.sha256 in (opened / "text").read_text()
        (opened / "signed").write_bytes((opened / "signed").read_bytes().replace(b"loans", b"loanz"))
        assert run_block(opened, attestation.splitlines()[-1]).returncode != 0
    stamp = stamp.replace("HASH_OF_THE_RECORD", record.sha256)
    assert run_block(opened, stamp).returncode == 0


def stamp_first(config):
    """Stamp the record that the folder has."""
    plan = read_plan(config)
    with open_history(plan.database_url) as history:
        record = history.get(1)
    assert anchors.anchor_record(plan, record, read_key(config)) == []
    return record


def replace_stamp(config, content):
    (path,) = kept(config, ".tsr")
    path.write_bytes(content)
    return path


def test_forged_stamps_are_named(unstamped, authority):
    stamping, record = unstamped, stamp_first(unstamped)
    original = kept(stamping, ".tsr")[0].read_bytes()
    replace_stamp(stamping, authority.stamp("ab" * 32))
    assert f"stamps sha256 {'ab' * 32}, not the record {record.sha256}" in sentences(stamping)
    replace_stamp(stamping, make_authority(name="Another").stamp(record.sha256))
    assert "of Another, which no trusted certificate has issued" in sentences(stamping)
    early = datetime.now(UTC) - timedelta(days=2)
    replace_stamp(stamping, authority.stamp(record.sha256, fixed_dt=early))
    assert f"{early:%Y-%m-%d %H:%M:%S} UTC by Test time stamps, before record 1 ended" in sentences(stamping)
    late = datetime.now(UTC) + timedelta(days=2)
    replace_stamp(stamping, authority.stamp(record.sha256, fixed_dt=late))
    assert "which is in the future" in sentences(stamping)
    path = replace_stamp(stamping, original[:-40] + bytes([original[-40] ^ 1]) + original[-39:])
    assert "that is not valid: it was forged or changed" in sentences(stamping)
    path.write_bytes(b"no stamp")
    assert "is not the answer of a time-stamp authority" in sentences(stamping)
    path.write_bytes(original)
    assert verify(stamping).findings == ()


def test_one_other_byte_never_makes_another_stamp(authority):
    """Whatever byte of a stamp is changed, its time, its hash and its authority stay, or it is refused."""
    content, sha256 = authority.stamp("ab" * 32), "ab" * 32
    check = StampCheck(tuple(_load(authority.pem)))
    original = check.check(content, sha256)
    for place in range(0, len(content), 23):
        changed = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        try:
            assert check.check(changed, sha256) == original
        except StampError:
            continue


def _load(pem):
    from asn1crypto import pem as reader
    from asn1crypto import x509 as certificates

    return [certificates.Certificate.load(der) for _, _, der in reader.unarmor(pem, multiple=True)]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the program openssl is not installed")
def test_a_stamp_of_openssl_is_accepted(authority, tmp_path):
    """Another implementation of an authority: requests are read, and answers are accepted."""
    form = Encoding.PEM
    private = authority.key.private_bytes(form, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").write_bytes(private)
    (tmp_path / "tsa.crt").write_bytes(authority.certificate.public_bytes(form))
    (tmp_path / "serial").write_text("01\n")
    (tmp_path / "tsa.cnf").write_text(
        "[tsa]\nserial = serial\nsigner_cert = tsa.crt\nsigner_key = key.pem\nsigner_digest = sha256\n"
        "default_policy = 1.2.3.4.1\ndigests = sha256, sha512\n"
    )
    query = time_stamps.build_stamp_query("ab" * 32)
    (tmp_path / "query").write_bytes(query.content)
    words = "openssl ts -reply -config tsa.cnf -section tsa -queryfile query -out answer"
    subprocess.run(words.split(), cwd=tmp_path, check=True, capture_output=True)
    check = StampCheck(tuple(_load(authority.pem)))
    answer = (tmp_path / "answer").read_bytes()
    stamp = check.check(answer, "ab" * 32, query.nonce)
    assert stamp.authority == "Test time stamps"
    with pytest.raises(StampError, match="its nonce differs"):
        check.check(answer, "ab" * 32, query.nonce + 1)


@pytest.mark.parametrize("is_root", [False, True])
def test_a_certificate_for_other_purposes_makes_no_stamps(is_root):
    other = make_authority(usage=x509.ExtendedKeyUsageOID.SERVER_AUTH)
    trusted = other.certificate.public_bytes(Encoding.PEM) if is_root else other.pem
    with pytest.raises(StampError, match="which is not one for time stamps"):
        StampCheck(tuple(_load(trusted))).check(other.stamp("ab" * 32), "ab" * 32)


def test_a_notebook_checks_stamps(authority):
    """It runs an event loop of its own."""

    async def cell():
        return StampCheck(tuple(_load(authority.pem))).check(authority.stamp("ab" * 32), "ab" * 32)

    assert asyncio.run(cell()).authority == "Test time stamps"


def test_certificates_between_come_with_the_stamp():
    distant = make_authority(between=True)
    check = StampCheck(tuple(_load(distant.pem)))
    assert check.check(distant.stamp("ab" * 32), "ab" * 32).authority == "Test time stamps"
    distant.between = []
    with pytest.raises(StampError, match="no trusted certificate has issued"):
        check.check(distant.stamp("ab" * 32), "ab" * 32)


def test_a_certificate_counts_as_of_the_time_of_the_stamp():
    expired = make_authority(begins=-100, ends=-50)
    check = StampCheck(tuple(_load(expired.pem)))
    then = datetime.now(UTC) - timedelta(days=70)
    assert check.check(expired.stamp("ab" * 32, fixed_dt=then), "ab" * 32).time == then
    with pytest.raises(StampError, match="no trusted certificate has issued"):
        check.check(expired.stamp("ab" * 32), "ab" * 32)


def test_a_late_stamp_is_a_note(unstamped, monkeypatch):
    stamp_first(unstamped)
    assert not any("only at" in note for note in verify(unstamped).notes)
    monkeypatch.setattr(anchor_check, "_LATE", timedelta(seconds=-60))
    found = verify(unstamped)
    assert found.findings == ()
    assert any("Record 1, which ended at" in note and "only at" in note for note in found.notes)


def test_a_stamp_of_no_record_is_named(unstamped, authority):
    stamping = unstamped
    stamp_first(stamping)
    folder = stamping.parent.parent / "kept"
    (folder / "7-abababababab.tsr").write_bytes(authority.stamp("ab" * 32))
    (folder / "copy.tsr").write_bytes(kept(stamping, ".tsr")[0].read_bytes())
    found = verify(stamping).findings
    assert len(found) == 1
    assert (
        "7-abababababab.tsr is of a record that neither the history nor an attestation has"
        in found[0].sentence
    )


def test_a_rollback_is_named_with_the_time_of_the_stamp(stamping):
    roll_back(stamping, MONTHS[:2])
    assert "time-stamped 20" in sentences(stamping)
    assert "UTC by Test time stamps, is missing" in sentences(stamping)


# ---- Authorities that fail ----


def check_failure(config, expected):
    plan = read_plan(config)
    with open_history(plan.database_url) as history:
        record = history.get(1)
    (problem,) = anchors.anchor_record(plan, record, read_key(config))
    assert expected in problem
    assert "Record 1 was not time-stamped" in problem
    assert kept(config, ".tsr") == []
    assert len(kept(config)) == 1
    found = verify(config)
    assert found.findings == ()
    assert any("Record 1 is not time-stamped" in warning for warning in found.warnings)
    return problem


def test_a_missing_authority_does_not_fail_a_run(unstamped):
    sending = {"on": ["fail"], "command": ["cp", "/dev/stdin", "sent.json"]}
    config = configure(unstamped.parent, "http://127.0.0.1:9/stamp", notify=sending)
    problem = check_failure(config, "Connection refused")
    assert "127.0.0.1:9" not in problem
    result = run(config, MONTHS[1])
    assert str(result.record.status) == "done"
    assert result.problems == (problem.replace("Record 1", "Record 2"),)
    sent = json.loads((unstamped.parent / "sent.json").read_text())
    assert sent["alarms"] == list(result.problems)


def test_the_newest_record_is_stamped_later(stamping, server, monkeypatch):
    monkeypatch.setattr(server, "status", 503)
    assert "the server answered 503 (Service Unavailable)" in run(stamping, MONTHS[0]).problems[0]
    assert kept(stamping, ".tsr") == []
    monkeypatch.setattr(server, "status", 200)
    result = run(stamping, MONTHS[0])
    assert (result.is_new, result.problems) == (False, ())
    assert len(kept(stamping, ".tsr")) == 1
    assert verify(stamping).warnings == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"<html>", "the answer is not the answer of a time-stamp authority"),
        (b"", "the answer is not the answer of a time-stamp authority"),
        (b"0" * 300_000, "more than 262144 bytes"),
    ],
)
def test_a_wrong_answer_is_not_stored(unstamped, server, monkeypatch, answer, expected):
    monkeypatch.setattr(server, "answer", lambda _: answer)
    check_failure(unstamped, expected)


def test_stamps_for_another_request_are_not_stored(unstamped, server, authority, monkeypatch):
    monkeypatch.setattr(server, "answer", lambda _: authority.stamp("ab" * 32))
    check_failure(unstamped, "not the record")


def test_an_answer_with_another_nonce_is_not_stored(unstamped, server, authority, monkeypatch):
    def replay(request):
        return authority.stamp(request["message_imprint"]["hashed_message"].native.hex())

    monkeypatch.setattr(server, "answer", replay)
    check_failure(unstamped, "its nonce differs")


def test_a_stamp_of_another_authority_is_not_stored(unstamped):
    with serve_stamps(make_authority(name="Another")) as other:
        check_failure(configure(unstamped.parent, other.url), "which no trusted certificate has issued")


def test_a_stamp_before_its_record_is_not_stored(unstamped, authority):
    with serve_stamps(authority, fixed_dt=datetime.now(UTC) - timedelta(hours=1)) as slow:
        check_failure(configure(unstamped.parent, slow.url), "before the record ended")


def test_a_refusal_is_named(unstamped, server, monkeypatch):
    from asn1crypto import tsp

    status = tsp.PKIStatusInfo({"status": "rejection", "status_string": ["no credit"]}).dump()
    monkeypatch.setattr(server, "answer", lambda _: bytes([0x30, len(status)]) + status)
    check_failure(unstamped, "the authority refused it (rejection: no credit)")


def test_a_slow_authority_is_given_up(unstamped, server, monkeypatch):
    monkeypatch.setattr(server, "delay", 2.0)
    monkeypatch.setattr(anchors, "STAMP_SECONDS", 0.2)
    check_failure(unstamped, "this took longer than 0.2 seconds and was given up")


def test_a_silent_authority_is_given_up(unstamped, server, monkeypatch):
    monkeypatch.setattr(server, "delay", 2.0)
    monkeypatch.setattr(notification, "SILENCE_LIMIT", 0.2)
    check_failure(unstamped, "timed out")


def test_certificates_that_cannot_be_read_are_named(unstamped):
    pem = unstamped.parent / "tsa.pem"
    pem.write_text("no certificates")
    check_failure(unstamped, "`audit.anchors.authority`")


def test_the_extra_is_named_where_it_is_missing(stamping, monkeypatch):
    run(stamping, MONTHS[0])
    monkeypatch.setitem(sys.modules, "pyhanko.sign.validation", None)
    found = verify(stamping)
    assert found.findings == ()
    assert found.warnings == (
        "1 time stamp was not checked: this needs pyHanko, which is not installed. "
        "To fix: pip install 'scorereport[sign]'.",
    )
    result = run(stamping, MONTHS[1])
    assert "pip install 'scorereport[sign]'" in result.problems[0]
    assert time_stamps.can_check_stamps() is False


def test_secrets_of_an_address_are_shown_nowhere(unstamped, server, monkeypatch, capfd):
    secret = "s3cretT0ken"
    monkeypatch.setenv("TSA_TOKEN", secret)
    monkeypatch.setattr(server, "status", 403)
    config = configure(unstamped.parent, server.url + "/${TSA_TOKEN}")
    problem = check_failure(config, "403")
    everything = b"".join(path.read_bytes() for path in config.parent.parent.rglob("*") if path.is_file())
    assert secret.encode() not in everything
    assert secret not in problem + "".join(capfd.readouterr())


def test_an_unexpected_error_does_not_fail_a_run(unstamped, monkeypatch):
    def fail(*_):
        raise RuntimeError("no such thing")

    monkeypatch.setattr(anchors, "build_stamp_query", fail)
    result = run(unstamped, MONTHS[1])
    assert (result.record.id, str(result.record.status)) == (2, "done")
    assert result.problems == ("Record 2 could not be anchored: RuntimeError: no such thing.",)


def test_a_record_that_the_key_did_not_sign_is_not_attested_later(unstamped, monkeypatch):
    for path in kept(unstamped):
        path.unlink()
    plan = read_plan(unstamped)
    with open_history(plan.database_url) as history:
        history.key = read_key(unstamped)
        forged = replace(history.get(1), started="2026-11-01T00:00:00+00:00")
        monkeypatch.setattr(history, "records", lambda *_, **__: (forged,))
        assert anchors.anchor_again(plan, history) == []
        assert kept(unstamped) == []
        monkeypatch.undo()
        assert anchors.anchor_again(plan, history) == []
    assert len(kept(unstamped)) == 1


# ---- Runs that do not end ----


def test_a_run_that_is_killed_before_its_anchor_leaves_a_warning(config, monkeypatch):
    run(config, MONTHS[0])
    with monkeypatch.context() as patch:
        patch.setattr(anchors, "write_bytes", _die)
        with pytest.raises(KeyboardInterrupt):
            run(config, MONTHS[1])
    found = verify(config)
    assert found.findings == ()
    assert any(
        "Record 2 is not attested; the last one that is attested is record 1" in one for one in found.warnings
    )
    run(config, MONTHS[2])
    assert [path.name.split("-")[0] for path in kept(config)] == ["1", "3"]
    assert verify(config).warnings == ()


def test_a_run_in_progress_is_not_a_warning(unstamped):
    plan = read_plan(unstamped)
    assert verify(unstamped).warnings != ()
    with hold_audit_lock(plan):
        found = verify(unstamped)
    assert found.warnings == ()
    assert any("Record 1 is not time-stamped" in note for note in found.notes)


def _die(*_):
    raise KeyboardInterrupt


@pytest.mark.sweep
def test_a_run_that_is_killed_while_it_waits_for_its_stamp_is_followed_by_another(
    unstamped, server, monkeypatch
):
    monkeypatch.setattr(server, "delay", 20.0)
    before = len(server.requests)
    process = start_audit("run", unstamped, "--period", MONTHS[1], "--quiet")
    end = time.monotonic() + 120
    while len(server.requests) == before and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.communicate()
    monkeypatch.setattr(server, "delay", 0.0)
    assert len(server.requests) > before
    found = verify(unstamped)
    assert found.findings == ()
    assert any("Record 2 is not time-stamped" in warning for warning in found.warnings)
    result = run(unstamped, MONTHS[1])
    assert (result.is_new, result.record.id, result.problems) == (False, 2, ())
    found = verify(unstamped)
    assert (found.findings, found.warnings) == ((), ())


def test_a_folder_that_cannot_be_written_is_a_problem(place, tmp_path):
    (tmp_path / "kept").write_text("a file")
    config = configure(place, notify={"on": ["fail"], "command": ["cp", "/dev/stdin", "sent.json"]})
    result = run(config, MONTHS[0])
    assert "cannot be read: Not a directory." in result.problems[0]
    assert "could not be written to" in result.problems[1]
    sent = json.loads((place / "sent.json").read_text())
    assert any("could not be written" in alarm for alarm in sent["alarms"])
    assert any("cannot be read: Not a directory." in warning for warning in verify(config).warnings)
    assert isinstance(command("export", config, "-o", tmp_path / "all.zip").exception, UsageError)


def test_a_missing_folder_is_a_problem_once_there_are_records(config):
    assert run(config, MONTHS[0]).problems == ()
    shutil.rmtree(config.parent.parent / "kept")
    (problem,) = run(config, MONTHS[1]).problems
    assert "kept does not exist. This run could not check whether the history is complete" in problem
    assert run(config, MONTHS[2]).problems == ()


def test_anchors_inside_the_folder_of_the_audit_are_noted(place):
    config = write_audit(place, report=BRIEF, anchors={"folder": "audits/anchors"})
    run(config, MONTHS[0])
    found = verify(config)
    assert found.findings == ()
    assert any("is inside the folder of the audit" in note for note in found.notes)


# ---- Notifications and configuration ----


def test_a_notification_is_an_anchor(place):
    config = write_audit(
        place, report=BRIEF, notify={"on": ["done"], "command": ["cp", "/dev/stdin", "sent.json"]}
    )
    roll_back(config)
    sent = json.loads((place / "sent.json").read_text())
    head = sent["head"]
    assert head["id"] == 3
    assert head["key"] == read_key(config).fingerprint
    assert f"Record 3, SHA-256 {head['sha256']}, signed by the key {head['key']}." in sent["text"]
    assert f"scorereport audit verify --head {head['sha256']}" in sent["text"]
    result = command("verify", config, "--head", head["sha256"])
    assert result.exit_code == 1
    assert head["sha256"] in result.output


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            {"time_stamp": "http://tsa", "authority": "a.pem"},
            "`audit.anchors.time_stamp` needs `audit.anchors.folder`",
        ),
        ({"folder": "x", "time_stamp": "http://tsa"}, "needs `audit.anchors.authority`"),
        (
            {"folder": "x", "time_stamp": "ftp://tsa", "authority": "a.pem"},
            "must begin with https:// or http://",
        ),
        (
            {"folder": "x", "time_stamp": "http://tsa/${T}", "authority": "a.pem"},
            "must begin with https:// if",
        ),
        (
            {"folder": "x", "time_stamp": "https://u:pass@tsa", "authority": "a.pem"},
            "must not hold a password",
        ),
    ],
)
def test_the_configuration_is_checked(place, table, expected):
    config = write_audit(place, anchors=table)
    with pytest.raises(UsageError, match=expected.replace("$", r"\$")):
        read_plan(config)
