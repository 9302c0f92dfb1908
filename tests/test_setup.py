"""What the set-up must have brought: the renderer's libraries, pins for every requirement."""

from __future__ import annotations

import os
import re
import subprocess
import time
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from validation.limit_page import render_limit_page
from validation.score_page import render_score_page

REPOSITORY = Path(__file__).resolve().parents[1]


def normalise(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def test_weasyprint_finds_pango():
    from weasyprint import HTML

    assert HTML(string="<p>ready</p>").write_pdf().startswith(b"%PDF-")


def test_the_lock_pins_every_requirement_plainly():
    lines = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9.-]+==[A-Za-z0-9.+!]+", pin) for pin in pins)
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = sum(project["optional-dependencies"].values(), project["dependencies"])
    names = {normalise(re.match(r"[\w.-]+", requirement).group()) for requirement in wanted}
    assert names <= {normalise(pin.partition("==")[0]) for pin in pins}
    assert set(project["optional-dependencies"]) == {
        "r",
        "sign",
        "spark",
        "serve",
        "excel",
        "mlflow",
        "sklearn",
        "postgres",
        "dev",
    }


def read_requirements():
    """All direct requirements, with those that build the package."""
    declared = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    extras = declared["project"]["optional-dependencies"]
    return [*declared["build-system"]["requires"], *sum(extras.values(), declared["project"]["dependencies"])]


def test_every_requirement_has_one_lower_bound_and_the_lock_keeps_to_it():
    lines = (REPOSITORY / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if "==" in line and not line.startswith("#"))
    bounds = {}
    for requirement in read_requirements():
        assert len(Requirement(requirement).specifier) >= 1, requirement
        name, bound = re.match(r"([\w.-]+)(?:\[[\w,-]+\])?>=([\w.]+)", requirement).groups()
        assert Requirement(requirement).specifier.contains(pins[normalise(name)]), requirement
        bounds.setdefault(normalise(name), set()).add(bound)
    assert {name: found for name, found in bounds.items() if len(found) > 1} == {}


@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("pyarrow", "19.0"),  # pyarrow.concat_batches
        ("duckdb", "2.0"),  # earlier ones do not close every door
        ("rich", "14.3"),  # earlier ones make a table a column wider than its widths and gaps
        ("fonttools", "4.59.2"),  # weasyprint 70 wants it
        ("jinja2", "3.1.6"),  # templates got out of the sandbox
        ("filelock", "3.20.1"),  # the lock of a link emptied what it leads to
    ],
)
def test_bounds_that_were_found_too_low_are_not_lowered(name, least):
    (requirement,) = (text for text in read_requirements() if Requirement(text).name == name)
    assert Version(requirement.partition(">=")[2]) >= Version(least)


def test_the_tests_of_the_lower_bounds_are_there():
    """`make test-lowest` names files that exist, and is listed by `make help`."""
    text = (REPOSITORY / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    smoke = re.search(r"^SMOKE := \$\(addprefix tests/,(.*)\)$", text, re.MULTILINE)[1].split()
    assert len(smoke) >= 15
    for name in smoke:
        file, _, test = name.partition("::")
        assert f"def {test}" in (REPOSITORY / "tests" / file).read_text(encoding="utf-8")
    assert re.search(r"^test-lowest: ## ", text, re.MULTILINE)


@pytest.fixture
def set_up(tmp_path):
    """Call what `.ci/setup` does about the R package; the arguments of the command."""
    text = (REPOSITORY / ".ci" / "setup").read_text(encoding="utf-8")
    functions = text[text.index("# ---- The R package") : text.index("\ngoal=")]
    command = tmp_path / "venv" / "bin" / "scorereport"
    command.parent.mkdir(parents=True)

    def call(exit_code, goal="demo", may_install="true", has_r="true"):
        command.write_text(f'#!/bin/sh\necho "$@"\nexit {exit_code}\n', encoding="utf-8")
        command.chmod(0o755)
        code = (
            f"set -euo pipefail\nVENV={tmp_path}/venv goal={goal}\n"
            f"may_install() {{ {may_install}; }}\nhas_r() {{ {has_r}; }}\n{functions}\n"
            "! wants_r_package || install_r_package\necho done"
        )
        done = subprocess.run(["bash", "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout == "done\n"
        return done.stderr.strip()

    return call


INSTALLS = "r-setup --at-most 20"


def test_the_r_package_is_installed_once(set_up):
    assert set_up(0, goal="lowest") == ""
    assert set_up(0, has_r="false") == ""
    assert set_up(0) == f"{INSTALLS} --system"
    assert [set_up(0), set_up(0, goal="test")] == ["", ""]


def test_where_the_r_package_could_not_be_installed_another_attempt_is_made_a_day_later(tmp_path, set_up):
    assert set_up(2, may_install="false") == INSTALLS
    assert [set_up(2), set_up(2, goal="test")] == ["", ""]
    stamp, a_day_ago = tmp_path / "venv" / ".r-package-tried", time.time() - 86_400 - 60
    os.utime(stamp, (a_day_ago, a_day_ago))
    assert set_up(2) == f"{INSTALLS} --system"
    assert set_up(2) == ""


def test_no_registry_is_named():
    for path in (REPOSITORY / "requirements.lock", REPOSITORY / "Makefile", REPOSITORY / ".ci" / "setup"):
        assert "://" not in path.read_text(encoding="utf-8")


def test_the_page_of_scores_is_current():
    page = (REPOSITORY / "docs" / "scores.md").read_text(encoding="utf-8")
    assert page == render_score_page(), "run `make docs`"


def test_the_page_of_limits_is_current():
    page = (REPOSITORY / "docs" / "limits.md").read_text(encoding="utf-8")
    assert page == render_limit_page(), "run `make docs`"
