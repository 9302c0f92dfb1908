"""What R prints while it downloads and builds packages: how far it is, and why a package was not built."""

from __future__ import annotations

import re
from collections import deque
from itertools import pairwise

from scorereport._utils.progress import report_progress, report_start

#: R writes names in quotes of the language, and the file of a package as name_version.
_DOWNLOAD = re.compile(r"^trying URL '.*/([\w.]+)_[\d.-]+\.(?:tar\.gz|tgz|zip)'")
_BEGIN = re.compile(r"^(?:begin installing package|\* installing \*\w+\* package) .([\w.]+).")
_DONE = re.compile(r"^\* DONE \(([\w.]+)\)")
_FAILURE = re.compile(r"^ERROR: .* for package .([\w.]+).$")
_REASON = re.compile(r"\berror: |^Error\b|No space left on device", re.IGNORECASE)
#: What a compiler or R prints after the error itself, at the most.
_LINES_OF_A_REASON = 200


class BuildOutput:
    """Reports packages that R builds, such as "3 of 56: vctrs", and remembers errors.

    >>> output = BuildOutput(["vctrs", "bde"])
    >>> for line in ("x.c:1:10: error: no y.h", "ERROR: it failed for package 'bde'"):
    ...     output.take(line)
    >>> output.explain(["bde"])
    'the R package bde could not be built: x.c:1:10: error: no y.h'
    """

    def __init__(self, packages: list[str]) -> None:
        self._total = len(packages)
        self._downloaded: set[str] = set()
        self._begun: set[str] = set()
        self._done: set[str] = set()
        self._reasons: deque[str] = deque(maxlen=_LINES_OF_A_REASON)
        self._failures: dict[str, str] = {}

    def take(self, line: str) -> None:
        """Take a line that R printed."""
        if found := _DOWNLOAD.match(line):
            self._downloaded.add(found[1])
            report_start(f"downloading {len(self._downloaded)} of {self._total}: {found[1]}")
        elif found := _BEGIN.match(line):
            self._begin(found[1])
        elif found := _DONE.match(line):
            self._done.add(found[1])
        elif found := _FAILURE.match(line):
            self._failures.setdefault(found[1], self._first_reason(line))
            self._reasons.clear()
        else:
            self._reasons.append(line)

    def explain(self, failed: list[str]) -> str:
        """State why packages were not installed: the first error, or else what was not downloaded."""
        known = [name for name in failed if name in self._failures]
        if known:
            return f"the R package {known[0]} could not be built: {self._failures[known[0]]}"
        absent = [name for name in failed if name not in self._downloaded and name not in self._begun]
        if absent:
            return f"the R package {absent[0]} could not be downloaded"
        return f"the R package {failed[0]} could not be installed"

    def _begin(self, name: str) -> None:
        """Report a package once: R prints its beginning again where it was built beside others."""
        if name not in self._begun:
            self._begun.add(name)
            what = f"{len(self._begun)} of {self._total}: {name}"
            report_progress(what, len(self._done), self._total, unit="packages")

    def _first_reason(self, line: str) -> str:
        """The first error since the last failure; errors that follow from it come later."""
        lines = [*self._reasons, ""]
        for found, next_line in pairwise(lines):
            if _REASON.search(found):
                return f"{found} {next_line}" if found.endswith(":") else found
        return line
