"""Findings: sentences that state what the records show, and no more."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

import scorereport as sr
from scorereport._utils.files import write_together
from scorereport._utils.formatting import format_percent
from scorereport.configuration import parse_configuration
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.curves.segments import Segment
from scorereport.errors import UsageError
from scorereport.report.findings import list_report_findings
from scorereport.report.miscalibration_patterns import (
    describe_miscalibration,
    describe_segment,
    describe_shape,
)
from scorereport.report.page_policy import check_self_contained
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.calibration_section import describe_class_calibration_section
from scorereport.report.sections.checklist_section import describe_checklists_section
from scorereport.report.sections.methods_section import describe_families

TIME = "2026-11-15T07:30:12+00:00"


def evaluate(forecast, truth, n=4000, **options):
    """An evaluation of a forecast as a function of the true probability, on evenly spaced truths."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"y": (rng.random(n) < truth).astype(int), "m": forecast})
    return sr.evaluate(frame, outcome="y", forecasts=["m"], **({"resamples": 60} | options))


def report_on(evaluation, text=""):
    configuration = parse_configuration(text) if text else None
    return build_report(evaluation, Provenance(time=TIME), configuration=configuration)


TRUTH = np.linspace(0.1, 0.9, 4000)


FORECASTS = np.array([0.05, 0.1, 0.15, 0.2, 0.45, 0.5, 0.55, 0.8, 0.85, 0.9, 0.95])


def bend(low, high, middle=0):
    """How often events happen at each forecast: much more often (1) or much less often (-1) than stated."""
    off = {1: 0.1, 0: 0.0}
    at_low = FORECASTS / 3 if low < 0 else FORECASTS + off[low]
    at_high = 1 - (1 - FORECASTS) / 3 if high > 0 else FORECASTS - off[-high]
    places = [FORECASTS < 0.3, FORECASTS > 0.7]
    return np.select(places, [at_low, at_high], FORECASTS + 0.1 * middle)


#: Segments by hand: both ends, and shares of the 11 forecasts; sizes are means of what `bend` adds.
LOW, MIDDLE, HIGH = (0.05, 0.2, 4 / 11), (0.45, 0.55, 3 / 11), (0.8, 0.95, 4 / 11)
ALL, THIRD = (0.05, 0.95, 1.0), 0.125 * 2 / 3
#: How often events happen at each forecast, its segments with their sizes, and how it is called as a whole.
SHAPES = {
    "calibrated": (bend(0, 0), [], ""),
    "overconfident": (bend(1, -1), [(LOW, 0.1), (HIGH, -0.1)], "too extreme"),
    "underconfident": (bend(-1, 1), [(LOW, -THIRD), (HIGH, THIRD)], "too timid"),
    "low end too low": (bend(1, 0), [(LOW, 0.1)], ""),
    "low end too high": (bend(-1, 0), [(LOW, -THIRD)], ""),
    "high end too high": (bend(0, -1), [(HIGH, -0.1)], ""),
    "high end too low": (bend(0, 1), [(HIGH, THIRD)], ""),
    "shifted up": (bend(-1, -1, -1), [(ALL, -(4 * THIRD + 0.7) / 11)], ""),
    "shifted down": (bend(1, 1, 1), [(ALL, (4 * THIRD + 0.7) / 11)], ""),
    "wave": (bend(1, 1, -1), [(LOW, 0.1), (MIDDLE, -0.1), (HIGH, THIRD)], ""),
    "mirrored wave": (bend(-1, -1, 1), [(LOW, -THIRD), (MIDDLE, 0.1), (HIGH, -0.1)], ""),
}


@cache
def evaluate_shape(shape, cases=1500):
    """Events at each forecast in proportion to its frequency, up to rounding: nothing is random."""
    frequency, _, _ = SHAPES[shape]
    outcome = np.concatenate([np.arange(cases) < round(cases * q) for q in frequency]).astype(int)
    frame = pd.DataFrame({"y": outcome, "m": np.repeat(FORECASTS, cases)})
    return sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=60).models[0]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("shape", SHAPES)
