"""Arguments in a file: for programs that call the command line, whatever names contain and shells do to them."""

from __future__ import annotations

import json
from pathlib import Path

from scorereport.errors import UsageError

OPTION = "--arguments"


def expand_arguments(arguments: list[str]) -> list[str]:
    """Return the arguments, or those in a file if `--arguments FILE` is all that is given.

    >>> expand_arguments(["score", "--arguments"])
    ['score', '--arguments']
    """
    if arguments[:1] != [OPTION]:
        return arguments
    if len(arguments) != 2:
        raise UsageError(
            f"`{OPTION}` must be followed by the name of a file and nothing else: the file has all arguments."
        )
    return _read_arguments(Path(arguments[1]))


def _read_arguments(file: Path) -> list[str]:
    try:
        found = json.loads(file.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"`{OPTION}` must be a file with a JSON list of texts in UTF-8: {error}") from error
    if not isinstance(found, list) or not all(isinstance(argument, str) for argument in found):
        raise UsageError(f"`{OPTION}` must be a file with a JSON list of texts; {file} holds something else.")
    return found
