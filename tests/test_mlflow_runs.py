"""`log_to_mlflow` with a real tracking store in SQLite; everything is read back by MLflow's own client."""

from __future__ import annotations

import builtins
import math
import sys
import warnings
from functools import cache
from io import BytesIO
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder

import scorereport as sr
from scorereport.pipelines.mlflow_artifacts import draw_figures, list_tables
from scorereport.pipelines.mlflow_names import (
    check_prefix,
    list_numbers,
    list_parameters,
    name_metrics,
    name_models,
)
from scorereport.pipelines.mlflow_run import _log_contents, log_to_mlflow

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:mlflow.store.tracking.sqlalchemy_store")
ODD = "gbm v1.2/ü"
LIMITS = {"brier": {"warn": 0.3, "fail": 0.4}}
PLAIN = {"figures": False, "report": False}


def make_arrays(n=200):
    p = np.linspace(0.02, 0.98, n)
    y = ((np.arange(n) * 0.61803398875) % 1 < p).astype(int)
    certain = (p > 0.5).astype(float)
    assert (y != certain).any()
    return y, {"logit": p, ODD: 0.8 * p + 0.1, "certain": certain}


@cache
def evaluation():
    y, models = make_arrays()
    return sr.evaluate(y, models, resamples=200)


@cache
def class_evaluation():
    y = np.array(["a", "b", "c"])[np.arange(150) % 3]
    p = np.tile([0.5, 0.3, 0.2], (150, 1))
    return sr.evaluate(y, {"m": p}, classes=["a", "b", "c"], resamples=100)


@cache
def engine_evaluation():
    y, models = make_arrays()
    return sr.evaluate(y, {"logit": models["logit"]}, engine="duckdb")


def make_store(folder):
    """An empty store; its tables are made by many migrations, which takes seconds."""
    import mlflow

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        mlflow.set_tracking_uri(f"sqlite:///{folder}/empty.db")
        mlflow.search_experiments()
    return (folder / "empty.db").read_bytes()


@pytest.fixture
def mlflow(tmp_path, tmp_path_factory, monkeypatch):
    """MLflow with a store of its own, without telemetry, in an experiment "nightly"."""
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    monkeypatch.setenv("DO_NOT_TRACK", "true")
    monkeypatch.chdir(tmp_path)
    import mlflow

    folder = shared_folder(tmp_path_factory, "mlflow-store")
    Path("tracking.db").write_bytes(make_once(folder, lambda: make_store(folder)))
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/tracking.db")
    mlflow.set_experiment("nightly")
    yield mlflow
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(None)


def read_artifact(mlflow, run_id, name):
    return Path(mlflow.artifacts.download_artifacts(f"runs:/{run_id}/scorereport/{name}", dst_path="read"))


def list_artifacts(mlflow, run_id, path="scorereport"):
    found = mlflow.MlflowClient().list_artifacts(run_id, path)
    below = [list_artifacts(mlflow, run_id, each.path) for each in found if each.is_dir]
    return {each.path for each in found if not each.is_dir}.union(*below)


# ---- A run ----


@pytest.mark.sweep
def test_everything_of_a_binary_evaluation_is_read_back(mlflow):
    run_id = sr.log_to_mlflow(evaluation(), limits=LIMITS)
    run = mlflow.get_run(run_id)
    assert run.info.status == "FINISHED"
    assert mlflow.active_run() is None
    assert mlflow.get_experiment(run.info.experiment_id).name == "nightly"
    check_numbers(run.data.metrics)
    assert run.data.params["scorereport.data_sha256"] == evaluation().data.sha256
    assert run.data.params["scorereport.n"] == "200"
    assert run.data.params["scorereport.version"] == sr.__version__
    assert run.data.params["scorereport.resamples"] == "200"
    assert run.data.tags["scorereport.results_sha256"] == evaluation().sha256
    check_files(mlflow, run_id)


