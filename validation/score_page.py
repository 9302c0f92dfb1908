"""Page docs/scores.md, written from the registry of scores by `make docs`."""

from __future__ import annotations

from scorereport.scores import REGISTRY

_HEAD = """# The scores

This page is written from the registry of `scorereport.scores` by `make docs`. `help(sr.scores.rps)` shows the
formula, an example and the errata of a score. The [glossary](glossary.md) defines [score](glossary.md#score),
[proper](glossary.md#proper) and [skill](glossary.md#skill).

| name | description | input | range | better | propriety | options | references |
|---|---|---|---|---|---|---|---|
"""


def render_score_page() -> str:
    """Render the page as text."""
    rows = []
    for entry in REGISTRY.values():
        options = ", ".join(f"`{option}`" for option in entry.options)
        better = entry.direction.removesuffix(" is better")
        cells = [f"`{entry.name}`", entry.label, entry.kind, entry.range, better, entry.propriety, options]
        rows.append(f"| {' | '.join([*cells, '; '.join(entry.references)])} |\n")
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    print(render_score_page(), end="")
