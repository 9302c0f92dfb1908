"""How a status looks: a tone, a sign and always a word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import format_count
from scorereport.configuration.judging import Light
from scorereport.history.audit_record import Status
from scorereport.report.verdict_labels import LIGHTS

if TYPE_CHECKING:
    from collections.abc import Mapping

_STATUSES = {
    Status.DONE: ("plain", "●", "no limits"),
    Status.UNCERTIFIED: ("bad", "✗", "certificate failed"),
    Status.FAILED: ("bad", "✗", "run failed"),
}
_SENTENCES = {
    Status.PASS: "Pass: all limits are met.",
    Status.WARN: "Warn: a number is close to its limit, or has drifted.",
    Status.INCONCLUSIVE: "Inconclusive: the data cannot tell whether a limit is met.",
    Status.FAIL: "Fail: a limit is breached.",
    Status.DONE: "Done: there are no limits to judge by.",
    Status.UNCERTIFIED: "Certificate failed: R came to other numbers.",
    Status.FAILED: "The last run failed.",
}
_UNJUDGED = {"tone": "plain", "mark": "●", "text": "no limits"}


def describe_status(status: Status) -> dict[str, str]:
    """What an audit came to."""
    look = _STATUSES[status] if status in _STATUSES else LIGHTS[Light(status.value)]
    return dict(zip(("tone", "mark", "text"), look, strict=True))


def tell_status(status: Status) -> str:
    """The same as a sentence."""
    return _SENTENCES[status]


def describe_light(light: Light | None) -> dict[str, str]:
    """What a model came to; None if nothing of it was judged."""
    return _UNJUDGED if light is None else dict(zip(("tone", "mark", "text"), LIGHTS[light], strict=True))


def describe_counts(counts: Mapping[Light, int]) -> list[dict[str, Any]]:
    """How many limits came to each verdict that occurs."""
    return [describe_light(light) | {"count": format_count(n)} for light, n in counts.items() if n]
