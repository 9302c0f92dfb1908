"""Studies and reports: their content and order; files are complete, reproducible and self-contained."""

from __future__ import annotations

import html
import logging
import os
import re
import shutil
import subprocess
import sys
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from report_tools import in_full

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.errors import UsageError
from scorereport.plots import canvas
from scorereport.reference.comparison_records import Comparison, Verdict, compare_numbers
from scorereport.reference.reference_documents import (
    Attempt,
    Certificate,
    Study,
    StudyFigure,
    StudyPanel,
    StudySection,
    StudySeries,
)
from scorereport.report import assembly
from scorereport.report.assembly import describe_report
from scorereport.report.document_context import describe_certificate, describe_study
from scorereport.report.pdf import render_pdf
from scorereport.report.provenance import Provenance
from scorereport.report.report_output import (
    prepare_report,
    render_report,
    write_pages,
    write_report,
)
from scorereport.report.report_record import Report, build_report
from scorereport.report.study_output import write_study
from scorereport.report.tables.table import Table, describe_table
from scorereport.report.templates import render_html

TIME = "2026-11-15T07:30:12+00:00"
HOSTILE = "<script>alert('x')</script> & \"more\""
LONG_REASON = "The reference orders ties otherwise, so that a group of equal forecasts is split."


def line(verdict, subject="logit", quantity="MCB", reason="", **values):
    values = {"engine": 0.5, "reference": 0.25, "difference": 0.25, "tolerance": 1e-12} | values
    return Comparison(subject=subject, quantity=quantity, verdict=verdict, reason=reason, **values)


def make_study(*sections):
    return Study(
        time=TIME,
        seed=7,
        cases=200,
        software={"scorereport": "0.1.0", "R": "4.2.2"},
        sections=tuple(
            StudySection(
                key=str(place), title=f"Part {place}", text="How it was done.", comparisons=tuple(lines)
            )
            for place, lines in enumerate(sections, start=1)
        ),
    )


def make_figure(subject="logit", title="a title", caption="What is seen.", label="a line"):
    line_of_two = StudySeries(label=label, kind="line", x=(0.0, 1.0), y=(0.25, 0.75))
    panel = StudyPanel(
        title=title, x_label="x", y_label="y", x_limits=(0.0, 1.0), y_limits=(0.0, 1.0), series=(line_of_two,)
    )
    return StudyFigure(key="key", subject=subject, title=title, caption=caption, panels=(panel,))


def with_figures(study, *figures):
    """A study whose last section has figures."""
    *others, last = study.sections
    return replace(study, sections=(*others, replace(last, figures=figures)))


def make_certificate(verdict="certified", sentence="Certified on these data. 12 comparisons agree.", **more):
    settings = {"reference": "reliabilitydiag 0.2.1", "software": {"R": "4.2.2"}, "results_sha256": ""} | more
    return Certificate(
        verdict=verdict,
        sentence=sentence,
        time=TIME,
        rows=1200,
        sha256="ab" * 32,
        **settings,
    )


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(5)
    forecast = rng.random(120)
    frame = pd.DataFrame(
        {
            "y": (rng.random(120) < forecast).astype(int),
            HOSTILE: forecast,
            "steep": forecast**2,
            "region": rng.choice(["north", "south"], 120),
        }
    )
    return sr.evaluate(
        frame,
        outcome="y",
        forecasts=[HOSTILE, "steep"],
        groups="region",
        cost_interval=(0.1, 0.3),
        resamples=0,
    )


def page_of(*sections):
    return render_html("validation.html", describe_study(make_study(*sections)))


def certified(evaluation, *arguments, **more):
    return make_certificate(*arguments, results_sha256=evaluation.sha256, **more)


def report_page(evaluation, certificate=None):
    report = build_report(evaluation, Provenance(time=TIME), certificate=certificate)
    return render_html("report.html", describe_report(in_full(report)))


def words_of(page):
    """The text of the body of a page, without markup."""
    body = page[page.index("<body>") :]
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", body)))


# ---- Content of a study ----


def test_a_study_in_which_nothing_is_unexpected_has_passed():
    page = words_of(page_of([line(Verdict.AGREES), line(Verdict.EXPECTED, reason=LONG_REASON)]))
    assert "Passed: no unexpected difference in 2 lines of comparisons" in page
    assert "2026-11-15 07:30 UTC" in page
    assert "scorereport 0.1.0, R 4.2.2" in page


