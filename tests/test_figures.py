"""Figures: what they draw is in the records, all text is seen, and nothing leaks."""

from __future__ import annotations

import itertools
import re
import xml.etree.ElementTree as ET
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.pyplot import close
from plot_tools import HIGHEST, part_heights

import scorereport as sr
from scorereport import plots
from scorereport.plots.geometry import (
    PATH_TOLERANCE,
    UNIT,
    choose_window,
    cut_line,
    flat_runs,
    simplify,
    window_ticks,
)
from scorereport.plots.plotted_models import prevalence_of
from scorereport.plots.style import model_style, report_style
from scorereport.plots.text import clean_text, drop_zero, shorten_text, text_width, wrap
from scorereport.results.model_records import GroupResult

LONG = (
    "A model whose name nobody wants to see in any table, for it is made of no less than one hundred and "
    "twenty letters, in words"
)
ODD = "<script>alert(1)</script> {{ 7*7 }} $x^2$ \\frac Ελληνικά Русский 模"


def make_frame(n, models, *, seed=1, draw=None):
    """Outcomes and the forecasts of models that are more and more wrong."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 2, n) if draw is None else draw(rng, n)
    logit = np.log(p) - np.log1p(-p)
    forecasts = {
        name: 1 / (1 + np.exp(-(logit * (1 + 0.25 * k * (-1) ** k) + 0.3 * k * rng.standard_normal(n))))
        for k, name in enumerate(models)
    }
    return pd.DataFrame({"y": (rng.random(n) < p) * 1, **forecasts})


def evaluate(frame, *, resamples=100, **options):
    forecasts = [name for name in frame if name not in {"y", "group", "time"}]
    return sr.evaluate(frame, outcome="y", forecasts=forecasts, resamples=resamples, **options)


def usual():
    frame = make_frame(400, ["logit", "boost", "forest"])
    frame["group"] = np.where(np.arange(400) < 5, "tiny", np.where(np.arange(400) < 200, "north", "south"))
    frame["time"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(400) // 2, unit="D")
    return evaluate(frame, groups="group", time="time", cost_interval=(0.2, 0.6))


def five():
    """Five models and forty groups; each group has the scores of all rows, except the last two."""
    evaluation = evaluate(make_frame(800, [f"model {k}" for k in range(5)]), cost_interval=(0.05, 0.3))
    scores = tuple(model.scores for model in evaluation.models)
    groups = [
        GroupResult(
            column="region",
            label=f"group {k} of the forty groups, with a label of some length",
            sample=evaluation.data.sample,
            models=scores if k < 38 else (),
        )
        for k in range(40)
    ]
    return replace(evaluation, groups=tuple(groups))


def three_rows():
    return evaluate(make_frame(3, ["a", "b"]).assign(y=[0, 1, 1]))


def constant():
    return evaluate(make_frame(300, ["a"]).assign(a=0.4))


def one_class(y, resamples):
    return evaluate(make_frame(200, ["a", "b"]).assign(y=y), resamples=resamples)


def infinite():
    frame = make_frame(300, ["fine"])
    return evaluate(frame.assign(certain=np.where(frame.fine < 0.3, 0.0, frame.fine)))


def all_infinite():
    frame = make_frame(300, ["fine"])
    return evaluate(frame.assign(fine=np.where(frame.fine < 0.3, 0.0, frame.fine)))


CASES = {
    "usual": usual,
    "five models, 40 groups": five,
    "one model, 50 rows": lambda: evaluate(make_frame(50, ["only"])),
    "seven models": lambda: evaluate(make_frame(200, list("abcdefg")), resamples=0),
    "three rows": three_rows,
    "constant": constant,
    "no events": lambda: one_class(0, 100),
    "no events, nothing drawn": lambda: one_class(0, 0),
    "only events": lambda: one_class(1, 100),
    "infinite log score": infinite,
    "all infinite": all_infinite,
    "odd names": lambda: evaluate(make_frame(300, [LONG, "W" * 120, ODD])),
    "low": lambda: evaluate(make_frame(3000, ["a", "b", "c"], draw=lambda rng, n: 0.05 * rng.beta(1, 4, n))),
    "high": lambda: evaluate(make_frame(3000, ["a", "b"], draw=lambda rng, n: 1 - 0.05 * rng.beta(1, 4, n))),
    "discrete": lambda: evaluate(make_frame(900, ["a", "b"]).round(1)),
    "many rows": lambda: evaluate(make_frame(60_000, ["a", "b", "c"]), resamples=0),
}


@cache
def case(name):
    return CASES[name]()


def calls(evaluation):
    """Name of the figure, arguments and keywords of all figures of an evaluation."""
    models, costs = evaluation.models, evaluation.settings.cost_interval
    yield "reliability", (models,), {"prevalence": evaluation.data.sample.prevalence}
    yield from ((name, (models,), {}) for name in ("distributions", "roc", "components", "murphy"))
    yield "components", (models, "log_loss"), {}
    yield from ((name, (models, costs), {}) for name in ("regret", "decision"))
    if evaluation.comparisons.murphy:
        yield "murphy_differences", (evaluation.comparisons.murphy,), {}
    for measure in ("brier", "roc_auc", "brier_miscalibration"):
        if evaluation.groups:
            yield "groups", (evaluation.groups, measure), {}
        if evaluation.windows:
            yield "windows", (evaluation.windows, measure), {}


def plot(name, *arguments, **keywords):
    return getattr(plots, f"plot_{name}")(*arguments, **keywords)


def describe(name, *arguments, **keywords):
    return getattr(plots, f"describe_{name}")(*arguments, **keywords)


def reliability(name):
    evaluation = case(name)
    return plots.plot_reliability(evaluation.models, prevalence=evaluation.data.sample.prevalence)


def texts(figure):
    """All texts that are seen, with their boxes in points."""
    canvas = FigureCanvasAgg(figure)
    with report_style():
        figure.draw_without_rendering()
    found = figure.findobj(mpl.text.Text)
    scale = 72 / figure.dpi
    for text in found:
        if text.get_visible() and text.get_text().strip():
            box = text.get_window_extent(canvas.get_renderer())
            yield text.get_text(), np.array([box.x0, box.y0, box.x1, box.y1]) * scale


def words(figure):
    return [text.get_text() for text in figure.findobj(mpl.text.Text) if text.get_text()]


def size_in_mm(figure):
    return figure.get_size_inches() * 25.4


def assert_is_readable(figure, drawn):
    """No text is cut off by the figure's edge, and none covers another."""
    width, height = drawn.get_size_inches() * 72
    boxes = list(texts(drawn))
    for text, box in boxes:
        assert (box >= -1).all(), (figure, text, box)
        assert (box <= (width + 1, height + 1, width + 1, height + 1)).all(), (figure, text, box)
    for (first, a), (second, b) in itertools.combinations(boxes, 2):
        overlap = np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2])
        assert (overlap < 1.5).any(), (figure, first, second, overlap)


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_every_figure_is_drawn_described_and_readable(name):
    for figure, arguments, keywords in calls(case(name)):
        drawn = plot(figure, *arguments, **keywords)
        assert type(drawn) is Figure
        assert size_in_mm(drawn)[0] <= 160.01
        assert max(part_heights(plots.render_svg(drawn))) <= HIGHEST, figure
        assert_is_readable(figure, drawn)
        described = describe(figure, *arguments, **keywords)
        assert described.endswith(".")
        assert "nan" not in described.split()


