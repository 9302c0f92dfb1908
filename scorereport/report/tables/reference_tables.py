"""Tables of comparisons with a reference: unexpected and expected differences, and a summary."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted, format_difference, format_value
from scorereport.reference.binary_views import find_views
from scorereport.reference.comparison_records import UNEXPECTED, Comparison, Verdict
from scorereport.report.tables.column_widths import set_widths
from scorereport.report.tables.table import length_class, table_cell
from scorereport.report.verdict_labels import count_verdicts, describe_verdict
from scorereport.results.class_records import CLASS, THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence


#: Fewest lines per subject for a subject to be a title above them, and to have its own table.
_LINES_OF_A_BODY, _LINES_OF_A_TABLE = 2, 8
#: Up to this many characters, a reason stands beside the quantity; longer ones have their own row.
_SHORT_REASON = 24
#: Most characters that fit into a column of numbers; longer values stand under their row.
_WIDTH_OF_NUMBERS = 24
_BELOW = "see below"
#: Most deviations that are listed one by one; otherwise the largest of each quantity is listed.
_LISTED_EXPECTED, LISTED_UNEXPECTED = 15, 60
#: Names of the views of each kind, where they are counted.
_VIEWS = {THRESHOLD: "thresholds", CLASS: "classes", "": "all classes together"}


def unexpected_table(lines: Sequence[Comparison], *, listed: int | None = None) -> dict[str, Any] | None:
    """Table of unexpected differences, or of the worst of each quantity if there are many; None if none."""
    found = [line for line in lines if line.verdict in UNEXPECTED]
    if not found:
        return None
    caption = f"Unexpected: {format_count(len(found))} of {format_counted(len(lines), 'comparison')}"
    if listed is not None and len(found) > listed:
        return _comparison_table(f"{caption}; the worst of each quantity", _worst_of_each(found), look="loud")
    return _comparison_table(caption, found, look="loud")


def _worst_of_each(lines: Sequence[Comparison]) -> list[Comparison]:
    together: dict[tuple[str, Verdict], list[Comparison]] = {}
    for line in lines:
        together.setdefault((line.quantity, line.verdict), []).append(line)
    return [_worst_line(same) for same in together.values()]


def _worst_line(lines: Sequence[Comparison]) -> Comparison:
    """Return the worst of some lines, with their number in its reason."""
    worst = max(lines, key=_gap)
    if len(lines) == 1:
        return worst
    among = f"worst of {len(lines)}"
    return replace(worst, reason=f"{worst.reason} ({among})" if worst.reason else among)


def _gap(line: Comparison) -> float:
    return line.difference or 0.0


def expected_table(lines: Sequence[Comparison]) -> dict[str, Any] | None:
    """Table of expected deviations, grouped by reason; if many, summarised by quantity; None if none."""
    if not lines:
        return None
    reasons = list(dict.fromkeys(line.reason for line in lines))
    together = sorted(lines, key=lambda line: reasons.index(line.reason))
    caption = "Expected deviations and their reasons"
    if len(lines) <= _LISTED_EXPECTED:
        return _comparison_table(caption, together)
    bodies = [
        {"title": "", "rows": _summary_rows(list(same)), "note": reason}
        for reason, same in groupby(together, key=lambda line: line.reason)
    ]
    return _summary_of_bodies(caption, bodies)


def view_comparison_table(lines: Sequence[Comparison]) -> dict[str, Any] | None:
    """Table of comparisons by model and kind of binary view; None for binary models."""
    places = find_views({line.subject for line in lines})
    if not any(kind for _, kind in places.values()):
        return None
    together: dict[tuple[str, str], list[Comparison]] = {}
    for line in lines:
        together.setdefault(places[line.subject], []).append(line)
    heads = ("comparisons", "agree", "expected deviations", "not compared", "unexpected")
    models, kinds = list(dict.fromkeys(model for model, _ in together)), list(_VIEWS)
    order = sorted(together, key=lambda key: (models.index(key[0]), kinds.index(key[1])))
    rows = [_view_row(*key, together[key]) for key in order]
    table = {
        "caption": "Comparisons by model and kind of view",
        "detail": "",
        "look": f"summary {length_class(len(rows))}",
        "heads": [table_cell("model"), table_cell("views"), *(table_cell(h, "number") for h in heads)],
        "bodies": [{"title": "", "rows": rows, "note": ""}],
    }
    return set_widths(table)


def _view_row(model: str, kind: str, lines: Sequence[Comparison]) -> dict[str, Any]:
    views = len({line.subject for line in lines})
    verdicts = [line.verdict for line in lines]
    counts = [
        len(lines),
        verdicts.count(Verdict.AGREES),
        verdicts.count(Verdict.EXPECTED),
        verdicts.count(Verdict.NOT_COMPARED),
        sum(line.is_unexpected for line in lines),
    ]
    compared = f"{views} {_VIEWS[kind]}" if kind else _VIEWS[kind]
    cells = [table_cell(model, "head"), table_cell(compared)]
    return {"cells": [*cells, *(table_cell(format_count(n), "number") for n in counts)], "aside": ""}


def summary_table(lines: Sequence[Comparison]) -> dict[str, Any]:
    """Table of how closely each quantity agrees over all subjects, a line for each quantity and verdict."""
    caption = "Quantities compared, over all models; the results document has every single comparison"
    return _summary_of_bodies(caption, [{"title": "", "rows": _summary_rows(lines), "note": ""}])


def _summary_of_bodies(caption: str, bodies: list[dict[str, Any]]) -> dict[str, Any]:
    heads = [
        table_cell("quantity"),
        table_cell("comparisons", "number"),
        table_cell("largest difference", "gap"),
        table_cell("tolerance", "gap"),
        table_cell("verdict", "verdict"),
    ]
    table = {
        "caption": caption,
        "detail": "",
        "look": f"summary {length_class(sum(len(body['rows']) for body in bodies))}",
        "heads": heads,
        "bodies": bodies,
    }
    return set_widths(table)


def _summary_rows(lines: Sequence[Comparison]) -> list[dict[str, Any]]:
    together: dict[tuple[str, Verdict], list[Comparison]] = {}
    for line in lines:
        together.setdefault((line.quantity.partition(":")[0], line.verdict), []).append(line)
    return [_summary_row(*key, same) for key, same in together.items()]


def _summary_row(quantity: str, verdict: Verdict, lines: Sequence[Comparison]) -> dict[str, Any]:
    gaps = [line.difference for line in lines if line.difference is not None]
    tolerances = [line.tolerance for line in lines if line.tolerance is not None]
    return {
        "cells": [
            table_cell(quantity, "head"),
            table_cell(format_count(len(lines)), "number"),
            _gap_cell(max(gaps, default=None)),
            _gap_cell(max(tolerances, default=None)),
            table_cell("", "verdict") | describe_verdict(verdict),
        ],
        "aside": "",
    }


def tables_by_subject(lines: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return a table for each subject, or one for all if they have few lines each."""
    subjects: dict[str, list[Comparison]] = {}
    for line in lines:
        subjects.setdefault(line.subject, []).append(line)
    together = [line for of_subject in subjects.values() for line in of_subject]
    if len(lines) < _LINES_OF_A_BODY * len(subjects):
        return [_comparison_table("All comparisons", together)]
    if len(lines) < _LINES_OF_A_TABLE * len(subjects) and len(subjects) > 1:
        return [_comparison_table("All comparisons", together, subjects="above")]
    return [
        _comparison_table(subject, of_subject, subjects="caption") for subject, of_subject in subjects.items()
    ]


