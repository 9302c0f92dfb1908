"""What the set-up must have brought: the renderer's libraries, pins for every requirement."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

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
    assert set(project["optional-dependencies"]) == {"r", "sign", "spark", "serve", "postgres", "dev"}


def test_no_registry_is_named():
    for path in (REPOSITORY / "requirements.lock", REPOSITORY / "Makefile", REPOSITORY / ".ci" / "setup"):
        assert "://" not in path.read_text(encoding="utf-8")


def test_the_page_of_scores_is_current():
    page = (REPOSITORY / "docs" / "scores.md").read_text(encoding="utf-8")
    assert page == render_score_page(), "run `make docs`"
