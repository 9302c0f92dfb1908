"""The report as a whole: every form has the numbers of the evaluation, and is the same every time."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from artefact_tools import make_once, shared_folder
from report_tools import (
    COMMAND,
    CONFIGURATION,
    CONFORMANCE,
    LIMITATION,
    MODELS,
    TIME,
    assert_pages_are_filled,
    in_full,
    list_contents,
    list_figures,
    list_images,
    list_tags,
    list_titles,
    make_loans,
    make_rich_report,
    open_pdf,
    plain,
    read_attachments,
    read_bookmarks,
    read_pages,
    squeeze,
    words_of,
)

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.configuration import SECTION_NAMES, parse_configuration
from scorereport.report.assembly import describe_report
from scorereport.report.provenance import Provenance
from scorereport.report.report_output import write_pages
from scorereport.report.report_record import build_report, read_report
from scorereport.report.templates import hash_templates, render_html

FORMS = (".pdf", ".html", ".json")
#: Verdicts on the limits of the configuration, by model: each follows from an interval, tested below.
VERDICTS = {
    "brier": ("pass", "warn"),
    "log_loss": ("inconclusive", "inconclusive"),
    "roc_auc": ("pass", "pass"),
    "calibration_slope": ("inconclusive", "fail"),
}
TITLES = list_titles("binary", without=("trend", "checkpoints", "missing-outcomes", "reference"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shared_folder(tmp_path_factory, "filed")


@pytest.fixture(scope="module")
def made(folder):
    """The report, and the bytes of all forms by ending."""

    def make():
        report = make_rich_report(folder)
        paths = write_pages(report, [folder / f"report{ending}" for ending in FORMS])
        return report, {path.suffix: path.read_bytes() for path in paths}

    return make_once(folder, make)


@pytest.fixture(scope="module")
def report(made):
    return made[0]


@pytest.fixture(scope="module")
def written(made):
    return made[1]


@pytest.fixture(scope="module")
def pdf(written):
    return open_pdf(written[".pdf"])


@pytest.fixture(scope="module")
def pages(written):
    return read_pages(written[".pdf"])


@pytest.fixture(scope="module")
def page(written):
    return written[".html"].decode()


@pytest.fixture(scope="module")
def starts(written):
    """The page on which each section starts, by its bookmark."""
    marks = read_bookmarks(written[".pdf"])
    return {title: marks[f"{number} {title}"] for number, title in enumerate(TITLES, start=1)}


@pytest.fixture(scope="module")
def sections(pages, starts):
    """The text of each section, from its heading to the next."""
    offsets = [0, *np.cumsum([len(text) + 1 for text in pages])]
    whole = " ".join(pages)
    heads = [
        whole.index(f"{number} {title} ", offsets[starts[title] - 1])
        for number, title in enumerate(TITLES, start=1)
    ]
    return {title: whole[a:b] for title, (a, b) in zip(TITLES, pairwise([*heads, len(whole)]), strict=True)}


def score_of(evaluation, model, name):
    (scores,) = (m.scores.scores for m in evaluation.models if m.model == model)
    return next(score for score in scores if score.name == name)


def bracket(estimate, decimals):
    """A number with its interval as a table shows it."""
    numbers = (
        f"{n:.{decimals}f}".replace("-", "−") for n in (estimate.value, estimate.lower, estimate.upper)
    )
    return "{} [{}, {}]".format(*numbers)


# ---- A document that archives accept ----


@pytest.mark.sweep
@pytest.mark.parametrize("profile", ["3a", "ua1"])
@pytest.mark.usefixtures("written")
def test_a_report_conforms_to_the_norm(folder, profile):
    if not CONFORMANCE.exists() or shutil.which("java") is None:
        pytest.skip(f"Conformance needs {CONFORMANCE} and java.")
    path = folder / "report.pdf"
    done = subprocess.run([CONFORMANCE, profile, path], capture_output=True, text=True, check=False)
    if "profile=" not in done.stdout:
        pytest.skip(f"{CONFORMANCE} does not run here: {done.stderr.strip()[-200:]}")
    assert "compliant=true" in done.stdout, done.stdout
    assert done.returncode == 0


SECOND_RUN = """
import sys
from pathlib import Path
from report_tools import make_rich_report
from scorereport.report.report_record import read_report
from scorereport.report.report_output import write_pages
folder = Path(sys.argv[1])
write_pages(make_rich_report(folder), [folder / "results.json"])
write_pages(read_report(folder / "results.json"), [folder / f"again{e}" for e in (".pdf", ".html", ".json")])
"""


@pytest.mark.sweep
def test_another_process_writes_the_same_bytes_from_its_results(written, tmp_path):
    """It evaluates anew, and renders what it reads back from its results, without the data."""
    os.symlink(tmp_path, tmp_path / "elsewhere")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SECOND_RUN, tmp_path / "elsewhere"],
        env=os.environ | {"PYTHONHASHSEED": "4711", "TZ": "Asia/Tokyo", "LC_ALL": "C"},
        cwd=Path(__file__).parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert (tmp_path / "results.json").read_bytes() == written[".json"]
    for ending in FORMS:
        assert (tmp_path / f"again{ending}").read_bytes() == written[ending], ending


def test_results_and_configuration_are_attached_unchanged(pdf, written, report, tmp_path):
    files = read_attachments(written[".pdf"])
    assert files == {"results.json": written[".json"], "filed.toml": CONFIGURATION.encode()}
    relations = [(str(spec.UF), str(spec.AFRelationship)) for spec in pdf.Root.AF]
    assert sorted(relations) == [("filed.toml", "/Source"), ("results.json", "/Data")]
    (tmp_path / "out.json").write_bytes(files["results.json"])
    again = read_report(tmp_path / "out.json")
    assert again.to_json() == report.to_json()
    assert again.evaluation.sha256 == report.evaluation.sha256
    assert again.configuration.people == report.configuration.people


def test_the_html_needs_nothing_else(page):
    assert len(page.encode()) < 2_000_000
    assert not re.search(r"<(script|link|iframe|object|form)\b|@import|\son\w+=", page)
    sources = re.findall(r'\bsrc="([^"]{0,30})|url\("?([^")]{0,30})', page)
    assert len(sources) > 10
    assert all((a or b).startswith("data:") for a, b in sources)


# ---- Pages, contents and bookmarks ----


def test_pages_have_their_number_and_a_running_head(pages):
    assert 20 <= len(pages) <= 40
    assert_pages_are_filled(pages)
    running = "MV-2026-117, version 1.3, Internal"
    assert all(running in text and "Validation of the default model" in text for text in pages[1:])
    assert running not in pages[0]


def test_the_cover_names_the_subject_the_verdict_and_the_people(pages):
    for text in (
        "Example Bank",
        "Validation of the default model",
        "Retail loans",
        "Fail: 1 of 8 limits ",
        "MV-2026-117",
        "2026-11-15",
        "Retail default, version 4.2",
        "90 days past due",
        "Ana Lima",
        "Børge Åsen, Head of Model Validation",
        "Ελένη Жукова, Example Bank",
        "Internal",
    ):
        assert text in pages[0]


def test_contents_name_the_page_on_which_a_section_starts(pages, starts):
    cover = " ".join(pages[:2])
    for number, title in enumerate(TITLES, start=1):
        found = re.search(rf"\b{number} {re.escape(title)} (\d+)\b", cover)
        assert found is not None, title
        assert int(found[1]) == starts[title]
        assert f"{number} {title} " in pages[starts[title] - 1]
    assert list(starts.values()) == sorted(starts.values())


def test_the_annex_names_the_pages_of_sections(sections, starts):
    references = re.findall(r"Section (\d+), page (\d+)", sections["Annex: checklists"])
    assert len(references) > 20
    assert {(int(number), int(page)) for number, page in references} <= {
        (number, starts[title]) for number, title in enumerate(TITLES, start=1)
    }


def test_bookmarks_are_all_sections_in_order(written):
    marks = [mark for mark in read_bookmarks(written[".pdf"]) if re.match(r"\d+ ", mark)]
    assert marks == [f"{number} {title}" for number, title in enumerate(TITLES, start=1)]


def test_headings_of_the_html_are_the_contents(page):
    assert [title for _, _, title in list_contents(page)] == list(TITLES)
    assert [number for _, number, _ in list_contents(page)] == [str(n + 1) for n in range(len(TITLES))]
    elsewhere = (
        "retention",
        "trend",
        "checkpoints",
        "missing-outcomes",
        "reference",
    )  # of classes, of audits, of other data
    names = [name for name in SECTION_NAMES if name not in elsewhere]
    assert [name for name, _, _ in list_contents(page)] == names
    for name, number, title in list_contents(page):
        section = page[page.index(f'<section id="{name}"') :]
        head = re.search(r"<h2[^>]*>(.*?)</h2>", section)[1]
        assert plain(re.sub("<[^>]+>", "", head)) == f"{number} {title}"


# ---- Figures and tables ----


@pytest.mark.parametrize("kind", ["figure", "table"])
def test_figures_and_tables_are_numbered_without_gap(page, pages, kind):
    ids = [int(k) for k in re.findall(rf'<{kind} [^>]*?id="{kind}-(\d+)"', page)]
    assert len(ids) >= 10
    assert ids == list(range(1, len(ids) + 1))
    captions = re.findall(rf"<strong>{kind.capitalize()} (\d+)\.</strong>", page)
    assert captions == [str(k) for k in ids]
    whole = " ".join(pages)
    places = [whole.index(f"{kind.capitalize()} {k}. ") for k in ids]
    assert places == sorted(places)
    assert {int(k) for k in re.findall(rf"{kind.capitalize()} (\d+)", whole)} == set(ids)


def test_references_link_to_their_targets(page):
    links = re.findall(r'href="#([\w-]+)">(Figure|Table|Section) (\d+)</a>', page)
    assert {kind for _, kind, _ in links} == {"Figure", "Table", "Section"}
    numbers = {number: name for name, number, _ in list_contents(page)}
    for target, kind, number in links:
        assert target == (numbers[number] if kind == "Section" else f"{kind.lower()}-{number}")
        assert page.count(f' id="{target}"') == 1


def test_every_figure_has_a_text_with_numbers(written, page):
    texts = list_images(page)
    assert len(texts) >= 10
    assert all(len(text) > 40 and re.search(r"\d", text) for text in texts)
    assert len(set(texts)) == len(texts)
    assert list(map(plain, list_figures(written[".pdf"]))) == list(map(plain, texts))


def test_the_alternative_text_of_the_diagram_has_the_components(page, report):
    (description,) = [text for text in list_images(page) if "MCB" in text and "reliability" in text.lower()]
    for model in report.evaluation.models:
        part = model.scores.decompositions[0]
        for number in (part.miscalibration, part.discrimination, part.uncertainty):
            assert f"{number:.4f}" in description or f"{number:.3f}" in description


def test_tables_are_tagged_as_tables(pdf, page):
    """A table that continues on another page is a table on each."""
    kinds = Counter(str(tag.S) for tag in list_tags(pdf))
    assert page.count("<table") <= kinds["/Table"] <= page.count("<table") + len(pdf.pages)
    assert kinds["/TH"] > kinds["/Table"]


def test_the_data_of_figures_are_in_the_results(written):
    """Compared with the rows themselves."""
    from scipy.optimize import isotonic_regression

    loans, found = make_loans(), json.loads(written[".json"])["evaluation"]
    for model in found["models"]:
        curves = model["curves"]
        means = loans.groupby(model["model"])["default"].agg(["mean", "size"])
        fit = isotonic_regression(means["mean"], weights=means["size"]).x
        drawn = np.interp(means.index, curves["reliability"]["forecast"], curves["reliability"]["cep"])
        corners = np.isin(means.index, curves["reliability"]["forecast"])
        assert corners.sum() == len(curves["reliability"]["forecast"])
        np.testing.assert_allclose(drawn[corners], fit[corners], atol=1e-12)
        assert sum(curves["histogram"]["n"]) == 320
        assert sum(curves["histogram"]["events"]) == 124
        area = np.trapezoid(curves["roc"]["tpr"], curves["roc"]["fpr"])
        assert area == pytest.approx(curves["roc"]["auc"], abs=1e-12)
        brier = ((loans[model["model"]] - loans["default"]) ** 2).mean()
        regret = curves["regret"]  # the Brier score is twice the area under it, in straight pieces
        pieces = (np.add(regret["right"][:-1], regret["left"][1:])) / 2 * np.diff(regret["theta"])
        assert 2 * pieces.sum() == pytest.approx(brier, rel=1e-9)
        assert {(band["kind"], band["coverage"]) for band in model["bands"]} >= {
            ("consistency", "pointwise"),
            ("consistency", "simultaneous"),
        }
    pairs = [(c["first"], c["second"]) for c in found["comparisons"]["murphy"]]
    assert pairs == [("logit", "steep")]


# ---- The content of sections ----


def test_verdicts_follow_from_intervals(report):
    limits = report.configuration.limits
    assert {j.verdict.value for j in report.judgements} == {"pass", "warn", "inconclusive", "fail"}
    for measure, expected in VERDICTS.items():
        judged = [j for j in report.judgements if j.measure == measure]
        assert [j.model for j in judged] == list(MODELS)
        assert tuple(j.verdict.value for j in judged) == expected
    brier, slope = limits.one_sided["brier"], limits.two_sided["calibration_slope"]
    logit, steep = (score_of(report.evaluation, model, "brier").interval for model in MODELS)
    assert logit.upper < brier.warn < steep.upper < brier.fail
    logit, steep = (model.calibration.line.slope for model in report.evaluation.models)
    assert logit.lower < slope.min < logit.upper < slope.max
    assert steep.upper < slope.min


def test_the_summary_counts_and_describes_verdicts(sections, report):
    text = sections["Summary"]
    counts = Counter(verdict for verdicts in VERDICTS.values() for verdict in verdicts)
    for word, count in counts.items():
        assert f"{count} {word}" in text
    number, interval = bracket(report.evaluation.models[1].calibration.line.slope, 3).split(" ", 1)
    sentence = f"Calibration slope of steep: {number}, interval {interval}, lies below the limit 0.700"
    assert sentence in text
    assert "Model risk committee on 2026-01-15" in text
    best = score_of(report.evaluation, "logit", "brier")
    assert f"logit has the lowest Brier score, {best.value:.4f}" in text
    assert f"{100 * best.skill:.1f} %" in text
    assert "This report decides whether the model may stay in use." in sections["Model"]
    assert "The model in use may stay in use." in sections["Conclusion of the author"]
    assert "The limit on the slope is new." in sections["Conclusion of the author"]
    assert "8 of 8 comparisons as expected" in text


def test_texts_of_the_configuration_are_in_their_sections(sections):
    expected = {
        "Model": (
            "Retail default",
            "4.2",
            "Retail Credit Risk",
            "Credit Modelling",
            "1 (high)",
            "Probability of default within a year, for the price of a loan.",
            "A challenger that promises too much.",
        ),
        "Data": ("Loan ledger", "2024-01-01 to 2024-11-15", "New retail loans of all branches", "12 months"),
        "Limitations and interpretation": (LIMITATION,),
        "Sign-off": ("Ana Lima", "Børge Åsen", "Head of Model Validation", "Ελένη Жукова"),
        "Annex: checklists": ("House rules for models", "item"),
    }
    for title, texts in expected.items():
        for text in texts:
            assert text in sections[title]


def test_data_and_methods_are_described(sections):
    data, methods = sections["Data"], sections["Annex: methods"]
    assert "default = 1" in data
    assert "320 rows" in data
    assert "124, prevalence 38.8 %" in data
    for forecasts in (make_loans()[model] for model in MODELS):
        assert f"{forecasts.min():.4f}" in data
        assert f"{forecasts.mean():.4f}" in data
    for text in ("S = (p − y)²", "Brier (1950)", "seed 7", "MCB", "References"):
        assert text in methods
    assert "124 events and 196 non-events" in methods


@pytest.mark.parametrize("model", MODELS)
def test_scores_of_each_model_are_those_of_the_rows(sections, report, model):
    loans = make_loans()
    forecast, outcome = loans[model], loans["default"]
    brier = ((forecast - outcome) ** 2).mean()
    log_score = -np.log(np.where(outcome == 1, forecast, 1 - forecast)).mean()
    events, others = forecast[outcome == 1].to_numpy(), forecast[outcome == 0].to_numpy()
    auc = np.mean((np.sign(events[:, None] - others) + 1) / 2)
    titles = {"roc_auc": "Discrimination"}  # a number stands in one table
    for name, value in {"brier": brier, "log_loss": log_score, "roc_auc": auc}.items():
        interval = score_of(report.evaluation, model, name).interval
        assert interval.value == pytest.approx(value, rel=1e-12)
        assert bracket(interval, 4) in sections[titles.get(name, "Overall performance")]


@pytest.mark.parametrize("place", range(2), ids=MODELS)
def test_calibration_and_decomposition_of_each_model(sections, report, place):
    model = report.evaluation.models[place]
    part = model.scores.decompositions[0]
    assert part.score == pytest.approx(part.miscalibration - part.discrimination + part.uncertainty)
    numbers = (part.score, part.miscalibration, part.discrimination, part.uncertainty)
    assert f"{model.model} {numbers[0]:.4f} {numbers[1]:.4f}" in sections["Decomposition"]
    assert bracket(model.calibration.line.slope, 3) in sections["Calibration"]
    for grade in model.calibration.grades:
        assert f"{grade.grade} {grade.n} {grade.d}" in sections["Calibration"]
    for number in numbers[1:]:
        assert f"{number:.4f}" in sections["Decomposition"]


def test_decisions_over_the_cost_interval(sections, report):
    text = sections["Decisions"]
    assert "0.1 and 0.4" in text
    for model in MODELS:
        assert bracket(score_of(report.evaluation, model, "bounded_brier").interval, 4) in text
    for model in report.evaluation.models:
        for row in model.thresholds:
            assert f"{row.net_benefit:.4f}".replace("-", "−") in text


def test_comparison_subgroups_time_and_recalibration(sections, report):
    evaluation = report.evaluation
    (difference,) = (
        d
        for d in evaluation.comparisons.differences
        if (d.measure, d.first, d.second) == ("brier", "logit", "steep")
    )
    assert f"{difference.value:.4f}".replace("-", "−") in sections["Comparison of models"]
    assert evaluation.comparisons.murphy[0].sentence in sections["Comparison of models"]
    for title, groups in (("Subgroups", evaluation.groups), ("Time", evaluation.windows)):
        for group in groups:
            assert group.label in sections[title]
            for scores in group.models:
                assert bracket(scores.scores[0].interval, 4) in sections[title]
    assert [group.label for group in evaluation.groups if not group.models] == ["north"]
    limitations = sections["Limitations and interpretation"]
    assert "groups of fewer than 10 rows are counted, not scored (1 of 3)" in limitations
    for model in evaluation.models:
        for trial in model.recalibration:
            assert f"{model.model} {trial.method}" in sections["Recalibration"]
    steep = next(t for t in evaluation.models[1].recalibration if t.method == "logistic")
    assert f"{steep.brier.value:.4f}".replace("-", "−") in sections["Recalibration"]


def test_the_certificate_is_shown(sections, report):
    text = sections["R certificate"]
    for expected in ("Certified on these data.", "7 comparisons agree.", "reliabilitydiag 0.2.1", "part 7"):
        assert expected in text
    assert "The reference orders ties otherwise" in text
    assert squeeze(report.evaluation.sha256) in squeeze(text)


def test_provenance_states_how_to_reproduce_the_report(sections, report, written):
    text = squeeze(sections["Provenance"])
    for fact in (
        report.evaluation.data.sha256,
        report.evaluation.sha256,
        hashlib.sha256(written[".json"]).hexdigest(),
        hashlib.sha256(CONFIGURATION.encode()).hexdigest(),
        hash_templates(None),
        "c0ffee" * 6 + "abcd, with uncommitted changes",
        COMMAND,
        "Seed 7",
        "loans.csv",
        "filed.toml",
        "python 3.11.2, scorereport 0.1.0",
        "Linux x86_64",
        "2026-11-15 07:30 UTC",
    ):
        assert squeeze(fact) in text


def test_both_forms_have_the_same_content(page, sections):
    """The texts of the tables of the PDF are in the HTML too, word by word."""
    words = squeeze(words_of(page))
    for title in ("Sign-off", "Data", "Discrimination"):
        lines = re.split(
            r"Validation of the default model MV-2026-117, version 1\.3, Internal page \d+ of \d+",
            sections[title],
        )
        for line in lines:
            for sentence in re.split(r"(?<=\.) ", line):  # bullets of a list stand at the end of their page
                assert squeeze(sentence.rstrip(" •")) in words


# ---- Sections without content are left out ----


@pytest.fixture(scope="module")
def bare():
    """One model, without any optional part."""
    return sr.evaluate(make_loans(), outcome="default", forecasts=["logit"], resamples=0)


def render(evaluation, configuration=""):
    parsed = parse_configuration(configuration, "x.toml") if configuration else None
    report = build_report(evaluation, Provenance(time=TIME), configuration=parsed)
    return render_html("report.html", describe_report(in_full(report)))


def assert_sections(page, expected):
    """The sections of a page are those, numbered without gap, and so are the entries of its contents list."""
    assert re.findall(r'<section id="([\w-]+)"', page) == expected
    assert [name for name, _, _ in list_contents(page)] == expected
    assert [number for _, number, _ in list_contents(page)] == [str(n + 1) for n in range(len(expected))]
    for target in re.findall(r'href="#([\w-]+)"', page):
        assert page.count(f' id="{target}"') == 1


def test_sections_without_content_are_left_out(bare):
    without = {"model", "comparison", "groups", "time", "recalibration", "certificate", "checklist"}
    without |= {
        "retention",
        "scale",
        "trend",
        "checkpoints",
        "coverage",
        "limits",
        "conclusion",
        "missing-outcomes",
        "reference",
    }
    assert_sections(render(bare), [name for name in SECTION_NAMES if name not in without])


@pytest.mark.parametrize("omitted", [SECTION_NAMES[::2], SECTION_NAMES[1::2]], ids=["even", "odd"])
def test_sections_can_be_omitted(bare, omitted):
    lists = 'checklists = ["model-risk"]\n'
    configuration = f'[report]\nomit = {json.dumps(omitted)}\n{lists}[model]\nname = "M"\n'
    absent = {"comparison", "groups", "time", "recalibration", "certificate", "retention", "checkpoints"}
    absent |= {
        "scale",
        "trend",
        "coverage",
        "limits",
        "conclusion",
        "missing-outcomes",
        "reference",
        *omitted,
    }
    assert_sections(render(bare, configuration), [name for name in SECTION_NAMES if name not in absent])


def test_a_report_is_its_document(report, written):
    """The pages show nothing else, and reading it back changes nothing."""
    again = json_documents.load(type(report), written[".json"], "results.json")
    assert json_documents.encode(again) == json_documents.encode(report)
    assert again.verdict == report.verdict == "fail"
