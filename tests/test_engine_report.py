"""Reports on rows that were never in memory together describe only methods that were used."""

from __future__ import annotations

import io
import re
from dataclasses import astuple, replace

import numpy as np
import pandas as pd
import pytest
from engine_tools import ArrayEngine
from report_tools import in_full
from scipy.special import expit, logit

import scorereport as sr
from scorereport.cli.terminal import print_evaluation
from scorereport.configuration import SECTION_NAMES, parse_configuration
from scorereport.configuration.judgement import judge
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.configuration.periods import Period
from scorereport.errors import UsageError
from scorereport.evaluation.engines.digest_scores import score_digest
from scorereport.evaluation.engines.engine_evaluation import digest_models, evaluate_with_engine
from scorereport.evaluation.engines.protocol import MOST_DISTINCT
from scorereport.evaluation.engines.scans import tally_forecasts
from scorereport.evaluation.evaluated_parts import assemble_evaluation
from scorereport.history.trend.drift import find_drift
from scorereport.history.trend.snapshot import take_snapshot
from scorereport.inference.mean_errors import ErrorDistribution
from scorereport.plots.fonts import covers
from scorereport.reference.certification import decline
from scorereport.report.assembly import describe_report
from scorereport.report.findings import describe_method_line, list_report_findings
from scorereport.report.methods.class_formulas import ENGINE_CATALOGUE, SYMBOLS_OF_BUCKETS
from scorereport.report.methods.inference_methods import list_engine_methods
from scorereport.report.methods.sample_precision import describe_size
from scorereport.report.notebook import render_notebook
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.calibration_section import describe_calibration_section
from scorereport.report.sections.checklist_section import describe_checklists_section
from scorereport.report.sections.closing_sections import describe_provenance_section
from scorereport.report.sections.methods_section import describe_methods_section
from scorereport.report.tables.group_tables import group_table
from scorereport.report.tables.overview import describe_uncertainty, evaluation_tables
from scorereport.report.tables.table import percent_interval_text
from scorereport.report.templates import render_html
from scorereport.results.evaluation import Evaluation
from scorereport.results.settings import EvaluationSettings

TIME = "2026-11-15T07:30:12+00:00"
TOO_LARGE = "R cannot hold rows that do not fit into memory."
#: Terms for what no engine does, and for what it does with independent rows only.
NEVER = (
    r"bootstrap|BCa|resamples\b|\bICI\b|smooth curve|sup-t|HAC|\bfolds\b"
    r"|Diebold|DeLong interval|probability scale|O₂"
)
FOREIGN = re.compile(NEVER, re.IGNORECASE)
FOREIGN_TO_CLUSTERS = re.compile(
    NEVER + r"|resampl|draws\b|\bseed\b|drawn from|test that MCB is 0|dashed|B, \*", re.IGNORECASE
)
#: Exceptions: notes on what was left out, titles of references, items of checklists.
ALLOWED = (
    "Left out, because they need the rows in memory",
    "No row is resampled",
    "The tests of miscalibration, the Hosmer-Lemeshow test",
    "An Introduction to the Bootstrap",
    "Everything needed to repeat the evaluation",
    "resampled consistency band",
    "resampled confidence band",
)
LIMITS = """
[limits]
groups = true
set_by = "The committee"
brier = 0.5
brier_miscalibration = 0.1
roc_auc_skill = 0.2
calibration_slope = {min = 0.1, max = 3}
prevalence = {min = 0.1, max = 0.9}
[checklist]
lists = ["tripod-ai", "model-risk"]
"""


def make_frame(rows=1500, seed=5):
    rng = np.random.default_rng(seed)
    truth = rng.beta(2, 3, rows).clip(0.02, 0.98)
    return pd.DataFrame(
        {
            "y": (rng.random(rows) < truth).astype(int),
            "a": truth,
            "b": expit(2 * logit(truth) + 0.5).round(2).clip(0.01, 0.99),
            "site": rng.choice(["north", "south"], rows),
            "person": np.arange(rows) // 3,
            "weight": rng.choice([0.5, 1.25], rows),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(rows) // 20, unit="D"),
        }
    )


