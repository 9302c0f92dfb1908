"""Schedules across clock changes, short months and missed runs; systemd units and cron lines."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from scorereport._utils.clock import fixed_time
from scorereport.audit.timer_calendar import render_calendar
from scorereport.audit.timers import render_timers
from scorereport.configuration.schedules import Schedule, check_schedule, check_zone
from scorereport.errors import UsageError


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type, misc]


def list_runs(cron: str, zone: str, after: datetime, until: datetime) -> list[str]:
    return [run.isoformat() for run in Schedule(cron, zone).times_between(after, until)]


def test_a_time_skipped_in_spring_runs_once_right_after() -> None:
    assert list_runs("30 2 * * *", "Europe/Berlin", utc(2026, 3, 27, 12), utc(2026, 3, 30, 12)) == [
        "2026-03-28T02:30:00+01:00",
        "2026-03-29T03:00:00+02:00",
        "2026-03-30T02:30:00+02:00",
    ]


def test_a_time_that_occurs_twice_in_autumn_runs_once() -> None:
    assert list_runs("30 2 * * *", "Europe/Berlin", utc(2026, 10, 23, 12), utc(2026, 10, 26, 12)) == [
        "2026-10-24T02:30:00+02:00",
        "2026-10-25T02:30:00+02:00",
        "2026-10-26T02:30:00+01:00",
    ]


@pytest.mark.parametrize("day", [utc(2026, 3, 28), utc(2026, 10, 24)])
def test_the_next_run_from_any_moment_is_one_of_the_schedule(day: datetime) -> None:
    """From any moment, the next run lies after it, and the set of runs is always the same."""
    schedule = Schedule("30 2 * * *", "Europe/Berlin")
    moments = [day + timedelta(minutes=7 * step) for step in range(48 * 60 // 7)]
    runs = [schedule.next_after(moment).astimezone(UTC) for moment in moments]
    assert all(run > moment for run, moment in zip(runs, moments, strict=True))
    until = day + timedelta(days=3)
    expected = [run.astimezone(UTC) for run in schedule.times_between(day, until)]
    assert sorted(set(runs)) == expected
    assert len(expected) == 3


@pytest.mark.parametrize("day", [utc(2026, 3, 28, 12), utc(2026, 10, 24, 12)])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe", "America/Santiago", "UTC"])
def test_every_quarter_of_an_hour_follows_real_time(zone: str, day: datetime) -> None:
    runs = Schedule("*/15 * * * *", zone).times_between(day, day + timedelta(days=1))
    steps = {after.astimezone(UTC) - before.astimezone(UTC) for before, after in pairwise(runs)}
    assert len(runs) == 96
    assert steps == {timedelta(minutes=15)}


def test_midnight_that_is_skipped_runs_at_one() -> None:
    assert list_runs("0 0 * * *", "America/Santiago", utc(2026, 9, 5, 12), utc(2026, 9, 7, 12)) == [
        "2026-09-06T01:00:00-03:00",
        "2026-09-07T00:00:00-03:00",
    ]


def test_runs_have_times_that_clocks_show() -> None:
    assert list_runs("*/30 * 6 9 *", "America/Santiago", utc(2026, 9, 5), utc(2026, 9, 6, 5)) == [
        "2026-09-06T01:00:00-03:00",
        "2026-09-06T01:30:00-03:00",
        "2026-09-06T02:00:00-03:00",
    ]


def test_the_31st_skips_short_months() -> None:
    runs = Schedule("30 6 31 * *", "Europe/Berlin").times_between(utc(2026, 1, 1), utc(2027, 1, 1))
    assert [run.month for run in runs] == [1, 3, 5, 7, 8, 10, 12]


@pytest.mark.parametrize(("year", "expected"), [(2026, 28), (2028, 29)])
def test_the_last_day_of_february(year: int, expected: int) -> None:
    run = Schedule("30 6 L * *", "UTC").next_after(utc(year, 2, 1))
    assert (run.month, run.day) == (2, expected)


def test_the_29th_of_february_waits_for_a_leap_year() -> None:
    assert Schedule("0 0 29 2 *", "UTC").next_after(utc(2026, 11, 15)) == utc(2028, 2, 29)


def test_a_missed_night_is_found() -> None:
    """The machine was off from Saturday evening to Monday morning."""
    runs = list_runs("30 6 * * *", "Europe/Berlin", utc(2026, 11, 14, 20), utc(2026, 11, 16, 7))
    assert runs == ["2026-11-15T06:30:00+01:00", "2026-11-16T06:30:00+01:00"]


def test_the_first_moment_is_left_out_and_the_last_counts() -> None:
    schedule = Schedule("30 6 * * *", "UTC")
    first, second = utc(2026, 11, 14, 6, 30), utc(2026, 11, 15, 6, 30)
    assert schedule.times_between(first, second) == [second]
    assert schedule.times_between(first, second - timedelta(seconds=1)) == []
    assert schedule.times_between(second, first) == []
    assert schedule.next_after(second - timedelta(microseconds=1)) == second
    assert schedule.next_after(second + timedelta(microseconds=1)) == second + timedelta(days=1)


@pytest.mark.parametrize("sunday", ["0", "7", "SUN", "sun"])
def test_sunday_has_many_names(sunday: str) -> None:
    run = check_schedule(f"0 6 * * {sunday}", "UTC").next_after(utc(2026, 11, 12))
    assert run == utc(2026, 11, 15, 6)


def test_with_two_kinds_of_days_either_is_enough() -> None:
    runs = Schedule("0 6 13 nov MON", "UTC").times_between(utc(2026, 11, 1), utc(2026, 11, 30, 23))
    assert [run.day for run in runs] == [2, 9, 13, 16, 23, 30]


def test_with_a_star_both_kinds_of_days_must_agree() -> None:
    runs = Schedule("0 6 */2 11 MON", "UTC").times_between(utc(2026, 11, 1), utc(2026, 11, 30, 23))
    assert [run.day for run in runs] == [9, 23]


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 6 * * *", 365),
        ("30 6 1 * *", 12),
        ("0 6 1 1,4,7,10 *", 4),
        ("0 6 * * TUE", 52),
        ("0 0 29 2 *", 1),
        ("0 * * * *", 8760),
        ("* * * * *", 10_000),
    ],
)
def test_runs_of_a_year_are_counted(cron: str, expected: int) -> None:
    assert Schedule(cron, "Europe/Berlin").count_in_year(utc(2026, 11, 15, 12)) == expected


@pytest.mark.parametrize(
    ("cron", "expected"),
    [
        ("30 6 * * *", "At 06:30 every day (Europe/Berlin)"),
        ("0 6 22 * *", "At 06:00 on the 22nd day of every month (Europe/Berlin)"),
        ("0 6 11 * *", "At 06:00 on the 11th day of every month (Europe/Berlin)"),
        ("0 6 * * MON-FRI", "At 06:00 on Monday through Friday (Europe/Berlin)"),
    ],
)
def test_schedules_in_words(cron: str, expected: str) -> None:
    assert Schedule(cron, "Europe/Berlin").describe() == expected


def test_a_checked_schedule_is_written_in_one_way() -> None:
    assert check_schedule("  30  6 * *\t* ", "Europe/Berlin") == Schedule("30 6 * * *", "Europe/Berlin")


@pytest.mark.parametrize("cron", ["", "30 6 * *", "0 30 6 * * *", "@daily"])
def test_other_than_five_fields_are_refused(cron: str) -> None:
    with pytest.raises(
        UsageError,
        match=r"^`audit\.schedule\.cron` must have five fields \(minute, hour, day of month, month and day "
        r"of week\), such as `30 6 \* \* MON-FRI`; got ",
    ):
        check_schedule(cron, "UTC")


@pytest.mark.parametrize(
    ("cron", "field"),
    [
        ("60 6 * * *", "minute"),
        ("0 24 * * *", "hour"),
        ("0 6 32 * *", "day of month"),
        ("0 6 * 13 *", "month"),
        ("0 6 * * 8", "day of week"),
        ("0 6 * * FRI-MON", "day of week"),
        ("0 6 30 2 *", "day of month"),
        ("*/0 6 * * *", "minute"),
        ("0 6 ; rm *", "day of month"),
        ("0 6 * * 1L/2", "day of week"),
    ],
)
def test_a_wrong_field_is_named(cron: str, field: str) -> None:
    with pytest.raises(
        UsageError,
        match=r"^`when` must be a cron expression such as `30 6 \* \* MON-FRI` \(minute, hour, .*\); got "
        rf".*, where the {field} is wrong\.$",
    ):
        check_schedule(cron, "UTC", name="when")


@pytest.mark.parametrize(
    ("zone", "hint"),
    [
        ("Europe/Berln", r" Did you mean `Europe/Berlin`\?"),
        ("europe/paris", r" Did you mean `Europe/Paris`\?"),
        ("Europe", ""),
        ("../etc/passwd", ""),
        ("", ""),
    ],
)
def test_an_unknown_zone_is_refused(zone: str, hint: str) -> None:
    with pytest.raises(
        UsageError,
        match=r"^`audit\.time_zone` must be the name of a time zone such as `UTC` or `Europe/Berlin`; got "
        rf"'{zone}'\.{hint}",
    ):
        check_zone(zone)


def test_a_moment_without_a_zone_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^A moment must have a time zone; got 2026-11-15T00:00:00 without\.$"
    ):
        Schedule("30 6 * * *", "UTC").next_after(datetime(2026, 11, 15))


CRONS = [
    "30 6 * * *",
    "*/15 * * * *",
    "5,35 8-18/2 * * MON-FRI",
    "30 6 31 * *",
    "30 6 L * *",
    "30 6 LW * *",
    "30 6 1,L * *",
    "30 6 * * 0",
    "30 6 * * 7",
    "30 6 * * 5L",
    "30 6 * * MON#1,WED#5",
    "30 6 1,15 * MON",
    "30 6 */2 * MON",
    "30 6 LW * */2",
    "30 6 13 2,8 FRI#2",
    "0 0 29 2 *",
]
NAME = 'new 100% "best" o\'clock\n[Install]'
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def includes_day(expression: str, day: date) -> bool:
    """Whether an expression of systemd includes a day, by an independent reading."""
    match = re.fullmatch(r"(?:(\S+) )?\*-(\S+?)([-~])(\S+) \S+:\S+:00 UTC", expression)
    assert match is not None
    length = ((day.replace(day=1) + timedelta(days=31)).replace(day=1) - day.replace(day=1)).days
    number = day.day if match[3] == "-" else length - day.day + 1
    return (
        (match[1] is None or WEEKDAYS[day.weekday()] in match[1].split(","))
        and (match[2] == "*" or f"{day.month:02}" in match[2].split(","))
        and (match[4] == "*" or f"{number:02}" in match[4].split(","))
    )


@pytest.mark.parametrize("cron", CRONS)
def test_a_calendar_of_systemd_names_the_days_of_the_schedule(cron: str) -> None:
    expressions = render_calendar(check_schedule(cron, "UTC"))
    days = [date(2027, 1, 1) + timedelta(days=count) for count in range(790)]
    daily = Schedule(" ".join(["0 12", *cron.split()[2:]]), "UTC")
    expected = [run.date() for run in daily.times_between(utc(2027, 1, 1), utc(2029, 2, 28, 23, 59))]
    assert expected
    assert [day for day in days if any(includes_day(each, day) for each in expressions)] == expected


def list_systemd_runs(expression: str, after: datetime, count: int) -> list[datetime]:
    base = f"--base-time={after:%Y-%m-%d %H:%M:%S} UTC"
    answer = subprocess.run(
        ["systemd-analyze", "calendar", f"--iterations={count}", base, expression],
        check=True,
        capture_output=True,
        text=True,
        env={"TZ": "UTC", "PATH": "/usr/bin:/bin"},
    )
    times = re.findall(r"(?:elapse|#\d+): \w+ (\S+ \S+) UTC", answer.stdout)
    return [datetime.fromisoformat(f"{time}+00:00") for time in times]


def list_next(schedule: Schedule, after: datetime, count: int) -> list[datetime]:
    runs = [after]
    for _ in range(count):
        runs.append(schedule.next_after(runs[-1]).astimezone(UTC))
    return runs[1:]


def require_systemd() -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here; the days were checked without it")


@pytest.mark.parametrize("cron", CRONS)
def test_systemd_runs_at_the_times_of_the_schedule(cron: str) -> None:
    require_systemd()
    after = utc(2027, 1, 1, 12)
    schedule = Schedule(cron, "Asia/Tokyo")
    found = {run for each in render_calendar(schedule) for run in list_systemd_runs(each, after, 12)}
    expected = list_next(schedule, after, 12)
    assert sorted(found)[: len(expected)] == expected


def read_timer(text: str) -> list[str]:
    return re.findall(r"^OnCalendar=(.*)$", text, re.MULTILINE)


def render(
    schedule: Schedule, config: Path, kind: str = "systemd", program: str = "/opt/sr/scorereport"
) -> str:
    with fixed_time("2026-11-15T12:00:00+00:00"):
        return render_timers(
            name=NAME,
            config=config,
            schedule=schedule,
            kind=kind,  # type: ignore[arg-type]
            command=[program, "-q"],
            folders=[Path("/data/100% sure"), config.parent / "audits"],
        )


def test_systemd_timers_list_runs_at_times_that_clocks_skip() -> None:
    """systemd leaves such times out, and the run of the day would be lost."""
    schedule = Schedule("30 2 * * *", "Europe/Berlin")
    expressions = read_timer(render(schedule, Path("/srv/a.toml")))
    assert expressions[:2] == ["*-*-* 02:30:00 Europe/Berlin", "2027-03-28 03:00:00 Europe/Berlin"]
    assert len(expressions) == 11
    elsewhere = Schedule("30 6 * * *", "Europe/Berlin")
    assert read_timer(render(elsewhere, Path("/srv/a.toml"))) == ["*-*-* 06:30:00 Europe/Berlin"]


@pytest.mark.parametrize("after", [utc(2027, 3, 26, 12), utc(2027, 10, 29, 12)])
def test_systemd_runs_once_a_day_when_clocks_change(after: datetime) -> None:
    require_systemd()
    schedule = Schedule("30 2 * * *", "Europe/Berlin")
    expressions = read_timer(render(schedule, Path("/srv/a.toml")))
    found = sorted({run for each in expressions for run in list_systemd_runs(each, after, 4)})
    expected = [run.astimezone(UTC) for run in schedule.times_between(after, after + timedelta(days=4))]
    assert len(expected) == 4
    assert found[:4] == expected


def split_units(text: str) -> dict[str, str]:
    """The files of a text by name; each begins below a line with its path."""
    pieces = re.split(r"^# /etc/systemd/system/(.*)$", text, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def read_path(text: str) -> str:
    """A word as systemd reads it: quotes are removed, then specifiers are replaced."""
    plain = re.sub(r"\\(.)", r"\1", text.removeprefix('"').removesuffix('"'))
    assert "%" not in plain.replace("%%", "")
    return plain.replace("%%", "%")


def read_word(text: str) -> str:
    """A word of a command, in which variables are replaced last."""
    word = read_path(text)
    assert "$" not in word.replace("$$", "")
    return word.replace("$$", "$")


def test_units_with_unusual_names_are_quoted() -> None:
    config = Path("/srv/my audits/50% $HOME 'q' \"d\" \\x/retail.toml")
    files = split_units(render(Schedule("30 6 * * *", "UTC"), config))
    assert [name.rpartition(".")[2] for name in files] == ["service", "timer"]
    assert len({name.rpartition(".")[0] for name in files}) == 1
    service, timer = files.values()
    words = re.findall(r'"(?:[^"\\]|\\.)*"', re.findall("^ExecStart=(.*)$", service, re.MULTILINE)[0])
    assert [read_word(word) for word in words] == ["/opt/sr/scorereport", "-q", "audit", "run", str(config)]
    assert f"\nWorkingDirectory={str(config.parent).replace('%', '%%')}\n" in service
    assert '\nDescription=Audit new 100%% "best" o\'clock [Install] by scorereport\n' in service
    writable = [read_path(path) for path in re.findall("^ReadWritePaths=(.*)$", service, re.MULTILINE)]
    assert writable == [str(config.parent), "/data/100% sure"]
    assert service.count("\n[") == 2
    assert "\nType=oneshot\n" in service
    assert "\nSuccessExitStatus=3\n" in service
    assert "\nPersistent=true\n" in timer
    assert timer.count("\n[Install]\n") == 1


def test_systemd_verifies_the_units(tmp_path: Path) -> None:
    require_systemd()
    folder = tmp_path / "my audits 50% $HOME 'q' \"d\""
    folder.mkdir()
    program = folder / "score report"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = render(Schedule("30 2 1 * MON", "Europe/Berlin"), folder / "a.toml", program=str(program))
    for name, content in split_units(text).items():
        (tmp_path / name).write_text(content)
    names = [str(tmp_path / name) for name in split_units(text)]
    done = subprocess.run(["systemd-analyze", "verify", *names], check=False, capture_output=True, text=True)
    assert [
        line for line in done.stderr.splitlines() if "scorereport-" in line or str(tmp_path) in line
    ] == []
    assert done.returncode == 0


def test_a_line_of_cron_runs_the_command(tmp_path: Path) -> None:
    """Like cron, remove the backslash of the percent sign and pass the rest to the shell."""
    folder = tmp_path / "50% $HOME 'q' \"d\" `x`"
    folder.mkdir()
    program = folder / "score report"
    program.write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$@"\n')
    program.chmod(0o755)
    text = render(
        Schedule("5/20 6 * JAN,MAR MON-FRI", "Europe/Berlin"), folder / "a.toml", "cron", str(program)
    )
    *comments, zone, line = text.splitlines()
    assert all(comment.startswith("# ") for comment in comments)
    assert zone == "CRON_TZ=Europe/Berlin"
    times, command = line[: line.index(" cd ")], line[line.index(" cd ") + 1 :]
    assert times == "5,25,45 6 * 1,3 1,2,3,4,5"
    assert "%" not in command.replace(r"\%", "")
    done = subprocess.run(
        ["sh", "-c", command.replace(r"\%", "%")], check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [str(folder), "-q", "audit", "run", str(folder / "a.toml")]
    assert shlex.split(command.replace(r"\%", "%"))[:3] == ["cd", str(folder), "&&"]


def test_every_name_has_a_unit_of_its_own() -> None:
    names = ["a b", "a-b", "a_b", "a/b", "a%b", "ä", "ae", "x" * 300, "x" * 301, "..", "@"]
    schedule = Schedule("30 6 * * *", "UTC")
    config, command = Path("/srv/a.toml"), ["/bin/true"]
    texts = [
        render_timers(name=name, config=config, schedule=schedule, kind="systemd", command=command)
        for name in names
    ]
    units = [next(iter(split_units(text))) for text in texts]
    assert len(set(units)) == len(names)
    assert all(re.fullmatch(r"[A-Za-z0-9_.:\\-]{1,255}", unit) for unit in units)


@pytest.mark.parametrize("cron", ["30 6 L * *", "30 6 * * MON#1", "30 6 * * 5L"])
def test_fields_that_cron_does_not_support_are_refused(cron: str) -> None:
    with pytest.raises(
        UsageError, match=r"^cron does not support `\S+`; use a systemd timer, or `scorereport"
    ):
        render(Schedule(cron, "UTC"), Path("/srv/a.toml"), "cron")


def test_schedules_that_systemd_cannot_express_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^systemd cannot express `30 6 \*/2 \* 5L`: it counts days from the start"
    ):
        render(Schedule("30 6 */2 * 5L", "UTC"), Path("/srv/a.toml"))


def test_a_program_without_its_path_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^`command` must begin with the absolute path of a program; got \['score"
    ):
        render(Schedule("30 6 * * *", "UTC"), Path("/srv/a.toml"), program="scorereport")


def test_line_breaks_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^Neither systemd nor cron can run '/srv/a\\nb\.toml': it has a line"
    ):
        render(Schedule("30 6 * * *", "UTC"), Path("/srv/a\nb.toml"), "cron")
