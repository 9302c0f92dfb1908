"""Changes of limits between two configurations: keys, values, effects, and the hash that is approved."""

from __future__ import annotations

import json

import pytest

from scorereport._utils import json_documents
from scorereport.configuration.limit_changes import (
    LimitChange,
    LimitProvenance,
    describe_changes,
    find_limit_changes,
    list_limits,
    read_limits,
)
from scorereport.configuration.limit_names import SHORTHANDS
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.toml_reader import parse_configuration
from scorereport.scores import Direction


def limits_of(text: str):
    return list_limits(parse_configuration(text))


def compare(before: str, after: str) -> list[tuple[str, str, str, str | None]]:
    found = find_limit_changes(limits_of(f"[limits]\n{before}"), limits_of(f"[limits]\n{after}"))
    return [(change.key, change.before, change.after, change.effect) for change in found]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("brier = 0.12", "brier = 0.15", [("brier.fail", "0.12", "0.15", "looser")]),
        ("brier = 0.15", "brier = 0.12", [("brier.fail", "0.15", "0.12", "stricter")]),
        ("roc_auc = 0.8", "roc_auc = 0.7", [("roc_auc.fail", "0.8", "0.7", "looser")]),
        ("roc_auc = 0.7", "roc_auc = 0.8", [("roc_auc.fail", "0.7", "0.8", "stricter")]),
        ("brier = 0.12", "", [("brier.fail", "0.12", "", "looser")]),
        ("", "roc_auc = {warn = 0.7}", [("roc_auc.warn", "", "0.7", "stricter")]),
        (
            "calibration_slope = {min = 0.8, max = 1.2, warn_min = 0.9, warn_max = 1.1}",
            "calibration_slope = {min = 0.7, max = 1.1, warn_min = 0.95}",
            [
                ("calibration_slope.min", "0.8", "0.7", "looser"),
                ("calibration_slope.max", "1.2", "1.1", "stricter"),
                ("calibration_slope.warn_min", "0.9", "0.95", "stricter"),
                ("calibration_slope.warn_max", "1.1", "", "looser"),
            ],
        ),
        (
            "sensitivity = [{at = 0.1, fail = 0.8}, {at = 0.2, fail = 0.7}]",
            "sensitivity = [{at = 0.2, fail = 0.6}, {at = 0.3, fail = 0.5}]",
            [
                ("sensitivity.fail at 0.1", "0.8", "", "looser"),
                ("sensitivity.fail at 0.2", "0.7", "0.6", "looser"),
                ("sensitivity.fail at 0.3", "", "0.5", "stricter"),
            ],
        ),
        ("groups = true", "groups = false", [("groups", "true", "false", "looser")]),
        ("", "groups = true", [("groups", "false", "true", "stricter")]),
        ('models = ["b", "a"]', 'models = ["a", "b"]', []),
        ("", 'models = ["a"]', [("models", "all", '["a"]', None)]),
        ('set_by = "A"', 'set_by = "B"', [("set_by", "A", "B", None)]),
        ("set_on = 2026-01-02", "", [("set_on", "2026-01-02", "", None)]),
        ("brier = 0.1", "brier = {fail = 0.10}", []),
        ("brier = 0.1", "brier = 0.1000000001", [("brier.fail", "0.1", "0.1000000001", "looser")]),
        ("gini = 0.4", "roc_auc_skill = 0.4", []),
        ("recall = {at = 0.1, fail = 0.8}", "sensitivity = [{at = 0.1, fail = 0.8}]", []),
        (
            "precision = {at = 0.1, fail = 0.8}",
            "ppv = {at = 0.1, fail = 0.7}",
            [("ppv.fail at 0.1", "0.8", "0.7", "looser")],
        ),
    ],
)
def test_each_change_names_the_limit_and_both_values(before, after, expected) -> None:
    assert compare(before, after) == expected
    turned = {"looser": "stricter", "stricter": "looser", None: None}
    assert sorted(compare(after, before), key=str) == sorted(
        [(key, new, old, turned[effect]) for key, old, new, effect in expected], key=str
    )


