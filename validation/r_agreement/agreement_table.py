"""All lines of the agreement with R packages."""

from __future__ import annotations

from validation.r_agreement.agreement import Agreement, NotComputed
from validation.r_agreement.calibration_agreements import CALIBRATION_AGREEMENTS
from validation.r_agreement.cluster_agreements import CLUSTER_AGREEMENTS
from validation.r_agreement.other_agreements import OTHER_AGREEMENTS
from validation.r_agreement.score_agreements import SCORE_AGREEMENTS
from validation.r_agreement.sequence_agreements import SEQUENCE_AGREEMENTS

LINES = (
    *CALIBRATION_AGREEMENTS,
    *SCORE_AGREEMENTS,
    *CLUSTER_AGREEMENTS,
    *OTHER_AGREEMENTS,
    *SEQUENCE_AGREEMENTS,
)
AGREEMENTS = tuple(line for line in LINES if isinstance(line, Agreement))
NOT_COMPUTED = tuple(line for line in LINES if isinstance(line, NotComputed))

#: The recorded packages and their versions, under R 4.2.2.
VERSIONS = {
    "calibrationband": "0.2.1",
    "clubSandwich": "0.5.8",
    "cumulcalib": "0.2.0",
    "dcurves": "0.5.1",
    "givitiR": "1.3",
    "irr": "0.85",
    "pmvalsampsize": "0.1.0",
    "pROC": "1.19.1",
    "PropCIs": "0.3.0",
    "psych": "2.2.9",
    "ResourceSelection": "0.3.6",
    "rms": "6.5.0",
    "sandwich": "3.0.2",
    "scoringRules": "1.1.3",
    "seqcomp": "0.3.0",
    "survey": "4.1.1",
    "triptych": "0.1.3",
    "verification": "1.45",
    "WeightedROC": "2026.8.27",
}