def test_only_forecasts_that_the_band_shows_to_be_wrong_are_described_as_wrong(shape):
    """Of a single slope, "too extreme" and "too timid" are false at one end of most of these shapes."""
    _, expected, together = SHAPES[shape]
    found = evaluate_shape(shape).segments
    assert [(s.lower, s.upper, s.sign) for s in found] == [
        (lower, upper, np.sign(size)) for (lower, upper, _), size in expected
    ]
    rounding = 0.5 / 1500  # of the number of events at a forecast
    assert [s.size for s in found] == pytest.approx([size for _, size in expected], abs=rounding)
    assert [s.share for s in found] == pytest.approx([share for (_, _, share), _ in expected])
    assert describe_shape(found) == together


def test_the_largest_segment_is_described_and_the_others_are_counted():
    assert describe_miscalibration(evaluate_shape("overconfident")) == (
        "between 0.05 and 0.20 events were 0.10 more frequent than forecast; 36 % of cases; "
        "1 smaller range also leaves the band"
    )
    assert describe_miscalibration(evaluate_shape("calibrated")) == ""


@pytest.mark.sweep
@pytest.mark.parametrize("shape", ["high end too high", "shifted up", "calibrated"])
def test_engines_check_each_end_against_the_honest_band(shape):
    memory = evaluate_shape(shape)
    honest = tuple(b for b in memory.bands if b.kind == "confidence")
    text = describe_miscalibration(replace(memory, bands=honest, segments=None))
    assert ("events were rarer than forecast" in text) == (shape != "calibrated")
    assert "more frequent" not in text


def test_without_a_simultaneous_band_slope_and_average_stand_alone():
    def alone(shape):
        result = evaluate_shape(shape)
        return describe_miscalibration(
            replace(result, bands=tuple(b for b in result.bands if b.coverage == "pointwise"), segments=None)
        )

    flat = alone("high end too high")
    assert flat.startswith("its calibration slope 0.7")
    assert flat.endswith("] is below 1, though no range of forecasts is shown to be wrong")
    assert alone("shifted up").startswith("its forecasts are too high on average (intercept at slope 1 −0.")
    assert alone("calibrated") == ""


@pytest.mark.sweep
@pytest.mark.parametrize("shape", ["high end too high", "low end too low"])
def test_views_of_classes_name_the_forecasts_that_are_wrong(shape):
    """Two ordered classes are one threshold, whose forecasts are those of the lower class."""
    frequency, (((lower_end, upper_end, _), size),), _ = SHAPES[shape]
    lower = np.repeat(FORECASTS, 1500)
    outcome = np.concatenate([np.arange(1500) >= round(1500 * q) for q in frequency])
    frame = pd.DataFrame({"y": np.where(outcome, "b", "a"), "m_a": lower, "m_b": 1 - lower})
    evaluation = sr.evaluate(
        frame,
        outcome="y",
        forecasts={"m": ["m_a", "m_b"]},
        classes=["a", "b"],
        ordered=True,
        resamples=60,
    )
    section = describe_class_calibration_section(report_on(evaluation))
    (verdict,) = section.content["verdicts"]
    way = "rarer" if size < 0 else "more frequent"
    ends = f"between {lower_end:.2f} and {upper_end:.2f}"
    where = f"{ends} a class up to “a” was {abs(size):.2f} {way} than forecast"
    assert verdict.sentence.endswith(f"): {where}; 36 % of cases.")
    assert any(f"{where}, 36 % of cases" in reason for reason in verdict.reasons)


