"""Calibration, intervals, tests, decisions, comparisons and groups against recorded answers of base R.

Every number of an evaluation is moved by a millionth: the certificate must name it, or the list of what it
leaves out must.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import fields, is_dataclass, replace
from functools import cache

import numpy as np
import pytest
from conftest import recorded
from validation.record_inference import CASES, arguments_of, make_frame, question_of

import scorereport as sr
from scorereport.reference import inference_comparison
from scorereport.reference.comparison_records import Verdict, compare_relatively
from scorereport.reference.group_comparison import compare_groups
from scorereport.reference.inference_comparison import DRAWN, RELATIVE
from scorereport.reference.inference_questions import InferenceAnswer
from scorereport.reference.joint_comparison import compare_inference

RECORD = recorded("inference")["cases"]
#: A millionth of a number, or a millionth where it is 0.
MILLIONTH = 1e-6


@cache
def evaluated(name):
    return sr.evaluate(make_frame(name), **arguments_of(name))


@cache
def asked(name):
    return question_of(name)


@cache
def answers_of(name):
    """The recorded answers about a case; numbers that are not finite are texts there."""
    return [
        InferenceAnswer(vectors={key: np.array([float(x) for x in vector]) for key, vector in answer.items()})
        for answer in RECORD[name]
    ]


def compare(name, evaluation):
    answer, *of_groups = answers_of(name)
    yield from compare_inference(answer, evaluation, asked(name))
    for groups, about in zip(of_groups, asked(name).groups(), strict=True):
        yield from compare_groups(groups, evaluation, about, has_rows=True)


@cache
def lines_of(name):
    return list(compare(name, evaluated(name)))


# ---- Numbers of an evaluation ----


def list_numbers(part, path=()):
    """The paths of all numbers in a record that are neither whole nor missing; arrays by their places."""
    if isinstance(part, float):
        if np.isfinite(part):
            yield path
    elif isinstance(part, np.ndarray) and part.dtype.kind == "f":
        yield from ((*path, place) for place in np.flatnonzero(np.isfinite(part)).tolist())
    elif isinstance(part, tuple):
        for place, each in enumerate(part):
            yield from list_numbers(each, (*path, place))
    elif is_dataclass(part):
        for field in fields(part):
            yield from list_numbers(getattr(part, field.name), (*path, field.name))


def find(part, path):
    for step in path:
        part = part[step] if isinstance(step, int) else getattr(part, step)
    return part


def move(part, path):
    """The record with the number at a path moved by a millionth."""
    if not path:
        return part * (1 + MILLIONTH) if part else MILLIONTH
    step, *rest = path
    if isinstance(step, str):
        return replace(part, **{step: move(getattr(part, step), rest)})
    if isinstance(part, np.ndarray):
        moved = part.copy()
        moved[step] = move(float(part[step]), rest)
        return moved
    return (*part[:step], move(part[step], rest), *part[step + 1 :])


def pattern_of(path):
    """The names on a path; scores are named as well, since they are compared in different ways."""
    return ".".join("*" if isinstance(step, int) else step for step in path)


def compare_part(name, evaluation, path):
    """The lines about the part of an evaluation to which a path leads."""
    question, (answer, *of_groups) = asked(name), answers_of(name)
    if path[0] in ("groups", "windows", "heterogeneity"):
        for groups, about in zip(of_groups, question.groups(), strict=True):
            yield from compare_groups(groups, evaluation, about, has_rows=True)
    else:
        yield from compare_inference(answer, evaluation, question)