def test_every_plot_of_a_module_is_found_and_has_a_description():
    names = {name for name in plots._find_plots() if name.startswith("plot_")}
    assert len(names) > 15
    assert {name.replace("plot_", "describe_") for name in names} <= set(plots._find_plots())
    assert all(getattr(plots, name).__name__ == name for name in names)
    with pytest.raises(AttributeError, match=r"^module 'scorereport\.plots' has no attribute 'plot_none'$"):
        _ = plots.plot_none


@pytest.mark.sweep
def test_the_same_evaluation_gives_the_same_bytes():
    by_name = {name: call for name, *call in calls(case("usual"))}
    for figure, (arguments, keywords) in by_name.items():
        first, second = (plots.render_svg(plot(figure, *arguments, **keywords)) for _ in range(2))
        assert first == second
        assert ET.fromstring(first).tag.endswith("svg")
        assert len(first) < 150_000


@pytest.mark.sweep
def test_a_figure_can_be_rendered_again():
    drawn = reliability("three rows")
    png = plots.render_png(drawn, dpi=60)
    assert plots.render_svg(drawn) == plots.render_svg(drawn)
    assert plots.render_png(drawn, dpi=60) == png


@pytest.mark.sweep
def test_threads_draw_the_same_as_one():
    todo = list(calls(case("three rows")))[:4] * 2
    alone = [plots.render_svg(plot(name, *a, **k)) for name, a, k in todo]
    with ThreadPoolExecutor(4) as pool:
        together = pool.map(lambda call: plots.render_svg(plot(call[0], *call[1], **call[2])), todo)
        assert list(together) == alone


