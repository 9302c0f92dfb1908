"""Reading predictions: every refusal with its full sentence, every row accounted for."""

from __future__ import annotations

import gzip
import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from row_tools import named_in

import scorereport as sr
from scorereport.data.predictions import DroppedRows, MissingValues, RowFlow
from scorereport.data.sources import TABLE_ENDINGS

FRAME = pd.DataFrame(
    {
        "y": [0, 1, 0, 1],
        "a": [0.1, 0.6, 0.4, 0.8],
        "b": [0.2, 0.7, 0.3, 0.9],
        "w": [1.0, 2.0, 0.0, 0.5],
        "g": ["north", "south", "north", "south"],
        "when": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-02-01"],
    }
)


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


def read(source, **columns):
    return sr.read_predictions(source, **({"outcome": "y", "forecasts": ["a"]} | columns))


def with_values(column, values):
    return FRAME.assign(**{column: values})


@pytest.fixture(params=["frame", "csv", "csv.gz", "parquet"])
def written(request, tmp_path):
    """Pass a frame in each accepted form."""

    def write(frame):
        path = tmp_path / f"predictions.{request.param}"
        if request.param == "frame":
            return frame
        if request.param == "parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False)
        return path

    return write


def csv_file(tmp_path, text, name="p.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---- what is accepted ----


def test_all_columns_arrive_from_every_source(written):
    p = read(written(FRAME), forecasts=["a", "b"], weight="w", groups="g", cluster=None, time="when")
    assert p.outcome.tolist() == [0, 1, 0, 1]
    assert {name: values.tolist() for name, values in p.forecasts.items()} == {
        "a": FRAME["a"].tolist(),
        "b": FRAME["b"].tolist(),
    }
    assert p.weight.tolist() == [1.0, 2.0, 0.0, 0.5]
    assert p.groups["g"].tolist() == ["north", "south", "north", "south"]
    assert p.time[3] == np.datetime64("2026-02-01")
    assert p.row_flow == RowFlow(read=4, kept=4)


@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([0, 1, 0, 1], None),
        ([0.0, 1.0, 0.0, 1.0], None),
        ([False, True, False, True], None),
        (["False", "true", "FALSE", "True"], None),
        (["no", "yes", "no", "yes"], "yes"),
        ([2, 1, 2, 1], "1"),
        ([2, 1, 2, 1], 1),
        ([1, 0, 1, 0], 0),
        (["01", "02", "01", "02"], "02"),
    ],
)
def test_outcomes_are_numbers_truth_values_or_two_labels(written, values, positive):
    assert read(written(with_values("y", values)), positive=positive).outcome.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "category"])
def test_nullable_outcomes_are_read(dtype):
    values = pd.Series([0, 1, 0, 1]).astype(bool if dtype == "boolean" else int).astype(dtype)
    assert read(with_values("y", values)).outcome.tolist() == [0, 1, 0, 1]


def test_csv_numbers_are_parsed_to_the_last_bit(tmp_path):
    values = np.random.default_rng(1).random(2000)
    path = tmp_path / "p.csv"
    pd.DataFrame({"y": [0, 1] * 1000, "a": values}).to_csv(path, index=False)
    assert read(path).forecasts["a"].tobytes() == values.tobytes()


def test_float32_forecasts_are_widened_not_merged(written):
    close = np.array([0.3, np.nextafter(np.float32(0.3), np.float32(1)), 0.5, 0.7], dtype=np.float32)
    p = read(written(with_values("a", close)))
    if p.source.endswith("parquet") or p.source == "The frame":
        assert p.forecasts["a"].tolist() == close.astype(np.float64).tolist()
    assert len(np.unique(p.forecasts["a"])) == 4


