"""The displays of results in notebooks: small, well-formed, escaped, and readable in light and dark."""

from __future__ import annotations

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from urllib.parse import unquote
from xml.etree import ElementTree

import numpy as np
import pytest
from object_tools import HOSTILE, RESULTS, evaluate_grades, evaluate_loans, fit_loans, select_epoch
from report_tools import make_loans, words_of

import scorereport as sr
from scorereport._utils.overviews import Overview, render_tables, render_text

DISPLAYED = ["evaluation", "classes", "fit", "decomposition", "band", "certificate", "selection"]
#: Elements that have no end.
VOID = {"img", "br", "col"}


class Outline(HTMLParser):
    """The elements of a fragment, with their attributes; a wrong nesting is an error."""

    def __init__(self):
        super().__init__()
        self.open, self.elements = [], []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def outline(fragment):
    parser = Outline()
    parser.feed(fragment)
    parser.close()
    assert parser.open == []
    return parser.elements


@pytest.mark.parametrize("name", DISPLAYED)
def test_a_display_is_a_small_well_formed_fragment(name):
    shown = RESULTS[name]()._repr_html_()
    assert len(shown) < (100_000 if name in ("evaluation", "classes") else 20_000)
    elements = outline(shown)
    assert {tag for tag, _ in elements} <= {
        *("div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p"),
        *("style", "img", "span", "ul", "li", "colgroup", "col", "strong", "small", "br", "abbr", "em"),
    }


@pytest.mark.parametrize("name", DISPLAYED)
def test_tables_have_headers_and_a_caption(name):
    shown = RESULTS[name]()._repr_html_()
    tables = re.findall(r"<table.*?</table>", shown, flags=re.S)
    assert tables
    assert all("<caption" in table or "aria-label=" in table for table in tables)
    for table in tables:
        headers = [attributes for tag, attributes in outline(table) if tag == "th"]
        assert headers
        assert all(
            attributes.get("scope") in ("row", "col", "rowgroup", "colgroup") for attributes in headers
        )


@pytest.mark.parametrize("name", DISPLAYED)
def test_a_display_refers_to_nothing_outside(name):
    shown = RESULTS[name]()._repr_html_()
    assert not re.search(r"<(script|link|iframe|object|html|head|body)\b|\son\w+=", shown)
    assert not re.search(r"https?:|url\((?!%23)|@import", shown)  # a picture refers to its own parts


@pytest.mark.parametrize("name", DISPLAYED)
def test_texts_have_the_colours_of_the_notebook(name):
    """Only the picture of a diagram has a background, since its text is dark."""
    shown = RESULTS[name]()._repr_html_()
    without_pictures = re.sub(r'src="[^"]*"', "", shown).replace("height: auto; background: #fff", "")
    assert not re.search(r"background|(?<![-\w])color: (?!inherit)", without_pictures)


def test_displays_show_the_numbers_of_the_representation():
    parts = fit_loans().decompose()
    for result in (fit_loans(), parts):
        text = words_of(result._repr_html_())
        for name in ("miscalibration", "discrimination", "uncertainty"):
            assert f"{name} {getattr(parts, name):.4f}" in text
    assert "score = miscalibration - discrimination + uncertainty" in words_of(parts._repr_html_())
    assert words_of(fit_loans().band(resamples=20)._repr_html_()).startswith("Band: 90 % pointwise")
    selection = select_epoch()
    assert f"chosen {selection.chosen.best}, with" in words_of(selection._repr_html_())
    assert "Certificate: certified" in words_of(RESULTS["certificate"]()._repr_html_())


def test_hostile_names_are_plain_text():
    frame = make_loans().rename(columns={"logit": HOSTILE})
    evaluation = sr.evaluate(frame, outcome="default", forecasts=[HOSTILE], resamples=0)
    selection = replace(select_epoch(), column=HOSTILE, source=HOSTILE)
    certificate = replace(RESULTS["certificate"](), sentence=HOSTILE, reference=HOSTILE)
    decomposition = replace(fit_loans().decompose(), name=HOSTILE)
    for result in (evaluation, selection, certificate, decomposition):
        shown = result._repr_html_()
        assert "<script" not in shown
        assert "script" not in {tag for tag, _ in outline(shown)}
        assert escape("<script>alert(") in shown


def test_a_failed_certificate_lists_what_differs():
    certificate = RESULTS["certificate"]()
    wrong = replace(certificate.comparisons[0], verdict="differs", quantity="the brier score")
    shown = words_of(replace(certificate, verdict="failed", comparisons=(wrong,))._repr_html_())
    assert "Certificate: failed" in shown
    assert f"{wrong.subject} the brier score differs" in shown


def test_the_picture_of_an_evaluation_is_valid_svg():
    for evaluation in (evaluate_loans(), evaluate_grades()):
        (picture,) = [attributes for tag, attributes in outline(evaluation._repr_html_()) if tag == "img"]
        assert picture["alt"].startswith("Reliability diagram")
        assert picture["src"].startswith("data:image/svg+xml,")
        drawn = ElementTree.fromstring(unquote(picture["src"].partition(",")[2]))
        assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
        assert len(list(drawn.iter("{http://www.w3.org/2000/svg}path"))) > 20


def test_many_models_are_shown_in_part():
    frame, rng = make_loans(), np.random.default_rng(1)
    names = [f"model {place}" for place in range(20)]
    noise = {name: (frame["logit"] + rng.normal(0, 0.02, 320)).clip(0.01, 0.99) for name in names}
    noise["model 7"] = frame["default"] * 0.8 + 0.1
    noise["model 3"] = frame["default"] * 0.6 + 0.2
    evaluation = sr.evaluate(
        frame[["default"]].assign(**noise), outcome="default", forecasts=names, resamples=0
    )
    shown = evaluation._repr_html_()
    assert len(shown) < 100_000
    assert "Tables show the 12 of 20 models with the lowest main score." in words_of(shown)
    assert "Diagrams are of model 3 and model 7; a report has those of all 20 models." in words_of(shown)


def test_many_classes_are_shown_in_part():
    rng, labels = np.random.default_rng(2), [f"class {place}" for place in range(12)]
    p = rng.dirichlet(np.ones(12), 300)
    frame = make_loans().head(300)[["default"]].drop(columns="default")
    frame = frame.assign(k=[labels[rng.choice(12, p=row)] for row in p])
    columns = {f"m_{label}": p[:, place] for place, label in enumerate(labels)}
    evaluation = sr.evaluate(
        frame.assign(**columns), outcome="k", forecasts=["m"], classes=labels, resamples=0, normalize=True
    )
    assert len(evaluation._repr_html_()) < 100_000
    assert len(repr(evaluation)) < 1500


def test_an_overview_without_facts_has_one_table_and_a_long_one_is_cut():
    rows = tuple((f"row {place}", "1") for place in range(100))
    overview = Overview(title="Title", columns=("name", "value"), rows=rows, notes=("Note.",))
    shown = render_tables(overview)
    assert shown.count("<table") == 1
    assert "40 more rows are not shown." in shown
    text = render_text(overview).split("\n")
    assert text[0] == "Title"
    assert len(text) == 15
    assert text[-1] == "  Note."
    assert text[-2].startswith("  ... and 8")


def test_a_row_that_is_too_wide_loses_its_last_columns():
    overview = Overview(
        title="T", columns=("a" * 30, "b" * 30, "c" * 30, "d" * 30), rows=(("1", "2", "3", "4"),)
    )
    lines = render_text(overview).split("\n")
    assert max(map(len, lines)) <= 80
    assert "d" not in lines[1]
