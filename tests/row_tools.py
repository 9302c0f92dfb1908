"""Names of rows in messages that several test files share."""

from __future__ import annotations

import re
from pathlib import Path


def named_in(source, sentence):
    """Return a sentence with rows counted from 0, as it names them for a source: by lines in CSV files."""
    name = Path(source).name if isinstance(source, (str, Path)) else ""
    if ".csv" not in name:
        return sentence

    def to_lines(found):
        lines = re.sub(r"\d+", lambda row: str(int(row[0]) + 2), found[2])
        return f"{found[1]} rows: lines {lines})"

    by_line = re.sub(r"at row (\d+)", lambda row: f"at line {int(row[1]) + 2} of {name}", sentence)
    return re.sub(r"(\(\d+ of \d+) rows: ([\d, .]+)\)", to_lines, by_line)
