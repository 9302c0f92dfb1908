"""CycloneDX ML-BOM of a report: models with their metrics, the data with their SHA-256, the software.

The document follows the JSON Schema of CycloneDX 1.6. Packages are those with which the numbers were
computed; they are tools of the evaluation, not parts of a model.
"""

from __future__ import annotations

import hashlib
import json
from math import isnan
from typing import TYPE_CHECKING
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

from scorereport._utils.formatting import format_plain, one_line
from scorereport.report.assembly import name_report
from scorereport.report.reported_metrics import list_metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.configuration import Configuration
    from scorereport.report.report_record import Report
    from scorereport.report.reported_metrics import ReportedMetric

#: Parts of a document: objects without the keys that have no value.
Json = dict[str, object]

_DATA = "data"
_TASKS = {
    "binary": "binary classification with probabilities",
    "multiclass": "classification with probabilities of classes",
    "ordinal": "classification with probabilities of ordered classes",
}
_NAMESPACE = "scorereport:"


def render_bill_of_materials(report: Report) -> str:
    """Render the ML-BOM of a report as JSON; the same report gives the same text."""
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{_NAMESPACE}{_hash(report)}')}",
        "version": 1,
        "metadata": _describe_metadata(report),
        "components": [*_list_models(report), _describe_data(report)],
        "dependencies": _list_dependencies(report),
    }
    return f"{json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)}\n"


def _hash(report: Report) -> str:
    return hashlib.sha256(report.to_json().encode()).hexdigest()


def _keep(**values: object) -> Json:
    """The values that are not empty, by name."""
    return {name: value for name, value in values.items() if value}


def _list_properties(facts: Mapping[str, str]) -> list[Json]:
    """Facts for which CycloneDX has no key."""
    return [{"name": f"{_NAMESPACE}{name}", "value": value} for name, value in facts.items() if value]


# ---- The document and its tools ----


def _describe_metadata(report: Report) -> Json:
    author, model = report.configuration.people.author, report.configuration.model
    certificate = report.certificate
    return _keep(
        timestamp=report.provenance.time,
        authors=[{"name": author.name}] if author is not None else [],
        tools={"components": [_describe_package(*package) for package in _list_packages(report)]},
        properties=_list_properties(
            {
                "title": name_report(report),
                "command": report.provenance.command,
                "verdict": "" if report.verdict is None else str(report.verdict),
                "certificate": "" if certificate is None else certificate.current_verdict,
                "certificate-reference": "" if certificate is None else certificate.reference,
                "results-sha256": report.results_sha256 or report.evaluation.sha256,
                "report-sha256": _hash(report),
                "configuration-sha256": report.configuration.sha256,
                "model": model.name,
                "model-version": model.version,
                "model-owner": model.owner,
                "model-developer": model.developer,
                "model-tier": model.tier,
            }
        ),
    )


def _list_packages(report: Report) -> list[tuple[str, str]]:
    """The packages with which numbers were computed and files rendered: name and version, each pair once."""
    every = (*report.evaluation.software.items(), *report.provenance.software.items())
    return sorted(dict.fromkeys(every), key=lambda package: (package[0] != "scorereport", package))


def _describe_package(name: str, version: str) -> Json:
    kind = {"scorereport": "application", "python": "platform"}.get(name, "library")
    purl = _make_purl(name, version)
    return {"type": kind, "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _make_purl(name: str, version: str) -> str:
    kind = "generic" if name == "python" else "pypi"
    return f"pkg:{kind}/{quote(name.lower().replace('_', '-'), safe='')}@{quote(version, safe='')}"


def _list_dependencies(report: Report) -> list[Json]:
    packages = _list_packages(report)
    own = [_make_purl(*package) for package in packages if package[0] == "scorereport"]
    others = [_make_purl(*package) for package in packages if package[0] != "scorereport"]
    return [{"ref": ref, "dependsOn": others} for ref in own]


# ---- Models and data ----


def _list_models(report: Report) -> Iterator[Json]:
    """The models; what the configuration states of the model belongs to it if there are no others."""
    metrics, stated = list_metrics(report.evaluation), report.configuration.model
    models = [result.model for result in report.evaluation.results]
    is_alone = len(models) == 1
    for place, model in enumerate(models, start=1):
        yield {
            "type": "machine-learning-model",
            "bom-ref": f"model-{place}",
            "name": model,
            **_keep(
                version=stated.version if is_alone else "",
                manufacturer={"name": stated.developer} if stated.developer and is_alone else None,
                description=stated.descriptions.get(model, ""),
            ),
            "modelCard": _describe_card(report, [m for m in metrics if m.model == model], place),
        }


def _describe_card(report: Report, metrics: Sequence[ReportedMetric], place: int) -> Json:
    settings = report.evaluation.settings
    return {
        "bom-ref": f"model-card-{place}",
        "modelParameters": {
            "task": _TASKS[report.evaluation.kind],
            "datasets": [{"ref": _DATA}],
            "outputs": [{"format": "probability"}],
        },
        "quantitativeAnalysis": {"performanceMetrics": [_describe_metric(m) for m in metrics]},
        **_keep(considerations=_describe_considerations(report.configuration)),
        "properties": _list_properties(
            {"confidence-level": format_plain(settings.level) if settings.infers else ""}
        ),
    }


def _describe_metric(metric: ReportedMetric) -> Json:
    """A metric as the schema has it: numbers are texts; one that is not defined has no value."""
    bounds = {"lowerBound": repr(metric.lower), "upperBound": repr(metric.upper)}
    return {
        "type": metric.measure.name,
        **_keep(
            value=repr(float(metric.value)) if not isnan(metric.value) else "",
            slice=metric.group,
            confidenceInterval=bounds if metric.has_interval else None,
        ),
    }


def _describe_considerations(configuration: Configuration) -> Json:
    model, texts = configuration.model, configuration.texts
    outside = f"Not to be used for: {model.out_of_scope}" if model.out_of_scope else ""
    return _keep(
        users=[model.users] if model.users else [],
        useCases=[model.intended_use] if model.intended_use else [],
        technicalLimitations=[text for text in (texts.limitations, outside) if text],
    )


def _describe_data(report: Report) -> Json:
    """The evaluated data; the hash is that of the file or, without a file, that of the columns used."""
    data, stated = report.evaluation.data, report.configuration.data
    described = " ".join(filter(None, (stated.source, stated.population, stated.period)))
    sha256 = data.file_sha256 or data.sha256
    facts = {
        "columns-sha256": data.sha256,
        "rows": str(data.row_flow.kept),
        "outcome": data.outcome,
        "event": data.positive,
        "meaning-of-the-outcome": one_line(stated.outcome),
        "horizon": one_line(stated.horizon),
    }
    return {
        "type": "data",
        "bom-ref": _DATA,
        "name": data.source or "data in memory",
        **_keep(
            description=described,
            hashes=[{"alg": "SHA-256", "content": sha256}] if sha256 else [],
        ),
        "data": [
            {
                "type": "dataset",
                "name": data.source or "data in memory",
                "contents": {"properties": _list_properties(facts)},
            }
        ],
    }
