"""Reports on models of several classes: in every form, the same every time, safe, and on odd data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder
from report_tools import (
    CONFORMANCE,
    GRADED_COMMAND,
    GRADED_CONFIGURATION,
    GRADERS,
    GRADES,
    TIME,
    assert_pages_are_filled,
    find_outside,
    list_contents,
    list_figures,
    list_headings,
    list_images,
    list_markup,
    list_tags,
    make_epochs,
    make_graded_report,
    make_patients,
    open_pdf,
    plain,
    read_attachments,
    read_bookmarks,
    read_pages,
    read_tables,
    shorten_report,
    squeeze,
    words_of,
)
from scipy.optimize import isotonic_regression

import scorereport as sr
from scorereport.configuration import parse_configuration, read_configuration
from scorereport.errors import ExitCode
from scorereport.examples import party_identification
from scorereport.report.assembly import describe_report
from scorereport.report.page_policy import PAGE_POLICY, check_self_contained
from scorereport.report.provenance import Provenance
from scorereport.report.report_output import write_pages
from scorereport.report.report_record import build_report, read_report
from scorereport.report.templates import hash_templates, render_html

FORMS = (".pdf", ".html", ".json")
TITLES = (
    "Summary",
    "Model",
    "Data",
    "Methods",
    "Overall performance",
    "Calibration",
    "Discrimination",
    "Decomposition",
    "Retention curves",
    "Probability scale",
    "Comparison of models",
    "Subgroups",
    "Time",
    "Choice of a checkpoint",
    "R certificate",
    "Limitations and interpretation",
    "Provenance",
    "Sign-off",
    "Annex: checklists",
)
#: Verdicts on the limits of the configuration, by model.
VERDICTS = {
    "multiclass_log_loss": ("pass", "fail"),
    "rps": ("pass", "inconclusive"),
    "accuracy": ("warn", "warn"),
    "quadratic_weighted_kappa": ("pass", "pass"),
}
SCHEMAS = Path(sr.__file__).parent / "schemas"
HOSTILE = "<script>alert(1)</script> {{ 7*7 }} $x^2$ & \"quoted\" 'too' 🙂"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return shared_folder(tmp_path_factory, "graded")


@pytest.fixture(scope="module")
def made(folder):
    """The report, and the bytes of all forms by ending."""

    def make():
        report = make_graded_report(folder)
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
def short(report, folder):
    """A PDF of what is new: to lay out the whole report again would take long."""
    (path,) = write_pages(shorten_report(report), [folder / "short.pdf"])
    return path


@pytest.fixture(scope="module")
def pages(written):
    return read_pages(written[".pdf"])


@pytest.fixture(scope="module")
def page(written):
    return written[".html"].decode()


@pytest.fixture(scope="module")
def tables(page):
    return read_tables(page)


@pytest.fixture(scope="module")
def sections(pages, written):
    """The text of each section in the PDF, from its heading to the next."""
    starts = read_bookmarks(written[".pdf"])
    offsets = [0, *np.cumsum([len(text) + 1 for text in pages])]
    whole = " ".join(pages)
    marks = [f"{number} {title}" for number, title in enumerate(TITLES, start=1)]
    heads = [whole.index(f"{mark} ", offsets[starts[mark] - 1]) for mark in marks]
    return {title: whole[a:b] for title, (a, b) in zip(TITLES, pairwise([*heads, len(whole)]), strict=True)}


def arrays_of(model):
    """Classes that came, as places, and the probabilities of a model for the patients."""
    patients = make_patients()
    came = np.array([GRADES.index(label) for label in patients["grade"]])
    return came, patients[[f"{model}_{label}" for label in GRADES]].to_numpy()


def find_table(tables, start):
    """The one table whose caption, after its number, starts like this."""
    (rows,) = (rows for caption, rows in tables.items() if re.match(rf"Table \d+\. {start}", caption))
    return rows


def show(number, decimals=4):
    return f"{number:.{decimals}f}".replace("-", "−")


def bracket(estimate, decimals=4):
    """A number with its interval as a table shows it."""
    return "{} [{}, {}]".format(
        *(show(n, decimals) for n in (estimate.value, estimate.lower, estimate.upper))
    )


# ---- A document that archives accept ----


@pytest.mark.sweep
@pytest.mark.parametrize("profile", ["3a", "ua1"])
def test_a_report_on_classes_conforms_to_the_norm(short, profile):
    if not CONFORMANCE.exists() or shutil.which("java") is None:
        pytest.skip(f"Conformance needs {CONFORMANCE} and java.")
    done = subprocess.run([CONFORMANCE, profile, short], capture_output=True, text=True, check=False)
    if "profile=" not in done.stdout:
        pytest.skip(f"{CONFORMANCE} does not run here: {done.stderr.strip()[-200:]}")
    assert "compliant=true" in done.stdout, done.stdout
    assert done.returncode == 0


def test_a_report_on_classes_says_what_it_is(written):
    with open_pdf(written[".pdf"]) as pdf:
        metadata = pdf.Root.Metadata.read_bytes().decode()
        assert 'pdfaid:part="3"' in metadata
        assert 'pdfaid:conformance="A"' in metadata
        assert metadata.count("<pdfuaid:part>1</pdfuaid:part>") == 1
        assert str(pdf.Root.Lang) == "en"
        assert bool(pdf.Root.MarkInfo.Marked)
        assert bool(pdf.Root.ViewerPreferences.DisplayDocTitle)
        assert str(pdf.docinfo.Title) == "Validation of the grading model"


def test_results_and_configuration_are_attached(written, report, tmp_path):
    files = read_attachments(written[".pdf"])
    assert files == {"results.json": written[".json"], "graded.toml": GRADED_CONFIGURATION.encode()}
    (tmp_path / "out.json").write_bytes(files["results.json"])
    again = read_report(tmp_path / "out.json")
    assert again.to_json() == report.to_json()
    assert again.selection == report.selection
    assert again.configuration.checkpoints.patience == 2


def test_figures_tables_and_headings_are_tagged(written, page):
    told = list_images(page)
    assert len(told) == 12
    assert len(set(told)) == len(told)
    assert all(len(text) > 40 and re.search(r"\d", text) for text in told)
    assert [plain(text) for text in list_figures(written[".pdf"])] == [plain(text) for text in told]
    with open_pdf(written[".pdf"]) as pdf:
        tags = [str(tag.S) for tag in list_tags(pdf)]
        kinds = Counter(tags)
        assert page.count("<table") <= kinds["/Table"] <= page.count("<table") + len(pdf.pages)
        assert kinds["/TH"] > kinds["/Table"]
    assert_headings_do_not_skip([int(tag[2:]) for tag in tags if re.fullmatch(r"/H\d", tag)])


def assert_headings_do_not_skip(levels):
    """The first is the title, the only one; each other is at most one level deeper than the one before."""
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


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
    assert (tmp_path / "short.pdf").read_bytes() == short.read_bytes()


# ---- Pages, contents, figures and tables ----


def test_pages_are_filled_and_keep_their_margins(written, pages):
    assert 20 <= len(pages) <= 36
    assert_pages_are_filled(pages)
    assert all("MV-2026-118, version 2.0, Internal" in text for text in pages[1:])
    assert find_outside(written[".pdf"]) == []


def test_contents_and_bookmarks_are_the_sections(written, pages, page):
    marks = {name: at for name, at in read_bookmarks(written[".pdf"]).items() if re.match(r"\d+ ", name)}
    assert list(marks) == [f"{number} {title}" for number, title in enumerate(TITLES, start=1)]
    cover = " ".join(pages[:2])
    for mark, start in marks.items():
        assert f"{mark} " in pages[start - 1]
        assert re.search(rf"\b{re.escape(mark)} ?\.+ ?{start}\b", cover), mark
    assert [(number, title) for _, number, title in list_contents(page)] == [
        (str(number), title) for number, title in enumerate(TITLES, start=1)
    ]


@pytest.mark.parametrize(("kind", "fewest"), [("figure", 12), ("table", 25)])
def test_figures_and_tables_of_classes_are_numbered_without_gap(page, pages, kind, fewest):
    ids = [int(k) for k in re.findall(rf'<{kind} [^>]*?id="{kind}-(\d+)"', page)]
    assert len(ids) >= fewest
    assert ids == list(range(1, len(ids) + 1))
    assert re.findall(rf"<strong>{kind.capitalize()} (\d+)\.</strong>", page) == [str(k) for k in ids]
    whole = " ".join(pages)
    places = [whole.index(f"{kind.capitalize()} {k}. ") for k in ids]
    assert places == sorted(places)
    assert {int(k) for k in re.findall(rf"{kind.capitalize()} (\d+)", whole)} == set(ids)


POLICY = f'\n<meta http-equiv="Content-Security-Policy" content="{PAGE_POLICY}">'


def assert_page_is_sound(page):
    """What must hold of every page: references lead somewhere, images are told, nothing is fetched or run."""
    check_self_contained(page.replace(POLICY, ""))  # which is added to a page once it is checked
    tags, attributes = list_markup(page)
    assert not {"script", "link", "iframe", "object", "form"} & tags
    assert not any(name.startswith("on") for name in attributes)
    targets = re.findall(r'href="#([\w-]+)"', page)
    assert targets
    assert all(page.count(f' id="{target}"') == 1 for target in targets)
    numbers = {number: name for name, number, _ in list_contents(page)}
    for target, kind, number in re.findall(r'href="#([\w-]+)">(Figure|Table|Section) (\d+)</a>', page):
        assert target == (numbers[number] if kind == "Section" else f"{kind.lower()}-{number}")
    assert all(list_images(page))
    assert_headings_do_not_skip([level for level, _ in list_headings(page)])
    words = words_of(page)
    assert not {"nan", "inf", "NaN"} & set(re.findall(r"\w+", words))
    assert ".." not in re.sub(r"\.\.\.(?!\.)", "", words)
    sources = re.findall(r'\bsrc="([^"]{0,30})|url\("?([^")]{0,30})', page)
    assert all((a or b).startswith("data:") for a, b in sources)


def test_the_html_of_classes_needs_nothing_else(page):
    assert page.count(POLICY) == 1
    assert_page_is_sound(page)
    assert len(page.encode()) < 2_000_000


def test_both_forms_say_the_same(page, pages, tables, sections):
    """Texts of the PDF are in the HTML, and every cell of a table of the HTML is in the PDF."""
    words, printed = squeeze(words_of(page)), squeeze(" ".join(pages))
    running = r"Validation of the grading model MV-2026-118, version 2\.0, Internal page \d+ of \d+"
    for title in ("Data", "Limitations and interpretation", "Sign-off"):
        for line in re.split(running, sections[title]):
            for sentence in re.split(r"(?<=\.) ", line):
                assert squeeze(sentence.replace("•", "")) in words
    cells = [cell for rows in tables.values() for row in rows for cell in row if "Section" not in cell]
    assert len(cells) > 800
    assert [cell for cell in cells if squeeze(cell) not in printed] == []


# ---- What the sections say, held against the rows ----


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
        assert re.search(rf"\b{word} ?: {count}\b", sections["Summary"])
    (failed,) = [j for j in report.judgements if j.verdict == "fail"]
    assert failed.sentence in sections["Summary"]
    assert "Medical board on 2026-01-15" in sections["Summary"]
    assert "Fail: 1 of 8 limits is breached" in sections["Summary"]


@pytest.mark.parametrize("model", GRADERS)
def test_scores_are_those_of_the_rows(tables, report, model):
    came, p = arrays_of(model)
    hit, likeliest = np.eye(4)[came], p.argmax(axis=1)
    below, really = p.cumsum(axis=1)[:, :3], hit.cumsum(axis=1)[:, :3]
    brier, log_loss = ((p - hit) ** 2).sum(axis=1), -np.log(p[np.arange(150), came])
    rps, wrong = ((below - really) ** 2).sum(axis=1), likeliest != came
    table = np.array([[np.sum((came == i) & (likeliest == j)) for j in range(4)] for i in range(4)])
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
        "Expected cost": ("expected_cost", costs[came, likeliest].mean()),
    }
    shown = {row[0]: row[2] for row in find_table(tables, "Mean scores") if row[1] == model}
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
    came, p = arrays_of(model)
    rows = find_table(tables, f"{model}: the Brier score of each threshold")
    parts = []
    for k in range(3):
        said, event = p.cumsum(axis=1)[:, k], came <= k
        pooled = pd.Series(event).groupby(said).agg(["mean", "size"])  # equal forecasts are one
        fit = isotonic_regression(pooled["mean"], weights=pooled["size"]).x
        drawn = fit[np.searchsorted(pooled.index, said)]
        score, refined = ((said - event) ** 2).mean(), ((drawn - event) ** 2).mean()
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
    came, p = arrays_of(model)
    brier = ((p - np.eye(4)[came]) ** 2).sum(axis=1)
    right = (p.argmax(axis=1) == came)[np.argsort(brier)[::-1]]
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
    came, p = arrays_of(model)
    given = p[np.arange(150), came]
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
        assert of_classes[label][2] == str((came == k).sum())
        assert of_classes[label][3].startswith(show(given[came == k].mean(), 3))
    verdicts = [row[2] for row in find_table(tables, "Angle") if row[0] == model]
    assert verdicts == (["neither"] * 2 if model == "clinic" else ["over-confident"] * 2)
    (result,) = (result for result in report.evaluation.class_models if result.model == model)
    assert squeeze(result.scale[1].sentence[1:]) in squeeze(sections["Probability scale"])


def test_the_choice_of_a_checkpoint_is_that_of_the_file(tables, report, sections):
    epochs = make_epochs()
    p = epochs[[f"p_{label}" for label in GRADES]].to_numpy()
    came = np.array([GRADES.index(label) for label in epochs["grade"]])
    wrong = p.argmax(axis=1) != came
    brier = pd.Series(((p - np.eye(4)[came]) ** 2).sum(axis=1) + 0.75 * wrong).groupby(epochs["epoch"]).mean()
    best = brier.idxmin()
    assert report.selection.chosen.best == str(best)
    told = f"The penalised Brier score chooses checkpoint {best}, where it is {show(brier[best])}."
    assert told in sections["Choice of a checkpoint"]
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
    came, first = arrays_of("clinic")
    _, second = arrays_of("bold")
    right = [(p.argmax(axis=1) == came).astype(float) for p in (first, second)]
    assert rows["Accuracy ↑"][2].startswith(f"{show((right[0] - right[1]).mean())} [")
    assert len(rows) - 1 == len(report.evaluation.comparisons.differences) == 15


def test_data_methods_and_provenance_are_told(sections, report, written):
    counts = make_patients()["grade"].value_counts()
    for label in GRADES:
        assert f"{label} {counts[label]} {100 * counts[label] / 150:.1f} %" in sections["Data"]
    for text in ("4 ordered classes", "150 rows", "Screening of 2024"):
        assert text in sections["Data"]
    for text in ("RPS = Σ (MCB − DSC + UNC) / (K − 1)", "Epstein (1969)", "Nelson (2017)", "seed 7"):
        assert text in sections["Methods"]
    provenance = squeeze(sections["Provenance"])
    for fact in (
        GRADED_COMMAND,
        report.evaluation.sha256,
        hashlib.sha256(written[".json"]).hexdigest(),
        hashlib.sha256(GRADED_CONFIGURATION.encode()).hexdigest(),
        hash_templates(None),
    ):
        assert squeeze(fact) in provenance


# ---- The document ----


@pytest.fixture(scope="module")
def nominal():
    """Three classes without order, in few rows and without draws."""
    return evaluate_classes(*draw_classes(["red", "green", "blue"], 30), ordered=False)


def draw_classes(labels, n, *, model="m", seed=0):
    """A frame of probabilities with classes drawn from them, and the labels."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(len(labels)), n)
    came = [
        labels[min(int((u > row.cumsum()).sum()), len(labels) - 1)]
        for u, row in zip(rng.random(n), p, strict=True)
    ]
    return frame_of(came, p, labels, model=model), labels


