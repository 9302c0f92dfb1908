"""A report on classes: conformance, pages, sections, the document."""

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

import jsonschema
import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder
from class_report_tools import (
    POLICY,
    arrays_of,
    assert_headings_do_not_skip,
    assert_page_is_sound,
    assert_valid,
    bracket,
    find_table,
    folder_fixture,
    made_fixture,
    nominal_fixture,
    page_fixture,
    report_fixture,
    show,
    tables_fixture,
    written_fixture,
)
from report_tools import (
    CONFORMANCE,
    GRADED_COMMAND,
    GRADED_CONFIGURATION,
    GRADERS,
    GRADES,
    SHORT_CONFIGURATION,
    TIME,
    assert_pages_are_filled,
    find_outside,
    list_contents,
    list_figures,
    list_images,
    list_tags,
    list_titles,
    make_epochs,
    make_patients,
    open_pdf,
    plain,
    read_attachments,
    read_bookmarks,
    read_pages,
    shorten_report,
    squeeze,
    words_of,
)
from scipy.optimize import isotonic_regression

import scorereport as sr
from scorereport.report.provenance import Provenance
from scorereport.report.report_output import write_pages
from scorereport.report.report_record import build_report, read_report
from scorereport.report.templates import hash_templates

folder = pytest.fixture(scope="module")(folder_fixture)


made = pytest.fixture(scope="module")(made_fixture)


report = pytest.fixture(scope="module")(report_fixture)


written = pytest.fixture(scope="module")(written_fixture)


page = pytest.fixture(scope="module")(page_fixture)


tables = pytest.fixture(scope="module")(tables_fixture)


nominal = pytest.fixture(scope="module")(nominal_fixture)


TITLES = list_titles("ordinal", without=("trend", "conclusion", "missing-outcomes"))


#: Verdicts on the limits of the configuration, by model.
VERDICTS = {
    "multiclass_log_loss": ("pass", "fail"),
    "rps": ("pass", "inconclusive"),
    "accuracy": ("warn", "warn"),
    "quadratic_weighted_kappa": ("pass", "pass"),
}


@pytest.fixture(scope="module")
def short(report, tmp_path_factory):
    """All forms, by ending, of a report on the new sections only: laying out the whole report takes long."""
    folder = shared_folder(tmp_path_factory, "graded short")
    paths = [folder / f"short{ending}" for ending in (".pdf", ".html", ".json")]
    make_once(folder, lambda: write_pages(shorten_report(report), paths))
    return {path.suffix: path for path in paths}


@pytest.fixture(scope="module")
def whole(report, tmp_path_factory):
    """The PDF of the whole report."""
    folder = shared_folder(tmp_path_factory, "graded whole")
    make_once(folder, lambda: write_pages(report, [folder / "report.pdf"]))
    return (folder / "report.pdf").read_bytes()


@pytest.fixture(scope="module")
def pages(whole):
    return read_pages(whole)


@pytest.fixture(scope="module")
def sections(page):
    """The text of each section of the HTML."""
    parts = re.split(r'<section id="[^"]+" class="section[^"]*">', page)[1:]
    return dict(zip(TITLES, map(words_of, parts), strict=True))


@pytest.fixture(scope="module")
def printed_sections(pages, whole):
    """The text of each section in the PDF, from its heading to the next."""
    starts = read_bookmarks(whole)
    offsets = [0, *np.cumsum([len(text) + 1 for text in pages])]
    text = " ".join(pages)
    marks = [f"{number} {title}" for number, title in enumerate(TITLES, start=1)]
    heads = [text.index(f"{mark} ", offsets[starts[mark] - 1]) for mark in marks]
    return {title: text[a:b] for title, (a, b) in zip(TITLES, pairwise([*heads, len(text)]), strict=True)}


# ---- A document that archives accept ----


@pytest.mark.sweep
@pytest.mark.parametrize("profile", ["3a", "ua1"])
def test_a_report_on_classes_conforms_to_the_norm(short, profile):
    if not CONFORMANCE.exists() or shutil.which("java") is None:
        pytest.skip(f"Conformance needs {CONFORMANCE} and java.")
    done = subprocess.run([CONFORMANCE, profile, short[".pdf"]], capture_output=True, text=True, check=False)
    if "profile=" not in done.stdout:
        pytest.skip(f"{CONFORMANCE} does not run here: {done.stderr.strip()[-200:]}")
    assert "compliant=true" in done.stdout, done.stdout
    assert done.returncode == 0


