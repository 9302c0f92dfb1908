"""The JSON Schemas of all documents: `python -m validation.schemas` writes them into the package."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import scorereport
from scorereport._utils.files import write_text
from scorereport.configuration import configuration_schema
from scorereport.reference.reference_documents import Certificate, Study
from scorereport.report import table_document
from scorereport.report.report_record import Report
from scorereport.results.evaluation import Evaluation

FOLDER = Path(scorereport.__file__).parent / "schemas"


def schemas() -> dict[str, dict[str, Any]]:
    """Return each schema by the name of its file."""
    return {
        "evaluation-1.json": Evaluation.json_schema(),
        "certificate-1.json": Certificate.json_schema(),
        "configuration-1.json": configuration_schema(),
        "report-1.json": Report.json_schema(),
        "study-1.json": Study.json_schema(),
        "tables-1.json": table_document.json_schema(),
    }


if __name__ == "__main__":
    for name, schema in schemas().items():
        write_text(FOLDER / name, json.dumps(schema, indent=2, ensure_ascii=False) + "\n")
