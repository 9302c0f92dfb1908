"""Methods of a report: what is listed, its precision, the page."""

from __future__ import annotations

import re
from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest
from artefact_tools import make_once, shared_folder
from method_tools import COSTS

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.plots.fonts import covers
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.reference_documents import Certificate
from scorereport.report.methods.formula_catalogue import BINARY_CATALOGUE
from scorereport.report.methods.notation import SYMBOLS, SYMBOLS_OF_INFERENCE, cite, list_works
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.methods_section import METHODS, describe_methods_section
from scorereport.report.tables.overview import evaluation_tables
from scorereport.report.templates import render_html
from scorereport.scores.registry import REGISTRY, Kind, Reported, list_reported

HOSTILE = "<script>alert(1)</script>"


TEMPLATE = "{{ 7*7 }}"


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
        "plain": report_of(frame, resamples=0, scale=True),
        "full": report_of(
            frame,
            forecasts=["a", "b"],
            cost_interval=COSTS,
            groups="site",
            grade="grade",
            configuration="[limits]\nbrier = {fail = 0.2}",
            certificate=True,
            scale=True,
        ),
        "clustered": report_of(frame, forecasts=["a", "b"], cluster="person", groups="site"),
        "weighted": report_of(frame, forecasts=["a", "b"], weight="weight", groups="site"),
        "dated": report_of(frame, forecasts=["a", "b"], time="day", window="month"),
    }


def entries_of(report):
    families = describe_methods_section(report).content["families"]
    return {method["name"]: method for family in families for method in family["methods"]}


def render(report):
    section = describe_methods_section(report)
    parts = {key: part | {"id": "table-1", "name": "Table 1"} for key, part in section.parts.items()}
    shown = {**section.content, "id": "methods", "number": "4", "title": METHODS.title, "parts": parts}
    return render_html("sections/methods.html", {"section": shown, "labels": {}})


# ---- What is listed ----

