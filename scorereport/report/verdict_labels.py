"""Labels of verdicts: words, symbols and tones for limits, comparisons, certificates and studies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count, format_counted
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.reference.certificate_verdicts import EITHER
from scorereport.reference.comparison_records import Comparison, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scorereport.reference.reference_documents import Certificate, Study, StudySection

#: Tone and symbol of each verdict on a comparison; with its word, no colour is needed to read it.
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
#: Tone, symbol and word of each verdict on a limit.
VERDICT_LABELS = {
    LimitVerdict.PASS: ("good", "✓", "pass"),
    LimitVerdict.WARN: ("open", "!", "warn"),
    LimitVerdict.INCONCLUSIVE: ("open", "?", "inconclusive"),
    LimitVerdict.FAIL: ("bad", "✗", "fail"),
}
#: Tone and symbol of each verdict of a certificate.
_CERTIFICATE_LABELS = {
    "certified": ("good", "✓"),
    "confirmed": ("confirmed", "✓"),
    EITHER: ("confirmed", "✓"),
    "not checked": ("unchecked", "○"),
    "failed": ("bad", "✗"),
}
#: Verdicts on lines that were not compared.
NOT_EXAMINED = frozenset({Verdict.NOT_COMPARED, Verdict.ABSENT})


def describe_study_verdict(study: Study) -> dict[str, Any]:
    """Return the verdict on a study; lines that were not compared do not count."""
    lines = [line for section in study.sections for line in section.comparisons]
    missing = [section.title for section in study.sections if _is_absent(section)]
    unexpected = sum(line.is_unexpected for line in lines)
    missed = sum(line.verdict in NOT_EXAMINED for line in lines)
    compared = len(lines) - missed
    if unexpected:
        look = "bad", "✗", f"Failed: {format_counted(unexpected, 'unexpected difference')}, listed below"
    elif compared and missing:
        look = "open", "○", f"Partly passed, without {' and '.join(missing)}"
    elif compared:
        look = (
            "good",
            "✓",
            f"Passed: no unexpected difference in {format_counted(compared, 'line')} of comparisons",
        )
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
    """Return the verdict of a certificate, with its word in the first sentence."""
    badge, sentence = certificate_badge(certificate.current_verdict), certificate.current_sentence
    if not sentence.lower().startswith(badge["text"]):
        sentence = f"{badge['text'].capitalize()}: {sentence}"
    first, stop, others = sentence.partition(". ")
    return {
        "label": "",
        "tone": badge["tone"],
        "mark": badge["mark"],
        "sentence": f"{first}{stop.strip()}",
        "details": [others] if others else [],
    }


def certificate_badge(verdict: str) -> dict[str, str]:
    """Return today's verdict of a certificate or of a record with its tone and symbol."""
    tone, mark = _CERTIFICATE_LABELS.get(verdict, ("unchecked", "?"))  # a record may have any text
    return {"tone": tone, "mark": mark, "text": verdict}


def describe_verdict(verdict: Verdict) -> dict[str, str]:
    """Return a verdict on a comparison with its tone and symbol."""
    tone, mark = _COMPARISON_LABELS[verdict]
    return {"tone": tone, "mark": mark, "text": verdict.value}


def count_verdicts(lines: Iterable[Comparison]) -> list[dict[str, str]]:
    """Count the lines with each verdict that occurs, in a fixed order."""
    counts = Counter(line.verdict for line in lines)
    return [
        describe_verdict(verdict) | {"count": format_count(counts[verdict])}
        for verdict in Verdict
        if counts[verdict]
    ]
