"""Findings on limits: those that are not met or not decided, and what to do about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scorereport._utils.formatting import join_some
from scorereport.configuration.judgement import DEPENDENCE_CAUTION, format_judgement
from scorereport.configuration.limit_needs import describe_remedy
from scorereport.configuration.limit_records import MeasurePart
from scorereport.configuration.limit_verdicts import LimitVerdict, split_groups
from scorereport.configuration.measure_limits import known_measure
from scorereport.report.finding_records import DO_NOT_USE, MODELS, Consequence, Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.limit_changes import LimitProvenance
    from scorereport.configuration.limit_verdicts import Judgement

#: Verdicts on limits that are findings, with their tone and consequence.
_LIMIT_FINDINGS = {
    LimitVerdict.FAIL: ("bad", Consequence.BREACHED_LIMIT),
    LimitVerdict.INCONCLUSIVE: ("open", Consequence.OPEN_LIMIT),
    LimitVerdict.WARN: ("open", Consequence.OPEN_LIMIT),
}
#: Sections that show the numbers of a part of an evaluation; the others are in the section on performance.
_SECTIONS = {
    MeasurePart.MISCALIBRATION: "calibration",
    MeasurePart.LINE: "calibration",
    MeasurePart.ERROR: "calibration",
    MeasurePart.GRADES: "calibration",
    MeasurePart.DISCRIMINATION: "decomposition",
    MeasurePart.UNCERTAINTY: "decomposition",
    MeasurePart.SEPARATION: "discrimination",
    MeasurePart.DECISION: "decision",
    MeasurePart.STABILITY: "reference",
    MeasurePart.SAMPLE: "data",
    MeasurePart.SCALE: "scale",
    MeasurePart.RETENTION: "retention",
}
_ACTION_ON_CHANGES = "Check that the change of limits is justified; no second person has approved it."
_ACTION_ON_DATA = "Examine the data, whose limits are not met."
#: Most limits that are named with their numbers; further ones are counted.
_MOST_LIMITS = 1
#: How a model stands to the limits with each verdict.
_LIMIT_VERBS = {
    LimitVerdict.FAIL: "{model} breaches {n} of {total} limits",
    LimitVerdict.INCONCLUSIVE: "{model} is not shown to meet or to breach {n} of {total} limits",
    LimitVerdict.WARN: "{model} meets {n} of {total} limits without the required margin",
}
_ACTIONS_ON_LIMITS = {
    LimitVerdict.FAIL: DO_NOT_USE,
    LimitVerdict.INCONCLUSIVE: f"{{remedy}} the open limits of {MODELS}.",
    LimitVerdict.WARN: "",
}


def find_limits(judgements: Sequence[Judgement]) -> Iterator[Finding]:
    """State the limits that are not met, the worst first: for each model on all cases, then in groups."""
    for verdict, (tone, consequence) in _LIMIT_FINDINGS.items():
        found = [judgement for judgement in judgements if judgement.verdict is verdict]
        of_all, of_groups = split_groups([judgement for judgement in found if judgement.model])
        action = _ACTIONS_ON_LIMITS[verdict].replace("{remedy}", describe_remedy(of_all or of_groups))
        for model in dict.fromkeys(judgement.model for judgement in found):
            overall, grouped = split_groups([j for j in found if j.model == model])
            texts = [_describe_limits(overall, judgements), _describe_group_limits(grouped, judgements)]
            for text in filter(None, texts):
                yield Finding(
                    text=text,
                    see=_find_section(overall[0]) if text == texts[0] else "group_limits",
                    tone=tone,
                    consequence=consequence,
                    model=model,
                    action=action if model else _ACTION_ON_DATA,
                )


def find_changed_limits(provenance: LimitProvenance | None) -> Iterator[Finding]:
    """State which limits differ from those of the audit before, and whether a second person approved them."""
    if provenance is None or not provenance.changes:
        return
    approval = provenance.approval
    approved = "" if approval is None else f" A second person approved them in record {approval.record}."
    yield Finding(
        text=f"{provenance.sentence}{approved}",
        see="limit_changes",
        tone="open",
        consequence=Consequence.CHANGED_LIMITS,
        action=_ACTION_ON_CHANGES if approval is None else "",
        is_kept=True,
    )


def _find_section(judgement: Judgement) -> str:
    """The key of the section that shows a number."""
    part = known_measure(judgement.measure).part
    return f"section_{_SECTIONS.get(part, 'performance')}"


def _describe_limits(found: Sequence[Judgement], judgements: Sequence[Judgement]) -> str:
    """The sentence of a judgement on all cases; of several with the same verdict, their number and names."""
    if len(found) <= 1:
        return found[0].sentence if found else ""
    model, verdict = found[0].model, found[0].verdict
    total = sum(not judgement.group and judgement.model == model for judgement in judgements)
    named = join_some([_name_judgement(judgement) for judgement in found], _MOST_LIMITS)
    verb = _LIMIT_VERBS[verdict].format(model=model or "The data", n=len(found), total=total)
    caution = f" {DEPENDENCE_CAUTION}" if any(DEPENDENCE_CAUTION in j.sentence for j in found) else ""
    return f"{verb}: {named}.{caution}"


def _name_judgement(judgement: Judgement) -> str:
    """Name a number with its interval and its limit."""
    numbers = format_judgement(judgement)
    number = " ".join(filter(None, (numbers["value"], numbers["interval"])))
    return f"{judgement.label} {number} (limit {numbers['fail'] or numbers['warn']})"


def _describe_group_limits(found: Sequence[Judgement], judgements: Sequence[Judgement]) -> str:
    """State in how many groups limits have a verdict, and the first of these groups."""
    if not found:
        return ""
    model, verdict = found[0].model, found[0].verdict
    total = sum(bool(judgement.group) and judgement.model == model for judgement in judgements)
    worst = f"{_name_judgement(found[0])} where {found[0].group}"
    verb = _LIMIT_VERBS[verdict].format(model=model, n=len(found), total=total)
    return f"In groups, {verb}, among them {worst}." if len(found) > 1 else f"In groups, {verb}: {worst}."
