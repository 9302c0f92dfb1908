"""Arguments of `evaluate`: Python, command line and configuration give the same answer to a value."""

from __future__ import annotations

import inspect
import json
import math
import re
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import typer
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import scorereport as sr
from scorereport._utils.declarations import Declared, check_arguments, describe_parameters, option_help
from scorereport._utils.rules import Shape, Whole, is_number
from scorereport.cli.application import app
from scorereport.configuration import configuration_schema, parse_configuration
from scorereport.configuration.evaluation_keys import EVALUATION_KEYS
from scorereport.data.column_rules import Column
from scorereport.data.reader import read_predictions
from scorereport.data.roles import COLUMNS
from scorereport.errors import UsageError
from scorereport.evaluation import dispatch
from scorereport.evaluation.arguments import ARGUMENTS, Arguments, settings_in
from scorereport.results.settings import SETTINGS, WORK_SETTINGS, EvaluationSettings

NAMES = [name for name, declared in ARGUMENTS.items() if not declared.alias_of]
BASES = {
    "binary": {"outcome": "y", "forecasts": ["m"]},
    "times": {"outcome": "y", "forecasts": ["m"], "time": "t"},
    "classes": {"outcome": "y", "forecasts": ["m"], "classes": ["a", "b"]},
}
COMMAND = typer.main.get_command(app)


class Taken(Exception):  # noqa: N818  # not an error
    """Ends an evaluation whose arguments have passed all checks."""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("doors") / "p.csv"
    path.write_text("y,m\n0,0.1\n1,0.7\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module", autouse=True)
def _without_evaluation():
    """Stop each evaluation once its arguments are checked."""

    def stop(arguments, engine):
        raise Taken({**arguments, "engine": engine})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "settings_in", stop)
        yield


def answer(call):
    """The arguments that were taken, or the sentence of the refusal with the names of Python."""
    try:
        call()
    except Taken as taken:
        return taken.args[0]
    except UsageError as error:
        sentence = str(error).removeprefix("configuration: ")
        sentence = re.sub(r" \(\d+ more problems?\.\)$", "", sentence)
        sentence = re.sub(r"`evaluation\.(\w+)`", r"`\1`", sentence)
        for name in NAMES:
            sentence = sentence.replace(f"`{ARGUMENTS[name].option_name}`", f"`{name}`")
        return sentence
    raise AssertionError("the evaluation went on")


def by_python(file, arguments):
    return answer(lambda: sr.evaluate(file, **arguments))


def by_configuration(file, arguments):
    text = "\n".join(["[evaluation]", *(f"{name} = {to_toml(value)}" for name, value in arguments.items())])
    return answer(lambda: sr.evaluate(file, **parse_configuration(text).arguments))


#: What the command `score` adds to the refusal of `--table` for a file that has no tables.
SHOW_ADVICE = " To print one table of the results, give --show NAME."


def by_command(file, arguments):
    words = [word for name, value in arguments.items() for word in to_words(file, ARGUMENTS[name], value)]
    given = answer(lambda: COMMAND.main(["score", str(file), "--quiet", *words], standalone_mode=False))
    return given.removesuffix(SHOW_ADVICE) if isinstance(given, str) else given


def to_toml(value):
    if isinstance(value, dict):
        keys = (f"{to_toml(key)} = {to_toml(item)}" for key, item in value.items())
        return "{" + ", ".join(keys) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(to_toml, value)) + "]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)


def to_words(file, declared, value):
    """The words of an option on the command line."""
    option, shape = declared.option_name, declared.rule.shape
    if shape is Shape.FLAG:
        return [option if value else f"--{declared.opposite.replace('_', '-')}"]
    if shape is Shape.PAIR:
        return [option, *map(str, value)]
    if shape is Shape.REPEATED:
        return [f"{option}={item}" for item in value]
    if shape is Shape.FILE:
        costs = file.with_name("costs.csv")
        costs.write_text("\n".join(",".join(map(str, row)) for row in value), encoding="utf-8")
        return [option, str(costs)]
    return [f"{option}={','.join(value) if shape is Shape.LIST else value}"]


def is_same(first, second):
    is_nan = isinstance(first, float) and isinstance(second, float) and math.isnan(first + second)
    return is_nan or (type(first) is type(second) and first == second)


