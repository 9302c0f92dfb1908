"""Tables 2 and 3 of Ahmadian et al. (2025), and what they say by their own numbers."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from scorereport.study.papers.citations import AHMADIAN as PAPER
from scorereport.study.papers.printed_numbers import compare_printed, report_irreproducible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from scorereport.reference.comparison_records import Comparison


class PrintedRow(NamedTuple):
    """One printed row: the measure with each score, and the printed gains of the penalised ones."""

    brier: Fraction
    penalized_brier: Fraction
    brier_gain: Fraction
    log: Fraction
    penalized_log: Fraction
    log_gain: Fraction


def _read(text: str) -> tuple[PrintedRow, ...]:
    return tuple(PrintedRow(*map(Fraction, line.split())) for line in text.strip().splitlines())


#: Correlation with the F1 score: BS, PBS, gain, LL, PLL, gain.
TABLE_2 = _read("""
0.957 0.969 0.012 0.837 0.900 0.063
0.964 0.980 0.016 0.526 0.640 0.113
0.963 0.983 0.020 0.764 0.845 0.081
0.699 0.926 0.228 0.520 0.589 0.069
0.721 0.740 0.019 0.731 0.745 0.013
0.607 0.748 0.141 0.306 0.508 0.202
0.690 0.748 0.058 0.567 0.619 0.052
0.667 0.674 0.007 0.317 0.378 0.061
0.717 0.728 0.010 0.275 0.292 0.016
0.739 0.740 0.001 0.384 0.425 0.041
0.965 0.987 0.022 0.592 0.664 0.072
0.995 0.997 0.002 0.419 0.446 0.026
0.680 0.899 0.219 0.595 0.777 0.182
0.665 0.813 0.148 0.378 0.802 0.424
0.572 0.597 0.025 0.694 0.724 0.031
0.444 0.704 0.260 0.434 0.498 0.064
0.874 0.924 0.050 0.450 0.553 0.103
0.916 0.953 0.037 0.391 0.629 0.239
""")
#: F1 score of the model that each score selects, in percent.
TABLE_3 = _read("""
45.00 51.65 6.65 64.76 65.85 1.10
55.47 60.03 4.56 70.00 71.82 1.83
53.01 57.60 4.59 53.90 55.48 1.59
55.37 58.03 2.66 55.74 57.63 1.89
28.24 32.48 4.24 30.08 30.62 0.53
32.30 34.28 1.99 31.65 31.80 0.15
58.27 59.14 0.87 56.79 59.55 2.76
66.51 67.49 0.97 68.21 69.78 1.57
43.66 50.81 7.14 51.12 59.69 8.57
48.00 54.83 6.83 64.12 66.82 2.71
80.93 83.20 2.27 77.87 80.13 2.26
82.08 83.88 1.80 80.22 83.42 3.20
50.13 53.51 3.38 55.59 56.33 0.74
52.04 53.63 1.59 51.73 52.39 0.66
27.09 27.77 0.69 23.10 23.75 0.65
26.51 29.37 2.86 26.77 27.39 0.62
66.50 66.53 0.03 65.39 65.81 0.43
67.85 68.36 0.51 66.64 67.07 0.43
""")
_TABLES = (("Table 2", TABLE_2, Fraction(1, 1000)), ("Table 3", TABLE_3, Fraction(1, 100)))


def count_brier_above_log() -> int:
    """Rows of Table 3 in which the penalised Brier score selects the better model."""
    return sum(row.penalized_brier > row.penalized_log for row in TABLE_3)


def compare_tables() -> Iterator[Comparison]:
    """The arithmetic of the tables, the claims drawn from them, and that their entries stay out of reach."""
    for name, rows, unit in _TABLES:
        yield from _compare_table(f"{PAPER}, {name}", rows, unit)
    above = count_brier_above_log()
    yield compare_printed(
        f"{PAPER}, sect. 5.5",
        "Rows of Table 3 in which PBS selects a better model than PLL",
        str(len(TABLE_3)),
        above,
        corrected=11,
        reason="Said to be so throughout; the table has it in part of its rows.",
    )


def _compare_table(place: str, rows: Sequence[PrintedRow], unit: Fraction) -> Iterator[Comparison]:
    brier = sum(row.penalized_brier > row.brier for row in rows)
    log = sum(row.penalized_log > row.log for row in rows)
    consistent = sum(gap <= unit for row in rows for gap in _gaps(row))
    every = str(len(rows))
    yield compare_printed(place, "Rows in which PBS is ahead of BS", every, brier)
    yield compare_printed(place, "Rows in which PLL is ahead of LL", every, log)
    yield compare_printed(place, "Gains that agree with their entries", str(2 * len(rows)), consistent)
    yield report_irreproducible(
        place,
        "Entries",
        f"{4 * len(rows)} means over folds",
        f"{consistent} of {2 * len(rows)} gains agree with their entries",
        reason="Needs networks trained on nine data sets; only the arithmetic can be checked.",
        is_possible=consistent == 2 * len(rows),
    )


def _gaps(row: PrintedRow) -> tuple[Fraction, Fraction]:
    """How far the printed gains are from the differences of the rounded entries."""
    return (
        abs(row.penalized_brier - row.brier - row.brier_gain),
        abs(row.penalized_log - row.log - row.log_gain),
    )
