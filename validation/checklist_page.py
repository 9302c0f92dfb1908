"""Page docs/checklists.md, written from the checklists of the package by `make docs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport.configuration import CHECKLISTS
from scorereport.report.checklists import read_package_checklist

if TYPE_CHECKING:
    from scorereport.report.checklists import Checklist

_HEAD = """# The checklists

This page is written from the files in `templates/checklists` by `make docs`. A
[checklist](glossary.md#checklist) maps the items of a guideline to the sections of the report. A report has
none by default; the configuration names them:

```toml
[report]
checklists = ["sr-26-2", "tripod-ai"]

[checklist.names]
sr-26-2 = "Model risk policy of our bank, after SR 26-2"

[checklist.not_applicable]
"tripod-ai:6c" = "No treatments were given."
```

`--checklist NAME` of `scorereport report` and the argument `checklists` of `sr.write_report` replace the key.
For every item, the annex names the section and page of this report that answers it, in each
[profile](configuration.md#the-keys); if only the full report has the section, it says so. An item that lacks
a text of the configuration or a part of the results is "incomplete", with what is missing. An item that no
report on predictions can answer has the reason. A list does not state that a model or an organisation
complies: it shows where a reader finds the evidence.

"Items" counts the items of a list, and "answered" those that the full report answers if the configuration has
all texts and the data have groups, dates and several models. Items are paraphrased in our words, with the
numbers of the source; [your own lists](configuration.md#your-own-templates-and-checklists) are TOML files
with the same keys.

| name | guideline | items | answered |
|---|---|---|---|
"""


def render_checklist_page() -> str:
    """Render the page as text."""
    lists = [read_package_checklist(name) for name in CHECKLISTS]
    rows = [f"| `{c.name}` | {c.title} | {len(c.items)} | {count_answered(c)} |\n" for c in lists]
    sources = [f"**`{c.name}`.** {c.source}\n" for c in lists]
    return _HEAD + "".join(rows) + "\n## Sources, and what was read\n\n" + "\n".join(sources)


def count_answered(checklist: Checklist) -> int:
    """Count the items that a section of the report can answer."""
    return sum(bool(item.sections) for item in checklist.items)


if __name__ == "__main__":
    print(render_checklist_page(), end="")
