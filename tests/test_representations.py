"""The representation of every result fits a screen and states its headline numbers."""

from __future__ import annotations

import pickle
import time
from dataclasses import dataclass, is_dataclass, replace

import numpy as np
import pandas as pd
import pytest
from object_tools import (
    HOSTILE,
    RESULTS,
    evaluate_grades,
    evaluate_loans,
    fit_loans,
    list_records,
    select_epoch,
)
from report_tools import make_loans

import scorereport as sr
from scorereport._utils.overviews import overview_repr
from scorereport._utils.representation import short_repr, show_item


def fits_a_screen(text):
    return len(text) <= 1500 and text.count("\n") < 15 and max(map(len, text.split("\n"))) <= 90


@pytest.mark.parametrize("name", RESULTS)
def test_every_record_of_a_public_result_fits_a_screen(name):
    records = list(list_records(RESULTS[name]()))
    assert records
    for record in records:
        assert fits_a_screen(repr(record)), repr(record)
        assert repr(record).startswith(type(record).__name__) or "Decomposition" in repr(record)


def test_one_evaluation_reaches_all_kinds_of_records():
    kinds = {type(record).__name__ for make in RESULTS.values() for record in list_records(make())}
    assert kinds > {
        *("Evaluation", "ModelResult", "ClassModelResult", "ModelScores", "ModelCurves", "ModelCalibration"),
        *("ReliabilityCurve", "Histogram", "RocCurve", "MurphyCurve", "MurphyCurves", "RegretCurve"),
        *("DecisionCurve", "NetBenefitBand", "MurphyDifference", "FlexibleCurve", "RetentionBand", "Band"),
        *("Corp", "Blocks", "FittedSample", "Decomposition", "MurphyDecomposition", "Certificate"),
        *("Selection", "Predictions", "ClassPredictions", "GroupResult", "GradeTest", "ScaleResult"),
    }


@pytest.mark.parametrize("module", [sr, sr.curves, sr.inference, sr.scores])
def test_every_public_record_has_a_short_representation(module):
    public = [getattr(module, name) for name in module.__all__]
    records = [each for each in public if isinstance(each, type) and is_dataclass(each)]
    assert len(records) >= 5
    assert {each.__name__ for each in records if each.__repr__ not in (short_repr, overview_repr)} == set()


def test_a_fit_states_its_cases_and_its_brier_score():
    fit = fit_loans()
    parts = fit.decompose()
    assert repr(fit).split("\n")[0] == "Corp: isotonic fit of 320 rows"
    for label, value in [
        ("events", f"{fit.events} ({100 * fit.prevalence:.1f} %)"),
        ("blocks", str(len(fit.blocks))),
        ("Brier score", f"{parts.score:.4f}"),
        ("miscalibration", f"{parts.miscalibration:.4f}"),
        ("discrimination", f"{parts.discrimination:.4f}"),
        ("uncertainty", f"{parts.uncertainty:.4f}"),
        ("skill", f"{100 * parts.skill:.1f} %"),
    ]:
        assert f"  {label:<14}  {value}" in repr(fit).split("\n")


def test_a_weighted_fit_and_one_of_real_outcomes_state_this():
    weighted = sr.corp([0, 1, 1], [0.2, 0.4, 0.9], [0.5, 2.0, 1.0], cluster=["a", "a", "b"])
    assert "weights         sampling, with the sum 3.5" in repr(weighted)
    assert "clusters        2" in repr(weighted)
    real = sr.corp([0.5, 2.5], [0.2, 1.4], functional="mean")
    assert "mean outcome    1.5" in repr(real)
    assert "squared error " in repr(real)


def test_a_decomposition_shows_its_components():
    parts = sr.corp([0, 1, 0, 1, 1], [0.1, 0.3, 0.3, 0.6, 0.5]).decompose("brier")
    assert repr(parts).replace("\n", "").replace("    ", " ") == (
        "Decomposition( name='brier', score=0.2, miscalibration=0.1, discrimination=0.14,"
        " uncertainty=0.24, skill=0.166667, n=5,)"
    )