def test_labels_of_groups_and_clusters_stay_text(tmp_path):
    path = csv_file(tmp_path, "y,a,g,c\n0,.1,01,7\n1,.2,NA,8\n")
    p = read(path, groups="g", cluster="c")
    assert p.groups["g"].tolist() == ["01", "NA"]
    assert p.cluster.tolist() == ["7", "8"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_the_separator_of_a_csv_file_is_found(tmp_path, separator):
    path = csv_file(tmp_path, "\ufeffy,a\n0,0.25\n1,0.75\n".replace(",", separator))
    assert read(path).forecasts["a"].tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    "text", ["y, a\n0, 0.25\n1, NA\n0,\n1, 0.75\n", "y,a\r\n0,.25\r\nNA,.1\r\n,.2\r\n1.0,.75\r\n\r\n"]
)
def test_spaces_and_missing_words_in_csv_files(tmp_path, text):
    p = read(csv_file(tmp_path, text), missing="drop")
    assert (p.outcome.tolist(), p.forecasts["a"].tolist()) == ([0, 1], [0.25, 0.75])


def test_missing_values_are_not_counted_as_text(tmp_path):
    path = csv_file(tmp_path, "y,a\n0,x\n1,\n0,NA\n1,0.2\n")
    with pytest.raises(
        sr.DataError, match=exactly("`a` must be numeric; got 'x' at line 2 of p.csv (1 of 4 rows).")
    ):
        read(path, missing="drop")


@pytest.mark.parametrize("cell", ["0_1", "true", "٠.٥", "1e", "."])
def test_what_only_looks_like_a_number_is_refused(tmp_path, cell):
    path = csv_file(tmp_path, f"y,a\n0,{cell}\n")
    hint = " If '.' stands for a missing value, leave it empty." if cell == "." else ""
    sentence = f"`a` must be numeric; got {cell!r} at line 2 of p.csv (1 of 1 rows).{hint}"
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read(path)


@pytest.mark.parametrize("backend", ["pyarrow", "numpy_nullable"])
def test_frames_of_other_backends_are_read(backend):
    p = read(FRAME.convert_dtypes(dtype_backend=backend), weight="w", groups="g", time="when")
    assert p.outcome.tolist() == [0, 1, 0, 1]
    assert p.groups["g"].tolist() == FRAME["g"].tolist()


def test_columns_may_be_numbered():
    frame = pd.DataFrame({0: [0, 1], 1: [0.2, 0.4], 2: [1.0, 2.0], 3: ["a", "b"]})
    p = read(frame, outcome=0, forecasts=[1], weight=2, groups=3)
    assert (p.forecasts["1"].tolist(), p.weight.tolist(), p.groups["3"].tolist()) == (
        [0.2, 0.4],
        [1, 2],
        ["a", "b"],
    )


def test_lists_are_not_outcomes():
    with pytest.raises(sr.DataError, match=exactly("`y` must hold plain labels; got [0] at row 0.")):
        read(with_values("y", pd.Series([[0], [1], [0], [1]])))


def test_other_frames_are_converted():
    class Polars:
        def to_pandas(self):
            return FRAME

    assert len(read(Polars())) == 4


def test_times_with_zones_become_utc():
    frame = with_values("when", pd.to_datetime(["2026-01-01T01:00:00+01:00"] * 4))
    assert read(frame, time="when").time[0] == np.datetime64("2026-01-01T00:00:00")


def test_years_are_dates(written):
    assert read(written(with_values("when", [2020, 2021, 2022, 2023])), time="when").time[1] == np.datetime64(
        "2021-01-01"
    )


def test_reading_leaves_the_frame_writable():
    frame = FRAME.copy()
    p = read(frame)
    frame.loc[0, "a"] = 0.9
    assert p.forecasts["a"][0] == 0.1


# ---- missing values ----


def test_missing_values_are_refused_by_column_and_row(written):
    frame = with_values("a", [0.1, None, 0.4, None])
    sentence = (
        "`a` must not be missing; got nan at row 1 (2 of 4 rows: 1, 3). "
        'Fill them, or pass missing="drop" (--missing drop) to leave these rows out.'
    )
    with pytest.raises(sr.DataError, match=exactly(named_in(source := written(frame), sentence))):
        read(source)


