"""The annex of checklists: sections and pages of the profile, options, and the texts that items need."""

from __future__ import annotations

import re

import pytest
from report_tools import list_contents, make_graded_report, make_rich_report, plain, read_pages, words_of

import scorereport as sr
from scorereport.configuration import CHECKLISTS, parse_configuration
from scorereport.configuration.configuration_tables import Profile, ReportTable
from scorereport.configuration.section_choice import SectionChoice, check_section_choice, describe_options
from scorereport.errors import UsageError
from scorereport.report.assembly import plan_report
from scorereport.report.report_output import render_report
from scorereport.report.report_record import reconfigure_report
from scorereport.report.sections import list_sections
from scorereport.report.templates import render_html

LISTS = ("sr-26-2", "tripod-ai", "eu-ai-act")


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    makers = {"binary": make_rich_report, "ordinal": make_graded_report}
    return {kind: make(tmp_path_factory.mktemp(kind)) for kind, make in makers.items()}


@pytest.fixture(scope="module")
def report(reports):
    return reports["binary"]


def choose(report, profile="full", omit=None, checklists=LISTS):
    return report.with_sections(SectionChoice(profile=profile, omit=omit, checklists=checklists))


def find_section(report, name="checklist"):
    found = [section for section in plan_report(report)["sections"] if section["name"] == name]
    return found[0] if found else None


def lines_of(report):
    lists = find_section(report)["lists"]
    return {(place, line["number"]): line for place, found in enumerate(lists) for line in found["lines"]}


def render(report):
    context = plan_report(report)
    for section in context["sections"]:
        for part in section["parts"].values():
            if part.pop("planned", None) is not None:
                part |= {"src": "data:,", "width": "1", "height": "1"}
    return render_html("report.html", context)


def reconfigure(report, text):
    return reconfigure_report(report, parse_configuration(text, "x.toml"), report.provenance)


# ---- The profile at hand ----


@pytest.mark.parametrize("profile", list(Profile))
def test_a_report_has_the_annex_only_if_lists_are_chosen(report, profile):
    bare = reconfigure(report, f'[report]\nprofile = "{profile}"\n')
    assert find_section(bare) is None
    assert find_section(choose(bare, profile)) is not None
    assert find_section(choose(report, profile, checklists=())) is None
    assert find_section(choose(report, profile, omit=("checklist",))) is None


@pytest.mark.parametrize("kind", ["binary", "ordinal"])
@pytest.mark.parametrize("profile", list(Profile))
def test_items_refer_to_sections_of_the_profile_at_hand(reports, kind, profile):
    report = choose(reports[kind], profile)
    page = render(report)
    present = [name for name, _, _ in list_contents(page)]
    sections = plan_report(choose(reports[kind]))["sections"]
    full = {s["name"]: s["title"].replace("Annex: ", "annex on ") for s in sections}
    lines = lines_of(report)
    in_full = lines_of(choose(reports[kind]))
    for key, line in lines.items():
        assert set(line["sections"]) <= {*present, "cover"}
        titles = [title for title in full.values() if title in line["further"]]
        assert bool(line["further"]) == bool(titles)
        assert not {full[name] for name in present} & set(titles)
        if line["status"] == "in the full report":
            assert in_full[key]["status"] == "covered"
            assert line["further"].startswith("in the full report: ")
        if line["status"] == "covered":
            assert in_full[key]["status"] == "covered"
        if in_full[key]["status"] == "covered":
            assert line["status"] in ("covered", "in the full report")
    statuses = {line["status"] for line in lines.values()}
    assert ("in the full report" in statuses) == (profile is not Profile.FULL)


def test_a_section_of_the_full_report_is_not_missing(report):
    line = lines_of(choose(report, "summary"))[0, "V.9"]
    assert line["status"] == "in the full report"
    assert line["further"] == "in the full report: Overall performance, Calibration and Discrimination"
    assert line["reason"] == ""
    assert line["sections"] == []
    assert lines_of(choose(report, "standard"))[2, "2(g) procedures"]["further"] == (
        "in the full report: annex on methods"
    )


def test_a_section_that_was_left_out_is_missing(report):
    line = lines_of(choose(report, "summary", omit=("calibration",)))[0, "V.9"]
    assert line["status"] == "incomplete"
    assert line["reason"] == "the report has no section calibration"
    assert line["further"] == "in the full report: Overall performance and Discrimination"


def test_items_are_counted(report):
    found = find_section(choose(report))["lists"][1]
    counted = re.findall(r"(\d+) (covered|incomplete|not covered by this report)", found["counts"])
    assert found["counts"].startswith("52 items: ")
    assert sum(int(count) for count, _ in counted) == 52
    for count, status in counted:
        assert int(count) == sum(line["status"] == status for line in found["lines"])


@pytest.mark.parametrize("name", CHECKLISTS)
def test_every_list_has_a_page(report, name):
    page = render(choose(report, "summary", checklists=(name,)))
    assert "Annex: checklists" in words_of(page)
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))


@pytest.mark.sweep
@pytest.mark.parametrize("profile", list(Profile))
def test_the_pdf_names_the_page_with_the_heading(report, profile):
    omitted = ("decomposition", "scale", "coverage", "glossary", "time", "recalibration")
    chosen = choose(report, profile, omit=omitted)
    content = render_report(chosen, {".pdf"})[".pdf"]
    pages = read_pages(content)
    titles = [section["title"] for section in plan_report(chosen)["sections"]]
    start = next(i for i, text in enumerate(pages) if "This annex shows where" in text)
    references = set(re.findall(r"Section (\d+), page (\d+)", " ".join(pages[start:])))
    assert len(references) >= (4 if profile is Profile.SUMMARY else 10)
    for number, page in references:
        assert f"{number} {titles[int(number) - 1]}" in plain(pages[int(page) - 1])


