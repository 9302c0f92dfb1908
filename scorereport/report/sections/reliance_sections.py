"""The annexes on which a report relies: measured coverage of its methods, and definitions of its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.documentation import DocumentationPage, cite_page
from scorereport._utils.formatting import format_level, join_words
from scorereport.report.methods.glossary_terms import read_notation
from scorereport.report.methods.measured_coverage import (
    SUMMARY_TITLES,
    find_coverage,
    find_designs,
    find_not_studied,
    format_nominal,
    format_range,
    format_sizes,
    format_worst,
)
from scorereport.report.methods.method_entries import METHOD_CATALOGUE
from scorereport.report.section_declaration import Section
from scorereport.report.section_parts import SectionContent, collect_parts, table_part
from scorereport.report.sections.methods_section import describe_families
from scorereport.report.tables.table import Table
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.report.methods.measured_coverage import MeasuredCoverage
    from scorereport.report.report_record import Report


def describe_coverage_section(report: Report) -> SectionContent | None:
    """Describe how often the intervals, bands and tests of this report cover or reject in the study."""
    keys = [method["key"] for family in describe_families(report) for method in family["methods"]]
    found = find_coverage(report, keys)
    missing = find_not_studied(keys, found)
    if not found and not missing:
        return None
    names = dict.fromkeys(inside_sentence(METHOD_CATALOGUE[key].name) for key in missing)
    intervals, tests = (_coverage_table(title, found, is_test) for title, is_test in SUMMARY_TITLES.items())
    settings = report.evaluation.settings
    return SectionContent(
        parts=collect_parts(coverage_intervals=table_part(intervals), coverage_tests=table_part(tests)),
        content={
            "study": cite_page(DocumentationPage.COVERAGE),
            "designs": join_words(find_designs(report.evaluation)),
            "level": format_level(settings.level),
            "band_level": format_level(settings.band_level),
            "not_studied": "; ".join(names),
        },
        at_end=("coverage_intervals", "coverage_tests"),
    )


def _coverage_table(title: str, lines: Sequence[MeasuredCoverage], is_test: bool) -> Table | None:
    """Return the lines of intervals and bands, or of tests; None if there are none."""
    rows = [
        (line.method, format_worst(line), _shorten_sizes(line), format_nominal(line), format_range(line))
        for line in lines
        if line.is_test == is_test
    ]
    if not rows:
        return None
    return Table(
        caption=f"{title}, in percent; measured: range over all samples studied, ± largest Monte-Carlo error",
        heads=("method", "worst of the samples studied", "rows", "nominal", "measured"),
        rows=tuple(rows),
        n_labels=2,
        is_dense=True,
    )


def _shorten_sizes(line: MeasuredCoverage) -> str:
    """Return the sample sizes without the unit if it is that of the column, rows."""
    return format_sizes(line).removesuffix(" rows")


def describe_glossary_section(report: Report) -> SectionContent:  # noqa: ARG001
    """Describe where all terms are defined; the template adds those that the pages before it use."""
    return SectionContent(
        content={"glossary": cite_page(DocumentationPage.GLOSSARY), "notation": read_notation()}
    )


COVERAGE = Section(
    name="coverage",
    title="Annex: measured coverage",
    order=230,
    describe=describe_coverage_section,
)

GLOSSARY = Section(
    name="glossary",
    title="Annex: terms",
    order=240,
    describe=describe_glossary_section,
)
