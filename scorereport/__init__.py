"""scorereport: show that a probabilistic classifier is good enough to be used.

Proper scores, CORP decompositions and curves, computed exactly. Names are loaded when first used,
so that importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scorereport.notebooks import register_renderer

if TYPE_CHECKING:
    from scorereport import curves as curves
    from scorereport import inference as inference
    from scorereport import scores as scores
    from scorereport.errors import DataError as DataError
    from scorereport.errors import ScoreReportError as ScoreReportError
    from scorereport.errors import UsageError as UsageError
    from scorereport.evaluating import evaluate as evaluate
    from scorereport.evaluation import Evaluation as Evaluation
    from scorereport.predictions import ClassPredictions as ClassPredictions
    from scorereport.predictions import Predictions as Predictions
    from scorereport.reading import read_predictions as read_predictions
    from scorereport.reference.certificate import Certificate as Certificate
    from scorereport.reference.certifying import certify as certify
    from scorereport.reliability.fit import Corp as Corp
    from scorereport.reliability.fit import corp as corp
    from scorereport.report.writing import write_report as write_report
    from scorereport.scores.skills import skill as skill
    from scorereport.selection.records import Selection as Selection
    from scorereport.selection.selecting import select as select

_MODULES = ("curves", "inference", "scores")
_HOMES = {
    "Certificate": "reference.certificate",
    "ClassPredictions": "predictions",
    "Corp": "reliability.fit",
    "DataError": "errors",
    "Evaluation": "evaluation",
    "Predictions": "predictions",
    "ScoreReportError": "errors",
    "Selection": "selection.records",
    "UsageError": "errors",
    "certify": "reference.certifying",
    "corp": "reliability.fit",
    "evaluate": "evaluating",
    "read_predictions": "reading",
    "select": "selection.selecting",
    "skill": "scores.skills",
    "write_report": "report.writing",
}

__all__ = ["__version__", *_MODULES, *_HOMES]  # noqa: PLE0604


def _render_notebook(evaluation: Evaluation) -> str:
    from scorereport.report.notebook import render_notebook

    return render_notebook(evaluation)


register_renderer(_render_notebook)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name == "__version__":
        from scorereport.version import package_version

        return package_version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