def test_dropped_rows_are_counted_once_with_the_reason(written):
    frame = with_values("a", [0.1, None, 0.4, None]).assign(y=[0, 1, 0, None], g=["n", "n", None, "s"])
    frame = pd.concat([frame, FRAME])
    p = read(written(frame), groups="g", missing="drop")
    assert p.row_flow == RowFlow(
        read=8,
        kept=5,
        dropped=(
            DroppedRows(reason="missing `y`", rows=1),
            DroppedRows(reason="missing `a`", rows=1),
            DroppedRows(reason="missing `g`", rows=1),
        ),
        missing=(
            MissingValues(column="y", rows=1),
            MissingValues(column="a", rows=2),
            MissingValues(column="g", rows=1),
        ),
    )
    assert p.rows.tolist() == [0, 4, 5, 6, 7]
    assert p.forecasts["a"].tolist() == [0.1, 0.1, 0.6, 0.4, 0.8]


def test_columns_without_missing_values_are_listed_only_beside_some_with():
    frame = with_values("w", [1.0, None, 1.0, 1.0])
    flow = read(frame, forecasts=["a", "b"], weight="w", groups="g", time="when", missing="drop").row_flow
    counts = [(column.column, column.rows) for column in flow.missing]
    assert counts == [("y", 0), ("a", 0), ("b", 0), ("w", 1), ("g", 0), ("when", 0)]
    assert read(frame, missing="drop").row_flow.missing == ()


def test_rows_are_numbered_as_in_the_file_even_when_others_are_dropped():
    frame = with_values("a", [None, 0.6, 1.4, 0.8])
    with pytest.raises(sr.DataError, match=re.escape("got 1.4 at row 2 (1 of 4 rows).")):
        read(frame, missing="drop")


def test_dropping_everything_is_refused():
    sentence = "No row is complete: all 4 rows lack a value in one of y, a."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read(with_values("a", [None] * 4).astype({"a": float}), missing="drop")


# ---- what is refused ----

NUMBERS_REFUSED = [
    ([0.1, 1.03, 0.4, -0.2], "`a` must lie in [0, 1]; got 1.03 at row 1 (2 of 4 rows: 1, 3)."),
    ([0.1, np.inf, 0.4, 0.2], "`a` must be finite; got inf at row 1 (1 of 4 rows)."),
    ([0.1, -np.inf, 0.4, 0.2], "`a` must be finite; got -inf at row 1 (1 of 4 rows)."),
    (["0.1", "high", "0.4", "low"], "`a` must be numeric; got 'high' at row 1 (2 of 4 rows: 1, 3)."),
    (
        ["0,1", "0,6", "0,4", "0,2"],
        "`a` must be numeric; got '0,1' at row 0 (4 of 4 rows: 0, 1, 2, 3). Write decimals with a point; for "
        'a CSV file, pass decimal="," (--decimal ,).',
    ),
    (
        ["0.1", "45%", "0.4", "0.2"],
        "`a` must be numeric; got '45%' at row 1 (1 of 4 rows). Write '45%' as a number without the percent "
        "sign, divided by 100.",
    ),
]


@pytest.mark.parametrize(("values", "sentence"), NUMBERS_REFUSED)
def test_bad_forecasts_are_refused_from_every_source(written, values, sentence):
    source = written(with_values("a", values))
    with pytest.raises(sr.DataError, match=exactly(named_in(source, sentence))):
        read(source)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1.0, -2.0, 1.0, 1.0], "`w` must not be negative; got -2.0 at row 1 (1 of 4 rows)."),
        ([0.0, 0.0, 0.0, 0.0], "`w` must not be all zero; got 0 in all 4 rows."),
        ([1.0, np.inf, 1.0, 1.0], "`w` must be finite; got inf at row 1 (1 of 4 rows)."),
    ],
)
def test_bad_weights_are_refused(written, values, sentence):
    source = written(with_values("w", values))
    with pytest.raises(sr.DataError, match=exactly(named_in(source, sentence))):
        read(source, weight="w")


