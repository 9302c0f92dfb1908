"""Spark sessions and comparisons that the tests of the Spark engine share."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from scorereport.evaluation.engines.protocol import DigestPlan
from scorereport.evaluation.engines.spark.spark_session import end_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession

    from scorereport.evaluation.engines.digest import Digest
    from scorereport.evaluation.engines.protocol import LabelCount, Survey

#: Small and quick: these tests wait for Spark's planning, not for its work. Tasks are tried three times.
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.driver.maxResultSize": "8m",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.log.level": "OFF",
}


@contextmanager
def spark_session(master: str, settings: Mapping[str, str], folder: Path) -> Iterator[SparkSession]:
    """A session of its own, or the reason why there is none."""
    if shutil.which("java") is None:
        pytest.skip("no Java, which Spark needs")
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    own = {"spark.local.dir": str(folder), "spark.sql.warehouse.dir": str(folder / "warehouse")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = (
            SparkSession.builder.master(master).config(map={**SETTINGS, **own, **settings}).getOrCreate()
        )
    try:
        yield session
    finally:
        session.stop()
        end_java()  # the next one may need other settings


def share_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One session for all tests of a file."""
    with spark_session("local[2,3]", {}, tmp_path_factory.mktemp("spark")) as session:
        yield session


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning by which pyspark greets a new pandas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        yield


def to_spark(session: SparkSession, frame: pd.DataFrame) -> DataFrame:
    """A frame of pandas as one of Spark, in three partitions."""
    with quiet():
        return session.createDataFrame(frame).repartition(3)


def mark(of: Survey | LabelCount, **others: Any) -> DigestPlan:
    """Marks that ask for a little of everything."""
    edges, ranks = np.array([0.1, 0.25, 0.5]), np.arange(0, of.total, max(of.total // 7, 1)).astype(float)
    measures = (("brier", ()), ("log_loss", ()))
    return DigestPlan(
        total=of.total, events=of.events, measures=measures, edges=edges, ranks=ranks, jumps=5, **others
    )


def assert_same_digest(left: Digest, right: Digest) -> None:
    """Two digests are the same to the last bit."""
    for field in fields(left):
        assert_same_bits(getattr(left, field.name), getattr(right, field.name))


def assert_same_bits(left: Any, right: Any) -> None:
    """Arrays, records of arrays or numbers are the same to the last bit."""
    if hasattr(left, "__dataclass_fields__"):
        for name in left.__dataclass_fields__:
            assert_same_bits(getattr(left, name), getattr(right, name))
    elif isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.tobytes() == right.tobytes()
    else:
        assert left == right