def evaluate(frame, *, engine="duckdb", settings=None, forecasts=("a", "b"), **columns):
    """The evaluation of a frame by an engine that reads rows once."""
    predictions = sr.read_predictions(frame, outcome="y", forecasts=list(forecasts), **columns)
    requested = replace(settings or EvaluationSettings(cost_interval=(0.2, 0.6)), engine=engine)
    parts = evaluate_with_engine(ArrayEngine(predictions), requested)
    return assemble_evaluation(parts, requested, software={"scorereport": "1", engine: "2"})


def report_on(evaluation, text="", *, certificate=None):
    configuration = parse_configuration(text) if text else None
    return build_report(
        evaluation, Provenance(time=TIME), configuration=configuration, certificate=certificate
    )


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(make_frame(), groups="site", time="day")


@pytest.fixture(scope="module")
def clustered():
    return evaluate(make_frame(), cluster="person", groups="site")


@pytest.fixture(scope="module")
def described(evaluation):
    certificate = decline(evaluation, TOO_LARGE)
    return describe_report(in_full(report_on(evaluation, LIMITS, certificate=certificate)))


@pytest.fixture(scope="module")
def page(described):
    return render_html("report.html", described)


def entries_of(evaluation):
    content = describe_methods_section(report_on(evaluation)).content
    methods = [method for family in content["families"] for method in family["methods"]]
    return {
        m["name"]: {key: text.replace("\N{NO-BREAK SPACE}", " ") for key, text in m.items()} for m in methods
    }


