"""Evidence plot: evidence against each hypothesis over all audits, on a log scale, with the alarm line."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, log10
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport._utils.arrays import FloatArray
from scorereport._utils.formatting import format_alarm_line, format_counted, format_evidence
from scorereport.history.trend.evidence_sentences import name_hypothesis
from scorereport.plots.stacked_panels import (
    DASHED,
    PanelStack,
    SideLabel,
    find_height,
    label_room,
    write_side_labels,
)
from scorereport.plots.style import INK, PAPER, RULE, ModelStyle, model_style, report_style
from scorereport.plots.text import join_sentences, shorten_text, text_width

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from scorereport.history.trend.evidence_records import EvidenceSeries, TrendEvidence
    from scorereport.plots.label_placement import SizedAxes

#: Most hypotheses that have a panel, and most models in one: those with the most evidence are shown.
MOST_PANELS, MOST_LINES = 4, 12
#: With more audits, points are left out, and only the first alarm of each line is marked.
MOST_MARKS = 40
#: Ends of the axis as powers of ten: evidence outside is drawn at its ends.
_LEAST, _MOST = -1, 6
#: Most intervals between ticks, and room above and below the axis as a share of its length.
_MOST_STEPS, _MARGIN = 4, 0.06
#: Room for the labels of the ticks and of the lines, in millimetres.
_LEFT, _RIGHT = 22.0, 52.0
_RED = "#b3402a"
#: Hypotheses of the figure in the order of their panels; evidence for a difference has no alarm line.
_ORDER = ("calibration", "baseline", "limit")


@dataclass(frozen=True, kw_only=True, eq=False)
class _Line:
    """Evidence against a hypothesis on one model: powers of ten at the places of its audits."""

    name: str
    look: ModelStyle
    places: FloatArray
    powers: FloatArray
    alarm: float
    is_alarm: bool
    odds: str


@dataclass(frozen=True, kw_only=True, eq=False)
class _Panel:
    """A hypothesis and its lines, one for each model."""

    hypothesis: str
    lines: tuple[_Line, ...]

    @property
    def alarms(self) -> list[float]:
        """The alarm lines, as a rule one."""
        return sorted({line.alarm for line in self.lines})


def has_evidence_figure(evidence: TrendEvidence) -> bool:
    """Whether evidence has been collected in more than one audit."""
    return any(len(series.points) > 1 for series in _list_alarming(evidence))


def count_left_out(evidence: TrendEvidence) -> int:
    """Return the number of series that have no line in the figure."""
    shown = [series for group in _choose_groups(evidence) for series in group[:MOST_LINES]]
    return len(_list_alarming(evidence)) - len(shown)


def plot_evidence(evidence: TrendEvidence, models: Sequence[str] = ()) -> Figure:
    """Draw the evidence against each hypothesis over the audits, and the alarm line.

    `models` are the names of all models in the order of other figures, which gives them the same colours.
    """
    periods, panels = _list_periods(evidence), _list_panels(evidence, models)
    with report_style():
        labels = max(len(panel.lines) + len(panel.alarms) for panel in panels)
        stack = PanelStack.of(len(panels), labels, left=_LEFT, right=_RIGHT)
        for place, (panel, axes) in enumerate(zip(panels, stack.list_panels(), strict=True)):
            stack.write_heading(place, f"Evidence against {panel.hypothesis}")
            _draw_panel(axes, panel, len(periods))
            _set_periods(axes, periods, has_texts=place == len(panels) - 1)
        return stack.canvas.figure


def _list_alarming(evidence: TrendEvidence) -> list[EvidenceSeries]:
    return [series for series in evidence.series if series.hypothesis in _ORDER and series.points]


def _list_periods(evidence: TrendEvidence) -> list[str]:
    """Return the periods of all series, in their order in time."""
    periods: list[str] = []
    for series in sorted(_list_alarming(evidence), key=lambda series: -len(series.points)):
        after = 0
        for point in series.points:
            if point.period not in periods:
                periods.insert(after, point.period)
            after = periods.index(point.period) + 1
    return periods


def _choose_groups(evidence: TrendEvidence) -> list[list[EvidenceSeries]]:
    """Return the series by hypothesis, those of the panels only, the one with the most evidence first."""
    groups: dict[tuple[object, ...], list[EvidenceSeries]] = {}
    for series in _list_alarming(evidence):
        bound = "" if series.hypothesis == "baseline" else repr(series.bound)
        key = _ORDER.index(series.hypothesis), series.measure, bound, series.is_upper
        groups.setdefault(key, []).append(series)
    ordered = [sorted(group, key=lambda series: -_last(series)) for group in groups.values()]
    chosen = sorted(ordered, key=lambda group: (_ORDER.index(group[0].hypothesis) == 2, -_last(group[0])))
    shown = chosen[:MOST_PANELS]
    return sorted(shown, key=lambda group: _ORDER.index(group[0].hypothesis))


def _last(series: EvidenceSeries) -> float:
    return round(series.points[-1].log_detector, 9)  # no order depends on the last bit


def _list_panels(evidence: TrendEvidence, models: Sequence[str]) -> list[_Panel]:
    names = list(dict.fromkeys([*models, *(series.model for series in evidence.series)]))
    periods = {period: place for place, period in enumerate(_list_periods(evidence))}
    return [
        _Panel(
            hypothesis=_name_hypothesis(group[0], evidence),
            lines=tuple(
                _make_line(series, periods, model_style(names.index(series.model)))
                for series in sorted(group[:MOST_LINES], key=lambda series: names.index(series.model))
            ),
        )
        for group in _choose_groups(evidence)
    ]


def _name_hypothesis(series: EvidenceSeries, evidence: TrendEvidence) -> str:
    return name_hypothesis(
        series.hypothesis,
        measure=series.measure,
        bound=series.bound,
        is_upper=series.is_upper,
        tolerance=evidence.tolerance,
    )


def _make_line(series: EvidenceSeries, periods: dict[str, int], look: ModelStyle) -> _Line:
    detector = np.array([point.log_detector for point in series.points])
    return _Line(
        name=series.model,
        look=look,
        places=np.array([float(periods[point.period]) for point in series.points]),
        powers=detector / log(10),
        alarm=series.alarm_at,
        is_alarm=series.is_alarm,
        odds=format_evidence(float(detector[-1])),
    )


def _choose_ends(panel: _Panel) -> tuple[int, int]:
    """Return the ends of the axis as powers of ten: all values and alarm lines, within fixed ends."""
    values = np.concatenate([line.powers for line in panel.lines])
    lines = max(ceil(log10(alarm) - 1e-9) for alarm in panel.alarms)
    least = -1 if values.min() < 0 else 0
    return max(least, _LEAST), max(min(ceil(values.max() - 1e-9), max(_MOST, lines + 1)), lines)


def _draw_panel(panel: SizedAxes, content: _Panel, audits: int) -> None:
    axes, ends = panel.axes, _choose_ends(content)
    margin = _MARGIN * (ends[1] - ends[0])
    axes.set_ylim(ends[0] - margin, ends[1] + margin)
    axes.set_xlim(-0.5, audits - 0.5)
    step = -(-(ends[1] - ends[0]) // _MOST_STEPS)
    ticks = [power for power in range(ends[0], ends[1] + 1) if power % step == 0]
    axes.set_yticks(ticks, [_write_odds(power) for power in ticks])
    axes.axvline(audits - 1, color=RULE, linewidth=3.0, zorder=0)
    for alarm in content.alarms:
        axes.axhline(log10(alarm), color=_RED, linewidth=0.9, linestyle=DASHED, zorder=2)
    for line in content.lines:
        _draw_line(axes, line, ends, is_dense=audits > MOST_MARKS)
    write_side_labels(panel, [*_label_lines(panel, content, ends), *_label_alarms(panel, content)])


def _write_odds(power: int) -> str:
    """Write a power of ten as odds, as short as an axis needs."""
    if power < 0:
        return f"1 to {10**-power:,}"
    return f"{10**power:,} to 1" if power <= _MOST else f"10^{power} to 1"


def _draw_line(axes: Axes, line: _Line, ends: tuple[int, int], *, is_dense: bool) -> None:
    x, y = line.places, np.clip(line.powers, *ends)
    axes.plot(x, y, zorder=3, **line.look.line(0.7 if is_dense else 1.0))
    style: dict[str, Any] = {"linestyle": "none", "marker": line.look.marker, "color": line.look.colour}
    if not is_dense:
        axes.plot(x[:-1], y[:-1], markersize=2.6, mew=0, zorder=4, **style)
    is_over = line.powers >= log10(line.alarm) - 1e-12
    if is_dense:
        is_over &= np.cumsum(is_over) == 1
    axes.plot(
        x[is_over],
        y[is_over],
        linestyle="none",
        marker="o",
        markersize=7.0,
        markerfacecolor="none",
        markeredgecolor=_RED,
        mew=0.9,
        zorder=5,
        clip_on=False,
    )
    axes.plot(x[-1:], y[-1:], markersize=5.0, mec=PAPER, mew=0.5, zorder=6, clip_on=False, **style)


def _label_lines(panel: SizedAxes, content: _Panel, ends: tuple[int, int]) -> Iterator[SideLabel]:
    for line in content.lines:
        at = float(np.clip(line.powers[-1], *ends))
        after = f": {line.odds.replace('more than', '>')}{', alarm' if line.is_alarm else ''}"
        yield SideLabel(
            text=f"{shorten_text(line.name, label_room(panel) - text_width(after))}{after}",
            height=find_height(panel, at),
            start=float((line.places[-1] - panel.axes.get_xlim()[0]) * panel.scale[0]) + 5,
            colour=_RED if line.is_alarm else INK,
            line=line.look.colour,
        )


def _label_alarms(panel: SizedAxes, content: _Panel) -> Iterator[SideLabel]:
    for alarm in content.alarms:
        yield SideLabel(
            text=f"alarm line {format_alarm_line(alarm)}",
            height=find_height(panel, log10(alarm)),
            start=panel.width,
            colour=_RED,
            line=_RED,
        )


def _set_periods(panel: SizedAxes, periods: Sequence[str], *, has_texts: bool) -> None:
    """Label the axis with as many periods as fit side by side, the last always among them."""
    widest = max(text_width(period) for period in periods) + 8
    every = max(ceil(widest * len(periods) / panel.width), 1)
    places = list(range(len(periods) - 1, -1, -every))[::-1]
    panel.axes.set_xticks(places, [periods[place] if has_texts else "" for place in places])


def describe_evidence(evidence: TrendEvidence, models: Sequence[str] = ()) -> str:
    """Describe the figure in words: for each hypothesis, evidence now and at its highest, and alarms."""
    periods = _list_periods(evidence)
    audits = format_counted(len(periods), "audit")
    texts = [f"Evidence for a change after each of {audits}, from {periods[0]} to {periods[-1]}."]
    for panel in _list_panels(evidence, models):
        lines = "; ".join(_describe_line(line, periods) for line in panel.lines)
        alarm = " and ".join(format_alarm_line(alarm) for alarm in panel.alarms)
        texts.append(f"Against {panel.hypothesis}: {lines}; alarm line {alarm}.")
    return join_sentences(texts)


def _describe_line(line: _Line, periods: Sequence[str]) -> str:
    highest = int(np.argmax(np.round(line.powers, 9)))
    where = periods[int(line.places[highest])]
    peak = (
        ""
        if highest == len(line.powers) - 1
        else (f", at its highest {format_evidence(float(line.powers[highest]) * log(10))} in {where}")
    )
    return f"{line.name} {line.odds} now{', an alarm' if line.is_alarm else ''}{peak}"