def test_a_band_states_its_label_and_its_range():
    band = fit_loans().band(method="discrete", level=0.8)
    shown = repr(band).split("\n")
    assert shown[0] == "Band: 80 % pointwise consistency band (discrete)"
    assert f"  forecasts    {len(band.x)} from {band.x[0]:.4g} to {band.x[-1]:.4g}" in shown
    assert f"  widest       {(band.upper - band.lower).max():.4g}" in shown


def test_an_evaluation_states_its_models_and_main_numbers():
    evaluation = evaluate_loans()
    shown = repr(evaluation)
    assert shown.startswith("Evaluation of 2 binary models on 320 rows\n")
    assert f"default, {evaluation.data.sample.events:.0f} events (" in shown
    assert "groups     site (3)" in shown
    for model in evaluation.models:
        score = model.scores.score("brier")
        bounds = f"[{score.interval.lower:.4f}, {score.interval.upper:.4f}]"
        assert f"  {model.model}  {score.value:.4f}  {bounds}  {100 * score.skill:.1f} %" in shown
    assert "rps" in repr(evaluate_grades())
    assert "3 classes: low, mid, high" in repr(evaluate_grades())


def test_an_evaluation_of_many_models_counts_those_that_do_not_fit():
    frame = make_loans()
    names = [f"model {place}" for place in range(30)]
    many = frame[["default"]].assign(**dict.fromkeys(names, frame["logit"]))
    shown = repr(sr.evaluate(many, outcome="default", forecasts=names, resamples=0))
    assert fits_a_screen(shown)
    listed = sum(f"model {place}" in shown for place in range(30) if place != 1)
    assert (
        f"... and {30 - shown.count('model ') + 1 + shown.count('  model  ') - 1} more" in shown
        or listed < 30
    )


def test_names_cannot_control_the_terminal_or_fill_the_screen():
    frame = make_loans().rename(columns={"logit": HOSTILE, "steep": "long " * 200})
    evaluation = sr.evaluate(frame, outcome="default", forecasts=[HOSTILE, "long " * 200], resamples=0)
    for result in (evaluation, evaluation.predictions, *evaluation.models):
        assert "\x1b" not in repr(result)
        assert fits_a_screen(repr(result)), repr(result)


def test_a_selection_and_a_certificate_state_the_choice_and_the_verdict():
    selection, certificate = select_epoch(), RESULTS["certificate"]()
    assert repr(selection).startswith("Selection among 5 checkpoints (checkpoint) by penalized_brier\n")
    assert f"chosen          {selection.chosen.best}, with penalized_brier" in repr(selection)
    assert repr(certificate).startswith(f"Certificate: {certificate.verdict}\n")
    assert "(agrees: 7, expected deviation: 1)" in repr(certificate)


def test_predictions_state_their_columns():
    shown = repr(evaluate_loans().predictions)
    assert shown.startswith("Predictions of 2 models for 320 rows\n")
    assert "also       cluster, grade, time" in shown
    assert "3 ordered classes, low " in repr(evaluate_grades().predictions)


def test_arrays_of_any_kind_are_described():
    cases = {
        "<2 numbers from 0.25 to 0.5>": np.array([0.25, 0.5]),
        "<3 numbers from 1 to 2>": np.array([1.0, np.nan, 2.0]),
        "<1 numbers from nan to nan>": np.array([np.nan]),
        "<0 numbers>": np.array([]),
        "<2 x 3 numbers from 0 to 5>": np.arange(6).reshape(2, 3),
        "<2 times from 2024-01-01 to 2024-02-01>": np.array(["2024-02-01", "2024-01-01"], "datetime64[D]"),
        "<2 values>": np.array(["a", None], dtype=object),
        "<1 texts>": np.array(["a"]),
        "<2 flags>": np.array([True, False]),
        "0.333333": np.float64(1 / 3),
        "7": np.int64(7),
        "True": np.bool_(True),
        "('a', None, 1)": ("a", None, 1),
        "<100 numbers>": tuple(range(100)),
        "<2 values>  ": (object(), object()),
        "<a large number>": 10**400,
        "<Blocks>": fit_loans().blocks,
    }
    assert [show_item(value) for value in cases.values()] == [text.rstrip() for text in cases]
    assert len(show_item("x" * 1000)) < 70
    assert show_item("a\x1b") == "'a\\x1b'"