def test_a_report_on_classes_has_metadata(short):
    with open_pdf(short[".pdf"].read_bytes()) as pdf:
        metadata = pdf.Root.Metadata.read_bytes().decode()
        assert 'pdfaid:part="3"' in metadata
        assert 'pdfaid:conformance="A"' in metadata
        assert metadata.count("<pdfuaid:part>1</pdfuaid:part>") == 1
        assert str(pdf.Root.Lang) == "en"
        assert bool(pdf.Root.MarkInfo.Marked)
        assert bool(pdf.Root.ViewerPreferences.DisplayDocTitle)
        assert str(pdf.docinfo.Title) == "Validation of the grading model"


def test_results_and_configuration_are_attached(short, report, tmp_path):
    files = read_attachments(short[".pdf"].read_bytes())
    assert files == {"results.json": short[".json"].read_bytes(), "short.toml": SHORT_CONFIGURATION.encode()}
    (tmp_path / "out.json").write_bytes(files["results.json"])
    again = read_report(tmp_path / "out.json")
    assert again.evaluation.to_json() == report.evaluation.to_json()
    assert again.selection == report.selection
    assert again.configuration.checkpoints.patience == 2


def test_figures_are_described_in_words(page):
    texts = list_images(page)
    assert len(texts) == 13
    assert len(set(texts)) == len(texts)
    assert all(len(text) > 40 and re.search(r"\d", text) for text in texts)


def test_figures_tables_and_headings_are_tagged(short):
    assert_tagged(short[".pdf"].read_bytes(), short[".html"].read_text(encoding="utf-8"))


@pytest.mark.sweep
def test_the_whole_report_is_tagged(whole, page):
    assert_tagged(whole, page)


def assert_tagged(document, page):
    """Figures, tables and headings of the HTML are tagged in the PDF."""
    texts = list_images(page)
    described = [plain(text) for text in list_figures(document) if not text.startswith("Row ")]
    assert described == [plain(text) for text in texts]
    with open_pdf(document) as pdf:
        tags = [str(tag.S) for tag in list_tags(pdf)]
        kinds = Counter(tags)
        assert page.count("<table") <= kinds["/Table"] <= page.count("<table") + len(pdf.pages)
        assert kinds["/TH"] > kinds["/Table"]
    assert_headings_do_not_skip([int(tag[2:]) for tag in tags if re.fullmatch(r"/H\d", tag)])


SECOND_RUN = """
import sys
from pathlib import Path
from report_tools import make_graded_report, shorten_report
from scorereport.report.report_record import read_report
from scorereport.report.report_output import write_pages
folder = Path(sys.argv[1])
write_pages(make_graded_report(folder), [folder / "results.json"])
again = read_report(folder / "results.json")
write_pages(again, [folder / "again.html", folder / "again.json"])
write_pages(shorten_report(again), [folder / "short.pdf"])
"""


@pytest.mark.sweep
def test_another_process_writes_the_same_bytes_from_its_results(written, short, tmp_path):
    """It evaluates and chooses anew, and renders what it reads back, without the data."""
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
    assert (tmp_path / "again.json").read_bytes() == written[".json"]
    assert (tmp_path / "again.html").read_bytes() == written[".html"]
    assert (tmp_path / "short.pdf").read_bytes() == short[".pdf"].read_bytes()


# ---- Pages, contents, figures and tables ----


@pytest.mark.sweep
def test_pages_are_filled_and_keep_their_margins(whole, pages):
    assert 20 <= len(pages) <= 36
    assert_pages_are_filled(pages)
    assert all("MV-2026-118, version 2.0, Internal" in text for text in pages[1:])
    assert find_outside(whole) == []


def test_contents_are_the_sections(page):
    assert [(number, title) for _, number, title in list_contents(page)] == [
        (str(number), title) for number, title in enumerate(TITLES, start=1)
    ]


