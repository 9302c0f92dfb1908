"""Verdicts of certificates: certified by the package, confirmed by base R, not checked or failed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from audit_tools import BRIEF, make_scored, write_audit
from report_tools import words_of

import scorereport as sr
from scorereport._utils.clock import fixed_time
from scorereport.audit.digest_texts import describe_digest
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.outcomes import summarize_outcome
from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.audit.site.pages import list_filters
from scorereport.audit.site.publication import publish_site
from scorereport.cli.terminal import print_certificate
from scorereport.errors import ExitCode
from scorereport.history.attestations import build_statement
from scorereport.history.audit_record import AuditStatus, read_audit_record
from scorereport.history.store import open_history
from scorereport.pipelines.junit import JunitFile
from scorereport.pipelines.mlflow_names import list_tags
from scorereport.reference import certification
from scorereport.reference.certification import PendingCertificate
from scorereport.reference.comparison_records import Verdict, compare_numbers
from scorereport.reference.reference_documents import Attempt
from scorereport.report.bill_of_materials import render_bill_of_materials
from scorereport.report.model_card import render_model_card
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_output import write_report
from scorereport.report.report_record import build_report
from scorereport.report.summary_page import summarize_report
from scorereport.report.tables.history_tables import describe_audit_record
from scorereport.report.verdict_labels import describe_certification

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = "reliabilitydiag 0.2.1 (R 4.2.2) through rpy2 3.6.5"
BASE = "base R 4.2.2 (stats::isoreg and plain arithmetic in a script of scorereport)"
REMEDY = "scorereport r-setup"
ATTEMPT = Attempt(
    reference="reliabilitydiag through rpy2",
    reason="The R package reliabilitydiag is not installed in /usr/lib/R.",
    remedy=REMEDY,
)
#: Certificates as they are written, and the verdict and first sentence that readers see.
WRITTEN = {
    "package": ("certified", "Certified on these data. 1 agrees.", PACKAGE),
    "base R": ("confirmed", "Confirmed on these data by base R. 1 agrees.", BASE),
    "nothing": ("not checked", "Not checked on these data. There is no R.", "none"),
    "old, base R": ("certified", "Certified on these data. 1 agrees.", BASE),
    "old, nothing": ("not certified", "Not certified on these data. There is no R.", "none"),
    "differs": ("failed", "Failed. 1 DIFFERS.", BASE),
}
SHOWN = {
    "package": ("certified", "Certified on these data.", "good"),
    "base R": ("confirmed", "Confirmed on these data by base R.", "confirmed"),
    "nothing": ("not checked", "Not checked on these data.", "unchecked"),
    "old, base R": ("confirmed", "Confirmed on these data by base R.", "confirmed"),
    "old, nothing": ("not checked", "Not checked on these data.", "unchecked"),
    "differs": ("failed", "Failed.", "bad"),
}
#: The sections of a report that state no certificate.
REST = [name for name in BRIEF["omit"] if name != "certificate"]
MARKS = str.maketrans("✓○✗", "   ")
OCTOBER = "2026-11-02"
every_kind = pytest.mark.parametrize("kind", WRITTEN)


@pytest.fixture(scope="module")
def evaluation() -> sr.Evaluation:
    return sr.evaluate([0, 1] * 20, {"m": [0.3, 0.7] * 20}, resamples=0)


def make_certificate(evaluation: sr.Evaluation, kind: str) -> sr.Certificate:
    verdict, sentence, reference = WRITTEN[kind]
    theirs = 0.5 if verdict == "failed" else 0.25
    compared = () if reference == "none" else (compare_numbers("m", "Brier score", 0.25, theirs),)
    return sr.Certificate(
        verdict=verdict,
        sentence=sentence,
        reference=reference,
        time="2026-01-01T00:00:00+00:00",
        rows=evaluation.data.row_flow.kept,
        sha256=evaluation.data.sha256,
        results_sha256=evaluation.sha256,
        software={},
        comparisons=compared,
        attempts=() if reference == PACKAGE else (ATTEMPT,),
    )


@every_kind
def test_what_a_reader_sees_follows_from_verdict_and_reference(evaluation, kind):
    certificate = make_certificate(evaluation, kind)
    verdict, sentence, tone = SHOWN[kind]
    assert certificate.current_verdict == verdict
    assert certificate.current_sentence.startswith(sentence)
    assert repr(certificate).startswith(f"Certificate: {verdict}\n")
    banner = describe_certification(certificate)
    assert (banner["sentence"], banner["tone"]) == (sentence, tone)


@every_kind
def test_a_certificate_keeps_its_bytes_when_it_is_written_again(evaluation, kind, tmp_path):
    text = make_certificate(evaluation, kind).to_json(tmp_path / "old.json")
    assert f'"verdict":"{WRITTEN[kind][0]}"' in text
    assert sr.Certificate.from_json(tmp_path / "old.json").to_json() == text


@pytest.mark.sweep(after=1)
@every_kind
def test_every_output_has_the_verdict_of_today(evaluation, kind, tmp_path, capsys):
    certificate = make_certificate(evaluation, kind)
    report = build_report(evaluation, trace_provenance(), certificate=certificate)
    verdict, sentence, _ = SHOWN[kind]
    print_certificate(certificate)
    assert capsys.readouterr().out.startswith(f"R certificate: {sentence}")
    assert f"R certificate: {verdict}." in render_model_card(report)
    facts = json.loads(render_bill_of_materials(report))["metadata"]["properties"]
    assert {"name": "scorereport:certificate", "value": verdict} in facts
    assert list_tags("", (), certificate, {})["scorereport.certificate"] == verdict
    JunitFile(tmp_path / "verdicts.xml").write(report, strict=False)
    assert f'type="{verdict}"' in (tmp_path / "verdicts.xml").read_text() or verdict in (
        "certified",
        "confirmed",
    )
    assert summarize_report(report).basis[-1].startswith(f"R certificate: {verdict}")


@pytest.mark.sweep(after=1)
@every_kind
def test_pages_have_the_verdict_with_its_colour(evaluation, kind, tmp_path):
    certificate = make_certificate(evaluation, kind)
    page = write_report(
        evaluation, tmp_path / "report.html", certificate=certificate, profile="full"
    ).read_text()
    verdict, sentence, tone = SHOWN[kind]
    assert f'<div class="banner {tone}">' in page
    assert sentence in words_of(page)
    assert f'R certificate: <span class="verdict {tone}">' in page
    missing = "Not checked: the numbers were not recomputed by another implementation."
    assert (missing in page) == (verdict == "not checked")
    if kind != "package":
        assert "ertified on these data" not in page


def test_the_summary_counts_only_what_was_compared(evaluation):
    certificate = make_certificate(evaluation, "package")
    (line,) = certificate.comparisons
    missed = replace(line, reference=None, verdict=Verdict.NOT_COMPARED, reason="R has no answer.")
    report = build_report(
        evaluation, trace_provenance(), certificate=replace(certificate, comparisons=(line, missed))
    )
    assert "1 of 1 comparisons as expected" in summarize_report(report).basis[-1]


def test_base_r_and_the_package_never_share_a_word_or_a_colour():
    assert len({SHOWN[kind][0] for kind in ("package", "base R", "nothing", "differs")}) == 4
    assert len({SHOWN[kind][2] for kind in ("package", "base R", "nothing", "differs")}) == 4


# ---- Audits ----


@pytest.fixture
def folder(tmp_path) -> Path:
    make_scored("2026-08-01", 122, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path


@pytest.fixture
def certify_by(monkeypatch):
    """Give the certificates of audits: those of a kind."""
    monkeypatch.setattr(certification, "_kinds", lambda _reference: ())

    def choose(kind):
        monkeypatch.setattr(
            PendingCertificate, "complete", lambda _self, evaluation: make_certificate(evaluation, kind)
        )

    with fixed_time("2026-12-15T06:00:00+00:00"):
        yield choose


def test_base_r_is_not_enough_where_a_certificate_is_required(folder, certify_by):
    certify_by("base R")
    record = run_audit(write_audit(folder, certify="required"), as_of=OCTOBER).record
    assert (record.status, record.exit_code) == (AuditStatus.FAILED, ExitCode.CERTIFICATE_FAILED)
    assert record.reason == (
        "`audit.certify` requires the R package reliabilitydiag, which could not be used. Base R confirmed "
        f"the numbers, which does not suffice. {ATTEMPT.reference}: {ATTEMPT.reason} To fix: {REMEDY}"
    )


@pytest.mark.parametrize(
    ("kind", "status"), [("package", AuditStatus.DONE), ("differs", AuditStatus.UNCERTIFIED)]
)
def test_what_is_required_is_an_answer_of_the_package(folder, certify_by, kind, status):
    certify_by(kind)
    assert run_audit(write_audit(folder, certify="required"), as_of=OCTOBER).record.status is status


@every_kind
def test_records_keep_what_was_written_and_show_the_verdict_of_today(folder, certify_by, kind, tmp_path):
    certify_by(kind)
    config = write_audit(folder, certify="optional", output={"formats": ["html"]}, report=BRIEF)
    outcome = run_audit(config, as_of=OCTOBER)
    record, verdict = outcome.record, SHOWN[kind][0]
    assert (record.certificate, record.current_certificate) == (WRITTEN[kind][0], verdict)
    plan = read_plan(config)
    assert verify_audit_history(plan).findings == ()
    again = read_audit_record(record.to_json(), "record")
    assert (again.to_json(), again.sha256) == (record.to_json(), record.sha256)
    assert f"R certificate: {verdict}" in list(describe_audit_record(again))
    statement = json.loads(build_statement(record))["predicate"]
    assert statement["scorereport"]["certificate"] == WRITTEN[kind][0]
    passed = "R certificate" in statement["passedTests"]
    assert passed == (verdict in ("certified", "confirmed"))
    sent = summarize_outcome(record, files=outcome.files)
    assert sent["certificate"] == verdict
    assert "certified, " not in sent["text"] or verdict == "certified"
    assert f"R certificate: {verdict}\n" in describe_digest([sent], ["2026-11-02"])
    with open_history(plan.database_url, head=plan.chain_head, create=False) as history:
        publish_site(plan, history, tmp_path / "site")
    assert_site_shows(tmp_path / "site", verdict, SHOWN[kind][2])


def assert_site_shows(site: Path, verdict: str, tone: str) -> None:
    (page,) = (site / "audits").glob("*.html")
    for path in (site / "index.html", page):
        text = path.read_text(encoding="utf-8")
        assert f"R certificate: {verdict}" in " ".join(words_of(text).translate(MARKS).split())
        assert f'data-certificate="{tone}"' in text
    ((run,),) = [audit["runs"] for audit in json.loads((site / "audits.json").read_text())["audits"]]
    assert run["certificate"] == verdict
    assert f"R certificate: {verdict}." in (site / "feed.xml").read_text(encoding="utf-8")


def test_the_oldest_records_do_not_name_the_reference(folder, certify_by):
    certify_by("old, base R")
    record = run_audit(write_audit(folder, certify="optional"), as_of=OCTOBER).record
    text = json.loads(record.to_json())
    del text["summary"]
    oldest = read_audit_record(json.dumps(text, separators=(",", ":")) + "\n", "record")
    assert (oldest.certificate, oldest.current_certificate) == ("certified", "certified or confirmed")


def test_audits_are_filtered_by_their_certificates():
    passed = ("pass", {"text": "pass"}, False)
    badges = [{"key": "good", "text": "certified"}, {"key": "confirmed", "text": "confirmed"}]
    assert list_filters([passed] * 2, badges[:1] * 2) == []
    listed = list_filters([passed] * 3, [*badges, badges[1]])
    assert [(one["key"], one["text"], one["count"]) for one in listed] == [
        ("all", "all", "3"),
        ("attention", "needs attention", "0"),
        ("r-good", "R certificate certified", "1"),
        ("r-confirmed", "R certificate confirmed", "2"),
    ]
