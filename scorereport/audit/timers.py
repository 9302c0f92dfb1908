"""Timers that run an audit on its schedule: a systemd service with its timer, or lines of a crontab."""

from __future__ import annotations

import hashlib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scorereport._utils.formatting import one_line
from scorereport.audit.timer_calendar import find_shifted_runs, parse_schedule_fields, render_calendar
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from scorereport.configuration.schedules import Schedule


_MAX_NAME_LENGTH = 200
#: The folder of system units, and the file of environment variables that hold secrets.
UNIT_FOLDER = Path("/etc/systemd/system")
SECRETS_FILE = Path("/etc/scorereport/secrets.env")
#: Restrictions on the service: a run needs none of what they forbid.
_SANDBOX_OPTIONS = (
    "PrivateDevices=true",
    "ProtectKernelTunables=true",
    "ProtectKernelModules=true",
    "ProtectControlGroups=true",
    "RestrictSUIDSGID=true",
    "LockPersonality=true",
    "NoNewPrivileges=true",
)


def name_unit(name: str) -> str:
    """Return a unit name that is unique to the audit; forbidden characters are escaped as bytes."""
    allowed = re.compile(rb"[A-Za-z0-9_.-]")
    data = name.encode()
    bytewise = (data[place : place + 1] for place in range(len(data)))
    escaped = "".join(byte.decode() if allowed.match(byte) else f"\\x{byte.hex()}" for byte in bytewise)
    if len(escaped) > _MAX_NAME_LENGTH:
        escaped = hashlib.sha256(data).hexdigest()[:16]
    return f"scorereport-{escaped}"


def escape_percents(text: str) -> str:
    """Escape percent signs, which systemd would read as specifiers."""
    return text.replace("%", "%%")


def escape_path_end(path: str) -> str:
    """Return a slash for a path that ends in a backslash, which joins lines, or a space, which is lost."""
    return "/" if path.endswith(("\\", " ")) else ""


def quote_word(text: str) -> str:
    """Quote a text as one argument, whatever characters it contains."""
    escaped = escape_percents(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_command(parts: Sequence[str]) -> str:
    """Quote a command; in the path of the program systemd allows no quotes and expands no variables."""
    program, *rest = ["/usr/bin/env", *parts] if re.search(r"[\"'\\]", parts[0]) else parts
    return " ".join([quote_word(program), *(quote_word(part.replace("$", "$$")) for part in rest)])


def render_systemd(name: str, parts: Sequence[str], schedule: Schedule, folders: Sequence[Path]) -> str:
    """Return the text of the service and timer files, with instructions in comments."""
    unit = name_unit(name)
    return "\n".join(
        [
            f"# Audit {one_line(name)}: {schedule.describe()}",
            "# Two files; write each to the path in the line above it, then run as root:",
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
    yield "# The user who may read the data and write into the folder; without this line, root:"
    yield "# User=scorereport"
    yield f"WorkingDirectory={escape_percents(folder)}{escape_path_end(folder)}"
    yield f"ExecStart={quote_command(parts)}"
    yield "# A file of the secrets of the configuration, as lines NAME=value; let only root read it:"
    yield f"EnvironmentFile=-{SECRETS_FILE}"
    yield "# The key of this machine, which signs the records, is made in /var/lib/scorereport unless the"
    yield "# configuration names one:"
    yield "StateDirectory=scorereport"
    yield "StateDirectoryMode=0700"
    yield "Environment=XDG_CONFIG_HOME=%S"
    yield "# Exit code 3, warnings only, is a success; 1, a breached limit, is a failure, as are 2, 4 and 5:"
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
        yield (
            "# systemd leaves out runs at times that clocks skip in spring; those until "
            f"{moved[-1].year} are listed here:"
        )
        for run in moved:
            yield f"OnCalendar={run:%Y-%m-%d %H:%M:%S} {schedule.time_zone}"
    yield "# A run that was missed while the machine was off starts when the machine is on again:"
    yield "Persistent=true"
    yield ""
    yield "[Install]"
    yield "WantedBy=timers.target"


def render_cron(name: str, parts: Sequence[str], schedule: Schedule) -> str:
    """Return the lines for a crontab, with instructions in comments."""
    folder = str(Path(parts[-1]).parent)
    line = f"cd {shlex.quote(folder)} && {shlex.join(parts)}".replace("%", r"\%")
    return "\n".join(
        [
            f"# Audit {one_line(name)}: {schedule.describe()}",
            "# Add these lines at the end of your crontab (`crontab -e`): CRON_TZ applies to all below it.",
            "# The cron of Debian and Ubuntu ignores CRON_TZ and uses the time zone of the machine.",
            "# Define the variables that hold the secrets of the configuration above, as lines NAME=value.",
            f"CRON_TZ={schedule.time_zone}",
            f"{' '.join(_list_cron_fields(schedule))} {line}",
            "",
        ]
    )


def _list_cron_fields(schedule: Schedule) -> Iterator[str]:
    """List the fields as numbers, which every cron accepts; a leading star stays: it has a meaning."""
    fields = parse_schedule_fields(schedule)
    numbers: list[Collection[Any]] = [
        fields.minutes,
        fields.hours,
        fields.days,
        fields.months,
        fields.weekdays,
    ]
    for text, items in zip(schedule.cron.split(), numbers, strict=True):
        if any(not isinstance(item, int) or item < 0 for item in items):
            raise UsageError(
                f"cron does not support `{text}`; use a systemd timer, or `scorereport audit serve`."
            )
        yield text if re.fullmatch(r"\*[0-9*,/-]*", text) else ",".join(map(str, sorted(items)))


def render_timers(
    *,
    name: str,
    config: Path,
    schedule: Schedule,
    kind: Literal["systemd", "cron"],
    command: Sequence[str],
    folders: Sequence[Path] = (),
) -> str:
    """Return the text of a systemd service and its timer, or lines for a crontab, with instructions.

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
        The command that starts scorereport, with the absolute path of the program; `audit run` and the path
        of the configuration are added.
    folders
        Folders beside that of the configuration to which the run must write.
    """
    parts = [*_check_command(command), "audit", "run", str(config.absolute())]
    _check_characters([*parts, *map(str, folders)])
    if kind == "cron":
        return render_cron(name, parts, schedule)
    return render_systemd(name, parts, schedule, folders)


def _check_command(command: Sequence[str]) -> Sequence[str]:
    if not command or not Path(command[0]).is_absolute():
        raise UsageError(f"`command` must begin with the absolute path of a program; got {list(command)}.")
    return command


def _check_characters(parts: Iterable[str]) -> None:
    for part in parts:
        if re.search(r"[\x00-\x1f\x7f]", part):
            raise UsageError(
                f"Neither systemd nor cron can run {part!r}: it has a line break or a control character."
            )
