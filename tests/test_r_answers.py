"""The recorded answers of R packages: each is compared with our number, or listed with a reason."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import REPOSITORY

from scorereport.reliability.band_bounds import choose_cells, honest_bounds
from validation.r_agreement.agreement_page import render_agreement_page
from validation.r_agreement.agreement_table import AGREEMENTS, LINES, NOT_COMPUTED, VERSIONS
from validation.r_agreement.formulas import honest_bounds_by_hand
from validation.r_agreement.r_case import RCase, list_leaves, read_cases


@pytest.fixture(scope="module")
def cases(shared):
    return read_cases(json.loads((shared / "r_answers.json").read_text(encoding="utf-8")))


def named(lines):
    return [f"{line.package}: {line.quantity}" for line in lines]


def numbers(values):
    """One array of the numbers of several answers."""
    return np.concatenate([np.ravel(np.asarray(value, dtype=float)) for value in values])


def answers(line, case):
    found = [case.at(place) for place in line.places if case.has(place)]
    return numbers(map(line.answer, found) if getattr(line, "answer", None) else found)


def distance(ours, theirs):
    """The largest difference, absolute up to 1 and relative beyond."""
    ours, theirs = numbers([ours]), numbers([theirs])
    assert ours.shape == theirs.shape
    same = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    return float(np.where(same, 0.0, np.abs(ours - theirs) / np.maximum(1.0, np.abs(theirs))).max())


def cases_of(line, cases):
    found = [case for case in cases if line.is_about(case)]
    assert found, "no case has these answers"
    return found


# ---- Agreement, and definitions ----


@pytest.mark.parametrize("line", AGREEMENTS, ids=named(AGREEMENTS))
def test_answers_agree_or_the_difference_is_the_definition(line, cases):
    differences = []
    for case in cases_of(line, cases):
        ours, theirs = line.engine(case), answers(line, case)
        if line.theirs is None:
            assert distance(ours, theirs) <= line.tolerance, case.name
            assert distance(break_slightly(ours), theirs) > line.tolerance, "an error of 1e-6 is not seen"
        else:
            assert distance(line.theirs(case), theirs) <= line.tolerance, f"their formula: {case.name}"
            assert distance(ours, line.plain(case)) <= line.plain_tolerance, f"our formula: {case.name}"
            assert (
                distance(break_slightly(ours), line.plain(case)) > line.plain_tolerance
                or line.plain_tolerance > 1e-6
            )
            differences.append(distance(line.theirs(case), line.plain(case)))
    if line.theirs is not None:
        assert max(differences) > 1e-10, "the definitions do not differ: it is an agreement"
        assert line.relation != "equal"


def break_slightly(ours):
    """Numbers that are wrong by 1e-6, or by one if they are counts or truth values."""
    broken = numbers([ours])
    is_whole = (broken == np.round(broken)).all()
    return broken + (1.0 if is_whole else 1e-6 * np.maximum(1.0, np.abs(broken)))


CONFIRMED = tuple(line for line in NOT_COMPUTED if line.plain is not None)


@pytest.mark.parametrize("line", CONFIRMED, ids=named(CONFIRMED))
def test_formulas_of_what_we_do_not_compute_are_confirmed(line, cases):
    for case in cases_of(line, cases):
        assert distance(line.plain(case), answers(line, case)) <= line.tolerance, case.name


def test_honest_bands_are_the_bounds_of_pooled_cells(cases):
    """By all runs of cells, where the engine examines only those that may give the best bound."""
    for case in cases:
        if case.group == "binary":
            cells = choose_cells(case.fits[0].distinct)
            expected = honest_bounds_by_hand(cells.n.astype(float), cells.events.astype(float), level=0.95)
            for bounds, by_hand in zip(honest_bounds(cells, 0.95), expected, strict=True):
                np.testing.assert_allclose(bounds, by_hand, rtol=0, atol=1e-9)
            assert len(cells) <= np.ceil(6 * len(case.y) ** (1 / 3))


# ---- Every answer is accounted for ----


def test_every_answer_is_compared_or_listed_with_a_reason(cases):
    left = [
        f"{case.name}: {place}"
        for case in cases
        if case.group != "meta"
        for place in case.leaves
        if not any(line.is_about(case) and place in line.places for line in LINES)
    ]
    assert left == []


def test_the_rest_of_the_document_are_versions_and_a_seed(cases):
    (rest,) = (case for case in cases if case.group == "meta")
    assert {place.rpartition("/")[0] for place in rest.leaves} == {"meta", "meta/packages"}
    assert {place for place in rest.leaves if not place.startswith("meta/packages/")} == {
        "meta/seed",
        "meta/R",
    }


def test_no_answer_is_claimed_by_two_lines(cases):
    for case in cases:
        for place in case.leaves:
            claims = [line for line in LINES if line.is_about(case) and place in line.places]
            assert len(claims) <= 1, (case.name, place, named(claims))


def test_every_place_of_a_line_exists(cases):
    for line in LINES:
        found = {place for case in cases_of(line, cases) for place in line.places if case.has(place)}
        assert found == set(line.places), f"{line.package}: {line.quantity}"


def test_all_recorded_packages_are_in_the_table(cases):
    (rest,) = (case for case in cases if case.group == "meta")
    packages = {
        place.rpartition("/")[2]: version for place, version in rest.leaves.items() if "/packages/" in place
    }
    del packages["SDI"]  # it is about the digestibility of starch, and has no answers here
    assert packages == VERSIONS
    assert rest.at("meta/R").startswith("R version 4.2.2 ")
    assert packages.keys() <= {line.package for line in LINES}


def test_the_page_is_current():
    page = (REPOSITORY / "docs" / "guide" / "r-packages.md").read_text(encoding="utf-8")
    assert page == render_agreement_page(), "run `make docs`"


# ---- The tools of these tests ----


def test_leaves_of_a_document_are_all_found():
    content = {"a": {"b": [1, 2], "c": {}}, "d": None}
    assert dict(list_leaves(content)) == {"a/b": [1, 2], "d": None}
    assert dict(list_leaves(content, splits=True)) == {"a/b[0]": 1, "a/b[1]": 2, "d": None}


def test_an_answer_that_no_line_claims_is_noticed():
    case = RCase("binary", "small", {"pROC": {"auc_z": 0.5}})
    assert not any(line.is_about(case) for line in LINES)


def test_every_line_has_a_text():
    for line in LINES:
        assert line.package
        assert line.quantity
        assert getattr(line, "reason", "") or (line.ours and line.relation)
        assert (getattr(line, "theirs", None) is None) == (getattr(line, "plain", None) is None) or hasattr(
            line, "reason"
        )
