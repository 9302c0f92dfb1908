"""Figures of a validation study: panels of lines, points and bubbles, with one key for all of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_counted, join_words
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis
from scorereport.plots.geometry import UNIT, even_ticks, simplify, window_ticks
from scorereport.plots.label_placement import SizedAxes
from scorereport.plots.style import HEAVY, INK, MUTED, PAPER, SIZE, SMALL, lighten, model_style, report_style
from scorereport.plots.text import clean_text, format_short, join_sentences, shorten_text, text_width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.reference_documents import StudyFigure, StudyPanel, StudySeries

#: All lengths are in millimetres unless stated as points.
_LEFT, _RIGHT, _BELOW, _BELOW_KEY = 13.0, 3.0, 12.0, 1.0
_TITLE, _NOTE, _ABOVE = 4.2, 3.8, 1.8
_KEY_ROW, _SAMPLE, _MARKER, _AFTER_SAMPLE, _BETWEEN = 4.3, 5.5, 2.2, 1.2, 3.4
#: Distance of the lines of the axes from the data, in points.
_APART = 3.0
#: Largest width of a panel.
_WIDEST = 66.0
#: Diameter of the largest bubble in points, for a panel of this width.
_BUBBLE, _BUBBLE_PANEL = 13.0, 66.0
#: Widths of the first of several lines in one colour, and of the others, which are dashed.
_BROAD, _THIN = 3.0, 1.3
_DASHES = ((3.2, 1.6), (1.2, 1.2), (5.0, 1.4, 1.2, 1.4))
#: Shapes that distinguish points without a colour.
_SHAPES = ("^", "o", "v", "D", "s")
#: Control points of a Bézier curve for a quarter circle of radius 1: 4/3 (√2 - 1).
_ARC = 0.5522847498
_MARKS: dict[str, Any] = {"linestyle": "none", "mec": PAPER, "mew": 0.6}
_BUBBLES: dict[str, Any] = {"linestyle": "none", "marker": "o", "mew": 0.6, "markersize": 6.5}


class _Entry(NamedTuple):
    """An entry of the key: label, kind and style of a series."""

    label: str
    kind: str
    style: dict[str, Any]

    @property
    def sample(self) -> float:
        """Width in millimetres of the line sample, or of the point."""
        return _SAMPLE if self.kind == "line" else _MARKER

    @property
    def width(self) -> float:
        """Width in millimetres of sample and label."""
        return self.sample + _AFTER_SAMPLE + text_width(self.label) / POINTS_PER_MM


def plot_study_figure(figure: StudyFigure) -> Figure:
    """Draw all panels of a figure in rows of squares, below a key of their series."""
    import seaborn as sns

    columns = _count_columns(len(figure.panels))
    side = min((WIDTH - columns * (_LEFT + _RIGHT)) / columns, _WIDEST)
    width = columns * (_LEFT + side + _RIGHT)
    with report_style():
        shapes = _choose_shapes(figure.panels)
        key = _key_rows(_key_entries(figure.panels, shapes, width - _LEFT), width - _LEFT)
        head, top = _heading_height(figure.panels), _KEY_ROW * len(key) + _BELOW_KEY
        step = head + side + _BELOW
        canvas = Canvas.of(width, top + step * -(-len(figure.panels) // columns))
        _draw_key(canvas, key)
        for place, panel in enumerate(_drop_repeated_labels(figure.panels, columns)):
            row, column = divmod(place, columns)
            left, upper = column * (_LEFT + side + _RIGHT) + _LEFT, top + row * step + head
            _write_heading(canvas, panel, (left, upper - head), side)
            axes = canvas.panel(left, upper, side, side)
            _draw_panel(SizedAxes(axes, side * POINTS_PER_MM, side * POINTS_PER_MM), panel, shapes)
            sns.despine(ax=axes, offset=_APART, trim=True)  # lines from the first tick to the last
        return canvas.figure


def _count_columns(panels: int) -> int:
    return 2 if panels == 4 else min(panels, 3)


def _drop_repeated_labels(panels: Sequence[StudyPanel], columns: int) -> Iterator[StudyPanel]:
    """Yield panels without axis labels that the panel on the left, or the one below, repeats."""
    for place, panel in enumerate(panels):
        beside = panels[place - 1] if place % columns else None
        below = panels[place + columns] if place + columns < len(panels) else None
        yield replace(
            panel,
            x_label="" if below and below.x_label == panel.x_label else panel.x_label,
            y_label="" if beside and beside.y_label == panel.y_label else panel.y_label,
        )


def _heading_height(panels: Sequence[StudyPanel]) -> float:
    has_title, has_note = (any(getattr(panel, part) for panel in panels) for part in ("title", "note"))
    return _ABOVE + _TITLE * has_title + _NOTE * has_note


def _write_heading(canvas: Canvas, panel: StudyPanel, place: tuple[float, float], side: float) -> None:
    """Write the title and, below it, the note, shortened to the width of the panel."""
    left, top = place
    room = (side + _RIGHT) * POINTS_PER_MM
    if panel.title:
        title = shorten_text(panel.title, room, size=SIZE, weight=HEAVY)
        canvas.write(left, top, title, size=SIZE, weight=HEAVY)
    if panel.note:
        canvas.write(left, top + _TITLE, shorten_text(panel.note, room), size=SMALL, color=MUTED)


def _draw_panel(panel: SizedAxes, content: StudyPanel, shapes: dict[str, str]) -> None:
    for which, limits, label in (
        ("x", content.x_limits, content.x_label),
        ("y", content.y_limits, content.y_label),
    ):
        ticks = window_ticks(UNIT) if tuple(limits) == UNIT else even_ticks(*limits)
        set_axis(panel.axes, which, limits, list(ticks), clean_text(label))
    largest = max((max(series.size) for series in content.series if series.size), default=1.0)
    for order, (series, style) in enumerate(_styles(content, shapes)):
        if series.kind == "bubbles":
            _draw_bubbles(panel, series, largest, style)
        else:
            x, y = np.asarray(series.x), np.asarray(series.y)
            is_line = series.kind == "line"
            x, y = simplify(x, y, panel.scale) if is_line else (x, y)
            panel.axes.plot(x, y, zorder=3 + order / 100 + (not is_line), clip_on=is_line, **style)


def _draw_bubbles(panel: SizedAxes, series: StudySeries, largest: float, style: dict[str, Any]) -> None:
    """Draw circles with areas proportional to their sizes; no circle hides the edge of another."""
    from matplotlib.patches import PathPatch

    sizes = np.asarray(series.size or np.ones(len(series.x)))
    radius = _BUBBLE / 2 * panel.width / (_BUBBLE_PANEL * POINTS_PER_MM) * np.sqrt(sizes / largest)
    path = _circles(np.column_stack([series.x, series.y]), radius[:, None] / panel.scale)
    for order, look in ((2, {"fc": style["mfc"], "ec": "none"}), (2.5, {"fc": "none", "ec": style["color"]})):
        panel.axes.add_patch(PathPatch(path, linewidth=0.6, zorder=order, clip_on=False, **look))


def _circles(centre: FloatArray, radius: FloatArray) -> Path:
    """Return all circles as one path of four arcs each, which is much smaller than a path for each."""
    from matplotlib.path import Path

    quarter = np.array([(1, _ARC), (_ARC, 1), (0, 1)])
    turned = [
        quarter @ np.array([(cos, sin), (-sin, cos)]) for cos, sin in ((1, 0), (0, 1), (-1, 0), (0, -1))
    ]
    outline = np.concatenate([[(1, 0)], *turned])
    codes = [Path.MOVETO] + [Path.CURVE4] * (len(outline) - 1)
    points = centre[:, None, :] + radius[:, None, :] * outline[None]
    return Path(points.reshape(-1, 2), np.tile(codes, len(centre)))


def _choose_shapes(panels: Sequence[StudyPanel]) -> dict[str, str]:
    """Return the shapes of points without a colour by their labels, the same in all panels."""
    labels = dict.fromkeys(
        series.label
        for panel in panels
        for series in panel.series
        if series.kind == "marks" and series.colour is None
    )
    return {label: _SHAPES[place % len(_SHAPES)] for place, label in enumerate(labels)}


def _styles(panel: StudyPanel, shapes: dict[str, str]) -> Iterator[tuple[StudySeries, dict[str, Any]]]:
    """Yield each series with its style; that of a line depends on other lines of its colour."""
    for series in panel.series:
        colour = INK if series.colour is None else model_style(series.colour).colour
        if series.kind == "bubbles":
            yield series, _BUBBLES | {"color": colour, "mfc": lighten(colour, 0.25)}
        elif series.kind == "marks":
            shape = shapes[series.label] if series.colour is None else model_style(series.colour).marker
            size = 6.0 if series.colour is None else 5.0
            yield series, _MARKS | {"color": colour, "marker": shape, "markersize": size}
        else:
            yield series, _line_style(series, panel, colour)


def _line_style(series: StudySeries, panel: StudyPanel, colour: str) -> dict[str, Any]:
    if not series.label:
        return {"color": MUTED, "linewidth": 0.6}
    alike = [s.label for s in panel.series if s.kind == "line" and s.label and s.colour == series.colour]
    place = alike.index(series.label)
    style: dict[str, Any] = {"color": colour, "linewidth": _THIN, "solid_joinstyle": "round"}
    if place:
        return style | {"linestyle": (0, _DASHES[(place - 1) % len(_DASHES)])}
    return style | {"color": lighten(colour, 0.4), "linewidth": _BROAD} if len(alike) > 1 else style


def _key_entries(panels: Sequence[StudyPanel], shapes: dict[str, str], width: float) -> list[_Entry]:
    """Return each label once, in order of first occurrence, short enough for a row."""
    room = (width - _SAMPLE - _AFTER_SAMPLE) * POINTS_PER_MM
    entries: dict[str, _Entry] = {}
    for panel in panels:
        for series, style in _styles(panel, shapes):
            if series.label:
                entries.setdefault(series.label, _Entry(shorten_text(series.label, room), series.kind, style))
    return list(entries.values())


def _key_rows(entries: Sequence[_Entry], width: float) -> list[list[tuple[float, _Entry]]]:
    """Return entries with their positions, in as few rows as possible, all about equally long."""
    fewest = len(_fill_rows(entries, width))
    tried = (_fill_rows(entries, part) for part in np.linspace(0, width, 41)[1:])
    return next((rows for rows in tried if len(rows) == fewest), [])


def _fill_rows(entries: Iterable[_Entry], width: float) -> list[list[tuple[float, _Entry]]]:
    rows: list[list[tuple[float, _Entry]]] = []
    left = 0.0
    for entry in entries:
        if not rows or left + entry.width > width:
            rows.append([])
            left = 0.0
        rows[-1].append((left, entry))
        left += entry.width + _BETWEEN
    return rows


def _draw_key(canvas: Canvas, rows: Iterable[list[tuple[float, _Entry]]]) -> None:
    for row, entries in enumerate(rows):
        y = (row + 0.5) * _KEY_ROW
        for left, entry in entries:
            start, end = _LEFT + left, _LEFT + left + entry.sample
            ends = (start, end) if entry.kind == "line" else ((start + end) / 2,) * 2
            canvas.line((ends[0], y + 0.25), (ends[1], y + 0.25), **entry.style)
            canvas.write(end + _AFTER_SAMPLE, y, entry.label, va="center_baseline", size=SMALL)


def describe_study_figure(figure: StudyFigure) -> str:
    """Describe what each panel shows, in words and numbers."""
    return join_sentences([f"{figure.title}.", *(_describe_panel(panel) for panel in figure.panels)])


def _describe_panel(panel: StudyPanel) -> str:
    name = f"{panel.title} ({panel.note})" if panel.note else panel.title
    axes = f"{panel.y_label} against {panel.x_label}"
    shown = [_describe_series(series) for series in panel.series if series.label]
    opening = f"{name}: {axes}" if name else axes
    return f"{opening}; {'; '.join(shown)}." if shown else f"{opening}."


def _describe_series(series: StudySeries) -> str:
    points = [f"({_short(x)}, {_short(y)})" for x, y in zip(series.x, series.y, strict=True)]
    if series.kind == "marks":
        return f"{series.label} at {join_words(points)}"
    if series.kind == "line" and points[0] != points[-1]:
        highest = int(np.argmax(series.y))
        return f"{series.label} from {points[0]} to {points[-1]}, highest at {points[highest]}"
    ranges = (f"{_short(min(values))} to {_short(max(values))}" for values in (series.x, series.y))
    what = (
        f"{series.label}, {format_counted(len(points), 'bubble')}"
        if series.kind == "bubbles"
        else series.label
    )
    return f"{what}, over {' and '.join(ranges)}"


def _short(value: float) -> str:
    return format_short(value, 3)
