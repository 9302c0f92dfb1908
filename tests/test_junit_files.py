"""JUnit XML of verdicts, read back with junitparser: cases, results, properties, errors, exit codes."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from junitparser import Error, Failure, JUnitXml, Skipped
from junitparser.junitparser import SystemOut

import scorereport as sr
from scorereport.configuration.judgement import judge_limits
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.pipelines.junit import JunitFile
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_record import build_report

CONFIGURATION = """
[evaluation]
outcome = "y"
forecasts = ["good", "bold.v2 new"]
resamples = 0

[limits]
brier = {warn = 0.15, fail = 0.2}
prevalence = {min = 0.1, max = 0.9}
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Predictions with the Brier scores 0.16, a warning, and 0.36, a failure."""
    monkeypatch.chdir(tmp_path)
    y = np.array([0, 1] * 20)
    good, bold = np.where(y == 1, 0.6, 0.4), np.where(y == 1, 0.4, 0.6)
    pd.DataFrame({"y": y, "good": good, "bold.v2 new": bold}).to_csv("p.csv", index=False)
    (tmp_path / "c.toml").write_text(CONFIGURATION)
    return tmp_path


def read_suite(path="v.xml"):
    (suite,) = JUnitXml.fromfile(str(path))
    return suite


def read_results(suite):
    kinds = {Failure: "failure", Skipped: "skipped", Error: "error"}
    return {
        (case.classname, case.name): kinds[type(case.result[0])] if case.result else "pass" for case in suite
    }


@pytest.mark.usefixtures("files")
def test_each_limit_and_model_is_a_case(call):
    code, _, _ = call("score", "p.csv", "--config", "c.toml", "--quiet", "--junit", "v.xml")
    suite = read_suite()
    assert code == 1
    assert read_results(suite) == {
        ("scorereport.limits.good", "Brier score"): "skipped",
        ("scorereport.limits.bold_v2_new", "Brier score"): "failure",
        ("scorereport.limits.data", "Prevalence"): "pass",
    }
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (3, 1, 0, 1)
    assert suite.time > 0
    assert [case.time for case in suite] == [0, 0, 0]
    results = {case.name: case.result[0] for case in suite if case.classname.endswith("bold_v2_new")}
    failure = results["Brier score"]
    assert failure.type == "fail"
    assert failure.message.startswith("Brier score of bold.v2 new: 0.3600, judged without an interval")
    assert failure.text == failure.message


@pytest.mark.usefixtures("files")
def test_properties_and_output_let_verdicts_be_traced(call):
    call("score", "p.csv", "--config", "c.toml", "--quiet", "--junit", "v.xml")
    suite = read_suite()
    evaluation = sr.evaluate("p.csv", outcome="y", forecasts=["good", "bold.v2 new"], resamples=0)
    properties = {each.name.removeprefix("scorereport."): each.value for each in suite.properties()}
    assert properties["n"] == "40"
    assert properties["data_sha256"] == evaluation.data.sha256
    assert properties["results_sha256"] == evaluation.sha256
    assert properties["version"] == sr.__version__
    assert properties["verdict"] == "fail"
    assert properties["configuration"] == "c.toml"
    assert re.search(r"Brier score +good +0\.1600 +≤ 0\.2000 +≤ 0\.1500 +warn", suite.child(SystemOut).text)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", suite.timestamp)


def test_warnings_are_failures_in_strict_runs(files, call):
    config = files / "c.toml"
    config.write_text(CONFIGURATION.replace('["good", "bold.v2 new"]', '["good"]'))
    arguments = ("score", "p.csv", "--config", "c.toml", "--quiet", "--junit", "v.xml")
    assert call(*arguments)[0] == 0
    assert read_results(read_suite())["scorereport.limits.good", "Brier score"] == "skipped"
    assert call(*arguments, "--strict")[0] == 3
    assert read_results(read_suite())["scorereport.limits.good", "Brier score"] == "failure"


@pytest.mark.usefixtures("files")
def test_a_report_writes_the_file_also_if_a_limit_is_breached(call):
    code, _, _ = call("report", "p.csv", "--config", "c.toml", "-o", "r.json", "--quiet", "--junit", "v.xml")
    assert code == 1
    assert read_suite().failures == 1
    code, _, _ = call("report", "--from", "r.json", "-o", "again.json", "--quiet", "--junit", "again.xml")
    assert code == 1
    assert read_results(read_suite("again.xml")) == read_results(read_suite())


def test_an_error_replaces_the_file_of_an_earlier_run(files, call):
    arguments = ("score", "p.csv", "--config", "c.toml", "--quiet", "--junit", "v.xml")
    call(*arguments)
    (files / "p.csv").write_text("y,good,bold.v2 new\n0,7,0.5\n1,0.5,0.5\n")
    code, _, error = call(*arguments)
    assert code == 4
    suite = read_suite()
    assert read_results(suite) == {("scorereport.run", "Evaluation"): "error"}
    (case,) = suite
    assert case.result[0].message in error
    assert suite.errors == 1


@pytest.mark.parametrize("command", ["score", "report"])
def test_a_run_without_verdicts_is_refused_before_the_evaluation(files, call, command, monkeypatch):
    from scorereport.evaluation import dispatch

    monkeypatch.setattr(dispatch, "evaluate", None)
    output = ["-o", "r.json"] if command == "report" else []
    columns = ("--outcome", "y", "--forecast", "good")
    code, _, error = call(command, "p.csv", *columns, *output, "--junit", "v.xml")
    assert code == 2
    assert "--junit states verdicts, and this run has none. To fix:" in error
    assert not (files / "r.json").exists()


@pytest.mark.parametrize(
    ("path", "message"),
    [("p.csv", "must end in .xml"), ("no/v.xml", "does not exist"), ("folder.xml", "is a folder")],
)
def test_wrong_names_are_refused_and_files_are_kept(files, call, path, message):
    (files / "folder.xml").mkdir()
    before = (files / "p.csv").read_bytes()
    code, _, error = call("score", "p.csv", "--config", "c.toml", "--quiet", "--junit", path)
    assert code == 2
    assert message in error
    assert (files / "p.csv").read_bytes() == before


def make_report(name="model"):
    evaluation = sr.evaluate([0, 1] * 20, {name: [0.3, 0.7] * 20}, resamples=0)
    report = build_report(evaluation, trace_provenance())
    return replace(report, judgements=judge_limits(evaluation, {"brier": 0.05}))


@pytest.mark.parametrize("name", ["a\x00b", "a\x1b[31mb", "\ud800", "\uffff", "<&\"'>", "日本 模型"])
def test_every_name_gives_legal_xml(tmp_path, name):
    report = make_report()
    judgement = replace(report.judgements[0], model=name, group=name, sentence=f"{name}\n{name}")
    JunitFile(tmp_path / "v.xml").write(replace(report, judgements=(judgement,)), strict=False)
    content = (tmp_path / "v.xml").read_bytes()
    (case,) = read_suite(tmp_path / "v.xml")
    assert case.result[0].type == "fail"
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", content.decode())
    if "\x1b" in name:
        assert case.name == "Brier score where a\\x1b[31mb"
    if name.startswith(("<", "日")):
        assert case.name == f"Brier score where {name}"


def test_the_certificate_is_a_case_of_its_own(tmp_path):
    evaluation = sr.evaluate([0, 1] * 20, {"m": [0.3, 0.7] * 20}, resamples=0)
    found = sr.Certificate(
        verdict="not checked",
        sentence="Not checked: R is missing.",
        reference="",
        time="2026-01-01T00:00:00+00:00",
        rows=40,
        sha256=evaluation.data.sha256,
        results_sha256=evaluation.sha256,
        software={},
    )
    expected = {
        ("certified", False): "pass",
        ("failed", False): "failure",
        ("not checked", False): "skipped",
        ("not checked", True): "failure",
    }
    for (verdict, strict), result in expected.items():
        report = build_report(evaluation, trace_provenance(), certificate=replace(found, verdict=verdict))
        JunitFile(tmp_path / "v.xml").write(report, strict=strict)
        assert read_results(read_suite(tmp_path / "v.xml")) == {
            ("scorereport.certificate", "R certificate"): result
        }


def test_elements_have_the_order_of_the_schema(tmp_path):
    report = make_report()
    passed = replace(report.judgements[0], verdict=LimitVerdict.PASS, label="other")
    JunitFile(tmp_path / "v.xml").write(
        replace(report, judgements=(*report.judgements, passed)), strict=False
    )
    root = ET.parse(tmp_path / "v.xml").getroot()
    assert root.tag == "testsuites"
    (suite,) = root
    assert [part.tag for part in suite] == ["properties", "testcase", "testcase", "system-out"]
    assert {case.attrib.keys() <= {"classname", "name", "time"} for case in suite.iter("testcase")} == {True}
    assert root.attrib["tests"] == suite.attrib["tests"] == "2"


def test_other_users_may_read_the_file(tmp_path):
    JunitFile(tmp_path / "v.xml").write(make_report(), strict=False)
    plain = tmp_path / "plain"
    plain.write_text("")
    assert (tmp_path / "v.xml").stat().st_mode == plain.stat().st_mode


def test_without_a_path_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    JunitFile(None).write(make_report(), strict=False)
    with pytest.raises(ValueError, match="x"), JunitFile(None):
        raise ValueError("x")
    assert list(tmp_path.iterdir()) == []


def test_unexpected_errors_are_written_without_secrets(tmp_path):
    with pytest.raises(KeyError), JunitFile(tmp_path / "v.xml"):
        raise KeyError("postgresql://me:hunter2@host/db")
    (case,) = read_suite(tmp_path / "v.xml")
    assert case.result[0].type == "KeyError"
    assert "hunter2" not in (tmp_path / "v.xml").read_text()