@pytest.mark.parametrize(
    ("values", "positive", "sentence"),
    [
        (
            [0, 1, 2, 1],
            None,
            "`y` must hold 0 and 1, or True and False; got {2} at row 2 (1 of 4 rows). "
            "For models of several classes, name these in `classes` (--classes).",
        ),
        (
            ["no", "yes", "no", "yes"],
            None,
            "`y` must hold 0 and 1, or True and False; got 'no' at row 0 (4 of 4 rows: 0, 1, 2, 3). "
            "Its labels are 'no' and 'yes': pass the one that is the event, such as "
            'positive="yes" (--positive yes).',
        ),
        (
            ["no", "yes", "maybe", "no"],
            "yes",
            "`y` must hold two labels, not 3 ('maybe', 'no', 'yes'); got 'maybe' at row 2 (1 of 4 rows).",
        ),
        (
            ["no", "yes", "no", "yes"],
            "Yes",
            "`y` has no label 'Yes' to count as positive; its labels are 'no', 'yes'. Did you mean 'yes'?",
        ),
    ],
)
def test_outcomes_that_are_not_binary_are_refused(written, values, positive, sentence):
    source = written(with_values("y", values))
    shown = "'2'" if str(source).endswith(("csv", "csv.gz")) else "2"
    with pytest.raises(sr.DataError, match=exactly(named_in(source, sentence).replace("{2}", shown))):
        read(source, positive=positive)


def test_invalid_dates_are_refused(written):
    frame = with_values("when", ["2026-01-01", "31/12/2025", "2026-01-02", "2026-01-03"])
    sentence = (
        "`when` must hold dates such as 2026-11-15; got '31/12/2025' at row 1 (1 of 4 rows). "
        "Write the year first: '31/12/2025' is 2025-12-31."
    )
    with pytest.raises(sr.DataError, match=exactly(named_in(source := written(frame), sentence))):
        read(source, time="when")


def test_dates_are_not_forecasts():
    frame = with_values("a", pd.to_datetime(["2026-01-01"] * 4))
    with pytest.raises(
        sr.DataError, match=r"^`a` must be numeric; got Timestamp\('2026-01-01 00:00:00'\) at row 0"
    ):
        read(frame)


def test_absent_columns_are_refused_with_a_hint(written):
    source = written(FRAME)
    where = "The frame" if isinstance(source, pd.DataFrame) else source.name
    sentence = f"{where} has no column `wen`; it has `y`, `a`, `b`, `w`, `g`, `when`. Did you mean `when`?"
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read(source, time="wen")


def test_only_some_of_many_columns_are_named():
    frame = pd.DataFrame(0.5, index=[0], columns=[f"x{i}" for i in range(30)])
    with pytest.raises(sr.DataError, match=r"`x11` and 18 more\. Did you mean `x2`\?$"):
        read(frame, outcome="x1", forecasts=["xx2"])


def test_duplicate_columns_are_refused(tmp_path):
    frame = pd.DataFrame([[0, 0.1, 0.2], [1, 0.3, 0.4]], columns=["y", "a", "a"])
    with pytest.raises(sr.DataError, match=exactly("The frame has 2 columns named `a`; names must differ.")):
        read(frame)
    with pytest.raises(sr.DataError, match=exactly("p.csv has 2 columns named `a`; names must differ.")):
        read(csv_file(tmp_path, "y,a,a\n0,.1,.2\n"))


def test_an_unused_duplicate_column_does_no_harm(tmp_path):
    assert len(read(csv_file(tmp_path, "y,a,id,id\n0,.1,1,1\n1,.2,2,2\n"))) == 2