@pytest.mark.parametrize(
    ("segment", "where", "what"),
    [
        ((-1, 4e-4, 4e-4, -0.1, 0.5), "at 0.0004", "0.10 rarer than forecast; 50 % of cases"),
        (
            (1, 0.2, 0.99992, 0.001, 0.0004),
            "between 0.20 and 0.9999",
            "0.001 more frequent than forecast; less than 0.1 % of cases",
        ),
        (
            (1, 0.0, 1.0, 0.2, 1.0),
            "between 0.00 and 1.00",
            "0.20 more frequent than forecast; 100 % of cases",
        ),
        (
            (-1, 0.501, 0.503, -0.1, 0.004),
            "between 0.501 and 0.503",
            "0.10 rarer than forecast; 0.4 % of cases",
        ),
        (
            (1, 0.7, 0.999996, 0.2, 0.5),
            "between 0.70 and 1.00",
            "0.20 more frequent than forecast; 50 % of cases",
        ),
        ((-1, 0.5, 0.6, None, None), "between 0.50 and 0.60", "rarer than forecast"),
    ],
)
def test_ranges_keep_the_digits_that_distinguish_them(segment, where, what):
    described = describe_segment(Segment(**dict(zip(SEGMENT, segment, strict=True))))
    assert described == f"{where} events were {what}"


SEGMENT = ("sign", "lower", "upper", "size", "share")


def sentences(evaluation, text=""):
    return [finding.text for finding in list_report_findings(report_on(evaluation, text))]


def test_evidence_is_not_claimed_where_there_is_none():
    found = list_report_findings(report_on(evaluate(TRUTH, TRUTH)))
    about = next(finding for finding in found if "miscalibrated" in finding.text)
    assert about.text.startswith("No evidence that m is miscalibrated (p = ")
    assert "; corrected MCB 0.00" in about.text
    assert about.tone == "plain"  # absence of evidence is not a success


@pytest.mark.sweep
def test_a_test_of_too_few_draws_is_inconclusive():
    few = evaluate(TRUTH, TRUTH, resamples=19, level=0.99)
    assert any("19 draws are too few for the test to reject" in text for text in sentences(few))


def test_skill_is_stated_with_its_interval_and_whether_chance_explains_it():
    weak = evaluate(np.full(4000, 0.5) + 1e-3 * TRUTH, np.full(4000, 0.5))
    sentence = sentences(weak)[0]
    assert sentence.startswith("m has a Brier score of 0.2")
    assert "interval [" in sentence
    assert sentence.endswith("which chance may explain.")
    assert "chance" not in sentences(evaluate(TRUTH, TRUTH))[0]


def test_one_class_has_no_sentence_on_skill():
    found = sentences(evaluate(TRUTH[:40], np.zeros(40), n=40))
    assert [text for text in found if "skill" in text] == [
        "There are no events in 40 cases: AUC and skill are not defined."
    ]
    assert not any("n/d" in text for text in found)


@pytest.fixture(scope="module")
def grouped():
    rng = np.random.default_rng(8)
    p = rng.uniform(0.1, 0.9, 2400)
    group = np.arange(2400) % 12
    truth = np.where(group < 3, expit(logit(p) - 1.5), p)
    frame = pd.DataFrame({"y": (rng.random(2400) < truth).astype(int), "m": p, "region": group.astype(str)})
    return sr.evaluate(frame, outcome="y", forecasts=["m"], groups="region", resamples=60)


LIMITS = "[limits]\ngroups = true\nbrier_miscalibration = 0.01\n"


def test_limits_in_groups_are_counted_not_listed(grouped):
    report = report_on(grouped, LIMITS)
    judged = [judgement for judgement in report.judgements if judgement.group]
    assert len(judged) == 12
    failed = sum(judgement.verdict is LimitVerdict.FAIL for judgement in judged)
    assert failed > 0
    found = [text for text in sentences(grouped, LIMITS) if "groups" in text and "MCB" in text]
    stated = found[0][0].upper() + found[0][1:]
    assert stated.startswith(f"In groups, m breaches {failed} of 12 limits, among them corrected MCB of the ")
    assert " where region = " in stated


def test_groups_are_described_with_adjusted_p_values(grouped):
    tests = [item.test for item in grouped.heterogeneity]
    assert all(test.p_value_holm >= test.p_value for test in tests if not np.isnan(test.p_value))
    sentence = next(text for text in sentences(grouped) if "between groups of region" in text)
    start = "Results of m differ between groups of region by more than chance explains (p "
    assert sentence.startswith(start)
    assert ", adjusted for the number of tests); m has the lowest skill where region = " in sentence
    skills = {group.label: group.models[0].score("brier").skill for group in grouped.groups}
    lowest = min(skills, key=skills.get)
    assert f"region = {lowest}, {format_percent(skills[lowest])}, interval [" in sentence


