"""The terminal: what `score` prints, in which order, and that it fits every width."""

from __future__ import annotations

import re
import sys
from io import StringIO

import numpy as np
import pandas as pd
import pytest
from rich.cells import cell_len

import scorereport as sr
from scorereport.cli.table_layout import fit_labels, lay_out
from scorereport.cli.terminal import find_width, print_evaluation, print_tables
from scorereport.configuration.judgement import judge_limits
from scorereport.report.tables.short_tables import MOST_MODELS
from scorereport.report.tables.table import Table
from scorereport.report.tables.table_catalogue import CATALOGUE, find_table

WIDTHS = (40, 60, 80, 132, 200)
NUMBER = re.compile(r"[−\d.]*\d\.\d{3,}")


class Terminal(StringIO):
    def isatty(self):
        return True


def evaluate(models, *, rows=200, **options):
    rng = np.random.default_rng(5)
    p = rng.uniform(0.05, 0.95, rows)
    forecasts = {name: np.clip(p + rng.normal(0, 0.05, rows), 0.01, 0.99) for name in models}
    data = {"y": (rng.random(rows) < p).astype(int), **forecasts, "site": rng.choice(["east", "west"], rows)}
    return sr.evaluate(pd.DataFrame(data), outcome="y", forecasts=list(models), **options)


@pytest.fixture(scope="module")
def two():
    return evaluate(["logit", "probit"], groups="site", resamples=40)


@pytest.fixture(scope="module")
def wide():
    return evaluate(["信用风险模型二零二六", "ロジット回帰 基本", "a" * 70, "b" * 70], resamples=0)


@pytest.fixture(scope="module")
def many():
    return evaluate([f"model_{number:02d}" for number in range(60)], rows=60, resamples=0)


def printed(evaluation, monkeypatch, width=None, **options):
    monkeypatch.delenv("COLUMNS", raising=False)
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    out = StringIO()
    print_evaluation(evaluation, out, **options)
    return out.getvalue()


# ---- the width ----


@pytest.mark.sweep(after=11)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["two", "wide", "many"])
def test_no_line_is_wider_than_the_terminal(request, monkeypatch, name, width):
    text = printed(request.getfixturevalue(name), monkeypatch, width, everything=True)
    assert [line for line in text.splitlines() if cell_len(line) > width] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_a_narrow_terminal_shows_every_number(two, monkeypatch, width):
    whole, narrow = (
        printed(two, monkeypatch, columns, everything=True).partition("\nMean scores")[2]
        for columns in (None, width)
    )
    numbers = NUMBER.findall(whole)
    assert len(numbers) > 100
    assert sorted(NUMBER.findall(narrow)) == sorted(numbers)


def test_without_a_terminal_lines_are_whole_unless_columns_is_set(two, monkeypatch):
    text = printed(two, monkeypatch)
    assert "- " + two.findings[0] + "\n" in text
    assert max(map(len, text.splitlines())) > 200
    assert max(map(len, printed(two, monkeypatch, 80).splitlines())) <= 80


@pytest.mark.parametrize("given", ["", "0", "-5", "wide"])
def test_other_values_of_columns_are_ignored(monkeypatch, given):
    monkeypatch.setenv("COLUMNS", given)
    assert find_width(StringIO()) is None


