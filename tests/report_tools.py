"""Helpers for tests of whole reports: reports with every section, and readers of PDF files and pages."""

from __future__ import annotations

import html
import io
import re
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pikepdf
import pypdfium2

import scorereport as sr
from scorereport.configuration import SECTION_NAMES, parse_configuration, read_configuration
from scorereport.configuration.section_choice import SectionChoice
from scorereport.reference.comparison_records import Comparison, Verdict, compare_numbers
from scorereport.reference.reference_documents import Certificate
from scorereport.report.provenance import Provenance, Revision
from scorereport.report.report_output import select_checkpoint
from scorereport.report.report_record import Report, build_report, reconfigure_report
from scorereport.report.sections import list_sections
from scorereport.report.templates import hash_templates

DATE = "2026-11-15"
TIME = "2026-11-15T07:30:12+00:00"
CONFORMANCE = Path(__file__).parents[2] / "shared" / "tools" / "pdf-conformance"
MODELS = ("logit", "steep")
COMMAND = "scorereport report loans.csv --outcome default --forecast logit --config filed.toml"
LIMITATION = "Loans of 2020 are missing: payments were deferred that year. Ελληνικά, Кириллица, naïve."
CONFIGURATION = f"""\
# A comment that only the file itself has.
[report]
title = "Validation of the default model"
subtitle = "Retail loans"
number = "MV-2026-117"
version = "1.3"
organisation = "Example Bank"
confidentiality = "Internal"
profile = "full"
purpose = "This report decides whether the model may stay in use."

[model]
name = "Retail default"
version = "4.2"
owner = "Retail Credit Risk"
developer = "Credit Modelling"
tier = "1 (high)"
intended_use = "Probability of default within a year, for the price of a loan."
descriptions = {{logit = "The model in use.", steep = "A challenger that promises too much."}}

[data]
source = "Loan ledger"
period = "2024-01-01 to 2024-11-15"
population = "New retail loans of all branches"
outcome = "90 days past due"
horizon = "12 months"

[people]
author = "Ana Lima"
reviewer = {{name = "Børge Åsen", role = "Head of Model Validation"}}
approver = {{name = "Ελένη Жукова", organisation = "Example Bank"}}

[evaluation]
groups = ["site"]
cost_interval = [0.1, 0.4]

[limits]
set_by = "Model risk committee"
set_on = 2026-01-15
brier = {{warn = 0.21, fail = 0.24}}
roc_auc = {{warn = 0.66, fail = 0.60}}
log_loss = {{warn = 0.55, fail = 0.57}}
calibration_slope = {{min = 0.7, max = 1.3}}

[text]
limitations = "{LIMITATION}"
conclusion = "The model in use may stay in use."
changes = "The limit on the slope is new."

[checklist]
lists = ["model-risk"]
names = {{model-risk = "House rules for models"}}
"""


def make_loans() -> pd.DataFrame:
    """Two models of the same loans: one calibrated, one overconfident."""
    rng = np.random.default_rng(3)
    score, n = rng.normal(size=320), 320
    right = 1 / (1 + np.exp(0.5 - 1.5 * score))
    site = np.where(rng.random(n) < 0.5, "east", "west").astype("<U5")
    site[::40] = "north"
    return pd.DataFrame(
        {
            "default": (rng.random(n) < right).astype(int),
            "logit": right,
            "steep": (1 / (1 + np.exp(1 - 3 * score))).round(2).clip(0.01, 0.99),
            "site": site,
            "day": pd.date_range("2024-01-01", periods=n).astype(str),
            "rating": pd.cut(right, [0, 0.2, 0.5, 1], labels=list("ABC")).astype(str),
        }
    )


