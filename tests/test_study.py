"""The validation study as a user runs it: whole, with a broken engine, and without R."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter

import jsonschema
import numpy as np
import pytest
from conftest import REPOSITORY

from scorereport.reference.comparison_records import UNEXPECTED, Comparison, Verdict
from scorereport.reference.deviations import divides_by_no_density
from scorereport.reference.live_references import PACKAGE, open_reference
from scorereport.reference.model_comparison import _without_flat_corners
from scorereport.reference.reference_documents import Study, StudyFigure
from scorereport.study.installation_checks import check_installation, software_versions
from scorereport.study.r_comparison import LiveCases, LiveComparison
from scorereport.study.seeded_cases import CASE_SHAPES, MILLION, draw_cases
from scorereport.study.validation_study import _section
from validation.schemas import FOLDER, schemas

SECTIONS = ["installation", "operation", "reliabilitydiag", "defects", "base-r", "recorded"]
SECTIONS += ["peers", "r-packages", "papers", "errata"]

#: The study with one number of the engine wrong by 1e-6: the score of the recalibrated forecast.
BROKEN = """
import sys
from scorereport.reliability import decomposition
from scorereport.report import study_output
study_output.render_pdf = lambda html, created: b"%PDF- as another test sets it"
from scorereport.study import validation_study
validation_study.illustrate_nelson = tuple  # papers and errata have their own tests
validation_study._reproduce = validation_study._check_errata = lambda *_: iter(())
validation_study.check_installation = validation_study.check_operation = lambda *_: iter(())  # no numbers
validation_study.compare_with_r_packages = lambda *_: iter(())  # another test breaks what they compute
from scorereport.reference import band_comparison
band_comparison.OUR_DRAWS = 200  # bands are not broken here
right = decomposition.mean_at
decomposition.mean_at = lambda *given: right(*given) + 1e-6
from scorereport.cli import main
sys.argv[1:] = ["validate", "--cases", "2", "--quiet", "-o", sys.argv[1]]
main()
"""

#: The study without PDFs, which another test renders: they do not need R.
STRICT = """
import sys
from scorereport.report import study_output
study_output.render_pdf = lambda html, **_: b"%PDF- as another test sets it"
from scorereport.reference import band_comparison
band_comparison.OUR_DRAWS = 1000  # a fifth: the whole study uses all
from scorereport.study import validation_study
validation_study._check_errata = lambda: iter(())
validation_study.illustrate_nelson = tuple  # the whole study covers what needs no R
validation_study.reproduce_flores = validation_study.reproduce_galdran = lambda: iter(())
validation_study.reproduce_nelson = validation_study.reproduce_ahmadian = lambda: iter(())
from scorereport.cli import main
sys.argv[1:] = ["validate", "--cases", "3", "--strict", "-o", sys.argv[1]]
main()
"""


def validate(folder, program=("-m", "scorereport", "validate", "--cases", "3"), **environment):
    """Run the study in its own process; return the finished process and the document."""
    target = [str(folder)] if "-c" in program else ["-o", str(folder)]
    done = subprocess.run(
        [sys.executable, *program, *target],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        timeout=900,
    )
    return done, json.loads((folder / "validation-report.json").read_text(encoding="utf-8"))


def verdicts(document, key):
    section = next(section for section in document["sections"] if section["key"] == key)
    return Counter(line["verdict"] for line in section["comparisons"])


def assert_known_defects_are_shown(document):
    found = verdicts(document, "defects")
    assert found.keys() <= {Verdict.EXPECTED.value, Verdict.AGREES.value}
    assert found.total() == 6


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_the_whole_study_passes_and_is_written(tmp_path):
    done, document = validate(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [section["key"] for section in document["sections"]] == SECTIONS
    lines = [line for section in document["sections"] for line in section["comparisons"]]
    assert not [line for line in lines if line["verdict"] in UNEXPECTED]
    assert verdicts(document, "reliabilitydiag")["agrees"] > 30
    assert verdicts(document, "papers")["not compared"] == 0  # the Niamey data came from the package
    assert_known_defects_are_shown(document)
    shown = {
        section["key"]: [figure["key"] for figure in section["figures"]] for section in document["sections"]
    }
    assert {"nelson-2", "nelson-7"} <= set(shown.pop("papers"))
    assert not any(shown.values())
    jsonschema.validate(document, Study.json_schema())
    assert (tmp_path / "validation-report.pdf").read_bytes().startswith(b"%PDF-")
    html = (tmp_path / "validation-report.html").read_text(encoding="utf-8")
    assert "Passed: no unexpected difference in" in html
    assert all(section["title"] in html for section in document["sections"])
    assert all(line.startswith("progress: ") for line in done.stderr.splitlines())
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".partial", ".lock")]


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_an_engine_broken_by_1e_6_fails_the_study(tmp_path):
    done, document = validate(tmp_path, program=("-c", BROKEN))
    assert done.returncode == 5
    for key in ("reliabilitydiag", "base-r", "recorded", "peers"):
        assert verdicts(document, key)["differs"] > 0, key
    assert "MCB: differs" in done.stdout
    assert "Failed" in (tmp_path / "validation-report.html").read_text(encoding="utf-8")


@pytest.mark.sweep
def test_without_r_the_study_names_what_it_did_not_compare(tmp_path):
    done, document = validate(tmp_path, program=("-c", STRICT), PATH=str(tmp_path), R_HOME="")
    assert done.returncode == 3, done.stdout + done.stderr
    for key in ("reliabilitydiag", "base-r"):
        assert verdicts(document, key) == {"absent": 1}
    assert verdicts(document, "r-packages") == {"absent": 1}
    assert verdicts(document, "recorded")["agrees"] > 30
    assert verdicts(document, "papers")["not compared"] > 0
    jsonschema.validate(document, Study.json_schema())
    html = (tmp_path / "validation-report.html").read_text(encoding="utf-8")
    assert "R is not installed: there is no Rscript on the path." in html


def test_cases_have_every_shape_and_are_repeatable():
    cases, again = (list(draw_cases(300, seed=2021)) for _ in range(2))
    assert {case.shape for case in cases} == set(CASE_SHAPES)
    assert len(cases) == len({case.name for case in cases}) == 300
    assert len(cases[-1].y_true) == MILLION
    for case, same in zip(cases, again, strict=True):
        assert case.name == same.name
        assert (case.y_true == same.y_true).all()
        assert (case.y_prob == same.y_prob).all()


def test_cases_match_their_names():
    by_name = {case.name: case for case in draw_cases(60, seed=7)}
    assert len(set(by_name["constant 1"].y_prob)) == 1
    assert set(by_name["0/1 forecasts 1"].y_prob) >= {0.0, 1.0}
    assert len(set(by_name["one class 1"].y_true)) == 1
    assert len(by_name["two rows 1"].y_true) == 2
    assert by_name["float32 1"].y_prob.dtype == "float32"
    assert by_name["rare events 2"].y_true.mean() < 0.1
    assert (by_name["rounded 1"].y_prob.round(2) == by_name["rounded 1"].y_prob).all()


@pytest.mark.sweep
@pytest.mark.r
@pytest.mark.usefixtures("r_package")
def test_live_cases_agree_and_are_counted():
    asked = LiveCases(cases=11, seed=3, time_limit=120)
    with open_reference(PACKAGE, 120) as reference, LiveComparison(reference, asked) as live:
        lines = list(live.wait().describe())
    assert not [line for line in lines if line.is_unexpected]
    by_quantity = {line.quantity: line for line in lines if line.subject == "All shapes"}
    assert by_quantity["Brier score: MCB"].reason == "11 cases"
    assert {line.quantity for line in lines if line.subject == "Shapes"} == set(CASE_SHAPES[:-1])


@pytest.mark.sweep
def test_the_installation_names_every_library():
    lines = {line.quantity: line for line in check_installation(time_limit=120)}
    for name in ("numpy", "scipy", "pandas", "weasyprint", "jinja2", "files: templates", "files: recorded"):
        assert lines[name].verdict is Verdict.PASSED
    assert lines["numpy"].reason == software_versions()["numpy"]
    assert lines["files as delivered"].verdict in {Verdict.PASSED, Verdict.NOT_COMPARED}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("name", schemas())
def test_schemas_on_file_are_those_of_the_classes(name):
    assert json.loads((FOLDER / name).read_text(encoding="utf-8")) == schemas()[name]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The package as a wheel, as users install it."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", str(folder), "."],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        pytest.skip(f"no wheel can be built here: {done.stderr.strip().splitlines()[-1]}")
    return next(folder.glob("*.whl"))


@pytest.mark.sweep
def test_a_wheel_has_templates_records_schemas_and_r_code(wheel, tmp_path):
    shutil.unpack_archive(wheel, tmp_path, "zip")
    package = tmp_path / "scorereport"
    for file in (
        "templates/validation.html",
        "recorded/reliabilitydiag.json",
        "schemas/study-1.json",
        "reference/r/package.R",
    ):
        assert (package / file).is_file(), file
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from scorereport.reference.recorded_answers import describe_recorded_answers as d; print(d())",
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
    )
    assert "recorded answers of reliabilitydiag" in done.stdout


def test_a_section_that_stops_keeps_its_lines_and_fails():
    def lines():
        yield Comparison(subject="a", quantity="b", verdict=Verdict.AGREES)
        raise RuntimeError("no more")

    section = _section("key", "Title", "text", lines())
    assert [line.verdict for line in section.comparisons] == [Verdict.AGREES, Verdict.FAILED]
    assert section.comparisons[-1].reason == "The section stopped: RuntimeError: no more"


def test_figures_that_stop_remove_no_comparison():
    def shown():
        yield StudyFigure(key="a", subject="b", title="c", caption="d", panels=())
        raise RuntimeError("no more")

    lines = [Comparison(subject="a", quantity="b", verdict=Verdict.AGREES)]
    section = _section("key", "Title", "text", lines, shown())
    assert [figure.key for figure in section.figures] == ["a"]
    assert [line.verdict for line in section.comparisons] == [Verdict.AGREES, Verdict.FAILED]


def test_only_corners_between_which_a_curve_rises_are_kept():
    """A rise by rounding does not count."""
    forecast, cep = np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.2, 0.2, 0.2 + 1e-15, 0.5])
    np.testing.assert_array_equal(_without_flat_corners(forecast, cep)[0], [0.1, 0.3, 0.4])


@pytest.mark.parametrize(("forecast", "is_excused"), [(0.99, False), (1.0, True)])
def test_missing_bounds_are_excused_only_where_no_kernel_reaches(forecast, is_excused):
    missing = np.array([np.nan])
    found = divides_by_no_density(np.full(10, forecast), np.array([0.0]), missing, missing)
    assert found.tolist() == [is_excused]
