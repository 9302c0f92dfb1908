"""Outcomes that are not final: immature rows are counted, not evaluated, and their effect is bounded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from audit_tools import BRIEF, make_scored, write_audit
from hypothesis import given
from hypothesis import strategies as st

import scorereport as sr
from scorereport.audit import plan as plan_module
from scorereport.audit.integrity import verify_audit_history
from scorereport.audit.plan import read_plan
from scorereport.audit.record_agreement import _check_snapshot
from scorereport.audit.rows import unknown_rows
from scorereport.audit.rows.counted_rows import explain_uncounted, load_counted_rows
from scorereport.audit.rows.loaded_rows import load_rows
from scorereport.audit.rows.mature_rows import Maturity, find_maturity
from scorereport.audit.run import run_audit
from scorereport.configuration import parse_configuration, periods
from scorereport.configuration.audit_tables import SourceTable, WindowTable
from scorereport.configuration.judgement import judge_limits
from scorereport.configuration.outcome_maturity import MaturityAge, read_maturity_age
from scorereport.configuration.periods import Period
from scorereport.configuration.tipping_shares import find_tipping_shares
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.dispatch import evaluate
from scorereport.history.audit_record import AuditStatus
from scorereport.history.store import open_history
from scorereport.history.valid_records import list_counted
from scorereport.report.findings import list_report_findings
from scorereport.report.provenance import trace_provenance
from scorereport.report.report_record import build_report, read_report
from scorereport.report.sections.missing_outcome_section import describe_missing_outcome_section
from scorereport.report.tables.history_tables import describe_audit_record

BERLIN = ZoneInfo("Europe/Berlin")
OCTOBER = Period(label="2026-10", start="2026-10-01", end="2026-11-01")
COLUMNS = {"outcome": "y", "forecasts": ["m"]}


# Ages


@pytest.mark.parametrize(
    ("text", "age"),
    [("90 days", "90 days"), (" 1  Hours ", "1 hour"), ("12 month", "12 months"), ("2 weeks", "2 weeks")],
)
def test_ages_are_read(text, age):
    assert str(read_maturity_age(text)) == age


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90", "90 days"),
        ("90d", "90 days"),
        ("90 dyas", "90 days"),
        ("after 3 months", "3 months"),
        ("1 year", "12 months"),
        ("2 quarters", "6 months"),
        ("6-weeks", "6 weeks"),
    ],
)
def test_a_wrong_age_is_refused_with_the_one_that_was_meant(text, meant):
    with pytest.raises(UsageError, match=f"Did you mean `{meant}`"):
        read_maturity_age(text)


@pytest.mark.parametrize("text", ["0 days", "-3 days", "1.5 days", "soon", "99999 days", "90 nights out"])
def test_other_texts_are_refused(text):
    with pytest.raises(UsageError, match="must be `N hours`, `N days`, `N weeks` or `N months`"):
        read_maturity_age(text)


def configure(outcomes, window='[audit.window]\ncolumn = "day"'):
    evaluation = '[evaluation]\noutcome = "y"\nforecasts = ["m"]\n[audit.source]\nfile = "p.csv"'
    return parse_configuration(f"{evaluation}\n{window}\n{outcomes}", "audit.toml")


def test_the_configuration_checks_the_age_and_that_rows_have_times():
    wanted = '[audit.outcomes]\nmature_after = "90 days"'
    assert configure(wanted).audit.outcomes.mature_after == "90 days"
    with pytest.raises(
        UsageError, match=r"`audit\.outcomes\.mature_after` must be .* Did you mean `90 days`"
    ):
        configure('[audit.outcomes]\nmature_after = "90"')
    with pytest.raises(UsageError, match=r"`audit\.outcomes\.mature_after` needs `audit\.window\.column`"):
        configure(wanted, window="")


# Times


def add_months(time, count):
    """The same day of a later month, or its last day, one day at a time."""
    year, month = divmod(time.year * 12 + time.month - 1 + count, 12)
    for day in range(time.day, 0, -1):
        try:
            return time.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    raise AssertionError


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["day", "week", "month"]),
    st.integers(1, 40),
    st.integers(-100_000, 100_000),
)
def test_a_row_is_mature_once_its_age_has_passed_on_the_local_calendar(time, unit, count, off):
    days = {"day": 1, "week": 7}
    final = add_months(time, count) if unit == "month" else time + timedelta(days=count * days[unit])
    moment = final + timedelta(seconds=off)
    maturity = Maturity(MaturityAge(count, unit), moment.replace(tzinfo=BERLIN))
    assert bool(maturity.is_final(np.array([time], dtype="datetime64[us]"))[0]) is (off >= 0)
    named = datetime.fromisoformat(maturity.find_final_day(np.datetime64(time, "us")))
    assert final <= named + timedelta(hours=12) < final + timedelta(days=1)


@pytest.mark.parametrize(
    "moment", ["2026-02-28T12:00", "2026-03-31T12:00", "2028-02-29T23:59", "2026-05-01T00:00"]
)
@pytest.mark.parametrize("count", [1, 2, 12])
def test_months_end_with_the_last_day_of_shorter_months(moment, count):
    """All times around the border, one by one."""
    now = datetime.fromisoformat(moment)
    first = now - timedelta(days=31 * count + 5)
    times = [first + timedelta(hours=5 * place) for place in range(24 * 8)]
    maturity = Maturity(MaturityAge(count, "month"), now.replace(tzinfo=BERLIN))
    found = maturity.is_final(np.array(times, dtype="datetime64[us]")).tolist()
    assert found == [add_months(time, count) <= now for time in times]
    assert True in found
    assert False in found


@given(
    st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)),
    st.sampled_from(["hour", "day", "week", "month"]),
    st.integers(1, 60),
    st.booleans(),
)
def test_the_final_part_of_a_period_holds_only_final_outcomes(moment, unit, count, is_open):
    maturity = Maturity(MaturityAge(count, unit), moment.replace(tzinfo=BERLIN))
    period = Period(label="x", start=None if is_open else "2026-03-01", end="2026-11-01")
    found = maturity.find_final_part(period)
    times = np.arange("2026-03-01", "2026-11-01", np.timedelta64(7, "h"), dtype="datetime64[us]")
    is_final = maturity.is_final(times)
    part = np.zeros(len(times), dtype=bool) if found is None else times < np.datetime64(found.end)
    assert is_final[part].all()
    assert (found == period) is bool(is_final.all() and part.all())
    few = 1 if unit == "hour" else 4 * 24 // 7 if unit == "month" else 0
    assert (is_final & ~part).sum() <= few + 1


def test_hours_are_hours_that_have_passed():
    """On 29 March 2026 clocks in Berlin go from 2 to 3: from midnight to 6 o'clock are five hours."""
    times = np.array(["2026-03-29T00:00", "2026-03-29T00:01"], dtype="datetime64[us]")
    maturity = find_maturity("5 hours", datetime(2026, 3, 29, 6, 0, tzinfo=BERLIN))
    assert maturity.is_final(times).tolist() == [True, False]
    days = find_maturity("1 day", datetime(2026, 3, 30, 0, 0, tzinfo=BERLIN))
    assert days.is_final(times).tolist() == [True, False]


