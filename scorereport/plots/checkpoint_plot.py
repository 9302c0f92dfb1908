"""Checkpoint plot: scores over checkpoints as small multiples, with the checkpoint that each selects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorereport._utils.formatting import format_counted, format_number, join_words
from scorereport.plots.canvas import POINTS_PER_MM, WIDTH, Canvas, set_axis, write_placeholder
from scorereport.plots.geometry import even_ticks, simplify
from scorereport.plots.label_placement import SizedAxes
from scorereport.plots.style import (
    HEADING,
    HEAVY,
    INK,
    MUTED,
    PAPER,
    QUIET,
    RULE,
    SMALL,
    model_style,
    report_style,
)
from scorereport.plots.text import drop_zero, format_short, join_sentences, shorten_text, text_width
from scorereport.scores.registry import REGISTRY, Direction

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport._utils.arrays import FloatArray
    from scorereport.evaluation.selection.score_tracks import ScoreTrack
    from scorereport.evaluation.selection.selection_records import ScoreChoice, Selection

_COLUMNS, _LEFT, _GAP, _RIGHT = 2, 13.0, 16.0, 4.0
_PANEL = (WIDTH - _LEFT - _GAP * (_COLUMNS - 1) - _RIGHT) / _COLUMNS
#: Heights of a figure, a panel, the lines above it, the ticks below it, and the label of the axis.
_HIGHEST, _HEIGHT, _ABOVE, _BELOW, _NAME = 215.0, 27.0, 10.0, 6.0, 5.0
#: Most scores in the figure; the table has all of them.
_MOST_PANELS = 10
#: Most checkpoints that are drawn as dots.
_MOST_DOTS = 40
#: Height of a line of text, and distance of a label from the edge of its panel, in points.
_LINE, _INSET = 10.0, 2.0
#: Longest rotated name, in millimetres; names are rotated if they do not fit side by side.
_LONGEST = 21.0
#: Margin between the data and other content, as a share of the height of a panel.
_EDGE = 0.05
#: Range shown around a constant score, as a share of it.
_AROUND = 0.05
_DASHED = (0, (3, 2))
#: Decimals of scores in labels and descriptions.
_DECIMALS = 4


class _Ticks(NamedTuple):
    """Ticks below the panels: positions, texts, whether they are rotated, and their height."""

    places: Sequence[float]
    texts: Sequence[str]
    turned: bool
    height: float


def plot_checkpoints(selection: Selection) -> Figure:
    """Draw each score over the checkpoints, with its best checkpoint and where early stopping stops."""
    tracks = _choose_tracks(selection)
    rows = -(-len(tracks) // _COLUMNS)
    with report_style():
        ticks = _lay_out_ticks(selection)
        below = ticks.height + _NAME
        row = min(_HEIGHT + _ABOVE + _BELOW, (_HIGHEST - below) / rows)
        canvas = Canvas.of(WIDTH, rows * row - _BELOW + below + 1.0)
        canvas.divide([line * row for line in range(rows)])
        for place, track in enumerate(tracks):
            line, column = divmod(place, _COLUMNS)
            left, top = _LEFT + column * (_PANEL + _GAP), line * row + _ABOVE
            axes = canvas.panel(left, top, _PANEL, row - _ABOVE - _BELOW)
            _write_heading(canvas, selection, track, (left, top - _ABOVE))
            is_lowest = place + _COLUMNS >= len(tracks)
            _set_places(
                axes, selection, ticks if is_lowest else ticks._replace(texts=[""] * len(ticks.texts))
            )
            axes.set_xlabel(shorten_text(selection.column, _PANEL * POINTS_PER_MM) if is_lowest else "")
            _draw(
                SizedAxes(axes, _PANEL * POINTS_PER_MM, (row - _ABOVE - _BELOW) * POINTS_PER_MM),
                selection,
                track,
            )
        return canvas.figure


def _choose_tracks(selection: Selection) -> list[ScoreTrack]:
    """Return as many scores as fit on a page, including the one that decides."""
    first = [track for track in selection.tracks if track.score == selection.score]
    others = [track for track in selection.tracks if track.score != selection.score]
    kept = {track.score for track in (first + others)[:_MOST_PANELS]}
    return [track for track in selection.tracks if track.score in kept]


def _places(selection: Selection) -> FloatArray:
    numbers = selection.numbers
    return np.arange(len(selection.checkpoints), dtype=np.float64) if numbers is None else numbers


def _lay_out_ticks(selection: Selection) -> _Ticks:
    """Return ticks at round numbers, or names: side by side if they fit, else rotated, as many as fit."""
    places, width = _places(selection), _PANEL * POINTS_PER_MM
    if selection.numbers is not None:
        ticks = even_ticks(*_ends(places), 6) if len(places) > 1 else places
        if (places == np.floor(places)).all():
            ticks = ticks[ticks == np.floor(ticks)]
        return _Ticks(list(ticks), [format_short(tick) for tick in ticks], turned=False, height=_BELOW)
    names = selection.checkpoints
    each = width / len(names)
    turned = max(text_width(shorten_text(name, width)) for name in names) + 6 > each
    every = int(np.ceil((_LINE + 1) / each)) if turned else 1
    texts = [shorten_text(name, (_LONGEST if turned else _PANEL) * POINTS_PER_MM) for name in names[::every]]
    longest = max(map(text_width, texts)) / POINTS_PER_MM
    height = longest + 4.0 if turned else _BELOW
    return _Ticks(list(places[::every]), texts, turned=turned, height=height)


def _ends(places: FloatArray) -> tuple[float, float]:
    return float(places.min()), float(places.max())


def _set_places(axes: Axes, selection: Selection, ticks: _Ticks) -> None:
    first, last = _ends(_places(selection))
    margin = 0.03 * (last - first) if selection.numbers is not None and last > first else 0.5
    axes.set_xlim(first - margin, last + margin)
    axes.set_xticks(ticks.places, ticks.texts, rotation=90 if ticks.turned else 0)


def _write_heading(canvas: Canvas, selection: Selection, track: ScoreTrack, at: tuple[float, float]) -> None:
    """Write the name of the score and, below it, its direction and its correlation with macro F1."""
    left, top = at[0] - 1.0, at[1] + 3.4
    decides = " (decides)" if track.score == selection.score else ""
    style: dict[str, Any] = {"size": HEADING, "weight": HEAVY}
    heading = shorten_text(f"{_label(track.score)}{decides}", _PANEL * POINTS_PER_MM, **style)
    canvas.write(left, top, heading, va="baseline", **style)
    parts = [
        f"correlation with macro F1 {drop_zero(format_number(pair.pearson, 2))}"
        for pair in selection.correlations
        if pair.first == track.score
    ]
    line = " · ".join([str(track.direction), *parts])
    canvas.write(left, top + 3.9, line, va="baseline", size=SMALL, color=MUTED)


def _label(score: str) -> str:
    return REGISTRY[score].label if score in REGISTRY else score


def _draw(panel: SizedAxes, selection: Selection, track: ScoreTrack) -> None:
    x, y = _places(selection), track.value
    is_finite = np.isfinite(y)
    if not is_finite.any():
        panel.axes.set_yticks([])
        write_placeholder(panel.axes, "Infinite at every checkpoint.")
        return
    choice, look = selection.choice(track.score), model_style(0)
    better, worse = _label_margins(panel, track, choice)
    _set_heights(panel, track, y[is_finite], (better, worse))
    for at in _places(selection)[_is_best_f1(selection)]:
        _draw_vertical(
            panel, track, at, (better - _EDGE, 1 - worse + _EDGE), color=QUIET, linewidth=2.2, zorder=1
        )
    if selection.numbers is not None or len(x) > _MOST_DOTS:  # no line between named checkpoints
        for run in _runs(is_finite):
            panel.axes.plot(
                *simplify(x[run], y[run], panel.scale),
                zorder=3,
                **look.line(1.1 if len(x) <= _MOST_DOTS else 0.8),
            )
    else:
        for at in x:
            _draw_vertical(
                panel, track, at, (better - _EDGE, 1 - worse + _EDGE), color=RULE, linewidth=0.5, zorder=0
            )
    if len(x) <= _MOST_DOTS:
        dot = 2.6 if selection.numbers is not None else 3.6
        panel.axes.plot(x[is_finite], y[is_finite], "o", color=look.colour, markersize=dot, mew=0, zorder=4)
    _mark_infinite(panel, track, x[~is_finite], below_label=choice.stop is not None)
    _mark_choice(panel, selection, track, choice)


def _runs(is_finite: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Iterator[slice]:
    """Yield slices of consecutive checkpoints at which a score is finite."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], is_finite, [False]]).astype(np.int8)))
    yield from (slice(int(first), int(last)) for first, last in edges.reshape(-1, 2))


