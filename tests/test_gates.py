"""Gates: assertions on limits and calibration, in scripts, and as fixtures of the plugin of pytest."""

from __future__ import annotations

import subprocess
import sys
from functools import cache

import numpy as np
import pandas as pd
import pytest
from junitparser import JUnitXml, Properties

import scorereport as sr
from scorereport.inference.estimates import HypothesisTest
from scorereport.report.calibration_decision import decide_calibration
from scorereport.report.verdict_text import align_columns, format_judgements
from scorereport.testing import assert_calibrated, assert_meets

pytest_plugins = ["pytester"]
PLUGIN = "scorereport"  # the name of the entry point, which pytest loads by itself as well


def make_table(n=400):
    """A calibrated model, and one that is far too extreme; no draw decides which is which."""
    p = np.linspace(0.05, 0.95, n)
    y = ((np.arange(n) * 0.61803398875) % 1 < p).astype(int)
    return pd.DataFrame({"y": y, "good": p, "bold": np.where(p < 0.5, 0.01, 0.99)})


@cache
def evaluation():
    return sr.evaluate(make_table(), outcome="y", forecasts=["good", "bold"], resamples=200)


# ---- Limits ----


def test_verdicts_are_returned_if_all_limits_are_met():
    verdicts = assert_meets(evaluation(), {"brier": 0.5, "roc_auc": 0.5})
    pd.testing.assert_frame_equal(verdicts, evaluation().verdicts({"brier": 0.5, "roc_auc": 0.5}))
    assert set(verdicts["verdict"]) == {"pass"}


def test_the_message_has_the_table_and_a_sentence_for_each_breach():
    limits = {"calibration_slope": {"min": 0.7, "max": 1.4}, "brier": {"warn": 0.01, "fail": 0.9}}
    with pytest.raises(AssertionError) as caught:
        assert_meets(evaluation(), limits)
    title, table, sentences = str(caught.value).split("\n\n")
    assert title == "Limits: 1 fail, 2 warn, 1 pass."
    heads, *rows = table.splitlines()
    assert heads.split() == ["measure", "model", "value", "interval", "limit", "warning", "limit", "verdict"]
    assert len(rows) == 4
    starts = {row.index(row.split()[-1]) for row in (heads, *rows)}
    assert starts == {heads.index("verdict")}, "columns are aligned"
    assert [line.partition(".")[0] for line in sentences.splitlines()] == ["Fail", "Warn", "Warn"]
    assert sentences.startswith("Fail. Calibration slope of bold: ")


@pytest.mark.parametrize(
    ("limits", "verdict"),
    [
        ({"brier": {"warn": 0.01, "fail": 0.9}}, "warn"),
        ({"roc_auc": 0.89, "models": ["bold"]}, "inconclusive"),
    ],
)
def test_warnings_and_inconclusive_verdicts_count_only_if_strict(limits, verdict):
    if verdict == "inconclusive":
        area = evaluation().scores.loc["bold", "roc_auc"]
        limits = {**limits, "roc_auc": float(area)}  # inside its own interval
    assert set(assert_meets(evaluation(), limits)["verdict"]) == {verdict}
    with pytest.raises(AssertionError, match=verdict):
        assert_meets(evaluation(), limits, strict=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"forecasts": {"good": make_table()["good"]}, "data": make_table()["y"]},
        {"forecasts": make_table()["good"].to_numpy(), "data": make_table()["y"].tolist()},
        {"forecasts": ["good"], "data": make_table(), "outcome": "y"},
    ],
)
def test_data_are_taken_as_evaluate_takes_them(arguments):
    verdicts = assert_meets(limits={"brier": 0.5}, resamples=0, **arguments)
    expected = evaluation().scores.loc["good", "brier"]
    assert verdicts["value"].item() == pytest.approx(expected, rel=1e-12)


def test_a_configuration_evaluates_data(tmp_path):
    make_table().to_csv(tmp_path / "p.csv", index=False)
    config = tmp_path / "c.toml"
    config.write_text(
        '[evaluation]\noutcome = "y"\nforecasts = ["good", "bold"]\nresamples = 0\n[limits]\nbrier = 0.5\n'
    )
    assert list(assert_meets(tmp_path / "p.csv", config)["model"]) == ["good", "bold"]
    assert list(assert_meets(tmp_path / "p.csv", config, forecasts=["good"])["model"]) == ["good"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assert_meets(evaluation(), {"brierr": 0.2}), "did you mean `brier`"),
        (lambda: assert_meets(evaluation(), {"rps": 0.2}), "is for models of several classes"),
        (lambda: assert_meets(evaluation(), {}), "has no limits, so that every model would pass"),
        (lambda: assert_meets(evaluation(), {"groups": True}), "has no limits"),
        (lambda: assert_meets(evaluation(), {"brier": 0.2}, level=0.9), "already; got level as well"),
        (lambda: assert_meets(make_table()["y"], make_table()["good"]), "must be a dictionary"),
        (lambda: assert_calibrated(evaluation(), alpha=5), "`alpha` must lie"),
        (
            lambda: assert_calibrated([0, 1] * 20, {"a": [0.5] * 40}, resamples=0),
            "no tests of calibration, because `resamples` is 0",
        ),
    ],
)
def test_mistakes_are_errors_and_not_failed_gates(call, message):
    with pytest.raises(sr.UsageError, match=message):
        call()


