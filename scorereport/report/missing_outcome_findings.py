"""Findings on missing outcomes: whether they could change a verdict or, without limits, the bounds."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from scorereport._utils.formatting import conjugate, format_counted, format_percent
from scorereport._utils.rounding import first_lowest
from scorereport.configuration.tipping_shares import describe_tipping, find_tipping_shares
from scorereport.inference.missing_outcomes import MISCALIBRATION
from scorereport.report.finding_records import Consequence, Finding
from scorereport.report.tables.missing_outcome_tables import format_bounded, name_bounded
from scorereport.scores.registry import inside_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.configuration.tipping_shares import TippingShares
    from scorereport.data.predictions import ImmatureRows, RowFlow
    from scorereport.inference.missing_outcomes import ClassModelBounds, MissingOutcomes, ModelBounds
    from scorereport.results.evaluation import Evaluation

#: Up to this share of rows of the period, immature rows are not stated as a finding.
_FEW_IMMATURE = 0.03
_OBTAIN = "Obtain the missing outcomes, or state why the observed cases represent them."


def find_missing_outcomes(evaluation: Evaluation, judgements: Sequence[Judgement] = ()) -> Iterator[Finding]:
    """State whether missing outcomes could change verdicts or, without limits, bounds of the best model."""
    immature, missing = evaluation.data.row_flow.immature, evaluation.missing_outcomes
    yield from _state_immature(evaluation.data.row_flow)
    if missing is None:
        return
    tippings = find_tipping_shares(evaluation, judgements)
    found = _state_verdicts(tippings, missing, immature) if tippings else None
    yield found or _state_bounds(missing, evaluation.main_score)


def _state_immature(flow: RowFlow) -> Iterator[Finding]:
    """State how many rows are too young for a final outcome, if they are more than a few."""
    immature = flow.immature
    share = 0.0 if immature is None else immature.rows / (flow.kept + immature.rows)
    if immature is None or share <= _FEW_IMMATURE:
        return
    yield Finding(
        text=f"{format_counted(immature.rows, 'row')} ({format_percent(share)}) of the period "
        f"{conjugate(immature.rows, 'are')} younger than {immature.mature_after}: the outcomes are not "
        "final, and are not evaluated.",
        see="rows",
        consequence=Consequence.OPEN_QUESTION,
        tone="open",
        size=share,
        action=_describe_repeat(immature),
    )


def _describe_repeat(immature: ImmatureRows) -> str:
    return f"Repeat the audit of this period from {immature.final_on} on, when all its outcomes are final."


def _state_verdicts(
    tippings: Sequence[TippingShares], missing: MissingOutcomes, immature: ImmatureRows | None
) -> Finding:
    rows = missing.counted
    worse = [tipping for tipping in tippings if tipping.can_worsen]
    if worse:
        first = min(worse, key=_rank)
        more = len(worse) - 1
        others = f" {format_counted(more, 'other verdict')} could become worse too." if more else ""
        return Finding(
            text=f"{_describe(first, missing)}{others}",
            see="tipping",
            consequence=Consequence.QUESTIONABLE_INPUT,
            tone="open",
            size=missing.share,
            action=_OBTAIN if immature is None or missing.kind != "immature" else _describe_repeat(immature),
        )
    better = sum(tipping.can_change for tipping in tippings)
    verdicts = format_counted(len(tippings), "verdict")
    if better:
        text = f"Whatever the {rows} are, none of {verdicts} that depend on them becomes worse."
    else:
        text = f"Whatever the {rows} are, none of {verdicts} that depend on them changes."
    return Finding(text=text, see="tipping")


def _rank(tipping: TippingShares) -> tuple[bool, float]:
    """Verdicts that some share of events makes worse come first, the nearest to the whole range last."""
    kept = sum(found.end - found.start for found in tipping.ranges if _is_kept(tipping, found.verdict))
    return len(tipping.ranges) == 1, kept


def _is_kept(tipping: TippingShares, verdict: object) -> bool:
    return verdict is tipping.judgement.verdict


def _describe(tipping: TippingShares, missing: MissingOutcomes) -> str:
    """The sentence on shares; without shares, or if none changes the verdict, one on single outcomes."""
    judgement, worst = tipping.judgement, tipping.possible[-1]
    subject = f"{judgement.label} of {judgement.model}" if judgement.model else judgement.label
    if not tipping.ranges:
        return (
            f"Some values of the {missing.counted} change the verdict on the {inside_sentence(subject)} from "
            f"{judgement.verdict} to {worst}."
        )
    if len(tipping.ranges) > 1 or not _is_kept(tipping, tipping.ranges[0].verdict):
        return describe_tipping(tipping, missing)
    return (
        f"The verdict on {subject} stays {judgement.verdict} at any share of events among the "
        f"{missing.counted}, but some outcomes change it to {worst}."
    )


def _state_bounds(missing: MissingOutcomes, main_score: str) -> Finding:
    """State the bounds of the model with the lowest main score of the observed rows."""
    scores = [model.find(main_score) for model in missing.results]
    model = missing.results[first_lowest([nan if score is None else score.observed for score in scores])]
    lacks = "a final outcome" if missing.immature else "the outcome"
    return Finding(
        text=f"{format_counted(missing.rows, 'row')} ({format_percent(missing.share)}) "
        f"{conjugate(missing.rows, 'lack')} {lacks}. Over all values of the {missing.kind} outcomes, the "
        f"{', and '.join(_describe_ends(model, main_score))}.",
        see="outcome_bounds",
    )


def _describe_ends(model: ModelBounds | ClassModelBounds, main_score: str) -> Iterator[str]:
    """Describe the bounds of the main score and, if it has any, of its MCB."""
    bounds, component = model.find(main_score), model.find(main_score, MISCALIBRATION)
    if bounds is not None:
        score = format_bounded(bounds)
        yield (
            f"{inside_sentence(name_bounded(bounds))} of {model.model} lies between {score['lower']} and "
            f"{score['upper']} (observed rows: {score['observed']})"
        )
    if component is not None:
        part = format_bounded(component)
        yield f"its MCB between {part['lower']} and {part['upper']} ({part['observed']})"
