"""Reliability diagrams of a model of K classes: a small one for each class, or for each threshold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import common_decimals, format_number, format_percent
from scorereport.errors import UsageError
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis
from scorereport.plots.geometry import UNIT, window_ticks
from scorereport.plots.reliability_panel import PanelSettings, ReliabilityPanel, bands_of, components_of
from scorereport.plots.style import HEAVY, MUTED, SIZE, model_style, report_style
from scorereport.plots.text import drop_zero, find_decomposition, format_probability, join_sentences, wrap
from scorereport.results.class_records import THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from scorereport.curves.fitted import Histogram, ReliabilityCurve
    from scorereport.plots.geometry import Window
    from scorereport.reliability.bands import Band
    from scorereport.results.class_records import ClassModelResult, ViewFamily, ViewResult
    from scorereport.results.model_records import ModelScores

#: Most panels that fit on a page.
MOST_VIEWS = 12
#: All lengths are in millimetres.
_LEFT, _RIGHT, _GAP, _TOP = 14.0, 3.0, 7.0, 0.5
_LINE, _NUMBERS, _UNDER_PANEL, _AXIS_LABEL = 3.7, 8.2, 8.5, 4.0
#: Largest side of panels in rows of one or two, which leave room for a caption beside them, and of more.
_LARGEST = (50.0, 46.0, 36.0, 36.0)
#: Most decimals of numbers that fit above a small panel.
_MOST_DECIMALS = 5
#: Widths of the windows that a panel may show, and the least share of the cases of a view inside.
_WIDTHS, _SHARE = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5), 0.99
_LABELS = ("MCB", "DSC", "UNC")


class _Curves(NamedTuple):
    reliability: ReliabilityCurve
    histogram: Histogram


class ViewDiagram(NamedTuple):
    """A view as the content of a diagram."""

    scores: ModelScores
    curves: _Curves
    bands: tuple[Band, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """Positions of the panels: squares in columns, with a heading and the numbers above each row."""

    columns: int
    side: float
    titles: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> int:
        return -(-len(self.titles) // self.columns)

    def canvas(self) -> Canvas:
        """Return an empty figure of the required size."""
        width = _LEFT + self.columns * self.side + (self.columns - 1) * _GAP + _RIGHT
        canvas = Canvas.of(width, self._top(self.rows))
        canvas.divide([self._top(row) for row in range(self.rows)])
        return canvas

    def corner(self, place: int) -> tuple[float, float]:
        """Return left and top of the panel at a place."""
        row, column = divmod(place, self.columns)
        return _LEFT + column * (self.side + _GAP), self._top(row) + self._heading(row) + _NUMBERS

    def _top(self, row: int) -> float:
        headings = sum(self._heading(above) for above in range(row))
        return _TOP + headings + row * (_NUMBERS + self.side + _UNDER_PANEL + _AXIS_LABEL)

    def _heading(self, row: int) -> float:
        of_row = self.titles[row * self.columns : (row + 1) * self.columns]
        return _LINE * max(len(lines) for lines in of_row)


def choose_views(family: ViewFamily, most: int = MOST_VIEWS) -> tuple[ViewResult, ...]:
    """Return the views that fit in a figure: all, or those with the largest miscalibration, in order."""
    worst = sorted(range(len(family.views)), key=lambda place: -_miscalibration(family.views[place]))
    return tuple(family.views[place] for place in sorted(worst[:most]))


def label_view(view: ViewResult, kind: str) -> str:
    """Return the label of a view: a class, or classes up to a threshold."""
    return f"up to {view.label}" if kind == THRESHOLD else view.label


def leaves_band(view: ViewResult) -> bool | None:
    """Whether the curve leaves its simultaneous band; None if there is none."""
    curve = view.reliability
    found = bands_of(diagram_of(view), "simultaneous")
    if not found:
        return None
    return not found[0].holds(np.interp(found[0].x, curve.forecast, curve.cep))


def plot_views(result: ClassModelResult, kind: str) -> Figure:
    """Draw a reliability diagram of each class or threshold; if there are many, of the least calibrated."""
    views = choose_views(_find_family(result, kind))
    with report_style():
        grid = _choose_grid([label_view(view, kind) for view in views])
        canvas = grid.canvas()
        windows, decimals = _choose_windows(views), _choose_decimals(views)
        for place, view in enumerate(views):
            common = PanelSettings(windows[place], view.sample.prevalence, decimals)
            has_ticks = place % grid.columns == 0 or len(set(windows)) > 1
            _draw_panel(canvas, grid, place, diagram_of(view), common, has_ticks=has_ticks)
        return canvas.figure


def _find_family(result: ClassModelResult, kind: str) -> ViewFamily:
    family = result.family(kind)
    if family is None:
        raise UsageError(f"`kind` must be one that {result.model!r} was evaluated by; got {kind!r}.")
    return family


def diagram_of(view: ViewResult) -> ViewDiagram:
    """Return a view as the content of a diagram."""
    return ViewDiagram(view.scores, _Curves(view.reliability, view.histogram), view.bands)


def _choose_windows(views: Sequence[ViewResult]) -> list[Window]:
    """Return the window of each panel: the same for all, unless most panels would be nearly empty."""
    common, *own = (_choose_window(of_panel) for of_panel in (views, *([view] for view in views)))
    narrow = sum(2 * _width(window) <= _width(common) for window in own)
    return own if 2 * narrow > len(views) else [common] * len(views)


def _choose_window(views: Sequence[ViewResult]) -> Window:
    """Return the smallest window at 0 or 1 with nearly all cases of each view, or the unit interval."""
    windows = (window for width in _WIDTHS for window in ((0.0, width), (1 - width, 1.0)))
    return next((w for w in windows if all(_share_inside(view, w) >= _SHARE for view in views)), UNIT)


def _share_inside(view: ViewResult, window: Window) -> float:
    """Return the share of cases in a window; the curve is evaluated in the middle of bins."""
    histogram, curve = view.histogram, view.reliability
    cep = np.interp((histogram.lower + histogram.upper) / 2, curve.forecast, curve.cep)
    inside = (histogram.lower >= window[0]) & (histogram.upper <= window[1])
    inside &= (cep >= window[0]) & (cep <= window[1])
    return float(histogram.n[inside].sum() / histogram.n.sum())


def _width(window: Window) -> float:
    return window[1] - window[0]


def describe_axes(views: Sequence[ViewResult]) -> str:
    """Describe the part of the unit interval that the panels show, in a sentence; empty if all of it."""
    windows = _choose_windows(views)
    if len(set(windows)) > 1:
        return "Each panel has its own axes."
    return (
        ""
        if windows[0] == UNIT
        else f"The axes show {format_probability(windows[0][0])} to {format_probability(windows[0][1])}."
    )


def _choose_decimals(views: Sequence[ViewResult]) -> int:
    values = [value for view in views for value in components_of(diagram_of(view))]
    return min(common_decimals(values), _MOST_DECIMALS)


def _choose_grid(names: Sequence[str]) -> _Grid:
    """Return up to four columns, and rows low enough to leave no large gap on the page before."""
    columns = next(c for c, most in ((1, 1), (2, 2), (3, 3), (4, 4), (3, 6), (4, 12)) if len(names) <= most)
    side = min((WIDTH - _LEFT - _RIGHT - (columns - 1) * _GAP) / columns, _LARGEST[columns - 1])
    titles = [tuple(wrap(name, side * POINTS_PER_MM, lines=2, size=SIZE, weight=HEAVY)) for name in names]
    return _Grid(columns=columns, side=side, titles=tuple(titles))


def _draw_panel(
    canvas: Canvas, grid: _Grid, place: int, diagram: ViewDiagram, common: PanelSettings, *, has_ticks: bool
) -> None:
    left, top = grid.corner(place)
    axes = canvas.panel(left, top, grid.side, grid.side)
    title = "\n".join(grid.titles[place])
    canvas.write(left, top - _NUMBERS, title, va="bottom", size=SIZE, weight=HEAVY)
    _write_numbers(canvas, grid, place, components_of(diagram), common.decimals)
    is_leftmost = place % grid.columns == 0
    ticks = list(window_ticks(common.window))
    set_axis(axes, "x", common.window, ticks, "Forecast probability")
    set_axis(axes, "y", common.window, ticks, "Observed frequency" if is_leftmost else "")
    if not has_ticks:
        axes.set_yticklabels([])
    ReliabilityPanel(axes, grid.side * POINTS_PER_MM, diagram, model_style(0), common).draw(
        with_numbers=False
    )


def _write_numbers(canvas: Canvas, grid: _Grid, place: int, values: Sequence[float], decimals: int) -> None:
    """Write the components under the heading of a panel, each under its name."""
    left, top = grid.corner(place)
    apart = min(grid.side / len(_LABELS), 14.0)
    for column, (label, value) in enumerate(zip(_LABELS, values, strict=True)):
        text = drop_zero(format_number(value, decimals))
        style: dict[str, Any] = {"va": "center_baseline", "size": 7.5}
        canvas.write(left + column * apart, top - 6.4, label, color=MUTED, **style)
        weight = 400 if column else HEAVY
        canvas.write(left + column * apart, top - 3.4, text, weight=weight, **style)


def describe_views(result: ClassModelResult, kind: str) -> str:
    """Describe the diagrams: axes, and the components and the band of each view."""
    family = _find_family(result, kind)
    views = choose_views(family)
    each = "threshold between classes" if kind == THRESHOLD else "class"
    some = f", {len(views)} of {len(family.views)}" if len(views) < len(family.views) else ""
    decimals = _choose_decimals(views)
    return join_sentences(
        [
            f"Reliability diagrams of {result.model}, one for each {each}{some}: observed frequency against "
            "forecast probability, where the diagonal is perfect calibration.",
            describe_axes(views),
            "; ".join(_describe_view(view, kind, decimals) for view in views) + ".",
        ]
    )


def _describe_view(view: ViewResult, kind: str, decimals: int) -> str:
    mcb, dsc, unc = (format_number(value, decimals) for value in components_of(diagram_of(view)))
    outside = {
        None: "",
        True: ", the curve leaves the dashed band",
        False: ", the curve stays in the dashed band",
    }
    return (
        f"{label_view(view, kind)}: {format_percent(view.sample.prevalence)} of cases, MCB {mcb}, DSC {dsc}, "
        f"UNC {unc}{outside[leaves_band(view)]}"
    )


def _miscalibration(view: ViewResult) -> float:
    return find_decomposition(view.scores).miscalibration
