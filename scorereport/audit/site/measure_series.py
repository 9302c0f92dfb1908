"""Series of each measure and model over the runs of an audit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import common_decimals, format_interval, format_number, format_percent
from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.limit_verdicts import Judgement
from scorereport.configuration.measure_limits import find_measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.scores import Direction


#: The limits of a judgement, from the top of a chart to its bottom: name, kind, and side.
BOUNDS = (
    ("fail_upper", "fail", "above"),
    ("warn_upper", "warn", "above"),
    ("warn_lower", "warn", "below"),
    ("fail_lower", "fail", "below"),
)
_PARTS = {
    MeasurePart.SKILL: "Skill: the relative improvement of the score over that of a constant forecast.",
    MeasurePart.MISCALIBRATION: (
        "MCB, miscalibration: by how much the score would improve if the forecasts were recalibrated."
    ),
    MeasurePart.DISCRIMINATION: (
        "DSC, discrimination: by how much recalibrated forecasts improve the score over a constant forecast."
    ),
    MeasurePart.LINE: "Calibration line: how the log odds of the event depend on those of the forecasts.",
}
_MEANINGS = {
    "prevalence": "Prevalence: the share of rows with the event.",
    "brier": "The mean squared difference between forecast and outcome.",
    "log_loss": "The mean of minus the logarithm of the probability of the observed outcome.",
    "roc_auc": "The probability that a row with the event has a higher forecast than a row without it.",
    "multiclass_brier": "The mean squared difference between forecast and outcome, summed over all classes.",
    "multiclass_log_loss": "The mean of minus the logarithm of the probability of the observed class.",
    "rps": "The mean squared difference between cumulative forecast and outcome, over the ordered classes.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredValue:
    """A number in one run, with its interval, and with its limits if it was judged.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSeries:
    """A measure of a model in all runs with results; None where a run does not have it."""

    measure: str
    model: str
    label: str
    readings: tuple[MeasuredValue | None, ...]

    @property
    def known(self) -> tuple[MeasuredValue, ...]:
        """The readings that are not None."""
        return tuple(reading for reading in self.readings if reading is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureFormat:
    """Format of the numbers of a measure: in percent, or with the same number of decimals everywhere."""

    is_share: bool
    decimals: int

    def number(self, value: float) -> str:
        """Format one number."""
        return format_percent(value) if self.is_share else format_number(value, self.decimals)

    def interval(self, lower: float, upper: float) -> str:
        """Format both ends of an interval; empty if it is not defined."""
        if not self.is_share:
            return format_interval(lower, upper, self.decimals)
        ends = format_interval(100 * lower, 100 * upper, 1)
        return f"{ends} %" if ends else ""

    def change(self, difference: float) -> str:
        """Format a difference with its sign; a difference of shares is in percentage points."""
        factor, decimals, unit = (100, 1, " points") if self.is_share else (1, self.decimals, "")
        text = format_number(factor * difference, decimals)
        return f"{'+' if difference > 0 and text.strip('0.') else ''}{text}{unit}"


def choose_format(measure: str, readings: Iterable[MeasuredValue]) -> MeasureFormat:
    """Choose the format of a measure with these readings."""
    known = find_measure(measure)
    return MeasureFormat(
        is_share=known is not None and known.is_share,
        decimals=min(common_decimals(reading.value for reading in readings), 5),
    )


def find_direction(measure: str) -> Direction | None:
    """Return the direction in which a measure is better; None if there is none."""
    known = find_measure(measure)
    return None if known is None else known.direction


def describe_measure(measure: str) -> str:
    """Explain a measure in a sentence, for readers who do not know it; empty if there is none."""
    known = find_measure(measure)
    if known is None:
        return ""
    if known.part in (MeasurePart.MEAN, MeasurePart.SAMPLE) and known.argument is None:
        return _MEANINGS.get(known.score or known.name, "")
    stated = f"{known.meaning[:1].upper()}{known.meaning[1:]}." if known.meaning else ""
    return _PARTS.get(known.part) or stated


def describe_direction(measure: str) -> str:
    """Describe the direction in which a measure is better; empty if there is none."""
    direction = find_direction(measure)
    return "" if direction is None else direction.value


def find_range(measure: str) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure."""
    known = find_measure(measure)
    return (-math.inf, math.inf) if known is None else (known.lower, known.upper)


def collect_series(runs: Sequence[RecordedRun]) -> tuple[MeasureSeries, ...]:
    """Collect the series of all measures that runs with results have measured or judged on all rows.

    The main score of the newest run comes first, then the other measures of the newest run in their order,
    then those of earlier runs only.
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
