"""Intervals, tests of calibration and comparisons of models, each with its method and reference.

>>> test = spiegelhalter_test([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8])
>>> round(test.p_value, 3), test.null_hypothesis
(0.326, 'The expected Brier score is what the forecasts, taken as true, imply.')
"""

from scorereport.inference.binned_errors import BinnedError, expected_calibration_error
from scorereport.inference.bootstrap_resamples import bootstrap
from scorereport.inference.bootstrap_results import Bootstrap
from scorereport.inference.calibration_tests import (
    hosmer_lemeshow_test,
    mean_calibration_test,
    spiegelhalter_test,
)
from scorereport.inference.component_tests import (
    component_differences,
    component_intervals,
    miscalibration_test,
)
from scorereport.inference.decision_differences import (
    DecisionDifference,
    DecisionRange,
    decision_difference,
)
from scorereport.inference.decisions import threshold_intervals
from scorereport.inference.delong import auc_interval
from scorereport.inference.differences import compare_models, delong_test, score_difference
from scorereport.inference.dominance import MurphyDifference, murphy_difference
from scorereport.inference.estimates import (
    ComponentEstimate,
    Difference,
    Estimate,
    HypothesisTest,
    Rank,
    rank_models,
)
from scorereport.inference.flexible_curves import FlexibleCurve, flexible_curve
from scorereport.inference.grades import GradeTest, grade_test, grade_tests
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.miscalibration_parts import MiscalibrationParts, split_miscalibration
from scorereport.inference.nelson_scale import model_source
from scorereport.inference.recalibration import RecalibrationTrial, try_recalibration
from scorereport.inference.recalibration_lines import CalibrationLine
from scorereport.inference.regression import (
    calibration_line,
    line_tests,
    unreliability_test,
)
from scorereport.inference.retention_bands import RetentionBand, retention_band
from scorereport.inference.sample_sizes import SamplePlan, SizeCriterion, plan_sample_size
from scorereport.inference.scale_results import ScaleMark, ScaleResult
from scorereport.inference.smooth_calibration import CalibrationErrors, calibration_errors

__all__ = [
    "BinnedError",
    "Bootstrap",
    "CalibrationErrors",
    "CalibrationLine",
    "ComponentEstimate",
    "DecisionDifference",
    "DecisionRange",
    "Difference",
    "Estimate",
    "FlexibleCurve",
    "GradeTest",
    "HypothesisTest",
    "MiscalibrationParts",
    "MurphyDifference",
    "Rank",
    "RecalibrationTrial",
    "RetentionBand",
    "SamplePlan",
    "ScaleMark",
    "ScaleResult",
    "SizeCriterion",
    "auc_interval",
    "bootstrap",
    "calibration_errors",
    "calibration_line",
    "cochran_q",
    "compare_models",
    "component_differences",
    "component_intervals",
    "decision_difference",
    "delong_test",
    "expected_calibration_error",
    "flexible_curve",
    "grade_test",
    "grade_tests",
    "group_calibration_test",
    "hosmer_lemeshow_test",
    "line_tests",
    "mean_calibration_test",
    "miscalibration_test",
    "model_source",
    "murphy_difference",
    "plan_sample_size",
    "rank_models",
    "retention_band",
    "score_difference",
    "spiegelhalter_test",
    "split_miscalibration",
    "threshold_intervals",
    "try_recalibration",
    "unreliability_test",
]