def test_a_study_with_anything_unexpected_has_failed():
    page = words_of(page_of([line(Verdict.DIFFERS)], [line(Verdict.AGREES), line(Verdict.REFUTED)]))
    assert "Failed: 2 unexpected differences, listed below" in page
    assert "Part 2 1 unexpected" in page


def test_lines_that_were_not_compared_are_not_a_success():
    page = words_of(page_of([line(Verdict.AGREES), line(Verdict.NOT_COMPARED), line(Verdict.ABSENT)]))
    assert "no unexpected difference in 1 line of comparisons" in page
    assert "2 lines could not be compared" in page


def test_a_study_without_r_has_passed_in_part_only():
    described = describe_study(make_study([line(Verdict.AGREES)], [line(Verdict.ABSENT)]))["verdict"]
    assert described["sentence"] == "Partly passed, without Part 2"
    assert described["tone"] == "open"


@pytest.mark.parametrize("sections", [[], [[]], [[line(Verdict.ABSENT)]]], ids=["none", "empty", "absent"])
def test_a_study_of_nothing_has_not_passed(sections):
    described = describe_study(make_study(*sections))["verdict"]
    assert described["sentence"] == "Not validated: nothing was compared"
    assert described["tone"] == "open"
    assert "Passed" not in words_of(page_of(*sections))


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_its_word_and_a_sign(verdict):
    page = page_of([line(verdict, reason="why")])
    found = re.search(
        rf'<span class="verdict (\w+)"><span class="mark" [^>]*>(.)</span> {verdict}</span>', page
    )
    assert found is not None
    looks_good = found[1] == "good" or found[2] == "✓"
    assert looks_good == (verdict in {"agrees", "reproduced", "confirmed", "passed"})


def test_unexpected_lines_come_first():
    lines = [line(Verdict.AGREES, quantity=f"plain {i}") for i in range(9)]
    page = page_of([*lines, line(Verdict.FAILED, quantity="broken", reason=LONG_REASON)])
    text = words_of(page)
    assert text.index("Unexpected: 1 of 10 comparisons") < text.index("broken") < text.index("plain 0")
    assert text.count("broken") == 2
    assert "comparison loud" in page


def test_numbers_are_compact():
    page = words_of(page_of([compare_numbers("logit", "MCB", 0.25, 0.25 + 2.0**-52)] * 3))
    assert "MCB 0.25 0.25 2.2e−16 1e−12 ✓ agrees" in page
    infinite = replace(line(Verdict.AGREES), engine=float("inf"), reference=None, difference=None)
    assert "MCB ∞ – – 1e−12 ✓ agrees" in words_of(page_of([infinite] * 3))


def test_columns_without_content_are_left_out():
    lines = [line(Verdict.PASSED, engine="2.4", reference="2.0", difference=None, tolerance=None)] * 3
    table = describe_study(make_study(lines))["sections"][0]["tables"][0]
    assert [head["text"] for head in table["heads"]] == ["quantity", "engine", "reference", "verdict"]


def test_a_reason_that_lines_share_is_shown_once():
    lines = [line(Verdict.EXPECTED, quantity=name, reason=LONG_REASON) for name in ("MCB", "DSC", "UNC")]
    text = words_of(page_of(lines))
    assert text.count(LONG_REASON) == 1
    assert f"3 lines: {LONG_REASON}" in text


def test_long_texts_are_not_put_into_a_column_of_numbers():
    values = "Highly sensitive, Well calibrated, Overestimating risk"
    page = words_of(
        page_of([line(Verdict.REPRODUCED, engine=values), line(Verdict.AGREES), line(Verdict.AGREES)])
    )
    assert f"MCB see below 0.25 0.25 1e−12 ✓ reproduced engine: {values}" in page


def test_a_short_reason_stands_beside_its_quantity():
    text = words_of(page_of([line(Verdict.AGREES, reason="44 cases")] * 3))
    assert "MCB · 44 cases 0.5" in text


