"""How a status looks: a tone, a sign and always a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count
from scorereport.configuration.judging import LimitVerdict
from scorereport.history.audit_record import AuditStatus
from scorereport.report.verdict_labels import VERDICT_LABELS

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATUSES = {
    AuditStatus.DONE: ("plain", "●", "no limits"),
    AuditStatus.UNCERTIFIED: ("bad", "✗", "certificate failed"),
    AuditStatus.FAILED: ("bad", "✗", "run failed"),
}
_SENTENCES = {
    AuditStatus.PASS: "Pass: all limits are met.",
    AuditStatus.WARN: "Warn: a number is close to its limit, or has drifted.",
    AuditStatus.INCONCLUSIVE: "Inconclusive: the data cannot tell whether a limit is met.",
    AuditStatus.FAIL: "Fail: a limit is breached.",
    AuditStatus.DONE: "Done: there are no limits to judge by.",
    AuditStatus.UNCERTIFIED: "Certificate failed: R came to other numbers.",
    AuditStatus.FAILED: "The last run failed.",
}
_UNJUDGED = {"tone": "plain", "mark": "●", "text": "no limits"}


def status_badge(status: AuditStatus) -> dict[str, str]:
    """What an audit came to."""
    look = _STATUSES[status] if status in _STATUSES else VERDICT_LABELS[LimitVerdict(status.value)]
    return dict(zip(("tone", "mark", "text"), look, strict=True))


def status_sentence(status: AuditStatus) -> str:
    """The same as a sentence."""
    return _SENTENCES[status]


def verdict_badge(light: LimitVerdict | None) -> dict[str, str]:
    """What a model came to; None if nothing of it was judged."""
    return (
        _UNJUDGED
        if light is None
        else dict(zip(("tone", "mark", "text"), VERDICT_LABELS[light], strict=True))
    )


def verdict_count_badges(counts: Mapping[LimitVerdict, int]) -> list[dict[str, Any]]:
    """How many limits came to each verdict that occurs."""
    return [verdict_badge(light) | {"count": format_count(n)} for light, n in counts.items() if n]
