"""The comparison with R packages: agreement, definitions by name, absence, and that errors show."""

from __future__ import annotations

import pytest

from scorereport import scores
from scorereport.inference import mean_errors
from scorereport.reference.comparison_records import WHOLE_PACKAGE, Comparison, Verdict
from scorereport.reference.r_installation import Unavailable
from scorereport.study.peers import r_packages
from scorereport.study.peers.r_packages import R_PACKAGES, compare_with_r_packages, count_digits
from scorereport.study.seeded_cases import draw_cases

#: The quantities whose definition is another one in a package.
DEFINITIONS = {
    ("pROC", "p-value of DeLong's paired test, all of these cases"),
    ("rms", "AUC and Somers' D, all of these cases"),
    ("survey", "errors of a calibration line by cluster, all of these cases"),
    ("sandwich", "errors of a calibration line by cluster, all of these cases"),
    ("clubSandwich", "degrees of freedom of it, all of these cases"),
}


def package_of(line):
    return line.subject.split(" ")[0]


def compare(count=11, seed=2021):
    return list(compare_with_r_packages(draw_cases(count, seed), time_limit=300))


@pytest.fixture(scope="module")
def lines(base_r):  # noqa: ARG001  # skips without R
    return compare()


@pytest.fixture(scope="module")
def present(lines):
    found = {package_of(line) for line in lines if line.verdict is not Verdict.ABSENT}
    if not found:
        pytest.skip(f"no R package is there: {'; '.join(line.reason for line in lines)}")
    return found


@pytest.mark.sweep
@pytest.mark.r
def test_nothing_unexpected_is_found(lines):
    assert [line for line in lines if line.is_unexpected] == []


@pytest.mark.sweep
@pytest.mark.r
def test_every_package_is_compared_or_absent(lines):
    assert {package_of(line) for line in lines} == {package.name for package in R_PACKAGES}
    for line in lines:
        if line.verdict is Verdict.ABSENT:
            assert line.reason.endswith(" of Debian and Ubuntu")


@pytest.mark.sweep
@pytest.mark.r
def test_definitions_are_these_and_no_others(lines, present):
    found = {(package_of(line), line.quantity) for line in lines if line.verdict is Verdict.EXPECTED}
    assert found == {(package, quantity) for package, quantity in DEFINITIONS if package in present}


@pytest.mark.sweep
@pytest.mark.r
def test_a_line_sums_up_each_package(lines, present):
    whole = {package_of(line): line for line in lines if line.quantity == WHOLE_PACKAGE}
    assert whole.keys() == present
    for package, line in whole.items():
        others = [other for other in lines if package_of(other) == package and other is not line]
        agreeing = [other for other in others if other.verdict is Verdict.AGREES]
        assert line.difference == max(other.difference for other in agreeing)
        assert f" to {count_digits(line.difference)} digits or more" in line.reason
        assert line.reason.startswith(f"{len(agreeing)} line")


def off_by(function, error=1e-6):
    return lambda *args, **options: function(*args, **options) + error


@pytest.mark.sweep
@pytest.mark.r
def test_a_broken_score_is_noticed(monkeypatch, present):
    monkeypatch.setattr(scores, "brier", off_by(scores.brier))
    found = {package_of(line) for line in compare() if line.is_unexpected and line.quantity == WHOLE_PACKAGE}
    assert found == {"rms", "survey", "clubSandwich"} & present


@pytest.mark.sweep
@pytest.mark.r
def test_broken_errors_and_definitions_are_noticed(monkeypatch, present):
    """Also where the definition of a package is imitated."""
    monkeypatch.setattr(mean_errors, "hac_error", off_by(mean_errors.hac_error))
    monkeypatch.setattr(scores, "roc_auc", off_by(scores.roc_auc))
    monkeypatch.setattr(scores, "quadratic_weighted_kappa", off_by(scores.quadratic_weighted_kappa))
    found = {(package_of(line), line.quantity) for line in compare() if line.is_unexpected}
    expected = {
        ("pROC", "AUC of two models"),
        ("rms", "AUC and Somers' D, all of these cases"),
        ("sandwich", "Newey and West's error of a mean difference"),
        ("psych", "quadratic weighted kappa"),
    }
    assert {pair for pair in expected if pair[0] in present} <= found


@pytest.mark.r
@pytest.mark.usefixtures("base_r")
def test_packages_that_are_not_installed_are_absent(monkeypatch, tmp_path):
    for name in ("R_LIBS", "R_LIBS_SITE", "R_LIBS_USER"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("R_ENVIRON", "R_ENVIRON_USER"):  # files that may name other libraries
        monkeypatch.setenv(name, str(tmp_path / "missing"))
    found = compare(1)
    assert [(line.subject, line.verdict) for line in found] == [
        (package.name, Verdict.ABSENT) for package in R_PACKAGES
    ]
    assert found[0].reason.startswith("there is no package called")
    assert found[0].reason.endswith(
        "To fix: install.packages('pROC') in R, or r-cran-proc of Debian and Ubuntu"
    )


def test_without_r_they_are_absent(monkeypatch):
    def find(_):
        raise Unavailable("R is not installed.", "install R")

    monkeypatch.setattr(r_packages, "find_r", find)
    (line,) = compare(1)
    assert (line.subject, line.verdict) == ("R packages", Verdict.ABSENT)
    assert line.reason == "R is not installed. To fix: install R"


@pytest.mark.r
@pytest.mark.usefixtures("base_r")
def test_r_that_does_not_answer_is_a_failure(monkeypatch, tmp_path):
    broken = tmp_path / "broken.R"
    broken.write_text("operations <- list(hello = function() quit(status = 3))\n", encoding="utf-8")
    monkeypatch.setattr(r_packages, "_SOURCES", (r_packages._SOURCES[0], broken))
    (line,) = compare(1)
    assert line.verdict is Verdict.FAILED
    assert line.reason.startswith("R ended with exit code 3 before it answered.")


@pytest.mark.parametrize(
    ("difference", "digits"), [(0.0, 15), (1e-17, 15), (3e-13, 12), (1e-12, 12), (0.02, 1), (40.0, 0)]
)
def test_digits(difference, digits):
    assert count_digits(difference) == digits


def test_a_package_that_differs_is_named_with_its_quantities():
    def line(verdict, difference=None, quantity="AUC"):
        return Comparison(subject="p 1", quantity=quantity, verdict=verdict, difference=difference)

    agreeing = [line(Verdict.AGREES, 1e-9), line(Verdict.AGREES, 2e-14), line(Verdict.EXPECTED)]
    assert r_packages._sum_up("p 1", agreeing).reason == (
        "2 lines agree to 9 digits or more; 1 other differs by definition. The worst: AUC."
    )
    broken = r_packages._sum_up("p 1", [*agreeing, line(Verdict.DIFFERS, 1.0, "slope")])
    assert (broken.verdict, broken.reason) == (Verdict.DIFFERS, "It differs in slope.")
    assert r_packages._sum_up("p 1", [line(Verdict.NOT_COMPARED)]).verdict is Verdict.NOT_COMPARED
