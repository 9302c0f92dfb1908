"""Subgroups, recalibration and verdicts: the methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_count, format_counted, format_difference, join_words
from scorereport.report.methods.method_entries import (
    MethodEntry,
    distinct,
    inside_sentence,
    is_defined,
    join_methods,
    method_entry,
)
from scorereport.report.tables.table import score_label

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from scorereport.reference.certificate import Certificate
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation


def list_group_methods(evaluation: Evaluation, omitted: Collection[str] = ()) -> Iterator[MethodEntry]:
    """Groups, tests whether they differ, and recalibration."""
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
    if trials and "recalibration" not in omitted:
        yield method_entry(
            "recalibration",
            f"{trials[0].folds} folds, seed {trials[0].seed}: each case by a map fitted to the other folds, "
            "which are dealt without a look at outcomes; a row stays in one fold with its whole weight. "
            "D < 0: recalibration helps. Intervals and tests are of the mean of D on new cases for maps "
            "fitted to a sample of this size.",
            join_methods(trial.brier for trial in trials if is_defined(trial.brier)),
        )


def _state_group_rules(evaluation: Evaluation) -> Iterator[str]:
    groups = (*evaluation.groups, *evaluation.windows)
    smallest = evaluation.settings.smallest_group
    yield f"Groups of fewer than {format_counted(smallest, 'row')} are counted, not scored."
    left_out = sum(not group.models for group in groups)
    if left_out:
        yield f"Here that holds for {format_count(left_out)} of {format_count(len(groups))}."
    if evaluation.windows:
        window = evaluation.settings.window
        yield f"Periods: by {window}." if window else "Periods: the shortest that make no more than 24."


def list_scale_methods(report: Report) -> Iterator[MethodEntry]:
    """The probability scale, the intervals of retention, and the choice of a checkpoint."""
    omitted, evaluation = report.configuration.report.omit, report.evaluation
    has_draws = evaluation.settings.resamples > 0
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
    """How limits were judged, and who computed the numbers again."""
    if report.judgements:
        yield method_entry("limits")
    if report.certificate is not None and report.certificate.comparisons:
        yield _describe_certificate(report.certificate)


def _describe_certificate(certificate: Certificate) -> MethodEntry:
    tolerances = sorted(line.tolerance for line in certificate.comparisons if line.tolerance is not None)
    ends = distinct(format_difference(end) for end in (*tolerances[:1], *tolerances[-1:]))
    return method_entry(
        "certificate",
        "Another implementation computed scores, components, bins and bands again.",
        f"Tolerance {' to '.join(ends)}, line by line in the certificate." if ends else "",
        reference=certificate.reference or certificate.sentence,
    )
