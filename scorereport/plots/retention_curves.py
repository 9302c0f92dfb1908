"""Retention curves as small multiples: a panel for each model and metric, a line for each score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import format_level, format_number, join_words
from scorereport.errors import UsageError
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis, write_placeholder
from scorereport.plots.geometry import even_ticks
from scorereport.plots.label_placement import CurveLabel, label_curves
from scorereport.plots.plotted_models import is_class_model, is_evaluation
from scorereport.plots.public_figures import draw_figure, open_axes
from scorereport.plots.style import HEAVY, MUTED, SIZE, SMALL, line_styles, report_style
from scorereport.plots.text import clean_text, join_sentences, shorten_text, text_width, wrap
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport.inference.retention_bands import RetentionBand
    from scorereport.plots.style import LineStyles
    from scorereport.results.class_records import ClassModelResult

_LEFT, _RIGHT, _GAP = 10.5, 3.0, 11.5
_KEY_ROW, _SAMPLE, _AFTER_SAMPLE, _BETWEEN = 4.6, 7.0, 1.5, 5.0
_LINE, _MODEL, _UNDER_KEY, _UNDER_HEADING, _UNDER_PANEL, _AXIS_LABEL = 3.8, 6.0, 3.0, 2.0, 7.5, 4.5
#: Greatest height of a panel, as a share of its width and in millimetres.
_SHAPE, _HIGHEST, _HIGHEST_ON_PAGE = 0.8, 56.0, 38.0
#: Height of all rows of panels that leaves room for the caption on a page, and least height of a panel.
_ROOM, _LOWEST = 196.0, 20.0
#: Opacity of the bands of all scores where they overlap.
_VEIL = 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Positions of panels: a row for each model, a column for each metric; or one model's metrics in rows."""

    columns: int
    width: float
    height: float
    top: float
    headings: tuple[float, ...]

    @property
    def bottom(self) -> float:
        return self.start(len(self.headings)) + _AXIS_LABEL

    def corner(self, place: int) -> tuple[float, float]:
        """Return left and top of the panel at a place."""
        row, column = divmod(place, self.columns)
        return _LEFT + column * (self.width + _GAP), self.start(row) + self.headings[row]

    def start(self, row: int) -> float:
        """Return where a row begins, including its heading."""
        return self.top + sum(self.headings[:row]) + row * (self.height + _UNDER_PANEL)


