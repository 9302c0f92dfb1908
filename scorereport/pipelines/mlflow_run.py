"""`log_to_mlflow()`: an evaluation becomes metrics, parameters, tags and files of a run of MLflow."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import time
from typing import TYPE_CHECKING, Any

import pandas as pd

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.redaction import Redactor
from scorereport._utils.rules import check_result
from scorereport.configuration.consistency import check_configuration
from scorereport.configuration.judgement import judge, read_limits
from scorereport.errors import UsageError
from scorereport.pipelines.mlflow_artifacts import list_tables, write_files
from scorereport.pipelines.mlflow_names import (
    check_prefix,
    frame_metrics,
    list_numbers,
    list_parameters,
    list_tags,
    name_metrics,
    name_models,
)
from scorereport.reference.reference_documents import Certificate
from scorereport.report.report_record import check_certificate
from scorereport.results.evaluation import Evaluation
from scorereport.results.frames import verdict_frame

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from mlflow.entities import Run

    from scorereport.configuration import Configuration
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.results.registered_functions import Limits

_FOLDER = "scorereport"
#: The tag of MLflow that makes a run the child of another.
_PARENT = "mlflow.parentRunId"
#: The most entities of a batch that MLflow accepts.
_MOST_METRICS, _MOST_OTHERS = 1000, 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContents:
    """What is logged into a run beside files: metrics, parameters and tags."""

    metrics: Mapping[str, float]
    parameters: Mapping[str, str]
    tags: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedEvaluation:
    """What is logged of an evaluation: into the run, into a child run for each model, and as tables."""

    run: RunContents
    children: Mapping[str, RunContents]
    tables: Mapping[str, pd.DataFrame]


def log_to_mlflow(
    evaluation: Evaluation,
    *,
    limits: Limits | None = None,
    certificate: Certificate | None = None,
    run_id: str | None = None,
    prefix: str = "",
    nested: bool = False,
    model_names: bool = True,
    figures: bool = True,
    report: bool = True,
) -> str:
    """Log an evaluation into a run of MLflow: numbers with intervals, tables, figures, report and verdict.

    It is logged into the run `run_id`, or else the active run; without one, a run is started in the active
    experiment and ended afterwards. It needs the extra `mlflow`.

    The run then has, for a model "logit":

    - metrics `brier.logit`, `brier.logit.lower` and `brier.logit.upper`, and likewise for all numbers that
      may have limits, by the names in docs/limits.md, except those at thresholds and of single classes; also
      `miscalibration_p_value.logit`. Numbers of the sample, such as `prevalence`, have no model. Numbers that
      are not defined are left out. A store in a database has 1.8e308 for an infinite number.
    - parameters `scorereport.n`, `scorereport.data_sha256`, `scorereport.version` and all settings
    - tags `scorereport.results_sha256` and, with limits, `scorereport.verdict` ("pass", "warn",
      "inconclusive" or "fail", the worst of all) and `scorereport.verdict.logit`; with a certificate,
      `scorereport.certificate` ("certified", "confirmed", "not checked" or "failed")
    - files in the folder `scorereport`: `results.json`, `report.html`, `findings.txt`, a CSV file in `tables`
      for each table of the evaluation, for its metrics (with the real names of the models) and verdicts, and
      a PNG file in `figures` for each plot

    In names of metrics, characters of a model's name other than letters, digits, hyphens and underscores are
    replaced by underscores.

    Parameters
    ----------
    evaluation
        The evaluation to log.
    limits
        Limits by which it is judged: a dictionary like the table `[limits]` of a configuration, or the path
        of a TOML configuration, whose texts the report then contains.
    certificate
        The certificate of these results, from `certify`.
    run_id
        A run that exists, active or not.
    prefix
        Text before the names of all metrics, such as `"test_"`, to log several evaluations into one
        run. Parameters and tags have it after `scorereport.`, and the files are in a folder of that name.
    nested
        Whether each model has a child run with its metrics, named by the model. Their names then do not
        contain the model, so that the table of runs compares models.
    model_names
        Whether names of metrics contain the model. If not, the evaluation must have one model: metrics are
        `brier` and so on, and can be compared between runs of models with different names.
    figures, report
        Whether figures, and the HTML report, are logged.

    Returns
    -------
    str
        The ID of the run.

    Raises
    ------
    UsageError
        If MLflow is not installed, if the run or experiment does not exist, or if the run already has another
        evaluation with this prefix. Nothing is logged then.

    Examples
    --------
    >>> import scorereport as sr
    >>> evaluation = sr.evaluate([0, 1] * 50, {"logit": [0.2, 0.7] * 50}, resamples=0)
    >>> import mlflow  # doctest: +SKIP
    >>> run_id = sr.log_to_mlflow(evaluation, limits={"brier": 0.1})  # doctest: +SKIP
    >>> mlflow.get_run(run_id).data.tags["scorereport.verdict"]  # doctest: +SKIP
    'pass'
    """
    _check_arguments(evaluation, certificate, prefix)
    mlflow = _import_mlflow()
    configuration = None if limits is None else read_limits(limits)
    logged = _describe_evaluation(
        evaluation, configuration, certificate, prefix, nested=nested, model_names=model_names
    )
    with TemporaryFolder("mlflow-") as place:
        folder = place / _FOLDER  # beside the marker of the temporary folder
        folder.mkdir()
        write_files(
            folder,
            evaluation,
            logged.tables,
            configuration=configuration,
            certificate=certificate,
            figures=figures,
            report=report,
        )
        with _explained_errors(mlflow), _open_run(mlflow, run_id) as run:
            _refuse_other_parameters(run, logged.run.parameters)
            _log_contents(mlflow, run.info.run_id, logged.run)
            mlflow.MlflowClient().log_artifacts(run.info.run_id, str(folder), _name_folder(prefix))
            for model, contents in logged.children.items():
                _log_child(mlflow, run, model, contents)
            return str(run.info.run_id)


def _check_arguments(evaluation: Evaluation, certificate: Certificate | None, prefix: str) -> None:
    check_result(evaluation, "evaluation", Evaluation, "sr.evaluate")
    if certificate is not None:
        check_result(certificate, "certificate", Certificate, "sr.certify")
        check_certificate(certificate, evaluation)
    check_prefix(prefix)


def _import_mlflow() -> ModuleType:
    try:
        import mlflow
    except ModuleNotFoundError as error:
        raise UsageError(
            'Logging to MLflow needs the package mlflow-skinny. To fix: pip install "scorereport[mlflow]".'
        ) from error
    return mlflow


def _describe_evaluation(
    evaluation: Evaluation,
    configuration: Configuration | None,
    certificate: Certificate | None,
    prefix: str,
    *,
    nested: bool,
    model_names: bool,
) -> LoggedEvaluation:
    judgements = _judge(evaluation, configuration)
    numbers, models = list_numbers(evaluation), name_models([result.model for result in evaluation.results])
    shown = models if _has_names(evaluation, model_names=model_names, nested=nested) else {}
    tables = {**list_tables(evaluation), "metrics": frame_metrics(numbers, shown, prefix)}
    own = [number for number in numbers if not nested or not number.model]
    run = RunContents(
        metrics=name_metrics(own, shown, prefix),
        parameters=list_parameters(evaluation, prefix),
        tags=list_tags(evaluation.sha256, judgements, certificate, models, prefix),
    )
    children = {
        model: RunContents(
            metrics=name_metrics([number for number in numbers if number.model == model], {}, prefix),
            parameters={},
            tags=list_tags(evaluation.sha256, [j for j in judgements if j.model == model], None, {}, prefix),
        )
        for model in (models if nested else ())
    }
    tables |= {"verdicts": verdict_frame(judgements)} if judgements else {}
    return LoggedEvaluation(run=run, children=children, tables=tables)


def _judge(evaluation: Evaluation, configuration: Configuration | None) -> tuple[Judgement, ...]:
    if configuration is None:
        return ()
    check_configuration(configuration, evaluation)
    return judge(evaluation, configuration.limits)


def _has_names(evaluation: Evaluation, *, model_names: bool, nested: bool) -> bool:
    """Whether names of metrics contain the model; without it, numbers of several models have one name."""
    if model_names or nested:
        return not nested
    if len(evaluation.results) > 1:
        raise UsageError(
            f"The evaluation has {len(evaluation.results)} models, whose metrics need different names. To "
            "fix: leave out `model_names`, or set `nested` to give each model a run."
        )
    return False


# ---- Runs ----


@contextmanager
def _open_run(mlflow: ModuleType, run_id: str | None) -> Iterator[Run]:
    """Yield the given run, the active run, or a new one, which ends with the block."""
    active = mlflow.active_run()
    if run_id is None and active is None:
        with mlflow.start_run() as run:
            yield run
    else:
        yield mlflow.MlflowClient().get_run(active.info.run_id if run_id is None else run_id)


@contextmanager
def _explained_errors(mlflow: ModuleType) -> Iterator[None]:
    """State errors of MLflow with the store, which is often not the one that was meant."""
    try:
        yield
    except mlflow.exceptions.MlflowException as error:
        store = Redactor().redact(mlflow.get_tracking_uri())
        reason = Redactor().redact(str(error).partition("\n")[0].rstrip("."))
        raise UsageError(
            f"MLflow with the tracking store {store} has refused this: {reason}. To fix: check the store "
            "(`mlflow.set_tracking_uri`), the experiment (`mlflow.set_experiment`, which creates one) and "
            "the ID of the run."
        ) from error


def _refuse_other_parameters(run: Run, parameters: Mapping[str, str]) -> None:
    """Refuse a run with another evaluation: MLflow does not change parameters, and metrics would mix."""
    known = run.data.params
    other = next((name for name, value in parameters.items() if known.get(name, value) != value), None)
    if other is not None:
        raise UsageError(
            f"The run {run.info.run_id} already has an evaluation, with {known[other]!r} as `{other}`, now "
            f'{parameters[other]!r}. To fix: give a `prefix` such as "test_", or log into another run.'
        )


def _log_contents(mlflow: ModuleType, run_id: str, contents: RunContents) -> None:
    """Log metrics, parameters and tags in batches as large as MLflow accepts."""
    from mlflow.entities import Metric, Param, RunTag

    client, milliseconds = mlflow.MlflowClient(), int(1000 * time())
    metrics = [Metric(name, value, milliseconds, 0) for name, value in contents.metrics.items()]
    parameters = [Param(name, value) for name, value in contents.parameters.items()]
    tags = [RunTag(name, value) for name, value in contents.tags.items()]
    for some in _split(parameters, _MOST_OTHERS):
        client.log_batch(run_id, params=some)
    for some in _split(tags, _MOST_OTHERS):
        client.log_batch(run_id, tags=some)
    for some in _split(metrics, _MOST_METRICS):
        client.log_batch(run_id, metrics=some)


def _split(items: list[Any], most: int) -> list[list[Any]]:
    return [items[start : start + most] for start in range(0, len(items), most)]


def _log_child(mlflow: ModuleType, parent: Run, model: str, contents: RunContents) -> None:
    """Log the numbers of a model into a new run below another."""
    client = mlflow.MlflowClient()
    child = client.create_run(parent.info.experiment_id, run_name=model, tags={_PARENT: parent.info.run_id})
    _log_contents(mlflow, child.info.run_id, contents)
    client.set_terminated(child.info.run_id)


def _name_folder(prefix: str) -> str:
    """The folder of the files: with a prefix, one below, without the sign at its end."""
    return f"{_FOLDER}/{prefix.strip('_-./ ')}".rstrip("/")
