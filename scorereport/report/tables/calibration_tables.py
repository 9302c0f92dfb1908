"""Tables of calibration: line, calibration errors, tests and rating grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    NOT_DEFINED,
    format_count,
    format_counted,
    format_number,
    format_p_value,
    format_percent,
    join_words,
)
from scorereport.inference.calibration_in_time import INDEPENDENT
from scorereport.inference.grades import pool_grades
from scorereport.inference.time_errors import AUTOCORRELATION
from scorereport.report.tables.table import Table, interval_text, section_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.inference.estimates import HypothesisTest
    from scorereport.inference.grades import GradeTest
    from scorereport.results.model_records import ModelCalibration


def line_table(known: Sequence[tuple[str, ModelCalibration]], level: str) -> Table:
    """Table of slope and intercepts of the calibration line."""
    lines = []
    for model, calibration in known:
        line = calibration.line
        estimates = (line.slope, line.intercept, line.intercept_at_slope_one)
        texts = [text for e in estimates for text in (format_number(e.value, 3), interval_text(e, 3))]
        lines.append((model, *texts))
    heads = ("slope", "interval", "intercept", "interval", "at slope 1", "interval")
    return Table(
        caption=f"Calibration line (slope 1 and intercept 0 are ideal), with {level} intervals",
        heads=("model", *heads),
        rows=tuple(lines),
    )


#: Distances to a smooth curve, with their column heads.
_SMOOTH = {"ici": "ICI", "e50": "E50", "e90": "E90", "emax": "Emax"}


def distance_table(
    known: Sequence[tuple[str, ModelCalibration]], level: str, *, has_smooth: bool = True
) -> Table:
    """Table of distances between forecasts and observed frequencies: to a smooth curve, and in bins.

    Smooth curves require rows in memory; without these, their columns are left out.
    """
    smooth = _SMOOTH if has_smooth else {}
    found = [calibration.binned for _, calibration in known]
    is_bounded = any(binned.interval is not None for binned in found)
    is_corrected = any(binned.corrected is not None for binned in found)
    return Table(
        caption=_describe_distances(level, has_smooth=has_smooth, bounded=is_bounded, corrected=is_corrected),
        heads=(
            *("model", *(head for name in smooth.values() for head in (name, "interval")), "ECE"),
            *(("interval",) if is_bounded else ()),
            *(("ECE corrected",) if is_corrected else ()),
        ),
        rows=tuple(
            (
                model,
                *_distances(calibration, smooth),
                format_number(calibration.binned.value, 4),
                *((interval_text(calibration.binned.interval, 4),) if is_bounded else ()),
                *((_corrected(calibration),) if is_corrected else ()),
            )
            for model, calibration in known
        ),
    )


def _describe_distances(level: str, *, has_smooth: bool, bounded: bool, corrected: bool) -> str:
    of_curve = (
        "by the lowess curve with local lines of degree 1 (mean ICI, median E50, 90 % quantile E90, maximum "
        "Emax), and "
    )
    noise = "; noise makes it too large, which the last column corrects"
    intervals = (
        f", with {level} intervals, which contain 0 unless there is evidence against 0; lower is better"
    )
    return (
        f"Distance between forecasts and observed frequencies {of_curve * has_smooth}in 10 bins (ECE, which "
        f"depends on the bins{noise * corrected}){intervals if bounded else '; lower is better'}"
    )


def _distances(found: ModelCalibration, smooth: Iterable[str]) -> Iterator[str]:
    intervals = {} if found.errors is None else {e.measure: e for e in found.errors.intervals}
    for name in smooth:
        yield NOT_DEFINED if found.errors is None else format_number(getattr(found.errors, name), 4)
        yield interval_text(intervals.get(name), 4)


def _corrected(found: ModelCalibration) -> str:
    corrected = found.binned.corrected
    return NOT_DEFINED if corrected is None else format_number(corrected, 4)


def calibration_test_table(known: Sequence[tuple[str, ModelCalibration]]) -> Table:
    """Table of all tests of calibration; with several models, also with adjusted p-values."""
    is_adjusted = len(known) > 1
    tests = [
        (test.name, model, format_number(test.statistic, 2), *_p_values(test, is_adjusted=is_adjusted))
        for of_test in zip(*(c.tests for _, c in known), strict=True)
        for (model, _), test in zip(known, of_test, strict=True)
    ]
    adjusted = f" (Holm's p: adjusted for the {len(known)} models)" if is_adjusted else ""
    return Table(
        caption="Tests of calibration; a small p is evidence against "
        f"it{adjusted}{_describe_time_tests(known)}",
        heads=("test", "model", "statistic", "p", *(["Holm's p"] if is_adjusted else [])),
        rows=tuple(tests),
        n_labels=2,
        section=section_size(known),
    )


def _p_values(test: HypothesisTest, *, is_adjusted: bool) -> tuple[str, ...]:
    alone = format_p_value(test.p_value)
    if not is_adjusted:
        return (alone,)
    return alone, NOT_DEFINED if test.p_value_holm is None else format_p_value(test.p_value_holm)


def _describe_time_tests(known: Sequence[tuple[str, ModelCalibration]]) -> str:
    """State which tests allow for dependence in time; empty without times."""
    tests = known[0][1].tests
    if not any(test.name == AUTOCORRELATION for test in tests):
        return ""
    others = [test.name for test in tests if test.note.endswith(INDEPENDENT)]
    others_text = f". Tests allow for dependence in time, except {join_words(others)}" if others else ""
    return f"{others_text}; the test of autocorrelation is one of dependence in time"


def grade_tables(known: Sequence[tuple[str, ModelCalibration]]) -> Iterator[Table]:
    """Yield a table for each model whose rating grades were tested."""
    for model, calibration in known:
        if calibration.grades:
            yield _grade_table(model, calibration.grades)


def _count_lights(grades: Sequence[GradeTest]) -> str:
    """Count the grades with each light, the worst first."""
    counts = [(light, sum(g.light == light for g in grades)) for light in ("red", "yellow", "green")]
    listed = join_words(f"{format_count(n)} {light}" for light, n in counts if n)
    return f"Of {format_counted(len(grades), 'grade')}: {listed}"


def _grade_table(model: str, grades: Sequence[GradeTest]) -> Table:
    total = pool_grades(grades)
    rows = [
        (
            g.grade,
            format_count(g.n),
            format_count(g.d),
            format_percent(g.probability),
            format_percent(g.event_rate),
            format_p_value(g.jeffreys_p_value),
            format_p_value(g.binomial_p_value),
            g.light,
        )
        for g in (*grades, *([total] if len(grades) > 1 else []))
    ]
    return Table(
        caption=f"{model} by grade: one-sided tests whether the forecast is too low. "
        f"{_count_lights(grades)}{'; last, all cases at their mean forecast' if len(grades) > 1 else ''}",
        heads=("grade", "n", "d", "forecast", "observed", "Jeffreys p", "binomial p", "light"),
        rows=tuple(rows),
    )
