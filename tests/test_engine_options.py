"""Engine and source of the rows, on the command line and in a configuration."""

from __future__ import annotations

import sqlite3
import sys
from contextlib import closing

import duckdb
import pandas as pd
import pytest

from scorereport.cli.report_commands import describe_command
from scorereport.configuration import configuration_schema, parse_configuration
from scorereport.data.sources import is_command_address, open_command_source
from scorereport.errors import DataError, ExitCode, ScoreReportError, UsageError
from scorereport.evaluation import dispatch

ROLES = ["--outcome", "y", "--forecast", "a"]
FRAME = pd.DataFrame({"y": [0, 1, 0, 1, 1], "a": [0.1, 0.6, 0.4, 0.8, 0.3]})


@pytest.fixture
def passed_arguments(monkeypatch):
    """The arguments that `evaluate` is called with; it raises an error."""
    found = {}

    def evaluate(source, **arguments):
        found.update(arguments, source=source)
        raise UsageError("Enough.")

    monkeypatch.setattr(dispatch, "evaluate", evaluate)
    return found


# ---- options ----


@pytest.mark.parametrize("command", ["score", "report"])
def test_options_reach_the_evaluation(call, passed_arguments, tmp_path, command):
    code, _, error = call(
        command,
        "p.csv",
        *ROLES,
        "--engine",
        "duckdb",
        "--memory-limit",
        "1GB",
        "--temporary-folder",
        tmp_path,
    )
    assert (code, error) == (ExitCode.USAGE, "scorereport: Enough.\n")
    assert {
        key: str(passed_arguments[key]) for key in ("source", "engine", "memory_limit", "temporary_folder")
    } == {
        "source": "p.csv",
        "engine": "duckdb",
        "memory_limit": "1GB",
        "temporary_folder": str(tmp_path),
    }


def test_options_not_given_are_not_passed_on(call, passed_arguments):
    call("score", "p.csv", *ROLES)
    assert passed_arguments == {"source": "p.csv", "outcome": "y", "forecasts": ["a"]}


def test_other_engines_are_refused(call, passed_arguments):
    code, _, error = call("score", "p.csv", *ROLES, "--engine", "postgres")
    assert code == ExitCode.USAGE
    assert '`--engine` must be one of "auto", "memory", "duckdb", "spark"; got \'postgres\'' in error
    assert passed_arguments == {}


def test_options_override_the_configuration(call, passed_arguments, tmp_path):
    config = tmp_path / "c.toml"
    config.write_text(
        '[evaluation]\noutcome = "y"\nforecasts = ["a"]\nengine = "duckdb"\nmemory_limit = "2GB"\n'
        'temporary_folder = "work"\n'
    )
    call("score", "p.csv", "--config", config, "--memory-limit", "1GB")
    assert (passed_arguments["engine"], passed_arguments["memory_limit"]) == ("duckdb", "1GB")
    assert passed_arguments["temporary_folder"] == str(tmp_path / "work")  # beside the configuration


def test_a_report_rendered_again_needs_no_engine(call, tmp_path):
    code, _, error = call(
        "report", "--from", tmp_path / "r.json", "--engine", "duckdb", "-o", tmp_path / "r.html"
    )
    assert (code, error) == (
        ExitCode.USAGE,
        "scorereport: Give either FILE with its options, or --from: with --from, results are rendered as "
        "they are.\n",
    )


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_certificate_of_rows_that_r_cannot_hold_is_refused_before_the_work(call, passed_arguments, engine):
    code, _, error = call("score", "p.csv", *ROLES, "--engine", engine, "--certify")
    assert (code, error) == (
        ExitCode.USAGE,
        "scorereport: `--certify` needs all rows in memory, because R does, but the engine is "
        f"{engine}. To fix: leave out --certify, or give --engine memory if the machine has enough memory.\n",
    )
    assert passed_arguments == {}


