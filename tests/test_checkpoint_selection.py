"""Selection of a checkpoint: scores by hand, choices, early stopping, correlations, and their display."""

from __future__ import annotations

import re
from math import inf, isnan, log
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_tools import words_of
from test_figures import assert_is_readable, words

import scorereport as sr
from scorereport import plots
from scorereport.report.section_parts import draw_parts
from scorereport.report.sections.checkpoint_section import CHECKPOINTS, describe_checkpoints_section
from scorereport.report.tables.checkpoint_tables import choice_table, correlation_table
from scorereport.report.templates import render_html

COLUMNS = ["pa", "pb", "pc"]
#: Two checkpoints of two cases: the first has the better Brier score, the second the better labels.
BY_HAND = pd.DataFrame(
    [(2, "a", 0.4, 0.3, 0.3), (2, "b", 0.2, 0.5, 0.3), (1, "a", 0.6, 0.3, 0.1), (1, "b", 0.5, 0.4, 0.1)],
    columns=["epoch", "y", *COLUMNS],
)
EXPECTED = {
    "multiclass_brier": [(0.26 + 0.62) / 2, (0.54 + 0.38) / 2],
    "multiclass_log_loss": [-log(0.6 * 0.4) / 2, -log(0.4 * 0.5) / 2],
    "penalized_brier": [(0.26 + 0.62 + 2 / 3) / 2, (0.54 + 0.38) / 2],
    "penalized_log_loss": [(-log(0.6 * 0.4) + log(3)) / 2, -log(0.4 * 0.5) / 2],
    "macro_f1": [(2 / 3 + 0) / 2, 1.0],
    "accuracy": [1 / 2, 1.0],
    "misclassified": [1 / 2, 0.0],
}


def choose(frame=BY_HAND, **options):
    asked = {"checkpoint": "epoch", "outcome": "y", "forecasts": COLUMNS, "classes": list("abc")}
    return sr.select(frame, **asked | options)


def choose_event(frame, **options):
    return sr.select(frame, **{"checkpoint": "epoch", "outcome": "y", "forecasts": ["p"]} | options)


def given(**columns):
    """Scores that are known already, a row for each checkpoint."""
    n = len(next(iter(columns.values())))
    return pd.DataFrame({"checkpoint": range(1, n + 1), **columns})