def test_rows_without_a_time_are_not_mature():
    maturity = find_maturity("1 month", datetime(2026, 3, 29, 6, 0, tzinfo=UTC))
    assert not maturity.is_final(np.array(["NaT"], dtype="datetime64[us]")).any()
    assert find_maturity("", datetime(2026, 3, 29, tzinfo=UTC)) is None


# Rows


def make_rows(n=400, seed=3):
    rng = np.random.default_rng(seed)
    m = rng.random(n).round(2)
    days = pd.date_range("2026-09-20", "2026-11-10")
    y = (rng.random(n) < m).astype(int)
    return pd.DataFrame({"y": y, "m": m, "t": rng.choice(days.strftime("%Y-%m-%d"), n)})


def load(folder, frame, as_of, *, age="30 days", period=OCTOBER, columns=COLUMNS, work=None, **source):
    if not source:
        frame.to_csv(folder / "p.csv", index=False)
    return load_rows(
        SourceTable(**(source or {"file": "p.csv"})),
        WindowTable(column="t"),
        period,
        columns,
        folder=folder,
        zone=BERLIN,
        expand=lambda text, _: text,
        work=work,
        maturity=find_maturity(age, datetime.fromisoformat(as_of).replace(tzinfo=BERLIN)),
    )


def split(frame, until):
    october = frame[(frame.t >= "2026-10-01") & (frame.t < "2026-11-01")]
    return october[october.t <= until], october[october.t > until]


