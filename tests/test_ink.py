"""Ink on rendered pages: no page is more than a third empty, and nothing leaves the margins."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from audit_tools import make_scored, write_audit
from class_report_tools import draw_classes, evaluate_classes
from ink_tools import find_holes, find_ink_outside, measure_pages
from report_tools import TIME, make_certificate, make_graded_report, make_rich_report

import scorereport as sr
from scorereport.audit.run import run_audit
from scorereport.configuration import parse_configuration, read_configuration
from scorereport.report.assembly import describe_report
from scorereport.report.pdf import render_pdf
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report, read_report
from scorereport.report.templates import render_html

#: Values of `report.profile` with which the demonstrations are laid out.
PROFILES = ("summary", "standard", "full")
DEMONSTRATIONS = ("doctor_visits", "party_identification")
#: Long sections that are text only, and the same in all reports.
SHORT = """
[report]
profile = "full"
omit = ["methods", "sign-off", "provenance", "checklist", "glossary", "coverage"]
"""
#: Limits like those of the tutorial for banks, also on each subgroup.
TWO_SIDED = """
[limits]
set_by = "Model Risk Committee"
set_on = 2025-11-04
groups = true
brier_skill = { warn = 0.05, fail = 0.02 }
gini = { warn = 0.45, fail = 0.35 }
calibration_in_the_large = { min = -0.2, max = 0.2 }
calibration_slope = { min = 0.7, max = 1.3, warn_min = 0.9, warn_max = 1.1 }
"""


# ---- The tool itself, on made pages ----

AREA = 252.0  # height of the text area in millimetres


def make_pdf(*blocks, style=""):
    """Pages of A4 with the margins of reports, and blocks of ink at the given heights."""
    page = "@page { size: A4; margin: 24mm 22mm 21mm; @bottom-right { content: 'page ' counter(page); } }"
    sheet = f'{page} body {{ margin: 0; font-family: "Report Sans"; }} {style}'
    head = f'<meta charset="utf-8"><title>Made</title><style>{sheet}</style>'
    body = f"<body><h1>Cover</h1>{''.join(blocks)}</body>"
    return render_pdf(f'<!DOCTYPE html><html lang="en"><head>{head}</head>{body}</html>', created=TIME)


def ink(height, *, top=0.0, more=""):
    """A block of ink of this height, this far below the block before it."""
    return f'<div style="margin-top: {top}mm; height: {height}mm; background: #333; {more}"></div>'


def page(*blocks, heading=""):
    inside = f"<h2>{heading}</h2>" if heading else ""
    return f'<div style="break-before: page; display: flow-root">{inside}{"".join(blocks)}</div>'


def test_a_hole_below_and_one_between_blocks_are_found():
    pdf = make_pdf(
        page(ink(AREA)), page(ink(100)), page(ink(40), ink(40, top=100)), page(ink(170)), page(ink(10))
    )
    assert list(find_holes(measure_pages(pdf))) == [3, 4]
    emptiness = [measured.emptiness for measured in measure_pages(pdf)]
    assert emptiness[1:5] == pytest.approx([0, 152 / AREA, 172 / AREA, 82 / AREA], abs=0.005)


def test_gaps_of_lines_and_paragraphs_are_not_holes():
    lines = [ink(3, top=4) for _ in range(35)]
    pdf = make_pdf(page(*lines), page(ink(1)))
    assert find_holes(measure_pages(pdf)) == {}
    assert measure_pages(pdf)[1].emptiness == 0


def test_holes_of_one_page_are_added_up():
    pdf = make_pdf(page(ink(20), ink(20, top=45), ink(97, top=45)), page(ink(1)))
    assert list(find_holes(measure_pages(pdf))) == [2]


@pytest.mark.parametrize(("heading", "filled", "found"), [("New", 120, []), ("New", 40, [2]), ("", 120, [2])])
def test_a_page_before_a_chapter_may_be_emptier_but_not_nearly_empty(heading, filled, found):
    pdf = make_pdf(page(ink(filled)), page(ink(200), heading=heading), page(ink(1)))
    assert list(find_holes(measure_pages(pdf))) == found


@pytest.mark.parametrize(
    ("more", "sides"),
    [
        ("", (0, 0)),
        ("margin-left: -5mm", (4.2, 0)),
        ("margin-right: -3mm", (0, 2.2)),
        ("width: 0; border-left: .3pt solid #999; margin-left: 170mm", (0, 3.4)),
    ],
)
def test_ink_in_a_margin_is_found(more, sides):
    pdf = make_pdf(page(ink(50, more=more)))
    found = find_ink_outside(measure_pages(pdf)).get(2, (0, 0))
    assert found == pytest.approx(sides, abs=0.4)


# ---- Reports ----


def lay_out(report):
    return render_pdf(render_html("report.html", describe_report(report)), created=TIME)


def build(evaluation, configuration=SHORT):
    parsed = parse_configuration(configuration, "ink.toml")
    return build_report(evaluation, Provenance(time=TIME), configuration=parsed)


def make_demonstration(_folder, *, name, profile):
    """The report of a demonstration, with few draws and a made certificate, which take less time."""
    example = import_module(f"scorereport.examples.{name}")
    predictions = example.read_demo_predictions(example.make_demo_predictions())
    evaluation = sr.evaluate(predictions, **example.SETTINGS | {"resamples": 99})
    configuration = read_configuration(example.CONFIGURATION)
    text = configuration.text.replace("[report]\n", f'[report]\nprofile = "{profile}"\n')
    configuration = parse_configuration(text, "demo.toml")
    return build_report(
        evaluation,
        Provenance(time=TIME),
        certificate=make_certificate(evaluation),
        configuration=configuration,
        selection=example.choose_checkpoint(),
    )


def make_limited(_folder):
    """Two-sided limits on all models and on each of five subgroups."""
    frame = make_many(3, 900).assign(region=[f"region {place % 5}" for place in range(900)])
    evaluation = sr.evaluate(
        frame, outcome="y", forecasts=["model 1", "model 2", "model 3"], groups="region", resamples=40
    )
    return build(evaluation, SHORT + TWO_SIDED)


def make_many(models, n=200):
    rng = np.random.default_rng(4)
    p = rng.uniform(0.05, 0.95, n)
    columns = {f"model {place}": p ** (0.6 + 0.2 * place) for place in range(1, models + 1)}
    return pd.DataFrame({"y": (rng.random(n) < p).astype(int), **columns})


def make_crowd(_folder):
    """Eight models with costs and periods, in few rows."""
    frame = make_many(8).assign(day=pd.date_range("2024-01-01", periods=200).astype(str))
    return build(
        sr.evaluate(
            frame,
            outcome="y",
            forecasts=[f"model {place}" for place in range(1, 9)],
            time="day",
            window="month",
            cost_interval=(0.1, 0.4),
            resamples=40,
            scale=True,
        )
    )


def make_classes(_folder, *, n_classes, ordered, label="grade"):
    labels = [f"{label} {place:02d}" for place in range(n_classes)]
    return build(evaluate_classes(*draw_classes(labels, 80), ordered=ordered, resamples=40, scale=True))


def make_audit(folder):
    """The last of six monthly audits, with its trend and its drifts."""
    make_scored("2026-03-01", 214, rows=10).to_csv(folder / "scores.csv", index=False)
    omitted = ["methods", "checklist", "glossary", "coverage"]
    config = write_audit(
        folder, limits={"brier": 0.3}, evaluation={"resamples": 40}, report={"omit": omitted}
    )
    for month in range(4, 10):
        outcome = run_audit(config, as_of=f"2026-{month:02d}-02")
    return replace(read_report(outcome.files[0]), certificate=None)


REPORTS = {
    **{
        f"{name} {profile}": partial(make_demonstration, name=name, profile=profile)
        for name in DEMONSTRATIONS
        for profile in PROFILES
    },
    "rich": make_rich_report,
    "graded": make_graded_report,
    "limits": make_limited,
    "eight models": make_crowd,
    "audit": make_audit,
    "two classes": partial(make_classes, n_classes=2, ordered=True),
    "nine classes": partial(
        make_classes, n_classes=9, ordered=False, label="a class whose name is longer than others"
    ),
    "forty classes": partial(make_classes, n_classes=40, ordered=True),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", REPORTS)
def test_no_page_is_more_than_a_third_empty_and_nothing_leaves_the_margins(name, tmp_path):
    pages = measure_pages(lay_out(REPORTS[name](tmp_path)))
    assert len(pages) > (2 if name.endswith("summary") else 5)
    assert find_holes(pages) == {}
    assert find_ink_outside(pages) == {}