def make_frame(checkpoints, n=40, seed=3):
    """A model that learns and then becomes over-confident."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    signal = 1.5 * np.eye(3)[y] + rng.normal(size=(n, 3))
    tables = []
    for place, name in enumerate(checkpoints):
        z = (signal + rng.normal(size=(n, 3)) * 0.3) * (0.3 + 4 * place / len(checkpoints))
        p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
        table = pd.DataFrame(p, columns=COLUMNS).assign(epoch=name, y=np.array(list("abc"))[y])
        tables.append(table.assign(w=rng.random(n)))
    return pd.concat(tables, ignore_index=True)


# ---- Scores and choices ----


@pytest.mark.parametrize("name", EXPECTED)
def test_scores_are_those_by_hand(name):
    assert choose().frame[name].tolist() == pytest.approx(EXPECTED[name], abs=1e-15)


def test_a_penalty_for_wrong_labels_changes_the_choice():
    found = choose()
    assert found.checkpoints == ("1", "2")
    assert {choice.score: choice.best for choice in found.choices} == {
        "multiclass_brier": "1",
        "multiclass_log_loss": "1",
        "penalized_brier": "2",
        "penalized_log_loss": "2",
        "macro_f1": "2",
        "accuracy": "2",
    }
    assert found.chosen is found.choice("penalized_brier")
    assert found.chosen.value == pytest.approx(0.46)
    assert (found.chosen.macro_f1, found.chosen.accuracy, found.chosen.macro_f1_loss) == (1, 1, 0)
    brier = found.choice("multiclass_brier")
    assert (brier.macro_f1, brier.accuracy) == pytest.approx((1 / 3, 1 / 2))
    assert brier.macro_f1_loss == pytest.approx(2 / 3)
    assert found.n == 2
    assert found.cases == (2, 2)
    assert found.classes == ("a", "b", "c")


def test_ties_go_to_the_first_checkpoint_and_the_first_class():
    tied = BY_HAND.assign(pa=0.4, pb=0.4, pc=0.2)
    found = choose(tied)
    assert {choice.best for choice in found.choices} == {"1"}
    assert found.frame.accuracy.tolist() == [0.5, 0.5]  # "a" is predicted both times


@pytest.mark.parametrize(
    ("losses", "patience", "at", "kept", "best"),
    [
        ([5, 4, 4, 3, 6, 2], 1, "3", "2", "6"),
        ([5, 4, 4, 3, 6, 2], 2, None, "6", "6"),
        ([5, 4, 4, 4, 3], 2, "4", "2", "5"),
        ([5, 4, 4, 4, 3], 3, None, "5", "5"),
        ([1, 2, 3], 2, "3", "1", "1"),
        ([3, 2, 1], 1, None, "3", "3"),
        ([inf, inf, 1], 2, None, "3", "3"),
        ([inf, inf, 1], 1, "2", "1", "3"),
        ([7], 1, None, "1", "1"),
    ],
)
def test_early_stopping_by_hand(losses, patience, at, kept, best):
    table = given(loss=losses, gain=[-loss for loss in losses])
    ways = {"loss": "lower", "gain": "higher"}
    for score in ways:
        chosen = sr.select(table, score=score, patience=patience, directions=ways).chosen
        assert chosen.stop is not None
        assert (chosen.stop.at, chosen.stop.kept, chosen.best) == (at, kept, best)
        assert abs(chosen.stop.value) == losses[int(kept) - 1]


def test_without_patience_nothing_stops():
    assert all(choice.stop is None for choice in choose().choices)


def test_the_loss_by_early_stopping_is_reported():
    table = given(penalized_brier=[0.9, 0.8, 0.85, 0.6], macro_f1=[0.2, 0.5, 0.6, 0.4], accuracy=[0.1] * 4)
    chosen = sr.select(table, patience=1).chosen
    assert (chosen.best, chosen.macro_f1, chosen.macro_f1_loss) == ("4", 0.4, pytest.approx(0.2))
    assert (chosen.stop.at, chosen.stop.kept, chosen.stop.macro_f1) == ("3", "2", 0.5)
    assert chosen.stop.macro_f1_loss == pytest.approx(0.1)
    assert chosen.stop.accuracy == 0.1


# ---- Correlations ----


def test_correlations_are_turned_so_that_agreement_is_positive():
    found = {pair.first: pair for pair in choose().correlations}
    assert [round(found[name].pearson, 12) for name in list(EXPECTED)[:4]] == [-1, -1, 1, 1]
    assert found["accuracy"].spearman == 1
    assert "macro_f1" not in found


def test_correlations_by_hand():
    loss, f1 = [3.0, 1.0, 1.0, 0.0], [0.1, 0.2, 0.4, 0.3]
    pair = sr.select(given(penalized_brier=loss, macro_f1=f1)).correlations[0]
    dx, dy = [-1.75, 0.25, 0.25, 1.25], [-0.15, -0.05, 0.15, 0.05]
    top = sum(a * b for a, b in zip(dx, dy, strict=True))
    assert pair.pearson == pytest.approx(top / (sum(a * a for a in dx) * sum(b * b for b in dy)) ** 0.5)
    ranks = [-1.5, 0, 0, 1.5], [-1.5, -0.5, 1.5, 0.5]
    top = sum(a * b for a, b in zip(*ranks, strict=True))
    assert pair.spearman == pytest.approx(top / (4.5 * 5) ** 0.5)


def test_correlations_agree_with_numpy_and_scipy():
    from scipy.stats import spearmanr

    found = choose(make_frame(range(12)))
    merits = np.array([track.merit for track in found.tracks])
    np.testing.assert_allclose(found.correlation_matrix, np.corrcoef(merits), atol=1e-12)
    for pair in found.correlations:
        one, other = (next(t.merit for t in found.tracks if t.score == n) for n in (pair.first, pair.second))
        assert pair.spearman == pytest.approx(spearmanr(one, other).statistic)


def test_no_correlation_for_one_checkpoint_and_for_a_score_that_never_changes():
    alone = choose(BY_HAND.query("epoch == 1"), patience=1)
    assert all(isnan(pair.pearson) and isnan(pair.spearman) for pair in alone.correlations)
    assert "There is one checkpoint: nothing to choose, and no correlation." in alone.notes
    assert alone.chosen.stop.at is None
    constant = sr.select(given(penalized_brier=[0.5, 0.5], macro_f1=[0.1, 0.2]))
    assert isnan(constant.correlations[0].pearson)
    assert constant.chosen.best == "1"


# ---- Odd data ----


def test_an_infinite_log_score_stays_visible_and_is_not_chosen():
    sure = BY_HAND.assign(pa=[0.4, 1.0, 0.6, 0.5], pb=[0.3, 0.0, 0.3, 0.4], pc=[0.3, 0.0, 0.1, 0.1])
    found = choose(sure)
    assert found.frame.multiclass_log_loss.tolist()[1] == inf
    assert found.frame.penalized_log_loss.tolist()[1] == inf
    assert found.choice("penalized_log_loss").best == "1"
    log_pair = next(pair for pair in found.correlations if pair.first == "multiclass_log_loss")
    assert isnan(log_pair.pearson)
    assert (
        "Log score (K classes) and Penalised log score: infinite at 1 of 2 checkpoints, so Pearson's "
        "correlation is not defined."
    ) in found.notes


def test_ranks_of_infinite_scores_are_correlated():
    pair = CASES["infinite"]().correlations[0]
    assert isnan(pair.pearson)
    assert pair.spearman == pytest.approx(0.5)  # ranks 2, 1, 3 against 1, 2, 3


def test_an_event_makes_two_classes():
    frame = pd.DataFrame({"epoch": [1, 1, 2, 2], "y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.5, 0.9]})
    found = choose_event(frame)
    assert found.classes == ("0", "1")
    brier = [(2 * 0.04 + 2 * 0.16) / 2, (2 * 0.25 + 2 * 0.01) / 2]
    assert found.frame.multiclass_brier.tolist() == pytest.approx(brier)
    assert found.frame.penalized_brier.tolist() == pytest.approx(brier)  # at 0.5 the first class is predicted
    assert found.frame.accuracy.tolist() == [1, 1]
    assert "The Brier scores are those of both classes: twice that of the event alone." in found.notes
    named = choose_event(frame.assign(y=["no", "yes"] * 2), classes=["no", "yes"], forecasts="p")
    assert named.classes == ("no", "yes")
    assert named.frame.equals(found.frame)


@pytest.mark.parametrize(
    ("score", "best", "value"),
    [("brier", "1", (0.04 + 0.16) / 2), ("log", "1", -log(0.48) / 2), ("roc_auc", "1", 1)],
)
def test_an_event_may_be_chosen_by_scores_of_events(score, best, value):
    frame = pd.DataFrame({"epoch": [1, 1, 2, 2], "y": [0, 1, 0, 1], "p": [0.2, 0.6, 0.5, 0.9]})
    found = choose_event(frame, score=score)
    assert found.chosen.score == found.score
    assert found.chosen.best == best
    assert found.chosen.value == pytest.approx(value)


@pytest.mark.parametrize(
    "score", ["rps", "multiclass_spherical", "quadratic_weighted_kappa", "expected_cost"]
)
def test_classes_may_be_chosen_by_any_score_of_theirs(score):
    found = choose(make_frame(range(4)), score=score)
    assert found.tracks[-1].score == found.chosen.score == score
    assert len(found.tracks) == 7


def test_a_class_never_observed_is_noted_and_left_out_of_macro_f1():
    found = choose()
    assert (
        "No case of c: macro F1 leaves such a class out where it is not predicted, and counts it as 0 where "
        "it is."
    ) in found.notes
    predicted = BY_HAND.assign(pa=[0.1, 0.2, 0.6, 0.5], pb=[0.1, 0.5, 0.3, 0.4], pc=[0.8, 0.3, 0.1, 0.1])
    assert choose(predicted).frame.macro_f1.tolist() == pytest.approx([1 / 3, (0 + 1 + 0) / 3])


def test_weights_are_counts_and_rows_without_weight_do_not_count():
    weighted = choose(BY_HAND.assign(w=[1, 3, 2, 0]), weight="w")
    repeated = choose(BY_HAND.loc[[0, 1, 1, 1, 2, 2]])
    np.testing.assert_allclose(weighted.frame, repeated.frame, atol=1e-15)
    assert weighted.cases == (1, 2)


def test_different_cases_are_noted():
    fewer = choose(BY_HAND.iloc[:3])
    assert fewer.n is None
    assert fewer.cases == (1, 2)
    assert (
        "Checkpoints have different numbers of cases, from 1 (1) to 2 (2): their scores are not of the same "
        "cases."
    ) in fewer.notes
    other = choose(BY_HAND.assign(y=["a", "b", "a", "a"]))
    assert (
        "Checkpoints have different numbers of cases of each class: their cases are not the same."
        in other.notes
    )


def test_probabilities_are_rescaled_only_on_request():
    votes = BY_HAND.assign(**{name: 10 * BY_HAND[name] for name in COLUMNS})
    found = choose(votes, normalize=True)
    np.testing.assert_allclose(found.frame, choose().frame)
    assert (
        "The probabilities of 4 rows did not sum to 1 and were divided by their sum; the sum furthest from 1 "
        "was 10.000000."
    ) in found.notes


@pytest.mark.parametrize("weight", [None, "w"])
def test_the_order_of_rows_and_columns_does_not_matter(weight):
    frame = make_frame(range(5))
    shuffled = frame.sample(frac=1, random_state=1)[frame.columns[::-1]]
    assert choose(frame, weight=weight).to_json() == choose(shuffled, weight=weight).to_json()


def test_numbers_are_sorted_and_names_keep_their_order():
    assert choose(make_frame([10, 9, 100.5, 2])).checkpoints == ("2", "9", "10", "100.5")
    assert choose(make_frame(["10", "9", "last"])).checkpoints == ("10", "9", "last")
    assert choose(make_frame(["10", "9", "nan"])).checkpoints == ("10", "9", "nan")
    notes = choose(make_frame(["b", "a"]), patience=1).notes
    assert "Checkpoints are names: early stopping uses the order of their first rows." in notes


# ---- Tables of scores, files and documents ----


def test_given_scores_are_found_by_their_names():
    table = given(
        accuracy=[0.5, 0.6], val_loss=[1.0, 2.0], note=["x", "y"], penalized_brier=[0.5, 0.4], rps=[0.1, 0.2]
    )
    found = sr.select(table)
    assert list(found.frame) == ["penalized_brier", "accuracy", "rps", "misclassified"]
    assert found.chosen.best == "2"
    assert isnan(found.chosen.macro_f1)
    assert found.correlations == ()
    assert found.n is None
    assert "Macro F1 is not known: choices are not compared by it." in found.notes
    own = sr.select(table, score="val_loss", directions={"val_loss": "lower"})
    assert (own.chosen.best, own.chosen.value) == ("1", 1.0)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_files_give_the_same_as_frames(tmp_path, ending):
    long, short = tmp_path / f"long.{ending}", tmp_path / f"short.{ending}"
    frame = make_frame(range(8, 12))
    table = choose(frame).frame.reset_index().assign(epoch=range(8, 12))
    write = "to_parquet" if ending == "parquet" else "to_csv"
    getattr(frame, write)(long, index=False)
    getattr(table, write)(short, index=False)
    from_long, from_short = choose(long), sr.select(str(short), checkpoint="epoch")
    pd.testing.assert_frame_equal(from_long.frame, choose(frame).frame)
    pd.testing.assert_frame_equal(from_short.frame, from_long.frame)
    assert from_long.source == f"long.{ending}"
    assert len(from_short.file_sha256) == 64


def test_infinite_scores_may_be_given_in_a_file(tmp_path):
    (tmp_path / "s.csv").write_text("checkpoint;multiclass_log_loss\n1;inf\n2;0.5\n", encoding="utf-8")
    found = sr.select(tmp_path / "s.csv", score="multiclass_log_loss")
    assert found.tracks[0].value.tolist() == [inf, 0.5]
    assert found.chosen.best == "2"


def test_a_selection_can_be_written_and_read(tmp_path):
    found = choose(make_frame(["a", "b", "c"]), patience=1)
    text = found.to_json(tmp_path / "selection.json")
    again = sr.Selection.from_json(tmp_path / "selection.json")
    assert again == found
    assert again.to_json() == text
    assert again.frame.equals(found.frame)
    assert found != "another"
    with pytest.raises(ValueError, match="read-only"):
        again.tracks[0].value[0] = 0


def test_choices_as_a_frame():
    frame = choose(make_frame(range(6)), patience=2).choices_frame
    assert frame.index.tolist() == list(EXPECTED)[:6]
    assert frame.columns.tolist()[:3] == ["direction", "best", "value"]
    assert {"stop_at", "stop_kept", "stop_macro_f1_loss"} <= set(frame)
    assert "stop_at" not in choose().choices_frame


# ---- Refusals ----


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"checkpoint": "step"}, "The frame has no column `step`; it has `epoch`, `y`, `pa`, `pb`, `pc`."),
        (
            {"forecasts": None},
            "`forecasts` must list the columns of probabilities, and `classes` their classes in the same "
            "order; a single column is the probability of an event and needs no `classes`.",
        ),
        (
            {"classes": None},
            "`forecasts` must list the columns of probabilities, and `classes` their classes in the same "
            "order; a single column is the probability of an event and needs no `classes`.",
        ),
        (
            {"classes": ["a", "b"]},
            "`forecasts` must name a column for each of the 2 classes; got 3 for all checkpoints.",
        ),
        (
            {"forecasts": ["pa"]},
            "`classes` must be two labels, that of the event last, where there is one column of "
            "probabilities; got ['a', 'b', 'c'].",
        ),
        (
            {"forecasts": ["pa"], "classes": ["a", "b"], "normalize": True},
            "`normalize` is for a column for each class; there is one column of an event.",
        ),
        ({"patience": 0}, "`patience` must be a whole number of at least 1; got 0."),
        ({"patience": True}, "`patience` must be a whole number of at least 1; got True."),
        (
            {"score": "brier"},
            "`score` must be one of class probabilities or of labels; 'brier' is of the probability of an "
            "event.",
        ),
        (
            {"directions": {"pa": "lower"}},
            "`directions` is for columns of scores; predictions are scored by known scores.",
        ),
        (
            {"outcome": None},
            "`forecasts` and `classes` cannot be used without `outcome`: name the column of the observed "
            "classes.",
        ),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises((sr.UsageError, sr.DataError), match=f"^{re.escape(message)}$"):
        choose(**options)


def test_an_unknown_score_is_refused():
    with pytest.raises(sr.UsageError, match=r"^`score` 'f7' is not known; choose one of accuracy, .*\.$"):
        choose(score="f7")


@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        (
            "pa",
            [0.4, None, 0.6, 0.5],
            "Every row must be complete; got missing `pa` in 1 row (1). Fill them, or leave these cases out "
            "at every checkpoint.",
        ),
        (
            "epoch",
            ["1", None, None, "2"],
            "Every row must be complete; got missing `epoch` in 2 rows (1, 2). Fill them, or leave these "
            "cases out at every checkpoint.",
        ),
        (
            "y",
            list("abad"),
            "`y` must hold one of the 3 classes ('a', 'b', 'c'); got 'd' at row 3 (1 of 4 rows).",
        ),
        ("pa", [0.4, 1.2, 0.6, 0.5], "`pa` must lie in [0, 1]; got 1.2 at row 1 (1 of 4 rows)."),
        (
            "pa",
            [0.4, 0.2, 0.5, 0.5],
            "The probabilities of all checkpoints must sum to 1 within 1e-06 in each row; got 0.9 at row 2 "
            "(1 of 4 rows). "
            "Correct them, or pass normalize=True (--normalize) to divide each row by its sum.",
        ),
    ],
)
def test_wrong_predictions_are_refused(column, values, message):
    with pytest.raises(sr.DataError, match=f"^{re.escape(message)}$"):
        choose(BY_HAND.assign(**{column: values}))


def test_a_table_without_rows_is_refused():
    with pytest.raises(sr.DataError, match=r"^The frame holds no rows\.$"):
        choose(BY_HAND.iloc[:0])


def test_a_checkpoint_without_weight_is_refused():
    with pytest.raises(sr.DataError, match=r"^`w` must not be all zero at a checkpoint; it is at 2\.$"):
        choose(BY_HAND.assign(w=[0, 0, 1, 1]), weight="w")


def test_a_score_that_is_not_defined_is_refused():
    frame = pd.DataFrame({"epoch": [1, 1, 2], "y": [0, 1, 1], "p": [0.2, 0.6, 0.5]})
    with pytest.raises(
        sr.DataError, match=r"^`score` 'roc_auc' is not defined at 2; choose another score\.$"
    ):
        choose_event(frame, score="roc_auc")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (
            given(penalized_brier=[0.1, 0.2]).assign(checkpoint=[1, 1]),
            {},
            "`checkpoint` must name each checkpoint once in a table of scores; got '1' 2 times. If rows "
            "are cases, pass `outcome` and `forecasts`.",
        ),
        (
            given(penalized_brier=[0.1, 0.2]).assign(checkpoint=["x", None]),
            {},
            "`checkpoint` must not be missing; got None at row 1 (1 of 2 rows).",
        ),
        (
            given(penalized_brier=[0.1, None]),
            {},
            "`penalized_brier` must be a number in every row; got nan at row 1 (1 of 2 rows).",
        ),
        (
            given(penalized_brier=[0.1, 0.2], macro_f1=[51.65, 60.03]),
            {},
            "`macro_f1` must lie in [0, 1]; got 51.65 at row 0 (2 of 2 rows: 0, 1).",
        ),
        (
            given(loss=[0.1, 0.2]),
            {},
            "`score` 'penalized_brier' is not a score of this table, which has none. Name columns of your "
            'own in `directions`, such as {"val_loss": "lower"}; for predictions pass `outcome` and '
            "`forecasts`.",
        ),
        (
            given(rps=[0.1, 0.2]),
            {"score": "loss"},
            "`score` 'loss' is not a score of this table, which has `rps`. Name columns of your own in "
            '`directions`, such as {"val_loss": "lower"}; for predictions pass `outcome` and `forecasts`.',
        ),
        (
            given(loss=[0.1, 0.2]),
            {"score": "loss", "directions": {"loss": "down"}},
            '`directions` must be "lower" or "higher" for `loss`; got \'down\'.',
        ),
        (
            given(macro_f1=[0.1, 0.2]),
            {"score": "macro_f1", "directions": {"macro_f1": "lower"}},
            "`directions` contradicts the direction of the score `macro_f1`: higher is better.",
        ),
        (
            given(rps=[0.1, 0.2]),
            {"score": "loss", "directions": {"loss": "lower"}},
            "The frame has no column `loss`; it has `checkpoint`, `rps`.",
        ),
        ([1, 2], {}, "Predictions must be a DataFrame or a file; got list."),
    ],
)
def test_wrong_tables_of_scores_are_refused(table, options, message):
    with pytest.raises((sr.UsageError, sr.DataError), match=f"^{re.escape(message)}$"):
        sr.select(table, **options)


def test_a_choice_that_was_not_made_is_refused():
    with pytest.raises(sr.UsageError, match=r"^`score` must be one of 'multiclass_brier', .* got 'rps'\.$"):
        choose().choice("rps")


# ---- Figure, tables and section ----

LONG = "A candidate whose name nobody wants to see in any figure, for it is far too long <b>$x$</b>"
CASES = {
    "two": lambda: choose(patience=1),
    "one": lambda: choose(BY_HAND.query("epoch == 1"), patience=1),
    "thirty": lambda: choose(make_frame(range(30)), patience=2),
    "two hundred": lambda: choose(make_frame(range(200), n=20), patience=5),
    "names": lambda: choose(make_frame(["logit", LONG, "模型"]), patience=1),
    "sixty names": lambda: choose(make_frame([f"candidate {k}" for k in range(60)], n=12)),
    "infinite": lambda: sr.select(
        given(multiclass_log_loss=[1, inf, 0.5], penalized_log_loss=[inf] * 3, macro_f1=[0.1, 0.2, 0.3]),
        score="multiclass_log_loss",
        patience=1,
    ),
    "many scores": lambda: sr.select(
        given(macro_f1=[0.1, 0.2, 0.3], **{f"loss {k}": [1, 2 + k, 0] for k in range(14)}),
        score="loss 13",
        directions={f"loss {k}": "lower" for k in range(14)},
    ),
}


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("name", CASES)
def test_the_figure_is_readable_and_described(name):
    selection = CASES[name]()
    drawn = plots.plot_checkpoints(selection)
    width, height = drawn.get_size_inches() * 25.4
    assert width <= 160.01
    assert height <= 220
    assert_is_readable(name, drawn)
    assert len(plots.render_svg(drawn)) < 200_000
    assert plots.describe_checkpoints(selection).endswith(".")


def test_panels_show_the_scores_the_best_and_where_training_stops():
    selection = sr.select(
        given(penalized_brier=[0.9, 0.8, 0.85, 0.6], macro_f1=[0.2, 0.5, 0.6, 0.4]), patience=1
    )
    drawn = plots.plot_checkpoints(selection)
    shown = words(drawn)
    assert {"Penalised Brier score (decides)", "Macro F1", "checkpoint", "best at 4: .6000"} <= set(shown)
    assert "stops at 3, keeps 2 ◇" in shown
    assert "stops at 4" in shown  # macro F1, which keeps its best
    panel = drawn.axes[0]
    (heading,) = (text for text in drawn.texts if text.get_text().endswith("(decides)"))
    below = heading.get_window_extent().y0
    assert 0 < below - panel.get_window_extent().y1 < drawn.dpi / 3  # a third of an inch
    course = next(line for line in panel.lines if len(line.get_xdata()) == 4)
    assert course.get_ydata().tolist() == [0.9, 0.8, 0.85, 0.6]
    marks = {
        line.get_marker(): line.get_xydata()[0].tolist() for line in panel.lines if len(line.get_xdata()) == 1
    }
    assert marks == {"o": [4, 0.6], "D": [2, 0.8]}


def test_infinite_scores_are_drawn_at_the_edge():
    drawn = plots.plot_checkpoints(CASES["infinite"]())
    partly, all_of_it = drawn.axes[:2]
    arrows = next(line for line in partly.lines if line.get_marker() == "^")
    assert arrows.get_xdata().tolist() == [2]
    assert "∞" in words(partly)
    assert "Infinite at every checkpoint." in words(all_of_it)


def test_more_scores_than_fit_are_left_out_but_not_the_one_that_decides():
    shown = words(plots.plot_checkpoints(CASES["many scores"]()))
    assert "loss 13 (decides)" in shown
    assert "loss 12" not in shown


def test_the_description_names_choices_and_stops():
    selection = sr.select(given(penalized_brier=[0.9, 0.8, 0.85], macro_f1=[0.2, 0.5, 0.6]), patience=1)
    assert plots.describe_checkpoints(selection) == (
        "Scores of 3 checkpoints, from 1 to 3. Best checkpoint by each score: Penalised Brier score 2 "
        "(0.8000) and Macro F1 3 (0.6000). Early stopping after 1 checkpoint without a better score: "
        "Penalised Brier score stops at 3 and keeps 2; Macro F1 continues to the last and keeps 3."
    )
    assert plots.describe_checkpoints(CASES["one"]()).startswith("Scores of 1 checkpoint, 1. Best ")


def test_the_table_of_choices():
    table = choice_table(choose())
    assert table.heads == ("score", "checkpoint", "value", "macro F1", "accuracy", "F1 lost")
    assert table.rows[0] == ("Brier score (K classes)", "1", "0.4400", "0.3333", "0.5000", "0.6667")
    assert table.rows[2] == ("Penalised Brier score", "2", "0.4600", "1.0000", "1.0000", "0.0000")
    assert table.rows[4][0] == "Macro F1 ↑"
    stopped = choice_table(
        sr.select(given(gain=[1, 3, 2]), score="gain", directions={"gain": "higher"}, patience=1)
    )
    assert stopped.rows == (
        ("gain ↑", "best of all", "2", "", "3.0000", "n/d", "n/d", "n/d"),
        ("gain ↑", "early stopping", "2", "3", "3.0000", "n/d", "n/d", "n/d"),
    )
    assert stopped.section == 2
    assert stopped.caption.endswith(
        "Early stopping ends training after 1 checkpoint in a row without a better score and keeps the best "
        "so far"
    )


def test_the_table_of_correlations():
    table = correlation_table(choose())
    assert table.heads == ("score", "Brier", "log", "pen. Brier", "pen. log", "macro F1", "accuracy", "ranks")
    assert table.rows[0][1:] == ("1", "1.000", "−1.000", "−1.000", "−1.000", "−1.000", "−1.000")
    assert table.rows[4] == ("Macro F1", "−1.000", "−1.000", "1.000", "1.000", "1", "1.000", "1")
    assert correlation_table(CASES["one"]()) is None
    many = correlation_table(CASES["many scores"]())
    assert many.heads == ("score", "Pearson", "Spearman")
    assert len(many.rows) == 14
    without_f1 = sr.select(given(rps=[0.1, 0.2], accuracy=[0.5, 0.4]), score="rps")
    assert correlation_table(without_f1).heads == ("score", "accuracy", "Ranked probability score")
    assert correlation_table(sr.select(given(rps=[0.1, 0.2]), score="rps")) is None


def render_section(selection):
    """The text of the section as a page shows it."""
    section = describe_checkpoints_section(SimpleNamespace(selection=selection))
    draw_parts(section.parts.values())
    placed = {**section.content, "id": "checkpoints", "number": "1", "title": CHECKPOINTS.title, "parts": {}}
    for key, part in section.parts.items():
        placed["parts"][key] = part | {"id": key, "name": key}
    return words_of(render_html("sections/checkpoints.html", {"section": placed, "labels": {}}))


def test_the_section_describes_the_choice_and_warns_of_it():
    shown = render_section(choose(patience=1))
    assert "Here 2 checkpoints were scored on 2 cases each" in shown
    assert (
        "The penalised Brier score chooses checkpoint 2, where it is 0.4600. Its macro F1 is 1.0000" in shown
    )
    assert "would not end training early and keeps checkpoint 2" in shown
    assert (
        "With 3 classes, the penalty is 0.6667 for the Brier score and log 3 = 1.0986 for the log score."
        in shown
    )
    assert "Confirm the performance of the chosen checkpoint on other cases" in shown
    assert "is not a proper score" in shown
    assert "it ends training after 1 checkpoint in a row without a better score" in shown


def test_the_section_describes_a_single_checkpoint():
    shown = render_section(sr.select(given(loss=[2]), score="loss", directions={"loss": "lower"}))
    assert "Here 1 checkpoint was scored; each score" in shown


def test_the_section_leaves_out_missing_parts():
    shown = render_section(sr.select(given(loss=[2, 1]), score="loss", directions={"loss": "lower"}))
    assert "The loss chooses checkpoint 2, where it is 1.0000." in shown
    assert "penalty" not in shown
    assert "Early stopping" not in shown
    assert "Do the scores agree?" not in shown
    assert describe_checkpoints_section(SimpleNamespace(selection=None)) is None
