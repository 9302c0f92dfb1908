"""A history of audits that were never run: records in memory and, on request, files of reports."""

from __future__ import annotations

import hashlib
import math
import random
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from scorereport.configuration import Bounds
from scorereport.configuration.limit_verdicts import Judgement, LimitVerdict, find_verdict, find_worst_verdict
from scorereport.configuration.measure_limits import MEASURES
from scorereport.configuration.periods import Period
from scorereport.history.audit_record import CHAIN_START, AuditStatus, Record, RecordedFile
from scorereport.history.trend.drift_records import Distribution, Drift, Number, Snapshot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

START = date(2025, 11, 1)
NAMES = ("logit", "poisson", "boosted trees", "overconfident", "baseline")
LIMITS = {
    "brier": Bounds(warn_upper=0.19, fail_upper=0.21),
    "brier_miscalibration": Bounds(warn_upper=0.012, fail_upper=0.02),
    "prevalence": Bounds(warn_lower=0.2, warn_upper=0.32),
}
FORMS = {"html": b"<!DOCTYPE html><title>Report</title><h1>Report</h1>", "pdf": b"%PDF-1.7", "json": b"{}"}


def make_records(
    days: int = 365,
    models: int = 5,
    *,
    audit: str = "credit",
    step: int = 1,
    names: Sequence[str] = NAMES,
    failed: Sequence[int] = (),
    start: date = START,
    forms: Sequence[str] = tuple(FORMS),
    bins: int = 40,
) -> list[Record]:
    """A chain of this many audits, `step` days apart; those at the positions in `failed` failed."""
    rng = random.Random(f"{days} {models} {audit} {step}")
    records = []
    for place in range(days):
        last = start + timedelta(days=place * step)
        period = Period(
            label=str(last) if step == 1 else _name_month(start, place),
            start=str(last - timedelta(days=step - 1)),
            end=str(last + timedelta(days=1)),
        )
        make = _make_failure if place in failed else _make_success
        records.append(make(rng, audit, period, place / max(days - 1, 1), names[:models], forms, bins))
    return chain(records)


def _name_month(start: date, place: int) -> str:
    """The label of a month; periods of 30 days are not months, but need labels of their own."""
    months = 12 * start.year + start.month - 1 + place
    return f"{months // 12}-{months % 12 + 1:02}"


def chain(records: Sequence[Record]) -> list[Record]:
    """The records one after the other, each with the hash of the one before."""
    chained: list[Record] = []
    previous = CHAIN_START
    for number, record in enumerate(records, 1):
        chained.append(replace(record, id=number, previous=previous))
        previous = chained[-1].sha256
    return chained


def write_reports(records: Sequence[Record], folder: Path) -> None:
    """Write the files that the records name, with minimal content."""
    for record in records:
        for file in record.files:
            path = folder / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content_of(file.name))


def content_of(name: str) -> bytes:
    """The content of the file of that name."""
    return FORMS[name.rpartition(".")[2]] + f"<!-- {name} -->".encode()


def _make_failure(
    rng: random.Random, audit: str, period: Period, share: float, models: Sequence[str], *_: object
) -> Record:
    del rng, share, models
    return Record(
        **_times(audit, period),
        status=AuditStatus.FAILED,
        exit_code=4,
        reason=f"The query of `audit.source` gave no rows for the period {period.label}.",
    )


