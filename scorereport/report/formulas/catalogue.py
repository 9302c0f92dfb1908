"""All methods of models of an event whose rows are in memory."""

from __future__ import annotations

from scorereport.report.formulas.bands import BANDS
from scorereport.report.formulas.calibration import CALIBRATION
from scorereport.report.formulas.comparisons import COMPARISONS
from scorereport.report.formulas.decisions import DECISIONS
from scorereport.report.formulas.groups import GROUPS
from scorereport.report.formulas.intervals import INTERVALS
from scorereport.report.formulas.scores import SKILL
from scorereport.report.formulas.verdicts import VERDICTS

#: Everything that is no score, by the key under which the section asks for it.
CATALOGUE = SKILL | CALIBRATION | BANDS | DECISIONS | INTERVALS | COMPARISONS | GROUPS | VERDICTS