def read_texts(found):
    """All texts of nested dictionaries and lists, except those of pictures."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict):
        for key, value in found.items():
            yield from () if key == "src" else read_texts(value)
    elif isinstance(found, list | tuple):
        for value in found:
            yield from read_texts(value)


def assert_no_foreign_terms(texts, foreign=FOREIGN):
    found = [text for text in texts if foreign.search(re.sub(r"\b[0-9a-f]{40,}\b", "", text))]  # no hashes
    assert [text for text in found if not any(allowed in text for allowed in ALLOWED)] == []


def read_page(page):
    sections = page.partition('<section id="glossary"')[0]  # definitions are those of all engines
    return re.sub(r"<[^>]+>", "\n", re.sub(r'(?s)<style>.*?</style>|src="[^"]*"', "", sections)).splitlines()


def without_tests(evaluation):
    """The evaluation without what is drawn, as in documents of version 0.2 and for dependent rows."""
    models = [
        replace(
            model,
            scores=replace(model.scores, miscalibration_tests=()),
            bands=tuple(b for b in model.bands if (b.kind, b.coverage) != ("consistency", "simultaneous")),
        )
        for model in evaluation.models
    ]
    return replace(evaluation, models=tuple(models))


def test_the_report_does_not_mention_what_engines_do_not_do(described, page):
    assert_no_foreign_terms(read_texts(described))
    assert_no_foreign_terms(read_page(page))


@pytest.mark.parametrize("drops_tests", [False, True])
def test_without_tests_the_report_does_not_mention_draws(evaluation, clustered, drops_tests):
    shown = without_tests(evaluation) if drops_tests else clustered
    described = describe_report(in_full(report_on(shown)))
    notes = evaluation.notes if drops_tests else ()
    texts = [text for text in read_texts(described) if text not in notes]
    assert_no_foreign_terms(texts, FOREIGN_TO_CLUSTERS)
    if not drops_tests:
        assert_no_foreign_terms(read_page(render_html("report.html", described)), FOREIGN_TO_CLUSTERS)


def test_the_report_states_what_is_drawn(evaluation, page):
    entries = entries_of(evaluation)
    assert "Test that MCB is 0" in entries
    assert "Simultaneous consistency band, 90 % (split resampling)" in entries
    content = describe_methods_section(report_on(evaluation)).content
    assert "B, *" in {symbol["label"] for symbol in content["symbols"]}
    assert any("Random draws start from seed 2021" in text for text in content["conventions"])
    assert any("no rows are resampled, and intervals are from" in text for text in content["conventions"])
    facts = {
        f["label"]: f["text"] for f in describe_provenance_section(report_on(evaluation)).content["facts"]
    }
    assert facts["Seed"] == "2021"
    assert facts["Engine"] == "DuckDB, rows sorted on disk"
    assert "Nothing is drawn at random" not in page


def test_terminal_and_notebook_describe_the_methods(evaluation):
    out = io.StringIO()
    print_evaluation(evaluation, out, everything=True)
    assert_no_foreign_terms(out.getvalue().splitlines())
    text = describe_uncertainty(evaluation)
    how = evaluation.models[0].scores.scores[0].interval.method
    assert f"95 % intervals: {how}, for scores, skills, AUC and differences; rates Wilson's;" in text
    assert "in closed form, so that an interval may exclude raw MCB or DSC" in text
    assert "asymptotic theory (continuous), simultaneous split resampling and honest." in text
    drawn = "Outcomes are drawn for the test that MCB is 0 and the consistency band (seed 2021)."
    assert text.endswith(drawn)
    assert describe_uncertainty(without_tests(evaluation)).endswith("Nothing is drawn at random.")
    assert text in out.getvalue().replace("\n", " ")
    assert text.replace("'", "&#39;") in render_notebook(evaluation)


def test_uncertainty_of_clusters_names_no_bands_and_no_likelihood(clustered):
    text = describe_uncertainty(clustered)
    assert re.search(r"grouped jackknife, \d+ buckets of clusters", text)
    assert "on log-odds with its errors" in text
    assert "errors from the buckets" in text
    assert "Bands" not in text


def test_sections_without_content_are_left_out(described):
    names = [section["name"] for section in described["sections"]]
    assert {"recalibration", "scale", "retention"}.isdisjoint(names)
    assert {"calibration", "comparison", "groups", "time", "certificate", "limitations"} <= set(names)
    by_name = {section["name"]: section for section in described["sections"]}
    assert list(by_name["comparison"]["parts"]) == ["differences"]
    numbers = [part["name"] for section in described["sections"] for part in section["parts"].values()]
    tables = [name for name in numbers if name.startswith("Table")]
    assert tables == [f"Table {number}" for number in range(1, len(tables) + 1)]
    assert all(
        part["bodies"] for s in described["sections"] for part in s["parts"].values() if "bodies" in part
    )


def test_all_links_of_the_page_have_targets(page):
    places = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= places
    assert "n/d" not in re.sub(r"(?s)<h2.*?Methods.*?</section>", "", page).replace("(n/d)", "")


def test_the_reason_for_no_certificate_is_stated(page):
    assert "No other software has recomputed the numbers of this report on these data" in page
    assert TOO_LARGE in page


def test_tables_have_no_columns_without_values(evaluation):
    heads = {table.caption.partition(" ")[0]: table.heads for table in evaluation_tables(evaluation)}
    assert heads["Distance"] == ("model", "ECE", "ECE corrected")
    assert {"p", "corrected MCB"} <= set(heads["CORP"])
    assert not any("ICI" in table.caption for table in evaluation_tables(evaluation))
    others = {t.caption.partition(" ")[0]: t for t in evaluation_tables(without_tests(evaluation))}
    assert "p" not in others["CORP"].heads
    assert not any("MCB is 0" in table.caption for table in others.values())
    for table in evaluation_tables(evaluation):
        assert all(len(row) == len(table.heads) for row in table.rows)
        assert all(any(row[place] for row in table.rows) for place in range(len(table.heads)))
    grouped = group_table("site", evaluation.groups, "95 %")
    assert "Holm's p" not in grouped.heads
    assert grouped.caption.endswith("with 95 % intervals")


def test_notes_name_all_that_an_engine_leaves_out(evaluation, clustered):
    left_out = (
        "Left out, because they need the rows in memory: smooth calibration errors, the flexible calibration "
        "curve, the interval of the ECE, recalibration, parts of miscalibration, Murphy differences, "
        "comparisons of net benefit and calibration by group."
    )
    assert left_out in evaluation.notes
    assert left_out in clustered.notes
    assert not any("corrected ECE" in note or "probability scale" in note for note in evaluation.notes)


def test_an_engine_says_that_it_leaves_the_probability_scale_out():
    asked = evaluate(make_frame(300), settings=EvaluationSettings(resamples=0, scale=True))
    assert "The probability scale is left out: it needs the rows in memory." in asked.notes


@pytest.mark.parametrize(
    ("columns", "note"),
    [
        (
            {"cluster": "person"},
            "The tests of miscalibration, the Hosmer-Lemeshow test, the corrected ECE, intervals at "
            "thresholds and all bands are left out: they need independent rows.",
        ),
        (
            {"weight": "w"},
            "The tests of miscalibration, the Hosmer-Lemeshow test, the corrected ECE and all bands of the "
            "reliability curve are left out: they need rows without weights, or frequency weights.",
        ),
    ],
)
def test_weights_and_clusters_leave_out_what_the_notes_name(columns, note):
    found = evaluate(make_frame().assign(w=lambda f: 1 + np.arange(len(f)) % 3), **columns)
    assert note in found.notes
    model = found.models[0]
    assert model.bands == ()
    assert model.scores.miscalibration_tests == ()
    assert model.calibration.binned.corrected is None
    assert "Hosmer-Lemeshow" not in {test.name for test in model.calibration.tests}
    has_interval = np.isfinite(model.thresholds[0].intervals[0].lower)
    assert has_interval == ("thresholds" not in note)


def test_methods_name_the_engine_and_every_interval(evaluation):
    entries = entries_of(evaluation)
    of_engine = entries["Rows sorted on disk (DuckDB)"]
    assert "sorted the rows of each model by forecast, on disk" in of_engine["convention"]
    assert "relative difference 1e−12" in of_engine["convention"]
    assert "approximate" not in of_engine["convention"]
    jackknife = entries["Grouped jackknife over buckets"]
    buckets = r"39\d buckets of rows"
    sentences = rf"skills\. {buckets}\. {buckets}, score interval of Newcombe's shape\. Groups"
    assert re.search(sentences, jackknife["convention"])
    assert "Groups and periods have at most 100 buckets." in jackknife["convention"]
    assert jackknife["reference"].startswith("Efron, Tibshirani (1993); Shao, Wu (1989)")
    assert "Pointwise consistency band, 90 % (continuous)" in entries
    assert "Simultaneous confidence band, 90 % (honest)" in entries
    assert "Wilson interval of a rate" in entries
    assert {"Difference of scores or AUCs", "Difference of MCB or DSC"} <= entries.keys()
    assert entries["Corrected MCB and corrected DSC, with intervals"]["formula"].startswith("C − O ± z se")
    families = [
        family["title"] for family in describe_methods_section(report_on(evaluation)).content["families"]
    ]
    assert families[0] == "How the rows were read"
    assert "Subgroups" in families


def test_methods_of_clusters_sum_over_buckets(clustered):
    entries = entries_of(clustered)
    assert entries["Spiegelhalter’s z"]["formula"].endswith("over a bucket, w its share of the cases")
    assert entries["Calibration in the large"]["formula"].endswith("over a bucket, w its share of the cases")
    assert entries["Unreliability"]["formula"].startswith("χ² = dᵀV⁻¹d")
    assert "buckets of clusters" in entries["Calibration line"]["convention"]
    assert not any("band" in name for name in entries)
    section = describe_methods_section(report_on(clustered))
    assert "Intervals have a confidence level of 95 %." in section.content["conventions"]
    assert any("assigned to buckets as a whole" in text for text in section.content["conventions"])
    assert_no_foreign_terms(read_texts(dict(section.content)), FOREIGN_TO_CLUSTERS)


def test_spark_is_named_as_the_engine(evaluation):
    drawn = replace(evaluation, settings=replace(evaluation.settings, engine="spark"))
    facts = {f["label"]: f["text"] for f in describe_provenance_section(report_on(drawn)).content["facts"]}
    assert (facts["Engine"], facts["Seed"]) == ("Spark, rows sorted on a cluster", "2021")
    spark = without_tests(drawn)
    assert "Rows sorted on a cluster (Spark)" in entries_of(spark)
    provenance = describe_provenance_section(report_on(spark))
    facts = {fact["label"]: fact["text"] for fact in provenance.content["facts"]}
    assert facts["Engine"] == "Spark, rows sorted on a cluster; nothing is drawn at random"
    assert "Seed" not in facts
    assert provenance.content["is_spark"]


def test_approximations_for_many_forecasts_are_described(evaluation):
    model = evaluation.models[0]
    many = replace(model, forecasts=replace(model.forecasts, n_distinct=MOST_DISTINCT + 1))
    entry = next(list_engine_methods(replace(evaluation, models=(many,))))
    assert (
        "With more than 65,536 distinct forecasts, the density f in a continuous band" in entry["convention"]
    )
    assert entry["convention"].endswith("is computed from at least 16,384 cells of about equal count.")


def old_page(evaluation):
    return render_html("report.html", describe_report(in_full(report_on(without_tests(evaluation)))))


def test_bands_are_described_as_drawn(evaluation, clustered, page):
    content = describe_calibration_section(report_on(evaluation)).content
    assert content["has_band"]
    assert content["has_outline"]
    assert "simultaneous consistency band" in page
    old = describe_calibration_section(report_on(without_tests(evaluation))).content
    assert not old["has_outline"]
    assert "simultaneous confidence band, which is not drawn" in old_page(evaluation)
    for shown, left in (
        (content, "The reliability curve leaves the 90 % simultaneous consistency band in "),
        (old, "The diagonal leaves the 90 % simultaneous confidence band in "),
    ):
        _, steep = shown["verdicts"]
        assert any(reason.startswith(left) for reason in steep.reasons)
    without = describe_calibration_section(report_on(clustered))
    assert without.content["why_no_band"].startswith("There are no bands here")
    assert without.parts["reliability"]["caption"].startswith("CORP reliability diagrams. Thick segments")


def test_findings_judge_calibration_by_the_test(evaluation):
    found = {
        f.text.partition(" ")[0]: f
        for f in list_report_findings(report_on(evaluation))
        if f.see == "reliability"
    }
    assert re.match(
        r"No evidence that a is miscalibrated \(p = 0\.\d+, adjusted for 2 models 0\.\d+; c", found["No"].text
    )
    assert found["b"].text.startswith("b is miscalibrated (p = 0.00")


def test_findings_judge_calibration_by_the_line_without_a_test(evaluation):
    found = {
        f.text.partition(" ")[0]: f
        for f in list_report_findings(report_on(without_tests(evaluation)))
        if f.see == "reliability"
    }
    calibrated, steep = found["No"], found["b"]
    assert calibrated.text.startswith("No evidence that a is miscalibrated (test of slope and intercept, p")
    assert "corrected MCB" in calibrated.text
    assert calibrated.tone == "plain"
    assert steep.text.startswith("b is miscalibrated (test of slope and intercept, p < 0.001")
    assert " than forecast; " in steep.text
    assert steep.tone == "open"


def test_findings_use_the_band_where_the_line_shows_nothing(evaluation):
    evaluation = without_tests(evaluation)
    first, second = evaluation.models
    bands = replace(evaluation, models=(replace(first, bands=second.bands, segments=None),))
    finding = next(f for f in list_report_findings(report_on(bands)) if f.see == "reliability")
    assert finding.text.startswith("Whether a is miscalibrated is open (test of slope and intercept, p = ")
    assert ": the confidence band excludes the diagonal; between " in finding.text
    assert describe_method_line(evaluation).endswith("Rows are taken as independent, in time as well.")
    assert finding.tone == "open"


def test_findings_where_no_line_fits():
    frame = make_frame(400).assign(a=lambda f: np.where(f.y == 1, 1.0, f.a))
    evaluation = without_tests(evaluate(frame, forecasts=("a",)))
    report = report_on(evaluation, "[limits]\ncalibration_slope = {min = 0.5, max = 2}")
    finding = next(f for f in list_report_findings(report) if f.see == "reliability")
    assert finding.text.startswith("Whether a is miscalibrated is open (corrected MCB 0.")
    (judgement,) = report.judgements
    assert judgement.verdict is LimitVerdict.INCONCLUSIVE
    assert "cannot be judged" in judgement.sentence
    assert "exactly 0 or 1 and have infinite log-odds" in judgement.sentence


def test_limits_are_judged_as_before(evaluation):
    judgements = judge(evaluation, parse_configuration(LIMITS).limits)
    assert {j.measure for j in judgements} == {
        *("brier", "brier_miscalibration", "roc_auc_skill", "calibration_slope", "prevalence")
    }
    assert all(j.verdict is LimitVerdict.PASS and np.isfinite([j.lower, j.upper]).all() for j in judgements)
    assert {j.group for j in judgements} == {"", "site = north", "site = south"}


def test_a_limit_on_the_line_needs_intervals():
    none = evaluate(make_frame(300), settings=EvaluationSettings(resamples=0))
    with pytest.raises(UsageError, match=r"`limits\.calibration_slope` needs the calibration line"):
        report_on(none, "[limits]\ncalibration_slope = {min = 0.5, max = 2}")


def test_a_report_without_intervals():
    none = evaluate(make_frame(300), settings=EvaluationSettings(resamples=0), groups="site", engine="spark")
    entries = entries_of(none)
    assert "Rows sorted on a cluster (Spark)" in entries
    assert not any("jackknife" in name for name in entries)
    assert not any(
        "random" in text for text in describe_methods_section(report_on(none)).content["conventions"]
    )
    assert describe_uncertainty(none) == ""
    assert not describe_calibration_section(report_on(none)).content["why_no_band"]


def test_checklists_state_why_nothing_was_recalibrated(evaluation):
    section = describe_checklists_section(report_on(evaluation, LIMITS), ["methods", "performance"], {})
    lines = {line["number"]: line for line in section.content["lists"][1]["lines"]}
    assert lines["19"]["reason"] == (
        "the report has no section recalibration; recalibration can be tried only on rows in memory"
    )
    assert_no_foreign_terms(read_texts(dict(section.content)))


def test_a_document_of_an_engine_is_read_back(evaluation, tmp_path):
    path = tmp_path / "results.json"
    path.write_text(evaluation.to_json())
    again = Evaluation.from_json(path)
    assert again.settings.engine == "duckdb"
    assert entries_of(again) == entries_of(evaluation)
    assert again.sha256 == evaluation.sha256  # or `report --from` refuses the document


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    "frame",
    [
        make_frame(60).assign(y=1),
        make_frame(60).assign(a=0.4, b=0.5),
        make_frame(12),
        make_frame(120).assign(site=lambda f: [f"s{row // 2}" for row in range(len(f))]),
    ],
    ids=["one outcome", "one forecast", "few rows", "many groups"],
)
def test_unusual_data_give_a_page(frame):
    odd = evaluate(frame, groups="site", settings=EvaluationSettings(smallest_group=2), positive=1)
    described = describe_report(in_full(report_on(odd)))
    assert_no_foreign_terms(read_texts(described))
    assert render_html("report.html", described)


@pytest.mark.sweep
def test_an_audit_is_compared_without_predictions():
    snapshots = [take_snapshot_of(month, seed) for month, seed in ((1, 5), (2, 6))]
    trend = find_drift(snapshots[1][1], [snapshots[0][1]], audits=12, alpha=0.05, looks=12)
    assert {drift.measure for drift in trend.drifts} == {
        *("prevalence", "brier", "brier_miscalibration", "forecasts")
    }
    others = [name for name in SECTION_NAMES if name not in {"trend", "checklist"}]
    configuration = parse_configuration(f"[report]\nomit = {others}")
    report = build_report(snapshots[1][0], Provenance(time=TIME), configuration=configuration, trend=trend)
    page = render_html("report.html", describe_report(in_full(report)))
    assert "Miscalibration is overfit-corrected, in closed form; for audits whose rows were in memory" in page
    assert "by the one of two estimates of the overfit that" not in page


def take_snapshot_of(month, seed):
    """An evaluation of 600 rows as the audit of a month, and its snapshot."""
    frame = make_frame(600, seed)
    audited = evaluate(frame, forecasts=("a",), settings=EvaluationSettings())
    engine = ArrayEngine(sr.read_predictions(frame, outcome="y", forecasts=["a"]))
    object.__setattr__(audited, "_tallies", tally_forecasts(engine))
    period = Period(label=f"2026-0{month}", start=f"2026-0{month}-01", end=f"2026-0{month + 1}-01")
    return audited, take_snapshot(audited, period, time=f"2026-0{month + 1}-01T00:00:00+00:00")


# ---- The formulas of the text, computed in a few lines, against the engine ----


@pytest.fixture(scope="module")
def buckets():
    """Rows with their buckets, and the digests of both models."""
    frame = make_frame(700)
    engine = ArrayEngine(sr.read_predictions(frame, outcome="y", forecasts=["a", "b"]))
    digests = digest_models(engine, replace(EvaluationSettings(), engine="duckdb"))
    return frame, engine.bucket, digests


def leave_one_out(values, bucket):
    """(G − 1)/G Σ (T₋g − mean T₋g)² of a mean T."""
    left = np.array([values[bucket != g].mean() for g in np.unique(bucket)])
    return np.sqrt((len(left) - 1) / len(left) * ((left - left.mean()) ** 2).sum()), len(left)


def test_formula_of_the_grouped_jackknife(buckets):
    frame, bucket, (first, second) = buckets
    score = (frame.a - frame.y).to_numpy() ** 2
    error, size = leave_one_out(score, bucket)
    assert ENGINE_CATALOGUE["grouped jackknife"].formula.startswith(
        "T ± z se, se² = (G − 1)/G Σ (T₋g − mean T₋g)²"
    )
    assert first.buckets.error(lambda without: without.mean("score", 0)) == pytest.approx(error, rel=1e-9)
    assert first.buckets.error_distribution == ErrorDistribution(size - 1)
    difference, _ = leave_one_out(score - (frame.b - frame.y).to_numpy() ** 2, bucket)
    other = second.buckets
    paired = first.buckets.error(lambda w: w.mean("score", 0) - other.without.mean("score", 0))
    assert paired == pytest.approx(difference, rel=1e-9)


def test_formula_of_the_error_of_the_auc(buckets):
    frame, bucket, (first, _) = buckets
    a, y = frame.a.to_numpy(), frame.y.to_numpy() == 1
    wins = (a[y][:, None] > a[~y]) + 0.5 * (a[y][:, None] == a[~y])
    share = np.empty(len(a))
    share[y], share[~y] = wins.mean(axis=1), wins.mean(axis=0)
    auc = wins.mean()
    moved = (share - auc) / np.where(y, y.sum(), (~y).sum())
    u = [np.bincount(bucket, weights=moved * of_class)[np.unique(bucket)] for of_class in (y, ~y)]
    np.testing.assert_allclose(first.buckets.auc_influence, u, atol=1e-12)
    sizes = [len(np.unique(bucket[of_class])) for of_class in (y, ~y)]
    error = sum((part**2).sum() * size / (size - 1) for part, size in zip(u, sizes, strict=True)) ** 0.5
    known = score_digest(first, infers=True, halves=0).score("roc_auc").interval
    assert known.standard_error == pytest.approx(error, rel=1e-9)
    assert first.fit.auc == pytest.approx(auc, rel=1e-12)


def test_formula_of_the_closed_overfit(buckets):
    frame, bucket, (first, _) = buckets
    blocks = first.digest.blocks
    rate, w = blocks.mean, np.where(blocks.x_min == blocks.x_max, 1.0, 1.5)
    overfit = (w * rate * (1 - rate)).sum() / len(frame)
    fitted = np.interp(frame.a, *blocks.corners)
    gain = ((frame.a - frame.y) ** 2 - (fitted - frame.y) ** 2).to_numpy()
    error, size = leave_one_out(gain, bucket)
    known = score_digest(first, infers=True, halves=0).component("brier", "miscalibration")
    assert known.overfit_resampled == known.overfit_closed == pytest.approx(overfit, rel=1e-9)
    assert known.standard_error == pytest.approx(error, rel=1e-9)
    assert known.corrected == pytest.approx(max(0, gain.mean() - overfit))
    reach = ErrorDistribution(size - 1).critical_value(0.95) * error
    assert known.upper == pytest.approx(gain.mean() - overfit + reach)


def test_catalogue_of_engines_can_be_printed():
    texts = [text for formula in ENGINE_CATALOGUE.values() for text in astuple(formula)]
    texts += [*SYMBOLS_OF_BUCKETS, *SYMBOLS_OF_BUCKETS.values()]
    assert all(covers(character) for character in set("".join(texts)) - {" "})
    assert all("--" not in text and " - " not in text for text in texts)


def test_intervals_of_very_many_rows_do_not_look_empty(evaluation):
    sample = evaluation.data.sample
    narrow = replace(sample.prevalence_interval, lower=0.39971, upper=0.40032)
    many = replace(
        evaluation, data=replace(evaluation.data, sample=replace(sample, prevalence_interval=narrow))
    )
    assert percent_interval_text(narrow) == "[39.97, 40.03]"
    assert "The prevalence is known to about ± 0.03 percentage points." in describe_size(many)


def test_an_area_has_as_many_decimals_as_its_interval_needs(evaluation):
    first, *others = evaluation.models
    *scores, area = first.scores.scores
    close = replace(area, value=0.83331, interval=replace(area.interval, lower=0.83312, upper=0.8334))
    changed = replace(first, scores=replace(first.scores, scores=(*scores, close)))
    found = [
        f.text
        for f in list_report_findings(report_on(replace(evaluation, models=(changed, *others))))
        if f.see == "auc"
    ]
    assert "a 0.8333 [0.8331, 0.8334]" in found[0]