def frame_of(came, p, labels, *, model="m"):
    columns = {f"{model}_{label}": column for label, column in zip(labels, np.transpose(p), strict=True)}
    return pd.DataFrame({"y": came} | columns)


def evaluate_classes(frame, labels, **options):
    asked = {"outcome": "y", "forecasts": ["m"], "ordered": True, "resamples": 0} | options
    return sr.evaluate(frame, classes=labels, **asked)


def assert_valid(text, name):
    """A document keeps to the schema that is filed."""
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


def test_documents_keep_to_their_schemas(report, nominal):
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
    ("change", "told"),
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
def test_documents_of_classes_changed_by_hand_are_refused(written, tmp_path, change, told):
    found = json.loads(written[".json"]) | {"certificate": None}
    change(found)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(sr.DataError, match=rf"^{re.escape(str(path))} contradicts itself: {told}\.$"):
        read_report(path)


# ---- Names that could do harm ----


@pytest.fixture(scope="module")
def hostile():
    """A page on which every name is hostile: classes, models, columns, groups and checkpoints."""
    labels = [f"{HOSTILE} a", f"{HOSTILE} b", "<img src=x onerror=alert(2)>\nin two lines"]
    frame, _ = draw_classes(labels, 24, model=HOSTILE)
    frame = frame.rename(columns={"y": f"outcome {HOSTILE}"}).assign(
        **{f"group {HOSTILE}": np.tile([f"{HOSTILE} left", f"{HOSTILE} right"], 12)}
    )
    evaluation = sr.evaluate(
        frame,
        outcome=f"outcome {HOSTILE}",
        forecasts=[HOSTILE],
        classes=labels,
        ordered=True,
        group=f"group {HOSTILE}",
        resamples=0,
    )
    scores = pd.DataFrame(
        {
            f"step {HOSTILE}": [f"{HOSTILE} first", f"{HOSTILE} last", "last\nbut one"],
            f"loss {HOSTILE}": [0.3, 0.2, 0.4],
            "macro_f1": [0.5, 0.6, 0.7],
        }
    )
    selection = sr.select(
        scores,
        checkpoint=f"step {HOSTILE}",
        score=f"loss {HOSTILE}",
        directions={f"loss {HOSTILE}": "lower"},
        patience=1,
    )
    report = build_report(evaluation, Provenance(time=TIME), selection=selection)
    return evaluation, render_html("report.html", describe_report(report))


