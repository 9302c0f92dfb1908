"""Tests and measures of calibration as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.formatting import (
    NOT_DEFINED,
    format_count,
    format_number,
    format_p_value,
    format_percent,
    join_words,
)
from scorereport.inference.calibration_in_time import INDEPENDENT
from scorereport.inference.time_errors import AUTOCORRELATION
from scorereport.tables.table import Table, interval_text, section_size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from scorereport.inference.grades import GradeTest
    from scorereport.results import ModelCalibration, ModelResult


def calibration_tables(
    models: Sequence[ModelResult], level: str, *, has_smooth: bool = True
) -> Iterator[Table]:
    """The calibration line, errors and tests of each model, and its rating grades if there are any."""
    known = [(m.model, m.calibration) for m in models if m.calibration is not None]
    if known:
        yield line_table(known, level, has_smooth=has_smooth)
        yield calibration_test_table(known)
        yield from grade_tables(known)


def line_table(
    known: Sequence[tuple[str, ModelCalibration]], level: str, *, has_smooth: bool = True
) -> Table:
    """Slope and intercepts of the calibration line, and the mean distance to a smooth curve and in bins.

    Smooth curves need the rows in memory; without them there is no column for their errors.
    """
    lines = []
    for model, calibration in known:
        line = calibration.line
        estimates = (line.slope, line.intercept, line.intercept_at_slope_one)
        texts = [text for e in estimates for text in (format_number(e.value, 3), interval_text(e, 3))]
        ici = NOT_DEFINED if calibration.errors is None else format_number(calibration.errors.ici, 4)
        smooth = (ici,) if has_smooth else ()
        lines.append((model, *texts, *smooth, format_number(calibration.binned.value, 4)))
    heads = ("slope", "interval", "intercept", "interval", "at slope 1", "interval")
    return Table(
        caption=f"Calibration line (slope 1 and intercept 0 are ideal), with {level} intervals; mean "
        f"distance {'to a smooth curve (ICI) and ' * has_smooth}in 10 bins (ECE, which depends on the bins)",
        heads=("model", *heads, *(["ICI"] if has_smooth else []), "ECE"),
        rows=tuple(lines),
    )


def calibration_test_table(known: Sequence[tuple[str, ModelCalibration]]) -> Table:
    """All tests of calibration of all models."""
    tests = [
        (test.name, model, format_number(test.statistic, 2), format_p_value(test.p_value))
        for of_test in zip(*(c.tests for _, c in known), strict=True)
        for (model, _), test in zip(known, of_test, strict=True)
    ]
    return Table(
        caption=f"Tests of calibration; a small p speaks against it{_tell_time(known)}",
        heads=("test", "model", "statistic", "p"),
        rows=tuple(tests),
        n_labels=2,
        section=section_size(known),
    )


def _tell_time(known: Sequence[tuple[str, ModelCalibration]]) -> str:
    """Which tests allow for dependence in time; nothing without times."""
    tests = known[0][1].tests
    if not any(test.name == AUTOCORRELATION for test in tests):
        return ""
    others = [test.name for test in tests if test.note.endswith(INDEPENDENT)]
    told = f". Tests allow for dependence in time, but for {join_words(others)}" if others else ""
    return f"{told}; that of autocorrelation asks whether rows depend in time"


def grade_tables(known: Sequence[tuple[str, ModelCalibration]]) -> Iterator[Table]:
    """A table for each model whose rating grades were tested."""
    for model, calibration in known:
        if calibration.grades:
            yield _grade_table(model, calibration.grades)


def _grade_table(model: str, grades: Iterable[GradeTest]) -> Table:
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
        for g in grades
    ]
    return Table(
        caption=f"{model} by grade: is the forecast too low? (one-sided)",
        heads=("grade", "n", "d", "forecast", "observed", "Jeffreys p", "binomial p", "light"),
        rows=tuple(rows),
    )
