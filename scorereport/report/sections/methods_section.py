"""The section on methods: those that were used, with formula, convention and reference; and precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport._utils.formatting import format_counted, format_level
from scorereport.report.methods.class_formulas import CLASS_SYMBOLS, ORDINAL_SYMBOLS, SYMBOLS_OF_BUCKETS
from scorereport.report.methods.evidence_methods import list_evidence_methods
from scorereport.report.methods.inference_methods import (
    list_comparison_methods,
    list_engine_methods,
    list_interval_methods,
    state_engine_conventions,
    state_engine_levels,
    state_seed,
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
from scorereport.report.section_declaration import Section
from scorereport.report.section_parts import SectionContent, collect_parts, label_facts, table_part
from scorereport.report.tables.overview import has_draws

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scorereport.report.methods.method_entries import MethodEntry
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation


def describe_methods_section(report: Report) -> SectionContent:
    """Describe the methods of this report, and the precision that the sample allows."""
    evaluation = report.evaluation
    families = describe_families(report)
    return SectionContent(
        parts=collect_parts(precision=table_part(precision_table(evaluation))),
        content={
            "symbols": label_facts(_choose_symbols(evaluation)),
            "conventions": list(_state_conventions(evaluation)),
            "families": [_format_family(family) for family in families],
            "sizes": describe_size(evaluation),
            "references": _list_references(families),
            "glossary": cite_page(DocumentationPage.GLOSSARY),
        },
    )


def _choose_symbols(evaluation: Evaluation) -> dict[str, str]:
    """Return the symbols that formulas of the report use."""
    symbols = {"binary": SYMBOLS, "multiclass": CLASS_SYMBOLS, "ordinal": CLASS_SYMBOLS | ORDINAL_SYMBOLS}
    known = {} if evaluation.settings.engine == "memory" else SYMBOLS_OF_BUCKETS
    drawn = SYMBOLS_OF_INFERENCE if has_draws(evaluation) else {}
    return {**symbols[evaluation.kind], **(known | drawn if evaluation.settings.infers else {})}


def describe_families(report: Report) -> list[dict[str, Any]]:
    """Return all methods that were used, in families with a title; empty families are left out."""
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
        "Earlier audits": list_evidence_methods(report),
    }
    listed = [{"title": title, "methods": list(entries)} for title, entries in families.items()]
    return [family for family in listed if family["methods"]]


def _name_groups(evaluation: Evaluation) -> str:
    """Return the title of a family; recalibration is tried only on rows in memory."""
    return "Subgroups and recalibration" if evaluation.settings.engine == "memory" else "Subgroups"


def _format_family(family: dict[str, Any]) -> dict[str, Any]:
    """Format a family for print: references by authors and year, which the list of references completes."""
    methods = [
        {**method, "formula": bind_operators(method["formula"]), "reference": cite(method["reference"])}
        for method in family["methods"]
    ]
    return {**family, "methods": methods}


def _list_references(families: Iterable[dict[str, Any]]) -> list[str]:
    """Return all works that are cited."""
    cited = [method["reference"] for family in families for method in family["methods"]]
    return list_works([*cited, VERGOUWE_2005, SNELL_2021])


def _state_conventions(evaluation: Evaluation) -> Iterator[str]:
    """State the conventions that hold for all methods."""
    settings, data = evaluation.settings, evaluation.data
    yield "Lower scores are better unless ↑ or the text states otherwise. Logarithms are natural."
    yield (
        "A score is proper if no forecast has a better mean score than the true probability, and strictly "
        "proper if every other forecast has a worse one."
    )
    if evaluation.kind == "binary":
        yield "A decision is positive if and only if p ≥ threshold."
    else:
        yield "The decision is the likeliest class; among ties, the first class in the stated order."
    yield "A value of 0/0 is not defined (n/d), never 0; an infinite value stays ∞."
    if settings.infers:
        yield _state_levels(evaluation)
    if data.weighted:
        yield _state_weights(data.weight_kind)
    yield from _state_dependence(evaluation)


def _state_weights(kind: str) -> str:
    """State what weights mean, and how errors, tests and bands allow for them."""
    mean = "Means and sums are weighted: mean S = Σ w S / Σ w."
    if kind == "frequency":
        return f"{mean} Weights are frequencies: a row counts as often as its weight states."
    if kind == "sampling":
        return (
            f"{mean} Weights are sampling weights: each row was drawn once and stands for others. Standard "
            "errors, tests and bands are design-based: they allow for varying weights, and for weights that "
            "depend on the outcome, for example where events were sampled more often than non-events."
        )
    return (
        f"{mean} Whole-number weights count as repeated rows; a row with a fractional weight was drawn once."
    )


def _state_levels(evaluation: Evaluation) -> str:
    """State the levels of intervals and bands and, if anything was drawn, the seed."""
    settings = evaluation.settings
    if settings.engine != "memory":
        return state_engine_levels(evaluation)
    return (
        f"Intervals have a confidence level of {format_level(settings.level)}, bands of "
        f"{format_level(settings.band_level)}. {state_seed(settings.seed)}"
    )


def _state_dependence(evaluation: Evaluation) -> Iterator[str]:
    """State how errors allow for dependent rows, or how they are computed without draws."""
    if evaluation.settings.engine != "memory":
        yield from state_engine_conventions(evaluation)
        return
    if evaluation.data.clusters is not None:
        yield (
            f"Rows depend on each other within {format_counted(evaluation.data.clusters, 'cluster')}, which "
            "are resampled as a whole; standard errors are those of sums over clusters, and z is a quantile "
            "of t with one degree of freedom fewer than there are clusters, except for AUC and calibration "
            "line."
        )
    if any("errors in time" in d.method for d in evaluation.comparisons.differences):
        yield (
            "Differences between models, the calibration line and its tests have standard errors for rows "
            "that depend on each other in time, from the slowest cosines over the times; their z is a "
            "quantile of t with as many degrees of freedom as cosines. Other intervals and tests treat rows "
            "as independent."
        )
    elif any("HAC" in d.method for d in evaluation.comparisons.differences):
        yield (
            "There are too few times to show how rows depend on each other: differences between models "
            "treat times as independent, and their z is a quantile of t with one degree of freedom fewer "
            "than there are times."
        )


METHODS = Section(
    name="methods",
    title="Annex: methods",
    order=215,
    describe=describe_methods_section,
)