def fits_command(declared, value):
    """Whether the command line can express a value."""
    rule = declared.rule

    def is_plain(item):
        return type(item) in (int, float, str) and is_same(rule.read(str(item)), item)

    match rule.shape:
        case Shape.FLAG:
            return isinstance(value, bool)
        case Shape.PAIR:
            return isinstance(value, list) and len(value) == 2 and all(map(is_plain, value))
        case Shape.REPEATED:
            return isinstance(value, list) and value != [] and all(map(is_plain, value))
        case Shape.LIST:
            texts = value if isinstance(value, list) and value else [""]
            return all(
                isinstance(text, str) and text.strip() == text != "" and "," not in text for text in texts
            )
        case Shape.FILE:
            rows = value if isinstance(value, list) and value else [""]
            return all(isinstance(row, list) and row and all(map(is_number, row)) for row in rows)
    return is_plain(value)


#: No control characters, which a configuration may not hold, no separators of paths, no "=" of --forecast.
TEXTS = st.text(
    st.characters(categories=("L", "N", "Zs", "Sm", "Sc"), exclude_characters="=\u3000"), max_size=6
) | st.sampled_from(
    ["drop", "refuse", "frequency", "percentile", "month", "duckdb", "2GB", "1 KiB", "-1", "m"]
)
NUMBERS = st.one_of(
    st.integers(-3, 30),
    st.integers(-(2**40), 2**40),
    st.floats(),
    st.floats(0, 1),
    st.sampled_from([0.0, 0.5, 1.0, 1000, 1000.0, math.nan, math.inf]),
)
SCALARS = st.one_of(NUMBERS, TEXTS, st.booleans())
VALUES = st.one_of(
    SCALARS,
    st.lists(st.floats(0, 1), max_size=4),
    st.lists(st.floats(0, 1), min_size=2, max_size=2).map(sorted),
    st.lists(SCALARS, max_size=3),
    st.lists(TEXTS, min_size=2, max_size=3),
    st.lists(st.lists(st.floats(0, 9) | SCALARS, min_size=1, max_size=3), max_size=3),
    st.lists(st.lists(st.floats(0, 9), min_size=2, max_size=2), min_size=2, max_size=2),
    st.dictionaries(TEXTS, st.lists(TEXTS, max_size=3), max_size=2),
)


def check_doors(file, base, name, value):
    """Assert that every door that can express the value gives the same answer as Python."""
    arguments = BASES[base] | {name: value}
    expected = by_python(file, arguments)
    if ARGUMENTS[name].in_files:
        assert by_configuration(file, arguments) == expected
    if fits_command(ARGUMENTS[name], value):
        assert by_command(file, arguments) == expected
    return expected


@given(st.sampled_from(list(BASES)), st.sampled_from(NAMES), VALUES)
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@example("binary", "thresholds", [0.5, 0.2])
@example("binary", "resamples", 5)
@example("binary", "interval_method", "percentile")
@example("binary", "interval_method", "normal")
@example("binary", "level", True)
@example("binary", "scale_limit", False)
@example("binary", "seed", 1000.0)
@example("binary", "cost_interval", [5, 20])
@example("binary", "weight_kind", "frequency")
@example("binary", "window", "month")
@example("classes", "thresholds", [0.5])
@example("classes", "cost_matrix", [[0, 1], [1, -1]])
@example("classes", "cost_matrix", [[0, 1, 2], [1, 0, 2]])
@example("classes", "forecasts", {"m": ["a"]})
@example("classes", "temporary_folder", "absent")
def test_every_door_gives_the_same_answer(file, base, name, value):
    check_doors(file, base, name, value)


@pytest.mark.sweep
@pytest.mark.parametrize("name", NAMES)
def test_every_door_gives_the_same_answer_to_200_values_of_each_argument(file, name):
    answers = []

    @given(st.sampled_from(list(BASES)), VALUES)
    @settings(max_examples=200, deadline=None)
    def compare(base, value):
        answers.append(check_doors(file, base, name, value))

    compare()
    assert any(isinstance(found, str) for found in answers), "no value was refused"