def make_certificate(evaluation: sr.Evaluation) -> Certificate:
    """A certificate with comparisons that agree and expected deviations."""
    known = Comparison(
        subject="steep",
        quantity="band",
        verdict=Verdict.EXPECTED,
        engine=0.5,
        reference=0.25,
        difference=0.25,
        tolerance=1e-12,
        reason="The reference orders ties otherwise, so that a group of equal forecasts is split.",
    )
    return Certificate(
        verdict="certified",
        sentence="Certified on these data. 7 comparisons agree.",
        time=TIME,
        rows=320,
        sha256="ab" * 32,
        reference="reliabilitydiag 0.2.1",
        software={"R": "4.2.2"},
        comparisons=(*(compare_numbers("logit", f"part {i}", i / 7, i / 7) for i in range(1, 8)), known),
        results_sha256=evaluation.sha256,
    )


def make_rich_report(folder: Path) -> Report:
    """A report that has every section; data and configuration are written into the folder."""
    make_loans().to_csv(folder / "loans.csv", index=False)
    (folder / "filed.toml").write_bytes(CONFIGURATION.encode())
    evaluation = sr.evaluate(
        folder / "loans.csv",
        outcome="default",
        forecasts=MODELS,
        groups="site",
        time="day",
        window="quarter",
        grade="rating",
        cost_interval=(0.1, 0.4),
        resamples=99,
        seed=7,
        scale=True,
    )
    provenance = Provenance(
        time=TIME,
        command=COMMAND,
        templates_sha256=hash_templates(None),
        revision=Revision(commit="c0ffee" * 6 + "abcd", is_changed=True),
        machine="Linux x86_64",
        software={"python": "3.11.2", "scorereport": "0.1.0"},
    )
    return build_report(
        evaluation,
        provenance,
        certificate=make_certificate(evaluation),
        configuration=read_configuration(folder / "filed.toml"),
    )


def in_full(report: Report) -> Report:
    """The report with all sections, whatever its configuration says."""
    return report.with_sections(SectionChoice(profile="full"))


# ---- Reading a PDF ----


def open_pdf(content: bytes) -> pikepdf.Pdf:
    return pikepdf.open(io.BytesIO(content))


def read_pages(content: bytes) -> list[str]:
    """The text of each page in one line."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        return [plain(page.get_textpage().get_text_range()) for page in document]


def plain(text: str) -> str:
    """Text without invisible characters, and with single spaces."""
    return re.sub(r"\s+", " ", re.sub("[\u00ad\u200b\ufffe\u0002]", "", text)).strip()


def squeeze(text: str) -> str:
    """Text without spaces, so that line breaks do not matter."""
    return re.sub(r"\s+", "", plain(text))


def read_bookmarks(content: bytes) -> dict[str, int]:
    """The page number (from 1) of each bookmark, by title and in order."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        return {
            plain(mark.get_title()): mark.get_dest().get_index() + 1 for mark in document.get_toc(max_depth=2)
        }


def find_outside(content: bytes) -> list[tuple[int, str]]:
    """Characters outside the margins, with their page. The page number ends at the right margin."""
    found = []
    with closing(pypdfium2.PdfDocument(content)) as document:
        for number, page in enumerate(document, start=1):
            words = page.get_textpage()
            boxes = np.array([words.get_charbox(place) for place in range(words.count_chars())])
            left, right = boxes[:, 0], boxes[:, 2]
            margin = page.get_width() - right[-1]
            is_seen = right - left > 0.1
            is_out = (left < margin - 1.5) | (right > page.get_width() - margin + 1.5)
            signs = [words.get_text_range(int(k), 1) for k in np.flatnonzero(is_seen & is_out)]
            found += [(number, sign) for sign in signs if sign.strip()]
    return found


def read_attachments(content: bytes) -> dict[str, bytes]:
    """The files attached to a document, by name."""
    with open_pdf(content) as pdf:  # its parts do not outlive it
        return {name: spec.get_file().read_bytes() for name, spec in pdf.attachments.items()}


def list_tags(pdf: pikepdf.Pdf) -> list[pikepdf.Dictionary]:
    """All elements of the structure of a document, in reading order."""
    waiting, found = [pdf.Root.StructTreeRoot.K], []
    while waiting:
        item = waiting.pop()
        if isinstance(item, pikepdf.Array):
            waiting.extend(reversed(list(item)))
        elif isinstance(item, pikepdf.Dictionary) and "/S" in item:
            found.append(item)
            waiting.append(item.get("/K", pikepdf.Array()))
    return found