def test_immature_rows_are_counted_and_bounded_like_missing_outcomes(tmp_path):
    """Against the same rows, with outcomes removed by hand and dropped as missing."""
    frame = make_rows()
    old, young = split(frame, "2026-10-20")
    found = load(tmp_path, frame, "2026-11-19T09:00").predictions
    assert found.row_flow.immature == sr.data.predictions.ImmatureRows(
        rows=len(young), mature_after="30 days", final_on="2026-11-30"
    )
    reasons = {item.reason: item.rows for item in found.row_flow.dropped}
    assert reasons == {
        "outside of 2026-10-01 to 2026-10-31": len(frame) - len(old) - len(young),
        "outcome not final: younger than 30 days": len(young),
    }
    assert found.row_flow.read == found.row_flow.kept + sum(reasons.values())
    assert found.row_flow.missing == ()
    by_hand = pd.concat([old, young.assign(y=np.nan)]).sort_index()
    expected = sr.read_predictions(by_hand, ["m"], outcome="y", missing="drop")
    np.testing.assert_array_equal(found.outcome, expected.outcome)
    assert found.without_outcome.immature == len(young)
    ours, theirs = (sr.evaluate(each, resamples=0).missing_outcomes for each in (found, expected))
    assert (ours.rows, ours.share, ours.immature) == (theirs.rows, theirs.share, len(young))
    assert repr(ours.models) == repr(theirs.models)
    assert [b.lower for b in ours.models[0].bounds] == [b.lower for b in theirs.models[0].bounds]


@pytest.mark.parametrize("missing", ["refuse", "drop"])
def test_present_outcomes_of_immature_rows_are_not_used(tmp_path, missing):
    """Early events, missing outcomes and texts that are not outcomes give the same predictions."""
    frame = make_rows()
    _, young = split(frame, "2026-10-20")
    columns = {**COLUMNS, "missing": missing}
    plain = load(tmp_path, frame, "2026-11-19T09:00", columns=columns).predictions
    for value in (1, None, "open"):
        changed = frame.astype({"y": object})
        changed.loc[young.index, "y"] = value
        found = load(tmp_path, changed, "2026-11-19T09:00", columns=columns).predictions
        assert found.sha256 == plain.sha256
        assert found.row_flow == plain.row_flow
        np.testing.assert_array_equal(found.without_outcome.forecasts["m"], young.m)


def test_missing_outcomes_of_mature_rows_are_counted_apart(tmp_path):
    frame = make_rows().astype({"y": float})
    old, young = split(frame, "2026-10-20")
    frame.loc[old.index[:7], "y"] = np.nan
    frame.loc[young.index[:3], "y"] = np.nan
    frame.loc[young.index[3:5], "m"] = np.nan
    with pytest.raises(DataError, match="`y` must not be missing"):
        load(tmp_path, frame, "2026-11-19T09:00")
    found = load(tmp_path, frame, "2026-11-19T09:00", columns={**COLUMNS, "missing": "drop"}).predictions
    reasons = {item.reason: item.rows for item in found.row_flow.dropped}
    assert reasons["missing `y`"] == 7
    assert reasons["outcome not final: younger than 30 days"] == len(young)
    assert "missing `m`" not in reasons
    assert {item.column: item.rows for item in found.row_flow.missing} == {"y": 7, "m": 2}
    assert len(found.without_outcome) == 7 + len(young) - 2
    assert found.without_outcome.immature == len(young) - 2
    assert found.row_flow.read == found.row_flow.kept + sum(reasons.values())


def test_a_forecast_of_an_immature_row_is_checked(tmp_path):
    frame = make_rows()
    _, young = split(frame, "2026-10-20")
    frame.loc[young.index[0], "m"] = 1.5
    with pytest.raises(DataError, match=f"row {young.index[0] + 2}|line {young.index[0] + 2}"):
        load(tmp_path, frame, "2026-11-19T09:00")


def test_times_with_a_zone_are_compared_in_the_zone_of_the_audit(tmp_path):
    """22:30 UTC on 20 October is half past midnight of the 21st in Berlin."""
    frame = pd.DataFrame(
        {
            "y": [0, 1, 0],
            "m": [0.2, 0.7, 0.4],
            "t": ["2026-10-20T12:00+00:00", "2026-10-20T22:30+00:00", "2026-10-21T00:30"],
        }
    )
    before = load(tmp_path, frame, "2026-11-20T00:29").predictions
    assert (len(before), before.row_flow.immature_rows) == (1, 2)
    after = load(tmp_path, frame, "2026-11-20T00:30").predictions
    assert (len(after), after.row_flow.immature_rows, after.without_outcome) == (3, 0, None)
    assert after.row_flow.immature.final_on == ""


def test_weights_and_rows_without_weight(tmp_path):
    frame = make_rows().assign(w=1.0)
    _, young = split(frame, "2026-10-20")
    frame.loc[young.index, "w"] = 2.5
    frame.loc[young.index[:4], "w"] = 0.0
    found = load(tmp_path, frame, "2026-11-19T09:00", columns={**COLUMNS, "weight": "w"}).predictions
    assert found.row_flow.immature_rows == len(young)
    assert found.without_outcome.immature == len(young) - 4
    assert set(found.without_outcome.weight) == {2.5}


