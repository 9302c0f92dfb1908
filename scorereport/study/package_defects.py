"""The engine against R on seeded cases of every shape, and the known defects of the R package.

The defects do not affect certificates: they are in calls that `certify` never makes. Each is compared with
the number of the engine, which is checked against arithmetic by hand; a defect that has been fixed agrees.
"""

from __future__ import annotations

from math import inf, log
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.inference.component_tests import miscalibration_test
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.r_session import ReferenceFailure
from scorereport.reliability.fit import corp
from scorereport.study.defect_demonstrations import Demonstration, run_demonstration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray
    from scorereport.reference.live_references import Reference
    from scorereport.reliability.decomposition import Decomposition


_X, _Y, _VALUES = [0.12, 0.13, 0.14, 0.9], [0.0, 1.0, 0.0, 1.0], [0.1, 0.9]
_LEVEL = 0.9999
_SUBJECT = "Known defects of reliabilitydiag"
_ANSWERS = ("snapped", "wrong_log", "p_value", "end_of_table")
SNAPPING = (
    "Forecasts are moved to `xvalues` only after sorting, so that equal ones are not pooled: four rows "
    "moved to 0.1 and 0.9."
)
LOG = 'summary(score = "log") uses the function log of base R as a score.'
RESTRICTED = "R offers region.method = restricted_resampling, which fails; the engine does not have it."
P_VALUE = "The p-value is a share of 100 draws and can be 0; the engine counts the sample itself among them."
END = f"The table of Chernoff's quantiles ends; a continuous band of level {_LEVEL} has no bounds."


def show_defects(reference: Reference) -> Iterator[Comparison]:
    """Compare every known defect outside of certificates; each is an expected deviation until it is fixed."""
    try:
        answers = reference.fetch("defects", x=_X, y=_Y, values=_VALUES)
        shown = _demonstrations({name: answers[name] for name in _ANSWERS})
        works = answers["restricted"] == ["works"]
    except (ReferenceFailure, KeyError) as error:
        yield _line("all of them", Verdict.FAILED, f"R could not be asked: {error}")
        return
    yield from (run_demonstration(defect, _SUBJECT) for defect in shown)
    yield _line("restricted resampling", Verdict.AGREES if works else Verdict.EXPECTED, RESTRICTED)


def _line(quantity: str, verdict: Verdict, reason: str) -> Comparison:
    return Comparison(subject=_SUBJECT, quantity=quantity, verdict=verdict, reason=reason)


def _demonstrations(answers: dict[str, Any]) -> tuple[Demonstration, ...]:
    """Demonstrations with arithmetic by hand; R's wrong numbers are those of version 0.2.1.9000."""
    return (
        Demonstration(
            quantity="MCB of forecasts moved to other values",
            ours=lambda: _pooled().miscalibration,
            theirs=lambda: answers["snapped"][0],
            right=13 / 300,
            wrong=0.085,
            reason=SNAPPING,
        ),
        Demonstration(
            quantity="DSC of forecasts moved to other values",
            ours=lambda: _pooled().discrimination,
            theirs=lambda: answers["snapped"][1],
            right=1 / 12,
            wrong=0.125,
            reason=SNAPPING,
        ),
        Demonstration(
            quantity="mean log score by its name",
            ours=lambda: corp(_Y, _X).decompose("log").score,
            theirs=lambda: answers["wrong_log"][0],
            right=-log(0.88 * 0.13 * 0.86 * 0.9) / 4,
            wrong=inf,
            reason=LOG,
        ),
        Demonstration(
            quantity="p-value of a reversed forecast",
            ours=_p_value,
            theirs=lambda: answers["p_value"][0],
            right=0.01,
            wrong=0.0,
            reason=P_VALUE,
        ),
        Demonstration(
            quantity=f"bounds of a band of level {_LEVEL}",
            ours=lambda: _count(corp(_Y, _X).band(level=_LEVEL, method="continuous").lower),
            theirs=lambda: _count(answers["end_of_table"]),
            right=101.0,
            wrong=0.0,
            reason=END,
        ),
    )


def _pooled() -> Decomposition:
    return corp(_Y, [0.1, 0.1, 0.1, 0.9]).decompose("brier")


def _count(bounds: FloatArray) -> int:
    return int(np.isfinite(bounds).sum())


def _p_value() -> float:
    """The p-value of outcomes opposite to the forecast; none of 99 draws is as extreme."""
    fit = corp([1.0, 0.0] * 50, [0.1, 0.9] * 50)
    return miscalibration_test(fit, resamples=99).p_value
