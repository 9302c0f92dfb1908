"""What a report says of decisions by threshold: tables, findings, limits, figures and grades."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.inference.grades import grade_test
from scorereport.plots.decision_curves import find_whole_bands, plot_decision
from scorereport.plots.intervention_curves import describe_interventions, plot_interventions
from scorereport.report.decision_findings import find_decisions
from scorereport.report.finding_records import Consequence
from scorereport.report.tables.calibration_tables import grade_tables
from scorereport.report.tables.table_catalogue import find_table
from scorereport.report.tables.threshold_tables import decision_count_table, decision_range_table, list_ranges

RNG = np.random.default_rng(260)
N = 3000
P = RNG.beta(1, 3, N)
Y = (RNG.random(N) < P).astype(int)
FRAME = pd.DataFrame({"y": Y, "good": P, "high": np.clip(P + 0.35, 0, 1), "w": RNG.integers(1, 4, N) / 2})


@pytest.fixture(scope="module")
def evaluation():
    return sr.evaluate(FRAME, outcome="y", forecasts=["good", "high"], cost_interval=(0.2, 0.5))


def texts(evaluation):
    return [finding.text for finding in find_decisions(evaluation)]


def test_the_table_of_ranges_names_the_better_model_for_each_pair_and_policy(evaluation):
    table = decision_range_table(evaluation.comparisons.decisions, "95 %")
    assert [row[:2] for row in table.rows] == [
        ("good", "high"),
        ("good", "treat all"),
        ("good", "treat none"),
        ("high", "treat all"),
        ("high", "treat none"),
    ]
    assert table.rows[0][2:] == ("0.2 to 0.5", "–", "–")
    assert "simultaneous over the 31 thresholds compared" in table.caption
    assert "pairs" not in table.caption  # there is one
    (shown,) = find_table("decision-ranges").make(evaluation)
    assert shown.rows == table.rows


def test_ranges_cover_all_thresholds_once(evaluation):
    for d in evaluation.comparisons.decisions:
        steps = [t for r in d.ranges for t in d.threshold if r.lower <= t <= r.upper]
        assert steps == d.threshold.tolist()


def test_many_ranges_are_summarized(evaluation):
    d = evaluation.comparisons.decisions[0]
    wave = np.where(np.arange(len(d.threshold)) % 2, 1.0, -1.0)
    many = replace(d, simultaneous_lower=wave, simultaneous_upper=wave + 0.5)
    assert list_ranges(many, "good") == "15 thresholds 0.21 to 0.49"
    assert list_ranges(many, "high") == "16 thresholds 0.2 to 0.5"


def test_the_table_of_counts_has_the_four_counts_and_names_weights(evaluation):
    table = decision_count_table(evaluation.models, weighted=False)
    first = dict(zip(table.heads, table.rows[0], strict=True))
    acts = P >= 0.2
    assert first["acted on, event (TP)"] == f"{(acts & (Y == 1)).sum():,}"
    assert first["not acted on, no event (TN)"] == f"{(~acts & (Y == 0)).sum():,}"
    assert "sums of weights" not in table.caption
    weighted = sr.evaluate(FRAME, outcome="y", forecasts=["good"], weight="w", resamples=0)
    (table,) = find_table("decision-counts").make(weighted)
    assert "Counts of decisions (sums of weights)" in table.caption
    assert sum(float(text.replace(",", "")) for text in table.rows[0][2:]) == pytest.approx(FRAME["w"].sum())


def test_findings_name_the_best_model_and_one_that_is_worse_than_no_model(evaluation):
    found = list(find_decisions(evaluation))
    assert found[0].text == (
        "good has a higher net benefit than high at every threshold between 0.2 and 0.5 "
        "(95 % simultaneous band)."
    )
    (worse,) = found[1:]
    assert worse.text.startswith("high decides worse than acting on no case at thresholds ")
    assert worse.text.endswith(" to 0.5, of those between 0.2 and 0.5 (95 % simultaneous band).")
    assert (worse.consequence, worse.model) == (Consequence.WORSE_THAN_NO_MODEL, "high")
    assert worse.action == "Do not decide by {models} at thresholds where acting on all or none is better."
    assert found[0].text in evaluation.findings


def test_the_best_model_is_better_than_every_other():
    """One of three models is better than the worst, but not distinguishable from its copy."""
    frame = FRAME.assign(copy=FRAME["good"].round(4))
    found = sr.evaluate(frame, outcome="y", forecasts=["good", "copy", "high"], cost_interval=(0.2, 0.5))
    assert not any("at every threshold" in text for text in texts(found))
    pair = next(d for d in found.comparisons.decisions if (d.first, d.second) == ("good", "high"))
    assert set(pair.better) == {"good"}


def test_bands_of_several_pairs_hold_for_all_of_them(evaluation):
    frame = FRAME.assign(copy=FRAME["good"].round(4))
    found = sr.evaluate(frame, outcome="y", forecasts=["good", "high", "copy"], cost_interval=(0.2, 0.5))
    alone, together = evaluation.comparisons.decisions[0], found.comparisons.decisions[0]
    assert (together.first, together.second, together.pairs) == ("good", "high", 3)
    widths = [d.simultaneous_upper - d.simultaneous_lower for d in (alone, together)]
    assert (widths[1] > 1.05 * widths[0]).all()  # Monte-Carlo errors are about 2 %


def line_of(model, figure):
    (axes,) = figure.axes
    return next(line.get_data() for line in axes.get_lines() if line.get_label() == model)


def test_forecasts_that_are_labels_have_no_reduction_to_describe():
    found = sr.evaluate(
        FRAME.assign(label=FRAME["good"] > 0.3), outcome="y", forecasts=["label"], resamples=20
    )
    assert "At threshold 0.50: label n/d." in describe_interventions(found.models, None)
    expected = {row.threshold: row.interventions_avoided for row in found.models[0].thresholds}
    for decisions in (found.comparisons.decisions, None):
        x, y = line_of("label", plot_interventions(found.models, None, decisions))
        assert len(x) > 1
        for threshold, avoided in expected.items():
            if threshold in x:
                assert y[list(x).index(threshold)] == pytest.approx(avoided)


def test_costs_below_all_forecasts_spare_nothing():
    frame = FRAME.assign(safe=0.5 + FRAME["good"] / 2)
    found = sr.evaluate(frame, outcome="y", forecasts=["safe"], cost_interval=(0.05, 0.2), resamples=20)
    _, y = line_of("safe", plot_interventions(found.models, (0.05, 0.2), found.comparisons.decisions))
    assert y == pytest.approx(0.0)


def test_without_an_interval_of_costs_nothing_is_stated_of_thresholds():
    assert texts(sr.evaluate(FRAME, outcome="y", forecasts=["good", "high"])) == []


def test_a_limit_on_interventions_avoided_is_judged_by_its_interval(evaluation):
    row = evaluation.models[0].thresholds[0]
    found = row.interval("interventions_avoided")
    for limit, verdict in (
        (found.lower - 1, "pass"),
        (found.upper + 1, "fail"),
        (found.value, "inconclusive"),
    ):
        judged = evaluation.verdicts({"interventions_avoided": {"at": 0.2, "fail": limit}})
        of_model = judged[judged["model"] == "good"].iloc[0]
        assert of_model["verdict"] == verdict
        assert of_model["value"] == pytest.approx(row.interventions_avoided)


def test_figures_draw_simultaneous_bands_of_models_that_have_them(evaluation):
    decisions = evaluation.comparisons.decisions
    bands = find_whole_bands(evaluation.models, decisions)
    assert [band.first for band in bands] == ["good", "high"]
    assert {band.against for band in bands} == {"treat none"}
    assert find_whole_bands(evaluation.models, None) == [None, None]
    for plot in (plot_decision, plot_interventions):
        with_bands, without = (plot(evaluation.models, (0.2, 0.5), known) for known in (decisions, None))
        assert len(with_bands.axes[0].artists) + len(with_bands.axes[0].patches) >= 2
        assert with_bands.get_size_inches().tolist() == without.get_size_inches().tolist()
    assert "At threshold 0.35: good " in describe_interventions(evaluation.models, (0.2, 0.5))


def test_tables_of_grades_end_with_all_cases_and_count_the_lights(evaluation):
    grades = (grade_test(100, 3, 0.02, grade="A"), grade_test(50, 15, 0.1, grade="B"))
    model = evaluation.models[0]
    (table,) = grade_tables([("m", replace(model.calibration, grades=grades))])
    assert "Of 2 grades: 1 red and 1 green" in table.caption
    assert table.rows[-1][:3] == ("all grades", "150", "18")
    assert table.rows[-1][3] == "4.7 %"
    assert table.rows[-1][-1] == grade_test(150, 18, 7 / 150).light
    (one,) = grade_tables([("m", replace(model.calibration, grades=grades[:1]))])
    assert len(one.rows) == 1
