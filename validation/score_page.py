"""Page docs/scores.md, written from the registry of scores by `make docs`."""

from __future__ import annotations

from scorereport.scores.registry import REGISTRY, Kind, Propriety, Score

_HEAD = """# The scores

This page is written from the registry of `scorereport.scores` by `make docs`. `help(sr.scores.rps)` shows the
formula, an example and the errata of a score. The [glossary](glossary.md) defines [score](glossary.md#score),
[proper](glossary.md#proper) and [skill](glossary.md#skill).

The column *reported* says which evaluations have a score; a [limit](configuration.md#limits) can be set on
every score except those on request. The column *overfit weight* says how the
[overfit weight](glossary.md#overfit-weight) is computed: with a formula, or numerically, as for scores that
are given as functions. A score that jumps has none.

| name | description | input | range | better | propriety | reported | overfit weight | options | references |
|---|---|---|---|---|---|---|---|---|---|
"""


def render_score_page() -> str:
    """Render the page as text."""
    rows = []
    for entry in REGISTRY.values():
        options = ", ".join(f"`{option}`" for option in entry.options)
        better = entry.direction.removesuffix(" is better")
        cells = [f"`{entry.name}`", entry.label, entry.kind, entry.range, better, entry.propriety]
        cells += [entry.reported, _describe_weight(entry), options, "; ".join(entry.references)]
        rows.append(f"| {' | '.join(cells)} |\n")
    return _HEAD + "".join(rows)


def _describe_weight(entry: Score) -> str:
    if entry.kind is not Kind.BINARY or entry.propriety is Propriety.IMPROPER:
        return ""
    if not entry.is_smooth:
        return "none"
    return "numerical" if entry.overfit_weight is None else "formula"


if __name__ == "__main__":
    print(render_score_page(), end="")
