"""A schedule for those who have a scheduler: a systemd timer with its service, or lines for cron."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from scorereport.audit.cron import render_cron
from scorereport.audit.timers import render_systemd
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from scorereport.configuration.schedules import Schedule


def render_timers(
    *,
    name: str,
    config: Path,
    schedule: Schedule,
    kind: Literal["systemd", "cron"],
    command: Sequence[str],
    folders: Sequence[Path] = (),
) -> str:
    """The text of a systemd service and its timer, or of lines for a crontab, with words on what to do.

    Parameters
    ----------
    name
        The name of the audit.
    config
        Its configuration; the run takes place in its folder.
    schedule
        When it runs.
    kind
        What the text is for.
    command
        How scorereport is called, with the whole path of the program; `audit run` and the path of the
        configuration are added.
    folders
        Where the run has to write besides the folder of the configuration.
    """
    parts = [*_check_command(command), "audit", "run", str(config.absolute())]
    _check_characters([*parts, *map(str, folders)])
    if kind == "cron":
        return render_cron(name, parts, schedule)
    return render_systemd(name, parts, schedule, folders)


def _check_command(command: Sequence[str]) -> Sequence[str]:
    if not command or not Path(command[0]).is_absolute():
        raise UsageError(f"`command` must begin with the whole path of a program; got {list(command)}.")
    return command


def _check_characters(parts: Iterable[str]) -> None:
    for part in parts:
        if re.search(r"[\x00-\x1f\x7f]", part):
            raise UsageError(
                f"Neither systemd nor cron can run {part!r}: it has a line break or a like character."
            )