def check_numbers(metrics):
    by_model = evaluation().intervals.query("measure == 'brier' and number == 'mean'").set_index("model")
    for model, name in (("logit", "logit"), (ODD, "gbm_v1_2_ü")):
        for key, column in (("", "value"), (".lower", "lower"), (".upper", "upper")):
            assert metrics[f"brier.{name}{key}"] == pytest.approx(by_model.loc[model, column], rel=1e-12)
    assert metrics["log_loss.certain"] == sys.float_info.max, "as MLflow stores infinity in a database"
    assert metrics["prevalence"] == evaluation().data.sample.prevalence
    assert metrics["miscalibration_p_value.logit"] <= 1
    assert not any(math.isnan(value) for value in metrics.values())


def check_files(mlflow, run_id):
    files = list_artifacts(mlflow, run_id)
    names = {name.removeprefix("scorereport/") for name in files}
    assert {f"tables/{name}.csv" for name in (*list_tables(evaluation()), "metrics", "verdicts")} == {
        name for name in names if name.startswith("tables")
    }
    assert names >= {"results.json", "report.html", "findings.txt", "figures/reliability.png"}
    assert sr.Evaluation.from_json(read_artifact(mlflow, run_id, "results.json")) == evaluation()
    page = read_artifact(mlflow, run_id, "report.html").read_text(encoding="utf-8")
    assert "<html" in page
    assert ODD in page
    scores = pd.read_csv(read_artifact(mlflow, run_id, "tables/scores.csv"), index_col="model")
    pd.testing.assert_frame_equal(scores, evaluation().scores, check_exact=True)
    assert scores.loc["certain", "log_loss"] == math.inf
    verdicts = pd.read_csv(read_artifact(mlflow, run_id, "tables/verdicts.csv"), keep_default_na=False)
    assert verdicts["sentence"].tolist() == evaluation().verdicts(LIMITS)["sentence"].tolist()
    metrics = pd.read_csv(read_artifact(mlflow, run_id, "tables/metrics.csv")).set_index("metric")
    assert metrics.loc["brier.gbm_v1_2_ü", "model"] == ODD
    image = plt.imread(BytesIO(read_artifact(mlflow, run_id, "figures/reliability.png").read_bytes()))
    assert image.shape[0] > 300
    assert image.std() > 0.05, "something is drawn"


def test_numbers_and_verdicts_go_into_the_active_run(mlflow):
    with mlflow.start_run() as active:
        mlflow.log_param("seed", 7)
        assert log_to_mlflow(evaluation(), limits=LIMITS, **PLAIN) == active.info.run_id
        assert mlflow.active_run().info.run_id == active.info.run_id
    data = mlflow.get_run(active.info.run_id).data
    verdicts = evaluation().verdicts(LIMITS).set_index("model")["verdict"]
    assert data.tags["scorereport.verdict.logit"] == verdicts["logit"] == "pass"
    assert data.tags["scorereport.verdict"] == max(
        verdicts, key=["pass", "warn", "inconclusive", "fail"].index
    )
    assert data.params["seed"] == "7"
    assert not any(math.isnan(value) for value in data.metrics.values())
    assert any(math.isnan(number.value) for number in list_numbers(evaluation())), "some are not defined"
    found = mlflow.search_runs(
        filter_string="metrics.`brier.gbm_v1_2_ü` < 1 and tags.`scorereport.verdict.logit` = 'pass'"
    )
    assert found["run_id"].tolist() == [active.info.run_id]
    files = list_artifacts(mlflow, active.info.run_id)
    assert not any(name.endswith((".png", ".html")) for name in files)
    assert not any("lock" in name or name.startswith(".") for name in files)


