"""`scorereport init`: what it guesses of columns, and that what it writes is valid and runs as it is."""

from __future__ import annotations

import re
import tomllib
from dataclasses import fields

import duckdb
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import scorereport as sr
from scorereport.cli.application import app
from scorereport.configuration import parse_configuration
from scorereport.configuration.configuration_source import write_toml
from scorereport.configuration.configuration_tables import Configuration
from scorereport.configuration.documented_keys import list_help
from scorereport.configuration.first_configuration import AuditSource, draft_audit, draft_report
from scorereport.data.column_guesses import guess_columns
from scorereport.data.column_samples import read_sample
from scorereport.errors import DataError, UsageError

SUGGESTION = re.compile(r"^# ([a-z_]+) = ")


def make_loans(rows=60, **columns):
    random = np.random.default_rng(3)
    p = random.uniform(0.02, 0.98, rows).round(4)
    y = (random.uniform(size=rows) < p).astype(int)
    return pd.DataFrame({"default": y, "pd_model": p, **columns})


def make_grades(rows=90):
    random = np.random.default_rng(4)
    p = random.dirichlet((1, 1, 1), rows)
    labels = ["very low", "mid_dle", "high"]
    frame = pd.DataFrame({f"{m}_{label}": p[:, k] for m in ("a", "b_2") for k, label in enumerate(labels)})
    frame.insert(0, "grade", [labels[k] for k in random.integers(0, 3, rows)])
    return frame


def write(folder, frame, name="loans.csv"):
    frame.to_csv(folder / name, index=False)
    return str(folder / name)


def guess(path, **keywords):
    return {found.key: found for found in guess_columns(read_sample(path), **keywords)}


def values_of(guesses):
    return {key: found.value for key, found in guesses.items()}


# ---- Guesses ----


def test_columns_of_an_event_are_guessed(tmp_path):
    rows = 60
    frame = make_loans(
        rows,
        challenger=np.linspace(0, 1, rows),
        sample_weight=np.linspace(0.5, 2, rows),
        loan_id=np.arange(rows),
        customer_id=np.arange(rows) // 2,
        rating=np.array(list("ABC"))[np.arange(rows) % 3],
        opened_on=pd.date_range("2026-01-01", periods=rows).strftime("%Y-%m-%d"),
        region=np.where(np.arange(rows) % 2, "north", "south"),
        flag=np.arange(rows) % 2,
        amount=np.linspace(10, 1000, rows),
    )
    guesses = guess(write(tmp_path, frame))
    assert values_of(guesses) == {
        "outcome": "default",
        "forecasts": ("pd_model", "challenger"),
        "weight": "sample_weight",
        "time": "opened_on",
        "grade": "rating",
        "cluster": "customer_id",
        "groups": ("region", "flag"),
    }
    assert guesses["outcome"].others == ("flag",)


def test_columns_of_classes_are_guessed(tmp_path):
    path = write(tmp_path, make_grades())
    assert values_of(guess(path)) == {
        "outcome": "grade",
        "classes": ("very low", "mid_dle", "high"),
        "forecasts": ("a", "b_2"),
    }
    assert values_of(guess(path, forecasts=["b_2"]))["forecasts"] == ("b_2",)
    frame = make_grades()
    frame["a_high"] *= 0.9
    assert values_of(guess(write(tmp_path, frame)))["normalize"] is True


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (make_loans().replace({"default": {0: "good", 1: "bad"}}), {"positive": "bad"}),
        (make_loans().replace({"default": {0: False, 1: True}}), {"outcome": "default"}),
        (make_loans(frequency=np.arange(60) % 3 + 1), {"weight": "frequency", "weight_kind": "frequency"}),
        (
            make_loans(p_0=np.linspace(0, 1, 60), p_1=np.linspace(1, 0, 60)),
            {"forecasts": ("pd_model", "p_1")},
        ),
        (make_loans(team=[None, "a", "b"] * 20), {"missing": "drop", "groups": ("team",)}),
        (
            make_loans(**{f"g{k}": np.arange(60) % 2 + 5 for k in range(7)}),
            {"groups": ("g0", "g1", "g2", "g3", "g4")},
        ),
    ],
)
def test_what_a_column_holds_decides(tmp_path, frame, expected):
    assert values_of(guess(write(tmp_path, frame))).items() >= expected.items()