@pytest.mark.usefixtures("passed_arguments")
def test_a_large_file_is_certified_only_with_the_memory_engine(call, tmp_path, monkeypatch):
    FRAME.to_parquet(tmp_path / "p.parquet")
    monkeypatch.setattr("scorereport.evaluation.engines.engine_choice.physical_memory", lambda: 100)
    assert "but the engine is duckdb" in call("score", tmp_path / "p.parquet", *ROLES, "--certify")[2]
    assert "Enough." in call("score", tmp_path / "p.parquet", *ROLES, "--certify", "--engine", "memory")[2]


def test_the_help_lists_all_kinds_of_sources(call):
    _, text, _ = call("score", "--help")
    shown = " ".join(text.split())
    for word in (
        ".parquet",
        ".duckdb",
        "folder",
        "--table",
        "--engine",
        "--memory-limit",
        "--temporary-folder",
    ):
        assert word in shown


# ---- addresses ----


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql+psycopg://me@host/loans", True),
        ("sqlite:///loans.db", True),
        ("${DATABASE}", True),
        ("scores/2026-10.parquet", False),
        ("C:/scores.csv", False),
        ("a:b.csv", False),
    ],
)
def test_addresses_differ_from_paths(text, expected):
    assert is_command_address(text) is expected


def test_variables_are_put_into_an_address_and_nowhere_else(call, passed_arguments, monkeypatch):
    monkeypatch.setenv("LOANS_PASSWORD", "p@ss/word")
    call("score", "postgresql+psycopg://me:${LOANS_PASSWORD}@host/loans", "--table", "risk.scores", *ROLES)
    assert passed_arguments["source"] == "postgresql+psycopg://me:p%40ss%2Fword@host/loans"
    assert passed_arguments["table"] == "risk.scores"
    call("score", "scores-${LOANS_PASSWORD}.csv", *ROLES)
    assert passed_arguments["source"] == "scores-${LOANS_PASSWORD}.csv"


def test_a_password_on_the_command_line_is_refused_and_not_repeated(call, passed_arguments):
    code, out, error = call("score", "postgresql://me:hunter22@host/loans", "--table", "scores", *ROLES)
    assert (code, out) == (ExitCode.USAGE, "")
    assert error == (
        "scorereport: `FILE` must not hold a password, because reports carry the command that made them: "
        "write ${NAME} in its place, in single quotes, and set the environment variable NAME.\n"
    )
    assert passed_arguments == {}


def test_a_variable_that_is_not_set_is_named(call, monkeypatch):
    monkeypatch.delenv("NO_SUCH_WORD", raising=False)
    code, _, error = call("score", "postgresql://me:${NO_SUCH_WORD}@host/loans", "--table", "t", *ROLES)
    assert code == ExitCode.USAGE
    assert "`FILE` needs the environment variable NO_SUCH_WORD, which is not set" in error


@pytest.mark.parametrize("error", [DataError, ValueError])
def test_errors_are_reported_without_the_secret(monkeypatch, error):
    monkeypatch.setenv("LOANS_PASSWORD", "hunter22/x")

    def fail():
        with open_command_source("postgresql://me:${LOANS_PASSWORD}@host/loans") as address:
            raise error(f"Nobody answers at {address} to hunter22/x")

    with pytest.raises(ScoreReportError) as failure:
        fail()
    assert "hunter22" not in str(failure.value)
    assert "Nobody answers at postgresql://***@host/loans to ***" in str(failure.value)
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__ or failure.value.__context__ is None


def test_a_path_hides_nothing():
    def fail():
        with open_command_source("p.csv") as path:
            raise ValueError(f"{path} as it is")

    with pytest.raises(ValueError, match=r"^p\.csv as it is$"):
        fail()


@pytest.mark.parametrize(
    ("words", "recorded"),
    [
        (
            ["score", "postgresql://me:${WORD}@host/loans", "--table", "t"],
            "scorereport score 'postgresql://me:${WORD}@host/loans' --table t",
        ),
        (["score", "postgresql://me:hunter22@host/loans"], "scorereport score 'postgresql://***@host/loans'"),
        (
            ["report", "p", "--temporary-folder", "/scratch", "--engine", "duckdb", "-o", "r.pdf"],
            "scorereport report p --engine duckdb",
        ),
        (["report", "p", "--temporary-folder=/scratch"], "scorereport report p"),
    ],
)
def test_the_recorded_command_leaves_out_passwords_and_folders(monkeypatch, words, recorded):
    monkeypatch.setattr(sys, "argv", ["scorereport", *words])
    assert describe_command() == recorded


