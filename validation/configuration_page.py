"""Write the generated parts of docs/configuration.md: `python -m validation.configuration_page`.

A part lies between the lines `<!-- begin NAME, written by make docs -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

from scorereport._utils.declarations import tabulate_keys
from scorereport.configuration.evaluation_keys import EVALUATION_KEYS

PAGE = Path(__file__).parent.parent / "docs" / "configuration.md"


def describe_evaluation_keys() -> str:
    """The table of the keys of `[evaluation]`."""
    return "\n".join(["| key | meaning |", "|---|---|", *tabulate_keys(EVALUATION_KEYS)])


PARTS = {"evaluation keys": describe_evaluation_keys}


def write_parts(text: str) -> str:
    """Return the text of a page with all generated parts renewed; each must be there once."""
    for name, describe in PARTS.items():
        begin, end = f"<!-- begin {name}, written by make docs -->", f"<!-- end {name} -->"
        pattern = re.compile(f"({re.escape(begin)}\n).*?(\n{re.escape(end)})", re.DOTALL)
        (found,) = pattern.finditer(text)
        text = text[: found.end(1)] + describe() + text[found.start(2) :]
    return text


def main() -> None:
    """Renew the page."""
    PAGE.write_text(write_parts(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
