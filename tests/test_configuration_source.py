"""Configurations given as dictionaries: the same results and the same refusals as those of a file."""

from __future__ import annotations

import json
import tomllib
from dataclasses import replace
from datetime import date, datetime

import numpy as np
import pytest
from configuration_tools import EXAMPLE, evaluation_fixture, frame_fixture
from hypothesis import given
from hypothesis import strategies as st

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.configuration.configuration_source import as_configuration, write_toml

frame = pytest.fixture(scope="module")(frame_fixture)
evaluation = pytest.fixture(scope="module")(evaluation_fixture)

#: Texts that TOML can hold: any characters but lone surrogates.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
PLAIN = TEXTS | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | st.booleans() | st.dates()
VALUES = st.recursive(
    PLAIN, lambda item: st.lists(item, max_size=3) | st.dictionaries(TEXTS, item, max_size=3)
)


@given(st.dictionaries(TEXTS, st.dictionaries(TEXTS, VALUES, max_size=4), max_size=4))
def test_tables_are_read_back_as_they_were_written(tables):
    assert tomllib.loads(write_toml(tables)) == tables


def test_a_dictionary_is_the_configuration_of_its_file():
    of_file, of_tables = parse_configuration(EXAMPLE), as_configuration(tomllib.loads(EXAMPLE))
    assert replace(of_tables, text=of_file.text, name=of_file.name) == of_file
    assert of_tables.name == "config.toml"


def test_numbers_and_lists_of_other_packages_are_plain_ones():
    given = {
        "evaluation": {"thresholds": np.array([0.1, 0.2]), "seed": np.int64(7), "level": np.float64(0.9)}
    }
    given["report"] = {"omit": ("model",)}
    assert as_configuration(given).evaluation.given == {"thresholds": (0.1, 0.2), "seed": 7, "level": 0.9}
    moments = {"a": {"day": date(2026, 11, 15), "time": datetime(2026, 11, 15, 6, 30)}}
    assert write_toml(moments) == "[a]\nday = 2026-11-15\ntime = 2026-11-15T06:30:00\n"


def test_a_report_takes_a_dictionary(evaluation, tmp_path):
    config = {"limits": {"brier": {"warn": 0.2, "fail": 0.9}}, "model": {"owner": "Retail Credit Risk"}}
    (tmp_path / "config.toml").write_text(write_toml(config), encoding="utf-8")
    options = {"date": "2026-11-15"}
    found = sr.write_report(evaluation, tmp_path / "a.json", config=config, **options)
    expected = sr.write_report(evaluation, tmp_path / "b.json", config=tmp_path / "config.toml", **options)
    ours, theirs = (json.loads(path.read_text(encoding="utf-8")) for path in (found, expected))
    assert ours == theirs
    assert "Retail Credit Risk" in found.read_text(encoding="utf-8")
