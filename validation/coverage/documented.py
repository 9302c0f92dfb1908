"""Tables of INTERVALS.md, as printed there: population values in 1e-5, coverage in percent."""

from __future__ import annotations

from validation.coverage.record import Reference

_POPULATION_OF_COMPONENTS = """
calibrated         | 0 0 8333.3 19314.7
slope .95          | 6.9 28.3 7909.5 18226.6
slope .8           | 129.7 528.7 6553.5 14814.6
sqrt               | 3333.3 9086.3 5555.6 13651.4
10 values, cal.    | 0 0 8250.0 18931.8
10 values, .8      | 132.5 549.8 6400.4 14249.3
rare, cal.         | 0 0 38.4 845.5
rare, b=.7 a=-1.05 | 3.5 68.4 20.6 495.8
rare, b=.4 a=-2.25 | 14.9 305.0 6.8 184.6
flat (DSC=0)       | 12333.3 38913.6 0 0
weak               | 10750.0 34112.4 83.3 198.8
step               | 1133.3 5598.1 5400.0 11564.7
"""

_COVERAGE_OF_COMPONENTS = """
calibrated         | 98.8 99.3 97.8 99.3 | 97.2 97.8 98.0 98.0 | 88.3 90.8 89.0 90.7 | 86.3 90.2 88.5 92.0
slope .95          | 98.3 98.5 98.2 98.7 | 97.1 98.6 97.5 96.0 | 90.0 90.7 91.2 87.3 | 89.4 90.6 91.0 90.0
slope .8           | 97.7 96.8 95.5 95.3 | 97.8 96.9 95.8 97.3 | 89.4 90.6 92.8 94.0 | 88.2 91.2 92.0 93.3
sqrt               | 90.9 90.0 89.2 94.0 | 91.9 91.1 91.0 93.3 | 90.6 90.1 90.2 90.0 | 88.9 89.0 90.8 90.0
10 values, cal.    | 99.2 99.4 99.8 100  | 98.3 99.0 99.8 100  | 88.5 90.8 87.0 89.3 | 87.6 91.2 87.2 90.7
10 values, .8      | 95.9 93.0 91.8 91.3 | 95.2 91.0 91.3 90.7 | 88.2 89.6 90.5 90.0 | 87.4 89.9 91.2 92.0
rare, cal.         | 100 100 100 100     | 99.7 99.8 100 98.7  | 88.7 91.4 92.8 92.7 | 92.8 93.2 93.2 92.0
rare, b=.7 a=-1.05 | 99.7 94.5 90.8 90.0 | 99.9 97.3 95.8 90.7 | 89.2 93.0 93.2 94.7 | 93.5 93.3 92.8 91.3
rare, b=.4 a=-2.25 | 99.6 89.1 90.0 87.3 | 98.7 91.2 91.5 88.0 | 88.5 93.1 93.0 94.7 | 89.9 93.9 93.5 94.0
flat (DSC=0)       | 89.3 88.9 90.0 94.0 | 90.4 89.2 89.0 95.3 | 100 100 100 100     | 99.7 100 100 100
weak               | 88.8 89.3 90.0 92.7 | 88.5 87.5 90.0 88.0 | 92.5 93.7 92.8 93.3 | 91.0 91.4 92.5 92.7
step               | 91.0 88.1 89.5 89.3 | 85.8 87.1 89.2 89.3 | 90.8 89.9 91.0 93.3 | 91.3 89.8 91.0 91.3
"""

_POPULATION_OF_DIFFERENCES = """
equal     | 0 0 0 0
skill     | 0 0 6205.3 16270.3
miscal    | 488.1 2226.3 0 0
cont-disc | 0 0 82.6 323.2
rare      | 68.2 2431.9 0 0
"""

_COVERAGE_OF_DIFFERENCES = """
equal     | 98.1 98.4 98.4 98.0 | 96.4 97.1 98.0 97.0 | 87.9 89.8 88.8 95.0 | 87.8 89.6 88.4 95.0
skill     | 97.2 98.5 98.4 97.0 | 96.1 97.5 97.6 94.0 | 89.4 90.2 91.2 91.0 | 89.1 89.8 90.8 91.0
miscal    | 97.6 94.9 94.4 93.0 | 95.1 93.0 92.8 95.0 | 88.1 90.8 88.8 86.0 | 88.0 90.6 88.4 86.0
cont-disc | 98.1 97.5 98.0 99.0 | 95.6 96.1 96.8 98.0 | 89.8 92.1 91.2 86.0 | 89.4 92.0 90.8 86.0
rare      | 92.1 96.2 96.0 93.0 | 84.2 89.2 93.2 94.0 | 97.7 98.2 98.0 98.0 | 89.4 91.1 91.6 94.0
"""

_HONEST_BANDS = """
calibrated      | 100 100
slope .8        | 99.7 100
sqrt            | 100 100
10 values, cal. | 99.0 98.0
rare, cal.      | 99.7 100
flat (DSC=0)    | 98.3 99.3
"""

