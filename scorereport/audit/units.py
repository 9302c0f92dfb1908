"""A schedule for those who have a scheduler: a systemd timer with its service, or lines for cron."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from zoneinfo import ZoneInfo

from scorereport.clock import timestamp
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from cronsim import CronSim

    from scorereport.schedules import Schedule

#: Where the units of a system belong, and the variables that hold secrets.
UNITS = Path("/etc/systemd/system")
SECRETS = Path("/etc/scorereport/secrets.env")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_EVERY_WEEKDAY = frozenset(range(7))
_EVERY_DAY = frozenset(range(1, 32))
#: For so many years to come, runs at times that clocks skip are named one by one.
_YEARS_AHEAD = 10
_LONGEST_NAME = 200
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Days:
    """Days that are one of these weekdays (Monday is 0) and have one of these numbers in their month.

    The numbers count from the end of the month, 1 for its last day, if so said.
    """

    weekdays: frozenset[int] = _EVERY_WEEKDAY
    numbers: frozenset[int] = _EVERY_DAY
    from_end: bool = False


def render_units(
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
        return _render_cron(name, parts, schedule)
    return _render_systemd(name, parts, schedule, folders)


def render_calendar(schedule: Schedule) -> list[str]:
    """The schedule in the words of systemd: as many expressions for `OnCalendar` as it takes.

    >>> from scorereport.schedules import Schedule
    >>> render_calendar(Schedule("30 6 1 * MON", "Europe/Berlin"))
    ['*-*-01 06:30:00 Europe/Berlin', 'Mon *-*-* 06:30:00 Europe/Berlin']
    """
    fields = _parse(schedule)
    months = _list_numbers(fields.months, range(1, 13))
    hours, minutes = _list_numbers(fields.hours, range(24)), _list_numbers(fields.minutes, range(60))
    return [
        f"{_write_days(days, months)} {hours}:{minutes}:00 {schedule.time_zone}"
        for days in _find_days(fields, schedule)
    ]


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


def _parse(schedule: Schedule) -> CronSim:
    from cronsim import CronSim

    return CronSim(schedule.cron, datetime.fromisoformat(timestamp()))


def _render_systemd(name: str, parts: Sequence[str], schedule: Schedule, folders: Sequence[Path]) -> str:
    unit = _name_unit(name)
    return "\n".join(
        [
            f"# Audit {_one_line(name)}: {schedule.describe()}",
            "# Two files; write each where the line above it says, then run as root:",
            f"#   systemctl daemon-reload && systemctl enable --now {shlex.quote(f'{unit}.timer')}",
            "",
            f"# {UNITS / unit}.service",
            *_list_service(name, parts, folders),
            "",
            f"# {UNITS / unit}.timer",
            *_list_timer(name, schedule),
            "",
        ]
    )


def _list_service(name: str, parts: Sequence[str], folders: Sequence[Path]) -> Iterator[str]:
    folder = str(Path(parts[-1]).parent)
    elsewhere = [path.absolute() for path in folders if not path.absolute().is_relative_to(folder)]
    yield "[Unit]"
    yield f"Description=Audit {_percent(_one_line(name))} by scorereport"
    yield "Wants=network-online.target"
    yield "After=network-online.target"
    yield ""
    yield "[Service]"
    yield "Type=oneshot"
    yield "# Who may read the data and write into the folder; without this line it is root:"
    yield "# User=scorereport"
    yield f"WorkingDirectory={_percent(folder)}{_guard_end(folder)}"
    yield f"ExecStart={_quote_command(parts)}"
    yield "# Variables that the configuration takes secrets from, lines NAME=value; let only root read it:"
    yield f"EnvironmentFile=-{SECRETS}"
    yield "# 1, a breached limit, counts as a failure, as do 2, 4 and 5; 3 means warnings only:"
    yield "SuccessExitStatus=3"
    yield "# The run may write here and nowhere else:"
    yield "ProtectSystem=strict"
    yield "ProtectHome=read-only"
    for path in (folder, *map(str, elsewhere)):
        yield f"ReadWritePaths={_quote_word(path)}"
    if not any(Path(folder).is_relative_to(temporary) for temporary in ("/tmp", "/var/tmp")):
        yield "PrivateTmp=true"
    yield "PrivateDevices=true"
    yield "ProtectKernelTunables=true"
    yield "ProtectKernelModules=true"
    yield "ProtectControlGroups=true"
    yield "RestrictSUIDSGID=true"
    yield "LockPersonality=true"
    yield "NoNewPrivileges=true"


def _list_timer(name: str, schedule: Schedule) -> Iterator[str]:
    yield "[Unit]"
    yield f"Description=Schedule of the audit {_percent(_one_line(name))} by scorereport"
    yield ""
    yield "[Timer]"
    for expression in render_calendar(schedule):
        yield f"OnCalendar={expression}"
    if moved := _find_moved(schedule):
        yield f"# Clocks skip a time of this schedule, which systemd leaves out; so until {moved[-1].year}:"
        for run in moved:
            yield f"OnCalendar={run:%Y-%m-%d %H:%M:%S} {schedule.time_zone}"
    yield "# A run that was missed while the machine was off is made up for:"
    yield "Persistent=true"
    yield ""
    yield "[Install]"
    yield "WantedBy=timers.target"


def _find_moved(schedule: Schedule) -> list[datetime]:
    """Runs of the years to come that are later than they should be, because clocks skip their time."""
    fields, zone = _parse(schedule), ZoneInfo(schedule.time_zone)
    today = datetime.fromisoformat(timestamp()).astimezone(zone).replace(hour=12, minute=0, second=0)
    noons = [today + count * _DAY for count in range(_YEARS_AHEAD * 366)]
    return [
        run
        for noon in noons
        if (noon + _DAY).utcoffset() != noon.utcoffset()
        for run in schedule.times_between(noon, noon + _DAY)
        if run.hour not in fields.hours or run.minute not in fields.minutes
    ]


def _find_days(fields: CronSim, schedule: Schedule) -> list[_Days]:
    """The days of a schedule; if day of month and day of week are both given, either will do."""
    by_number, by_weekday = list(_read_numbers(fields)), list(_read_weekdays(fields))
    if not fields.day_and:
        return [*by_number, *by_weekday]
    met = [_intersect(*pair, schedule) for pair in product(by_number, by_weekday)]
    return [days for days in met if days.weekdays and days.numbers]


def _read_numbers(fields: CronSim) -> Iterator[_Days]:
    plain = frozenset(fields.days) & _EVERY_DAY
    if plain:
        yield _Days(numbers=plain)
    if fields.LAST in fields.days:
        yield _Days(numbers=frozenset({1}), from_end=True)
    if fields.LAST_WEEKDAY in fields.days:
        yield _Days(weekdays=frozenset(range(5)), numbers=frozenset({1}), from_end=True)
        yield _Days(weekdays=frozenset({4}), numbers=frozenset({2, 3}), from_end=True)


def _read_weekdays(fields: CronSim) -> Iterator[_Days]:
    plain = frozenset((item - 1) % 7 for item in fields.weekdays if isinstance(item, int))
    if plain:
        yield _Days(weekdays=plain)
    for item in sorted(item for item in fields.weekdays if isinstance(item, tuple)):
        weekday, place = frozenset({(item[0] - 1) % 7}), item[1]
        if place == fields.LAST:
            yield _Days(weekdays=weekday, numbers=frozenset(range(1, 8)), from_end=True)
        else:
            week = frozenset(range(7 * place - 6, 7 * place + 1))
            yield _Days(weekdays=weekday, numbers=week & _EVERY_DAY)


def _intersect(one: _Days, other: _Days, schedule: Schedule) -> _Days:
    """Days that are both; numbers from the start and from the end of a month cannot be brought together."""
    weekdays = one.weekdays & other.weekdays
    for days, rest in ((one, other), (other, one)):
        if not days.from_end and days.numbers == _EVERY_DAY:
            return _Days(weekdays=weekdays, numbers=rest.numbers, from_end=rest.from_end)
    if one.from_end != other.from_end:
        raise UsageError(
            f"systemd cannot say `{schedule.cron}`: it counts days from the start or from the end of a "
            "month, not both; use `scorereport audit serve`, or a simpler schedule."
        )
    return _Days(weekdays=weekdays, numbers=one.numbers & other.numbers, from_end=one.from_end)


def _write_days(days: _Days, months: str) -> str:
    weekdays = ",".join(_WEEKDAYS[day] for day in sorted(days.weekdays))
    numbers = ",".join(f"{number:02}" for number in sorted(days.numbers))
    if not days.from_end and days.numbers == _EVERY_DAY:
        numbers = "*"
    date = f"*-{months}{'~' if days.from_end else '-'}{numbers}"
    return date if days.weekdays == _EVERY_WEEKDAY else f"{weekdays} {date}"


def _list_numbers(numbers: Collection[int], every: range) -> str:
    return "*" if set(numbers) == set(every) else ",".join(f"{number:02}" for number in sorted(numbers))


def _render_cron(name: str, parts: Sequence[str], schedule: Schedule) -> str:
    folder = str(Path(parts[-1]).parent)
    line = f"cd {shlex.quote(folder)} && {shlex.join(parts)}".replace("%", r"\%")
    return "\n".join(
        [
            f"# Audit {_one_line(name)}: {schedule.describe()}",
            "# Add these lines at the end of your crontab (`crontab -e`): CRON_TZ holds for all below it.",
            "# The cron of Debian and Ubuntu does not know CRON_TZ and goes by the time zone of the machine.",
            "# The variables that the configuration takes secrets from go above, as lines NAME=value.",
            f"CRON_TZ={schedule.time_zone}",
            f"{' '.join(_list_cron_fields(schedule))} {line}",
            "",
        ]
    )


def _list_cron_fields(schedule: Schedule) -> Iterator[str]:
    """The fields in numbers alone, which every cron knows; a star in front stays, as it has a meaning."""
    fields = _parse(schedule)
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
                f"cron does not know `{text}`; ask for a systemd timer, or use `scorereport audit serve`."
            )
        yield text if re.fullmatch(r"\*[0-9*,/-]*", text) else ",".join(map(str, sorted(items)))


def _name_unit(name: str) -> str:
    """A name of a unit that no other audit has: what systemd does not allow is written as its bytes."""
    allowed = re.compile(rb"[A-Za-z0-9_.-]")
    data = name.encode()
    bytewise = (data[place : place + 1] for place in range(len(data)))
    escaped = "".join(byte.decode() if allowed.match(byte) else f"\\x{byte.hex()}" for byte in bytewise)
    if len(escaped) > _LONGEST_NAME:
        escaped = hashlib.sha256(data).hexdigest()[:16]
    return f"scorereport-{escaped}"


def _one_line(text: str) -> str:
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _percent(text: str) -> str:
    return text.replace("%", "%%")


def _guard_end(path: str) -> str:
    """A backslash at the end would join the next line, a blank would get lost."""
    return "/" if path.endswith(("\\", " ")) else ""


def _quote_word(text: str) -> str:
    escaped = _percent(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _quote_command(parts: Sequence[str]) -> str:
    """A command; in the path of its program systemd allows no quotes and looks for no variables."""
    program, *rest = ["/usr/bin/env", *parts] if re.search(r"[\"'\\]", parts[0]) else parts
    return " ".join([_quote_word(program), *(_quote_word(part.replace("$", "$$")) for part in rest)])
