"""No number of a model stands in two tables of a report, in any profile, unless there is a reason."""

from __future__ import annotations

import re
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from report_tools import make_graded_report, make_rich_report

import scorereport as sr
from scorereport.configuration.configuration_tables import Profile
from scorereport.configuration.section_choice import SectionChoice
from scorereport.report.assembly import plan_report
from scorereport.report.provenance import Provenance
from scorereport.report.repeated_numbers import REPEATS, drop_cells
from scorereport.report.report_record import build_report
from scorereport.report.tables.table import Table

#: Pairs of tables, by pattern of their keys, that may have the same number, and why.
ALLOWED = {
    ("limits.*", ".*"): "a verdict is read together with its number",
    (
        "scores|bounded",
        "components",
    ): "a row of a decomposition adds up to the mean",
    ("components", "recalibration"): "miscalibration before and after recalibration are read side by side",
    ("components", r"views_\d+"): "the last row of a table of views is the sum of those above it",
    ("scores|brier|components|score_components|forecasts", "drift"): "a change is read beside both values",
    ("forecasts", "forecast_drift"): "a change is read beside both values",
    ("thresholds", "decision_counts"): "the threshold is the label of a row",
}
_NUMBER = re.compile(r"−?[\d,]*\.?\d+(?= %$|$)")


def list_series(context, models):
    """The numbers of all models under the same labels and head: part, what they are, and text by model."""
    series = {}
    for section in context["sections"]:
        for key, part in section["parts"].items():
            for body in part.get("bodies", ()):
                for row in body["rows"]:
                    labels = [cell["text"] for cell in row["cells"] if cell["kind"] in ("head", "text")]
                    for model in {label for label in labels if label in models}:
                        others = tuple(label for label in labels if label != model)
                        for head, cell in zip(part["heads"], row["cells"], strict=True):
                            if is_telling(cell["text"]):
                                place = (key, *others, head["text"])
                                series.setdefault(place, {})[model] = cell["text"]
    return {place: texts for place, texts in series.items() if len(texts) > 1}


def is_telling(text):
    """Whether a text is a number of three digits or more, not 1.000; others can agree by chance."""
    digits = re.sub(r"^[−0.,]*|\D", "", text)
    return _NUMBER.fullmatch(text) is not None and len(digits) > 2 and len(digits.rstrip("0")) > 1


def is_same(text, other):
    """Whether two texts are the same number, rounded to the fewer decimals."""
    if text.endswith("%") != other.endswith("%"):
        return False
    numbers = [Decimal(each.replace("−", "-").replace(",", "").rstrip(" %")) for each in (text, other)]
    shorter = max(numbers, key=lambda number: number.as_tuple().exponent)
    first, second = (number.quantize(shorter) for number in numbers)
    return first == second


def find_repeats(context, models):
    """Pairs of places in different tables with the same numbers for all models."""
    series = list_series(context, models)
    return [
        (first, second)
        for (first, texts), (second, others) in combinations(series.items(), 2)
        if first[0] != second[0]
        and texts.keys() == others.keys()
        and all(is_same(texts[model], others[model]) for model in texts)
    ]


def is_allowed(first, second):
    pairs = ((first[0], second[0]), (second[0], first[0]))
    return any(re.fullmatch(a, x) and re.fullmatch(b, y) for a, b in ALLOWED for x, y in pairs)


def make_class_report(_folder):
    """A report on three classes without an order."""
    rng = np.random.default_rng(11)
    probabilities = rng.dirichlet(np.ones(3), (2, 150))
    observed = [rng.choice(list("abc"), p=row) for row in probabilities[0]]
    frame = pd.DataFrame(
        np.hstack(probabilities), columns=[f"{m}_{c}" for m in ("one", "two") for c in "abc"]
    )
    evaluation = sr.evaluate(
        frame.assign(y=observed), outcome="y", forecasts=["one", "two"], classes=list("abc"), resamples=40
    )
    return build_report(evaluation, Provenance(time="2026-11-15T07:30:12+00:00"))


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    makers = {"binary": make_rich_report, "ordinal": make_graded_report, "multiclass": make_class_report}
    return {kind: make(tmp_path_factory.mktemp(kind)) for kind, make in makers.items()}


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("kind", ["binary", "ordinal", "multiclass"])
def test_no_number_stands_in_two_tables(reports, kind, profile):
    report = reports[kind].with_sections(SectionChoice(profile=profile))
    found = find_repeats(plan_report(report), {result.model for result in report.evaluation.results})
    assert [pair for pair in found if not is_allowed(*pair)] == []


def test_a_repeat_is_found(reports, monkeypatch):
    monkeypatch.setattr("scorereport.report.repeated_numbers.REPEATS", ())
    report = reports["binary"].with_sections(SectionChoice(profile="full"))
    found = find_repeats(plan_report(report), {result.model for result in report.evaluation.results})
    assert (("scores", "AUC ↑", "mean"), ("auc", "AUC")) in found
    assert (("scores", "Brier score", "mean"), ("brier", "S")) in found
    assert (("brier", "MCB"), ("components", "Brier score", "MCB")) in found


def test_numbers_stay_where_their_keeper_is_left_out(reports):
    choice = SectionChoice(profile="standard", omit=("performance", "discrimination"))
    context = plan_report(reports["binary"].with_sections(choice))
    parts = {key: part for section in context["sections"] for key, part in section["parts"].items()}
    assert [head["text"] for head in parts["brier"]["heads"]] == ["model", "S", "MCB", "DSC", "UNC", "skill"]
    assert "auc" not in parts


@pytest.mark.parametrize("kind", ["binary", "ordinal", "multiclass"])
@pytest.mark.parametrize("profile", ["standard", "full"])
def test_components_are_in_one_table(reports, kind, profile):
    context = plan_report(reports[kind].with_sections(SectionChoice(profile=profile)))
    keys = {key for section in context["sections"] for key in section["parts"]}
    assert len(keys & {"brier", "score_components", "components"}) == 1


def test_keepers_and_repeats_are_tables_of_reports(reports):
    keys = set()
    for report in reports.values():
        for profile in ("standard", "full"):
            context = plan_report(report.with_sections(SectionChoice(profile=profile)))
            keys |= {key for section in context["sections"] for key in section["parts"]}
    for repeat in REPEATS:
        assert repeat.keeper in keys
        assert any(re.fullmatch(repeat.part, key) for key in keys)


def test_cells_are_dropped_with_their_intervals():
    table = Table(
        caption="c",
        heads=("score", "model", "mean", "interval", "rank"),
        rows=(("A", "m", "1", "[0, 2]", "1"), ("B", "m", "3", "[2, 4]", "1")),
        n_labels=2,
    )
    assert drop_cells(table, heads=["mean"]).rows == (("A", "m", "1"), ("B", "m", "1"))
    assert drop_cells(table, rows=["A"]).rows == table.rows[1:]
    assert drop_cells(table) == table
