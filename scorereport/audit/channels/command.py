"""Telling by a command: a program that reads the outcome."""

from __future__ import annotations

import os
import subprocess
import tempfile
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import one_line
from scorereport._utils.scorereport_processes import kill_process_group
from scorereport.audit.channels import limits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from scorereport.audit.channels.news import Notification


def run_command(command: Sequence[str], news: Notification, folder: Path | None) -> list[str]:
    """Run a program, without a shell, that reads the outcome from its standard input."""
    # Files rather than pipes: programs that it leaves behind could hold a pipe open for ever.
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as said:
        given.write(news.body)
        given.seek(0)
        process = subprocess.Popen(
            command,
            stdin=given,
            stdout=subprocess.DEVNULL,
            stderr=said,
            env={**os.environ, **_list_environment(news.outcome)},
            cwd=folder,
            start_new_session=True,
        )
        try:
            code = process.wait(limits.COMMAND_LIMIT)
        except subprocess.TimeoutExpired:
            kill_process_group(process)
            process.wait()
            return [f"the command took longer than {limits.COMMAND_LIMIT:g} seconds and was stopped."]
        said.seek(0)
        return [] if code == 0 else [_describe_exit(code, said.read())]


def _list_environment(outcome: dict[str, Any]) -> dict[str, str]:
    values = {
        "AUDIT": outcome["audit"],
        "STATUS": outcome["status"],
        "PERIOD": outcome["period"]["label"],
        "RECORD": str(outcome["record"]["id"]) if outcome["record"] else "",
        "EXIT_CODE": str(outcome["exit_code"]),
    }
    return {f"SCOREREPORT_{name}": value.replace("\0", "") for name, value in values.items()}


def _describe_exit(code: int, said: bytes) -> str:
    lines = [line for line in map(one_line, said.decode("utf-8", "replace").splitlines()) if line]
    ending = f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"
    return f"the command {ending}" + (f": {lines[-1]}" if lines else " and said nothing.")