@pytest.mark.sweep
def test_contents_and_bookmarks_of_the_pdf_are_the_sections(whole, pages):
    marks = {name: at for name, at in read_bookmarks(whole).items() if re.match(r"\d+ ", name)}
    assert list(marks) == [f"{number} {title}" for number, title in enumerate(TITLES, start=1)]
    cover = " ".join(pages[:2])
    for mark, start in marks.items():
        assert f"{mark} " in pages[start - 1]
        assert re.search(rf"\b{re.escape(mark)} {start}\b", cover), mark


@pytest.mark.parametrize(("kind", "fewest"), [("figure", 12), ("table", 25)])
def test_figures_and_tables_of_classes_are_numbered_without_gap(page, kind, fewest):
    ids = [int(k) for k in re.findall(rf'<{kind} [^>]*?id="{kind}-(\d+)"', page)]
    assert len(ids) >= fewest
    assert ids == list(range(1, len(ids) + 1))
    assert re.findall(rf"<strong>{kind.capitalize()} (\d+)\.</strong>", page) == [str(k) for k in ids]
    assert_numbered(words_of(page), kind, ids)


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["figure", "table"])
def test_figures_and_tables_of_the_pdf_have_the_numbers_of_the_html(page, pages, kind):
    ids = [int(k) for k in re.findall(rf'<{kind} [^>]*?id="{kind}-(\d+)"', page)]
    assert_numbered(" ".join(pages), kind, ids)


def assert_numbered(text, kind, ids):
    """Captions are in order, and every number that the text refers to exists."""
    places = [text.index(f"{kind.capitalize()} {k}. ") for k in ids]
    assert places == sorted(places)
    assert {int(k) for k in re.findall(rf"{kind.capitalize()} (\d+)", text)} == set(ids)


def test_the_html_of_classes_needs_nothing_else(page):
    assert page.count(POLICY) == 1
    assert_page_is_sound(page)
    assert len(page.encode()) < 2_000_000


@pytest.mark.sweep
def test_both_forms_have_the_same_content(page, pages, tables, printed_sections):
    """Texts of the PDF are in the HTML, and every cell of a table of the HTML is in the PDF."""
    words, printed = squeeze(words_of(page)), squeeze(" ".join(pages))
    running = r"Validation of the grading model MV-2026-118, version 2\.0, Internal page \d+ of \d+"
    for title in ("Data", "Limitations and interpretation", "Sign-off"):
        for line in re.split(running, printed_sections[title]):
            for sentence in re.split(r"(?<=\.) ", line):
                assert squeeze(sentence.replace("•", "")) in words
    cells = [cell for rows in tables.values() for row in rows for cell in row if "Section" not in cell]
    assert len(cells) > 800
    assert [cell for cell in cells if squeeze(cell) not in printed] == []


# ---- The numbers of the sections, compared with the rows ----


def test_limits_on_classes_are_judged_by_intervals(report, sections):
    assert {j.verdict.value for j in report.judgements} == {"pass", "warn", "inconclusive", "fail"}
    assert report.verdict == "fail"
    for measure, expected in VERDICTS.items():
        judged = [j for j in report.judgements if j.measure == measure]
        assert [j.model for j in judged] == list(GRADERS)
        assert tuple(j.verdict.value for j in judged) == expected
    rps = [result.scores.score("rps").interval for result in report.evaluation.class_models]
    limit = report.configuration.limits.one_sided["rps"]
    assert rps[0].upper < limit.warn < rps[1].upper
    assert rps[1].lower < limit.fail < rps[1].upper
    for word, count in Counter(v for verdicts in VERDICTS.values() for v in verdicts).items():
        assert re.search(rf"\b{count} {word}\b", sections["Summary"])
    (failed,) = [j for j in report.judgements if j.verdict == "fail"]
    assert failed.sentence in sections["Summary"]
    assert "Medical board on 2026-01-15" in sections["Summary"]
    assert "Fail: 1 of 8 limits is breached" in sections["Summary"]


