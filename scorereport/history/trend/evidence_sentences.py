"""Sentences on evidence: how strong it is, what it speaks against, and how much an alarm needs."""

from __future__ import annotations

from math import exp, isnan, sinh
from typing import TYPE_CHECKING

from scorereport._utils.formatting import (
    MeasureFormat,
    conjugate,
    format_alarm_line,
    format_count,
    format_counted,
    format_evidence,
    format_number,
    join_some,
    shortest,
)
from scorereport.configuration.measure_limits import find_measure
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scorereport.history.trend.evidence_records import Evidence, Hypothesis, ModelStanding

#: Up to this tolerance in log-odds, odds differ by about the same percentage in both directions.
_LARGEST_PERCENTAGE = 0.25
#: Most models that are named; further ones are counted.
_MOST_NAMED = 4
_NONE = format_evidence(0.0)


def describe_evidence(  # noqa: PLR0913  # the fields of the records of evidence
    *,
    model: str,
    other: str,
    hypothesis: Hypothesis,
    measure: str,
    label: str,
    bound: float,
    is_upper: bool,
    log_detector: float,
    log_product: float,
    alarm_at: float,
    audits: int,
    tolerance: float,
    is_alarm: bool,
) -> str:
    """Describe the evidence against a hypothesis after some audits, and what an alarm needs.

    The evidence is that of the detector; for a difference of models, which raises no alarm, it is the product
    of all audits.
    """
    if hypothesis == "difference":
        return f"{model}: {say_evidence(log_product)} that {other} has the lower {_inside(label or measure)}."
    words, line = say_evidence(log_detector), format_alarm_line(alarm_at)
    against = name_hypothesis(
        hypothesis, measure=measure, label=label, bound=bound, is_upper=is_upper, tolerance=tolerance
    )
    if is_alarm:
        return f"{model}: {words} against {against}; the alarm line is {line}. Alarm."
    since = f" in {format_counted(audits, 'audit')}" if words == _NONE else ""
    return f"{model}: {words}{since} against {against}; an alarm needs {line}."


def describe_recorded(found: Evidence) -> str:
    """Describe the evidence in the record of an audit."""
    return describe_evidence(
        model=found.model,
        other=found.other,
        hypothesis=found.hypothesis,
        measure=found.measure,
        label=label_measure(found.measure),
        bound=found.bound,
        is_upper=found.is_upper,
        log_detector=found.log_detector,
        log_product=found.log_product,
        alarm_at=found.alarm_at,
        audits=found.audits,
        tolerance=found.bound,
        is_alarm=found.is_alarm,
    )


def say_evidence(log_evidence: float) -> str:
    """Return evidence with its noun.

    >>> say_evidence(3.5554), say_evidence(-2.0)
    ('evidence 35 to 1', 'no evidence')
    """
    odds = format_evidence(log_evidence)
    return odds if odds == _NONE else f"evidence {odds}"


def name_hypothesis(
    hypothesis: Hypothesis,
    *,
    measure: str = "",
    label: str = "",
    bound: float,
    is_upper: bool = True,
    tolerance: float,
) -> str:
    """Name what evidence speaks against, inside a sentence.

    >>> name_hypothesis("calibration", bound=0.1, tolerance=0.1)
    'calibration within 10 % of the odds (tolerance 0.1 in log-odds)'
    >>> name_hypothesis("limit", measure="brier", label="Brier score", bound=0.2, tolerance=0.1)
    'a Brier score of at most 0.2'
    """
    if hypothesis == "calibration":
        return _name_calibration(tolerance if isnan(bound) else bound)
    if hypothesis == "baseline":
        return "the calibration of the baseline"
    noun = _inside(label or label_measure(measure))
    article = "an" if noun[:1].lower() in "aeio" else "a"
    return f"{article} {noun} of at {'most' if is_upper else 'least'} {format_bound(measure, bound)}"


def _name_calibration(tolerance: float) -> str:
    """Name calibration within a tolerance: odds within a percentage, or within a factor if it is large.

    >>> [_name_calibration(tolerance) for tolerance in (0, 0.5)]
    ['exact calibration', 'calibration within a factor of 1.65 of the odds (tolerance 0.5 in log-odds)']
    """
    if tolerance == 0:
        return "exact calibration"
    is_percentage = tolerance <= _LARGEST_PERCENTAGE
    percent = f"{shortest(round(100 * sinh(tolerance), 0 if tolerance > 0.01 else 1))} %"
    width = percent if is_percentage else f"a factor of {format_number(exp(tolerance), 2)}"
    return f"calibration within {width} of the odds (tolerance {shortest(tolerance)} in log-odds)"


def format_bound(measure: str, bound: float) -> str:
    """Format a limit on a measure, in percent if it is a share."""
    known = find_measure(measure)
    return MeasureFormat(is_share=known is not None and known.is_share, decimals=4).limit(bound)


def label_measure(measure: str) -> str:
    """Return the label of a measure; its name if it is not known."""
    known = find_measure(measure)
    return measure if known is None else known.label


def _inside(label: str) -> str:
    """Return a label as written inside a sentence; abbreviations keep their capital letters."""
    return label if label[1:2].isupper() else inside_sentence(label)


def describe_standings(
    standings: Sequence[ModelStanding], measure_label: str, alpha: float, audits: int
) -> str:
    """Describe which models may still be the best, and which ones left, in which period and by what evidence.

    It is empty if there are fewer than two models.
    """
    if len(standings) < 2:
        return ""
    names = [standing.model for standing in standings if not standing.left]
    score, after = f"Lowest {_inside(measure_label)}", f"after {format_counted(audits, 'audit')}"
    left = [
        f"{standing.model} left in {standing.left} ({say_evidence(standing.log_evidence)})"
        for standing in standings
        if standing.left
    ]
    line = f"a model leaves at {format_alarm_line(1 / alpha)}"
    if not left:
        strongest = max(standings, key=lambda standing: standing.log_evidence)
        words = say_evidence(strongest.log_evidence)
        most = "" if words == _NONE else f"; most against {strongest.model}: {words}"
        every = "both" if len(names) == 2 else f"all {format_count(len(names))}"
        return f"{score}: {after} {every} models remain ({line}{most})."
    remain = (
        f"{join_some(names, _MOST_NAMED)} {conjugate(len(names), 'remain')}" if names else "no model remains"
    )
    return (
        f"{score}: {after} {remain}; {join_some(left, _MOST_NAMED)}. {line.capitalize()} and does not return."
    )