# ---- sources ----


@pytest.mark.sweep
def test_tables_of_databases_and_folders_are_scored_like_files(call, tmp_path, monkeypatch):
    monkeypatch.setenv("PLACE", str(tmp_path))
    FRAME.to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "parts").mkdir()
    FRAME[:2].to_parquet(tmp_path / "parts" / "1.parquet")
    FRAME[2:].to_parquet(tmp_path / "parts" / "2.parquet")
    with closing(sqlite3.connect(tmp_path / "s.db")) as connection:
        FRAME.to_sql("scored", connection, index=False)
    with duckdb.connect(tmp_path / "d.duckdb") as connection:
        connection.register("frame", FRAME)
        connection.execute("CREATE TABLE scored AS SELECT * FROM frame")
    table = ["--table", "scored"]
    sources = {
        "p.csv": [],
        "parts": [],
        "parts/*.parquet": [],
        "d.duckdb": table,
    }
    results = {
        name: call("score", tmp_path / name, *ROLES, *options, "--resamples", 0)
        for name, options in sources.items()
    }
    results["sql"] = call("score", "sqlite:///${PLACE}/s.db", *ROLES, *table, "--resamples", 0)
    tables = {name: text.partition("Mean scores")[2] for name, (_, text, _) in results.items()}
    assert [code for code, _, _ in results.values()] == [0] * 5
    assert tables["p.csv"]
    assert len(set(tables.values())) == 1
    assert str(tmp_path) not in results["sql"][1]


# ---- configuration ----


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            'engine = "postgres"',
            '`evaluation.engine` must be one of "auto", "memory", "duckdb", "spark"; got \'postgres\'.',
        ),
        ("engine = 1", '`evaluation.engine` must be one of "auto", "memory", "duckdb", "spark"; got 1.'),
        (
            'memory_limit = "much"',
            '`evaluation.memory_limit` must be a size such as "1GB" or "512MB"; got \'much\'.',
        ),
        ('memory_limit = "1KB"', "`evaluation.memory_limit` must be at least"),
    ],
)
def test_keys_of_the_engine_are_checked(line, message):
    with pytest.raises(UsageError) as refusal:
        parse_configuration(f"[evaluation]\n{line}")
    assert f"configuration: {message}" in str(refusal.value)


def test_keys_of_the_engine_are_not_settings_of_the_results():
    parsed = parse_configuration('[evaluation]\nengine = "duckdb"\nmemory_limit = "1GB"\nlevel = 0.9')
    assert parsed.evaluation.settings == {"level": 0.9}
    assert parsed.work == {"engine": "duckdb", "memory_limit": "1GB"}
    assert parsed.arguments == {"engine": "duckdb", "memory_limit": "1GB", "level": 0.9}


def test_the_schema_lists_the_engines():
    keys = configuration_schema()["$defs"]["EvaluationTable"]["properties"]
    assert keys["engine"]["enum"] == ["auto", "memory", "duckdb", "spark"]
    assert {"memory_limit", "temporary_folder"} <= keys.keys()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('file = "l.duckdb"', "`audit.source.file` names a database, and needs a `table`."),
        (
            'file = "l.duckdb"\ntable = "t"\nquery = "SELECT 1"',
            "`audit.source.query` cannot be used with a `file`, even one that is a database.",
        ),
        (
            'file = "l.csv"\ntable = "t"',
            "`audit.source` must have one of `file`, `query` and `table`; got `file` and `table`.",
        ),
    ],
)
def test_a_database_in_a_file_has_a_table(lines, message):
    with pytest.raises(UsageError) as refusal:
        parse_configuration(f"[audit.source]\n{lines}")
    assert message in str(refusal.value)
    assert parse_configuration('[audit.source]\nfile = "l.duckdb"\ntable = "t"').audit.source.table == "t"