def test_drawing_changes_no_settings_and_opens_no_window():
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    plots.render_png(reliability("usual"))
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []


@pytest.mark.sweep
def test_svg_names_neither_version_nor_date_nor_texts():
    svg = plots.render_svg(reliability("odd names"))
    assert "matplotlib.org" not in svg
    assert "dc:date" not in svg
    assert "<!--" not in svg
    assert "script" not in svg


def test_raster_images_are_marked_for_pdf():
    figure = Figure(figsize=(2, 2))
    figure.add_axes((0, 0, 1, 1)).plot([0, 1], [0, 1], rasterized=True)
    assert '<image image-rendering="pixelated" ' in plots.render_svg(figure)


@pytest.mark.sweep
def test_png_has_the_size_of_the_figure_at_its_resolution():
    figure = reliability("one model, 50 rows")
    png = plots.render_png(figure, dpi=200)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert int.from_bytes(png[16:20]) == int(figure.get_size_inches()[0] * 200)


def test_names_appear_as_they_are():
    drawn = sr.plots.reliability(case("odd names"))
    close("all")
    shown = " ".join(" ".join(words(drawn)).split())
    assert LONG in shown
    assert "<script>alert(1)</script> {{ 7*7 }} $x^2$ \\frac Ελληνικά Русский ‹U+6A21›" in shown
    assert all(
        not text.get_parse_math()
        for text in reliability("odd names").findobj(mpl.text.Text)
        if text.get_text()
    )


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("name", "side"), [("one model, 50 rows", 56.0), ("usual", 41.7), ("five models, 40 groups", 41.7)]
)
def test_reliability_panels_are_equal_squares(name, side):
    figure = reliability(name)
    for axes in figure.axes:
        width, height = axes.get_position().size * size_in_mm(figure)
        assert width == pytest.approx(height)
        assert width == pytest.approx(side, abs=1.5)
        assert axes.get_xlim() == axes.get_ylim()


def test_a_panel_shows_the_curve_its_flat_parts_and_the_decomposition():
    evaluation = case("one model, 50 rows")
    axes, model = reliability("one model, 50 rows").axes[0], evaluation.models[0]
    curve, part = model.curves.reliability, model.scores.decompositions[0]
    thin = next(line for line in axes.lines if line.get_linewidth() == 0.9)
    thick = next(line for line in axes.lines if line.get_linewidth() == 2.3)
    assert thin.get_xdata()[[0, -1]] == pytest.approx(curve.forecast[[0, -1]])
    assert thin.get_ydata()[[0, -1]] == pytest.approx(curve.cep[[0, -1]])
    assert np.isin(thick.get_ydata()[::3], curve.cep).all()
    shown = words(axes)
    numbers = (part.miscalibration, part.discrimination, part.uncertainty)
    assert [f"{value:.4f}".lstrip("0") in shown for value in numbers] == [True] * 3
    bold = next(text for text in axes.texts if text.get_weight() == 600)
    assert bold.get_text() == f"{part.miscalibration:.4f}".lstrip("0")


