"""CORP reliability diagrams of all models, and their flexible calibration curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.formatting import (
    common_decimals,
    format_level,
    format_number,
    format_percent,
    join_words,
)
from scorereport.plots.canvas import (
    POINTS_PER_MM,
    WIDTH,
    Canvas,
    fill_outline,
    set_axis,
    small_panels,
    square_side,
    write_placeholder,
)
from scorereport.plots.geometry import UNIT, choose_window, simplify, window_ticks
from scorereport.plots.label_placement import CurveLabel, SizedAxes, label_curves
from scorereport.plots.plotted_models import add_bands, find_kind, find_models, prevalence_of
from scorereport.plots.public_figures import draw_figure, open_axes, public_plot
from scorereport.plots.reliability_panel import (
    PanelSettings,
    ReliabilityPanel,
    bands_of,
    components_of,
    write_guide,
)
from scorereport.plots.style import HEADING, HEAVY, MUTED, line_styles, model_style, report_style
from scorereport.plots.text import format_probability, join_sentences, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from scorereport.inference.flexible_curves import FlexibleCurve
    from scorereport.plots.geometry import Window
    from scorereport.plots.plotted_models import PlottedModel
    from scorereport.plots.style import LineStyles, ModelStyle
    from scorereport.reliability.bands import Band
    from scorereport.results.model_records import ModelResult


_LINE_OF_HEADING = 4.0
_LEFT, _RIGHT, _GAP, _TOP = 14.0, 3.0, 9.0, 1.0
_UNDER_HEADING, _UNDER_PANEL, _AXIS_LABEL = 2.5, 7.5, 4.5
#: Height of a figure that leaves room for its caption on a page.
_HIGHEST = 208.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Positions of the panels: squares in columns, with a heading above each row.

    On pages, which may divide the figure between its rows, each row has its own labels of the axes.
    """

    columns: int
    side: float
    headings: tuple[float, ...]
    on_page: bool = False

    @property
    def width(self) -> float:
        return _LEFT + self.columns * self.side + (self.columns - 1) * _GAP + _RIGHT

    @property
    def height(self) -> float:
        return self.top(len(self.headings)) + (0.0 if self.on_page else _AXIS_LABEL)

    def top(self, row: int) -> float:
        """Return where a row begins, including its heading."""
        below = _UNDER_PANEL + (_AXIS_LABEL if self.on_page else 0.0)
        return _TOP + sum(self.headings[:row]) + row * (_UNDER_HEADING + self.side + below)

    def corner(self, place: int) -> tuple[float, float]:
        """Return left and top of the panel at a place."""
        row, column = divmod(place, self.columns)
        left = _LEFT + column * (self.side + _GAP)
        return left, self.top(row) + self.headings[row] + _UNDER_HEADING


@public_plot
def reliability(  # all but the data are keywords
    source: Any,
    y_prob: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    band: str | Band | Sequence[Band] | None = "consistency",
    level: float | None = None,
    ax: Axes | None = None,
    labels: bool = True,
    **keywords: Any,
) -> Axes | Figure:
    """Draw the CORP reliability diagram: the observed frequency of events against the forecast.

    With `ax`, all models are drawn into these Axes, and one model alone has its histogram and its numbers.
    Without it, a new figure has a panel for each model. Returns the Axes, or the figure of several panels.

    {parameters}
    band
        "consistency", around the diagonal, in which a calibrated model lies; "confidence", around the curve;
        None for none; or bands of `Corp.band`, for one model. Models of an evaluation have the bands that
        were computed with it.
    level
        The level of the bands of fits and arrays, 0.9 unless given.

    References
    ----------
    Dimitriadis, Gneiting, Jordan (2021), PNAS 118, doi:10.1073/pnas.2016191118
    """
    models = add_bands(find_models(source, y_prob, sample_weight), band, level)
    styles = line_styles(len(models), keywords, labels=labels)
    common = _common_settings(models, prevalence_of(models[0]), find_kind(band))
    if ax is None:
        figure = draw_figure(lambda: _draw_grid(models, common, styles, _choose_grid(models)), styles.chosen)
        return figure.axes[0] if len(models) == 1 else figure
    with open_axes(ax, styles.chosen, is_square=True) as panel:
        _set_panel_axes(ax, common.window)
        _draw_together(panel, models, common, styles)
    return ax


def plot_reliability(models: Sequence[ModelResult], *, prevalence: float) -> Figure:
    """Draw the reliability diagram of each model in its own panel, all with the same axes."""
    columns, side = square_side([model.model for model in models])
    with report_style():
        grid = _with_headings(models, columns, side, on_page=True)
        common = _common_settings(models, prevalence)._replace(hides=True)
        return _draw_grid(models, common, line_styles(len(models)), grid)


def _common_settings(
    models: Sequence[PlottedModel], prevalence: float, band: str = "consistency"
) -> PanelSettings:
    decimals = common_decimals(value for model in models for value in components_of(model))
    return PanelSettings(choose_window(models), prevalence, decimals, band)


