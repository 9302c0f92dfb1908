"""Methods of measures: scores, decisions, calibration, bands, groups, recalibration and verdicts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    format_count,
    format_counted,
    format_difference,
    format_level,
    format_plain,
    join_words,
)
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
from scorereport.report.tables.table import score_label
from scorereport.scores.registry import Reported, get_score, inside_sentence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from scorereport.inference.decision_differences import DecisionDifference
    from scorereport.inference.estimates import HypothesisTest
    from scorereport.reference.reference_documents import Certificate
    from scorereport.reliability.bands import Band
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.model_records import ModelCalibration


def list_calibration_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield the isotonic fit, the decomposition, and all tests and measures of calibration."""
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
    """Yield how components were corrected for overfit: in closed form and by draws, or only the former."""
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
    """Return the catalogue key of a test, which depends on clusters, weights, times and engine."""
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
            f"Traffic light by the p-value of the Jeffreys test: red below {format_plain(grades[0].red)}, "
            f"yellow below {format_plain(grades[0].yellow)}, else green.",
        )


def _state_hypothesis(test: HypothesisTest) -> str:
    return f"Null hypothesis: {test.null_hypothesis[0].lower()}{test.null_hypothesis[1:]}"


def list_band_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield each band once, with the names of its models where bands differ between models."""
    drawn = [pair for pair in _list_bands(evaluation) if _is_shown(pair[1])]
    models = distinct(model for model, _ in drawn)
    for label in distinct(band.label for _, band in drawn):
        of = [(model, band) for model, band in drawn if band.label == label]
        whose = distinct(model for model, _ in of)
        yield _describe_band(of[0][1], "" if whose == models else f"For {join_words(whose)}.")


def _list_bands(evaluation: Evaluation) -> Iterator[tuple[str, Band]]:
    """Yield the bands of each binary model, or of the views of each class model."""
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
    """Whether a report shows or uses a band; pointwise confidence bands are only in the results document."""
    return band.kind == "consistency" or band.coverage == "simultaneous"


def list_score_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield each score with its properties, and the skill."""
    for score in evaluation.results[0].scores.scores:
        yield describe_score(score.name, evaluation.settings.cost_interval)
    if evaluation.kind == "binary":
        yield method_entry("skill")
        return
    of_kappa = "Kappa is already a skill." if evaluation.kind == "ordinal" else ""
    yield method_entry("class skill", of_kappa, _state_costs(evaluation))


def _state_costs(evaluation: Evaluation) -> str:
    """State the costs of the expected cost."""
    if evaluation.settings.cost_matrix is not None:
        return "Costs are those of the cost matrix set for this evaluation."
    if evaluation.kind == "ordinal":
        return "Costs are ((i − j) / (K − 1))², the default."
    return "Costs are 1 for every wrong decision, the default."


def describe_score(name: str, costs: tuple[float, float] | None = None) -> MethodEntry:
    """Return a score as a method, with its properties and the ends of the cost interval."""
    score = get_score(name)
    bounds = ""
    if costs is not None and score.reported is Reported.WITH_COSTS:
        bounds = f" Here a = {format_plain(costs[0])} and b = {format_plain(costs[1])}."
    traits = f"{score.direction}; {score.propriety}; range {_with_minus_signs(score.range)}."
    return {
        "key": "",
        "name": score.label,
        "formula": score.formula,
        "convention": f"{score.convention}{bounds} {capitalize(traits)}",
        "reference": "; ".join(score.references),
    }


def _with_minus_signs(text: str) -> str:
    return text.replace("-", "−")


def list_decision_methods(evaluation: Evaluation, omitted: Collection[str] = ()) -> Iterator[MethodEntry]:
    """Yield curves and measures of discrimination and decisions, for sections that are not omitted."""
    if evaluation.kind != "binary":
        if "retention" not in omitted and any(m.retention for m in evaluation.class_models):
            yield method_entry("retention")
        return
    if evaluation.data.sample.prevalence not in (0.0, 1.0) and "discrimination" not in omitted:
        yield method_entry("roc")
    if "decomposition" not in omitted:
        yield method_entry("murphy")
    if "decision" not in omitted:
        yield from _list_threshold_methods(evaluation)


