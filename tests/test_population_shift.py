"""Population shift: prevalence, forecasts and groups against a baseline or earlier audits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import chi2_contingency, f

from scorereport._utils import json_documents
from scorereport.configuration.periods import Period
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.drift_records import Number, Snapshot
from scorereport.history.trend.drift_tests import Contrast
from scorereport.history.trend.evidence_records import GroupShares
from scorereport.history.trend.reference_audits import allow_for_shifts, find_spread_around
from scorereport.history.trend.snapshot import count_forecasts
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.inference.population_stability import stability_index
from scorereport.reliability.sampling import SamplingUnits, random_stream
from validation.coverage.baseline_streams import _population_trial

SETTINGS = {"audits": 12, "alpha": 0.05, "looks": 12, "method": "evidence"}
REGIONS = ("north", "south", "west")


def snap(rng, number, *, shift=0.0, regions=(0.5, 0.3, 0.2), rows=800, values=REGIONS):
    log_odds = rng.normal(-1 + shift, 1.2, rows)
    outcome = (rng.random(rows) < expit(log_odds)).astype(float)
    counts = np.bincount(rng.choice(len(values), rows, p=regions), minlength=len(values)).astype(float)
    units, share = SamplingUnits(rows=rows), float(outcome.mean())
    year, month = divmod(number, 12)
    after = divmod(number + 1, 12)
    return Snapshot(
        period=Period(
            label=f"{2025 + year}-{month + 1:02}",
            start=f"{2025 + year}-{month + 1:02}-01",
            end=f"{2025 + after[0]}-{after[1] + 1:02}-01",
        ),
        time=f"{number:05}",
        rows=rows,
        size=float(rows),
        level=0.95,
        main_score="brier",
        numbers=(
            number_of("", "prevalence", share, units.standard_error(outcome)),
            number_of("logit", "brier", 0.15, 0.01),
            number_of("logit", "brier_miscalibration", 0.01, 0.005),
        ),
        distributions=(count_forecasts("logit", "", expit(log_odds), units),),
        groups=(GroupShares(column="region", values=tuple(values), weights=tuple(counts.tolist())),),
    )


def number_of(model, measure, value, error):
    return Number(
        model=model,
        measure=measure,
        label=measure,
        value=value,
        corrected=value,
        lower=value - 2 * error,
        upper=value + 2 * error,
        standard_error=error,
    )


@pytest.fixture(scope="module")
def audits():
    rng = random_stream(27, 11)
    return [snap(rng, number) for number in range(12)]


@pytest.fixture(scope="module")
def baseline():
    found = snap(random_stream(27, 12), 0, rows=5000)
    return replace(found, period=Period(label="baseline", start=None, end="2025-01-01"))


def test_with_evidence_only_the_population_is_tested(audits):
    trend = find_drift(audits[6], audits[:6], **SETTINGS)
    assert [drift.measure for drift in trend.drifts] == ["prevalence", "groups", "forecasts"]
    assert {drift.kind for drift in trend.drifts} == {"population"}
    assert {drift.against for drift in trend.drifts} == {None}
    tests = find_drift(audits[6], audits[:6], **SETTINGS | {"method": "tests"})
    measures = ["prevalence", "brier", "brier_miscalibration", "forecasts"]
    assert [drift.measure for drift in tests.drifts] == measures
    assert {drift.kind for drift in tests.drifts} == {None}


def test_documents_without_groups_and_kinds_are_as_before(audits):
    plain = replace(audits[0], groups=())
    assert '"groups"' not in json_documents.dump(plain)
    trend = find_drift(replace(audits[6], groups=()), audits[:6], **SETTINGS | {"method": "tests"})
    for name in ("kind", "against", "group"):
        assert f'"{name}"' not in json_documents.dump(trend.drifts[0])
    assert not trend.snapshots[0].groups
    assert json_documents.load(Snapshot, json_documents.dump(audits[0]), "It") == audits[0]


def test_a_baseline_takes_the_place_of_the_latest_audits(audits, baseline):
    trend = find_drift(audits[6], audits[:6], **SETTINGS, baseline=[baseline])
    assert trend.reference == ("baseline",)
    assert {drift.against for drift in trend.drifts} == {"baseline"}
    prevalence, groups, forecasts = trend.drifts
    assert prevalence.reference == pytest.approx(baseline.numbers[0].value)
    assert forecasts.reference == pytest.approx(baseline.distributions[0].mean)
    assert "in the baseline" in groups.sentence
    assert groups.sentence.startswith("Groups by region: “")
    assert prevalence.method.endswith("over the spread of 6 audits with a t distribution")


def test_groups_have_the_stability_index_and_the_chi_square_of_their_counts(baseline):
    """Without earlier audits, the sampling variance is doubled."""
    now = snap(random_stream(27, 13), 3, regions=(0.44, 0.36, 0.2))
    trend = find_drift(now, [], **SETTINGS, baseline=[baseline])
    (found,) = [drift for drift in trend.drifts if drift.measure == "groups"]
    table = np.array([now.groups[0].weights, baseline.groups[0].weights])
    shares = table / table.sum(axis=1, keepdims=True)
    assert found.difference == pytest.approx(stability_index(*table))
    statistics = [chi2_contingency(table, lambda_=name).statistic for name in ("pearson", "log-likelihood")]
    assert found.statistic == pytest.approx(min(statistics))
    assert found.p_value > chi2_contingency(table).pvalue
    most = int(np.argmax(np.abs(shares[0] - shares[1]) / np.sqrt(shares.mean(axis=0))))
    assert found.group == f"“{REGIONS[most]}”"
    assert (found.value, found.reference) == pytest.approx(tuple(shares[:, most]))
    assert found.caution.startswith("With fewer than 5 audits before this one the variance between audits")


def test_a_shift_is_named_as_one_and_no_fault_of_the_model(audits, baseline):
    now = snap(random_stream(27, 14), 7, shift=1.0, regions=(0.2, 0.3, 0.5))
    trend = find_drift(now, audits[:7], **SETTINGS, baseline=[baseline])
    assert [drift.measure for drift in trend.drifts if drift.has_drifted] == [
        "prevalence",
        "groups",
        "forecasts",
    ]
    for drift in trend.drifts:
        assert "This is a population shift, which is not a fault of the model by itself." in drift.sentence
    groups = trend.drifts[1]
    assert groups.size == "large"
    assert groups.sentence.startswith(
        "Groups by region have another distribution than in the baseline (stability index"
    )
    assert trend.is_alarming


def test_a_shift_that_lasts_stays_found_because_shifted_audits_do_not_count_as_spread(audits, baseline):
    rng = random_stream(27, 15)
    later = [snap(rng, number, shift=1.0) for number in range(6, 14)]
    known, shifted, found = [*audits[:6]], set(), []
    for audit in later:
        trend = find_drift(audit, known, **SETTINGS, baseline=[baseline], shifted=shifted)
        found.append(trend.has_drifted)
        shifted |= {audit.period.label} if trend.has_drifted else set()
        known.append(audit)
    assert found == [True] * len(later)
    masked = find_drift(later[-1], known[:-1], **SETTINGS, baseline=[baseline])
    assert not masked.has_drifted


def test_rare_values_are_counted_together(baseline):
    rng = random_stream(27, 16)
    values = tuple("abcdefgh")
    regions = (0.5, 0.48, *(0.02 / 6,) * 6)
    now = snap(rng, 5, regions=regions, values=values, rows=400)
    before = replace(snap(rng, 4, regions=regions, values=values, rows=5000), period=baseline.period)
    trend = find_drift(now, [], **SETTINGS, baseline=[before])
    (found,) = [drift for drift in trend.drifts if drift.measure == "groups"]
    table = np.array([now.groups[0].weights, before.groups[0].weights])
    merged = np.column_stack([table[:, :2], table[:, 2:].sum(axis=1)])
    assert found.difference == pytest.approx(stability_index(*merged))


def test_one_value_of_a_column_is_not_tested(baseline):
    rng = random_stream(27, 17)
    now, before = (snap(rng, number, regions=(1.0,), values=("all",)) for number in (5, 4))
    trend = find_drift(now, [], **SETTINGS, baseline=[replace(before, period=baseline.period)])
    (found,) = [drift for drift in trend.drifts if drift.measure == "groups"]
    assert found.note == "The column has only one value."
    assert not found.has_drifted


def test_spread_around_a_fixed_reference_has_its_own_variance():
    found = find_spread_around([0.1, 0.2, 0.3, 0.2, 0.2], [500.0], 0.01)
    assert found.error == pytest.approx(np.sqrt(2 * np.var([0.1, 0.2, 0.3, 0.2, 0.2], ddof=1) + 0.01))
    assert found.audits == 5


def test_the_index_of_a_fixed_reference_is_compared_by_an_f_distribution():
    """Many rows and effects in one direction: one degree of freedom, and that of the other audits."""
    others = [np.array([share, 1 - share]) * 1e8 for share in (0.3, 0.34, 0.28, 0.31, 0.35, 0.29)]
    now, before = np.array([0.42, 0.58]) * 1e8, np.array([0.31, 0.69]) * 1e8
    found = allow_for_shifts(
        Contrast(statistic=9.0, p_value=0.0), 9.0, now, [before], ErrorDistribution(), others=others
    )
    total = np.sum(others, axis=0)
    mean = np.mean([stability_index(one, total - one) for one in others])
    ratio = stability_index(now, before) / (mean * 5 / 6 * 2)
    assert found.p_value == pytest.approx(f.sf(ratio, 1, 5), rel=1e-3)


@pytest.mark.sweep
@pytest.mark.parametrize("reference", ["earlier audits", "a baseline of a year", "the first 6 audits"])
def test_stationary_effects_of_days_raise_few_alarms(reference):
    """At most 5 % of years, four standard errors of 40 years allowed; T7 of the review."""
    trial, years = _population_trial("effects of days", reference), 40
    alarms = sum(trial(random_stream(27, 18, year))["any alarm in a year"] for year in range(years))
    assert alarms <= 0.05 * years + 4 * np.sqrt(0.05 * 0.95 * years)
