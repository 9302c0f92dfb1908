"""Table of delays in docs/coverage.md: how many audits after a change an alarm is raised."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from validation.coverage.record import Row

_METHOD = re.compile(r"(?P<name>.*), within (?P<audits>\d+) audits")


def render_delays(rows: Sequence[Row]) -> Iterator[Sequence[str]]:
    """Yield the lines of the table: the median delay of each setting and method, with its quartiles."""
    sizes = sorted({row.n for row in rows})
    yield "setting", "method", *(f"n = {n}" for n in sizes)
    yield ("---",) * (2 + len(sizes))
    shares: dict[tuple[str, str], dict[int, dict[int, float]]] = {}
    for row in rows:
        name, audits = _METHOD.fullmatch(row.method).groups()  # type: ignore[union-attr]
        by_size = shares.setdefault((row.setting, name), {})
        by_size.setdefault(row.n, {})[int(audits)] = row.empirical
    for line, by_size in shares.items():
        yield *line, *(_render_quartiles(by_size[n]) if n in by_size else "" for n in sizes)


def _render_quartiles(within: Mapping[int, float]) -> str:
    lower, median, upper = (_find_quantile(within, share) for share in (0.25, 0.5, 0.75))
    return median if lower == upper else f"{median} ({lower} to {upper})"


def _find_quantile(within: Mapping[int, float], share: float) -> str:
    """The first number of audits within which this share of streams has an alarm."""
    reached = [audits for audits, found in sorted(within.items()) if found >= share]
    if not reached:
        return f"over {max(within)}"
    before = max((audits for audits in within if audits < reached[0]), default=0)
    return str(reached[0]) if before == reached[0] - 1 else f"{before + 1}-{reached[0]}"