@pytest.mark.parametrize("model", GRADERS)
def test_scores_are_those_of_the_rows(tables, report, model):
    observed, p = arrays_of(model)
    hit, likeliest = np.eye(4)[observed], p.argmax(axis=1)
    below, really = p.cumsum(axis=1)[:, :3], hit.cumsum(axis=1)[:, :3]
    brier, log_loss = ((p - hit) ** 2).sum(axis=1), -np.log(p[np.arange(150), observed])
    rps, wrong = ((below - really) ** 2).sum(axis=1), likeliest != observed
    table = np.array([[np.sum((observed == i) & (likeliest == j)) for j in range(4)] for i in range(4)])
    apart = (np.arange(4)[:, None] - np.arange(4)) ** 2
    chance = table.sum(axis=1)[:, None] * table.sum(axis=0) / 150
    costs = np.array([[0, 1, 2, 4], [2, 0, 1, 2], [5, 2, 0, 1], [9, 5, 2, 0]])
    f1 = [2 * table[k, k] / (table[k].sum() + table[:, k].sum()) for k in range(4)]
    expected = {
        "Brier score (K classes)": ("multiclass_brier", brier.mean()),
        "Log score (K classes)": ("multiclass_log_loss", log_loss.mean()),
        "RPS, divided by K − 1": ("rps", rps.mean() / 3),
        "sa-RPS (not proper), in [0, 1]": ("sa_rps", ((np.abs(below - really).sum(axis=1) / 3) ** 2).mean()),
        "Penalised Brier score": ("penalized_brier", (brier + 0.75 * wrong).mean()),
        "Penalised log score": ("penalized_log_loss", (log_loss + np.log(4) * wrong).mean()),
        "Accuracy ↑": ("accuracy", 1 - wrong.mean()),
        "Macro F1 ↑": ("macro_f1", np.mean(f1)),
        "Quadratic weighted kappa ↑": (
            "quadratic_weighted_kappa",
            1 - (apart * table).sum() / (apart * chance).sum(),
        ),
        "expected cost": ("expected_cost", costs[observed, likeliest].mean()),
    }
    shown = {row[0]: row[2] for row in find_table(tables, "Mean scores") if row[1] == model}
    shown["expected cost"] = next(row[1] for row in find_table(tables, "Expected cost") if row[0] == model)
    (result,) = (result for result in report.evaluation.class_models if result.model == model)
    for label, (name, value) in expected.items():
        interval = result.scores.score(name).interval
        assert interval.value == pytest.approx(value, rel=1e-12), name
        assert shown[label] == bracket(interval)
    assert shown["RPS, plain sum"].startswith(show(rps.mean()))
    assert result.confusion.counts == tuple(map(tuple, table.tolist()))


@pytest.mark.parametrize("model", GRADERS)
def test_thresholds_add_up_to_the_decomposition_that_is_shown(tables, report, model):
    """Each threshold is fitted here once more, by another implementation."""
    observed, p = arrays_of(model)
    rows = find_table(tables, f"{model}: the Brier score of each threshold")
    parts = []
    for k in range(3):
        forecast, event = p.cumsum(axis=1)[:, k], observed <= k
        pooled = pd.Series(event).groupby(forecast).agg(["mean", "size"])  # equal forecasts are one
        fit = isotonic_regression(pooled["mean"], weights=pooled["size"]).x
        drawn = fit[np.searchsorted(pooled.index, forecast)]
        score, refined = ((forecast - event) ** 2).mean(), ((drawn - event) ** 2).mean()
        unc = event.mean() * (1 - event.mean())
        parts.append((score, score - refined, unc - refined, unc))
        shown = rows[k + 1]
        assert shown[0] == GRADES[k]
        assert [shown[1], shown[2], shown[5], shown[7]] == [show(part) for part in parts[-1]]
    whole = np.mean(parts, axis=0)
    assert [rows[4][0]] + [rows[4][k] for k in (1, 2, 5, 7)] == [
        "sum / (K − 1) = RPS",
        *(show(part) for part in whole),
    ]
    (result,) = (result for result in report.evaluation.class_models if result.model == model)
    found = result.scores.decomposition("rps")
    np.testing.assert_allclose(
        (found.score, found.miscalibration, found.discrimination, found.uncertainty), whole, atol=1e-12
    )