# ---- Calibration ----


def test_a_miscalibrated_model_is_found_and_named():
    with pytest.raises(AssertionError) as caught:
        assert_calibrated(evaluation())
    title, table, sentence = str(caught.value).split("\n\n")
    assert title == "Calibration, tested at the level 0.05: 1 fail, 1 pass."
    assert table.splitlines()[0].split() == ["model", "test", "p-value", "adjusted", "level", "verdict"]
    assert sentence.startswith("Fail. bold is miscalibrated")
    assert sentence.removeprefix("Fail. ") in evaluation().findings


def test_tests_are_returned_if_no_model_is_shown_to_be_miscalibrated():
    tests = assert_calibrated(make_table()["y"], {"good": make_table()["good"]}, resamples=200, level=0.9)
    assert tests[["model", "verdict", "alpha"]].to_numpy().tolist() == [["good", "pass", 0.1]]
    assert tests["p_value_holm"].isna().all()
    assert 0.1 < tests["p_value"].item() <= 1


def test_too_few_draws_for_the_level_are_inconclusive():
    arguments = {"data": make_table()["y"], "forecasts": {"bold": make_table()["bold"]}, "resamples": 200}
    assert assert_calibrated(**arguments, alpha=0.001)["verdict"].item() == "inconclusive"
    with pytest.raises(AssertionError, match="200 draws are too few for the test to reject"):
        assert_calibrated(**arguments, alpha=0.001, strict=True)


def test_several_models_need_smaller_p_values_and_more_draws():
    """200 draws give no p-value below 1 / 201, which Holm's method doubles for two models."""
    with pytest.raises(AssertionError, match="is miscalibrated"):
        assert_calibrated(make_table()["y"], {"bold": make_table()["bold"]}, resamples=200, alpha=0.007)
    assert assert_calibrated(evaluation(), alpha=0.007)["verdict"].tolist() == ["inconclusive"] * 2


def test_an_engine_tests_what_memory_tests():
    found = sr.evaluate(make_table(), outcome="y", forecasts=["good", "bold"], engine="duckdb")
    with pytest.raises(AssertionError, match=r"bold\s+miscalibration \(brier\)\s.*fail"):
        assert_calibrated(found)


def test_weighted_rows_of_an_engine_are_tested_by_slope_and_intercept():
    table = make_table().assign(w=lambda f: 0.5 + np.arange(len(f)) % 3)
    found = sr.evaluate(table, outcome="y", forecasts=["good", "bold"], weight="w", engine="duckdb")
    with pytest.raises(AssertionError, match=r"bold\s+Unreliability\s.*fail"):
        assert_calibrated(found)


def test_models_of_several_classes_are_tested():
    y = np.array(["a", "b", "c"])[np.arange(300) % 3]
    arguments = {"classes": ["a", "b", "c"], "resamples": 200}
    assert assert_calibrated(y, {"m": np.full((300, 3), 1 / 3)}, **arguments)["verdict"].item() == "pass"
    with pytest.raises(AssertionError, match="miscalibrated"):
        assert_calibrated(y, {"m": np.tile([0.8, 0.1, 0.1], (300, 1))}, **arguments)


def test_dependence_in_time_without_a_test_that_allows_for_it_is_inconclusive(monkeypatch):
    decide = sys.modules[decide_calibration.__module__]
    shown = HypothesisTest(
        name="Autocorrelation",
        statistic=0.5,
        p_value=0.0,
        null_hypothesis="",
        method="",
        reference="",
        n=9,
        note="lag 1: 0.5.",
    )
    monkeypatch.setattr(decide, "_find_dependence", lambda *_: shown)
    (bold,) = (result for result in evaluation().models if result.model == "bold")
    assert decide_calibration(bold, evaluation(), 0.05).verdict == "fail"
    monkeypatch.setattr(decide, "find_time_test", lambda _: None)
    assert decide_calibration(bold, evaluation(), 0.05).verdict == "inconclusive"


# ---- Text ----