ALWAYS = [
    *(REGISTRY[name].label for name in list_reported(Reported.ALWAYS, kinds=[Kind.BINARY])),
    "AUC",
    "Skill",
    "Reliability curve (CORP)",
    "Decomposition into MCB, DSC and UNC",
    "ROC curve, AR and KS",
    "Elementary scores (Murphy diagram)",
    "Regret",
    "Net benefit (decision curve)",
    "Net reduction in interventions",
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


def test_all_methods_of_a_full_evaluation_are_listed(reports):
    names = set(entries_of(reports["full"]))
    assert names >= {
        *ALWAYS,
        "Bounded Brier score",
        "Bounded log score",
        "Bounded net benefit",
        "Corrected MCB and corrected DSC, with intervals",
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
        "Net reduction in interventions",
        "Difference of net benefit",
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
    texts = " ".join(method["convention"] for method in entries.values())
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
        assert errors.replace("iid errors", "errors of independent rows") in texts.replace("Errors", "errors")
    for test in (*model.calibration.tests, *(found.test for found in evaluation.heterogeneity)):
        assert test.method.startswith(("chi-squared", "Welch's F")) or test.method.lower() in texts.lower()


def test_bounds_are_stated_where_there_are_any(reports):
    entries = entries_of(reports["full"])
    for name in ("Bounded Brier score", "Bounded log score", "Bounded net benefit"):
        assert "Here a = 0.2 and b = 0.6." in entries[name]["convention"]
    assert "Here" not in entries["Brier score"]["convention"]
    assert not any(name.startswith("Bounded") for name in entries_of(reports["clustered"]))


@pytest.mark.sweep
def test_few_times_are_compared_by_t_with_one_degree_fewer():
    frame = make_frame().assign(
        day=lambda f: pd.Timestamp("2026-01-01") + pd.to_timedelta(f.index % 9, unit="D")
    )
    text = entries_of(report_of(frame, forecasts=["a", "b"], time="day"))["Difference of AUCs"]["convention"]
    assert "t with one degree of freedom fewer than there are times." in text
    assert "Welch" not in text


def test_methods_of_undefined_results_are_left_out(reports):
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


def test_clusters_change_formulas_and_conventions(reports):
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


def test_weights_and_times_are_described(reports):
    weighted, dated = (describe_methods_section(reports[name]).content for name in ("weighted", "dated"))
    assert any(sentence.startswith("Means and sums are weighted") for sentence in weighted["conventions"])
    assert not any(sentence.startswith("Means and sums") for sentence in dated["conventions"])
    assert any("depend on each other in time" in sentence for sentence in dated["conventions"])
    assert weighted["sizes"][0].startswith("The weights of events sum to ")
    entries = entries_of(reports["dated"])
    convention = entries["Difference of AUCs"]["convention"]
    assert "errors in time (4 cosines, 80 times)" in convention.replace("Errors", "errors")
    assert "t with one degree of freedom for each cosine." in convention
    assert "Welch" not in convention
    for name, freedom in (("full", "Welch’s"), ("weighted", "Welch’s"), ("clustered", "Satterthwaite’s")):
        convention = entries_of(reports[name])["Difference of AUCs"]["convention"]
        assert f"t with {freedom} degrees of freedom" in convention
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
        in entries["Corrected MCB and corrected DSC, with intervals"]["convention"]
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


@pytest.mark.sweep
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


def test_unknown_precision_is_not_defined():
    frame = make_frame()
    frame.loc[0, "a"] = 1.0
    part = describe_methods_section(report_of(frame)).parts["precision"]
    assert part["bodies"][0]["rows"][0]["cells"][-1]["text"] == "n/d"


def test_an_interval_without_width_is_not_described_as_precise():
    part = describe_methods_section(report_of(make_frame().assign(a=0.3))).parts["precision"]
    brier, auc, slope = (cell["text"] for cell in part["bodies"][0]["rows"][0]["cells"][1:])
    assert float(brier) > 0
    assert (auc, slope) == ("n/d", "n/d")


def test_suppressed_groups_are_counted():
    frame = make_frame().assign(site=lambda f: np.where(f.index < 4, "small", "large"))
    text = entries_of(report_of(frame, resamples=0, groups="site"))["Subgroups and periods"]["convention"]
    assert "Groups of fewer than 10 rows are counted, not scored. Here these are 1 of 2 groups." in text


def test_a_sample_of_one_class_lacks_the_other():
    sizes = describe_methods_section(report_of(make_frame().assign(y=1), resamples=0)).content["sizes"]
    assert sizes[0] == "The sample has 160 events and 0 non-events."
    assert "there are too few non-events." in sizes[1]


def test_a_small_sample_is_described_as_small(reports):
    sizes = " ".join(describe_methods_section(reports["full"]).content["sizes"])
    events = int(make_frame()["y"].sum())
    assert sizes.startswith(f"The sample has {events} events and {160 - events} non-events.")
    assert "there are too few events and non-events. Intervals are wide" in sizes
    assert "groups and periods scored, 2 of 2 have fewer than 100 events or non-events" in sizes


#: 90 events and 510 non-events; two thirds of each weigh three times as much as the rest.
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
    report = report_of(frame, resamples=0, weight="w", groups="site")
    sizes = describe_methods_section(report).content["sizes"]
    assert sizes[0] == (
        f"The weights of events sum to {210 * scale:,} and those of non-events to {1190 * scale:,}; allowing "
        "for varying weights, the 600 rows count as 77 events and 438 non-events."
    )
    assert "at least 100 of each [Vergouwe et al. (2005)]: there are too few events." in sizes[1]
    assert "groups and periods scored, 2 of 2 have fewer than 100 events or non-events" in sizes[-1]
    heads = next(table.heads for table in evaluation_tables(report.evaluation) if "site" in table.heads)
    assert heads[:5] == ("site", "model", "rows", "events (weight)", "prevalence")


def test_weighted_clusters_count_by_their_effective_number():
    # pairs of rows weigh 4, 4 and 6 in turn: n 196/204, which is 43.2 of 45 and 245 of 255
    sizes = describe_methods_section(report_of(_WEIGHTED, resamples=0, weight="w", cluster="person")).content[
        "sizes"
    ]
    assert sizes[0].endswith(
        "allowing for varying weights, the 300 clusters count as 43 events and 245 non-events."
    )
    assert "there are too few events." in sizes[1]


def test_frequencies_and_clusters_count_cases():
    frame = _WEIGHTED.assign(w=_WEIGHTED["w"].astype(int))
    sizes = describe_methods_section(
        report_of(frame, resamples=0, weight="w", weight_kind="frequency")
    ).content["sizes"]
    assert sizes[0] == "The sample has 210 events and 1,190 non-events (sums of weights)."
    assert "The sample meets it" in sizes[1]
    sizes = describe_methods_section(report_of(frame, resamples=0, cluster="person")).content["sizes"]
    assert sizes[0] == "The sample has 90 events and 510 non-events."


def test_weighted_classes_count_by_their_effective_number():
    frame = _WEIGHTED.assign(
        y=np.resize(["low", "mid", "mid", "high"], 600), m_low=0.25, m_mid=0.5, m_high=0.25
    )
    options = {"forecasts": ["m"], "classes": ["low", "mid", "high"], "resamples": 0, "weight": "w"}
    sizes = describe_methods_section(report_of(frame, **options)).content["sizes"]
    assert sizes[0] == (
        "The sample has 3 classes; the rarest, low, has 128 cases (effective number of weighted rows)."
    )


def test_a_large_sample_is_not_described_as_small():
    text = " ".join(describe_methods_section(report_of(make_frame(600), resamples=0)).content["sizes"])
    assert "The sample meets it, but this alone does not make intervals narrow [Snell et al. (2021)]." in text
    assert "too few" not in text


# ---- The page ----


@pytest.mark.sweep
def test_hostile_names_stay_text():
    frame = make_frame().rename(columns={"a": HOSTILE, "b": TEMPLATE})
    page = render(report_of(frame, forecasts=[HOSTILE, TEMPLATE], groups="site"))
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
    without = ("Holm", "Central Bank", "Korn", "Kent", "Takeuchi")
    assert all("doi:" in work or any(name in work for name in without) for work in section["references"])


def test_catalogue_is_complete_and_can_be_printed():
    texts = [text for formula in BINARY_CATALOGUE.values() for text in astuple(formula)]
    texts += [*SYMBOLS, *SYMBOLS.values(), *SYMBOLS_OF_INFERENCE.values()]
    texts += [text for entry in REGISTRY.values() for text in (entry.formula, entry.convention)]
    assert all(covers(character) for character in set("".join(texts)) - {" "})
    assert all("--" not in text and " - " not in text for text in texts)
    assert list_works(["A (2020), x", "A (2020), x; b"]) == ["A (2020), x"]
