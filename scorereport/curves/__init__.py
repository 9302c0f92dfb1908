"""Curves as data, from outcomes and forecasts or from a CORP fit: every point, never a drawing.

>>> roc_curve([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8]).auc
1.0
>>> from scorereport import corp
>>> fit = corp([0, 1, 0, 1], [0.1, 0.6, 0.4, 0.8])  # several curves share one fit
>>> roc_curve(fit).auc
1.0
"""

from scorereport.curves.decision import (
    DecisionCurve,
    NetBenefitBand,
    ThresholdInterval,
    ThresholdResult,
    decision_curve,
    threshold_table,
)
from scorereport.curves.fitted import (
    Histogram,
    ReliabilityCurve,
    RocCurve,
    forecast_histogram,
    reliability_curve,
    roc_curve,
    roc_hull,
)
from scorereport.curves.murphy import MurphyCurve, MurphyCurves, RegretCurve, murphy_curves, regret_curve
from scorereport.curves.retention import RetentionCurve, retention_curve

__all__ = [
    "DecisionCurve",
    "Histogram",
    "MurphyCurve",
    "MurphyCurves",
    "NetBenefitBand",
    "RegretCurve",
    "ReliabilityCurve",
    "RetentionCurve",
    "RocCurve",
    "ThresholdInterval",
    "ThresholdResult",
    "decision_curve",
    "forecast_histogram",
    "murphy_curves",
    "regret_curve",
    "reliability_curve",
    "retention_curve",
    "roc_curve",
    "roc_hull",
    "threshold_table",
]