def _make_success(
    rng: random.Random,
    audit: str,
    period: Period,
    share: float,
    models: Sequence[str],
    forms: Sequence[str],
    bins: int,
) -> Record:
    numbers = [
        number for place, model in enumerate(models) for number in _draw_model(rng, model, place, share)
    ]
    numbers.append(_number("", "prevalence", 0.26 + 0.03 * math.sin(7 * share) + rng.gauss(0, 0.006), 0.012))
    judgements = tuple(_judge(number) for number in numbers if number.measure in LIMITS)
    verdict = find_worst_verdict(judgements) or LimitVerdict.PASS
    names = [f"{audit}/{period.label}.{form}" for form in forms]
    rows = rng.randint(4000, 6000)
    return Record(
        **_times(audit, period),
        status=AuditStatus(verdict.value),
        exit_code=int(verdict is LimitVerdict.FAIL),
        rows=rows,
        data_sha256=hashlib.sha256(rng.randbytes(8)).hexdigest(),
        files=tuple(
            RecordedFile(
                name=name, sha256=hashlib.sha256(content_of(name)).hexdigest(), size=len(content_of(name))
            )
            for name in names
        ),
        judgements=judgements,
        snapshot=Snapshot(
            period=period,
            time=f"{period.end}T02:00:00+00:00",
            rows=rows,
            size=float(rows),
            level=0.95,
            main_score="brier",
            numbers=tuple(numbers),
            distributions=tuple(
                Distribution(
                    model=model,
                    label="",
                    bins=tuple(range(bins)),
                    weights=tuple(float(rng.randint(1, 300)) for _ in range(bins)),
                )
                for model in models
            ),
        ),
        drifts=tuple(
            _drift(number, share) for number in numbers if number.measure in ("brier", "prevalence")
        ),
        software={"python": "3.11.2", "scorereport": "0.1.0", "numpy": "2.4.0"},
    )


def _times(audit: str, period: Period) -> dict[str, Any]:
    return {
        "audit": audit,
        "period": period,
        "as_of": f"{period.end}T02:00:00+00:00",
        "started": f"{period.end}T02:00:00+00:00",
        "finished": f"{period.end}T02:00:41+00:00",
        "folder": "reports",
    }


def _draw_model(rng: random.Random, model: str, place: int, share: float) -> list[Number]:
    """The last model but one gets worse over time."""
    worse = 0.03 * share**2 if place == 3 else 0.0
    miscalibration = 0.004 + 0.002 * place + worse + abs(rng.gauss(0, 0.0006))
    brier = 0.165 + 0.007 * place + 0.004 * math.sin(9 * share + place) + worse + rng.gauss(0, 0.0025)
    return [
        _number(model, "brier", brier, 0.008),
        _number(model, "brier_miscalibration", miscalibration, 0.0035, raw=miscalibration + 0.0012),
        _number(model, "brier_discrimination", 0.04 - 0.003 * place + rng.gauss(0, 0.001), 0.004, raw=0.0412),
        _number(model, "roc_auc", 0.78 - 0.012 * place - worse + rng.gauss(0, 0.004), 0.015),
    ]


def _number(model: str, measure: str, value: float, half: float, raw: float | None = None) -> Number:
    return Number(
        model=model,
        measure=measure,
        label=MEASURES[measure].label,
        value=value if raw is None else raw,
        corrected=value,
        lower=max(value - half, 0.0),
        upper=value + half,
        standard_error=half / 1.96,
    )


def _judge(number: Number) -> Judgement:
    bounds = LIMITS[number.measure]
    return Judgement(
        model=number.model,
        group="",
        measure=number.measure,
        label=number.label,
        value=number.value,
        lower=number.lower,
        upper=number.upper,
        level=0.95,
        warn_lower=bounds.warn_lower,
        warn_upper=bounds.warn_upper,
        fail_lower=bounds.fail_lower,
        fail_upper=bounds.fail_upper,
        verdict=find_verdict(number.lower, number.upper, bounds),
        sentence=f"{number.label} of {number.model} is judged.",
    )


def _drift(number: Number, share: float) -> Drift:
    has_drifted = number.model == NAMES[3] and share > 0.7
    return Drift(
        model=number.model,
        measure=number.measure,
        label=number.label,
        value=number.value,
        reference=0.18,
        difference=number.value - 0.18,
        lower=-0.01,
        upper=0.01,
        statistic=1.2,
        p_value=0.0001 if has_drifted else 0.4,
        p_value_adjusted=0.002 if has_drifted else 1.0,
        has_drifted=has_drifted,
        method="z",
        sentence="It differs." if has_drifted else "It does not differ.",
    )
