"""Checklists: what the lists that come with the package claim is true, and own lists are checked."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from scorereport.configuration import (
    CHECKLISTS,
    SECTION_NAMES,
    Configuration,
    checklist_names,
    parse_configuration,
    read_configuration,
)
from scorereport.configuration.checklist_names import list_checklist_names
from scorereport.errors import UsageError
from scorereport.report.checklists import (
    Checklist,
    ChecklistItem,
    ItemStatus,
    fill_checklist,
    parse_checklist,
    read_checklists,
    read_package_checklist,
)
from validation.checklist_page import count_answered, render_checklist_page

DOCUMENTATION_FOLDER = Path(__file__).resolve().parents[1] / "docs"
DOCUMENTATION = (DOCUMENTATION_FOLDER / "configuration.md").read_text(encoding="utf-8")
#: Domains of the evaluation part of PROBAST+AI with the number of their questions.
QUESTIONS = ((1, 3), (2, 4), (3, 4), (4, 7))
EXAMPLE, *_, OWN_LIST = re.findall(r"```toml\n(.*?)```", DOCUMENTATION, re.DOTALL)


def lines_of(name, configuration, sections=SECTION_NAMES):
    if name in CHECKLISTS:
        configuration = replace(configuration, report=replace(configuration.report, checklists=CHECKLISTS))
    (checklist,) = [found for found in read_checklists(configuration) if found.name == name]
    return {line.number: line for line in fill_checklist(checklist, configuration, sections)}


def test_all_lists_of_the_package_are_known():
    assert set(CHECKLISTS) == {
        *("ecb-internal-models", "eu-ai-act", "fda-pccp", "model-risk", "osfi-e-23", "pra-ss1-23"),
        *("probast-ai", "sr-26-2", "tripod-ai"),
    }


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", []),
        ('[report]\nprofile = "full"', []),
        ("[checklist]\nlists = []", []),
        ('[checklist]\nlists = ["eu-ai-act"]', ["eu-ai-act"]),
        ('[report]\nchecklists = ["tripod-ai", "eu-ai-act", "tripod-ai"]', ["tripod-ai", "eu-ai-act"]),
        ('[report]\nchecklists = ["sr-26-2"]\n[checklist]\nlists = ["sr-26-2"]', ["sr-26-2"]),
        ("[report]\nchecklists = []\n[checklist]\nlists = []", []),
        ('[checklist.not_applicable]\n"tripod-ai:6c" = "No treatments."', ["tripod-ai"]),
        ('[checklist.names]\neu-ai-act = "Our file"', ["eu-ai-act"]),
    ],
)
def test_a_report_has_the_lists_that_its_configuration_names(text, names):
    assert [checklist.name for checklist in read_checklists(parse_configuration(text))] == names


def test_a_list_is_declared_by_its_file(tmp_path, monkeypatch):
    folder = tmp_path / "templates" / "checklists"
    folder.mkdir(parents=True)
    (folder / "house.toml").write_text(OWN_LIST, encoding="utf-8")
    monkeypatch.setattr(checklist_names, "find_package_folder", lambda name: tmp_path / name)
    assert list_checklist_names() == ("house",)
    chosen = parse_configuration('[checklist]\nlists = ["house"]', "x.toml")
    assert [checklist.name for checklist in read_checklists(chosen)] == ["house"]


def test_tripod_has_27_items_in_52_parts():
    numbers = list(lines_of("tripod-ai", Configuration()))
    assert len(numbers) == 52
    assert list(dict.fromkeys(re.match(r"\d+", number)[0] for number in numbers)) == [
        str(number) for number in range(1, 28)
    ]


#: The numbers that the source of a list has, or their beginnings, in its order.
NUMBERS = {
    "eu-ai-act": [
        *(f"1({letter})" for letter in "abcdefgh"),
        *(f"2({letter})" for letter in "abcdefgh"),
        *"3456789",
        *("Art. 12(1)", "Art. 12(2)(a)", "Art. 12(2)(b)", "Art. 12(2)(c)", "Art. 12(3)", "Art. 19"),
    ],
    "sr-26-2": ["III.", "IV.", "V.", "VI.", "VII."],
    "pra-ss1-23": [
        f"{principle}.{part}"
        for principle, parts in ((1, 3), (2, 6), (3, 6), (4, 5), (5, 3))
        for part in range(1, parts + 1)
    ],
    "osfi-e-23": ["1.1", "1.2", "1.3", "2.1", "2.2", "2.3", *(f"3.{part}" for part in range(1, 7)), "App. 1"],
    "probast-ai": [f"E{domain}.{n}" for domain, count in QUESTIONS for n in range(1, count + 1)],
    "fda-pccp": ["VI.", "VII.", "VIII."],
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_list_has_all_numbers_of_its_source_in_order(name):
    numbers = [item.number for item in read_package_checklist(name).items]
    places = [
        next(place for place, number in enumerate(numbers) if number.startswith(start))
        for start in NUMBERS[name]
    ]
    assert places == sorted(places)


def test_the_development_part_of_probast_has_16_questions():
    numbers = [item.number for item in read_package_checklist("probast-ai").items]
    ranges = [re.fullmatch(r"D(\d)\.1–D\1\.(\d)", number) for number in numbers if number[0] == "D"]
    assert [int(found[2]) for found in ranges] == [3, 4, 4, 5]
    assert sum(number[0] == "E" for number in numbers) == 18


@pytest.mark.parametrize("name", CHECKLISTS)
def test_a_list_states_its_source_and_what_was_read(name):
    checklist = read_package_checklist(name)
    assert len(checklist.source) > 150
    assert name == "model-risk" or re.search(r"\b20\d\d\b", checklist.source)
    assert name == "model-risk" or re.search(
        r"not read|not found|complete text|read in part", checklist.source
    )
    assert not any(item.text.endswith(".") for item in checklist.items)
    assert all(item.reason.endswith(".") for item in checklist.items if item.reason)


def test_the_page_of_checklists_is_current():
    page = DOCUMENTATION_FOLDER / "checklists.md"
    assert page.read_text(encoding="utf-8") == render_checklist_page(), "run `make docs`"
    for name in CHECKLISTS:
        checklist = read_package_checklist(name)
        answered = sum(bool(item.sections) for item in checklist.items)
        assert count_answered(checklist) == answered
        assert f"| `{name}` | {checklist.title} | {len(checklist.items)} | {answered} |" in page.read_text(
            "utf-8"
        )


def test_the_model_risk_list_names_no_regulator_in_its_heading():
    checklist = read_package_checklist("model-risk")
    assert checklist.title == "Model-risk management"
    assert not any(re.search(r"\bSR\b|OCC|ECB|Fed", item.text) for item in checklist.items)


@pytest.mark.parametrize("name", CHECKLISTS)
def test_a_full_configuration_covers_all_that_a_report_can(name):
    configuration = parse_configuration(EXAMPLE.replace('checklists = ["model-risk", "eu-ai-act"]', ""))
    lines = lines_of(name, configuration)
    excused = {
        key.partition(":")[2] for key in configuration.checklist.not_applicable if key.startswith(name)
    }
    for number, line in lines.items():
        if number in excused:
            assert line.status is ItemStatus.NOT_APPLICABLE
        else:
            assert line.status in (ItemStatus.COVERED, ItemStatus.NOT_COVERED)
            assert bool(line.sections) == (line.status is ItemStatus.COVERED)
            assert bool(line.reason) == (line.status is ItemStatus.NOT_COVERED)
    assert {line.status for line in lines.values()} >= {ItemStatus.COVERED, ItemStatus.NOT_COVERED}


def test_what_is_missing_is_named():
    configuration = parse_configuration(
        '[model]\nname = "M"\nowner = " "\nversion = "1"\n[limits]\nbrier = 0.2'
    )
    lines = lines_of("model-risk", configuration, ["summary", "model"])
    assert lines["2"].status is ItemStatus.INCOMPLETE
    assert lines["2"].missing_keys == ("model.owner", "model.tier")
    assert lines["2"].sections == ("model",)
    assert lines["2"].reason == "the configuration lacks `model.owner` and `model.tier`"
    assert lines["3"].missing_sections == ("sign-off",)
    assert lines["3"].reason == (
        "the configuration lacks `model.developer`, `people.author` and `people.reviewer`; "
        "the report has no section sign-off"
    )
    assert lines["18"].missing_keys == ("limits.set_by", "limits.set_on")  # there are limits
    assert lines["16"].reason == "the report has no section groups"
    assert lines["16"].sections == ()
    accuracy = lines_of("eu-ai-act", configuration, ["performance"])["3 accuracy"]
    assert accuracy.reason.endswith("the report has no sections groups and limitations")


def test_the_cover_is_always_there():
    configuration = parse_configuration('[report]\ntitle = "T"\n[data]\npopulation = "P"\noutcome = "O"')
    line = lines_of("tripod-ai", configuration, [])["1"]
    assert (line.status, line.sections) == (ItemStatus.COVERED, ("cover",))


def test_an_item_that_does_not_apply_gives_the_reason():
    text = '[checklist.not_applicable]\n"tripod-ai:6c" = "No treatments."\n"tripod-ai:1" = "No title."'
    lines = lines_of("tripod-ai", parse_configuration(text))
    assert (lines["6c"].status, lines["6c"].reason) == (ItemStatus.NOT_APPLICABLE, "No treatments.")
    assert (lines["1"].status, lines["1"].sections) == (ItemStatus.NOT_APPLICABLE, ())


def test_an_item_that_is_not_there_is_refused():
    configuration = parse_configuration('[checklist.not_applicable]\n"tripod-ai:6d" = "x"', "report.toml")
    with pytest.raises(UsageError) as caught:
        read_checklists(configuration)
    assert str(caught.value) == (
        "report.toml: `checklist.not_applicable` names an item that its list does not have: 'tripod-ai:6d'; "
        "look up its number in the list."
    )


def test_own_lists_are_read_beside_the_configuration(tmp_path):
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "own.toml").write_text(OWN_LIST, encoding="utf-8")
    path = tmp_path / "report.toml"
    path.write_text(
        '[model]\nowner = "O"\ntier = "1"\n[checklist]\nlists = ["lists/own.toml"]\n'
        '[checklist.not_applicable]\n"lists/own.toml:B.2" = "No code."',
        encoding="utf-8",
    )
    configuration = read_configuration(path)
    lines = lines_of("lists/own.toml", configuration, ["model"])
    assert [line.status for line in lines.values()] == [ItemStatus.COVERED, ItemStatus.NOT_APPLICABLE]
    without = lines_of("lists/own.toml", configuration, [])
    assert without["B.1"].reason == "the report has no section model"


def test_no_lists_at_all():
    assert read_checklists(parse_configuration("[checklist]\nlists = []")) == ()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "tripod",
            r"report\.toml: `report\.checklists` names a list that is not known: 'tripod'; "
            r"did you mean `tripod-ai`\?",
        ),
        (
            "zzz",
            r"report\.toml: `report\.checklists` names a list that is not known: 'zzz'; "
            r"lists are ecb-internal-models, .*, tripod-ai, or \.toml files\.",
        ),
        (
            "zzz.toml",
            r"report\.toml: `report\.checklists` names a file that cannot be read: 'zzz\.toml' "
            r"\(No such file or directory\)\.",
        ),
        ("../model-risk", r"report\.toml: `report\.checklists` names a list that is not known: .*"),
    ],
)
def test_lists_that_are_not_there(name, message):
    configuration = parse_configuration(f'[report]\nchecklists = ["{name}"]', "report.toml")
    with pytest.raises(UsageError, match=f"^{message}$"):
        read_checklists(configuration)


HEAD = 'title = "T"\nsource = "S"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('source = "S"\nitems = []', "`title` is missing."),
        (f"{HEAD}items = []", "`items` must have at least one item."),
        (f'{HEAD}items = [{{number = "1"}}]', "`items.1.text` is missing."),
        (
            f'{HEAD}items = [{{number = 3, text = "x", reason = "y"}}]',
            "`items.1.number` must be text; got 3. To fix: put it in quotes.",
        ),
        (
            f'{HEAD}items = [{{number = "1", text = "x", sections = "data"}}]',
            "`items.1.sections` must be a list; got 'data'.",
        ),
        (f"{HEAD}items = [5]", "`items.1` must be a table; got 5."),
        (
            f'{HEAD}items = [{{number = "1", text = "x", sektions = ["data"]}}]',
            "`items.1.sektions` is not known; did you mean `sections`?",
        ),
        (
            f'{HEAD}heading = "x"\nitems = [{{number = "1", text = "x", reason = "y"}}]',
            "`heading` is not known; keys are title, source, items.",
        ),
        (
            f'{HEAD}name = "x"\nitems = [{{number = "1", text = "x", reason = "y"}}]',
            "`name` is not a known key: the name of a checklist is that of its file.",
        ),
        (
            f'{HEAD}items = [{{number = "1", text = "x", sections = ["date"]}}]',
            "`items.1.sections` names a section that does not exist: 'date'; did you mean `data`?",
        ),
        (
            f'{HEAD}items = [{{number = "1", text = "x", sections = ["data"], needs = ["data.sauce"]}}]',
            "`items.1.needs` must name a key of the configuration, such as `model.owner`; got 'data.sauce'.",
        ),
        (
            f'{HEAD}items = [{{number = "1", text = "x", sections = ["data"], needs = ["sha256"]}}]',
            "`items.1.needs` must name a key of the configuration, such as `model.owner`; got 'sha256'.",
        ),
        (
            f'{HEAD}items = [{{number = "1", text = "x"}}]',
            "`items.1` must have `sections` that answer it, or a `reason` why none does.",
        ),
        (
            HEAD + '[[items]]\nnumber = "1"\ntext = "x"\nreason = "y"\n' * 2,
            "`items.2.number` must not occur twice; got '1'.",
        ),
        (
            f'{HEAD}items = [{{number = " ", text = "x", reason = "y"}}]',
            "`items.1` must have a number and a text.",
        ),
    ],
)
def test_own_lists_are_checked(text, message):
    with pytest.raises(UsageError) as caught:
        parse_checklist(text, "own.toml")
    assert str(caught.value) == f"own.toml: {message}"


def test_an_item_with_sections_and_a_reason_is_covered_where_there_is_one():
    item = ChecklistItem(number="1", text="x", sections=("trend",), reason="no audit")
    checklist = Checklist(title="T", source="S", items=(item,))
    (line,) = fill_checklist(checklist, Configuration(), ["trend"])
    assert line.status is ItemStatus.COVERED
    (line,) = fill_checklist(checklist, Configuration(), ["data"])
    assert (line.status, line.reason) == (ItemStatus.NOT_COVERED, "no audit")
