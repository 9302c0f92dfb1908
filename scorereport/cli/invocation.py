"""The command line that was given, as reports carry it."""

from __future__ import annotations

import shlex
import sys

from scorereport._utils.redaction import Redactor, find_literal_secret, find_passwords

_PROGRAM_NAME = "scorereport"
#: Options that say where and how to write, not what; with those that take a value.
_OUTPUT_OPTIONS = {
    "--output": 1,
    "-o": 1,
    "--quiet": 0,
    "--debug": 0,
    "--sign": 1,
    "--date": 1,
    "--strict": 0,
    "--temporary-folder": 1,
}


def describe_command() -> str:
    """The command that was given, without what does not change the results, and without passwords."""
    words, kept = iter(sys.argv[1:]), [_PROGRAM_NAME]
    for word in words:
        is_short = word.startswith("-o")  # which may have its value glued on
        name = word[:2] if is_short else word.partition("=")[0]
        if name not in _OUTPUT_OPTIONS:
            kept.append(word)
        elif _OUTPUT_OPTIONS[name] and word == name:
            next(words, None)
    return shlex.join(
        Redactor(find_passwords(word)).redact(word) if find_literal_secret(word) else word for word in kept
    )