_CONSISTENCY_BANDS = """
calibrated      | 90.5 91.2
10 values, cal. | 90.7 89.2
rare, cal.      | 90.2 86.8
"""

#: Setting, n | MCB Brier | MCB log | R's rule | Spiegelhalter | Hosmer-Lemeshow, each with its runs.
_SIZES = """
calibrated, 200       | 4.9 3000 | 5.0 2000 | 7.7 3000 | 4.4 2000 | 5.9 2000
calibrated, 1000      | 5.3 3000 | 6.6 1000 | 7.8 3000 | 5.5 1000 | 5.9 1000
10 values, cal., 1000 | 6.0 1000 | 4.7 1000 | 7.2 1000 | 4.6 1000 | 5.7 1000
rare, cal., 200       | 4.6 1000 | 5.8 1000 | 7.0 1000 | 5.6 1000 | 12.7 1000
rare, cal., 1000      | 6.2 1000 | 5.3 1000 | 9.4 1000 | 5.6 1000 | 7.4 1000
"""

_POWERS = """
slope .8, 1000                 | 43.0 1000 | 49.7 1000 | 89.4 1000 | 65.5 1000
slope .8, 200                  | 15.8 500  | 14.2 500  | 33.4 500  | 23.6 500
intercept +.2, 1000            | 39.4 500  | 32.6 500  | 5.2 500   | 37.0 500
wave x + .04 sin(6 pi x), 1000 | 20.2 500  | 24.4 500  | 14.2 500  | 31.8 500
"""

COMPONENTS = ("MCB Brier", "MCB log", "DSC Brier", "DSC log")
SIZES_OF_COMPONENTS = {200: 1000, 1000: 1000, 5000: 400, 20000: 150}
SIZES_OF_DIFFERENCES = {200: 800, 1000: 800, 5000: 250, 20000: 100}
SIZES_OF_HONEST_BANDS = {500: 300, 2000: 150}
SIZES_OF_CONSISTENCY_BANDS = {200: 400, 1000: 250}
SIZE_TESTS = ("MCB Brier", "MCB log", "MCB Brier, R's rule", "Spiegelhalter", "Hosmer-Lemeshow")
POWER_TESTS = ("MCB Brier", "MCB log", "Spiegelhalter", "Hosmer-Lemeshow")

#: (study, setting, n, method) -> the value of INTERVALS.md.
References = dict[tuple[str, str, int, str], Reference]


def population(study: str) -> dict[str, dict[str, float]]:
    """Return the population values of the settings, or of the pairs, by component."""
    table = _POPULATION_OF_COMPONENTS if study == "component intervals" else _POPULATION_OF_DIFFERENCES
    return {
        name: dict(zip(COMPONENTS, (float(value) / 1e5 for value in values.split()), strict=True))
        for name, (values,) in _lines(table)
    }


def references() -> References:
    """Return all values of INTERVALS.md that the study repeats."""
    return (
        _by_size("component intervals", _COVERAGE_OF_COMPONENTS, COMPONENTS, SIZES_OF_COMPONENTS)
        | _by_size("difference intervals", _COVERAGE_OF_DIFFERENCES, COMPONENTS, SIZES_OF_DIFFERENCES)
        | _by_size("simultaneous bands", _HONEST_BANDS, ("honest",), SIZES_OF_HONEST_BANDS)
        | _by_size(
            "simultaneous bands", _CONSISTENCY_BANDS, ("split resampling",), SIZES_OF_CONSISTENCY_BANDS
        )
        | _by_test("test sizes", _SIZES, SIZE_TESTS)
        | _by_test("test power", _POWERS, POWER_TESTS)
    )


def _reference(percent: str, runs: int) -> Reference:
    return Reference(value=round(float(percent) / 100, 4), runs=runs)


def _lines(table: str) -> list[tuple[str, list[str]]]:
    lines = [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]
    return [(name, cells) for name, *cells in lines]


def _by_size(study: str, table: str, methods: tuple[str, ...], sizes: dict[int, int]) -> References:
    """Read a table with one column for each method, with one number for each sample size in it."""
    return {
        (study, setting, n, method): _reference(value, runs)
        for setting, columns in _lines(table)
        for method, column in zip(methods, columns, strict=True)
        for value, (n, runs) in zip(column.split(), sizes.items(), strict=True)
    }


def _by_test(study: str, table: str, tests: tuple[str, ...]) -> References:
    """Read a table with a sample size in each line and a number of runs in each cell."""
    found = {}
    for name, columns in _lines(table):
        setting, n = name.rsplit(", ", 1)
        for test, column in zip(tests, columns, strict=True):
            value, runs = column.split()
            found[study, setting, int(n), test] = Reference(
                value=round(float(value) / 100, 4), runs=int(runs)
            )
    return found
