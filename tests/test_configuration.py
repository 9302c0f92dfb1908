"""Configurations: what is read, and which values are refused, with their key."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import fields, replace

import numpy as np
import pytest
from configuration_tools import (
    CLASSES,
    DOCUMENTATION,
    EXAMPLE,
    LIMITS_PAGE,
    ORDINAL_EXAMPLE,
    SCORE_PAGE,
    evaluation_fixture,
    frame_fixture,
    limit_text,
)
from hypothesis import given
from hypothesis import strategies as st

from scorereport.configuration import (
    MEASURES,
    Bounds,
    Configuration,
    MeasurePart,
    ModelKind,
    Person,
    parse_configuration,
    read_configuration,
)
from scorereport.configuration.configuration_tables import Tables
from scorereport.errors import UsageError
from scorereport.results.settings import EvaluationSettings
from scorereport.scores import Direction
from validation.configuration_page import PAGES, write_parts

frame = pytest.fixture(scope="module")(frame_fixture)


evaluation = pytest.fixture(scope="module")(evaluation_fixture)


#: Two classes, and the messages about keys that do not fit them.
TWO_CLASSES = '[evaluation]\nclasses = ["a", "b"]\n'


LABELS = "`evaluation.classes` must be a list of at least two labels; got {}."


MODELS = "`evaluation.forecasts` must be a list of models, or a table of the columns of each model; got {}."


COSTS = "`evaluation.cost_matrix` must be a list of rows, each a list of numbers; got {}."


SHAPE = "`evaluation.cost_matrix` must have 2 rows of 2 numbers, one for each class; got {}."


FRACTIONS = (
    "`evaluation.retention_fractions` must be a list of two or more increasing numbers in [0, 1), the first "
    "of them 0; got [{}]."
)


NEEDS_CLASSES = (
    "`evaluation.{}` is for models of several classes: name these in `evaluation.classes`, or leave it out."
)


def assert_refused(text, message):
    with pytest.raises(UsageError) as caught:
        parse_configuration(text, "report.toml")
    assert str(caught.value) == message


def test_the_documented_example_is_read_and_fills_every_table():
    configuration = parse_configuration(EXAMPLE, "report.toml")
    empty = Configuration()
    for table in ("report", "model", "data", "people", "evaluation", "limits", "texts", "checklist"):
        assert getattr(configuration, table) != getattr(empty, table)
    assert configuration.people.author == Person(name="Ana Lima")
    assert configuration.people.approver == Person(
        name="Chloé Dubois", role="Chief Risk Officer", organisation="Example Bank"
    )
    assert configuration.limits.set_on == "2026-05-04"
    assert configuration.texts.conclusion == "The model may stay in use."
    assert configuration.report.purpose.count("\n\n") == 1
    assert configuration.model.descriptions["boost"] == "Gradient boosting, the challenger."
    assert configuration.checklist.names == {"model-risk": "Guidance on model risk of our supervisor"}


def test_every_key_is_documented():
    listed = LIMITS_PAGE.read_text(encoding="utf-8")
    keys = set(re.findall(r"`(\w+)`", DOCUMENTATION + SCORE_PAGE))
    for table in fields(Tables):
        if table.name in ("audit", "evaluation"):  # on another page; generated, see below
            continue
        for key in fields(getattr(Tables(), table.name)):
            if key.name not in ("one_sided", "two_sided", "listed", "written"):
                assert key.name in keys, f"[{table.name}] {key.name}"
    for page, parts in PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert write_parts(text, parts) == text, f"{page.name}: run make docs"
    for name, measure in MEASURES.items():
        assert f"| `{name}` |" in listed, measure


def test_an_empty_configuration_is_all_defaults():
    assert replace(parse_configuration("", "configuration")) == Configuration()
    assert Configuration().sha256 == ""
    assert Configuration().limits.bounds == ()
    assert Configuration().evaluation.settings == {}
    assert parse_configuration("[report]\n[limits]\n[people]\n", "x").report == Configuration().report


def test_a_file_keeps_its_text_name_and_hash_to_the_byte(tmp_path):
    content = '\ufeff[report]\r\ntitle = "Ä"\r\n'.encode()
    path = tmp_path / "mine.toml"
    path.write_bytes(content)
    configuration = read_configuration(path)
    assert configuration.text.encode() == content
    assert configuration.sha256 == hashlib.sha256(content).hexdigest()
    assert configuration.name == "mine.toml"
    assert configuration.folder == str(tmp_path)
    assert configuration.report.title == "Ä"
    assert parse_configuration(configuration.text, configuration.name).report == configuration.report


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "nothing.toml"
    with pytest.raises(UsageError, match=rf"^There is no configuration '{re.escape(str(missing))}'\.$"):
        read_configuration(missing)
    with pytest.raises(UsageError, match=r"^The configuration '.*' cannot be read: Is a directory\.$"):
        read_configuration(tmp_path)
    path = tmp_path / "latin.toml"
    path.write_bytes('[report]\ntitle = "Ä"\n'.encode("latin-1"))
    with pytest.raises(UsageError) as caught:
        read_configuration(path)
    assert str(caught.value) == "latin.toml is not UTF-8 text: byte 0xc4 in line 2. Save it as UTF-8."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "[report]\ntitle 5",
            "report.toml is not valid TOML: Expected '=' after a key in a key/value pair (at line 2, column "
            "7).",
        ),
        (
            '[report]\ntitle = """never',
            "report.toml is not valid TOML: Unterminated string (at line 2, column 17, the end).",
        ),
        ("x = " + "[" * 5000, "report.toml is not a configuration: its lists are nested too deeply."),
    ],
)
def test_syntax_errors_name_line_and_column(text, message):
    assert_refused(text, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[limits]\nbrier = {fail = "x"}', "`limits.brier.fail` must be a number; got 'x'."),
        (
            '[limits]\nbrier = "x"',
            "`limits.brier` must be a number or a table of `warn`, `fail`; got 'x'.",
        ),
        (
            "[limits]\nbrier = true",
            "`limits.brier` must be a number or a table of `warn`, `fail`; got True.",
        ),
        (
            "[limits]\ncalibration_slope = 0.9",
            "`limits.calibration_slope` must be a table of `min`, `max`, `warn_min`, `warn_max`; got 0.9.",
        ),
        ('[limits]\ngroups = "yes"', "`limits.groups` must be true or false; got 'yes'."),
        ("[report]\nversion = 1.0", "`report.version` must be text; got 1.0. Put it in quotes."),
        ('[report]\nomit = "summary"', "`report.omit` must be a list; got 'summary'."),
        ("[report]\nomit = [5]", "`report.omit` must be a list of texts; got 5 in it."),
        ("report = 5", "`report` must be a table; got 5."),
        ("limits = []", "`limits` must be a table; got []."),
        ("[model]\nowner = {}", "`model.owner` must be text; got a table."),
        (
            '[model.descriptions]\n"my model" = 5',
            '`model.descriptions."my model"` must be text; got 5. Put it in quotes.',
        ),
        (
            "[people]\nauthor = 5",
            "`people.author` must be text or a table of `name`, `role`, `organisation`; got 5.",
        ),
        ('[people]\nauthor = {role = "x"}', "`people.author.name` is missing."),
        (
            '[people]\nreviewer = " "',
            "`people.reviewer` must have a name; got an empty one. Leave the key out if it is not known.",
        ),
        ("[evaluation]\nseed = 1.5", "`evaluation.seed` must be a whole number of at least 0; got 1.5."),
        (
            "[evaluation]\nresamples = true",
            "`evaluation.resamples` must be a whole number of at least 0; got True.",
        ),
        (
            "[evaluation]\nresamples = 5",
            "`evaluation.resamples` must be 0, or at least 18 for bands of level 0.9; got 5.",
        ),
        (
            '[evaluation]\ninterval_method = "normal"',
            '`evaluation.interval_method` must be one of "bca", "percentile"; got \'normal\'.',
        ),
        ("[evaluation]\nlevel = 2", "`evaluation.level` must lie in (0, 1); got 2."),
        (
            '[evaluation]\nwindow = "decade"',
            '`evaluation.window` must be one of "year", "quarter", "month", "week", "day"; got \'decade\'.',
        ),
        (
            "[evaluation]\nresamples = -1",
            "`evaluation.resamples` must be a whole number of at least 0; got -1.",
        ),
        (
            "[evaluation]\nsmallest_group = 0",
            "`evaluation.smallest_group` must be a whole number of at least 1; got 0.",
        ),
        (
            "[evaluation]\ncost_interval = [0.1]",
            "`evaluation.cost_interval` must be two numbers inside (0, 1), the smaller one first; got [0.1].",
        ),
        (
            '[evaluation]\ncost_interval = [0.1, "b"]',
            "`evaluation.cost_interval` must be two numbers inside (0, 1), the smaller one first; "
            "got [0.1, 'b'].",
        ),
        (
            "[evaluation]\ncost_interval = [0.5, 0.2]",
            "`evaluation.cost_interval` must be two numbers inside (0, 1), the smaller one first; "
            "got [0.5, 0.2].",
        ),
        (
            '[evaluation]\nthresholds = ["x"]',
            "`evaluation.thresholds` must be a list of one or more numbers inside (0, 1); got ['x'].",
        ),
        ("[evaluation]\noutcome = []", "`evaluation.outcome` must be the name of a column; got []."),
        ('[evaluation]\nclasses = "ab"', LABELS.format("'ab'")),
        ('[evaluation]\nclasses = ["a", ["b"]]', LABELS.format("['a', ['b']]")),
        (
            "[evaluation]\nclasses = [1]",
            "`evaluation.classes` must be a list of at least two labels; got [1].",
        ),
        (
            '[evaluation]\nclasses = ["a", " "]',
            "`evaluation.classes` must be labels that are not empty; got an empty text.",
        ),
        (
            '[evaluation]\nclasses = [1, "2", "1.0"]',
            "`evaluation.classes` must differ; got '1' 2 times.",
        ),
        (
            '[evaluation]\nclasses = ["a", "b"]\nordered = 1',
            "`evaluation.ordered` must be true or false; got 1.",
        ),
        ("[evaluation]\nordered = true", NEEDS_CLASSES.format("ordered")),
        ("[evaluation]\nnormalize = true", NEEDS_CLASSES.format("normalize")),
        ("[evaluation]\ncost_matrix = [[0, 1], [1, 0]]", NEEDS_CLASSES.format("cost_matrix")),
        ("[evaluation]\nretention_fractions = [0, 0.5]", NEEDS_CLASSES.format("retention_fractions")),
        (
            '[evaluation]\nforecasts = {m = ["a", "b"]}',
            "`evaluation.forecasts` names the columns of classes: name these in `evaluation.classes`, or "
            'list one column for each model, such as ["logit", "boost"].',
        ),
        (
            f"{TWO_CLASSES}cost_interval = [0.1, 0.2]",
            "`evaluation.cost_interval` is for binary models, not for several classes: leave it out, or use "
            "`evaluation.cost_matrix`.",
        ),
        (
            f"{TWO_CLASSES}thresholds = [0.1, 0.2]",
            "`evaluation.thresholds` is for binary models, not for several classes: leave it out.",
        ),
        (f"{TWO_CLASSES}forecasts = 5", MODELS.format("5")),
        (f'{TWO_CLASSES}forecasts = ["m", true]', MODELS.format("['m', True]")),
        (
            "[evaluation]\nforecasts = []",
            "`evaluation.forecasts` must be a list of at least one column; got an empty one.",
        ),
        (
            f'{TWO_CLASSES}forecasts = {{m = "a"}}',
            "`evaluation.forecasts` must name a column for each class; got 'a' for m.",
        ),
        (
            f'{TWO_CLASSES}forecasts = {{"my model" = ["a", "b", "c"]}}',
            "`evaluation.forecasts` must name a column for each of the 2 classes; got 3 for my model.",
        ),
        (
            f"{TWO_CLASSES}forecasts = {{m = []}}",
            "`evaluation.forecasts` must name a column for each class; got [] for m.",
        ),
        (
            '[evaluation]\nforecasts = ["m", "n", "m"]',
            "`evaluation.forecasts` must differ; got 'm' 2 times.",
        ),
        (f"{TWO_CLASSES}cost_matrix = 5", COSTS.format("5")),
        (f"{TWO_CLASSES}cost_matrix = [5, [0, 1]]", COSTS.format("[5, [0, 1]]")),
        (f'{TWO_CLASSES}cost_matrix = [[0, "x"], [0, 1]]', COSTS.format("[[0, 'x'], [0, 1]]")),
        (f"{TWO_CLASSES}cost_matrix = []", COSTS.format("[]")),
        (f"{TWO_CLASSES}cost_matrix = [[0, 1]]", SHAPE.format("1 of 2")),
        (f"{TWO_CLASSES}cost_matrix = [[0, 1], [1, 0, 2]]", SHAPE.format("2 of 2, 3")),
        (
            f"{TWO_CLASSES}cost_matrix = [[0, 1], [-0.5, 0]]",
            "`evaluation.cost_matrix` must hold finite numbers that are not negative; got -0.5.",
        ),
        (f"{TWO_CLASSES}retention_fractions = [0.1, 0.2]", FRACTIONS.format("0.1, 0.2")),
        (f"{TWO_CLASSES}retention_fractions = [0, 0.2, 0.2]", FRACTIONS.format("0, 0.2, 0.2")),
        (f"{TWO_CLASSES}retention_fractions = [0, 1]", FRACTIONS.format("0, 1")),
        (f"{TWO_CLASSES}retention_fractions = [0]", FRACTIONS.format("0")),
        (f"{TWO_CLASSES}retention_fractions = []", FRACTIONS.format("")),
        (
            "[evaluation]\nscale_bins = 0",
            "`evaluation.scale_bins` must be a whole number of at least 1; got 0.",
        ),
        ("[evaluation]\nscale_limit = 0.5", "`evaluation.scale_limit` must lie in [0, 0.5); got 0.5."),
        (
            '[report]\nomit = ["sumary"]',
            "`report.omit` names an unknown section: 'sumary'; did you mean `summary`?",
        ),
        ('[report]\nomit = ["cover"]', "`report.omit` cannot leave out 'cover': every report has it."),
        (
            '[report]\nchecklists = ["sr-26-2"]\n[checklist]\nlists = ["tripod-ai"]',
            "`report.checklists` and `checklist.lists` name different lists. To fix: name all lists in "
            "`report.checklists`.",
        ),
        (
            '[checklist]\nnames = {own = "Ours"}',
            "`checklist.names` has a heading for 'own', which is not in `report.checklists`.",
        ),
        (
            '[checklist.not_applicable]\n"3" = "why"',
            "`checklist.not_applicable` must name a list of `report.checklists` and an item, such as "
            "\"model-risk:3\"; got '3'.",
        ),
        (
            '[checklist.not_applicable]\n"model-risk:3" = " "',
            "`checklist.not_applicable` must give a reason for 'model-risk:3'; got an empty text.",
        ),
    ],
)
def test_a_wrong_value_is_named_by_its_key(text, message):
    assert_refused(text, f"report.toml: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[model]\nownr = "x"', "`model.ownr` is not known; did you mean `owner`?"),
        ("[modle]", "`modle` is not known; did you mean `model`?"),
        ("[limits]\nbrier_skil = 0.1", "`limits.brier_skil` is not known; did you mean `brier_skill`?"),
        ("[limits]\nbrier = {fale = 0.2}", "`limits.brier.fale` is not known; did you mean `fail`?"),
        (
            "[limits]\nprevalence = {mim = 0.2}",
            "`limits.prevalence.mim` is not known; did you mean `min`?",
        ),
        (
            '[people]\nauthor = {name = "A", rôle = "B"}',
            '`people.author."rôle"` is not known; did you mean `role`?',
        ),
        (
            "[text]\nzzz = 1",
            "`text.zzz` is not known; its keys are `limitations`, `conclusion`, `changes`, "
            "`data_quality`, `overrides`.",
        ),
        (
            "[zzz]",
            "`zzz` is not known; tables are `report`, `model`, `data`, `people`, `evaluation`, `limits`, "
            "`text`, `checkpoints`, `checklist`, `audit`.",
        ),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(text, message):
    assert_refused(text.replace("rôle =", '"rôle" ='), f"report.toml: {message}")


@pytest.mark.parametrize("key", ["one_sided", "two_sided", "listed", "written", "zzz"])
def test_internal_names_are_not_keys(key):
    with pytest.raises(
        UsageError, match=rf"^c: `limits\.{key}` is not known; limits can be set for `brier`, "
    ):
        parse_configuration(f"[limits]\n{key} = {{brier = {{fail = 0.2}}}}", "c")


def test_several_problems_are_counted():
    assert_refused(
        '[report]\ntitle = 5\nsubtitle = 6\n[model]\nownr = "x"',
        "report.toml: `report.title` must be text; got 5. Put it in quotes. (2 more problems.)",
    )
    assert_refused(
        "[evaluation]\nlevel = 2\nband_level = 2",
        "report.toml: `evaluation.level` must lie in (0, 1); got 2. (1 more problem.)",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "brier = {warn = 0.3, fail = 0.2}",
            "`limits.brier.warn` must not be above `limits.brier.fail`, because lower is better; "
            "got 0.3 and 0.2.",
        ),
        (
            "roc_auc = {warn = 0.6, fail = 0.7}",
            "`limits.roc_auc.warn` must not be below `limits.roc_auc.fail`, because higher is better; "
            "got 0.6 and 0.7.",
        ),
        (
            "calibration_slope = {min = 1.2, max = 0.8}",
            "`limits.calibration_slope.min` must be below `limits.calibration_slope.max`; got 1.2 and 0.8.",
        ),
        (
            "calibration_slope = {min = 0.9, warn_min = 0.8}",
            "`limits.calibration_slope.min` must not be above `limits.calibration_slope.warn_min`; "
            "got 0.9 and 0.8.",
        ),
        (
            "calibration_slope = {warn_min = 1, warn_max = 1}",
            "`limits.calibration_slope.warn_min` must be below `limits.calibration_slope.warn_max`; "
            "got 1 and 1.",
        ),
        (
            "calibration_slope = {max = 1.1, warn_max = 1.2}",
            "`limits.calibration_slope.warn_max` must not be above `limits.calibration_slope.max`; "
            "got 1.2 and 1.1.",
        ),
        ("brier = {}", "`limits.brier` must have one of `warn`, `fail`; got an empty table."),
        (
            "prevalence = {}",
            "`limits.prevalence` must have one of `min`, `max`, `warn_min`, `warn_max`; got an empty table.",
        ),
        ("roc_auc = 75", "`limits.roc_auc.fail` must lie in [0, 1], the range of this measure; got 75."),
        (
            "brier_skill = 1.1",
            "`limits.brier_skill.fail` must lie at 1 or below, the range of this measure; got 1.1.",
        ),
        (
            "brier_miscalibration = -0.1",
            "`limits.brier_miscalibration.fail` must lie at 0 or above, the range of this measure; got -0.1.",
        ),
    ],
)
def test_limits_that_make_no_sense(text, message):
    assert_refused(f"[limits]\n{text}", f"report.toml: {message}")


