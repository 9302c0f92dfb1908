"""Series of each measure and model over the runs of an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_percent
from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.configuration.limit_verdicts import Judgement
from scorereport.configuration.measure_limits import MEASURES, MeasurePart

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.scores import Direction


#: The limits that a judgement may have, from the top of a chart to its bottom: name, kind, and side.
BOUNDS = (
    ("fail_upper", "fail", "above"),
    ("warn_upper", "warn", "above"),
    ("warn_lower", "warn", "below"),
    ("fail_lower", "fail", "below"),
)
_PARTS = {
    MeasurePart.SKILL: "Skill: the share of the score of a constant forecast that the model saves.",
    MeasurePart.MISCALIBRATION: "MCB, miscalibration: what the score would gain if the forecasts were recalibrated.",
    MeasurePart.DISCRIMINATION: "DSC, discrimination: what the score gains because the forecasts tell cases apart.",
    MeasurePart.LINE: "How outcomes follow forecasts on the scale of log odds.",
    MeasurePart.SAMPLE: "The share of rows in which the event came.",
}
_MEANINGS = {
    "brier": "The mean squared distance of forecasts to what came.",
    "log_loss": "The mean surprise at what came: minus the logarithm of its probability.",
    "roc_auc": "How often, of two rows, the one with the event has the higher forecast.",
    "multiclass_brier": "The mean squared distance of forecasts to what came, over all classes.",
    "multiclass_log_loss": "The mean surprise at what came: minus the logarithm of its probability.",
    "rps": "The mean squared distance of forecasts to what came, class by class in their order.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue:
    """A number in one run, with its interval, and with its limits if it was judged.

    Of a component `value` is without the overfit, as the interval is, and `raw` with it.
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
        """Whether something was taken off the raw number."""
        return not math.isnan(self.raw) and self.raw != self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSeries:
    """A measure of a model in all runs that came to numbers; None where a run does not have it."""

    measure: str
    model: str
    label: str
    readings: tuple[MeasuredValue | None, ...]

    @property
    def known(self) -> tuple[MeasuredValue, ...]:
        """The readings there are."""
        return tuple(reading for reading in self.readings if reading is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureFormat:
    """How the numbers of a measure are written: in percent, or with the same decimals everywhere."""

    is_share: bool
    decimals: int

    def number(self, value: float) -> str:
        """One number."""
        return format_percent(value) if self.is_share else format_number(value, self.decimals)

    def interval(self, lower: float, upper: float) -> str:
        """Both ends of an interval; empty if it is not defined."""
        if not self.is_share:
            return format_interval(lower, upper, self.decimals)
        ends = format_interval(100 * lower, 100 * upper, 1)
        return f"{ends} %" if ends else ""

    def change(self, difference: float) -> str:
        """A difference with its sign; one of shares is in points of percent."""
        factor, decimals, unit = (100, 1, " points") if self.is_share else (1, self.decimals, "")
        text = format_number(factor * difference, decimals)
        return f"{'+' if difference > 0 and text.strip('0.') else ''}{text}{unit}"


def choose_format(measure: str, readings: Iterable[MeasuredValue]) -> MeasureFormat:
    """How to write a measure that has these readings."""
    known = MEASURES.get(measure)
    return MeasureFormat(
        is_share=known is not None and known.is_share,
        decimals=min(common_decimals(reading.value for reading in readings), 5),
    )


def find_direction(measure: str) -> Direction | None:
    """Which way is better, if either is."""
    known = MEASURES.get(measure)
    return None if known is None else known.direction


def describe_measure(measure: str) -> str:
    """What a measure is, in a sentence for those who see it for the first time; empty if none is known."""
    known = MEASURES.get(measure)
    if known is None:
        return ""
    return (
        _MEANINGS.get(known.score or known.name, "")
        if known.part is MeasurePart.MEAN
        else _PARTS.get(known.part, "")
    )


def describe_direction(measure: str) -> str:
    """The same in words; empty if neither way is better."""
    direction = find_direction(measure)
    return "" if direction is None else direction.value


def find_range(measure: str) -> tuple[float, float]:
    """Where a measure can lie."""
    known = MEASURES.get(measure)
    return (-math.inf, math.inf) if known is None else (known.lower, known.upper)


def collect_series(runs: Sequence[RecordedRun]) -> tuple[MeasureSeries, ...]:
    """Everything that runs with numbers have measured or judged on all rows.

    The main score of the newest comes first, then what the newest has in its order, then what only earlier
    ones have.
    """
    found = [_read_run(run) for run in runs]
    keys = dict.fromkeys(key for readings in reversed(found) for key in readings)
    main = get_snapshot(runs[-1]).main_score if runs else ""
    measures = list(dict.fromkeys([main, *(measure for measure, _ in keys)]))
    ordered = sorted(keys, key=lambda key: measures.index(key[0]))
    return tuple(_build_series(key, [readings.get(key) for readings in found]) for key in ordered)


def _build_series(key: tuple[str, str], readings: Sequence[MeasuredValue | None]) -> MeasureSeries:
    label = next(reading.label for reading in reversed(readings) if reading is not None)
    return MeasureSeries(measure=key[0], model=key[1], label=label, readings=tuple(readings))


def _read_run(run: RecordedRun) -> Mapping[tuple[str, str], MeasuredValue]:
    judged = {(j.measure, j.model): j for j in run.record.judgements if not j.group}
    readings = {
        (number.measure, number.model): MeasuredValue(
            label=number.label,
            value=number.corrected,
            raw=number.value,
            lower=number.lower,
            upper=number.upper,
            judgement=judged.get((number.measure, number.model)),
        )
        for number in get_snapshot(run).numbers
    }
    others = {
        key: MeasuredValue(
            label=j.label, value=j.value, raw=j.value, lower=j.lower, upper=j.upper, judgement=j
        )
        for key, j in judged.items()
        if key not in readings
    }
    return readings | others