@pytest.mark.parametrize("model", GRADERS)
def test_retention_is_that_of_the_rows(tables, model):
    observed, p = arrays_of(model)
    brier = ((p - np.eye(4)[observed]) ** 2).sum(axis=1)
    right = (p.argmax(axis=1) == observed)[np.argsort(brier)[::-1]]
    fractions = np.linspace(0, 0.5, 11)
    kept = [right[int(np.floor(f * 150 + 1e-9)) :].mean() for f in fractions]
    area = np.trapezoid(kept, fractions)
    rows = find_table(tables, "Area under the retention")
    (shown,) = (row for row in rows if row[0] == model and row[1].startswith("Brier"))
    place = rows[0].index("Accuracy ↑")
    assert shown[place].startswith(f"{show(area)} [")
    assert shown[place + 1] == show(100 * area, 2)


@pytest.mark.parametrize("model", GRADERS)
def test_the_probability_scale_is_that_of_the_rows(tables, sections, report, model):
    observed, p = arrays_of(model)
    given = p[np.arange(150), observed]
    expected = {
        "decisiveness": given.mean(),
        "accuracy": np.exp(np.log(given).mean()),
        "robustness": (given ** (-2 / 3)).mean() ** -1.5,
    }
    rows = find_table(tables, "Probability scale, all classes")
    shown = {row[1]: row[2] for row in rows if row[0] == model}
    for mark, value in expected.items():
        assert shown[mark].split(" ")[0] == show(value, 3)
    of_classes = {
        row[0]: row for row in find_table(tables, "Probability scale of each class") if row[1] == model
    }
    for k, label in enumerate(GRADES):
        assert of_classes[label][2] == str((observed == k).sum())
        assert of_classes[label][3].startswith(show(given[observed == k].mean(), 3))
    verdicts = [row[2] for row in find_table(tables, "Angle") if row[0] == model]
    assert verdicts == (["neither"] * 2 if model == "clinic" else ["over-confident"] * 2)
    (result,) = (result for result in report.evaluation.class_models if result.model == model)
    assert squeeze(result.scale[1].sentence[1:]) in squeeze(sections["Probability scale"])


def test_the_choice_of_a_checkpoint_is_that_of_the_file(tables, report, sections):
    epochs = make_epochs()
    p = epochs[[f"p_{label}" for label in GRADES]].to_numpy()
    observed = np.array([GRADES.index(label) for label in epochs["grade"]])
    wrong = p.argmax(axis=1) != observed
    brier = (
        pd.Series(((p - np.eye(4)[observed]) ** 2).sum(axis=1) + 0.75 * wrong).groupby(epochs["epoch"]).mean()
    )
    best = brier.idxmin()
    assert report.selection.chosen.best == str(best)
    sentence = f"The penalised Brier score chooses checkpoint {best}, where it is {show(brier[best])}."
    assert sentence in sections["Choice of a checkpoint"]
    assert (
        f"Early stopping by the same score ends training at {best + 2}" in sections["Choice of a checkpoint"]
    )
    assert "epochs.csv" in sections["Choice of a checkpoint"]
    rows = [row for row in find_table(tables, "Checkpoint that each") if row[0] == "Penalised Brier score"]
    assert [row[2:5] for row in rows] == [
        [str(best), "", show(brier[best])],
        [str(best), str(best + 2), show(brier[best])],
    ]
    frame = report.selection.frame
    np.testing.assert_allclose(frame["penalized_brier"], brier, rtol=1e-12)
    pearson = np.corrcoef(-frame["penalized_brier"], frame["macro_f1"])[0, 1]
    (shown,) = (row for row in find_table(tables, "Pearson's") if row[0] == "Penalised Brier score")
    assert shown[5] == show(pearson, 3)


def test_groups_and_periods_of_classes_are_shown(tables, report):
    for start, groups in (("By site", report.evaluation.groups), ("By visit", report.evaluation.windows)):
        rows = {(row[0], row[1]): row for row in find_table(tables, start)}
        assert len(groups) >= 2
        for group in groups:
            if not group.models:
                assert rows[group.label, "not scored"][2] == str(group.sample.rows)
            for scores in group.models:
                shown = rows[group.label, scores.model]
                assert shown[2] == str(group.sample.rows)
                assert shown[3] == bracket(scores.score("rps").interval)
    assert [group.label for group in report.evaluation.groups if not group.models] == ["north"]


