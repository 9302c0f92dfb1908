"""The evaluation: numbers that agree with their parts, and a document that reads back equal."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport._utils.json_documents import encode
from scorereport.scores.registry import Kind, Reported, list_reported

SCHEMA = Path(sr.__file__).parent / "schemas" / "evaluation-1.json"
INTERVAL = {"lower": 0.1, "upper": 0.4}


def evaluate(data, **options):
    """Evaluate with few draws: enough to have every interval, band and test."""
    return sr.evaluate(data, **{"resamples": 40, **options})


def make_frame(n=400, seed=5):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return pd.DataFrame(
        {
            "y": rng.random(n) < p,
            "exact": p,
            "rounded": p.round(1),
            "w": rng.integers(0, 4, n),
            "site": rng.choice(["A", "B"], n),
            "age": rng.choice(["old", "young"], n),
        }
    )


def without_rows(evaluation):
    """All but what depends on the order of rows: notes that name rows, and the hash of the data."""
    return replace(evaluation, notes=(), data=replace(evaluation.data, sha256=""))


@pytest.fixture(scope="module")
def frame():
    return make_frame()


@pytest.fixture(scope="module")
def evaluation(frame):
    return evaluate(
        frame, outcome="y", forecasts=["exact", "rounded"], groups=["site", "age"], cost_interval=(0.1, 0.4)
    )


@pytest.mark.parametrize("model", ["exact", "rounded"])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])),
        *((name, INTERVAL) for name in list_reported(Reported.WITH_COSTS, kinds=[Kind.BINARY])),
    ],
)
def test_scores_and_skills_agree_with_the_scoring_functions(frame, evaluation, model, name, options):
    per_case = getattr(sr.scores, name)(frame["y"], frame[model], **options)
    assert evaluation.scores.loc[model, name] == pytest.approx(per_case.mean(), rel=1e-13)
    skill = sr.skill(name, frame["y"], frame[model], **options)
    assert evaluation.skills.loc[model, name] == pytest.approx(skill, rel=1e-11)


def test_auc_and_its_skill(frame, evaluation):
    auc = sr.scores.roc_auc(frame["y"], frame["rounded"])
    assert evaluation.scores.loc["rounded", "roc_auc"] == pytest.approx(auc, rel=1e-14)
    assert evaluation.skills.loc["rounded", "roc_auc"] == pytest.approx(2 * auc - 1, rel=1e-13)


def test_decompositions_add_up(evaluation):
    table = evaluation.decompositions
    gain = table["measure"] == "bounded_net_benefit"
    sign = np.where(gain, -1, 1)
    total = table["uncertainty"] + sign * (table["miscalibration"] - table["discrimination"])
    np.testing.assert_allclose(total, table["score"], rtol=1e-13)
    assert (table[["miscalibration", "discrimination"]] > -1e-15).all(axis=None)
    assert set(table["measure"]) >= {"brier", "log_loss", "misclassification"}


def test_murphy_components_add_up_to_the_brier_score(evaluation):
    table = evaluation.murphy
    total = table["reliability"] - table["resolution"] + table["uncertainty"]
    np.testing.assert_allclose(total, evaluation.scores["brier"], rtol=1e-13)
    np.testing.assert_allclose(table["score"], total, rtol=1e-15)


@pytest.mark.sweep
def test_groups_equal_evaluations_of_their_rows(frame, evaluation):
    assert [(g.column, g.label) for g in evaluation.groups] == [
        ("site", "A"),
        ("site", "B"),
        ("age", "old"),
        ("age", "young"),
    ]
    part = frame[frame["age"] == "old"]
    alone = evaluate(part, outcome="y", forecasts=["exact", "rounded"], cost_interval=(0.1, 0.4))
    for of_group, of_rows in zip(evaluation.groups[2].models, alone.models, strict=True):
        assert encode(of_group.scores) == encode(of_rows.scores.scores)
        assert encode(of_group.decompositions) == encode(of_rows.scores.decompositions)
        assert encode(of_group.components) == encode(of_rows.scores.components)
        tests = zip(of_group.miscalibration_tests, of_rows.scores.miscalibration_tests, strict=True)
        for a, b in tests:  # adjusted over groups there, and over models here
            assert replace(a, p_value_holm=None) == replace(b, p_value_holm=None)
            assert min(a.p_value_holm, b.p_value_holm) >= a.p_value
    assert evaluation.groups[2].sample == alone.data.sample
    assert (alone.data.sample.rows, alone.data.sample.events) == (len(part), int(part["y"].sum()))
    assert len(evaluation.group_scores) == 8
    assert evaluation.group_scores["n"].sum() == 2 * 2 * len(frame)
    assert len(evaluation.group_decompositions) == 8 * len(alone.models[0].scores.decompositions)


def test_integer_weights_equal_repeated_rows(frame):
    columns = {"outcome": "y", "forecasts": ["exact", "rounded"], "groups": "site"}
    weighted = evaluate(frame, weight="w", **columns)
    repeated = evaluate(frame.loc[frame.index.repeat(frame["w"])], **columns)
    pd.testing.assert_frame_equal(weighted.scores, repeated.scores, rtol=1e-13)
    pd.testing.assert_frame_equal(weighted.decompositions, repeated.decompositions, rtol=1e-10)
    assert weighted.models[0].curves.roc_hull.auc == repeated.models[0].curves.roc_hull.auc
    assert weighted.data.sample.total == len(frame.loc[frame.index.repeat(frame["w"])])


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("weight", [None, "w", "fraction"])
def test_row_order_changes_no_byte(frame, weight):
    frame = frame.assign(fraction=np.random.default_rng(8).random(len(frame)))
    columns = {"weight": weight} | {
        "outcome": "y",
        "forecasts": ["exact", "rounded"],
        "groups": "site",
        "cost_interval": (0.1, 0.4),
    }
    shuffled = frame.sample(frac=1, random_state=3)
    one, other = (evaluate(f, **columns) for f in (frame, shuffled))
    assert without_rows(one).to_json() == without_rows(other).to_json()
    assert one.data.sha256 != other.data.sha256


@pytest.mark.sweep
def test_predictions_and_their_table_give_the_same(frame, evaluation):
    p = sr.read_predictions(frame, outcome="y", forecasts=["exact", "rounded"], groups=["site", "age"])
    assert evaluate(p, cost_interval=(0.1, 0.4)) == evaluation
    with pytest.raises(
        sr.UsageError, match=re.escape("Predictions have their columns already; got outcome as well.")
    ):
        evaluate(p, outcome="y")


def test_the_data_are_named_by_their_hash(evaluation):
    assert evaluation.data.sha256 == evaluation.predictions.sha256
    assert len(evaluation.data.sha256) == 64


def test_quantiles_of_forecasts_are_those_of_numpy(frame, evaluation):
    for model in evaluation.models:
        levels = [q.level for q in model.forecasts.quantiles]
        assert levels == [0.05, 0.25, 0.5, 0.75, 0.95]
        found = [q.value for q in model.forecasts.quantiles]
        np.testing.assert_allclose(found, np.quantile(frame[model.model], levels), rtol=1e-14)


@pytest.mark.parametrize("factor", [0.1, 0.25, 1 / 3, 7.3])
def test_quantiles_do_not_depend_on_the_unit_of_weights(frame, factor):
    columns = {"outcome": "y", "forecasts": ["exact", "rounded"], "resamples": 0}
    plain, weighted = evaluate(frame, **columns), evaluate(frame.assign(w=factor), weight="w", **columns)
    for one, other in zip(plain.models, weighted.models, strict=True):
        assert one.forecasts.quantiles == other.forecasts.quantiles


def test_quantiles_with_whole_weights_equal_those_of_repeated_rows(frame):
    columns = {"outcome": "y", "forecasts": ["exact", "rounded"], "resamples": 0}
    weighted = evaluate(frame, weight="w", **columns)
    repeated = evaluate(frame.loc[frame.index.repeat(frame["w"])], **columns)
    for one, other in zip(weighted.models, repeated.models, strict=True):
        assert one.forecasts.quantiles == other.forecasts.quantiles
        assert one.thresholds == other.thresholds
        assert encode(one.recalibration) == encode(other.recalibration)


# ---- decisions at thresholds ----


@pytest.mark.parametrize(
    ("options", "thresholds"),
    [
        ({}, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
        ({"cost_interval": (0.1, 0.3)}, [0.1, 0.15, 0.2, 0.25, 0.3]),
        ({"cost_interval": (0.1, 0.3), "thresholds": [0.5, 0.05, 0.5]}, [0.05, 0.5]),
        ({"thresholds": np.array([0.35])}, [0.35]),
    ],
)
def test_thresholds_are_those_given_or_spread_over_the_costs(frame, options, thresholds):
    evaluation = evaluate(frame, outcome="y", forecasts=["exact", "rounded"], resamples=0, **options)
    table = evaluation.thresholds
    assert table["threshold"].tolist() == 2 * thresholds
    assert table["model"].unique().tolist() == ["exact", "rounded"]
    assert evaluation.settings.thresholds == (tuple(thresholds) if "thresholds" in options else None)
    row = table.iloc[0]
    is_flagged = frame["exact"] >= thresholds[0]
    assert row["flagged"] == pytest.approx(is_flagged.mean(), rel=1e-14)
    assert row["sensitivity"] == pytest.approx(is_flagged[frame["y"]].mean(), rel=1e-14)
    assert row["positive_predictive_value"] == pytest.approx(frame["y"][is_flagged].mean(), rel=1e-14)


@pytest.mark.parametrize(
    ("thresholds", "sentence"),
    [
        ([0.2, 1.0], "`thresholds` must be a list of one or more numbers inside (0, 1); got [0.2, 1.0]."),
        ([0.0], "`thresholds` must be a list of one or more numbers inside (0, 1); got [0.0]."),
        ([float("nan")], "`thresholds` must be a list of one or more numbers inside (0, 1); got [nan]."),
        ([], "`thresholds` must be a list of one or more numbers inside (0, 1); got []."),
        (0.3, "`thresholds` must be a list of one or more numbers inside (0, 1); got 0.3."),
        (["low"], "`thresholds` must be a list of one or more numbers inside (0, 1); got ['low']."),
    ],
)
def test_thresholds_are_checked(frame, thresholds, sentence):
    with pytest.raises(sr.UsageError, match=f"^{re.escape(sentence)}$"):
        evaluate(frame, outcome="y", forecasts=["exact"], thresholds=thresholds)


# ---- recalibration ----


def test_recalibration_is_tried_for_each_model(frame, evaluation):
    table = evaluation.recalibration
    assert len(table) == 2 * 3 * 2
    assert table["model"].tolist() == 6 * ["exact"] + 6 * ["rounded"]
    assert table["method"].unique().tolist() == ["intercept", "logistic", "isotonic"]
    assert table["measure"].unique().tolist() == ["brier", "log_loss"]
    (trial, *_) = evaluation.models[0].recalibration
    assert encode(trial) == encode(sr.inference.try_recalibration(frame["y"], frame["exact"])[0])
    assert trial.brier.second_value == pytest.approx(evaluation.scores.loc["exact", "brier"], rel=1e-13)
    raw = evaluation.decompositions.loc[0, "miscalibration"]
    assert trial.miscalibration_before == pytest.approx(raw, rel=1e-12)
    is_isotonic = (table["method"] == "isotonic") & (table["model"] == "exact")
    assert table[is_isotonic]["note"].iloc[1] == (
        "The log score is infinite: 2 cases got a probability of 0 or 1 that the outcome contradicts. "
        "The log_loss is not finite: of recalibrated in 2 cases, so there is no test."
    )


def test_without_resamples_no_recalibration_is_tried(frame):
    evaluation = evaluate(frame, outcome="y", forecasts=["exact"], resamples=0)
    assert evaluation.models[0].recalibration == ()
    assert evaluation.recalibration.empty


def test_the_cost_interval_is_checked(frame):
    with pytest.raises(sr.UsageError, match=r"inside \(0, 1\), the smaller one first; got \[0\.4, 0\.1\]\.$"):
        evaluate(frame, outcome="y", forecasts=["exact"], cost_interval=(0.4, 0.1))


# ---- the document ----


def test_the_document_reads_back_equal(evaluation, tmp_path):
    path = tmp_path / "results.json"
    text = evaluation.to_json(path)
    again = sr.Evaluation.from_json(path)
    assert path.read_text(encoding="utf-8") == text
    assert again == evaluation
    assert again.to_json() == text
    pd.testing.assert_frame_equal(again.scores, evaluation.scores, check_exact=True)
    assert again.models[0].curves.murphy.score.at(0.3) == evaluation.models[0].curves.murphy.score.at(0.3)
    assert not again.models[0].curves.roc.tpr.flags.writeable


def test_documents_without_newer_numbers_are_read(evaluation, tmp_path):
    old = json.loads(evaluation.to_json())
    del old["data"]["sha256"], old["data"]["row_flow"]["missing"], old["settings"]["thresholds"]
    for model in old["models"]:
        del model["thresholds"], model["recalibration"], model["forecasts"]["quantiles"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(old), encoding="utf-8")
    again = sr.Evaluation.from_json(path)
    assert again.data.sha256 == ""
    assert again.models[0].thresholds == ()
    pd.testing.assert_frame_equal(again.scores, evaluation.scores, check_exact=True)


def test_evaluations_that_differ_are_not_equal(evaluation):
    assert replace(evaluation, notes=("other",)) != evaluation
    assert evaluation != "evaluation"


def test_infinite_and_undefined_numbers_survive(tmp_path):
    frame = pd.DataFrame({"y": [1, 1, 1], "p": [0.0, 0.5, 1.0]})
    evaluation = evaluate(frame, outcome="y", forecasts=["p"])
    evaluation.to_json(tmp_path / "r.json")
    again = sr.Evaluation.from_json(tmp_path / "r.json")
    assert again == evaluation
    assert np.isinf(again.scores.loc["p", "log_loss"])
    assert np.isnan(again.scores.loc["p", "roc_auc"])
    assert again.thresholds["specificity"].isna().all()
    assert again.thresholds["sensitivity"].iloc[0] == 2 / 3
    jsonschema.validate(json.loads(evaluation.to_json()), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_infinite_log_scores_are_reported_with_their_rows():
    frame = pd.DataFrame({"y": [0, 1, 0, 1, None], "p": [0.0, 0.0, 1.0, 0.5, 0.2]})[::-1].reset_index(
        drop=True
    )
    notes = evaluate(frame, outcome="y", forecasts=["p"], missing="drop").notes
    assert notes == (
        "Only 2 events: with fewer than 20 intervals say little.",
        "p: the log score is infinite, because 2 forecasts were 0 for an event or 1 for a non-event "
        "(row 2, 3).",
        "Recalibration is left out: it needs at least 10 events and 10 non-events, spread over its folds.",
    )


def test_a_failed_certain_forecast_without_weight_is_not_infinite():
    frame = pd.DataFrame({"y": [0, 1, 1], "p": [0.2, 0.0, 0.5], "w": [1, 0, 1]})
    evaluation = evaluate(frame, outcome="y", forecasts=["p"], weight="w", resamples=0)
    assert evaluation.notes == ()
    assert evaluation.scores.loc["p", "log_loss"] == pytest.approx(-np.log(0.8 * 0.5) / 2)


def test_a_group_without_weight_is_left_out_with_a_note():
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.5, 0.1], "w": [1, 1, 0, 0], "g": list("aabb")})
    evaluation = evaluate(
        frame, outcome="y", forecasts=["p"], weight="w", groups="g", smallest_group=1, resamples=0
    )
    assert [group.label for group in evaluation.groups] == ["a"]
    assert evaluation.notes == ("g = b is left out: its 2 rows have no weight.",)


def test_groups_of_one_class_are_noted():
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.5, 0.1], "g": ["a", "a", "b", "c"]})
    evaluation = evaluate(frame, outcome="y", forecasts=["p"], groups="g", smallest_group=1, resamples=0)
    assert evaluation.notes == ("g: AUC and skill are not defined where all outcomes are the same (b, c).",)
    assert evaluation.group_scores["roc_auc"].isna().tolist() == [False, True, True]


def test_the_cost_interval_is_a_pair(frame):
    with pytest.raises(sr.UsageError, match=r"^`cost_interval` must be two numbers .*; got 0\.3\.$"):
        evaluate(frame, outcome="y", forecasts=["exact"], cost_interval=0.3)


def test_one_class_is_noted():
    frame = pd.DataFrame({"y": [0, 0], "p": [0.1, 0.5]})
    evaluation = evaluate(frame, outcome="y", forecasts=["p"])
    assert evaluation.notes == (
        "All outcomes are the same: AUC and skill are not defined.",
        "Recalibration is left out: it needs at least 10 events and 10 non-events, spread over its folds.",
    )
    assert np.isnan(evaluation.skills.loc["p", "brier"])


def test_the_schema_in_the_package_is_current_and_describes_documents(evaluation):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert schema == sr.Evaluation.json_schema(), "run `make schema`"
    jsonschema.Draft202012Validator.check_schema(schema)
    document = json.loads(evaluation.to_json())
    jsonschema.validate(document, schema)
    document["models"][0]["scores"]["scores"][0]["value"] = "good"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, schema)


def test_the_document_names_components(evaluation):
    part = json.loads(evaluation.to_json())["models"][0]["scores"]["decompositions"][0]
    assert part["miscalibration"] == evaluation.decompositions.loc[0, "miscalibration"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}", "r.json is not a valid evaluation document: data: Field required (2 problems)."),
        (
            "nonsense",
            "r.json is not a valid evaluation document: the document: "
            "Invalid JSON: expected ident at line 1 column 2.",
        ),
    ],
)
def test_other_files_are_refused_as_documents(tmp_path, monkeypatch, text, sentence):
    monkeypatch.chdir(tmp_path)
    Path("r.json").write_text(text, encoding="utf-8")
    with pytest.raises(sr.DataError, match=f"^{re.escape(sentence)}$"):
        sr.Evaluation.from_json("r.json")


def test_documents_of_another_version_are_refused(evaluation, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    replace(evaluation, version=2).to_json("r.json")
    with pytest.raises(sr.DataError, match=r"^r\.json has version 2; this scorereport reads version 1\.$"):
        sr.Evaluation.from_json("r.json")


def test_a_document_is_written_whole_or_not_at_all(evaluation, tmp_path, monkeypatch):
    path = tmp_path / "results.json"
    path.write_text("before", encoding="utf-8")

    def full_disk(_):
        raise OSError("No space left on device")

    monkeypatch.setattr("scorereport._utils.files.os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        evaluation.to_json(path)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


# ---- curves with few points ----


@pytest.fixture(scope="module")
def large():
    frame = make_frame(n=20_000, seed=6)
    frame.loc[:5000, "exact"] = 0.35  # a jump that no thinning may lose
    fit = sr.corp(frame["y"], frame["exact"])
    return fit, evaluate(frame, outcome="y", forecasts=["exact"]).models[0].curves


@pytest.mark.sweep
def test_large_data_give_small_documents(large):
    _, curves = large
    assert len(curves.murphy.score.theta) < 500
    assert len(curves.roc.fpr) < 450
    assert len(curves.decision.threshold) < 450


def test_thinned_curves_are_exact_where_they_have_points(large):
    fit, curves = large
    full = sr.curves.murphy_curves(fit)
    theta, left, right = full.miscalibration.limits(curves.murphy.score.theta)
    np.testing.assert_allclose(curves.murphy.miscalibration.left, left, rtol=0, atol=1e-15)
    np.testing.assert_allclose(curves.murphy.miscalibration.right, right, rtol=0, atol=1e-15)
    assert 0.35 in theta
    roc = sr.curves.roc_curve(fit)
    points = set(zip(roc.fpr.tolist(), roc.tpr.tolist(), strict=True))
    assert set(zip(curves.roc.fpr.tolist(), curves.roc.tpr.tolist(), strict=True)) <= points
    assert curves.roc.auc == roc.auc
    longest = np.argmax(np.diff(roc.fpr) + np.diff(roc.tpr))
    for corner in (longest, longest + 1):  # both ends of the step that the tied forecasts make
        assert roc.threshold[corner] in curves.roc.threshold


def test_thinned_curves_stay_close_everywhere(large):
    """Between neighbouring points lie about 100 of 20,000 cases: four standard errors are .001."""
    fit, curves = large
    theta = np.linspace(0.0005, 0.9995, 2000)
    exact = sr.curves.regret_curve(fit).at(theta)
    np.testing.assert_allclose(curves.regret.at(theta), exact, atol=1e-3)
    full = sr.curves.murphy_curves(fit)
    for name, tolerance in {
        "score": 2e-3,
        "miscalibration": 2e-3,
        "discrimination": 1e-15,
        "uncertainty": 1e-15,
    }.items():
        thinned, exact = getattr(curves.murphy, name), getattr(full, name)
        np.testing.assert_allclose(thinned.at(theta), exact.at(theta), atol=tolerance, err_msg=name)
    fpr = np.linspace(0, 1, 500)
    roc = sr.curves.roc_curve(fit)
    np.testing.assert_allclose(
        np.interp(fpr, curves.roc.fpr, curves.roc.tpr), np.interp(fpr, roc.fpr, roc.tpr), atol=0.01
    )


def _strip_later_fields(document):
    """Remove what documents of earlier versions do not have."""
    counts = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    document["comparisons"].pop("decisions", None)
    for model in document["models"]:
        assert model.pop("miscalibration_parts")
        for row in model["thresholds"]:
            for name in (*counts, "interventions_avoided"):
                del row[name]
        for trial in model["recalibration"]:
            for name in ("discrimination_before", "discrimination_after", "auc_before", "auc_after"):
                del trial[name]


def test_a_document_of_an_earlier_version_is_written_again_unchanged(tmp_path):
    """Its hash is in certificates and records, so that no field may be added to it."""
    p = np.linspace(0.02, 0.98, 300)
    y = (np.arange(300) * 0.6180339887) % 1 < p
    found = sr.evaluate(y, {"m": p, "k": p**2}, thresholds=[0.2], resamples=20)
    document = json.loads(found.to_json())
    _strip_later_fields(document)
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
    (tmp_path / "earlier.json").write_text(text)
    earlier = sr.Evaluation.from_json(tmp_path / "earlier.json")
    assert earlier.to_json() == text
    assert earlier.miscalibration_parts.empty
    assert earlier.decision_differences.empty
