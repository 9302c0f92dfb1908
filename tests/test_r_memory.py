"""The memory that R needs is foreseen: a band that would not fit is compared on fewer rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from class_certificate_tools import StandIn, bands_of, use_fixture
from reference_tools import base_fixture, package_fixture
from report_tools import words_of

import scorereport as sr
from scorereport.configuration import SECTION_NAMES
from scorereport.reference import r_memory
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.live_references import PACKAGE, count_asked_rows
from scorereport.reference.questions import MOST_REDRAWN, Question
from scorereport.reference.r_installation import Unavailable
from scorereport.reference.r_memory import find_r_memory

ROWS = 2500
#: The sections of a report that state no certificate.
REST = [name for name in SECTION_NAMES if name != "certificate"]
BAND = f"continuous consistency band, 2,000 of {ROWS:,} rows"

use = pytest.fixture(use_fixture)
base = pytest.fixture(scope="module")(base_fixture)
package = pytest.fixture(scope="module")(package_fixture)


@pytest.fixture(scope="module")
def evaluation() -> sr.Evaluation:
    rng = np.random.default_rng(4)
    forecast = rng.beta(2, 3, ROWS)
    outcome = (rng.random(ROWS) < forecast).astype(int)
    return sr.evaluate(outcome, {"m": forecast}, resamples=0)


@pytest.fixture
def short_of_memory(monkeypatch):
    """Let half of the memory of the machine hold all but one row of the continuous band."""

    def limit(*, is_package, rows=ROWS):
        needed = find_r_memory(is_package=is_package).find_needed(rows, rows - 1)
        monkeypatch.setattr(r_memory, "physical_memory", lambda: 2 * needed)

    return limit


# ---- What is foreseen ----


@pytest.mark.parametrize(
    ("is_package", "rows", "band_rows", "measured"),
    [
        (True, 1_000, 1_000, 171e6),
        (True, 200_000, 200_000, 1461e6),
        (True, 400_000, 400_000, 2985e6),
        (True, 1_000_000, 1_000_000, 7269e6),
        (True, 200_000, 1_000, 340e6),
        (True, 1_000_000, 400_000, 2898e6),
        (False, 1_000, 1_000, 96e6),
        (False, 200_000, 200_000, 203e6),
        (False, 1_000_000, 1_000_000, 505e6),
    ],
)
def test_what_is_foreseen_is_a_little_more_than_what_was_measured(is_package, rows, band_rows, measured):
    foreseen = find_r_memory(is_package=is_package).find_needed(rows, band_rows)
    assert measured <= foreseen <= 1.6 * measured


@pytest.mark.parametrize("is_package", [True, False])
@pytest.mark.parametrize("rows", [999, 1_000, 1_001, 300_000, 10**6])
def test_a_band_has_all_rows_or_a_round_number_that_fits(monkeypatch, is_package, rows):
    memory, chosen = find_r_memory(is_package=is_package), []
    for gigabytes in (0.1, 0.5, 1, 2, 4, 8, 64):
        monkeypatch.setattr(r_memory, "physical_memory", lambda room=gigabytes: int(2e9 * room))
        found = memory.choose_band_rows(rows)
        chosen.append(found)
        fits = memory.find_needed(rows, rows) <= 1e9 * gigabytes
        assert (found == rows) >= fits
        if found > MOST_REDRAWN:
            assert memory.find_needed(rows, found) <= 1e9 * gigabytes
        assert found == rows or str(found).rstrip("0") in "123456789"
    assert chosen == sorted(chosen)
    assert (chosen[0], chosen[-1]) == (min(rows, MOST_REDRAWN), rows)


def test_a_machine_too_small_for_all_else_is_not_asked(monkeypatch):
    monkeypatch.setattr(r_memory, "physical_memory", lambda: 10**9)
    find_r_memory(is_package=True).require(800_000)
    with pytest.raises(
        Unavailable, match=r"^R needs about 1\.1 GB of memory for 1,000,000 rows; this machine has 1\.0 GB\.$"
    ):
        find_r_memory(is_package=True).require(1_000_000)


def test_little_memory_is_not_mentioned(monkeypatch):
    monkeypatch.setattr(r_memory, "physical_memory", lambda: 16 * 10**9)
    memory = find_r_memory(is_package=True)
    assert memory.describe(100_000) == ""
    assert memory.describe(500_000) == (
        "For all 500,000 rows, R needs about 3.8 GB of memory; it may use 8.0 GB, half of that of the "
        "machine."
    )
    assert memory.describe(2_000_000) == (
        "For all 2,000,000 rows, R needs about 14.6 GB of memory; it may use 8.0 GB, half of that of the "
        "machine. The continuous consistency band is therefore compared on 900,000 of 2,000,000 rows, spread "
        "evenly in the order of forecasts; all else is on all rows."
    )


def test_weights_that_are_rows_count_as_rows():
    assert count_asked_rows(3, None) == 3
    assert count_asked_rows(3, np.array([1.0, 2.0, 4.0])) == 7
    assert count_asked_rows(3, np.array([0.5, 2.0, 4.0])) == 3


def test_the_rows_of_a_band_are_spread_evenly_and_always_the_same():
    forecast = np.random.default_rng(1).permutation(np.arange(10_000) / 10_000)
    question = Question(y_true=(forecast > 0.5) * 1.0, y_prob=forecast, band_rows=100)
    outcomes, forecasts = question.banded
    np.testing.assert_array_equal(np.diff(np.round(forecasts * 10_000)) - 101, 0)
    np.testing.assert_array_equal(outcomes, forecasts > 0.5)
    np.testing.assert_array_equal(question.banded[1], forecasts)


# ---- Certificates ----


def lines_of_band(certificate: sr.Certificate) -> dict[str, Comparison]:
    return {line.quantity: line for line in certificate.comparisons if "continuous" in line.quantity}


def assert_says_on_how_many_rows(certificate: sr.Certificate, evaluation: sr.Evaluation, folder) -> None:
    (note,) = certificate.notes
    assert f"is therefore compared on 2,000 of {ROWS:,} rows, spread evenly in the order of forecasts" in note
    assert '"notes":["For all 2,500 rows' in certificate.to_json()
    page = sr.write_report(
        evaluation, folder / "report.html", certificate=certificate, profile="full", omit=REST
    )
    assert note in words_of(page.read_text(encoding="utf-8"))


@pytest.mark.r
def test_base_r_draws_a_band_that_does_not_fit_on_fewer_rows(
    evaluation, base, use, short_of_memory, tmp_path
):
    use(base)
    short_of_memory(is_package=False)
    certificate = sr.certify(evaluation, reference="base", draws=100)
    assert (certificate.verdict, certificate.unexpected) == ("confirmed", ())
    lines = lines_of_band(certificate)
    assert list(lines) == [f"{BAND}, given Chernoff's quantile"]
    assert_says_on_how_many_rows(certificate, evaluation, tmp_path)


@pytest.mark.sweep
@pytest.mark.r
def test_the_package_draws_a_band_that_does_not_fit_on_fewer_rows(
    evaluation, package, use, short_of_memory, tmp_path
):
    use(package)
    short_of_memory(is_package=True)
    certificate = sr.certify(evaluation, reference="reliabilitydiag", draws=100)
    assert (certificate.verdict, certificate.unexpected) == ("certified", ())
    lines = lines_of_band(certificate)
    assert list(lines) == [f"{BAND}, R's quantile", f"{BAND}, exact quantile", f"{BAND}: level"]
    assert lines[f"{BAND}, R's quantile"].verdict is Verdict.AGREES
    assert_says_on_how_many_rows(certificate, evaluation, tmp_path)


def test_a_band_on_other_rows_differs(evaluation, use, short_of_memory):
    """The band of all rows is narrower than that of fewer."""
    reference = use(StandIn(PACKAGE))
    reference.spoil = lambda question, vectors: (
        vectors
        | bands_of(
            replace(question, band_rows=None), sr.corp(question.y_true, question.y_prob), is_package=True
        )
    )
    short_of_memory(is_package=True)
    certificate = sr.certify(evaluation, reference="reliabilitydiag", draws=0)
    assert certificate.verdict == "failed"
    assert {line.quantity for line in certificate.unexpected} == {
        f"{BAND}, R's quantile",
        f"{BAND}, exact quantile",
    }


def test_a_reference_without_enough_memory_leaves_the_work_to_the_next(evaluation, use, monkeypatch):
    package = use(StandIn(PACKAGE), StandIn())
    monkeypatch.setattr(r_memory, "physical_memory", lambda: 120_000_000)
    certificate = sr.certify(evaluation, draws=0)
    assert (certificate.verdict, package.questions) == ("confirmed", [])
    (attempt,) = certificate.attempts
    assert attempt.reason == "R needs about 0.2 GB of memory for 2,500 rows; this machine has 0.1 GB."


def test_certificates_without_notes_are_the_documents_of_before(evaluation, use):
    use(StandIn())
    text = sr.certify(evaluation, reference="base", draws=0).to_json()
    assert '"notes"' not in text
