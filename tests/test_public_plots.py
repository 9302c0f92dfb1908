"""Public plots: every source, given axes and new figures, keywords of Matplotlib, dark styles, mistakes."""

from __future__ import annotations

import pickle

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from plot_tools import binary_evaluation, class_evaluation, fit_of, make_forecasts

import scorereport as sr
from scorereport.plots.public_figures import is_dark

#: Plots of binary models that take arrays and fits.
CURVES = ("cap", "components", "decision_curve", "murphy", "regret", "reliability", "roc")
ALL = (*CURVES, "confusion", "distribution", "groups", "murphy_difference", "retention", "trend", "triptych")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def source_of(name):
    return class_evaluation() if name in {"confusion", "retention"} else binary_evaluation()


def line_of(axes, label):
    return next(line for line in axes.get_lines() if line.get_label() == label)


def test_the_public_plots_are_listed_and_documented():
    assert set(sr.plots.__all__) == set(ALL) == set(dir(sr.plots))
    for name in ALL:
        text = getattr(sr.plots, name).__doc__
        assert "Parameters\n" in text
        assert "{" not in text


@pytest.mark.parametrize("name", ALL)
def test_an_evaluation_is_drawn_into_a_new_figure_that_pyplot_shows(name):
    drawn = binary_evaluation().plot(name) if source_of(name).models else class_evaluation().plot(name)
    assert isinstance(drawn, (Axes, Figure))
    figure = drawn if isinstance(drawn, Figure) else drawn.figure.figure
    assert plt.fignum_exists(figure.number)
    assert len(figure.axes) >= 1


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("n", [1, 2])
def test_all_sources_give_the_same_curves(name, n):
    y, forecasts = make_forecasts()
    names = list(forecasts)[:n]
    chosen = {model: forecasts[model] for model in names}
    fits = {model: fit_of(model) for model in names}
    axes = [plt.figure().add_subplot() for _ in range(3)]
    plot = getattr(sr.plots, name)
    assert plot(y, chosen, ax=axes[0]) is axes[0]
    plot(fits, ax=axes[1])
    plot([model for model in binary_evaluation().models if model.model in names], ax=axes[2])
    for model in names:
        points = [line_of(one, model).get_xydata() for one in axes]
        np.testing.assert_array_equal(points[0], points[1])
        if name not in {"decision_curve", "regret", "murphy"}:  # their knots are those of all models
            np.testing.assert_allclose(points[0], points[2], atol=1e-12)


def test_one_array_is_named_by_its_series():
    y, forecasts = make_forecasts()
    series = pd.Series(forecasts["logit"], name="my model")
    assert line_of(sr.plots.roc(y, series), "my model") is not None
    assert line_of(sr.plots.roc(y, forecasts["logit"]), "forecast") is not None
    assert line_of(fit_of("logit").plot("roc"), "forecast") is not None


@pytest.mark.parametrize("library", [pd, pl])
def test_a_frame_of_forecasts_is_drawn_by_its_columns(library):
    y, forecasts = make_forecasts()
    of_frame, of_mapping = sr.plots.roc(y, library.DataFrame(forecasts)), sr.plots.roc(y, forecasts)
    for name in forecasts:
        points = [line_of(axes, name).get_xydata() for axes in (of_frame, of_mapping)]
        np.testing.assert_array_equal(*points)


def test_weights_equal_repeated_rows():
    y, forecasts = make_forecasts()
    times = 1 + np.arange(len(y)) % 3
    weighted = sr.plots.roc(y, forecasts["logit"], sample_weight=times)
    repeated = sr.plots.roc(np.repeat(y, times), np.repeat(forecasts["logit"], times))
    lines = [line_of(axes, "forecast").get_xydata() for axes in (weighted, repeated)]
    np.testing.assert_allclose(lines[0], lines[1], atol=1e-12)


def test_the_accuracy_ratio_is_twice_the_area_minus_one():
    from scorereport.plots.plotted_models import find_models
    from scorereport.plots.roc_curves import _profile

    y, forecasts = make_forecasts()
    (model,) = find_models(y, forecasts["boost"])
    x, share = _profile(model)
    area = np.trapezoid(share, x)
    prevalence = y.mean()
    assert (area - 0.5) / ((1 - prevalence) / 2) == pytest.approx(2 * model.curves.roc.auc - 1, abs=1e-3)
    assert (x[0], share[0], x[-1], share[-1]) == (0, 0, 1, 1)


