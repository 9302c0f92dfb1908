"""Tables of limits: the matrix of limits and models for the summary, and all verdicts that it leaves out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_counted
from scorereport.configuration.judgement import DEPENDENCE_CAUTION, format_judgement
from scorereport.configuration.limit_evidence import FEWEST_CASES
from scorereport.configuration.limit_records import EvidenceRule
from scorereport.configuration.limit_verdicts import (
    Judgement,
    LimitVerdict,
    count_limit_verdicts,
    find_worst_verdict,
    split_groups,
)
from scorereport.configuration.measure_limits import known_measure
from scorereport.report.tables.column_widths import set_widths
from scorereport.report.tables.short_tables import choose_best
from scorereport.report.tables.table import Table, length_class, table_cell
from scorereport.report.verdict_labels import VERDICT_LABELS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.limit_changes import LimitProvenance
    from scorereport.report.report_record import Report
    from scorereport.report.section_parts import Part

#: Most characters of a name at the head of a column.
_LONGEST_NAME = 40
#: Most models of the matrix; the others are in the table of the section on limits.
_MOST_MODELS = 4
#: Most verdicts on groups that are shown, the worst first.
_MOST_GROUP_LINES = 40
_ORDER = (LimitVerdict.FAIL, LimitVerdict.INCONCLUSIVE, LimitVerdict.WARN, LimitVerdict.PASS)
_DEPENDENT = (
    "(tests show that rows depend on each other in time; only intervals of the calibration line allow for it)"
)
#: Zeros at the end of a limit, which a person has set with fewer decimals than numbers are shown with.
_TRAILING_ZEROS = re.compile(r"(?:\.0+|(\.\d*?[1-9])0+)(?=\D|$)")
#: The column of limits on the data.
_DATA = "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitMatrix:
    """Limits on all cases in rows, models in columns; without limits on models, one column for the data.

    `judgements` are those shown, `on_data` those on the data if there are models, and `all_judgements` also
    those on groups, further models and further limits.
    """

    columns: tuple[str, ...]
    judgements: tuple[Judgement, ...]
    on_data: tuple[Judgement, ...]
    all_judgements: tuple[Judgement, ...]

    @property
    def measures(self) -> list[str]:
        """The names of the limited measures, one for each row."""
        return list(dict.fromkeys(judgement.measure for judgement in self.judgements))

    def row(self, measure: str) -> list[Judgement | None]:
        """The judgements of a measure by column; None where there is no limit."""
        found = {j.model or _DATA: j for j in self.judgements if j.measure == measure}
        return [found.get(name) for name in self.columns]

    def verdict(self, column: str) -> LimitVerdict:
        """The worst verdict of a column, groups included."""
        own = [j for j in self.all_judgements if (j.model or _DATA) == column]
        return find_worst_verdict(own) or LimitVerdict.PASS


def arrange_limits(
    judgements: Sequence[Judgement], models: Sequence[str] = (), most: int | None = None
) -> LimitMatrix | None:
    """Arrange judgements on all cases as a matrix of these models; None if there are no limits on all cases.

    Without `models`, the first ones are shown. Of more than `most` limits, those with the worst verdicts are.
    """
    overall, _ = split_groups(judgements)
    names = models or list(dict.fromkeys(j.model for j in overall if j.model))[:_MOST_MODELS]
    of_models = [judgement for judgement in overall if judgement.model in names]
    on_data = [judgement for judgement in overall if not judgement.model]
    kept = _keep_worst(of_models or on_data, most)
    if not kept:
        return None
    return LimitMatrix(
        columns=tuple(dict.fromkeys(judgement.model or _DATA for judgement in kept)),
        judgements=kept,
        on_data=tuple(on_data) if of_models else (),
        all_judgements=tuple(judgements),
    )


def _keep_worst(judgements: Sequence[Judgement], most: int | None) -> tuple[Judgement, ...]:
    """Return the judgements of at most this number of measures, those with the worst verdicts."""
    worst: dict[str, int] = {}
    for judgement in judgements:
        place = _ORDER.index(judgement.verdict)
        worst[judgement.measure] = min(place, worst.get(judgement.measure, place))
    chosen = sorted(worst, key=worst.__getitem__)[:most]
    return tuple(judgement for judgement in judgements if judgement.measure in chosen)


def _arrange_report(report: Report, most: int) -> LimitMatrix | None:
    models = [result.model for result in choose_best(report.evaluation, _MOST_MODELS)]
    return arrange_limits(report.judgements, models, most)


def make_limit_matrix(report: Report, most: int) -> Part | None:
    """Return the matrix of limits and models for the summary, with at most this number of limits, or None."""
    matrix = _arrange_report(report, most)
    if matrix is None:
        return None
    shown = [*matrix.judgements, *matrix.on_data]
    hidden = sum(not judgement.group for judgement in report.judgements) - len(shown)
    rest = (
        f"; {format_counted(hidden, 'more verdict')} on all cases in the section on limits" if hidden else ""
    )
    rows, names = [*_matrix_rows(matrix), _verdict_row(matrix)], _shorten_names(matrix.columns)
    table = {
        "kind": "table",
        "caption": f"Limits, with value and interval: {_count_marks(shown)}{rest}",
        "detail": _DEPENDENT if _are_dependent(shown) else "",
        "look": "evaluation matrix tight short",
        "heads": [table_cell("limit on", "head"), table_cell("limit"), *map(table_cell, names)],
        "bodies": [{"title": "", "rows": rows, "note": describe_data_limits(matrix.on_data)}],
    }
    return set_widths(table)


def _shorten_names(names: Sequence[str]) -> Sequence[str]:
    """Leave out the middle of long names, which the summary states in full, if they stay distinct.

    >>> _shorten_names(["logit", "a model whose name is longer than a column has room for, version 2"])
    ['logit', 'a model whose name i…room for, version 2']
    """
    start, end = (_LONGEST_NAME + 1) // 2, _LONGEST_NAME // 2
    short = [n if len(n) <= _LONGEST_NAME else f"{n[:start].rstrip()}…{n[-end:].lstrip()}" for n in names]
    return short if len(set(short)) == len(names) else names


def describe_data_limits(judgements: Sequence[Judgement]) -> str:
    """Describe limits on the data in a line: number, interval and limit of each; empty if there are none."""
    described = []
    for judgement in judgements:
        label, limit, warning = _name_limit([judgement])
        limits = ", ".join(filter(None, (limit, warning)))
        described.append(f"{_judged_text(judgement, label)} (limit {limits})")
    return f"Data: {'; '.join(described)}." if described else ""


def _matrix_rows(matrix: LimitMatrix) -> Iterator[dict[str, Any]]:
    for measure in matrix.measures:
        row = matrix.row(measure)
        label, limit, warning = _name_limit(row)
        cells = [table_cell("") if judgement is None else _judged_cell(judgement) for judgement in row]
        yield {"cells": [table_cell(label, "head"), table_cell(limit, "text", warning), *cells], "aside": ""}


def _name_limit(row: Sequence[Judgement | None]) -> tuple[str, str, str]:
    """Return the measure, its limit and its warning limit; a warning limit may be the only one."""
    first = next(judgement for judgement in row if judgement is not None)
    numbers = format_judgement(first)
    limit, warning = (_TRAILING_ZEROS.sub(r"\1", numbers[kind]) for kind in ("fail", "warn"))
    is_same_side = limit[:1] == warning[:1] and "," not in limit + warning
    warning = f"warn {warning[2:] if is_same_side else warning}" if warning else ""
    return first.label, limit or warning, warning if limit else ""


def _judged_cell(judgement: Judgement) -> dict[str, str]:
    tone, mark, _ = VERDICT_LABELS[judgement.verdict]
    numbers = format_judgement(judgement)
    interval = numbers["interval"].replace(" ", "\N{NO-BREAK SPACE}")
    return table_cell(f"{mark}\N{NO-BREAK SPACE}{numbers['value']}", f"judged {tone}", interval)


def _verdict_row(matrix: LimitMatrix) -> dict[str, Any]:
    """Return the last row: the worst verdict of each column, groups included."""
    labels = [VERDICT_LABELS[matrix.verdict(name)] for name in matrix.columns]
    cells = [
        table_cell("", "verdict") | {"tone": tone, "mark": mark, "text": word} for tone, mark, word in labels
    ]
    return {"cells": [table_cell("verdict", "head"), table_cell(_name_all(matrix)), *cells], "aside": ""}


def _name_all(matrix: LimitMatrix) -> str:
    return "all limits, groups included" if any(j.group for j in matrix.all_judgements) else "all limits"


def limit_matrix_table(matrix: LimitMatrix) -> Table:
    """Return the matrix of limits and models as plain text."""
    rows = []
    for measure in matrix.measures:
        row = matrix.row(measure)
        label, limit, warning = _name_limit(row)
        cells = ["" if judgement is None else _judged_text(judgement) for judgement in row]
        rows.append((label, ", ".join(filter(None, (limit, warning))), *cells))
    verdicts = [str(matrix.verdict(name)) for name in matrix.columns]
    return Table(
        caption=f"Limits: {_count_marks(matrix.all_judgements)}",
        heads=("limit on", "limit", *matrix.columns),
        rows=(*rows, ("verdict", _name_all(matrix), *verdicts)),
        n_labels=2,
    )


def _judged_text(judgement: Judgement, label: str = "") -> str:
    """Return the symbol of the verdict, the label if given, the number and its interval."""
    numbers = format_judgement(judgement)
    mark = VERDICT_LABELS[judgement.verdict][1]
    return " ".join(filter(None, (mark, label, numbers["value"], numbers["interval"])))


def _count_marks(judgements: Sequence[Judgement]) -> str:
    """Count the verdicts, each with its symbol and its word."""
    labels = {verdict: VERDICT_LABELS[verdict] for verdict in LimitVerdict}
    counts = count_limit_verdicts(judgements)
    return ", ".join(f"{counts[v]} {labels[v][2]} {labels[v][1]}" for v in LimitVerdict if counts[v])


def _are_dependent(judgements: Sequence[Judgement]) -> bool:
    return any(judgement.sentence.endswith(DEPENDENCE_CAUTION) for judgement in judgements)


def make_limits_table(report: Report, most: int) -> Part | None:
    """Return the table of verdicts that the matrix of at most this number of limits does not show, or None.

    Of verdicts on groups, the worst come first, and those that do not fit are counted.
    """
    overall, grouped = split_groups(report.judgements)
    matrix = _arrange_report(report, most)
    in_matrix = () if matrix is None else (*matrix.judgements, *matrix.on_data)
    grouped.sort(key=lambda judgement: _ORDER.index(judgement.verdict))
    shown = [*(j for j in overall if j not in in_matrix), *grouped[:_MOST_GROUP_LINES]]
    if not shown:
        return None
    heads = ("limit on", "of", "value", "limit", "verdict")
    kinds = ("text", "text", "number ranged", "number ranged", "verdict")
    table = {
        "kind": "table",
        "caption": f"{_name_table(in_matrix)}{_count_hidden(len(grouped) - _MOST_GROUP_LINES)}",
        "detail": _DEPENDENT if _are_dependent(shown) else "",
        "look": f"evaluation tight {length_class(len(shown))}",
        "heads": [table_cell(head, kind) for head, kind in zip(heads, kinds, strict=True)],
        "bodies": [{"title": "", "rows": [_limit_row(judgement) for judgement in shown], "note": ""}],
    }
    return set_widths(table)


def _name_table(in_matrix: Sequence[Judgement]) -> str:
    return "Limits and verdicts that the summary does not show" if in_matrix else "Limits and verdicts"


def _count_hidden(hidden: int) -> str:
    if hidden <= 0:
        return ""
    are = "is" if hidden == 1 else "are"
    return f"; {format_counted(hidden, 'more verdict')} on groups {are} in the results document"


def limit_change_table(provenance: LimitProvenance) -> Table | None:
    """Table of the limits that differ from those of the audit before; None if there are none."""
    if not provenance.changes:
        return None
    return Table(
        caption=f"Limits that differ from those of the audit of {provenance.since} (record "
        f"{provenance.record})",
        heads=("limit", "before", "now", "effect"),
        rows=tuple(
            (change.key, change.before or "none", change.after or "none", change.effect or "")
            for change in provenance.changes
        ),
        n_labels=4,
    )


def explain_verdicts(judgements: Sequence[Judgement]) -> str:
    """Explain how limits are judged, in a sentence or two."""
    is_bare = any(known_measure(j.measure).evidence is EvidenceRule.NONE for j in judgements)
    bare = " Shares of red grades have no interval and are judged as they are." if is_bare else ""
    return (
        "A limit is judged by the whole interval of its number: the verdict is inconclusive where the limit "
        f"lies inside the interval, or where there are fewer than {FEWEST_CASES} events or non-events and no "
        f"exact bound decides.{bare}"
    )


def _limit_row(judgement: Judgement) -> dict[str, Any]:
    tone, mark, word = VERDICT_LABELS[judgement.verdict]
    numbers = format_judgement(judgement)
    subject = ", ".join(filter(None, (judgement.model, judgement.group))) or "all cases"
    limit, warning = numbers["fail"], f"warn {numbers['warn']}" if numbers["warn"] else ""
    return {
        "cells": [
            table_cell(judgement.label, "head"),
            table_cell(subject),
            table_cell(numbers["value"], "number ranged", numbers["interval"]),
            table_cell(limit or warning, "number ranged", warning if limit else ""),
            table_cell("", "verdict") | {"tone": tone, "mark": mark, "text": word},
        ],
        "aside": "",
    }