def test_a_representation_never_raises():
    @dataclass(frozen=True, slots=True)
    class Half:
        first: float
        second: float

        __repr__ = short_repr

    assert "Half object at" in repr(Half.__new__(Half))
    empty = replace(evaluate_loans(), models=())
    assert fits_a_screen(repr(empty))
    assert "Corp object at" in repr(sr.Corp.__new__(sr.Corp))


def test_the_representation_of_many_rows_is_quick():
    rng = np.random.default_rng(0)
    p = rng.random(400_000)
    fit = sr.corp((rng.random(400_000) < p).astype(int), p)
    start = time.perf_counter()
    assert fits_a_screen(repr(fit))
    assert time.perf_counter() - start < 0.5
    assert fits_a_screen(repr(fit.distinct))


def test_records_with_a_short_representation_still_pickle_and_compare():
    evaluation = evaluate_loans()
    assert pickle.loads(pickle.dumps(evaluation)) == evaluation
    parts = fit_loans().decompose()
    assert parts == pickle.loads(pickle.dumps(parts))


# ---- Tables ----


def test_every_curve_becomes_a_table():
    fit, loans = fit_loans(), evaluate_loans()
    curves, model = sr.curves, loans.models[0]
    expected = {
        curves.reliability_curve(fit): ["forecast", "cep"],
        curves.forecast_histogram(fit): ["lower", "upper", "n", "events"],
        curves.roc_curve(fit): ["threshold", "fpr", "tpr"],
        curves.murphy_curves(fit).score: ["theta", "left", "right"],
        curves.regret_curve(fit): ["theta", "left", "right"],
        curves.decision_curve(fit): ["threshold", "net_benefit", "beyond", "treat_all"],
        model.curves.decision: [
            *("threshold", "net_benefit", "beyond", "treat_all"),
            *("lower", "upper", "lower_beyond", "upper_beyond"),
        ],
        model.calibration.flexible: ["forecast", "probability", "lower", "upper"],
        fit.band(method="discrete"): ["x", "lower", "upper"],
        loans.comparisons.murphy[0]: [
            *("theta", "difference", "lower", "upper", "simultaneous_lower", "simultaneous_upper")
        ],
        evaluate_grades().class_models[0].retention[0]: ["fraction", "value", "lower", "upper", "n_retained"],
    }
    for record, columns in expected.items():
        frame = record.to_frame()
        assert list(frame.columns) == columns
        values = getattr(record, columns[0])
        assert len(values) > 1
        np.testing.assert_array_equal(frame[columns[0]], values)
    assert list(RESULTS["retention"]().to_frame().columns) == ["fraction", "value", "n_retained"]


def test_murphy_curves_become_one_long_table():
    found = sr.curves.murphy_curves(fit_loans())
    frame = found.to_frame()
    assert list(frame.columns) == ["component", "theta", "left", "right"]
    assert list(frame["component"].unique()) == ["score", "miscalibration", "discrimination", "uncertainty"]
    part = frame[frame["component"] == "discrimination"]
    np.testing.assert_array_equal(part["right"], found.discrimination.right)
    assert list(frame.index) == list(range(len(frame)))


def test_a_fit_and_a_decomposition_become_tables():
    fit = fit_loans()
    pd.testing.assert_frame_equal(fit.to_frame(), fit.bins)
    frame, parts = fit.decompose("log").to_frame(), fit.decompose("log")
    assert len(frame) == 1
    assert frame.loc[0, "name"] == "log_loss"
    for name in ("score", "miscalibration", "discrimination", "uncertainty", "skill", "n"):
        assert frame.loc[0, name] == getattr(parts, name)


def test_points_of_an_empty_curve_are_an_empty_table():
    curve = sr.inference.flexible_curve([0, 1], [0.2, 0.8])
    assert curve.note
    assert len(curve.to_frame()) == 0