def test_immature_rows_of_several_classes_are_bounded(tmp_path):
    frame = make_rows()
    old, young = split(frame, "2026-10-20")
    frame = frame.assign(k=frame.y.map({0: "low", 1: "high"}), m_low=1 - frame.m, m_high=frame.m)
    columns = {"outcome": "k", "forecasts": ["m"], "classes": ["low", "high"]}
    found = load(tmp_path, frame, "2026-11-19T09:00", columns=columns).predictions
    assert len(found) == len(old)
    assert found.without_outcome.immature == found.row_flow.immature_rows == len(young)
    evaluation = sr.evaluate(found, resamples=0)
    assert not any("Bounds over" in note for note in evaluation.notes)
    missing, flow = evaluation.missing_outcomes, evaluation.data.row_flow
    assert (missing.rows, missing.kind, flow.immature_rows) == (len(young), "immature", len(young))
    complete = pd.concat([old, young]).assign(k=lambda each: each.y.map({0: "low", 1: "high"}))
    complete = complete.assign(m_low=1 - complete.m, m_high=complete.m)
    known = sr.evaluate(complete, **columns, resamples=0).class_models[0].scores
    for bounds in missing.class_models[0].bounds[:5]:
        assert bounds.lower <= known.score(bounds.measure).value <= bounds.upper


def test_rows_of_a_database_are_the_same(tmp_path):
    frame = make_rows()
    expected = load(tmp_path, frame, "2026-11-19T09:00").predictions
    with closing(sqlite3.connect(tmp_path / "p.db")) as connection:
        frame.to_sql("scores", connection, index=False)
    for source in ({"table": "scores"}, {"query": "SELECT y, m, t FROM scores"}):
        found = load(
            tmp_path, frame, "2026-11-19T09:00", database=f"sqlite:///{tmp_path / 'p.db'}", **source
        ).predictions
        assert len(found) == len(expected)
        assert found.row_flow.immature == expected.row_flow.immature
        assert sorted(found.without_outcome.forecasts["m"]) == sorted(expected.without_outcome.forecasts["m"])


def test_an_engine_without_rows_in_memory_counts_immature_rows(tmp_path):
    frame = make_rows()
    expected = load(tmp_path, frame, "2026-11-19T09:00")
    with closing(load(tmp_path, frame, "2026-11-19T09:00", work={"engine": "duckdb"})) as copied:
        assert copied.immature == expected.immature
        evaluation = copied.evaluate(evaluate, {"resamples": 0})
    flow = evaluation.data.row_flow
    assert (flow.read, flow.kept, flow.dropped, flow.immature) == (
        expected.predictions.row_flow.read,
        expected.predictions.row_flow.kept,
        expected.predictions.row_flow.dropped,
        expected.predictions.row_flow.immature,
    )
    assert evaluation.missing_outcomes.immature == flow.immature_rows
    assert not any("Bounds over" in note for note in evaluation.notes)


def write_source(folder, frame, kind):
    """The keys of `audit.source` for a frame."""
    if kind == "csv":
        frame.to_csv(folder / "p.csv", index=False)
        return {"file": "p.csv"}
    if kind == "parquet":
        frame.to_parquet(folder / "p.parquet", index=False)
        return {"file": "p.parquet"}
    with closing(sqlite3.connect(folder / "p.db")) as connection:
        frame.to_sql("scores", connection, index=False, if_exists="replace")
    return {"database": f"sqlite:///{folder / 'p.db'}", "table": "scores"}


def compare_bounds(found, expected):
    """The bounds without those of MCB, and without deviations of mean scores, are the same."""
    assert (found.rows, found.immature) == (expected.rows, expected.immature)
    assert found.share == pytest.approx(expected.share)
    for ours, theirs in zip(found.models, expected.models, strict=True):
        assert ours.model == theirs.model
        assert ours.mean_forecast == pytest.approx(theirs.mean_forecast)
        shown = [b for b in theirs.bounds if b.number != "miscalibration"]
        assert [(b.measure, b.number) for b in ours.bounds] == [(b.measure, b.number) for b in shown]
        for mine, other in zip(ours.bounds, shown, strict=True):
            names = ["observed", "lower", "upper", "no_events", "as_observed", "as_forecast", "all_events"]
            names += ["observed_deviation", "all_events_deviation"] if mine.number == "share" else []
            for name in names:
                assert getattr(mine, name) == pytest.approx(getattr(other, name), abs=1e-12)


