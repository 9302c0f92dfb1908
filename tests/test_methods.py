"""The methods of a report: only what was used is listed, and each formula gives the numbers of the engine."""

from __future__ import annotations

import re
from dataclasses import astuple
from itertools import combinations_with_replacement

import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder
from cluster_tools import dense_cr2
from scipy.optimize import brentq
from scipy.special import betaincinv, expit, logit, ndtr, ndtri
from scipy.stats import beta, binom
from scipy.stats import t as student

import scorereport as sr
from scorereport import scores
from scorereport.configuration import parse_configuration
from scorereport.inference import (
    auc_interval,
    bootstrap,
    calibration_errors,
    calibration_line,
    component_differences,
    component_intervals,
    delong_test,
    expected_calibration_error,
    hosmer_lemeshow_test,
    line_tests,
    mean_calibration_test,
    miscalibration_test,
    score_difference,
    spiegelhalter_test,
    threshold_intervals,
)
from scorereport.inference.estimates import holm
from scorereport.inference.grades import grade_test
from scorereport.inference.heterogeneity import cochran_q, group_calibration_test
from scorereport.inference.rates import rate_interval
from scorereport.plots.fonts import covers
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.reference_documents import Certificate
from scorereport.reliability.asymptotic_bands import chernoff_quantile
from scorereport.reliability.sampling import SamplingUnits
from scorereport.report.methods.formula_catalogue import BINARY_CATALOGUE, SCORE_FORMULAS
from scorereport.report.methods.notation import SYMBOLS, SYMBOLS_OF_INFERENCE, cite, list_works
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.methods_section import describe_methods_section
from scorereport.report.tables.overview import evaluation_tables
from scorereport.report.templates import render_html

HOSTILE = "<script>alert(1)</script>"
TEMPLATE = "{{ 7*7 }}"
COSTS = (0.2, 0.6)
A_B = {"lower": COSTS[0], "upper": COSTS[1]}


