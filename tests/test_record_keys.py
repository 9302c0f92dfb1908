"""Signed records: keys are made, kept, trusted, added and replaced; what no trusted key signed is named."""

from __future__ import annotations

import base64
import errno
import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from audit_tools import make_scored, write_audit
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_public_key,
    load_pem_private_key,
)
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates

from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.key_changes import add_key, list_keys, trust_key
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.errors import UsageError
from scorereport.history.audit_record import AuditStatus, KeyChange, read_audit_record
from scorereport.history.record_rows import describe_columns
from scorereport.history.record_signature import RECORD_TYPE, sign_record
from scorereport.history.signature_check import find_replaced
from scorereport.history.signing_keys import (
    PASSWORD_VARIABLE,
    create_signing_key,
    encode_payload,
    find_fingerprint,
    is_signed,
    read_signing_key,
)
from scorereport.history.store import open_history
from scorereport.history.trusted_keys import read_trusted_keys

PASSWORD = "correct horse battery"


@pytest.fixture(name="person")
def person_fixture(tmp_path, monkeypatch):
    """Choose the person whose configuration folder is used; the first is "a"."""

    def choose(name):
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / f"home of {name}"))
        return tmp_path / f"home of {name}" / "scorereport" / "audit-key.pem"

    choose("a")
    return choose


@pytest.fixture(scope="module", name="begun")
def begun_fixture(tmp_path_factory):
    """A folder with an audit of which one period was run, and the home of person "a", to be copied."""
    place = tmp_path_factory.mktemp("begun")
    (place / "work").mkdir()
    make_scored("2026-07-01", 123, rows=10).to_csv(place / "work" / "scores.csv", index=False)
    config = write_audit(place / "work")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(place / "home of a"))
        run_audit(config, period="2026-07")
    return place


@pytest.fixture(name="config")
def config_fixture(begun, tmp_path, person):
    """The configuration of an audit that was not run yet, of person "a"."""
    person("a")
    (tmp_path / "work").mkdir()
    for name in ("scores.csv", "loans.toml"):
        shutil.copy(begun / "work" / name, tmp_path / "work")
    return tmp_path / "work" / "loans.toml"


def run(config, period="2026-07"):
    outcome = run_audit(config, period=period)
    assert outcome.record.reason == ""
    return outcome.record


@pytest.fixture(name="first")
def first_fixture(begun, tmp_path, person):
    """The configuration and the record of an audit of which person "a" has run the first period."""
    person("a")
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    config = tmp_path / "work" / "loans.toml"
    with open_history(read_plan(config).database_url) as history:
        return config, history.get(1)


def list_findings(config):
    return [
        (str(one.kind), one.subject, one.sentence) for one in verify_audit_history(read_plan(config)).findings
    ]


def set_signing(config, line):
    """Set a key of `[audit.signing]`."""
    text = (config.parent / "original.toml").read_text() if (config.parent / "original.toml").exists() else ""
    text = text or config.read_text()
    (config.parent / "original.toml").write_text(text)
    config.write_text(text.replace("[audit.source]", f"[audit.signing]\n{line}\n[audit.source]"))


def insert(config, record):
    """Insert a record with correct hashes, as a role may that can insert rows and nothing else."""
    row = {**describe_columns(record), "sha256": record.sha256, "body": record.to_json()}
    with closing(sqlite3.connect(read_plan(config).history_file)) as connection, connection:
        connection.execute(
            f"INSERT INTO audits ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
        )


def forge_failure(record, **changes):
    """The record of a failed run after the last one; it breaks no rule but that of signatures."""
    texts = ("data_sha256", "source_sha256", "results_sha256", "templates_sha256", "source")
    failed = {
        "id": record.id + 1,
        "previous": record.sha256,
        "attempt": record.attempt + 1,
        "status": AuditStatus.FAILED,
        "exit_code": 4,
        "reason": "No rows.",
        "documents": (record.configuration_sha256,),
        "rows": 0,
        **dict.fromkeys(texts, ""),
        **dict.fromkeys(("files", "judgements", "drifts"), ()),
        **dict.fromkeys(("snapshot", "summary", "evidence", "signature"), None),
    }
    return replace(record, **failed | changes)


# The key


