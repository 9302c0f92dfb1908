"""Profiles: how much a report contains, how it is chosen, and what a shorter report says about the rest."""

from __future__ import annotations

import html
import re
from importlib import import_module

import pytest
from artefact_tools import make_once, shared_folder
from report_tools import list_contents, make_graded_report, make_rich_report, read_pages, words_of

import scorereport as sr
from scorereport.configuration import parse_configuration, read_configuration
from scorereport.configuration.configuration_tables import Profile
from scorereport.configuration.section_choice import SectionChoice, check_section_choice
from scorereport.errors import UsageError
from scorereport.report.assembly import plan_report
from scorereport.report.provenance import Provenance
from scorereport.report.report_output import render_report
from scorereport.report.report_record import build_report, read_report
from scorereport.report.sections import list_sections
from scorereport.report.templates import render_html

TIME = "2026-11-15T07:30:12+00:00"
SUMMARY = {"summary", "conclusion", "limitations", "provenance", "sign-off", "checklist"}
STANDARD = {"model", "data", "limits", "performance", "calibration", "discrimination", "decision"}
STANDARD |= SUMMARY | {"reference", "missing-outcomes", "comparison", "groups", "recalibration", "trend"}


def choose(report, profile=None, omit=None):
    return report.with_sections(SectionChoice(profile=profile, omit=omit))


def render(report, profile, omit=None):
    return render_context(plan_report(choose(report, profile, omit)))


def render_context(context):
    """The page with empty figures, which take long to draw."""
    for section in context["sections"]:
        for part in section["parts"].values():
            if part.pop("planned", None) is not None:
                part |= {"src": "data:,", "width": "1", "height": "1"}
    return render_html("report.html", context)


def list_gaps(page):
    """The texts in which a reference to an absent part leaves a gap."""
    texts = re.findall(r"<(?:p|li|dd)\b[^>]*>(.*?)</(?:p|li|dd)>", page, re.DOTALL)
    plain = [html.unescape(re.sub(r"<[^>]+>", "", text)) for text in texts]
    return [text for text in plain if re.search(r"\w {2,}\w|\( ?\)|\bin [.,;]|^ (?:shows|gives|and)\b", text)]


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    makers = {"binary": make_rich_report, "ordinal": make_graded_report}
    return {kind: make(tmp_path_factory.mktemp(kind)) for kind, make in makers.items()}


@pytest.fixture(scope="module")
def report(reports):
    return reports["binary"]


def test_each_section_is_in_the_reports_of_its_profile():
    names = {profile: {s.name for s in list_sections() if profile.contains(s.profile)} for profile in Profile}
    assert names[Profile.SUMMARY] == SUMMARY
    assert names[Profile.STANDARD] == STANDARD
    assert names[Profile.FULL] == {s.name for s in list_sections()}


def test_results_come_before_methods():
    names = [section.name for section in list_sections()]
    annexes = ["methods", "checklist", "coverage", "glossary"]
    assert names[:6] == ["summary", "model", "data", "reference", "missing-outcomes", "limits"]
    assert names[-5:] == ["sign-off", *annexes]
    assert all(s.title.startswith("Annex: ") == (s.name in annexes) for s in list_sections())


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("kind", ["binary", "ordinal"])
def test_a_page_has_the_sections_of_its_profile(reports, kind, profile):
    page = render(reports[kind], profile)
    expected = {s.name for s in list_sections() if profile.contains(s.profile)}
    shown = [name for name, _, _ in list_contents(page)]
    assert set(shown) <= expected
    assert {"summary", "provenance", "sign-off"} <= set(shown)
    assert "methods" in shown or profile is not Profile.FULL
    numbers = [number for _, number, _ in list_contents(page)]
    assert numbers == [str(place) for place in range(1, len(shown) + 1)]


def test_the_standard_report_is_the_default():
    assert parse_configuration("").report.profile == "standard"
    assert parse_configuration('[report]\nprofile = "full"').report.profile == "full"


# ---- What a shorter report says about the rest ----