@pytest.mark.parametrize(
    "text",
    [
        "cost_interval = [0, 0.5]",
        "cost_interval = [0.5, 0.5]",
        "cost_interval = [0.5, 1]",
        "thresholds = [0, 0.5]",
        "thresholds = [0.5, 1]",
        "thresholds = []",
    ],
)
def test_costs_and_thresholds_lie_inside_and_apart(text):
    with pytest.raises(UsageError, match=r"inside \(0, 1\)"):
        parse_configuration(f"[evaluation]\n{text}")


def test_limits_that_touch_are_allowed():
    parse_configuration("[limits]\nroc_auc = {warn = 0.7, fail = 0.7}")
    limits = parse_configuration("[limits]\nbrier = {warn = 0.2, fail = 0.2}").limits
    assert limits.bounds[0][1] == Bounds(warn_upper=0.2, fail_upper=0.2)
    parse_configuration("[limits]\nprevalence = {min = 0.2, warn_min = 0.2, warn_max = 0.3, max = 0.3}")


def test_a_limit_lies_on_the_bad_side_of_every_measure():
    for name, measure in MEASURES.items():
        ((found, bounds),) = parse_configuration(f"[limits]\n{limit_text(name)}").limits.bounds
        assert found is measure or measure.argument
        assert found.place is measure.place
        expected = {
            Direction.LOWER: Bounds(fail_upper=0.2),
            Direction.HIGHER: Bounds(fail_lower=0.2),
            None: Bounds(fail_lower=0.2, fail_upper=0.4),
        }[measure.direction]
        assert bounds == expected