def list_figures(content: bytes) -> list[str]:
    """The alternative text of each figure, in reading order."""
    with open_pdf(content) as pdf:
        return [str(tag.get("/Alt", "")) for tag in list_tags(pdf) if tag.S == "/Figure"]


def assert_pages_are_filled(pages: list[str]) -> None:
    """Assert that every page has its number and more than the running head: at least a figure caption."""
    for number, text in enumerate(pages, start=1):
        assert f"page {number} of {len(pages)}" in text
        assert len(text) > 150, f"Page {number} is empty: {text}"


# ---- Reading a page ----


def list_contents(page: str) -> list[tuple[str, str, str]]:
    """The table of contents: id, number and title of each section."""
    nav = page[page.index("<nav") : page.index("</nav>")]
    found = re.findall(r'<span class="number">(\d+)</span><a href="#([\w-]+)">([^<]+)</a>', nav)
    return [(name, number, html.unescape(title)) for number, name, title in found]


def list_titles(kind: str, without: tuple[str, ...]) -> list[str]:
    """The titles of the sections that reports on models of a kind have, except those with these names."""
    return [s.title for s in list_sections() if kind in s.kinds and s.name not in without]


def list_images(page: str) -> list[str]:
    """The alternative text of each image, in order; one that has none is an error."""
    images = re.findall(r"<img[^>]*>", page)
    return [html.unescape(re.search(r' alt="([^"]*)"', image)[1]) for image in images]


def list_headings(page: str) -> list[tuple[int, str]]:
    """Level and text of each heading, in order."""
    found = re.findall(r"<h([1-6])[^>]*>(.*?)</h\1>", page, flags=re.S)
    return [(int(level), words_of(text)) for level, text in found]


def list_markup(page: str) -> tuple[set[str], set[str]]:
    """The names of all elements and attributes of a page."""
    tags, attributes = set(), set()

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.add(tag)
            attributes.update(name for name, _ in attrs)

    reader = Reader()
    reader.feed(page)
    reader.close()
    return tags, attributes


def read_tables(page: str) -> dict[str, list[list[str]]]:
    """The rows of each table, as the texts of their cells, by its caption."""
    tables = {}
    for table in re.findall(r"<table\b.*?</table>", page, flags=re.S):
        caption = re.search(r"<caption\b[^>]*>(.*?)</caption>", table, flags=re.S)
        rows = re.findall(r"<tr\b[^>]*>(.*?)</tr>", table, flags=re.S)
        cells = [re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, flags=re.S) for row in rows]
        tables[words_of(caption[1]) if caption else ""] = [[words_of(c) for c in row] for row in cells]
    return tables