def _comparison_table(
    caption: str, lines: Sequence[Comparison], *, subjects: str = "column", look: str = ""
) -> dict[str, Any]:
    """Return lines as a table, with `subjects` in a "column", "above" their lines, or one in the "caption".

    Empty columns are left out.
    """
    has_gaps = any(line.difference is not None or line.tolerance is not None for line in lines)
    values = "number" if any(map(_has_numbers, lines)) else "text"
    heads = [table_cell("subject")] if subjects == "column" else []
    heads += [table_cell("quantity")]
    heads += (
        [table_cell("engine", values), table_cell("reference", values)]
        if any(map(_has_values, lines))
        else []
    )
    heads += [table_cell("difference", "gap"), table_cell("tolerance", "gap")] if has_gaps else []
    kinds = {head["text"]: head["kind"] for head in heads}
    table = {
        "caption": caption,
        "detail": _describe_counts(lines) if subjects == "caption" else "",
        "look": f"comparison {look} {length_class(len(lines))}",
        "heads": [*heads, table_cell("verdict", "verdict")],
        "bodies": list(_comparison_bodies(lines, kinds, has_titles=subjects == "above")),
    }
    return set_widths(table)


def _comparison_bodies(
    lines: Sequence[Comparison], kinds: Mapping[str, str], *, has_titles: bool
) -> Iterator[dict[str, Any]]:
    """Yield groups of consecutive lines with the same verdict and reason, which is stated once."""
    title = ""
    for _, run in groupby(lines, key=lambda line: (line.subject if has_titles else "", *_explain(line))):
        same = list(run)
        subject, reason = same[0].subject, _explain(same[0])[1]
        yield {
            "title": subject if has_titles and subject != title else "",
            "rows": [_comparison_row(line, kinds) for line in same],
            "note": f"{format_counted(len(same), 'line')}: {reason}" if reason and len(same) > 1 else reason,
        }
        title = subject


