"""The survey of the DuckDB engine: the refusals, hashes, labels and counts of the engine in memory."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from row_tools import named_in

import scorereport as sr
from scorereport.evaluation.engines.duck.duck_engine import open_duckdb
from scorereport.evaluation.subgroups import label_windows, rows_by_label

FRAME = pd.DataFrame(
    {
        "y": [0, 1, 0, 1],
        "a": [0.1, 0.6, 0.4, 0.8],
        "b": [0.2, 0.7, 0.3, 0.9],
        "w": [1.0, 2.0, 0.0, 0.5],
        "g": ["north", "south", "north", "south"],
        "c": [7, 7, 8, 8],
        "when": ["2026-01-01", "2026-01-02", "2026-01-03", "2026-02-01"],
    }
)
NAMED = {"outcome": "y", "forecasts": ["a"]}


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


def with_values(column, values):
    return FRAME.assign(**{column: values})


@pytest.fixture(params=["frame", "csv", "parquet"])
def written(request, tmp_path):
    """Pass a frame on in each accepted form."""

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


def assert_refused_alike(source, **columns):
    """Assert that both engines refuse a source with the same message, and return it."""
    with pytest.raises(sr.ScoreReportError) as in_memory:
        sr.read_predictions(source, **(NAMED | columns))
    with pytest.raises(type(in_memory.value), match=exactly(str(in_memory.value))):
        open_duckdb(source, **(NAMED | columns))
    return str(in_memory.value)


# ---- refusals ----


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([0.1, 1.03, 0.4, -0.2], "must lie in [0, 1]; got 1.03 at row 1 (2 of 4 rows: 1, 3)."),
        ([0, 1, 2, 1], "must lie in [0, 1]; got 2.0 at row 2"),
        ([0.1, np.inf, 0.4, 0.2], "must be finite; got inf"),
        ([0.1, None, -np.inf, 7.0], "must be finite; got -inf at row 2"),
        ([0.1, None, 0.5, 7.0], "must lie in [0, 1]; got 7.0 at row 3"),
        (["0.1", "high", "0.4", "low"], "must be numeric; got 'high' at row 1"),
        (["0,1", "0,6", "0,4", "0,2"], "Write decimals with a point; for a CSV file, pass"),
        (["0.1", "45%", None, "0.2"], "must be numeric; got '45%'"),
        (["0.1", "1e400", "0.4", "0.2"], "must be finite; got inf"),
        ([0.1, None, 0.4, None], "must not be missing; got nan at row 1 (2 of 4 rows: 1, 3)."),
    ],
)
def test_forecasts_are_refused_in_the_same_words(written, values, part):
    source = written(with_values("a", values))
    assert named_in(source, part) in assert_refused_alike(source)


@pytest.mark.sweep(after=3)
@pytest.mark.parametrize(
    ("values", "part"),
    [
        ([1.0, -2.0, 1.0, 1.0], "`w` must not be negative; got -2.0 at row 1"),
        ([0.0, 0.0, 0.0, 0.0], "`w` must not be all zero; got 0 in all 4 rows."),
        ([1.0, np.inf, 1.0, 1.0], "`w` must be finite"),
        ([1.0, None, 1.0, 1.0], "`w` must not be missing"),
    ],
)
def test_weights_are_refused_in_the_same_words(written, values, part):
    source = written(with_values("w", values))
    assert named_in(source, part) in assert_refused_alike(source, weight="w")


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize(
    ("values", "positive", "part"),
    [
        ([0, 1, 2, 1], None, "must hold 0 and 1, or True and False; got "),
        ([0.0, 0.5, 2.0, 1.0], None, "must hold 0 and 1, or True and False; got "),
        (["no", "yes", "no", "yes"], None, "got 'no' at row 0 (4 of 4 rows: 0, 1, 2, 3)"),
        (["no", "yes", "maybe", "no"], "yes", "must hold two labels, not 3 ('maybe', 'no', 'yes')"),
        (["no", "yes", "maybe", "yes"], "yes", "must hold two labels, not 3 ('maybe', 'no', 'yes')"),
        (["no", " yes", "no", "yes"], "Yes", "has no label 'Yes' to count as positive"),
        ([0, 1, None, 1], None, "`y` must not be missing"),
        (["0", "1", "NA", "1"], None, "`y` must not be missing"),
    ],
)
def test_outcomes_are_refused_in_the_same_words(written, values, positive, part):
    source = written(with_values("y", values))
    assert named_in(source, part) in assert_refused_alike(source, positive=positive)


@pytest.mark.sweep(after=1)
def test_other_columns_are_refused_in_the_same_words(written):
    dates = ["2026-01-01", "31/12/2025", "2026-01-02", "2026-01-03"]
    assert "`when` must hold dates" in assert_refused_alike(written(with_values("when", dates)), time="when")
    labels = ["north", None, "south", "south"]
    assert "`g` must not be missing" in assert_refused_alike(written(with_values("g", labels)), groups="g")
    assert "No row is complete" in assert_refused_alike(
        written(with_values("a", [None] * 4).astype({"a": float})), missing="drop"
    )


def test_unknown_columns_and_options_are_refused_in_the_same_words(written):
    source = written(FRAME)
    assert "Did you mean `when`?" in assert_refused_alike(source, time="wen")
    assert "`forecasts` must differ" in assert_refused_alike(source, forecasts=["a", "a"])
    assert "a column has one role" in assert_refused_alike(source, weight="a")
    assert "at least one column" in assert_refused_alike(source, forecasts=[])
    assert "`missing` must be one of" in assert_refused_alike(source, missing="keep")
    assert "holds no rows" in assert_refused_alike(written(FRAME.iloc[:0]))


def test_many_bad_rows_are_counted_and_some_are_named(written):
    frame = pd.concat([FRAME] * 5, ignore_index=True).assign(a=1.5)
    part = named_in(source := written(frame), "(20 of 20 rows: 0, 1, 2, 3, 4, ...)")
    assert part in assert_refused_alike(source)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("p.csv", b""),
        ("p.csv", b"PAR1 and so on"),
        ("p.csv", b"\ny,a\n0,.1\n"),
        ("p.csv", b'y,a,c\n0,.1,x\n1,.3,"5 inch\n0,.2,b\n1,.4,x\n'),
        ("p.csv", b"y,a\n0,.1\xff\n"),
        ("p.csv", b"y,a\n0,.1\n1,.2,.3\n"),
        ("p.csv", b"y,a,a\n0,.1,.2\n"),
        ("p.parquet", b"y,a\n0,.1\n"),
        ("p.xlsx", b"x"),
    ],
)
def test_files_of_another_format_are_refused_in_the_same_words(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    assert name in assert_refused_alike(path)


def test_a_truncated_parquet_file_is_refused_in_the_same_words(tmp_path):
    path = tmp_path / "p.parquet"
    FRAME.to_parquet(path)
    path.write_bytes(path.read_bytes()[:-40])
    assert "cannot be read as Parquet" in assert_refused_alike(path)


def test_a_window_needs_times():
    with pytest.raises(sr.UsageError, match=exactly("`window` needs a column of times; name it as `time`.")):
        open_duckdb(FRAME, **NAMED, window="month")
    with pytest.raises(sr.UsageError, match="`window` must be one of"):
        open_duckdb(FRAME, **NAMED, time="when", window="decade")


# ---- accepted rows ----


@pytest.mark.sweep(after=4)
@pytest.mark.parametrize(
    ("values", "positive"),
    [
        ([0, 1, 0, 1], None),
        ([0.0, 1.0, 0.0, 1.0], None),
        ([False, True, False, True], None),
        (["False", "true", "FALSE", " True "], None),
        (["no", "yes", "no", "yes"], "yes"),
        ([2, 1, 2, 1], 1),
        ([1, 0, 1, 0], 0),
        (["01", "02", "01", "02"], "02"),
        (["it's", 'say "so"', "it's", 'say "so"'], 'say "so"'),
    ],
)
def test_outcomes_are_the_same_as_in_memory(written, values, positive):
    source = written(with_values("y", values))
    predictions = sr.read_predictions(source, **NAMED, positive=positive)
    with open_duckdb(source, **NAMED, positive=positive) as engine:
        assert engine.survey.events == 2
        assert engine.survey.positive == predictions.positive
        assert engine.survey.sha256 == predictions.sha256


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "float64", "boolean", "Int64"])
def test_forecasts_of_any_number_type_are_widened_exactly(tmp_path, dtype):
    values = pd.Series([0.3, 0.6, 0.4, 0.8]) if "float" in dtype else pd.Series([0, 1, 0, 1])
    frame = with_values("a", values.astype(dtype))
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED) as engine:
        assert engine.survey.sha256 == sr.read_predictions(frame, **NAMED).sha256


@pytest.mark.sweep(after=2)
@pytest.mark.parametrize("zeros", [[-0.0, 0.0], [0.0, -0.0]])
def test_zeros_of_both_signs_are_one_label(written, zeros, monkeypatch):
    monkeypatch.setattr("scorereport.data.source_kind.ROWS_PER_BATCH", 2)
    source = written(FRAME.assign(g=[1.5, *zeros, 1.5], c=[*zeros, *reversed(zeros)]))
    columns = NAMED | {"groups": "g", "cluster": "c"}
    expected = sr.read_predictions(source, **columns)
    with open_duckdb(source, **columns) as engine:
        assert engine.survey.sha256 == expected.sha256
        assert [label.label for label in engine.survey.groups["g"]] == sorted(set(expected.groups["g"]))
        assert engine.survey.clusters == len(set(expected.cluster))
        codes = engine.reduce(lambda batch: (np.bincount(batch.groups["g"], minlength=3),), "")[0]
    assert codes[codes > 0].tolist() == [len(rows) for _, rows in rows_by_label(expected.groups["g"])]


def test_an_outcome_may_be_infinite(tmp_path):
    frame = FRAME.assign(y=[0.0, np.inf, 0.0, np.inf])
    frame.to_parquet(tmp_path / "p.parquet")
    with open_duckdb(tmp_path / "p.parquet", **NAMED, positive="inf") as engine:
        assert engine.survey.events == 2
        assert engine.survey.sha256 == sr.read_predictions(frame, **NAMED, positive="inf").sha256


@pytest.mark.parametrize("size", [1e-300, 1e200])
def test_weights_whose_squares_cannot_be_summed_are_refused(written, size):
    frame = FRAME.assign(w=[0, 1.0, size, size * 2])
    sentence = (
        f"`w` must be 0 or lie between 1e-100 and 1e+100; got {size!r} at row 2 (2 of 4 rows: 2, 3). "
        "Divide all weights by one of them."
    )
    source = written(frame)
    for read in (open_duckdb, sr.read_predictions):
        with pytest.raises(sr.DataError, match=exactly(named_in(source, sentence))):
            read(source, **NAMED, weight="w")


def test_frequencies_must_be_whole_numbers(written):
    frame = FRAME.assign(w=[1.0, 2.5, 3.0, 0.0])
    sentence = (
        '`w` must be whole numbers where `weight_kind` is "frequency"; got 2.5 at row 1 (1 of 4 rows). '
        'Weights of other kinds are "sampling" weights.'
    )
    source = written(frame)
    for read in (open_duckdb, sr.read_predictions):
        with pytest.raises(sr.DataError, match=exactly(named_in(source, sentence))):
            read(source, **NAMED, weight="w", weight_kind="frequency")


@pytest.mark.parametrize(("largest", "counted"), [(2.0**53 - 8, True), (2.0**53 - 7, False)])
def test_whole_weights_count_only_while_their_sum_is_exact(written, largest, counted):
    with open_duckdb(written(FRAME.assign(w=[1.0, largest, 3.0, 3.0])), **NAMED, weight="w") as engine:
        assert engine.survey.counted is counted
        assert engine.survey.total == largest + 7


def test_a_file_with_wrong_statistics_is_refused(tmp_path):
    path, x = tmp_path / "p.parquet", np.random.default_rng(1).random(100)
    frame = pd.DataFrame({"y": np.arange(100) % 2, "x": x})
    frame.to_parquet(path, compression=None, engine="pyarrow", index=False)
    raw = path.read_bytes()
    middle = np.sort(x)[50]  # neither minimum nor maximum, so not in the statistics
    path.write_bytes(raw.replace(middle.tobytes(), np.float64(1e9).tobytes()))
    sentence = "p.parquet is damaged: `x` holds values that the file's statistics exclude."
    with pytest.raises(sr.DataError, match=exactly(sentence)):
        open_duckdb(path, outcome="y", forecasts=["x"])


def many_rows(n=3000):
    """Rows with every role, missing values, labels written in several ways, unusual column names."""
    rng = np.random.default_rng(5)
    x = rng.random(n).round(2)
    frame = pd.DataFrame(
        {
            "raw": (rng.random(n) < x).astype(int),
            "packed": x,
            'a "b"': np.clip(x + rng.normal(0, 0.2, n), 0, 1),
            "n": rng.integers(0, 4, n).astype(float),
            "code": rng.choice(["n", "s", "1.0", " 1 ", "1", "é"], n),
            "key": rng.integers(0, 300, n),
            "first": rng.choice(list("ABC"), n),
            "at": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900 * 86_400, n), unit="s"),
        }
    )
    frame.loc[[5, 70], "packed"] = np.nan
    frame.loc[[5, 7], "code"] = None
    frame.loc[9, "n"] = np.nan
    return frame


ALL = {
    "outcome": "raw",
    "forecasts": ["packed", 'a "b"'],
    "weight": "n",
    "groups": ["code"],
    "cluster": "key",
    "grade": "first",
    "time": "at",
    "missing": "drop",
}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("weight", ["whole", "fractional", "none"])
def test_the_survey_counts_what_memory_counts(written, weight):
    frame = many_rows().assign(key=lambda f: f["key"].astype(str) + ".0")
    frame["n"] = frame["n"] / 3 if weight == "fractional" else frame["n"]
    source = written(frame)
    columns = ALL | ({"weight": None} if weight == "none" else {})
    p = sr.read_predictions(source, **columns)
    w = np.ones(len(p)) if p.weight is None else p.weight
    with open_duckdb(source, **columns) as engine:
        survey = engine.survey
    assert (survey.row_flow, survey.sha256, survey.file_sha256) == (p.row_flow, p.sha256, p.file_sha256)
    assert (survey.source, survey.outcome_name, survey.time_name) == (p.source, "raw", "at")
    assert survey.models == tuple(p.forecasts)
    assert (survey.rows, survey.counted) == (np.count_nonzero(w), weight != "fractional")
    assert survey.clusters == len(np.unique(p.cluster[w > 0]))
    sums = [w.sum(), (w * p.outcome).sum(), (w * w * p.outcome).sum(), (w * w * (1 - p.outcome)).sum()]
    found = [survey.total, survey.events, survey.event_squares, survey.other_squares]
    np.testing.assert_allclose(found, sums, rtol=1e-13)
    assert isinstance(survey.total, int) == (weight != "fractional")
    for name, x in p.forecasts.items():
        refuted = np.flatnonzero((np.abs(x - p.outcome) == 1) & (w > 0))
        rows = refuted if p.rows is None else p.rows[refuted]
        assert survey.refuted.get(name, (0, ())) == (len(rows), tuple(rows[:6].tolist()))
        assert survey.halves[name] == np.count_nonzero((x == 0.5) & (w > 0))
        assert survey.certain[name] == np.count_nonzero(((x == 0) | (x == 1)) & (w > 0))


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("over", [1, 3])
def test_labels_and_windows_are_those_of_memory(written, over):
    source = written(many_rows().assign(n=lambda frame: frame["n"] / over))
    p = sr.read_predictions(source, **ALL)
    for window in (None, "week"):
        with open_duckdb(source, **ALL, window=window) as engine:
            survey = engine.survey
        labels = label_windows(p.time, window)
        for found, of_rows in ((survey.windows, labels), (survey.groups["code"], p.groups["code"])):
            assert_same_labels(found, of_rows, p)
    assert [label.label for label in survey.groups["code"]] == ["1", "n", "s", "é"]


def assert_same_labels(found, labels, p):
    expected = [
        (label, len(rows), *(of[rows].sum() for of in (p.weight, p.weight * p.outcome, p.weight**2)))
        for label, rows in rows_by_label(labels)
        if p.weight[rows].any()
    ]
    counts = [(each.label, each.rows, each.total, each.events, each.squares) for each in found]
    assert [count[:2] for count in counts] == [count[:2] for count in expected]
    np.testing.assert_allclose([c[2:] for c in counts], [c[2:] for c in expected], rtol=1e-13)
    assert len({each.code for each in found}) == len(found)


def test_groups_without_weight_are_named(written):
    source = written(FRAME.assign(g=["north", "south", "west", "south"]))
    with open_duckdb(source, **NAMED, groups="g", weight="w", time="when") as engine:
        survey = engine.survey
    assert survey.weightless == (("g", "west", 1), ("when", "2026-01-03", 1))
    assert [label.label for label in survey.groups["g"]] == ["north", "south"]


def test_times_with_zones_and_dates_are_those_of_memory(tmp_path):
    moments = pd.to_datetime(["2026-01-01T23:30:00-05:00"] * 4)
    for values in (moments, moments.date, moments.tz_convert("UTC").as_unit("ms"), [2024, 2025, 2025, 2026]):
        frame = with_values("when", values)
        frame.to_parquet(tmp_path / "p.parquet")
        p = sr.read_predictions(frame, **NAMED, time="when")
        with open_duckdb(tmp_path / "p.parquet", **NAMED, time="when") as engine:
            assert engine.survey.sha256 == p.sha256
            assert {w.label for w in engine.survey.windows} == set(label_windows(p.time, None))


def test_numbers_as_labels_are_those_of_memory(tmp_path):
    frame = FRAME.assign(g=[1.0, 2.5, None, 1.0], c=[True, False, True, True])
    frame.to_parquet(tmp_path / "p.parquet")
    columns = NAMED | {"groups": ["g", "c"], "missing": "drop"}
    with open_duckdb(tmp_path / "p.parquet", **columns) as engine:
        assert engine.survey.sha256 == sr.read_predictions(frame, **columns).sha256
        assert [label.label for label in engine.survey.groups["g"]] == ["1", "2.5"]
        assert [label.label for label in engine.survey.groups["c"]] == ["False", "True"]
