"""The summary: which findings it keeps, what it advises, its verdict, its matrix of limits, its channels."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_tools import TIME, read_pages, words_of

import scorereport as sr
from scorereport.channels.mail import EmailTable, compose_email
from scorereport.channels.notification import Notification, SecretReader
from scorereport.channels.notification_texts import describe_outcome
from scorereport.cli.audit_commands import _summarize_record
from scorereport.configuration import parse_configuration
from scorereport.configuration.judgement import judge_limits
from scorereport.configuration.section_choice import SectionChoice
from scorereport.report.assembly import describe_report
from scorereport.report.finding_records import (
    DO_NOT_DECIDE,
    DO_NOT_USE,
    MODELS,
    Consequence,
    Finding,
    choose_findings,
    list_actions,
)
from scorereport.report.findings import list_report_findings
from scorereport.report.pdf import render_pdf
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import Report, build_report
from scorereport.report.sections import list_sections
from scorereport.report.summary_layout import fit_summary
from scorereport.report.summary_page import describe_verdict_sentence, summarize_report
from scorereport.report.tables.limit_tables import (
    arrange_limits,
    limit_matrix_table,
    make_limit_matrix,
    make_limits_table,
)
from scorereport.report.templates import render_html

N = 900
TRUTH = np.random.default_rng(21).uniform(0.02, 0.98, N)
NAMES = [f"m{place}" for place in range(1, 7)]


def make_frame():
    shift = {name: np.clip(TRUTH + 0.04 * place, 0.001, 0.999) for place, name in enumerate(NAMES)}
    site = np.where(np.arange(N) % 2, "east", "west")
    outcome = np.random.default_rng(22).random(N) < TRUTH
    return pd.DataFrame({"y": outcome.astype(int), **shift, "site": site})


@pytest.fixture(scope="module")
def many():
    """Six models, each with larger forecasts than the one before, in two groups."""
    return sr.evaluate(make_frame(), outcome="y", forecasts=NAMES, groups="site", resamples=200)


def report_of(evaluation, limits):
    report = Report(evaluation=evaluation, provenance=Provenance(time=TIME))
    return replace(report, judgements=judge_limits(evaluation, limits))


def make_finding(consequence, text="", **options):
    return Finding(text=text or consequence.name, see="", consequence=consequence, **options)


# ---- Findings and actions ----


def test_the_gravest_findings_are_chosen_and_keep_their_order():
    every = [make_finding(consequence) for consequence in Consequence]
    assert choose_findings(every, 5) == tuple(every[:5])
    assert choose_findings(every, 99) == tuple(every)


def test_findings_that_every_reader_asks_for_are_always_chosen():
    every = [make_finding(consequence) for consequence in Consequence]
    last = replace(every[-1], is_kept=True)
    assert choose_findings([*every[:-1], last], 4) == (*every[:3], last)


def test_one_consequence_does_not_fill_the_page():
    breaches = [make_finding(Consequence.BREACHED_LIMIT, str(place)) for place in range(5)]
    drift = make_finding(Consequence.DRIFT)
    assert choose_findings([*breaches, drift], 3) == (*breaches[:2], drift)
    assert choose_findings([*breaches, drift], 5) == (*breaches[:4], drift)


def test_the_same_action_is_stated_once_for_all_its_models():
    found = [
        make_finding(Consequence.BREACHED_LIMIT, model="a", action=DO_NOT_USE),
        make_finding(Consequence.WORSE_THAN_NO_MODEL, model="a", action=DO_NOT_USE),
        make_finding(Consequence.WORSE_THAN_NO_MODEL, model="b", action=DO_NOT_USE),
        make_finding(Consequence.RESULT, model="c"),
        make_finding(Consequence.POSSIBLE_GAIN, model="c", action=f"Recalibrate {MODELS}."),
    ]
    assert list_actions(found) == ["Do not use a and b in the present form.", "Recalibrate c."]


def test_a_model_that_must_not_be_used_is_not_kept_from_decisions_too():
    unused, undecided = (Finding(text="t", see="", model="a", action=a) for a in (DO_NOT_USE, DO_NOT_DECIDE))
    assert list_actions([unused, undecided]) == ["Do not use a in the present form."]
    other = replace(undecided, model="b")
    assert list_actions([unused, undecided, other])[1].startswith("Do not decide by a and b at thresholds")
    assert len(list_actions([undecided])) == 1


@pytest.mark.parametrize("profile", ["standard", "full"])
def test_findings_without_room_are_in_their_sections(many, profile):
    report = report_of(many, {"brier": {"fail": 0.05}, "roc_auc": {"fail": 0.99}})
    report = report.with_sections(SectionChoice(profile=profile))
    page = render_html("report.html", describe_report(report))
    summary = page[page.index('<section id="summary"') :]
    inside = words_of(summary[: summary.index("</section>")])
    text = words_of(page)
    findings = list_report_findings(report)
    assert len(findings) > 7
    for finding in findings:
        most = 2 if "calibrated" in finding.text else 1  # its section states a verdict with its reasons
        assert 1 <= text.count(" ".join(finding.text.split())) <= most, finding.text
    assert sum(finding.text in inside for finding in findings) <= 7


def test_the_shortest_report_counts_the_findings_that_it_does_not_state(many):
    report = report_of(many, {"brier": {"fail": 0.05}, "roc_auc": {"fail": 0.99}})
    short = report.with_sections(SectionChoice(profile="summary"))
    more = len(list_report_findings(report)) - len(fit_summary(short).page.findings)
    assert f"The standard report has {more} more findings." in words_of(
        render_html("report.html", describe_report(short))
    )


# ---- Verdict, and fitness for use ----


def test_a_verdict_that_only_groups_have_is_stated_so(many):
    scores = {group.label: group.models[0].score("brier").value for group in many.groups}
    interval = many.models[0].scores.score("brier").interval
    report = report_of(many, {"brier": {"fail": interval.upper + 1e-9}, "groups": True})
    own = [j for j in report.judgements if j.model == "m1"]
    assert len(scores) == 2
    assert {j.verdict for j in own if not j.group} == {"pass"}
    verdicts = {j.verdict for j in own if j.group} - {"pass"}
    assert verdicts  # a group is worse than all cases, whose interval just meets the limit
    tone, _, sentence = describe_verdict_sentence(own)
    assert "limits on groups" in sentence
    assert tone in ("open", "bad")
    page = summarize_report(replace(report, judgements=tuple(own)))
    assert page.fitness[0] == "On all cases: 1 pass."


@pytest.mark.parametrize(
    ("limit", "sentence", "fitness"),
    [
        ({"fail": 0.9}, "Pass: the limit is met", "Fit for use by the limits: m1."),
        ({"fail": 0.001}, "Fail: the limit is breached", "Not fit for use: m1 (the only limit breached)."),
        (
            {"warn": 0.001, "fail": 0.9},
            "Warning: the limit is met, but without the required margin",
            "Fit for use by the limits, with a warning: m1 (the only limit without margin).",
        ),
    ],
)
def test_one_limit_is_judged_without_numbers(many, limit, sentence, fitness):
    judgements = tuple(j for j in report_of(many, {"brier": limit}).judgements if j.model == "m1")
    page = summarize_report(replace(report_of(many, {"brier": limit}), judgements=judgements))
    assert (page.verdict, page.fitness) == (sentence, (fitness,))


def test_models_are_fit_open_or_not_fit(many):
    values = [model.scores.score("brier").interval for model in many.models]
    between = (values[0].upper + values[-1].lower) / 2
    assert values[0].upper < between < values[-1].lower
    fitness = " ".join(summarize_report(report_of(many, {"brier": {"fail": between}})).fitness)
    assert "Fit for use by the limits: m1" in fitness
    assert "Not fit for use: " in fitness
    assert fitness.index("m1") < fitness.index("m6")


# ---- What is missing ----


def test_rows_that_were_dropped_are_missing():
    frame = make_frame()
    frame.loc[:9, "m1"] = np.nan
    evaluation = sr.evaluate(frame, outcome="y", forecasts=["m1"], missing="drop", resamples=0)
    missing = summarize_report(report_of(evaluation, {})).missing
    assert "Left out: 10 of 900 rows." in missing
    assert missing[0] == (
        "Not examined: uncertainty (no intervals were requested); differences between groups (no column of "
        "groups); changes in time (no column of times)."
    )


def test_what_people_stated_is_not_missing(many):
    stated = (
        '[model]\nintended_use = "x"\n[text]\nlimitations = "x"\n[people]\napprover = "x"\n'
        "[limits]\nbrier = 0.3\n"
    )
    report = build_report(many, Provenance(time=TIME), configuration=parse_configuration(stated, "a.toml"))
    missing = summarize_report(report).missing
    assert not any(sentence.startswith("Not stated") for sentence in missing)
    bare = summarize_report(build_report(many, Provenance(time=TIME)))
    assert "Not stated: limits, the intended use, limitations and the approver." in bare.missing


# ---- The matrix of limits ----

#: More limits than the matrix has rows; the last are breached.
LIMITS = {
    "brier": {"fail": 0.9},
    "log_loss": {"fail": 9},
    "brier_skill": {"fail": -9},
    "spherical": {"fail": 0.9},
    "brier_miscalibration": {"fail": 0.9},
    "calibration_slope": {"min": 0.01, "max": 90},
    "calibration_intercept": {"min": -90, "max": 90},
    "misclassification": {"fail": 0.9},
    "roc_auc": {"fail": 0.9999},
    "brier_discrimination": {"fail": 0.9},
}


def test_the_matrix_shows_the_worst_limits_of_the_best_models(many):
    report = report_of(many, LIMITS)
    matrix = make_limit_matrix(report, 8)
    assert [head["text"] for head in matrix["heads"]] == ["limit on", "limit", "m1", "m2", "m3", "m4"]
    labels = [row["cells"][0]["text"] for row in matrix["bodies"][0]["rows"]]
    assert len(labels) == 9
    assert {"AUC", "verdict"} <= set(labels)
    assert any("DSC" in label for label in labels)
    assert "28 more verdicts on all cases in the section on limits" in matrix["caption"]
    rest = make_limits_table(report, 8)
    assert len(rest["bodies"][0]["rows"]) == 28


def test_every_verdict_is_in_the_matrix_or_in_the_table(many):
    report = report_of(many, {"brier": {"fail": 0.2}, "prevalence": {"min": 0.1}, "groups": True})
    matrix = arrange_limits(report.judgements, ["m1", "m2", "m3", "m4"])
    assert len(matrix.judgements) == 4
    assert [judgement.measure for judgement in matrix.on_data] == ["prevalence"]
    rows = make_limits_table(report, 8)["bodies"][0]["rows"]
    assert len(rows) == len(report.judgements) - 5
    note = make_limit_matrix(report, 8)["bodies"][0]["note"]
    assert note.startswith("Data: ✓ prevalence ")
    assert note.endswith("(limit ≥ 10 %).")


def test_limits_on_the_data_alone_have_a_column(many):
    table = limit_matrix_table(arrange_limits(report_of(many, {"prevalence": {"min": 0.1}}).judgements))
    assert table.heads == ("limit on", "limit", "data")
    assert table.rows[0][:2] == ("prevalence", "≥ 10 %")
    assert table.rows[-1] == ("verdict", "all limits", "pass")


def test_limits_are_shown_as_they_were_set(many):
    limits = {"brier": {"warn": 0.205, "fail": 0.21}, "calibration_slope": {"min": 0.8, "max": 1.25}}
    limits |= {"brier_skill": {"warn": 0.1}, "log_loss": {"fail": 10}}
    table = limit_matrix_table(arrange_limits(report_of(many, limits).judgements))
    shown = {row[0]: row[1] for row in table.rows}
    assert shown["Brier score"] == "≤ 0.21, warn 0.205"
    assert shown["calibration slope"] == "≥ 0.8, ≤ 1.25"
    assert shown["skill in the Brier score"] == "warn ≥ 10 %"
    assert shown["Log score"] == "≤ 10"


# ---- Notifications ----


def test_an_email_prints_the_summary(many):
    page = summarize_report(report_of(many, {"brier": {"fail": 0.01}})).to_texts()
    summary = {
        name: getattr(page, name) if name == "verdict" else list(getattr(page, name))
        for name in ("verdict", "fitness", "findings", "actions", "missing", "basis")
    }
    outcome = {
        "subject": "loans 2026-10: fail",
        "text": "",
        "findings": page.findings[:3],
        "link": "https://audits.example.com/audits/loans.html",
        "audit": "loans",
        "period": {"label": "2026-10", "start": "2026-10-01", "end": "2026-11-01"},
        "as_of": "2026-11-15",
        "status": "fail",
        "exit_code": 1,
        "reason": "",
        "summary": summary,
        "judgements": ["A sentence that the summary replaces."],
        "drifts": [],
        "record": None,
        "head": None,
        "files": [],
    }
    outcome["text"] = describe_outcome(outcome)
    table = EmailTable(host="mail", sender="a@b.c", recipients=("d@e.f",))
    email, _ = compose_email(
        table, Notification(outcome=outcome, files=()), SecretReader(lambda text, _: text)
    )
    text = email.get_content()
    assert "A sentence that the summary replaces." not in text
    for sentence in (page.verdict, *page.fitness, *page.findings[:3], *page.actions, *page.missing):
        assert sentence in text
    assert len(page.findings) > 4
    assert not [sentence for sentence in page.findings[3:] if sentence in text]
    assert f"{len(page.findings) - 3} more findings in the report." in text
    titles = (page.verdict, "Findings:", "Report: https", "What to do:", "What is missing:")
    places = [text.index(title) for title in titles]
    assert places == sorted(places)
    assert json.loads(Notification(outcome=outcome, files=()).body)["summary"] == summary


# ---- One page ----

MANY_LIMITS = """
[report]
omit = [{omitted}]
[limits]
brier = {{warn = 0.2, fail = 0.21}}
brier_skill = {{warn = 0.05, fail = 0.0}}
brier_miscalibration = {{warn = 0.002, fail = 0.01}}
log_loss = 0.6
roc_auc = {{warn = 0.70, fail = 0.60}}
calibration_slope = {{min = 0.8, max = 1.25}}
calibration_intercept = {{min = -0.2, max = 0.2}}
ici = 0.05
ks = 0.3
prevalence = {{min = 0.05, max = 0.4}}
groups = true
"""
LONG_NAME = "A model with a long name that a bank has given it, version 12.3.4, mortgages, " + 40 * "x"


@pytest.mark.sweep
@pytest.mark.parametrize(
    "names", [NAMES, [LONG_NAME, f"{LONG_NAME} again"]], ids=["six models", "long names"]
)
def test_the_summary_of_many_limits_and_names_is_one_page(names):
    frame = make_frame().rename(columns=dict(zip(NAMES, names, strict=False)))
    evaluation = sr.evaluate(frame, outcome="y", forecasts=names, groups="site", resamples=99)
    omitted = ", ".join(f'"{s.name}"' for s in list_sections() if s.name not in ("summary", "limits"))
    configuration = parse_configuration(MANY_LIMITS.format(omitted=omitted), "limits.toml")
    report = build_report(evaluation, Provenance(time=TIME), configuration=configuration)
    pages = read_pages(render_pdf(render_html("report.html", describe_report(report)), created=TIME))
    assert "1 Summary" in pages[1]
    assert "Intervals have a confidence level" in pages[1]  # the last lines
    assert "2 Limits" in pages[2]
    fitted = fit_summary(report)
    assert 4 <= len(fitted.page.findings) <= 7
    shown = len(fitted.matrix["bodies"][0]["rows"]) - 1
    assert shown == fitted.most_limits < 9


def test_a_summary_with_room_shows_all_limits(many):
    fitted = fit_summary(report_of(many, {"brier": {"fail": 0.9}, "roc_auc": {"fail": 0.1}}))
    assert fitted.most_limits == 8
    assert len(fitted.matrix["bodies"][0]["rows"]) == 3


def test_a_record_without_summary_is_printed_with_its_limits_and_drifts(many):
    judgements = report_of(many, {"brier": {"fail": 0.01}}).judgements
    drifts = (SimpleNamespace(sentence="It rose.", has_drifted=True), SimpleNamespace(has_drifted=False))
    texts = _summarize_record(SimpleNamespace(judgements=judgements, drifts=drifts))
    assert texts.verdict == "Fail: 6 of 6 limits are breached."
    assert texts.findings == (*(judgement.sentence for judgement in judgements), "It rose.")