@pytest.mark.parametrize("name", CURVES)
def test_keywords_of_matplotlib_reach_the_curves(name):
    y, forecasts = make_forecasts()
    keywords = {"lw": 3.5, "alpha": 0.5, "c": ["black", "crimson"]}
    axes = getattr(sr.plots, name)(y, forecasts, ax=plt.figure().add_subplot(), **keywords)
    lines = [line_of(axes, model) for model in forecasts]
    assert [to_hex(line.get_color()) for line in lines] == [to_hex("black"), to_hex("crimson")]
    assert {line.get_alpha() for line in lines} == {0.5}
    assert {line.get_linewidth() for line in lines} == {3.5}


@pytest.mark.parametrize(("name", "label"), [("trend", "logit"), ("groups", "logit"), ("retention", "RPS")])
@pytest.mark.parametrize("is_given", [True, False])
def test_keywords_reach_lines_and_points_of_other_plots(name, label, is_given):
    axes = plt.figure().add_subplot() if is_given else None
    drawn = sr.plots.draw_kind(source_of(name), name, ax=axes, color="crimson", alpha=0.5)
    line = line_of(drawn.axes[0] if isinstance(drawn, Figure) else drawn, label)
    assert (to_hex(line.get_color()), line.get_alpha()) == (to_hex("crimson"), 0.5)
    difference = binary_evaluation().plot("murphy_difference", ax=axes, color="crimson", lw=4)
    widths = {
        one.get_linewidth() for one in difference.get_lines() if to_hex(one.get_color()) == to_hex("crimson")
    }
    assert 4 in widths


@pytest.mark.parametrize("name", CURVES)
def test_names_are_written_beside_the_curves_or_left_to_a_legend(name):
    y, forecasts = make_forecasts()
    for labels in (True, False):
        axes = getattr(sr.plots, name)(y, forecasts, ax=plt.figure().add_subplot(), labels=labels)
        texts = [text.get_text() for text in axes.texts]
        assert ("logit" in texts) == labels
    entries = [text.get_text() for text in axes.legend().get_texts()]
    assert {"logit", "boost"} <= set(entries)


@pytest.mark.parametrize("name", ALL)
def test_the_style_of_the_user_stays(name):
    with plt.rc_context({"lines.linewidth": 7.0, "font.size": 21.0}):
        before = dict(mpl.rcParams)
        sr.plots.draw_kind(source_of(name), name)
        assert dict(mpl.rcParams) == before
        _, axes = plt.subplots()
        if name != "triptych":
            sr.plots.draw_kind(one_of(name), name, ax=axes)
            assert axes.xaxis.label.get_size() == 21.0
            assert dict(mpl.rcParams) == before


def one_of(name):
    """A source that one Axes shows."""
    if name == "distribution":
        return fit_of("logit")
    return source_of(name)


@pytest.mark.parametrize("name", [name for name in ALL if name != "triptych"])
def test_all_that_is_drawn_is_visible_on_a_dark_background(name):
    with plt.style.context("dark_background"):
        axes = plt.figure().add_subplot()
        sr.plots.draw_kind(one_of(name), name, ax=axes)
        new = sr.plots.draw_kind(source_of(name), name)
        figure = new if isinstance(new, Figure) else new.figure.figure
        assert to_hex(figure.get_facecolor()) == "#000000"
    for text in [*axes.texts, *(text for one in figure.axes for text in one.texts)]:
        if text.get_text().strip():
            is_on_cell = name == "confusion"  # numbers on cells that are light
            assert is_on_cell or max(to_rgb(text.get_color())) > 0.4, text.get_text()
    for one in figure.axes:
        assert not is_dark(one.xaxis.label.get_color())
    for line in axes.get_lines():
        if line.get_linestyle() != "None":
            assert max(to_rgb(line.get_color())) > 0.2


def test_colours_that_the_user_chose_stay_on_a_dark_background():
    with plt.style.context("dark_background"):
        axes = fit_of("logit").plot("roc", color="navy")
    assert to_hex(line_of(axes, "forecast").get_color()) == to_hex("navy")