@pytest.mark.sweep
def test_hostile_names_are_shown_and_do_nothing(hostile):
    evaluation, page = hostile
    assert_page_is_sound(page)
    assert "<img src=x" not in page
    without_hashes = re.sub(r"\b[0-9a-f]{40,}\b", "", words_of(page))
    assert "49" not in re.sub(r"[\d.,]*\d49|49\d[\d.,]*|\d*\.\d*", "", without_hashes)
    words = words_of(page)
    for name in (
        f"{HOSTILE} a",
        f"{HOSTILE} b",
        "<img src=x onerror=alert(2)> in two lines",
        f"{HOSTILE} last",
    ):
        assert name in words
    for name in (f"{HOSTILE} left", f"outcome {HOSTILE}", f"group {HOSTILE}"):
        assert plain(name) in words
    assert html.escape("<script>alert(1)</script> {{ 7*7 }} $x^2$ & ") in page
    assert evaluation.class_models[0].model == HOSTILE


def test_pictures_of_hostile_names_do_nothing(hostile):
    """Names are letters in a picture: neither elements nor formulas."""
    _, page = hostile
    pictures = re.findall(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert len(pictures) == len(list_images(page)) >= 6
    for picture in pictures:
        drawn = base64.b64decode(picture).decode()
        assert not re.search(
            r"<(script|image|foreignObject)\b|\son\w+=|https?://(?!www\.w3\.org|purl)", drawn
        )
    assert all("{{ 7*7 }} $x^2$" in text for text in list_images(page))


def test_a_notebook_shows_classes_safely(hostile, report):
    evaluation, _ = hostile
    shown = evaluation._repr_html_()
    assert not re.search(r"<(script|html|head|body|link)\b|<img src=x|https?:", shown)
    assert html.escape("<script>alert(1)</script> {{ 7*7 }}") in shown
    assert shown.count("<table") == shown.count("</table>") == 2
    (told,) = list_images(shown)
    assert HOSTILE in told
    shown = report.evaluation._repr_html_()
    assert [text.split(",")[0] for text in list_images(shown)] == [
        f"Reliability diagrams of {model}" for model in GRADERS
    ]
    for result in report.evaluation.class_models:
        assert bracket(result.scores.score("rps").interval) in words_of(shown)


# ---- Odd data ----

#: Long sections that do not depend on what is odd.
SHORT = '[report]\nomit = ["methods", "sign-off", "provenance"]\n'
#: The sections that tables of numbers are in; pictures of fifty classes take long.
TABLES = SHORT.replace("omit = [", 'omit = ["calibration", "retention", "comparison", ')


def render(evaluation, configuration=SHORT):
    told = parse_configuration(configuration, "odd.toml")
    report = build_report(evaluation, Provenance(time=TIME), configuration=told)
    page = render_html("report.html", describe_report(report))
    assert_page_is_sound(page)
    return page


def scores_on(page, model="m"):
    """The mean scores that a page shows, by name."""
    return {row[0]: row[2:] for row in find_table(read_tables(page), "Mean scores")[1:] if row[1] == model}


@pytest.mark.sweep
def test_two_ordered_classes_are_printed_as_the_binary_model_is():
    frame, labels = draw_classes(["no", "yes"], 40)
    of_classes = render(evaluate_classes(frame, labels), '[report]\nomit = ["calibration"]\n')
    shown = scores_on(of_classes)
    page = render(sr.evaluate(frame, outcome="y", forecasts=["m_yes"], positive="yes", resamples=0))
    binary = scores_on(page, "m_yes")
    assert shown["RPS, divided by K − 1"] == binary["Brier score"]
    assert shown["Log score (K classes)"] == binary["Log score"]
    assert shown["Spherical score (K classes)"] == binary["Spherical score"]
    brier = ((frame["m_yes"] - (frame["y"] == "yes")) ** 2).mean()
    assert binary["Brier score"][0] == show(brier)
    assert shown["Brier score (K classes)"] == [show(2 * brier), binary["Brier score"][1]]
    assert "for two classes, twice the binary score" in words_of(of_classes)


def test_two_classes_are_decomposed_as_the_binary_model_is():
    frame, labels = draw_classes(["no", "yes"], 40)
    binary = sr.evaluate(frame, outcome="y", forecasts=["m_yes"], positive="yes", resamples=0)
    part = binary.models[0].scores.decomposition("brier")
    rows = find_table(read_tables(render(evaluate_classes(frame, labels), TABLES)), "CORP decomposition")
    shown = {row[0]: row[2:] for row in rows}
    parts = (part.score, part.miscalibration, part.discrimination, part.uncertainty)
    assert shown["Ranked probability score"] == [show(number) for number in parts]
    assert shown["Brier score (K classes)"] == [show(2 * number) for number in parts]


@pytest.mark.sweep
def test_fifty_classes():
    labels = [f"grade {k:02d}" for k in range(50)]
    frame, _ = draw_classes(labels, 60)
    evaluation = evaluate_classes(frame, labels)
    page = render(evaluation)
    tables = read_tables(page)
    assert [row[0] for row in find_table(tables, "The 50 classes")[1:]] == labels
    rows = find_table(tables, "m: the Brier score of each threshold")
    assert [row[0] for row in rows[1:-1]] == labels[:-1]
    part = evaluation.class_models[0].scores.decomposition("rps")
    assert float(rows[-1][1]) == pytest.approx(part.score, abs=1e-4)
    assert "12 of 50" in " ".join(list_images(page))
    absent = sorted(set(labels) - set(frame["y"]))
    assert len(absent) > 5
    assert f"{len(absent)} classes were never observed (" in words_of(page)
    assert len(page) < 3_000_000


def test_a_note_on_several_classes_that_never_came_is_a_sentence():
    frame, labels = draw_classes(list("abcdefghijkl"), 3)
    (note,) = (note for note in evaluate_classes(frame, labels).notes if "never observed" in note)
    assert "forecasts of them are scored." in note
    assert "...." not in note


@pytest.mark.sweep
def test_a_class_that_never_came_is_shown():
    labels = ["a", "b", "never"]
    rng = np.random.default_rng(1)
    frame = frame_of(rng.choice(["a", "b"], 30), rng.dirichlet([2, 2, 1], 30), labels)
    page = render(evaluate_classes(frame, labels, resamples=40))
    tables = read_tables(page)
    counts = {row[0]: row[1:] for row in find_table(tables, "The 3 classes")}
    assert counts["never"][0] == "0"
    assert counts["never"][1].startswith("0.0 % [0.0, ")
    by_class = {row[0]: row for row in find_table(tables, "By class, if")}
    assert by_class["never"][3] == by_class["never"][5] == "n/d"
    assert "One class was never observed (never); forecasts of it are scored." in words_of(page)
    assert "0.0 % of cases" in " ".join(list_images(page))


@pytest.mark.sweep
def test_ties_at_the_argmax_go_to_the_first_class():
    labels = ["a", "b", "c"]
    p = np.array([[0.4, 0.4, 0.2]] * 6 + [[0.1, 0.2, 0.7]] * 6)
    frame = frame_of(["a", "b", "a", "b", "b", "c"] + ["c"] * 6, p, labels)
    page = render(evaluate_classes(frame, labels))
    assert (
        "m: in 6 cases several classes share the highest probability; the first of them is the predicted "
        "class."
    ) in words_of(page)
    assert scores_on(page)["Accuracy ↑"][0] == show(8 / 12)
    by_class = {row[0]: row for row in find_table(read_tables(page), "By class, if")}
    assert by_class["a"][2:4] == [f"{100 * 2 / 6:.1f} %", "100.0 %"]
    assert by_class["b"][2:4] == ["n/d", "0.0 %"]


@pytest.mark.sweep
def test_all_classes_equally_likely():
    frame, labels = draw_classes(["a", "b", "c"], 30)
    frame[[f"m_{label}" for label in labels]] = 1 / 3
    page = render(evaluate_classes(frame, labels, resamples=40))
    assert "m: in 30 cases several classes share the highest probability" in words_of(page)
    assert scores_on(page)["Log score (K classes)"][0].startswith(show(np.log(3)))


@pytest.fixture(scope="module")
def certain():
    """Forecasts of 0 and 1 only, of which those of two rows did not come true."""
    labels = ["a", "b", "c"]
    frame = frame_of(["a"] * 28 + ["b", "c"], np.tile([1.0, 0.0, 0.0], (30, 1)), labels)
    evaluation = evaluate_classes(frame, labels, resamples=40)
    return evaluation, render(evaluation)


@pytest.mark.sweep
def test_probabilities_of_zero_and_one(certain):
    evaluation, page = certain
    scores = scores_on(page)
    assert scores["Log score (K classes)"] == ["∞", "−∞ %"]
    assert scores["Penalised log score"][0] == "∞"
    assert scores["Brier score (K classes)"][0].startswith(show(4 / 30))
    assert (
        "m: the log score is infinite, because in 2 cases the forecast of the observed class was 0 "
        "(rows 28, 29)."
    ) in words_of(page)
    rows = find_table(read_tables(page), "Probability scale, all classes")
    shown = {row[1]: row[2] for row in rows}
    assert shown["decisiveness"].startswith(show(28 / 30, 3))
    assert shown["accuracy"].startswith("0.000")
    assert_valid(evaluation.to_json(), "evaluation-1.json")


def test_cases_of_the_probability_scale_are_whole_numbers(certain):
    rows = find_table(read_tables(certain[1]), "Probability scale of each class")
    assert [row[2] for row in rows[1:]] == ["28", "1", "1"]


@pytest.mark.sweep
def test_all_right_and_certain():
    labels = ["a", "b", "c"]
    came = ["a", "b", "c"] * 5
    page = render(evaluate_classes(frame_of(came, np.tile(np.eye(3), (5, 1)), labels), labels, resamples=40))
    scores = scores_on(page)
    for name in (
        "Brier score (K classes)",
        "Log score (K classes)",
        "RPS, divided by K − 1",
        "Expected cost",
    ):
        assert scores[name][0].startswith("0.0000"), name
        assert scores[name][1].startswith("100.0 %"), name
    assert "−0.0000" not in words_of(page)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(("resamples", "configuration"), [(0, TABLES), (40, SHORT)])
def test_one_row(resamples, configuration):
    frame = frame_of(["b"], [[0.2, 0.5, 0.3]], ["a", "b", "c"])
    page = render(evaluate_classes(frame, ["a", "b", "c"], resamples=resamples), configuration)
    scores = scores_on(page)
    assert scores["Brier score (K classes)"] == [show(0.04 + 0.25 + 0.09), "n/d"]
    assert scores["RPS, divided by K − 1"] == [show((0.04 + 0.09) / 2), "n/d"]
    assert "All cases are of one class: skill is not defined." in words_of(page)
    assert "Cases 1 row " in words_of(page)


def test_classes_without_order_have_no_section_or_word_on_order(nominal):
    page = render(nominal, "")
    words = words_of(page)
    assert "Classes y, 3 classes Cases 30 rows" in words
    assert not re.findall("RPS|[Rr]anked probability|threshold|[Kk]appa|ordered classes", words)
    assert set(scores_on(page)) == {
        "Brier score (K classes)",
        "Log score (K classes)",
        "Spherical score (K classes)",
        "Penalised Brier score",
        "Penalised log score",
        "Accuracy ↑",
        "Macro F1 ↑",
        "Expected cost",
    }
    assert all("up to" not in text for text in list_images(page))


def test_one_model_without_draws_is_not_compared(nominal):
    page = render(nominal)
    names = [name for name, _, _ in list_contents(page)]
    assert not {"comparison", "groups", "time", "checkpoints", "certificate", "model"} & set(names)
    assert {"retention", "scale", "calibration"} <= set(names)
    assert "rank" not in find_table(read_tables(page), "Mean scores")[0]
    assert "No intervals or tests were requested" in words_of(page)


# ---- The command line ----

#: A report of one section, which is soon drawn.
SECTIONS = ("summary", "model", "data", "methods", "performance", "calibration", "discrimination")
SECTIONS += ("decomposition", "retention", "scale", "comparison", "limitations", "provenance", "sign-off")
ONLY_CHECKPOINTS = f"[report]\nomit = {json.dumps([*SECTIONS, 'checklist'])}\n"
TOML = """
[evaluation]
outcome = "grade"
classes = ["none", "mild", "moderate", "severe"]
ordered = true
forecasts = ["clinic"]
resamples = 0
"""
#: The RPS of the clinic's model in these rows is 0.125, its accuracy 0.487; without draws nothing is open.
LIMITS = {
    "pass": "[limits]\nrps = 0.2\naccuracy = 0.4\n",
    "warn": "[limits]\nrps = {warn = 0.1, fail = 0.2}\n",
    "fail": "[limits]\naccuracy = 0.6\n",
}
OPTIONS = ["--outcome", "grade", "--classes", ",".join(GRADES), "--ordered", "--resamples", "0", "--quiet"]
COLUMNS = ",".join(f"bold_{label}" for label in GRADES)


@pytest.fixture
def call(call, monkeypatch, tmp_path):
    """Call the command line in a folder of its own."""
    make_patients().to_csv(tmp_path / "patients.csv", index=False)
    make_epochs().to_csv(tmp_path / "epochs.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    return call


@pytest.fixture
def write(tmp_path):
    def write(name, text):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return name

    return write


def test_score_prints_classes_of_columns_named_one_by_one(call):
    code, text, error = call(
        "score", "patients.csv", *OPTIONS, "--forecast", f"sure={COLUMNS}", "--forecast", "clinic"
    )
    assert (code, error) == (ExitCode.DONE, "")
    came, p = arrays_of("bold")
    rps = ((p.cumsum(axis=1) - np.eye(4)[came].cumsum(axis=1)) ** 2).sum(axis=1).mean() / 3
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(line.startswith(f"RPS, divided by K − 1 sure {show(rps)} ") for line in lines)
    assert "Outcome grade" in text
    assert "nan" not in re.findall(r"\w+", text)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("limits", "options", "code"),
    [
        ("pass", ["--strict"], ExitCode.DONE),
        ("warn", [], ExitCode.DONE),
        ("warn", ["--strict"], ExitCode.WARNINGS),
        ("fail", [], ExitCode.LIMIT_BREACHED),
    ],
)
@pytest.mark.parametrize("command", ["score", "report"])
def test_exit_codes_follow_the_limits_on_classes(call, write, tmp_path, command, limits, options, code):
    config = write("k.toml", TOML + LIMITS[limits])
    output = ["-o", "r.json"] if command == "report" else ["--json"]
    found, text, error = call(command, "patients.csv", "--config", config, "--quiet", *output, *options)
    assert found == code
    assert re.search(rf"Limits: \d {limits}\b", error)
    document = (tmp_path / "r.json").read_text(encoding="utf-8") if command == "report" else text
    assert {j["verdict"] for j in json.loads(document)["judgements"]} == {limits}
    assert_valid(document, "report-1.json")


@pytest.mark.sweep
def test_a_report_shows_the_checkpoints_of_a_file(call, write, tmp_path):
    make_epochs().to_csv(tmp_path / "others.csv", index=False)
    table = (
        '[checkpoints]\ncolumn = "epoch"\noutcome = "grade"\n'
        'forecasts = ["p_none", "p_mild", "p_moderate", "p_severe"]\n'
    )
    config = write("k.toml", ONLY_CHECKPOINTS + TOML + table)
    run = ["report", "patients.csv", "--config", config, "--quiet", "--date", "2026-11-15"]
    code, _, error = call(*run, "-o", "r.json")
    assert (code, error) == (
        ExitCode.USAGE,
        "scorereport: `checkpoints.file` is missing. To fix: name the file with the checkpoints.\n",
    )
    code, _, error = call(*run, "--checkpoints", "others.csv", "-o", "r.html", "-o", "r.json")
    assert (code, error) == (ExitCode.DONE, "r.html written.\nr.json written.\n")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert [name for name, _, _ in list_contents(page)] == ["checkpoints"]
    assert "5 checkpoints were scored on 40 cases each (others.csv)" in words_of(page)
    made = read_report(tmp_path / "r.json")
    assert "--checkpoints others.csv" in made.provenance.command
    sha256 = hashlib.sha256((tmp_path / "others.csv").read_bytes()).hexdigest()
    assert made.selection.file_sha256 == sha256
    for name in ("patients.csv", "others.csv", "k.toml"):
        (tmp_path / name).unlink()
    assert call("report", "--from", "r.json", "--quiet", "-o", "b.html", "-o", "b.json")[0] == ExitCode.DONE
    assert (tmp_path / "b.html").read_bytes() == page.encode()
    assert (tmp_path / "b.json").read_bytes() == (tmp_path / "r.json").read_bytes()


def test_checkpoints_given_as_scores_need_no_configuration(call, write, tmp_path):
    write("runs.csv", "checkpoint,penalized_brier,macro_f1\nearly,0.9,0.4\nlate <b>,0.7,0.6\n")
    run = ["report", "patients.csv", *OPTIONS, "--forecast", "clinic", "--checkpoints", "runs.csv"]
    assert call(*run, "-o", "r.json")[0] == ExitCode.DONE
    made = read_report(tmp_path / "r.json")
    assert (made.selection.chosen.best, made.selection.source) == ("late <b>", "runs.csv")


def test_the_document_of_an_evaluation_of_classes_is_enough(call, write, tmp_path, nominal):
    nominal.to_json(tmp_path / "evaluation.json")
    config = write("k.toml", "[limits]\naccuracy = 0.99\n")
    code, _, error = call("report", "--from", "evaluation.json", "--date", "2026-11-15", "-o", "r.json")
    assert (code, "written" in error) == (ExitCode.DONE, True)
    code, _, error = call("report", "--from", "evaluation.json", "--config", config, "-o", "r.json")
    assert (code, "Fail. Accuracy of m: " in error) == (ExitCode.LIMIT_BREACHED, True)
    made = read_report(tmp_path / "r.json")
    assert made.evaluation.to_json() == nominal.to_json()


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (
            ["patients.csv", *OPTIONS, "--forecast", f"x={COLUMNS.replace('bold_mild', 'clinic_mild')}"],
            ExitCode.DATA_REFUSED,
            r"The probabilities of x must sum to 1 within 1e-06 in each row; got ",
        ),
        (
            ["patients.csv", *OPTIONS, "--forecast", "clinic", "--outcome", "site"],
            ExitCode.DATA_REFUSED,
            r"`site` must hold one of the 4 classes \('none', 'mild', 'moderate', 'severe'\); got 'north' ",
        ),
        (
            ["patients.csv", *OPTIONS, "--forecast", "clinic", "--checkpoints", "none.csv"],
            ExitCode.USAGE,
            r"none\.csv is not a file\.",
        ),
        (
            ["patients.csv", *OPTIONS, "--forecast", "clinic", "--checkpoints", "patients.csv"],
            ExitCode.DATA_REFUSED,
            r"patients\.csv has no column `checkpoint`",
        ),
        (
            ["--from", "r.json", "--checkpoints", "epochs.csv"],
            ExitCode.USAGE,
            r"Give either --checkpoints or --from: with --from, results are rendered as they are\.",
        ),
    ],
    ids=["sums", "label", "absent", "column", "both"],
)
def test_refusals_are_one_line_and_write_nothing(call, tmp_path, arguments, code, told):
    found, text, error = call("report", *arguments, "-o", "x.json")
    assert (found, text) == (code, "")
    assert re.match(f"scorereport: {told}", error), error
    assert error.count("\n") == 1
    assert not (tmp_path / "x.json").exists()


