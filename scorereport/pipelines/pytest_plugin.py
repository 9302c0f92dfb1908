"""Plugin of pytest: the gates of `scorereport.testing` as fixtures, with their verdicts in reports.

Every pytest session loads this module if the package is installed, so it imports nothing but pytest, and the
gates only when a test asks for one. The verdicts are properties of the test, which pytest writes to JUnit
files and pytest-xdist sends to the process that prints the summary.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd
    from _pytest.terminal import TerminalReporter

    from scorereport.testing import GateOutcome

#: Properties of a test, as they stand in JUnit files.
_GATE, _VERDICT, _TABLE = (f"scorereport.{name}" for name in ("gate", "verdict", "table"))


@pytest.fixture
def assert_meets(request: pytest.FixtureRequest) -> Callable[..., pd.DataFrame]:
    """`scorereport.testing.assert_meets(data, limits)`: assert that all numbers meet their limits.

    The verdicts are properties of the test and stand in the summary of the session.
    """

    def assert_meets(
        data: Any, limits: Any, forecasts: Any = None, *, strict: bool = False, **arguments: object
    ) -> pd.DataFrame:
        __tracebackhide__ = True
        from scorereport.testing import check_limits

        return _pass_gate(
            request.node, lambda: check_limits(data, limits, forecasts, arguments), strict=strict
        )

    return assert_meets


@pytest.fixture
def assert_calibrated(request: pytest.FixtureRequest) -> Callable[..., pd.DataFrame]:
    """`scorereport.testing.assert_calibrated(data)`: assert that no model is shown to be miscalibrated.

    The verdicts are properties of the test and stand in the summary of the session.
    """

    def assert_calibrated(
        data: Any,
        forecasts: Any = None,
        *,
        alpha: float | None = None,
        strict: bool = False,
        **arguments: object,
    ) -> pd.DataFrame:
        __tracebackhide__ = True
        from scorereport.testing import check_calibration

        return _pass_gate(
            request.node, lambda: check_calibration(data, forecasts, alpha, arguments), strict=strict
        )

    return assert_calibrated


def _pass_gate(item: pytest.Item, check: Callable[[], GateOutcome], *, strict: bool) -> pd.DataFrame:
    """Record the outcome of a gate in the report of a test, and raise an error if the gate is not passed."""
    __tracebackhide__ = True
    from scorereport.errors import ScoreReportError

    try:
        outcome = check()
    except ScoreReportError as error:  # its sentence says what is wrong; frames of this package do not help
        raise error.with_traceback(None) from None
    item.user_properties += [
        (_GATE, f"{outcome.gate}. {outcome.counts}"),
        (_VERDICT, str(outcome.verdict)),
        (_TABLE, outcome.table),
    ]
    if not outcome.is_passed(strict=strict):
        raise AssertionError(outcome.describe())
    item.add_report_section("call", f"scorereport {outcome.gate}", f"{outcome.describe()}\n")  # -rP prints it
    return outcome.frame


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Print a line for each gate, below the reports of failed tests; nothing without gates."""
    lines = list(_list_gates(terminalreporter))
    if lines:
        terminalreporter.section("scorereport gates")
        for verdict, line in lines:
            colours = {"pass": {"green": True}, "fail": {"red": True}}
            terminalreporter.write(f"{verdict:<12}", **colours.get(verdict, {"yellow": True}))
            terminalreporter.line(f"  {line}")


def _list_gates(reporter: TerminalReporter) -> Iterator[tuple[str, str]]:
    """The verdict of each gate of the session, and a line on it."""
    for reports in reporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") != "call":
                continue
            found = report.user_properties
            gates = [value for name, value in found if name == _GATE]
            verdicts = [value for name, value in found if name == _VERDICT]
            for gate, verdict in zip(gates, verdicts, strict=True):
                yield verdict, f"{report.nodeid}: {gate}"