def test_reliability_has_the_band_that_was_asked_for():
    fit = fit_of("boost")
    plain = fit.plot("reliability", band=None)
    assert len(plain.artists) + len(plain.patches) == 1  # the histogram
    consistency, confidence = fit.plot(), fit.plot(band="confidence", level=0.99)
    for axes, band in ((consistency, fit.band()), (confidence, fit.band("confidence", 0.99))):
        (patch,) = [one for one in (*axes.artists, *axes.patches) if one.get_alpha()]
        heights = patch.get_path().vertices[:, 1]
        assert heights.min() >= min(band.lower) - 1e-9
        assert heights.max() <= max(band.upper) + 1e-9
        assert np.ptp(heights) > 0.5
    given = fit.band(coverage="simultaneous")
    assert len(fit.plot(band=given).get_lines()) == len(plain.get_lines()) + 2


def test_several_models_share_given_axes_or_have_panels_of_their_own():
    y, forecasts = make_forecasts()
    figure = sr.plots.reliability(y, forecasts)
    assert isinstance(figure, Figure)
    assert len(figure.axes) == 2
    axes = sr.plots.reliability(y, forecasts, ax=plt.figure().add_subplot())
    assert {"logit", "boost"} <= {line.get_label() for line in axes.get_lines()}
    assert axes.get_aspect() == 1


@pytest.mark.parametrize("name", CURVES)
def test_labels_without_room_in_small_axes_are_left_out(name):
    small = plt.figure(figsize=(1.4, 1.2)).add_subplot()
    getattr(sr.plots, name)(*make_forecasts(), ax=small)
    figure = small.figure.figure
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in small.texts if text.get_text() in {"logit", "boost"}]
    assert not any(one.overlaps(other) for k, one in enumerate(boxes) for other in boxes[:k])
    numbers = {"MCB", "DSC", "UNC"}
    fit_of("logit").plot(ax=small)
    assert not numbers & {text.get_text() for text in small.texts}
    large = fit_of("logit").plot(ax=plt.figure().add_subplot())
    assert numbers <= {text.get_text() for text in large.texts}


def test_a_figure_can_be_stored_and_read_again():
    figure = fit_of("logit").plot("roc").figure.figure
    again = pickle.loads(pickle.dumps(figure))
    assert [one.get_xlabel() for one in again.axes] == ["False positive rate"]


def test_a_layout_of_the_user_is_not_disturbed():
    figure, axes = plt.subplots(2, 2, figsize=(9, 7))
    for name, one in zip(("groups", "reliability", "roc", "murphy"), axes.ravel(), strict=True):
        binary_evaluation().plot(name, ax=one)
    figure.tight_layout()
    figure.canvas.draw()
    for one in axes.ravel():
        box = one.get_position()
        assert box.width > 0.25
        assert box.height > 0.25


def test_a_trend_is_drawn_from_periods_or_from_several_evaluations():
    evaluation = binary_evaluation()
    by_period = evaluation.plot("trend", measure="roc_auc")
    assert by_period.get_ylabel() == "Area under the ROC curve (AUC)"
    labels = [
        text.get_text() for text in sr.plots.trend({"May": evaluation, "June": evaluation}).get_xticklabels()
    ]
    assert labels == ["May", "June"]


def test_differences_are_drawn_from_arrays_too():
    y, forecasts = make_forecasts()
    axes = sr.plots.murphy_difference(y, forecasts)
    expected = sr.inference.murphy_difference(y, *forecasts.values(), resamples=None)
    drawn = max(axes.get_lines(), key=lambda line: len(line.get_xdata()))
    x, height = drawn.get_data()
    np.testing.assert_array_equal(height, expected.difference[np.searchsorted(expected.theta, x)])
    three = sr.plots.murphy_difference(y, {**forecasts, "flat": np.full(len(y), 0.4)})
    assert len(three.axes) == 3
    with pytest.raises(sr.UsageError, match=r"^`y_prob` must be a mapping of names"):
        sr.plots.murphy_difference(y, forecasts["logit"])


def test_decisions_at_a_threshold_are_counted():
    axes = sr.plots.confusion([0, 0, 0, 1, 1], [0.1, 0.5, 0.2, 0.6, 0.4])
    assert sorted(text.get_text() for text in axes.texts) == ["33", "50", "50", "67"]
    lower = sr.plots.confusion([0, 0, 0, 1, 1], [0.1, 0.5, 0.2, 0.6, 0.4], threshold=0.2)
    assert sorted(text.get_text() for text in lower.texts) == ["100", "33", "67"]