def make_frame(rows=160, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.random(rows).round(2).clip(0.01, 0.99)
    return pd.DataFrame(
        {
            "y": (rng.random(rows) < p).astype(int),
            "a": p,
            "b": (0.3 + 0.4 * rng.random(rows)).round(3),
            "site": rng.choice(["north", "south"], rows),
            "grade": np.where(p < 0.5, "A", "B"),
            "person": np.arange(rows) // 3,
            "weight": rng.choice([0.5, 1.25], rows),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(rows) // 2, unit="D"),
        }
    )


def report_of(frame, *, configuration="", certificate=False, **options):
    evaluation = sr.evaluate(frame, outcome="y", **({"forecasts": ["a"], "resamples": 40} | options))
    return build_report(
        evaluation,
        Provenance(time="2026-11-15T07:30:12+00:00"),
        configuration=parse_configuration(configuration),
        certificate=certify(evaluation) if certificate else None,
    )


def certify(evaluation):
    lines = [
        Comparison(subject="a", quantity="MCB", tolerance=tolerance, verdict=Verdict.AGREES)
        for tolerance in (1e-12, None, 1e-6)
    ]
    return Certificate(
        verdict="certified",
        sentence="Certified.",
        reference="reliabilitydiag 0.2.1",
        time="2026-11-15T07:30:12+00:00",
        rows=160,
        sha256="ab" * 32,
        results_sha256=evaluation.sha256,
        software={},
        comparisons=tuple(lines),
    )


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return make_once(shared_folder(tmp_path_factory, "methods"), make_reports)


def make_reports():
    frame = make_frame()
    return {
        "plain": report_of(frame, resamples=0),
        "full": report_of(
            frame,
            forecasts=["a", "b"],
            cost_interval=COSTS,
            group="site",
            grade="grade",
            configuration="[limits]\nbrier = {fail = 0.2}",
            certificate=True,
        ),
        "clustered": report_of(frame, forecasts=["a", "b"], cluster="person", group="site"),
        "weighted": report_of(frame, forecasts=["a", "b"], weight="weight", group="site"),
        "dated": report_of(frame, forecasts=["a", "b"], time="day", window="month"),
    }


def entries_of(report):
    families = describe_methods_section(report).content["families"]
    return {method["name"]: method for family in families for method in family["methods"]}


def render(report):
    section = describe_methods_section(report)
    parts = {key: part | {"id": "table-1", "name": "Table 1"} for key, part in section.parts.items()}
    shown = {**section.content, "id": "methods", "number": "4", "title": section.title, "parts": parts}
    return render_html("sections/methods.html", {"section": shown, "labels": {}})


# ---- What is listed ----

ALWAYS = [
    "Brier score",
    "Log score",
    "Misclassification",
    "Spherical score",
    "AUC",
    "Skill",
    "Reliability curve (CORP)",
    "Decomposition into MCB, DSC and UNC",
    "ROC curve, AR and KS",
    "Elementary scores (Murphy diagram)",
    "Regret",
    "Net benefit (decision curve)",
    "Decisions at thresholds",
    "Probability scale",
    "Angle of the probability scale",
]


def test_without_draws_nothing_that_needs_them_is_listed(reports):
    section = describe_methods_section(reports["plain"])
    assert list(entries_of(reports["plain"])) == ALWAYS
    assert dict(section.parts) == {}
    assert [family["title"] for family in section.content["families"]] == [
        "Scores",
        "Calibration",
        "Discrimination and decisions",
        "Probability scale and choice",
    ]
    assert len(section.content["symbols"]) == len(SYMBOLS)
    assert not any("seed" in sentence for sentence in section.content["conventions"])


def test_all_that_a_full_evaluation_holds_is_listed(reports):
    names = set(entries_of(reports["full"]))
    assert names >= {
        *ALWAYS,
        "Bounded Brier score",
        "Bounded log score",
        "Bounded net benefit",
        "Overfit-corrected MCB and DSC, with intervals",
        "Test that MCB is 0",
        "Calibration line",
        "Distances to a smooth curve (ICI, E50, E90, Emax)",
        "Expected calibration error (ECE)",
        "ECE corrected for noise",
        "Intervals of ICI, E50, E90, Emax and ECE",
        "Flexible calibration curve",
        "Intervals of rates and of net benefit",
        "Spiegelhalter’s z",
        "Calibration in the large",
        "Test of the calibration slope",
        "Test of the calibration intercept",
        "Unreliability",
        "Hosmer-Lemeshow",
        "Tests by grade",
        "Pointwise consistency band, 90 % (resampling)",
        "Simultaneous consistency band, 90 % (split resampling)",
        "Simultaneous confidence band, 90 % (honest)",
        "BCa bootstrap",
        "Wilson interval of a rate",
        "DeLong interval of the AUC",
        "Difference of scores",
        "Difference of AUCs",
        "Difference of MCB or DSC",
        "Difference of Murphy curves",
        "Holm’s p",
        "Ranks",
        "Subgroups and periods",
        "Cochran’s Q",
        "Calibration by group",
        "Recalibration tried",
        "Limits",
        "R certificate",
    }
    assert "Percentile bootstrap" not in names
    assert "Interval of a rate on log-odds" not in names


@pytest.mark.parametrize("name", ["plain", "full", "clustered", "weighted", "dated"])
def test_each_method_has_formula_convention_and_reference(reports, name):
    for method in entries_of(reports[name]).values():
        assert all(method[key].strip() for key in ("name", "formula", "convention", "reference")), method
        assert method["convention"].endswith("."), method
        assert ".." not in method["convention"]


@pytest.mark.parametrize("name", ["full", "clustered", "weighted", "dated"])
def test_all_recorded_methods_are_in_the_catalogue(reports, name):
    evaluation, entries = reports[name].evaluation, entries_of(reports[name])
    told = " ".join(method["convention"] for method in entries.values())
    model = evaluation.models[0]
    for score in model.scores.scores:
        for estimate in (score.interval, score.skill_interval):
            keys = [key for key in BINARY_CATALOGUE if estimate.method.startswith(key)]
            assert BINARY_CATALOGUE[max(keys, key=len)].name in entries
    for band in model.bands:
        is_shown = (band.kind, band.coverage) != ("confidence", "pointwise")
        name = f"{band.coverage.capitalize()} {band.kind} band, 90 % ({band.method})"
        assert (name in entries) == is_shown
    for difference in evaluation.comparisons.differences:
        errors = re.search(r"(\w+ errors.*|errors in time.*|paired.*)$", difference.method)[0]
        assert errors.replace("iid errors", "errors of independent rows") in told.replace("Errors", "errors")
    for test in (*model.calibration.tests, *(found.test for found in evaluation.heterogeneity)):
        assert test.method.startswith(("chi-squared", "Welch's F")) or test.method.lower() in told.lower()


def test_bounds_are_told_where_there_are_any(reports):
    entries = entries_of(reports["full"])
    for name in ("Bounded Brier score", "Bounded log score", "Bounded net benefit"):
        assert "Here a = 0.2 and b = 0.6." in entries[name]["convention"]
    assert "Here" not in entries["Brier score"]["convention"]
    assert not any(name.startswith("Bounded") for name in entries_of(reports["clustered"]))


@pytest.mark.sweep
def test_few_times_are_compared_by_t_with_one_degree_less():
    frame = make_frame().assign(
        day=lambda f: pd.Timestamp("2026-01-01") + pd.to_timedelta(f.index % 9, unit="D")
    )
    told = entries_of(report_of(frame, forecasts=["a", "b"], time="day"))["Difference of AUCs"]["convention"]
    assert "t with one degree of freedom fewer than there are times." in told
    assert "Welch" not in told


def test_methods_of_what_is_not_defined_are_left_out(reports):
    entries = entries_of(report_of(make_frame().assign(a=lambda f: np.where(f["a"] < 0.5, 0.0, 0.8))))
    used = entries_of(reports["full"])
    for name in (
        "Calibration line",
        "Unreliability",
        "Test of the calibration slope",
        "Flexible calibration curve",
    ):
        assert name in used
    for name in ("Calibration line", "Unreliability", "Test of the calibration slope"):
        assert name not in entries
    assert "Calibration in the large" in entries


def test_clusters_change_formulas_and_say_so(reports):
    entries, plain = entries_of(reports["clustered"]), entries_of(reports["full"])
    for name in ("Spiegelhalter’s z", "Calibration in the large", "Unreliability", "Calibration by group"):
        assert entries[name]["formula"] != plain[name]["formula"]
    assert "54 clusters" in entries["Spiegelhalter’s z"]["convention"]
    assert "DeLong interval of the AUC, in clusters" in entries
    assert "DeLong interval of the AUC" not in entries
    assert "Interval of a rate on log-odds" in entries
    assert "Hosmer-Lemeshow" not in entries
    assert "Simultaneous confidence band, 90 % (honest)" not in entries
    conventions = describe_methods_section(reports["clustered"]).content["conventions"]
    assert any(
        sentence.startswith("Rows depend on each other within 54 clusters") for sentence in conventions
    )


def test_weights_and_times_are_told(reports):
    weighted, dated = (describe_methods_section(reports[name]).content for name in ("weighted", "dated"))
    assert any(sentence.startswith("Means and sums are weighted") for sentence in weighted["conventions"])
    assert not any(sentence.startswith("Means and sums") for sentence in dated["conventions"])
    assert any("depend on each other in time" in sentence for sentence in dated["conventions"])
    assert weighted["sizes"][0].startswith("The weights of events sum to ")
    entries = entries_of(reports["dated"])
    told = entries["Difference of AUCs"]["convention"]
    assert "errors in time (4 cosines, 80 times)" in told.replace("Errors", "errors")
    assert "t with one degree of freedom for each cosine." in told
    assert "Welch" not in told
    for name, freedom in (("full", "Welch’s"), ("weighted", "Welch’s"), ("clustered", "Satterthwaite’s")):
        told = entries_of(reports[name])["Difference of AUCs"]["convention"]
        assert f"t with {freedom} degrees of freedom" in told
    assert "Lazarus" in entries["Difference of AUCs"]["reference"]
    assert "Autocorrelation in time" in entries
    assert "Periods: by month." in entries["Subgroups and periods"]["convention"]
    assert "Integrated calibration index (ICI)" not in entries_of(reports["weighted"])


def test_draws_levels_and_seeds_come_from_the_records(reports):
    entries = entries_of(reports["full"])
    assert "40 resamples of rows, seed 2021." in entries["BCa bootstrap"]["convention"]
    assert "For Brier score, log score" in entries["BCa bootstrap"]["convention"]
    assert "40 draws, seed 2021." in entries["Pointwise consistency band, 90 % (resampling)"]["convention"]
    assert (
        "O₂ by 100 draws, seed 2021."
        in entries["Overfit-corrected MCB and DSC, with intervals"]["convention"]
    )
    assert "5 folds, seed 2021" in entries["Recalibration tried"]["convention"]
    assert "χ² of 10 groups" in entries["Hosmer-Lemeshow"]["convention"]
    assert "red below 0.01, yellow below 0.05" in entries["Tests by grade"]["convention"]
    assert "Tolerance 1e−12 to 1e−6" in entries["R certificate"]["convention"]
    assert entries["R certificate"]["reference"] == "reliabilitydiag 0.2.1"
    assert "Holm’s p is at most 0.05" in entries["Ranks"]["convention"]


def test_percentile_intervals_are_named_as_such():
    entries = entries_of(report_of(make_frame(), interval_method="percentile"))
    assert "Percentile bootstrap" in entries
    assert "BCa bootstrap" not in entries


def test_bands_of_different_methods_name_their_models():
    frame = make_frame(1200)
    frame["b"] = frame["b"].round(1)
    entries = entries_of(report_of(frame, forecasts=["a", "b"]))
    assert entries["Pointwise consistency band, 90 % (resampling)"]["convention"].endswith("For a.")
    assert entries["Pointwise consistency band, 90 % (discrete)"]["convention"].endswith("For b.")
    simultaneous = entries["Simultaneous consistency band, 90 % (split resampling)"]
    assert "Of a" not in simultaneous["convention"]


def test_one_class_has_no_roc_curve():
    frame = make_frame().assign(y=0)
    assert "ROC curve, AR and KS" not in entries_of(report_of(frame, resamples=0))


# ---- Precision ----


def test_precision_is_half_the_width_of_the_recorded_intervals(reports):
    part, evaluation = (
        describe_methods_section(reports["full"]).parts["precision"],
        reports["full"].evaluation,
    )
    rows = [[cell["text"] for cell in row["cells"]] for body in part["bodies"] for row in body["rows"]]
    assert [row[0] for row in rows] == ["a", "b"]
    for row, model in zip(rows, evaluation.models, strict=True):
        by_name = {score.name: score.interval for score in model.scores.scores}
        known = (by_name["brier"], by_name["roc_auc"], model.calibration.line.slope)
        half_widths = [(estimate.upper - estimate.lower) / 2 for estimate in known]
        np.testing.assert_allclose([float(text) for text in row[1:]], half_widths, atol=6e-5)


def test_what_cannot_be_known_is_not_defined():
    frame = make_frame()
    frame.loc[0, "a"] = 1.0
    part = describe_methods_section(report_of(frame)).parts["precision"]
    assert part["bodies"][0]["rows"][0]["cells"][-1]["text"] == "n/d"


def test_an_interval_without_width_is_not_called_precise():
    part = describe_methods_section(report_of(make_frame().assign(a=0.3))).parts["precision"]
    brier, auc, slope = (cell["text"] for cell in part["bodies"][0]["rows"][0]["cells"][1:])
    assert float(brier) > 0
    assert (auc, slope) == ("n/d", "n/d")


def test_suppressed_groups_are_counted():
    frame = make_frame().assign(site=lambda f: np.where(f.index < 4, "small", "large"))
    told = entries_of(report_of(frame, resamples=0, group="site"))["Subgroups and periods"]["convention"]
    assert "Groups of fewer than 10 rows are counted, not scored. Here these are 1 of 2 groups." in told


def test_a_sample_of_one_class_lacks_the_other():
    told = describe_methods_section(report_of(make_frame().assign(y=1), resamples=0)).content["sizes"]
    assert told[0] == "The sample has 160 events and 0 non-events."
    assert "there are too few non-events." in told[1]


def test_a_small_sample_is_called_small(reports):
    told = " ".join(describe_methods_section(reports["full"]).content["sizes"])
    events = int(make_frame()["y"].sum())
    assert told.startswith(f"The sample has {events} events and {160 - events} non-events.")
    assert "there are too few events and non-events. Intervals are wide" in told
    assert "groups and periods scored, 2 of 2 have fewer than 100 events or non-events" in told


#: 90 events and 510 non-events; two thirds of either weigh three times as much as the others.
_WEIGHTED = pd.DataFrame(
    {
        "y": np.repeat([1, 0], [90, 510]),
        "a": np.linspace(0.05, 0.95, 600),
        "site": np.resize(["north", "south"], 600),
        "person": np.arange(600) // 2,
        "w": np.resize([1.0, 3.0, 3.0], 600),
    }
)


@pytest.mark.parametrize("scale", [1, 100])
def test_weighted_cases_count_by_their_effective_number(scale):
    # Kish: (Σw)²/Σw² = n 49/57, which is 77.4 of 90 and 438.4 of 510
    frame = _WEIGHTED.assign(w=lambda f: f["w"] * scale)
    report = report_of(frame, resamples=0, weight="w", group="site")
    told = describe_methods_section(report).content["sizes"]
    assert told[0] == (
        f"The weights of events sum to {210 * scale:,} and those of non-events to {1190 * scale:,}; allowing "
        "for varying weights, the 600 rows count as 77 events and 438 non-events."
    )
    assert "at least 100 of each [Vergouwe et al. (2005)]: there are too few events." in told[1]
    assert "groups and periods scored, 2 of 2 have fewer than 100 events or non-events" in told[-1]
    heads = next(table.heads for table in evaluation_tables(report.evaluation) if "site" in table.heads)
    assert heads[:5] == ("site", "model", "rows", "events (weight)", "prevalence")


def test_weighted_clusters_count_by_their_effective_number():
    # pairs of rows weigh 4, 4 and 6 in turn: n 196/204, which is 43.2 of 45 and 245 of 255
    told = describe_methods_section(report_of(_WEIGHTED, resamples=0, weight="w", cluster="person")).content[
        "sizes"
    ]
    assert told[0].endswith(
        "allowing for varying weights, the 300 clusters count as 43 events and 245 non-events."
    )
    assert "there are too few events." in told[1]


def test_frequencies_and_clusters_count_cases():
    frame = _WEIGHTED.assign(w=_WEIGHTED["w"].astype(int))
    told = describe_methods_section(
        report_of(frame, resamples=0, weight="w", weight_kind="frequency")
    ).content["sizes"]
    assert told[0] == "The sample has 210 events and 1,190 non-events (sums of weights)."
    assert "The sample meets it" in told[1]
    told = describe_methods_section(report_of(frame, resamples=0, cluster="person")).content["sizes"]
    assert told[0] == "The sample has 90 events and 510 non-events."


def test_weighted_classes_count_by_their_effective_number():
    frame = _WEIGHTED.assign(
        y=np.resize(["low", "mid", "mid", "high"], 600), m_low=0.25, m_mid=0.5, m_high=0.25
    )
    options = {"forecasts": ["m"], "classes": ["low", "mid", "high"], "resamples": 0, "weight": "w"}
    told = describe_methods_section(report_of(frame, **options)).content["sizes"]
    assert told[0] == (
        "The sample has 3 classes; the rarest, low, has 128 cases (effective number of weighted rows)."
    )


def test_a_large_sample_is_not():
    told = " ".join(describe_methods_section(report_of(make_frame(600), resamples=0)).content["sizes"])
    assert "The sample meets it, but this alone does not make intervals narrow [Snell et al. (2021)]." in told
    assert "too few" not in told


# ---- The page ----


def test_hostile_names_stay_text():
    frame = make_frame().rename(columns={"a": HOSTILE, "b": TEMPLATE})
    page = render(report_of(frame, forecasts=[HOSTILE, TEMPLATE], group="site"))
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert TEMPLATE in page


def test_page_shows_every_method_once_and_references_in_full(reports):
    page = render(reports["full"])
    assert page.count("<dt>") == len(entries_of(reports["full"])) + len(SYMBOLS) + len(SYMBOLS_OF_INFERENCE)
    assert page.count('<span class="formula">') == len(entries_of(reports["full"]))
    assert "&lt;0001:VOFEIT&gt;" in page
    assert re.findall(r"<h(\d)", page)[0] == "2"
    assert set(re.findall(r"<h(\d)", page)[1:]) == {"3"}
    assert "Table 1" in page


def test_every_citation_is_in_the_list(reports):
    section = describe_methods_section(reports["full"]).content
    listed = {cite(work) for work in section["references"]}
    for method in entries_of(reports["full"]).values():
        cited = [work for work in method["reference"].split("; ") if re.search(r"\(\d{4}\)$", work)]
        assert listed.issuperset(cited)
    assert section["references"] == sorted(section["references"], key=str.casefold)
    without = ("Holm", "Central Bank", "Korn", "Kent")
    assert all("doi:" in work or any(name in work for name in without) for work in section["references"])


def test_catalogue_is_complete_and_can_be_printed():
    texts = [text for formula in BINARY_CATALOGUE.values() for text in astuple(formula)]
    texts += [*SYMBOLS, *SYMBOLS.values(), *SYMBOLS_OF_INFERENCE.values()]
    texts += [text for pair in SCORE_FORMULAS.values() for text in pair]
    assert all(covers(character) for character in set("".join(texts)) - {" "})
    assert all("--" not in text and " - " not in text for text in texts)
    assert list_works(["A (2020), x", "A (2020), x; b"]) == ["A (2020), x"]


# ---- The formulas: a text, and a few lines that do what it says, against the engine ----

RNG = np.random.default_rng(7)
P = np.append(RNG.random(45).round(1).clip(0.05, 0.95), [0.5, 0.2, 0.6, 0.05, 0.95])
Y = (RNG.random(50) < 0.2 + 0.6 * P).astype(float)
OTHER = (0.5 * P + 0.5 * RNG.random(50)).round(2)
Z = float(ndtri(0.975))


def pull(values):
    return np.clip(values, *COSTS)


def shares(threshold, p=P):
    """TP, FP, FN, TN."""
    acts = p >= threshold
    return [
        float(np.mean(chosen))
        for chosen in (acts & (Y == 1), acts & (Y == 0), ~acts & (Y == 1), ~acts & (Y == 0))
    ]


def isotonic(p=P, y=Y):
    level = np.unique(p)
    fitted = [
        max(
            min(y[(p >= level[i]) & (p <= level[j])].mean() for j in range(k, len(level)))
            for i in range(k + 1)
        )
        for k in range(len(level))
    ]
    return np.array(fitted)[np.searchsorted(level, p)]


def placements():
    """V of events and of non-events."""
    above = (P[Y == 1][:, None] > P[Y == 0]) + (P[Y == 1][:, None] == P[Y == 0]) / 2
    return above.mean(axis=1), above.mean(axis=0)


def misclassify():
    wrong = ((P < 1 / 2) & (Y == 1)) | ((P > 1 / 2) & (Y == 0))
    return np.where(P == 1 / 2, 1 / 2, np.where(wrong, 1, 0))


def elementary(theta):
    return np.select(
        [theta == P, (theta < P) & (Y == 0), (theta > P) & (Y == 1)],
        [2 * theta * (1 - theta), 2 * theta, 2 * (1 - theta)],
    )


def bounded_benefit():
    a, b = COSTS
    of_none = (pull(P) - a - np.log((1 - a) / (1 - pull(P)))) / (b - a)
    return np.where(Y == 1, (pull(P) - a) / (b - a), of_none)


OF_SCORES = {
    "brier": ("S = (p − y)²", lambda: (P - Y) ** 2, lambda: scores.brier(Y, P)),
    "log_loss": (
        "S = −log p if y = 1, else −log(1 − p)",
        lambda: -np.log(np.where(Y == 1, P, 1 - P)),
        lambda: scores.log_loss(Y, P),
    ),
    "misclassification": (
        "S = 1 if p < 1/2 and y = 1, or p > 1/2 and y = 0; 1/2 if p = 1/2; else 0",
        misclassify,
        lambda: scores.misclassification(Y, P),
    ),
    "spherical": (
        "S = 1 − q / √(p² + (1 − p)²), q = p if y = 1, else 1 − p",
        lambda: 1 - np.where(Y == 1, P, 1 - P) / np.sqrt(P**2 + (1 - P) ** 2),
        lambda: scores.spherical(Y, P),
    ),
    "bounded_brier": (
        "S = ((y − p′)² − (y − y′)²) / (2(b − a)), p′ and y′ are p and y clipped to [a, b]",
        lambda: ((Y - pull(P)) ** 2 - (Y - pull(Y)) ** 2) / (2 * (COSTS[1] - COSTS[0])),
        lambda: scores.bounded_brier(Y, P, **A_B),
    ),
    "bounded_log_loss": (
        "S = log((1 − |y − y′|) / (1 − |y − p′|)) / (logit b − logit a), p′ and y′ as above",
        lambda: np.log((1 - abs(Y - pull(Y))) / (1 - abs(Y - pull(P)))) / (logit(COSTS[1]) - logit(COSTS[0])),
        lambda: scores.bounded_log_loss(Y, P, **A_B),
    ),
    "bounded_net_benefit": (
        "S = (p′ − a) / (b − a) if y = 1, else (p′ − a − log((1 − a) / (1 − p′))) / (b − a), p′ as above",
        bounded_benefit,
        lambda: scores.bounded_net_benefit(Y, P, **A_B),
    ),
    "roc_auc": (
        "AUC = P(p₁ > p₀) + P(p₁ = p₀) / 2, p₁ of a random event, p₀ of a random non-event",
        lambda: float(placements()[0].mean()),
        lambda: scores.roc_auc(Y, P),
    ),
}


@pytest.mark.parametrize("name", OF_SCORES)
def test_formula_of_a_score(name):
    text, by_formula, by_engine = OF_SCORES[name]
    assert SCORE_FORMULAS[name][0] == text
    np.testing.assert_allclose(by_formula(), by_engine(), rtol=1e-12, atol=1e-15)


def test_every_score_has_a_formula_that_is_checked():
    assert set(OF_SCORES) == set(SCORE_FORMULAS)


def line_log_likelihood(a, b):
    chance = expit(a + b * logit(P))
    return float(np.log(np.where(Y == 1, chance, 1 - chance)).sum())


def groups_of_ten():
    """Cases of each group of Hosmer and Lemeshow: it ends at the forecast that completes its tenth."""
    order = np.argsort(P, kind="stable")
    ends = P[order][[int(np.ceil(len(P) * k / 10)) - 1 for k in range(1, 10)]]
    return [P_in for P_in in (np.searchsorted(ends, P) == k for k in range(10)) if P_in.any()]


def hosmer_lemeshow():
    terms = [((Y[g] - P[g]).sum() ** 2 / (P[g].sum() * (1 - P[g].sum() / g.sum()))) for g in groups_of_ten()]
    return sum(terms)


def wilson(r=None):
    r, n = Y.mean() if r is None else r, 50
    half = Z * np.sqrt(r * (1 - r) / n + Z**2 / (4 * n**2))
    return [(r + Z**2 / (2 * n) + sign * half) / (1 + Z**2 / n) for sign in (-1, 1)]


def ends_of(estimate):
    return [estimate.lower, estimate.upper]


def delong():
    of_events, of_others = placements()
    parts = [(values.var(ddof=1) / len(values), len(values) - 1) for values in (of_events, of_others)]
    variance = sum(v for v, _ in parts)
    return score_interval(variance, variance**2 / sum(v**2 / df for v, df in parts))


def score_interval(variance, df):
    """Where the score statistic is the quantile of t."""
    of_events, of_others = placements()
    auc, n1, n0 = of_events.mean(), len(of_events), len(of_others)

    def v(theta):
        shape = 1 + ((n1 + n0) / 2 - 1) * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        return theta * (1 - theta) * shape / (n1 * n0)

    ratio, wrong = variance / v(auc), 4 * auc * (1 - auc) * min(n1, n0)
    ratio = ratio if ratio >= 1 else 1 - (1 - ratio) * wrong / (wrong + 5)

    def excess(theta):
        return abs(auc - theta) - student.ppf(0.975, df) * np.sqrt(ratio * v(theta))

    return [brentq(excess, *ends, xtol=1e-14) for ends in ((1e-9, auc), (auc, 1 - 1e-9))]


PERSON = np.arange(50) // 4
NEWCOMBE = (
    "v(θ) = θ(1 − θ)(1 + ((n₁ + n₀) / 2 − 1)((1 − θ) / (2 − θ) + θ / (1 + θ))) / (n₁n₀); V the share of "
    "the other class against which a case is ranked correctly"
)
CLUSTERED = SamplingUnits(rows=50, cluster=PERSON)


def delong_in_clusters():
    of_events, of_others = placements()
    columns, deviation = np.stack([Y, 1 - Y], axis=1), np.empty(50)
    deviation[Y == 1], deviation[Y == 0] = of_events - of_events.mean(), of_others - of_others.mean()
    covariance, df = dense_cr2(columns, np.ones(50), deviation, PERSON, np.ones(2))
    return score_interval(covariance.sum(), df)


def in_clusters(terms):
    sums, share = np.bincount(PERSON, weights=terms), np.bincount(PERSON) / len(PERSON)
    return sums.sum() / np.sqrt(((sums - share * sums.sum()) ** 2 / (1 - share)).sum())


def bootstrap_of_brier():
    drawn = bootstrap(Y, {"m": P}, scores=["brier"], resamples=200)
    return drawn, next(s.replicates for s in drawn.statistics if s.measure == "brier")


def rate_in_clusters():
    """The bias-reduced error of sums over clusters, and the quantile of t with degrees of freedom by them."""
    rate, ones = Y.mean(), np.ones((50, 1))
    covariance, df = dense_cr2(ones, np.ones(50), Y - rate, PERSON, np.ones(1))
    reach = student.ppf(0.975, df) * np.sqrt(covariance.item()) / (rate * (1 - rate))
    return expit([logit(rate) - reach, logit(rate) + reach])


def bca():
    _, replicates = bootstrap_of_brier()
    loss = (P - Y) ** 2
    bias = ndtri(((replicates < loss.mean()).mean() + (replicates <= loss.mean()).mean()) / 2)
    deviation = loss - loss.mean()
    a = (deviation**3).sum() / (6 * (deviation**2).sum() ** 1.5)
    levels = [ndtr(bias + (bias + z) / (1 - a * (bias + z))) for z in (-Z, Z)]
    return np.quantile(replicates, levels)


def score_of(p):
    return np.mean((p - Y) ** 2)


def closed_overfit(p, fitted):
    """O₁ of the Brier score."""
    blocks = [fitted == value for value in np.unique(fitted)]
    parameters = [1 if len(np.unique(p[block])) == 1 else 1.5 for block in blocks]
    gains = [fitted[block][0] * (1 - fitted[block][0]) for block in blocks]
    return np.dot(parameters, gains) / len(p)


def bracket():
    """The interval from its pieces; O₁ by hand, O₂ as recorded."""
    mcb, dsc = component_intervals(sr.corp(Y, P), draws=20, resamples=40)
    fitted = isotonic()
    closed = closed_overfit(P, fitted)
    constant = Y.mean() * (1 - Y.mean()) / 50
    found = []
    for part, terms, less in (
        (mcb, (P - Y) ** 2 - (fitted - Y) ** 2, 0),
        (dsc, (Y.mean() - Y) ** 2 - (fitted - Y) ** 2, constant),
    ):
        first, second, reach = (
            max(closed - less, 0),
            part.overfit_resampled,
            Z * terms.std(ddof=1) / np.sqrt(50),
        )
        found += [
            max(terms.mean() - max(first, second) - reach, 0) if part is dsc else part.lower,
            max(terms.mean() - min(first, second) + reach, 0),
            max(terms.mean() - second, 0),
        ]
    return found


def bracket_of_difference():
    """That of MCB; O₁ by hand, O₂ as recorded."""
    of_models = []
    for p in (P, OTHER):
        fitted = isotonic(p)
        recorded = component_intervals(sr.corp(Y, p), draws=20, resamples=40)[0]
        gain = (p - Y) ** 2 - (fitted - Y) ** 2
        of_models.append((gain, closed_overfit(p, fitted), recorded.overfit_resampled))
    (first, *of_first), (second, *of_second) = of_models
    terms, overfit = first - second, np.subtract(of_first, of_second)
    reach = Z * terms.std(ddof=1) / np.sqrt(50)
    return [terms.mean() - overfit.max() - reach, terms.mean() - overfit.min() + reach]


def recorded_bracket():
    parts = component_intervals(sr.corp(Y, P), draws=20, resamples=40)
    return [number for part in parts for number in (part.lower, part.upper, part.corrected)]


def honest():
    """Bounds of every stretch of distinct forecasts, at each of them."""
    level = np.unique(P)
    error = 0.1 / (len(level) * (len(level) + 1))
    lower, upper = np.zeros(len(level)), np.ones(len(level))
    for i, j in combinations_with_replacement(range(len(level)), 2):
        inside = (level[i] <= P) & (level[j] >= P)
        m, s = inside.sum(), Y[inside].sum()
        if s > 0:
            lower[j:] = np.maximum(lower[j:], betaincinv(s, m - s + 1, error))
        if s < m:
            upper[: i + 1] = np.minimum(upper[: i + 1], betaincinv(s + 1, m - s, 1 - error))
    return lower, upper


def band(kind, **options):
    found = sr.corp(Y, P).band(kind, 0.9, **options)
    return found.lower, found.upper


def discrete():
    level, m = np.unique(P, return_counts=True)
    reach = float(ndtri(0.95)) * np.sqrt(level * (1 - level) / m)
    return np.clip([level - reach, level + reach], 0, 1)


def continuous():
    x, width = np.linspace(0, 1, 101), 50 ** (-2 / 5)
    density = np.array([beta.pdf(P, t / width + 1, (1 - t) / width + 1).mean() for t in x])
    reach = chernoff_quantile(0.95) * np.cbrt(4 * x * (1 - x) / (50 * density))
    return np.clip([x - reach, x + reach], 0, 1)


def null_miscalibration():
    """The p-value by the formula, from draws of our own: the same but for chance."""
    rng = np.random.default_rng(3)

    def miscalibration(y):
        return np.mean((P - y) ** 2) - sr.corp(y, P).decompose("brier").recalibrated

    drawn = [miscalibration((rng.random(50) < P).astype(float)) for _ in range(400)]
    return (1 + sum(value >= miscalibration(Y) for value in drawn)) / 401


def group_ratio():
    half = np.arange(50) % 2

    def best(rows, y, p):
        line = calibration_line(y[rows], p[rows])
        chance = expit(line.intercept.value + line.slope.value * logit(p[rows]))
        return np.log(np.where(y[rows] == 1, chance, 1 - chance)).sum()

    return 2 * (best(half == 0, Y, P) + best(half == 1, Y, P) - best(half >= 0, Y, P))


def wald_distance(found):
    return found.value / found.standard_error


LINE = calibration_line(Y, P)
FIT = sr.corp(Y, P)
TABLED = (0.3, 0.5, 0.8)


def net_benefit_limits(t):
    """By the formula, with Wilson's limits of both shares."""
    tp, fp, _, _ = shares(t)
    (tp_lower, tp_upper), (fp_lower, fp_upper) = (wilson(share) for share in (tp, fp))
    odds, rho = t / (1 - t), -np.sqrt(tp * fp / ((1 - tp) * (1 - fp)))
    a, b = tp - tp_lower, odds * (fp_upper - fp)
    c, d = tp_upper - tp, odds * (fp - fp_lower)
    value = tp - fp * odds
    lower = value - np.sqrt(a * a + b * b - 2 * rho * a * b)
    return [lower, value + np.sqrt(c * c + d * d - 2 * rho * c * d)]


def corrected_ece():
    """By the formula, with the mean of |d + σX| by numerical integration."""
    x = np.linspace(-9, 9, 200_001)
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi) * (x[1] - x[0])
    total = 0.0
    for k in range(10):
        inside = (k / 10 < P) & ((k + 1) / 10 >= P)
        m = int(inside.sum())
        if m:
            d, r = Y[inside].mean() - P[inside].mean(), (Y[inside].sum() + 0.5) / (m + 1)
            drawn = float((np.abs(d + np.sqrt(r * (1 - r) / m) * x) * density).sum())
            total += m / len(Y) * (2 * abs(d) - drawn)
    return max(total, 0.0)


