"""Extension of Sphinx that runs the code of pages while the site is built, and shows the figures it draws.

A page whose code fails, or prints something other than it shows, is a warning of the build.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.util import logging

from validation.documentation.page_runner import list_blocks
from validation.documentation.source_digest import digest_package

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

_RUNNER = Path(__file__).with_name("page_runner.py")
_REPOSITORY = Path(__file__).resolve().parents[2]
#: Folder of the figures.
_FIGURES = _REPOSITORY / "build" / "figures"
_log = logging.getLogger(__name__)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the extension; `executed_pages` in conf.py lists the folders and pages that run."""
    app.add_config_value("executed_pages", (), "env", list)
    app.connect("env-get-outdated", _list_outdated)
    app.connect("env-before-read-docs", _run_pages)
    app.connect("source-read", _show_figures)
    return {"parallel_read_safe": True}


def _list_outdated(app: Sphinx, *_: object) -> list[str]:
    """Return the pages that run and have not yet run with the present package."""
    return [name for name in app.env.found_docs if _is_executed(app, name) and not _has_passed(app, name)]


def _run_pages(app: Sphinx, _: BuildEnvironment, names: list[str]) -> None:
    """Run the pages that are about to be read, as many at a time as there are processors."""
    chosen = [name for name in names if _is_executed(app, name) and not _has_passed(app, name)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        outcomes = threads.map(lambda name: _run_page(app, name), chosen)
        for name, problems in zip(chosen, outcomes, strict=True):
            if problems:
                _log.warning("the code of this page fails:\n%s", problems, location=name)
            else:
                _name_record(name).write_text(_digest_page(app, name), encoding="utf-8")


def _has_passed(app: Sphinx, name: str) -> bool:
    """Whether this page has run with this package, so that its figures are current."""
    record = _name_record(name)
    return record.is_file() and record.read_text(encoding="utf-8") == _digest_page(app, name)


def _name_record(name: str) -> Path:
    return _FIGURES / name / "passed.sha256"


def _digest_page(app: Sphinx, name: str) -> str:
    page = (app.srcdir / f"{name}.md").read_bytes()
    return hashlib.sha256(page + _digest_package().encode()).hexdigest()


@cache
def _digest_package() -> str:
    return digest_package(_REPOSITORY)


def _is_executed(app: Sphinx, name: str) -> bool:
    return any(name == place or name.startswith(f"{place}/") for place in app.config.executed_pages)


def _run_page(app: Sphinx, name: str) -> str:
    """Run a page in an empty folder and return what went wrong; empty if nothing did."""
    figures = _FIGURES / name
    figures.mkdir(parents=True, exist_ok=True)
    for old in figures.glob("*.svg"):
        old.unlink()
    environment = {**os.environ, "PYTHONPATH": str(_REPOSITORY)}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(_RUNNER), str(app.srcdir / f"{name}.md"), "--figures", str(figures)],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    return done.stderr if done.returncode else ""


def _show_figures(app: Sphinx, name: str, source: list[str]) -> None:
    """Add the figures of a page after the blocks that draw them."""
    if not _is_executed(app, name):
        return
    lines = source[0].splitlines(keepends=True)
    numbered = list(enumerate(list_blocks(source[0])))
    for number, block in reversed(numbered):
        figures = sorted((_FIGURES / name).glob(f"{number}-*.svg"), key=_number_figure)
        end = block.line + block.code.count("\n")  # the index of the line after the fence
        lines[end:end] = _write_images(app.srcdir / name, figures)
    source[0] = "".join(lines)


def _number_figure(path: Path) -> int:
    return int(path.stem.partition("-")[2])


def _write_images(page: Path, figures: Iterable[Path]) -> list[str]:
    """The lines of Markdown that show figures, below the code that draws them."""
    places = [os.path.relpath(figure, page.parent) for figure in figures]
    return [f"\n![The figure that the code above draws]({place})\n" for place in places]
