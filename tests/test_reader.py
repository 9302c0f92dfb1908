"""The reader's test: from the page of the summary alone, eight questions are answered in ten situations."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_tools import TIME, read_pages, words_of

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.report.assembly import describe_report
from scorereport.report.pdf import render_pdf
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections import list_sections
from scorereport.report.templates import render_html

ASKED = tomllib.loads(Path(__file__).with_name("reader_questions.toml").read_text(encoding="utf-8"))
QUESTIONS, SITUATIONS = list(ASKED["questions"]), list(ASKED["situations"])
N = 4000
#: Probabilities that are spread evenly, and outcomes that follow them as closely as whole numbers can.
TRUTH = np.linspace(0.02, 0.98, N)
LIMITS = "[limits]\nbrier = {fail = 0.25}\nroc_auc = {fail = 0.6}\n"
STATED = """
[model]
intended_use = "To plan."
[text]
limitations = "None known."
[people]
approver = "A. Person"
"""


def draw(probability, seed=7):
    """Outcomes that follow probabilities in every hundredth of them: no seed makes them miscalibrated."""
    rng = np.random.default_rng(seed)
    order = np.argsort(np.asarray(probability), kind="stable")
    outcome = np.zeros(len(order), dtype=int)
    for part in np.array_split(order, max(len(order) // 40, 1)):
        events = round(float(np.sum(np.asarray(probability)[part])))
        outcome[rng.permutation(part)[:events]] = 1
    return outcome


def make_frame(**columns):
    return pd.DataFrame(columns)


def situation(name):
    """The data of a situation, its columns, and its configuration."""
    y = draw(TRUTH)
    region = np.where(np.arange(N) % 2, "north", "south")
    one = {"outcome": "y", "forecasts": ["m"]}
    by_region = one | {"groups": "region"}
    made = {
        "good": lambda: (make_frame(y=y, m=TRUTH, region=region), by_region, LIMITS + STATED),
        "breach": lambda: (make_frame(y=y, m=TRUTH), one, LIMITS.replace("0.25", "0.05")),
        "inverted": lambda: (make_frame(y=1 - y, m=TRUTH), one, ""),
        "worse_than_none": lambda: (make_frame(y=draw(TRUTH / 3), m=TRUTH), one, ""),
        "few_events": lambda: (
            make_frame(y=np.isin(np.arange(300), np.arange(9) * 33).astype(int), m=0.03 + TRUTH[:300] / 9),
            one,
            "[limits]\nbrier = {fail = 0.02}\n",
        ),
        "infinite": lambda: (
            make_frame(y=np.append(y, 1), m=np.append(TRUTH, 0.0)),
            one,
            "[limits]\nlog_loss = {fail = 0.9}\n",
        ),
        "group_served_worse": lambda: (
            make_frame(y=y, m=np.where(region == "north", 0.5 + 0.2 * (TRUTH - 0.5), TRUTH), region=region),
            by_region,
            "",
        ),
        "overconfident": lambda: (make_frame(y=y, m=np.clip(0.5 + 1.6 * (TRUTH - 0.5), 0.01, 0.99)), one, ""),
        "two_models": lambda: (
            make_frame(y=y, sharp=TRUTH, blurred=0.5 + 0.1 * (TRUTH - 0.5)),
            {"outcome": "y", "forecasts": ["sharp", "blurred"]},
            "[limits]\nbrier_skill = {fail = 0.2}\n",
        ),
        "shifted": lambda: (
            make_frame(y=y, m=TRUTH),
            one | {"reference": {"m": TRUTH**2, "y": draw(TRUTH**2)}},
            "",
        ),
        "ordinal": make_ordinal,
    }
    return made[name]()


def make_ordinal():
    """Three ordered classes whose forecasts are too extreme."""
    rng = np.random.default_rng(11)
    low = np.linspace(0.1, 0.8, 3000)
    labels = np.where(rng.random(3000) < low, "low", np.where(rng.random(3000) < 0.5, "middle", "high"))
    shown = np.clip(0.45 + 1.9 * (low - 0.45), 0.02, 0.96)
    frame = make_frame(y=labels, m_low=shown, m_middle=(1 - shown) / 2, m_high=(1 - shown) / 2)
    asked = {"outcome": "y", "forecasts": {"m": ["m_low", "m_middle", "m_high"]}}
    return frame, asked | {"classes": ["low", "middle", "high"], "ordered": True}, ""


@cache
def report_on(name):
    frame, asked, configuration = situation(name)
    evaluation = sr.evaluate(frame, **({"resamples": 200} | asked))
    parsed = parse_configuration(configuration, "reader.toml") if configuration else None
    return build_report(evaluation, Provenance(time=TIME), configuration=parsed)


@cache
def page_of(name):
    """The whole page of a report."""
    return render_html("report.html", describe_report(report_on(name)))


def summary_of(name):
    """The text of the summary."""
    page = page_of(name)
    start = page.index('<section id="summary"')
    return words_of(page[start : page.index("</section>", start)])


def test_every_situation_answers_every_question():
    assert len(QUESTIONS) == 8
    assert len(SITUATIONS) == 11
    for answers in ASKED["situations"].values():
        assert list(answers) == QUESTIONS


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_summary_answers_what_readers_ask(name):
    text = summary_of(name)
    answers = ASKED["situations"][name]
    missing = {question: answer for question, answer in answers.items() if not re.search(answer, text)}
    assert not missing, text


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_summary_has_three_to_seven_findings(name):
    page = page_of(name)
    summary = page[page.index('<section id="summary"') : page.index("</section>")]
    listed = summary[summary.index('<ul class="findings">') : summary.index("</ul>")]
    assert 3 <= listed.count("<li") <= 7


@pytest.mark.sweep
@pytest.mark.parametrize("name", SITUATIONS)
def test_the_summary_is_the_second_page(name):
    pages = read_pages(render_pdf(page_of(name), created=TIME))
    titles = [section.title for section in list_sections()]
    assert "1 Summary" in pages[1]
    assert "What is missing" in pages[1]
    assert "Intervals have a confidence level" in pages[1]
    assert not any(f"2 {title}" in pages[1] for title in titles)
    answers = ASKED["situations"][name]
    missing = [q for q, answer in answers.items() if not re.search(answer, pages[1])]
    assert not missing, pages[1]