def test_decimal_commas_are_recognised(tmp_path):
    make_loans().to_csv(tmp_path / "loans.csv", index=False, sep=";", decimal=",")
    found = values_of(guess(str(tmp_path / "loans.csv")))
    assert (found["decimal"], found["forecasts"]) == (",", ("pd_model",))


def test_a_person_overrides_guesses(tmp_path):
    path = write(tmp_path, make_loans(flag=np.arange(60) % 2, other=np.linspace(0, 1, 60)))
    found = guess(path, outcome="flag", forecasts=["other"])
    assert (found["outcome"].value, found["forecasts"].value) == ("flag", ("other",))
    assert found["outcome"].reason == "as given"


@pytest.mark.parametrize(
    ("frame", "keywords", "message"),
    [
        (
            make_loans().drop(columns="default"),
            {},
            r"has no column of outcomes: .* To fix: name the column with --outcome",
        ),
        (
            make_loans().rename(columns={"default": "x"}).assign(z=[0, 1] * 30),
            {},
            r"several columns that may be the outcome: `x` and `z`\. To fix: name one with --outcome\.",
        ),
        (make_loans().drop(columns="pd_model"), {}, r"has no column of forecasts: .*--forecast"),
        (
            make_loans().assign(pd_model=lambda frame: 100 * frame["pd_model"]),
            {},
            r"has no column of forecasts.* To fix: if `pd_model` is in percent, divide it by 100\.",
        ),
        (
            make_loans(amount=np.linspace(5, 90, 60)),
            {"forecasts": ["amount"]},
            r"holds 5 to 90\. To fix: .*percent",
        ),
        (make_loans(), {"outcome": "defualt"}, r"has no column `defualt`.* Did you mean `default`\?"),
        (make_loans(), {"forecasts": ["pd"]}, r"has no column `pd`"),
        (
            make_loans(team=list("abc") * 20),
            {"outcome": "team"},
            r"`team` of loans.csv cannot be the outcome: it has 3",
        ),
        (make_loans().head(0), {}, "holds no rows"),
    ],
)
def test_what_cannot_be_guessed_is_explained(tmp_path, frame, keywords, message):
    with pytest.raises(DataError, match=message):
        guess(write(tmp_path, frame), **keywords)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "loans.csv").touch()
    with pytest.raises(DataError, match=r"loans.csv is empty\."):
        guess(str(tmp_path / "loans.csv"))


def make_sources(folder):
    frame = make_loans()
    yield write(folder, frame), None
    frame.to_csv(folder / "loans.tsv.gz", index=False, sep="\t")
    yield str(folder / "loans.tsv.gz"), None
    frame.to_parquet(folder / "loans.parquet")
    yield str(folder / "loans.parquet"), None
    (folder / "parts").mkdir()
    frame.to_parquet(folder / "parts" / "one.parquet")
    yield str(folder / "parts"), None
    frame.to_excel(folder / "loans.xlsx", sheet_name="rows", index=False)
    yield str(folder / "loans.xlsx"), "rows"
    with duckdb.connect(str(folder / "loans.duckdb")) as connection:
        connection.execute("CREATE TABLE scored AS SELECT * FROM frame")
    yield str(folder / "loans.duckdb"), "scored"
    import sqlite3

    connection = sqlite3.connect(folder / "loans.db")
    frame.to_sql("scored", connection, index=False)
    connection.close()
    yield f"sqlite:///{folder}/loans.db", "scored"


