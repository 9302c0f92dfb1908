"""Appendix F, Table 2, survey and skills of Flores et al. (2025) on regret and bounded scores.

References
----------
Assel, Sjoberg, Vickers (2017), Diagn. Progn. Res. 1, doi:10.1186/s41512-017-0020-3
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from scorereport import scores
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.scores.skills import skill
from scorereport.study.papers.flores_theorems import LOWER, UPPER, compare_flores_theorems, sample
from scorereport.study.papers.printed_numbers import FLORES as PAPER
from scorereport.study.papers.printed_numbers import (
    compare_formula,
    compare_printed,
    compare_word,
    half_unit,
    report_irreproducible,
    smallest_sample,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray

#: Appendix F: AUC, Brier, net benefit at 5 %, 10 % and 20 %, Brier 5 %-20 %; in the printed order.
_APPENDIX_F = {
    "Highly sensitive": "0.73 0.41 0.17 0.15 0.09 0.12",
    "Underestimating risk": "0.75 0.15 0.16 0.12 0.06 0.16",
    "Well calibrated": "0.75 0.17 0.16 0.12 0.05 0.17",
    "Overestimating risk": "0.75 0.20 0.16 0.11 0.03 0.18",
    "Assume all positive": "0.50 0.80 0.16 0.11 0.00 0.20",
    "Highly specific": "0.73 0.14 0.10 0.10 0.09 0.18",
    "Severely underestimating risk": "0.75 0.18 0.09 0.04 0.01 0.29",
    "Assume all negative": "0.50 0.20 0.00 0.00 0.00 0.35",
}
_COLUMNS = ("AUC-ROC", "Brier", "NB 5%", "NB 10%", "NB 20%", "Brier 5%-20%")
#: Table 2, by line: two logistic models and two of boosted trees.
_TABLE_2 = {
    "AUC": "0.601, 0.606, 0.574, 0.591",
    "Brier": "0.0263, 0.0263, 0.0263, 0.0415",
    "Log Loss": "0.156, 0.156, 0.155, 0.193",
    "Thr. LogLoss": "0.0153, 0.0153, 0.0153, 0.0123",
    "Thr. Brier": "0.000662, 0.000662, 0.000662, 0.000545",
}
#: Its last two lines for the three models that are alike: Thr. Brier and Thr. LogLoss.
_ALIKE = ("0.000662", "0.0153")
#: Shares of papers with a binary classifier that report accuracy, AUC-ROC and AUC-PR, where printed.
_SURVEY = {"ICML": (".558", ".087"), "FAccT": (".613", ".029"), "CHIL": (".788", ".336", ".277")}
_PAPERS_READ = 2610


def reproduce_flores() -> Iterator[Comparison]:
    """Compare all numbers of the paper, and its theorems on seeded samples; a million cases take seconds."""
    yield from _compare_appendix_f()
    yield from _compare_table_2()
    yield from _compare_survey()
    yield from _compare_skills()
    yield from compare_flores_theorems()


def _compare_appendix_f() -> Iterator[Comparison]:
    place = f"{PAPER}, Appendix F"
    y, forecasts = _assel()
    table = {name: _row(y, p) for name, p in forecasts.items()}
    for name, printed in _APPENDIX_F.items():
        for column, cell, value in zip(_COLUMNS, printed.split(), table[name], strict=True):
            yield compare_printed(place, f"{name}, {column}", cell, value)
    by_net_benefit = sorted(table, key=lambda name: -table[name][2])
    by_bounded_brier = sorted(table, key=lambda name: table[name][5])
    yield compare_word(place, "order by NB 5%", ", ".join(_APPENDIX_F), ", ".join(by_net_benefit))
    for orders in (by_net_benefit, by_bounded_brier):
        orders.remove("Assume all positive")
    quantity = "order by Brier 5%-20%, without Assume all positive"
    yield compare_word(place, quantity, ", ".join(by_net_benefit), ", ".join(by_bounded_brier))
    yield from _compare_scales(y, forecasts)


def _compare_scales(y: FloatArray, forecasts: dict[str, FloatArray]) -> Iterator[Comparison]:
    """Count the cells of the last column that each convention of the bounded Brier score reproduces."""
    cells = {name: float(printed.split()[-1]) for name, printed in _APPENDIX_F.items()}
    found = {}
    for scale in ("paper", "regret", "difference"):
        score = partial(scores.bounded_brier, lower=0.05, upper=0.20, scale=scale)
        found[scale] = sum(
            bool(abs(score(y, p).mean() - cells[name]) <= 0.005) for name, p in forecasts.items()
        )
    reasons = {
        "paper": "Twice the mean regret should fit every cell.",
        "regret": "E2: the column is twice the mean regret of Theorem 3.3.",
        "difference": "E14: the undivided difference, which Table 2 uses, is 0.15 of the column.",
    }
    for scale, reason in reasons.items():
        yield compare_printed(
            f"{PAPER}, Appendix F",
            f'cells of 8 in Brier 5%-20% that scale="{scale}" gives',
            "8",
            found[scale],
            corrected=0 if found["paper"] == len(cells) else None,
            reason=reason,
        )


def _row(y: FloatArray, p: FloatArray) -> list[float]:
    benefits = (scores.net_benefit(y, p, threshold=t).mean() for t in (0.05, 0.10, 0.20))
    bounded = scores.bounded_brier(y, p, lower=0.05, upper=0.20, scale="paper").mean()
    return [float(v) for v in (scores.roc_auc(y, p), scores.brier(y, p).mean(), *benefits, bounded)]


def _assel() -> tuple[FloatArray, dict[str, FloatArray]]:
    """A million outcomes and the forecasts of Assel et al., drawn in the order of the authors' program.

    Some cells lie at the edge of rounding (an AUC of .725 prints as 0.73), so the draws must be the same.
    """
    y = np.random.RandomState(42).binomial(1, 0.2, 1_000_000).astype(np.float64)
    random = np.random.RandomState(43)
    events = int(y.sum())
    sensitive, specific, marker = np.empty((3, len(y)))
    for test, rate, false_rate in ((sensitive, 0.95, 0.50), (specific, 0.50, 0.05)):
        test[y == 1] = random.binomial(1, rate, events)
        test[y == 0] = random.binomial(1, false_rate, len(y) - events)
    marker[y == 0] = random.normal(0.0, 1.0, len(y) - events)
    marker[y == 1] = random.normal(0.95, 1.0, events)
    return y, {
        "Highly sensitive": sensitive,
        "Underestimating risk": expit(-0.9 + marker - 0.285),
        "Well calibrated": expit(-0.9 + marker),
        "Overestimating risk": expit(-0.9 + marker + 0.361),
        "Assume all positive": np.ones(len(y)),
        "Highly specific": specific,
        "Severely underestimating risk": expit(-0.9 + marker - 3.04),
        "Assume all negative": np.zeros(len(y)),
    }


def _compare_table_2() -> Iterator[Comparison]:
    place = f"{PAPER}, Table 2"
    for quantity, printed in _TABLE_2.items():
        reason = "Needs the authors' forecasts for the breast cancer data, which are not in this package."
        yield report_irreproducible(place, quantity, printed, reason=reason)
    brier, log = _ALIKE
    stated, as_odds = ratios_of_treating_none()
    explains = not fits_treating_none(stated) and fits_treating_none(as_odds)
    yield compare_formula(
        place,
        "Thr. Brier over Thr. LogLoss of the three models that are alike, on 1.66 %-3 %",
        float(brier) / float(log),
        stated,
        corrected=stated if explains else None,
        tolerance=1e-4,
        reason=f"E14: treating none has {stated:.4f}; odds of 1.66 and 3 to 100 have {as_odds:.4f}.",
    )


def ratios_of_treating_none() -> tuple[float, float]:
    """Thr. Brier over Thr. LogLoss if none are treated, on 1.66 %-3 % and on odds of 1.66 and 3 to 100.

    Only events count, all with the same weight: the ratio does not depend on the prevalence.
    """

    def ratio(lower: float, upper: float) -> float:
        brier, log = (
            score([1], [0], lower=lower, upper=upper, scale="difference")[0]
            for score in (scores.bounded_brier, scores.bounded_log_loss)
        )
        return float(brier / log)

    return ratio(0.0166, 0.03), ratio(0.0166 / 1.0166, 0.03 / 1.03)


def fits_treating_none(ratio: float) -> bool:
    """Whether the printed digits of Table 2 allow this ratio."""
    brier, log = _ALIKE
    lowest = (float(brier) - half_unit(brier)) / (float(log) + half_unit(log))
    return lowest <= ratio <= (float(brier) + half_unit(brier)) / (float(log) - half_unit(log))


def _compare_survey() -> Iterator[Comparison]:
    for venue, shares in _SURVEY.items():
        fewest = smallest_sample(*shares)
        yield report_irreproducible(
            f"{PAPER}, Appendix K",
            f"{venue}: shares of papers by metric",
            ", ".join(f"{100 * float(share):.1f} %" for share in shares),
            f"at least {fewest} papers",
            reason="Counts are not published; at least this many papers had a binary classifier.",
            is_possible=fewest <= _PAPERS_READ,
            otherwise=Verdict.INCONSISTENT,
        )


def _compare_skills() -> Iterator[Comparison]:
    place = f"{PAPER}, Appendix J"
    y, p = np.array([0, 0, 0, 0, 1]), np.array([0.25, 0.25, 0.25, 0.25, 0.5])  # prevalence 0.2
    yield compare_printed(place, "example, Brier score", "0.1", float(scores.brier(y, p).mean()))
    baseline = float(scores.brier(y, np.full(5, 0.2)).mean())
    yield compare_printed(place, "example, Brier score of the baseline", "0.16", baseline)
    yield compare_printed(place, "example, Brier skill", "0.375", skill(y, p, "brier"))
    y, p = sample()
    for name, formula in _formulas_of_skill(y, p).items():
        bounds = {"lower": LOWER, "upper": UPPER} if name == "bounded_brier" else {}
        engine = skill(y, p, name, **bounds)
        yield compare_formula(place, f"skill by {name}", formula, engine)


def _formulas_of_skill(y: FloatArray, p: FloatArray) -> dict[str, float]:
    """Skill by each score as the paper defines it, with the prevalence as baseline."""
    prevalence = y.mean()
    entropy = -prevalence * np.log(prevalence) - (1 - prevalence) * np.log(1 - prevalence)
    bounded = partial(scores.bounded_brier, y, lower=LOWER, upper=UPPER)
    return {
        "roc_auc": 2 * scores.roc_auc(y, p) - 1,
        "brier": 1 - scores.brier(y, p).mean() / (prevalence * (1 - prevalence)),
        "log_loss": 1 - scores.log_loss(y, p).mean() / entropy,
        "bounded_brier": 1 - bounded(p).mean() / bounded(np.full(len(y), prevalence)).mean(),
    }
