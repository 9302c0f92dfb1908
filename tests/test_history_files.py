"""Files of reports, their expiry, and exports of a history."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import zipfile
from dataclasses import replace

import pytest
from history_tools import (
    NAN,
    copied_fixture,
    file_url_fixture,
    fill,
    find_document,
    find_subjects,
    make_documents,
    make_draft,
    make_snapshot,
    place_fixture,
    read_body,
    sample_fixture,
    sha256,
    tamper,
    url_fixture,
    verify,
)

from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict
from scorereport.errors import DataError, UsageError
from scorereport.history.audit_record import AuditStatus, RecordedFile
from scorereport.history.export import export_history
from scorereport.history.store import open_history, open_unchecked
from scorereport.history.verification import verify_history

place = pytest.fixture(place_fixture)


file_url = pytest.fixture(file_url_fixture)


url = pytest.fixture(params=["sqlite", "postgresql"])(url_fixture)


sample = pytest.fixture(scope="module")(sample_fixture)


copied = pytest.fixture(copied_fixture)


#: Some time after the records, and the time at which histories are verified.
LATER = "2027-01-15T02:00:00+00:00"


# Files of reports


def test_files_that_differ_from_the_records_are_reported(copied, file_url):
    folder = copied / "reports" / "claims"
    (folder / "1.pdf").write_bytes(b"another report")
    (folder / "2.pdf").unlink()
    (folder / "more").mkdir()
    (folder / "more" / "extra.pdf").touch()
    (folder / "link").symlink_to(copied)
    (folder / ".3.pdf.tmp").touch()
    verification = verify(file_url, copied)
    assert [(str(finding.kind), finding.subject) for finding in verification.findings] == [
        *(("changed", "file claims/1.pdf"), ("missing", "file claims/2.pdf")),
        *(("unknown", "file claims/link"), ("unknown", "file claims/more/extra.pdf")),
    ]
    assert verification.findings[0].sentence == (
        f"The file {folder}/1.pdf of record 1 was changed, or cannot be read."
    )
    assert verify(file_url, copied, is_here=lambda record: record.audit == "another").findings == ()


def test_a_run_without_files_owns_no_folder(file_url, place):
    with open_history(file_url) as history:
        history.append(make_draft("reports", status=AuditStatus.FAILED))
    (place / "reports" / "reports").mkdir(parents=True)
    (place / "reports" / "reports" / "notes.txt").touch()
    assert verify(file_url, place).findings == ()


def test_files_may_be_staged_still(copied, file_url):
    folder = copied / "reports" / "claims"
    (folder / ".staging").mkdir()
    (folder / "5.pdf").rename(folder / ".staging" / "5.pdf")
    (folder / ".staging" / "9.pdf").touch()
    assert verify(file_url, copied).findings == ()
    (folder / ".staging" / "5.pdf").write_bytes(b"another report")
    assert find_subjects(verify(file_url, copied)) == {("missing", "file claims/5.pdf")}


def append_removal(place, removed, *, table="days = 30\nkeep = 2", ran=True, kept=True, **changes):
    """Append the records of a run that finds files to remove: that of the audit, and that of the removal."""
    content = f"[audit.retention]\n{table}\n".encode()
    documents = make_documents(content) if kept else {}
    given = {"attempt": 0, "started": LATER, "finished": LATER, "configuration_sha256": sha256(content)}
    with open_history(f"sqlite:///{place}/history.db", head=place / "head") as history:
        if ran:
            history.append(make_draft(status=AuditStatus.FAILED, **given), documents)
        removal = make_draft(kind="retention", removed=removed, status=AuditStatus.DONE)
        return history.append(replace(removal, **given | changes), documents)


def find_filed(place, *numbers):
    with open_history(f"sqlite:///{place}/history.db") as history:
        return tuple(file for number in numbers for file in history.get(number).files)


def test_files_may_be_removed_if_a_later_record_states_it(copied, file_url):
    append_removal(copied, find_filed(copied, 1, 2))
    (copied / "reports" / "claims" / "1.pdf").unlink()
    verification = verify(file_url, copied)
    assert verification.findings == ()
    assert verification.notes == (
        f"The file {copied}/reports/claims/2.pdf still exists, though record 7 states that it was removed: "
        "the run was killed or could not remove it, or somebody has put the file back.",
    )
    (copied / "reports" / "claims" / "2.pdf").write_bytes(b"another report")
    assert find_subjects(verify(file_url, copied)) == {("changed", "file claims/2.pdf")}


def test_a_removal_does_not_cover_later_files(copied, file_url):
    filed = find_filed(copied, 1)
    append_removal(copied, filed)
    with open_history(file_url, head=copied / "head") as history:
        history.append(make_draft(label="again", files=filed))
    assert verify(file_url, copied).notes == ()
    (copied / "reports" / "claims" / "1.pdf").unlink()
    (finding,) = verify(file_url, copied).findings
    assert finding.sentence.endswith("1.pdf of record 8 is missing.")


def test_the_same_file_may_be_removed_by_two_machines_at_once(copied, file_url):
    filed = find_filed(copied, 1)
    append_removal(copied, filed)
    append_removal(copied, filed)
    (copied / "reports" / "claims" / "1.pdf").unlink()
    assert verify(file_url, copied).findings == ()


NOT_DUE = "was removed, which was not due: its configuration keeps files for"


REMOVALS = {
    "too early": (
        {"started": "2026-11-30T02:00:00+00:00"},
        f"the file claims/1.pdf {NOT_DUE} 30 days, and in",
    ),
    "among the latest": (
        {"table": "days = 30\nkeep = 5"},
        f"the file claims/1.pdf {NOT_DUE} 30 days, and in any case those of the latest 5 audits.",
    ),
    "among the latest twelve": ({"table": "days = 30"}, f"the file claims/1.pdf {NOT_DUE} 30 days, and in"),
    "for ever": (
        {"table": "keep = 1"},
        "the file claims/1.pdf was removed, which was not due: its configuration removes no files.",
    ),
    "in the future": (
        {"table": "days = 300000\nkeep = 1", "started": "2999-01-01T00:00:00+00:00"},
        f"the file claims/1.pdf {NOT_DUE} 300,000 days, and in",
    ),
    "for aeons": (
        {"table": f"days = {10**12}\nkeep = 1"},
        f"the file claims/1.pdf {NOT_DUE} {10**12:,} days,",
    ),
    "no time": (
        {"started": "soon"},
        "the file claims/1.pdf was removed, but the times of the records do not show whether the removal was "
        "due.",
    ),
    "no zone": (
        {"started": "2027-01-15T02:00:00"},
        "the file claims/1.pdf was removed, but the times of the records do not show whether the removal was "
        "due.",
    ),
    "another audit": (
        {"audit": "loans", "ran": False},
        "files were removed, by a configuration with which the audit loans was never run before.",
    ),
    "configuration made up": (
        {"ran": False},
        "files were removed, by a configuration with which the audit claims was never run before.",
    ),
    "configuration not kept": (
        {"kept": False},
        "files were removed, by a configuration that the history does not have.",
    ),
    "configuration that is none": (
        {"table": "days = "},
        "files were removed, by a configuration that cannot be read.",
    ),
    "no such number": (
        {"table": f"days = {10**400}"},
        "files were removed, by a configuration that cannot be read.",
    ),
    "no numbers": (
        {"table": "days = 'few'"},
        "files were removed, by a configuration that cannot be read.",
    ),
    "no table": (
        {"table": "[[audit.more]]\n[audit.more.x]\n[other]\n[[audit2]]\nx = 1\n[audit3]\ny = [" + "[" * 5000},
        "files were removed, by a configuration that cannot be read.",
    ),
    "an audit": (
        {"kind": "audit"},
        "files were removed, but it is the record of an audit, and audits remove no files.",
    ),
}


@pytest.mark.sweep(after=7)
@pytest.mark.parametrize(("how", "claim"), REMOVALS.values(), ids=REMOVALS.keys())
def test_a_removal_that_was_not_due_is_reported_and_covers_no_file(copied, file_url, how, claim):
    removal = append_removal(copied, find_filed(copied, 1), **how)
    (copied / "reports" / "claims" / "1.pdf").unlink()
    finding, missing = verify(file_url, copied).findings
    assert (finding.kind, finding.subject) == ("changed", f"record {removal.id}")
    assert finding.sentence.startswith(f"Record {removal.id} states that {claim}")
    assert (missing.kind, missing.subject) == ("missing", "file claims/1.pdf")


@pytest.mark.parametrize(
    "changes", [{"name": "/etc/passwd"}, {"name": "../../etc/passwd"}, {"sha256": "0" * 64}]
)
def test_only_files_that_were_filed_can_have_been_removed(copied, file_url, changes):
    filed, other = find_filed(copied, 1, 2)
    forged = replace(filed, **changes)
    append_removal(copied, (forged, other))
    (copied / "reports" / "claims" / "2.pdf").unlink()
    (finding,) = verify(file_url, copied).findings
    assert finding.sentence == (
        f"Record 7 states that the file {forged.name} was removed, which no earlier record of the audit "
        "claims filed."
    )


def test_files_of_another_audit_cannot_be_removed(copied, file_url):
    fill(file_url, copied, 3, audit="loans")
    append_removal(copied, find_filed(copied, 6))
    (finding,) = verify(file_url, copied).findings
    assert "which no earlier record of the audit claims filed" in finding.sentence


def test_a_removal_is_not_reported_for_errors_in_other_records(copied, file_url):
    append_removal(copied, find_filed(copied, 1, 2), table="days = 30\nkeep = 3")
    for number in (1, 2):
        (copied / "reports" / "claims" / f"{number}.pdf").unlink()
    assert verify(file_url, copied).findings == ()
    tamper(copied, "UPDATE audits SET body = replace(body, 'pass', 'fail') WHERE id IN (1, 4)")
    assert find_subjects(verify(file_url, copied)) == {("changed", "record 1"), ("changed", "record 4")}
    key = sha256(b"[audit.retention]\ndays = 30\nkeep = 3\n")
    tamper(copied, f"UPDATE documents SET content = x'00' WHERE sha256 = '{key}'")
    assert ("changed", f"document {key}") in find_subjects(verify(file_url, copied))
    assert ("changed", "record 7") not in find_subjects(verify(file_url, copied))


def test_each_machine_that_shares_a_server_keeps_files_of_its_own(copied, file_url):
    """Four of five records are of other machines, and one audit keeps its files."""
    filed = find_filed(copied, 1)
    table = "days = 30\nkeep = 1"
    with open_history(file_url, head=copied / "head") as history:
        history.append(make_draft(label="here", home="here", files=(replace(filed[0], name="claims/h.pdf"),)))
        here = history.get(6).files
    (copied / "reports" / "claims" / "h.pdf").write_bytes(
        (copied / "reports" / "claims" / "1.pdf").read_bytes()
    )
    append_removal(copied, here, table=table, home="here")
    (finding,) = verify(file_url, copied).findings
    assert finding.sentence.startswith(f"Record 8 states that the file claims/h.pdf {NOT_DUE} 30 days")
    append_removal(copied, here, table=table, home="there")
    sentences = [finding.sentence for finding in verify(file_url, copied).findings]
    assert "which no earlier record of the audit claims filed" in sentences[1]


def test_names_outside_of_the_folder_are_reported(copied, file_url):
    filed = RecordedFile(name="../../etc/passwd", sha256="0" * 64, size=1)
    with open_history(file_url, head=copied / "head") as history:
        history.append(make_draft(files=(filed,)))
    assert find_subjects(verify(file_url, copied)) == {("changed", "file ../../etc/passwd")}


def test_files_of_a_run_during_the_verification_are_not_reported(copied, file_url):
    content = b"report of now"
    filed = RecordedFile(name="claims/now.pdf", sha256=sha256(content), size=len(content))
    calls = []

    def find_folder(_):
        if not calls:
            with open_history(file_url, head=copied / "head") as other:
                other.append(make_draft(label="now", files=(filed,)))
            (copied / "reports" / filed.name).write_bytes(content)
        calls.append(1)
        return copied / "reports"

    with open_unchecked(file_url, head=copied / "head") as history:
        assert verify_history(history, find_folder=find_folder).findings == ()
    assert (copied / "reports" / filed.name).exists()


# Export


def export(url, place, target, **options):
    with open_history(url, create=False) as history:
        return export_history(history, target, find_folder=lambda _: place / "reports", **options)


def test_lines_of_the_export_have_the_hashes_of_the_chain(url, place, tmp_path):
    fill(url, place, 3)
    lines = export(url, place, tmp_path / "history.jsonl").read_bytes().splitlines(keepends=True)
    with open_history(url) as history:
        assert [sha256(line) for line in lines] == [row.sha256 for row in history.summaries()]
        assert tuple(line.decode() for line in lines) == history.bodies()
    assert [json.loads(line)["previous"] for line in lines[1:]] == [sha256(line) for line in lines[:-1]]


def test_numbers_are_exported_without_formulas(file_url, place, tmp_path):
    draft = make_draft("=1+1", "+period")
    judgement = Judgement(
        model="@model",
        group="",
        measure="brier_score",
        label="Brier score",
        value=0.25,
        lower=NAN,
        upper=NAN,
        level=NAN,
        warn_lower=None,
        warn_upper=0.3,
        fail_lower=None,
        fail_upper=None,
        verdict=LimitVerdict.PASS,
        sentence="Good.",
    )
    with open_history(file_url) as history:
        record = history.append(
            replace(draft, snapshot=make_snapshot(draft, model="@model"), judgements=(judgement,))
        )
        history.append(make_draft("failed", status=AuditStatus.FAILED))
        history.append(make_draft("removal", kind="retention"))
    content = export(file_url, place, tmp_path / "numbers.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(content)))
    first = rows[0]
    assert [row["audit"] for row in rows] == ["'=1+1", "'=1+1", "failed"]
    assert (first["period"], first["model"], first["measure"]) == ("'+period", "'@model", "brier_score")
    assert (first["value"], first["lower"], first["upper"]) == ("0.25", "-0.5", "")
    assert (first["start"], first["end"], first["attempt"], first["status"]) == (
        *("2026-10-01", "2026-11-01"),
        *("1", "pass"),
    )
    assert (first["verdict"], rows[1]["verdict"], first["sha256"]) == ("pass", "", record.sha256)
    assert (rows[1]["measure"], rows[1]["value"], rows[2]["measure"]) == ("prevalence", "-1.5", "")


def test_the_archive_can_be_checked_by_hand(copied, file_url, tmp_path):
    (copied / "reports" / "claims" / "2.pdf").unlink()
    target = export(file_url, copied, tmp_path / "history.zip")
    first = target.read_bytes()
    assert export(file_url, copied, tmp_path / "again.zip").read_bytes() == first
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "opened")
    opened = tmp_path / "opened"
    for document in (opened / "documents").iterdir():
        assert sha256(document.read_bytes()) == document.stem
    assert sorted(path.name for path in (opened / "reports" / "claims").iterdir()) == [
        f"{number}.pdf" for number in (1, 3, 4, 5)
    ]
    readme = (opened / "README.txt").read_text(encoding="utf-8")
    assert readme.endswith("are not as recorded:\n\n    claims/2.pdf\n")
    script = readme[readme.index("    expected=") : readme.index("If only one fingerprint")]
    last = sha256(read_body(copied, 5).encode())
    assert run_script(script, opened) == f"{last}\n"
    records = (opened / "records.jsonl").read_text(encoding="utf-8")
    (opened / "records.jsonl").write_text(records.replace("period 2", "period 7"), encoding="utf-8")
    assert run_script(script, opened).startswith(
        'This record does not link to the one before: {"version":1,"id":3,'
    )


def test_configurations_are_exported_as_toml(file_url, place, tmp_path):
    results, configuration = b"{}", b"[audit]\n"
    with open_history(file_url) as history:
        draft = make_draft(configuration_sha256=sha256(configuration), results_sha256=sha256(results))
        history.append(draft, make_documents(results, configuration))
    with zipfile.ZipFile(export(file_url, place, tmp_path / "history.zip")) as archive:
        names = {name for name in archive.namelist() if name.startswith("documents/")}
        assert names == {f"documents/{sha256(results)}.json", f"documents/{sha256(configuration)}.toml"}


def run_script(script, folder):
    done = subprocess.run(["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def test_the_export_of_one_audit_is_described(copied, file_url, tmp_path):
    fill(file_url, copied, 2, audit="loans")
    target = export(file_url, copied, tmp_path / "loans.zip", audit="loans")
    with zipfile.ZipFile(target) as archive:
        names = archive.namelist()
        assert archive.read("records.jsonl").count(b"\n") == 2
        assert (
            b"This archive has the records of one audit, loans. The history has records of other audits"
            in archive.read("README.txt")
        )
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    assert [name for name in names if name.startswith("reports")] == [
        "reports/loans/1.pdf",
        "reports/loans/2.pdf",
    ]


def test_an_export_is_whole_or_not_at_all(copied, file_url, tmp_path):
    key = find_document(copied, 5)
    tamper(copied, f"UPDATE documents SET content = x'00' WHERE sha256 = '{key}'")
    target = tmp_path / "out" / "history.zip"
    target.parent.mkdir()
    target.write_bytes(b"as before")
    with pytest.raises(
        DataError, match=rf"^The document {key} of the history .+ is not as it was recorded; "
    ):
        export(file_url, copied, target)
    assert [path.name for path in target.parent.iterdir()] == ["history.zip"]
    assert target.read_bytes() == b"as before"
    with pytest.raises(
        UsageError, match=r"^The name of an exported file must end in one of \.jsonl, \.csv, \.zip; got"
    ):
        export(file_url, copied, tmp_path / "history.xlsx")
    for name in ("a.csv", "a.zip"):
        with pytest.raises(
            UsageError, match=r"^The history cannot be exported to .+: No such file or directory\.$"
        ):
            export(file_url, copied, tmp_path / "none" / name)