def test_wide_characters_and_control_characters_keep_columns_aligned():
    lines = align_columns(["model", "value"], [["日本", "1"], ["a\x1b[31m", "2"]]).splitlines()
    assert lines == ["model      value", "日本       1", "a\\x1b[31m  2"]


def test_long_tables_show_the_worst_verdicts():
    judgements = sr.testing.check_limits(evaluation(), {"brier": 0.1}, None, {})
    assert judgements.table.count("\n") == 2
    from scorereport.configuration.judgement import judge_limits

    mixed = [*judge_limits(evaluation(), {"brier": 0.9}) * 60, *judge_limits(evaluation(), {"brier": 0.01})]
    text = format_judgements(mixed)
    assert text.count(" fail") == 2
    assert text.endswith("... and 62 more")


# ---- Plugin ----

GATES = """
    import scorereport as sr
    import pytest

    @pytest.fixture(scope="module")
    def evaluation():
        return sr.evaluate([0, 1] * 50, {"logit": [0.2, 0.7] * 50}, resamples=200)

    def test_passes(evaluation, assert_meets):
        assert len(assert_meets(evaluation, {"brier": 0.5})) == 1

    def test_warns(evaluation, assert_meets):
        assert_meets(evaluation, {"brier": {"warn": 0.01, "fail": 0.5}})

    def test_fails(evaluation, assert_meets):
        assert_meets(evaluation, {"brier": 0.01})

    def test_is_not_calibrated(evaluation, assert_calibrated):
        assert_calibrated(evaluation)

    def test_mistake(evaluation, assert_meets):
        assert_meets(evaluation, {"brierr": 0.01})
"""


@pytest.fixture
def session(pytester):
    pytester.makepyfile(test_gates=GATES)

    def run(*arguments):
        return pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider", *arguments)

    return run


def read_properties(case):
    found = case.child(Properties)
    return {} if found is None else {each.name: each.value for each in found}


@pytest.mark.sweep
def test_fixtures_report_verdicts(session, pytester):
    result = session("--junitxml=junit.xml", "-rP")
    result.assert_outcomes(passed=2, failed=3)
    text = result.stdout.str()
    assert "site-packages" not in text
    assert "scorereport/testing.py" not in text, "frames of the gates are hidden"
    assert "pytest_plugin.py" not in text
    result.stdout.fnmatch_lines(
        [
            "E*AssertionError: Limits: 1 fail.",
            "E*measure *model *value *interval *limit *verdict",
            "E*UsageError: limits: `limits.brierr` is not known; did you mean `brier`?",
            "*Captured scorereport assert_meets call*",
            "*= scorereport gates =*",
            "pass * test_gates.py::test_passes: assert_meets. Limits: 1 pass",
            "warn * test_gates.py::test_warns: assert_meets. Limits: 1 warn",
            "fail * test_gates.py::test_fails: assert_meets. Limits: 1 fail",
            "fail * test_gates.py::test_is_not_calibrated: assert_calibrated. Calibration*: 1 fail",
        ]
    )
    (suite,) = JUnitXml.fromfile(str(pytester.path / "junit.xml"))
    properties = {case.name: read_properties(case) for case in suite}
    assert properties["test_warns"]["scorereport.verdict"] == "warn"
    assert properties["test_fails"]["scorereport.verdict"] == "fail"
    assert "Brier score" in properties["test_passes"]["scorereport.table"]
    assert properties["test_mistake"] == {}


@pytest.mark.sweep
def test_the_summary_is_printed_with_workers_of_xdist(session):
    result = session("-n", "1", "-k", "passes or fails")
    outcomes = result.parseoutcomes()
    assert (outcomes["passed"], outcomes["failed"]) == (1, 1)
    result.stdout.fnmatch_lines(["*= scorereport gates =*", "pass * Limits: 1 pass", "fail * Limits: 1 fail"])


@pytest.mark.sweep
def test_sessions_without_gates_are_unchanged(pytester):
    pytester.makepyfile("def test_nothing(): pass")
    result = pytester.runpytest_subprocess("-p", PLUGIN, "-p", "no:cacheprovider")
    assert "scorereport" not in result.stdout.str().partition("plugins:")[2].partition("\n")[2]


def test_the_plugin_imports_nothing_slow():
    code = (
        "import pytest, sys; before = set(sys.modules); import scorereport.pipelines.pytest_plugin; "
        "print(*sorted({name.partition('.')[0] for name in set(sys.modules) - before}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["scorereport"]
    code += "; print([n for n in sys.modules if n.startswith('scorereport.')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = ran.stdout.splitlines()[1]
    assert "configuration" not in loaded
    assert "testing" not in loaded