def _is_gain(track: ScoreTrack) -> bool:
    return track.direction is Direction.HIGHER


def _set_heights(panel: SizedAxes, track: ScoreTrack, values: FloatArray, rooms: tuple[float, float]) -> None:
    """Set limits with margins, as shares of the height, on the sides of the better and the worse values."""
    low, high = float(values.min()), float(values.max())
    if low == high:
        low, high = low - _AROUND * max(abs(low), 1.0), high + _AROUND * max(abs(high), 1.0)
    reach = high - low
    unit = reach / (1 - sum(rooms))
    below, above = (unit * room for room in (rooms[::-1] if _is_gain(track) else rooms))
    ticks = list(even_ticks(low - min(below, 0.1 * reach), high + min(above, 0.1 * reach), 4))
    set_axis(panel.axes, "y", (low - below, high + above), ticks, "")


def _label_margins(panel: SizedAxes, track: ScoreTrack, choice: ScoreChoice) -> tuple[float, float]:
    """Return the margins for the label of the best value, and on the other side for early stopping and ∞."""
    line = (_LINE + 2 * _INSET) / panel.height
    is_infinite = not np.isfinite(track.value).all()
    worse = line * ((choice.stop is not None) + is_infinite)
    return line + _EDGE, worse + _EDGE


def _draw_vertical(
    panel: SizedAxes, track: ScoreTrack, x: float, reach: tuple[float, float], **style: Any
) -> None:
    """Draw a vertical line between two shares of the height of a panel, counted from the better side."""
    first, last = (1 - reach[1], 1 - reach[0]) if _is_gain(track) else reach
    panel.axes.axvline(x, first, last, **style)


