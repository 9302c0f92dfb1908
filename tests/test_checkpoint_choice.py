"""Selection of a checkpoint for a report, by the configuration or the command line."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.evaluation.selection.choice import check_selection
from scorereport.report.report_output import select_checkpoint

SCORES = pd.DataFrame(
    {"epoch": [1, 2, 3], "penalized_brier": [0.9, 0.7, 0.8], "macro_f1": [0.3, 0.4, 0.5], "loss": [3, 2, 1]}
)
ROWS = pd.DataFrame(
    {
        "epoch": [1, 1, 2, 2],
        "y": ["a", "b", "a", "b"],
        "pa": [6, 5, 9, 2],
        "pb": [4, 5, 1, 8],
        "w": [1, 1, 2, 2],
    }
)


def configure(folder, text):
    return parse_configuration(f"[checkpoints]\n{text}", "report.toml", folder=str(folder))


def test_without_checkpoints_nothing_is_selected():
    assert select_checkpoint(None) is None
    assert select_checkpoint(parse_configuration("")) is None


def test_a_table_of_scores_beside_the_configuration(tmp_path):
    SCORES.to_csv(tmp_path / "epochs.csv", index=False)
    text = 'file = "epochs.csv"\ncolumn = "epoch"\npatience = 1\ndirections = {loss = "lower"}'
    found = select_checkpoint(configure(tmp_path, text), classes=["a", "b"], normalize=True)
    assert found.chosen.best == "2"
    assert found.choice("loss").best == "3"
    assert found.patience == 1


def test_predictions_have_the_classes_of_the_evaluation(tmp_path):
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    text = 'file = "rows.csv"\ncolumn = "epoch"\noutcome = "y"\nforecasts = ["pa", "pb"]\nweight = "w"'
    found = select_checkpoint(configure(tmp_path, text), classes=["a", "b"], normalize=True)
    assert found.classes == ("a", "b")
    assert found.chosen.best == "2"


def test_an_explicit_file_overrides_the_configuration(tmp_path):
    SCORES.to_csv(tmp_path / "other.csv", index=False)
    configuration = configure(tmp_path, 'file = "epochs.csv"\ncolumn = "epoch"')
    assert select_checkpoint(configuration, tmp_path / "other.csv").chosen.best == "2"


def test_a_table_without_a_file_is_refused(tmp_path):
    sentence = r"^`checkpoints.file` is missing\. To fix: name the file with the checkpoints\.$"
    with pytest.raises(sr.UsageError, match=sentence):
        select_checkpoint(configure(tmp_path, 'score = "rps"'))


def test_both_labels_of_an_event_are_checked():
    rows = ROWS.assign(p=[0.1, 0.6, 0.2, 0.9])
    with pytest.raises(
        sr.DataError, match=r"^`y` must hold one of the 2 classes \('maybe', 'b'\); got 'a' at row 0"
    ):
        sr.select(rows, checkpoint="epoch", outcome="y", forecasts="p", classes=["maybe", "b"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"forecasts": {"m": ["pa", "pb"]}}, "`forecasts` must list the columns of the one model"),
        ({"outcome": None, "directions": ["loss"]}, "`directions` must map columns to directions; got"),
    ],
)
def test_wrong_use_is_refused(options, sentence):
    data = SCORES if "directions" in options else ROWS
    with pytest.raises(sr.UsageError, match=f"^{sentence}"):
        sr.select(data, checkpoint="epoch", **({"outcome": "y"} | options))


def test_a_changed_choice_is_noticed():
    found = sr.select(SCORES, checkpoint="epoch")
    check_selection(found)
    moved = replace(found, choices=(replace(found.choices[0], best="3"), *found.choices[1:]))
    with pytest.raises(
        sr.UsageError, match=r"^the choices among checkpoints do not follow from their scores\.$"
    ):
        check_selection(moved)
