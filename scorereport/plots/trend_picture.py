"""The picture of a trend: series over audits, their format, the ends of the axes, and places of labels.

It is computed here once and drawn twice: `plots.trend_plot` draws it for printed pages, all models in one
panel; `audit.site` draws it for the web site, where each audit is a link and colours follow the theme of the
reader.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import isotonic_regression

from scorereport._utils.formatting import MeasureFormat, common_decimals
from scorereport.configuration.limit_verdicts import Judgement
from scorereport.configuration.measure_limits import MEASURES, find_measure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from scorereport.history.trend.drift_records import Number

    Readings = Mapping[tuple[str, str], "MeasuredValue"]

#: The limits of a judgement, from the top of a chart to its bottom: name, kind, and side.
BOUNDS = (
    ("fail_upper", "fail", "above"),
    ("warn_upper", "warn", "above"),
    ("warn_lower", "warn", "below"),
    ("fail_lower", "fail", "below"),
)
#: The least margin of a time axis of hours, in days.
_HALF_HOUR = 1 / 48
#: Room above and below the numbers, as a share of their range, and below the least possible number.
_MARGIN, _MARGIN_BELOW_LEAST = 0.08, 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue:
    """A number in one audit, with its interval, and with its limits if it was judged.

    For a component of a decomposition, `value` and the interval are overfit-corrected; `raw` is not.
    """

    label: str
    value: float
    raw: float
    lower: float
    upper: float
    judgement: Judgement | None = None

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the interval can be drawn."""
        return math.isfinite(self.lower) and math.isfinite(self.upper)

    @property
    def is_corrected(self) -> bool:
        """Whether the overfit correction changed the number."""
        return not math.isnan(self.raw) and self.raw != self.value

    @property
    def limits(self) -> Iterator[tuple[float, str, str]]:
        """The limits by which the number was judged, from top to bottom, each with its kind and side."""
        for name, kind, side in BOUNDS if self.judgement is not None else ():
            limit = getattr(self.judgement, name)
            if limit is not None:
                yield limit, kind, side


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSeries:
    """A measure of a model in all audits with results; None where an audit does not have it."""

    measure: str
    model: str
    label: str
    readings: tuple[MeasuredValue | None, ...]

    @property
    def known(self) -> tuple[MeasuredValue, ...]:
        """The readings that are not None."""
        return tuple(reading for reading in self.readings if reading is not None)


def read_audit(numbers: Iterable[Number], judgements: Iterable[Judgement] = ()) -> Readings:
    """Return the numbers of an audit on all rows, measured or only judged, by measure and model."""
    judged = {(j.measure, j.model): j for j in judgements if not j.group}
    measured = {
        (number.measure, number.model): MeasuredValue(
            label=label_number(number),
            value=number.corrected,
            raw=number.value,
            lower=number.lower,
            upper=number.upper,
            judgement=judged.get((number.measure, number.model)),
        )
        for number in numbers
    }
    others = {
        key: MeasuredValue(
            label=label_number(j), value=_value(j), raw=j.value, lower=j.lower, upper=j.upper, judgement=j
        )
        for key, j in judged.items()
        if key not in measured
    }
    return measured | others


def label_number(number: Number | Judgement) -> str:
    """Return the label of a number; records of version 0.1 call corrected components by their raw names."""
    known = find_measure(number.measure)
    return known.label_of(number.lower) if known is not None and known.is_component else number.label


def _value(judgement: Judgement) -> float:
    """Return the judged number; NaN for a component of version 0.1, which kept the raw number only."""
    return judgement.value if label_number(judgement) == judgement.label else math.nan


def collect_series(audits: Sequence[Readings], first: str = "") -> tuple[MeasureSeries, ...]:
    """Collect the series of all measures, from the oldest audit to the newest.

    The measure `first` comes first, then the others of the newest audit in their order, then those of earlier
    audits only.
    """
    keys = dict.fromkeys(key for readings in reversed(audits) for key in readings)
    measures = list(dict.fromkeys([first, *(measure for measure, _ in keys)]))
    ordered = sorted(keys, key=lambda key: measures.index(key[0]))
    return tuple(_build_series(key, [readings.get(key) for readings in audits]) for key in ordered)


def _build_series(key: tuple[str, str], readings: Sequence[MeasuredValue | None]) -> MeasureSeries:
    label = next(reading.label for reading in reversed(readings) if reading is not None)
    return MeasureSeries(measure=key[0], model=key[1], label=label, readings=tuple(readings))


def choose_format(measure: str, values: Iterable[float], most: int | None = None) -> MeasureFormat:
    """Choose the format of a measure with these values, with at most `most` decimals."""
    known, decimals = MEASURES.get(measure), common_decimals(values)
    return MeasureFormat(
        is_share=known is not None and known.is_share,
        decimals=decimals if most is None else min(decimals, most),
    )


def find_range(measure: str) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure."""
    known = MEASURES.get(measure)
    return (-math.inf, math.inf) if known is None else (known.lower, known.upper)


def choose_number_ends(
    values: Collection[float], limits: Iterable[float] = (), *, least: float = -math.inf, share: float = 1.0
) -> tuple[float, float]:
    """Return the ends of an axis: all values, and the limits that leave room for these, with a margin.

    A limit is left out if it would leave less than `share` of the axis to the values. `least` is the least
    possible value; below it there is hardly any room.
    """
    low, high = (min(values), max(values)) if values else (0.0, 1.0)
    if low == high:
        low, high = low - 0.05 * max(abs(low), 0.1), high + 0.05 * max(abs(high), 0.1)
    most = (high - low) / share
    for at in sorted(limits, key=lambda at: max(low - at, at - high)):
        if max(high, at) - min(low, at) <= most:
            low, high = min(low, at), max(high, at)
    margin = _MARGIN * (high - low)
    return max(low - margin, least - _MARGIN_BELOW_LEAST * margin), high + margin


def choose_day_ends(days: Collection[float]) -> tuple[float, float]:
    """Return the ends of a time axis for days as ordinals, with a margin."""
    first, last = min(days), max(days)
    least = _HALF_HOUR if any(day % 1 for day in days) else 0.5
    margin = max(0.03 * (last - first), least)
    return first - margin, last + margin


def spread_labels(places: Sequence[float], room: float, line: float) -> list[float]:
    """Return places of labels of height `line`, as close as possible to those given, without overlap.

    All are between 0 and `room`.

    >>> spread_labels([10, 12, 99], 100, 15)
    [3.5, 18.5, 99.0]
    >>> spread_labels([99, 95], 100, 15)
    [100.0, 85.0]
    """
    order = np.argsort(places, kind="stable")
    steps = line * np.arange(len(places))
    ideal = np.asarray(places, dtype=np.float64)[order] - steps
    placed = isotonic_regression(ideal).x if len(ideal) else ideal
    result = np.empty(len(placed))
    result[order] = np.clip(placed, 0.0, max(room - line * (len(places) - 1), 0.0)) + steps
    return [float(at) for at in result]
