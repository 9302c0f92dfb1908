"""Agreement of evidence with the chain: bets, factors and products of records are computed again.

Rows are not kept, so that the evidence of single bets cannot be computed again. All else follows from the
records: which audits the bets were fitted on and the bets themselves, the factor of an audit from its bets,
and the product and the detector from the factors of the audits that counted when the record was written.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import isclose, log
from typing import TYPE_CHECKING

from scorereport.history.counted_evidence import EvidenceLedger
from scorereport.history.evidence_plan import EvidencePlan, plan_from_ledger
from scorereport.history.trend.counted_days import pad_time
from scorereport.history.trend.evidence_chain import (
    EvidenceStep,
    FoldedEvidence,
    HypothesisKey,
    find_alarm_line,
    find_key,
    fold_steps,
)
from scorereport.history.trend.evidence_factors import find_sums, fit_bets, mix_bets
from scorereport.history.trend.evidence_records import AuditEvidence
from scorereport.inference.baseline_bets import MEAN_SHARE, list_mean_bets, name_mean_bet
from scorereport.inference.score_bets import fit_difference_bets, fit_score_bets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.history.audit_record import Record
    from scorereport.history.trend.evidence_records import BetResult, Evidence

#: Relative and absolute tolerance within which numbers of different processors count as equal.
_RELATIVE, _ABSOLUTE = 1e-6, 1e-9


@dataclass(slots=True)
class EvidenceCheck:
    """Finds what the evidence of each record must follow from, in the order of the chain."""

    _ledgers: dict[str, EvidenceLedger] = field(default_factory=lambda: defaultdict(EvidenceLedger))
    _folded: dict[str, tuple[tuple[EvidenceStep, ...], dict[HypothesisKey, FoldedEvidence]]] = field(
        default_factory=dict
    )

    def check(self, record: Record) -> list[str]:
        """Check a record against those before it, which were given before; return ends of sentences."""
        expected = self.find_expected(record)
        return [] if expected is None else list(expected.check())

    def find_expected(self, record: Record) -> ExpectedEvidence | None:
        """Return what the evidence of a record follows from; None if it has no evidence."""
        ledger, evidence, expected = self._ledgers[record.audit], record.evidence, None
        if evidence is not None:
            planned = plan_from_ledger(ledger, record.period, evidence.since, final_end=evidence.end)
            before = self._fold(record.audit, planned.before)
            expected = ExpectedEvidence(evidence=evidence, planned=planned, before=before)
        ledger.add(record)
        return expected

    def _fold(self, audit: str, steps: tuple[EvidenceStep, ...]) -> dict[HypothesisKey, FoldedEvidence]:
        """Return the evidence after some audits; that of the last call is continued if it is a beginning."""
        known, folded = self._folded.get(audit, ((), {}))
        if known != steps[: len(known)]:
            known, folded = (), {}
        folded = fold_steps(steps[len(known) :], folded)
        self._folded[audit] = (steps, folded)
        return folded


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedEvidence:
    """The evidence of a record, the plan that the records before it give, and their products."""

    evidence: AuditEvidence
    planned: EvidencePlan
    before: dict[HypothesisKey, FoldedEvidence]

    def check(self) -> Iterator[str]:
        """Compare the evidence with what it follows from; yield ends of sentences about its record."""
        evidence, planned = self.evidence, self.planned
        is_empty = pad_time(evidence.end) <= pad_time(evidence.start)
        if planned.days != (evidence.start, evidence.end) or is_empty:
            yield (
                f"counts the days from {evidence.start or 'the beginning'} up to, not including, "
                f"{evidence.end}, which the records before it do not leave"
            )
            return
        if tuple(step.sha256 for step in planned.fitted) != evidence.fitted_on:
            yield "has bets that were fitted on other records than those that the rules name"
        elif not _has_right_bets(evidence, planned):
            yield "has bets that do not follow from the records that they were fitted on"
        if not all(_is_close(mix_bets(each.bets), each.log_factor) for each in evidence.evidence):
            yield "has evidence that is not the weighted mean of its bets"
        yield from self._check_products()

    def _check_products(self) -> Iterator[str]:
        evidence = self.evidence
        lines = find_alarm_line(evidence.evidence, evidence.alpha, evidence.looks)
        for each in evidence.evidence:
            now = self.before.get(find_key(each, evidence.baseline), FoldedEvidence()).add(each.log_factor)
            is_right = (
                _is_close(each.log_product, now.product)
                and _is_close(each.log_detector, now.detector)
                and each.audits == now.audits
            )
            if not is_right:
                yield f"has evidence about {each.model} that is not the product of the audits that count"
                return
            if not _has_right_alarm(each, lines[each.hypothesis]):
                yield f"has an alarm about {each.model} that does not follow from its evidence"
                return


def _has_right_bets(evidence: AuditEvidence, planned: EvidencePlan) -> bool:
    fitted = [step.evidence for step in planned.fitted]
    labels = dict.fromkeys(digest.label for digest in evidence.digests)
    return all(
        _are_same_bets(each.bets, list(_list_bets(each, fitted, tuple(labels), evidence)))
        for each in evidence.evidence
    )


def _list_bets(
    each: Evidence, fitted: Sequence[AuditEvidence], labels: tuple[str, ...], evidence: AuditEvidence
) -> Iterator[tuple[str, tuple[float, ...], float]]:
    """Yield name, parameters and weight of the bets that the rules give."""
    if each.hypothesis in ("calibration", "baseline"):
        share = (1 - MEAN_SHARE if each.hypothesis == "baseline" else 1.0) / len(labels)
        for label in labels:
            for curve in fit_bets(fitted, each.model, label, each.hypothesis):
                yield curve.name, curve.parameters, share * curve.weight
        if each.hypothesis == "baseline":
            yield from _list_mean_bets(each, labels)
        return
    sums = find_sums(fitted, each.model, each.measure, each.other)
    if each.hypothesis == "difference":
        found = fit_difference_bets(sums)
    else:
        upper = next(m.upper for m in evidence.moments if m.measure == each.measure)
        found = fit_score_bets(sums, each.bound / upper, is_upper=each.is_upper)
    for bet in found:
        yield bet.name, (bet.fraction,), bet.weight


def _list_mean_bets(
    each: Evidence, labels: tuple[str, ...]
) -> Iterator[tuple[str, tuple[float, ...], float]]:
    """Yield the bets on the mean outcome beyond the bounds that the record states."""
    for label in labels:
        for is_upper in (True, False):
            name = name_mean_bet(is_upper=is_upper)
            stated = next((bet for bet in each.bets if (bet.name, bet.label) == (name, label)), None)
            bound = stated.parameters[0] if stated is not None and stated.parameters else 0.5
            for bet in list_mean_bets(min(max(bound, 0.0), 1.0), is_upper=is_upper):
                yield name, (bound, bet.fraction), MEAN_SHARE * bet.weight / (2 * len(labels))


def _are_same_bets(
    stated: Sequence[BetResult], expected: Sequence[tuple[str, tuple[float, ...], float]]
) -> bool:
    return len(stated) == len(expected) and all(
        bet.name == name
        and len(bet.parameters) == len(parameters)
        and all(map(_is_close, bet.parameters, parameters))
        and _is_close(bet.weight, weight)
        for bet, (name, parameters, weight) in zip(stated, expected, strict=True)
    )


def _has_right_alarm(each: Evidence, line: float) -> bool:
    is_alarm = each.hypothesis != "difference" and each.log_detector >= log(each.alarm_at)
    return _is_close(each.alarm_at, line) and each.is_alarm == is_alarm


def _is_close(one: float, other: float) -> bool:
    return one == other or isclose(one, other, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE)
