"""Lines for a crontab that run an audit."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import one_line
from scorereport.audit.fields import parse_schedule_fields
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from scorereport.configuration.schedules import Schedule


def render_cron(name: str, parts: Sequence[str], schedule: Schedule) -> str:
    """The lines, with words on what to do with them."""
    folder = str(Path(parts[-1]).parent)
    line = f"cd {shlex.quote(folder)} && {shlex.join(parts)}".replace("%", r"\%")
    return "\n".join(
        [
            f"# Audit {one_line(name)}: {schedule.describe()}",
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
                f"cron does not know `{text}`; ask for a systemd timer, or use `scorereport audit serve`."
            )
        yield text if re.fullmatch(r"\*[0-9*,/-]*", text) else ",".join(map(str, sorted(items)))
