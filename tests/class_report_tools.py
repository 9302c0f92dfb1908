"""Frames and reports on classes that two test files share."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
from artefact_tools import make_once, shared_folder
from report_tools import (
    GRADES,
    list_contents,
    list_headings,
    list_images,
    list_markup,
    make_graded_report,
    make_patients,
    read_tables,
    words_of,
)

import scorereport as sr
from scorereport.report.page_policy import PAGE_POLICY, check_self_contained
from scorereport.report.report_output import write_pages

FORMS = (".html", ".json")


SCHEMAS = Path(sr.__file__).parent / "schemas"


def folder_fixture(tmp_path_factory):
    return shared_folder(tmp_path_factory, "graded")


def made_fixture(folder):
    """The report, and the bytes of its HTML and JSON by ending: to lay out its PDF takes long."""

    def make():
        report = make_graded_report(folder)
        paths = write_pages(report, [folder / f"report{ending}" for ending in FORMS])
        return report, {path.suffix: path.read_bytes() for path in paths}

    return make_once(folder, make)


def report_fixture(made):
    return made[0]


def written_fixture(made):
    return made[1]


def page_fixture(written):
    return written[".html"].decode()


def tables_fixture(page):
    return read_tables(page)


def arrays_of(model):
    """Observed classes, as positions, and the probabilities of a model for the patients."""
    patients = make_patients()
    observed = np.array([GRADES.index(label) for label in patients["grade"]])
    return observed, patients[[f"{model}_{label}" for label in GRADES]].to_numpy()


def find_table(tables, start):
    """The one table whose caption, after its number, starts like this."""
    (rows,) = (rows for caption, rows in tables.items() if re.match(rf"Table \d+\. {start}", caption))
    return rows


def show(number, decimals=4):
    return f"{number:.{decimals}f}".replace("-", "−")


def bracket(estimate, decimals=4):
    """A number with its interval as a table shows it."""
    return "{} [{}, {}]".format(
        *(show(n, decimals) for n in (estimate.value, estimate.lower, estimate.upper))
    )


def assert_headings_do_not_skip(levels):
    """The first is the only title; each other heading is at most one level deeper than the one before."""
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


POLICY = f'\n<meta http-equiv="Content-Security-Policy" content="{PAGE_POLICY}">'


def assert_page_is_sound(page):
    """What must hold for every page: references resolve, images have texts, nothing is fetched or run."""
    check_self_contained(page.replace(POLICY, ""))  # added to a page after this check
    tags, attributes = list_markup(page)
    assert not {"script", "link", "iframe", "object", "form"} & tags
    assert not any(name.startswith("on") for name in attributes)
    targets = re.findall(r'href="#([\w-]+)"', page)
    assert targets
    assert all(page.count(f' id="{target}"') == 1 for target in targets)
    numbers = {number: name for name, number, _ in list_contents(page)}
    for target, kind, number in re.findall(r'href="#([\w-]+)">(Figure|Table|Section) (\d+)</a>', page):
        assert target == (numbers[number] if kind == "Section" else f"{kind.lower()}-{number}")
    assert all(list_images(page))
    assert_headings_do_not_skip([level for level, _ in list_headings(page)])
    words = words_of(page)
    assert not {"nan", "inf", "NaN"} & set(re.findall(r"\w+", words))
    assert ".." not in re.sub(r"\.\.\.(?!\.)", "", words)
    sources = re.findall(r'\bsrc="([^"]{0,30})|url\("?([^")]{0,30})', page)
    assert all((a or b).startswith("data:") for a, b in sources)


def nominal_fixture():
    """Three classes without order, in few rows and without draws."""
    return evaluate_classes(*draw_classes(["red", "green", "blue"], 30), ordered=False)


def draw_classes(labels, n, *, model="m", seed=0):
    """A frame of probabilities with classes drawn from them, and the labels."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(len(labels)), n)
    observed = [
        labels[min(int((u > row.cumsum()).sum()), len(labels) - 1)]
        for u, row in zip(rng.random(n), p, strict=True)
    ]
    return frame_of(observed, p, labels, model=model), labels


def frame_of(observed, p, labels, *, model="m"):
    columns = {f"{model}_{label}": column for label, column in zip(labels, np.transpose(p), strict=True)}
    return pd.DataFrame({"y": observed} | columns)


def evaluate_classes(frame, labels, **options):
    asked = {"outcome": "y", "forecasts": ["m"], "ordered": True, "resamples": 0} | options
    return sr.evaluate(frame, classes=labels, **asked)


def assert_valid(text, name):
    """The document conforms to the schema of that name."""
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))