@pytest.mark.parametrize(
    ("lines_each", "captions", "titles"),
    [(1, ["All comparisons"], 0), (4, ["All comparisons"], 3), (9, ["a", "b", "c"], 0)],
)
def test_tables_are_grouped_by_subject(lines_each, captions, titles):
    """Also if subjects alternate."""
    lines = [line(Verdict.AGREES, subject=name) for _ in range(lines_each) for name in "abc"]
    tables = describe_study(make_study(lines))["sections"][0]["tables"]
    assert [table["caption"] for table in tables] == captions
    assert sum(body["title"] != "" for table in tables for body in table["bodies"]) == titles
    assert sum(len(body["rows"]) for table in tables for body in table["bodies"]) == 3 * lines_each


def test_commands_between_backticks_are_code():
    page = page_of([line(Verdict.ABSENT, reason="Run `pip install <x>` and try once more.")])
    assert "Run <code>pip install &lt;x&gt;</code> and try once more." in page
    alone = page_of([line(Verdict.ABSENT, reason="A single ` is only a strange character.")])
    assert "A single ` is only a strange character." in alone


# ---- Content of a report ----


def test_a_report_has_the_tables_and_the_certificate(evaluation):
    lines = tuple(compare_numbers("steep", f"number {i}", i / 7, i / 7) for i in range(12))
    page = words_of(report_page(evaluation, certified(evaluation, comparisons=lines)))
    for text in ("Mean scores", "CORP decomposition", "By region", "Certified on these data.", "number 11"):
        assert text in page
    assert "Costs between 0.1 and 0.3" in page


@pytest.mark.sweep
def test_a_report_without_certificate_states_it(evaluation):
    page = words_of(report_page(evaluation))
    assert "Not checked: the numbers were not recomputed by another implementation." in page
    assert "were computed a second time" not in page


def test_intervals_stand_under_their_numbers():
    table = Table(caption="c", heads=("model", "mean", "interval"), rows=(("a", "1.0", "[0.5, 1.5]"),))
    described = describe_table(table)
    assert [head["text"] for head in described["heads"]] == ["model", "mean"]
    assert described["bodies"][0]["rows"][0]["cells"][1]["detail"] == "[0.5, 1.5]"


@pytest.mark.parametrize(
    ("verdict", "sentence", "loud", "tone"),
    [
        ("certified", "Certified on these data. All agree.", "Certified on these data.", "good"),
        ("failed", "2 of 54 numbers differ.", "Failed: 2 of 54 numbers differ.", "bad"),
        (
            "confirmed",
            "Confirmed on these data by base R. All agree.",
            "Confirmed on these data by base R.",
            "confirmed",
        ),
        ("not checked", "There is no R.", "Not checked: There is no R.", "unchecked"),
    ],
)
def test_a_certificate_begins_with_its_verdict(verdict, sentence, loud, tone):
    found = describe_certificate(make_certificate(verdict, sentence))["verdict"]
    assert (found["sentence"], found["tone"]) == (loud, tone)


def test_a_certificate_names_failures_and_remedies(evaluation):
    attempts = (
        Attempt(reference="reliabilitydiag", reason="There is no R.", remedy="apt install r-base-core"),
        Attempt(reference="base R", reason="Nor here.", remedy="First run `R`, then wait."),
    )
    certificate = certified(evaluation, "not checked", "There is no R.", attempts=attempts, reference="")
    page = report_page(evaluation, certificate)
    assert "<code>apt install r-base-core</code>" in page
    assert "First run <code>R</code>, then wait." in page
    assert "Compared with nothing" in words_of(page)
    assert "ab" * 32 in page


def test_expected_deviations_have_a_table_of_their_own():
    reasons = (LONG_REASON, f"Otherwise. {LONG_REASON}")
    lines = [
        line(Verdict.EXPECTED, subject=s, reason=reason) for s in ("logit", "steep") for reason in reasons
    ]
    described = describe_certificate(make_certificate(comparisons=(line(Verdict.AGREES), *lines)))
    notes = [body["note"] for body in described["expected"]["bodies"]]
    assert notes == [f"2 lines: {reason}" for reason in reasons]
    assert described["unexpected"] is None


# ---- Figures of a study ----


def many_lines(*subjects):
    return [
        line(Verdict.AGREES, subject=subject, quantity=f"n {k}") for subject in subjects for k in range(9)
    ]


