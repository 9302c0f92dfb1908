"""Reasons of a decision on calibration: what test, band and interval show, which decides, why they differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from math import isnan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    common_decimals,
    format_counted,
    format_interval,
    format_level,
    format_number,
    shortest,
)
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.curves.segments import choose_band
from scorereport.inference.estimates import HypothesisTest
from scorereport.report.miscalibration_patterns import (
    chance_of_leaving,
    describe_autocorrelation,
    describe_p_values,
    describe_shape,
    known_segments,
    list_segments,
    name_band,
    name_time_test,
)
from scorereport.report.view_calibration import adjust_views, explain_views
from scorereport.results.class_records import ClassModelResult
from scorereport.results.evaluation import Evaluation
from scorereport.results.model_records import ModelResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.inference.estimates import ComponentEstimate
    from scorereport.reliability.bands import Band


class DecidingTest(Enum):
    """The test that decides: that MCB is 0, that of slope and intercept, or one that allows for time."""

    MISCALIBRATION = "test that MCB is 0"
    LINE = "test of slope and intercept"
    IN_TIME = "test that allows for dependence in time"


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionCase:
    """A model, the test that decides on its calibration, and the verdict.

    `dependence` is the test that shows that residuals depend on each other in time; None if none does.
    """

    result: ModelResult | ClassModelResult
    evaluation: Evaluation
    alpha: float
    test: HypothesisTest | None
    kind: DecidingTest
    verdict: LimitVerdict
    dependence: HypothesisTest | None = None

    @property
    def is_shown(self) -> bool:
        """Whether miscalibration is shown."""
        return self.verdict is LimitVerdict.FAIL

    @property
    def is_decided(self) -> bool:
        """Whether a test decides that takes rows as independent, as bands and intervals do."""
        return self.dependence is None and self.test is not None and not isnan(self.test.p_value)

    @property
    def component(self) -> ComponentEstimate | None:
        """The miscalibration of the main score, if it has an interval."""
        known = self.result.scores.component(self.evaluation.main_score, "miscalibration")
        return None if known is None or isnan(known.lower) else known


def explain_decision(case: DecisionCase) -> tuple[str, ...]:
    """Return sentences on the test that decides, the bands and the interval, and why they may differ."""
    found = (*_explain_test(case), *_explain_bands(case), *_explain_views(case), *_explain_interval(case))
    return tuple(dict.fromkeys(found))  # kinds of views share some explanations


def _explain_test(case: DecisionCase) -> Iterator[str]:
    """State which test decides, its result, and why it is preferred."""
    if case.dependence is not None:
        yield (
            f"Residuals depend on each other in time ({describe_autocorrelation(case.dependence)}): the test "
            "that MCB is 0, the bands and the interval take rows as independent and are too confident."
        )
    if case.test is None:
        allows = " that allows for dependence in time" if case.dependence is not None else ""
        yield f"No test{allows} is available, so that nothing is decided."
        return
    if case.kind is DecidingTest.LINE:
        yield (
            "The test of slope and intercept decides, because the rows are not in memory; it does not see "
            f"deviations that leave both unchanged: {_describe_result(case, case.test)}."
        )
        return
    name = name_time_test(case.test) if case.kind is DecidingTest.IN_TIME else case.kind.value
    yield f"The {name} decides, because it pools all cases: {_describe_result(case, case.test)}."


def _describe_result(case: DecisionCase, test: HypothesisTest) -> str:
    """State a p-value and what follows from it."""
    models = len(case.evaluation.results)
    if isnan(test.p_value):
        note = test.note.removesuffix(".")
        return f"it is not defined{f' ({note})' if note else ''}"
    p_value = describe_p_values(test, models)
    if case.is_shown:
        return f"{p_value}, at most {shortest(case.alpha)}, shows miscalibration"
    if models * test.smallest_p_value > case.alpha:
        least = f"with {format_counted(test.draws or 0, 'draw')} no p-value can be as small as"
        return f"{p_value}, and {least} {shortest(case.alpha)}{' after adjustment' * (models > 1)}"
    return f"{p_value}, above {shortest(case.alpha)}, is no evidence of miscalibration"


def _explain_bands(case: DecisionCase) -> Iterator[str]:
    """State whether the simultaneous bands of a binary model are left, where, and why that may differ."""
    if not isinstance(case.result, ModelResult):
        return
    result, chosen = case.result, choose_band(case.result.bands)
    segments = known_segments(result)
    if chosen is not None:
        subject = "reliability curve" if chosen.kind == "consistency" else "diagonal"
        yield _describe_band(subject, chosen, result)
        difference = _explain_band_difference(case, chosen, is_left=bool(segments))
        yield from [difference] if difference else []
    for band in result.bands:
        if band.coverage == "simultaneous" and band is not chosen:
            yield from _explain_confidence(case, band, is_left=bool(segments))


def _describe_band(subject: str, band: Band, result: ModelResult) -> str:
    segments = known_segments(result)
    if not segments:
        return f"The {subject} stays inside the {name_band(band)}."
    shape = describe_shape(segments)
    where = list_segments([(segment, "events were") for segment in segments])
    together = f" Forecasts are {shape}." if shape else ""
    number = format_counted(len(segments), "range")
    return f"The {subject} leaves the {name_band(band)} in {number}: {where}.{together}"


def _explain_band_difference(case: DecisionCase, band: Band, *, is_left: bool) -> str:
    """Why a band and the test differ; empty if they agree, or if the test does not compare with the band."""
    if not case.is_decided or is_left is case.is_shown:
        return ""
    if not is_left:
        return (
            "Test and band differ because the band allows for chance at every forecast value at once: a "
            "deviation that is spread over many forecasts may show in the test alone."
        )
    if band.kind == "confidence":
        return (
            "Band and test differ because the band judges every forecast value, whereas the test sees only "
            "slope and intercept: the verdict is therefore inconclusive."
        )
    return (
        f"Band and test differ because the {format_level(band.level)} band judges every forecast value, "
        "whereas the test pools all cases; by chance, the curve of a calibrated model leaves it in up to "
        f"{chance_of_leaving(band)} of samples."
    )


def _explain_confidence(case: DecisionCase, band: Band, *, is_left: bool) -> Iterator[str]:
    """State whether a confidence band excludes the diagonal, beside a consistency band."""
    if not band.holds(band.x):
        yield f"The diagonal leaves the {name_band(band)}."
    elif is_left or case.is_shown:
        yield (
            f"The diagonal stays inside the {name_band(band)}, which is wider because it holds for every "
            "true curve; this is not evidence of calibration."
        )
    else:
        yield f"The diagonal stays inside the {name_band(band)}."


def _explain_views(case: DecisionCase) -> Iterator[str]:
    """State tests and bands of the views of a class model, and why they may differ from the whole."""
    if not isinstance(case.result, ClassModelResult):
        return
    found = []
    for family in case.result.families[::-1]:
        yield from explain_views(family, case.alpha)
        tested = adjust_views(family)
        found += [] if tested is None else tested.shown(case.alpha)
    if found and not case.is_shown:
        yield (
            "Single views and the whole differ because each view is tested alone, adjusted for the views of "
            "its kind, whereas the test that decides pools all classes."
        )
    elif case.is_shown and not found:
        yield (
            "The whole and its views differ because each view is tested alone and adjusted for their number: "
            "a deviation that is spread over several views may show in the whole alone."
        )


def _explain_interval(case: DecisionCase) -> Iterator[str]:
    """State the interval of the corrected MCB, and why it may differ from the test."""
    known = case.component
    if known is None:
        return
    decimals = common_decimals([known.value])
    interval = format_interval(known.lower, known.upper, decimals)
    excludes = known.lower > 0
    yield (
        f"Corrected MCB is {format_number(known.corrected, decimals)}, {format_level(known.level)} interval "
        f"{interval}, which {'excludes 0' if excludes else 'begins at 0'}{_explain_difference(case, known)}."
    )


def _explain_difference(case: DecisionCase, known: ComponentEstimate) -> str:
    """Why the interval and the test differ; empty if they agree or cannot be compared."""
    excludes = known.lower > 0
    if not case.is_decided or excludes is case.is_shown:
        return ""
    if not excludes:
        one_sided = format_level(round((1 - known.level) / 2, 12))
        return (
            " although the test rejects: the interval subtracts the larger of two estimates of the overfit, "
            f"and begins above 0 only if calibration is rejected at {one_sided} as well"
        )
    if case.test is not None and case.test.p_value_holm is not None:
        return (
            " although the test does not reject: the interval is for this model alone, whereas the p-value "
            "that decides is adjusted for the number of models"
        )
    return f" although the test does not reject at {format_level(case.alpha)}: their levels or methods differ"