def _draw_grid(
    models: Sequence[PlottedModel], common: PanelSettings, styles: LineStyles, grid: _Grid
) -> Figure:
    canvas = Canvas.of(grid.width, grid.height)
    canvas.divide([grid.top(row) for row in range(len(grid.headings))])
    for place in range(len(models)):
        _draw_panel(canvas, grid, place, models, common, styles)
    if len(models) % grid.columns and grid.columns == 2 and not grid.on_page:
        write_guide(canvas, grid.corner(len(models)), grid.side, models)
    return canvas.figure


def _draw_together(
    panel: SizedAxes, models: Sequence[PlottedModel], common: PanelSettings, styles: LineStyles
) -> None:
    """Draw one model with all its parts, or the bands and curves of several models."""
    panels = [
        ReliabilityPanel(panel.axes, panel.width, model, look, common, styles.keywords)
        for model, look in zip(models, styles.looks, strict=True)
    ]
    if len(panels) == 1:
        panels[0].draw(with_numbers=styles.labels)
        return
    for one in panels:
        one.draw_bands()
    panels[0].draw_references()
    for one in reversed(panels):
        one.draw_curve()
    if styles.labels:
        curves = [model.curves.reliability for model in models]
        names = [CurveLabel(model.model, look) for model, look in zip(models, styles.looks, strict=True)]
        label_curves(panel, [(c.forecast, c.cep) for c in curves], names, [(np.array(UNIT), np.array(UNIT))])


def _set_panel_axes(axes: Axes, window: Window) -> None:
    set_axis(axes, "x", window, list(window_ticks(window)), "Forecast probability")
    set_axis(axes, "y", window, list(window_ticks(window)), "Observed frequency")


