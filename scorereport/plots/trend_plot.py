"""Trend plot: the numbers of all audits over time, a panel for each measure, with intervals and limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_counted, format_interval
from scorereport.configuration.measure_limits import MEASURES
from scorereport.plots.canvas import fill_outline, set_axis
from scorereport.plots.geometry import date_ticks, even_ticks, place_day, time_ticks
from scorereport.plots.stacked_panels import (
    DASHED,
    PanelStack,
    SideLabel,
    find_height,
    label_room,
    write_side_labels,
)
from scorereport.plots.style import (
    INK,
    PAPER,
    RULE,
    ModelStyle,
    lighten,
    model_style,
    report_style,
)
from scorereport.plots.text import drop_zero, format_short, join_sentences, shorten_text, text_width
from scorereport.plots.trend_picture import (
    choose_day_ends,
    choose_format,
    choose_number_ends,
    collect_series,
    find_range,
    label_number,
    read_audit,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.history.trend.drift_records import Trend
    from scorereport.history.trend.evidence_records import ConfidenceSequence
    from scorereport.plots.label_placement import SizedAxes

#: Most bands that are filled; more would hide each other.
MOST_FILLED = 2
#: Most measures of limits that have a panel of their own.
_MOST_JUDGED = 2
#: Most models in the figure; the results document has all of them.
MOST_MODELS = 12
#: With more audits, points are left out; with more intervals, these are pale.
MOST_MARKS, _MOST_INTERVALS = 40, 24
#: Most audits that are labelled with their own periods, and most characters of such a period.
_MOST_DATES, _LONGEST_DATE = 5, 10
#: Colours of verdicts, always shown with a word: for lines, and darker for text.
_AMBER, _RED = ("#b7791f", "#8a5a12"), ("#b3402a", "#b3402a")
#: Least share of a panel for the values; a limit that would leave them less is not drawn.
_LEAST_SHARE = 0.3
#: Width of a date with room around it, in points.
_WIDEST_DATE = 48.0
_SAMPLE_STYLE = ModelStyle(colour=INK, tint="#c4c8cd", dashes=(), marker="o")


@dataclass(frozen=True, slots=True, kw_only=True)
class _LimitLine:
    """A limit: its position, words, number and colours."""

    at: float
    words: str
    number: str
    colours: tuple[str, str]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Series:
    """One number of one model over the audits; NaN where an audit does not have it."""

    name: str
    look: ModelStyle
    value: FloatArray
    lower: FloatArray
    upper: FloatArray
    has_drifted: bool


@dataclass(frozen=True, kw_only=True, eq=False)
class _Run:
    """Mean of a score of one model over all audits up to each day, with its confidence sequence."""

    name: str
    look: ModelStyle
    days: FloatArray
    mean: FloatArray
    lower: FloatArray
    upper: FloatArray

    @property
    def width(self) -> float:
        """The width of the last interval."""
        return float(self.upper[-1] - self.lower[-1])


def plot_trend(trend: Trend, judgements: Sequence[Judgement]) -> Figure:
    """Draw main score, its components and the prevalence of all audits, with limits where there are any."""
    measures = list_trend_measures(trend)
    with report_style():
        days = np.array([place_day(s.period.middle) for s in trend.snapshots])
        lines = {measure: _find_lines(judgements, measure) for measure in measures}
        labels = min(len(name_models(trend)), MOST_MODELS) + max(map(len, lines.values()))
        stack = PanelStack.of(len(measures), labels)
        for place, (measure, panel) in enumerate(zip(measures, stack.list_panels(), strict=True)):
            direction = MEASURES[measure].direction or ""
            stack.write_heading(place, _capitalise(_find_label(trend, measure)), direction)
            _draw_panel(panel, trend, measure, days, lines[measure])
            _set_days(panel, days, trend, has_texts=place == len(measures) - 1)
        return stack.canvas.figure


def list_trend_measures(trend: Trend) -> list[str]:
    """Return the measures that are shown: those of the current audit except the AUC, then those of limits.

    Of limits, only scores with a confidence sequence are shown.
    """
    names = dict.fromkeys(number.measure for number in trend.snapshots[-1].numbers)
    judged = [s.measure for s in list_sequences(trend) if s.measure not in names and s.measure in MEASURES]
    return [*(name for name in names if name != "roc_auc"), *list(dict.fromkeys(judged))[:_MOST_JUDGED]]


def list_sequences(trend: Trend) -> Sequence[ConfidenceSequence]:
    """Return the confidence sequences that the figure shows: those of models that it shows."""
    models = name_models(trend)[:MOST_MODELS]
    found = () if trend.evidence is None else trend.evidence.sequences
    return [sequence for sequence in found if sequence.model in models and sequence.points]


def name_models(trend: Trend) -> list[str]:
    """Return the names of the models of the current audit."""
    return list(dict.fromkeys(number.model for number in trend.snapshots[-1].numbers if number.model))


def _find_label(trend: Trend, measure: str) -> str:
    """Return the label of a measure in the current audit."""
    numbers = trend.snapshots[-1].numbers
    found = (label_number(number) for number in numbers if number.measure == measure)
    return next(found, MEASURES[measure].label)


def _capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def _draw_panel(
    panel: SizedAxes, trend: Trend, measure: str, days: FloatArray, lines: Sequence[_LimitLine]
) -> None:
    series = list(_list_series(trend, measure))
    sequences = list(_list_runs(trend, measure, days))
    limits = _choose_limits(series, sequences, lines, measure)
    _set_values(panel.axes, limits, measure)
    panel.axes.set_xlim(*choose_day_ends(days.tolist()))
    panel.axes.axvline(days[-1], color=RULE, linewidth=3.0, zorder=0)
    for run in sorted(sequences, key=lambda run: -run.width):
        _draw_run(panel.axes, run, is_filled=len(sequences) <= MOST_FILLED)
    in_reference = np.array([s.period.label in trend.reference for s in trend.snapshots])
    for place, one in enumerate(series):
        _draw_series(panel.axes, days, one, in_reference, apart=_offset(place, len(series), days))
    for line in lines:
        if limits[0] <= line.at <= limits[1]:
            panel.axes.axhline(line.at, color=line.colours[0], linewidth=0.9, linestyle=DASHED, zorder=2)
    labels = [*_label_series(panel, series, measure, days), *_label_lines(panel, lines)]
    alone = () if series else sequences
    write_side_labels(panel, [*labels, *_label_runs(panel, alone, measure)])


def _list_series(trend: Trend, measure: str) -> Iterator[_Series]:
    drifted = {(d.model, d.measure) for d in trend.drifts if d.has_drifted}
    shown = ["", *name_models(trend)[:MOST_MODELS]]
    found = collect_series([read_audit(snapshot.numbers) for snapshot in trend.snapshots])
    of_measure = [one for one in found if one.measure == measure and one.readings[-1] and one.model in shown]
    for place, one in enumerate(of_measure):
        model = one.model
        value, lower, upper = (
            np.array([np.nan if reading is None else getattr(reading, name) for reading in one.readings])
            for name in ("value", "lower", "upper")
        )
        yield _Series(
            name=model,
            look=model_style(place) if model else _SAMPLE_STYLE,
            value=np.where(np.isfinite(value), value, np.nan),
            lower=lower,
            upper=upper,
            has_drifted=(model, measure) in drifted,
        )


def _list_runs(trend: Trend, measure: str, days: FloatArray) -> Iterator[_Run]:
    """Yield the confidence sequences of a measure at the days of the audits that are shown."""
    models = name_models(trend)
    day_of = {s.period.label: day for s, day in zip(trend.snapshots, days.tolist(), strict=True)}
    for sequence in list_sequences(trend):
        known = [point for point in sequence.points if point.period in day_of]
        if sequence.measure == measure and known:
            yield _Run(
                name=sequence.model,
                look=model_style(models.index(sequence.model)),
                days=np.array([day_of[point.period] for point in known]),
                mean=np.array([point.estimate for point in known]),
                lower=np.array([point.lower for point in known]),
                upper=np.array([point.upper for point in known]),
            )


def _find_lines(judgements: Sequence[Judgement], measure: str) -> list[_LimitLine]:
    """Return the limits on a measure of all rows, which are the same for all models."""
    judgement = next((j for j in judgements if j.measure == measure and not j.group), None)
    if judgement is None:
        return []
    format_of = choose_format(measure, ())
    bounds = (
        (judgement.warn_upper, "warning above", _AMBER),
        (judgement.warn_lower, "warning below", _AMBER),
        (judgement.fail_upper, "limit at most", _RED),
        (judgement.fail_lower, "limit at least", _RED),
    )
    return [
        _LimitLine(at=at, words=words, number=format_of.limit(at), colours=colours)
        for at, words, colours in bounds
        if at is not None
    ]


def _choose_limits(
    series: Sequence[_Series], runs: Sequence[_Run], lines: Sequence[_LimitLine], measure: str
) -> tuple[float, float]:
    """Return the ends of the axis: all values and intervals, and the limits that leave room for these.

    Of a confidence sequence, which is wide at first, the means and the last interval are inside.
    """
    of_audits = [part for one in series for part in (one.value, one.lower, one.upper)]
    of_runs = [part for run in runs for part in (run.mean, run.lower[-1:], run.upper[-1:])]
    every = np.concatenate([*of_audits, *of_runs])
    return choose_number_ends(
        every[np.isfinite(every)].tolist(),
        [line.at for line in lines],
        least=find_range(measure)[0],
        share=_LEAST_SHARE,
    )


def _set_values(axes: Axes, limits: tuple[float, float], measure: str) -> None:
    ticks = list(even_ticks(*limits, 4))
    set_axis(axes, "y", limits, ticks, "")
    if MEASURES[measure].is_share:
        axes.set_yticks(ticks, [f"{format_short(100 * tick)} %" for tick in ticks])


def _set_days(panel: SizedAxes, days: FloatArray, trend: Trend, *, has_texts: bool) -> None:
    """Label the axis with the periods if they are few, short and far enough apart, else with round dates."""
    places = days.tolist()
    texts = [snapshot.period.label for snapshot in trend.snapshots]
    first, last = choose_day_ends(days.tolist())
    is_narrow = np.diff(days, prepend=-np.inf).min() * panel.width < _WIDEST_DATE * (last - first)
    if len(places) > _MOST_DATES or is_narrow or max(map(len, texts)) > _LONGEST_DATE:
        places, texts = _list_dates(min(places), max(places))
    panel.axes.set_xticks(places, texts if has_texts else [""] * len(places))


def _list_dates(first: float, last: float) -> tuple[list[float], list[str]]:
    """Return round dates between two places, or round hours if there are less than two days."""
    if hours := time_ticks(first, last, 6):
        texts = [f"{hour:%m-%d %H:%M}" for hour in hours]
        return [place_day(hour) for hour in hours], texts
    places, texts = date_ticks(int(first), int(last), 6)
    return [float(place) for place in places], texts


def _offset(place: int, n: int, days: FloatArray) -> float:
    """Return how far a model is moved sideways, so that the intervals of several do not hide each other."""
    first, last = choose_day_ends(days.tolist())
    step = min((last - first) / len(days) * 0.5 / n, 0.012 * (last - first))
    return (place - (n - 1) / 2) * step


def _draw_series(
    axes: Axes, days: FloatArray, one: _Series, in_reference: NDArray[np.bool_], *, apart: float
) -> None:
    x, look, is_many = days + apart, one.look, len(days) > _MOST_INTERVALS
    colour = look.tint if is_many else look.colour
    axes.vlines(x[:-1], one.lower[:-1], one.upper[:-1], color=colour, linewidth=0.6, zorder=1)
    order = np.argsort(x, kind="stable")  # the middle of a longer period may lie before those of others
    known = order[np.isfinite(one.value[order])]
    axes.plot(x[known], one.value[known], zorder=3, **look.line(1.0))
    style: dict[str, Any] = {"linestyle": "none", "marker": look.marker, "color": look.colour}
    if len(days) <= MOST_MARKS:
        for chosen, size in ((in_reference, 3.6), (~in_reference, 2.2)):
            axes.plot(x[:-1][chosen[:-1]], one.value[:-1][chosen[:-1]], markersize=size, mew=0, **style)
    axes.vlines(x[-1:], one.lower[-1:], one.upper[-1:], color=look.colour, linewidth=1.4, zorder=5)
    axes.plot(x[-1:], one.value[-1:], markersize=6.5, mec=PAPER, mew=0.6, zorder=6, **style)


def _draw_run(axes: Axes, run: _Run, *, is_filled: bool) -> None:
    """Draw a confidence sequence: a light band with lines at its ends, and the running mean."""
    around = np.concatenate([run.days, run.days[::-1]]), np.concatenate([run.lower, run.upper[::-1]])
    if is_filled:
        fill_outline(axes, *around, facecolor=lighten(run.look.colour, 0.1), edgecolor="none", zorder=0.5)
    for bound in (run.lower, run.upper):
        axes.plot(run.days, bound, color=lighten(run.look.colour, 0.35), linewidth=0.6, zorder=0.6)
    axes.plot(run.days, run.mean, color=lighten(run.look.colour, 0.5), linewidth=1.6, zorder=0.8)


def _label_runs(panel: SizedAxes, runs: Sequence[_Run], measure: str) -> Iterator[SideLabel]:
    """Yield labels with the mean of all audits of each model."""
    format_of = choose_format(measure, [float(run.mean[-1]) for run in runs])
    for run in runs:
        value = drop_zero(format_of.number(float(run.mean[-1])))
        yield SideLabel(
            text=f"{value} {shorten_text(run.name, label_room(panel) - text_width(f'{value} '))}",
            height=find_height(panel, float(run.mean[-1])),
            start=float((run.days[-1] - panel.axes.get_xlim()[0]) * panel.scale[0]) + 3,
            colour=INK,
            line=run.look.colour,
        )


def _label_series(
    panel: SizedAxes, series: Sequence[_Series], measure: str, days: FloatArray
) -> Iterator[SideLabel]:
    """Yield labels with the current value and the name of each model."""
    known = [one for one in series if np.isfinite(one.value[-1])]
    format_of = choose_format(measure, [float(one.value[-1]) for one in known])
    start = (days[-1] - panel.axes.get_xlim()[0]) * panel.scale[0] + 6
    for one in known:
        now = float(one.value[-1])
        value = drop_zero(format_of.number(now))
        changed = ", changed" if one.has_drifted else ""
        name = shorten_text(one.name or "all cases", label_room(panel) - text_width(f"{value} {changed}"))
        yield SideLabel(
            text=f"{value} {name}{changed}",
            height=find_height(panel, now),
            start=float(start),
            colour=INK,
            line=one.look.colour,
        )


def _label_lines(panel: SizedAxes, lines: Sequence[_LimitLine]) -> Iterator[SideLabel]:
    """Yield labels of the limits, with an arrow where a limit lies outside the panel."""
    for line in lines:
        height = find_height(panel, line.at)
        arrow = "↑ " if height > panel.height else "↓ " if height < 0 else ""
        yield SideLabel(
            text=f"{arrow}{line.words} {drop_zero(line.number)}",
            height=float(np.clip(height, 0, panel.height)),
            start=panel.width,
            colour=line.colours[1],
            line=PAPER if arrow else line.colours[0],
        )


def describe_trend(trend: Trend, judgements: Sequence[Judgement]) -> str:
    """Describe the current value of each number, its range over the audits and what changed."""
    first, last = trend.snapshots[0].period.label, trend.snapshots[-1].period.label
    texts = [f"Numbers of {format_counted(len(trend.snapshots), 'audit')}, from {first} to {last}."]
    for measure in list_trend_measures(trend):
        described = [_describe_series(one, measure) for one in _list_series(trend, measure)]
        described += [_describe_sequence(s) for s in list_sequences(trend) if s.measure == measure]
        limits = [f"{line.words} {line.number}" for line in _find_lines(judgements, measure)]
        label = _capitalise(_find_label(trend, measure))
        texts.append(f"{label}: {'; '.join([*described, *limits])}.")
    return join_sentences(texts)


def _describe_series(one: _Series, measure: str) -> str:
    known = one.value[np.isfinite(one.value)].tolist()
    if not np.isfinite(one.value[-1]):
        return f"{one.name} not defined now"
    format_of = choose_format(measure, known[-1:])
    now, low, high = map(format_of.number, (known[-1], min(known), max(known)))
    factor, decimals = (100, 1) if format_of.is_share else (1, format_of.decimals)
    interval = format_interval(factor * float(one.lower[-1]), factor * float(one.upper[-1]), decimals)
    shown = " ".join(filter(None, (one.name, now, interval, "now")))
    changed = ", changed by more than chance explains" if one.has_drifted else ""
    return f"{shown}, {low} to {high} over all audits{changed}"


def _describe_sequence(sequence: ConfidenceSequence) -> str:
    last = sequence.points[-1]
    format_of = choose_format(sequence.measure, [last.estimate])
    interval = format_of.interval(last.lower, last.upper)
    return f"{sequence.model} {format_of.number(last.estimate)} {interval} as mean of all audits so far"