def test_a_column_has_one_role():
    with pytest.raises(sr.UsageError, match=exactly("`forecasts` must differ; got 'a' 2 times.")):
        read(FRAME, forecasts=["a", "a"])


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("p.csv", b"", "p.csv is empty."),
        ("p.parquet", b"", "p.parquet is empty."),
        ("p.csv", b"y,a\n", "p.csv holds no rows."),
        ("p.csv", b"PAR1 and so on", "p.csv is named like CSV but holds Parquet."),
        ("p.csv", b"PK\x03\x04sheet", "p.csv is named like CSV but holds a zip archive."),
        ("p.csv", gzip.compress(b"y,a\n0,.1\n", mtime=0), "p.csv is named like CSV but holds gzip."),
        ("p.csv", b"y\0a", "p.csv is named like CSV but holds binary data."),
        (
            "p.csv",
            "y,a\n0,.1\n".encode("utf-16"),
            'p.csv is named like CSV but holds UTF-16 text; pass encoding="utf-16" (--encoding utf-16).',
        ),
        ("p.csv.gz", b"y,a\n0,.1\n", "p.csv.gz is named like CSV but holds no gzip data."),
        (
            "p.csv.gz",
            gzip.compress(b"", mtime=0),
            "p.csv.gz must begin with its header; the first line is empty.",
        ),
        ("p.csv", b"\ny,a\n0,.1\n", "p.csv must begin with its header; the first line is empty."),
        (
            "p.csv",
            b'y,a,c\n0,.1,x\n1,.3,"5 inch\n0,.2,b\n1,.4,x\n',
            "p.csv must close each quoted field in its line; the quote that opens in line 3 is not closed "
            "there. Close it, or write a quote that is part of a text twice.",
        ),
        (
            "p.csv",
            b'y,a,c\n0,.1,x\n1,.3,"5 inch\n0,.2,b',
            "p.csv must close each quoted field in its line; the quote that opens in line 3 is not closed "
            "there. Close it, or write a quote that is part of a text twice.",
        ),
        ("p.parquet", b"y,a\n0,.1\n", "p.parquet is named like Parquet but holds CSV."),
        (
            "p.csv",
            b"y,a\n0,.1\xff\n",
            "p.csv must be UTF-8 text; got the byte 0xFF in line 2. If it stands for 'ÿ', pass "
            'encoding="latin-1" (--encoding latin-1).',
        ),
        (
            "p.csv",
            b"y,a\n" + 30_000 * b"0,.1\n" + b"0\x80,.1\n",
            "p.csv must be UTF-8 text; got the byte 0x80 in line 30002. If it stands for '€', pass "
            'encoding="cp1252" (--encoding cp1252).',
        ),
        (
            "p.csv",
            b"y,a\n0,.1\n1,.2,.3\n",
            "Each line of p.csv must have as many values as its header, 2; got 3 in line 3. If "
            'decimals have commas, separate columns by semicolons and pass decimal="," (--decimal ,).',
        ),
    ],
)
def test_files_that_are_empty_malformed_or_misnamed_are_refused(tmp_path, name, content, sentence):
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        read(csv_file(tmp_path, content, name))


def test_a_truncated_parquet_file_is_refused(tmp_path):
    path = tmp_path / "p.parquet"
    FRAME.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(sr.DataError, match=r"^p\.parquet cannot be read as Parquet: .+\.$"):
        read(path)


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("nowhere.csv", "nowhere.csv is not a file."),
        (
            [1, 2],
            "`forecasts` names columns, but the data are an array (list); pass a table that has these "
            'columns, or arrays, as in evaluate(y, {"logit": p}).',
        ),
    ],
)
def test_invalid_sources_are_refused(source, sentence):
    with pytest.raises(sr.UsageError, match=exactly(sentence)):
        read(source)


