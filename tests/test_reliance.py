"""What a filed report relies on travels with it: terms, measured coverage, and citations by title."""

from __future__ import annotations

import html
import re

import numpy as np
import pandas as pd
import pytest
from conftest import REPOSITORY
from report_tools import in_full

import scorereport as sr
from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport._utils.files import find_package_folder
from scorereport._utils.version import package_version
from scorereport.configuration import parse_configuration
from scorereport.report.assembly import list_parts, plan_report
from scorereport.report.methods.evidence_formulas import EVIDENCE_FORMULAS
from scorereport.report.methods.glossary_terms import (
    EVERYDAY_TERMS,
    OTHER_FORMS,
    define_terms,
    read_glossary,
    read_notation,
)
from scorereport.report.methods.measured_coverage import (
    CLUSTERS,
    DRIFT,
    NOT_STUDIED,
    ROWS,
    TIMES,
    WEIGHTS,
    find_designs,
    format_range,
    format_worst,
    read_coverage,
)
from scorereport.report.methods.method_entries import METHOD_CATALOGUE
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections import reliance_sections
from scorereport.report.templates import render_html
from validation.coverage.__main__ import RECORDED
from validation.coverage.record import read_record
from validation.coverage.summary import _measures, summarise
from validation.coverage.summary_lines import LINES
from validation.methods_page import PAGE, render_methods_page

STUDY, CELLS = read_record(RECORDED)
_PATH = re.compile(r"docs/|\w\.md\b|README|validation/|templates/")
#: Methods of the catalogue that describe and do not infer, so that nothing can be measured.
DESCRIPTIVE = {
    "needed",  # its study is of decisions, not of coverage
    "missing classes",  # bounds over all outcomes, checked against all of few completions
    *EVIDENCE_FORMULAS,  # the study of audits in a row has the key DRIFT
    *("isotonic", "corp", "ici", "ece", "corrected ece", "skill", "roc", "murphy", "regret", "net benefit"),
    *(
        "interventions avoided",
        "thresholds",
        "holm",
        "ranks",
        "groups",
        "certificate",
        "class skill",
        "class views",
        "ordinal views",
    ),
    *("class sums", "ordinal sums", "retention", "scale", "checkpoints", "duckdb", "spark"),
}


def make_report(configuration="", *, classes=False, **options):
    rng = np.random.default_rng(3)
    p = rng.uniform(0.05, 0.95, 200)
    frame = pd.DataFrame({"y": (rng.random(200) < p).astype(int), "a": p, "b": 0.2 + 0.6 * p})
    frame["person"], frame["weight"] = np.arange(200) // 2, rng.choice([0.5, 2.0], 200)
    frame["day"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(200) // 2, unit="D")
    if classes:
        probabilities = rng.dirichlet(np.ones(3), 120)
        observed = [rng.choice(["low", "mid", "high"], p=row) for row in probabilities]
        frame = pd.DataFrame(probabilities, columns=["p_low", "p_mid", "p_high"]).assign(y=observed)
        forecasts = {"net": ["p_low", "p_mid", "p_high"]}
        options = {"forecasts": forecasts, "classes": ["low", "mid", "high"], "ordered": True} | options
    evaluation = sr.evaluate(frame, outcome="y", **({"forecasts": ["a", "b"], "resamples": 40} | options))
    return build_report(
        evaluation,
        Provenance(time="2026-11-15T07:30:12+00:00"),
        configuration=parse_configuration(configuration),
    )


def render(report):
    """The page of a report, with empty figures, which take long to draw."""
    context = plan_report(in_full(report))
    for part in list_parts(context):
        if part.pop("planned", None) is not None:
            part |= {"src": "data:,", "width": "1", "height": "1"}
    return render_html("report.html", context)


def read_coverage_section(page):
    return read_text(page.partition('id="coverage"')[2].partition('id="glossary"')[0])


def read_text(page):
    text = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(text).split())


def list_shown_terms(page):
    return re.findall(r"<p><b>(.*?)</b>", page.partition('id="glossary"')[2])


@pytest.fixture(scope="module")
def binary_page():
    return render(make_report('[report]\nnumber = "R-1"'))


@pytest.fixture(scope="module")
def class_page():
    return render(make_report(classes=True))


@pytest.mark.parametrize("page", DocumentationPage, ids=lambda page: page.name)
def test_a_page_of_the_documentation_has_each_title_that_is_cited(page):
    titles = [path.read_text(encoding="utf-8").splitlines()[0] for path in (REPOSITORY / "docs").glob("*.md")]
    assert titles.count(f"# {page}") == 1
    assert cite_page(page) == f'scorereport {package_version()} documentation, "{page}"'


def test_reports_cite_no_path(binary_page, class_page):
    for page in (binary_page, class_page):
        assert _PATH.findall(read_text(page)) == []
        assert cite_page(DocumentationPage.COVERAGE) in read_text(page)
        assert cite_page(DocumentationPage.GLOSSARY) in read_text(page)


def test_the_examples_cite_no_path():
    for path in (REPOSITORY / "scorereport" / "examples").glob("*.toml"):
        assert _PATH.findall(path.read_text(encoding="utf-8")) == []


def test_files_that_reports_quote_are_found():
    assert (find_package_folder("docs") / "glossary.md").is_file()
    assert (find_package_folder("recorded") / "coverage-summary.json").is_file()