def _has_values(line: Comparison) -> bool:
    return line.engine is not None or line.reference is not None


def _has_numbers(line: Comparison) -> bool:
    return any(not isinstance(value, str | None) for value in (line.engine, line.reference))


def _explain(line: Comparison) -> tuple[Verdict, str]:
    return line.verdict, "" if _is_short(line.reason) else line.reason


def _comparison_row(line: Comparison, kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells of the existing columns; a short reason stands beside the quantity."""
    values = {"engine": line.engine, "reference": line.reference}
    wide = {name: value for name, value in values.items() if _is_wide(value, kinds.get(name, ""))}
    cells = {
        "subject": table_cell(line.subject),
        "quantity": table_cell(line.quantity, detail=line.reason if _is_short(line.reason) else ""),
        **{
            name: _value_cell(_BELOW if name in wide else values[name], kinds.get(name, ""))
            for name in values
        },
        "difference": _gap_cell(line.difference),
        "tolerance": _gap_cell(line.tolerance),
    }
    first, *others = (cells[name] for name in kinds)
    verdict = table_cell("", "verdict") | describe_verdict(line.verdict)
    return {
        "cells": [first | {"kind": "head"}, *others, verdict],
        "aside": "; ".join(f"{name}: {value}" for name, value in wide.items()),
    }


def _is_wide(value: float | str | None, kind: str) -> bool:
    return kind == "number" and isinstance(value, str) and len(value) > _WIDTH_OF_NUMBERS


def _is_short(reason: str) -> bool:
    return len(reason) <= _SHORT_REASON


def _describe_counts(lines: Iterable[Comparison]) -> str:
    return " · ".join(f"{item['text']}: {item['count']}" for item in count_verdicts(lines))


def _value_cell(value: float | str | None, kind: str) -> dict[str, str]:
    """Return a cell with a number, or with words, which may wrap even in a column of numbers."""
    if isinstance(value, str):
        return table_cell(value, "words" if kind == "number" else kind)
    return table_cell("–" if value is None else format_value(value), kind)


def _gap_cell(value: float | None) -> dict[str, str]:
    return table_cell("–" if value is None else format_difference(value), "gap")
