"""Compiled templates, which are kept as Python keeps compiled modules."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_RENDER = """
import sys
from jinja2 import Environment
from scorereport.report import templates
compiled = []
original = Environment.compile
def compile(self, source, name=None, *rest, **options):
    compiled.append(name)
    return original(self, source, name, *rest, **options)
Environment.compile = compile
{before}
templates.compile_templates("base.html", "macros.html")
page = templates.render_html("macros.html", {{}})
print(len(compiled), len(page))
"""


def render(kept, before="", **environment):
    """Compile two templates in a new process that keeps compiled files; return how many it compiled."""
    variables = os.environ | {"PYTHONPYCACHEPREFIX": str(kept), "PYTHONDONTWRITEBYTECODE": ""} | environment
    program = _RENDER.format(before=before)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=variables
    )
    return int(done.stdout.split()[0])


def list_kept(folder):
    return sorted(folder.rglob("template-*"))


def test_a_template_is_compiled_once(tmp_path):
    assert render(tmp_path) == 2
    kept = list_kept(tmp_path)
    assert len(kept) == 2
    assert all(path.parent.name == "report" and sys.implementation.cache_tag in path.name for path in kept)
    assert render(tmp_path) == 0
    assert list_kept(tmp_path) == kept


@pytest.mark.sweep
def test_nothing_is_kept_if_python_keeps_no_compiled_files(tmp_path):
    assert render(tmp_path, PYTHONDONTWRITEBYTECODE="1") == 2
    assert list_kept(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    place = tmp_path / "file"
    place.write_text("no folder", encoding="utf-8")
    assert render(place) == 2


@pytest.mark.sweep
@pytest.mark.parametrize(
    "change",
    [
        "templates._SYNTAX |= {'trim_blocks': False}",
        "import jinja2; jinja2.__version__ = '99'",
        "import pathlib; read = pathlib.Path.read_text; "
        "pathlib.Path.read_text = lambda self, *a, **k: read(self, *a, **k) + '{# another #}'",
    ],
)
def test_another_template_syntax_or_version_of_jinja_is_compiled_again(tmp_path, change):
    render(tmp_path)
    assert render(tmp_path, change) == 2


@pytest.mark.sweep
def test_a_damaged_file_is_compiled_again(tmp_path):
    render(tmp_path)
    for path in list_kept(tmp_path):
        path.write_bytes(path.read_bytes()[:20])
    assert render(tmp_path) == 2


@pytest.mark.sweep
def test_templates_of_users_are_not_kept(tmp_path):
    own = tmp_path / "own"
    own.mkdir()
    (own / "mine.html").write_text("{{ 1 + 1 }}", encoding="utf-8")
    before = f"import pathlib; templates.render_html('mine.html', {{}}, templates=pathlib.Path({str(own)!r}))"
    assert render(tmp_path / "kept", before) == 3
    assert len(list_kept(tmp_path / "kept")) == 2
    assert list(own.iterdir()) == [own / "mine.html"]
