"""The probability scale: odd data, figures, tables and the section of a report."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from probability_scale_tools import MARKS, OPTIONS, draw_classes, draw_events, events_fixture, softmax, values

import scorereport as sr
from scorereport import plots
from scorereport._utils.json_documents import dump, load
from scorereport.inference import ScaleResult, model_source
from scorereport.inference.class_panel import make_class_panel
from scorereport.inference.nelson_scale import scale_panel
from scorereport.inference.scale_draws import ScaleForecast, ScaleTarget
from scorereport.inference.scale_fits import source_marks
from scorereport.inference.scale_intervals import _mean_without_chance, draw_overfit
from scorereport.plots.scale_diagram import choose_scale_window, share_in_window
from scorereport.plots.style import report_style
from scorereport.report.sections.scale_section import describe_scale_section
from scorereport.report.tables.scale_tables import angle_table, class_scale_table, scale_table
from scorereport.results.frames import scale_frame

events = pytest.fixture(scope="module")(events_fixture)


@pytest.fixture(scope="module")
def classes():
    """Two models of four classes on the same cases, with all results."""
    y, p = draw_classes(400, 4)
    panel = make_class_panel(y, {"right": p, "steep": softmax(2.5 * np.log(p))})
    options = OPTIONS | {"resamples": 60}
    return [
        SimpleNamespace(model=name, scale=scale_panel(panel, name, list("abcd"), **options))
        for name in panel.forecasts
    ]


# Odd data


def test_order_of_rows_does_not_matter():
    y, p = draw_classes(70, 3)
    weight, cluster = np.random.default_rng(4).integers(1, 4, 70), np.arange(70) % 9
    order = np.random.default_rng(5).permutation(70)
    one = model_source(y, p, resamples=8, sample_weight=weight, cluster=cluster)
    other = model_source(y[order], p[order], resamples=8, sample_weight=weight[order], cluster=cluster[order])
    assert dump(one) == dump(other)


@pytest.mark.parametrize("bins", [4, "CORP blocks"])
def test_whole_weights_equal_repeated_rows(bins):
    y, p = draw_classes(30, 3)
    p = softmax(np.round(np.log(p), 1))
    times = np.random.default_rng(6).integers(0, 4, 30)
    one = model_source(y, p, bins=bins, sample_weight=times, resamples=20)
    many = model_source(np.repeat(y, times), np.repeat(p, times, axis=0), bins=bins)
    for part in ("model", "source", "divergence"):
        assert values(one, part) == pytest.approx(values(many, part), rel=1e-12)
    assert one.n.tolist() == pytest.approx(many.n.tolist())
    assert np.isfinite([one.angle_lower, one.calibrated_angle]).all()


def test_probability_zero_of_the_observed_class():
    y, p = draw_events(60)
    p[np.flatnonzero(y)[0]] = 0.0
    for bins in (5, "CORP blocks"):
        result = model_source(y, p, bins=bins, resamples=40)
        assert values(result, "model")[1:] == values(result, "divergence")[1:] == [0, 0]
        assert result.accuracy.model.lower == 0 < result.accuracy.model.upper
        below = result.spectrum_exponent <= 0
        assert (result.spectrum_model[below] == 0).all()
        assert (result.spectrum_model[~below] > 0).all()
    assert model_source(y, p, limit=0.01).accuracy.model.value > 0


def test_certain_forecasts_that_fail_have_nothing_to_compare_with():
    result = model_source([1, 0, 1] * 20, [1.0, 0.0, 0.0] * 20, resamples=20)
    assert result.verdict == ""
    assert result.sentence.endswith(
        "with calibrated probabilities these forecasts would have no line to compare it with."
    )


def test_a_class_never_observed():
    y, p = np.array([0, 1, 0, 1, 1, 0] * 10), np.tile([[0.5, 0.3, 0.2], [0.2, 0.5, 0.3]], (30, 1))
    for bins in (5, "CORP blocks"):
        result = model_source(y, p, bins=bins, target=2, resamples=10)
        assert (
            result.note
            == "It was never observed, so there is no mean of the probabilities of observed cases."
        )
        assert np.isnan([*values(result, "model"), *values(result, "source"), result.angle]).all()
        assert result.events.sum() == 0
        assert np.isnan(result.contribution).all()
        assert result.accuracy.model.note == "The value is not defined: there is no interval."
        assert result.sentence.startswith("The marks coincide or are not defined")
        assert dump(load(ScaleResult, dump(result), "scale.json")) == dump(result)


def test_a_rare_class_is_not_in_every_resample():
    y, p = draw_classes(40, 3)
    y[y == 2] = 0
    y[3] = 2
    note = model_source(y, p, target=2, resamples=50).accuracy.model.note
    assert note.startswith("Not defined in ")
    assert note.endswith(" of 50 resamples, which were left out.")


def test_more_bins_than_pairs():
    result = model_source([1, 0], [0.8, 0.3], bins=10)
    assert (result.n_bins, len(result.n)) == (4, 4)
    assert result.note == "There are 4 bins instead of 10: pairs of case and class are too few."


@pytest.mark.parametrize("cluster", [None, [7, 7]])
def test_one_draw_has_no_interval(cluster):
    y, p = ([1], [0.8]) if cluster is None else ([1, 0], [0.8, 0.3])
    result = model_source(y, p, bins=2, resamples=10, cluster=cluster)
    unit = "row" if cluster is None else "cluster"
    assert result.accuracy.model.note == f"One {unit} has no spread: there is no interval."
    assert np.isnan([result.accuracy.model.lower, result.angle_lower, result.calibrated_angle]).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bins": "isotonic"}, "`bins` must be one of \"CORP blocks\"; got 'isotonic'."),
        ({"bins": 0}, "`bins` must be a whole number of at least 1; got 0."),
        ({"target": 2}, "`target` must be the index of a class, 0 to 1; got 2."),
        ({"limit": 0.5}, "`limit` must lie in [0, 0.5); got 0.5."),
    ],
)
def test_options_are_checked(options, sentence):
    with pytest.raises(sr.UsageError) as error:
        model_source([0, 1], [0.2, 0.7], **options)
    assert str(error.value) == sentence


def test_results_are_documents(classes):
    for result in (classes[0].scale[0], classes[1].scale[3]):
        text = dump(result)
        assert dump(load(ScaleResult, text, "scale.json")) == text


# Figures, tables and the section


def texts_of(figure):
    texts = [*figure.texts, *(text for axes in figure.axes for text in axes.texts)]
    return [text.get_text() for text in texts]


def assert_apart(figure):
    """No two texts of a panel overlap."""
    with report_style():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
    renderer = canvas.get_renderer()
    for axes in figure.axes:
        boxes = [text.get_window_extent(renderer) for text in axes.texts]
        for place, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[place + 1 :])


def test_plot_scale_draws_bins_marks_and_angles(classes):
    figure = plots.plot_scale(classes)
    assert len(figure.axes) == 2
    for axes, model in zip(figure.axes, classes, strict=True):
        cut, fitted = model.scale[:2]
        filled, outlined = axes.collections
        for drawn, result in ((filled, cut), (outlined, fitted)):
            seen = result.events > 0
            np.testing.assert_allclose(
                drawn.get_offsets(), np.column_stack([result.source, result.model])[seen]
            )
            size = drawn.get_sizes() / drawn.get_sizes().max()
            np.testing.assert_allclose(size, result.contribution[seen] / result.contribution.max())
        marks = [line.get_xydata()[0].tolist() for line in axes.lines if line.get_marker() != "None"]
        assert marks == [[getattr(cut, m).source.value, getattr(cut, m).model.value] for m in reversed(MARKS)]
    assert {"right", "steep", *MARKS} <= set(texts_of(figure))
    assert any(text.endswith("° over-confident") for text in texts_of(figure))
    assert_apart(figure)


@pytest.mark.sweep
def test_figures_of_one_model_and_of_five(classes, events):
    for models in (events, [replace_name(classes[k % 2], f"model {k}") for k in range(5)]):
        assert_apart(plots.plot_scale(models))
        spectrum = plots.plot_spectrum(models)
        assert len(spectrum.axes) == len(models)
        assert_apart(spectrum)


def replace_name(model, name):
    return SimpleNamespace(model=name, scale=model.scale)


def test_plot_spectrum_draws_model_and_source(classes):
    figure = plots.plot_spectrum(classes)
    for axes, model in zip(figure.axes, classes, strict=True):
        lines = [line.get_ydata() for line in axes.lines if len(line.get_ydata()) == 42]
        np.testing.assert_array_equal(lines, [model.scale[0].spectrum_source, model.scale[0].spectrum_model])


def test_figures_are_described(classes):
    text = plots.describe_scale(classes)
    accuracy = classes[0].scale[0].accuracy
    assert f"accuracy {accuracy.model.value:.2f} against {accuracy.source.value:.2f}" in text
    assert classes[1].scale[0].sentence in text
    assert "right: the model rises from 0." in plots.describe_spectrum(classes)


def test_axes_end_where_small_probabilities_do():
    y, p = draw_classes(300, 50, spread=0.7)
    scale = scale_panel(make_class_panel(y, {"m": p}), "m", [str(k) for k in range(50)], **OPTIONS)
    model = SimpleNamespace(model="m", scale=scale)
    window = choose_scale_window(scale[:2])
    assert window == (0.0, 0.1)
    assert all(share_in_window(result, window) >= 0.95 for result in scale[:2])
    assert "The axes end at 0.10" in plots.describe_scale([model])
    figure = plots.plot_scale([model])
    assert_apart(figure)
    assert figure.axes[0].get_xlim()[1] == pytest.approx(0.106)


def test_tables_of_all_classes_together(classes):
    table = scale_table(classes, "95 %")
    assert len(table.rows) == 6
    assert table.section == 3
    row = table.rows[4]
    cut, fitted = classes[1].scale[:2]
    assert row[:3] == ("steep", "accuracy", f"{cut.accuracy.model.value:.3f}")
    assert row[3] == f"[{cut.accuracy.model.lower:.3f}, {cut.accuracy.model.upper:.3f}]"
    assert (row[4], row[8], row[10]) == (
        f"{cut.accuracy.source.value:.3f}",
        f"{fitted.accuracy.source.value:.3f}",
        f"{fitted.accuracy.divergence.value:.3f}",
    )
    assert table.caption.endswith("with 95 % intervals")
    angles = angle_table(classes, "95 %")
    assert angles.rows[3][:4] == ("steep", "CORP blocks", "over-confident", f"{fitted.angle:.0f}")


def test_the_frame_has_intervals_angle_and_verdict(classes):
    frame = scale_frame(classes)
    row = frame[(frame["model"] == "steep") & (frame["class"] == "") & (frame["mark"] == "accuracy")].iloc[1]
    fitted = classes[1].scale[1]
    assert row["bins"] == "CORP blocks"
    assert (row["model_lower"], row["model_upper"]) == (
        fitted.accuracy.model.lower,
        fitted.accuracy.model.upper,
    )
    assert row["source_lower"] < row["source_upper"]
    assert row["divergence_upper"] == fitted.accuracy.divergence.upper
    assert (row["angle"], row["angle_lower"], row["angle_upper"]) == (
        fitted.angle,
        fitted.angle_lower,
        fitted.angle_upper,
    )
    assert row["verdict"] == "over-confident"


def test_table_of_classes_is_kept_short(classes):
    table = class_scale_table(classes, "95 %")
    assert [row[:2] for row in table.rows] == [
        (label, name) for label in "abcd" for name in ("right", "steep")
    ]
    assert sum(float(row[2]) for row in table.rows[::2]) == 400
    y, p = draw_classes(300, 50)
    scale = scale_panel(make_class_panel(y, {"m": p}), "m", [f"c{k}" for k in range(50)], **OPTIONS)
    table = class_scale_table([SimpleNamespace(model="m", scale=scale)], "95 %")
    counts = np.bincount(y, minlength=50)
    shown = [int(row[0][1:]) for row in table.rows]
    assert len(shown) == 12
    assert shown == sorted(shown)
    assert counts[shown].min() >= np.delete(counts, shown).max()
    assert table.caption.endswith(" and 26 more")
    assert "with 95 % intervals" not in table.caption


@pytest.mark.sweep
def test_the_section_has_all_parts(classes, events):
    for models in (classes, events):
        settings = SimpleNamespace(level=0.95)
        report = SimpleNamespace(evaluation=SimpleNamespace(results=models, settings=settings, notes=()))
        section = describe_scale_section(report)
        keys = ["scale_marks", "scale_plot", "scale_angles", "scale_classes", "scale_spectrum"]
        assert list(section.parts) == keys
        assert len(section.content["sentences"]) == len(models)
        assert section.content["has_intervals"] == (models is classes)
    differing = (classes[1].scale[0], replace(classes[1].scale[1], verdict="neither"))
    report.evaluation.results = [SimpleNamespace(model="m", scale=differing)]
    sentences = describe_scale_section(report).content["sentences"]
    assert [s.partition(":")[0] for s in sentences] == ["m, CORP blocks", "m, equal-count bins"]
    report.evaluation.results = [SimpleNamespace(model="m", scale=())]
    assert describe_scale_section(report) is None


@pytest.mark.sweep
def test_many_models_fill_several_figures(events):
    models = [replace_name(events[0], f"model {k}") for k in range(8)]
    settings = SimpleNamespace(level=0.9)
    report = SimpleNamespace(evaluation=SimpleNamespace(results=models, settings=settings, notes=()))
    section = describe_scale_section(report)
    assert section.content["figures"] == ["scale_plot", "scale_plot_2"]
    assert section.content["spectra"] == ["scale_spectrum", "scale_spectrum_2"]


# The overfit of CORP blocks


def test_chance_is_taken_out_of_the_overfit_as_by_least_squares():
    rng = np.random.default_rng(8)
    chance = rng.normal(0.1, 1, (50, 3))
    excess = 0.7 + chance @ rng.normal(size=(3, 3)) + rng.normal(0, 0.1, (50, 3))
    design = np.column_stack([np.ones(50), chance])
    expected = np.linalg.lstsq(design, excess)[0][0]
    assert _mean_without_chance(excess, chance) == pytest.approx(expected, rel=1e-9)
    doubled = chance[:, [0, 0, 0]]
    alone = np.linalg.lstsq(design[:, :2], excess)[0][0]
    assert _mean_without_chance(excess, doubled) == pytest.approx(alone, rel=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_overfit_is_what_a_flat_curve_shows_by_chance(weighted):
    """The forecasts carry no information: all that the blocks of the sample show above 1/3 is overfit."""
    rng = np.random.default_rng(9)
    weight = rng.gamma(4.0, size=600) if weighted else None
    panel = make_class_panel(
        rng.integers(0, 3, 600), {"m": rng.dirichlet(np.ones(3), 600)}, sample_weight=weight
    )
    forecast = ScaleForecast(given=panel.forecasts["m"], outcome=panel.outcome, units=panel.units)
    target = ScaleTarget(forecast, None, 10)
    overfit = draw_overfit(target, draws=60, seed=1)
    blocks = target.sample.blocks
    excess = np.log(3 * source_marks(blocks.events.astype(float), blocks.n.astype(float)))
    assert (overfit > 0.3 * excess).all()
    assert (overfit < 3 * excess).all()


def test_certain_forecasts_that_come_true_have_intervals_of_no_width():
    p = np.eye(3)[[0, 1, 2, 0] * 10]
    fit = model_source([0, 1, 2, 0] * 10, p, bins="CORP blocks", resamples=20).accuracy
    assert (fit.source.lower, fit.source.upper, fit.divergence.lower, fit.divergence.upper) == (1, 1, 1, 1)