@pytest.mark.parametrize(
    ("name", "direction", "label"),
    [
        ("brier", Direction.LOWER, "Brier score"),
        ("roc_auc", Direction.HIGHER, "AUC"),
        ("bounded_net_benefit", Direction.HIGHER, "Bounded net benefit"),
        ("bounded_net_benefit_miscalibration", Direction.LOWER, "corrected MCB of the bounded net benefit"),
        ("log_loss_discrimination", Direction.HIGHER, "corrected DSC of the log score"),
        ("roc_auc_skill", Direction.HIGHER, "skill in the AUC"),
        ("brier_skill", Direction.HIGHER, "skill in the Brier score"),
        ("calibration_slope", None, "calibration slope"),
        ("multiclass_brier_skill", Direction.HIGHER, "skill in the Brier score (K classes)"),
        ("multiclass_log_loss_skill", Direction.HIGHER, "skill in the log score (K classes)"),
        ("rps", Direction.LOWER, "Ranked probability score"),
        ("rps_miscalibration", Direction.LOWER, "corrected MCB of the ranked probability score"),
        ("sa_rps_skill", Direction.HIGHER, "skill in the squared absolute RPS"),
        ("penalized_brier_skill", Direction.HIGHER, "skill in the penalised Brier score"),
        ("macro_f1", Direction.HIGHER, "Macro F1"),
        ("quadratic_weighted_kappa", Direction.HIGHER, "Quadratic weighted kappa"),
        ("expected_cost", Direction.LOWER, "Expected cost"),
    ],
)
def test_measures_have_a_direction_and_a_label(name, direction, label):
    assert (MEASURES[name].direction, MEASURES[name].label) == (direction, label)