#: A value of each argument but single columns that every door takes, beside what it becomes.
TAKEN = {
    "forecasts": (["m", "n"], ["m", "n"]),
    "classes": (["low", "high"], ("low", "high")),
    "ordered": (False, False),
    "groups": (["site", "age"], ("site", "age")),
    "normalize": (False, False),
    "weight_kind": ("sampling", "sampling"),
    "positive": ("yes", "yes"),
    "missing": ("drop", "drop"),
    "separator": (";", ";"),
    "decimal": (",", ","),
    "encoding": ("latin-1", "latin-1"),
    "level": (0.9, 0.9),
    "resamples": (99, 99),
    "seed": (7, 7),
    "engine": ("duckdb", "duckdb"),
    "band_level": (0.8, 0.8),
    "interval_method": ("percentile", "percentile"),
    "cost_interval": ([0.1, 0.4], (0.1, 0.4)),
    "thresholds": ([0.3, 0.1, 0.3], (0.1, 0.3)),
    "cost_matrix": ([[0, 1], [2, 0]], ((0.0, 1.0), (2.0, 0.0))),
    "retention_fractions": ([0, 0.25], (0.0, 0.25)),
    "window": ("week", "week"),
    "smallest_group": (3, 3),
    "scale": (True, True),
    "scale_bins": (20, 20),
    "scale_limit": (0.01, 0.01),
    "reference": ("/p.csv", "/p.csv"),
    "memory_limit": ("1GB", "1GB"),
    "temporary_folder": ("/", "/"),
}


@pytest.mark.parametrize("name", [name for name in NAMES if ARGUMENTS[name].in_files])
def test_every_door_takes_a_right_value(file, name):
    value, plain = TAKEN.get(name, ("c", "c") if isinstance(ARGUMENTS[name].rule, Column) else (None, None))
    base = {"cost_matrix": "classes", "retention_fractions": "classes", "window": "times"}.get(name, "binary")
    taken = check_doors(file, base, name, value)
    assert isinstance(taken, dict), taken
    assert taken[name] == plain


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ({}, False),
        ({"scale": True}, True),
        ({"scale_bins": 10}, True),
        ({"scale_limit": 0.0}, True),
        ({"scale": False, "scale_bins": 20}, False),
    ],
)
def test_settings_of_the_probability_scale_ask_for_it(file, given, asked):
    for door in (by_python, by_configuration, by_command):
        taken = door(file, BASES["binary"] | given)
        assert settings_in(taken, "memory").scale is asked


def test_numpy_values_are_those_of_python(file):
    given = {
        "level": np.float64(0.9),
        "seed": np.int64(3),
        "thresholds": np.array([0.4, 0.2]),
        "time": np.str_("t"),
    }
    assert by_python(file, BASES["binary"] | given) == by_python(
        file, BASES["binary"] | {"level": 0.9, "seed": 3, "thresholds": [0.4, 0.2], "time": "t"}
    )
    flags = {"ordered": np.True_, "cost_matrix": np.eye(2)}
    taken = by_python(file, BASES["classes"] | flags)
    assert (taken["ordered"], taken["cost_matrix"]) == (True, ((1.0, 0.0), (0.0, 1.0)))


def test_the_command_line_names_options_and_keys_as_they_were_given(file):
    def refuse(*words):
        with pytest.raises(UsageError) as caught:
            COMMAND.main(["score", str(file), "--quiet", *words], standalone_mode=False)
        return str(caught.value)

    roles = ["--outcome", "y", "--forecast", "m"]
    sentence = "`{}` is given, but there is no column of weights; name one with `--weight`."
    assert refuse(*roles, "--weight-kind", "frequency") == sentence.format("--weight-kind")
    (file.parent / "k.toml").write_text('[evaluation]\nweight_kind = "frequency"\n', encoding="utf-8")
    config = ["--config", str(file.parent / "k.toml")]
    assert refuse(*roles, *config) == sentence.format("evaluation.weight_kind")


# ---- what follows from a declaration ----


