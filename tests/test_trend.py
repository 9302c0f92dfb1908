"""Drift between audits: what is compared, that false alarms are rare and changes found, and its section."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from datetime import date, timedelta
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit
from scipy.stats import chi2, chi2_contingency, norm
from scipy.stats import t as student

import scorereport as sr
from scorereport import plots
from scorereport._utils import json_documents
from scorereport._utils.clock import fixed_time, read_time
from scorereport.configuration import SECTION_NAMES, parse_configuration
from scorereport.configuration.periods import Period
from scorereport.errors import UsageError
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.drift_records import Number, Snapshot, Trend
from scorereport.history.trend.drift_tests import (
    Contrast,
    MeanEstimate,
    compare_means,
    compare_shares,
    group_bins,
    homogeneity_test,
)
from scorereport.history.trend.reference_audits import allow_for_audits, allow_for_shifts, find_audit_spread
from scorereport.history.trend.snapshot import count_forecasts, effective_size, take_snapshot
from scorereport.inference.losses import resolve_measure
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.overfit import estimate_overfit
from scorereport.inference.population_stability import stability_index
from scorereport.plots import describe_trend, plot_trend, render_svg
from scorereport.plots.geometry import date_ticks
from scorereport.reliability.sampling import SamplingUnits
from scorereport.report.findings import list_report_findings
from scorereport.report.report_output import prepare_report, render_report
from scorereport.report.report_record import read_report, reconfigure_report
from scorereport.report.sections.trend_section import describe_trend_section
from scorereport.report.tables.history_tables import forecast_drift_table, measure_drift_table
from scorereport.results.tallies import EDGES, find_bins

BRIER = resolve_measure("brier", {})
NORMAL = ErrorDistribution()
SETTINGS = {"audits": 12, "alpha": 0.05, "looks": 12}


def month(number):
    """The first day of a month, counted from January 2025."""
    return date(2025 + number // 12, number % 12 + 1, 1)


def month_period(number):
    start = month(number)
    return Period(label=f"{start:%Y-%m}", start=str(start), end=str(month(number + 1)))


def draw(rng, n, *, shift=0.0, slope=1.0, spread=1.2):
    """Forecasts, which are calibrated if the slope is 1, and outcomes."""
    log_odds = rng.normal(-1 + shift, spread, n)
    return expit(log_odds), (rng.random(n) < expit(slope * log_odds)).astype(float)


def snap(forecast, outcome, number, *, model="logit", draws=8):
    """A snapshot without an evaluation, which would take a hundred times as long."""
    units, fit = SamplingUnits(rows=len(outcome)), sr.corp(outcome, forecast)
    loss = (forecast - outcome) ** 2
    gain = loss - (fit.sample.cep(forecast) - outcome) ** 2
    overfit = estimate_overfit(fit.sample, [BRIER], draws=draws, seed=number)[0]
    raw = units.mean(gain)
    components = {"overfit": overfit.resampled, "overfit_closed": overfit.closed}
    return Snapshot(
        period=month_period(number),
        time=f"{month(number + 1)}T06:00:00+00:00",
        rows=len(outcome),
        size=float(len(outcome)),
        level=0.95,
        main_score="brier",
        numbers=(
            number_of(model, "brier", "Brier score", units.mean(loss), units.standard_error(loss)),
            number_of(model, "brier_miscalibration", "MCB", raw, units.standard_error(gain), **components),
            number_of("", "prevalence", "prevalence", outcome.mean(), units.standard_error(outcome)),
        ),
        distributions=(count_forecasts(model, "", forecast, units),),
    )


def number_of(model, measure, label, value, error, **more):
    return Number(
        model=model,
        measure=measure,
        label=label,
        value=float(value),
        corrected=max(float(value) - more.get("overfit", 0.0), 0.0),
        lower=float(value) - 2 * error,
        upper=float(value) + 2 * error,
        standard_error=error,
        **more,
    )


def stable_months(n_months, *, n=600, seed=1):
    rng = np.random.default_rng(seed)
    return [snap(*draw(rng, n), number) for number in range(n_months)]


def drifted(trend):
    return {(drift.model, drift.measure) for drift in trend.drifts if drift.has_drifted}


@pytest.fixture(scope="module")
def months():
    return stable_months(7)


def frame_of(rng, n=240, **how):
    forecast, outcome = draw(rng, n, **how)
    return pd.DataFrame({"y": outcome.astype(int), "logit": forecast, "steep": expit(2 * logit(forecast))})


@pytest.fixture(scope="module")
def evaluation():
    frame = frame_of(np.random.default_rng(5))
    return sr.evaluate(frame, outcome="y", forecasts=["logit", "steep"], resamples=60)


# Snapshots


def test_a_snapshot_holds_the_numbers_of_the_evaluation(evaluation):
    snapshot = take_snapshot(
        evaluation, month_period(3), time="2025-05-01T06:00:00+00:00", configuration="c0ffee"
    )
    assert snapshot.configuration == "c0ffee"
    of_logit = {n.measure: n for n in snapshot.numbers if n.model == "logit"}
    scores = evaluation.models[0].scores
    assert list(of_logit) == ["brier", "brier_miscalibration", "brier_discrimination", "roc_auc"]
    assert of_logit["brier"].standard_error == scores.score("brier").interval.standard_error
    known = scores.component("brier", "miscalibration")
    mcb = of_logit["brier_miscalibration"]
    expected = (known.value, known.corrected, known.overfit_resampled)
    assert (mcb.value, mcb.corrected, mcb.overfit) == pytest.approx(expected, rel=1e-12)
    assert snapshot.numbers[-1].value == evaluation.data.sample.prevalence
    assert (snapshot.rows, snapshot.size, snapshot.main_score) == (240, 240.0, "brier")
    assert json_documents.load(Snapshot, json_documents.dump(snapshot), "snapshot") == snapshot


def test_forecasts_are_counted_in_bins_that_never_change(evaluation):
    snapshot = take_snapshot(evaluation, month_period(3), time="")
    first = snapshot.distributions[0]
    assert (first.model, first.label, sum(first.weights)) == ("logit", "", 240.0)
    assert first.mean == pytest.approx(evaluation.predictions.forecasts["logit"].mean())
    assert len(EDGES) == 146
    assert find_bins(np.array([0.0, 0.5, 1.0])).tolist() == [0, 73, 146]
    assert find_bins(np.array([0.5 - 1e-9])) == find_bins(np.array([0.5 + 1e-9]))


def test_an_evaluation_without_its_rows_is_refused(evaluation, tmp_path):
    evaluation.to_json(tmp_path / "results.json")
    read = sr.Evaluation.from_json(tmp_path / "results.json")
    with pytest.raises(UsageError, match="must have its predictions, which documents do not contain"):
        take_snapshot(read, month_period(0), time="")


def test_without_resamples_there_is_nothing_to_test(months):
    frame = frame_of(np.random.default_rng(5))
    bare = sr.evaluate(frame, outcome="y", forecasts=["logit"], resamples=0)
    snapshot = take_snapshot(bare, month_period(7), time="")
    assert all(math.isnan(number.standard_error) for number in snapshot.numbers)
    trend = find_drift(snapshot, months, **SETTINGS)
    assert trend.drifts == ()
    assert trend.notes == ("No intervals were requested (`resamples = 0`), so nothing is tested.",)


def test_classes_have_a_distribution_each_and_one_test(months):
    rng = np.random.default_rng(2)
    shares = [rng.dirichlet([4, 2, 1], 300) for _ in range(3)]
    shares[2] = shares[2][:, [2, 1, 0]]
    snapshots = []
    for number, p in enumerate(shares):
        outcome = (rng.random((300, 1)) > np.cumsum(p, axis=1)).sum(axis=1)
        frame = pd.DataFrame({"y": np.array(["a", "b", "c"])[outcome]} | dict(zip("pqr", p.T, strict=True)))
        found = sr.evaluate(
            frame, outcome="y", forecasts={"m": ["p", "q", "r"]}, classes=["a", "b", "c"], resamples=40
        )
        snapshots.append(take_snapshot(found, month_period(number), time=str(number)))
    assert [d.label for d in snapshots[0].distributions] == ["a", "b", "c"]
    assert snapshots[0].labels == ("a", "b", "c")
    assert {
        d.measure for d in find_drift(snapshots[1], snapshots[:1], **SETTINGS).drifts if d.has_drifted
    } == set()
    trend = find_drift(snapshots[2], snapshots[:2], **SETTINGS)
    outcome, *_, forecasts = trend.drifts
    assert outcome.has_drifted
    assert outcome.label in {"share of “a”", "share of “c”"}
    assert forecasts.has_drifted
    assert forecasts.method.endswith("times 3 for the classes")
    other = find_drift(replace(snapshots[2], labels=("a", "b", "d")), snapshots[:2], **SETTINGS)
    assert other.notes == (
        "2 earlier audits with another main score or other classes are left out of the comparison.",
    )
    assert find_drift(snapshots[2], months, **SETTINGS).drifts == ()


def test_weights_and_clusters_count_as_fewer_rows():
    rng = np.random.default_rng(3)
    group = rng.integers(0, 4, 400)
    assert effective_size(SamplingUnits(rows=400), group) == 400
    assert (
        effective_size(SamplingUnits(rows=400, weight=np.full(400, 3.0), weight_kind="frequency"), group)
        == 1200
    )
    weight = rng.uniform(0.5, 1.5, 400)
    kish = weight.sum() ** 2 / (weight**2).sum()
    assert 0.8 * kish < effective_size(SamplingUnits(rows=400, weight=weight), group) <= kish
    known = effective_size(SamplingUnits(rows=400, weight=np.where(group == 3, 0.0, weight)), group)
    kept = group < 3
    assert known == pytest.approx(
        effective_size(SamplingUnits(rows=int(kept.sum()), weight=weight[kept]), group[kept]), rel=0.01
    )  # a group without weight does not count
    cluster = np.repeat(np.arange(100), 4)
    assert effective_size(
        SamplingUnits(rows=400, cluster=cluster), np.repeat(group[:100], 4)
    ) == pytest.approx(99, rel=0.05)
    assert effective_size(SamplingUnits(rows=400, cluster=cluster), group) > 300
    assert effective_size(SamplingUnits(rows=400, cluster=cluster), np.zeros(400, dtype=int)) == 100


# Which audits are compared


def window_snapshot(template, end, *, days=30, time="", label=None):
    day = date(2026, 1, 1) + timedelta(end)
    start = None if days is None else str(day - timedelta(days))
    period = Period(label=label or f"to {day}", start=start, end=str(day))
    return replace(template, period=period, time=time or str(day))


def test_audits_compared_have_no_day_in_common(months):
    daily = [window_snapshot(months[0], end) for end in range(100)]
    trend = find_drift(daily[-1], daily[::-1][1:], audits=5, alpha=0.05, looks=12)
    ends = [(date(2026, 1, 1) + timedelta(end)).isoformat() for end in (9, 39, 69)]
    assert trend.reference == tuple(f"to {end}" for end in ends)
    assert [s.period.label for s in trend.snapshots] == [s.period.label for s in daily[-6:]]
    assert all(not s.distributions for s in trend.snapshots[:-1])
    assert trend.snapshots[-1].distributions


def test_no_more_audits_are_compared_than_asked_for(months):
    trend = find_drift(months[-1], months[:-1], audits=2, alpha=0.05, looks=12)
    assert trend.reference == ("2025-05", "2025-06")
    assert [s.period.label for s in trend.snapshots] == ["2025-05", "2025-06", "2025-07"]


def test_later_audits_and_those_of_the_same_period_are_left_out(months):
    trend = find_drift(months[2], [*months, replace(months[2], time="2030")], **SETTINGS)
    assert trend.reference == ("2025-01", "2025-02")


def test_the_last_run_of_a_repeated_audit_counts(months):
    again = replace(months[5], time="2026-01-01", rows=77)
    for past in ([*months[:6], again], [again, *months[:6]]):
        assert [s.rows for s in find_drift(months[6], past, **SETTINGS).snapshots] == [600] * 5 + [77, 600]


def test_audits_of_all_rows_cannot_be_tested(months):
    daily = [window_snapshot(months[0], end, days=None) for end in range(3)]
    trend = find_drift(daily[-1], daily[:-1], **SETTINGS)
    assert (trend.drifts, trend.reference, len(trend.snapshots)) == ((), (), 3)
    assert trend.notes[0].startswith("This audit covers all rows: earlier audits cover")


def test_overlapping_audits_are_not_tested_yet(months):
    trend = find_drift(window_snapshot(months[0], 5), [window_snapshot(months[0], 4)], **SETTINGS)
    assert trend.drifts == ()
    assert trend.notes[0].startswith("No earlier audit with intervals ends before this period begins.")


def test_the_first_audit_has_nothing_to_compare(months):
    trend = find_drift(months[0], [], **SETTINGS)
    assert (trend.snapshots, trend.drifts, trend.notes) == ((months[0],), (), ())


def test_a_new_model_is_left_out_with_a_note(months):
    numbers = [replace(n, model="new") for n in months[-1].numbers if n.model]
    current = replace(months[-1], numbers=(*months[-1].numbers, *numbers))
    trend = find_drift(current, months[:-1], **SETTINGS)
    assert {drift.model for drift in trend.drifts} == {"", "logit"}
    assert trend.notes == ("new is in none of the reference audits, so its numbers are not tested.",)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("audits", 0, "`audits` must be"),
        ("looks", 0, "`looks` must be"),
        ("alpha", 1.0, "`alpha` must"),
    ],
)
def test_settings_are_checked(months, name, value, message):
    with pytest.raises(UsageError, match=message):
        find_drift(months[-1], months[:-1], **(SETTINGS | {name: value}))


# Tests


def test_means_are_compared_with_the_larger_error():
    now, before = (
        MeanEstimate(0.2, 0.2, 0.01, 100.0),
        [MeanEstimate(0.1, 0.1, 0.02, 100.0), MeanEstimate(0.2, 0.2, 0.01, 300.0)],
    )
    found = compare_means(now, before, NORMAL, level=0.95)
    assert found.reference == pytest.approx(0.175)
    of_both = math.sqrt(0.01**2 + (100 * 0.02 / 400) ** 2 + (300 * 0.01 / 400) ** 2)
    in_common = math.sqrt(
        ((100 * 0.01) ** 2 + (100 * 0.02) ** 2 + (300 * 0.01) ** 2) / 500 * (1 / 100 + 1 / 400)
    )
    assert found.statistic == pytest.approx(0.025 / max(of_both, in_common))
    assert found.upper - found.lower == pytest.approx(2 * 1.959964 * max(of_both, in_common), rel=1e-6)


def test_a_sample_without_variation_is_not_a_proof():
    """Its own error is 0; that of all rows together is not."""
    now, before = MeanEstimate(0.0, 0.0, 0.0, 100.0), [MeanEstimate(0.05, 0.05, 0.005, 1900.0)]
    assert compare_means(now, before, NORMAL, level=0.95).p_value > 0.01


def test_overfit_counts_by_the_estimate_that_makes_the_difference_smaller():
    before = [MeanEstimate(0.01, 0.015, 0.002, 500.0)]
    inside = compare_means(MeanEstimate(0.012, 0.012, 0.002, 500.0), before, NORMAL, level=0.95)
    assert (inside.statistic, inside.p_value) == (0.0, 1.0)
    outside = compare_means(MeanEstimate(0.03, 0.03, 0.002, 500.0), before, NORMAL, level=0.95)
    assert outside.statistic == pytest.approx(0.015 / math.hypot(0.002, 0.002))


def test_homogeneity_is_that_of_scipy_by_the_smaller_statistic():
    now, before = np.array([30.0, 50.0, 20.0]), np.array([200.0, 450.0, 350.0])
    both = [
        chi2_contingency([now, before], correction=False, lambda_=name)
        for name in ("pearson", "log-likelihood")
    ]
    smaller = min(both, key=lambda found: found.statistic)
    assert homogeneity_test(now, before, NORMAL) == pytest.approx((smaller.statistic, smaller.pvalue))
    assert homogeneity_test(now, before, ErrorDistribution(20))[1] > smaller.pvalue
    assert all(map(math.isnan, homogeneity_test(np.array([5.0, 0.0]), np.array([9.0, 0.0]), NORMAL)))


def test_two_shares_have_a_signed_root_and_an_interval_around_their_difference():
    fell, rose = compare_shares(np.array([10.0, 90.0]), np.array([300.0, 700.0]), NORMAL, level=0.95)
    assert fell.statistic == -rose.statistic
    assert fell.statistic**2 == pytest.approx(
        homogeneity_test(np.array([10.0, 90.0]), np.array([300.0, 700.0]), NORMAL)[0]
    )
    assert fell.lower < fell.difference < fell.upper < 0
    assert fell.difference == pytest.approx(-0.2)


def test_the_stability_index_is_symmetric_and_0_for_equal_shares():
    a, b = np.array([10.0, 20.0, 30.0]), np.array([30.0, 20.0, 10.0])
    assert stability_index(a, b) == stability_index(b, a) == pytest.approx(2 / 3 * math.log(3))
    assert stability_index(a, 7 * a) == pytest.approx(0, abs=1e-15)
    assert math.isfinite(stability_index(np.array([0.0, 5.0]), np.array([5.0, 0.0])))


def test_groups_are_about_tenths_with_enough_cases():
    counts = np.ones(147)
    assert np.bincount(group_bins(counts, 1000.0)).tolist() == pytest.approx([14.7] * 10, abs=1)
    assert np.bincount(group_bins(counts, 20.0)).min() >= 5 / 20 * 147 - 1
    lumped = np.zeros(147)
    lumped[[10, 70, 71]] = 1, 500, 499
    group = group_bins(lumped, 400.0)
    assert (group[10], group[70], group[71]) == (0, 0, 1)


@pytest.fixture(scope="module")
def stable_p_values():
    """P-values of a model that stays as it is: by run, by look and by test, before and after adjustment."""
    rng, looks = np.random.default_rng(2), 12
    found = []
    for _ in range(100):
        audits = [snap(*draw(rng, 250), number) for number in range(looks + 2)]
        trends = [
            find_drift(audits[k], audits[:k], audits=6, alpha=0.2, looks=looks) for k in range(2, looks + 2)
        ]
        found.append([[(d.p_value, d.p_value_adjusted) for d in trend.drifts] for trend in trends])
    return np.moveaxis(np.array(found), 3, 0)


@pytest.mark.sweep
def test_a_model_that_stays_as_it_is_raises_few_alarms_in_twelve_looks(stable_p_values):
    smallest = stable_p_values[1].min(axis=(1, 2))
    assert smallest.shape == (100,)
    assert np.mean(smallest <= 0.2) <= 0.2


@pytest.mark.sweep
def test_each_test_of_a_model_that_stays_as_it_is_keeps_its_level(stable_p_values):
    p_values = stable_p_values[0].reshape(-1, 4)
    most = 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(p_values))
    assert len(p_values) == 1200
    assert (np.mean(p_values <= 0.05, axis=0) <= most).all()
    prevalence, score, miscalibration, forecasts = np.mean(p_values <= 0.1, axis=0)
    assert min(prevalence, score) > 0.02, "A change must stand out twice, but not be impossible."
    assert forecasts < 0.1  # careful by intention: the test of the index allows for effects of audits
    assert miscalibration < 0.05  # it is careful by intention, as its overfit is known by two estimates only


# Variance between audits


def with_prevalence(snapshot, share, score=0.2, *, rows=1e6):
    """A snapshot of very many rows, so that its sampling error is negligible."""
    brier, mcb, prevalence = snapshot.numbers
    numbers = (
        replace(brier, value=score, corrected=score, standard_error=1e-6),
        mcb,
        replace(prevalence, value=share, standard_error=1e-6),
    )
    return replace(snapshot, size=rows, numbers=numbers, distributions=())


SHARES = np.array([0.28, 0.33, 0.30, 0.26, 0.31, 0.34])


@pytest.mark.parametrize("now", [0.35, 0.45, 0.6])
def test_a_change_must_be_more_than_audits_vary_by_themselves(months, now):
    """One more draw from a process whose spread six audits show: t with 5 degrees of freedom."""
    before = [with_prevalence(s, share, share / 2) for s, share in zip(months, SHARES.tolist(), strict=False)]
    prevalence, score, *_ = find_drift(with_prevalence(months[6], now, now / 2), before, **SETTINGS).drifts
    statistic = (now - SHARES.mean()) / (SHARES.std(ddof=1) * math.sqrt(1 + 1 / 6))
    for drift in (prevalence, score):
        assert drift.p_value == pytest.approx(2 * student.sf(statistic, 5), rel=1e-6)
        assert drift.method.endswith(", and over the spread of 6 audits with a t distribution")
        assert drift.caution == ""
    reach = student.ppf(0.975, 5) * SHARES.std(ddof=1) * math.sqrt(1 + 1 / 6)
    assert prevalence.lower == pytest.approx(now - SHARES.mean() - reach, abs=1e-6)
    assert prevalence.has_drifted == (now == 0.6)


def test_forecasts_must_differ_by_more_than_those_of_earlier_audits_do():
    """The stability index of each audit against the others is the yardstick.

    With two groups and many rows, the test is that of one more share by a t distribution.
    """
    shares = np.array([[30, 70], [50, 50], [40, 60], [35, 65], [45, 55], [38, 62]]) * 1e4
    now = np.array([52.0, 48.0]) * 1e4
    total = shares.sum(axis=0)
    mean = np.mean([stability_index(one, total - one) for one in shares])
    statistic = math.sqrt(stability_index(now, total) / (mean * 5 / 6 * (1 + 1 / 6)))
    contrast = Contrast(statistic=900.0, p_value=1e-100)
    found = allow_for_shifts(contrast, 900.0, now, list(shares), NORMAL)
    assert found.p_value == pytest.approx(2 * student.sf(statistic, 5), rel=1e-2)
    events = shares[:, 0] / shares.sum(axis=1)
    difference = (now[0] / now.sum() - events.mean()) / (events.std(ddof=1) * math.sqrt(1 + 1 / 6))
    assert found.p_value == pytest.approx(2 * student.sf(difference, 5), rel=0.1)
    few = allow_for_shifts(Contrast(statistic=30.0, p_value=1e-7), 30.0, now, list(shares[:3]), NORMAL)
    assert few.p_value == pytest.approx(chi2.sf(15.0, 1), rel=1e-9)  # the variance is doubled
    alike = [shares[0]] * 6
    assert allow_for_shifts(contrast, 900.0, now, alike, NORMAL).p_value == 1e-100


@pytest.mark.parametrize("audits", [1, 2, 4])
def test_with_few_audits_a_note_states_that_their_variance_is_not_known(months, audits):
    trend = find_drift(months[audits], months[:audits], **SETTINGS)
    spread = ", or for means the spread of these audits if that is larger" if audits > 1 else ""
    for drift in trend.drifts:
        assert drift.caution == (
            f"With fewer than 5 earlier audits (here {audits}) the variance between audits is not known; the "
            f"test assumes that it equals the sampling variance{spread}."
        )
        assert drift.sentence.endswith(drift.caution)
    assert measure_drift_table(trend, "95 %").caption.endswith(trend.drifts[0].caution)
    enough = find_drift(months[5], months[:5], **SETTINGS)
    assert not any(drift.caution for drift in enough.drifts)
    assert "not known" not in measure_drift_table(enough, "95 %").caption


def test_few_audits_double_the_variance_and_have_at_least_their_observed_spread():
    contrast = Contrast(
        value=3.0, reference=0.0, difference=3.0, lower=1.04, upper=4.96, statistic=3.0, p_value=0.0027
    )
    one = allow_for_audits(contrast, find_audit_spread([0.0], [1.0]), (3.0, 3.0), NORMAL, level=0.95)
    assert one.p_value == pytest.approx(2 * norm.sf(3 / math.sqrt(2)))
    assert (one.lower, one.upper) == pytest.approx((3 - 1.96 * math.sqrt(2), 3 + 1.96 * math.sqrt(2)))
    wide = find_audit_spread([-2.0, 2.0], [1.0, 1.0])
    assert wide.error == pytest.approx(math.sqrt(8) * math.sqrt(1.5))
    two = allow_for_audits(contrast, wide, (3.0, 3.0), NORMAL, level=0.95)
    assert two.p_value == pytest.approx(2 * norm.sf(3 / wide.error))
    untested = Contrast(value=1.0)
    assert allow_for_audits(untested, wide, (1.0, 1.0), NORMAL, level=0.95) == untested


@pytest.mark.sweep
def test_days_that_vary_raise_few_alarms():
    """Twelve months whose mean log-odds vary by 0.2; without their spread nearly every year has an alarm."""
    rng, alarms = np.random.default_rng(4), 0
    for _ in range(8):
        audits = [snap(*draw_month(rng), number) for number in range(16)]
        found = [find_drift(audits[k], audits[:k], **SETTINGS).has_drifted for k in range(8, 16)]
        alarms += any(found)
    assert alarms <= 3  # the probability of more is below 1e-3


def draw_month(rng, n=1500):
    log_odds = rng.normal(-1, 1.2, n)
    return expit(log_odds), (rng.random(n) < expit(log_odds + rng.normal(0, 0.2))).astype(float)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"shift": 1.0}, {("", "prevalence"), ("logit", "forecasts")}),
        ({"slope": 0.5}, {("logit", "brier_miscalibration")}),
        ({"spread": 2.0}, {("logit", "forecasts")}),
    ],
)
def test_real_changes_are_found(change, expected):
    rng = np.random.default_rng(8)
    audits = [snap(*draw(rng, 2500), number, draws=20) for number in range(4)]
    changed = snap(*draw(rng, 2500, **change), 4, draws=20)
    assert drifted(find_drift(changed, audits, **SETTINGS)) >= expected
    assert not find_drift(snap(*draw(rng, 2500), 4), audits, **SETTINGS).has_drifted


def with_miscalibration(snapshot, value, error):
    """A snapshot with this raw miscalibration, without overfit to subtract."""
    score, mcb, prevalence = snapshot.numbers
    changed = replace(
        mcb, value=value, corrected=value, standard_error=error, overfit=0.0, overfit_closed=0.0
    )
    return replace(snapshot, numbers=(score, changed, prevalence))


def miscalibration_drift(months, now, before, error):
    past = [with_miscalibration(s, before, error) for s in months[:-1]]
    trend = find_drift(with_miscalibration(months[-1], now, error), past, **SETTINGS)
    return next(drift for drift in trend.drifts if drift.measure == "brier_miscalibration")


def test_miscalibration_falls_by_no_more_than_it_was(months):
    """The interval of the difference is cut there before it states how large a change may be hidden."""
    drift = miscalibration_drift(months, 0.0002, 0.0014, 0.003)
    assert (drift.reference, drift.lower) == (pytest.approx(0.0014), -drift.reference)
    assert drift.lower < drift.difference < drift.upper
    hidden = miscalibration_drift(months, 0.0, 0.0014, 0.00115).sentence
    assert hidden.endswith(
        "of −0.0014 [−0.0014, 0.0011] can be due to chance; if there is a change, it is small."
    )
    wide = miscalibration_drift(months, 0.03, 0.05, 0.01)
    assert wide.lower > -wide.reference
    negative = miscalibration_drift(months, -0.01, -0.001, 0.001)
    assert (negative.difference, negative.lower, negative.upper) == (0.0, 0.0, 0.0)


def test_another_configuration_is_noted(months):
    names = ["", "a" * 64, "b" * 64, "a" * 64, "b" * 64, "b" * 64, "b" * 64]
    known = [replace(s, configuration=name) for s, name in zip(months, names, strict=True)]
    note = "The configuration has changed since 2025-04: the numbers may differ for that reason"
    (text,) = find_drift(known[-1], known[:-1], **SETTINGS).notes
    assert text.startswith(f"{note}, if other rows or columns are read")
    for current, past in (
        (known[-1], known[4:6]),  # all by the same configuration
        (known[-1], [months[0], *known[4:6]]),  # one by an unknown configuration
        (months[-1], known[:-1]),  # the current audit is by an unknown configuration
    ):
        assert find_drift(current, past, **SETTINGS).notes == ()
    assert find_drift(known[-1], known[:-1], audits=2, alpha=0.05, looks=12).notes == ()


def test_p_values_are_adjusted_for_tests_and_looks(months):
    trend = find_drift(months[-1], months[:-1], **SETTINGS)
    smallest = min(trend.drifts, key=lambda drift: drift.p_value)
    assert len(trend.drifts) == 4
    assert smallest.p_value_adjusted == min(12 * 4 * smallest.p_value, 1)
    once = find_drift(months[-1], months[:-1], audits=12, alpha=0.05, looks=1)
    assert min(d.p_value_adjusted for d in once.drifts) == pytest.approx(min(4 * smallest.p_value, 1))
    assert json_documents.load(Trend, json_documents.dump(trend), "trend") == trend


# Sentences, table, figure and section


def test_sentences_distinguish_a_tiny_change_from_a_large_one(months):
    """With very many rows a change of no importance is more than chance."""
    many = [replace(s, size=4e6, distributions=()) for s in months]
    many = [replace(s, numbers=tuple(replace(n, standard_error=1e-6) for n in s.numbers)) for s in many]
    prevalence = many[0].numbers[2]
    before = [replace(s, numbers=(*many[0].numbers[:2], prevalence)) for s in many[:-1]]
    tiny, large = (
        find_drift(replace(many[-1], numbers=(*many[0].numbers[:2], number)), before, **SETTINGS).drifts[0]
        for number in (
            replace(prevalence, value=prevalence.value * 1.01),
            replace(prevalence, value=prevalence.value * 1.5),
        )
    )
    assert tiny.has_drifted
    assert tiny.sentence.endswith(
        "a small change, but more than chance explains. Scores depend on the prevalence as well."
    )
    assert large.sentence.startswith("Prevalence rose from ")
    assert "percentage points [" in large.sentence
    assert "a large change, more than chance explains" in large.sentence


def test_sentences_say_what_the_data_leave_open(months):
    trend = find_drift(months[-1], months[:-1], **SETTINGS)
    for drift in trend.drifts:
        assert "can be due to chance" in drift.sentence
        assert drift.note == ""
    assert "Brier score of logit: " in trend.drifts[1].sentence
    assert ", in earlier audits " in trend.drifts[1].sentence
    assert "stability index" in trend.drifts[3].sentence


def test_few_events_are_not_enough_for_a_test_of_miscalibration():
    rng = np.random.default_rng(6)
    audits = [snap(*draw(rng, 120, shift=-2.2), number) for number in range(4)]
    trend = find_drift(audits[-1], audits[:-1], **SETTINGS)
    (mcb,) = [drift for drift in trend.drifts if drift.measure == "brier_miscalibration"]
    assert mcb.note.endswith("fewer than 20 rows have an outcome other than the most frequent one.")
    assert math.isnan(mcb.p_value_adjusted)
    assert not mcb.has_drifted
    assert measure_drift_table(trend, "95 %").rows[-1][-1] == "not tested"


def test_tables_have_a_row_for_each_test(months):
    trend = find_drift(months[-1], months[:-1], **SETTINGS)
    numbers, forecasts = measure_drift_table(trend, "95 %"), forecast_drift_table(trend, "95 %")
    assert [row[:2] for row in numbers.rows] == [
        ("prevalence", "all cases"),
        ("Brier score", "logit"),
        ("MCB", "logit"),
    ]
    assert {row[-1] for row in (*numbers.rows, *forecasts.rows)} == {"may be chance"}
    assert len(forecasts.rows) == 1
    assert all(len(row) == len(numbers.heads) for row in numbers.rows)
    first = find_drift(months[0], [], **SETTINGS)
    assert measure_drift_table(first, "95 %") is forecast_drift_table(first, "95 %") is None


@pytest.mark.parametrize(
    ("first", "last", "texts"),
    [
        ("2026-03-01", "2026-03-03", ["2026-03-01", "2026-03-02", "2026-03-03"]),
        ("2026-03-01", "2026-04-10", ["2026-03-13", "2026-03-27", "2026-04-10"]),
        ("2025-02-03", "2026-02-03", ["2025-04", "2025-07", "2025-10", "2026-01"]),
        ("2021-02-03", "2026-02-03", ["2022", "2023", "2024", "2025", "2026"]),
        ("2020-02-03", "2026-02-03", ["2022", "2024", "2026"]),
    ],
)
def test_dates_below_an_axis_are_round_and_few(first, last, texts):
    ends = (date.fromisoformat(day).toordinal() for day in (first, last))
    assert date_ticks(*ends, 5)[1] == texts


LIMITS = """[report]
title = "Audit"
omit = {omit}
[limits]
brier = {{ warn = 0.19, fail = 0.2 }}
prevalence = {{ min = 0.2, max = 0.9 }}
"""


def limited(*kept):
    omit = [name for name in SECTION_NAMES if name not in kept]
    return parse_configuration(LIMITS.format(omit=omit), "audit.toml")


@pytest.fixture(scope="module")
def report(evaluation):
    """An audit in which events are much more frequent than in the six months before."""
    rng = np.random.default_rng(7)
    past = [snap(*draw(rng, 500, shift=-1.5), number) for number in range(6)]
    current = take_snapshot(evaluation, month_period(6), time="2025-08-01T06:00:00+00:00")
    trend = find_drift(current, past, **SETTINGS)
    with fixed_time(read_time("2026-11-15")):
        return prepare_report(evaluation, None, limited("summary", "trend"), trend=trend)


def test_the_description_of_the_figure_states_numbers_limits_and_changes(report):
    described = describe_trend(report.trend, report.judgements)
    assert described.startswith("Numbers of 7 audits, from 2025-01 to 2025-07. Brier score: logit 0.")
    assert "warning above 0.19; limit at most 0.2." in described
    assert "Prevalence: " in described
    assert "changed by more than chance explains" in described
    first, again = (render_svg(plot_trend(report.trend, report.judgements)) for _ in range(2))
    assert first == again


@pytest.mark.parametrize(("audits", "models"), [(2, 1), (61, 5)])
def test_the_figure_keeps_its_labels_apart(months, audits, models):
    names = [f"model {number}" for number in range(models)]
    daily = [window_snapshot(months[0], end) for end in range(audits)]
    daily = [
        replace(s, numbers=(*(replace(n, model=m) for m in names for n in s.numbers[:2]), s.numbers[2]))
        for s in daily
    ]
    figure = plot_trend(find_drift(daily[-1], daily[:-1], audits=60, alpha=0.05, looks=12), [])
    assert len(figure.axes) == 3
    for axes in figure.axes[:2]:
        heights = sorted(text.get_position()[1] for text in axes.texts)
        points = axes.get_position().height * figure.get_size_inches()[1] * 72
        assert len(heights) == models
        assert all(above - below >= 9.4 / points for below, above in pairwise(heights))


def test_the_public_plot_draws_the_trend_of_an_audit(months):
    trend = find_drift(months[2], months[:2], **SETTINGS)
    figure = plots.trend(trend)
    assert [axes.get_ylim() for axes in figure.axes] == [
        axes.get_ylim() for axes in plot_trend(trend, []).axes
    ]
    assert plt.fignum_exists(figure.number)
    plt.close(figure)


def test_points_stand_in_the_middle_of_their_periods(months):
    trend = find_drift(months[2], months[:2], **SETTINGS)
    figure = plot_trend(trend, [])
    (points,) = {tuple(line.get_xdata()) for line in figure.axes[0].lines if len(line.get_xdata()) == 3}
    middles = ["2025-01-16", "2025-02-14", "2025-03-16"]
    assert points == tuple(date.fromisoformat(day).toordinal() for day in middles)
    assert [tick.get_text() for tick in figure.axes[-1].get_xticklabels()] == [
        "2025-01",
        "2025-02",
        "2025-03",
    ]
    assert figure.axes[-1].get_xticks().tolist() == list(points)


def test_a_longer_period_whose_middle_lies_before_others_is_drawn_there(months):
    year = replace(months[6], period=Period(label="2025", start="2025-01-01", end="2026-01-01"))
    figure = plot_trend(find_drift(year, months[:6], **SETTINGS), [])
    (line,) = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 7]
    assert (np.diff(line.get_xdata()) > 0).all()
    texts = [tick.get_text() for tick in figure.axes[-1].get_xticklabels()]
    assert texts[0] == "2025-02"
    assert texts[-1] == "2025-07"


def test_the_caption_states_where_points_stand(report, months):
    daily = [window_snapshot(months[0], end, days=None) for end in range(3)]
    for past, current, where in (
        (months[:-1], months[-1], "Numbers of 7 audits, each at the middle of its period, "),
        (daily[:-1], daily[-1], "Numbers of 3 audits, each at the last day of its period, "),
    ):
        section = describe_trend_section(replace(report, trend=find_drift(current, past, **SETTINGS)))
        assert section.parts["trend"]["caption"].startswith(where)


@pytest.mark.sweep
def test_an_audit_in_which_nothing_was_found_says_so(report, months):
    few = find_drift(months[-1], months[:-1], **SETTINGS)
    quiet = reconfigure_report(replace(report, trend=few), limited("trend"), report.provenance)
    page = render_report(quiet, {".html"})[".html"].decode()
    assert "No test found a change. This does not prove that nothing has changed: each interval shows" in page


@pytest.mark.sweep
def test_the_caution_of_few_audits_stands_once_in_the_section(report, months):
    few = find_drift(months[2], months[:2], **SETTINGS)
    assert len([drift for drift in few.drifts if drift.caution]) > 1
    quiet = reconfigure_report(replace(report, trend=few), limited("trend"), report.provenance)
    page = render_report(quiet, {".html"})[".html"].decode()
    shown = re.sub(r"<[^>]*>", "", page)  # a table has its caption as a label as well
    assert shown.count("the variance between audits is not known") == 1


def test_the_section_is_in_the_page_and_survives_the_document(report, tmp_path):
    rendered = render_report(report, {".html", ".json"})
    page = rendered[".html"].decode()
    assert "Comparison with earlier audits" in page
    assert "The following numbers have changed by more than chance explains:" in page
    assert "6 periods from 2025-01 to 2025-06" in page
    assert "in 12 audits in a row is at most 5 %" in page
    (tmp_path / "audit.json").write_bytes(rendered[".json"])
    again = read_report(tmp_path / "audit.json")
    assert json_documents.encode(again.trend) == json_documents.encode(report.trend)
    assert render_report(again, {".html", ".json"}) == rendered


def test_what_drifted_is_a_finding_of_the_summary(report):
    (finding,) = [finding for finding in list_report_findings(report) if finding.see == "drift"]
    assert "changed since earlier audits by more than chance explains: prevalence" in finding.text
    assert list_report_findings(replace(report, trend=None)) == [
        f for f in list_report_findings(report) if f is not finding and f != finding
    ]


def test_several_changes_against_few_audits_carry_the_caution_on_page_one(report):
    cautious = tuple(replace(drift, caution="Few audits.") for drift in report.trend.drifts)
    few = replace(report, trend=replace(report.trend, drifts=cautious))
    (finding,) = [finding for finding in list_report_findings(few) if finding.see == "drift"]
    assert finding.text.endswith(" Few audits.")


@pytest.mark.sweep
def test_the_section_can_be_left_out(report):
    without = reconfigure_report(report, limited("summary"), report.provenance)
    assert without.trend == report.trend
    page = render_report(without, {".html"})[".html"].decode()
    assert 'id="trend"' not in page
    assert page.count("earlier audits") == 1
    assert re.search(r"Left out on request: [^.]*\bcomparison with earlier audits\b[^.]*\.", page)


@pytest.mark.sweep
def test_the_first_audit_says_that_it_is_the_first(report):
    first = find_drift(report.trend.snapshots[-1], [], **SETTINGS)
    page = render_report(
        reconfigure_report(replace(report, trend=first), limited("trend"), report.provenance), {".html"}
    )[".html"].decode()
    assert "This is the first audit of its kind (2025-07, 240 rows)" in page
    assert "<figure" not in page
