"""The Spark engine against the engine in memory: the same rows, counts, labels, fits and refusals."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from spark_tools import assert_same_digest, mark, quiet, share_session, to_spark

import scorereport as sr
from scorereport.data.reader import read_predictions
from scorereport.errors import DataError, UsageError
from scorereport.evaluation.engines.engine_evaluation import evaluate_with_engine
from scorereport.evaluation.engines.protocol import BUCKETS
from scorereport.evaluation.engines.spark import spark_jobs
from scorereport.evaluation.engines.spark.spark_engine import SparkEngine, open_spark
from scorereport.evaluation.evaluated_parts import assemble_evaluation
from scorereport.evaluation.subgroups import label_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from scorereport.evaluation.engines.protocol import Batch, Sums

session = pytest.fixture(scope="module")(share_session)

ROLES: dict[str, Any] = {
    "outcome": "came",
    "forecasts": ["smooth", "tied"],
    "groups": ["region", "size"],
    "time": "day",
    "positive": "yes",
    "missing": "drop",
}
N = 12_000


def make_frame() -> pd.DataFrame:
    rng = np.random.default_rng(5)
    smooth = rng.random(N) ** 2
    tied = np.where(rng.random(N) < 0.5, 0.25, np.round(smooth, 3))
    frame = pd.DataFrame(
        {
            "came": np.where(rng.random(N) < smooth, "yes", "no"),
            "smooth": smooth,
            "tied": tied,
            "region": rng.choice(["north", " north", "south", "1.0", "1"], N),
            "size": rng.choice([0.1, 2.0, 1e-7], N),
            "day": np.datetime64("2024-01-01T23:59:59.999999") + 36 * rng.integers(0, 500, N).astype("m8[h]"),
            "weight": rng.integers(0, 4, N),
            "part_weight": rng.random(N),
            "customer": rng.integers(0, 700, N),
        }
    )
    frame.loc[:20, "tied"] = np.nan
    frame.loc[10:30, "came"] = "NA"
    frame.loc[25:40, "region"] = ""
    frame.loc[41:45, ["smooth", "tied"]] = [[0.0, 1.0], [1.0, 0.0], [0.5, -0.0], [0.0, 0.5], [1.0, 1.0]]
    frame.loc[frame["region"] == "south", "weight"] = 0
    return frame


FRAME = make_frame()


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rows")
    for place, rows in enumerate(np.array_split(np.arange(N), 3)):
        FRAME.iloc[rows].to_parquet(folder / f"{place}.parquet", index=False)
    return folder


@pytest.fixture(scope="module")
def engine(session: SparkSession, parquet: Path) -> Iterator[SparkEngine]:  # noqa: ARG001  # is found
    with open_spark(parquet, **ROLES) as engine:
        engine.rows_per_part = 1500
        yield engine


def assert_same_survey(found: Any, roles: dict[str, Any]) -> None:
    expected = read_predictions(FRAME, **roles)
    counts = slice(None) if expected.weight is None else expected.weight > 0
    weight = np.ones(len(expected)) if expected.weight is None else expected.weight
    assert found.row_flow == expected.row_flow
    assert found.rows == len(expected.outcome[counts])
    assert found.total == pytest.approx(weight.sum(), rel=1e-12)
    assert found.events == pytest.approx((weight * expected.outcome).sum(), rel=1e-12)
    squares = weight**2 * expected.outcome
    assert found.event_squares == pytest.approx(squares.sum(), rel=1e-12)
    assert found.other_squares == pytest.approx((weight**2 - squares).sum(), rel=1e-12)
    columns = [(found.groups[name], labels) for name, labels in expected.groups.items()]
    if expected.time is not None:
        columns.append((found.windows, label_windows(expected.time, None)))
    for labels, expected_labels in columns:
        sums = pd.DataFrame({"label": expected_labels, "w": weight, "e": weight * expected.outcome})
        sums = sums.assign(s=squares, o=weight**2 - squares)
        sums = sums.groupby("label").agg(
            rows=("w", "size"), w=("w", "sum"), e=("e", "sum"), s=("s", "sum"), o=("o", "sum")
        )
        sums = sums[sums["w"] > 0]
        assert [one.label for one in labels] == sums.index.tolist()
        assert [one.code for one in labels] == list(range(len(labels)))
        assert [one.rows for one in labels] == sums["rows"].tolist()
        assert [one.total for one in labels] == pytest.approx(sums["w"].tolist(), rel=1e-12)
        assert [one.events for one in labels] == pytest.approx(sums["e"].tolist(), rel=1e-12)
        assert [one.event_squares for one in labels] == pytest.approx(sums["s"].tolist(), rel=1e-12)
        assert [one.other_squares for one in labels] == pytest.approx(sums["o"].tolist(), rel=1e-12)
    for model, forecast in expected.forecasts.items():
        x, y = forecast[counts], expected.outcome[counts]
        assert found.refuted.get(model, (0, ())) == (int((np.abs(x - y) == 1).sum()), ())
        assert found.halves[model] == (x == 0.5).sum()
        assert found.certain[model] == ((x == 0) | (x == 1)).sum()


@pytest.mark.sweep
def test_the_survey_counts_as_memory_does(engine: SparkEngine, parquet: Path) -> None:
    assert_same_survey(engine.survey, ROLES)
    assert engine.name == "spark"
    assert (engine.survey.source, engine.survey.positive, engine.survey.sha256) == (parquet.name, "yes", "")
    assert isinstance(engine.survey.total, int)
    assert engine.survey.models == ("smooth", "tied")


@pytest.mark.sweep
def test_blocks_are_those_of_memory_to_the_last_bit(engine: SparkEngine) -> None:
    expected = read_predictions(FRAME, **ROLES)
    for model, forecast in expected.forecasts.items():
        digest = engine.digest(model, mark(engine.survey))
        assert digest.blocks.equals(sr.corp(expected.outcome, forecast).blocks)
        brier = ((expected.outcome - forecast) ** 2).sum()
        assert digest.sums[-2] == pytest.approx(brier, rel=1e-12)
        assert digest.n_distinct == len(np.unique(forecast))
    engine.rows_per_part = 1 << 22  # one part
    whole = engine.digest(model, mark(engine.survey))
    engine.rows_per_part = 1500
    assert digest.blocks.equals(whole.blocks)
    assert np.array_equal(digest.block_counts, whole.block_counts)
    assert np.allclose(digest.bucket_sums, whole.bucket_sums, rtol=1e-12)
    assert digest.pairs == whole.pairs


@pytest.mark.sweep
def test_groups_and_windows_have_fits_of_their_own(engine: SparkEngine) -> None:
    expected = read_predictions(FRAME, **ROLES)
    columns = {"region": expected.groups["region"], "day": label_windows(expected.time, None)}
    for column, labels in columns.items():
        known = engine.survey.windows if column == "day" else engine.survey.groups[column]
        found = engine.digest_groups("tied", column, {one.code: mark(one, buckets=1) for one in known[1:4]})
        assert sorted(found) == [one.code for one in known[1:4]]
        for one in known[1:4]:
            of = labels == one.label
            fit = sr.corp(expected.outcome[of], expected.forecasts["tied"][of])
            assert found[one.code].blocks.equals(fit.blocks)
    assert engine.digest_groups("tied", "region", {}) == {}


@pytest.mark.sweep
def test_an_evaluation_by_spark_is_that_in_memory(engine: SparkEngine, parquet: Path) -> None:
    memory = sr.evaluate(parquet, resamples=40, **ROLES)
    settings = replace(memory.settings, engine="spark")
    found = assemble_evaluation(evaluate_with_engine(engine, settings), settings, software={})
    for one, other in zip(memory.models, found.models, strict=True):
        assert np.array_equal(one.curves.reliability.cep, other.curves.reliability.cep)
        assert np.allclose(one.curves.murphy.score.left, other.curves.murphy.score.left, rtol=1e-12)
        assert one.thresholds == other.thresholds
        for part, same in zip(one.scores.decompositions, other.scores.decompositions, strict=True):
            assert same.score == pytest.approx(part.score, rel=1e-12)
            assert same.miscalibration == pytest.approx(part.miscalibration, rel=1e-11, abs=1e-14)
        first, second = one.scores.score("roc_auc").interval, other.scores.score("roc_auc").interval
        assert second.standard_error == pytest.approx(first.standard_error, rel=0.2)
    assert [group.sample.rows for group in found.groups] == [g.sample.rows for g in memory.groups]
    assert "The rows have no fixed order, so there is no SHA-256 of them." in found.notes


@pytest.mark.sweep
def test_sums_over_batches_see_every_row_once_and_in_its_bucket(engine: SparkEngine) -> None:
    def count(batch: Batch) -> Sums:
        tied = np.bincount(batch.bucket, weights=batch.forecasts["tied"], minlength=400)
        regions = np.bincount(batch.groups["region"], weights=batch.y)
        return np.bincount(batch.bucket, minlength=400), tied, regions, np.bincount(batch.groups["day"])

    n, tied, regions, days = engine.reduce(count, "counting")
    digest = engine.digest("tied", mark(engine.survey))
    assert np.array_equal(n, digest.bucket_sums[:, 0])
    assert np.allclose(tied, digest.bucket_sums[:, 2], rtol=1e-12)
    assert regions.tolist() == [one.events for one in engine.survey.groups["region"]]
    assert days.tolist() == [one.rows for one in engine.survey.windows]
    assert 0.4 < n.std() / np.sqrt(n.mean()) < 1.6  # as even as in a random split
    same_bucket = engine.digest("smooth", mark(engine.survey))
    assert np.array_equal(same_bucket.bucket_sums[:, 1], digest.bucket_sums[:, 1])


@pytest.mark.sweep
def test_a_frame_without_files_has_the_blocks_of_memory(session: SparkSession) -> None:
    rows = pd.DataFrame({"y": [0, 1, 0, 1, 1], "x": [0.1, 0.2, 0.3, 0.3, 0.4]})
    with open_spark(to_spark(session, rows), outcome="y", forecasts=["x"]) as engine:
        digest = engine.digest("x", mark(engine.survey))
    assert digest.blocks.equals(sr.corp(rows["y"], rows["x"]).blocks)


@pytest.mark.sweep
@pytest.mark.parametrize("weight", ["weight", "part_weight"])
def test_weights_and_clusters_in_a_frame(session: SparkSession, weight: str) -> None:
    frame = to_spark(session, FRAME)
    roles = ROLES | {"weight": weight, "cluster": "customer"}
    with open_spark(frame, **roles) as engine:
        engine.rows_per_part = 2000
        survey = engine.survey
        assert_same_survey(survey, roles)
        expected = read_predictions(FRAME, **roles)
        counts = expected.weight > 0
        assert (survey.source, survey.counted) == ("The frame", weight == "weight")
        assert survey.clusters == len(np.unique(expected.cluster[counts]))
        rows = int((expected.groups["region"] == "south").sum())
        assert survey.weightless == ((("region", "south", rows),) if weight == "weight" else ())
        digest = engine.digest("tied", mark(survey))
        fit = sr.corp(expected.outcome, expected.forecasts["tied"], sample_weight=expected.weight)
        if survey.counted:
            assert digest.blocks.equals(fit.blocks)
        else:
            assert np.allclose(digest.blocks.mean, fit.blocks.mean, rtol=1e-12)
            assert np.array_equal(digest.blocks.x_min, fit.blocks.x_min)
            assert_same_digest(digest, engine.digest("tied", mark(survey)))
        assert (digest.bucket_sums[:, 0] > 0).sum() < BUCKETS  # 700 clusters leave some buckets empty


@pytest.mark.sweep
@pytest.mark.usefixtures("session")
def test_csv_is_read_to_the_last_bit(tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    FRAME.to_csv(file, index=False, sep=";")
    with open_spark(file, **ROLES) as engine:
        assert_same_survey(engine.survey, ROLES)
        expected = read_predictions(FRAME, **ROLES)
        fit = sr.corp(expected.outcome, expected.forecasts["smooth"])
        assert engine.digest("smooth", mark(engine.survey)).blocks.equals(fit.blocks)


@pytest.mark.sweep
@pytest.mark.parametrize("values", ["all equal", "three values", "half of them equal"])
def test_skewed_forecasts_in_one_partition(session: SparkSession, values: str) -> None:
    rng = np.random.default_rng(3)
    x = rng.random(N)
    y = (rng.random(N) < x).astype(int)
    if values == "half of them equal":
        x[: N // 2] = 0.3
    else:
        x = np.full(N, 0.3) if values == "all equal" else np.round(x * 2) / 2
    frame = to_spark(session, pd.DataFrame({"y": y, "x": x})).coalesce(1)
    with open_spark(frame, outcome="y", forecasts=["x"]) as engine:
        engine.rows_per_part = 1000
        digest = engine.digest("x", mark(engine.survey))
        assert digest.blocks.equals(sr.corp(y, x).blocks)
        n = digest.bucket_sums[:, 0]
        assert 0.7 < n.std() / np.sqrt(n.mean()) < 1.3  # equal rows, too, are split at random


@pytest.mark.sweep
def test_rows_in_another_order_and_a_task_tried_again_give_the_same_bits(
    session: SparkSession, tmp_path: Path
) -> None:
    frame = to_spark(session, FRAME[["came", "tied", "customer"]].iloc[50:])

    def in_any_order(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from pyspark import TaskContext

        table = pa.Table.from_batches(batches)
        if TaskContext.get().partitionId() == 1 and list(tmp_path.iterdir()) == [tmp_path / "fail"]:
            (tmp_path / "failed").touch()
            raise RuntimeError("lost on the first attempt")
        order = np.random.default_rng().permutation(table.num_rows)
        yield from table.take(order).combine_chunks().to_batches()

    found = []
    for _ in range(2):
        with quiet():
            unordered = frame.mapInArrow(in_any_order, frame.schema)
        with open_spark(unordered, outcome="came", forecasts=["tied"], positive="yes") as engine:
            engine.rows_per_part = 2000
            (tmp_path / "fail").touch()
            found.append(engine.digest("tied", mark(engine.survey)))
    assert (tmp_path / "failed").exists()
    assert_same_digest(*found)


@pytest.mark.sweep
def test_what_is_collected_does_not_grow_with_the_rows(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[int] = []
    monkeypatch.setattr(spark_jobs, "collect", _recording(collected, spark_jobs.collect))
    monkeypatch.setattr("scorereport.evaluation.engines.spark.spark_engine.FEWEST_SAMPLED", 2000)
    monkeypatch.setattr("scorereport.evaluation.engines.spark.spark_engine.SAMPLED_PER_PART", 1)
    sizes = []
    for n in (8_000, 80_000):
        rows = session.range(n, numPartitions=2).selectExpr("xxhash64(id) AS a", "xxhash64(id, 1) AS b")
        rows = rows.selectExpr("pmod(a, 1000003) / 1000003 AS x", "pmod(b, 1000003) / 1000003 AS u")
        with open_spark(rows.selectExpr("x", "u < x AS y"), outcome="y", forecasts=["x"]) as engine:
            engine.rows_per_part = n // 4
            collected.clear()
            engine.digest("x", mark(engine.survey, buckets=1, most_distinct=0))
            sizes.append(sum(collected))
    assert sizes[1] < 2 * sizes[0]
    assert sizes[1] < 50_000


def _recording(
    sizes: list[int], collect: Callable[[DataFrame], list[Any]]
) -> Callable[[DataFrame], list[Any]]:
    def record(frame: DataFrame) -> list[Any]:
        rows = collect(frame)
        sizes.extend(
            len(value) if isinstance(value, bytes | bytearray) else 8 for row in rows for value in row
        )
        return rows

    return record


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("change", "roles", "sentence"),
    [
        (
            {"g": ["a", "b" * 1500, "a", "b"]},
            {"groups": "g"},
            r"^`g` must hold texts of at most 1,000 characters; got one of 1,500 characters\.$",
        ),
        (
            {"x": [0.1, 1.5, -2.0, 1.5]},
            {},
            r"`x` must lie in \[0, 1\]; got -2.0 \(3 of 4 rows: -2.0, 1.5\)\.$",
        ),
        ({"x": [0.1, np.inf, 0.2, 0.3]}, {}, r"`x` must be finite; got inf \(1 of 4 rows\)\.$"),
        (
            {"x": ["0.1", "0,5", "", ".5"]},
            {},
            r"`x` must be numeric; got '0,5' \(1 of 4 rows\)\. Write decimals ",
        ),
        (
            {"y": [0, 1, 2, 2]},
            {},
            r"`y` must hold 0 and 1, or True and False; got '2' \(2 of 4 rows\)\. For models of several ",
        ),
        (
            {"y": list("abca")},
            {"positive": "a"},
            r"`y` must hold two labels, not 3 \('a', 'b', 'c'\); got 'c' ",
        ),
        (
            {"y": list("abba")},
            {"positive": "z"},
            r"`y` has no label 'z' to count as positive; its labels are 'a'",
        ),
        (
            {"x": [0.1, None, 0.3, 0.4]},
            {},
            r"`x` must not be missing; got no value in 1 of 4 rows\. Fill them",
        ),
        (
            {"x": [None] * 4},
            {"missing": "drop"},
            r"No row is complete: all 4 rows lack a value in one of y, x\.",
        ),
        ({"w": [0.0] * 4}, {"weight": "w"}, r"`w` must not be all zero; got 0 in all 4 rows\.$"),
        (
            {"w": [1.0, -1.0, 1.0, 1.0]},
            {"weight": "w"},
            r"`w` must not be negative; got -1.0 \(1 of 4 rows\)\.$",
        ),
        (
            {"t": ["2024-01-01", "then", "2024-02-31", "2024"]},
            {"time": "t"},
            r"`t` must hold dates such as 2026",
        ),
        ({"z": [1] * 4}, {"forecasts": ["X1"]}, r"The frame has no column `X1`; it has `y`, `x`, `z`\."),
    ],
)
def test_refusals_name_values(
    session: SparkSession, change: dict[str, Any], roles: dict[str, Any], sentence: str
) -> None:
    rows = pd.DataFrame({"y": [0, 1, 0, 1], "x": [0.1, 0.2, 0.3, 0.4]} | change)
    schema = None if rows["x"].notna().any() else "y long, x double"
    frame = session.createDataFrame(
        [tuple(row) for row in rows.astype(object).to_numpy()], schema or list(rows)
    )
    with pytest.raises(DataError, match=sentence):
        open_spark(frame, **({"outcome": "y", "forecasts": ["x"]} | roles))


@pytest.mark.sweep
def test_invalid_sources_are_refused(session: SparkSession, tmp_path: Path) -> None:
    roles: dict[str, Any] = {"outcome": "y", "forecasts": ["x"]}
    with pytest.raises(
        UsageError, match="no_such_table is neither a file or folder nor a table in Spark's catalogue"
    ):
        open_spark("no_such_table", **roles)
    with pytest.raises(UsageError, match="Predictions must be a DataFrame or a file; got int"):
        open_spark(3, **roles)
    with pytest.raises(DataError, match="The frame holds no rows"):
        open_spark(session.createDataFrame([], "y int, x double"), **roles)
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("y,x\n0,0.1\n1,0.2,0.3\n")
    with pytest.raises(DataError, match="a row has more or fewer fields than its header"):
        open_spark(ragged, **roles)
    with pytest.raises(UsageError, match="`window` needs a column of times"):
        open_spark(3, **roles, window="day")
    with pytest.raises(UsageError, match="`forecasts` must be a list of models"):
        open_spark(3, outcome="y", forecasts="x")


@pytest.mark.sweep
def test_a_table_is_read_by_name_and_changed_rows_are_refused(session: SparkSession) -> None:
    to_spark(session, FRAME[["came", "smooth"]].iloc[50:]).createOrReplaceTempView("scored")
    with open_spark("scored", outcome="came", forecasts=["smooth"], positive="yes") as engine:
        assert engine.survey.source == "scored"
        assert engine.survey.rows == N - 50
        wrong = mark(engine.survey)
        object.__setattr__(wrong, "total", N)
        with pytest.raises(
            DataError,
            match="scored returned different rows when it was read again: 11950 cases instead of 12000",
        ):
            engine.digest("smooth", wrong)


def test_without_pyspark_the_error_names_the_extra_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(UsageError, match=r"`pip install scorereport\[spark\]`"):
        open_spark("rows.parquet", outcome="y", forecasts=["x"])