def test_unknown_endings_are_refused(tmp_path):
    with pytest.raises(sr.UsageError, match=exactly(f"p.pdf must end in {', '.join(TABLE_ENDINGS)}.")):
        read(csv_file(tmp_path, "x", "p.pdf"))


def test_an_empty_frame_is_refused():
    with pytest.raises(sr.DataError, match=exactly("The frame holds no rows.")):
        read(FRAME.iloc[:0])


def test_options_are_checked():
    with pytest.raises(
        sr.UsageError, match=exactly('`missing` must be one of "refuse", "drop"; got \'keep\'.')
    ):
        read(FRAME, missing="keep")
    with pytest.raises(
        sr.UsageError,
        match=exactly(
            "`forecasts` must be a list of models, or a table of the columns of each model; got 'a'."
        ),
    ):
        read(FRAME, forecasts="a")


# ---- predictions built by hand are checked as well ----


def test_predictions_are_checked_when_built():
    with pytest.raises(
        sr.DataError, match=exactly("`logit` must lie in [0, 1]; got 1.5 at row 0 (1 of 1 rows).")
    ):
        sr.Predictions(outcome=np.array([1.0]), forecasts={"logit": np.array([1.5])})
    with pytest.raises(
        sr.DataError, match=exactly("`outcome` (2) and `logit` (1) must have the same length.")
    ):
        sr.Predictions(outcome=np.array([1.0, 0.0]), forecasts={"logit": np.array([0.5])})
    with pytest.raises(
        sr.DataError, match=exactly("`outcome` (1) and `outcome` (2) must have the same length.")
    ):
        sr.Predictions(outcome=np.array([1.0]), forecasts={"outcome": np.array([0.5, 0.1])})
    with pytest.raises(sr.UsageError, match=exactly("`forecasts` must name at least one forecast.")):
        sr.Predictions(outcome=np.array([1.0]), forecasts={})


def test_predictions_cannot_be_changed_and_leave_their_source_alone():
    forecast = np.array([0.5, 0.25])
    p = sr.Predictions(outcome=np.array([1.0, 0.0]), forecasts={"logit": forecast})
    with pytest.raises(ValueError, match="read-only"):
        p.forecasts["logit"][0] = 0.1
    forecast[0] = 0.75  # the owner may still change it: predictions hold a copy
    assert p.forecasts["logit"][0] == 0.5
    with pytest.raises(TypeError):
        p.forecasts["other"] = forecast
    assert p.row_flow == RowFlow(read=2, kept=2)


def test_the_hash_covers_every_column_that_results_depend_on():
    frame = pd.DataFrame(
        {
            "y": [0, 1, 1],
            "p": [0.2, 0.6, 0.7],
            "g": ["a", "b", "a"],
            "c": ["k", "k", "l"],
            "r": ["A", "B", "B"],
            "t": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-03"]),
        }
    )
    roles = {"outcome": "y", "forecasts": ["p"], "groups": "g", "cluster": "c", "grade": "r", "time": "t"}
    first = sr.read_predictions(frame, **roles).sha256
    changes = {"g": "b", "c": "k", "r": "A", "t": pd.Timestamp("2026-02-01"), "p": 0.5, "y": 0}
    others = {sr.read_predictions(replace_last(frame, *change), **roles).sha256 for change in changes.items()}
    assert len({first, *others}) == 1 + len(changes)


def replace_last(frame, column, value):
    changed = frame.copy()
    changed.loc[2, column] = value
    return changed


def test_a_file_has_the_hash_that_sha256sum_prints(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("y,p\n0,0.2\n1,0.7\n", encoding="utf-8")
    read = sr.read_predictions(path, outcome="y", forecasts=["p"])
    assert read.file_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert sr.evaluate(read, resamples=0).data.file_sha256 == read.file_sha256
    frame = pd.DataFrame({"y": [0, 1], "p": [0.2, 0.7]})
    assert sr.read_predictions(frame, outcome="y", forecasts=["p"]).file_sha256 == ""
