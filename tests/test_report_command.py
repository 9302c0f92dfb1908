"""The command `report`, what a notebook shows, and the configuration of the demonstration."""

from __future__ import annotations

import errno
import hashlib
import html
import json
import os
import re

import numpy as np
import pandas as pd
import pytest
from report_tools import TIME, list_contents, list_images, make_loans, read_attachments, read_pages, words_of

import scorereport as sr
from scorereport.configuration import SECTION_NAMES, read_configuration
from scorereport.errors import ExitCode
from scorereport.examples import doctor_visits
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report, read_report

BASE = ["--outcome", "default", "--forecast", "logit"]
QUICK = [*BASE, "--resamples", "0", "--quiet"]
DATE = ["--date", "2026-11-15"]
#: The Brier score of logit in these rows is 0.187, its log score 0.554. Without intervals, no verdict is
#: inconclusive.
PASS = "[limits]\nbrier = {warn = 0.2, fail = 0.3}\n"
WARN = "[limits]\nbrier = {warn = 0.1, fail = 0.3}\n"
FAIL = "[limits]\nbrier = {warn = 0.1, fail = 0.15}\n"
#: A report of one section, which is quick to render.
ONLY_MODEL = (
    f"[report]\nomit = {json.dumps([name for name in SECTION_NAMES if name != 'model'])}\n"
    '[model]\nname = "Retail <default>"\nowner = "Retail Credit Risk"\n'
)


@pytest.fixture
def call(call, monkeypatch, tmp_path):
    """Call the command in a folder of its own: exit code and standard error."""
    make_loans().to_csv(tmp_path / "loans.csv", index=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)

    def call_report(*arguments):
        code, out, error = call("report", *arguments)
        assert out == ""
        return code, error

    return call_report


