"""The tables and curves of a report as one JSON document, which other languages read without knowing ours.

Tables are lists of columns, because names of columns may come from data and need not differ.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any, Literal

from scorereport._utils import json_documents
from scorereport._utils.version import package_version
from scorereport.report.report_tables import NumberTable, list_number_tables
from scorereport.results.curve_frames import (
    band_frame,
    histogram_frame,
    murphy_curve_frame,
    reliability_curve_frame,
    roc_curve_frame,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation

VERSION: Literal[1] = 1
ColumnType = Literal["number", "integer", "logical", "text"]
#: The types of columns by the kinds of numpy.
_TYPES: dict[str, ColumnType] = {"b": "logical", "i": "integer", "u": "integer", "f": "number"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """A column: numbers, integers, logical values or texts; None where there is no value.

    In a column of texts, a value that is not one is written as JSON.
    """

    name: str
    type: ColumnType
    values: list[float | int | bool | str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableContent:
    """A table with its name, a caption that says what its rows are, and its columns."""

    name: str
    caption: str
    columns: tuple[TableColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableDocument:
    """All tables and curves of a report, with what a reader must know of the evaluation.

    `verdict` is the worst verdict on the limits, "" without limits; `certificate` is the verdict of the
    certificate and `certificate_sentence` its sentence, "" without one.
    """

    version: Literal[1] = VERSION
    software: str
    kind: Literal["binary", "multiclass", "ordinal"]
    outcome: str
    models: tuple[str, ...]
    classes: tuple[str, ...]
    rows: int
    events: float
    level: float
    verdict: str
    certificate: str
    certificate_sentence: str
    tables: tuple[TableContent, ...]


def render_tables(report: Report) -> bytes:
    """Render all tables and curves of a report that have rows."""
    return json_documents.dump(describe_tables(report)).encode()


def describe_tables(report: Report) -> TableDocument:
    """Describe all tables and curves of a report that have rows."""
    evaluation, certificate = report.evaluation, report.certificate
    classes = evaluation.data.classes
    tables = (*list_number_tables(report), *_list_curves(evaluation))
    return TableDocument(
        software=package_version(),
        kind=evaluation.kind,
        outcome=evaluation.data.outcome,
        models=tuple(result.model for result in evaluation.results),
        classes=() if classes is None else classes.labels,
        rows=evaluation.data.sample.rows,
        events=evaluation.data.sample.events,
        level=evaluation.settings.level,
        verdict="" if report.verdict is None else str(report.verdict),
        certificate="" if certificate is None else certificate.verdict,
        certificate_sentence="" if certificate is None else certificate.sentence,
        tables=tuple(_describe_table(table) for table in tables),
    )


def json_schema() -> dict[str, Any]:
    """The JSON Schema of documents of tables; `scorereport/schemas` holds it as a file."""
    return json_documents.json_schema(TableDocument, f"scorereport tables, version {VERSION}")


def _list_curves(evaluation: Evaluation) -> Iterator[NumberTable]:
    """The curves that have points; those of decisions are among the tables of all reports."""
    models = evaluation.models
    found = {
        "reliability_curves": (
            "Reliability curves: a row for each point.",
            reliability_curve_frame(evaluation),
        ),
        "bands": ("Bands of reliability diagrams: a row for each point.", band_frame(evaluation)),
        "histograms": ("Histograms of the forecasts: a row for each bin.", histogram_frame(evaluation)),
        "roc_curves": ("ROC curves and their hulls: a row for each point.", roc_curve_frame(models)),
        "murphy_curves": ("Murphy curves: a row for each part and cost ratio.", murphy_curve_frame(models)),
    }
    for name, (caption, frame) in found.items():
        if len(frame):
            yield NumberTable(name=name, caption=caption, frame=frame)


def _describe_table(table: NumberTable) -> TableContent:
    columns = tuple(_describe_column(str(name), values) for name, values in table.frame.items())
    return TableContent(name=table.name, caption=table.caption, columns=columns)


def _describe_column(name: str, values: pd.Series[Any]) -> TableColumn:
    """Find the type of a column: that of its numbers, or texts."""
    kind = _TYPES.get(getattr(values.dtype, "kind", ""))
    if kind is None and not all(value is None or isinstance(value, str) for value in values):
        kind = _find_type(values.tolist())
    if kind is not None:
        return TableColumn(name=name, type=kind, values=values.tolist())
    return TableColumn(name=name, type="text", values=[_as_text(value) for value in values.tolist()])


def _find_type(values: list[Any]) -> ColumnType | None:
    """The type of values that may be missing; None for a mixture, which becomes texts."""
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        return "logical"
    if types and types <= {int}:
        return "integer"
    return "number" if types and types <= {int, float} else None


def _as_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float) and isnan(value):  # pandas fills in NaN where there is no text
        return None
    return json.dumps(json_documents.encode(value), ensure_ascii=False)