def test_a_run_that_ended_is_filled_by_its_id(mlflow):
    with mlflow.start_run() as ended:
        pass
    with mlflow.start_run() as other:
        assert log_to_mlflow(engine_evaluation(), run_id=ended.info.run_id, **PLAIN) == ended.info.run_id
    assert "brier.logit" in mlflow.get_run(ended.info.run_id).data.metrics
    assert "brier.logit" not in mlflow.get_run(other.info.run_id).data.metrics
    assert "scorereport.verdict" not in mlflow.get_run(ended.info.run_id).data.tags


@pytest.mark.sweep
def test_several_evaluations_in_one_run_need_a_prefix(mlflow):
    with mlflow.start_run() as run:
        log_to_mlflow(class_evaluation(), **PLAIN)
        log_to_mlflow(class_evaluation(), **PLAIN)  # again, as after a failure
        with pytest.raises(sr.UsageError, match=r"already has an evaluation, with 'multiclass' as .*prefix"):
            log_to_mlflow(engine_evaluation(), **PLAIN)
        log_to_mlflow(engine_evaluation(), prefix="test/", **PLAIN)
    data = mlflow.get_run(run.info.run_id).data
    value = class_evaluation().scores.loc["m", "multiclass_brier"]
    assert data.metrics["multiclass_brier.m"] == value
    assert "test/brier.logit.upper" in data.metrics
    assert "brier.logit" not in data.metrics
    assert data.params["scorereport.test/kind"] == "binary"
    assert "scorereport/test/results.json" in list_artifacts(mlflow, run.info.run_id)


@pytest.mark.sweep
def test_nested_runs_compare_models(mlflow):
    run_id = log_to_mlflow(evaluation(), limits=LIMITS, nested=True, **PLAIN)
    children = mlflow.search_runs(filter_string=f"tags.mlflow.parentRunId = '{run_id}'", output_format="list")
    assert {child.info.run_name for child in children} == {"logit", ODD, "certain"}
    assert {child.info.status for child in children} == {"FINISHED"}
    verdicts = evaluation().verdicts(LIMITS).set_index("model")
    for child in children:
        assert child.data.metrics["brier"] == verdicts.loc[child.info.run_name, "value"]
        assert child.data.metrics["brier.lower"] == verdicts.loc[child.info.run_name, "lower"]
        assert child.data.tags["scorereport.verdict"] == verdicts.loc[child.info.run_name, "verdict"]
    assert mlflow.get_run(run_id).data.metrics.keys() >= {"prevalence"}
    assert "brier.logit" not in mlflow.get_run(run_id).data.metrics


def test_one_model_may_have_names_without_it(mlflow):
    run_id = log_to_mlflow(engine_evaluation(), model_names=False, **PLAIN)
    assert mlflow.get_run(run_id).data.metrics.keys() >= {"brier", "brier.lower", "roc_auc.upper"}
    with pytest.raises(sr.UsageError, match="has 3 models, whose metrics need different names"):
        log_to_mlflow(evaluation(), model_names=False, **PLAIN)


@pytest.mark.sweep
def test_more_than_a_batch_is_logged(mlflow):
    from scorereport.pipelines.mlflow_run import RunContents

    many = RunContents(
        metrics={f"m{i}": float(i) for i in range(2100)},
        parameters={f"p{i}": str(i) for i in range(150)},
        tags={f"t{i}": str(i) for i in range(150)},
    )
    with mlflow.start_run() as run:
        _log_contents(mlflow, run.info.run_id, many)
    data = mlflow.get_run(run.info.run_id).data
    assert data.metrics == many.metrics
    assert data.params == many.parameters
    assert data.tags.items() >= many.tags.items()


# ---- Mistakes ----


def test_a_run_that_does_not_exist_is_named_with_its_store(mlflow):
    with pytest.raises(sr.UsageError, match=r"store sqlite:.*tracking\.db has refused.*nope.*To fix"):
        log_to_mlflow(engine_evaluation(), run_id="nope", **PLAIN)
    assert mlflow.search_runs().empty