def retention(
    source: Any,
    *,
    metric: str | None = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes | Figure:
    """Draw retention curves: a metric on the retained cases against the share of cases set aside.

    Without `ax`, a new figure has a panel for each model and metric and is returned. With `ax`, one metric of
    one model is drawn into these Axes, with a line for each score, and the Axes are returned.

    Parameters
    ----------
    source
        An `Evaluation` of models of K classes with retention curves, or records of its models.
    metric
        The name of one metric; all of them unless given, or with `ax` the first.
    ax
        The Axes to draw into, for one model.
    labels
        Whether the scores are named beside their curves.
    keywords
        Keywords of Matplotlib for the curves, such as `color` (for all scores, or a list) or `linewidth`.
    """
    models = _find_models(source)
    known, styles = _metrics(models), line_styles(len(_scores(models)), keywords)
    if metric is not None and metric not in known:
        raise UsageError(f"`metric` must be one of {join_words(known)}; got {metric!r}.")
    if ax is None:
        metrics = known if metric is None else [metric]
        figure = draw_figure(
            lambda: _draw_figure(models, metrics, styles, _choose_grid(models, metrics, _HIGHEST)),
            styles.chosen,
        )
        return figure.axes[0] if len(figure.axes) == 1 else figure
    if len(models) > 1:
        raise UsageError(f"One Axes shows one model; got {len(models)}. Pass one of `class_models`.")
    with open_axes(ax, styles.chosen) as panel:
        bands, scores = _of_metric(models, metric or known[0]), _scores(models)
        _set_axes(ax, bands, is_lowest=True)
        ax.set_ylabel(_label(metric or known[0]))
        _draw_bands(ax, bands, scores, styles)
        names = [CurveLabel(_label(band.score), styles.looks[scores.index(band.score)]) for band in bands]
        label_curves(panel, [(100 * b.fraction, b.value) for b in bands], names if labels else ())
    return ax


def _find_models(source: Any) -> tuple[ClassModelResult, ...]:
    if is_evaluation(source):
        source = source.class_models
    models = (source,) if is_class_model(source) else tuple(source)
    if not any(model.retention for model in models):
        raise UsageError("There are no retention curves: they are those of models of K classes.")
    return models


def plot_retention(models: Sequence[ClassModelResult]) -> Figure:
    """Draw each metric on the retained cases against the share of cases set aside, for every score."""
    with report_style():
        metrics = _metrics(models)
        grid = _choose_grid(models, metrics, _HIGHEST_ON_PAGE)
        return _draw_figure(models, metrics, line_styles(len(_scores(models))), grid)


def _draw_figure(
    models: Sequence[ClassModelResult], metrics: Sequence[str], styles: LineStyles, grid: _Grid
) -> Figure:
    canvas = Canvas.of(WIDTH, grid.bottom)
    canvas.divide([grid.start(row) for row in range(len(grid.headings))])
    _draw_key(canvas, _scores(models), styles)
    panels = [(model, metric) for model in models for metric in metrics]
    for place, (model, metric) in enumerate(panels):
        left, top = grid.corner(place)
        axes = canvas.panel(left, top, grid.width, grid.height)
        is_lowest = place + grid.columns >= len(panels)
        _set_axes(axes, _of_metric(models, metric), is_lowest=is_lowest)
        _draw_bands(axes, _of_metric([model], metric), _scores(models), styles)
        if len(models) == 1 or place < len(metrics):
            _write_heading(canvas, (left, top - _above(models)), metric, grid.width)
        if len(models) > 1 and metric == metrics[0]:
            name = shorten_text(model.model, (WIDTH - _RIGHT) * POINTS_PER_MM, size=SIZE, weight=HEAVY)
            canvas.write(0.0, top - _UNDER_HEADING, name, va="bottom", size=SIZE, weight=HEAVY)
    return canvas.figure


def _metrics(models: Sequence[ClassModelResult]) -> list[str]:
    return list(dict.fromkeys(band.metric for model in models for band in model.retention))


def _scores(models: Sequence[ClassModelResult]) -> list[str]:
    return list(dict.fromkeys(band.score for model in models for band in model.retention))


def _of_metric(models: Sequence[ClassModelResult], metric: str) -> list[RetentionBand]:
    return [band for model in models for band in model.retention if band.metric == metric]


def _choose_grid(models: Sequence[ClassModelResult], metrics: Sequence[str], highest: float) -> _Grid:
    """Return a grid with a row for each model; four metrics of one model in two rows."""
    columns = 2 if len(models) == 1 and len(metrics) == 4 else len(metrics)
    rows = -(-len(models) * len(metrics) // columns)
    width = (WIDTH - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns
    heading = _LINE * max(len(_heading(metric, width)) + 1 for metric in metrics) + _UNDER_HEADING
    first = heading + _above(models)
    others = first if len(models) == 1 else _above(models) + _UNDER_HEADING
    headings = (first, *[others] * (rows - 1))
    room = (_ROOM - sum(headings)) / rows - _UNDER_PANEL
    height = max(min(_SHAPE * width, highest, room), _LOWEST)
    top = _key_rows(_scores(models))[-1][0][1] + _KEY_ROW + _UNDER_KEY
    return _Grid(columns=columns, width=width, height=height, top=top, headings=headings)


def _above(models: Sequence[ClassModelResult]) -> float:
    """Return the height of the name of a model above its row."""
    return _MODEL if len(models) > 1 else 0.0


def _heading(metric: str, width: float) -> list[str]:
    return wrap(_label(metric), width * POINTS_PER_MM, lines=2, size=SIZE, weight=HEAVY)


def _write_heading(canvas: Canvas, place: tuple[float, float], metric: str, width: float) -> None:
    """Write the name of a metric and its direction above a place."""
    left, bottom = place
    bottom -= _UNDER_HEADING
    canvas.write(left, bottom - 1.0, _direction(metric), va="baseline", size=SMALL, color=MUTED)
    for number, text in enumerate(reversed(_heading(metric, width)), start=1):
        canvas.write(left, bottom - 1.0 - number * _LINE, text, va="baseline", size=SIZE, weight=HEAVY)


def _label(name: str) -> str:
    return REGISTRY[name].short if name in REGISTRY else clean_text(name)


def _direction(metric: str) -> str:
    return str(REGISTRY[metric].direction) if metric in REGISTRY else ""


def _key_rows(scores: Sequence[str]) -> list[list[tuple[float, float, str]]]:
    """Return left, top and text of the name of each score, by row."""
    rows: list[list[tuple[float, float, str]]] = [[]]
    left = 0.0
    for score in scores:
        text = shorten_text(_label(score), WIDTH * POINTS_PER_MM / 2)
        needed = _SAMPLE + _AFTER_SAMPLE + text_width(text) / POINTS_PER_MM
        if rows[-1] and left + needed > WIDTH:
            rows.append([])
            left = 0.0
        rows[-1].append((left, _KEY_ROW * (len(rows) - 1), text))
        left += needed + _BETWEEN
    return rows


def _draw_key(canvas: Canvas, scores: Sequence[str], styles: LineStyles) -> None:
    """Draw the key: the names of the scores, each with a sample of its line."""
    places = [place for row in _key_rows(scores) for place in row]
    for number, (left, top, text) in enumerate(places):
        middle = top + _KEY_ROW / 2
        canvas.line((left, middle + 0.2), (left + _SAMPLE, middle + 0.2), **styles.of(number))
        canvas.write(left + _SAMPLE + _AFTER_SAMPLE, middle, text, va="center_baseline", size=SMALL)


def _set_axes(axes: Axes, bands: Sequence[RetentionBand], *, is_lowest: bool) -> None:
    last = 100 * max(float(band.fraction[-1]) for band in bands) or 1.0
    set_axis(axes, "x", (0.0, last), list(even_ticks(0.0, last)), "Cases set aside, %" if is_lowest else "")
    limits = _limits(bands)
    set_axis(axes, "y", limits, list(even_ticks(*limits)), "")


def _limits(bands: Sequence[RetentionBand]) -> tuple[float, float]:
    """Return the ends of the axis of a metric, the same for all models."""
    values = np.concatenate([part for band in bands for part in (band.value, band.lower, band.upper)])
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return 0.0, 1.0
    low, high = float(values.min()), float(values.max())
    margin = 0.05 * (high - low) or 0.05
    return low - margin, high + margin


def _draw_bands(
    axes: Axes, bands: Sequence[RetentionBand], scores: Sequence[str], styles: LineStyles
) -> None:
    if not any(np.isfinite(band.value).any() for band in bands):
        write_placeholder(axes, "not defined")
    veil = 1 - (1 - _VEIL) ** (1 / len(bands))
    for band in bands:
        place, x = scores.index(band.score), 100 * band.fraction
        colour, marker = styles.looks[place].colour, "o" if len(x) == 1 else None
        axes.fill_between(x, band.lower, band.upper, color=colour, alpha=veil, linewidth=0, zorder=1.5)
        line = {"marker": marker, "markersize": 3, "label": _label(band.score), **styles.of(place, 1.2)}
        axes.plot(x, band.value, **line)


def describe_retention(models: Sequence[ClassModelResult]) -> str:
    """Describe where the curves start and end."""
    bands = models[0].retention
    names = join_words([model.model for model in models])
    shaded = f" Shaded: pointwise {format_level(bands[0].level)} bands." if bands[0].resamples else ""
    return join_sentences(
        [
            f"Retention curves of {names}: a metric on the retained cases against the share of cases set "
            f"aside, those with the worst score first.{shaded}",
            *(_describe_metric(models, metric) for metric in _metrics(models)),
        ]
    )


def _describe_metric(models: Sequence[ClassModelResult], metric: str) -> str:
    """Describe where the curves of a metric start, and the lowest and the highest of their ends."""
    direction = f" ({_direction(metric)})" if _direction(metric) else ""
    fraction = _of_metric(models, metric)[0].fraction
    first, last = (format_level(float(fraction[end])) for end in (0, -1))
    ends = [_describe_ends(model, metric) for model in models]
    set_aside = f"with {first} and with {last} of the cases set aside"
    return f"{_label(metric)}{direction}, {set_aside}: {'; '.join(ends)}."


def _describe_ends(model: ClassModelResult, metric: str) -> str:
    bands = sorted(_of_metric([model], metric), key=lambda b: float(np.nan_to_num(b.value[-1], nan=np.inf)))
    start = format_number(float(bands[0].value[0]), 3)
    low, high = (format_number(float(band.value[-1]), 3) for band in (bands[0], bands[-1]))
    end = f"{low} by {_label(bands[0].score)} to {high} by {_label(bands[-1].score)}"
    return f"{model.model} {start}, then {end if low != high else f'{low} by every score'}"