def test_bands_are_drawn_between_the_forecasts_only_and_left_out_if_there_are_none():
    model = case("usual").models[0]
    curve = model.curves.reliability
    wide = replace(
        model.bands[0], x=np.array([0.0, 1.0]), lower=np.array([0.0, 0.8]), upper=np.array([0.2, 1.0])
    )
    with_band, without = (
        plots.plot_reliability([replace(model, bands=bands)], prevalence=0.4).axes[0]
        for bands in ((wide,), ())
    )
    veil = next(patch for patch in with_band.patches if patch.get_alpha())
    assert veil.get_xy()[:, 0].min() == pytest.approx(curve.forecast[0])
    assert veil.get_xy()[:, 0].max() == pytest.approx(curve.forecast[-1])
    assert [patch for patch in without.patches if patch.get_alpha()] == []


def test_the_numbers_stand_where_the_curve_is_not():
    model = case("usual").models[0]
    x = np.linspace(0, 1, 50)

    def top_of_numbers(cep):
        curve = replace(model.curves.reliability, forecast=x, cep=cep)
        changed = replace(model, bands=(), curves=replace(model.curves, reliability=curve))
        axes = plots.plot_reliability([changed], prevalence=0.4).axes[0]
        return next(text for text in axes.texts if text.get_text() == "MCB").get_position()[1]

    assert top_of_numbers(x**4) > 0.9
    assert top_of_numbers(x**0.1) < 0.5


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("name", "window", "ticks"),
    [
        ("usual", (0, 1), ["0", ".25", ".5", ".75", "1"]),
        ("low", (0, 0.2), ["0", ".05", ".1", ".15", ".2"]),
        ("high", (0.8, 1), [".8", ".85", ".9", ".95", "1"]),
    ],
)
def test_the_window_holds_nearly_all_forecasts(name, window, ticks):
    axes = reliability(name).axes[0]
    assert axes.get_xlim() == pytest.approx(window)
    assert [label.get_text() for label in axes.get_xticklabels()] == ticks


@pytest.mark.parametrize(
    ("flip", "text"), [(False, "0.5 % of forecasts beyond →"), (True, "← 0.5 % of forecasts beyond")]
)
def test_a_panel_states_what_its_window_leaves_out(flip, text):
    frame = make_frame(2000, ["a"], draw=lambda rng, n: 0.05 * rng.beta(1, 4, n))
    frame.loc[:9, "a"] = 0.7
    model = evaluate(1 - frame if flip else frame, resamples=0).models[0]
    assert text in words(plots.plot_reliability([model], prevalence=0.01))


@pytest.mark.sweep
def test_a_window_is_only_chosen_if_all_models_fit():
    low, usual_one = case("low").models[0], case("usual").models[0]
    assert choose_window([low]) != UNIT
    assert choose_window([low, usual_one]) == UNIT
    assert window_ticks((0.0, 0.02)) == pytest.approx([0, 0.005, 0.01, 0.015, 0.02])


def test_discrete_forecasts_have_dots_and_stems():
    axes = reliability("discrete").axes[0]
    dots = next(line for line in axes.lines if line.get_marker() == "o")
    assert len(dots.get_xdata()) == len(case("discrete").models[0].curves.reliability.forecast)
    assert len(axes.collections[0].get_segments()) == len(case("discrete").models[0].curves.histogram.n)


@pytest.mark.sweep
def test_many_blocks_make_a_small_file():
    model = case("many rows").models[0]
    assert len(model.curves.reliability.forecast) > 150
    assert len(plots.render_svg(reliability("many rows"))) < 150_000


def test_simplified_lines_stay_where_they_are():
    rng = np.random.default_rng(3)
    x, y = np.sort(rng.random(4000)), np.sort(rng.random(4000))
    kept_x, kept_y = simplify(x, y, (200.0, 200.0))
    assert len(kept_x) < 1500
    assert (np.isin(kept_x, x)).all()
    fine = np.linspace(0, 1, 20)[:, None]
    dense = np.concatenate(
        [
            np.column_stack([kept_x, kept_y])[:-1] * (1 - f) + np.column_stack([kept_x, kept_y])[1:] * f
            for f in fine
        ]
    )
    away = [np.hypot(*(dense - point).T).min() * 200 for point in np.column_stack([x, y])[::40]]
    assert max(away) < 1.5 * PATH_TOLERANCE + 0.05