def test_the_signature_shows_the_most_used_arguments():
    most_used = [
        *("forecasts", "outcome", "classes", "ordered", "weight", "groups", "cluster", "time"),
        *("level", "resamples", "seed", "engine"),
    ]
    assert sr.evaluate.__code__.co_varnames[: 1 + len(most_used)] == ("data", *most_used)
    shown = inspect.signature(sr.evaluate).parameters
    assert list(shown)[1:13] == most_used
    assert set(shown) - {"data"} == set(NAMES)
    for name in NAMES:
        assert shown[name].default == ARGUMENTS[name].default, name
        either = inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert shown[name].kind is (either if name == "forecasts" else inspect.Parameter.KEYWORD_ONLY)
    columns = inspect.signature(read_predictions).parameters
    assert set(columns) - {"source"} == {name for name in COLUMNS if not COLUMNS[name].alias_of}
    for name in list(columns)[3:]:
        assert columns[name].default == COLUMNS[name].default, name
    assert set(Arguments.__annotations__) == set(ARGUMENTS)


def test_settings_that_change_results_are_recorded():
    recorded = {field.name for field in fields(EvaluationSettings)}
    assert recorded - set(SETTINGS) == {"curve_points"}
    unrecorded = {*WORK_SETTINGS, "reference"} - {"engine"}  # its bins and hash are recorded, not its path
    assert set(SETTINGS) - recorded == unrecorded
    for field in fields(EvaluationSettings):
        if field.name in SETTINGS and field.name != "engine":
            assert SETTINGS[field.name].default == field.default, field.name


@pytest.mark.parametrize("name", NAMES)
def test_help_schema_and_docstring_follow_from_the_declaration(name):
    declared = ARGUMENTS[name]
    assert declared.help.endswith(".")
    assert declared.help[0].isupper()
    parameters = {option.name: option for option in COMMAND.commands["score"].params}
    assert declared.option_name in parameters[name].opts
    assert parameters[name].help == option_help(declared, ARGUMENTS)
    assert describe_parameters({name: declared}) in sr.evaluate.__doc__
    keys = configuration_schema()["$defs"]["EvaluationTable"]["properties"]
    assert (name in keys) == declared.in_files == (name in EVALUATION_KEYS)


def test_an_unknown_argument_is_refused_with_the_similar_one(file):
    sentence = by_python(file, BASES["binary"] | {"levl": 0.9})
    assert sentence == "`levl` is not an argument of `evaluate`; did you mean `level`?"
    with pytest.raises(UsageError, match=r"^`zzz` is not an argument of `read_predictions`; see help\("):
        read_predictions(file, outcome="y", forecasts=["m"], zzz=1)


def test_outcome_and_forecasts_must_be_named(file):
    assert by_python(file, {"forecasts": ["m"]}) == "`outcome` is missing: name the column of outcomes."
    assert by_python(file, {"outcome": "y"}).startswith(
        "`forecasts` is missing: name a column of probabilities"
    )


def test_group_is_a_deprecated_name_of_groups():
    frame = pd.DataFrame({"y": [0, 1], "m": [0.2, 0.7], "site": ["a", "b"]})
    with pytest.warns(FutureWarning, match=r"^`group` is deprecated; write `groups` instead\.$") as caught:
        old = sr.read_predictions(frame, outcome="y", forecasts=["m"], group="site")
    assert caught[0].filename == __file__
    assert old.sha256 == sr.read_predictions(frame, outcome="y", forecasts=["m"], groups="site").sha256
    with pytest.warns(FutureWarning, match="deprecated") as caught, pytest.raises(Taken):
        sr.evaluate(frame, outcome="y", forecasts=["m"], group="site")
    assert caught[0].filename == __file__
    with pytest.raises(UsageError, match=r"^`group` is the old name of `groups`, which is given as well"):
        sr.evaluate(frame, outcome="y", forecasts=["m"], group="site", groups="site")


def test_a_declaration_is_checked_by_its_rule():
    declared = {"depth": Declared(name="depth", help="How deep.", rule=Whole(smallest=2), default=3)}
    assert check_arguments({"depth": 4}, declared) == {"depth": 4}
    assert check_arguments({"depth": None}, declared) == {}
    with pytest.raises(UsageError, match=r"^`--depth` must be a whole number of at least 2; got 1\.$"):
        check_arguments({"depth": 1}, declared, lambda name: f"--{name}")
