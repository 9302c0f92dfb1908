"""Runs the examples of a page in order: Python as doctests in one process, shell lines in a shell."""

from __future__ import annotations

import doctest
import os
import re
import stat
import subprocess
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def list_blocks(page):
    """Kind, text and first line of each block of code."""
    text = page.read_text(encoding="utf-8")
    return [(kind, block, text.count("\n", 0, at) + 2) for kind, block, at in _find_blocks(text)]


def _find_blocks(text):
    return [(found[1], found[2], found.start()) for found in FENCE.finditer(text)]


def split_commands(block):
    """The commands of a console block, each with its here-document, and the output that follows it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [_split_command(part) for part in parts]


def _split_command(part):
    here = re.match(r".*<<'(\w+)'\n.*?^\1\n", part, re.MULTILINE | re.DOTALL)
    line = here or re.match(r"(?:.*\\\n)*.*\n", part)
    return line[0], part[line.end() :]


def make_commands(folder):
    """A folder with the commands of the package and of pytest, for the Python that runs the tests."""
    folder.mkdir()
    for name, module in (("scorereport", "scorereport"), ("pytest", "pytest"), ("python", None)):
        start = f'exec "{sys.executable}"{f" -m {module}" if module else ""} "$@"\n'
        (folder / name).write_text(f"#!/bin/sh\n{start}", encoding="utf-8")
        (folder / name).chmod(stat.S_IRWXU)
    return folder


def run_page(page, folder, commands):
    """Run all examples of a page in a folder; the first that does not print what the page says raises."""
    environment = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTEST_PLUGINS": "scorereport.pipelines.pytest_plugin",  # an installed package brings it
        "PYTEST_ADDOPTS": "-p no:cacheprovider",
        "PYTHONIOENCODING": "utf-8",
    }
    names = {"__name__": "__main__"}
    for kind, block, line in list_blocks(page):
        if kind == "python":
            run_python(block, names, f"{page.name}, line {line}")
        else:
            for command, expected in split_commands(block):
                run_command(command, expected, folder, environment)


def run_python(block, names, where):
    test = doctest.DocTestParser().get_doctest(block, names, where, where, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a reader sees those of other packages, but need not act on them
        doctest.DebugRunner(optionflags=FLAGS).run(test, clear_globs=False)
    names.update(test.globs)


def run_command(command, expected, folder, environment):
    ran = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    found = ran.stdout.replace("\n\n", "\n")
    if expected.strip():
        assert doctest.OutputChecker().check_output(expected, found, FLAGS), f"{command}{found}{ran.stderr}"
    else:
        assert ran.returncode == 0, f"{command}{found}{ran.stderr}"