def test_measures_list_the_kinds_of_models():
    has = {kind: {name for name, m in MEASURES.items() if kind in m.kinds} for kind in ModelKind}
    shared = has[ModelKind.BINARY] & has[ModelKind.ORDINAL]
    assert shared == {name for name, m in MEASURES.items() if m.part is MeasurePart.SCALE}
    of_scores = {name for name, m in MEASURES.items() if m.score}
    assert of_scores & (has[ModelKind.ORDINAL] - has[ModelKind.MULTICLASS]) == {
        "rps",
        "rps_skill",
        "rps_miscalibration",
        "rps_discrimination",
        "sa_rps",
        "sa_rps_skill",
        "quadratic_weighted_kappa",
    }
    assert of_scores & has[ModelKind.MULTICLASS] < has[ModelKind.ORDINAL]
    for absent in ("macro_f1_skill", "quadratic_weighted_kappa_skill", "sa_rps_miscalibration"):
        assert absent not in MEASURES


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            r"[report]" "\n" r'title = "a\u0007"',
            "`report.title` must be text without control characters; got U+0007.",
        ),
        (
            '[report]\ntitle = """a\nb"""',
            "`report.title` must be text without control characters; got a line break.",
        ),
        (
            r"[text]" "\n" r'limitations = "a\u202eb"',
            "`text.limitations` must be text without control characters; got U+202E.",
        ),
        (
            r"[report]" "\n" r'omit = ["a\u0000"]',
            "`report.omit` must be text without control characters; got U+0000. (1 more problem.)",
        ),
        (
            r"[model.descriptions]" "\n" r'"a\u0008" = "b"',
            '`model.descriptions."a\\x08"` must be a key without control characters; got U+0008.',
        ),
        (
            r"[data]" "\n" r'source = "\uffff"',
            "`data.source` must be text without control characters; got U+FFFF.",
        ),
        ("[limits]\nbrier = nan", "`limits.brier` must be a finite number; got nan. (1 more problem.)"),
        ("[limits]\nlog_loss = inf", "`limits.log_loss` must be a finite number; got inf."),
    ],
)
def test_unfit_characters_and_numbers_are_refused_by_key(text, message):
    assert_refused(text, f"report.toml: {message}")


