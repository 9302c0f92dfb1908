"""Every number of an evaluation has its interval: scores, bands, lines, comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint
from uncertainty_tools import COLUMNS, RESAMPLES, evaluate, frame_fixture, make_frame, plain_fixture

import scorereport as sr
from scorereport._utils.choices import SEED
from scorereport.inference import (
    auc_interval,
    bootstrap,
    calibration_line,
    compare_models,
    component_differences,
    component_intervals,
    miscalibration_test,
    rank_models,
)
from scorereport.inference.components import COMPONENTS
from scorereport.inference.estimates import holm
from scorereport.scores.registry import Kind, Reported, list_reported

frame = pytest.fixture(scope="module")(frame_fixture)


plain = pytest.fixture(scope="module")(plain_fixture)


SCORES = list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])


BOUNDED = ["bounded_brier", "bounded_log_loss", "bounded_net_benefit"]


COSTS = {"lower": 0.1, "upper": 0.4}


# ---- every number has its interval ----


def test_every_score_and_skill_has_an_interval_around_its_value(plain):
    for model in plain.models:
        assert [s.name for s in model.scores.scores] == [*SCORES, *BOUNDED, "roc_auc"]
        for score in model.scores.scores:
            for value, estimate in ((score.value, score.interval), (score.skill, score.skill_interval)):
                assert estimate.value == pytest.approx(value, rel=1e-11, abs=1e-14)
                assert estimate.lower < value < estimate.upper
                assert estimate.level == 0.95
                assert estimate.standard_error > 0
                # a normal interval would reach 1.96 errors; 60 resamples leave it within half of that
                assert 0.5 < (estimate.upper - estimate.lower) / (2 * 1.96 * estimate.standard_error) < 1.5


def test_intervals_are_those_of_the_functions(frame, plain):
    forecasts = {name: frame[name] for name in COLUMNS["forecasts"]}
    plain_scores = [name for name in SCORES if name != "misclassification"]
    scores = [*plain_scores, *((name, COSTS) for name in BOUNDED)]
    boot = bootstrap(frame["y"], forecasts, scores=scores, resamples=RESAMPLES)
    labels = {
        name: f"{name}(lower=0.1, upper=0.4)" if name in BOUNDED else name for name in [*SCORES, *BOUNDED]
    }
    for model in plain.models:
        for score in model.scores.scores:
            if score.name == "roc_auc":
                found = auc_interval(frame["y"], frame[model.model])
                assert score.interval == found
                skill = score.skill_interval
                assert (skill.value, skill.standard_error, skill.lower, skill.upper) == pytest.approx(
                    (2 * found.value - 1, 2 * found.standard_error, 2 * found.lower - 1, 2 * found.upper - 1)
                )
                assert skill.measure == "roc_auc skill"
            elif score.name == "misclassification":
                wrong = int(((frame[model.model] > 0.5) != frame["y"]).sum())
                bounds = proportion_confint(wrong, len(frame), method="wilson")
                if not (frame[model.model] == 0.5).any():
                    assert score.interval.method == "Wilson"
                    assert (score.interval.lower, score.interval.upper) == pytest.approx(bounds)
                else:
                    assert score.interval.method.startswith("BCa bootstrap")
            else:
                for measure, estimate in (
                    (labels[score.name], score.interval),
                    (f"{labels[score.name]} skill", score.skill_interval),
                ):
                    found = boot.interval(model.model, measure)
                    assert (estimate.lower, estimate.upper, estimate.standard_error) == (
                        found.lower,
                        found.upper,
                        found.standard_error,
                    )
                    assert estimate.method == f"BCa bootstrap, {RESAMPLES} resamples of rows, seed {SEED}"


@pytest.mark.sweep
def test_errors_that_count_half_have_no_rate_interval(frame):
    """The coarse forecast is 1/2 in some rows, which count half: there is no binomial interval."""
    assert (frame["coarse"] == 0.5).any()
    found = {m.model: m.scores.scores[2] for m in evaluate(frame).models}
    assert found["coarse"].interval.method.startswith("BCa bootstrap")
    assert found["sharp"].interval.method == "Wilson"


def test_components_and_tests_are_those_of_the_functions(frame, plain):
    model = plain.models[2]
    fit = sr.corp(frame["y"], frame["blunt"])
    for place, name in enumerate([*SCORES, *BOUNDED]):
        options = COSTS if name in BOUNDED else {}
        found = component_intervals(fit, name, draws=100, resamples=RESAMPLES, **options)
        ours = model.scores.components[2 * place : 2 * place + 2]
        for one, other in zip(ours, found, strict=True):
            fields = ("value", "corrected", "standard_error", "lower", "upper", "overfit_closed")
            assert [getattr(one, f) for f in fields] == pytest.approx(
                [getattr(other, f) for f in fields], rel=1e-9
            )
            assert (one.measure, one.component) == (name, other.component)
        test = miscalibration_test(fit, name, resamples=RESAMPLES, **options)
        assert model.scores.miscalibration_tests[place].p_value == test.p_value
        assert model.scores.miscalibration_tests[place].statistic == pytest.approx(test.statistic, rel=1e-12)
        alone = [m.scores.miscalibration_tests[place].p_value for m in plain.models]
        assert model.scores.miscalibration_tests[place].p_value_holm == holm(alone)[2]
    # the blunt model is miscalibrated, and its interval says so
    brier = model.scores.components[0]
    assert model.scores.miscalibration_tests[0].p_value == 1 / (RESAMPLES + 1)
    assert 0 < brier.lower < brier.corrected < brier.upper


def test_prevalence_and_uncertainties_have_intervals(frame, plain):
    sample = plain.data.sample
    lower, upper = proportion_confint(frame["y"].sum(), len(frame), method="wilson")
    assert (sample.prevalence_interval.lower, sample.prevalence_interval.upper) == pytest.approx(
        (lower, upper)
    )
    assert sample.prevalence_interval.value == pytest.approx(frame["y"].mean())
    by_name = {u.measure: u for u in sample.uncertainties}
    assert list(by_name) == [*SCORES, *BOUNDED]
    brier, rate = by_name["brier"], frame["y"].mean()
    assert brier.value == pytest.approx(rate * (1 - rate), rel=1e-12)
    assert brier.lower == pytest.approx(min(lower * (1 - lower), upper * (1 - upper)), rel=1e-12)
    top = 0.25 if lower < 0.5 < upper else max(lower * (1 - lower), upper * (1 - upper))
    assert brier.upper == pytest.approx(top, rel=1e-6)  # the top is met on a grid of 1000 steps
    error = np.sqrt(rate * (1 - rate) / (len(frame) - 1))
    assert brier.standard_error == pytest.approx(abs(1 - 2 * rate) * error, rel=1e-9)
    assert brier.method == "from the prevalence (Wilson)"
    for model in plain.models:
        for part in model.scores.decompositions:
            assert by_name[part.name].value == pytest.approx(part.uncertainty, rel=1e-12)


@pytest.mark.sweep
def test_percentile_intervals_can_be_chosen(frame):
    chosen = evaluate(frame, interval_method="percentile", level=0.8)
    boot = bootstrap(frame["y"], {"sharp": frame["sharp"]}, scores=["brier"], resamples=RESAMPLES)
    found = chosen.models[0].scores.scores[0].interval
    expected = boot.interval("sharp", "brier", level=0.8, method="percentile")
    assert (found.lower, found.upper, found.level) == (expected.lower, expected.upper, 0.8)
    assert found.method.startswith("percentile bootstrap")
    assert chosen.models[0].scores.components[0].level == 0.8
    assert chosen.models[0].calibration.line.slope.level == 0.8
    assert {d.level for d in chosen.comparisons.differences} == {0.8}


@pytest.mark.sweep
def test_few_events_are_noted(frame):
    rare = frame.assign(y=frame["y"] * (np.arange(len(frame)) < 30))
    events = int(rare["y"].sum())
    assert events < 20
    few = evaluate(rare)
    assert f"Only {events} events: with fewer than 20 intervals say little." in few.notes
    for part in few.models[0].scores.components:
        assert part.note == f"Only {events} events: with fewer than 20 this interval says little."
    assert not any("say little" in note for note in evaluate(frame).notes)


# ---- bands, lines, grades ----


def test_bands_of_every_kind(plain):
    for model in plain.models:
        kinds = [(b.kind, b.coverage, b.method, b.level) for b in model.bands]
        assert kinds == [
            ("consistency", "pointwise", "resampling", 0.9),
            ("consistency", "simultaneous", "split resampling", 0.9),
            ("confidence", "pointwise", "resampling", 0.9),
            ("confidence", "simultaneous", "honest", 0.9),
        ]
        labels = [b.label for b in model.bands]
        assert labels[:2] == [
            f"90 % pointwise consistency band (resampling, {RESAMPLES} draws)",
            f"90 % simultaneous consistency band (split resampling, {RESAMPLES} draws)",
        ]
        assert labels[3] == "90 % simultaneous confidence band (honest)"
        assert all((b.lower <= b.upper).all() for b in model.bands[:3])
        assert {b.seed for b in model.bands[:3]} == {SEED}


@pytest.mark.sweep
@pytest.mark.parametrize("options", [{"cluster": "bank"}, {"weight": "share"}])
def test_no_honest_band_where_rows_are_not_alike(frame, options):
    for model in evaluate(frame, **options).models:
        assert [(b.kind, b.coverage) for b in model.bands] == [
            ("consistency", "pointwise"),
            ("consistency", "simultaneous"),
            ("confidence", "pointwise"),
        ]
        assert "degree 1" in model.calibration.errors.method
        names = [test.name for test in model.calibration.tests]
        assert any(name.startswith("Hosmer") for name in names) is ("cluster" not in options)


@pytest.mark.sweep
def test_frequencies_keep_the_honest_band(frame):
    found = evaluate(frame, weight="count", weight_kind="frequency").models[0]
    assert found.bands[3].method == "honest"
    assert found.calibration.errors is not None


@pytest.mark.sweep
def test_whole_sampling_weights_are_not_repeated_rows(frame):
    found = evaluate(frame, weight="count")
    assert (found.data.weighted, found.data.weight_kind) == (True, "sampling")
    assert [band.method for band in found.models[0].bands if band.method == "honest"] == []
    counted = evaluate(frame, weight="count", weight_kind="frequency")
    assert counted.data.weight_kind == "frequency"
    for ours, theirs in zip(found.models, counted.models, strict=True):
        assert ours.scores.decompositions == theirs.scores.decompositions
        assert ours.forecasts == theirs.forecasts
        ours_error, their_error = (m.scores.score("brier").interval.standard_error for m in (ours, theirs))
        assert ours_error > their_error
    assert evaluate(frame).data.weight_kind == ""


@pytest.mark.sweep
def test_bands_have_their_own_level(frame):
    found = evaluate(frame, band_level=0.5)
    assert {b.level for b in found.models[0].bands} == {0.5}
    assert {c.level for c in found.comparisons.murphy} == {0.5}
    assert found.models[0].scores.scores[0].interval.level == 0.95


def test_calibration_is_examined(frame, plain):
    calibration = plain.models[2].calibration
    assert calibration.line == calibration_line(frame["y"], frame["blunt"])
    assert [test.name for test in calibration.tests][:2] == ["Spiegelhalter's z", "Calibration in the large"]
    assert len(calibration.tests) == 6
    assert calibration.grades == ()
    assert set(plain.calibration_tests["model"]) == set(COLUMNS["forecasts"])
    assert len(plain.calibration_tests) == 3 * (len(SCORES) + len(BOUNDED) + 6)


def test_grades_are_tested(frame):
    found = evaluate(frame, grade="rating")
    for model in found.models:
        tests = {test.grade: test for test in model.calibration.grades}
        assert set(tests) == {"A", "B", "C"}
        for grade, part in frame.groupby("rating"):
            assert (tests[grade].n, tests[grade].d) == (len(part), part["y"].sum())
            assert tests[grade].probability == pytest.approx(part[model.model].mean())
    one = {"grade": "rating", "forecasts": ["sharp"]}
    counted = evaluate(frame, weight="count", weight_kind="frequency", **one)
    weighted = counted.models[0].calibration.grades
    assert sum(test.n for test in weighted) == frame["count"].sum()
    assert evaluate(frame, weight="share", **one).models[0].calibration.grades == ()


# ---- comparisons ----


def test_all_pairs_are_compared_by_all_measures(frame, plain):
    differences = plain.comparisons.differences
    pairs = [("sharp", "coarse"), ("sharp", "blunt"), ("coarse", "blunt")]
    measures = [*SCORES, *BOUNDED, "roc_auc"]
    measures += [f"{name} {component}" for name in [*SCORES, *BOUNDED] for component in COMPONENTS]
    assert [(d.measure, d.first, d.second) for d in differences] == [
        (m, *pair) for m in measures for pair in pairs
    ]
    for place in range(0, len(differences), 3):
        of_measure = differences[place : place + 3]
        expected = holm([d.p_value for d in of_measure])
        np.testing.assert_array_equal([d.p_value_holm for d in of_measure], expected)
        for d in of_measure:
            assert np.isnan(d.p_value) or d.p_value_holm >= d.p_value
    models = {name: frame[name] for name in COLUMNS["forecasts"]}
    assert differences[:3] == compare_models(frame["y"], models, ["brier"])
    by_hand = component_differences(frame["y"], frame["coarse"], frame["blunt"], "log", draws=100)
    found = [d for d in differences if d.measure.startswith("log_loss ") and d.first == "coarse"]
    for one, other in zip(found, by_hand, strict=True):
        assert (one.value, one.lower, one.upper) == pytest.approx(
            (other.value, other.lower, other.upper), rel=1e-9
        )


def test_the_same_order_of_cases_has_the_same_discrimination(plain):
    """The blunt forecast is a rising function of the sharp one."""
    for d in plain.comparisons.differences:
        if (d.first, d.second) == ("sharp", "blunt") and d.measure.endswith("discrimination"):
            assert (d.value, d.lower, d.upper) == (0, 0, 0)
            assert d.note == "The difference is the same in every case: there is nothing to test."


def test_ranks_agree_with_differences(plain):
    differences = [d for d in plain.comparisons.differences if " " not in d.measure]
    assert plain.comparisons.ranks == rank_models(differences, alpha=0.05)
    worst = {r.model: r for r in plain.comparisons.ranks if r.measure == "brier"}["blunt"]
    assert worst.rank == 3 - len(worst.tied_with)
    for d in differences:
        ranks = {r.model: r for r in plain.comparisons.ranks if r.measure == d.measure}
        is_tied = d.second in ranks[d.first].tied_with
        assert is_tied == (not d.p_value_holm <= 0.05)
        if not is_tied:
            first_is_better = (d.value > 0) == d.higher_is_better
            assert (ranks[d.first].rank < ranks[d.second].rank) == first_is_better
    loose = evaluate(make_frame(), level=0.5)
    differences = [d for d in loose.comparisons.differences if " " not in d.measure]
    assert loose.comparisons.ranks == rank_models(differences, alpha=0.5)


def test_murphy_curves_of_all_pairs(plain):
    assert [(c.first, c.second) for c in plain.comparisons.murphy] == [
        ("sharp", "coarse"),
        ("sharp", "blunt"),
        ("coarse", "blunt"),
    ]


def test_one_model_has_nothing_to_be_compared_with(frame):
    alone = evaluate(frame, forecasts=["sharp"])
    assert alone.comparisons.differences == alone.comparisons.ranks == alone.comparisons.murphy == ()
    assert len(alone.differences) == len(alone.ranks) == 0