def _list_threshold_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield measures of decisions at thresholds, their intervals, and their comparison."""
    yield from (method_entry(key) for key in ("regret", "net benefit", "interventions avoided"))
    if evaluation.models[0].thresholds:
        yield method_entry("thresholds")
    if any(m.curves.decision.band is not None for m in evaluation.models):
        yield method_entry("decision intervals", *_describe_limits(evaluation))
    if compared := evaluation.comparisons.decisions:
        yield method_entry("decision differences", *_describe_draws(compared))


def _describe_draws(compared: Sequence[DecisionDifference]) -> Iterator[str]:
    """State how the bands of differences were drawn here, or why there are none."""
    fewest = min(d.resamples for d in compared)
    yield from distinct(
        d.note
        or f"{capitalize(d.method)}, {format_count(fewest)} or more draws, seed {d.seed}, level "
        f"{format_level(d.level)}."
        for d in compared
    )


def _describe_limits(evaluation: Evaluation) -> Iterator[str]:
    """State how limits of shares were computed here, or why there are none."""
    bands = [m.curves.decision.band for m in evaluation.models if m.curves.decision.band is not None]
    yield from distinct(f"Here: {band.note or band.method.partition(': ')[2]}." for band in bands)


def list_group_methods(evaluation: Evaluation, omitted: Collection[str] = ()) -> Iterator[MethodEntry]:
    """Yield groups, tests whether they differ, and recalibration."""
    if (evaluation.groups and "groups" not in omitted) or (evaluation.windows and "time" not in omitted):
        yield method_entry("groups", *_state_group_rules(evaluation))
    tests = [] if "groups" in omitted else [h.test for h in evaluation.heterogeneity if is_defined(h.test)]
    compared = [test for test in tests if test.name.startswith("Cochran")]
    if compared:
        scores = distinct(test.name.partition("(")[2].strip(")") for test in compared)
        yield method_entry(
            "Cochran's Q", f"For {join_words(inside_sentence(score_label(score)) for score in scores)}."
        )
    lines = [test for test in tests if test.name.startswith("Calibration")]
    if lines:
        by_wald = lines[0].method.startswith("Wald")
        yield method_entry(f"Calibration by group{' by Wald' if by_wald else ''}", join_methods(lines))
    trials = [trial for model in evaluation.models for trial in model.recalibration]
    known = [parts for model in evaluation.models for parts in model.miscalibration_parts]
    if known and "recalibration" not in omitted:
        tests = [parts.local_test for parts in known if is_defined(parts.local_test)]
        yield method_entry("miscalibration parts", join_methods(tests))
    if trials and "recalibration" not in omitted:
        yield method_entry(
            "recalibration",
            f"{trials[0].folds} folds, seed {trials[0].seed}: each case is recalibrated by a map fitted to "
            "the other folds; folds are assigned independently of outcomes, and a row stays in one fold "
            "with its whole weight. D < 0: recalibration helps. Intervals and tests are for the mean of D "
            "on new cases with maps fitted to a sample of this size.",
            join_methods(trial.brier for trial in trials if is_defined(trial.brier)),
        )


def _state_group_rules(evaluation: Evaluation) -> Iterator[str]:
    groups = (*evaluation.groups, *evaluation.windows)
    smallest = evaluation.settings.smallest_group
    yield f"Groups of fewer than {format_counted(smallest, 'row')} are counted, not scored."
    left_out = sum(not group.models for group in groups)
    if left_out:
        yield f"Here these are {format_count(left_out)} of {format_count(len(groups))} groups."
    if evaluation.windows:
        window = evaluation.settings.window
        yield f"Periods: by {window}." if window else "Periods: the shortest that give at most 24."


def list_scale_methods(report: Report) -> Iterator[MethodEntry]:
    """Yield the probability scale, the intervals of retention, and the choice of a checkpoint."""
    omitted, evaluation = report.configuration.report.omit, report.evaluation
    has_draws = evaluation.settings.infers
    if has_draws and "retention" not in omitted and any(m.retention for m in evaluation.class_models):
        yield method_entry("retention interval")
    if "scale" not in omitted and any(result.scale for result in evaluation.results):
        yield method_entry("scale")
        if has_draws:
            yield method_entry("scale interval")
            yield method_entry("source interval")
        yield method_entry("angle")
    if report.selection is not None and "checkpoints" not in omitted:
        yield method_entry("checkpoints")


def list_verdict_methods(report: Report) -> Iterator[MethodEntry]:
    """Yield how limits were judged, KS, PSI and missing outcomes if they are used, and the certificate."""
    if report.judgements:
        yield method_entry("limits")
    if any(judgement.needed is not None for judgement in report.judgements):
        yield method_entry("needed")
    if any(judgement.measure == "ks" for judgement in report.judgements):
        yield method_entry("ks")
    missing = report.evaluation.missing_outcomes
    if missing is not None:
        left_out = "" if missing.has_miscalibration else "Here the rows were read in batches, without MCB."
        yield method_entry("missing classes" if missing.class_models else "missing outcomes", left_out)
    yield from _list_reference_methods(report.evaluation)
    if report.certificate is not None and report.certificate.comparisons:
        yield _describe_certificate(report.certificate)


def _list_reference_methods(evaluation: Evaluation) -> Iterator[MethodEntry]:
    """Yield the stability index and, with the comparison, its tests and the changes of outcomes."""
    if evaluation.stability:
        yield method_entry("psi")
    if evaluation.reference is not None:
        yield method_entry("shift tests")
        if evaluation.reference.has_outcomes:
            yield method_entry("change")
            yield method_entry("rate change")


def _describe_certificate(certificate: Certificate) -> MethodEntry:
    tolerances = sorted(line.tolerance for line in certificate.comparisons if line.tolerance is not None)
    ends = distinct(format_difference(end) for end in (*tolerances[:1], *tolerances[-1:]))
    return method_entry(
        "certificate",
        f"Tolerance {' to '.join(ends)}, given for each line in the certificate." if ends else "",
        reference=certificate.reference or certificate.current_sentence,
    )