@pytest.mark.parametrize("kind", ["csv", "parquet", "database"])
@pytest.mark.parametrize("batch", [1 << 18, 7])
def test_an_engine_bounds_as_rows_in_memory_do(tmp_path, monkeypatch, kind, batch):
    """With weights, a second model, outcomes missing in old rows, and rows that lack more."""
    monkeypatch.setattr(unknown_rows, "_ROWS_PER_BATCH", batch)
    rng = np.random.default_rng(4)
    frame = make_rows().astype({"y": float}).assign(w=rng.integers(0, 4, 400) / 2)
    frame["steep"] = (1.5 * frame.m).clip(upper=0.99)
    old, young = split(frame, "2026-10-20")
    frame.loc[old.index[:9], "y"] = np.nan
    frame.loc[old.index[7:11], "m"] = np.nan
    frame.loc[young.index[:2], "steep"] = np.nan
    columns = {"outcome": "y", "forecasts": ["m", "steep"], "weight": "w", "missing": "drop"}
    source = write_source(tmp_path, frame, kind)
    rows = load(tmp_path, frame, "2026-11-19T09:00", columns=columns, **source)
    expected = evaluate(rows.predictions, resamples=0)
    work = {"engine": "duckdb"}
    with closing(load(tmp_path, frame, "2026-11-19T09:00", columns=columns, work=work, **source)) as copied:
        found = copied.evaluate(evaluate, {"resamples": 0})
    assert found.missing_outcomes.kind == "missing and immature"
    compare_bounds(found.missing_outcomes, expected.missing_outcomes)
    assert not any("Bounds over" in note for note in found.notes)
    assert sr.Evaluation.from_json(_write(tmp_path / "e.json", found)).sha256 == found.sha256


def _write(path, evaluation):
    evaluation.to_json(path)
    return path


def test_the_bounds_of_an_engine_contain_the_scores_once_outcomes_are_final(tmp_path):
    """The infinite log score of a certain forecast included."""
    frame = make_rows()
    _, young = split(frame, "2026-10-20")
    frame.loc[young.index[0], "m"] = 1.0
    with closing(load(tmp_path, frame, "2026-11-19T09:00", work={"engine": "duckdb"})) as copied:
        early = copied.evaluate(evaluate, {"resamples": 0})
    late = evaluate(load(tmp_path, frame, "2027-02-01T09:00").predictions, resamples=0)
    model = early.missing_outcomes.models[0]
    for bounds in model.bounds:
        scores = late.models[0].scores
        is_share = bounds.number == "share"
        value = late.data.sample.prevalence if is_share else scores.score(bounds.measure).value
        assert bounds.lower <= value <= bounds.upper
    assert model.find("log_loss").upper == np.inf
    assert np.isfinite(model.find("log_loss").lower)
    report = build_report(early, trace_provenance())
    content = describe_missing_outcome_section(report)
    assert set(content.parts) == {"outcome_bounds"}
    text = " ".join(content.content["limits"])
    assert (
        "The highest log score of m is infinite, because in some of these rows the forecast is 0 or 1" in text
    )
    assert "MCB has no bounds: they need all rows together" in text
    finding = next(f.text for f in list_report_findings(report) if f.see == "outcome_bounds")
    assert "the Brier score of m lies between" in finding
    assert "MCB" not in finding


def test_a_copy_that_fits_into_memory_bounds_missing_and_immature_outcomes(tmp_path):
    """Without immature rows, the bounds of missing outcomes keep those of MCB."""
    frame = make_rows().astype({"y": float})
    old, young = split(frame, "2026-10-20")
    frame.loc[old.index[:9], "y"] = np.nan
    columns, settings = {**COLUMNS, "missing": "drop"}, {"resamples": 0, "engine": "memory"}
    for moment, immature in (("2026-11-19T09:00", len(young)), ("2027-02-01T09:00", None)):
        expected = evaluate(load(tmp_path, frame, moment, columns=columns).predictions, resamples=0)
        work = {"engine": "duckdb"}
        with closing(load(tmp_path, frame, moment, columns=columns, work=work)) as copied:
            found = copied.evaluate(evaluate, settings).missing_outcomes
        assert (found.immature, found.has_miscalibration) == (immature, immature is None)
        if immature:
            compare_bounds(found, expected.missing_outcomes)
        else:
            assert found.models[0].bounds[0] == expected.missing_outcomes.models[0].bounds[0]


def test_an_engine_follows_verdicts_on_means(tmp_path):
    frame = make_rows()
    with closing(load(tmp_path, frame, "2026-11-19T09:00", work={"engine": "duckdb"})) as copied:
        found = copied.evaluate(evaluate, {"resamples": 0})
    brier = found.missing_outcomes.models[0].find("brier")
    limit = (brier.no_events + 3 * brier.all_events) / 4
    limits = {"brier": {"fail": limit}, "brier_miscalibration": {"fail": 0.01}}
    (tipping,) = find_tipping_shares(found, judge_limits(found, limits))
    assert tipping.ranges[0].end == pytest.approx(0.75, abs=1e-6)


