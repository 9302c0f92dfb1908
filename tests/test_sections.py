"""Sections are declared once: what the report, the configuration and the docs take from a declaration."""

from __future__ import annotations

import subprocess
import sys

import pandas as pd
import pytest
from report_tools import in_full

import scorereport as sr
from scorereport._utils.files import find_package_folder
from scorereport.configuration import SECTION_NAMES, ModelKind, configuration_schema, parse_configuration
from scorereport.errors import UsageError
from scorereport.report import assembly
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.section_declaration import CLASSES, Profile, Section
from scorereport.report.section_parts import SectionContent
from scorereport.report.sections import list_sections
from scorereport.report.sections.trend_section import TREND
from validation.section_table import PAGE, render_section_table, replace_table

SECTIONS = {section.name: section for section in list_sections()}
#: Titles that readers and their templates know, in reading order; new sections stand between them.
KNOWN = {
    "summary": "Summary",
    "model": "Model",
    "data": "Data",
    "performance": "Overall performance",
    "calibration": "Calibration",
    "discrimination": "Discrimination",
    "decomposition": "Decomposition",
    "decision": "Decisions",
    "retention": "Retention curves",
    "scale": "Probability scale",
    "comparison": "Comparison of models",
    "groups": "Subgroups",
    "time": "Time",
    "trend": "Comparison with earlier audits",
    "recalibration": "Recalibration",
    "checkpoints": "Choice of a checkpoint",
    "certificate": "R certificate",
    "limitations": "Limitations and interpretation",
    "provenance": "Provenance",
    "sign-off": "Sign-off",
    "methods": "Annex: methods",
    "checklist": "Annex: checklists",
}


def test_known_sections_keep_name_title_and_order():
    assert [(name, s.title) for name, s in SECTIONS.items() if name in KNOWN] == list(KNOWN.items())


def test_names_and_places_are_unique():
    sections = list_sections()
    assert len({section.name for section in sections}) == len(sections)
    assert len({section.order for section in sections}) == len(sections)


def test_every_template_belongs_to_a_section():
    folder = find_package_folder("templates") / "sections"
    declared = {s.find_template(kind) for s in list_sections() for kind in s.kinds}
    assert declared | {"sections/section.html"} == {f"sections/{path.name}" for path in folder.iterdir()}


def test_the_configuration_knows_the_names_in_order():
    assert tuple(SECTIONS) == SECTION_NAMES
    omit = configuration_schema()["$defs"]["ReportTable"]["properties"]["omit"]
    assert omit["items"]["enum"] == list(SECTIONS)
    with pytest.raises(
        UsageError, match=r'unknown section: \'zzz\'; sections are "summary", "model", .*glossary"\.$'
    ):
        parse_configuration('[report]\nomit = ["zzz"]', "x.toml")


def test_the_table_of_sections_is_current():
    page = PAGE.read_text(encoding="utf-8")
    assert render_section_table() in page, "run `make docs`"
    assert replace_table(page) == page
    assert "| `retention` | Retention curves | full | multiclass, ordinal |\n" in page


@pytest.mark.sweep
def test_names_are_checked_without_the_libraries_that_draw_and_render():
    script = (
        "import sys\n"
        "from scorereport.configuration import parse_configuration\n"
        "assert not any(name.startswith('scorereport.report') for name in sys.modules), 'on import'\n"
        "parse_configuration('[report]\\nomit = [\"trend\"]', 'x.toml')\n"
        "assert not {'matplotlib', 'jinja2', 'weasyprint'} & set(sys.modules), 'for names'\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)


def test_a_section_of_its_own_for_classes_has_a_template_of_its_own():
    calibration = SECTIONS["calibration"]
    assert calibration.find_template("binary") == "sections/calibration.html"
    assert calibration.find_describer("binary") is calibration.describe
    for kind in CLASSES:
        assert calibration.find_template(kind) == "sections/class-calibration.html"
        assert calibration.find_describer(kind) is calibration.describe_classes
        assert TREND.find_describer(kind) is TREND.describe
        assert TREND.find_template(kind) == "sections/trend.html"


def test_the_shortest_report_has_the_summary():
    assert SECTIONS["summary"].profile is Profile.SUMMARY
    assert {s.profile for s in list_sections()} == set(Profile)


@pytest.fixture
def describe(monkeypatch):
    """Describe a binary report that has the given sections only."""
    frame = pd.DataFrame({"y": [0, 1, 1, 0], "m": [0.2, 0.7, 0.6, 0.4]})
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["m"], resamples=0)

    def describe_sections(*sections):
        monkeypatch.setattr(assembly, "list_sections", lambda: sections)
        report = build_report(evaluation, Provenance(time="now"))
        return assembly.describe_report(in_full(report), templates_sha256="abc")["sections"]

    return describe_sections


def declare(name, describe, **options):
    return Section(name=name, title=name.capitalize(), order=0, describe=describe, **options)


def test_a_section_is_described_for_its_kinds_and_if_it_has_content(describe):
    described = describe(
        declare("first", lambda _: SectionContent(content={"text": "a"})),
        declare("empty", lambda _: None),
        declare("classes", lambda _: SectionContent(), kinds=CLASSES),
        declare("last", lambda _: SectionContent(), kinds=(ModelKind.BINARY,)),
    )
    assert [(s["number"], s["id"], s["title"], s["template"]) for s in described] == [
        ("1", "first", "First", "sections/first.html"),
        ("2", "last", "Last", "sections/last.html"),
    ]
    assert described[0]["text"] == "a"


def test_a_describer_gets_the_values_that_it_needs(describe):
    def list_values(_report, **values):
        return SectionContent(content={"values": {name: str(value) for name, value in values.items()}})

    described = describe(
        declare("first", list_values),
        declare("empty", lambda _: None),
        declare("last", list_values, needs=("templates_sha256", "present")),
    )
    assert [section["values"] for section in described] == [
        {},
        {"templates_sha256": "abc", "present": "['first']"},
    ]
