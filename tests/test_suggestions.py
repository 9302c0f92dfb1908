"""A suggestion is a misspelt name or another word for the same thing, never one that means the opposite."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pandas as pd
import pytest

import scorereport as sr
from scorereport._utils.suggestions import OPPOSITES, suggest_name
from scorereport.configuration import parse_configuration
from scorereport.configuration.limit_names import SHORTHANDS, explain_related, find_limit_measure
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.periods import check_window_text
from scorereport.configuration.schedules import check_zone
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator


def misspell(name: str) -> Iterator[str]:
    """The name with a character left out, doubled, or swapped with the next, and without its underscores."""
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]
        yield name[: at + 1] + name[at:]
        yield name[:at] + name[at : at + 2][::-1] + name[at + 2 :]
    yield name.replace("_", "")
    yield name.replace("_", "-")
    yield name.upper()


#: Measures that are named alike, by rules, of which the quick tests take some only.
ALIKE = {
    name
    for name, measure in MEASURES.items()
    if measure.part in (MeasurePart.SCALE, MeasurePart.RETENTION, MeasurePart.UNCERTAINTY)
    or name.startswith(("threshold_", "bounded_"))
}
NAMES = [pytest.param(name, marks=[pytest.mark.sweep] if name in ALIKE else []) for name in MEASURES]


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_measure_is_suggested_or_none(name: str) -> None:
    words = [word for word in misspell(name) if word not in MEASURES]
    found = {word: find_limit_measure(word, MEASURES) for word in words}
    assert set(found.values()) <= {name, ""}
    is_long = len(name) > 5  # of short names, most misspellings could be another name
    assert not is_long or sum(map(bool, found.values())) >= 0.75 * len(found)


@pytest.mark.parametrize("name", NAMES)
def test_a_measure_with_another_ending_keeps_its_kind(name: str) -> None:
    """A prefix or suffix never leads to a measure of another kind or direction."""
    measure = MEASURES[name]
    for word in (f"{name}_score", f"mean_{name}", f"{name}s", f"{name}_loss"):
        meant = find_limit_measure(word, MEASURES)
        assert meant in ("", name), word
    assert not find_limit_measure(f"{name}_loss", MEASURES) or str(measure.direction) == "lower is better"
    for word in (f"max_{name}", f"min_{name}", f"max{name}", f"un{name}", f"non_{name}", f"1_minus_{name}"):
        assert find_limit_measure(word, MEASURES) == "", word
    for part in (MeasurePart.SKILL, MeasurePart.MISCALIBRATION, MeasurePart.DISCRIMINATION):
        word = f"{name}_{part}"
        meant = find_limit_measure(word, MEASURES)
        assert word in MEASURES or not meant or MEASURES[meant].part is part, word


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("brier_score", "brier"),
        ("brier_loss", "brier"),
        ("Brier-Score", "brier"),
        ("brier_skill_score", "brier_skill"),
        ("brier_score_skill", "brier_skill"),
        ("brier_mcb", "brier_miscalibration"),
        ("brier_dsc", "brier_discrimination"),
        ("logloss", "log_loss"),
        ("log_score", "log_loss"),
        ("auc", "roc_auc"),
        ("auroc", "roc_auc"),
        ("roc_auc_score", "roc_auc"),
        ("auc_skill", "roc_auc_skill"),
        ("error_rate", "misclassification"),
        ("accuracy_score", "accuracy"),
        ("f1_score", "macro_f1"),
        ("kappa", "quadratic_weighted_kappa"),
        ("bss", "brier_skill"),
        ("rpss", ""),
        ("slope", "calibration_slope"),
        ("citl", "calibration_in_the_large"),
        ("base_rate", "prevalence"),
        ("gini_coefficient", "roc_auc_skill"),
        ("crps", ""),
        ("miscalibration", ""),
        ("accuracy_loss", ""),
        ("inaccuracy", ""),
        ("unbounded_brier", ""),
        ("brier_calibration", ""),
        ("calibration", ""),
        ("tpr", "sensitivity"),
        ("true_negative_rate", "specificity"),
        ("positive_predictive_value", "ppv"),
        ("ks_statistic", "ks"),
        ("expected_calibration_error", "ece"),
        ("population_stability_index", "psi"),
        ("integrated_calibration_index", "ici"),
        ("fpr", ""),
        ("mce", ""),
        ("max_calibration_error", ""),
        ("hosmer_lemeshow", ""),
        ("youden", ""),
        ("insensitivity", ""),
        ("sensitivity_loss", ""),
        ("ksi", ""),
        ("pk", ""),
    ],
)
def test_other_names_of_measures_lead_to_the_same_meaning(word: str, meant: str) -> None:
    assert find_limit_measure(word, MEASURES) == meant


def test_the_message_names_the_limit_or_lists_all() -> None:
    with pytest.raises(UsageError) as caught:
        parse_configuration("[limits]\nbrier_score = 0.2", "c")
    assert str(caught.value) == "c: `limits.brier_score` is not known; did you mean `brier`?"
    with pytest.raises(UsageError) as caught:
        parse_configuration("[limits]\nzzz = 0.2", "c")
    assert str(caught.value).startswith("c: `limits.zzz` is not known; limits can be set for `brier`, ")


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("fpr", "it is 1 minus the `specificity`."),
        ("Miss-Rate", "it is 1 minus the `sensitivity`."),
        ("mce", "the largest error over bins is not computed; `emax` is the largest distance of the smooth "
         "calibration curve."),
        ("hosmer_lemeshow", "a test of calibration has no limit, because it fails in large samples whatever "
         "the error: set `calibrated_within`, `ici` or `ece`."),
    ],
)  # fmt: skip
def test_names_of_related_numbers_say_how_they_are_related(word: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_configuration(f"[limits]\n{word} = 0.2", "c")
    assert str(caught.value) == f"c: `limits.{word}` is not known; {sentence}"
    named = re.findall(r"`(\w+)`", explain_related(word))
    assert set(named) <= {*MEASURES, *SHORTHANDS}


def replace_letters(name: str) -> Iterator[str]:
    """The name with one letter replaced, added or left out."""
    letters = "aeiknprstx_5"
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]
        for letter in letters:
            yield name[:at] + letter + name[at + 1 :]
            yield name[:at] + letter + name[at:]


def assert_never_inverted(name: str) -> None:
    known = [*MEASURES, *SHORTHANDS]
    measure = MEASURES[SHORTHANDS.get(name, name)]
    for word in set(replace_letters(name)) - set(known):
        meant = find_limit_measure(word, known)
        found = MEASURES.get(SHORTHANDS.get(meant, meant))
        assert found is None or found.direction is measure.direction, (word, meant)


@pytest.mark.parametrize("name", [name for name in (*MEASURES, *SHORTHANDS) if len(name) < 7])
def test_one_wrong_letter_never_inverts_a_short_name(name: str) -> None:
    assert_never_inverted(name)


@pytest.mark.sweep
@pytest.mark.parametrize("name", [name for name in (*MEASURES, *SHORTHANDS) if len(name) >= 7])
def test_one_wrong_letter_never_inverts_a_name(name: str) -> None:
    assert_never_inverted(name)


@pytest.mark.parametrize(("one", "other"), [*OPPOSITES, *(pair[::-1] for pair in OPPOSITES)])
def test_a_word_never_leads_to_its_opposite(one: str, other: str) -> None:
    words = [one, *misspell(one)]
    assert {suggest_name(word, [other]) for word in words} == {""}
    assert suggest_name(f"{one}_bound", [f"{other}_bound"]) == ""
    assert suggest_name(f"y_{one}", [f"y_{other}", "z"]) == ""
    assert suggest_name(f"{one}x", [one, other]) in (one, "")


@pytest.mark.parametrize("negated", ["unweighted", "miscalibrated", "inaccurate", "nonordered", "disordered"])
def test_a_word_never_leads_to_what_it_denies(negated: str) -> None:
    plain = re.sub("^(un|mis|in|non|dis)", "", negated)
    assert suggest_name(negated, [plain]) == suggest_name(plain, [negated]) == ""


def test_a_name_equally_near_to_two_names_has_no_suggestion() -> None:
    assert suggest_name("m4", ["m1", "m2", "m3"]) == ""
    assert suggest_name("mxn", ["man", "men"]) == ""
    assert suggest_name("men", ["man", "mean_value"]) == "man"
    assert suggest_name("", ["a"]) == suggest_name("_", ["a"]) == suggest_name("x", []) == ""


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ("p_lwer", " Did you mean `p_lower`?"),
        ("p_upper", ""),
        ("sensitivity", ""),
        ("P_LOWER", " Did you mean `p_lower`?"),
    ],
)
def test_columns_are_suggested_by_the_same_rule(asked: str, hint: str) -> None:
    frame = pd.DataFrame({"y": [0, 1], "p_lower": [0.1, 0.2], "specificity": [0.3, 0.4]})
    with pytest.raises(sr.DataError) as caught:
        sr.read_predictions(frame, outcome="y", forecasts=[asked])
    assert str(caught.value) == (
        f"The frame has no column `{asked}`; it has `y`, `p_lower`, `specificity`.{hint}"
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        *((f"{word} {unit}", f"previous calendar {unit}") for word in ("last", "previous", "past", "the last")
          for unit in ("day", "week", "month", "quarter", "year")),
        ("Last Month", "previous calendar month"),
        ("last calendar month", "previous calendar month"),
        ("last full quarter", "previous calendar quarter"),
        ("yesterday", "previous calendar day"),
        ("monthly", "previous calendar month"),
        ("month", "previous calendar month"),
        ("previous calender month", "previous calendar month"),
        ("past 30 days", "last 30 days"),
        ("last 2 years", "last 24 months"),
        ("last 3 quarters", "last 9 months"),
        ("lats 6 weeks", "last 6 weeks"),
        ("this month", ""),
        ("today", ""),
        ("current quarter", ""),
        ("month to date", ""),
        ("next month", ""),
        ("next 30 days", ""),
        ("first 30 days", ""),
        ("last n days", ""),
        ("last days", "previous calendar day"),
        ("2026-10", ""),
        ("previous 3 calendar months", ""),
        ("nothing", ""),
    ],
)  # fmt: skip
def test_a_window_is_suggested_only_of_the_same_kind(text: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        check_window_text(text)
    found = re.search(r" Did you mean `(.*)`\?$", str(caught.value))
    assert (found[1] if found else "") == meant


@pytest.mark.parametrize("zone", ["UTC+5", "GMT-5", "Etc/UTC-05:00", "+05:00"])
def test_no_zone_of_the_opposite_sign_is_suggested(zone: str) -> None:
    with pytest.raises(UsageError, match="must be the name of a time zone") as caught:
        check_zone(zone)
    assert "Did you mean" not in str(caught.value)