def test_flat_runs_are_level_and_wide_enough():
    x, y = np.array([0.0, 0.3, 0.4, 0.41, 0.5]), np.array([0.1, 0.1, 0.2, 0.2, 0.6])
    runs = flat_runs(x, y, 0.05)
    np.testing.assert_array_equal(runs, [[0.0, 0.3, np.nan], [0.1, 0.1, np.nan]])


def test_a_line_is_cut_at_both_ends():
    x, y = cut_line(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0, 0.0]), 0.25, 0.6)
    np.testing.assert_allclose((x, y), [[0.25, 0.5, 0.6], [0.5, 1.0, 0.8]])


def test_roc_curves_and_profiles_are_drawn_side_by_side_with_one_key_and_one_class_has_none():
    models = case("usual").models
    figure = plots.plot_roc(models)
    shown = words(figure)
    assert all(shown.count(model.model) == 1 for model in models)
    assert [axes.get_ylabel() for axes in figure.axes] == ["True positive rate", "Share of events"]
    for model in models:
        (line,) = (line for line in figure.axes[1].lines if line.get_label() == model.model)
        x, y = line.get_data()
        share = case("usual").data.sample.prevalence
        above_diagonal = np.trapezoid(y, x) - 0.5
        assert above_diagonal / ((1 - share) / 2) == pytest.approx(2 * model.curves.roc.auc - 1, abs=0.01)
    nothing = plots.plot_roc(case("no events").models)
    assert "A ROC curve requires events and non-events; these data have only one of them." in " ".join(
        " ".join(words(nothing)).split()
    )
    assert nothing.axes[0].lines[:] == []


def test_lines_of_equal_score_are_parallel_and_labelled_with_it():
    axes = plots.plot_components(case("usual").models).axes[0]
    part = case("usual").models[0].scores.decompositions[0]
    lines = [line for line in axes.lines if line.get_color() == "#c9ced5"]
    labels = [float(re.search(r"[.\d]+$", text.get_text()).group()) for text in axes.texts[: len(lines)]]
    assert len(lines) >= 3
    for line, score in zip(lines, labels, strict=True):
        assert line.get_xdata() - line.get_ydata() + part.uncertainty == pytest.approx(score, abs=1e-9)


def test_infinite_scores_are_named_below_the_plot():
    evaluation = case("infinite log score")
    assert "Not shown, because the score is infinite: certain." in words(
        plots.plot_components(evaluation.models, "log_loss")
    )
    assert "Not shown, because the score is infinite: certain." in plots.describe_components(
        evaluation.models, "log_loss"
    )
    names = [f"model with a long name {place}" for place in range(20)]
    many = [replace(m, model=name) for m in evaluation.models if m.model == "certain" for name in names]
    notes = [box for text, box in texts(plots.plot_components(many, "log_loss")) if "long name" in text]
    assert len(notes) > 2
    assert all(below[3] <= above[1] for above, below in itertools.pairwise(notes))
    with pytest.raises(
        sr.UsageError, match=r"^`score` must be one that was evaluated, 'brier', .*; got 'crps'\.$"
    ):
        plots.plot_components(evaluation.models, "crps")


def test_murphy_curves_jump_at_their_knots():
    model = case("constant").models[0]
    curve = model.curves.murphy.score
    jump = int(np.abs(curve.right - curve.left).argmax())
    line = plots.plot_murphy([model]).axes[0].lines[1]
    x, y = line.get_data()
    assert sorted(y[x == 0.4]) == pytest.approx(sorted([curve.left[jump], curve.right[jump]]))