def test_the_first_run_makes_a_key_that_only_its_owner_can_read(config, person):
    path = person("a")
    record = run(config)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    key = read_signing_key(path)
    assert record.signature.fingerprint == key.fingerprint == find_fingerprint(key.public_key)
    assert read_plan(config).trusted_keys.read_text().startswith(key.fingerprint)
    assert run(config, "2026-08").signature.fingerprint == key.fingerprint
    assert verify_audit_history(read_plan(config)).findings == ()
    assert verify_audit_history(read_plan(config)).notes == ()


def test_a_signature_is_checked_by_openssl(config, tmp_path):
    """Without scorereport: the text of the record, its signature and its key, by another program."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("the program openssl is not installed")
    stored = json.loads(run(config).to_json())
    signature = stored.pop("signature")
    text = json.dumps(stored, ensure_ascii=False, separators=(",", ":")) + "\n"
    signed = f"DSSEv1 {len(RECORD_TYPE)} {RECORD_TYPE} {len(text.encode())} {text}".encode()
    (tmp_path / "signed").write_bytes(signed)
    (tmp_path / "value").write_bytes(base64.b64decode(signature["value"]))
    (tmp_path / "key.der").write_bytes(base64.b64decode(signature["public_key"]))
    command = [openssl, "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", "key.der", "-rawin"]

    def check():
        words = [*command, "-in", "signed", "-sigfile", "value"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).returncode

    assert check() == 0
    (tmp_path / "signed").write_bytes(signed.replace(b"2026-07", b"2026-06", 1))
    assert check() != 0


def test_the_type_is_signed_with_the_text():
    """The encoding has the value that the specification of DSSE prints."""
    encoded = encode_payload(b"hello world", "http://example.com/HelloWorld")
    assert encoded == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_a_key_is_made_once_even_if_two_processes_make_it(tmp_path):
    first = create_signing_key(tmp_path / "key.pem")
    assert create_signing_key(tmp_path / "key.pem").fingerprint == first.fingerprint
    assert os.listdir(tmp_path) == ["key.pem"]


def test_a_key_is_made_on_a_file_system_without_links(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    first = create_signing_key(tmp_path / "key.pem")
    assert create_signing_key(tmp_path / "key.pem").fingerprint == first.fingerprint
    assert read_signing_key(tmp_path / "key.pem").fingerprint == first.fingerprint
    assert os.listdir(tmp_path) == ["key.pem"]


def test_a_key_that_others_can_read_is_refused(config, person):
    run(config)
    person("a").chmod(0o640)
    with pytest.raises(UsageError, match=r"can be read or written by others\. To fix: chmod 600"):
        run_audit(config, period="2026-08")


def test_a_file_that_is_not_a_key_is_refused(config, person):
    run(config)
    person("a").write_text("-----BEGIN PRIVATE KEY-----\nnothing\n-----END PRIVATE KEY-----\n")
    with pytest.raises(UsageError, match="is not a private key in PEM"):
        run_audit(config, period="2026-08")


def test_a_place_that_cannot_be_written_is_named(config, tmp_path):
    (tmp_path / "file").touch()
    set_signing(config, f'key = "{tmp_path}/file/k.pem"')
    with pytest.raises(UsageError, match=r"cannot be written to .*k.pem: .*`audit.signing.key`"):
        run_audit(config, period="2026-07")


def test_a_private_key_does_not_leave_its_process(tmp_path):
    key = create_signing_key(tmp_path / "key.pem")
    with pytest.raises(TypeError, match="must not leave"):
        pickle.dumps(key)
    assert "private" not in repr(key).lower()


@pytest.mark.parametrize(
    "make",
    [
        lambda: rsa.generate_private_key(65537, 2048),
        lambda: ec.generate_private_key(ec.SECP256R1()),
        Ed25519PrivateKey.generate,
    ],
    ids=["rsa", "ec", "ed25519"],
)
def test_records_are_signed_by_a_key_in_pkcs12(make, config, monkeypatch):
    write_pkcs12(config.parent / "validator.p12", make())
    set_signing(config, 'key = "validator.p12"')
    monkeypatch.setenv(PASSWORD_VARIABLE, "another one")
    with pytest.raises(UsageError, match="missing or wrong") as caught:
        run_audit(config, period="2026-07")
    assert PASSWORD not in str(caught.value)
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    record = run(config)
    assert list_findings(config) == []
    insert(config, forge_failure(record))
    assert [subject for _, subject, _ in list_findings(config)] == ["record 2"]


def write_pkcs12(path, key):
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "A validator")])
    now = datetime.now(UTC)
    algorithm = None if isinstance(key, Ed25519PrivateKey) else hashes.SHA256()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .sign(key, algorithm)
    )
    lock = BestAvailableEncryption(PASSWORD.encode())
    path.write_bytes(serialize_key_and_certificates(b"validator", key, certificate, None, lock))
    path.chmod(0o600)


def test_a_missing_pkcs12_file_is_not_made(config):
    set_signing(config, 'key = "validator.p12"')
    with pytest.raises(UsageError, match=r"validator.p12, which `audit.signing.key` names, does not exist"):
        run_audit(config, period="2026-07")


# Forgeries


def test_an_inserted_record_without_a_signature_is_named(first):
    config, record = first
    insert(config, forge_failure(record))
    assert list_findings(config) == [
        (
            "forged",
            "record 2",
            "Record 2 is not signed, though records are signed since record 1: a run did not write it.",
        )
    ]


def test_an_inserted_record_that_another_key_signed_is_named(first, tmp_path):
    config, record = first
    other = create_signing_key(tmp_path / "other.pem")
    insert(config, sign_record(forge_failure(record), other))
    ((kind, subject, sentence),) = list_findings(config)
    assert (kind, subject) == ("forged", "record 2")
    assert f"is signed by the key {other.fingerprint}, which is not trusted here" in sentence


def test_a_key_that_no_record_added_is_noted_although_it_is_trusted(first, tmp_path):
    """Somebody who can write the file of trusted keys adds a key of theirs, and a record."""
    config, record = first
    other = create_signing_key(tmp_path / "other.pem")
    insert(config, sign_record(forge_failure(record), other))
    trust_key(read_plan(config), other.fingerprint)
    found = verify_audit_history(read_plan(config))
    assert found.findings == ()
    assert (
        f"The key {other.fingerprint} has signed records since record 2, and no record added it: find out "
        "who trusted it."
    ) in found.notes


def test_a_record_that_was_changed_after_it_was_signed_is_named(first, person):
    config, record = first
    forged = sign_record(forge_failure(record), read_signing_key(person("a")))
    insert(config, replace(forged, reason="Another reason."))
    assert [one[2] for one in list_findings(config)] == [
        "Record 2 has a signature that is not valid: it was forged, or changed after it was signed."
    ]


def test_a_signature_of_another_record_is_named(first):
    config, record = first
    insert(config, replace(forge_failure(record), signature=record.signature))
    assert [subject for _, subject, _ in list_findings(config)] == ["record 2"]


@pytest.mark.parametrize("field", ["public_key", "value"])
def test_a_signature_that_is_not_base64_is_named(field, first):
    config, record = first
    insert(config, replace(forge_failure(record), signature=replace(record.signature, **{field: "é"})))
    assert [kind for kind, _, _ in list_findings(config)] == ["forged"]


def test_the_holder_of_the_key_can_add_a_record(first, person):
    """The forgeries above are named for their signature only."""
    config, record = first
    insert(config, sign_record(forge_failure(record), read_signing_key(person("a"))))
    assert list_findings(config) == []


def test_a_run_refuses_to_follow_a_forged_record(first):
    config, record = first
    insert(config, forge_failure(record))
    with pytest.raises(UsageError, match=r"they are not valid: Record 2 is not signed.*Nothing was recorded"):
        run_audit(config, period="2026-08")


def test_verify_exits_with_1_and_run_with_2_after_a_forgery(first, call):
    config, record = first
    insert(config, forge_failure(record))
    assert call("audit", "verify", config)[0] == 1
    assert call("audit", "run", config, "--period", "2026-08")[0] == 2


def test_records_of_an_earlier_version_are_not_findings(first):
    """They are not signed; an unsigned record after a signed one still is one."""
    config, record = first
    plan = read_plan(config)
    unsigned = forge_failure(record, id=0, attempt=0)
    shutil.rmtree(plan.folder)
    with open_history(plan.database_url, head=plan.chain_head) as history:
        history.append(unsigned, {plan.configuration.sha256: plan.configuration.text.encode()})
    found = verify_audit_history(plan)
    assert (found.findings, found.notes) == ((), ("No record is signed: an earlier version wrote them.",))
    second = run(config, "2026-08")
    found = verify_audit_history(plan)
    assert found.findings == ()
    assert found.notes == (
        "Record 1 is not signed: an earlier version wrote them. Record 2, the first signed one, contains the "
        "hash of the last of them.",
    )
    insert(config, forge_failure(second))
    assert [subject for _, subject, _ in list_findings(config)] == ["record 3"]


# Keys that are lost, added and trusted


def test_without_its_key_a_history_is_not_continued(first, person):
    config, _ = first
    person("a").unlink()
    with pytest.raises(UsageError, match=r"is missing, though this history is signed.*audit keys add"):
        run_audit(config, period="2026-08")
    assert not person("a").exists()
    assert verify_audit_history(read_plan(config)).records == 1


def test_a_lost_key_is_replaced_and_this_leaves_a_record(first, person):
    config, record = first
    lost = record.signature.fingerprint
    old = read_signing_key(person("a"))
    person("a").unlink()
    added = add_key(config, reason="The disk failed.", replaces=lost[:12]).record
    assert (added.id, added.kind, added.reason) == (2, "key", "The disk failed.")
    assert (added.key.fingerprint, added.key.replaces) == (added.signature.fingerprint, lost)
    assert find_replaced([added], [added.key.fingerprint]) == {lost: 2}
    record = run(config, "2026-08")
    assert record.signature.fingerprint == added.key.fingerprint != lost
    assert list_findings(config) == []
    insert(config, sign_record(forge_failure(record), old))
    assert [one[2] for one in list_findings(config)] == [
        f"Record 4 is signed by the key {lost}, which record 2 has replaced."
    ]


def test_a_replaced_key_is_refused(first, person):
    config, record = first
    lost = record.signature.fingerprint
    kept = person("a").rename(person("a").with_name("copy.pem"))
    add_key(config, reason="Stolen.", replaces=lost)
    person("a").unlink()
    kept.rename(person("a"))
    with pytest.raises(UsageError, match=r"must not sign any more: record 2 has replaced it \(Stolen\.\)"):
        run_audit(config, period="2026-08")
    with pytest.raises(UsageError, match=r"must not sign any more: record 2 has replaced it \(Stolen\.\)"):
        add_key(config, reason="Again.")


def test_a_forged_record_does_not_replace_a_key(first, tmp_path, person):
    """It is named as forged; the key is not refused for it, and records that it signs are not findings."""
    config, record = first
    own = record.signature.fingerprint
    forged = forge_failure(
        record,
        kind="key",
        status=AuditStatus.DONE,
        exit_code=0,
        attempt=1,
        key=KeyChange(fingerprint="0" * 64, replaces=own),
    )
    forged = sign_record(forged, create_signing_key(tmp_path / "other.pem"))
    insert(config, forged)
    assert find_replaced([forged], [own]) == find_replaced([replace(forged, signature=None)], [own]) == {}
    with pytest.raises(UsageError, match=r"they are not valid: Record 2 is signed by the key .* not trusted"):
        run_audit(config, period="2026-08")
    insert(config, sign_record(forge_failure(forged, kind="audit", key=None), read_signing_key(person("a"))))
    assert [subject for _, subject, _ in list_findings(config)] == ["record 2"]
    assert [one.replaced_by for one in list_keys(read_plan(config)) if one.is_own] == [""]


def test_a_second_person_is_added_by_a_command(first, person):
    config, record = first
    first = record.signature.fingerprint
    person("b")
    with pytest.raises(UsageError, match="this history is signed"):
        run_audit(config, period="2026-08")
    added = add_key(config, reason="A second validator.").record
    assert run(config, "2026-08").signature.fingerprint == added.key.fingerprint != first
    person("a")
    run(config, "2026-09")
    assert list_findings(config) == []
    notes = verify_audit_history(read_plan(config)).notes
    assert f"Record 2 added {added.key.describe()}: A second validator." in notes
    assert not any("no record added" in note for note in notes)
    person("b")
    with pytest.raises(UsageError, match="was added already, by record 2"):
        add_key(config, reason="Again.")


def test_another_machine_trusts_keys_one_by_one(first, person):
    """Another folder has its own file of trusted keys, as a machine has that shares a history."""
    config, record = first
    first = record.signature.fingerprint
    plan = read_plan(config)
    plan.trusted_keys.unlink()
    person("b")
    with pytest.raises(UsageError, match="audit keys add"):
        run_audit(config, period="2026-08")
    second = add_key(config, reason="Another machine.").record.key.fingerprint
    assert [subject for _, subject, _ in list_findings(config)] == ["record 1"]
    with pytest.raises(UsageError, match="must be that of one key of the history"):
        trust_key(plan, "0" * 64)
    with pytest.raises(UsageError, match="first 12 characters or more"):
        trust_key(plan, first[:11])
    assert trust_key(plan, first[:12], note="the first machine") == first
    assert list_findings(config) == []
    own, other = sorted(list_keys(plan), key=lambda key: not key.is_own)
    assert (own.fingerprint, own.records, own.first, own.is_trusted) == (second, 1, 2, True)
    assert (other.fingerprint, other.note, other.is_trusted) == (first, "the first machine", True)


def test_the_own_key_is_trusted_in_a_folder_where_nothing_was_recorded(first, person):
    """As in another folder of the same person that shares the history; another person trusts nobody yet."""
    config, _ = first
    read_plan(config).trusted_keys.unlink()
    assert list_findings(config) == []
    person("b")
    assert [subject for _, subject, _ in list_findings(config)] == ["record 1"]


def test_trusted_keys_of_the_configuration_are_the_only_ones(first):
    config, record = first
    own = record.signature.fingerprint
    set_signing(config, f'trusted = ["{"0" * 64}"]')
    assert [subject for _, subject, _ in list_findings(config)] == ["record 1"]
    with pytest.raises(UsageError, match=r"add its fingerprint [0-9a-f]{64} to `audit.signing.trusted`"):
        run_audit(config, period="2026-08")
    with pytest.raises(UsageError, match="lists the trusted keys"):
        trust_key(read_plan(config), own)
    set_signing(config, f'trusted = ["{own}"]')
    run(config, "2026-08")
    assert list_findings(config) == []
    set_signing(config, 'trusted = ["abc"]')
    with pytest.raises(UsageError, match=r"`audit.signing.trusted` must list fingerprints"):
        read_plan(config)


def test_unsigned_records_are_a_warning_if_the_configuration_lists_keys(first):
    config, record = first
    plan = read_plan(config)
    shutil.rmtree(plan.folder)
    unsigned = forge_failure(record, id=0, attempt=0)
    with open_history(plan.database_url, head=plan.chain_head) as history:
        history.append(unsigned, {plan.configuration.sha256: plan.configuration.text.encode()})
    assert verify_audit_history(plan).warnings == ()
    set_signing(config, f'trusted = ["{record.signature.fingerprint}"]')
    found = verify_audit_history(read_plan(config))
    assert found.findings == ()
    assert [one[:26] for one in found.warnings] == ["No record is signed, thoug"]
    run(config, "2026-08")
    assert verify_audit_history(read_plan(config)).warnings == ()


def test_a_key_is_trusted_after_it_has_signed_a_record(config, monkeypatch):
    """So a history without signatures in a folder that lists trusted keys has lost them."""
    plan, seen = read_plan(config), []

    def refuse(*_):
        seen.append(plan.trusted_keys.exists())
        raise UsageError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr("scorereport.history.store.place_record", refuse)
        with pytest.raises(UsageError, match="The disk is full"):
            run_audit(config, period="2026-07")
    assert set(seen) == {False}
    assert not plan.trusted_keys.exists()
    record = run(config)
    assert list(read_trusted_keys(plan.trusted_keys)) == [record.signature.fingerprint]


def test_a_file_of_trusted_keys_that_cannot_be_written_is_a_problem(config):
    plan = read_plan(config)
    plan.trusted_keys.mkdir(parents=True)  # nothing can be read from it, nor written
    with pytest.raises(UsageError, match=r"The file of trusted keys .* cannot be read"):
        run_audit(config, period="2026-07")


def test_a_damaged_file_of_trusted_keys_is_named(first):
    config, _ = first
    read_plan(config).trusted_keys.write_text("nothing\n")
    with pytest.raises(
        UsageError, match=r"Line 1 of the file of trusted keys .* must begin with a fingerprint"
    ):
        verify_audit_history(read_plan(config))


@pytest.mark.parametrize("reason", ["", "  ", "x" * 2001])
def test_a_key_is_not_added_without_a_reason(reason, first):
    config, _ = first
    with pytest.raises(UsageError, match="`reason` must"):
        add_key(config, reason=reason)


def test_a_key_cannot_replace_itself(first):
    config, record = first
    own = record.signature.fingerprint
    with pytest.raises(UsageError, match="cannot replace itself"):
        add_key(config, reason="Lost.", replaces=own)


# Commands


def test_the_commands_list_add_and_trust(first, person, call):
    config, record = first
    key = record.signature.fingerprint
    _, listed, _ = call("audit", "keys", "list", config)
    assert listed.startswith(f"{key}  trusted, signed 1, records 1 to 1, key of this machine")
    person("b")
    _, added, _ = call("audit", "keys", "add", config, "--reason", "B", "--replaces", key[:12])
    second = read_signing_key(person("b")).fingerprint
    assert added.startswith(f"Record 2 adds the key {second} in place of {key}.")
    keys = json.loads(call("audit", "keys", "list", config, "--json")[1])
    assert [(one["fingerprint"], one["replaced_by"]) for one in keys] == [(key, second), (second, "")]
    assert "key added: B" in call("audit", "history", config)[1]
    shown = call("audit", "show", 2, config)[1]
    assert f"Key added: {second} in place of {key}" in shown
    assert f"SHA-256 {second}  Key that signed this record" in shown
    assert call("audit", "verify", config)[0] == 0
    assert call("audit", "keys", "trust", "abc", config)[0] == 2


def test_people_are_notified_of_a_key_that_was_added(first, person, tmp_path):
    """One person alone cannot become the second one unnoticed."""
    config, record = first
    seen = tmp_path / "seen.json"
    notify = f'[audit.notify]\non = ["failed"]\ncommand = ["sh", "-c", "cat > {seen}"]\n'
    config.write_text(config.read_text().replace("[audit.source]", f"{notify}[audit.source]"))
    person("b")
    added = add_key(config, reason="Bob approves limits.", replaces=record.signature.fingerprint)
    sent = json.loads(seen.read_text())
    assert (sent["event"], sent["record"]["id"]) == ("key", 2)
    assert sent["subject"] == "loans: a key was added that can sign records"
    (alarm,) = sent["alarms"]
    assert alarm.startswith(
        f"Record 2 adds {added.record.key.describe()}: Bob approves limits. Its holder can"
    )
    assert sent["text"].startswith(alarm)
    note = f"Record 2 added {added.record.key.describe()}: Bob approves limits."
    assert verify_audit_history(read_plan(config)).notes == (note,)


def test_a_new_key_is_announced_once(config, person, call):
    said = f"A key that signs records was made: {person('a')}."
    assert said in call("audit", "run", config, "--period", "2026-07")[2]
    assert said not in call("audit", "run", config, "--period", "2026-08")[2]


def test_keys_stay_in_their_file(first, person, tmp_path, call):
    """Neither the file nor the bytes of the key are in any output, record, report, export or message."""
    config, _ = first
    content = person("a").read_bytes()
    exported = tmp_path / "all.zip"
    outputs = [call("audit", "keys", "list", config), call("audit", "show", 1, config, "--json")]
    outputs += [call("audit", "export", config, "-o", exported), call("audit", "verify", config, "--json")]
    person("a").write_bytes(content.replace(b"BEGIN", b"BEGAN"))
    outputs += [call("audit", "run", config, "--period", "2026-08")]
    person("b")
    outputs += [call("audit", "run", config, "--period", "2026-08")]
    assert [code for code, *_ in outputs] == [0, 0, 0, 0, 2, 2]
    private = load_pem_private_key(content, None)
    raw = private.private_bytes(Encoding.Raw, PrivateFormat.Raw, NoEncryption())
    forms = (raw, raw.hex().encode(), base64.b64encode(raw)[:-4], content.splitlines()[1])
    with zipfile.ZipFile(exported) as archive:
        texts = [archive.read(name) for name in archive.namelist()]
    texts += [path.read_bytes() for path in Path(config.parent).rglob("*") if path.is_file()]
    texts += ["".join(map(str, output)).encode() for output in outputs]
    assert len(texts) > 12
    assert not any(form in text for text in texts for form in forms)


def test_a_signature_needs_its_own_key_and_text(tmp_path):
    key, other = create_signing_key(tmp_path / "a.pem"), create_signing_key(tmp_path / "b.pem")
    value = key.sign(b"text", "type")
    good = {"signature": value, "public_key": key.public_key}
    assert is_signed(b"text", "type", **good)
    assert not is_signed(b"Text", "type", **good)
    assert not is_signed(b"text", "Type", **good)
    assert not is_signed(b"text", "type", **good | {"public_key": other.public_key})
    assert not is_signed(b"text", "type", **good | {"signature": value[:-1]})
    assert not is_signed(b"text", "type", **good | {"public_key": b"nothing"})
    public = load_der_public_key(key.public_key)
    assert public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo) == key.public_key


def test_a_record_is_read_back_with_its_signature(first):
    _, record = first
    assert read_audit_record(record.to_json(), "it").signature == record.signature
    assert list(json.loads(record.to_json()))[-1] == "signature"
