"""Command channel: a program that reads the outcome of an audit as JSON from its standard input."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_plain, one_line
from scorereport._utils.processes import kill_process_group
from scorereport._utils.redaction import find_variables
from scorereport.channels import notification
from scorereport.channels.channel import Channel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.channels.channel import Problem
    from scorereport.channels.notification import Notification, SecretReader

#: Text that precedes a secret in an argument of a command.
_SECRET_WORD = re.compile(r"(?i)bearer\s|basic\s|(?:password|passwd|token|secret|api[_-]?key)\s*[=:]")


def _find_problems(command: tuple[str, ...]) -> Iterator[Problem]:
    if command and not command[0].strip():
        yield (), "must begin with a program; got an empty text."
    for argument in command:
        if find_variables(argument):
            yield (
                (),
                "is run without substitution of variables, in the whole environment; "
                f"got {argument!r}: read the variable in the program.",
            )
        elif _SECRET_WORD.search(argument):
            yield (
                (),
                "must hold no secrets, because reports contain their configuration: "
                "read them from the environment in the program.",
            )


def run_command(command: tuple[str, ...], message: Notification, _: SecretReader) -> list[str]:
    """Run a program, without a shell, that reads the outcome from its standard input; return problems."""
    import subprocess
    import tempfile

    variables = {f"SCOREREPORT_{name}": value.replace("\0", "") for name, value in message.variables.items()}
    # Files rather than pipes: a process that the program leaves behind could hold a pipe open for ever.
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stderr:
        stdin.write(message.body)
        stdin.seek(0)
        process = subprocess.Popen(
            command,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env={**os.environ, **variables},
            cwd=message.folder,
            start_new_session=True,
        )
        try:
            code = process.wait(notification.COMMAND_LIMIT)
        except subprocess.TimeoutExpired:
            kill_process_group(process)
            process.wait()
            limit = format_plain(notification.COMMAND_LIMIT)
            return [f"the command took longer than {limit} seconds and was stopped."]
        stderr.seek(0)
        return [] if code == 0 else [_describe_exit(code, stderr.read())]


def _describe_exit(code: int, output: bytes) -> str:
    lines = [line for line in map(one_line, output.decode("utf-8", "replace").splitlines()) if line]
    ending = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    return f"the command {ending}" + (f": {lines[-1]}" if lines else " without an error message.")


CHANNEL = Channel(
    name="command",
    help="a program and its arguments; it receives the notification as JSON on its standard input",
    table=tuple[str, ...],
    find_problems=_find_problems,
    send=run_command,
    rank=1,
)
