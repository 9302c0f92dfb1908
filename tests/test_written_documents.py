"""Texts of documents that are kept: they are those that would be written again."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import scorereport as sr
from scorereport._utils import json_documents
from scorereport.report.report_output import prepare_report


@dataclass(frozen=True)
class Part:
    x: float = float("inf")
    text: str = "é\n"


@dataclass(frozen=True)
class Whole:
    first: int = 1
    part: Part = Part()
    last: tuple[int, ...] = ()

    OPTIONAL = ("last",)
    DERIVED = ("twice",)

    @property
    def twice(self):
        return 2 * self.first


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(1)
    p = rng.random(100)
    return sr.evaluate((rng.random(100) < p).astype(int), {"model": p}, resamples=0)


def test_a_document_takes_the_texts_of_parts_that_are_written_already():
    whole = Whole()
    text = json_documents.dump(whole)
    assert text == '{"first":1,"part":{"x":"Infinity","text":"é\\n"},"twice":2}\n'
    assert json_documents.dump(whole, {"part": json_documents.dump(whole.part)}) == text
    assert json_documents.dump(whole, {"part": '{"other":0}\n'}) == text.replace(
        '{"x":"Infinity","text":"é\\n"}', '{"other":0}'
    )
    assert json_documents.dump(replace(whole, last=(3,))).endswith('"last":[3],"twice":2}\n')


def test_the_text_of_an_evaluation_is_written_once(evaluation):
    text = evaluation.to_json()
    assert evaluation.to_json() is text
    assert text == json_documents.dump(evaluation)
    changed = replace(evaluation, notes=("another",))
    assert changed.to_json() != text
    assert '"notes":["another"]' in changed.to_json()
    assert pickle.loads(pickle.dumps(evaluation)).to_json() == text


def test_the_document_of_a_report_has_the_document_of_its_evaluation(evaluation):
    report = prepare_report(evaluation, None, None)
    assert report.to_json() == json_documents.dump(report)
    assert evaluation.to_json().rstrip() in report.to_json()