def test_differences_of_classes_are_paired(tables, report):
    rows = {row[0]: row for row in find_table(tables, "Differences between models")}
    observed, first = arrays_of("clinic")
    _, second = arrays_of("bold")
    right = [(p.argmax(axis=1) == observed).astype(float) for p in (first, second)]
    assert rows["Accuracy ↑"][2].startswith(f"{show((right[0] - right[1]).mean())} [")
    assert len(rows) - 1 == len(report.evaluation.comparisons.differences) == 15


def test_data_methods_and_provenance_are_described(sections, report, written):
    counts = make_patients()["grade"].value_counts()
    for label in GRADES:
        assert f"{label} {counts[label]} {100 * counts[label] / 150:.1f} %" in sections["Data"]
    for text in ("4 ordered classes", "150 rows", "Screening of 2024"):
        assert text in sections["Data"]
    for text in ("RPS = Σ (MCB − DSC + UNC) / (K − 1)", "Epstein (1969)", "Nelson (2017)", "seed 7"):
        assert text in sections["Annex: methods"]
    provenance = squeeze(sections["Provenance"])
    for fact in (
        GRADED_COMMAND,
        report.evaluation.sha256,
        hashlib.sha256(written[".json"]).hexdigest(),
        hashlib.sha256(GRADED_CONFIGURATION.encode()).hexdigest(),
        hash_templates(None),
    ):
        assert squeeze(fact) in provenance


@pytest.mark.sweep
def test_documents_conform_to_their_schemas(report, nominal):
    assert report.selection is not None
    assert_valid(report.to_json(), "report-1.json")
    assert_valid(report.evaluation.to_json(), "evaluation-1.json")
    assert_valid(nominal.to_json(), "evaluation-1.json")
    assert_valid(build_report(nominal, Provenance(time=TIME)).to_json(), "report-1.json")
    found = json.loads(report.to_json())
    for spoil in (
        lambda d: d["evaluation"]["class_models"][0]["families"][0].update(kind="nothing"),
        lambda d: d["selection"].pop("choices"),
        lambda d: d["evaluation"]["data"]["classes"].update(ordered="perhaps"),
    ):
        spoiled = json.loads(json.dumps(found))
        spoil(spoiled)
        with pytest.raises(jsonschema.ValidationError):
            assert_valid(json.dumps(spoiled), "report-1.json")


def test_documents_of_classes_are_read_back_to_the_byte(nominal, report, tmp_path):
    for evaluation in (nominal, report.evaluation):
        path = tmp_path / "evaluation.json"
        evaluation.to_json(path)
        again = sr.Evaluation.from_json(path)
        assert again.to_json().encode() == path.read_bytes()
        assert (again.kind, again.sha256) == (evaluation.kind, evaluation.sha256)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda d: d["evaluation"]["class_models"][0]["scores"]["scores"][2].update(value=0.01),
            "the hash it records is not that of its results",
        ),
        (
            lambda d: d["evaluation"]["class_models"][1]["families"][1]["views"][0]["scores"][
                "decompositions"
            ][0].update(score=0.0),
            "the hash it records is not that of its results",
        ),
        (
            lambda d: d["evaluation"]["class_models"][0]["confusion"]["counts"][0].reverse(),
            "the hash it records is not that of its results",
        ),
        (
            lambda d: d["evaluation"]["class_models"][0]["scale"][0].update(angle=45.0),
            "the hash it records is not that of its results",
        ),
        (
            lambda d: d["judgements"][1].update(verdict="pass"),
            "its verdicts do not follow from its numbers and limits",
        ),
        (
            lambda d: d["configuration_source"].update(
                text=GRADED_CONFIGURATION.replace("fail = 1.3", "fail = 9")
            ),
            "its verdicts do not follow from its numbers and limits",
        ),
    ],
    ids=["score", "view", "confusion", "scale", "verdict", "limit"],
)
def test_documents_of_classes_changed_by_hand_are_refused(written, tmp_path, change, reason):
    found = json.loads(written[".json"]) | {"certificate": None}
    change(found)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(sr.DataError, match=rf"^{re.escape(str(path))} contradicts itself: {reason}\.$"):
        read_report(path)