def test_every_kind_of_source_gives_the_same_guesses(tmp_path):
    for source, table in make_sources(tmp_path):
        found = guess_columns(read_sample(source, table))
        assert {one.key: one.value for one in found} == {"outcome": "default", "forecasts": ("pd_model",)}, (
            source
        )


# ---- What is written ----


def list_drafts():
    guesses = guess_columns_of(make_loans(region=["n", "s"] * 30, flag=[0, 1] * 30))
    classes = guess_columns_of(make_grades())
    source = AuditSource(name="loans", file="loans.csv")
    return {
        "report": draft_report(guesses, "scorereport init report loans.csv"),
        "audit": draft_audit(guesses, source, "scorereport init audit loans.csv"),
        "class report": draft_report(classes, "scorereport init report grades.csv"),
        "class audit": draft_audit(classes, source, "scorereport init audit grades.csv"),
    }


def guess_columns_of(frame):
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        return guess_columns(read_sample(write(Path(folder), frame)))


@pytest.fixture(scope="module")
def drafts():
    return list_drafts()


KINDS = ("report", "audit", "class report", "class audit")


@pytest.mark.parametrize("kind", KINDS)
def test_every_suggestion_is_accepted_alone_and_with_all_others(drafts, kind):
    lines = drafts[kind].splitlines()
    places = [place for place, line in enumerate(lines) if SUGGESTION.match(line)]
    assert len(places) > 20
    for place in places:
        chosen = [line.removeprefix("# ") if at == place else line for at, line in enumerate(lines)]
        assert parse_configuration("\n".join(chosen)) != parse_configuration(drafts[kind])
    every = [line.removeprefix("# ") if SUGGESTION.match(line) else line for line in lines]
    parse_configuration("\n".join(every))


@pytest.mark.parametrize("kind", KINDS)
def test_alternatives_replace_the_key_above_them(drafts, kind):
    lines = drafts[kind].splitlines()
    for place, line in enumerate(lines):
        if line.startswith("# or: "):
            key = line.removeprefix("# or: ").partition(" = ")[0]
            above = max(at for at in range(place) if lines[at].startswith(f"{key} = "))
            chosen = [*lines[:above], line.removeprefix("# or: "), *lines[above + 1 :]]
            assert parse_configuration("\n".join(chosen)) != parse_configuration(drafts[kind])


def test_alternatives_are_written(drafts):
    assert '# or: outcome = "flag"' in drafts["report"]
    assert '# or: period = "previous calendar month"' in drafts["audit"]


@pytest.mark.parametrize("kind", KINDS)
def test_comments_fit_and_explain_every_key(drafts, kind):
    lines = drafts[kind].splitlines()
    assert all(len(line) <= 100 for line in lines if line.startswith("# ") and not SUGGESTION.match(line))
    for place, line in enumerate(lines):
        if SUGGESTION.match(line) or re.match(r"[a-z_]+ = ", line):
            assert lines[place - 1].startswith("# "), line
            assert lines[place - 1].rstrip().endswith("."), line
    assert set(tomllib.loads(drafts[kind])) >= {
        "evaluation",
        "limits",
        "report",
        "model",
        "data",
        "people",
        "text",
    }


def test_every_key_of_a_table_has_help():
    tables = Configuration()
    for name in ("report", "model", "data", "people", "checkpoints", "checklist", "texts"):
        table = type(getattr(tables, name))
        assert list(list_help(table)) == [field.name for field in fields(table)]


def test_names_cannot_end_a_comment():
    frame = make_loans().rename(columns={"default": "default\u2028x", "pd_model": 'p"\\'})
    guesses = guess_columns_of(frame.rename(columns={"default\u2028x": "default"}))
    assert parse_configuration(draft_report(guesses, "a\nb = 1\x1b")).evaluation.given["forecasts"] == [
        'p"\\'
    ]


