"""The command line as a user meets it: in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from io import StringIO

import pandas as pd
import pytest

import scorereport as sr
from scorereport.cli import main
from scorereport.errors import ExitCode
from scorereport.terminal import print_evaluation


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "scorereport", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        encoding="utf-8",
        **options,
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "p.csv"
    frame = pd.DataFrame(
        {"y": [0, 1, 0, 1, 1], "a": [0.1, 0.6, 0.4, 0.8, 0.0], "b": [0.2, 0.7, 0.3, 0.9, 0.5]}
    )
    frame.assign(g=["n", "s", "n", "s", "s"]).to_csv(path, index=False)
    return path


def test_score_prints_tables(file):
    done = run("score", file, "--outcome", "y", "--forecast", "a", "--forecast", "b", "--group", "g")
    assert (done.returncode, done.stderr) == (ExitCode.DONE, "")
    assert done.stdout.startswith(
        "p.csv: 5 rows read, 5 kept. Outcome y = 1: 3 events, prevalence 60.0 %.\n\nMean scores."
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert ["model", "Brier", "log", "misclass.", "spherical", "AUC", "↑"] in rows
    # Brier of a: (.01 + .16 + .16 + .04 + 1) / 5; of b: (.04 + .09 + .09 + .01 + .25) / 5
    assert ["a", "0.2740", "∞", "0.2000", "0.2744", "0.6667"] in rows
    assert ["b", "0.0960", "0.3470", "0.1000", "0.0981", "1.0000"] in rows
    assert (
        "Note. a: the log score is infinite, because 1 case was called impossible and happened" in done.stdout
    )


def test_json_is_the_results_document(file):
    done = run("score", file, "--outcome", "y", "--forecast", "b", "--cost-interval", 0.1, 0.3, "--json")
    assert done.returncode == 0
    evaluation = sr.evaluate(file, outcome="y", forecasts=["b"], cost_interval=(0.1, 0.3))
    assert done.stdout == evaluation.to_json()
    assert json.loads(done.stdout)["settings"]["cost_interval"] == [0.1, 0.3]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ["--outcome", "y", "--forecast", "c"],
            ExitCode.DATA_REFUSED,
            "scorereport: p.csv has no column `c`; it has `y`, `a`, `b`, `g`.",
        ),
        (
            ["--outcome", "g", "--forecast", "a"],
            ExitCode.DATA_REFUSED,
            "scorereport: `g` must hold 0 and 1, or True and False; "
            "got 'n' at row 0 (5 of 5 rows: 0, 1, 2, 3, 4). "
            "For other labels, name the one that counts as `positive`.",
        ),
        (
            ["--outcome", "y", "--forecast", "g"],
            ExitCode.DATA_REFUSED,
            "scorereport: `g` must be numeric; got 'n' at row 0 (5 of 5 rows: 0, 1, 2, 3, 4).",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--missing", "keep"],
            ExitCode.USAGE,
            'scorereport: `missing` must be one of "refuse", "drop"; got \'keep\'.',
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--cost-interval", "0.3", "0.1"],
            ExitCode.USAGE,
            "scorereport: `lower` must be below `upper`; got 0.3 and 0.1.",
        ),
    ],
)
def test_refusals_are_one_line_and_an_exit_code(file, arguments, code, sentence):
    done = run("score", file, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", sentence + "\n")


REFUSED = {
    "missing": (
        "y,a\n0,.1\n1,\n",
        [],
        "`a` must not be missing; got nan at row 1 (1 of 2 rows). "
        'Fill them, or pass missing="drop" (--missing drop) to leave these rows out.',
    ),
    "above one": ("y,a\n0,.1\n1,1.03\n", [], "`a` must lie in [0, 1]; got 1.03 at row 1 (1 of 2 rows)."),
    "below zero": ("y,a\n0,-.1\n1,.3\n", [], "`a` must lie in [0, 1]; got -0.1 at row 0 (1 of 2 rows)."),
    "infinite": ("y,a\n0,.1\n1,inf\n", [], "`a` must be finite; got inf at row 1 (1 of 2 rows)."),
    "text": ("y,a\n0,high\n1,.3\n", [], "`a` must be numeric; got 'high' at row 0 (1 of 2 rows)."),
    "not binary": (
        "y,a\n0,.1\n2,.3\n",
        [],
        "`y` must hold 0 and 1, or True and False; got '2' at row 1 (1 of 2 rows). "
        "For other labels, name the one that counts as `positive`.",
    ),
    "three labels": (
        "y,a\nno,.1\nyes,.3\nmaybe,.2\n",
        ["--positive", "yes"],
        "`y` must hold two labels, not 3 ('maybe', 'no', 'yes'); got 'maybe' at row 2 (1 of 3 rows).",
    ),
    "empty file": ("", [], "p.csv is empty."),
    "no rows": ("y,a\n", [], "p.csv holds no rows."),
    "absent column": ("y,b\n0,.1\n", [], "p.csv has no column `a`; it has `y`, `b`."),
    "duplicate column": ("y,a,a\n0,.1,.2\n", [], "p.csv has 2 columns named `a`; names must differ."),
    "negative weight": (
        "y,a,w\n0,.1,-1\n1,.3,2\n",
        ["--weight", "w"],
        "`w` must not be negative; got -1.0 at row 0 (1 of 2 rows).",
    ),
    "no weight": (
        "y,a,w\n0,.1,0\n1,.3,0\n",
        ["--weight", "w"],
        "`w` must not be all zero; got 0 in all 2 rows.",
    ),
    "other kind of file": ("PAR1", [], "p.csv is named like CSV but holds Parquet."),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_bad_input_of_every_kind_gets_its_sentence_and_exit_code(tmp_path, monkeypatch, capsys, kind):
    content, options, sentence = REFUSED[kind]
    path = tmp_path / "p.csv"
    path.write_text(content, encoding="utf-8")
    arguments = ["scorereport", "score", str(path), "--outcome", "y", "--forecast", "a", *options]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == ExitCode.DATA_REFUSED == 4
    assert capsys.readouterr() == ("", f"scorereport: {sentence}\n")


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path):
    done = run("score", "none.csv", "--outcome", "y", "--forecast", "a", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (ExitCode.USAGE, "scorereport: none.csv is not a file.\n")


def test_a_place_that_cannot_be_written_is_one_line(tmp_path):
    done = run("demo", "--save", tmp_path / "nowhere" / "x.csv")
    assert done.returncode == ExitCode.USAGE
    assert done.stderr.startswith("scorereport: [Errno 2] No such file or directory")
    assert done.stderr.count("\n") == 1


def test_terminals_without_the_signs_still_get_the_numbers(file):
    done = run(
        "score", file, "--outcome", "y", "--forecast", "b", env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert done.returncode == 0
    assert "0.0960" in done.stdout


def test_bad_arguments_are_usage_errors(file):
    assert run("score", file, "--outcome", "y").returncode == ExitCode.USAGE
    assert run("skore").returncode == ExitCode.USAGE


def test_version():
    assert run("--version").stdout == f"scorereport {sr.__version__}\n"


def test_help_imports_neither_pandas_nor_matplotlib():
    probe = (
        "import sys; from scorereport.cli import main\n"
        "sys.argv = ['scorereport', '--help']\n"
        "try: main()\n"
        "except SystemExit as stop: assert not stop.code\n"
        "print(sorted({'numpy', 'pandas', 'matplotlib', 'scipy', 'statsmodels'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert "score" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"


def test_import_loads_nothing_heavy():
    probe = "import sys, scorereport; print(sorted({'numpy', 'pandas', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    saved = tmp_path_factory.mktemp("demo") / "predictions.csv"
    return run("demo", "--save", saved), saved


def test_the_demo_tells_the_overconfident_model_from_the_other(demo):
    done, saved = demo
    assert (done.returncode, done.stderr) == (0, "")
    assert "6,730 rows read" in done.stdout
    fit = {
        name: sr.corp(pd.read_csv(saved)["any_visit"], pd.read_csv(saved)[name])
        for name in ("logit", "overconfident")
    }
    good, bad = fit["logit"].decompose("brier"), fit["overconfident"].decompose("brier")
    assert bad.discrimination == pytest.approx(good.discrimination, abs=1e-12)  # the same order of cases
    assert bad.miscalibration > 5 * good.miscalibration
    assert f"{bad.miscalibration:.4f}" in done.stdout


def test_the_demo_file_can_be_scored(demo):
    done, saved = demo
    scored = run("score", saved, "--outcome", "any_visit", "--forecast", "logit", "--group", "plan")
    assert scored.returncode == 0
    row = next(line for line in done.stdout.splitlines() if line.startswith("logit "))
    assert (
        row.split()[:3] == next(r for r in scored.stdout.splitlines() if r.startswith("logit ")).split()[:3]
    )


def test_no_number_is_cut_however_many_columns(file):
    out = StringIO()
    evaluation = sr.evaluate(file, outcome="y", forecasts=["b"], group="g", cost_interval=(0.1, 0.3))
    print_evaluation(evaluation, out)
    assert "0.0960" in out.getvalue()
    assert "…" not in out.getvalue()