@pytest.mark.parametrize("kind", ["binary", "ordinal"])
def test_the_cover_states_what_the_full_report_adds(reports, kind):
    full = {title for _, _, title in list_contents(render(reports[kind], "full"))}
    for profile in ("summary", "standard"):
        page = render(reports[kind], profile)
        missing = full - {title for _, _, title in list_contents(page)}
        (stated,) = re.findall(
            rf"This is the {profile} report\. The full report adds (.*?)(?:; it also has more figures)?\. ",
            words_of(page),
        )
        named = re.split(r", and the annexes on |, | and ", stated.lower())
        assert sorted(named) == sorted(title.removeprefix("Annex: ").lower() for title in missing)
        assert "scorereport report --from results.json --profile full renders it" in words_of(page)


def test_sections_without_content_are_not_promised(report):
    stated = " ".join(plan_report(choose(report, "summary"))["extent"])
    assert "comparison of models" in stated
    assert "retention" not in stated
    assert "earlier audits" not in stated


def test_the_full_report_states_that_it_is_full(report):
    assert plan_report(choose(report, "full"))["extent"] == ["This is the full report."]


def test_figures_of_the_full_report_are_promised(report):
    extent = plan_report(choose(report, "standard"))["extent"]
    assert extent[0].endswith("; it also has more figures.")
    keys = {key for s in plan_report(choose(report, "standard"))["sections"] for key in s["parts"]}
    more = {key for s in plan_report(choose(report, "full"))["sections"] for key in s["parts"]}
    assert {"regret", "interventions", "murphy_differences"} <= more - keys


def test_omitted_sections_are_named(report):
    page = words_of(render(report, "full", ("time", "glossary", "retention")))
    assert "Left out on request: time, and the annex on terms." in page  # there are no retention curves
    assert 'id="time"' not in render(report, "full", ("time",))


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("kind", ["binary", "ordinal"])
def test_no_sentence_refers_to_what_is_absent(reports, kind, profile):
    page = render(reports[kind], profile)
    places = set(re.findall(r'id="([^"]+)"', page))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= places
    assert list_gaps(page) == []


def test_a_reference_to_what_is_absent_is_found(report):
    context = plan_report(choose(report, "standard"))
    context["labels"].pop("reliability")
    (gap,) = list_gaps(render_context(context))
    assert "The curve in  shows" in gap


# ---- How a profile is chosen ----


@pytest.mark.parametrize(
    ("profile", "omit", "message"),
    [
        ("sumary", None, "`profile` names an unknown profile: 'sumary'; did you mean `summary`?"),
        (
            "zzz",
            None,
            '`profile` names an unknown profile: \'zzz\'; profiles are "summary", "standard" and "full".',
        ),
        (None, ["methds"], "`omit` names an unknown section: 'methds'; did you mean `methods`?"),
        (None, "cover", "`omit` cannot leave out 'cover': every report has it."),
        (3, None, "`profile` must be text; got 3."),
        (None, [3], "`omit` must be a list of names of sections; got [3]."),
        (None, 3, "`omit` must be a list of names of sections; got 3."),
    ],
)
def test_wrong_names_are_refused(profile, omit, message):
    with pytest.raises(UsageError) as caught:
        check_section_choice(profile, omit)
    assert str(caught.value) == message


def test_a_configuration_with_a_wrong_profile_is_refused():
    message = r"x\.toml: `report\.profile` names an unknown profile: 'ful'; did you mean `full`\?"
    with pytest.raises(UsageError, match=message):
        parse_configuration('[report]\nprofile = "ful"', "x.toml")
    with pytest.raises(UsageError, match=r"`report\.profile` must be text; got 3"):
        parse_configuration("[report]\nprofile = 3", "x.toml")


def test_the_document_is_the_same_for_all_profiles(report, tmp_path):
    forms = {profile: render_report(choose(report, profile), set()) for profile in Profile}
    assert len({form[".json"] for form in forms.values()}) == 1
    (tmp_path / "results.json").write_bytes(forms[Profile.SUMMARY][".json"])
    again = read_report(tmp_path / "results.json")
    for profile in Profile:
        assert render(again, profile) == render(report, profile)


def test_the_report_states_how_it_is_rendered_again(report):
    assert choose(report, "full").section_options == ""  # as configured
    assert choose(report, "summary", ("time",)).section_options == " --profile summary --omit time"
    page = words_of(render(report, "summary", ("conclusion",)))
    assert "scorereport report --from results.json --profile summary --omit conclusion renders" in page


