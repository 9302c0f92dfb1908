"""Table 1 of Galdran (2023): what it says by its own numbers, and which areas are possible at all."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from scorereport.curves import retention_curve
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.study.papers.citations import GALDRAN as PAPER
from scorereport.study.papers.printed_numbers import compare_claim, compare_printed, report_irreproducible

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Table 1: mean and spread of the area under the retention curve, for the four columns.
_COLUMNS = ("TMED, QWK", "TMED, EC", "Eyepacs, QWK", "Eyepacs, EC")
_TABLE_1 = {
    "Brier": "13.46 0.35  3.76 0.21  17.36 0.04  2.84 0.07",
    "Neg-Log": "13.56 0.35  3.62 0.2  17.44 0.04  2.67 0.07",
    "RPS": "14.76 0.28  2.68 0.14  17.81 0.03  1.99 0.04",
    "sa-RPS": "14.95 0.25  2.53 0.12  17.86 0.03  1.88 0.04",
}
_DISTANCE_BLIND, _DISTANCE_SENSITIVE = ("Brier", "Neg-Log"), ("RPS", "sa-RPS")


def table_1(score: str, column: str) -> tuple[Fraction, Fraction]:
    """Mean and spread that Table 1 prints for a score."""
    cells, place = _TABLE_1[score].split(), 2 * _COLUMNS.index(column)
    return Fraction(cells[place]), Fraction(cells[place + 1])


def interval_end(score: str, column: str, *, best: bool) -> Fraction:
    """The better or the worse end of an interval of Table 1, negative for EC so that more is better."""
    mean, spread = table_1(score, column)
    sign = 1 if column.endswith("QWK") else -1
    return sign * mean + (spread if best else -spread)


def _gain(score: str, other: str, column: str) -> Fraction:
    """By how much the printed mean of one score is better than that of another."""
    gain = table_1(score, column)[0] - table_1(other, column)[0]
    return gain if column.endswith("QWK") else -gain


def window_areas(metric: str) -> tuple[float, float]:
    """Areas if all labels are as wrong as can be, and if all are right, over the first fifth removed."""
    truth, right = np.repeat([0, 4], 10), np.repeat(np.eye(5)[[0, 4]], 10, axis=0)
    wrong, right_area = (
        retention_curve(truth, table, metric=metric, fractions=(0, 0.2)).area
        for table in (right[::-1], right)
    )
    return wrong, right_area


def compare_table() -> Iterator[Comparison]:
    """The claims drawn from the table, and that its entries stay out of reach."""
    yield from _compare_means()
    yield from _compare_ends()
    yield from _compare_areas()


def _compare_means() -> Iterator[Comparison]:
    """How often one score is ahead of another by the printed means, or even by mean and spread."""
    gaps = [
        interval_end("sa-RPS", column, best=False) - interval_end(blind, column, best=True)
        for column in _COLUMNS
        for blind in _DISTANCE_BLIND
    ]
    gains = [
        _gain(sensitive, blind, column)
        for column in _COLUMNS
        for sensitive in _DISTANCE_SENSITIVE
        for blind in _DISTANCE_BLIND
    ]
    steps = [_gain("sa-RPS", "RPS", column) for column in _COLUMNS]
    for quantity, differences in (
        ("sa-RPS intervals that Brier and Neg-Log do not overlap", gaps),
        ("Comparisons that RPS or sa-RPS wins against Brier or Neg-Log", gains),
        ("Comparisons that sa-RPS wins against RPS", steps),
    ):
        won = sum(difference > 0 for difference in differences)
        yield compare_printed(f"{PAPER}, Table 1", quantity, str(len(differences)), won)


def _compare_ends() -> Iterator[Comparison]:
    """The best end of RPS and the worst of sa-RPS, for the data of which the paper says they do not meet."""
    for column in _COLUMNS[2:]:
        best, worst = interval_end("RPS", column, best=True), interval_end("sa-RPS", column, best=False)
        yield compare_claim(
            f"{PAPER}, sect. 3.3",
            f"{column}: the best RPS result does not reach the worst sa-RPS result",
            "does not reach",
            f"best RPS {abs(float(best)):.2f}, worst sa-RPS {abs(float(worst)):.2f}",
            holds=best < worst,
            otherwise=Verdict.INCONSISTENT,
            reason="Mean and spread in Table 1 make the two intervals overlap.",
        )


def _compare_areas() -> Iterator[Comparison]:
    """What can be said of the entries without the network: which areas a percent axis allows."""
    for column in _COLUMNS:
        is_kappa = column.endswith("QWK")
        wrong, right = window_areas("quadratic_weighted_kappa" if is_kappa else "expected_cost")
        low, high = sorted((100 * wrong, 100 * right))
        printed = [table_1(score, column)[0] for score in _TABLE_1]
        yield report_irreproducible(
            f"{PAPER}, Table 1 and Fig. 4",
            f"Areas under the retention curve, {column}",
            ", ".join(f"{float(area):.2f}" for area in printed),
            f"{100 * right:.4g} if all labels are right, {100 * wrong:.4g} if all are wrong",
            reason="Needs the outputs of a network that were not released, and an axis"
            + (" that is" if is_kappa else " and costs that are")
            + " not stated; ours is a window of 20 percent removed.",
            is_possible=low <= min(printed) and max(printed) <= high,
        )
