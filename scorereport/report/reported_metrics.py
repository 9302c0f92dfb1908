"""Metrics of models as other tools read them: names of limits, values, intervals, and the group of rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isnan, nan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import MeasureFormat, common_decimals
from scorereport.configuration.limit_records import LimitMeasure, MeasurePart
from scorereport.configuration.limit_verdicts import find_numbers
from scorereport.configuration.limits_table import LimitsTable
from scorereport.configuration.measure_limits import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.results.evaluation import Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedMetric:
    """A number of a model, with its interval, which is NaN if there is none.

    `group` is "" for all rows, else "column = label".
    """

    model: str
    group: str
    measure: LimitMeasure
    value: float
    lower: float = nan
    upper: float = nan

    @property
    def label(self) -> str:
        """What the number is called."""
        return self.measure.label_of(self.lower)

    @property
    def has_interval(self) -> bool:
        """Whether both ends of the interval are defined."""
        return not (isnan(self.lower) or isnan(self.upper))

    @property
    def is_finite(self) -> bool:
        """Whether the value is a finite number."""
        return abs(self.value) < inf

    @property
    def text(self) -> str:
        """The value as text."""
        return self._format.number(self.value)

    @property
    def interval_text(self) -> str:
        """The interval as text; empty if there is none."""
        return self._format.interval(self.lower, self.upper) if self.has_interval else ""

    @property
    def _format(self) -> MeasureFormat:
        fixed = self.measure.decimals
        decimals = common_decimals([self.value]) if fixed is None else fixed
        return MeasureFormat(is_share=self.measure.is_share, decimals=decimals)


def list_metrics(evaluation: Evaluation) -> tuple[ReportedMetric, ...]:
    """Return every number of the models that may have a limit, on all rows and by group.

    Numbers at a threshold or of one class, and those that the evaluation does not have, are left out.
    """
    return tuple(
        metric
        for measure in MEASURES.values()
        if measure.argument is None
        for metric in _find_metrics(evaluation, measure)
    )


def _find_metrics(evaluation: Evaluation, measure: LimitMeasure) -> Iterator[ReportedMetric]:
    for found in find_numbers(evaluation, measure, LimitsTable(groups=True)):
        if found.model and not found.absent:
            interval = found.interval
            yield ReportedMetric(
                model=found.model,
                group=found.group,
                measure=measure,
                value=found.value,
                lower=nan if interval is None else interval.lower,
                upper=nan if interval is None else interval.upper,
            )


#: Parts of an evaluation whose numbers are among the main ones; of the others, those of the main score are.
_MAIN_PARTS = (MeasurePart.MEAN, MeasurePart.LINE)
_PARTS_OF_MAIN_SCORE = (MeasurePart.SKILL, MeasurePart.MISCALIBRATION, MeasurePart.DISCRIMINATION)


def select_main_metrics(evaluation: Evaluation) -> tuple[ReportedMetric, ...]:
    """Return the metrics that a reader looks at first: scores, and what the main score consists of."""

    def is_main(measure: LimitMeasure) -> bool:
        of_score = measure.score == evaluation.main_score and measure.part in _PARTS_OF_MAIN_SCORE
        return measure.part in _MAIN_PARTS or of_score or measure.name == "ici"

    return tuple(metric for metric in list_metrics(evaluation) if is_main(metric.measure))