def words_of(page: str) -> str:
    """The text of a page as a reader sees it."""
    body = page[page.index("<body") :] if "<body" in page else page
    return plain(html.unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", body, flags=re.S))))


# ---- A rich report on ordered classes ----

GRADES = ("none", "mild", "moderate", "severe")
GRADERS = ("clinic", "bold")
GRADED_COMMAND = "scorereport report patients.csv --config graded.toml --time visit"
GRADED_CONFIGURATION = """\
# A comment that only the file itself has.
[report]
title = "Validation of the grading model"
number = "MV-2026-118"
version = "2.0"
organisation = "Example Clinic"
confidentiality = "Internal"
profile = "full"

[model]
name = "Eye grades"
version = "3.1"
owner = "Ophthalmology"
descriptions = {clinic = "The model in use.", bold = "A challenger that promises too much."}

[data]
source = "Screening of 2024"
outcome = "Grade of the disease"

[people]
author = "Ana Lima"

[evaluation]
scale = true
outcome = "grade"
classes = ["none", "mild", "moderate", "severe"]
ordered = true
forecasts = ["clinic", "bold"]
groups = ["site"]
window = "quarter"
cost_matrix = [[0, 1, 2, 4], [2, 0, 1, 2], [5, 2, 0, 1], [9, 5, 2, 0]]
resamples = 40
seed = 7

[checkpoints]
file = "epochs.csv"
column = "epoch"
outcome = "grade"
forecasts = ["p_none", "p_mild", "p_moderate", "p_severe"]
score = "penalized_brier"
patience = 2

[limits]
set_by = "Medical board"
set_on = 2026-01-15
rps = {warn = 0.15, fail = 0.2}
multiclass_log_loss = {warn = 1.2, fail = 1.3}
accuracy = {warn = 0.9, fail = 0.2}
quadratic_weighted_kappa = {warn = 0.4, fail = 0.3}

[text]
limitations = "Patients of one clinic only. Ελληνικά, Кириллица, naïve."

[checklist]
lists = ["model-risk"]
"""


def _grade(level: np.ndarray, sharpness: float) -> np.ndarray:
    """Probabilities of the four grades, by patient."""
    odds = np.exp(-sharpness * np.abs(level[:, None] - np.linspace(-1.5, 1.5, len(GRADES))))
    return odds / odds.sum(axis=1, keepdims=True)


def make_patients(n: int = 150) -> pd.DataFrame:
    """Two models of the grades of the same patients: one calibrated, one overconfident."""
    rng = np.random.default_rng(5)
    level = rng.normal(size=n)
    right, bold = _grade(level, 1.5), _grade(level + rng.normal(scale=0.5, size=n), 4.0)
    observed = (rng.random((n, 1)) > right.cumsum(axis=1)).sum(axis=1)
    site = np.where(rng.random(n) < 0.5, "east", "west").astype("<U5")
    site[::25] = "north"
    return pd.DataFrame(
        {"grade": np.array(GRADES)[observed]}
        | {f"clinic_{label}": right[:, k] for k, label in enumerate(GRADES)}
        | {f"bold_{label}": bold[:, k] for k, label in enumerate(GRADES)}
        | {"site": site, "visit": pd.date_range("2024-01-01", periods=n).astype(str)}
    )


def make_epochs(n: int = 40) -> pd.DataFrame:
    """A model after each of five epochs: the third is best, later ones are overconfident."""
    rng = np.random.default_rng(9)
    level = rng.normal(size=n)
    observed = (rng.random((n, 1)) > _grade(level, 1.5).cumsum(axis=1)).sum(axis=1)
    frames = []
    for epoch, sharpness in enumerate((0.2, 0.8, 1.6, 4.0, 9.0), start=1):
        seen = _grade(level + rng.normal(scale=0.1 * epoch, size=n), sharpness)
        columns = {f"p_{label}": seen[:, k] for k, label in enumerate(GRADES)}
        frames.append(pd.DataFrame({"epoch": epoch, "grade": np.array(GRADES)[observed], **columns}))
    return pd.concat(frames, ignore_index=True)


def make_graded_report(folder: Path) -> Report:
    """A report on ordered classes with every section; its files are written into the folder."""
    make_patients().to_csv(folder / "patients.csv", index=False)
    make_epochs().to_csv(folder / "epochs.csv", index=False)
    (folder / "graded.toml").write_bytes(GRADED_CONFIGURATION.encode())
    configuration = read_configuration(folder / "graded.toml")
    evaluation = sr.evaluate(folder / "patients.csv", time="visit", **configuration.arguments)
    return build_report(
        evaluation,
        Provenance(time=TIME, command=GRADED_COMMAND, templates_sha256=hash_templates(None)),
        certificate=make_certificate(evaluation),
        configuration=configuration,
        selection=select_checkpoint(configuration, classes=configuration.evaluation.given.get("classes")),
    )


#: The configuration of the two sections that only classes and checkpoints have.
SHORT_CONFIGURATION = GRADED_CONFIGURATION.replace(
    "[report]\n",
    f"[report]\nomit = {[name for name in SECTION_NAMES if name not in ('retention', 'checkpoints')]}\n",
)


def shorten_report(report: Report) -> Report:
    """The same results in two sections that only classes and checkpoints have."""
    configuration = parse_configuration(SHORT_CONFIGURATION, "short.toml")
    return reconfigure_report(report, configuration, report.provenance)
