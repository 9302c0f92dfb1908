"""The study of Nelson (2017): its results and figures, and detection of a broken engine."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import stdtr

from scorereport import plots, scores
from scorereport._utils import json_documents
from scorereport.reference.comparison_records import Verdict
from scorereport.reference.reference_documents import StudyFigure
from scorereport.study.papers.nelson import reproduce_nelson
from scorereport.study.papers.nelson_errata import errata_nelson
from scorereport.study.papers.nelson_figures import (
    BINS,
    CASES,
    FIRST,
    GAUSSIAN,
    PERFECT,
    WRONG_MODELS,
    average_model,
    bin_class,
    compare_figure_7,
    draw_two_classes,
    posterior,
    trace_roc,
)
from scorereport.study.papers.nelson_plots import illustrate_nelson

PICTURES = ["nelson-2", "nelson-3", "nelson-4", "nelson-5", "nelson-6-variance", "nelson-6-tails"]
PICTURES += ["nelson-7", "nelson-spectrum"]
SCALES = ["nelson-2", "nelson-5", "nelson-6-variance", "nelson-6-tails"]
KEYS = ["E1", "E2", "E3", "E4", "E4", "E5", "E6", "E6", "E7", "E8", "E8", "E9", "E9", "E10"]


def found(lines, *verdicts):
    return [line for line in lines if line.verdict in verdicts]


def place_of(line):
    return line.subject.partition(", ")[2]


def test_numbers_of_the_paper():
    lines = list(reproduce_nelson())
    assert Counter(line.verdict for line in lines) == {
        Verdict.REPRODUCED: 36,
        Verdict.NOT_REPRODUCIBLE: 8,
    }
    open_places = Counter(place_of(line) for line in found(lines, Verdict.NOT_REPRODUCIBLE))
    assert open_places == {"Fig. 1a": 2, "Fig. 1b": 3, "Fig. 7": 3}
    (compact,) = (line for line in lines if place_of(line) == "Fig. 1c")
    assert compact.engine == "0 (all 4 readings)"
    assert all(bool(line.reason) == (line.verdict != Verdict.REPRODUCED) for line in lines)


def test_errata_are_confirmed():
    lines = list(errata_nelson())
    assert [line.quantity.partition(":")[0] for line in lines] == KEYS
    assert not found(lines, Verdict.REFUTED)
    values = {line.quantity.partition(":")[0]: (line.reference, line.engine) for line in lines}
    assert values["E1"] == (1.7982, 1.0)
    assert values["E2"] == (0.327, 1.2582)
    assert values["E3"] == ("7/200", "9/20")
    assert values["E5"] == (2.8284, 0.5)


@pytest.mark.parametrize(
    ("window", "printed"),
    [
        (None, (0.547, 0.614, 0.890)),
        ((-10.0, 10.0), (0.554, 0.616, 0.900)),
        ((-7.5, 9.5), (0.556, 0.616, 0.903)),
    ],
)
def test_figure_7_by_the_range_of_x(window, printed):
    accuracy = average_model(GAUSSIAN, window).accuracy
    assert (accuracy.model, accuracy.source, accuracy.divergence) == pytest.approx(printed, abs=5e-4)


def test_a_wrong_mean_is_noticed(monkeypatch):
    mean = scores.generalized_mean
    monkeypatch.setattr(scores, "generalized_mean", lambda p, m: mean(p, m + 1))
    differing = [line.quantity for line in found(compare_figure_7(), Verdict.DIFFERS)]
    assert differing == ["Model probability", "Source probability", "Divergence probability"]
    refuted = {line.quantity.partition(":")[0] for line in found(errata_nelson(), Verdict.REFUTED)}
    assert refuted == {"E2", "E3", "E4", "E9"}


@pytest.mark.sweep
def test_a_wrong_density_is_noticed(monkeypatch):
    logpdf = scores.coupled_gaussian_logpdf
    monkeypatch.setattr(scores, "coupled_gaussian_logpdf", lambda x, **options: 1.001 * logpdf(x, **options))
    differing = Counter(place_of(line) for line in found(reproduce_nelson(), Verdict.DIFFERS))
    assert differing == {"sect. 3": 1, "eq. 14": 12}
    assert "E4" in {line.quantity[:2] for line in found(errata_nelson(), Verdict.REFUTED)}


@pytest.mark.sweep
def test_a_wrong_coupling_is_noticed(monkeypatch):
    monkeypatch.setattr(scores, "coupling_exponent", lambda kappa, **_: -2 * kappa / (1 + kappa))
    lines = (line for line in reproduce_nelson() if place_of(line) == "eq. 11")
    assert [line.verdict for line in lines] == [Verdict.DIFFERS]
    refuted = [line.quantity.partition(":")[0] for line in found(errata_nelson(), Verdict.REFUTED)]
    assert refuted == ["E10"]


# ---- Data of the figures ----


@pytest.fixture(scope="module")
def pictures():
    return {figure.key: figure for figure in illustrate_nelson()}


def series_of(panel, kind="line"):
    return {series.label: series for series in panel.series if series.kind == kind and series.label}


def span(values):
    return max(values) - min(values)


def means_in(panel):
    """Coordinates of the three marks: sources, and models."""
    marks = series_of(panel, "marks")
    places = [(marks[name].x[0], marks[name].y[0]) for name in ("decisiveness", "accuracy", "robustness")]
    return np.array(places).T


@pytest.mark.sweep
def test_each_figure_has_few_finite_points(pictures):
    assert list(pictures) == PICTURES
    for number in range(2, 8):
        titles = [figure.title for key, figure in pictures.items() if key.startswith(f"nelson-{number}")]
        assert titles
        assert all(title.startswith(f"Fig. {number}") for title in titles)
    for figure in pictures.values():
        for series in (series for panel in figure.panels for series in panel.series):
            assert 0 < len(series.x) == len(series.y) <= 90
            assert np.isfinite([*series.x, *series.y]).all()
            assert (series.size is None) == (series.kind != "bubbles")


@pytest.mark.parametrize("key", ["nelson-3", "nelson-4"])
def test_densities_integrate_to_the_mass_in_the_panel(pictures, key):
    panel, believed = pictures[key].panels[0], {"nelson-3": 2.0, "nelson-4": 1.0}[key]
    centres = {
        "class 1, source": 0.0,
        "class 1, model": 0.0,
        "class 2, source": 2.0,
        "class 2, model": believed,
    }
    lines = series_of(panel)
    assert set(lines) == set(centres)
    for name, centre in centres.items():
        low, high = (end - centre for end in panel.x_limits)
        mass = float(np.trapezoid(lines[name].y, lines[name].x))
        assert mass == pytest.approx(stdtr(2, high) - stdtr(2, low), abs=2e-3)
        assert lines[name].x[int(np.argmax(lines[name].y))] == pytest.approx(centre)


def test_probabilities_of_both_classes_sum_to_one_and_return_to_one_half(pictures):
    for key, boundary in (("nelson-3", 1.0), ("nelson-4", 0.5)):
        lines = series_of(pictures[key].panels[1])
        for source, middle in (("source", 1.0), ("model", boundary)):
            first, second = (lines[f"class {number}, {source}"] for number in (1, 2))
            np.testing.assert_allclose(np.add(first.y, second.y), 1, atol=2e-6)
            assert np.interp(middle, second.x, second.y) == pytest.approx(0.5, abs=1e-6)
            assert second.y[-1] < max(second.y) - 0.1
            assert pictures[key].panels[1].note == f"the model decides at x = {boundary:g}"


def test_only_a_wrong_model_predicts_another_roc_curve(pictures):
    areas = {}
    for key in ("nelson-3", "nelson-4"):
        panel = pictures[key].panels[2]
        for name, line in series_of(panel).items():
            assert (line.x[0], line.y[0], line.x[-1], line.y[-1]) == (0, 0, 1, 1)
            assert min(np.diff(line.x)) >= 0 <= min(np.diff(line.y))
            areas[key, name] = float(np.trapezoid(line.y, line.x))
        printed = [float(text) for text in re.findall(r"0\.\d+", panel.note)]
        assert printed == pytest.approx([area for (of, _), area in areas.items() if of == key], abs=0.003)
    assert areas["nelson-3", "actual ROC"] == areas["nelson-3", "predicted ROC"]
    assert areas["nelson-4", "predicted ROC"] < areas["nelson-4", "actual ROC"] - 0.1
    assert areas["nelson-4", "actual ROC"] > areas["nelson-3", "actual ROC"] - 0.02


def test_bubbles_of_a_correct_model_lie_on_the_diagonal_up_to_chance(pictures):
    (panel,) = pictures["nelson-2"].panels
    source, model = means_in(panel)
    assert (source == model).all()
    for bubbles in series_of(panel, "bubbles").values():
        p, q = np.array(bubbles.x), np.array(bubbles.y)
        assert (np.abs(p - q) < 4 * np.sqrt(p * (1 - p) * BINS / CASES)).all()
        assert np.abs(p - q).max() > 1e-4  # not exactly, as cases are simulated


@pytest.mark.parametrize("key", SCALES)
def test_every_case_is_in_a_bubble_of_its_class(pictures, key):
    for panel in pictures[key].panels:
        for bubbles in series_of(panel, "bubbles").values():
            assert len(bubbles.x) == BINS
            assert sum(bubbles.size) == CASES / 2
            np.testing.assert_allclose(bubbles.x, np.array(bubbles.size) * BINS / CASES, rtol=1e-5)


@pytest.mark.parametrize("key", SCALES[1:])
def test_marks_and_bubbles_distinguish_over_and_under_confidence(pictures, key):
    for panel in pictures[key].panels:
        source, model = means_in(panel)
        is_overconfident = panel.title.endswith(": over-confident")
        assert is_overconfident != panel.title.endswith(": under-confident")
        assert model[1] < source[1]  # any error costs accuracy
        assert (span(model) > span(source)) == is_overconfident
        for bubbles in series_of(panel, "bubbles").values():
            assert (span(bubbles.y) > span(bubbles.x)) == is_overconfident, panel.title


def test_means_of_the_classes_enclose_those_of_all_cases(pictures):
    for panel in pictures["nelson-5"].panels:
        _, model = means_in(panel)
        first, second = (np.array(series_of(panel, "marks")[f"means of class {k}"].y) for k in (1, 2))
        assert (np.minimum(first, second) < model).all()
        assert (np.maximum(first, second) > model).all()
    np.testing.assert_allclose((first[0] + second[0]) / 2, model[0], rtol=1e-5)  # decisiveness is arithmetic


def error_of_mean(p, m):
    """Standard error of the mean with exponent m, by the delta method."""
    power = p**m if m else np.log(p)
    slope = scores.generalized_mean(p, m) / abs(m * power.mean() if m else 1)
    return float(slope * power.std() / np.sqrt(len(p)))


@pytest.mark.parametrize("name", ["perfect", *WRONG_MODELS])
def test_simulated_cases_have_the_means_of_the_known_densities(name):
    models = PERFECT if name == "perfect" else (FIRST, WRONG_MODELS[name][0])
    label, x = draw_two_classes()
    probability = posterior(x, models, 1)
    scale = scores.probability_scale(label, probability, n_bins=BINS, limit=0.01)
    true = np.where(label == 1, probability, 1 - probability).clip(0.01, 0.99)
    exact = average_model(models)
    for drawn, known in zip((scale.decisiveness, scale.accuracy, scale.robustness), exact, strict=True):
        assert abs(drawn.model - known.model) < 4 * error_of_mean(true, known.exponent)


def test_clipped_probabilities_keep_the_order_of_the_model():
    """Ties at the limits, sorted by outcome, would fill bins with observed classes only."""
    bins = bin_class(GAUSSIAN, 0)
    np.testing.assert_allclose(bins.model[-2:], 0.99, atol=1e-4)
    assert (bins.source[-2:] < 0.9).all()
    assert bins.source[-1] < bins.source[-2] - 0.05  # far out the model is most certain, and wrong


def test_the_spectrum_increases_and_is_steeper_for_over_confidence(pictures):
    for panel in pictures["nelson-spectrum"].panels:
        lines = series_of(panel)
        for line in lines.values():
            assert min(np.diff(line.y)) > 0
        assert (span(lines["model"].y) > span(lines["source"].y)) == (panel.note == "over-confident")
        for mark in series_of(panel, "marks").values():
            for line, height in zip((lines["source"], lines["model"]), mark.y, strict=True):
                assert np.interp(mark.x[0], line.x, line.y) == pytest.approx(height, abs=2e-3)


def test_figure_7_shows_the_ratio_and_which_range_gives_the_printed_values(pictures):
    ratio, readings = pictures["nelson-7"].panels
    marks, ray = series_of(ratio, "marks"), series_of(ratio)["ray through the accuracy"]
    (x,), (y,) = marks["accuracy"].x, marks["accuracy"].y
    assert marks["divergence probability"].y[0] == pytest.approx(y / x, abs=1e-5)
    assert np.interp(x, ray.x, ray.y) == pytest.approx(y, abs=1e-5)
    frame = series_of(readings)["printed values to two decimals"]
    inside = [
        name
        for name, mark in series_of(readings, "marks").items()
        if min(frame.x) <= mark.x[0] <= max(frame.x) and min(frame.y) <= mark.y[0] <= max(frame.y)
    ]
    assert inside == ["x from −7.5 to 9.5"]


@pytest.mark.sweep
def test_figures_are_repeatable_and_read_back_equal(pictures):
    again = {figure.key: figure for figure in illustrate_nelson()}
    assert again == pictures
    for figure in pictures.values():
        assert json_documents.load(StudyFigure, json_documents.dump(figure), "figure") == figure


def test_a_broken_bin_is_noticed(monkeypatch):
    """Over all bins, the gap of a correct model is due to chance, and that of a wrong mean is not."""
    mean = scores.generalized_mean
    gaps = []
    for power in (1.0, 1.1):
        monkeypatch.setattr(scores, "generalized_mean", lambda p, m, power=power: mean(p, m) ** power)
        source, model, _ = bin_class(PERFECT, 0)
        gaps.append(abs((source - model).mean()) / np.sqrt((source * (1 - source)).mean() / CASES))
    assert gaps[0] < 4 < gaps[1]


def test_a_roc_curve_of_a_gaussian_has_its_known_area():
    """Two normal classes at a distance of two: Φ(2/√2)."""
    assert trace_roc(GAUSSIAN, GAUSSIAN).area == pytest.approx(0.92135, abs=5e-4)


# ---- Drawing ----


def drawn_texts(figure):
    return [text.get_text() for text in (*figure.texts, *(t for axes in figure.axes for t in axes.texts))]


def assert_is_inside(figure):
    """Assert that no text or drawing exceeds the page."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    renderer = FigureCanvasAgg(figure).get_renderer()
    width, height = figure.bbox.size
    artists = [*figure.texts, *(axes for axes in figure.axes)]
    for box in (artist.get_tightbbox(renderer) for artist in artists):
        assert box.x0 >= -1
        assert box.y0 >= -1
        assert box.x1 <= width + 1
        assert box.y1 <= height + 1


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("key", PICTURES)
def test_a_figure_is_drawn_whole_with_its_titles_notes_and_key(pictures, key):
    picture = pictures[key]
    figure = plots.plot_study_figure(picture)
    assert len(figure.axes) == len(picture.panels)
    texts = drawn_texts(figure)
    for panel, axes in zip(picture.panels, figure.axes, strict=True):
        assert {panel.title, panel.note} - {""} <= set(texts)
        limits = (*axes.get_xlim(), *axes.get_ylim())
        assert limits == pytest.approx((*panel.x_limits, *panel.y_limits))
    labels = {series.label for panel in picture.panels for series in panel.series} - {""}
    assert Counter(texts) & Counter(labels) == Counter(labels)  # each once
    assert_is_inside(figure)
    assert figure.get_size_inches()[0] * 25.4 <= 160.01