def test_an_engine_that_finds_only_rows_which_lack_more_says_so(tmp_path):
    frame = make_rows()
    _, young = split(frame, "2026-10-20")
    frame.loc[young.index, "m"] = np.nan
    columns = {**COLUMNS, "missing": "drop"}
    work = {"engine": "duckdb"}
    with closing(load(tmp_path, frame, "2026-11-19T09:00", columns=columns, work=work)) as copied:
        found = copied.evaluate(evaluate, {"resamples": 0})
    assert found.missing_outcomes is None
    (note,) = [note for note in found.notes if "Bounds over" in note]
    assert note.startswith("Bounds over the immature outcomes are left out: the rows without an outcome lack")


def test_an_engine_without_immature_rows_has_no_bounds(tmp_path):
    frame = make_rows()
    with closing(load(tmp_path, frame, "2027-02-01T09:00", work={"engine": "duckdb"})) as copied:
        found = copied.evaluate(evaluate, {"resamples": 0})
        assert not copied.path.with_name("unknown.parquet").exists()
    assert (found.missing_outcomes, found.data.row_flow.immature_rows) == (None, 0)
    assert not any("Bounds over" in note for note in found.notes)


@pytest.mark.parametrize(("kind", "place"), [("csv", "line {line}"), ("database", "row 3")])
def test_an_engine_checks_forecasts_of_immature_rows(tmp_path, kind, place):
    frame = make_rows()
    _, young = split(frame, "2026-10-20")
    frame.loc[young.index[3], "m"] = 1.5
    source = write_source(tmp_path, frame, kind)
    with (
        closing(load(tmp_path, frame, "2026-11-19T09:00", work={"engine": "duckdb"}, **source)) as copied,
        pytest.raises(DataError) as error,
    ):
        copied.evaluate(evaluate, {"resamples": 0})
    assert place.format(line=young.index[3] + 2) in str(error.value)
    how = "Rows are counted from 0 among the rows of the period without a final outcome"
    assert (how in str(error.value)) is (kind == "database")


@pytest.mark.parametrize("work", [None, {"engine": "duckdb"}])
def test_a_period_without_final_outcomes_names_the_days_and_the_command(tmp_path, work):
    frame = make_rows()
    old, young = split(frame, "2026-10-20")
    with pytest.raises(DataError) as error:
        load(tmp_path, frame, "2026-11-02T09:00", age="90 days", work=work)
    text = str(error.value)
    assert "No outcome of 2026-10-01 to 2026-10-31 in p.csv is final as of 2026-11-02 09:00" in text
    assert "final from 2026-12-30, and all of them from 2027-01-29" in text
    assert (old.t.min(), young.t.max()) == ("2026-10-01", "2026-10-31")
    assert "`scorereport audit run --period 2026-10`" in text
    everything = Period(label="2026-11-02", start=None, end="2026-11-03")
    with pytest.raises(DataError, match="audit run --as-of 2026-12-19`"):
        load(tmp_path, frame, "2026-11-02T09:00", age="90 days", work=work, period=everything)


def test_part_of_the_rows_is_selected_by_their_times(tmp_path):
    frame = make_rows().astype({"y": float}).assign(g="a", w=1.5)
    old, young = split(frame, "2026-10-20")
    frame.loc[old.index[:5], "y"] = np.nan
    columns = {**COLUMNS, "groups": "g", "weight": "w", "missing": "drop"}
    rows = load(tmp_path, frame, "2026-11-19T09:00", columns=columns)
    kept = old.drop(old.index[:5])
    assert rows.times.astype("datetime64[D]").astype(str).tolist() == kept.t.tolist()
    part = load_counted_rows(rows, OCTOBER, "2026-10-05", "2026-10-12")
    expected = kept[(kept.t >= "2026-10-05") & (kept.t < "2026-10-12")]
    np.testing.assert_array_equal(part.forecasts["m"], expected.m)
    np.testing.assert_array_equal(part.outcome, expected.y)
    np.testing.assert_array_equal(part.rows, expected.index)
    assert (len(part.groups["g"]), part.row_flow.kept, part.without_outcome) == (len(part), len(part), None)
    assert load_counted_rows(rows, OCTOBER, OCTOBER.start, OCTOBER.end) is rows.predictions
    reason = explain_uncounted(rows, OCTOBER, "2026-10-25", OCTOBER.end)
    assert reason == "No evaluated row is of 2026-10-25 to 2026-10-31."
    assert len(young) > 0


