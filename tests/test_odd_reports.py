"""Reports on odd data: each is rendered, shows what is odd, and keeps to its pages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ink_tools import find_holes, find_ink_outside, measure_pages
from report_tools import (
    TIME,
    assert_pages_are_filled,
    find_outside,
    in_full,
    list_contents,
    list_figures,
    list_images,
    open_pdf,
    read_pages,
    squeeze,
    words_of,
)

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.report.assembly import describe_report
from scorereport.report.pdf import render_pdf
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.templates import embed_fonts, render_html

LONG = "A model with a long name that a bank has given it, version 12.3.4, mortgages, all_countries_and_"
LONG += "x" * (120 - len(LONG))
LONG_GROUP = "group_of_loans/" * 8
HOSTILE = "<script>alert(1)</script> {{ 7*7 }} $x^2$ & Ωμέγα Жук 模型 🙂"
#: Long sections that do not depend on what is odd; elsewhere they cost time only.
SHORT = '[report]\nomit = ["methods", "sign-off", "provenance", "checklist"]\n'
SHORTER = SHORT.replace(
    "omit = [", 'omit = ["discrimination", "decomposition", "decision", "recalibration", '
)
SHORTEST = SHORTER.replace("omit = [", 'omit = ["performance", "calibration", ')


@dataclass(frozen=True, kw_only=True)
class Case:
    """Data of a report, arguments of the evaluation, and how many pages the report may have."""

    frame: pd.DataFrame
    models: list[str]
    asked: dict[str, Any] = field(default_factory=dict)
    pages: tuple[int, int] = (7, 20)
    configuration: str = ""


def make_frame(n=60, models=("m",), seed=1):
    """Forecasts of models, each more timid than the one before."""
    rng = np.random.default_rng(seed)
    forecast = rng.uniform(0.05, 0.95, n)
    columns = {name: forecast ** (1 + 0.3 * place) for place, name in enumerate(models)}
    return pd.DataFrame({"y": (rng.random(n) < forecast).astype(int), **columns})


def make_case(name):
    """One of the cases that every version must render."""
    plain = make_frame()
    five = [f"model {place}" for place in range(1, 6)]
    many = make_frame(470).assign(g=[f"group {place % 40:02d}" for place in range(470)])
    names = [LONG, HOSTILE]
    return {
        "five models": lambda: Case(
            frame=make_frame(models=five), models=five, pages=(10, 30), configuration=SHORT
        ),
        "forty groups": lambda: Case(
            frame=many.drop(index=many.index[many.g.eq("group 39")][3:]),
            models=["m"],
            asked={"groups": "g"},
            pages=(4, 12),
            configuration=SHORTEST,
        ),
        "constant": lambda: Case(frame=plain.assign(m=0.3), models=["m"], configuration=SHORT),
        "one class": lambda: Case(frame=plain.assign(y=0), models=["m"]),
        "infinite": lambda: Case(
            frame=pd.concat([plain, pd.DataFrame({"y": [1], "m": [0.0]})], ignore_index=True),
            models=["m"],
            configuration=SHORT,
        ),
        "names": lambda: Case(
            frame=make_frame(models=names).assign(g=[LONG_GROUP + "ab"[k % 2] for k in range(60)]),
            models=names,
            asked={"groups": "g"},
            configuration=SHORTER + f'title = "On {HOSTILE}"\n',
        ),
        "three rows": lambda: Case(
            frame=pd.DataFrame({"y": [0, 1, 0], "m": [0.2, 0.7, 0.4]}), models=["m"], configuration=SHORT
        ),
        "a million rows": lambda: Case(
            frame=make_frame(1_000_000), models=["m"], asked={"resamples": 0}, configuration=SHORT
        ),
    }[name]()


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """A case and its report."""

    case: Case
    evaluation: sr.Evaluation
    pdf: bytes
    page: str

    @cached_property
    def text(self):
        """The text of all pages of the PDF."""
        return " ".join(read_pages(self.pdf))


def render(name):
    """Render a case in both forms; each test renders one case, so that workers share them.

    Only one of the tests embeds fonts, which takes as long as everything else.
    """
    case = make_case(name)
    asked = {"resamples": 99} | case.asked
    evaluation = sr.evaluate(case.frame, outcome="y", forecasts=case.models, **asked)
    parsed = parse_configuration(case.configuration, "odd.toml") if case.configuration else None
    report = build_report(evaluation, Provenance(time=TIME), configuration=parsed)
    page = render_html("report.html", describe_report(in_full(report)))
    return Rendered(case=case, evaluation=evaluation, pdf=render_pdf(page, created=TIME), page=page)


def assert_whole(made):
    """What must hold for every report, whatever is odd about it."""
    pages = read_pages(made.pdf)
    fewest, most = made.case.pages
    assert fewest <= len(pages) <= most
    assert_pages_are_filled(pages)
    figures = list_figures(made.pdf)
    described = [text for text in figures if not text.startswith("Row ")]
    assert len(described) == len(list_images(made.page)) > 1
    assert all(figures)
    assert "nan" not in re.findall(r"\w+", words_of(made.page).lower())
    for _, number, title in list_contents(made.page):
        assert f"{number} {title} " in " ".join(pages[1:])
    assert find_outside(made.pdf) == []
    assert "What is missing" in pages[1]
    assert re.search(r"\d cases?, [\d,.]+ events? \([\d.]+ %\)", pages[1])  # the end of the summary
    measured = measure_pages(made.pdf)
    assert find_holes(measured) == {}
    assert find_ink_outside(measured) == {}


def section_of(made, name):
    """The text of a section of the HTML."""
    start = made.page.index(f'<section id="{name}"')
    return words_of(made.page[start : made.page.index("</section>", start)])


def names_of(made):
    return [name for name, _, _ in list_contents(made.page)]


@pytest.mark.sweep
def test_five_models():
    made = render("five models")
    assert_whole(made)
    for name in made.case.models:
        brier = ((made.case.frame[name] - made.case.frame["y"]) ** 2).mean()
        assert re.search(rf"{name} {brier:.4f}\b", section_of(made, "performance"))
        assert sum(name in text for text in list_images(made.page)) >= 5
    assert len(made.evaluation.comparisons.murphy) == 10
    assert "Evaluation of 5 models" in made.text


@pytest.mark.sweep
def test_forty_groups():
    made = render("forty groups")
    assert_whole(made)
    text = section_of(made, "groups")
    groups = made.evaluation.groups
    assert [group.label for group in groups if not group.models] == ["group 39"]
    assert "counted, not scored" in text
    for group in groups:
        assert group.label in text
        assert (
            f"{group.label} m {group.sample.rows} {group.sample.events:.0f} " in made.text or not group.models
        )
        for scores in group.models:
            assert f"{scores.scores[0].value:.4f}" in text
    assert "groups of fewer than 10 rows are counted, not scored (1 of 40)" in made.text


@pytest.mark.sweep
def test_a_constant_forecast():
    made = render("constant")
    assert_whole(made)
    brier = ((0.3 - made.case.frame["y"]) ** 2).mean()
    assert f"m {brier:.4f} " in made.text
    assert "m 0.5000 [0.5000, 0.5000]" in made.text
    assert "m n/d n/d " in section_of(made, "calibration")


@pytest.mark.sweep
def test_one_class_only():
    made = render("one class")
    assert_whole(made)
    assert "discrimination" not in names_of(made)
    assert "All outcomes are the same: AUC and skill are not defined." in made.text
    assert re.search(r"AUC ↑ m n/d", made.text)
    assert "0, prevalence 0.0 %" in made.text
    brier = (made.case.frame["m"] ** 2).mean()
    assert f"m has a Brier score of {brier:.4f}" in made.text
    assert "n/d better" not in made.text


@pytest.mark.sweep
def test_one_model_with_an_infinite_log_score():
    made = render("infinite")
    assert_whole(made)
    assert "Log score m ∞ −∞ %" in made.text
    assert (
        "the log score is infinite, because 1 forecast was 0 for an event or 1 for a non-event" in made.text
    )
    assert not {"comparison", "groups", "time", "model", "certificate"} & set(names_of(made))
    assert "rank" not in section_of(made, "performance")
    brier = ((made.case.frame["m"] - made.case.frame["y"]) ** 2).mean()
    assert f"m has a Brier score of {brier:.4f}" in made.text


@pytest.mark.sweep
def test_long_and_hostile_names():
    made = render("names")
    assert len(LONG) == 120
    assert_whole(made)
    text = squeeze(made.text)
    for name in (LONG, show(HOSTILE), LONG_GROUP + "a", LONG_GROUP + "b"):
        assert text.count(squeeze(name)) >= 2
    assert "<script" not in embed_fonts(made.page)
    assert "&lt;script&gt;alert(1)&lt;/script&gt; {{ 7*7 }} $x^2$ &amp; Ωμέγα Жук 模型 🙂" in made.page
    assert HOSTILE in " ".join(list_images(made.page))
    with open_pdf(made.pdf) as pdf:
        assert str(pdf.docinfo.Title) == f"On {show(HOSTILE)}"


def show(name):
    """A name as a PDF shows it, whose fonts lack the characters of some scripts."""
    return name.replace("模型", "‹U+6A21›‹U+578B›").replace("🙂", "‹U+1F642›")


@pytest.mark.sweep
def test_three_rows():
    made = render("three rows")
    assert_whole(made)
    assert "Only 1 event: with fewer than 20 intervals say little." in made.text
    assert f"m {(0.04 + 0.09 + 0.16) / 3:.4f} " in made.text


@pytest.mark.sweep
def test_a_million_rows():
    """The files hardly grow with the rows."""
    made = render("a million rows")
    assert_whole(made)
    assert "1,000,000 rows" in made.text
    assert "No intervals or tests were requested" in made.text
    assert len(made.page) < 2_000_000
    assert len(made.pdf) < 2_000_000