def test_definitions_are_whole_first_sentences_of_the_glossary():
    page = (REPOSITORY / "docs" / "glossary.md").read_text(encoding="utf-8")
    plain = " ".join(re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", page).split())
    terms = read_glossary()
    assert [term.name for term in terms] == re.findall(r"^##+ (.+)$", page, re.MULTILINE)
    for term in terms:
        assert term.definition.endswith("."), term
        assert f"{term.name} {term.definition}" in plain
    assert f"{read_notation()} ###" in plain or f"{read_notation()} ## " in plain
    names = {term.name for term in terms}
    assert names.issuperset(EVERYDAY_TERMS)
    assert names.issuperset(OTHER_FORMS)


def test_terms_are_found_by_words_in_any_form_and_not_inside_words():
    def name(text):
        return [term.name for term in define_terms([text])]

    assert name("<p title='drift'>Two Brier scores (n/d), DSC=0.</p>") == [
        "Brier score",
        "Discrimination",
        "Not defined",
        "Score",
    ]
    assert name("scoreboard, prevalences2, the model") == []
    assert len(define_terms(None)) == len(read_glossary()) - len(EVERYDAY_TERMS)


def test_the_annex_defines_the_terms_that_the_report_uses(binary_page, class_page):
    binary, classes = list_shown_terms(binary_page), list_shown_terms(class_page)
    assert {"Miscalibration", "Brier score", "Calibration line", "Murphy diagram"} < set(binary)
    assert {"Ranked probability score", "Predicted class", "Retention curve"} < set(classes)
    assert not {"Ranked probability score", "Chain head", "Retention curve"} & set(binary)
    assert not {"Murphy diagram", "Net benefit", "Calibration line"} & set(classes)
    assert binary == sorted(binary, key=lambda term: re.split("[ -]", term.casefold()))


def test_the_annexes_can_be_omitted():
    page = read_text(render(make_report('[report]\nomit = ["coverage", "glossary"]')))
    assert "Annex: terms" not in page
    assert "Annex: measured coverage" not in page
    assert f"Terms are defined in {cite_page(DocumentationPage.GLOSSARY)}." in page


def test_the_summary_is_that_of_the_recorded_study():
    assert list(read_coverage()) == summarise(CELLS)
    page = (REPOSITORY / "docs" / "coverage.md").read_text(encoding="utf-8")
    for line in read_coverage():
        assert re.search(rf"\| {re.escape(line.method)} \|.*{re.escape(format_range(line))} \|.*", page), line
        assert format_worst(line) in page
    assert f"Last written {STUDY['written']}" in page
    assert page.index("## What you can rely on") < page.index("## How to read the tables")


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line.method}, {line.design}")
def test_each_line_summarises_cells_that_were_simulated(line):
    rows = [row for row in CELLS if _measures(line, row)]
    assert rows
    for pattern in line.cells:
        assert any(_measures(type(line)(line.method, line.keys, (pattern,)), row) for row in rows), pattern
    assert set(line.keys) <= {*METHOD_CATALOGUE, DRIFT}
    (found,) = [
        known for known in summarise(rows) if (known.method, known.design) == (line.method, line.design)
    ]
    values = [row.empirical for row in rows]
    assert (found.lowest, found.highest, found.cells) == (min(values), max(values), len(rows))
    assert found.worst_value == (max(values) if rows[0].nominal < 0.5 else min(values))


def test_cells_are_described_in_words():
    for line in read_coverage():
        assert not re.search(r"\bcal\.|b=|(?<!\d)\.\d|_|sqrt|binormal|, ,|^,", line.worst_case), line


def test_each_method_is_studied_not_studied_or_descriptive():
    studied = {key for line in read_coverage() for key in line.keys} - {DRIFT}
    not_studied = set(NOT_STUDIED)
    assert studied | not_studied | DESCRIPTIVE == set(METHOD_CATALOGUE)
    assert not DESCRIPTIVE & (studied | not_studied)


def test_the_annex_has_the_methods_of_the_report(binary_page, class_page):
    binary, classes = map(read_coverage_section, (binary_page, class_page))
    assert "for samples of this kind: independent rows." in binary
    assert "Interval of MCB, overfit-corrected" in binary
    assert "Interval of MCB of the RPS" not in binary
    assert "Interval of MCB of the RPS" in classes
    assert "Spiegelhalter" not in classes
    assert "The study does not contain, for samples of this kind: calibration line." in binary


def test_nothing_is_named_where_the_study_has_every_method(monkeypatch):
    monkeypatch.setattr(reliance_sections, "find_not_studied", lambda *_: [])
    section = read_coverage_section(render(make_report()))
    assert "Interval of MCB" in section
    assert "does not contain" not in section


def test_without_inference_there_is_no_annex_of_coverage():
    page = render(make_report(resamples=0))
    assert 'id="glossary"' in page
    assert 'id="coverage"' not in page


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("options", "designs"),
    [
        ({"cluster": "person"}, (CLUSTERS,)),
        ({"weight": "weight"}, (WEIGHTS,)),
        ({"time": "day"}, (ROWS, TIMES)),
    ],
    ids=["clusters", "weights", "time"],
)
def test_the_design_of_the_sample_selects_the_lines(options, designs):
    report = make_report(**options)
    assert find_designs(report.evaluation) == designs
    section = read_coverage_section(render(report))
    lines = {known.design: known for known in read_coverage() if "Diebold-Mariano" in known.keys}
    expected = designs[-1]
    assert format_worst(lines[expected]) in section
    others = [known for design, known in lines.items() if design != expected and "binary" in known.kinds]
    assert all(format_worst(known) not in section for known in others)


def test_the_methods_page_is_fresh():
    assert PAGE.read_text(encoding="utf-8") == render_methods_page(), (
        "run `python -m validation.methods_page`"
    )


def test_the_methods_page_has_every_method_once():
    page = PAGE.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", page, re.MULTILINE)
    assert len(headings) == len(set(headings))
    assert len(re.findall(r"^> ", page, re.MULTILINE)) >= len(METHOD_CATALOGUE) + 15
    assert not re.search(r"^Reference: \.$", page, re.MULTILINE)