def test_an_experiment_that_does_not_exist_is_refused(mlflow, monkeypatch):
    monkeypatch.setattr(mlflow.tracking.fluent, "_active_experiment_id", None)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_ID", "77")
    with pytest.raises(sr.UsageError, match=r"77.*`mlflow\.set_experiment`"):
        log_to_mlflow(engine_evaluation(), **PLAIN)


def test_passwords_of_the_store_are_not_shown(mlflow, monkeypatch):
    monkeypatch.setattr(mlflow, "get_tracking_uri", lambda: "postgresql://me:hunter2@host/db")
    with pytest.raises(sr.UsageError) as caught:
        log_to_mlflow(engine_evaluation(), run_id="nope", **PLAIN)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limits": {"brierr": 0.2}}, "did you mean `brier`"),
        ({"limits": {"rps": 0.2}}, "is for models of several classes"),
        ({"prefix": "a//b"}, "`prefix` must be letters"),
    ],
)
def test_mistakes_start_no_run(mlflow, arguments, message):
    with pytest.raises(sr.UsageError, match=message):
        log_to_mlflow(engine_evaluation(), **arguments, **PLAIN)
    assert mlflow.search_runs().empty


def test_what_is_not_an_evaluation_is_refused():
    with pytest.raises(sr.UsageError, match=r"must be the result of `sr\.evaluate`"):
        log_to_mlflow(pd.DataFrame())


def test_without_mlflow_the_extra_is_named(monkeypatch):
    real = builtins.__import__

    def refuse(name, *arguments, **keywords):
        if name.partition(".")[0] == "mlflow":
            raise ModuleNotFoundError("No module named 'mlflow'", name="mlflow")
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(sr.UsageError, match=r'To fix: pip install "scorereport\[mlflow\]"'):
        log_to_mlflow(engine_evaluation())


# ---- Names and files ----


def test_metrics_have_the_names_and_numbers_of_limits():
    numbers = [number for number in list_numbers(engine_evaluation()) if number.measure == "roc_auc"]
    verdict = engine_evaluation().verdicts({"roc_auc": 0.5})
    assert name_metrics(numbers, {"logit": "logit"}, "p_") == {
        "p_roc_auc.logit": verdict["value"].item(),
        "p_roc_auc.logit.lower": verdict["lower"].item(),
        "p_roc_auc.logit.upper": verdict["upper"].item(),
    }


def test_names_of_models_stay_different():
    models = ["a.b", "a b", "a_b", "x" * 300, "x" * 301, "é-1", "lower"]
    names = name_models(models)
    assert names["a_b"] == "a_b"
    assert names["é-1"] == "é-1"
    assert len(set(names.values())) == len(models)
    assert all(len(name) < 100 and "." not in name for name in names.values())


@pytest.mark.parametrize("prefix", ["", "test_", "test/", "a/b c/", "2026-11.", "ü_"])
def test_prefixes_that_mlflow_accepts(prefix):
    from mlflow.utils.validation import _validate_metric_name

    _validate_metric_name(f"{check_prefix(prefix)}brier.logit.lower")


@pytest.mark.parametrize("prefix", ["/a", "a//b", "../a", "a/../b", "a\n", "a?", "x" * 101, None])
def test_prefixes_that_are_refused(prefix):
    with pytest.raises(sr.UsageError, match="`prefix` must be"):
        check_prefix(prefix)


def test_long_values_of_parameters_are_cut():
    y, models = make_arrays()
    many = sr.evaluate(y, {f"model number {i} of many": models["logit"] for i in range(40)}, resamples=0)
    assert len(list_parameters(many)["scorereport.models"]) == 500


@pytest.mark.sweep
def test_no_figure_stays_open_and_each_kind_has_its_own():
    before = plt.get_fignums()
    assert set(draw_figures(class_evaluation())) == {"confusion", "retention"}
    assert set(draw_figures(engine_evaluation())) >= {"reliability", "roc", "murphy"}
    assert plt.get_fignums() == before
