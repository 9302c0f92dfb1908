"""The page of messages quotes the software: a sentence is tested elsewhere, made here, or in the source."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import test_mistakes
import test_mistakes_api

import scorereport as sr
from scorereport._utils.exits import format_exit_message
from scorereport.errors import ExitCode

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
#: A sentence that agrees with a template of the source in fewer letters than this may do so by chance.
LEAST_FIXED = 20
_FENCE = re.compile(r"^```text\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"^\| (\d+) \|", re.MULTILINE)


def list_quoted():
    """The sentences of the page, each of which stands in a block of its own."""
    return [" ".join(block.split()) for block in _FENCE.findall(PAGE)]


@cache
def list_tested():
    """The sentences of the tables of mistakes, which other tests compare with the software."""
    tables = (
        test_mistakes.ARRAYS,
        test_mistakes.FRAMES,
        test_mistakes.INDEXES,
        test_mistakes.FILES,
        test_mistakes.COMMANDS,
    )
    of_data = {row[-1] for table in tables for row in table}
    of_calls = {row[-1] for part in test_mistakes_api.PARTS.values() for row in part.values()}
    return of_data | of_calls | {row[-1] for row in test_mistakes_api.COMMANDS.values()}


@cache
def list_made():
    """Sentences that the tables of mistakes do not contain, made here."""
    evaluation = sr.evaluate(np.repeat([1, 0], [30, 70]), np.full(100, 0.3), resamples=20)
    verdict = evaluation.verdicts({"prevalence": {"max": 0.25}})
    error = ZeroDivisionError("division by zero")
    internal = format_exit_message(f"{type(error).__name__}: {error}", ExitCode.INTERNAL)
    with pytest.raises(sr.UsageError) as absent:
        sr.read_predictions("p.csv", outcome="y", forecasts=["m"])
    return {*verdict["sentence"], internal, str(absent.value)}


def read_template(node):
    """The pattern of a literal or of an f-string, and the number of its fixed letters."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    fixed = [part.value if isinstance(part, ast.Constant) else None for part in parts]
    pattern = "".join(".+" if text is None else re.escape(text) for text in fixed)
    return pattern, sum(len(text) for text in fixed if text is not None)


@cache
def list_sources():
    return [path.read_text(encoding="utf-8") for path in sorted((ROOT / "scorereport").rglob("*.py"))]


@cache
def list_templates(source):
    """The patterns of all texts of a module that have enough fixed letters."""
    nodes = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    ]
    templates = [read_template(node) for node in nodes]
    return [re.compile(pattern, re.DOTALL) for pattern, fixed in templates if fixed >= LEAST_FIXED]


def is_in_source(sentence):
    """Whether a text of the source gives the sentence; modules without four words of it are not parsed."""
    words = sentence.split()
    fragments = [" ".join(words[place : place + 4]) for place in range(len(words) - 3)]
    likely = [source for source in list_sources() if any(fragment in source for fragment in fragments)]
    return any(template.fullmatch(sentence) for source in likely for template in list_templates(source))


def is_known(sentence):
    return sentence in list_tested() or sentence in list_made() or is_in_source(sentence)


@pytest.mark.parametrize("sentence", list_quoted())
def test_a_quoted_sentence_is_one_of_the_software(sentence):
    assert is_known(sentence)


def test_most_sentences_are_compared_word_for_word():
    quoted = list_quoted()
    assert 30 <= len(quoted) <= 70
    assert len(set(quoted)) == len(quoted)
    assert sum(sentence in list_tested() | list_made() for sentence in quoted) > 0.7 * len(quoted)


@pytest.mark.parametrize(
    "sentence",
    [
        "`m` must lie within [0, 1]; got 12.5 at line 2 of p.csv (2 of 2 rows: lines 2, 3).",
        "R is not there: there is no Rscript on the path.",
        "Prevalence: 30.0 %, interval [21.9, 39.6] %, is inconclusive: the limit 26.0 % lies inside it.",
    ],
)
def test_a_changed_sentence_is_found(sentence):
    assert not is_known(sentence)


def test_the_table_of_exit_codes_is_complete():
    assert [int(code) for code in _CODE.findall(PAGE)] == [int(code) for code in ExitCode]
