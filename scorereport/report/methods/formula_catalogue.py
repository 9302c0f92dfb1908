"""All methods of models of an event whose rows are in memory."""

from __future__ import annotations

from scorereport.report.methods.bands import BAND_FORMULAS
from scorereport.report.methods.calibration_formulas import CALIBRATION_FORMULAS
from scorereport.report.methods.comparisons import COMPARISON_FORMULAS
from scorereport.report.methods.decisions import DECISION_FORMULAS
from scorereport.report.methods.groups import GROUP_FORMULAS
from scorereport.report.methods.intervals import INTERVAL_FORMULAS
from scorereport.report.methods.scores import SKILL_FORMULAS
from scorereport.report.methods.verdicts import VERDICT_FORMULAS

#: Everything that is no score, by the key under which the section asks for it.
BINARY_CATALOGUE = (
    SKILL_FORMULAS
    | CALIBRATION_FORMULAS
    | BAND_FORMULAS
    | DECISION_FORMULAS
    | INTERVAL_FORMULAS
    | COMPARISON_FORMULAS
    | GROUP_FORMULAS
    | VERDICT_FORMULAS
)
