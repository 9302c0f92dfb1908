"""Runs the code of a documentation page and compares its output with what the page shows.

The module uses the standard library alone, so that any environment can run it, such as one that holds
nothing but the wheel: `python page_runner.py PAGE [--figures FOLDER]`, in an empty folder. In blocks of
`python`, lines after `>>>` run as doctests that share their names. In blocks of `console`, lines after `$`
run by bash; output that follows a command is compared, and `...` stands for any text. Figures that are open
after a block are saved as BLOCK-FIGURE.svg and closed.
"""

from __future__ import annotations

import argparse
import doctest
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NEEDS = re.compile(r"^<!-- needs: (.+) -->$", re.MULTILINE)
_HEREDOC = re.compile(r"<<-? *['\"]?(\w+)['\"]?")
_OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
#: Separates the outputs of the commands of a block.
_MARK = "\x1e"


@dataclass(frozen=True)
class Block:
    """A fenced block of code that runs, with the line of the page where its code begins."""

    language: str
    code: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a console block, and the output that the page shows; empty if it shows none."""

    text: str
    expected: str


def list_blocks(page: str) -> list[Block]:
    r"""Return the blocks of a page that run.

    >>> list_blocks("Text\n\n```console\n$ ls\n```\n")
    [Block(language='console', code='$ ls\n', line=4)]
    """
    return [
        Block(found[1], found[2], page.count("\n", 0, found.start(2)) + 1) for found in _FENCE.finditer(page)
    ]


def list_needs(page: str) -> list[str]:
    r"""Return what a page states as needed beyond the package: its extras, and other packages.

    >>> list_needs("# A page\n<!-- needs: excel, sklearn -->\n")
    ['excel', 'sklearn']
    """
    return [name.strip() for found in _NEEDS.findall(page) for name in found.split(",")]


def list_commands(code: str) -> list[Command]:
    r"""Return the commands of a block; here-documents, and lines after a backslash, belong to their command.

    >>> list_commands("$ cat <<END\na\nEND\n$ ls \\\n    -a\nfile\n")
    [Command(text='cat <<END\na\nEND', expected=''), Command(text='ls \\\n    -a', expected='file\n')]
    """
    commands: list[tuple[list[str], list[str]]] = []
    end = ""
    for line in code.splitlines():
        if end or (commands and not commands[-1][1] and commands[-1][0][-1].endswith("\\")):
            commands[-1][0].append(line)
            end = "" if line == end else end
        elif line.startswith("$ "):
            commands.append(([line[2:]], []))
            found = _HEREDOC.search(line)
            end = found[1] if found else ""
        elif commands:
            commands[-1][1].append(line)
    return [Command("\n".join(text), "".join(f"{one}\n" for one in shown)) for text, shown in commands]


def run_page(path: Path, figures: Path | None = None) -> list[str]:
    """Run the blocks of a page in the current folder, and return the differences from what it shows."""
    names: dict[str, Any] = {"__name__": "__main__"}
    problems = []
    for number, block in enumerate(list_blocks(path.read_text(encoding="utf-8"))):
        where = f"{path.name}, line {block.line}"
        problems += (
            _run_python(block, names, where) if block.language == "python" else _run_shell(block, where)
        )
        _save_figures(figures, number)
    return problems


def _run_python(block: Block, names: dict[str, Any], where: str) -> list[str]:
    examples = doctest.DocTestParser().get_examples(block.code)
    if not examples:
        return [f"{where}: a block of Python without >>> does not run"]
    test = doctest.DocTest(examples, names, where, where, block.line - 1, block.code)
    failures: list[str] = []
    runner = doctest.DocTestRunner(optionflags=_OPTIONS, verbose=False)
    runner.run(test, out=failures.append, clear_globs=False)
    names.update(test.globs)
    return ["".join(failures)] if failures else []


def _run_shell(block: Block, where: str) -> list[str]:
    commands = list_commands(block.code)
    script = "set -e\n" + "".join(f"{one.text}\nprintf '{_MARK}'\n" for one in commands)
    environment = {
        **os.environ,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }
    done = subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    outputs = done.stdout.split(_MARK)
    if done.returncode:
        failed = commands[len(outputs) - 1].text
        return [f"{where}: exit code {done.returncode} of {failed!r}: {done.stderr.strip()}"]
    checker = doctest.OutputChecker()
    return [
        f"{where}: {command.text!r} printed\n{output}instead of\n{command.expected}"
        for command, output in zip(commands, outputs, strict=False)
        if command.expected and not checker.check_output(command.expected, output, _OPTIONS)
    ]


def _save_figures(folder: Path | None, block: int) -> None:
    """Save and close the figures that are open, if the page has loaded Matplotlib."""
    if "matplotlib.pyplot" not in sys.modules:
        return
    from matplotlib import pyplot

    for number in pyplot.get_fignums():
        if folder is not None:
            pyplot.figure(number).savefig(folder / f"{block}-{number}.svg", metadata={"Date": None})
    pyplot.close("all")


def main() -> int:
    """Run the page that the command line names; the exit code is 1 if it differs from what it shows."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("--figures", type=Path)
    given = parser.parse_args()
    os.environ.setdefault("MPLBACKEND", "agg")
    os.environ.setdefault("XDG_CONFIG_HOME", str(Path(".config").resolve()))  # for the keys of audits
    os.environ.pop("COLUMNS", None)  # pages show whole lines, whatever the terminal of their reader
    sys.path.pop(0)  # the folder of this script, whose modules a page must not find
    problems = run_page(given.page, given.figures)
    sys.stderr.write("".join(f"{problem}\n" for problem in problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