def test_figures_follow_the_table_of_their_subject_and_others_end_the_section():
    figures = [make_figure("other", "third"), make_figure("forest", "second"), make_figure("logit", "first")]
    study = with_figures(make_study(many_lines("logit"), many_lines("logit", "forest")), *figures)
    page = render_html("validation.html", describe_study(study))
    places = [
        page.index(text)
        for text in (
            "<strong>Table 2.</strong> logit",
            "<strong>Figure 1.</strong> logit, first. What is seen.",
            "<strong>Table 3.</strong> forest",
            "<strong>Figure 2.</strong> forest, second. What is seen.",
            "<strong>Figure 3.</strong> other, third. What is seen.",
        )
    ]
    assert places == sorted(places)
    assert re.findall(r'<figure id="([^"]+)"', page) == ["figure-1", "figure-2", "figure-3"]
    assert page.count('src="data:image/svg+xml;base64,') == 3


def test_a_figure_has_its_description_as_alternative_text():
    study = with_figures(make_study([line(Verdict.AGREES)]), make_figure())
    page = render_html("validation.html", describe_study(study))
    text = "a title. a title: y against x; a line from (0, .25) to (1, .75), highest at (1, .75)."
    assert f'alt="{text}"' in page


def test_texts_of_figures_are_escaped():
    figure = make_figure(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
    page = render_html("validation.html", describe_study(with_figures(make_study([]), figure)))
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 4


def test_a_study_from_before_figures_is_read():
    study = make_study([line(Verdict.AGREES)])
    before = json_documents.dump(study).replace(',"figures":[]', "")
    assert "figures" not in before
    assert json_documents.load(Study, before, "study") == study


@pytest.mark.sweep
def test_a_pdf_shows_figures_with_their_captions_and_repeats(tmp_path):
    study = with_figures(make_study(many_lines("logit")), make_figure(caption="What is seen, and how."))
    json, page, pdf = write_study(study, tmp_path / "first")
    again = write_study(json_documents.load(Study, json.read_bytes(), "study"), tmp_path / "second")
    for path, same in zip((json, page, pdf), again, strict=True):
        assert path.read_bytes() == same.read_bytes()
    assert b"/Figure" in inflate(pdf.read_bytes())
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext of poppler-utils is not installed")
    text = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True).stdout
    assert "Figure 1. logit, a title. What is seen, and how." in " ".join(text.split())


# ---- Rendering ----


def test_text_is_escaped(evaluation):
    lines = [line(Verdict.DIFFERS, subject=HOSTILE, quantity=HOSTILE, engine=HOSTILE, reason=HOSTILE * 2)]
    certificate = certified(evaluation, "failed", HOSTILE, comparisons=tuple(lines), software={"R": HOSTILE})
    pages = [page_of(lines), report_page(evaluation, certificate)]
    for page in pages:
        assert "<script" not in page
        assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp;" in page


def test_a_missing_name_is_an_error():
    described = describe_study(make_study([line(Verdict.AGREES)]))
    del described["sections"][0]["counts"]
    with pytest.raises(UsageError, match=r"UndefinedError: .* has no attribute 'counts'\.$"):
        render_html("validation.html", described)


def test_a_page_is_self_contained():
    page = page_of([line(Verdict.AGREES)])
    assert page.startswith("<!DOCTYPE html>")
    assert '<html lang="en">' in page
    assert "<title>Validation of scorereport</title>" in page
    assert not re.search(r"<(script|link|img|iframe)|url\(|@import|https?:", page)


@pytest.mark.sweep
def test_links_have_targets(evaluation):
    for page in (page_of([], []), report_page(evaluation)):
        targets = re.findall(r'href="#([^"]+)"', page)
        assert len(targets) > 1
        assert all(page.count(f' id="{target}"') == 1 for target in targets)


def test_tables_are_accessible():
    page = page_of([line(Verdict.AGREES)] * 3)
    cells = page[page.index("<table") : page.index("</table>")]
    assert cells.count("<caption>") == 1
    assert re.findall(r"<th(?! scope=)[ >]", cells) == []


