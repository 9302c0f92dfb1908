"""All methods of models of an event whose rows are in memory."""

from __future__ import annotations

from scorereport.report.methods.bands import BANDS
from scorereport.report.methods.calibration_formulas import CALIBRATION
from scorereport.report.methods.comparisons import COMPARISONS
from scorereport.report.methods.decisions import DECISIONS
from scorereport.report.methods.groups import GROUPS
from scorereport.report.methods.intervals import INTERVALS
from scorereport.report.methods.scores import SKILL
from scorereport.report.methods.verdicts import VERDICTS

#: Everything that is no score, by the key under which the section asks for it.
CATALOGUE = SKILL | CALIBRATION | BANDS | DECISIONS | INTERVALS | COMPARISONS | GROUPS | VERDICTS