def _is_best_f1(selection: Selection) -> list[bool]:
    best = next((choice.best for choice in selection.choices if choice.score == "macro_f1"), None)
    return [checkpoint == best for checkpoint in selection.checkpoints]


def _mark_infinite(panel: SizedAxes, track: ScoreTrack, x: FloatArray, *, below_label: bool) -> None:
    """Draw arrows on the side of the worse values where a score is infinite, the first with a symbol."""
    if len(x) == 0:
        return
    bottom, top = panel.axes.get_ylim()
    inset = (_LINE * (1.5 if below_label else 0.5) + _INSET) * (top - bottom) / panel.height
    y, marker, sign = (bottom + inset, "v", "−∞") if _is_gain(track) else (top - inset, "^", "∞")
    panel.axes.plot(x, np.full(len(x), y), marker, color=MUTED, markersize=3.2, mew=0, zorder=4)
    panel.axes.annotate(
        sign,
        (float(x.min()), y),
        xytext=(-4, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        size=SMALL,
        color=MUTED,
    )


def _mark_choice(panel: SizedAxes, selection: Selection, track: ScoreTrack, choice: ScoreChoice) -> None:
    """Mark the best checkpoint with a dot, the one that early stopping keeps with a diamond, with labels."""
    x = dict(zip(selection.checkpoints, _places(selection).tolist(), strict=True))
    look, axes, stop = model_style(0), panel.axes, choice.stop
    axes.plot(x[choice.best], choice.value, "o", color=look.colour, markersize=6, mec=PAPER, zorder=6)
    is_numbered = selection.numbers is not None
    _write_label(panel, x[choice.best], _best_text(choice, is_numbered), INK, is_on_top=_is_gain(track))
    if stop is None:
        return
    at = x[stop.kept if stop.at is None else stop.at]
    _write_label(panel, at, _stop_text(choice), MUTED, is_on_top=not _is_gain(track))
    if stop.at is not None:
        line = (_LINE + 2 * _INSET) / panel.height
        _draw_vertical(
            panel, track, at, (line, 1 - line), color=INK, linewidth=0.7, linestyle=_DASHED, zorder=2
        )
    if stop.kept != choice.best:
        axes.plot(
            x[stop.kept], stop.value, "D", markersize=5.5, mfc=PAPER, mec=look.colour, mew=1.1, zorder=5
        )


def _best_text(choice: ScoreChoice, is_numbered: bool) -> str:
    value = drop_zero(format_number(choice.value, _DECIMALS))
    return f"best{' at' if is_numbered else ''} {shorten_text(choice.best, 100)}: {value}"


def _stop_text(choice: ScoreChoice) -> str:
    if choice.stop is None or choice.stop.at is None:
        return "not stopped early"
    stopped = f"stops at {shorten_text(choice.stop.at, 60)}"
    return (
        stopped
        if choice.stop.kept == choice.best
        else f"{stopped}, keeps {shorten_text(choice.stop.kept, 60)} ◇"
    )


def _write_label(panel: SizedAxes, x: float, text: str, colour: str, *, is_on_top: bool) -> None:
    """Write a label at the upper or lower edge, as close to its position as the panel allows."""
    first, last = panel.axes.get_xlim()
    half = text_width(text) / 2 + _INSET
    at = np.clip((x - first) / (last - first) * panel.width, half, max(panel.width - half, half))
    from_edge = (_INSET + _LINE / 2) / panel.height
    panel.axes.text(
        float(at) / panel.width,
        1 - from_edge if is_on_top else from_edge,
        text,
        transform=panel.axes.transAxes,
        ha="center",
        va="center_baseline",
        size=SMALL,
        color=colour,
        zorder=7,
    )


def describe_checkpoints(selection: Selection) -> str:
    """Describe the checkpoint that each score selects, and where early stopping stops."""
    first, *_, last = (*selection.checkpoints, selection.checkpoints[-1])
    ends = f", from {first} to {last}" if first != last else f", {first}"
    best = [
        f"{_label(choice.score)} {choice.best} ({format_number(choice.value, _DECIMALS)})"
        for choice in selection.choices
    ]
    return join_sentences(
        [
            f"Scores of {format_counted(len(selection.checkpoints), 'checkpoint')}{ends}.",
            f"Best checkpoint by each score: {join_words(best)}.",
            _describe_stops(selection),
        ]
    )


def _describe_stops(selection: Selection) -> str:
    if selection.patience is None:
        return ""
    stops = [(_label(choice.score), choice.stop) for choice in selection.choices if choice.stop is not None]
    texts = [
        f"{label} {'continues to the last' if stop.at is None else f'stops at {stop.at}'} and keeps "
        f"{stop.kept}"
        for label, stop in stops
    ]
    patience = format_counted(selection.patience, "checkpoint")
    return f"Early stopping after {patience} without a better score: {'; '.join(texts)}."