@pytest.mark.sweep
def test_pdf_has_text_title_language_and_page_numbers(tmp_path):
    for tool in ("pdftotext", "pdfinfo"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} of poppler-utils is not installed")
    marks = [
        line(verdict, reason=f"{LONG_REASON} −∞ ≤ x · {number}") for number, verdict in enumerate(Verdict)
    ]
    lines = [line(Verdict.AGREES, quantity=f"number {i}") for i in range(60)]
    path = tmp_path / "study.pdf"
    path.write_bytes(render_pdf(page_of(lines, marks)))
    text = subprocess.run(
        ["pdftotext", "-layout", path, "-"], capture_output=True, text=True, check=True
    ).stdout
    about = subprocess.run(["pdfinfo", path], capture_output=True, text=True, check=True).stdout
    pages = int(re.search(r"Pages: +(\d+)", about)[1])
    assert pages > 2
    assert re.search(r"Title: +Validation of scorereport\n", about)
    assert re.search(r"Tagged: +yes\n", about)
    for expected in (
        "Failed: 3 unexpected differences",
        "number 59",
        "−∞ ≤ x · 3",
        f"page {pages} of {pages}",
    ):
        assert expected in text
    assert text.count("tolerance") >= pages - 2
    assert re.search(r"1\s+Part 1[ .]+\d\n", text)


def inflate(content):
    """The content of the compressed parts of a PDF."""
    parts = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    return b"".join(zlib.decompressobj().decompress(part) for part in parts if part[:1] == b"x")


def test_pdf_is_tagged_and_in_english():
    content = render_pdf(page_of([line(Verdict.AGREES)]))
    assert content.startswith(b"%PDF-1.7")
    assert b"/Lang (en)" in inflate(content)
    assert b"/StructTreeRoot" in inflate(content)


RENDER_TWICE = """
import hashlib, sys
from scorereport.report.pdf import render_pdf
page = open(sys.argv[1], encoding="utf-8").read()
print(*{hashlib.sha256(render_pdf(page)).hexdigest() for _ in range(2)})
"""


@pytest.mark.sweep
def test_the_same_page_gives_the_same_bytes_in_every_process(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(page_of([line(v, reason=LONG_REASON) for v in Verdict]), encoding="utf-8")
    found = [
        subprocess.run(
            [sys.executable, "-c", RENDER_TWICE, page],
            env=os.environ | {"PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    ]
    assert [run.stderr for run in found] == ["", ""]
    assert len({run.stdout for run in found}) == 1
    assert len(found[0].stdout.split()) == 1


@pytest.mark.parametrize(
    "source", ["http://localhost:9/x.png", "https://example.org/x.png", "file:///etc/hostname", "ftp://x/y"]
)
def test_nothing_is_fetched(source, monkeypatch):
    import socket

    def refuse(*_):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    with pytest.raises(ValueError, match="a report must contain everything that it shows"):
        render_pdf(f'<html lang="en"><title>x</title><h1>x</h1><img alt="x" src="{source}"></html>')


def test_an_embedded_picture_is_shown():
    dot = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    page = f'<html lang="en"><title>x</title><h1>x</h1><img alt="dot" src="{dot}"></html>'
    assert b"/Subtype /Image" in render_pdf(page)


def test_rendering_is_silent_and_leaves_the_process_as_it_was(capfd, caplog):
    caplog.set_level(logging.DEBUG)
    before = dict(os.environ), logging.getLogger("weasyprint").handlers[:]
    render_pdf('<html lang="en"><style>h1 { no-such: thing }</style><title>x</title><h1>x</h1></html>')
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.name.startswith(("weasyprint", "fontTools"))] == []
    assert (dict(os.environ), logging.getLogger("weasyprint").handlers[:]) == before
    assert logging.getLogger("weasyprint").propagate


# ---- Files ----


@pytest.mark.sweep
def test_a_report_is_written_by_its_ending(tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.4, 0.3, 0.9]})
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["p"], resamples=0)  # few pages
    certificate = make_certificate(comparisons=(line(Verdict.AGREES),), results_sha256=evaluation.sha256)
    paths = [tmp_path / name for name in ("report.html", "report.PDF", "report.json")]
    for path in paths:
        assert write_report(evaluation, path, certificate=certificate) == path
    assert paths[0].read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert paths[1].read_bytes().startswith(b"%PDF-")
    report = json_documents.load(Report, paths[2].read_bytes(), "report.json")
    assert json_documents.dump(report.evaluation) == evaluation.to_json()
    assert report.certificate == certificate


def test_a_certificate_of_other_results_is_refused(evaluation, tmp_path):
    certificate = make_certificate(results_sha256="cd" * 32)
    with pytest.raises(UsageError, match=r"^The certificate is for other results: it names cdcdcdcdcdcd…, "):
        write_report(evaluation, tmp_path / "report.html", certificate=certificate)
    assert not list(tmp_path.iterdir())


