"""Write the generated parts of pages on the configuration, on audits and on files.

A part lies between the lines `<!-- begin NAME, written by make docs -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from scorereport._utils.declarations import tabulate_keys
from scorereport.channels import CHANNELS
from scorereport.configuration.configuration_tables import Configuration
from scorereport.configuration.documented_keys import list_help
from scorereport.configuration.evaluation_keys import EVALUATION_KEYS
from scorereport.configuration.toml_reader import LONG_TEXTS
from scorereport.report.output_formats import OUTPUT_FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

DOCS = Path(__file__).parent.parent / "docs"
#: What each table is about, in the order of the pages.
_TITLES = {
    "report": "the document",
    "model": "what was evaluated",
    "data": "what was observed",
    "people": "who signs",
    "limits": "how good is good enough",
    "text": "statements of the author",
    "checkpoints": "how the model was chosen; see `help(scorereport.select)`",
    "checklist": "the annex",
}
_AUDIT_TITLES = {
    "audit": "the audit itself",
    "audit.source": "where the rows come from: `file`, or `database` with `query` or `table`",
    "audit.window": "which rows",
    "audit.outcomes": "when outcomes are final; see [late outcomes](#late-outcomes)",
    "audit.comparison": "comparison with earlier audits",
    "audit.output": "the reports",
    "audit.retention": "how long report files are kept; records are kept for ever",
    "audit.schedule": "when the audit runs, for `audit serve` and `audit units`",
    "audit.history": "where records are stored",
    "audit.signing": "which key signs records, and which keys are trusted; see [signatures](#signatures)",
    "audit.seal": "forecasts sealed before outcomes are known; see [sealed forecasts](#sealed-forecasts)",
    "audit.anchors": "copies of the chain head elsewhere; see [anchors](#anchors)",
    "audit.notify": "who is notified, and when",
}
_HEAD = ("| key | meaning |", "|---|---|")


def describe_keys() -> str:
    """The table of the keys of a report; those whose texts may have several lines are marked."""
    return "\n".join([*_HEAD, *_list_rows(_TITLES)])


def describe_audit_keys() -> str:
    """The table of the keys of an audit."""
    return "\n".join([*_HEAD, *_list_rows(_AUDIT_TITLES)])


def _list_rows(titles: Mapping[str, str]) -> Iterator[str]:
    for name, title in titles.items():
        yield f"| **`[{name}]`** | **{title}** |"
        for key, sentence in _find_help(name).items():
            is_long = name in _TITLES and not {(name,), (name, key)}.isdisjoint(LONG_TEXTS)
            yield f"| `{key}`{' ¶' if is_long else ''} | {sentence} |"
        if name == "limits":
            yield "| any measure | its limit, see below |"


def _find_help(name: str) -> dict[str, str]:
    found: object = Configuration()
    for part in name.split("."):
        found = getattr(found, "texts" if part == "text" else part)
    channels = {channel.name: channel.help for channel in CHANNELS.values()} if name == "audit.notify" else {}
    return list_help(type(found)) | channels


def describe_evaluation_keys() -> str:
    """The table of the keys of `[evaluation]`."""
    return "\n".join([*_HEAD, *tabulate_keys(EVALUATION_KEYS)])


def describe_output_formats() -> str:
    """The table of the formats of files."""
    return "\n".join(
        ["| ending | file |", "|---|---|", *(f"| `{f.ending}` | {f.content} |" for f in OUTPUT_FORMATS)]
    )


#: The generated parts of each page.
PAGES: dict[Path, dict[str, Callable[[], str]]] = {
    DOCS / "configuration.md": {"keys": describe_keys, "evaluation keys": describe_evaluation_keys},
    DOCS / "audits.md": {"audit keys": describe_audit_keys},
    DOCS / "how-to" / "files.md": {"formats": describe_output_formats},
}


def write_parts(text: str, parts: Mapping[str, Callable[[], str]]) -> str:
    """Return the text of a page with all generated parts renewed; each must be there once."""
    for name, describe in parts.items():
        begin, end = f"<!-- begin {name}, written by make docs -->\n", f"<!-- end {name} -->"
        pattern = re.compile(f"({re.escape(begin)}).*?({re.escape(end)})", re.DOTALL)
        (found,) = pattern.finditer(text)
        text = f"{text[: found.end(1)]}{describe()}\n{text[found.start(2) :]}"
    return text


def main() -> None:
    """Renew the pages."""
    for page, parts in PAGES.items():
        page.write_text(write_parts(page.read_text(encoding="utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    main()