def test_free_texts_have_paragraphs_and_any_script():
    text = '[text]\nlimitations = """Ένα\n\nДва\t<b>{{ 7*7 }}</b> 🙂"""'
    assert parse_configuration(text).texts.limitations == "Ένα\n\nДва\t<b>{{ 7*7 }}</b> 🙂"


@pytest.mark.parametrize(
    "value", ["2026-05-04", '"2026-05-04"', "2026-05-04T10:00:00Z", '"spring"', "10:00:00"]
)
def test_dates_are_dates_or_texts(value):
    found = parse_configuration(f"[limits]\nset_on = {value}").limits.set_on
    assert found.startswith(value.strip('"').partition("T")[0])


def test_keys_are_found_by_the_name_in_the_file():
    configuration = parse_configuration(EXAMPLE)
    assert configuration.find("model.owner") == "Retail Credit Risk"
    assert configuration.find("text.conclusion") == configuration.texts.conclusion
    assert configuration.find("limits") is configuration.limits


def test_settings_are_those_of_the_evaluation():
    settings = parse_configuration(EXAMPLE).evaluation.settings
    assert settings == {
        "cost_interval": (0.05, 0.2),
        "thresholds": (0.05, 0.1, 0.2),
        "level": 0.95,
        "resamples": 1000,
    }
    assert set(settings) <= {field.name for field in fields(EvaluationSettings)}