def test_a_terminal_has_a_width(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert find_width(Terminal()) > 0
    monkeypatch.setenv("COLUMNS", "3")
    assert find_width(Terminal()) == 20


@pytest.mark.parametrize(("is_terminal", "no_color"), [(False, False), (True, True)])
def test_there_are_no_colours_where_none_are_wanted(two, monkeypatch, is_terminal, no_color):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal() if is_terminal else StringIO()
    print_evaluation(two, out)
    codes = set(re.findall(r"\x1b\[([0-9;]*)m", out.getvalue()))
    assert codes <= ({"1", "0"} if is_terminal else set())  # bold is not a colour


# ---- tables ----


def make_table(heads, *rows, n_labels=1, section=0):
    return Table(caption="A caption", heads=tuple(heads), rows=rows, n_labels=n_labels, section=section)


def test_a_split_table_repeats_its_labels_and_keeps_intervals_with_their_numbers():
    table = make_table(
        ["score", "model", "mean", "interval", "skill", "interval", "rank"],
        ("Brier", "logit", "0.2015", "[0.1971, 0.2059]", "7.0 %", "[5.9, 8.1]", "1"),
        n_labels=2,
    )
    assert [block.places for block in lay_out(table, 45)] == [(0, 1, 2, 3), (0, 1, 4, 5, 6)]
    assert [block.places for block in lay_out(table, None)] == [(0, 1, 2, 3, 4, 5, 6)]
    assert lay_out(table, 30)[0].places == (0, 1, 2)  # the interval has no room beside it


def test_a_little_too_wide_table_is_set_with_narrow_gaps():
    table = make_table(["model", "mean", "MCB", "DSC"], ("logit", "0.2015", "0.0013", "0.0147"))
    assert [(block.gap, block.width) for width in (29, 28, 26) for block in lay_out(table, width)] == [
        (2, 29),
        (1, 26),
        (1, 26),
    ]
    assert len(lay_out(table, 25)) == 2


def test_heads_wrap_before_tables_are_split():
    table = make_table(["model", "rows of the reference"], ("logit", "120"))
    (block,) = lay_out(table, 20)
    assert block.widths == (5, len("reference"))


def test_a_table_of_labels_takes_the_whole_width(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    out = StringIO()
    print_tables([make_table(["name", "text"], ("x", "several words " * 5), n_labels=2)], out)
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) == 40
    assert out.getvalue().count("several words") == 5


def test_long_names_are_shortened_only_if_they_stay_distinct():
    assert fit_labels(["model_with_a_long_name_1", "model_with_a_long_name_2", "c"], 10) == [
        "model…me_1",
        "model…me_2",
        "c",
    ]
    same = ["prefix_1_suffix_suffix", "prefix_2_suffix_suffix"]
    assert fit_labels(same, 9) == same
    assert [cell_len(text) for text in fit_labels(["信用风险模型二零二六"], 9)] <= [9]


def test_names_cannot_control_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = StringIO()
    print_tables([make_table(["model", "mean"], ("evil\x1b[2J\x07", "0.5"))], out)
    assert "\x1b" not in out.getvalue()
    assert "\x07" not in out.getvalue()


# ---- what is printed first ----


def test_the_verdict_comes_first_then_findings_then_short_tables(two, monkeypatch):
    judgements = judge_limits(two, {"brier": {"fail": 0.01}})
    text = printed(two, monkeypatch, judgements=judgements)
    order = ("Fail: 2 of 2 limits are breached.", "\nNot fit for use: logit (the only limit breached) and")
    order += ("\nLimits: 2 fail ✗\n", "\nFindings\n- ", "\nWhat to do\n- Do not use logit and probit in the")
    order += ("\nWhat is missing\n- ", " rows read", "Mean scores", "CORP decomp", "Tables of ")
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert places[0] == 0
    assert "By site" not in text


def test_the_matrix_of_limits_has_a_column_for_each_model(two, monkeypatch):
    judgements = judge_limits(two, {"brier": {"fail": 0.01}, "prevalence": {"min": 0.1, "max": 0.9}})
    lines = printed(two, monkeypatch, judgements=judgements).splitlines()
    heads = next(line for line in lines if line.startswith("limit on"))
    assert heads.split() == ["limit", "on", "limit", "logit", "probit"]
    assert any(line.startswith("Data: ✓ prevalence ") for line in lines)
    row = next(line for line in lines if line.startswith("Brier score") and "✗" in line)
    assert row.count("✗") == 2
    assert row.count("[") == 2
    last = next(line for line in lines if line.startswith("verdict"))
    assert last.split() == ["verdict", "all", "limits", "fail", "fail"]


def test_without_limits_findings_come_first(two, monkeypatch):
    assert printed(two, monkeypatch).startswith("Findings\n- ")


def test_many_models_are_cut_visibly(many, monkeypatch):
    text = printed(many, monkeypatch)
    shown = text[: text.index("What to do")].count("\n- ")
    assert 1 <= shown <= 7
    assert len(many.findings) == shown or f"{len(many.findings) - shown} more finding" in text
    assert f"Tables show the {MOST_MODELS} of 60 models with the lowest main score." in text
    assert re.search(r"\n\d+ more rows: --show scores\n", text)
    assert len(text.splitlines()) < 80


# ---- names of tables ----


def test_names_of_tables_are_unique_and_described():
    names = [table.name for table in CATALOGUE]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in names)
    assert {"all", "list", "findings"}.isdisjoint(names)
    assert all(table.contents for table in CATALOGUE)
    assert find_table("calibration_tests") is find_table("calibration-tests") is not None


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.csv"
    pd.DataFrame({"y": [0, 1, 0, 1, 1] * 9, "a": [0.1, 0.6, 0.4, 0.8, 0.3] * 9}).to_csv(path, index=False)
    return path


