"""Pages on evidence: sentences, figure, tables, findings and terminal state the same numbers."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from evidence_tools import (
    TOLERANCE,
    draw_factors,
    fold,
    make_evidence,
    make_record,
    make_sequence,
    make_series,
    make_trend,
    name_day,
    name_month,
)

import scorereport as sr
from scorereport._utils.clock import fixed_time, read_time
from scorereport._utils.formatting import format_alarm_line, format_evidence
from scorereport.cli.terminal import print_history, print_record
from scorereport.configuration import parse_configuration
from scorereport.history.trend.evidence_records import ModelStanding, TrendEvidence
from scorereport.history.trend.evidence_sentences import describe_evidence as describe_in_words
from scorereport.history.trend.evidence_sentences import describe_standings
from scorereport.plots import describe_trend, plot_trend, render_svg
from scorereport.plots.evidence_plot import (
    count_left_out,
    describe_evidence,
    has_evidence_figure,
    plot_evidence,
)
from scorereport.plots.trend_plot import list_sequences
from scorereport.report.finding_records import Consequence
from scorereport.report.findings import list_report_findings
from scorereport.report.methods.evidence_formulas import EVIDENCE_FORMULAS
from scorereport.report.methods.evidence_methods import list_evidence_methods
from scorereport.report.report_output import prepare_report, render_report
from scorereport.report.report_tables import list_number_tables
from scorereport.report.sections.trend_section import describe_trend_section
from scorereport.report.tables.evidence_tables import evidence_table, record_evidence_table
from scorereport.report.tables.history_tables import describe_audit_record, history_table


def texts_of(figure):
    return [text.get_text() for axes in figure.axes for text in axes.texts]


def states(model="logit", **changes):
    """The sentence on evidence of 3,200 to 1 against calibration, or with other fields."""
    fields = {
        "model": model,
        "other": "",
        "hypothesis": "calibration",
        "measure": "",
        "label": "",
        "bound": TOLERANCE,
        "is_upper": True,
        "log_detector": math.log(3200),
        "log_product": math.log(3200),
        "alarm_at": 480.0,
        "audits": 14,
        "tolerance": TOLERANCE,
        "is_alarm": False,
    }
    return describe_in_words(**fields | changes)


# Numbers and sentences


def test_evidence_below_an_alarm_line_is_never_written_as_the_line():
    for line in (17, 240, 480, 1680, 7300, 124_100):
        at, below = math.log(line), math.log(line * (1 - 1e-6))
        assert format_evidence(at) == format_alarm_line(line)
        assert format_evidence(below) != format_alarm_line(line)


@pytest.mark.parametrize("value", [1.1, 2.5, 9.99, 35.0, 240.0, 999_999.5])
def test_evidence_is_rounded_down_and_reads_back(value):
    read = float(format_evidence(math.log(value)).removesuffix(" to 1").replace(",", ""))
    assert read <= value * (1 + 1e-8)
    assert value - read < (0.1 if value < 10 else 1)


def test_evidence_that_is_not_defined_or_outside_is_written_in_words():
    written = [format_evidence(value) for value in (-math.inf, -800.0, 0.0, 800.0, math.inf, math.nan)]
    assert written == ["no evidence"] * 3 + ["more than 1,000,000 to 1"] * 2 + ["n/d"]
    assert format_alarm_line(math.inf) == "n/d"


def test_sentences_on_evidence():
    within = "calibration within 10 % of the odds (tolerance 0.1 in log-odds)"
    assert states(is_alarm=True) == (
        f"logit: evidence 3,200 to 1 against {within}; the alarm line is 480 to 1. Alarm."
    )
    assert (
        states(log_detector=math.log(35))
        == f"logit: evidence 35 to 1 against {within}; an alarm needs 480 to 1."
    )
    assert states("boost", log_detector=-2.0, audits=1) == (
        f"boost: no evidence in 1 audit against {within}; an alarm needs 480 to 1."
    )
    assert "against the calibration of the baseline;" in states(hypothesis="baseline", bound=math.nan)
    limit = {"hypothesis": "limit", "measure": "brier", "label": "Brier score", "bound": 0.2}
    assert "against a Brier score of at most 0.2;" in states(**limit)
    assert "against an accuracy of at least 0.9;" in states(
        **limit | {"measure": "accuracy", "label": "Accuracy", "bound": 0.9, "is_upper": False}
    )
    assert states(hypothesis="difference", other="boost", measure="brier", label="Brier score") == (
        "logit: evidence 3,200 to 1 that boost has the lower Brier score."
    )
    assert "against exact calibration;" in states(bound=0.0, tolerance=0.0)


def test_sentences_on_standings():
    def stand(model, odds, left=""):
        return ModelStanding(model=model, log_evidence=math.log(odds), left=left)

    models = [stand("logit", 0.4), stand("boost", 2), stand("forest", 31, "2026-04")]
    assert describe_standings(models, "Brier score", 0.05, 14) == (
        "Lowest Brier score: after 14 audits logit and boost remain; forest left in 2026-04 (evidence 31 to "
        "1). A model leaves at 20 to 1 and does not return."
    )
    assert describe_standings(models[:2], "Brier score", 0.05, 1) == (
        "Lowest Brier score: after 1 audit both models remain (a model leaves at 20 to 1; most against "
        "boost: evidence 2.0 to 1)."
    )
    assert describe_standings(models[:1], "Brier score", 0.05, 14) == ""
    gone = [stand("a", 30, "2026-01"), stand("b", 30, "2026-02")]
    assert "no model remains" in describe_standings(gone, "Brier score", 0.05, 3)
    assert "logit remains;" in describe_standings([models[0], models[2]], "Brier score", 0.05, 14)


# The figure


def test_the_figure_has_a_panel_for_each_hypothesis_with_its_alarm_line():
    evidence = make_evidence()
    figure = plot_evidence(evidence)
    assert len(figure.axes) == 3
    assert sum("alarm line 480 to 1" in text for text in texts_of(figure)) == 3
    logit = next(series for series in evidence.series if series.model == "logit")
    assert logit.is_alarm
    assert f"logit: {format_evidence(logit.points[-1].log_detector)}, alarm" in texts_of(figure)
    described = describe_evidence(evidence)
    assert described.startswith("Evidence for a change after each of 14 audits, from 2025-01 to 2026-02.")
    for series in evidence.series:
        if series.hypothesis != "difference":
            assert format_evidence(series.points[-1].log_detector) in described
    assert render_svg(plot_evidence(evidence)) == render_svg(figure)


def test_the_lines_of_the_figure_are_the_detectors_within_the_ends_of_the_axis():
    evidence = TrendEvidence(
        series=(
            make_series("low", [-18.4, -3.0, -3.0]),
            make_series("high", [20.0, 60.0, 12.0]),
        )
    )
    axes = plot_evidence(evidence).axes[0]
    drawn = [line.get_ydata() for line in axes.get_lines() if len(line.get_xdata()) == 3]
    low, high = (np.array([point.log_detector for point in s.points]) / np.log(10) for s in evidence.series)
    assert (low.min(), high.max()) == pytest.approx((-7.99, 40), abs=0.1)
    bottom, top = -1, 6
    np.testing.assert_allclose(drawn[0], np.clip(low, bottom, top))
    np.testing.assert_allclose(drawn[1], np.clip(high, bottom, top))
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels == ["1 to 1", "100 to 1", "10,000 to 1", "1,000,000 to 1"]
    assert "more than 1,000,000 to 1" in describe_evidence(evidence)


def test_many_models_limits_and_daily_audits_leave_a_figure_that_fits_a_page():
    many = TrendEvidence(
        series=tuple(
            make_series(f"model {k}", draw_factors(365, -0.02, k), name=name_day, alarm_at=7300 * 20)
            for k in range(14)
        )
        + tuple(
            make_series("model 1", [0.1 * k], hypothesis="limit", measure="brier", bound=0.1 + k / 100)
            for k in range(6)
        )
    )
    figure = plot_evidence(many)
    assert len(figure.axes) == 4
    assert count_left_out(many) == 2 + 3
    assert figure.get_figheight() * 25.4 <= 211
    assert max(axes.get_position().height for axes in figure.axes) * figure.get_figheight() * 25.4 < 78
    assert render_svg(figure).count("<path") < 3000


def test_one_audit_has_no_figure_and_periods_of_all_series_are_in_order():
    assert not has_evidence_figure(make_evidence(audits=1))
    evidence = TrendEvidence(
        series=(
            make_series("new", [0.1] * 3, first=4),
            make_series("old", [0.1] * 6),
            make_series("b", [1.0]),
        )
    )
    assert "after each of 7 audits, from 2025-01 to 2025-07." in describe_evidence(evidence)


def test_confidence_sequences_are_drawn_beside_the_intervals_of_audits():
    trend = make_trend()
    assert [s.model for s in list_sequences(trend)] == ["logit", "boost", "forest"]
    axes = plot_trend(trend, ()).axes[0]
    for sequence in list_sequences(trend):
        for name in ("estimate", "lower", "upper"):
            wanted = [getattr(point, name) for point in sequence.points]
            assert any(
                len(line.get_ydata()) == len(wanted) and np.allclose(line.get_ydata(), wanted)
                for line in axes.get_lines()
            ), (sequence.model, name)
    last = trend.evidence.sequences[0].points[-1]
    assert f"logit {last.estimate:.4f} [{last.lower:.4f}, {last.upper:.4f}] as mean of all audits" in (
        describe_trend(trend, ())
    )


def test_a_score_of_a_limit_with_a_confidence_sequence_has_a_panel_of_its_own():
    trend = make_trend()
    added = make_sequence("logit", "misclassification", [0.25] * 8)
    evidence = replace(trend.evidence, sequences=(*trend.evidence.sequences, added))
    figure = plot_trend(replace(trend, evidence=evidence), ())
    assert len(figure.axes) == len(plot_trend(trend, ()).axes) + 1
    assert ".2500 logit" in texts_of(figure)


# Tables


def test_the_table_of_evidence_has_alarms_first_and_one_number_for_each_name():
    trend = make_trend()
    table = evidence_table(trend)
    assert table.rows[0][-1] == "alarm"
    verdicts = [row[-1] for row in table.rows]
    assert verdicts == sorted(verdicts, key=("alarm", "no alarm", "").index)
    factors = draw_factors(8, 0.8, 0)
    product, detector = fold(factors)[-1]
    assert table.rows[0][:6] == (
        "logit",
        "calibration ± 0.1",
        *map(format_evidence, (factors[-1], product, detector)),
        "480 to 1",
    )


def test_a_hypothesis_that_this_audit_did_not_test_has_no_evidence_of_this_audit():
    trend = make_trend()
    old = make_series("gone", [0.5] * 3)
    table = evidence_table(replace(trend, evidence=TrendEvidence(series=(old,))))
    assert table.rows[0][2] == ""


# Pages


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(3)
    forecast = rng.random(120).round(3)
    frame = {"y": (rng.random(120) < forecast).astype(int)}
    for name in ("logit", "boost", "forest"):
        frame[name] = (0.9 * forecast + 0.1 * rng.random(120)).round(3)
    return sr.evaluate(pd.DataFrame(frame), outcome="y", forecasts=["logit", "boost", "forest"], resamples=40)


def report_of(evaluation, trend, text=""):
    with fixed_time(read_time("2026-11-15")):
        return prepare_report(evaluation, None, parse_configuration(text, "x.toml"), trend=trend)


def test_an_alarm_is_a_grave_finding_with_an_action(evaluation):
    report = report_of(evaluation, make_trend())
    findings = list_report_findings(report)
    alarm = next(finding for finding in findings if finding.consequence is Consequence.ALARM)
    assert alarm.text == report.trend.evidence.series[0].sentence
    assert "do not agree with outcomes" in alarm.action
    assert alarm.see == "evidence"
    assert any("forest left in" in finding.text for finding in findings)
    assert sum(finding.consequence is Consequence.ALARM for finding in findings) == 1


def test_without_an_alarm_the_strongest_evidence_is_a_result(evaluation):
    series = (make_series("logit", [-0.4] * 8), make_series("boost", [0.3] * 8))
    report = report_of(evaluation, make_trend(evidence=TrendEvidence(series=series)))
    found = [f for f in list_report_findings(report) if f.see == "evidence"]
    assert [f.consequence for f in found] == [Consequence.RESULT]
    assert found[0].text == f"No alarm in 8 audits. Strongest evidence: {series[1].sentence}"


def test_the_section_states_alarms_first_and_what_they_mean(evaluation):
    section = describe_trend_section(report_of(evaluation, make_trend()))
    assert set(section.parts) == {"evidence", "evidence_figure", "trend"}
    assert section.content["evidence"]["calibration"][0].endswith("Alarm.")
    assert section.content["evidence"]["mean_audits"] == "240"
    caption = section.parts["trend"]["caption"]
    assert "mean of all audits so far, with an interval that holds at all audits at once" in caption


def test_many_hypotheses_without_alarm_are_counted(evaluation):
    series = tuple(make_series(f"model {k}", [0.1 * k] * 8) for k in range(9))
    section = describe_trend_section(report_of(evaluation, make_trend(evidence=TrendEvidence(series=series))))
    said = section.content["evidence"]["calibration"]
    assert len(said) == 5
    strongest = sorted(one.points[-1].log_detector for one in series)[-5]
    assert said[-1] == f"Evidence against the other 5: at most {format_evidence(strongest)}; no alarm."


@pytest.mark.sweep
def test_the_page_states_evidence_and_population_shift_apart(evaluation):
    page = render_report(report_of(evaluation, make_trend()), {".html"})[".html"].decode()
    text = re.sub(r"<[^>]+>", " ", page)
    assert "Loss of calibration" in text
    assert "How to read this" in text
    assert "the mean number of audits to a false alarm is at least 240" in text
    assert "“evidence” without odds means that a test rejects" in text
    assert "significant" not in text[text.index("Loss of calibration") : text.index("How to read this")]


@pytest.mark.sweep
def test_with_tests_the_section_is_as_before(evaluation):
    page = render_report(report_of(evaluation, make_trend(evidence=None)), {".html"})[".html"].decode()
    assert "Loss of calibration" not in page
    assert "“evidence” means that a test rejects" in page


# Records on the terminal


def test_a_record_states_its_evidence_in_words_and_in_a_table():
    record = make_record()
    lines = list(describe_audit_record(record))
    said = [line for line in lines if "against" in line]
    assert said[0].endswith("Alarm.")
    assert len(said) == 2
    table = record_evidence_table(record)
    assert [row[-1] for row in table.rows] == ["alarm", "no alarm", ""]
    assert table.rows[0][4] == format_evidence(record.evidence.evidence[1].log_detector)
    out = io.StringIO()
    print_record(record, out)
    assert "calibration ± 0.1" in out.getvalue()
    assert record_evidence_table(replace(record, evidence=None)) is None


def test_the_history_counts_alarms_as_drift():
    record = make_record()
    table = history_table([record, replace(record, evidence=None)])
    assert [row[6] for row in table.rows] == ["1", ""]
    out = io.StringIO()
    print_history([record], out)
    assert name_month(7) in out.getvalue()


def test_methods_of_evidence_are_those_that_were_used(evaluation):
    def name_methods(trend, text=""):
        return [entry["name"] for entry in list_evidence_methods(report_of(evaluation, trend, text))]

    every = [EVIDENCE_FORMULAS[key].name for key in EVIDENCE_FORMULAS]
    assert sorted(name_methods(make_trend())) == sorted(every)
    assert name_methods(make_trend(evidence=None)) == []
    assert name_methods(make_trend(), '[report]\nomit = ["trend"]') == []
    alone = TrendEvidence(series=(make_series("logit", [0.1] * 8),), tolerance=TOLERANCE)
    entries = list(list_evidence_methods(report_of(evaluation, make_trend(evidence=alone))))
    assert [entry["key"] for entry in entries] == ["evidence", "detector"]
    assert entries[0]["convention"].endswith("Here δ = 0.1.")
    assert entries[1]["convention"].endswith("Here α = 0.05, L = 12, and A is 480 to 1.")


def test_the_tables_of_a_report_have_the_evidence_after_each_audit(evaluation):
    trend = make_trend()
    tables = list_number_tables(report_of(evaluation, trend))
    (found,) = [table.frame for table in tables if table.name == "evidence"]
    assert len(found) == sum(len(series.points) for series in trend.evidence.series)
    first = trend.evidence.series[0]
    last = found[(found["model"] == first.model) & (found["hypothesis"] == "calibration")].iloc[-1]
    assert (last["period"], last["log_detector"]) == (name_month(7), first.points[-1].log_detector)


@pytest.mark.sweep
def test_one_number_for_each_name_on_the_whole_page(evaluation):
    trend = make_trend()
    first = trend.evidence.series[0]
    page = render_report(report_of(evaluation, trend), {".html"})[".html"].decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    odds = format_evidence(first.points[-1].log_detector)
    assert text.count(first.sentence) == 2  # in the summary and in the section
    assert re.search(rf"logit calibration ± 0.1 .{{0,60}} {odds} 480 to 1 alarm", text)
    assert f"logit {odds} now, an alarm" in page  # in the description of the figure


@pytest.mark.sweep
def test_what_a_finding_of_the_section_states_is_not_repeated(evaluation):
    trend = make_trend()
    page = render_report(report_of(evaluation, trend), {".html"})[".html"].decode()
    text = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    assert len(re.findall(r"Lowest Brier score: after 8 audits", text)) in (1, 2)
    section = text[text.index("Loss of calibration") - 1500 :]
    assert section.count("Lowest Brier score: after 8 audits") == 1