@pytest.fixture
def document(report, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results.json").write_text(report.to_json(), encoding="utf-8")
    return "results.json"


def test_options_choose_the_sections(call, document, tmp_path):
    code, _, _ = call(
        *("report", "--from", document, "--profile", "summary", "--omit", "provenance"),
        *("--omit", "sign-off", "-o", "report.html", "-o", "again.json", "--quiet"),
    )
    assert code == 1  # a limit is breached
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert [name for name, _, _ in list_contents(page)] == [
        *("summary", "conclusion", "limitations", "checklist")
    ]
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / document).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--profile", "standart"],
            "`--profile` names an unknown profile: 'standart'; did you mean `standard`?",
        ),
        (["--omit", "tme"], "`--omit` names an unknown section: 'tme'; did you mean `time`?"),
    ],
)
def test_wrong_options_are_refused_before_anything_is_written(call, document, tmp_path, options, message):
    code, _, error = call("report", "--from", document, *options, "-o", "report.html")
    assert code == 2
    assert message in error
    assert not (tmp_path / "report.html").exists()
    assert call("demo", "--profile", "x")[0] == 2


def test_options_are_not_part_of_the_recorded_command(monkeypatch):
    from scorereport.cli.report_commands import describe_command

    line = [
        "scorereport",
        "report",
        "x.csv",
        "--profile",
        "full",
        "--omit",
        "time",
        "--omit=scale",
        "--seed",
        "1",
    ]
    monkeypatch.setattr("sys.argv", line)
    assert describe_command() == "scorereport report x.csv --seed 1"


def test_arguments_win_over_the_configuration(tmp_path):
    evaluation = sr.evaluate([0, 1, 1, 0] * 5, {"m": [0.2, 0.7, 0.8, 0.4] * 5}, resamples=0)
    config = {"report": {"profile": "full", "omit": ["scale"]}}
    given = {"config": config, "date": "2026-11-15"}
    path = sr.write_report(evaluation, tmp_path / "a.html", profile="summary", omit="limitations", **given)
    shown = [name for name, _, _ in list_contents(path.read_text(encoding="utf-8"))]
    assert shown == ["summary", "provenance", "sign-off"]
    path = sr.write_report(evaluation, tmp_path / "b.html", profile="summary", **given)
    assert "limitations" in [name for name, _, _ in list_contents(path.read_text(encoding="utf-8"))]
    with pytest.raises(UsageError, match="`profile` names an unknown profile"):
        sr.write_report(evaluation, tmp_path / "c.html", profile="x")


# ---- The demonstrations on paper ----


def evaluate_demo(name):
    """The report of a demonstration with few draws, and without a certificate."""
    example = import_module(f"scorereport.examples.{name}")
    predictions = example.read_demo_predictions(example.make_demo_predictions())
    evaluation = sr.evaluate(predictions, **(example.SETTINGS | {"resamples": 99}))
    return build_report(
        evaluation,
        Provenance(time=TIME),
        configuration=read_configuration(example.CONFIGURATION),
        selection=example.choose_checkpoint(),
    )


@pytest.fixture(scope="module", params=["doctor_visits", "party_identification"])
def printed(request, tmp_path_factory):
    """The PDF of each profile of a demonstration."""
    folder = shared_folder(tmp_path_factory, f"profiles of {request.param}")

    def build():
        report = evaluate_demo(request.param)
        return {p.value: render_report(choose(report, p), {".pdf"})[".pdf"] for p in Profile}

    return make_once(folder, build)


@pytest.mark.sweep
def test_reports_have_the_length_of_their_profile(printed):
    summary, standard, full = (len(read_pages(printed[profile])) for profile in Profile)
    assert 2 <= summary <= 3
    assert 8 <= standard <= 14
    assert full > 2 * standard


@pytest.mark.sweep
@pytest.mark.parametrize("profile", ["summary", "standard"])
def test_a_profile_gives_the_same_bytes_twice(report, profile):
    first, again = (render_report(choose(report, profile), {".pdf", ".html"}) for _ in range(2))
    assert first == again