def test_part_of_the_rows_needs_times(tmp_path):
    frame = make_rows()
    plain = load(tmp_path, frame, "2026-11-19T09:00")
    without = replace(plain, times=None)
    assert "audit.window.column" in explain_uncounted(without, OCTOBER, "2026-10-05", "2026-10-12")
    assert explain_uncounted(without, OCTOBER, OCTOBER.start, OCTOBER.end) == ""
    assert load_counted_rows(without, OCTOBER, OCTOBER.start, OCTOBER.end) is plain.predictions
    is_in = (plain.times >= np.datetime64("2026-10-05")) & (plain.times < np.datetime64("2026-10-12"))
    weightless = replace(plain.predictions, weight=np.where(is_in, 0.0, 1.0))
    reason = explain_uncounted(replace(plain, predictions=weightless), OCTOBER, "2026-10-05", "2026-10-12")
    assert reason == "No evaluated row is of 2026-10-05 to 2026-10-11."


# Audits


def write_late_audit(folder, **tables):
    """An audit of October of rows of every day, with outcomes that are final after 20 days."""
    scored = make_scored("2026-09-20", 60, rows=12)
    scored.to_csv(folder / "scores.csv", index=False)
    return write_audit(
        folder,
        report=tables.pop("report", BRIEF),
        outcomes={"mature_after": "20 days"},
        limits=tables.pop("limits", {"brier": {"warn": 0.1, "fail": 0.9}}),
        **tables,
    )


@pytest.mark.sweep
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_later_run_of_a_period_evaluates_what_has_become_final(tmp_path, engine):
    path = write_late_audit(tmp_path, evaluation={"engine": engine})
    first = run_audit(path, as_of="2026-11-02T09:00").record
    assert (first.rows, first.snapshot.immature) == (13 * 12, 18 * 12)
    same = run_audit(path, as_of="2026-11-02T10:00")
    assert not same.is_new
    later = run_audit(path, as_of="2026-11-05T09:00")
    assert later.is_new
    assert (later.record.rows, later.record.snapshot.immature, later.record.attempt) == (16 * 12, 15 * 12, 2)
    last = run_audit(path, as_of="2026-11-18T08:00").record
    again = run_audit(path, as_of="2026-11-18T09:00")
    assert (last.rows, last.snapshot.immature) == (29 * 12, 2 * 12)
    assert (again.record.id, again.is_new) == (last.id, False)
    plan = read_plan(path)
    with open_history(plan.database_url, head=plan.chain_head) as history:
        counted = list_counted(history.records(plan.name))
    assert [record.id for record in counted] == [last.id]
    assert verify_audit_history(plan).findings == ()


def write_class_audit(folder):
    """The audit of `write_late_audit`, of three classes."""
    path = write_late_audit(
        folder,
        limits={"rps": {"warn": 0.1, "fail": 0.9}},
        evaluation={"forecasts": ["m"], "classes": ["low", "middle", "high"], "ordered": True},
    )
    scored = pd.read_csv(folder / "scores.csv")
    middle = np.minimum(scored.logit, 1 - scored.logit)
    table = np.column_stack([1 - scored.logit - middle / 2, middle, scored.logit - middle / 2])
    draws = np.random.default_rng(5).random(len(scored))
    place = (draws[:, None] >= np.cumsum(table, axis=1)[:, :-1]).sum(axis=1)
    labels = ["low", "middle", "high"]
    scored[[f"m_{label}" for label in labels]] = table
    scored.assign(y=np.array(labels)[place]).to_csv(folder / "scores.csv", index=False)
    return path


@pytest.mark.sweep
@pytest.mark.parametrize("kind", ["memory", "duckdb", "classes"])
def test_bounds_of_an_audit_contain_its_later_scores(tmp_path, kind):
    if kind == "classes":
        path = write_class_audit(tmp_path)
    else:
        path = write_late_audit(tmp_path, evaluation={"engine": kind})
    path.write_text(path.read_text().replace("20 days", "15 days"))
    early, late = (run_audit(path, as_of=moment) for moment in ("2026-11-02T09:00", "2026-11-17T09:00"))
    missing = read_report(early.files[0]).evaluation.missing_outcomes
    final = read_report(late.files[0]).evaluation
    assert (missing.rows, missing.immature, final.missing_outcomes) == (13 * 12, 13 * 12, None)
    assert missing.has_miscalibration is (kind != "duckdb")
    scores = final.results[0].scores
    for bounds in missing.results[0].bounds:
        if bounds.number == "mean":
            assert bounds.lower <= scores.score(bounds.measure).value <= bounds.upper
        elif bounds.number == "miscalibration":
            assert bounds.lower <= scores.decomposition(bounds.measure).miscalibration <= bounds.upper
    assert verify_audit_history(read_plan(path)).findings == ()