# ---- Options and arguments ----


def test_the_document_stays_the_same(report):
    assert choose(report).to_json() == report.to_json()
    assert [found.name for found in choose(report).shown_checklists] == list(LISTS)
    assert [found.name for found in report.shown_checklists] == ["model-risk"]
    assert [found.name for found in choose(report).checklists] == ["model-risk"]


def test_options_render_the_same_pages(report):
    assert choose(report).section_options == "".join(f" --checklist {name}" for name in LISTS)
    assert describe_options(ReportTable(), ReportTable(checklists=())) == " --omit checklist"
    recorded = ReportTable(omit=("time",), checklists=("sr-26-2",))
    assert describe_options(recorded, ReportTable(omit=("time",), checklists=())) == (
        " --omit time --omit checklist"
    )


def test_exceptions_of_lists_that_are_not_shown_are_ignored(report):
    text = '[checklist.not_applicable]\n"tripod-ai:6c" = "No treatments."\n"eu-ai-act:2(h)" = "x"'
    lines = lines_of(choose(reconfigure(report, text), checklists=("tripod-ai",)))
    assert lines[0, "6c"]["status"] == "not applicable"


@pytest.mark.parametrize(
    ("prefix", "given", "message"),
    [
        ("", ["sr-262"], "`checklists` names a list that is not known: 'sr-262'; did you mean `sr-26-2`?"),
        (
            "--",
            ["tripod"],
            "`--checklist` names a list that is not known: 'tripod'; did you mean `tripod-ai`?",
        ),
        ("", [3], "`checklists` must be a list of names of checklists; got [3]."),
        ("", 3, "`checklists` must be a list of names of checklists; got 3."),
    ],
)
def test_wrong_names_are_refused(prefix, given, message):
    with pytest.raises(UsageError) as caught:
        check_section_choice(None, None, prefix, checklists=given)
    assert str(caught.value) == message


def test_a_name_may_be_a_text_or_a_file():
    assert check_section_choice(None, None, checklists="tripod-ai").checklists == ("tripod-ai",)
    assert check_section_choice(None, None, checklists=["own.toml"]).checklists == ("own.toml",)
    assert check_section_choice(None, None).checklists is None


def test_write_report_takes_lists_and_own_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    items = '[[items]]\nnumber = "1"\ntext = "Data"\nsections = ["data"]\n'
    (tmp_path / "own.toml").write_text(f'title = "Our list"\nsource = "Policy 3"\n{items}', encoding="utf-8")
    evaluation = sr.evaluate([0, 1, 1, 0], {"m": [0.2, 0.7, 0.8, 0.4]}, resamples=0)
    sr.write_report(evaluation, "r.html", profile="summary", checklists=["fda-pccp", "own.toml"])
    page = words_of((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "FDA: predetermined change control plan" in page
    assert "Our list" in page
    with pytest.raises(
        UsageError, match=r"^configuration: `report\.checklists` names a file that cannot be read"
    ):
        sr.write_report(evaluation, "r.html", checklists="other.toml")


# ---- Evidence and optional sections ----


def test_grades_are_evidence(reports):
    for kind, status in (("binary", "covered"), ("ordinal", "incomplete")):
        lines = lines_of(choose(reports[kind], checklists=("ecb-internal-models",)))
        assert lines[0, "CR 208–211"]["status"] == status
    assert lines[0, "CR 208–211"]["reason"] == "the data have no column of rating grades"


def test_optional_sections_are_named_if_they_are_there(report):
    lines = lines_of(choose(report))
    assert lines[0, "V.9"]["sections"][-2:] == ["decision", "decomposition"]
    lines = lines_of(choose(report, omit=("decision", "decomposition")))
    assert (lines[0, "V.9"]["status"], len(lines[0, "V.9"]["sections"])) == ("covered", 3)


# ---- Texts ----

TEXTS = """
[text]
data_quality = "Checked by <b>two</b> people.\\n\\nNo <gap>."
overrides = "3 % were `raised` & none lowered."
"""


@pytest.mark.parametrize("kind", ["binary", "ordinal"])
def test_texts_on_quality_and_overrides_are_shown(reports, kind):
    page = render(reconfigure(reports[kind], f'{TEXTS}[report]\nchecklists = ["model-risk"]\n'))
    data = page[page.index('<section id="data"') :].partition("</section>")[0]
    assert "<dt>Data quality</dt>" in data
    assert "<p>Checked by &lt;b&gt;two&lt;/b&gt; people.</p>\n<p>No &lt;gap&gt;.</p>" in data
    model = page[page.index('<section id="model"') :].partition("</section>")[0]
    assert "Overrides of forecasts" in model
    assert "3 % were <code>raised</code> &amp; none lowered." in model
    lines = lines_of(reconfigure(reports[kind], f'{TEXTS}[report]\nchecklists = ["model-risk"]\n'))
    assert [lines[0, number]["status"] for number in ("27", "28")] == ["covered", "covered"]


def test_without_texts_there_is_no_heading(report):
    page = render(reconfigure(report, "[report]\nprofile = 'full'\n"))
    assert "Data quality" not in page
    assert "Overrides of forecasts" not in page


def test_sections_of_items_come_before_the_annex():
    order = {section.name: section.order for section in list_sections()}
    from scorereport.report.checklists import read_package_checklist

    for name in CHECKLISTS:
        for item in read_package_checklist(name).items:
            for section in (*item.sections, *(item.also or ())):
                assert order.get(section, 0) < order["checklist"], (name, item.number)