@pytest.mark.sweep
def test_the_ordinal_demonstration_is_printed_saved_and_reported(call, tmp_path, monkeypatch):
    """The pages themselves are not laid out: that takes long, and others of their kind are."""
    made = {}
    monkeypatch.setattr(party_identification, "SETTINGS", {"resamples": 20})
    monkeypatch.setattr("scorereport.reference.certification.certify", lambda *_, **__: None)
    monkeypatch.setattr(
        "scorereport.report.report_output.write_pages",
        lambda report, paths: made.update({report: paths}) or paths,
    )
    code, text, error = call("demo", "--ordinal", "--save", "p.csv", "-o", "out")
    assert (code, error) == (ExitCode.DONE, "")
    saved = pd.read_csv(tmp_path / "p.csv")
    columns = [f"ordered_{label}" for label in party_identification.CLASSES]
    came = np.array([party_identification.CLASSES.index(label) for label in saved["party"]])
    p = saved[columns].to_numpy()
    rps = ((p.cumsum(axis=1) - np.eye(7)[came].cumsum(axis=1)) ** 2).sum(axis=1).mean() / 6
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(line.startswith(f"RPS, divided by K − 1 ordered {show(rps)} ") for line in lines)
    (report, paths) = next(iter(made.items()))
    assert [path.name for path in paths] == [f"demo-ordinal{ending}" for ending in FORMS]
    assert report.selection == party_identification.choose_checkpoint()
    assert report.configuration_source.text == read_configuration(party_identification.CONFIGURATION).text
    assert {j.measure for j in report.judgements} == {
        "rps",
        "rps_miscalibration",
        "quadratic_weighted_kappa",
        "accuracy",
    }
    assert len(report.judgements) == 8
    assert report.evaluation.settings.resamples == 20
    assert replace(report, selection=None).to_json() != report.to_json()