def _choose_grid(models: Sequence[PlottedModel]) -> _Grid:
    """Return one large panel, two columns, or three if two would be too long for a page."""
    if len(models) == 1:
        return _with_headings(models, 1, 103.0)
    columns = 2 if len(models) <= 6 else 3
    rows = -(-len(models) // columns)
    room = _HIGHEST / rows - _UNDER_HEADING - _UNDER_PANEL - _LINE_OF_HEADING - _AXIS_LABEL / rows
    return _with_headings(models, columns, max(min(_widest(columns), room), 40.0))


def _widest(columns: int) -> float:
    return (WIDTH - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns


def _with_headings(
    models: Sequence[PlottedModel], columns: int, side: float, *, on_page: bool = False
) -> _Grid:
    lines = [len(_heading(model, side, 2 if on_page else 4)) for model in models]
    rows = [max(lines[start : start + columns]) for start in range(0, len(lines), columns)]
    headings = tuple(_LINE_OF_HEADING * n for n in rows)
    return _Grid(columns=columns, side=side, headings=headings, on_page=on_page)


def _heading(model: PlottedModel, side: float, most: int) -> list[str]:
    return wrap(model.model, side * POINTS_PER_MM, lines=most, size=HEADING, weight=HEAVY)


def _draw_panel(
    canvas: Canvas,
    grid: _Grid,
    place: int,
    models: Sequence[PlottedModel],
    common: PanelSettings,
    styles: LineStyles,
) -> None:
    left, top = grid.corner(place)
    axes = canvas.panel(left, top, grid.side, grid.side)
    text = "\n".join(_heading(models[place], grid.side, 2 if grid.on_page else 4))
    canvas.write(left, top - _UNDER_HEADING, text, va="bottom", size=HEADING, weight=HEAVY)
    is_lowest = grid.on_page or place + grid.columns >= len(models)
    is_leftmost = place % grid.columns == 0
    _set_panel_axes(axes, common.window)
    if not is_lowest:
        axes.set_xlabel("")
    if not is_leftmost:
        axes.set_ylabel("")
        axes.set_yticklabels([])
    side, look = grid.side * POINTS_PER_MM, styles.looks[place]
    ReliabilityPanel(axes, side, models[place], look, common, styles.keywords).draw()


def describe_reliability(models: Sequence[ModelResult], *, prevalence: float) -> str:
    """Describe the diagrams: the ends of the curves, where they leave their bands, and the components."""
    window = choose_window(models)
    shown = (
        ""
        if window == UNIT
        else f" The axes show {format_probability(window[0])} to {format_probability(window[1])}."
    )
    opening = (
        f"Reliability diagram of {join_words([model.model for model in models])}: observed frequency against "
        f"forecast probability, where the diagonal is perfect calibration; {format_percent(prevalence)} "
        f"of cases are events.{shown}"
    )
    return join_sentences([opening, "; ".join(_describe(model) for model in models) + "."])


def _describe(model: ModelResult) -> str:
    curve, numbers = model.curves.reliability, components_of(model)
    mcb, dsc, unc = (format_number(value, common_decimals(numbers)) for value in numbers)
    if curve.forecast[0] == curve.forecast[-1]:
        run = (
            f"one forecast, {format_probability(curve.forecast[0])}, observed "
            f"{format_probability(curve.cep[0])}"
        )
    else:
        run = (
            f"the curve runs from {format_probability(curve.cep[0])} at forecast "
            f"{format_probability(curve.forecast[0])} to {format_probability(curve.cep[-1])} at "
            f"{format_probability(curve.forecast[-1])}"
        )
    return f"{model.model}: {run}{_outside(model)}, MCB {mcb}, DSC {dsc}, UNC {unc}"


def _outside(model: ModelResult) -> str:
    """Describe where the curve is outside the pointwise band."""
    found = bands_of(model, "pointwise")
    if not found:
        return ""
    band, curve, histogram = found[0], model.curves.reliability, model.curves.histogram
    middle = (histogram.lower + histogram.upper) / 2
    cep = np.interp(middle, curve.forecast, curve.cep)
    lower, upper = band.at(np.clip(middle, band.x[0], band.x[-1]))
    name, parts = f"the {format_level(band.level)} band", list[str]()
    for outside, where in ((cep > upper, "above"), (cep < lower, "below")):
        if outside.any():
            share = format_percent(histogram.n[outside].sum() / histogram.n.sum())
            first, last = (format_probability(middle[outside][end]) for end in (0, -1))
            which = "it" if parts else name
            parts.append(f"{where} {which} for {share} of cases with forecasts between {first} and {last}")
    return f", lies {join_words(parts)}" if parts else f", lies inside {name} for all cases"


_VEIL = 0.2
#: Width of a figure that leaves room for its caption beside it on a page.
_BESIDE_CAPTION = 123.0
#: Most panels of such a figure: pages may divide several rows, which a caption cannot stand beside.
_OF_A_ROW = 3
_NO_CURVE = "No curve could be fitted."


def has_flexible(model: ModelResult) -> bool:
    """Whether a model has a flexible curve."""
    return _curve_of(model) is not None


def _curve_of(model: ModelResult) -> FlexibleCurve | None:
    curve = None if model.calibration is None else model.calibration.flexible
    return curve if curve is not None and len(curve.forecast) else None


def plot_flexible(models: Sequence[ModelResult]) -> Figure:
    """Draw the flexible curve of each model with its band over the isotonic one, all with the same axes."""
    window = choose_window(models)
    names = [model.model for model in models]
    grid = small_panels(names, _BESIDE_CAPTION) if len(names) <= _OF_A_ROW else small_panels(names)
    with report_style():
        canvas = grid.canvas()
        for place, model in enumerate(models):
            axes, ticks = grid.panel(canvas, place), list(window_ticks(window))
            set_axis(axes, "x", window, ticks, "Forecast probability")
            set_axis(axes, "y", window, ticks, "Event probability" if grid.is_leftmost(place) else "")
            if not grid.is_leftmost(place):
                axes.set_yticklabels([])
            axes.plot(window, window, color=MUTED, linewidth=0.6, clip_on=False)
            side = grid.width * POINTS_PER_MM
            if _curve_of(model) is not None:
                isotonic = model.curves.reliability
                line = simplify(isotonic.forecast, isotonic.cep, (side / (window[1] - window[0]),) * 2)
                axes.plot(*line, color=MUTED, linewidth=0.8, linestyle=(0, (3, 1)), zorder=3)
            _draw(axes, _curve_of(model), model_style(place), window, side)
        return canvas.figure


def _draw(axes: Axes, curve: FlexibleCurve | None, look: ModelStyle, window: Window, side: float) -> None:
    if curve is None:
        write_placeholder(axes, _NO_CURVE)
        return
    scale = (side / (window[1] - window[0]),) * 2
    (x, lower), (x_upper, upper) = (
        simplify(curve.forecast, bound, scale) for bound in (curve.lower, curve.upper)
    )
    places = np.append(x, x_upper[::-1]), np.append(lower, upper[::-1])
    fill_outline(axes, *places, color=look.colour, alpha=_VEIL, linewidth=0, zorder=1.5)
    axes.plot(*simplify(curve.forecast, curve.probability, scale), color=look.colour, linewidth=1.3, zorder=4)


def describe_flexible(models: Sequence[ModelResult]) -> str:
    """Describe the curves: their ends, and the share of points at which the diagonal is outside the band."""
    names = join_words([model.model for model in models])
    opening = f"Flexible calibration curves of {names}: event probability against forecast probability."
    return join_sentences(
        [opening, *(f"{model.model}: {_describe_curve(_curve_of(model))}." for model in models)]
    )


def _describe_curve(curve: FlexibleCurve | None) -> str:
    if curve is None:
        return _NO_CURVE[0].lower() + _NO_CURVE[1:-1]
    x = curve.forecast
    outside = float(((x < curve.lower) | (x > curve.upper)).mean())
    where = (
        f"inside the {format_level(curve.level)} band everywhere"
        if not outside
        else f"outside the {format_level(curve.level)} band for {format_percent(outside)} of points"
    )
    first, last = curve.probability[[0, -1]]
    return (
        f"from {format_probability(first)} at forecast {format_probability(x[0])} to "
        f"{format_probability(last)} at {format_probability(x[-1])}, the diagonal lies {where}"
    )