def test_an_audit_has_a_name_that_every_system_allows():
    guesses = guess_columns_of(make_loans())
    for name, expected in {
        "Løans 2026": "L-ans-2026",
        "nul": "audit",
        "...": "audit",
        "x" * 90: "x" * 64,
    }.items():
        text = draft_audit(guesses, AuditSource(name=name, file="a.csv"), "c")
        assert parse_configuration(text).audit.name == expected


# ---- The commands ----


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_a_report_runs_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, make_loans(region=["n", "s"] * 30))
    done = run("init", "report", "loans.csv")
    assert done.exit_code == 0, done.output
    last = done.output.splitlines()[-1].split()
    assert last == ["scorereport", "report", "loans.csv", "--config", "report.toml", "-o", "report.pdf"]
    assert '  outcome = "default"  (the only column that holds only 0 and 1)' in done.output
    card = run(*last[1:-1], "card.md", "--resamples", "20")
    assert card.exit_code == 0, card.output
    assert "pd\\_model" in (tmp_path / "card.md").read_text()


@pytest.mark.sweep
def test_an_audit_runs_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dates = pd.date_range("2026-01-01", periods=60).strftime("%Y-%m-%d")
    (tmp_path / "conf").mkdir()
    write(tmp_path, make_loans(opened_on=dates))
    done = run("init", "audit", "loans.csv", "-o", "conf/audit.toml")
    assert done.exit_code == 0, done.output
    text = (tmp_path / "conf" / "audit.toml").read_text()
    assert 'file = "../loans.csv"' in text
    text = text.replace('# certify = "optional"', 'certify = "off"').replace(
        "# resamples = 1000", "resamples = 20"
    )
    (tmp_path / "conf" / "audit.toml").write_text(
        text.replace('# formats = ["pdf", "html", "json"]', 'formats = ["json"]')
    )
    ran = run(*done.output.splitlines()[-2].split()[1:])
    assert ran.exit_code == 0, ran.output
    assert list((tmp_path / "conf" / "audits" / "reports").rglob("*.json"))


def test_files_are_replaced_only_by_force(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, make_loans())
    (tmp_path / "report.toml").write_text("mine")
    with pytest.raises(UsageError, match=r"^report.toml exists already\. To fix: .* --force\.$"):
        raise run("init", "report", "loans.csv").exception
    assert (tmp_path / "report.toml").read_text() == "mine"
    assert run("init", "report", "loans.csv", "--force").exit_code == 0
    assert sr.evaluate(
        "loans.csv", **parse_configuration((tmp_path / "report.toml").read_text()).arguments, resamples=0
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'FILE'"),
        (("loans.csv", "-o", "report.json"), r"must end in \.toml; got 'report.json'"),
        (("loans.csv", "-o", "no/report.toml"), "The folder no does not exist"),
        (("absent.csv",), "absent.csv is not a file"),
        (("postgresql://me:secret@host/db", "--table", "t"), r"must not hold a password"),
    ],
)
def test_wrong_requests_are_explained(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, make_loans())
    with pytest.raises(UsageError, match=message):
        raise run("init", "report", *arguments).exception
    assert [path.name for path in tmp_path.iterdir()] == ["loans.csv"]


def test_passwords_are_not_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for source, table in make_sources(tmp_path):
        if source.startswith("sqlite"):
            monkeypatch.setenv("FOLDER", str(tmp_path))
            done = run("init", "audit", "sqlite:///${FOLDER}/loans.db", "--table", str(table))
            assert done.exit_code == 0, done.exception
            text = (tmp_path / "audit.toml").read_text()
            assert 'database = "sqlite:///${FOLDER}/loans.db"' in text
            assert 'table = "scored"' in text
            assert str(tmp_path) not in text + done.output


def test_dictionaries_are_written_as_before():
    assert write_toml({"a": {"b": [1, "x"]}}) == '[a]\nb = [1, "x"]\n'
