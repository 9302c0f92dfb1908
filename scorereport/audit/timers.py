"""A service of systemd that runs an audit, and the timer that starts it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.formatting import one_line
from scorereport.audit.calendars import find_shifted_runs, render_calendar
from scorereport.audit.quoting import escape_path_end, escape_percents, name_unit, quote_command, quote_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.schedules import Schedule

#: Where the units of a system belong, and the variables that hold secrets.
UNIT_FOLDER = Path("/etc/systemd/system")
SECRETS_FILE = Path("/etc/scorereport/secrets.env")
#: What a run needs nothing of.
_SANDBOX_OPTIONS = (
    "PrivateDevices=true",
    "ProtectKernelTunables=true",
    "ProtectKernelModules=true",
    "ProtectControlGroups=true",
    "RestrictSUIDSGID=true",
    "LockPersonality=true",
    "NoNewPrivileges=true",
)


def render_systemd(name: str, parts: Sequence[str], schedule: Schedule, folders: Sequence[Path]) -> str:
    """The text of both files, with words on what to do with them."""
    unit = name_unit(name)
    return "\n".join(
        [
            f"# Audit {one_line(name)}: {schedule.describe()}",
            "# Two files; write each where the line above it says, then run as root:",
            f"#   systemctl daemon-reload && systemctl enable --now {shlex.quote(f'{unit}.timer')}",
            "",
            f"# {UNIT_FOLDER / unit}.service",
            *_list_service(name, parts, folders),
            "",
            f"# {UNIT_FOLDER / unit}.timer",
            *_list_timer(name, schedule),
            "",
        ]
    )


def _list_service(name: str, parts: Sequence[str], folders: Sequence[Path]) -> Iterator[str]:
    folder = str(Path(parts[-1]).parent)
    elsewhere = [path.absolute() for path in folders if not path.absolute().is_relative_to(folder)]
    yield "[Unit]"
    yield f"Description=Audit {escape_percents(one_line(name))} by scorereport"
    yield "Wants=network-online.target"
    yield "After=network-online.target"
    yield ""
    yield "[Service]"
    yield "Type=oneshot"
    yield "# Who may read the data and write into the folder; without this line it is root:"
    yield "# User=scorereport"
    yield f"WorkingDirectory={escape_percents(folder)}{escape_path_end(folder)}"
    yield f"ExecStart={quote_command(parts)}"
    yield "# Variables that the configuration takes secrets from, lines NAME=value; let only root read it:"
    yield f"EnvironmentFile=-{SECRETS_FILE}"
    yield "# 1, a breached limit, counts as a failure, as do 2, 4 and 5; 3 means warnings only:"
    yield "SuccessExitStatus=3"
    yield "# The run may write here and nowhere else:"
    yield "ProtectSystem=strict"
    yield "ProtectHome=read-only"
    for path in (folder, *map(str, elsewhere)):
        yield f"ReadWritePaths={quote_word(path)}"
    if not any(Path(folder).is_relative_to(temporary) for temporary in ("/tmp", "/var/tmp")):
        yield "PrivateTmp=true"
    yield from _SANDBOX_OPTIONS


def _list_timer(name: str, schedule: Schedule) -> Iterator[str]:
    yield "[Unit]"
    yield f"Description=Schedule of the audit {escape_percents(one_line(name))} by scorereport"
    yield ""
    yield "[Timer]"
    for expression in render_calendar(schedule):
        yield f"OnCalendar={expression}"
    if moved := find_shifted_runs(schedule):
        yield f"# Clocks skip a time of this schedule, which systemd leaves out; so until {moved[-1].year}:"
        for run in moved:
            yield f"OnCalendar={run:%Y-%m-%d %H:%M:%S} {schedule.time_zone}"
    yield "# A run that was missed while the machine was off is made up for:"
    yield "Persistent=true"
    yield ""
    yield "[Install]"
    yield "WantedBy=timers.target"
