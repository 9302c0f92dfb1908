"""Verdicts as words, symbols and tones: of a comparison, of several, of a certificate and of a study."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.reference.comparison_records import Comparison, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.reference.reference_documents import Certificate, Study, StudySection

#: How a verdict is shown beside its word, so that no one needs colours to read it: a tone, and a sign.
_COMPARISON_LABELS = {
    Verdict.AGREES: ("good", "✓"),
    Verdict.EXPECTED: ("plain", "≈"),
    Verdict.DIFFERS: ("bad", "✗"),
    Verdict.NOT_COMPARED: ("open", "○"),
    Verdict.REPRODUCED: ("good", "✓"),
    Verdict.INCONSISTENT: ("open", "!"),
    Verdict.NOT_REPRODUCIBLE: ("open", "?"),
    Verdict.CONFIRMED: ("good", "✓"),
    Verdict.REFUTED: ("bad", "✗"),
    Verdict.PASSED: ("good", "✓"),
    Verdict.FAILED: ("bad", "✗"),
    Verdict.ABSENT: ("open", "○"),
}
#: The same of limits: tone, sign and word.
VERDICT_LABELS = {
    LimitVerdict.PASS: ("good", "✓", "pass"),
    LimitVerdict.WARN: ("open", "!", "warn"),
    LimitVerdict.INCONCLUSIVE: ("open", "?", "inconclusive"),
    LimitVerdict.FAIL: ("bad", "✗", "fail"),
}
CERTIFICATE_LABELS = {"certified": ("good", "✓"), "failed": ("bad", "✗"), "not certified": ("open", "○")}
#: Verdicts on something that nobody looked at.
NOT_EXAMINED = frozenset({Verdict.NOT_COMPARED, Verdict.ABSENT})


def describe_study_verdict(study: Study) -> dict[str, Any]:
    """What a study comes to; what was not compared does not count as compared, and R must have been."""
    lines = [line for section in study.sections for line in section.comparisons]
    missing = [section.title for section in study.sections if _is_absent(section)]
    unexpected = sum(line.is_unexpected for line in lines)
    missed = sum(line.verdict in NOT_EXAMINED for line in lines)
    made = len(lines) - missed
    if unexpected:
        look = "bad", "✗", f"Failed: {format_counted(unexpected, 'unexpected difference')}, listed below"
    elif made and missing:
        look = "open", "○", f"Passed in part, without {' and '.join(missing)}"
    elif made:
        look = "good", "✓", f"Passed: nothing unexpected in {format_counted(made, 'line')} of comparisons"
    else:
        look = "open", "○", "Not validated: nothing was compared"
    return {
        "label": "",
        "tone": look[0],
        "mark": look[1],
        "sentence": look[2],
        "details": [f"{format_counted(missed, 'line')} could not be compared: see the tables."]
        if missed
        else [],
        "counts": count_verdicts(lines),
    }


def _is_absent(section: StudySection) -> bool:
    """Whether nothing of a section could be compared."""
    return bool(section.comparisons) and all(line.verdict in NOT_EXAMINED for line in section.comparisons)


def describe_certification(certificate: Certificate) -> dict[str, Any]:
    """The verdict, never without its word, loud in the first sentence and explained in the others."""
    tone, mark = CERTIFICATE_LABELS[certificate.verdict]
    told = certificate.sentence
    if not told.lower().startswith(certificate.verdict):
        told = f"{certificate.verdict.capitalize()}: {told}"
    first, stop, others = told.partition(". ")
    return {
        "label": "",
        "tone": tone,
        "mark": mark,
        "sentence": f"{first}{stop.strip()}",
        "details": [others] if others else [],
    }


def describe_verdict(verdict: Verdict) -> dict[str, str]:
    """A verdict with its tone and its sign."""
    tone, mark = _COMPARISON_LABELS[verdict]
    return {"tone": tone, "mark": mark, "text": verdict.value}


def count_verdicts(lines: Iterable[Comparison]) -> list[dict[str, str]]:
    """How many lines have each verdict that occurs, in a fixed order."""
    counts = Counter(line.verdict for line in lines)
    return [
        describe_verdict(verdict) | {"count": format_count(counts[verdict])}
        for verdict in Verdict
        if counts[verdict]
    ]
