"""The command line: mostly called in this process, at times in one of its own."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from functools import partial
from io import StringIO

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.cli import main
from scorereport.cli.terminal import print_evaluation
from scorereport.errors import ExitCode
from scorereport.evaluation import dispatch
from scorereport.examples import doctor_visits
from scorereport.reference import certification

FEW = ["--resamples", "40"]


def run(*arguments, **options):
    # Without `env`, commands would get COLUMNS of readline, which pytest loads and os.environ does not show.
    options.setdefault("env", dict(os.environ))
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


@pytest.fixture(scope="module")
def long(tmp_path_factory):
    """A file that has a column for every option."""
    rng = np.random.default_rng(1)
    p = rng.uniform(0.05, 0.95, 120)
    path = tmp_path_factory.mktemp("cli") / "long.csv"
    frame = pd.DataFrame(
        {
            "happened": np.where(rng.random(120) < p, "yes", "no"),
            "a": p,
            "b": p.round(1).clip(0.05, 0.95),
            "site": rng.choice(["east", "west", "north"], 120, p=[0.48, 0.48, 0.04]),
            "bank": np.arange(120) // 4,
            "rating": np.where(p < 0.5, "A", "B"),
            "day": pd.date_range("2022-01-01", periods=120),
            "w": rng.integers(1, 4, 120),
        }
    )
    frame.to_csv(path, index=False)
    return path


REQUIRED = ["--outcome", "happened", "--positive", "yes", "--forecast", "a"]


def rows_of(text):
    return [line.split() for line in text.splitlines()]


def test_score_prints_tables(file):
    done = run(
        "score", file, "--outcome", "y", "--forecast", "a", "--forecast", "b", "--group", "g", *FEW,
        "--smallest-group", 1, "--show", "all",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (ExitCode.DONE, "")
    assert done.stdout.startswith("Findings\n- Only 2 non-events in 5 cases: ")
    assert "\n- b has the lowest Brier score, 0.0960; " in done.stdout
    assert (
        "\n\np.csv: 5 rows read, 5 kept. Outcome y = 1: 3 events, prevalence 60.0 %.\n\nMean scores "
        in done.stdout
    )
    assert (
        "\n95 % intervals: BCa bootstrap of scores and skills over 40 resamples of rows (seed 2021); "
        in done.stdout
    )
    rows = rows_of(done.stdout)
    assert ["score", "model", "mean", "interval", "skill", "interval", "rank"] in rows
    # Brier of a: (.01 + .16 + .16 + .04 + 1) / 5; of b: (.04 + .09 + .09 + .01 + .25) / 5
    assert ["Brier", "score", "a", "0.2740"] in [row[:4] for row in rows]
    assert ["Brier", "score", "b", "0.0960"] in [row[:4] for row in rows]
    assert ["Log", "score", "a", "∞", "−∞", "%", "2"] in rows
    assert ["Log", "score", "b", "0.3470"] in [row[:4] for row in rows]
    assert ["AUC", "↑", "b", "1.0000"] in [row[:4] for row in rows]
    assert ["g", "model", "rows", "events", "prevalence", "Brier", "interval"] in [row[:7] for row in rows]
    assert ["n", "a", "2", "0", "0.0", "%", "0.0850"] in [row[:7] for row in rows]
    assert "Note. Only 2 non-events: with fewer than 20 intervals say little." in done.stdout
    assert (
        "Note. a: the log score is infinite, because 1 forecast was 0 for an event or 1 for a non-event"
        in done.stdout
    )
    assert (
        "Note. g: p-values of groups are not adjusted; Holm's p-values are adjusted for all 2 groups."
        in done.stdout
    )


def test_without_resamples_tables_have_no_intervals(call, file):
    code, text, error = call("score", file, "--outcome", "y", "--forecast", "b", "--resamples", 0)
    assert (code, error) == (0, "")
    assert ["score", "model", "mean", "skill"] in rows_of(text)
    assert ["Brier", "score", "b", "0.0960", "60.0", "%"] in rows_of(text)
    assert "interval" not in text.replace("(no intervals were requested)", "")


def test_json_is_the_results_document(call, file):
    done = call(
        "score", file, "--outcome", "y", "--forecast", "b", "--cost-interval", 0.1, 0.3, *FEW, "--json"
    )
    expected = sr.evaluate(file, outcome="y", forecasts=["b"], cost_interval=(0.1, 0.3), resamples=40)
    assert done == (0, expected.to_json(), "")
    assert json.loads(done[1])["settings"]["cost_interval"] == [0.1, 0.3]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("options", "columns", "shown"),
    [
        (["--cluster", "bank"], {"cluster": "bank"}, "in 30 clusters"),
        (
            ["--grade", "rating"],
            {"grade": "rating"},
            "a by grade: one-sided tests whether the forecast is too low",
        ),
        (["--time", "day"], {"time": "day"}, "2022-W01"),
        (["--time", "day", "--window", "quarter"], {"time": "day", "window": "quarter"}, "2022-Q1"),
        (["--weight", "w"], {"weight": "w"}, "sampling weights of total "),
        (
            ["--weight", "w", "--weight-kind", "frequency"],
            {"weight": "w", "weight_kind": "frequency"},
            "frequency weights of total ",
        ),
        (["--group", "site", "--group", "rating"], {"groups": ["site", "rating"]}, "By rating: "),
        (["--level", "0.8"], {"level": 0.8}, "80 % intervals: BCa bootstrap"),
        (["--band-level", "0.8"], {"band_level": 0.8}, "80 % simultaneous consistency band"),
        (
            ["--interval-method", "percentile"],
            {"interval_method": "percentile"},
            "percentile bootstrap of scores",
        ),
        (["--seed", "5"], {"seed": 5}, "40 resamples of rows (seed 5)"),
        (["--resamples", "0"], {"resamples": 0}, "Mean scores"),
        (["--resamples", "50"], {"resamples": 50}, "over 50 resamples"),
        (
            ["--group", "site", "--smallest-group", "30"],
            {"groups": "site", "smallest_group": 30},
            "not scored",
        ),
        (["--forecast", "b"], {"forecasts": ["a", "b"]}, "Differences between models on the same cases"),
        (["--missing", "drop"], {"missing": "drop"}, "120 rows read, 120 kept"),
        (["--cost-interval", "0.1", "0.4"], {"cost_interval": (0.1, 0.4)}, "Costs between 0.1 and 0.4"),
        (["--quiet"], {}, "Mean scores"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_option_reaches_the_evaluation(call, long, options, columns, shown):
    arguments = {"outcome": "happened", "positive": "yes", "forecasts": ["a"], "resamples": 40, **columns}
    resamples = [] if "--resamples" in options else FEW
    code, text, error = call("score", long, *REQUIRED, *resamples, *options, "--show", "all")
    assert (code, error) == (0, "")
    assert shown in text
    out = StringIO()
    print_evaluation(sr.evaluate(long, **arguments), out, everything=True)
    assert text == out.getvalue()


def test_options_that_are_absent_are_not_passed_on(call, long, monkeypatch):
    seen, original = {}, sr.evaluate

    def evaluate(file, **options):
        seen.update(options)
        return original(file, **{**options, "resamples": 0})

    monkeypatch.setattr(dispatch, "evaluate", evaluate)
    assert call("score", long, *REQUIRED)[0] == 0
    assert set(seen) == {"outcome", "positive", "forecasts"}


# ---- interrupts and progress ----


@pytest.mark.parametrize("command", ["score", "demo"])
def test_an_interrupt_is_one_line_and_its_exit_code(call, long, monkeypatch, command):
    def interrupted(*_, **__):
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(dispatch, "evaluate", interrupted)
    arguments = [long, *REQUIRED] if command == "score" else []
    assert call(command, *arguments) == (130, "", "scorereport: interrupted.\n")


def test_an_interrupt_between_draws_stops_at_once(call, long, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("scorereport.reliability.simulation.random_stream", interrupted)
    assert call("score", long, *REQUIRED) == (130, "", "scorereport: interrupted.\n")


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("is_terminal", "options", "is_shown"),
    [(True, [], True), (True, ["--quiet"], False), (False, [], False)],
)
def test_progress_is_shown_on_a_terminal_only(call, long, monkeypatch, is_terminal, options, is_shown):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    code, text, error = call("score", long, *REQUIRED, *FEW, *options)
    assert code == 0
    assert "Mean scores" in text
    assert bool(error) is is_shown
    assert ("%" in error) is is_shown


@pytest.mark.sweep(after=5)
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
            "got 'n' at line 2 of p.csv (5 of 5 rows: lines 2, 3, 4, 5, 6). "
            "Its labels are 'n' and 's': pass the one that is the event, such as "
            'positive="s" (--positive s).',
        ),
        (
            ["--outcome", "y", "--forecast", "g"],
            ExitCode.DATA_REFUSED,
            "scorereport: `g` must be numeric; got 'n' at line 2 of p.csv "
            "(5 of 5 rows: lines 2, 3, 4, 5, 6).",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--missing", "keep"],
            ExitCode.USAGE,
            'scorereport: `--missing` must be one of "refuse", "drop"; got \'keep\'.',
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--cost-interval", "0.3", "0.1"],
            ExitCode.USAGE,
            "scorereport: `--cost-interval` must be two numbers inside (0, 1), the smaller one first; "
            "got [0.3, 0.1].",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--resamples", "5"],
            ExitCode.USAGE,
            "scorereport: `--resamples` must be 0, or at least 18 for bands of level 0.9; got 5.",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--window", "year"],
            ExitCode.USAGE,
            "scorereport: `--window` needs a column of times; name it as `--time`.",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--weight-kind", "frequency"],
            ExitCode.USAGE,
            "scorereport: `--weight-kind` is given, but there is no column of weights; name one with "
            "`--weight`.",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--level", "95"],
            ExitCode.USAGE,
            "scorereport: `--level` must lie in (0, 1); got 95. If it is a percentage, divide it by "
            "100: 0.95.",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--seed", "-1"],
            ExitCode.USAGE,
            "scorereport: `--seed` must be a whole number of at least 0; got -1.",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--smallest-group", "0"],
            ExitCode.USAGE,
            "scorereport: `--smallest-group` must be a whole number of at least 1; got 0.",
        ),
        (
            ["--outcome", "y", "--forecast", "a", "--cluster", "c"],
            ExitCode.DATA_REFUSED,
            "scorereport: p.csv has no column `c`; it has `y`, `a`, `b`, `g`.",
        ),
    ],
)
def test_refusals_are_one_line_and_an_exit_code(call, file, arguments, code, sentence):
    assert call("score", file, *arguments) == (code, "", sentence + "\n")


# ---- Models of several classes ----

CLASSES = ["low", "mid", "high"]


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """A folder with predictions of three classes: columns by label, by number, not normalized, and costs."""
    rng = np.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 60).round(6)
    p[:, 0] = 1 - p[:, 1] - p[:, 2]
    frame = pd.DataFrame({"grade": [CLASSES[rng.choice(3, p=row)] for row in p.clip(0, 1)]})
    for k, label in enumerate(CLASSES):
        frame[f"m_{label}"] = p[:, k]
        frame[f"q{k}"] = 0.5 * p[:, k] + 0.5 / 3
        frame[f"n_{label}"] = 2 * p[:, k]
    folder = tmp_path_factory.mktemp("classes")
    frame.assign(site=rng.choice(["A", "B"], 60)).to_csv(folder / "k.csv", index=False)
    (folder / "costs.csv").write_text("\ufeff0,1,4\n1,0,1\n\n10, 2.5 ,0\n", encoding="utf-8")
    return folder


GRADES = ["--outcome", "grade", "--classes", "low,mid,high"]
BARE = ["--resamples", "0"]


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize(
    ("options", "columns"),
    [
        (["--forecast", "m", "--ordered"], {"forecasts": ["m"], "ordered": True}),
        (["--forecast", "m", "--unordered"], {"forecasts": ["m"]}),
        (["--forecast", "m", "--group", "site"], {"forecasts": ["m"], "groups": "site"}),
        (
            ["--forecast", "q=q0, q1,q2", "--forecast", "m"],
            {"forecasts": {"q": ["q0", "q1", "q2"], "m": ["m_low", "m_mid", "m_high"]}},
        ),
        (["--forecast", "n", "--normalize"], {"forecasts": ["n"], "normalize": True}),
        (["--forecast", "m", "--no-normalize"], {"forecasts": ["m"]}),
        (
            ["--forecast", "m", "--ordered", "--cost-matrix", "costs.csv"],
            {"forecasts": ["m"], "ordered": True, "cost_matrix": [[0, 1, 4], [1, 0, 1], [10, 2.5, 0]]},
        ),
        (
            ["--forecast", "m", "--scale-bins", "5", "--scale-limit", "0.01"],
            {"forecasts": ["m"], "scale_bins": 5, "scale_limit": 0.01},
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_every_option_of_classes_reaches_the_evaluation(call, graded, monkeypatch, options, columns):
    monkeypatch.chdir(graded)
    expected = sr.evaluate("k.csv", outcome="grade", classes=CLASSES, resamples=0, **columns)
    done = call("score", "k.csv", *GRADES, *options, *BARE, "--json")
    assert done == (0, expected.to_json(), "")


@pytest.mark.sweep
def test_scores_of_classes_have_intervals(call, graded):
    code, text, error = call(
        "score", graded / "k.csv", *GRADES, "--ordered", "--forecast", "m", *FEW, "--json"
    )
    assert (code, error) == (0, "")
    (model,) = json.loads(text)["class_models"]
    names = [score["name"] for score in model["scores"]["scores"]]
    assert {"rps", "quadratic_weighted_kappa", "macro_f1", "expected_cost"} <= set(names)
    assert all(score["interval"] is not None for score in model["scores"]["scores"])


def test_tables_of_classes_are_printed(call, graded):
    expected = sr.evaluate(
        graded / "k.csv", outcome="grade", classes=CLASSES, forecasts=["m"], ordered=True, resamples=0
    )
    code, text, error = call("score", graded / "k.csv", *GRADES, "--ordered", "--forecast", "m", *BARE)
    assert (code, error) == (0, "")
    assert "\n\nk.csv: 60 rows read, 60 kept. Outcome grade: 3 ordered classes (low " in text
    for score in ("rps", "multiclass_brier", "macro_f1", "quadratic_weighted_kappa"):
        assert f" {expected.scores.loc['m', score]:.4f} " in text


def test_labels_may_be_numbers(call, tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 2, 1] * 5, "a_0": 0.2, "a_1": 0.5, "a_2": 0.3})
    frame.to_csv(tmp_path / "k.csv", index=False)
    code, text, _ = call(
        "score",
        tmp_path / "k.csv",
        "--outcome",
        "y",
        "--classes",
        "0, 1,2",
        "--forecast",
        "a",
        *BARE,
        "--json",
    )
    assert code == 0
    classes = json.loads(text)["data"]["classes"]["counts"]
    assert [(c["label"], c["weight"]) for c in classes] == [("0", 5), ("1", 10), ("2", 5)]


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (
            ["--forecast", "m", "--classes", "low,,high"],
            ExitCode.USAGE,
            "`--classes` must be names separated by commas; got an empty one in 'low,,high'. "
            "Names that contain commas need double quotes.",
        ),
        (
            ["--forecast", "m", "--classes", "low"],
            ExitCode.USAGE,
            "`--classes` must be a list of at least two labels; got ['low'].",
        ),
        (
            ["--forecast", "m", "--classes", "low,low"],
            ExitCode.USAGE,
            "`--classes` must differ; got 'low' 2 times.",
        ),
        (
            ["--forecast", "m", "--classes", "low,mid"],
            ExitCode.DATA_REFUSED,
            "`grade` must hold one of the 2 classes ('low', 'mid'); got 'high' at line ",
        ),
        (
            ["--forecast", "z", *GRADES[2:]],
            ExitCode.DATA_REFUSED,
            "k.csv has no column `z_low`; it has ",
        ),
        (
            ["--forecast", "q=q0,q1", *GRADES[2:]],
            ExitCode.USAGE,
            "`--forecast` must name a column for each of the 3 classes; got 2 for q.",
        ),
        (
            ["--forecast", "q=q0,,q1", *GRADES[2:]],
            ExitCode.USAGE,
            "`--forecast` must be names separated by commas; got an empty one in 'q0,,q1'. ",
        ),
        (
            ["--forecast", "q=q0,q1,q2", "--forecast", "q", *GRADES[2:]],
            ExitCode.USAGE,
            "`--forecast` must name each model once; got 'q' again.",
        ),
        (
            ["--forecast", "=q0,q1,q2", *GRADES[2:]],
            ExitCode.USAGE,
            "`--forecast` must name a model before its columns; got '=q0,q1,q2'.",
        ),
        (
            ["--forecast", "q=q0,q1,q2"],
            ExitCode.DATA_REFUSED,
            "k.csv has no column `q=q0,q1,q2`; it has `grade`, ",
        ),
        (
            ["--forecast", "m", "--ordered"],
            ExitCode.USAGE,
            "`--ordered` is for models of several classes: name these in `--classes`, or leave it out.",
        ),
        (
            ["--forecast", "n", *GRADES[2:]],
            ExitCode.DATA_REFUSED,
            "`n_low` must lie in [0, 1]; got ",
        ),
        (
            ["--forecast", "m", *GRADES[2:], "--cost-interval", "0.1", "0.2"],
            ExitCode.USAGE,
            "`--cost-interval` is for binary models, not for several classes: leave it out, or use "
            "`--cost-matrix`.",
        ),
        (
            ["--forecast", "m", *GRADES[2:], "--positive", "high"],
            ExitCode.USAGE,
            "`--positive` is for binary models, not for several classes: leave it out.",
        ),
        (
            ["--forecast", "m", *GRADES[2:], "--cost-matrix", "none.csv"],
            ExitCode.USAGE,
            "`--cost-matrix` must be a file of numbers; none.csv is not a file.",
        ),
        (
            ["--forecast", "m", *GRADES[2:], "--cost-matrix", "k.csv"],
            ExitCode.USAGE,
            "`--cost-matrix` must be numbers separated by commas, without a header; got 'grade,m_low,",
        ),
        (
            ["--forecast", "m", "--classes", "low,mid,high,top", "--cost-matrix", "costs.csv"],
            ExitCode.USAGE,
            "`--cost-matrix` must have 4 rows of 4 numbers, one for each class; got 3 of 3.",
        ),
        (
            ["--forecast", "m=m_low,m_mid,m_high,site", "--classes", "low,mid,high,top"],
            ExitCode.DATA_REFUSED,
            "`site` must be numeric; got ",
        ),
        (
            ["--forecast", "m", *GRADES[2:], "--scale-limit", "0.5"],
            ExitCode.USAGE,
            "`--scale-limit` must lie in [0, 0.5); got 0.5.",
        ),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, list) else "",
)
def test_refusals_of_classes(call, graded, monkeypatch, arguments, code, sentence):
    monkeypatch.chdir(graded)
    found, text, error = call("score", "k.csv", "--outcome", "grade", *arguments, *BARE)
    assert (found, text) == (code, "")
    assert error.startswith(f"scorereport: {sentence}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("forecast", ["q=q0,q1,q2", "m"])
def test_columns_of_classes_without_their_labels_get_a_hint(call, graded, file, forecast):
    code, _, error = call("score", graded / "k.csv", "--outcome", "grade", "--forecast", forecast)
    assert code == ExitCode.DATA_REFUSED
    assert f"k.csv has no column `{forecast}`; " in error
    assert error.endswith(" For columns of several classes, give --classes as well.\n")
    assert "--classes" not in call("score", file, "--outcome", "y", "--forecast", "c")[2]


def test_a_binary_column_may_hold_an_equals_sign(call, tmp_path):
    frame = pd.DataFrame({"y": [0, 1, 0, 1], "p(y=1|a,b)": [0.1, 0.6, 0.4, 0.8]})
    frame.to_csv(tmp_path / "p.csv", index=False)
    arguments = ["--outcome", "y", "--forecast", "p(y=1|a,b)", *BARE, "--json"]
    code, text, _ = call("score", tmp_path / "p.csv", *arguments)
    assert code == 0
    assert [model["model"] for model in json.loads(text)["models"]] == ["p(y=1|a,b)"]


def test_a_cost_matrix_that_is_not_square_or_not_text_is_refused(call, graded, tmp_path):
    arguments = ["score", graded / "k.csv", *GRADES, "--forecast", "m", *BARE, "--cost-matrix"]
    costs = tmp_path / "costs.csv"
    costs.write_text("0,1\n1,0\n", encoding="utf-8")
    assert call(*arguments, costs) == (
        ExitCode.USAGE,
        "",
        "scorereport: `--cost-matrix` must have 3 rows of 3 numbers, one for each class; got 2 of 2.\n",
    )
    costs.write_bytes(b"0,\xff\n")
    code, _, error = call(*arguments, costs)
    assert code == ExitCode.USAGE
    assert error == "scorereport: costs.csv is not UTF-8 text: byte 0xff in line 1. Save it as UTF-8.\n"


REFUSED = {
    "missing": (
        "y,a\n0,.1\n1,\n",
        [],
        "`a` must not be missing; got nan at line 3 of p.csv (1 of 2 rows). "
        'Fill them, or pass missing="drop" (--missing drop) to leave these rows out.',
    ),
    "above one": (
        "y,a\n0,.1\n1,1.03\n",
        [],
        "`a` must lie in [0, 1]; got 1.03 at line 3 of p.csv (1 of 2 rows).",
    ),
    "below zero": (
        "y,a\n0,-.1\n1,.3\n",
        [],
        "`a` must lie in [0, 1]; got -0.1 at line 2 of p.csv (1 of 2 rows).",
    ),
    "infinite": ("y,a\n0,.1\n1,inf\n", [], "`a` must be finite; got inf at line 3 of p.csv (1 of 2 rows)."),
    "text": ("y,a\n0,high\n1,.3\n", [], "`a` must be numeric; got 'high' at line 2 of p.csv (1 of 2 rows)."),
    "not binary": (
        "y,a\n0,.1\n2,.3\n",
        [],
        "`y` must hold 0 and 1, or True and False; got '2' at line 3 of p.csv (1 of 2 rows). "
        "Its labels are '0' and '2': pass the one that is the event, such as positive=2 "
        "(--positive 2).",
    ),
    "three labels": (
        "y,a\nno,.1\nyes,.3\nmaybe,.2\n",
        ["--positive", "yes"],
        "`y` must hold two labels, not 3 ('maybe', 'no', 'yes'); got 'maybe' at line 4 of p.csv "
        "(1 of 3 rows).",
    ),
    "empty file": ("", [], "p.csv is empty."),
    "no rows": ("y,a\n", [], "p.csv holds no rows."),
    "absent column": ("y,b\n0,.1\n", [], "p.csv has no column `a`; it has `y`, `b`."),
    "duplicate column": ("y,a,a\n0,.1,.2\n", [], "p.csv has 2 columns named `a`; names must differ."),
    "negative weight": (
        "y,a,w\n0,.1,-1\n1,.3,2\n",
        ["--weight", "w"],
        "`w` must not be negative; got -1.0 at line 2 of p.csv (1 of 2 rows).",
    ),
    "no weight": (
        "y,a,w\n0,.1,0\n1,.3,0\n",
        ["--weight", "w"],
        "`w` must not be all zero; got 0 in all 2 rows.",
    ),
    "other kind of file": ("PAR1", [], "p.csv is named like CSV but holds Parquet."),
}


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize("kind", REFUSED)
def test_bad_input_of_every_kind_gets_its_sentence_and_exit_code(tmp_path, call, kind):
    content, options, sentence = REFUSED[kind]
    path = tmp_path / "p.csv"
    path.write_text(content, encoding="utf-8")
    done = call("score", path, "--outcome", "y", "--forecast", "a", *options)
    assert done == (ExitCode.DATA_REFUSED, "", f"scorereport: {sentence}\n")
    assert ExitCode.DATA_REFUSED == 4


def test_a_missing_file_is_a_usage_error(tmp_path, call, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = call("score", "none.csv", "--outcome", "y", "--forecast", "a")
    assert done == (ExitCode.USAGE, "", "scorereport: none.csv is not a file.\n")


def test_a_file_that_cannot_be_written_is_one_line(tmp_path, call):
    code, text, error = call("demo", "--save", tmp_path / "nowhere" / "x.csv")
    assert (code, text) == (ExitCode.USAGE, "")
    assert error.startswith("scorereport: [Errno 2] No such file or directory")
    assert error.count("\n") == 1


def test_the_demo_makes_its_folder_before_it_evaluates(tmp_path, call, monkeypatch):
    def evaluated(*_, **__):
        raise AssertionError

    monkeypatch.setattr(dispatch, "evaluate", evaluated)
    (tmp_path / "file").touch()
    code, text, error = call("demo", "-o", tmp_path / "file" / "folder")
    assert (code, text) == (ExitCode.USAGE, "")
    assert "Not a directory" in error


@pytest.mark.sweep
def test_ascii_terminals_get_the_numbers(file):
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = run("score", file, "--outcome", "y", "--forecast", "b", *FEW, env=ascii_only)
    assert done.returncode == 0
    assert "0.0960" in done.stdout


def test_bad_arguments_are_usage_errors(call, file):
    for arguments in (
        ["score", file, "--outcome", "y"],
        ["skore"],
        ["score", file, *REQUIRED, "--level", "high"],
    ):
        code, text, error = call(*arguments)
        assert (code, text) == (ExitCode.USAGE, "")
        assert "Traceback" not in error
        assert error


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


def test_commands_load_tools_for_tests_and_for_fortran_only_if_they_are_used():
    """SciPy copies all names of NumPy, also those of modules that commands never use."""
    probe = (
        "import sys; from scorereport.cli import main\n"
        "sys.argv = ['scorereport', '--version']\n"
        "for _ in range(2):\n"
        "    try: main()\n"
        "    except SystemExit as stop: assert not stop.code\n"
        "import numpy, scipy.optimize\n"
        "print(sorted({'numpy.f2py.crackfortran', 'unittest'} & set(sys.modules)))\n"
        "numpy.testing.assert_array_equal([1], [1])\n"
        "from numpy import f2py; print(f2py.get_include.__name__)\n"
        "import importlib; importlib.invalidate_caches()\n"
        "print([type(finder).__name__ for finder in sys.meta_path].count('_Deferring'))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[2:] == ["[]", "get_include", "1"]


def test_commands_search_for_cycles_less_often_and_leave_the_collector_as_it_was(monkeypatch):
    before, during = gc.get_threshold(), []
    monkeypatch.setattr("scorereport.cli.entry_point._run", lambda: during.append(gc.get_threshold()) or 0)
    try:
        gc.set_threshold(700, 10, 10)
        with pytest.raises(SystemExit):
            main()
        assert gc.get_threshold() == (700, 10, 10)
    finally:
        gc.set_threshold(*before)
    assert during[0][0] > 10_000


@pytest.mark.parametrize("is_loaded", [True, False])
def test_objects_are_searched_before_the_exit_only_if_duckdb_is_loaded(monkeypatch, is_loaded):
    modules, collected, registered = dict(sys.modules), [], []
    modules.pop("duckdb", None)
    monkeypatch.setattr(sys, "modules", modules | ({"duckdb": None} if is_loaded else {}))
    monkeypatch.setattr("scorereport.cli.entry_point._run", lambda: 3)
    monkeypatch.setattr("atexit.register", registered.append)
    monkeypatch.setattr("gc.collect", lambda: collected.append(True))
    with pytest.raises(SystemExit) as stop:
        main()
    expected = [] if is_loaded else [gc.freeze]  # DuckDB prints errors if objects are not destroyed
    assert (stop.value.code, registered, bool(collected)) == (3, expected, is_loaded)


@pytest.mark.parametrize("areas", [None, ["north", "south"] * 20], ids=["numbers", "texts"])
def test_a_command_on_a_parquet_file_prints_nothing_but_its_result(tmp_path, areas):
    """Of texts DuckDB checks the lengths; when Python ends, it prints what was not destroyed."""
    rng = np.random.default_rng(1)
    columns = {"y": rng.integers(0, 2, 40), "p": rng.random(40)} | ({"area": areas} if areas else {})
    pd.DataFrame(columns).to_parquet(tmp_path / "rows.parquet")
    named = ["--outcome", "y", "--forecast", "p", *(["--group", "area"] if areas else [])]
    done = subprocess.run(
        [sys.executable, "-m", "scorereport", "score", "rows.parquet", *named, "--json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["models"]


def test_import_loads_nothing_heavy():
    probe = "import sys, scorereport; print(sorted({'numpy', 'pandas', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.fixture
def demo(call, tmp_path, monkeypatch):
    """The demo, with few draws."""
    monkeypatch.setattr(dispatch, "evaluate", partial(sr.evaluate, resamples=20))
    saved = tmp_path / "predictions.csv"
    done = call("demo", "--save", saved)
    monkeypatch.undo()
    return done, pd.read_csv(saved)


@pytest.mark.sweep
def test_the_demo_shows_the_overconfident_model_as_miscalibrated(demo):
    (code, text, error), saved = demo
    assert (code, error) == (0, "")
    assert "6,730 rows read" in text
    fit = {name: sr.corp(saved["any_visit"], saved[name]) for name in ("logit", "overconfident")}
    good, bad = fit["logit"].decompose("brier"), fit["overconfident"].decompose("brier")
    assert bad.discrimination == pytest.approx(good.discrimination, abs=1e-12)  # the same order of cases
    assert bad.miscalibration > 5 * good.miscalibration
    assert f"{bad.miscalibration:.4f}" in text
    assert "differ between groups of plan by more than chance explains" in text
    assert "\n\nTables of scorereport score, with --show NAME: scores, " in text


@pytest.mark.sweep
def test_the_demo_with_a_report_ends_with_the_verdict_of_its_certificate(call, tmp_path, monkeypatch):
    class NotAsked(certification.PendingCertificate):
        def start(self, predictions, settings):
            """Ask nothing."""

        def complete(self, evaluation):
            return certification.decline(evaluation, "R was not asked.")

    monkeypatch.setattr(certification, "PendingCertificate", NotAsked)
    monkeypatch.setitem(doctor_visits.SETTINGS, "resamples", 100)
    code, text, error = call("demo", "-o", tmp_path)
    assert code == 0, error  # a slow machine states its progress
    *_, written, verdict = text.splitlines()
    assert all((tmp_path / f"demo-report{ending}").exists() for ending in (".pdf", ".html", ".json"))
    assert (written[:9], verdict) == ("Written: ", "R certificate: not checked.")
    assert "Not checked on these data. R was not asked." in text
    assert " limits " in text.splitlines()[0]


@pytest.mark.sweep
def test_the_demo_file_can_be_scored(demo, call, tmp_path):
    (_, text, _), saved = demo
    saved.to_csv(tmp_path / "again.csv", index=False)
    arguments = ["--outcome", "any_visit", "--forecast", "logit", "--resamples", 0]
    code, scored, _ = call("score", tmp_path / "again.csv", *arguments)
    assert code == 0
    first = [
        next(row for row in rows_of(t) if row[:3] == ["Brier", "score", "logit"]) for t in (text, scored)
    ]
    assert first[0][3] == first[1][3] == f"{sr.scores.brier(saved['any_visit'], saved['logit']).mean():.4f}"


def test_no_number_is_cut_however_many_columns(file):
    out = StringIO()
    wide = sr.evaluate(
        file,
        outcome="y",
        forecasts=["b"],
        groups="g",
        cost_interval=(0.1, 0.3),
        resamples=40,
        smallest_group=1,
    )
    print_evaluation(wide, out, everything=True)
    assert "0.0960" in out.getvalue()
    assert "…" not in out.getvalue()