def test_limits_on_classes_are_named_by_their_class() -> None:
    of_class = next(name for name, measure in MEASURES.items() if measure.argument == "of_class")
    up_to = next(name for name, measure in MEASURES.items() if measure.argument == "up_to")
    key = {True: "min", False: "fail"}
    one, two = key[MEASURES[of_class].direction is None], key[MEASURES[up_to].direction is None]
    found = compare(
        f'{of_class} = [{{of_class = "A", {one} = 0.5}}]\n{up_to} = {{up_to = "B", {two} = 0.5}}',
        f'{of_class} = [{{of_class = "A", {one} = 0.4}}]\n{up_to} = {{up_to = "C", {two} = 0.5}}',
    )
    assert [change[0] for change in found] == [
        f'{of_class}.{one} of class "A"',
        f'{up_to}.{two} up to class "B"',
        f'{up_to}.{two} up to class "C"',
    ]


def test_every_measure_can_change_and_its_direction_gives_the_effect() -> None:
    """Over all measures: more slack is looser, by the direction that the measure declares."""
    for name, measure in MEASURES.items():
        low, high = (max(measure.lower, -1.0), min(measure.upper, 1.0))
        numbers = [low + (high - low) * share for share in (0.25, 0.75)]
        key = "fail" if measure.direction is not None else "max"
        argument = {"at": "at = 0.5, ", "of_class": 'of_class = "a", ', "up_to": 'up_to = "a", '}
        start = "" if measure.argument is None else argument[measure.argument]
        ((_, before, after, effect),) = compare(
            *(f"{name} = {{{start}{key} = {number!r}}}" for number in numbers)
        )
        assert (float(before), float(after)) == tuple(numbers), name
        assert effect == ("stricter" if measure.direction is Direction.HIGHER else "looser"), name


def test_the_hash_is_that_of_the_limits_however_they_are_written() -> None:
    one = limits_of('[limits]\nbrier = 0.1\ngini = 0.4\nset_by = "A"\n[model]\nname = "m"')
    same = limits_of('[limits]\nset_by = "A"\nroc_auc_skill = {fail = 0.40}\nbrier = {fail = 0.1}')
    assert one.sha256 == same.sha256
    others = [
        '[limits]\nbrier = 0.1\ngini = 0.4\nset_by = "B"',
        '[limits]\nbrier = 0.1\ngini = 0.4\nset_by = "A"\ngroups = true',
        '[limits]\nbrier = 0.1\nset_by = "A"',
        '[limits]\nbrier = 0.1\ngini = 0.4\nset_by = "A"\n[audit]\napprove_limits = true',
    ]
    assert len({one.sha256, *(limits_of(text).sha256 for text in others)}) == 5


def test_the_switch_of_approvals_is_compared_as_a_limit() -> None:
    on, off = limits_of("[audit]\napprove_limits = true"), limits_of("")
    assert (on.needs_approval, off.needs_approval) == (True, False)
    (change,) = find_limit_changes(on, off)
    assert change.clause == "audit.approve_limits from true to false (looser)"


def test_a_configuration_that_cannot_be_read_is_a_problem_and_still_asks_for_approval() -> None:
    read = read_limits(b"[limits]\nbrier = 0.1\nunknown = 3\n[audit]\napprove_limits = true\n", "old.toml")
    assert "unknown" in read.problem
    assert (read.needs_approval, read.values, read.sha256) == (True, {}, "")
    assert find_limit_changes(read, limits_of("[limits]\nbrier = 0.2")) == ()
    assert not read_limits(b"\xff", "old.toml").needs_approval
    assert not read_limits(b"[limits]\nbrier = 0.1\n", "x.toml").problem


def test_clauses_and_sentences() -> None:
    changes = (
        LimitChange(key="brier.fail", before="0.12", after="0.15", effect="looser"),
        LimitChange(key="roc_auc.fail", before="0.7", after="", effect="looser"),
        LimitChange(key="set_by", before="", after="Risk"),
        LimitChange(key="set_on", before="2025", after="2026"),
    )
    assert describe_changes(changes, 4) == (
        "brier.fail from 0.12 to 0.15 (looser), roc_auc.fail removed, 0.7 before (looser), set_by set to "
        "Risk, without one before and set_on from 2025 to 2026"
    )
    assert LimitProvenance(changes=changes, since="2026-09").sentence.endswith("and 1 more.")
    assert not LimitProvenance().sentence


def test_a_change_without_effect_keeps_its_document_short() -> None:
    change = LimitChange(key="set_by", before="A", after="B")
    assert json.loads(json_documents.dump(change)) == {"key": "set_by", "before": "A", "after": "B"}
    assert json_documents.load(LimitChange, json_documents.dump(change), "it") == change


def test_short_names_are_known() -> None:
    """The shorthand cases above cover what the configuration accepts."""
    assert {"gini", "recall", "precision"} <= set(SHORTHANDS)
