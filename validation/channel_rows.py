"""Rows of docs/audits.md on notification channels, written from their declarations by `make docs`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from scorereport.channels import CHANNELS

PAGE = Path("docs/audits.md")


def write_channel_rows(page: str) -> str:
    """Return the page with the rows of `[audit.notify]` after `on` replaced by those of the channels."""
    rows = "".join(f"| `{channel.name}` | {channel.help} |\n" for channel in CHANNELS.values())
    return re.sub(
        r"(?<=\n)(\| \*\*`\[audit\.notify\]`.*\n\| `on` .*\n)(?:\|.*\n)*", lambda head: head[1] + rows, page
    )


if __name__ == "__main__":
    sys.stdout.write(write_channel_rows(PAGE.read_text(encoding="utf-8")))