def test_at_most_six_differences_are_drawn_with_their_bounds():
    differences = case("five models, 40 groups").comparisons.murphy
    assert len(differences) == 10
    figure = plots.plot_murphy_differences(differences)
    assert len(figure.axes) == 6
    outer, inner = (patch.get_xy()[:, 1] for patch in figure.axes[0].patches[:2])
    assert outer.max() == pytest.approx(differences[0].simultaneous_upper.max())
    assert inner.max() == pytest.approx(differences[0].upper.max())
    assert "model 0 minus model 1" in plots.describe_murphy_differences(differences)


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("interval", "shown"),
    [(None, (0, 1)), ((0.2, 0.6), (0.1, 0.7)), ((0.05, 0.45), (0, 0.55)), ((0.5, 0.98), (0.38, 1))],
)
def test_decision_curves_show_the_interval_and_a_quarter_more(interval, shown):
    axes = plots.plot_decision(case("usual").models, interval).axes[0]
    assert axes.get_xlim() == pytest.approx(shown)
    lower, upper = axes.get_ylim()
    assert -0.5 * upper < lower < 0
    spans = [patch for patch in axes.patches if patch.get_facecolor() == mpl.colors.to_rgba("#eef1f4")]
    assert len(spans) == (interval is not None)


def test_without_an_interval_curves_are_drawn_where_the_forecasts_are():
    low, interval = case("low").models, (0.3, 0.4)
    window = choose_window(low)
    for draw in (plots.plot_decision, plots.plot_regret):
        assert draw(low, None).axes[0].get_xlim() == window
    assert plots.plot_murphy(low).axes[0].get_xlim() == window
    assert plots.plot_regret(low, interval).axes[0].get_xlim() == UNIT


def test_the_prevalence_is_named_where_there_is_room():
    model = replace(case("usual").models[0], bands=())
    high = replace(model.curves.reliability, forecast=np.array([0.5, 0.9]), cep=np.array([0.2, 0.3]))
    roomy = replace(model, curves=replace(model.curves, reliability=high))
    prevalence = prevalence_of(model)
    crossing = replace(high, forecast=np.array([0.0, 0.9]), cep=prevalence + np.array([-0.025, 0.025]))
    crowded = replace(model, curves=replace(model.curves, reliability=crossing))
    drawn = [" ".join(words(sr.plots.reliability([one]).figure)) for one in (roomy, crowded)]
    close("all")
    assert [f"prevalence {drop_zero(f'{prevalence:.3f}')}" in text for text in drawn] == [True, False]


@pytest.mark.sweep
def test_groups_of_several_columns_and_groups_without_scores():
    groups = [replace(group, models=()) for group in case("usual").groups]
    groups[0] = replace(groups[0], column="colour", label="red")
    shown = words(plots.plot_groups(groups, "brier"))
    assert "colour: red" in shown
    assert shown.count(" not scored") == len(groups)
    assert "No period has enough rows to be scored." in words(plots.plot_windows(groups[1:], "brier"))
    one = case("usual").windows[:1]
    assert_is_readable("windows", plots.plot_windows(one, "roc_auc"))
    many = [replace(groups[1], label=f"group {k}") for k in range(9)]
    assert "group 4 and 4 more." in plots.describe_groups(many, "brier")


def test_groups_have_a_row_each_and_state_if_they_were_not_scored():
    evaluation = case("usual")
    shown = words(plots.plot_groups(evaluation.groups, "brier"))
    assert shown.count(" not scored") == 1
    for group in evaluation.groups:
        assert group.label in shown
        assert str(group.sample.rows) in shown
    assert "Groups not scored: tiny." in plots.describe_groups(evaluation.groups, "brier")


def test_points_of_groups_are_their_scores():
    evaluation = case("usual")
    axes = plots.plot_groups(evaluation.groups, "roc_auc").axes[0]
    found = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == len(evaluation.groups)]
    wanted = [
        [
            next(
                (s.value for m in g.models if m.model == name for s in m.scores if s.name == "roc_auc"),
                np.nan,
            )
            for g in evaluation.groups
        ]
        for name in ("logit", "boost", "forest")
    ]
    np.testing.assert_allclose(found, wanted)


@pytest.mark.sweep
def test_forty_groups_fit_on_a_page():
    figure = plots.plot_groups(case("five models, 40 groups").groups, "brier")
    assert size_in_mm(figure)[1] <= 220
    assert sum("…" in text or text.startswith("group") for text in words(figure)) >= 40


