"""`ModelCalibration`: the calibration line, tests of calibration and calibration errors of a binary model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scorereport.evaluation.prediction_panels import select_model
from scorereport.inference.binned_errors import bin_errors
from scorereport.inference.calibration_in_time import allow_for_time, needs_time
from scorereport.inference.calibration_tests import examine_groups, examine_sums
from scorereport.inference.estimates import adjust_tests
from scorereport.inference.flexible_curves import fit_flexible
from scorereport.inference.grades import grade_tests
from scorereport.inference.regression import examine_line
from scorereport.inference.smooth_calibration import smooth_errors
from scorereport.results.model_records import ModelCalibration

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.data.predictions import Predictions
    from scorereport.inference.estimates import HypothesisTest
    from scorereport.inference.grades import GradeTest
    from scorereport.inference.panel import ForecastPanel
    from scorereport.inference.recalibration_lines import CalibrationLine
    from scorereport.results.settings import EvaluationSettings


def examine_calibration(
    predictions: Predictions, panel: ForecastPanel, ordered: ForecastPanel, settings: EvaluationSettings
) -> ModelCalibration:
    """Calibration line, tests of calibration and calibration errors of one model.

    `ordered` has the cases of this model in the order of its forecasts, `panel` those of all models.
    """
    (model,) = ordered.forecasts
    in_time = select_model(panel, model)
    line, tests = _examine_line(ordered, settings.level)
    if needs_time(in_time):
        line, tests = allow_for_time(in_time, line, tests)
    return ModelCalibration(
        line=line,
        tests=tuple(tests),
        errors=smooth_errors(ordered, level=settings.level, seed=settings.seed),
        binned=bin_errors(ordered, level=settings.level, seed=settings.seed),
        grades=_test_grades(predictions, panel, model),
        flexible=fit_flexible(ordered, level=settings.band_level),
    )


def _examine_line(panel: ForecastPanel, level: float) -> tuple[CalibrationLine, list[HypothesisTest]]:
    """The calibration line and the tests of calibration, with rows independent in time."""
    line, of_line = examine_line(panel, level=level)
    tests = [*examine_sums(panel), *of_line]
    if panel.cluster is None:  # with clusters, the distribution of the Hosmer-Lemeshow statistic is unknown
        tests.append(examine_groups(panel))
    return line, tests


def _test_grades(predictions: Predictions, panel: ForecastPanel, model: str) -> tuple[GradeTest, ...]:
    """The tests by grade; none without grades, or with sampling weights."""
    if predictions.grade is None or not panel.units.are_repeated_rows:
        return ()
    return grade_tests(
        predictions.outcome,
        predictions.forecasts[model],
        predictions.grade,
        sample_weight=predictions.weight,
        weight_kind=predictions.weight_kind,
    )


def adjust_calibration(known: Sequence[ModelCalibration | None]) -> list[ModelCalibration | None]:
    """Adjust the p-values of the other tests of calibration over the models."""
    examined = [calibration for calibration in known if calibration is not None]
    if len(known) < 2 or len(examined) < len(known):
        return list(known)
    tests = adjust_tests([calibration.tests for calibration in examined])
    return [replace(c, tests=adjusted) for c, adjusted in zip(examined, tests, strict=True)]