@pytest.fixture
def write(tmp_path):
    """Write a file into the folder of the command."""

    def write(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return name

    return write


def read(path):
    return json.loads(path.read_bytes())


# ---- Verdicts and exit codes ----


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize(
    ("limits", "options", "code", "counts"),
    [
        (PASS, [], ExitCode.DONE, "1 pass"),
        (PASS, ["--strict"], ExitCode.DONE, "1 pass"),
        (WARN, [], ExitCode.DONE, "1 warn"),
        (WARN, ["--strict"], ExitCode.WARNINGS, "1 warn"),
        (FAIL, [], ExitCode.LIMIT_BREACHED, "1 fail"),
        (FAIL, ["--strict"], ExitCode.LIMIT_BREACHED, "1 fail"),
    ],
    ids=["pass", "pass strict", "warn", "warn strict", "fail", "fail strict"],
)
def test_the_exit_code_follows_the_limits(call, write, tmp_path, limits, options, code, counts):
    found, error = call(
        "loans.csv", *QUICK, "--config", write("report.toml", limits), "-o", "r.json", *options
    )
    assert found == code
    assert counts in error
    assert "r.json written." in error
    (judgement,) = read(tmp_path / "r.json")["judgements"]
    assert judgement["value"] == pytest.approx(0.18692821565604656)


@pytest.mark.sweep
def test_an_inconclusive_verdict_is_a_warning_with_strict(call, write, tmp_path):
    limits = write("report.toml", "[limits]\nbrier = 0.187\n[evaluation]\nresamples = 40\n")
    arguments = ["loans.csv", *BASE, "--quiet", "--config", limits, "-o", "r.json"]
    assert call(*arguments)[0] == ExitCode.DONE
    assert call(*arguments, "--strict")[0] == ExitCode.WARNINGS
    (judgement,) = read(tmp_path / "r.json")["judgements"]
    assert judgement["lower"] < 0.187 < judgement["upper"]
    assert judgement["verdict"] == "inconclusive"


# ---- What is refused ----


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["loans.csv", "--forecast", "logit"], r"Missing option '?--outcome'?\.$"),
        (["loans.csv", "--outcome", "default"], r"Missing option '?--forecast'?\.$"),
        (BASE, r"Missing argument '?FILE'?\.$"),
        (["loans.csv", "--from", "r.json"], r"Give either FILE with its options, or --from: "),
        (["--from", "r.json", "--group", "site"], r"Give either FILE with its options, or --from: "),
        (["--from", "r.json", "--certify"], r"Give either FILE with its options, or --from: "),
        (["loans.csv", *QUICK, "-o", "none/r.json"], r"The folder none does not exist\. To fix: "),
        (["loans.csv", *QUICK, "-o", "r.docx"], r"must end in \.pdf, .*\.md, .* or \.json; got 'r\.docx'\.$"),
        (
            ["loans.csv", *QUICK, "-o", "r.json", "-o", "r"],
            r"must end in \.pdf, .*\.md, .* or \.json; got 'r'\.$",
        ),
        (["loans.csv", *QUICK, "-o", "r.json", "--sign", "key.p12"], r"Only a PDF can be signed"),
        (
            ["loans.csv", *QUICK, "--date", "tomorrow"],
            r"must be a date such as 2026-11-15; got 'tomorrow'\.$",
        ),
        (["loans.csv", *QUICK, "--date", "2026-13-01"], r"must be a date .* got '2026-13-01'\.$"),
        (["loans.csv", *QUICK, "--config", "none.toml"], r"There is no configuration 'none\.toml'\.$"),
        (
            ["loans.csv", *QUICK, "-o", "r.html", "--templates", "none"],
            r"template folder none does not exist\.$",
        ),
    ],
    ids=lambda value: " ".join(value)[-30:] if isinstance(value, list) else "",
)
def test_wrong_options_are_refused_before_evaluating(call, tmp_path, monkeypatch, arguments, message):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", None)
    before = sorted(tmp_path.iterdir())
    code, error = call(*arguments)
    assert code == ExitCode.USAGE
    assert re.search(message, error.strip())
    assert error.startswith("scorereport: ")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[limits]\nbrierr = 0.2\n", "`limits.brierr`"),
        ('[limits]\nbrier = "low"\n', "`limits.brier`"),
        ("[model]\nowner = 3\n", "`model.owner`"),
        ('[limits]\nmodels = ["boost"]\nbrier = 0.2\n', "`limits.models`"),
        ("[limits]\nbounded_brier = 0.2\n", "`limits.bounded_brier`"),
        ('[report]\nomit = ["cover"]\n', "`report.omit"),
    ],
    ids=["unknown", "text", "number", "other model", "costs", "cover"],
)
def test_a_wrong_configuration_is_refused_by_its_key(call, write, tmp_path, text, key):
    write("r.json", "old")
    code, error = call("loans.csv", *QUICK, "--config", write("bad.toml", text), "-o", "r.json")
    assert code == ExitCode.USAGE
    assert "bad.toml" in error
    assert key in error
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == "old"


# ---- Outputs, dates and provenance ----


@pytest.mark.sweep
def test_several_forms_in_one_run(call, write, tmp_path):
    config = write("report.toml", ONLY_MODEL)
    code, error = call(
        "loans.csv", *QUICK, *DATE, "--config", config, "-o", "a.pdf", "-o", "b.html", "-o", "c.json"
    )
    assert code == 0
    assert error.startswith("b.html written.\nc.json written.\na.pdf written.\nFindings\n")
    results = (tmp_path / "c.json").read_bytes()
    assert read_attachments((tmp_path / "a.pdf").read_bytes())["results.json"] == results
    page = (tmp_path / "b.html").read_text(encoding="utf-8")
    assert "Retail &lt;default&gt;" in page
    assert [title for _, _, title in list_contents(page)] == ["Model"]


