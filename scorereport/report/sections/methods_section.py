"""Methods: only what was used, each with formula, convention and reference; and the precision reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted, format_level
from scorereport.report.methods.class_formulas import CLASS_SYMBOLS, ORDINAL_SYMBOLS, SYMBOLS_OF_BUCKETS
from scorereport.report.methods.inference_methods import (
    list_comparison_methods,
    list_engine_methods,
    list_interval_methods,
    state_engine_conventions,
    state_engine_levels,
)
from scorereport.report.methods.measure_methods import (
    list_band_methods,
    list_calibration_methods,
    list_decision_methods,
    list_group_methods,
    list_scale_methods,
    list_score_methods,
    list_verdict_methods,
)
from scorereport.report.methods.notation import (
    SNELL_2021,
    SYMBOLS,
    SYMBOLS_OF_INFERENCE,
    VERGOUWE_2005,
    bind_operators,
    cite,
    list_works,
)
from scorereport.report.methods.sample_precision import describe_size, precision_table
from scorereport.report.section_parts import SectionContent, collect_parts, label_facts, table_part

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.report.methods.method_entries import MethodEntry
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation


def describe_methods_section(report: Report) -> SectionContent:
    """The methods of this report, and whether the sample was large enough for them."""
    evaluation = report.evaluation
    families = describe_families(report)
    return SectionContent(
        name="methods",
        title="Methods",
        parts=collect_parts(precision=table_part(precision_table(evaluation))),
        content={
            "symbols": label_facts(_choose_symbols(evaluation)),
            "conventions": list(_state_conventions(evaluation)),
            "families": [_set_type(family) for family in families],
            "sizes": describe_size(evaluation),
            "references": _list_references(families),
        },
    )


def _choose_symbols(evaluation: Evaluation) -> dict[str, str]:
    """Symbols that some formula of the report has."""
    symbols = {"binary": SYMBOLS, "multiclass": CLASS_SYMBOLS, "ordinal": CLASS_SYMBOLS | ORDINAL_SYMBOLS}
    known = SYMBOLS_OF_INFERENCE if evaluation.settings.engine == "memory" else SYMBOLS_OF_BUCKETS
    return {**symbols[evaluation.kind], **(known if evaluation.settings.resamples > 0 else {})}


def describe_families(report: Report) -> list[dict[str, Any]]:
    """All methods that were used, in families with a title; families without any are left out."""
    evaluation, omitted = report.evaluation, report.configuration.report.omit
    families: dict[str, Iterable[MethodEntry]] = {
        "How the rows were read": list_engine_methods(evaluation),
        "Scores": list_score_methods(evaluation),
        "Calibration": list_calibration_methods(evaluation),
        "Bands of the reliability curve": list_band_methods(evaluation),
        "Discrimination and decisions": list_decision_methods(evaluation, omitted),
        "Intervals": list_interval_methods(evaluation),
        "Comparisons": list_comparison_methods(evaluation),
        _name_groups(evaluation): list_group_methods(evaluation, omitted),
        "Probability scale and choice": list_scale_methods(report),
        "Verdicts": list_verdict_methods(report),
    }
    listed = [{"title": title, "methods": list(entries)} for title, entries in families.items()]
    return [family for family in listed if family["methods"]]


def _name_groups(evaluation: Evaluation) -> str:
    """The title of a family; rows that are not in memory cannot be recalibrated on trial."""
    return "Subgroups and recalibration" if evaluation.settings.engine == "memory" else "Subgroups"


def _set_type(family: dict[str, Any]) -> dict[str, Any]:
    """The family as it is printed: authors and years, which the list of references completes."""
    methods = [
        {**method, "formula": bind_operators(method["formula"]), "reference": cite(method["reference"])}
        for method in family["methods"]
    ]
    return {**family, "methods": methods}


def _list_references(families: Iterable[dict[str, Any]]) -> list[str]:
    """All works that are cited."""
    cited = [method["reference"] for family in families for method in family["methods"]]
    return list_works([*cited, VERGOUWE_2005, SNELL_2021])


def _state_conventions(evaluation: Evaluation) -> Iterator[str]:
    """What was decided once for all methods."""
    settings, data = evaluation.settings, evaluation.data
    yield "Lower scores are better unless ↑ or a text says otherwise. Logarithms are natural."
    yield (
        "A score is proper if no forecast does better on average than the true probability, and strictly "
        "proper if every other forecast does worse."
    )
    if evaluation.kind == "binary":
        yield "A decision is positive if and only if p ≥ threshold."
    else:
        yield "The decision is the likeliest class; of those that tie, the first in the stated order."
    yield "What is 0/0 is not defined (n/d), never 0; what is infinite stays ∞."
    if settings.resamples > 0:
        yield _state_levels(evaluation)
    if data.weighted:
        yield _state_weights(data.weight_kind)
    yield from _state_dependence(evaluation)


def _state_weights(kind: str) -> str:
    """What weights are, and what follows for errors, tests and bands."""
    mean = "Means and sums are weighted: mean S = Σ w S / Σ w."
    if kind == "frequency":
        return f"{mean} Weights are frequencies: a row counts as often as its weight says."
    if kind == "sampling":
        return (
            f"{mean} Weights are sampling weights: each row was drawn once and stands for others. Standard "
            "errors, tests and bands are design-based: they allow for weights that vary, and for weights "
            "that depend on the outcome, as where events were sampled more often than non-events."
        )
    return f"{mean} Whole weights count as repeated rows; a row with a fractional weight was drawn once."


def _state_levels(evaluation: Evaluation) -> str:
    """The levels of intervals and bands and, if anything was drawn, where draws start."""
    settings = evaluation.settings
    if settings.engine != "memory":
        return state_engine_levels(evaluation)
    return (
        f"Intervals have the level {format_level(settings.level)}, bands "
        f"{format_level(settings.band_level)}. Random draws start at seed {settings.seed}, each with a "
        "stream of its own, so that they can be repeated."
    )


def _state_dependence(evaluation: Evaluation) -> Iterator[str]:
    """What rows that depend on each other change, and how errors are made without draws."""
    if evaluation.settings.engine != "memory":
        yield from state_engine_conventions(evaluation)
        return
    if evaluation.data.clusters is not None:
        yield (
            f"Rows depend on each other within {format_counted(evaluation.data.clusters, 'cluster')}, which are "
            "drawn whole; standard errors are those of sums over clusters, and z is a quantile of t with one "
            "degree of freedom less than there are clusters, but for AUC and calibration line."
        )
    if any("errors in time" in d.method for d in evaluation.comparisons.differences):
        yield (
            "Differences between models, the calibration line and its tests have standard errors for rows "
            "that depend in time, from the slowest cosines over the times; their z is a quantile of t with "
            "as many degrees of freedom as cosines. Other intervals and tests take rows as independent."
        )
    elif any("HAC" in d.method for d in evaluation.comparisons.differences):
        yield (
            "Times are too few to show how rows depend on each other: differences between models take times "
            "as independent, and their z is a quantile of t with one degree of freedom less than times."
        )
