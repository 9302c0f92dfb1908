"""All tables of a report, with numbers as they were computed, for files that other programs read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from scorereport._utils.formatting import shortest
from scorereport.report.findings import list_report_findings
from scorereport.results.evaluation import Evaluation
from scorereport.results.frames import record_frame, verdict_frame

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd  # noqa: TC004  # the type of a field

    from scorereport.evaluation.selection.selection_records import Selection
    from scorereport.history.trend.drift_records import Trend
    from scorereport.report.report_record import Report
    from scorereport.results.model_records import ModelResult


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberTable:
    """A table with its name, and a caption that says what its rows are."""

    name: str
    caption: str
    frame: pd.DataFrame


def list_number_tables(report: Report) -> tuple[NumberTable, ...]:
    """Return all tables of a report that have rows: verdicts and findings first, then the results."""
    tables = (*_list_findings(report), *list_result_tables(report.evaluation), *_list_others(report))
    return tuple(table for table in tables if len(table.frame))


def _list_findings(report: Report) -> Iterator[NumberTable]:
    """The tables that a reader looks at first."""
    import pandas as pd

    yield NumberTable(
        name="verdicts",
        caption="Verdicts on limits: a row for each limit, model and group.",
        frame=verdict_frame(report.judgements),
    )
    yield NumberTable(
        name="findings",
        caption="Findings in plain sentences, as the summary of the report states them.",
        frame=pd.DataFrame({"finding": [found.text for found in list_report_findings(report)]}),
    )
    yield NumberTable(
        name="notes",
        caption="Notes of the evaluation on its data and methods.",
        frame=pd.DataFrame({"note": list(report.evaluation.notes)}),
    )


def list_result_tables(evaluation: Evaluation) -> Iterator[NumberTable]:
    """The summary, and each table that is an attribute of an evaluation, with the caption it documents."""
    yield NumberTable(
        name="summary",
        caption="Main numbers: a row for each model.",
        frame=evaluation.summary().reset_index(),
    )
    for name, member in vars(Evaluation).items():
        if isinstance(member, property) and member.fget.__annotations__.get("return") == "pd.DataFrame":
            frame = getattr(evaluation, name)
            has_labels = frame.index.name is not None
            yield NumberTable(
                name=name,
                caption=_find_caption(member.__doc__),
                frame=frame.reset_index() if has_labels else frame,
            )


def _find_caption(documentation: str | None) -> str:
    """The first line of a docstring; empty under python -OO, which removes it."""
    return (documentation or "").partition("\n")[0]


def _list_others(report: Report) -> Iterator[NumberTable]:
    evaluation, certificate = report.evaluation, report.certificate
    flow, models = evaluation.data.row_flow, evaluation.models
    yield NumberTable(
        name="forecasts",
        caption="Distribution of the forecasts: a row for each model.",
        frame=_make_frame([_describe_forecasts(model) for model in models]),
    )
    tested = [(m.model, grade) for m in models if m.calibration is not None for grade in m.calibration.grades]
    yield NumberTable(
        name="grades",
        caption="Tests of rating grades: a row for each model and grade.",
        frame=record_frame([grade for _, grade in tested], model=[model for model, _ in tested]),
    )
    yield NumberTable(
        name="stability",
        caption="Population stability index of the forecasts against the reference: a row for each model.",
        frame=record_frame(
            [found.index for found in evaluation.stability or ()],
            model=[found.model for found in evaluation.stability or ()],
        ),
    )
    counts = [("rows read", flow.read), *((f"dropped: {drop.reason}", drop.rows) for drop in flow.dropped)]
    counts += [("rows kept", flow.kept), *((f"missing in {one.column}", one.rows) for one in flow.missing)]
    yield NumberTable(
        name="rows",
        caption="Rows that were read, dropped and kept.",
        frame=_make_frame([{"rows": what, "count": count} for what, count in counts]),
    )
    yield NumberTable(
        name="certificate",
        caption="Comparisons with R: a row for each quantity.",
        frame=record_frame(() if certificate is None else certificate.comparisons),
    )
    yield from _list_trend_tables(report.trend)
    yield NumberTable(
        name="checkpoints",
        caption="Scores of all checkpoints: a row for each.",
        frame=_make_frame(_list_checkpoints(report.selection)),
    )
    yield NumberTable(
        name="settings", caption="Settings of the evaluation.", frame=_make_frame(_list_settings(evaluation))
    )


def _list_trend_tables(trend: Trend | None) -> Iterator[NumberTable]:
    yield NumberTable(
        name="drift",
        caption="Comparison with earlier audits: a row for each model and number.",
        frame=record_frame(() if trend is None else trend.drifts),
    )
    yield NumberTable(
        name="evidence",
        caption="Evidence after each audit, as logarithms: a row for each model, hypothesis and period.",
        frame=_make_frame(_list_evidence(trend)),
    )


def _make_frame(rows: Sequence[dict[str, object]]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(list(rows))


def _describe_forecasts(model: ModelResult) -> dict[str, object]:
    found = model.forecasts
    quantiles = {f"quantile_{shortest(one.level)}": one.value for one in found.quantiles}
    return {
        "model": model.model,
        "type": found.forecast_type,
        "distinct": found.n_distinct,
        "minimum": found.minimum,
        **quantiles,
        "maximum": found.maximum,
        "mean": found.mean,
    }


def _list_evidence(trend: Trend | None) -> list[dict[str, object]]:
    evidence = None if trend is None else trend.evidence
    return [
        {
            "model": series.model,
            "hypothesis": series.hypothesis,
            "measure": series.measure,
            "bound": series.bound,
            "is_upper": series.is_upper,
            **asdict(point),
            "alarm_at": series.alarm_at,
        }
        for series in (() if evidence is None else evidence.series)
        for point in series.points
    ]


def _list_checkpoints(selection: Selection | None) -> list[dict[str, object]]:
    if selection is None:
        return []
    return [
        {
            selection.column: checkpoint,
            **{track.score: float(track.value[place]) for track in selection.tracks},
        }
        for place, checkpoint in enumerate(selection.checkpoints)
    ]


def _list_settings(evaluation: Evaluation) -> list[dict[str, object]]:
    settings = asdict(evaluation.settings)
    return [{"setting": name, "value": value} for name, value in settings.items() if value is not None]