def numbers_of(axes):
    """The percentages in the cells, by row."""
    return {tuple(map(round, text.get_position()[::-1])): text.get_text() for text in axes.texts}


def test_an_evaluation_in_memory_is_counted_at_a_threshold():
    figure = binary_evaluation().plot("confusion", threshold=0.3)
    assert numbers_of(figure.axes[0]) == numbers_of(fit_of("logit").plot("confusion", threshold=0.3))


def test_classes_are_counted_from_arrays():
    table = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.4, 0.4, 0.2], [0.1, 0.1, 0.8]])
    axes = sr.plots.confusion(["a", "b", "b", "c"], table, classes=["a", "b", "c"])
    assert numbers_of(axes) == {(0, 0): "100", (1, 0): "50", (1, 1): "50", (2, 2): "100"}
    weighted = sr.plots.confusion(
        ["a", "b", "b", "c"], table, classes=list("abc"), sample_weight=[1, 3, 1, 1]
    )
    assert numbers_of(weighted)[1, 1] == "75"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (
            lambda: sr.plots.roc(3),
            "A plot needs an Evaluation, a fit, a mapping of names to fits, or outcomes with `y_prob`; "
            "got int.",
        ),
        (
            lambda: class_evaluation().plot("roc"),
            "This plot shows binary models; the evaluation is of models of K classes. Plots of these are "
            "`confusion`, `retention` and `groups`.",
        ),
        (
            lambda: fit_of("logit").plot("rok"),
            '`kind` must be one of "cap", "components", "confusion", "decision_curve", "distribution", '
            '"groups", "murphy", "murphy_difference", "regret", "reliability", "retention", "roc", "trend", '
            "\"triptych\"; got 'rok'.",
        ),
        (
            lambda: fit_of("logit").plot("roc", color=["red", "blue"]),
            "`color` must be one colour, or one for each model; got ['red', 'blue'] for 1.",
        ),
        (
            lambda: fit_of("logit").plot("roc", ax="left"),
            "`ax` must be an Axes of Matplotlib; got str.",
        ),
        (
            lambda: fit_of("logit").plot(band="credible"),
            '`band` must be one of "consistency", "confidence"; got \'credible\'.',
        ),
        (
            lambda: binary_evaluation().plot("reliability", level=0.5),
            "`level` is for fits and arrays; the level of an evaluation is its `band_level`.",
        ),
        (
            lambda: binary_evaluation().plot("murphy_difference", pair=("logit", "forest")),
            "`pair` must be one of ('logit', 'boost'); got ('logit', 'forest').",
        ),
        (
            lambda: sr.plots.confusion(binary_evaluation().models),
            "The confusion matrix at a threshold needs the rows, which are not in memory: pass a fit of "
            "`corp`, or outcomes with `y_prob`. `evaluation.thresholds` has rates at a few thresholds.",
        ),
        (
            lambda: binary_evaluation().plot("distribution", ax=plt.figure().add_subplot()),
            "One Axes shows one model; got 2. Leave `ax` out for a figure of all of them, or pass one model, "
            "such as `evaluation.models[0]`.",
        ),
        (
            lambda: class_evaluation().plot("trend"),
            "The evaluation has no periods: name a column of dates by `time` in `evaluate`.",
        ),
        (
            lambda: binary_evaluation().plot("groups", column="branch"),
            "`column` must be one of region; got 'branch'.",
        ),
        (
            lambda: binary_evaluation().plot("retention"),
            "There are no retention curves: they are those of models of K classes.",
        ),
        (
            lambda: binary_evaluation().plot("components", score="rps"),
            "`score` must be one that was evaluated",
        ),
        (
            lambda: sr.plots.decision_curve(fit_of("logit"), cost_interval=(5, 20)),
            "`cost_interval` must",
        ),
        (
            lambda: sr.corp([0.5, 2.0, 1.0], [1.0, 2.0, 3.0], functional="mean").plot(),
            "A plot needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
        ),
        (
            lambda: sr.plots.roc(fit_of("logit"), sample_weight=[1, 2]),
            "`sample_weight` needs outcomes and `y_prob`; a fit has its weights already.",
        ),
    ],
)
def test_mistakes_are_explained(draw, message):
    with pytest.raises(sr.UsageError) as caught:
        draw()
    assert str(caught.value).startswith(message)
