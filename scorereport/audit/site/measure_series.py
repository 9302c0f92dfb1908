"""Series of each measure and model over the runs of an audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.audit.site.audit_runs import get_snapshot
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.measure_limits import find_measure
from scorereport.plots.trend_picture import choose_format, collect_series, read_audit
from scorereport.scores.registry import REGISTRY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport._utils.formatting import MeasureFormat
    from scorereport.audit.site.audit_runs import RecordedRun
    from scorereport.plots.trend_picture import MeasuredValue, MeasureSeries
    from scorereport.scores import Direction


#: Most decimals of a number on the site.
_MOST_DECIMALS = 5
_PARTS = {
    MeasurePart.SKILL: "Skill: the relative improvement of the score over that of a constant forecast.",
    MeasurePart.MISCALIBRATION: (
        "Miscalibration: by how much the score would improve if the forecasts were recalibrated."
    ),
    MeasurePart.DISCRIMINATION: (
        "Discrimination: by how much recalibrated forecasts improve the score over a constant forecast."
    ),
    MeasurePart.LINE: "Calibration line: how the log odds of the event depend on those of the forecasts.",
}


def find_direction(measure: str) -> Direction | None:
    """Return the direction in which a measure is better; None if there is none."""
    known = find_measure(measure)
    return None if known is None else known.direction


def describe_measure(measure: str) -> str:
    """Explain a measure in a sentence, for readers who do not know it; empty if there is none."""
    known = find_measure(measure)
    if known is None:
        return ""
    if known.part is MeasurePart.MEAN and known.score and known.argument is None:
        return REGISTRY[known.score].meaning
    stated = f"{known.meaning[:1].upper()}{known.meaning[1:]}." if known.meaning else ""
    return _PARTS.get(known.part) or stated


def describe_direction(measure: str) -> str:
    """Describe the direction in which a measure is better; empty if there is none."""
    direction = find_direction(measure)
    return "" if direction is None else direction.value


def collect_runs(runs: Sequence[RecordedRun]) -> tuple[MeasureSeries, ...]:
    """Collect the series of all measures of the runs, the main score of the newest run first."""
    audits = [read_audit(get_snapshot(run).numbers, run.record.judgements) for run in runs]
    return collect_series(audits, first=get_snapshot(runs[-1]).main_score if runs else "")


def choose_site_format(measure: str, readings: Iterable[MeasuredValue]) -> MeasureFormat:
    """Choose the format of a measure on the site, where numbers have little room."""
    return choose_format(measure, [reading.value for reading in readings], _MOST_DECIMALS)
