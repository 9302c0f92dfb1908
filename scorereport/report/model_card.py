"""Model card of a report in Markdown, with the headings of Mitchell et al. (2019), and with metadata.

What the configuration does not state is "Not stated.": nothing is assumed about a model. The front matter has
the `model-index` of the Hugging Face hub.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import format_level, format_time
from scorereport.report.assembly import name_report
from scorereport.report.findings import describe_method_line, list_report_findings
from scorereport.report.markdown_text import escape, escape_paragraphs, render_table, render_yaml
from scorereport.report.reported_metrics import select_main_metrics
from scorereport.report.sections.limits_section import describe_limits_origin
from scorereport.report.sections.summary_section import describe_overall_verdict
from scorereport.report.tables.overview import describe_data, describe_uncertainty

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.configuration import Person
    from scorereport.report.report_record import Report
    from scorereport.report.reported_metrics import ReportedMetric
    from scorereport.results.evaluation import Evaluation

NOT_STATED = "Not stated."
#: The task as the hub knows it: the data contain forecasts, not what they were made from.
_TASK = "other"
_TASK_NAMES = {
    "binary": "Probability of an event",
    "multiclass": "Probabilities of classes",
    "ordinal": "Probabilities of ordered classes",
}
_CERTIFIED = {
    "certified": "R certificate: certified. The R package agrees: {reference}.",
    "confirmed": "R certificate: confirmed. Base R agrees: {reference}.",
    "failed": "R certificate: failed. Other software does not agree: {reference}.",
    "not checked": "R certificate: not checked. No other software has recomputed the numbers.",
}


def render_model_card(report: Report) -> str:
    """Render the model card of a report; the same report gives the same text."""
    sections = [
        ("Model Details", _describe_details(report)),
        ("Intended Use", _describe_use(report)),
        ("Factors", _describe_factors(report.evaluation)),
        ("Metrics", _describe_metrics(report)),
        ("Evaluation Data", _describe_evaluation_data(report)),
        ("Training Data", [NOT_STATED]),
        ("Quantitative Analyses", _describe_analyses(report)),
        ("Ethical Considerations", [NOT_STATED]),
        ("Caveats and Recommendations", _describe_caveats(report)),
    ]
    parts = [f"# {escape(f'Model card: {report.configuration.model.name or name_report(report)}')}"]
    for heading, blocks in sections:
        parts += [f"## {heading}", *blocks]
    body = "\n\n".join(parts)
    return f"---\n{render_yaml(_describe_index(report))}\n---\n\n{body}\n"


# ---- Front matter ----


def _describe_index(report: Report) -> dict[str, object]:
    """The metadata; numbers that are not finite are in the tables only, because JSON has no such numbers."""
    metrics = select_main_metrics(report.evaluation)
    models = [result.model for result in report.evaluation.results]
    return {
        "tags": ["scorereport", "calibration"],
        "model-index": [
            {"name": model, "results": [_describe_result(report, model, metrics)]} for model in models
        ],
    }


def _describe_result(report: Report, model: str, metrics: Sequence[ReportedMetric]) -> dict[str, object]:
    """The metrics of a model; its column is named with the data, for readers that merge several models."""
    data, stated = report.evaluation.data, report.configuration.data
    return {
        "task": {"type": _TASK, "name": _TASK_NAMES[report.evaluation.kind]},
        "dataset": {
            "type": data.source or "data in memory",
            "name": stated.source or data.source or "data in memory",
            "config": model,
            "revision": data.file_sha256 or data.sha256,
        },
        "metrics": [
            {"type": m.measure.name, "name": m.label, "value": m.value}
            for m in metrics
            if m.model == model and not m.group and m.is_finite
        ],
    }


# ---- Sections ----


def _list_facts(facts: Mapping[str, str]) -> str:
    return "\n".join(
        f"- **{label}:** {escape(text) if text.strip() else NOT_STATED}" for label, text in facts.items()
    )


def _say(text: str) -> str:
    """A text of the configuration, or that there is none."""
    return escape_paragraphs(text) or NOT_STATED


def _describe_details(report: Report) -> Iterator[str]:
    model, people = report.configuration.model, report.configuration.people
    yield _list_facts(
        {
            "Model": model.name,
            "Version": model.version,
            "Developer": model.developer,
            "Owner": model.owner,
            "Tier": model.tier,
            "Type": _TASK_NAMES[report.evaluation.kind],
            "Card written by": f"scorereport {report.evaluation.software.get('scorereport', '')}".strip(),
            "Date": format_time(report.provenance.time),
            "Author of the evaluation": _name(people.author),
            "Reviewer": _name(people.reviewer),
            "Approver": _name(people.approver),
        }
    )
    rows = [
        (result.model, model.descriptions.get(result.model, NOT_STATED))
        for result in report.evaluation.results
    ]
    yield render_table(("Forecasts", "Description"), rows, labels=2)


def _name(person: Person | None) -> str:
    known = () if person is None else (person.name, person.role, person.organisation)
    return ", ".join(filter(None, known))


def _describe_use(report: Report) -> Iterator[str]:
    model = report.configuration.model
    texts = {
        "Primary intended uses": model.intended_use,
        "Primary intended users": model.users,
        "Out-of-scope use cases": model.out_of_scope,
        "Purpose of this evaluation": report.configuration.report.purpose,
    }
    for heading, text in texts.items():
        yield f"### {heading}\n\n{_say(text)}"


def _describe_factors(evaluation: Evaluation) -> Iterator[str]:
    """The groups of cases for which numbers are given."""
    groups: dict[str, list[str]] = {}
    for group in evaluation.groups:
        groups.setdefault(group.column, []).append(group.label)
    if groups:
        yield "Results are also given by group:"
        yield "\n".join(
            f"- **{escape(column)}:** {escape(', '.join(labels))}" for column, labels in groups.items()
        )
    else:
        yield "No groups were evaluated."
    if evaluation.windows:
        labels = [window.label for window in evaluation.windows]
        yield f"Periods of time were compared: {escape(labels[0])} to {escape(labels[-1])}."


def _describe_metrics(report: Report) -> Iterator[str]:
    evaluation = report.evaluation
    labels = dict.fromkeys(m.label for m in select_main_metrics(evaluation))
    yield f"Reported: {escape(', '.join(labels))}."
    yield escape(describe_uncertainty(evaluation) or describe_method_line(evaluation))
    if report.judgements:
        yield escape(describe_limits_origin(report.configuration.limits))


def _describe_evaluation_data(report: Report) -> Iterator[str]:
    data, stated = report.evaluation.data, report.configuration.data
    yield escape(describe_data(report.evaluation))
    yield _list_facts(
        {
            "Source": stated.source,
            "Period": stated.period,
            "Population": stated.population,
            "Eligibility": stated.eligibility,
            "Meaning of the outcome": stated.outcome,
            "Horizon": stated.horizon,
            "How the forecasts were made": report.configuration.model.predictions,
        }
    )
    hashes = {"SHA-256 of the file": data.file_sha256, "SHA-256 of the columns used": data.sha256}
    yield _list_facts({label: sha256 for label, sha256 in hashes.items() if sha256})


def _describe_analyses(report: Report) -> Iterator[str]:
    metrics = select_main_metrics(report.evaluation)
    yield f"**Verdict:** {escape(describe_overall_verdict(report)['sentence'])}."
    yield f"### Unitary results\n\n{_tabulate([m for m in metrics if not m.group], report.evaluation)}"
    by_group = [m for m in metrics if m.group and m.measure.name == report.evaluation.main_score]
    if by_group:
        yield f"### Results by group\n\n{_tabulate(by_group, report.evaluation)}"
    if report.judgements:
        rows = [
            (j.label, ", ".join(filter(None, (j.model, j.group))) or "all cases", str(j.verdict), j.sentence)
            for j in report.judgements
        ]
        yield f"### Limits\n\n{render_table(('Limit on', 'Of', 'Verdict', 'Finding'), rows, labels=4)}"


def _tabulate(metrics: Sequence[ReportedMetric], evaluation: Evaluation) -> str:
    has_groups = any(metric.group for metric in metrics)
    interval = f"{format_level(evaluation.settings.level)} interval"
    heads = ("Model", *(("Group",) if has_groups else ()), "Measure", "Value", interval)
    ordered = sorted(metrics, key=lambda m: [result.model for result in evaluation.results].index(m.model))
    rows = [(m.model, *((m.group,) if has_groups else ()), m.label, m.text, m.interval_text) for m in ordered]
    return render_table(heads, rows, labels=len(heads) - 2)


def _describe_caveats(report: Report) -> Iterator[str]:
    texts, certificate = report.configuration.texts, report.certificate
    yield f"### Limitations\n\n{_say(texts.limitations)}"
    yield f"### Conclusion of the author\n\n{_say(texts.conclusion)}"
    findings = [finding.text for finding in list_report_findings(report)]
    yield "### Findings\n\n" + "\n".join(
        f"- {escape(text)}" for text in (*findings, *report.evaluation.notes)
    )
    verdict = "not checked" if certificate is None else certificate.current_verdict
    reference = "" if certificate is None else certificate.reference
    yield escape(_CERTIFIED[verdict].format(reference=reference))
