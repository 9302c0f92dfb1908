"""Reports on classes with hostile names and odd data, and the command line."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from class_report_tools import (
    arrays_of,
    assert_page_is_sound,
    assert_valid,
    bracket,
    draw_classes,
    evaluate_classes,
    find_table,
    folder_fixture,
    frame_of,
    made_fixture,
    nominal_fixture,
    page_fixture,
    report_fixture,
    show,
    tables_fixture,
    written_fixture,
)
from report_tools import (
    GRADERS,
    GRADES,
    TIME,
    in_full,
    list_contents,
    list_images,
    make_epochs,
    make_patients,
    plain,
    read_tables,
    words_of,
)

import scorereport as sr
from scorereport.configuration import parse_configuration, read_configuration
from scorereport.errors import ExitCode
from scorereport.examples import party_identification
from scorereport.reference.certification import PendingCertificate
from scorereport.report.assembly import describe_report
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report, read_report
from scorereport.report.templates import render_html

folder = pytest.fixture(scope="module")(folder_fixture)


made = pytest.fixture(scope="module")(made_fixture)


report = pytest.fixture(scope="module")(report_fixture)


written = pytest.fixture(scope="module")(written_fixture)


page = pytest.fixture(scope="module")(page_fixture)


tables = pytest.fixture(scope="module")(tables_fixture)


nominal = pytest.fixture(scope="module")(nominal_fixture)


HOSTILE = "<script>alert(1)</script> {{ 7*7 }} $x^2$ & \"quoted\" 'too' 🙂"


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
        groups=f"group {HOSTILE}",
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
    return evaluation, render_html("report.html", describe_report(in_full(report)))


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


@pytest.mark.sweep
def test_pictures_of_hostile_names_do_nothing(hostile):
    """Names are plain text in a picture: neither elements nor formulas."""
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
    (description,) = list_images(shown)
    assert HOSTILE in description
    shown = report.evaluation._repr_html_()
    best = min(report.evaluation.class_models, key=lambda result: result.scores.score("rps").value).model
    assert [text.split(",")[0] for text in list_images(shown)] == [f"Reliability diagrams of {best}"]
    assert f"Diagrams are of {best}; a report has those of all {len(GRADERS)} models." in words_of(shown)
    for result in report.evaluation.class_models:
        assert bracket(result.scores.score("rps").interval) in words_of(shown)


# ---- Odd data ----

#: Long sections that do not depend on what is odd.
SHORT = '[report]\nomit = ["methods", "sign-off", "provenance"]\n'


#: The sections that tables of numbers are in; pictures of fifty classes take long.
TABLES = SHORT.replace("omit = [", 'omit = ["calibration", "retention", "comparison", ')


def render(evaluation, configuration=SHORT):
    parsed = parse_configuration(configuration, "odd.toml")
    report = build_report(evaluation, Provenance(time=TIME), configuration=parsed)
    page = render_html("report.html", describe_report(in_full(report)))
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


@pytest.mark.sweep
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


def test_a_note_on_several_unobserved_classes_is_a_sentence():
    frame, labels = draw_classes(list("abcdefghijkl"), 3)
    (note,) = (note for note in evaluate_classes(frame, labels).notes if "never observed" in note)
    assert "forecasts of them are scored." in note
    assert "...." not in note


@pytest.mark.sweep
def test_a_class_that_was_never_observed_is_shown():
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
    evaluation = evaluate_classes(frame, labels, resamples=40, scale=True)
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


@pytest.mark.sweep
def test_cases_of_the_probability_scale_are_whole_numbers(certain):
    rows = find_table(read_tables(certain[1]), "Probability scale of each class")
    assert [row[2] for row in rows[1:]] == ["28", "1", "1"]


@pytest.mark.sweep
def test_all_right_and_certain():
    labels = ["a", "b", "c"]
    observed = ["a", "b", "c"] * 5
    page = render(
        evaluate_classes(frame_of(observed, np.tile(np.eye(3), (5, 1)), labels), labels, resamples=40)
    )
    scores = scores_on(page)
    for name in (
        "Brier score (K classes)",
        "Log score (K classes)",
        "RPS, divided by K − 1",
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
    words = words_of(page.partition('<section id="glossary"')[0])  # definitions are those of all models
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
    }
    assert all("up to" not in text for text in list_images(page))


@pytest.mark.sweep
def test_one_model_without_draws_is_not_compared(nominal):
    page = render(nominal)
    names = [name for name, _, _ in list_contents(page)]
    assert not {"comparison", "groups", "time", "checkpoints", "certificate", "model", "scale"} & set(names)
    assert {"retention", "calibration"} <= set(names)
    assert "rank" not in find_table(read_tables(page), "Mean scores")[0]
    assert "No intervals or tests were requested" in words_of(page)


# ---- The command line ----

#: A report of one section, which is soon drawn.
SECTIONS = ("summary", "model", "data", "methods", "performance", "calibration", "discrimination")


SECTIONS += ("decomposition", "retention", "scale", "comparison", "limitations", "provenance", "sign-off")


ONLY_CHECKPOINTS = f'[report]\nprofile = "full"\nomit = {json.dumps([*SECTIONS, "checklist", "glossary"])}\n'


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


@pytest.mark.sweep
def test_score_prints_classes_of_columns_named_one_by_one(call):
    code, text, error = call(
        "score", "patients.csv", *OPTIONS, "--forecast", f"sure={COLUMNS}", "--forecast", "clinic"
    )
    assert (code, error) == (ExitCode.DONE, "")
    observed, p = arrays_of("bold")
    rps = ((p.cumsum(axis=1) - np.eye(4)[observed].cumsum(axis=1)) ** 2).sum(axis=1).mean() / 3
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
    assert (code, error.startswith("r.html written.\nr.json written.\nFindings\n")) == (ExitCode.DONE, True)
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


@pytest.mark.sweep
def test_the_document_of_an_evaluation_of_classes_is_enough(call, write, tmp_path, nominal):
    nominal.to_json(tmp_path / "evaluation.json")
    config = write("k.toml", "[limits]\naccuracy = 0.99\n")
    code, _, error = call("report", "--from", "evaluation.json", "--date", "2026-11-15", "-o", "r.json")
    assert (code, "written" in error) == (ExitCode.DONE, True)
    code, _, error = call("report", "--from", "evaluation.json", "--config", config, "-o", "r.json")
    assert (code, "- Accuracy of m: " in error) == (ExitCode.LIMIT_BREACHED, True)
    made = read_report(tmp_path / "r.json")
    assert made.evaluation.to_json() == nominal.to_json()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
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
def test_refusals_are_one_line_and_write_nothing(call, tmp_path, arguments, code, message):
    found, text, error = call("report", *arguments, "-o", "x.json")
    assert (found, text) == (code, "")
    assert re.match(f"scorereport: {message}", error), error
    assert error.count("\n") == 1
    assert not (tmp_path / "x.json").exists()


@pytest.mark.sweep
def test_the_ordinal_demonstration_is_printed_saved_and_reported(call, tmp_path, monkeypatch):
    """The pages themselves are not laid out: that takes long, and others of their kind are."""
    made = {}
    monkeypatch.setattr(party_identification, "SETTINGS", {"resamples": 20, "scale": True})
    for name in ("start", "complete"):
        monkeypatch.setattr(PendingCertificate, name, lambda *_: None)
    monkeypatch.setattr(
        "scorereport.report.report_output.write_pages",
        lambda report, paths: made.update({report: paths}) or paths,
    )
    code, text, error = call("demo", "--ordinal", "--save", "p.csv", "-o", "out")
    assert (code, error) == (ExitCode.DONE, "")
    saved = pd.read_csv(tmp_path / "p.csv")
    columns = [f"ordered_{label}" for label in party_identification.CLASSES]
    observed = np.array([party_identification.CLASSES.index(label) for label in saved["party"]])
    p = saved[columns].to_numpy()
    rps = ((p.cumsum(axis=1) - np.eye(7)[observed].cumsum(axis=1)) ** 2).sum(axis=1).mean() / 6
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert any(line.startswith(f"RPS, divided by K − 1 ordered {show(rps)} ") for line in lines)
    (report, paths) = next(iter(made.items()))
    assert [path.name for path in paths] == [f"demo-ordinal{ending}" for ending in (".pdf", ".html", ".json")]
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