def test_miscalibration_of_groups_is_overfit_corrected_where_it_has_intervals():
    evaluation = case("usual")
    bare = [replace(g, models=tuple(replace(m, components=()) for m in g.models)) for g in evaluation.groups]
    assert "Corrected MCB of the Brier score" in words(
        plots.plot_groups(evaluation.groups, "brier_miscalibration")
    )
    assert "Miscalibration (MCB) of the Brier score" in words(plots.plot_groups(bare, "brier_miscalibration"))


def test_an_unknown_measure_is_refused():
    known = "'brier', 'roc_auc', 'brier_miscalibration', 'multiclass_brier' and 'rps'"
    message = rf"^`measure` must be one of {known}; got 'accuracy'\.$"
    for draw in (plots.plot_groups, plots.plot_windows, plots.describe_groups):
        with pytest.raises(sr.UsageError, match=message):
            draw(case("usual").groups, "accuracy")


def test_periods_are_drawn_in_their_order():
    windows = case("usual").windows
    axes = plots.plot_windows(windows, "brier").axes[0]
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert labels == sorted(labels)
    assert labels[0] == windows[0].label
    assert f"from {windows[0].label} to {windows[-1].label}" in plots.describe_windows(windows, "brier")


def test_descriptions_hold_the_numbers_of_the_records():
    evaluation = case("usual")
    for model in evaluation.models:
        part = model.scores.decompositions[0]
        assert f"MCB {part.miscalibration:.4f}" in plots.describe_components(evaluation.models)
        assert f"MCB {part.miscalibration:.4f}" in plots.describe_reliability(
            evaluation.models, prevalence=0.4
        )
        assert f"{model.model} {model.curves.roc.auc:.3f} [" in plots.describe_roc(evaluation.models)
    assert "40.0 % of cases are events" in plots.describe_reliability(evaluation.models, prevalence=0.4)


def test_a_curve_outside_its_band_is_described_as_outside():
    model = case("usual").models[0]
    curve = model.curves.reliability
    narrow = replace(model.bands[0], x=curve.forecast, lower=curve.cep + 0.01, upper=curve.cep + 0.02)
    inside = replace(narrow, lower=curve.cep - 0.01)
    assert "below the 90 % band for 100.0 % of cases" in plots.describe_reliability(
        [replace(model, bands=(narrow,))], prevalence=0.4
    )
    assert "inside the 90 % band for all cases" in plots.describe_reliability(
        [replace(model, bands=(inside,))], prevalence=0.4
    )


def test_colours_are_seen_on_paper_and_differ_in_grey():
    def luminance(colour):
        rgb = np.array(mpl.colors.to_rgb(colour))
        return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4) @ [
            0.2126,
            0.7152,
            0.0722,
        ]

    found = sorted(luminance(model_style(place).colour) for place in range(5))
    assert 1.05 / (found[-1] + 0.05) > 3
    lightness = 116 * np.cbrt(found) - 16
    assert np.diff(lightness).min() > 5
    assert len({(model_style(k).colour, model_style(k).dashes) for k in range(15)}) == 15


@pytest.mark.parametrize("text", [LONG, "W" * 120, "a b " * 30])
def test_wrapped_names_fit_and_keep_their_ends(text):
    with report_style():
        lines = wrap(text, 100.0, lines=3)
        assert len(lines) <= 3
        assert all(text_width(line) <= 100 for line in lines)
        short = shorten_text(text, 100.0)
        assert text_width(short) <= 100
        assert "…" in short
        assert (short[0], short[-1]) == (text[0], text.rstrip()[-1])


def test_names_are_cleaned_of_what_cannot_be_drawn():
    assert clean_text("two\nlines\u00ad and\ta tab \u200b模") == "two lines and a tab ‹U+6A21›"


def test_counts_beside_a_distribution_stay_clear_of_its_bars():
    p = (np.arange(4000) + 0.5) / 4000
    frame = pd.DataFrame({"y": (np.random.default_rng(1).random(4000) < p).astype(int), "m": p})
    models = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0).models
    texts = plots.plot_distributions(models).axes[-1].texts
    sides = {text.get_text().split()[-1]: text.get_ha() for text in texts}
    assert sides == {"events": "left", "non-events": "right"}