def test_the_command_is_recorded_without_output_options(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    kept = ["loans.csv", *BASE, "--resamples", "0", "--seed=5"]
    call(*kept, "-o", "a.json", "--date", "2026-11-15", "--quiet", "--strict")
    call(*kept[:1], "--quiet", "--output=b.json", "--date=2026-11-15", *kept[1:])
    call(*kept, "-oc.json", *DATE)
    first, second, third = (tmp_path / name for name in ("a.json", "b.json", "c.json"))
    assert read(first)["provenance"]["command"] == (
        "scorereport report loans.csv --outcome default --forecast logit --resamples 0 --seed=5"
    )
    assert first.read_bytes() == second.read_bytes() == third.read_bytes()


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("epoch", "date", "expected"),
    [
        ("1000000000", [], "2001-09-09T01:46:40+00:00"),
        ("1000000000", DATE, "2026-11-15T00:00:00+00:00"),
        (None, ["--date", "2026-11-15T08:00:00+01:00"], "2026-11-15T07:00:00+00:00"),
    ],
    ids=["epoch", "both", "zone"],
)
def test_the_date_is_the_given_one(call, tmp_path, monkeypatch, epoch, date, expected):
    if epoch is not None:
        monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert call("loans.csv", *QUICK, *date, "-o", "r.json")[0] == 0
    assert read(tmp_path / "r.json")["provenance"]["time"] == expected


def test_an_existing_report_is_replaced_only_if_it_is_named(call, tmp_path):
    (tmp_path / "report.pdf").write_bytes(b"of last month")
    code, error = call("loans.csv", *QUICK)
    assert (code, error) == (
        ExitCode.USAGE,
        "scorereport: report.pdf exists already. To fix: name the file to write with -o; -o report.pdf "
        "replaces this one.\n",
    )
    assert (tmp_path / "report.pdf").read_bytes() == b"of last month"
    (tmp_path / "r.json").write_bytes(b"{}")
    assert call("loans.csv", *QUICK, "-o", "r.json")[0] == ExitCode.DONE
    assert (tmp_path / "r.json").stat().st_size > 1000


def test_options_override_the_configuration(call, write, tmp_path):
    config = write(
        "report.toml",
        '[evaluation]\nseed = 5\nresamples = 0\ngroups = ["site"]\ncost_interval = [0.1, 0.2]\n',
    )
    arguments = ["loans.csv", *BASE, "--quiet", "--config", config, "-o", "r.json"]
    assert call(*arguments)[0] == 0
    found = read(tmp_path / "r.json")["evaluation"]
    assert (found["settings"]["seed"], found["settings"]["cost_interval"]) == (5, [0.1, 0.2])
    assert {group["column"] for group in found["groups"]} == {"site"}
    assert call(*arguments, "--seed", 9, "--group", "rating", "--cost-interval", 0.3, 0.4)[0] == 0
    found = read(tmp_path / "r.json")["evaluation"]
    assert (found["settings"]["seed"], found["settings"]["cost_interval"]) == (9, [0.3, 0.4])
    assert {group["column"] for group in found["groups"]} == {"rating"}


# ---- Models of several classes ----

#: Everything a run needs but the file.
ORDINAL = """
[evaluation]
outcome = "grade"
classes = ["low", "mid", "high"]
ordered = true
forecasts = { model = ["p0", "p1", "p2"] }
resamples = 0
cost_matrix = [[0, 1, 4], [1, 0, 1], [10, 2, 0]]
retention_fractions = [0, 0.25, 0.5]
"""