def test_a_run_without_final_outcomes_fails_and_a_later_one_does_not(tmp_path):
    path = write_late_audit(tmp_path)
    path.write_text(path.read_text().replace("20 days", "6 weeks"))
    failed = run_audit(path, as_of="2026-11-02").record
    assert failed.status is AuditStatus.FAILED
    assert "The first outcomes are final from 2026-11-12, and all of them from 2026-12-12." in failed.reason
    assert run_audit(path, as_of="2026-11-12").record.rows == 12


def test_the_record_the_report_and_the_terminal_state_immature_rows(tmp_path):
    path = write_late_audit(tmp_path, report={})
    outcome = run_audit(path, as_of="2026-11-05T09:00")
    record = outcome.record
    assert any(
        "192 rows; 180 immature rows are not evaluated" in line for line in describe_audit_record(record)
    )
    finding = "180 rows (48.4 %) of the period are younger than 20 days"
    assert any(finding in text for text in record.summary.findings)
    report = read_report(outcome.files[0])
    missing = report.evaluation.missing_outcomes
    assert (missing.rows, missing.immature, missing.kind) == (180, 180, "immature")
    text = describe_missing_outcome_section(report).content["immature"]
    assert text.startswith("They are immature: younger than 20 days, so that the outcome may still change.")
    assert "are final from 2026-11-20" in text


def test_without_a_given_moment_ages_are_those_of_now(tmp_path, monkeypatch):
    path = write_late_audit(tmp_path)
    for day, rows in (("2026-11-02", 13), ("2026-11-18", 29)):
        monkeypatch.setattr(plan_module, "read_clock", lambda day=day: f"{day}T09:00:00+00:00")
        monkeypatch.setattr(periods, "read_clock", lambda day=day: f"{day}T09:00:00+00:00")
        assert run_audit(path).record.rows == rows * 12


def test_the_number_of_immature_rows_belongs_to_the_results(tmp_path):
    """A record with another number does not match its results document."""
    outcome = run_audit(write_late_audit(tmp_path), as_of="2026-11-05T09:00")
    report, record = read_report(outcome.files[0]), outcome.record
    assert list(_check_snapshot(record, report)) == []
    forged = replace(record, snapshot=replace(record.snapshot, immature=0))
    assert list(_check_snapshot(forged, report)) == [
        "has a snapshot that does not match its results: `immature`"
    ]


def test_an_old_period_is_evaluated_with_the_outcomes_of_now(tmp_path):
    """As of a day right after the period nothing is final; by its label, all is."""
    make_scored("2026-06-01", 30, rows=10).to_csv(tmp_path / "scores.csv", index=False)
    path = write_audit(tmp_path, report=BRIEF, outcomes={"mature_after": "3 months"})
    assert run_audit(path, as_of="2026-07-01").record.status is AuditStatus.FAILED
    record = run_audit(path, period="2026-06").record
    assert (record.rows, record.snapshot.immature) == (300, 0)


@pytest.mark.sweep
def test_rows_of_rolling_windows_count_once_when_their_outcomes_are_final(tmp_path):
    """Windows of a week that run every day, with outcomes that are final after two days."""
    make_scored("2026-10-01", 31, rows=6).to_csv(tmp_path / "scores.csv", index=False)
    path = write_audit(
        tmp_path,
        report=BRIEF,
        window={"column": "day", "period": "last 7 days"},
        outcomes={"mature_after": "2 days"},
    )
    records = [run_audit(path, as_of=f"2026-10-{day}T09:00").record for day in (12, 13, 15, 14, 20)]
    evidence = [record.evidence for record in records]
    assert [(each.start, each.end) for each in evidence if each] == [
        ("2026-10-05", "2026-10-10T09:00"),
        ("2026-10-10T09:00", "2026-10-11T09:00"),
        ("2026-10-11T09:00", "2026-10-13T09:00"),
        ("2026-10-13T09:00", "2026-10-18T09:00"),
    ]
    counted = [sum(each.digests[0].weights) for each in evidence if each]
    assert counted == [6 * 6, 6, 2 * 6, 5 * 6]
    assert evidence[3] is None  # the window of 14 October: its days count in the audit of the 15th
    assert verify_audit_history(read_plan(path)).findings == ()


@pytest.mark.sweep
def test_evidence_of_a_period_grows_with_its_final_outcomes(tmp_path):
    path = write_late_audit(tmp_path)
    first = run_audit(path, as_of="2026-11-05T09:00").record.evidence
    last = run_audit(path, as_of="2026-11-18T09:00").record.evidence
    assert (first.start, first.end) == ("2026-10-01", "2026-10-16T09:00")
    assert (last.start, last.end) == ("2026-10-01", "2026-10-29T09:00")
    assert [sum(each.digests[0].weights) for each in (first, last)] == [16 * 12, 29 * 12]
    assert verify_audit_history(read_plan(path)).findings == ()
