"""Tables and curves as one JSON document, and what programs that call the command line need besides."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
from jsonschema import Draft202012Validator

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.cli.argument_file import expand_arguments
from scorereport.errors import ExitCode, UsageError
from scorereport.report import table_document


def make_rows(n=80):
    random = np.random.default_rng(3)
    p = random.uniform(0.05, 0.95, n)
    y = (random.uniform(size=n) < p).astype(int)
    return pd.DataFrame(
        {"p": p, "q": np.where(y == 1, 0.0, p.round(1)), "g": np.tile(["a", "b"], n // 2), "y": y}
    )


@pytest.fixture(scope="module")
def evaluation():
    return sr.evaluate(make_rows(), outcome="y", forecasts=["p", "q"], groups=["g"], resamples=30)


@pytest.fixture(scope="module")
def of_classes():
    random = np.random.default_rng(4)
    p = random.dirichlet((1, 1, 1), 60)
    frame = pd.DataFrame(p, columns=["m_a", "m_b", "m_c"]).assign(y=np.tile(["a", "b", "c"], 20))
    return sr.evaluate(
        frame,
        outcome="y",
        forecasts=["m"],
        classes=["a", "b", "c"],
        ordered=True,
        resamples=20,
        normalize=True,
    )


def read(evaluation, folder):
    path = sr.write_report(evaluation, folder / "x.tables.json", date="2026-11-15")
    document = json.loads(path.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(table_document.json_schema()).iter_errors(document)) == []
    return document, {table["name"]: table for table in document["tables"]}


def column(table, name):
    found = next(each for each in table["columns"] if each["name"] == name)
    special = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
    return [special.get(value, value) if found["type"] == "number" else value for value in found["values"]]


def test_all_tables_of_a_report_are_there_with_their_values(evaluation, tmp_path):
    document, tables = read(evaluation, tmp_path)
    assert (document["kind"], document["models"], document["rows"]) == ("binary", ["p", "q"], 80)
    for name in ("scores", "intervals", "differences", "thresholds", "group_scores"):
        frame = getattr(evaluation, name)
        frame = frame.reset_index() if frame.index.name else frame
        assert [each["name"] for each in tables[name]["columns"]] == list(frame.columns)
        for each in frame.columns[frame.dtypes == "float64"]:
            np.testing.assert_array_equal(column(tables[name], each), frame[each])
    assert math.inf in column(tables["scores"], "log_loss")


def test_curves_are_those_of_the_models(evaluation, tmp_path):
    _, tables = read(evaluation, tmp_path)
    model = evaluation.models[0]
    for name, column_name, expected in (
        ("reliability_curves", "cep", model.curves.reliability.cep),
        ("histograms", "n", model.curves.histogram.n),
        ("bands", "upper", np.concatenate([band.upper for band in model.bands])),
    ):
        own = [owner == "p" for owner in column(tables[name], "model")]
        np.testing.assert_array_equal(np.array(column(tables[name], column_name))[own], expected)
    parts = set(column(tables["murphy_curves"], "part"))
    assert parts == {"score", "miscalibration", "discrimination", "uncertainty"}
    assert set(column(tables["roc_curves"], "curve")) == {"roc", "roc_hull"}


def test_curves_of_several_classes_name_their_view(of_classes, tmp_path):
    document, tables = read(of_classes, tmp_path)
    assert document["classes"] == ["a", "b", "c"]
    curves = tables["reliability_curves"]
    views = set(zip(column(curves, "view"), column(curves, "label"), strict=True))
    assert views == {("class", "a"), ("class", "b"), ("class", "c"), ("threshold", "a"), ("threshold", "b")}
    assert "roc_curves" not in tables


def test_types_of_columns_follow_their_values():
    frame = pd.DataFrame(
        {
            "whole": [1, 2],
            "maybe": pd.Series([1, None], dtype=object),
            "truth": [True, False],
            "number": [0.5, math.nan],
            "text": ["a", None],
            "mixed": pd.Series([(1.5, 2), "x"], dtype=object),
            "gap": pd.Series(["a", math.nan], dtype=object),
        }
    )
    found = {name: table_document._describe_column(name, values) for name, values in frame.items()}
    assert {name: each.type for name, each in found.items()} == {
        "whole": "integer",
        "maybe": "integer",
        "truth": "logical",
        "number": "number",
        "text": "text",
        "mixed": "text",
        "gap": "text",
    }
    texts = {name: json_documents.encode(each)["values"] for name, each in found.items()}
    assert texts["mixed"] == ["[1.5, 2]", "x"]
    assert texts["gap"] == ["a", None]


# ---- Arguments in a file ----


def test_a_file_has_all_arguments(call, tmp_path):
    make_rows().rename(columns={"p": '--é, "x"'}).to_csv(tmp_path / "d.csv", index=False)
    arguments = [
        "score",
        str(tmp_path / "d.csv"),
        "--outcome=y",
        '--forecast=--é, "x"',
        "--resamples=0",
        "--json",
    ]
    (tmp_path / "a.json").write_text(json.dumps(arguments), encoding="utf-8")
    code, out, _ = call("--arguments", tmp_path / "a.json")
    assert code == ExitCode.DONE
    assert json.loads(out)["models"][0]["model"] == '--é, "x"'


@pytest.mark.parametrize("content", ["[1]", '{"a": "b"}', "[", "\xff"])
def test_a_file_with_something_else_is_refused(tmp_path, content):
    (tmp_path / "a.json").write_text(content, encoding="latin-1")
    with pytest.raises(UsageError, match=r"^`--arguments` must be a file with a JSON list of texts"):
        expand_arguments(["--arguments", str(tmp_path / "a.json")])


def test_a_file_of_arguments_is_all_that_is_given(call, tmp_path):
    code, _, err = call("--arguments", tmp_path / "a.json", "score")
    assert code == ExitCode.USAGE
    assert err == (
        "scorereport: `--arguments` must be followed by the name of a file and nothing else: the file has "
        "all arguments.\n"
    )
    assert expand_arguments(["score", "d.csv"]) == ["score", "d.csv"]


def test_labels_with_commas_are_quoted(call, tmp_path):
    frame = pd.DataFrame({"y": ["(0,1]", "(1,2]"] * 5, "m_(0,1]": 0.25, "m_(1,2]": 0.75})
    frame.to_csv(tmp_path / "d.csv", index=False)
    classes = '"(0,1]", "(1,2]"'
    code, out, _ = call(
        "score",
        tmp_path / "d.csv",
        "--outcome",
        "y",
        "--forecast",
        "m",
        "--classes",
        classes,
        "--resamples",
        0,
        "--json",
    )
    assert code == ExitCode.DONE
    assert [count["label"] for count in json.loads(out)["data"]["classes"]["counts"]] == ["(0,1]", "(1,2]"]