# ---- Promises that must be kept ----


def lines_of(report, name):
    section = describe_checklists_section(report, ["performance", "calibration", "certificate"], {})
    lines = next(found["lines"] for found in section.content["lists"] if found["title"] == name)
    return {line["number"]: line for line in lines}


def test_items_that_ask_for_uncertainty_are_covered_by_nothing_less():
    text = '[checklist]\nlists = ["model-risk"]\n'
    for resamples, status in ((0, "incomplete"), (60, "covered")):
        report = report_on(evaluate(TRUTH[:400], TRUTH[:400], n=400, resamples=resamples), text)
        found = lines_of(report, "Model-risk management")
        assert found["11"]["status"] == status
        assert found["20"]["status"] == "incomplete"
        assert found["20"]["reason"] == "no other implementation has verified the numbers"


@pytest.mark.sweep
def test_methods_of_omitted_sections_are_not_listed():
    evaluation = evaluate(TRUTH[:400], TRUTH[:400], n=400)
    names = [
        {
            method["name"]
            for family in describe_families(report_on(evaluation, text))
            for method in family["methods"]
        }
        for text in (
            "",
            '[report]\nomit = ["decision", "decomposition", "recalibration", "discrimination"]\n',
        )
    ]
    assert names[0] - names[1] == {
        "ROC curve, AR and KS",
        "Elementary scores (Murphy diagram)",
        "Regret",
        "Net benefit (decision curve)",
        "Decisions at thresholds",
        "Intervals of rates and of net benefit",
        "Net reduction in interventions",
        "Difference of net benefit",
        "Parts of miscalibration",
        "Recalibration tried",
    }
    assert names[1] < names[0]


def test_files_are_written_together_or_not_at_all(tmp_path, monkeypatch):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"before")
    calls = []

    def full_at_the_second(_):
        calls.append(1)
        if len(calls) == 2:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("scorereport._utils.files.os.fsync", full_at_the_second)
    with pytest.raises(OSError, match="No space left"):
        write_together({first: b"new", second: b"new"})
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"before")]


# ---- Pages that need nothing but themselves ----


@pytest.mark.parametrize(
    ("markup", "named"),
    [
        ("<script>1</script>", "a <script> element"),
        ("<iframe src='data:text/html,x'></iframe>", "a <iframe> element"),
        ("<img src='http://x.example/a.png'>", "the address 'http://x.example/a.png' in <img>"),
        ("<img src='file:///etc/passwd'>", "the address 'file:///etc/passwd' in <img>"),
        ("<link rel=stylesheet href='x.css'>", "the address 'x.css' in <link>"),
        (
            "<style>@import 'http://x.example/a.css';</style>",
            "the address 'http://x.example/a.css' in <style>",
        ),
        ("<p style='background: url(http://x.example/a)'>", "the address 'http://x.example/a' in <style>"),
        ("<p onclick='x()'>", "the attribute onclick of <p>, which runs a script"),
        ("<a href='javascript:x()'>x</a>", "a script in a link: 'javascript:x()'"),
        (
            "<svg><image href='http://x.example/a'></image></svg>",
            "the address 'http://x.example/a' in <image>",
        ),
    ],
)
def test_pages_that_run_or_fetch_are_refused(markup, named):
    message = f"A report must contain everything that it shows; this page has {named}."
    with pytest.raises(UsageError) as refusal:
        check_self_contained(f"<html><body>{markup}</body></html>")
    assert str(refusal.value) == message


def test_pages_may_carry_pictures_and_link_to_the_web():
    check_self_contained(
        "<style>p { background: url(data:image/gif;base64,R0) }</style>"
        "<img src='data:image/gif;base64,R0'><a href='https://x.example'>x</a><a href='#a'>y</a>"
        "<p>&lt;script&gt; and url(http://x.example) as text</p>"
    )