def test_axes_are_named_once_where_panels_share_them(pictures):
    left, right = plots.plot_study_figure(pictures["nelson-5"]).axes
    assert (left.get_ylabel(), right.get_ylabel()) == ("Model probability", "")
    assert left.get_xlabel() == right.get_xlabel() == "Source probability"
    panels = pictures["nelson-5"].panels * 2
    above = plots.plot_study_figure(replace(pictures["nelson-5"], panels=panels)).axes[:2]
    assert [axes.get_xlabel() for axes in above] == ["", ""]


def test_bubbles_have_areas_in_proportion_to_their_events(pictures):
    picture = pictures["nelson-2"]
    (axes,) = plots.plot_study_figure(picture).axes
    bubbles = series_of(picture.panels[0], "bubbles")["bins of class 1"]
    outline = axes.patches[0].get_path().vertices.reshape(BINS, -1, 2)
    middle, reach = outline[:, :-1].mean(axis=1), np.ptp(outline, axis=1)
    np.testing.assert_allclose(middle, np.column_stack([bubbles.x, bubbles.y]), atol=1e-9)
    np.testing.assert_allclose(reach[:, 0] ** 2 / reach[0, 0] ** 2, np.array(bubbles.size) / bubbles.size[0])


def test_marks_in_ink_have_one_shape_each_in_all_panels(pictures):
    ratio, readings = plots.plot_study_figure(pictures["nelson-7"]).axes
    shapes = [line.get_marker() for axes in (ratio, readings) for line in axes.lines]
    used = [shape for shape in shapes if shape not in {"None", ""}]
    assert len(used) == len(set(used)) == 5


@pytest.mark.sweep
def test_the_same_figure_gives_the_same_bytes(pictures):
    first, second = (plots.render_svg(plots.plot_study_figure(pictures["nelson-5"])) for _ in range(2))
    assert first == second


def test_a_figure_is_described_in_words_and_numbers(pictures):
    text = plots.describe_study_figure(pictures["nelson-5"])
    assert text.startswith(
        "Fig. 5: a wrong mean. (a) Mean 1 for 2: under-confident (slope of the marks 0.33, 18°;"
    )
    assert "accuracy at (.614, .581)" in text
    assert "bins of class 1, 20 bubbles, over" in text
    frame = plots.describe_study_figure(pictures["nelson-7"])
    assert "printed values to two decimals, over .615 to .625 and .555 to .565" in frame
    curves = plots.describe_study_figure(pictures["nelson-3"])
    assert "class 2, model from (−6, .002) to (8, .004), highest at (2, .354)" in curves