@pytest.fixture
def grades(tmp_path):
    """Predictions of three classes in the folder of the command."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 60)
    observed = [("low", "mid", "high")[rng.choice(3, p=row)] for row in p]
    frame = pd.DataFrame({"grade": observed, "p0": p[:, 0], "p1": p[:, 1], "p2": p[:, 2]})
    frame = frame.assign(m_low=p[:, 0], m_mid=p[:, 1], m_high=p[:, 2], site=rng.choice(["A", "B"], 60))
    frame.to_csv(tmp_path / "grades.csv", index=False)


@pytest.mark.usefixtures("grades")
def test_a_configuration_is_enough_for_classes(call, write, tmp_path):
    limits = (
        "[limits]\nrps = {warn = 0.1, fail = 0.9}\nrps_skill = -5\nexpected_cost = 0.001\nmacro_f1 = 0.1\n"
    )
    config = write("ordinal.toml", ORDINAL + limits)
    code, error = call("grades.csv", "--config", config, "--quiet", *DATE, "-o", "r.json")
    assert code == ExitCode.LIMIT_BREACHED
    assert "Limits: 2 pass ✓, 1 warn !, 1 fail ✗" in error
    assert "- Expected cost of model: " in error
    found = read(tmp_path / "r.json")
    expected = sr.evaluate(
        "grades.csv",
        outcome="grade",
        classes=["low", "mid", "high"],
        ordered=True,
        forecasts={"model": ["p0", "p1", "p2"]},
        resamples=0,
        cost_matrix=[[0, 1, 4], [1, 0, 1], [10, 2, 0]],
        retention_fractions=[0, 0.25, 0.5],
    )
    assert found["evaluation"] == json.loads(expected.to_json())
    assert found["overridden"] == []
    judged = {judgement["measure"]: judgement["value"] for judgement in found["judgements"]}
    assert judged["rps"] == expected.scores.loc["model", "rps"]


def test_a_configuration_is_enough_for_binary_models(call, write, tmp_path):
    config = write("r.toml", '[evaluation]\noutcome = "default"\nforecasts = ["logit"]\nresamples = 0\n')
    assert call("loans.csv", "--config", config, "--quiet", "-o", "r.json")[0] == 0
    found = read(tmp_path / "r.json")["evaluation"]
    assert [model["model"] for model in found["models"]] == ["logit"]
    code, _ = call("loans.csv", "--config", config, "--forecast", "steep", "--quiet", "-o", "r.json")
    assert code == 0
    assert [m["model"] for m in read(tmp_path / "r.json")["evaluation"]["models"]] == ["steep"]


@pytest.mark.sweep
@pytest.mark.usefixtures("grades")
def test_a_page_on_classes_shows_the_verdicts(call, write, tmp_path):
    omit = json.dumps([name for name in SECTION_NAMES if name != "summary"])
    text = f"[report]\nomit = {omit}\n{ORDINAL}[limits]\nmacro_f1 = 0.99\nrps = 0.9\n"
    code, error = call(
        "grades.csv", "--config", write("k.toml", text), *DATE, "--quiet", "-o", "r.html", "-o", "r.json"
    )
    assert code == ExitCode.LIMIT_BREACHED
    page = words_of((tmp_path / "r.html").read_text(encoding="utf-8"))
    failed, passed = sorted(read(tmp_path / "r.json")["judgements"], key=lambda j: j["verdict"])
    assert (failed["verdict"], passed["verdict"]) == ("fail", "pass")
    assert failed["sentence"] in error
    for judgement in (failed, passed):
        assert judgement["label"] in page
        assert f"{judgement['value']:.4f}" in page


@pytest.mark.usefixtures("grades")
def test_options_of_classes_override_the_configuration(call, write, tmp_path):
    write("costs.csv", "0,1,1\n1,0,1\n1,1,0\n")
    arguments = ["grades.csv", "--config", write("ordinal.toml", ORDINAL), "--quiet", "-o", "r.json"]
    options = ["--forecast", "m", "--unordered", "--cost-matrix", "costs.csv", "--scale-bins", "4"]
    assert call(*arguments, *options)[0] == 0
    found = read(tmp_path / "r.json")["evaluation"]
    assert [model["model"] for model in found["class_models"]] == ["m"]
    assert found["data"]["classes"]["ordered"] is False
    assert found["settings"]["cost_matrix"] == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert found["settings"]["scale_bins"] == 4
    assert found["settings"]["retention_fractions"] == [0, 0.25, 0.5]


@pytest.mark.sweep(after=3)
@pytest.mark.usefixtures("grades")
@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (
            ORDINAL + "[limits]\nbrier = 0.2\n",
            [],
            "k.toml: `limits.brier` is for binary models, and these have several classes: "
            "did you mean `limits.multiclass_brier`?",
        ),
        (
            ORDINAL + "[limits]\nrps = 0.2\n",
            ["--unordered"],
            "k.toml: `limits.rps` needs ordered classes: if they are, set `evaluation.ordered` to true, "
            "or give --ordered; otherwise remove the limit.",
        ),
        (
            "[limits]\nrps = 0.2\n",
            ["--outcome", "grade", "--forecast", "m", "--classes", "low,mid,high"],
            "k.toml: `limits.rps` needs ordered classes: if they are, set `evaluation.ordered` to true, "
            "or give --ordered; otherwise remove the limit.",
        ),
        (
            "[limits]\naccuracy = 0.2\n",
            ["--outcome", "grade", "--forecast", "m"],
            "k.toml: `limits.accuracy` is for models of several classes, and `evaluation.classes` names "
            "none: set `limits.misclassification`, which is 1 minus this, or remove the limit.",
        ),
        (
            ORDINAL + "[limits]\nmodels = ['modle']\nrps = 0.2\n",
            [],
            "k.toml: `limits.models` names a model that is not evaluated: 'modle'; did you mean `model`?",
        ),
        (
            ORDINAL + "[limits]\ngroups = true\nrps = 0.2\n",
            [],
            "k.toml: `limits.groups` is true, but the evaluation has no groups: name columns in "
            "`evaluation.groups`, or set `limits.groups` to false.",
        ),
        (
            ORDINAL.replace('outcome = "grade"', ""),
            [],
            "Missing option '--outcome'.",
        ),
        (
            ORDINAL.replace('"p2"', '"p1", "p2"'),
            [],
            "k.toml: `evaluation.forecasts` must name a column for each of the 3 classes; got 4 for model.",
        ),
    ],
    ids=["binary", "unordered", "option", "no classes", "other model", "groups", "outcome", "columns"],
)
def test_keys_that_do_not_fit_classes_are_refused(call, write, monkeypatch, text, options, message):
    monkeypatch.setattr("scorereport.evaluation.dispatch.evaluate", None)
    code, error = call("grades.csv", "--config", write("k.toml", text), *options, "-o", "r.json")
    assert (code, error) == (ExitCode.USAGE, f"scorereport: {message}\n")


@pytest.mark.sweep
@pytest.mark.usefixtures("grades")
def test_results_of_classes_are_judged_again(call, write):
    call("grades.csv", "--config", write("a.toml", ORDINAL), "--quiet", *DATE, "-o", "a.json")
    again = write("b.toml", f"{ORDINAL}[limits]\nrps = 0.001\n")
    code, error = call("--from", "a.json", "--config", again, "-o", "b.json")
    assert (code, "- Ranked probability score of model: " in error) == (ExitCode.LIMIT_BREACHED, True)
    other = write("c.toml", ORDINAL.replace('"low", "mid", "high"', '"high", "mid", "low"'))
    code, error = call("--from", "a.json", "--config", other, "-o", "b.json")
    assert code == ExitCode.USAGE
    assert (
        "c.toml: `evaluation.classes` is ['high', 'mid', 'low'], and the evaluation was made with " in error
    )


# ---- Rendering again ----


def test_results_are_rendered_again_without_the_data(call, write, tmp_path):
    config = write("report.toml", ONLY_MODEL)
    call("loans.csv", *QUICK, *DATE, "--config", config, "-o", "a.pdf", "-o", "a.html", "-o", "a.json")
    (tmp_path / "loans.csv").unlink()
    (tmp_path / "report.toml").unlink()
    code, error = call("--from", "a.json", "-o", "b.pdf", "-o", "b.html", "-o", "b.json", "--quiet")
    assert code == 0
    assert "templates" not in error
    for ending in ("pdf", "html", "json"):
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


@pytest.mark.sweep
def test_the_date_of_results_cannot_be_changed(call, tmp_path):
    call("loans.csv", *QUICK, *DATE, "-o", "a.json")
    code, error = call("--from", "a.json", "--date", "2020-01-01", "-o", "b.json")
    assert code == ExitCode.USAGE
    assert "These results have the date 2026-11-15T00:00:00+00:00, which --date cannot change." in error
    assert not (tmp_path / "b.json").exists()
    assert call("--from", "a.json", *DATE, "-o", "b.json")[0] == 0
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_results_can_get_other_texts_and_limits(call, write, tmp_path):
    call("loans.csv", *QUICK, *DATE, "--config", write("a.toml", PASS), "-o", "a.json")
    code, _ = call("--from", "a.json", "--config", write("b.toml", FAIL), "-o", "b.json")
    assert code == ExitCode.LIMIT_BREACHED
    first, second = read(tmp_path / "a.json"), read(tmp_path / "b.json")
    assert first["evaluation"] == second["evaluation"]
    assert [j["verdict"] for j in second["judgements"]] == ["fail"]
    assert second["configuration_source"] == {"name": "b.toml", "text": FAIL}
    assert first["origin"] is None
    assert second["origin"] == first["provenance"]  # the new limits are not those of the first run
    assert "--from a.json" in second["provenance"]["command"]


@pytest.mark.sweep
def test_options_that_override_the_configuration_are_named(call, write, tmp_path):
    config = write("report.toml", "[evaluation]\nlevel = 0.95\nseed = 3\n")
    code, _ = call(
        "loans.csv", *QUICK, *DATE, "--config", config, "--level", "0.9", "-o", "r.json", "-o", "r.html"
    )
    assert code == 0
    found = read(tmp_path / "r.json")
    assert found["overridden"] == ["level"]
    assert (found["evaluation"]["settings"]["level"], found["evaluation"]["settings"]["seed"]) == (0.9, 3)
    text = words_of((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "Options that override it level" in text
    again = call("--from", "r.json", "--config", config, "-o", "again.json")
    assert (again[0], read(tmp_path / "again.json")["overridden"]) == (0, ["level"])


def test_numbers_changed_by_hand_are_refused_without_any_limit(call, tmp_path):
    call("loans.csv", *QUICK, "-o", "r.json")
    found = read(tmp_path / "r.json")
    found["evaluation"]["models"][0]["scores"]["scores"][0]["value"] = 0.05
    (tmp_path / "changed.json").write_text(json.dumps(found), encoding="utf-8")
    code, error = call("--from", "changed.json", "-o", "x.json")
    assert code == ExitCode.DATA_REFUSED
    assert (
        error
        == "scorereport: changed.json contradicts itself: the hash it records is not that of its results.\n"
    )
    found["evaluation"]["software"]["scorereport"] = "0.1.0"
    (tmp_path / "old.json").write_text(json.dumps(found), encoding="utf-8")
    code, error = call("--from", "old.json", "-o", "x.json")
    assert code == ExitCode.DATA_REFUSED
    assert error == (
        f"scorereport: old.json was written by scorereport 0.1.0, and version {sr.__version__} cannot "
        "confirm its numbers. To fix: render it with version 0.1.0, or evaluate the data again.\n"
    )


@pytest.mark.parametrize("markup", ["<script>1</script>", '<img alt="x" src="http://localhost:9/x.png">'])
def test_a_page_that_runs_or_fetches_is_not_written(call, write, tmp_path, markup):
    write("own/sections/model.html", markup)
    config = write("report.toml", ONLY_MODEL)
    code, error = call("loans.csv", *QUICK, "--config", config, "--templates", "own", "-o", "r.html")
    assert code == ExitCode.USAGE
    assert "A report must contain everything that it shows" in error
    assert not (tmp_path / "r.html").exists()


def test_the_document_of_an_evaluation_can_be_rendered(call, write, tmp_path):
    evaluation = sr.evaluate(make_loans(), outcome="default", forecasts=["logit"], resamples=0)
    (tmp_path / "evaluation.json").write_text(evaluation.to_json(), encoding="utf-8")
    for options in ([], ["--config", write("report.toml", PASS)]):
        code, error = call("--from", "evaluation.json", *options, *DATE, "-o", "r.json")
        assert (code, "1 pass" in error) == (0, bool(options))
        found = read_report(tmp_path / "r.json")
        assert found.evaluation.sha256 == evaluation.sha256
        assert found.provenance.time == "2026-11-15T00:00:00+00:00"


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("change", ["verdict", "number", "limit", "certificate"])
def test_results_that_were_changed_by_hand_are_refused(call, write, tmp_path, change):
    call("loans.csv", *QUICK, "--config", write("report.toml", WARN), "-o", "r.json")
    found = read(tmp_path / "r.json")
    if change == "verdict":
        found["judgements"][0]["verdict"] = "pass"
    elif change == "number":
        found["evaluation"]["models"][0]["scores"]["scores"][0]["value"] = 0.05
    elif change == "limit":
        found["configuration_source"]["text"] = PASS
    else:
        valid = {"verdict": "certified", "sentence": "Certified.", "time": TIME, "rows": 320}
        found["certificate"] = {
            **valid,
            "sha256": "",
            "reference": "R",
            "software": {},
            "results_sha256": "ab",
        }
    write("changed.json", json.dumps(found))
    code, error = call("--from", "changed.json", "-o", "again.json")
    assert code == ExitCode.DATA_REFUSED
    assert "changed.json contradicts itself: " in error
    assert not (tmp_path / "again.json").exists()


# ---- Templates ----


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("template", "expected", "absent"),
    [
        ("<p>Only {{ section.facts[0].text }} and {{ 6 * 7 }}</p>", "Only Retail <default> and 42", "Owner"),
        (
            '{% extends "scorereport/sections/model.html" %}'
            "{% block introduction %}<p>Ours first.</p>{% endblock %}",
            "1 Model Ours first. Model Retail <default> Owner Retail Credit Risk",
            "Only",
        ),
    ],
    ids=["replaced", "extended"],
)
def test_a_section_can_have_a_template_of_its_own(call, write, tmp_path, template, expected, absent):
    config = write("report.toml", ONLY_MODEL)
    call("loans.csv", *QUICK, *DATE, "--config", config, "-o", "a.html", "-o", "a.json")
    write("own/sections/model.html", template)
    code, _ = call(
        "loans.csv", *QUICK, *DATE, "--config", config, "--templates", "own", "-o", "b.html", "-o", "b.json"
    )
    assert code == 0
    text = words_of((tmp_path / "b.html").read_text(encoding="utf-8"))
    assert expected in text
    assert absent not in text
    hashes = [read(tmp_path / name)["provenance"]["templates_sha256"] for name in ("a.json", "b.json")]
    assert hashes[0] != hashes[1]
    code, error = call("--from", "b.json", "-o", "c.html")
    assert (code, "The templates differ from those of the results" in error) == (0, True)


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("<p>\n{{ nothing }}</p>", r"Line 2 of the template \S*model\.html fails: UndefinedError: 'nothing'"),
        ("{{ ''.__class__.__mro__ }}", r"Line 1 of the template \S*model\.html fails: SecurityError"),
        ("\n{{ section.__init__.__globals__ }}", r"Line 2 of the template \S*model\.html fails: "),
        ("{% include '/etc/passwd' %}", r"there is no template '/etc/passwd'"),
        ("{% if %}", r"Line 1 of the template \S*model\.html fails: TemplateSyntaxError"),
    ],
    ids=["undefined", "class", "globals", "file", "syntax"],
)
def test_a_template_that_fails_leaves_the_old_report(call, write, tmp_path, template, message):
    config = write("report.toml", ONLY_MODEL)
    write("own/sections/model.html", template)
    write("r.html", "old")
    write("r.json", "old too")
    before = sorted(tmp_path.iterdir())
    code, error = call(
        "loans.csv", *QUICK, "--config", config, "--templates", "own", "-o", "r.json", "-o", "r.html"
    )
    assert code == ExitCode.USAGE
    assert re.search(message, error)
    assert "root:" not in error
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == "old"
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == "old too"
    assert sorted(tmp_path.iterdir()) == before


def test_a_full_disk_leaves_the_old_report(call, write, tmp_path, monkeypatch):
    def fail(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write("r.json", "old")
    before = sorted(tmp_path.iterdir())
    monkeypatch.setattr(os, "fsync", fail)
    code, error = call("loans.csv", *QUICK, "-o", "r.json")
    assert code == ExitCode.USAGE
    assert "No space left on device" in error
    assert (tmp_path / "r.json").read_text(encoding="utf-8") == "old"
    assert sorted(tmp_path.iterdir()) == before


# ---- Signatures ----


@pytest.mark.sweep
def test_a_signed_report_names_the_unsigned_one(call, write, tmp_path, monkeypatch):
    pytest.importorskip("pyhanko.sign", reason='Signatures need pip install "scorereport[sign]".')
    from cryptography.hazmat.primitives.asymmetric import rsa
    from test_signatures import PASSWORD, make_certificate, write_archive

    from scorereport.report.signatures import unsigned_sha256

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    write_archive(tmp_path / "key.p12", key, make_certificate(key))
    arguments = ["loans.csv", *QUICK, *DATE, "--config", write("report.toml", ONLY_MODEL)]
    assert call(*arguments, "-o", "a.pdf", "-o", "a.json")[0] == 0
    monkeypatch.setenv("SCOREREPORT_SIGN_PASSWORD", "wrong")
    code, error = call(*arguments, "--sign", "key.p12", "-o", "b.pdf")
    assert (code, "password" in error) == (ExitCode.USAGE, True)
    assert not (tmp_path / "b.pdf").exists()
    monkeypatch.setenv("SCOREREPORT_SIGN_PASSWORD", PASSWORD)
    code, printed = call(*arguments, "--sign", "key.p12", "-o", "b.pdf", "-o", "b.json")
    assert code == 0
    unsigned, signed = ((tmp_path / name).read_bytes() for name in ("a.pdf", "b.pdf"))
    assert signed.startswith(unsigned)
    recorded = hashlib.sha256(unsigned).hexdigest()
    assert unsigned_sha256(signed) == recorded
    assert f"b.pdf written. SHA-256 before it was signed: {recorded}." in printed
    assert "--sign" not in read(tmp_path / "b.json")["provenance"]["command"]
    assert read_pages(signed) == read_pages(unsigned)


# ---- Notebooks, Python and the demonstration ----


def test_a_notebook_shows_tables_and_a_diagram():
    name = "<script>alert(1)</script> {{ 7*7 }}"
    frame = make_loans().rename(columns={"logit": name})
    evaluation = sr.evaluate(frame, outcome="default", forecasts=[name, "steep"], resamples=0)
    shown = evaluation._repr_html_()
    assert shown.count("<table") == shown.count("</table>") == 2
    assert "<script" not in shown
    assert html.escape(name, quote=False) in shown
    assert not re.search(r"<(html|head|body|link)\b|https?:", shown)
    (text,) = list_images(shown)
    assert name in text
    for model in evaluation.models:
        part = model.scores.decompositions[0]
        assert f"{part.miscalibration:.4f}"[:5] in text
        assert f"{part.score:.4f} " in words_of(shown)


def test_python_writes_what_the_command_writes(call, write, tmp_path):
    config = write("report.toml", PASS)
    call("loans.csv", *QUICK, *DATE, "--config", config, "-o", "a.json")
    evaluation = sr.evaluate("loans.csv", outcome="default", forecasts=["logit"], resamples=0)
    path = sr.write_report(evaluation, "b.json", config="report.toml", date="2026-11-15")
    first, second = read(tmp_path / "a.json"), read(path)
    assert first["provenance"].pop("command").startswith("scorereport report loans.csv")
    assert second["provenance"].pop("command") == ""
    assert first == second


@pytest.mark.sweep
def test_the_configuration_of_the_demonstration_fits():
    configuration = read_configuration(doctor_visits.CONFIGURATION)
    rows = make_loans().rename(
        columns={"default": doctor_visits.OUTCOME, "site": doctor_visits.GROUP, "steep": "poisson"}
    )
    rows["overconfident"] = rows["poisson"]
    evaluation = sr.evaluate(
        rows,
        outcome=doctor_visits.OUTCOME,
        forecasts=doctor_visits.FORECASTS,
        groups=doctor_visits.GROUP,
        **doctor_visits.SETTINGS,
        resamples=20,
    )
    report = build_report(evaluation, Provenance(time=TIME), configuration=configuration)
    assert set(configuration.model.descriptions) == set(doctor_visits.FORECASTS)
    assert configuration.evaluation.given["groups"] == (doctor_visits.GROUP,)
    assert {judgement.measure for judgement in report.judgements} == {
        "brier",
        "brier_miscalibration",
        "roc_auc",
        "calibration_slope",
    }
    assert len(report.judgements) == 12
    assert [checklist.name for checklist in report.checklists] == []