def test_other_endings_are_refused(evaluation, tmp_path):
    endings = r"\.pdf, \.html, \.xlsx, \.md, \.cdx\.json, \.tables\.json or \.json"
    message = rf"^The name of a report must end in {endings}; got 'report\.docx'\.$"
    with pytest.raises(UsageError, match=message):
        write_report(evaluation, tmp_path / "report.docx")
    assert list(tmp_path.iterdir()) == []


def test_a_study_is_written_in_three_forms(tmp_path):
    study = make_study([line(Verdict.AGREES)])
    paths = write_study(study, tmp_path / "new" / "folder")
    assert [path.name for path in paths] == [f"validation-report.{end}" for end in ("json", "html", "pdf")]
    assert json_documents.load(Study, paths[0].read_bytes(), "study") == study
    assert all(path.stat().st_size > 0 for path in paths)


def test_a_study_whose_pdf_cannot_be_rendered_keeps_the_rest(tmp_path, monkeypatch):
    def fail(_, **_options):
        raise UsageError("no Pango")

    monkeypatch.setattr("scorereport.report.study_output.render_pdf", fail)
    with pytest.raises(UsageError, match=r"^The PDF cannot be rendered \(no Pango\); .* are written\.$"):
        write_study(make_study([line(Verdict.AGREES)]), tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"validation-report.json", "validation-report.html"}


@pytest.mark.sweep
def test_an_earlier_report_survives_a_full_disk(evaluation, tmp_path, monkeypatch):
    def full_disk(_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "report.html"
    path.write_text("before", encoding="utf-8")
    monkeypatch.setattr("scorereport._utils.files.os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_report(evaluation, path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


# ---- HTML first ----


@pytest.fixture
def short_page(monkeypatch):
    """Pages of one sentence, because the order of the files is all that matters."""
    monkeypatch.setattr("scorereport.report.renderer.describe_report", lambda *_, **__: {})
    page = '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"></head><p>x</p></html>'
    monkeypatch.setattr("scorereport.report.renderer.render_html", lambda *_, **__: page)


@pytest.mark.usefixtures("short_page")
def test_html_is_written_before_the_pdf_is_laid_out(evaluation, tmp_path, monkeypatch):
    paths = [tmp_path / f"r{ending}" for ending in (".pdf", ".html", ".json")]
    announced, seen = [], []

    def lay_out(_page, **_options):
        seen.extend((path.name, path.stat().st_size > 0) for path in sorted(tmp_path.iterdir()))
        seen.append([path.name for path in announced])
        return b"%PDF"

    monkeypatch.setattr("scorereport.report.renderer.render_pdf", lay_out)
    assert write_pages(prepare_report(evaluation, None, None), paths, announce=announced.append) == paths
    assert seen == [("r.html", True), ("r.json", True), ["r.html", "r.json"]]
    assert [path.name for path in announced] == ["r.html", "r.json", "r.pdf"]


@pytest.mark.usefixtures("short_page")
def test_html_stays_if_the_pdf_fails(evaluation, tmp_path, monkeypatch):
    def fail(_page, **_options):
        raise UsageError("no Pango")

    monkeypatch.setattr("scorereport.report.renderer.render_pdf", fail)
    with pytest.raises(UsageError, match=r"^no Pango$"):
        write_pages(prepare_report(evaluation, None, None), [tmp_path / "r.pdf", tmp_path / "r.html"])
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_each_figure_is_drawn_once_for_all_formats(evaluation, monkeypatch):
    drawn = []
    original = canvas.render_svg
    few = [section for section in assembly.list_sections() if section.name in ("decision", "discrimination")]
    monkeypatch.setattr(assembly, "list_sections", lambda: few)
    monkeypatch.setattr("scorereport.report.renderer.embed_fonts", lambda page: page)
    monkeypatch.setattr(canvas, "render_svg", lambda figure: drawn.append(figure) or original(figure))
    monkeypatch.setattr("scorereport.report.renderer.render_pdf", lambda page, **_: page.encode())
    rendered = render_report(prepare_report(evaluation, None, None), {".pdf", ".html", ".json"})
    images = [rendered[ending].count(b'src="data:image/svg+xml') for ending in (".html", ".pdf")]
    assert images == [len(drawn), len(drawn)]
    assert len(drawn) >= 2
