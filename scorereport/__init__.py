"""scorereport: show that a probabilistic classifier is good enough to be used.

Proper scores, CORP decompositions and curves, computed exactly. Names are imported on first use, so that
importing the package is fast.

PYTEST_DONT_REWRITE, because the package is a plugin of pytest, which otherwise warns if it is imported first.
"""

from __future__ import annotations

from importlib import import_module
from sys import modules
from typing import TYPE_CHECKING, Any

from scorereport._utils.registration import register

if TYPE_CHECKING:
    from scorereport import curves as curves
    from scorereport import inference as inference
    from scorereport import plots as plots
    from scorereport import scores as scores
    from scorereport import testing as testing
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.data.predictions import ClassPredictions as ClassPredictions
    from scorereport.data.predictions import Predictions as Predictions
    from scorereport.data.reader import read_predictions as read_predictions
    from scorereport.errors import DataError as DataError
    from scorereport.errors import ScoreReportError as ScoreReportError
    from scorereport.errors import UsageError as UsageError
    from scorereport.estimators.isotonic_calibrator import IsotonicCalibrator as IsotonicCalibrator
    from scorereport.estimators.scorers import scorers as scorers
    from scorereport.evaluation.dispatch import evaluate as evaluate
    from scorereport.evaluation.selection.choice import select as select
    from scorereport.evaluation.selection.selection_records import Selection as Selection
    from scorereport.pipelines.mlflow_run import log_to_mlflow as log_to_mlflow
    from scorereport.plots.displays import DecisionCurveDisplay as DecisionCurveDisplay
    from scorereport.plots.displays import MurphyDisplay as MurphyDisplay
    from scorereport.plots.displays import ReliabilityDisplay as ReliabilityDisplay
    from scorereport.reference.certification import certify as certify
    from scorereport.reference.r_diagram_files import band_from_r as band_from_r
    from scorereport.reference.r_diagram_files import from_r as from_r
    from scorereport.reference.r_diagrams import to_r as to_r
    from scorereport.reference.reference_documents import Certificate as Certificate
    from scorereport.reliability.fit import Corp as Corp
    from scorereport.reliability.fit import corp as corp
    from scorereport.report.report_output import write_report as write_report
    from scorereport.results.evaluation import Evaluation as Evaluation
    from scorereport.results.registered_functions import Limits
    from scorereport.scores.skills import skill as skill

#: Public modules, and the modules that define the other public names.
_MODULES = ("curves", "inference", "plots", "scores", "testing")
_HOMES = {
    "Certificate": "reference.reference_documents",
    "ClassPredictions": "data.predictions",
    "Corp": "reliability.fit",
    "DataError": "errors",
    "DecisionCurveDisplay": "plots.displays",
    "Evaluation": "results.evaluation",
    "IsotonicCalibrator": "estimators.isotonic_calibrator",
    "MurphyDisplay": "plots.displays",
    "Predictions": "data.predictions",
    "ReliabilityDisplay": "plots.displays",
    "ScoreReportError": "errors",
    "Selection": "evaluation.selection.selection_records",
    "UsageError": "errors",
    "band_from_r": "reference.r_diagram_files",
    "certify": "reference.certification",
    "corp": "reliability.fit",
    "evaluate": "evaluation.dispatch",
    "from_r": "reference.r_diagram_files",
    "log_to_mlflow": "pipelines.mlflow_run",
    "read_predictions": "data.reader",
    "scorers": "estimators.scorers",
    "select": "evaluation.selection.choice",
    "skill": "scores.skills",
    "to_r": "reference.r_diagrams",
    "write_report": "report.report_output",
}

__all__ = ["__version__", *_MODULES, *_HOMES]  # noqa: PLE0604


def _render_notebook(evaluation: Evaluation) -> str:
    from scorereport.report.notebook import render_notebook

    return render_notebook(evaluation)


def _list_findings(evaluation: Evaluation) -> tuple[str, ...]:
    from scorereport.report.findings import list_evaluation_findings

    return list_evaluation_findings(evaluation)


def _judge_limits(evaluation: Evaluation, limits: Limits) -> tuple[Judgement, ...]:
    from scorereport.configuration.judgement import judge_limits

    return judge_limits(evaluation, limits)


def _list_section_names() -> tuple[str, ...]:
    from scorereport.report.sections import list_sections

    return tuple(section.name for section in list_sections())


def _draw_plot(source: Any, kind: str, **keywords: Any) -> Any:
    from scorereport.plots import draw_kind

    return draw_kind(source, kind, **keywords)


register("plot", _draw_plot)
register("render_notebook", _render_notebook)
register("list_findings", _list_findings)
register("judge_limits", _judge_limits)
register("list_section_names", _list_section_names)


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"{__name__}.{name}")
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name == "__version__":
        from scorereport._utils.version import package_version

        return package_version()
    # with the module, Python suggests the name that was probably meant
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=modules[__name__])


def __dir__() -> list[str]:
    return sorted(__all__)