REQUIRED = ("--outcome", "y", "--forecast", "a", "--resamples", "0")
FEW = (*REQUIRED[:-1], "40")


@pytest.mark.parametrize("option", ["--show", "--table"])
@pytest.mark.parametrize("name", ["decompositions", "Decompositions"])
def test_one_table_is_printed_alone(call, file, option, name):
    code, text, error = call("score", file, *REQUIRED, option, name)
    assert (code, error) == (0, "")
    assert text.startswith("CORP decomposition: mean = MCB − DSC + UNC\nscore ")
    assert "Findings" not in text
    assert text.count("\n\n") == 0


def test_findings_and_all_are_names_too(call, file):
    findings = call("score", file, *REQUIRED, "--show", "findings")[1].splitlines()
    assert findings[0] == "- Only 18 non-events in 45 cases: with fewer than 20 numbers say little."
    assert findings[1].startswith("- a has a Brier score of ")
    text = call("score", file, *REQUIRED, "--show", "all")[1]
    assert text.startswith("Findings\n- ")
    assert "Forecasts: smallest, quantiles" in text


def test_the_list_needs_no_file(call):
    code, text, error = call("score", "--show", "list")
    assert (code, error) == (0, "")
    assert [line.split()[0] for line in text.splitlines()[3:]] == [
        *(table.name for table in CATALOGUE),
        *("findings", "all", "list"),
    ]


def test_an_unknown_name_lists_all_and_suggests_one(call, file):
    code, text, error = call("score", file, *REQUIRED, "--show", "scors")
    assert (code, text) == (2, "")
    assert "\ncalibration-tests " in error
    assert error.endswith(
        "scorereport: `--show` must be one of the names above; got 'scors'. Did you mean `scores`?\n"
    )


def test_a_table_that_the_results_lack_is_refused(call, file):
    code, text, error = call("score", file, *REQUIRED, "--show", "groups")
    assert (code, text) == (2, "")
    assert error.startswith(
        "scorereport: These results have no table `groups`, which needs --group. They have scores, "
    )


def test_other_names_of_tables_of_a_file_are_refused(call, file):
    code, text, error = call("score", file, *REQUIRED, "--table", "May")
    assert (code, text) == (2, "")
    assert error.endswith("p.csv is none of them. To print one table of the results, give --show NAME.\n")


def test_the_table_of_a_database_is_not_a_table_of_the_results(call, tmp_path):
    import duckdb

    with duckdb.connect(tmp_path / "d.duckdb") as connection:
        connection.sql("create table scores as select 0 as y, 0.2 as a union all select 1, 0.7")
    code, text, _ = call("score", tmp_path / "d.duckdb", *REQUIRED, "--table", "scores")
    assert code == 0
    assert text.startswith("Findings\n")


def test_a_table_or_the_document_is_printed_not_both(call, file):
    code, _, error = call("score", file, *REQUIRED, "--show", "scores", "--json")
    assert code == 2
    assert error.startswith("scorereport: Give either --show or --json")


def write_limits(folder, verdict):
    path = folder / "limits.toml"
    path.write_text(f"[limits]\nbrier = {{fail = {0.9 if verdict == 'pass' else 0.01}}}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(("verdict", "code"), [("pass", 0), ("fail", 1)])
@pytest.mark.parametrize("show", [[], ["--show", "scores"]])
def test_scripts_find_verdicts_on_standard_error(call, file, tmp_path, verdict, code, show):
    config = write_limits(tmp_path, verdict)
    done, text, error = call("score", file, *FEW, *show, "--config", config)
    assert done == code
    assert "Limits: 1 " in error
    assert ("Limits: 1 " in text) is not show


def test_a_person_reads_verdicts_once(call, file, tmp_path, monkeypatch):
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    _, text, error = call("score", file, *FEW, "--quiet", "--config", write_limits(tmp_path, "fail"))
    assert text.count("Limits: 1 fail ✗") == 1
    assert error == ""
