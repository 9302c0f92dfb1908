"""Calibration and the bands of the reliability curve: the methods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, join_words
from scorereport.inference.few_values import FEW_VALUES, ONE_VALUE
from scorereport.report.methods.method_entries import (
    METHOD_CATALOGUE,
    MethodEntry,
    capitalize,
    distinct,
    is_defined,
    join_methods,
    method_entry,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.inference.estimates import HypothesisTest
    from scorereport.reliability.bands import Band
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelCalibration


def list_calibration_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """The isotonic fit, the decomposition, and all tests and measures of calibration."""
    models, is_binary = evaluation.models, evaluation.kind == "binary"
    of_kind = "ordinal" if evaluation.kind == "ordinal" else "class"
    yield method_entry("isotonic" if is_binary else f"{of_kind} views")
    yield method_entry("corp" if is_binary else f"{of_kind} sums")
    yield from _describe_overfit(evaluation)
    tests = [t for model in evaluation.results for t in model.scores.miscalibration_tests if is_defined(t)]
    if tests:
        drawn = distinct(test.method.partition(";")[0] for test in tests)
        key = "miscalibration test" if is_binary else "class miscalibration test"
        yield method_entry(key, *(f"{text}." for text in drawn), _state_hypothesis(tests[0]))
    known = [model.calibration for model in models if model.calibration is not None]
    if known:
        yield from _describe_line_and_errors(known)
        yield from _describe_tests([test for found in known for test in found.tests if is_defined(test)])
        yield from _describe_grades(known)


def _describe_overfit(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """How components were freed of overfit: in closed form and by drawing, or in closed form alone."""
    components = [part for model in evaluation.results for part in model.scores.components]
    if not components:
        return
    methods = [part.method.removesuffix(f"; {FEW_VALUES}") for part in components]
    if evaluation.settings.engine != "memory":
        buckets = distinct(method.partition("; ")[2] for method in methods)
        yield method_entry("closed overfit", *(capitalize(f"{text}.") for text in buckets if text))
    else:
        drawn = distinct(method.partition("resampled")[2].strip(" ()") for method in methods)
        yield method_entry(
            "overfit" if evaluation.kind == "binary" else "class overfit",
            *(f"O₂ by {text}." for text in drawn if text),
        )
    if any(part.method == ONE_VALUE or part.method.endswith(FEW_VALUES) for part in components):
        yield method_entry("few values")


def _describe_line_and_errors(known: Sequence[ModelCalibration]) -> Iterator[MethodEntry]:
    lines = [part for found in known for part in (found.line.slope, found.line.intercept_at_slope_one)]
    how = distinct(part.method.partition("; ")[2] for part in lines if is_defined(part))
    if how:
        yield method_entry("line", *(capitalize(f"{text}.") for text in how))
    errors = [found.errors for found in known if found.errors and not math.isnan(found.errors.ici)]
    if errors:
        how = distinct(error.method.partition(", at ")[0] for error in errors)
        yield method_entry("ici", *(capitalize(f"{text}.") for text in how))
    binned = known[0].binned
    shape = {"uniform": "equal width", "quantile": "about equal count"}[binned.strategy]
    yield method_entry("ece", f"Here {binned.bins} bins of {shape}.")
    if binned.corrected is not None:
        yield method_entry("corrected ece")
    if binned.interval is not None:
        drawn = binned.interval.method.partition(", ")[2]
        yield method_entry("distance interval", capitalize(f"{drawn}."))
    if any(found.flexible is not None and len(found.flexible.forecast) for found in known):
        yield method_entry("flexible")


def _describe_tests(tests: Sequence[HypothesisTest]) -> Iterator[MethodEntry]:
    for name in distinct(test.name for test in tests):
        same = [test for test in tests if test.name == name]
        yield method_entry(_catalogue_key(same[0]), _state_hypothesis(same[0]), join_methods(same))


def _catalogue_key(test: HypothesisTest) -> str:
    """Under which key the catalogue has a test, which clusters, fractional weights and engines may change."""
    if f"{test.name} in buckets" in METHOD_CATALOGUE and "buckets" in test.method:
        return f"{test.name} in buckets"
    if f"{test.name} in clusters" in METHOD_CATALOGUE and "cluster" in test.method:
        return f"{test.name} in clusters"
    if f"{test.name} in time" in METHOD_CATALOGUE and "errors in time" in test.method:
        return f"{test.name} in time"
    if f"{test.name} by Wald" in METHOD_CATALOGUE and test.method.startswith("Wald"):
        return f"{test.name} by Wald"
    return test.name


def _describe_grades(known: Sequence[ModelCalibration]) -> Iterator[MethodEntry]:
    grades = [grade for found in known for grade in found.grades]
    if grades:
        yield method_entry(
            "grades",
            f"Light by the Jeffreys test: red below {grades[0].red:g}, yellow below {grades[0].yellow:g}, "
            "else green.",
        )


def _state_hypothesis(test: HypothesisTest) -> str:
    return f"Null hypothesis: {test.null_hypothesis[0].lower()}{test.null_hypothesis[1:]}"


def list_band_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Each band once, with the names of its models where these have different ones."""
    drawn = [pair for pair in _list_bands(evaluation) if _is_shown(pair[1])]
    models = distinct(model for model, _ in drawn)
    for label in distinct(band.label for _, band in drawn):
        of = [(model, band) for model, band in drawn if band.label == label]
        whose = distinct(model for model, _ in of)
        yield _describe_band(of[0][1], "" if whose == models else f"Of {join_words(whose)}.")


def _list_bands(evaluation: Evaluation) -> Iterator[tuple[str, Band]]:
    """The bands of each binary model, or of the views of each model of K classes."""
    for model in evaluation.models:
        yield from ((model.model, band) for band in model.bands)
    for result in evaluation.class_models:
        views = [view for family in result.families for view in family.views]
        yield from ((result.model, band) for view in views for band in view.bands)


def _describe_band(band: Band, whose: str) -> MethodEntry:
    draws = "" if band.resamples is None else f"{band.resamples} draws, seed {band.seed}."
    entry = method_entry(f"{band.kind} {band.coverage} {band.method}", draws, whose)
    name = f"{capitalize(band.coverage)} {band.kind} band, {format_level(band.level)}"
    return {**entry, "name": f"{name} ({band.method})"}


def _is_shown(band: Band) -> bool:
    """Whether a report draws a band or judges by it; a pointwise confidence band is for the document."""
    return band.kind == "consistency" or band.coverage == "simultaneous"
