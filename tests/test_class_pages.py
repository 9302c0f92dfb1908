"""What a report and the terminal show of models of K classes: figures, tables, sections."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from math import log

import numpy as np
import pandas as pd
import pytest
from plot_tools import HIGHEST, part_heights
from report_tools import in_full

import scorereport as sr
from scorereport.cli.terminal import print_evaluation
from scorereport.errors import UsageError
from scorereport.inference.estimates import holm
from scorereport.plots import (
    describe_confusion,
    describe_view_components,
    describe_views,
    plot_confusion,
    plot_view_components,
    plot_views,
    render_svg,
)
from scorereport.plots.class_reliability import MOST_VIEWS, choose_views, describe_axes, leaves_band
from scorereport.report.assembly import describe_report
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.calibration_section import describe_class_calibration_section
from scorereport.report.sections.data_section import describe_class_data_section
from scorereport.report.sections.decomposition_section import describe_class_decomposition_section
from scorereport.report.sections.discrimination_section import describe_class_discrimination_section
from scorereport.report.sections.performance_section import describe_class_performance_section
from scorereport.report.tables.data_tables import class_forecast_table, class_table, label_table
from scorereport.report.tables.decision_tables import (
    cost_matrix_table,
    cost_table,
    find_decision_costs,
    penalty_table,
)
from scorereport.report.tables.decomposition_tables import sum_views, view_decomposition_table
from scorereport.report.tables.overview import evaluation_tables
from scorereport.report.tables.score_tables import score_table
from scorereport.report.templates import render_html
from scorereport.results.class_records import CLASS, THRESHOLD, Confusion
from scorereport.scores import naive_expected_cost

GRADES = ["none", "mild", "moderate", "severe"]
GREEK = ["Ωμέγα", "κακή 🙂", "ohneLeerzeichenUndMitSehrVielenBuchstabenUndNochMehrDavon1234", "x"]
LONG = [f"A very long name of a class with sixty letters, really so {k:02d}" for k in range(13)]
DESCRIBERS = (
    describe_class_data_section,
    describe_class_performance_section,
    describe_class_calibration_section,
    describe_class_discrimination_section,
    describe_class_decomposition_section,
)


def make_frame(labels, n=120, seed=3):
    """A frame with classes drawn from the forecasts of one of two models."""
    rng = np.random.default_rng(seed)
    parts, forecasts = [], {}
    level = rng.normal(size=(n, 1))
    for name, sharpness in (("calm", 1.0), ("bold", 2.5)):
        odds = np.exp(-sharpness * np.abs(level - np.linspace(-1.5, 1.5, len(labels))))
        p = odds / odds.sum(axis=1, keepdims=True)
        forecasts[name] = [f"{name} {k}" for k in range(len(labels))]
        parts.append(pd.DataFrame(p, columns=forecasts[name]))
        if name == "calm":
            place = np.minimum((rng.random((n, 1)) > p.cumsum(axis=1)).sum(axis=1), len(labels) - 1)
    observed = pd.Series([labels[k] for k in place], name="grade")
    return pd.concat([observed, *parts], axis=1), forecasts


def evaluate(labels, *, ordered=True, resamples=0, absent="", **more):
    frame, forecasts = make_frame(labels)
    frame["grade"] = frame["grade"].replace(absent, labels[0])
    return sr.evaluate(
        frame,
        outcome="grade",
        forecasts=forecasts,
        classes=labels,
        ordered=ordered,
        resamples=resamples,
        normalize=True,
        **more,
    )


@pytest.fixture(scope="module")
def graded():
    return evaluate(GRADES, resamples=40)


@pytest.fixture(scope="module")
def named():
    return evaluate(GREEK, ordered=False, resamples=40)


@pytest.fixture(scope="module")
def bare():
    return evaluate(GRADES)


@pytest.fixture(scope="module")
def two():
    return evaluate(["no", "yes"])


@pytest.fixture(scope="module")
def fifty():
    return evaluate([f"grade {k}" for k in range(50)])


def report_of(evaluation):
    return build_report(evaluation, Provenance(time="2026-11-15T07:30:12+00:00"))


#: Sections by describing function and evaluation, which fixtures keep alive: drawing them takes long.
DESCRIBED = {}


def section_of(describe, evaluation):
    key = describe, id(evaluation)
    if key not in DESCRIBED:
        DESCRIBED[key] = describe(report_of(evaluation)), evaluation
    return DESCRIBED[key][0]


def scores_of(evaluation):
    return [result.scores for result in evaluation.class_models]


def column(table, head, *, after=0):
    place = table.heads.index(head, after)
    return [row[place] for row in table.rows]


# Tables


def test_shares_of_classes_are_beside_their_intervals(graded):
    table = class_table(graded.data.classes, "95 %")
    for row, count in zip(table.rows, graded.data.classes.counts, strict=True):
        assert row[0] == count.label
        assert row[1] == f"{count.weight:.0f}"
        assert row[2] == f"{100 * count.share:.1f} %"
        assert row[3] == f"[{100 * count.interval.lower:.1f}, {100 * count.interval.upper:.1f}]"
    assert "from lowest to highest" in table.caption


def test_mean_forecasts_are_beside_the_observed_share(graded):
    table = class_forecast_table(graded.class_models, graded.data.classes)
    views = graded.class_models[1].family(CLASS).views
    of_model = [row for row in table.rows if row[1] == "bold"]
    for row, view, count in zip(of_model, views, graded.data.classes.counts, strict=True):
        assert row[2] == f"{100 * count.share:.1f} %"
        assert row[3] == f"{100 * view.forecasts.mean:.1f} %"
        assert row[6] == f"{100 * view.forecasts.maximum:.1f} %"


def test_ordinal_scores_are_named_on_both_scales(graded):
    table = score_table(scores_of(graded), {}, "95 %", n_classes=4)
    means = {(row[0], row[1]): row[2] for row in table.rows}
    for scores in scores_of(graded):
        rps, sa_rps = (scores.score(name).value for name in ("rps", "sa_rps"))
        assert means["RPS, divided by K − 1", scores.model] == f"{rps:.4f}"
        assert means["RPS, plain sum", scores.model] == f"{3 * rps:.4f}"
        assert means["sa-RPS (not proper), in [0, 1]", scores.model] == f"{sa_rps:.4f}"
        assert means["sa-RPS (not proper), × 3", scores.model] == f"{3 * sa_rps:.4f}"
    rps = graded.class_models[0].scores.score("rps")
    rows = {row[0]: row for row in table.rows if row[1] == "calm"}
    assert rows["RPS, plain sum"][3] == f"[{3 * rps.interval.lower:.4f}, {3 * rps.interval.upper:.4f}]"
    assert rows["RPS, plain sum"][4:] == rows["RPS, divided by K − 1"][4:]


@pytest.mark.sweep
def test_skill_of_classes_is_against_the_class_frequencies(graded, named):
    for evaluation in (graded, named):
        caption = score_table(scores_of(evaluation), {}, "95 %", n_classes=4).caption
        assert "0 % the class-frequency forecast" in caption
        assert "prevalence" not in caption
        assert "RPS" not in caption  # the section describes it


def test_the_section_describes_the_scales_of_ordinal_scores(graded, named, two):
    scalings, other, of_two = (
        section_of(describe_class_performance_section, evaluation).content["scalings"]
        for evaluation in (graded, named, two)
    )
    assert "given on [0, 1] and 3 times as large" in scalings
    assert "sa-RPS is not proper" in scalings
    assert other == ""
    assert of_two.endswith("with two classes, both are half of the Brier score.")


def test_two_classes_have_one_scale_on_which_sa_rps_is_proper(two):
    table = score_table(scores_of(two), {}, "95 %", n_classes=2)
    labels = [row[0] for row in table.rows]
    assert "RPS, plain sum" not in labels
    assert "sa-RPS, in [0, 1]" in labels
    assert "not proper" not in table.caption


def test_penalties_add_up(graded):
    table = penalty_table(scores_of(graded), 4, "95 %")
    for row, scores in zip(table.rows, scores_of(graded), strict=True):
        accuracy = scores.score("accuracy")
        wrong = 1 - accuracy.value
        assert row[1] == f"{100 * wrong:.1f} %"
        assert (
            row[2]
            == f"[{100 - 100 * accuracy.interval.upper:.1f}, {100 - 100 * accuracy.interval.lower:.1f}]"
        )
        assert row[4] == f"{0.75 * wrong:.4f}"
        assert row[5] == f"{scores.score('multiclass_brier').value + 0.75 * wrong:.4f}"
        assert row[7] == f"{log(4) * wrong:.4f}"
        assert row[8] == f"{scores.score('multiclass_log_loss').value + log(4) * wrong:.4f}"
    assert "(K − 1)/K = 0.7500" in table.caption
    assert "log K = 1.3863" in table.caption


@pytest.mark.parametrize("matrix", [None, [[0, 1, 2, 9], [1, 0, 1, 3], [2, 1, 0, 1], [5, 4, 3, 0]]])
def test_costs_are_divided_by_those_of_the_best_constant_decision(matrix):
    evaluation = evaluate(GRADES, cost_matrix=matrix)
    costs = find_decision_costs(evaluation)
    observed = [GRADES.index(label) for label in make_frame(GRADES)[0]["grade"]]
    naive = naive_expected_cost(observed, n_classes=4, cost=matrix)
    assert costs.naive == pytest.approx(naive, abs=1e-15)
    table = cost_table(scores_of(evaluation), costs, "95 %")
    for row, scores in zip(table.rows, scores_of(evaluation), strict=True):
        cost = scores.score("expected_cost")
        assert row[1:] == (f"{cost.value:.4f}", f"{naive:.4f}", f"{cost.value / naive:.4f}")
        assert cost.value / naive == pytest.approx(1 - cost.skill)
    assert f"always “{costs.decision}”" in table.caption


def test_the_best_constant_decision_is_named():
    matrix = np.full((4, 4), 5.0)
    matrix[:, 2] = 1.0
    np.fill_diagonal(matrix, 0.0)
    assert find_decision_costs(evaluate(GRADES, cost_matrix=matrix)).decision == "moderate"


def test_a_ratio_of_costs_has_an_interval_only_if_right_decisions_are_free(graded):
    costs = find_decision_costs(graded)
    skill = graded.class_models[0].scores.score("expected_cost").skill_interval
    first = cost_table(scores_of(graded), costs, "95 %").rows[0]
    assert first[-1] == f"[{1 - skill.upper:.4f}, {1 - skill.lower:.4f}]"
    dear = replace(costs, matrix=costs.matrix + 1)
    assert cost_table(scores_of(graded), dear, "95 %").rows[0][-1] == ""


def test_a_matrix_of_costs_has_no_more_decimals_than_it_needs():
    whole = cost_matrix_table(find_decision_costs(evaluate(GRADES, cost_matrix=1 - np.eye(4))), GRADES)
    assert whole.rows[1] == ("mild", "1", "0", "1", "1")
    ninths = cost_matrix_table(find_decision_costs(evaluate(GRADES)), GRADES)
    assert ninths.rows[0] == ("none", "0.0000", "0.1111", "0.4444", "1.0000")


@pytest.mark.sweep
def test_long_labels_number_the_columns_of_a_matrix_of_costs(named, fifty):
    table = cost_matrix_table(find_decision_costs(named), GREEK)
    assert table.heads[1:] == ("1", "2", "3", "4")
    assert [row[0] for row in table.rows] == [f"{n}: {label}" for n, label in enumerate(GREEK, start=1)]
    assert cost_matrix_table(find_decision_costs(fifty), fifty.data.classes.labels) is None


def test_precision_recall_and_f1_are_those_of_the_confusion_table(graded):
    table = label_table(graded.class_models, graded.data.classes, "95 %")
    for model in graded.class_models:
        counts = np.array(model.confusion.counts)
        rows = [row for row in table.rows if row[1] == model.model]
        for k, row in enumerate(rows[:-1]):
            right, observed, predicted = counts[k, k], counts[k].sum(), counts[:, k].sum()
            assert row[2] == (f"{100 * right / predicted:.1f} %" if predicted else "n/d")
            assert row[3] == f"{100 * right / observed:.1f} %"
            assert row[4] == f"{2 * right / (observed + predicted):.4f}"
            assert row[5] == f"{model.family(CLASS).views[k].scores.score('roc_auc').value:.4f}"
        assert rows[-1][4] == f"{model.scores.score('macro_f1').value:.4f}"


@pytest.mark.parametrize("kind", [CLASS, THRESHOLD])
def test_views_add_up_to_the_decomposition(graded, fifty, two, kind):
    for evaluation in (graded, fifty, two):
        for model in evaluation.class_models:
            family = model.family(kind)
            part = model.scores.decomposition(family.score)
            expected = (part.score, part.miscalibration, part.discrimination, part.uncertainty)
            assert sum_views(family) == pytest.approx(expected, abs=1e-12)
            assert part.score == pytest.approx(model.scores.score(family.score).value, abs=1e-12)


def test_the_table_of_views_ends_with_what_they_add_up_to(graded):
    model = graded.class_models[0]
    family = model.family(THRESHOLD)
    table = view_decomposition_table(model, family, "95 %")
    assert [row[0] for row in table.rows] == [*GRADES[:-1], "sum / (K − 1) = RPS"]
    part, mcb = model.scores.decomposition("rps"), model.scores.component("rps", "miscalibration")
    decimals = len(table.rows[-1][1].partition(".")[2])
    assert table.rows[-1][1] == f"{part.score:.{decimals}f}"
    places = len(table.rows[-1][2].partition(".")[2])
    assert table.rows[-1][2] == f"{part.miscalibration:.{places}f}"
    assert table.rows[-1][3] == f"{mcb.corrected:.{places}f}"
    assert table.rows[-1][4] == f"[{mcb.lower:.{places}f}, {mcb.upper:.{places}f}]"
    assert table.rows[-1][-2:] == ("", "")
    view = family.views[1].scores
    assert column(table, "AUC ↑")[1] == f"{view.score('roc_auc').value:.4f}"
    tests = [v.scores.miscalibration_test("brier").p_value for v in family.views]
    assert column(table, "p")[:-1] == [f"{p:.3f}" for p in holm(tests)]
    alone = model.scores.miscalibration_test("rps").p_value
    assert column(table, "p")[-1] == f"{alone:.3f}"
    assert "p of the test that MCB is 0, adjusted for the number of thresholds (Holm)" in table.caption


def test_tables_without_draws_have_no_intervals(bare):
    for table in evaluation_tables(bare):
        assert "interval" not in table.heads
        assert "interval" not in table.caption
        assert all(len(row) == len(table.heads) for row in table.rows)


@pytest.mark.sweep
def test_a_class_never_observed_is_in_every_table(two):
    absent = evaluate([*GRADES, "never"], absent="never")
    table = label_table(absent.class_models, absent.data.classes, "95 %")
    rows = [row for row in table.rows if row[0] == "never"]
    assert [row[3] for row in rows] == ["n/d", "n/d"]
    assert describe_class_data_section(report_of(absent)).content["absent"] == ["never"]
    assert not describe_class_data_section(report_of(two)).content["absent"]
    assert (
        "never observed"
        in describe_class_discrimination_section(report_of(absent)).parts["confusion"]["caption"]
    )
    assert_drawn(plot_views(absent.class_models[0], CLASS))
    assert_drawn(plot_view_components(absent.class_models, CLASS))


def test_the_terminal_shows_classes(graded, named):
    for evaluation in (graded, named):
        out = StringIO()
        print_evaluation(evaluation, out, everything=True)
        text = out.getvalue()
        tables = list(evaluation_tables(evaluation))
        assert all(table.caption in text for table in tables)
        assert all(len(row) == len(table.heads) for table in tables for row in table.rows)
        assert any("Penalised scores" in table.caption for table in tables)
        assert any("Differences between models" in table.caption for table in tables)
    ends = [table.rows[-1][0] for table in evaluation_tables(graded)]
    assert ends.count("sum / (K − 1) = RPS") == 2
    assert [table.rows[-1][0] for table in evaluation_tables(named)].count("sum = Brier score") == 2


# Figures


def assert_drawn(figure, *, most_high=HIGHEST):
    """A figure whose parts fit on a page, and that can be written."""
    svg = render_svg(figure)
    width = 25.4 * figure.get_size_inches()[0]
    assert 40 <= width <= 160.01
    assert max(part_heights(svg)) <= most_high
    assert svg.startswith("<?xml")


@pytest.mark.sweep
@pytest.mark.parametrize("kind", [CLASS, THRESHOLD])
def test_every_number_of_classes_is_drawn(graded, two, fifty, kind):
    for evaluation in (graded, two, fifty):
        assert_drawn(plot_views(evaluation.class_models[0], kind))
        assert_drawn(plot_view_components(evaluation.class_models, kind))
        assert_drawn(plot_confusion(evaluation.class_models, evaluation.data.classes.labels))


@pytest.mark.sweep
def test_long_and_foreign_names_are_drawn(named):
    assert_drawn(plot_views(named.class_models[0], CLASS))
    assert_drawn(plot_view_components(named.class_models, CLASS))
    assert_drawn(plot_confusion(named.class_models, GREEK))
    long = evaluate(LONG)
    assert_drawn(plot_views(long.class_models[0], THRESHOLD))
    assert_drawn(plot_view_components(long.class_models, THRESHOLD))
    assert_drawn(plot_confusion(long.class_models, LONG))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("models", [1, 3, 6, 7])
def test_confusion_tables_of_many_models_fit_on_a_page(bare, models):
    many = [replace(bare.class_models[0], model=f"model {n}") for n in range(models)]
    assert_drawn(plot_confusion(many, GRADES))
    assert_drawn(plot_view_components(many, THRESHOLD))


def test_a_figure_shows_the_views_that_are_least_calibrated(fifty, graded):
    family = fifty.class_models[0].family(CLASS)
    shown = choose_views(family)
    assert len(shown) == MOST_VIEWS
    labels = [view.label for view in family.views]
    places = [labels.index(view.label) for view in shown]
    assert places == sorted(places)
    mcb = {view.label: view.scores.decomposition("brier").miscalibration for view in family.views}
    least = min(mcb[view.label] for view in shown)
    assert all(mcb[label] <= least for label in set(labels) - {view.label for view in shown})
    assert choose_views(graded.class_models[0].family(CLASS)) == graded.class_models[0].family(CLASS).views
    assert "12 of 50" in describe_views(fifty.class_models[0], CLASS)


def test_rare_classes_have_axes_of_their_own(fifty, graded):
    assert "axes" in describe_axes(choose_views(fifty.class_models[0].family(CLASS)))
    assert describe_axes(graded.class_models[0].family(THRESHOLD).views) == ""


def test_diagrams_are_described(graded):
    text = describe_views(graded.class_models[1], THRESHOLD)
    assert text.startswith("Reliability diagrams of bold, one for each threshold between classes")
    for view in graded.class_models[1].family(THRESHOLD).views:
        assert f"up to {view.label}: {100 * view.sample.prevalence:.1f} % of cases" in text
    outside = [leaves_band(view) for view in graded.class_models[1].family(THRESHOLD).views]
    assert text.count("leaves the dashed band") == sum(outside)
    assert text.count("stays in the dashed band") == len(outside) - sum(outside)


def test_without_draws_there_is_no_band_to_leave(bare):
    assert leaves_band(bare.class_models[0].family(CLASS).views[0]) is None
    assert "band" not in describe_views(bare.class_models[0], CLASS)


def test_components_are_described_with_their_extremes(graded):
    text = describe_view_components(graded.class_models, THRESHOLD)
    views = graded.class_models[0].family(THRESHOLD).views
    best = max(views, key=lambda view: view.scores.component("brier", "discrimination").corrected)
    assert f"(up to {best.label})" in text.partition("bold: ")[0]


def test_confusion_is_described_with_the_main_mistake():
    model = evaluate(GRADES).class_models[0]
    counts = ((8.0, 2.0, 0.0, 0.0), (1.0, 9.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0), (0.0, 7.0, 0.0, 3.0))
    text = describe_confusion([replace(model, confusion=Confusion(counts=counts))], GRADES)
    assert "calm is right in 66.7 % of cases" in text
    assert "most often for observed mild (90.0 %), least often for observed severe (30.0 %)" in text
    assert "the most frequent error is predicted mild, observed severe (23.3 % of cases)" in text
    right = replace(model, confusion=Confusion(counts=tuple(map(tuple, np.eye(4).tolist()))))
    assert "error" not in describe_confusion([right], GRADES)
    assert_drawn(plot_confusion([right], GRADES))


def test_views_that_were_not_evaluated_are_refused(named):
    with pytest.raises(
        UsageError, match=r"^`kind` must be one that 'calm' was evaluated by; got 'threshold'\.$"
    ):
        plot_views(named.class_models[0], THRESHOLD)
    with pytest.raises(UsageError, match=r"^`kind` must be one that the models were evaluated by; got 'thr"):
        plot_view_components(named.class_models, THRESHOLD)


# Sections


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("describe", DESCRIBERS)
@pytest.mark.parametrize("which", ["graded", "named", "bare", "two", "fifty"])
def test_sections_have_all_they_refer_to(describe, which, request):
    section = section_of(describe, request.getfixturevalue(which))
    assert section.parts
    for part in section.parts.values():
        assert part["caption"]
        assert part["kind"] == "table" or part["alt"]


@pytest.mark.parametrize("describe", DESCRIBERS)
def test_binary_models_have_no_sections_of_classes(describe):
    frame = pd.DataFrame({"y": [0, 1, 0, 1, 1], "p": [0.2, 0.7, 0.4, 0.8, 0.3]})
    report = report_of(sr.evaluate(frame, outcome="y", forecasts=["p"], resamples=0))
    assert describe(report) is None


@pytest.mark.sweep
@pytest.mark.parametrize("which", ["graded", "named", "two"])
def test_pages_place_every_part_once_and_keep_the_order_of_headings(which, request):
    context = describe_report(in_full(report_of(request.getfixturevalue(which))))
    html = render_html("report.html", context)
    names = {"data", "performance", "calibration", "discrimination", "decomposition"}
    sections = [section for section in context["sections"] if section["name"] in names]
    assert {section["name"] for section in sections} == names
    for section in sections:
        body = html.partition(f'<section id="{section["id"]}"')[2].partition("</section>")[0]
        assert "<h4" not in body
        for part in section["parts"].values():
            assert body.count(f' id="{part["id"]}"') == 1


@pytest.mark.sweep
def test_numbers_without_an_interval_leave_its_space_empty(graded):
    html = render_html("report.html", describe_report(in_full(report_of(graded))))
    skill = 'n/d <span class="detail"></span></td>'
    assert html.count(skill) >= len(graded.class_models)  # macro F1 has none


def test_two_ordered_classes_have_no_tables_of_their_one_threshold(graded, two):
    assert section_of(describe_class_decomposition_section, graded).content["views"] == ["views_1", "views_2"]
    section = section_of(describe_class_decomposition_section, two)
    assert section.content["views"] == []
    assert list(section.parts) == ["components", "view_components"]


def test_diagrams_of_four_classes_are_in_one_row(graded, named):
    rows = [
        {axes.get_position().y0 for axes in plot_views(evaluation.class_models[0], CLASS).axes}
        for evaluation in (graded, named)
    ]
    assert [len(tops) for tops in rows] == [1, 1]


@pytest.mark.sweep
def test_what_a_panel_shows_is_explained_once(graded, named):
    parts = section_of(describe_class_calibration_section, graded).parts
    assert "Thick segments: blocks" in parts["reliability"]["caption"]
    assert "Thick segments: blocks" not in parts["class_reliability"]["caption"]
    assert parts["class_reliability"]["caption"].endswith(
        "have the same meaning as in the diagrams of the thresholds."
    )
    assert (
        "Thick segments: blocks"
        in section_of(describe_class_calibration_section, named).parts["reliability"]["caption"]
    )


def test_ordered_classes_have_diagrams_of_thresholds_and_of_classes(graded, named, two):
    keys = list(section_of(describe_class_calibration_section, graded).parts)
    assert keys == ["reliability", "reliability_2", "class_reliability", "class_reliability_2"]
    assert list(section_of(describe_class_calibration_section, named).parts) == [
        "reliability",
        "reliability_2",
    ]
    assert list(section_of(describe_class_calibration_section, two).parts) == ["reliability", "reliability_2"]


@pytest.mark.sweep
def test_captions_of_diagrams_state_how_they_were_made(graded, fifty):
    caption = section_of(describe_class_calibration_section, graded).parts["reliability"]["caption"]
    assert "of calm, one for each threshold" in caption
    assert "Shaded: 90 % pointwise consistency band (resampling, 40 draws)" in caption
    assert "Dashed: 90 % simultaneous consistency band" in caption
    assert f"Seed {graded.settings.seed}." in caption
    many = section_of(describe_class_calibration_section, fifty).parts["class_reliability"]["caption"]
    assert "The 12 of 50 with the largest miscalibration are shown." in many
    assert "Shaded" not in many


@pytest.mark.sweep
def test_tests_of_many_views_are_adjusted_for_their_number(graded):
    view = graded.class_models[0].family(THRESHOLD).views[0]
    test = view.scores.miscalibration_tests[0]

    def with_p_values(values):
        model = graded.class_models[0]
        family = model.family(THRESHOLD)
        views = [
            replace(
                v,
                scores=replace(v.scores, miscalibration_tests=(replace(test, p_value=p, draws=999),)),
                bands=(),
                segments=None,
            )
            for v, p in zip(family.views, values, strict=True)
        ]
        changed = replace(model, families=(model.families[0], replace(family, views=tuple(views))))
        few = replace(graded, class_models=(changed,))
        (verdict,) = section_of(describe_class_calibration_section, few).content["verdicts"]
        return next(reason for reason in verdict.reasons if reason.startswith("Tests of 3 thresholds"))

    among = "Tests of 3 thresholds, adjusted for their number (Holm): "
    assert with_p_values([0.001, 0.2, 0.02]) == (
        f"{among}evidence of miscalibration for up to “none” (p = 0.003) and up to “moderate” (p = 0.040)."
    )
    assert with_p_values([0.02, 0.2, 0.5]) == f"{among}no evidence of miscalibration (smallest p = 0.060)."


def test_too_few_draws_are_reported(named):
    verdicts = section_of(describe_class_calibration_section, named).content["verdicts"]
    reasons = [reason for verdict in verdicts for reason in verdict.reasons]
    assert "too few draws to show miscalibration." in " ".join(reasons)  # 4 tests, none can be below 4/41


def test_cases_whose_thresholds_cross_are_counted(graded):
    model = graded.class_models[0]
    crossed = replace(model.families[1], crossing=30.0)
    some = replace(graded, class_models=(replace(model, families=(model.families[0], crossed)),))
    content = section_of(describe_class_decomposition_section, some).content
    assert content["crossing"] == ["calm: 30 of 120 cases (25.0 %)."]


def test_rescaled_rows_are_reported():
    frame, forecasts = make_frame(GRADES)
    frame.loc[:9, forecasts["bold"]] *= 1.5
    evaluation = sr.evaluate(
        frame, outcome="grade", forecasts=forecasts, classes=GRADES, ordered=True, normalize=True, resamples=0
    )
    sentences = section_of(describe_class_data_section, evaluation).content["rescaled"]
    assert len(sentences) == len(evaluation.data.classes.rescaled)
    assert any("in 10 of 120 rows the probabilities did not sum to 1" in text for text in sentences)
    assert any("(furthest sum: 1.500000)" in text for text in sentences)