def tabled(*names):
    from scorereport.curves import threshold_table

    return [[getattr(row, name) for name in names] for row in threshold_table(FIT, thresholds=TABLED)]


def rates(t):
    tp, fp, fn, tn = shares(t)
    return [tp / (tp + fn), tn / (tn + fp), tp / (tp + fp), tn / (tn + fn)]


#: The formula, what it says in a few lines, and the engine's answer.
OF_METHODS = {
    "skill": (
        "skill = (S(ȳ) − S(p)) / (S(ȳ) − S(y)); for the AUC: 2 AUC − 1",
        lambda: (score_of(Y.mean()) - score_of(P)) / (score_of(Y.mean()) - score_of(Y)),
        lambda: sr.skill("brier", Y, P),
    ),
    "isotonic": (
        "ŷ at the k-th forecast = max over i ≤ k of min over j ≥ k of the mean y of cases from the i-th to "
        "the j-th forecast",
        isotonic,
        lambda: sr.corp(Y, P).cep,
    ),
    "corp": (
        "S(p) = MCB − DSC + UNC; MCB = S(p) − S(ŷ), DSC = S(ȳ) − S(ŷ), UNC = S(ȳ)",
        lambda: [
            score_of(P) - score_of(isotonic()),
            score_of(Y.mean()) - score_of(isotonic()),
            score_of(Y.mean()),
        ],
        lambda: [
            getattr(sr.corp(Y, P).decompose("brier"), name)
            for name in ("miscalibration", "discrimination", "uncertainty")
        ],
    ),
    "overfit": (
        "[C − max(O₁, O₂) − z se, C − min(O₁, O₂) + z se], cut at 0; corrected value: max(0, C − O₂)",
        bracket,
        recorded_bracket,
    ),
    "line": (
        "logit P(y = 1) = a + b logit p; at slope 1: logit P(y = 1) = a + logit p; estimate ± z se",
        lambda: [
            LINE.slope.value - Z * LINE.slope.standard_error,
            LINE.slope.value + Z * LINE.slope.standard_error,
        ],
        lambda: ends_of(LINE.slope),
    ),
    "ece": (
        "ECE = Σ (m / n) |mean y − mean p| over the bins, m cases in a bin",
        lambda: sum(
            inside.mean() * abs(Y[inside].mean() - P[inside].mean())
            for inside in ((k / 10 < P) & ((k + 1) / 10 >= P) for k in range(10))
            if inside.any()
        ),
        lambda: expected_calibration_error(Y, P).value,
    ),
    "corrected ece": (
        "max(0, 2 ECE − Σ (m / n) E|d + σX|), d = mean y − mean p, σ² = r(1 − r)/m, "
        "r = (m mean y + 1/2)/(m + 1), X standard normal",
        corrected_ece,
        lambda: expected_calibration_error(Y, P).corrected,
    ),
    "decision intervals": (
        "NB: lower end NB − √(a² + b² − 2ρab), a = TP − lower(TP), b = w (upper(FP) − FP), "
        "w = t / (1 − t); upper end likewise, with the opposite limits",
        lambda: [net_benefit_limits(t) for t in TABLED],
        lambda: [ends_of(row.interval("net_benefit")) for row in threshold_intervals(FIT, thresholds=TABLED)],
    ),
    "Spiegelhalter's z": (
        "z = Σ (y − p)(1 − 2p) / √Σ (1 − 2p)² p(1 − p)",
        lambda: ((Y - P) * (1 - 2 * P)).sum() / np.sqrt(((1 - 2 * P) ** 2 * P * (1 - P)).sum()),
        lambda: spiegelhalter_test(Y, P).statistic,
    ),
    "Spiegelhalter's z in clusters": (
        "t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of (y − p)(1 − 2p) over a cluster, w its share "
        "of the "
        "cases",
        lambda: in_clusters((Y - P) * (1 - 2 * P)),
        lambda: spiegelhalter_test(Y, P, cluster=PERSON).statistic,
    ),
    "Calibration in the large": (
        "z = Σ (y − p) / √Σ p(1 − p)",
        lambda: (Y - P).sum() / np.sqrt((P * (1 - P)).sum()),
        lambda: mean_calibration_test(Y, P).statistic,
    ),
    "Calibration in the large in clusters": (
        "t = Σ D / √Σ ((D − w Σ D)² / (1 − w)), D the sum of y − p over a cluster, w its share of the cases",
        lambda: in_clusters(Y - P),
        lambda: mean_calibration_test(Y, P, cluster=PERSON).statistic,
    ),
    "Calibration slope": (
        "z = (b − 1) / se(b)",
        lambda: (LINE.slope.value - 1) / LINE.slope.standard_error,
        lambda: line_tests(Y, P)[0].statistic,
    ),
    "Calibration intercept at slope 1": (
        "z = a / se(a)",
        lambda: wald_distance(LINE.intercept_at_slope_one),
        lambda: line_tests(Y, P)[1].statistic,
    ),
    "Unreliability": (
        "χ² = 2 (log L(a, b) − log L(0, 1)), L the likelihood of the calibration line",
        lambda: 2 * (line_log_likelihood(LINE.intercept.value, LINE.slope.value) - line_log_likelihood(0, 1)),
        lambda: line_tests(Y, P)[2].statistic,
    ),
    "Hosmer-Lemeshow": (
        "χ² = Σ (O − E)² / (E(1 − E/m)) over groups of m cases, O events, E = Σ p",
        hosmer_lemeshow,
        lambda: hosmer_lemeshow_test(Y, P).statistic,
    ),
    "grades": (
        "Jeffreys: P(θ ≤ m), θ ~ Beta(d + 1/2, n − d + 1/2); binomial: P(X ≥ d), X ~ Bin(n, m)",
        lambda: [beta.cdf(0.1, 3 + 0.5, 12 - 3 + 0.5), binom.sf(2, 12, 0.1)],
        lambda: [(t := grade_test(12, 3, 0.1)).jeffreys_p_value, t.binomial_p_value],
    ),
    "consistency pointwise discrete": (
        "p ± z √(p(1 − p) / m), m the number of cases with this forecast",
        discrete,
        lambda: band("consistency", method="discrete"),
    ),
    "consistency pointwise continuous": (
        "p ± q ∛(4p(1 − p) / (n f(p))), q the (1 + ℓ)/2 quantile of Chernoff’s distribution",
        continuous,
        lambda: band("consistency", method="continuous"),
    ),
    "confidence simultaneous honest": (
        "lower(x) = max Beta(δ; s, m − s + 1) over segments of forecasts up to x with m cases and s events; "
        "upper(x) = min Beta(1 − δ; s + 1, m − s) over segments from x on; δ = (1 − ℓ) / (K(K + 1))",
        honest,
        lambda: band("confidence", coverage="simultaneous"),
    ),
    "roc": (
        "TPR = TP / (TP + FN) against FPR = FP / (FP + TN); AR = 2 AUC − 1; KS = max (TPR − FPR)",
        lambda: max(tp / (tp + fn) - fp / (fp + tn) for tp, fp, fn, tn in map(shares, P)),
        lambda: np.max((hull := sr.curves.roc_hull(FIT)).tpr - hull.fpr),
    ),
    "murphy": (
        "S = 2θ if p > θ and y = 0; 2(1 − θ) if p < θ and y = 1; 2θ(1 − θ) if p = θ; else 0",
        lambda: elementary(0.5),
        lambda: scores.elementary(Y, P, theta=0.5),
    ),
    "regret": (
        "R(c) = c FP + (1 − c) FN at the threshold c",
        lambda: [[t * shares(t)[1] + (1 - t) * shares(t)[2]] for t in TABLED],
        lambda: tabled("regret"),
    ),
    "net benefit": (
        "NB(t) = TP − FP t / (1 − t) = ȳ − R(t) / (1 − t)",
        lambda: [[shares(t)[0] - shares(t)[1] * t / (1 - t)] for t in TABLED],
        lambda: tabled("net_benefit"),
    ),
    "thresholds": (
        "sensitivity = TP / (TP + FN), specificity = TN / (TN + FP), PPV = TP / (TP + FP), NPV = TN / (TN + "
        "FN)",
        lambda: [rates(t) for t in TABLED],
        lambda: tabled(
            "sensitivity", "specificity", "positive_predictive_value", "negative_predictive_value"
        ),
    ),
    "BCa bootstrap": (
        "quantiles Φ(z₀ + (z₀ ± z) / (1 − a(z₀ ± z))) of the B replicates",
        bca,
        lambda: ends_of(bootstrap_of_brier()[0].interval("m", "brier", allow_for_rare=False)),
    ),
    "Wilson": (
        "(r + z²/(2n) ± z √(r(1 − r)/n + z²/(4n²))) / (1 + z²/n)",
        wilson,
        lambda: ends_of(rate_interval("rate", Y, SamplingUnits(rows=50), 0.95)),
    ),
    "percentile bootstrap": (
        "quantiles (1 − ℓ)/2 and (1 + ℓ)/2 of the B replicates",
        lambda: np.quantile(bootstrap_of_brier()[1], [0.025, 0.975]),
        lambda: ends_of(
            bootstrap_of_brier()[0].interval("m", "brier", method="percentile", allow_for_rare=False)
        ),
    ),
    "normal on log-odds": (
        "logit r ± z se(r) / (r(1 − r)), transformed back to r",
        rate_in_clusters,
        lambda: ends_of(rate_interval("rate", Y, CLUSTERED, 0.95)),
    ),
    "bracket": (
        "[D − max(ΔO₁, ΔO₂) − z se, D − min(ΔO₁, ΔO₂) + z se], ΔO the first fit’s overfit minus the second’s",
        bracket_of_difference,
        lambda: ends_of(component_differences(Y, P, OTHER, draws=20)[0]),
    ),
    "DeLong": (
        f"all θ with |AUC − θ| ≤ t √(s v(θ)), s = (var(V₁) / n₁ + var(V₀) / n₀) / v(AUC), {NEWCOMBE}",
        delong,
        lambda: ends_of(auc_interval(Y, P)),
    ),
    "DeLong with bias-reduced": (
        f"all θ with |AUC − θ| ≤ t √(s v(θ)), s = se² / v(AUC), {NEWCOMBE}",
        delong_in_clusters,
        lambda: ends_of(auc_interval(Y, P, cluster=PERSON)),
    ),
    "Diebold-Mariano": (
        "D = mean (S of the first − S of the second), D ± z se(D), test by D / se(D)",
        lambda: [(d := (P - Y) ** 2 - (OTHER - Y) ** 2).mean(), d.mean() / (d.std(ddof=1) / np.sqrt(50))],
        lambda: [(found := score_difference(Y, P, OTHER)).value, found.statistic],
    ),
    "DeLong difference": (
        "D = AUC of the first − AUC of the second, D ± t se(D), test by D / se(D)",
        lambda: scores.roc_auc(Y, P) - scores.roc_auc(Y, OTHER),
        lambda: delong_test(Y, P, OTHER).value,
    ),
    "holm": (
        "p of the k-th smallest of m: max over j ≤ k of min(1, (m − j + 1) p of the j-th smallest)",
        lambda: [max(min(1, (4 - j) * (0.01, 0.02, 0.021, 0.5)[j]) for j in range(k + 1)) for k in range(4)],
        lambda: holm([0.01, 0.02, 0.021, 0.5]),
    ),
    "Cochran's Q": (
        "Q = Σ (v − m)² / se², m = Σ (v / se²) / Σ (1 / se²); I² = max(0, 1 − df / Q)",
        lambda: (
            (0.2 - (m := (0.2 / 0.01 + 0.3 / 0.04) / (1 / 0.01 + 1 / 0.04))) ** 2 / 0.01
            + (0.3 - m) ** 2 / 0.04
        ),
        lambda: cochran_q([0.2, 0.3], [0.1, 0.2]).statistic,
    ),
    "Calibration by group": (
        "χ² = 2 (Σ log L of each group’s line − log L of the common line)",
        group_ratio,
        lambda: group_calibration_test(Y, P, np.arange(50) % 2)[1].statistic,
    ),
}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("key", OF_METHODS)
def test_formula_of_a_method(key):
    text, by_formula, by_engine = OF_METHODS[key]
    assert BINARY_CATALOGUE[key].formula == text
    np.testing.assert_allclose(by_formula(), by_engine(), rtol=1e-8, atol=1e-12)