def test_the_ordinal_example_is_read_in_full():
    table = parse_configuration(ORDINAL_EXAMPLE).evaluation
    costs = ((0, 1, 4), (1, 0, 1), (10, 2, 0))
    assert table.settings == {
        "cost_matrix": costs,
        "retention_fractions": (0, 0.1, 0.2, 0.3, 0.4, 0.5),
        "scale_bins": 20,
        "scale_limit": 0.001,
    }
    assert table.columns == {
        "outcome": "grade",
        "classes": CLASSES,
        "ordered": True,
        "forecasts": {"ordered": ["o0", "o1", "o2"], "multinomial": ["m0", "m1", "m2"]},
        "groups": ("region",),
    }
    assert table.given == table.columns | table.settings
    assert set(table.settings) <= {field.name for field in fields(EvaluationSettings)}


def test_labels_may_be_whole_numbers_and_models_a_list():
    table = parse_configuration('[evaluation]\nclasses = [1, "2"]\nforecasts = ["b", "a"]').evaluation
    assert table.columns == {"classes": ("1", "2"), "forecasts": ["b", "a"]}
    binary = parse_configuration('[evaluation]\nforecasts = ["logit"]\nordered = false').evaluation
    assert binary.columns == {"forecasts": ["logit"], "ordered": False}
    assert parse_configuration("[evaluation]\nthresholds = [0.5, 0.2, 0.5]").evaluation.settings == {
        "thresholds": (0.2, 0.5)
    }


