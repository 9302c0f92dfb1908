"""`docs/scores.md`, written from the registry: `make docs`."""

from __future__ import annotations

from scorereport.scores import REGISTRY

_HEAD = """# The scores

Written from the registry of `scorereport.scores` by `make docs`; `help(sr.scores.rps)` has the
formula, an example and the errata of each.

| name | what it is | of | range | better | propriety | options | references |
|---|---|---|---|---|---|---|---|
"""


def render_score_page() -> str:
    """The page as text."""
    rows = []
    for entry in REGISTRY.values():
        options = ", ".join(f"`{option}`" for option in entry.options)
        better = entry.direction.removesuffix(" is better")
        cells = [f"`{entry.name}`", entry.label, entry.kind, entry.range, better, entry.propriety, options]
        rows.append(f"| {' | '.join([*cells, '; '.join(entry.references)])} |\n")
    return _HEAD + "".join(rows)


if __name__ == "__main__":
    print(render_score_page(), end="")