def test_only_these_formulas_are_not_computed_again():
    assert set(BINARY_CATALOGUE) - set(OF_METHODS) == {
        "rare cases",  # in test_few_cases.py, as the next
        "few values",
        "miscalibration test",  # below, up to chance
        "ici",  # below
        "distance interval",  # test_values.py
        "flexible",  # test_values.py
        "Unreliability by Wald",
        "Unreliability in time",  # these four in test_time_errors
        "Spiegelhalter's z in time",
        "Calibration in the large in time",
        "Autocorrelation in time",
        "Calibration by group by Wald",
        "consistency pointwise resampling",
        "confidence pointwise resampling",
        "consistency simultaneous split resampling",
        "murphy difference",
        "ranks",
        "groups",
        "recalibration",
        "limits",
        "certificate",
    }


@pytest.mark.sweep
def test_formula_of_the_miscalibration_test_up_to_chance():
    engine = miscalibration_test(sr.corp(Y, P), resamples=1500).p_value
    assert null_miscalibration() == pytest.approx(engine, abs=0.08)


def test_formula_of_ici():
    from statsmodels.nonparametric.smoothers_lowess import lowess

    forecast, outcome = RNG.random(60), RNG.integers(0, 2, 60)
    curve = np.clip(lowess(outcome, forecast, frac=2 / 3, it=0, xvals=forecast), 0, 1)
    assert calibration_errors(outcome, forecast).ici == pytest.approx(np.mean(np.abs(curve - forecast)))


def test_net_benefit_is_prevalence_less_regret():
    for t in TABLED:
        tp, fp, fn, _ = shares(t)
        regret = t * fp + (1 - t) * fn
        assert tp - fp * t / (1 - t) == pytest.approx(Y.mean() - regret / (1 - t))