def read_or_refuse(text, start):
    """The text that was read, or None if a message with this start refused it; other errors are raised."""
    try:
        return parse_configuration(text, "c").text
    except UsageError as error:
        if not str(error).startswith(start):
            raise
        return None


@pytest.mark.sweep
@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_a_sentence(text):
    assert read_or_refuse(text, "c") in (text, None)


@given(
    st.recursive(
        st.one_of(st.integers(), st.floats(), st.booleans(), st.sampled_from(["x", ""])),
        lambda inner: st.one_of(
            st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["fail", "min", "name"]), inner)
        ),
        max_leaves=4,
    ),
    st.sampled_from(
        [
            "report.omit",
            "people.author",
            "limits.brier",
            "limits.prevalence",
            "evaluation.cost_interval",
            "evaluation.classes",
            "evaluation.forecasts",
            "evaluation.cost_matrix",
        ]
    ),
)
def test_any_value_is_read_or_refused_in_a_sentence(value, key):
    table, name = key.split(".")
    text = f"[{table}]\n{name} = {write_toml(value)}"
    assert read_or_refuse(text, f"c: `{table}.{name}") in (text, None)


def write_toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {write_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(write_toml, value)) + "]"
    if isinstance(value, float):
        return str(value) if not np.isfinite(value) else f"{value:.17f}"
    return json.dumps(value)
